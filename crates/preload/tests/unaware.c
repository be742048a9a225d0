/* A program that knows nothing of tuwtree: gathers squares, scatters them back, complains if they
 * changed. Prints what the root has. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, root, i, k, sum = 0, bad = 0;
    int *counts, *displs, *own, *back, *all;
    MPI_Comm half, between;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    root = size / 2;
    counts = malloc((size_t)size * sizeof *counts);
    displs = malloc((size_t)size * sizeof *displs);
    for (i = 0; i < size; i++) {
        counts[i] = i % 4;
        displs[i] = sum;
        sum += counts[i];
    }
    own = malloc(4 * sizeof *own);
    back = malloc(4 * sizeof *back);
    all = malloc((size_t)(sum + 1) * sizeof *all);
    for (k = 0; k < counts[rank]; k++)
        own[k] = (displs[rank] + k) * (displs[rank] + k);
    MPI_Gatherv(own, counts[rank], MPI_INT, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Scatterv(all, counts, displs, MPI_INT, back, counts[rank], MPI_INT, root, MPI_COMM_WORLD);
    for (k = 0; k < counts[rank]; k++)
        bad += back[k] != own[k];
    if (rank == root) {
        for (i = 0; i < sum; i++)
            bad += all[i] != i * i;
        printf("gathered %d numbers, last %d\n", sum, sum ? all[sum - 1] : 0);
    }
    if (size > 1) {
        /* From one half of the processes to one of the other. */
        int is_right = rank >= size / 2, count = 1, at_root = rank == size / 2;
        MPI_Comm_split(MPI_COMM_WORLD, is_right, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_right ? 0 : size / 2, 0, &between);
        for (i = 0; i < size; i++) {
            counts[i] = 1;
            displs[i] = i;
        }
        MPI_Gatherv(&rank, is_right ? 0 : count, MPI_INT, all = realloc(all, (size_t)size * sizeof *all),
                    counts, displs, MPI_INT,
                    !is_right ? 0 : at_root ? MPI_ROOT : MPI_PROC_NULL, between);
        if (at_root)
            for (i = 0; i < size / 2; i++)
                bad += all[i] != i;
        MPI_Comm_free(&between);
        MPI_Comm_free(&half);
    }
    free(counts);
    free(displs);
    free(own);
    free(back);
    free(all);
    if (bad)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Finalize();
    return 0;
}
