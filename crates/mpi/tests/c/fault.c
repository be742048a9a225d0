/* Something is wrong, and the error handler is the default one: the job ends with a message. The
 * argument says what is wrong. */
#include "tuwtree_mpi.h"
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank, size, i, code, value[2] = {1, 2};
    int *counts, *displs, *all;
    tuwtree_request request;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts = (int *)calloc((size_t)size, sizeof(int));
    displs = (int *)calloc((size_t)size, sizeof(int));
    all = (int *)calloc((size_t)size, sizeof(int));
    for (i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    if (strcmp(what, "counts") == 0)
        code = tuwtree_gatherv(value, rank == size - 1 ? 2 : 1, MPI_INT, all, counts, displs, MPI_INT,
                               0, comm);
    else if (strcmp(what, "persistent-counts") == 0)
        code = tuwtree_scatterv_init(all, counts, displs, MPI_INT, value, rank == size - 1 ? 0 : 1,
                                     MPI_INT, 0, comm, &request);
    else if (strcmp(what, "communicator") == 0)
        code = tuwtree_gatherv(value, 1, MPI_INT, all, counts, displs, MPI_INT, 0, MPI_COMM_NULL);
    else
        /* What is wrong is in the environment. */
        code = tuwtree_gatherv(value, 1, MPI_INT, all, counts, displs, MPI_INT, 0, comm);
    free(counts);
    free(displs);
    free(all);
    MPI_Finalize();
    return code == MPI_SUCCESS ? 0 : 1;
}
