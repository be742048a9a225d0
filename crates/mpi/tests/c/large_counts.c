/* Gathers and scatters with large counts: more elements than an int counts, and displacements beyond; with the
 * argument "bytes", of 2,915,147,392 bytes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tuwtree_mpi.h>

static int rank, size, bad;
static MPI_Count *counts;
static MPI_Aint *displs;

static void check(int is_right)
{
    bad += !is_right;
}

/* Blocks of one byte, far apart; the last rank's block is of elements without data, too many for an int. */
static void far_apart(void)
{
    const MPI_Aint distance = ((MPI_Aint)1 << 31) + 5;
    tuwtree_request requests[2];
    char own = (char)(rank + 1), back = 0, *all = NULL;
    int i, step;
    /* Memory that is not touched is none. */
    if (rank == 0)
        all = (char *)malloc((size_t)distance * (size_t)size);
    check(rank != 0 || all != NULL);
    for (i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i * distance;
    }
    tuwtree_gatherv_c(&own, 1, MPI_CHAR, all, counts, displs, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (i = 0; rank == 0 && i < size; i++)
        check(all[displs[i]] == (char)(i + 1));
    tuwtree_scatterv_c(all, counts, displs, MPI_CHAR, &back, 1, MPI_CHAR, 0, MPI_COMM_WORLD);
    check(back == own);
    tuwtree_gatherv_init_c(&own, 1, MPI_CHAR, all, counts, displs, MPI_CHAR, 0, MPI_COMM_WORLD,
                           &requests[0]);
    tuwtree_scatterv_init_c(all, counts, displs, MPI_CHAR, &back, 1, MPI_CHAR, 0, MPI_COMM_WORLD,
                            &requests[1]);
    for (step = 0; step < 3; step++) {
        own = (char)(10 * step + rank);
        tuwtree_start(&requests[0]);
        tuwtree_wait(&requests[0]);
        for (i = 0; rank == 0 && i < size; i++)
            check(all[displs[i]] == (char)(10 * step + i));
        back = -1;
        tuwtree_start(&requests[1]);
        tuwtree_wait(&requests[1]);
        check(back == own);
    }
    tuwtree_free(&requests[0]);
    tuwtree_free(&requests[1]);
    free(all);
}

static void without_data(void)
{
    MPI_Datatype nothing;
    char own = 0, all = 0;
    int i;
    MPI_Type_contiguous(0, MPI_BYTE, &nothing);
    MPI_Type_commit(&nothing);
    for (i = 0; i < size; i++) {
        counts[i] = ((MPI_Count)1 << 31) + i;
        displs[i] = 0;
    }
    check(tuwtree_gatherv_c(&own, counts[rank], nothing, &all, counts, displs, nothing, 0,
                            MPI_COMM_WORLD) == MPI_SUCCESS);
    check(tuwtree_scatterv_c(&all, counts, displs, nothing, &own, counts[rank], nothing, 0,
                             MPI_COMM_WORLD) == MPI_SUCCESS);
    MPI_Type_free(&nothing);
}

/* The last rank's block is larger than an int counts. */
static void many_bytes(void)
{
    const MPI_Count bytes = 2915147392, step = 1 << 20;
    MPI_Count i, own_bytes = rank == size - 1 ? bytes : 1;
    char *own = (char *)calloc((size_t)own_bytes, 1), *all = NULL;
    int other;
    for (other = 0; other < size; other++) {
        counts[other] = other == size - 1 ? bytes : 1;
        displs[other] = other;
    }
    if (rank == 0)
        all = (char *)calloc((size_t)bytes + (size_t)size, 1);
    check(own != NULL && (rank != 0 || all != NULL));
    if (bad)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (i = 0; i < own_bytes; i += step)
        own[i] = (char)(i / step + 1);
    own[own_bytes - 1] = 77;
    tuwtree_gatherv_c(own, own_bytes, MPI_BYTE, all, counts, displs, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (i = 0; rank == 0 && i < bytes - 1; i += step)
        check(all[size - 1 + i] == (char)(i / step + 1));
    check(rank != 0 || all[size - 1 + bytes - 1] == 77);
    memset(own, 0, (size_t)own_bytes);
    tuwtree_scatterv_c(all, counts, displs, MPI_BYTE, own, own_bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (i = 0; i < own_bytes - 1; i += step)
        check(own[i] == (char)(i / step + 1));
    check(own[own_bytes - 1] == 77);
    free(own);
    free(all);
}

int main(int argc, char **argv)
{
    static const char *const algorithms[] = {"adaptive", "linear", "native"};
    int i;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts = (MPI_Count *)malloc((size_t)size * sizeof *counts);
    displs = (MPI_Aint *)malloc((size_t)size * sizeof *displs);
    for (i = 0; i < 3; i++) {
        tuwtree_set(MPI_COMM_WORLD, "algorithm", algorithms[i]);
        if (argc == 1) {
            far_apart();
            without_data();
        } else if (i < 2) {
            many_bytes();
        }
    }
    if (bad == 0)
        printf("rank %d: nothing wrong\n", rank);
    free(counts);
    free(displs);
    MPI_Finalize();
    return bad != 0;
}
