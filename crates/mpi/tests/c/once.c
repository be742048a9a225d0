/* Calls that are performed once, one after the other, along trees that are kept: with sizes, datatypes and
 * roots that change, against MPI_Gatherv and MPI_Scatterv, byte for byte. The first argument says what, the
 * second how many calls, the third is the file of a machine on which trees pay. */
#include "tuwtree_mpi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s (call %d, rank %d): %s\n", __FILE__, __LINE__,      \
                    #condition, call, rank, tuwtree_error_text());                                 \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

#define OK(call) CHECK((call) == MPI_SUCCESS)

static int rank, size, call;
static int *counts, *displs;
static MPI_Comm comm;
static int all_know; /* Whether all ranks give all counts. */

static unsigned long long state = 7;

/* The same numbers at all processes. */
static int below(int most)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((state >> 33) % (unsigned long long)most);
}

static int gather(const void *own, int count, MPI_Datatype type, void *all, const int *its,
                  const int *starts, MPI_Datatype all_type, int root)
{
    if (all_know)
        return tuwtree_gatherv_all_counts(own, count, type, rank == root ? all : NULL, its,
                                          rank == root ? starts : NULL, all_type, root, comm);
    return tuwtree_gatherv(own, count, type, all, its, starts, all_type, root, comm);
}

static int scatter(const void *all, const int *its, const int *starts, MPI_Datatype all_type,
                   void *own, int count, MPI_Datatype type, int root)
{
    if (all_know)
        return tuwtree_scatterv_all_counts(rank == root ? all : NULL, its,
                                           rank == root ? starts : NULL, all_type, own, count,
                                           type, root, comm);
    return tuwtree_scatterv(all, its, starts, all_type, own, count, type, root, comm);
}

static int *room(int items)
{
    int *memory = (int *)malloc(((size_t)items + 1) * sizeof(int));
    CHECK(memory != NULL);
    memset(memory, 255, ((size_t)items + 1) * sizeof(int));
    return memory;
}

/* New counts, in whole pairs: like those before, small, large here and there, or mostly none; with gaps
 * or not. Returns how many items all blocks take. */
static int choose(void)
{
    int i, total = 0, gaps = below(3) == 0, kind = below(12);
    for (i = 0; i < size; i++) {
        int small = 2 * below(30), large = 2 * below(30000);
        if (kind == 1)
            counts[i] = small;
        else if (kind == 2)
            counts[i] = below(size) == 0 ? large : small;
        else if (kind == 3)
            counts[i] = below(3) ? 0 : small;
        else if (kind == 4)
            counts[i] += 2 * below(5);
        else if (kind == 5 && below(2))
            counts[i] = counts[i] / 4 * 2;
        else if (kind == 6)
            counts[i] = 0;
        total += gaps ? below(3) : 0;
        displs[i] = total;
        total += counts[i];
    }
    return total;
}

/* A gather and a scatter back, of numbers, or of pairs at the root and pairs of numbers with a gap
 * elsewhere, or with the root's own block in place. */
static void there_and_back(int root, MPI_Datatype pair, MPI_Datatype wide)
{
    int total = choose(), count = counts[rank], i, k, kind = below(4), at_root = rank == root;
    int stride = kind == 1 && !at_root ? 2 : 1, *own = room(3 * count), *back = room(3 * count);
    int *all = room(total), *native = room(total), *plain = room(count);
    void *sent = own, *wanted = back;
    MPI_Datatype own_type = kind == 1 && !at_root ? wide : MPI_INT;
    int own_count = kind == 1 && !at_root ? count / 2 : count;
    int *pairs = room(size), *starts = room(size), odd = 0;
    for (k = 0; k < count; k++)
        plain[k] = own[k / 2 * 2 * stride + k % 2] = call * 1000003 + rank * 10007 + k;
    OK(MPI_Gatherv(plain, count, MPI_INT, native, counts, displs, MPI_INT, root, comm));
    for (i = 0; i < size; i++) {
        pairs[i] = counts[i] / 2;
        starts[i] = displs[i] / 2;
        odd += displs[i] % 2;
    }
    if (kind == 2 && at_root) {
        memcpy(all + displs[rank], plain, (size_t)count * sizeof(int));
        sent = wanted = MPI_IN_PLACE;
    }
    if (kind == 1 && !odd)
        OK(gather(sent, own_count, own_type, all, pairs, starts, pair, root));
    else
        OK(gather(sent, own_count, own_type, all, counts, displs, MPI_INT, root));
    CHECK(!at_root || memcmp(all, native, (size_t)total * sizeof(int)) == 0);
    if (kind == 1 && !odd)
        OK(scatter(native, pairs, starts, pair, wanted, own_count, own_type, root));
    else
        OK(scatter(native, counts, displs, MPI_INT, wanted, own_count, own_type, root));
    for (k = 0; k < count && wanted == (void *)back; k++)
        CHECK(back[k / 2 * 2 * stride + k % 2] == plain[k]);
    if (stride == 2)
        for (k = 0; k < count; k++)
            CHECK(back[k / 2 * 4 + 2 + k % 2] == -1);
    CHECK(at_root || memcmp(all, native, (size_t)total * sizeof(int)) == 0);
    free(own), free(back), free(all), free(native), free(plain), free(pairs), free(starts);
}

