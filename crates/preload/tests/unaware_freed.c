/* A persistent gather that outlives its communicator: a failure is told, and the program goes on. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Gatherv_init MPIX_Gatherv_init
#endif

int main(int argc, char **argv)
{
    int rank, size, i, own, code, wrong = 0;
    int *counts, *displs, *all;
    MPI_Comm comm;
    MPI_Request request, kept;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    counts = malloc((size_t)size * sizeof(int));
    displs = malloc((size_t)size * sizeof(int));
    all = malloc((size_t)size * sizeof(int));
    for (i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    own = 10 * rank;
    MPI_Gatherv_init(&own, 1, MPI_INT, all, counts, displs, MPI_INT, 0, comm, MPI_INFO_NULL,
                     &request);
    MPI_Comm_free(&comm);
    MPI_Start(&request);
    /* What is under way is not freed here. */
    kept = request;
    code = MPI_Request_free(&kept);
    wrong += code == MPI_SUCCESS;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (i = 0; rank == 0 && i < size; i++)
        wrong += all[i] != 10 * i;
    MPI_Request_free(&request);
    if (rank == 0)
        printf("outlived, %d wrong\n", wrong);
    free(counts);
    free(displs);
    free(all);
    MPI_Finalize();
    return wrong != 0;
}
