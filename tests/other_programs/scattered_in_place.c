/* Reduce-scatters in place: blocks that differ by MPI_Reduce_scatter, and equal ones by both functions; aborts if a sum is
 * wrong. */
#include <mpi.h>
#include <stdlib.h>

static void check(const int *result, int count, int first, int p)
{
    for (int i = 0; i < count; i++)
        if (result[i] != p * (p - 1) / 2 + p * (first + i))
            MPI_Abort(MPI_COMM_WORLD, 3);
}

static void fill(int *buffer, int count, int rank)
{
    for (int i = 0; i < count; i++)
        buffer[i] = rank + i;
}

int main(int argc, char **argv)
{
    int rank, p;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    int *counts = malloc((size_t)p * sizeof *counts);
    for (int block = 1; block <= 4096; block *= 8) {
        int all = block * p, *buffer = malloc((size_t)all * sizeof *buffer);
        for (int differ = 0; differ < 2; differ++) {
            for (int i = 0; i < p; i++)
                counts[i] = block;
            if (differ) {
                counts[0] = 0;
                counts[1] = 2 * block;
            }
            int first = 0;
            for (int i = 0; i < rank; i++)
                first += counts[i];
            fill(buffer, all, rank);
            MPI_Reduce_scatter(MPI_IN_PLACE, buffer, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            check(buffer, counts[rank], first, p);
        }
        fill(buffer, all, rank);
        MPI_Reduce_scatter_block(MPI_IN_PLACE, buffer, block, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        check(buffer, block, rank * block, p);
        free(buffer);
    }
    free(counts);
    MPI_Finalize();
    return 0;
}