static int class_of(int code)
{
    int class_;
    OK(MPI_Error_class(code, &class_));
    return class_;
}

/* A gather and a scatter of a number each; `count` is this rank's. */
static void small(int count, int root, int codes[2])
{
    int own[4] = {rank, rank, rank, rank}, back[4] = {-1, -1, -1, -1}, *all = room(size), i;
    for (i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    codes[0] = tuwtree_gatherv(own, count, MPI_INT, all, counts, displs, MPI_INT, root, comm);
    for (i = 0; i < size && rank == root; i++)
        CHECK(codes[0] != MPI_SUCCESS || all[i] == i);
    for (i = 0; i < size; i++)
        all[i] = i;
    codes[1] = tuwtree_scatterv(all, counts, displs, MPI_INT, back, count, MPI_INT, root, comm);
    CHECK(codes[1] != MPI_SUCCESS || count != 1 || back[0] == rank);
    free(all);
}

/* What is wrong at one rank is an error there or at the root; nobody hangs, and the next call is right. */
static void faults(void)
{
    int i, codes[2], root = size / 2, bad;
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    /* MPICH gives failures of requests to this communicator's handler. */
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (i = 0; i < 10; i++, call++) {
        small(1, root, codes);
        CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
    }
    for (bad = 0; bad < size; bad++) {
        if (bad == root)
            continue;
        /* More than the root expects, and than it sends. */
        small(rank == bad ? 2 : 1, root, codes);
        CHECK(rank != root || class_of(codes[0]) == MPI_ERR_TRUNCATE);
        CHECK(rank != bad || codes[1] != MPI_SUCCESS);
        small(1, root, codes);
        CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
        /* No valid count. */
        small(rank == bad ? -1 : 1, root, codes);
        CHECK(rank != root || codes[0] != MPI_SUCCESS);
        CHECK(rank != bad || class_of(codes[0]) == MPI_ERR_COUNT);
        CHECK(rank != bad || class_of(codes[1]) == MPI_ERR_COUNT);
        small(1, root, codes);
        CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
    }
    /* No counts at the root. */
    {
        int own = rank, *all = room(size), code;
        code = tuwtree_gatherv(&own, 1, MPI_INT, all, rank == root ? NULL : counts, displs, MPI_INT,
                               root, comm);
        CHECK(rank != root || code != MPI_SUCCESS);
        code = tuwtree_scatterv(all, rank == root ? NULL : counts, displs, MPI_INT, &own, 1, MPI_INT,
                                root, comm);
        CHECK(code != MPI_SUCCESS);
        free(all);
    }
    for (i = 0; i < 3; i++, call++) {
        small(1, root, codes);
        CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
    }
    /* A root that there is not. */
    small(1, size, codes);
    CHECK(class_of(codes[0]) == MPI_ERR_ROOT && class_of(codes[1]) == MPI_ERR_ROOT);
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    int calls = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(tuwtree_set(comm, "machine", argc > 3 ? argv[3] : ""));
    if (argc > 1 && strcmp(argv[1], "known") == 0) {
        all_know = 1;
        OK(tuwtree_set(comm, "algorithm", "deadline-online"));
    }
    counts = room(size);
    displs = room(size);
    memset(counts, 0, (size_t)size * sizeof(int));
    if (argc > 1 && strcmp(argv[1], "faults") == 0)
        faults();
    else if (argc > 1 && strcmp(argv[1], "count") == 0) {
        for (; call < calls; call++) {
            int codes[2];
            small(1, size / 2, codes);
            CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
        }
    } else {
        MPI_Datatype pair, wide, resized;
        OK(MPI_Type_contiguous(2, MPI_INT, &pair));
        OK(MPI_Type_commit(&pair));
        OK(MPI_Type_contiguous(2, MPI_INT, &wide));
        OK(MPI_Type_create_resized(wide, 0, 4 * (MPI_Aint)sizeof(int), &resized));
        OK(MPI_Type_commit(&resized));
        choose();
        for (; call < calls; call++) {
            /* Few roots, most of the time the same. */
            there_and_back(below(3) ? size / 2 : below(size), pair, resized);
            if (call % 500 == 499)
                OK(tuwtree_set(comm, "mode", call % 1000 == 999 ? "eager" : "strict"));
        }
        OK(MPI_Type_free(&pair));
        OK(MPI_Type_free(&wide));
        OK(MPI_Type_free(&resized));
    }
    OK(MPI_Comm_free(&comm));
    free(counts);
    free(displs);
    if (rank == 0)
        printf("all right\n");
    MPI_Finalize();
    return 0;
}
