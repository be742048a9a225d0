/* How much memory calls take at processes that pass data on: blocks are small while the plans are made, and
 * large afterwards. "set-up" is for operations that are set up for large blocks. The first argument says what, the second how many bytes a block has, the third is the file
 * of a machine on which trees pay. */
#define _POSIX_C_SOURCE 200809L
#include "tuwtree_mpi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s (rank %d): %s\n", __FILE__, __LINE__, #condition,   \
                    rank, tuwtree_error_text());                                                   \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

#define OK(call) CHECK((call) == MPI_SUCCESS)

static int rank, size, root;
static int *counts, *displs;
static char *own, *all;
static MPI_Comm comm;

/* A number of /proc/self/status, in KiB. */
static long status(const char *name)
{
    char line[256];
    long found = -1;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            found = atol(line + strlen(name) + 1);
    fclose(file);
    CHECK(found >= 0);
    return found;
}

/* From now on the most memory is counted anew. */
static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    CHECK(file != NULL && fputs("5", file) >= 0);
    fclose(file);
}

static void set_blocks(int bytes)
{
    int i;
    for (i = 0; i < size; i++) {
        counts[i] = bytes;
        displs[i] = i * bytes;
    }
}

/* A gather and a scatter of blocks of so many bytes: their codes. */
static void perform(int bytes, int codes[2])
{
    int i;
    set_blocks(bytes);
    memset(own, rank + 1, (size_t)bytes);
    codes[0] = tuwtree_gatherv(own, bytes, MPI_CHAR, all, counts, displs, MPI_CHAR, root, comm);
    for (i = 0; i < size && rank == root && codes[0] == MPI_SUCCESS; i++)
        CHECK(all[displs[i]] == i + 1 && all[displs[i] + bytes - 1] == i + 1);
    for (i = 0; i < size && rank == root; i++)
        memset(all + displs[i], i + 1, (size_t)bytes);
    memset(own, 0, (size_t)bytes);
    codes[1] = tuwtree_scatterv(all, counts, displs, MPI_CHAR, own, bytes, MPI_CHAR, root, comm);
    CHECK(codes[1] != MPI_SUCCESS || (own[0] == rank + 1 && own[bytes - 1] == rank + 1));
}

/* The same by operations that are set up, started twice. */
static void perform_set_up(int bytes)
{
    int i, start;
    tuwtree_request gather, scatter;
    set_blocks(bytes);
    OK(tuwtree_gatherv_init(own, bytes, MPI_CHAR, all, counts, displs, MPI_CHAR, root, comm,
                            &gather));
    for (start = 0; start < 2; start++) {
        memset(own, rank + 1 + start, (size_t)bytes);
        OK(tuwtree_start(&gather));
        OK(tuwtree_wait(&gather));
        for (i = 0; i < size && rank == root; i++)
            CHECK(all[displs[i]] == i + 1 + start && all[displs[i] + bytes - 1] == i + 1 + start);
    }
    OK(tuwtree_free(&gather));
    OK(tuwtree_scatterv_init(all, counts, displs, MPI_CHAR, own, bytes, MPI_CHAR, root, comm,
                             &scatter));
    for (start = 0; start < 2; start++) {
        for (i = 0; i < size && rank == root; i++)
            memset(all + displs[i], i + 1 + start, (size_t)bytes);
        memset(own, 0, (size_t)bytes);
        OK(tuwtree_start(&scatter));
        OK(tuwtree_wait(&scatter));
        CHECK(own[0] == rank + 1 + start && own[bytes - 1] == rank + 1 + start);
    }
    OK(tuwtree_free(&scatter));
}

int main(int argc, char **argv)
{
    int bytes = argc > 2 ? atoi(argv[2]) : 1, codes[2], call;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    root = size / 2;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(tuwtree_set(comm, "machine", argc > 3 ? argv[3] : ""));
    counts = malloc((size_t)size * sizeof *counts);
    displs = malloc((size_t)size * sizeof *displs);
    own = malloc((size_t)bytes);
    all = malloc(rank == root ? (size_t)bytes * (size_t)size : 1);
    CHECK(counts != NULL && displs != NULL && own != NULL && all != NULL);
    memset(own, 1, (size_t)bytes);
    memset(all, 1, rank == root ? (size_t)bytes * (size_t)size : 1);
    /* The plan of call 4 is kept up to call 8. */
    for (call = 1; call <= 4; call++) {
        perform(8, codes);
        CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
    }
    if (argc > 1 && (strcmp(argv[1], "memory") == 0 || strcmp(argv[1], "set-up") == 0)) {
        long before, grown[1], most[1];
        codes[0] = codes[1] = MPI_SUCCESS;
        before = status("VmRSS:");
        forget_peak();
        if (strcmp(argv[1], "set-up") == 0)
            perform_set_up(bytes);
        else
            perform(bytes, codes);
        CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
        grown[0] = rank == root ? 0 : status("VmHWM:") - before;
        OK(MPI_Reduce(grown, most, 1, MPI_LONG, MPI_MAX, 0, comm));
        if (rank == 0)
            printf("%ld KiB more\n", most[0]);
    } else {
        struct rlimit limit, less;
        int errors[2], i, refused[2], any[2];
        OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
        less = limit;
        less.rlim_cur = (rlim_t)status("VmSize:") * 1024 + (rlim_t)bytes / 2;
        if (rank != root)
            CHECK(setrlimit(RLIMIT_AS, &less) == 0);
        perform(bytes, codes);
        CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
        for (i = 0; i < 2; i++) {
            OK(MPI_Error_class(codes[i], &errors[i]));
            refused[i] = errors[i] == MPI_ERR_NO_MEM;
        }
        OK(MPI_Allreduce(refused, any, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
        CHECK(any[0] && any[1]);
        CHECK(rank != root || codes[0] != MPI_SUCCESS);
        perform(8, codes);
        CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
        if (rank == 0)
            printf("refused and right again\n");
    }
    OK(MPI_Comm_free(&comm));
    free(counts), free(displs), free(own), free(all);
    MPI_Finalize();
    return 0;
}
