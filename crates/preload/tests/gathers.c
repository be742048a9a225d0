/* 24 gathers, unaware of any tree. */
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, size, call, own = 1, all[64], counts[64], starts[64], i;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (i = 0; i < size; i++)
        counts[i] = 1, starts[i] = i;
    for (call = 1; call <= 24; call++) {
        own = 100 * call + rank;
        MPI_Gatherv(&own, 1, MPI_INT, all, counts, starts, MPI_INT, 0, MPI_COMM_WORLD);
        for (i = 0; i < size && rank == 0; i++)
            if (all[i] != 100 * call + i)
                MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
