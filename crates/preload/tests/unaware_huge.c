/* A program that knows nothing of tuwtree: the last rank has a block of 2,915,147,392 bytes, more than an int counts, which
 * the first one gathers and scatters. They are elements of 64 bytes; with the argument "bytes" single bytes, by MPI 4's large
 * counts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const long long BYTES = 2915147392, STEP = 1 << 20;

static int rank, size, wrong;

/* Every now and then a byte that tells its place, and the last one. */
static void fill(char *block, long long bytes)
{
    long long i;
    memset(block, 0, (size_t)bytes);
    for (i = 0; i < bytes; i += STEP)
        block[i] = (char)(i / STEP + 1);
    block[bytes - 1] = 77;
}

static void check(const char *block, long long bytes)
{
    long long i;
    for (i = 0; i < bytes - 1; i += STEP)
        wrong += block[i] != (char)(i / STEP + 1);
    wrong += block[bytes - 1] != 77;
}

/* There and back, by MPI 4's large counts. */
static void of_bytes(char *own, long long own_bytes, char *all)
{
#if MPI_VERSION >= 4
    MPI_Count *counts = malloc((size_t)size * sizeof *counts);
    MPI_Aint *displs = malloc((size_t)size * sizeof *displs);
    int i;
    for (i = 0; i < size; i++) {
        counts[i] = i == size - 1 ? BYTES : 1;
        displs[i] = i;
    }
    MPI_Gatherv_c(own, own_bytes, MPI_BYTE, all, counts, displs, MPI_BYTE, 0, MPI_COMM_WORLD);
    memset(own, 0, (size_t)own_bytes);
    MPI_Scatterv_c(all, counts, displs, MPI_BYTE, own, own_bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    free(counts);
    free(displs);
#else
    (void)own, (void)own_bytes, (void)all;
    MPI_Abort(MPI_COMM_WORLD, 4);
#endif
}

/* There and back, in elements of 64 bytes. */
static void of_elements(char *own, long long own_bytes, char *all)
{
    int i, *counts = malloc((size_t)size * sizeof *counts), *displs = malloc((size_t)size * sizeof *displs);
    MPI_Datatype type;
    MPI_Type_contiguous(64, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (i = 0; i < size; i++) {
        counts[i] = i == size - 1 ? (int)(BYTES / 64) : 1;
        displs[i] = i;
    }
    MPI_Gatherv(own, counts[rank], type, all, counts, displs, type, 0, MPI_COMM_WORLD);
    memset(own, 0, (size_t)own_bytes);
    MPI_Scatterv(all, counts, displs, type, own, counts[rank], type, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    free(counts);
    free(displs);
}

int main(int argc, char **argv)
{
    const int has_large_counts = argc > 1 && !strcmp(argv[1], "bytes"), element = has_large_counts ? 1 : 64;
    long long own_bytes;
    char *own, *all = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    own_bytes = rank == size - 1 ? BYTES : element;
    own = malloc((size_t)own_bytes);
    if (rank == 0)
        all = calloc((size_t)BYTES + (size_t)(element * (size - 1)), 1);
    if (own == NULL || (rank == 0 && all == NULL))
        MPI_Abort(MPI_COMM_WORLD, 2);
    fill(own, own_bytes);
    (has_large_counts ? of_bytes : of_elements)(own, own_bytes, all);
    check(own, own_bytes);
    if (rank == 0)
        check(all + element * (size - 1), BYTES);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("a huge block, %d wrong\n", wrong);
    free(own);
    free(all);
    MPI_Finalize();
    return wrong != 0;
}
