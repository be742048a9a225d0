/* What unaware.F90 does, in C: ranks of both may take part in one job. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Gatherv_init MPIX_Gatherv_init
#define MPI_Scatterv_init MPIX_Scatterv_init
#endif

static int rank, size, root, total, bad, *counts, *displs, *own, *back, *all;

static void fill(int round)
{
    int k;
    for (k = 0; k < counts[rank]; k++)
        own[k] = 1000 * round + displs[rank] + k + 1;
    for (k = 0; k < total; k++)
        all[k] = -1;
}

static void check_all(int round)
{
    int k;
    for (k = 0; rank == root && k < total; k++)
        bad += all[k] != 1000 * round + k + 1;
}

static void check_back(void)
{
    int k;
    for (k = 0; k < counts[rank]; k++) {
        bad += back[k] != own[k];
        back[k] = -1;
    }
}

int main(int argc, char **argv)
{
    int i, step;
    MPI_Request request, scatter;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    root = size / 2;
    counts = malloc((size_t)size * sizeof *counts);
    displs = malloc((size_t)size * sizeof *displs);
    for (i = 0; i < size; i++) {
        counts[i] = i % 4 + 1;
        displs[i] = total;
        total += counts[i];
    }
    own = malloc(4 * sizeof *own);
    back = malloc(4 * sizeof *back);
    all = malloc((size_t)total * sizeof *all);
    fill(0);
    MPI_Gatherv(own, counts[rank], MPI_INT, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
    check_all(0);
    MPI_Scatterv(all, counts, displs, MPI_INT, back, counts[rank], MPI_INT, root, MPI_COMM_WORLD);
    check_back();
    fill(1);
    MPI_Igatherv(own, counts[rank], MPI_INT, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD,
                 &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_all(1);
    MPI_Iscatterv(all, counts, displs, MPI_INT, back, counts[rank], MPI_INT, root, MPI_COMM_WORLD,
                  &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_back();
    MPI_Gatherv_init(own, counts[rank], MPI_INT, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD,
                     MPI_INFO_NULL, &request);
    MPI_Scatterv_init(all, counts, displs, MPI_INT, back, counts[rank], MPI_INT, root,
                      MPI_COMM_WORLD, MPI_INFO_NULL, &scatter);
    for (step = 2; step <= 9; step++) {
        fill(step);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_all(step);
        MPI_Start(&scatter);
        MPI_Wait(&scatter, MPI_STATUS_IGNORE);
        check_back();
    }
    MPI_Request_free(&request);
    MPI_Request_free(&scatter);
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == root)
        printf("gathered %d numbers, %d wrong\n", total, bad);
    MPI_Finalize();
    return bad != 0;
}
