/* A program that knows nothing of tuwtree, with MPI 4's large counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, root, i, step, bad = 0;
    MPI_Count *counts;
    MPI_Aint *displs;
    int own, back, *all;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    root = size - 1;
    counts = malloc((size_t)size * sizeof *counts);
    displs = malloc((size_t)size * sizeof *displs);
    all = malloc((size_t)size * sizeof *all);
    for (i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = size - 1 - i;
    }
    own = rank * rank;
    MPI_Gatherv_c(&own, 1, MPI_INT, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
    for (i = 0; rank == root && i < size; i++)
        bad += all[size - 1 - i] != i * i;
    MPI_Scatterv_c(all, counts, displs, MPI_INT, &back, 1, MPI_INT, root, MPI_COMM_WORLD);
    bad += back != own;
    MPI_Igatherv_c(&own, 1, MPI_INT, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD,
                   &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Iscatterv_c(all, counts, displs, MPI_INT, &back, 1, MPI_INT, root, MPI_COMM_WORLD,
                    &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    bad += back != own;
    MPI_Gatherv_init_c(&own, 1, MPI_INT, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &requests[0]);
    MPI_Scatterv_init_c(all, counts, displs, MPI_INT, &back, 1, MPI_INT, root, MPI_COMM_WORLD,
                        MPI_INFO_NULL, &requests[1]);
    for (step = 0; step < 3; step++) {
        own = 100 * step + rank;
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Start(&requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        bad += back != own;
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("large counts, %d wrong\n", bad);
    MPI_Finalize();
    return bad != 0;
}
