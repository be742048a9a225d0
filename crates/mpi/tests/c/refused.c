/* Invalid arguments at one process, large blocks at the others: nobody waits for ever, and whoever
 * is refused knows. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <tuwtree_mpi.h>

enum { COUNT = 1 << 20 };

static int rank, size, bad;

/* Whether the call failed is as it should be at this process. */
static void expect(int code, int fails)
{
    bad += (code != MPI_SUCCESS) != fails;
}

int main(int argc, char **argv)
{
    int i, is_root, is_last, own_count;
    int *own, *all, *counts, *displs;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    tuwtree_set(MPI_COMM_WORLD, "algorithm", "linear");
    own = (int *)calloc(COUNT, sizeof(int));
    all = (int *)calloc((size_t)COUNT * (size_t)size, sizeof(int));
    counts = (int *)calloc((size_t)size, sizeof(int));
    displs = (int *)calloc((size_t)size, sizeof(int));
    for (i = 0; i < size; i++) {
        counts[i] = COUNT;
        displs[i] = i * COUNT;
    }
    is_root = rank == 0;
    is_last = rank == size - 1;
    own_count = is_last ? -1 : COUNT;
    /* No counts at the root: it takes what comes, or sends nothing. */
    expect(tuwtree_gatherv(own, COUNT, MPI_INT, all, NULL, displs, MPI_INT, 0, MPI_COMM_WORLD),
           is_root);
    expect(tuwtree_scatterv(all, NULL, displs, MPI_INT, own, COUNT, MPI_INT, 0, MPI_COMM_WORLD), 1);
    /* A negative count at the last process: the root misses its block; it forgets its own. */
    expect(tuwtree_gatherv(own, own_count, MPI_INT, all, counts, displs, MPI_INT, 0, MPI_COMM_WORLD),
           is_root || is_last);
    expect(tuwtree_scatterv(all, counts, displs, MPI_INT, own, own_count, MPI_INT, 0,
                            MPI_COMM_WORLD),
           is_last);
    /* Nothing is left behind for the next call. */
    expect(tuwtree_gatherv(own, COUNT, MPI_INT, all, counts, displs, MPI_INT, 0, MPI_COMM_WORLD), 0);
    if (bad == 0)
        printf("rank %d: as expected\n", rank);
    free(own);
    free(all);
    free(counts);
    free(displs);
    MPI_Finalize();
    return bad != 0;
}
