/* A program that knows nothing of tuwtree: the same gather and scatter again and again. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, root, i, round, sum = 0, wrong = 0;
    int *counts, *displs, *own, *back, *all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    root = size / 2;
    counts = malloc((size_t)size * sizeof *counts);
    displs = malloc((size_t)size * sizeof *displs);
    for (i = 0; i < size; i++) {
        counts[i] = 1 + i % 3;
        displs[i] = sum;
        sum += counts[i];
    }
    own = malloc(3 * sizeof *own);
    back = malloc(3 * sizeof *back);
    all = malloc((size_t)sum * sizeof *all);
    for (round = 0; round < 5; round++) {
        for (i = 0; i < counts[rank]; i++)
            own[i] = round * 1000 + displs[rank] + i;
        MPI_Gatherv(own, counts[rank], MPI_INT, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
        for (i = 0; rank == root && i < sum; i++)
            wrong += all[i] != round * 1000 + i;
        MPI_Scatterv(all, counts, displs, MPI_INT, back, counts[rank], MPI_INT, root, MPI_COMM_WORLD);
        for (i = 0; i < counts[rank]; i++)
            wrong += back[i] != own[i];
    }
    if (rank == root)
        printf("%d rounds, %d wrong\n", round, wrong);
    free(counts);
    free(displs);
    free(own);
    free(back);
    free(all);
    if (wrong)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Finalize();
    return 0;
}
