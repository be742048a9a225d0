// The header is C++ as well, and its functions are C's.
#include "tuwtree_mpi.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *counts = new int[size], *displs = new int[size], *all = new int[size];
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    tuwtree_request request = TUWTREE_REQUEST_NULL;
    int code = tuwtree_gatherv_init(&rank, 1, MPI_INT, all, counts, displs, MPI_INT, 0,
                                    MPI_COMM_WORLD, &request);
    if (code == MPI_SUCCESS)
        code = tuwtree_start(&request);
    if (code == MPI_SUCCESS)
        code = tuwtree_wait(&request);
    if (code == MPI_SUCCESS)
        code = tuwtree_free(&request);
    bool right = code == MPI_SUCCESS;
    for (int i = 0; rank == 0 && i < size; i++)
        right = right && all[i] == i;
    delete[] counts;
    delete[] displs;
    delete[] all;
    MPI_Finalize();
    return right ? 0 : 1;
}
