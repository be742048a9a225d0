/* A program that knows nothing of tuwtree, with calls of two kinds in turn: gathers and scatters of numbers that all ranks
 * have, to and from the middle rank, and of some that only the last rank has, to and from the first. unaware_mixed.F90
 * and unaware_mixed.py do the same. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, round, wrong, *own, *back, *all, *counts, *displs;

/* To the root and back. */
static void there_and_back(int root)
{
    int i, total = displs[size - 1] + counts[size - 1];
    for (i = 0; i < counts[rank]; i++)
        own[i] = 1000 * round + displs[rank] + i;
    MPI_Gatherv(own, counts[rank], MPI_INT, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
    for (i = 0; rank == root && i < total; i++)
        wrong += all[i] != 1000 * round + i;
    MPI_Scatterv(all, counts, displs, MPI_INT, back, counts[rank], MPI_INT, root, MPI_COMM_WORLD);
    for (i = 0; i < counts[rank]; i++)
        wrong += back[i] != own[i];
}

int main(int argc, char **argv)
{
    int i, kind;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts = malloc((size_t)size * sizeof *counts);
    displs = malloc((size_t)size * sizeof *displs);
    own = malloc(5 * sizeof *own);
    back = malloc(5 * sizeof *back);
    all = malloc(5 * (size_t)size * sizeof *all);
    for (round = 0; round < 10; round++) {
        for (kind = 0; kind < 2; kind++) {
            for (i = 0; i < size; i++) {
                counts[i] = kind == 0 ? 1 + i % 3 : i == size - 1 ? 5 : 0;
                displs[i] = i == 0 ? 0 : displs[i - 1] + counts[i - 1];
            }
            there_and_back(kind == 0 ? size / 2 : 0);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d rounds, %d wrong\n", round, wrong);
    free(counts);
    free(displs);
    free(own);
    free(back);
    free(all);
    MPI_Finalize();
    return wrong != 0;
}
