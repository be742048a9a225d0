/* Everything that tuwtree_mpi.h has, on any number of processes: against MPI_Gatherv and
 * MPI_Scatterv, byte for byte. Prints one line at the end; exit code 0 if all is right.
 *
 * Argument: the number of random problems. */
#include "tuwtree_mpi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fails with the place and what was expected. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

#define OK(call) CHECK((call) == MPI_SUCCESS)

static unsigned long long state;

/* The same numbers at all processes. */
static int below(int most)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((state >> 33) % (unsigned long long)most);
}

static void *room(size_t bytes)
{
    /* Never without memory: a null pointer is another test. */
    void *memory = calloc(bytes + 1, 1);
    CHECK(memory != NULL);
    return memory;
}

/* A problem: sizes, displacements with gaps, a root; and the buffers of this rank. */
struct problem {
    MPI_Comm comm;
    int size, rank, root;
    int *counts, *displs;
    int total;   /* elements of the root's buffer, gaps included */
    int *all;    /* the root's buffer */
    int *native; /* the same for MPI */
    int *own;
    int *back;
};

static void make(struct problem *problem, MPI_Comm comm, int root, int largest)
{
    int i;
    problem->comm = comm;
    OK(MPI_Comm_size(comm, &problem->size));
    OK(MPI_Comm_rank(comm, &problem->rank));
    problem->root = root;
    problem->counts = (int *)room((size_t)problem->size * sizeof(int));
    problem->displs = (int *)room((size_t)problem->size * sizeof(int));
    problem->total = 0;
    {
        /* No gaps at all, as a rule; sometimes gaps, and sometimes backwards. */
        int gaps = below(3), backwards = below(4) == 0;
        for (i = 0; i < problem->size; i++)
            problem->counts[i] = below(4) == 0 ? 0 : below(largest + 1);
        for (i = 0; i < problem->size; i++) {
            int at = backwards ? problem->size - 1 - i : i;
            problem->total += gaps ? below(3) : 0;
            problem->displs[at] = problem->total;
            problem->total += problem->counts[at];
        }
    }
    problem->all = (int *)room((size_t)problem->total * sizeof(int));
    problem->native = (int *)room((size_t)problem->total * sizeof(int));
    problem->own = (int *)room((size_t)problem->counts[problem->rank] * sizeof(int));
    problem->back = (int *)room((size_t)problem->counts[problem->rank] * sizeof(int));
}

static void fill(struct problem *problem, int seed)
{
    int i, count = problem->counts[problem->rank];
    for (i = 0; i < count; i++)
        problem->own[i] = (problem->rank + 1) * 100003 + seed * 101 + i;
    for (i = 0; i < problem->total; i++)
        problem->all[i] = problem->native[i] = -1;
    memset(problem->back, 0, (size_t)count * sizeof(int));
}

static void done(struct problem *problem)
{
    free(problem->counts);
    free(problem->displs);
    free(problem->all);
    free(problem->native);
    free(problem->own);
    free(problem->back);
}

static int same_all(const struct problem *problem)
{
    return problem->rank != problem->root ||
           memcmp(problem->all, problem->native, (size_t)problem->total * sizeof(int)) == 0;
}

static int same_own(const struct problem *problem)
{
    size_t bytes = (size_t)problem->counts[problem->rank] * sizeof(int);
    return memcmp(problem->own, problem->back, bytes) == 0;
}

static void gather_natively(struct problem *p)
{
    OK(MPI_Gatherv(p->own, p->counts[p->rank], MPI_INT, p->native, p->counts, p->displs, MPI_INT,
                   p->root, p->comm));
}

/* Gathers, compares with MPI, scatters, compares with what was gathered. */
static void once(struct problem *p, int seed)
{
    int at_root = p->rank == p->root;
    fill(p, seed);
    gather_natively(p);
    /* What matters at the root only is nothing elsewhere. */
    OK(tuwtree_gatherv(p->own, p->counts[p->rank], MPI_INT, at_root ? p->all : NULL,
                       at_root ? p->counts : NULL, at_root ? p->displs : NULL,
                       at_root ? MPI_INT : MPI_DATATYPE_NULL, p->root, p->comm));
    CHECK(same_all(p));
    OK(tuwtree_scatterv(at_root ? p->all : NULL, at_root ? p->counts : NULL,
                        at_root ? p->displs : NULL, at_root ? MPI_INT : MPI_DATATYPE_NULL, p->back,
                        p->counts[p->rank], MPI_INT, p->root, p->comm));
    CHECK(same_own(p));
}

/* The same call over and over, from and to other memory, then with the blocks elsewhere. */
static void over_and_over(struct problem *p, int rounds)
{
    int round, i, count = p->counts[p->rank];
    size_t own_bytes = (size_t)count * sizeof(int), all_bytes = (size_t)p->total * sizeof(int);
    for (round = 0; round < rounds; round++) {
        int *own = (int *)room(own_bytes), *all = (int *)room(all_bytes);
        fill(p, round);
        if (round > 2)
            for (i = 0; i < p->size; i++)
                p->displs[i] = p->total - p->displs[i] - p->counts[i];
        gather_natively(p);
        memcpy(own, p->own, own_bytes);
        memcpy(all, p->all, all_bytes);
        OK(tuwtree_gatherv(own, count, MPI_INT, all, p->counts, p->displs, MPI_INT, p->root,
                           p->comm));
        CHECK(p->rank != p->root || memcmp(all, p->native, all_bytes) == 0);
        free(own);
        free(all);
    }
    for (round = 0; round < rounds; round++) {
        int *all = (int *)room(all_bytes), *back = (int *)room(own_bytes);
        fill(p, round);
        gather_natively(p);
        memcpy(all, p->native, all_bytes);
        OK(tuwtree_scatterv(all, p->counts, p->displs, MPI_INT, back, count, MPI_INT, p->root,
                            p->comm));
        CHECK(memcmp(back, p->own, own_bytes) == 0);
        free(all);
        free(back);
    }
}

/* Calls between the same processes, each with smaller blocks than the one before. */
static void less_and_less(struct problem *p, int rounds)
{
    int round, i;
    for (round = 0; round < rounds; round++) {
        once(p, round);
        for (i = 0; i < p->size; i++)
            p->counts[i] -= p->counts[i] > 1;
        fill(p, round);
        gather_natively(p);
        OK(tuwtree_gatherv(p->own, p->counts[p->rank], MPI_INT, p->all, p->counts, p->displs,
                           MPI_INT, p->root, p->comm));
        CHECK(same_all(p));
    }
}

/* The root's own block is in place: in the middle of all blocks. */
static void in_place(struct problem *p, int seed)
{
    int at_root = p->rank == p->root, count = p->counts[p->rank];
    void *own = at_root ? MPI_IN_PLACE : (void *)p->own;
    void *back = at_root ? MPI_IN_PLACE : (void *)p->back;
    tuwtree_request gather, scatter;
    fill(p, seed);
    gather_natively(p);
    if (at_root)
        memcpy(p->all + p->displs[p->rank], p->own, (size_t)count * sizeof(int));
    OK(tuwtree_gatherv(own, count, MPI_INT, p->all, p->counts, p->displs, MPI_INT, p->root,
                       p->comm));
    CHECK(same_all(p));
    OK(tuwtree_scatterv(p->all, p->counts, p->displs, MPI_INT, back, count, MPI_INT, p->root,
                        p->comm));
    CHECK(at_root || same_own(p));
    CHECK(same_all(p));
    /* The same, persistent. */
    fill(p, seed + 1);
    gather_natively(p);
    if (at_root)
        memcpy(p->all + p->displs[p->rank], p->own, (size_t)count * sizeof(int));
    OK(tuwtree_gatherv_init(own, count, MPI_INT, p->all, p->counts, p->displs, MPI_INT, p->root,
                            p->comm, &gather));
    OK(tuwtree_scatterv_init(p->all, p->counts, p->displs, MPI_INT, back, count, MPI_INT, p->root,
                             p->comm, &scatter));
    OK(tuwtree_start(&gather));
    OK(tuwtree_wait(&gather));
    CHECK(same_all(p));
    OK(tuwtree_start(&scatter));
    OK(tuwtree_wait(&scatter));
    CHECK(at_root || same_own(p));
    OK(tuwtree_free(&gather));
    OK(tuwtree_free(&scatter));
}

/* Set up once, started with other data each time. */
static void persistent(struct problem *p, int rounds)
{
    tuwtree_request gather, scatter;
    int round, flag;
    /* The lists are not needed any more afterwards. */
    int *counts = (int *)room((size_t)p->size * sizeof(int));
    memcpy(counts, p->counts, (size_t)p->size * sizeof(int));
    OK(tuwtree_gatherv_init(p->own, p->counts[p->rank], MPI_INT, p->all, counts, p->displs, MPI_INT,
                            p->root, p->comm, &gather));
    OK(tuwtree_scatterv_init(p->all, counts, p->displs, MPI_INT, p->back, p->counts[p->rank],
                             MPI_INT, p->root, p->comm, &scatter));
    memset(counts, 255, (size_t)p->size * sizeof(int));
    free(counts);
    OK(tuwtree_wait(&gather));
    flag = 0;
    OK(tuwtree_test(&gather, &flag));
    CHECK(flag == 1);
    for (round = 0; round < rounds; round++) {
        fill(p, round);
        gather_natively(p);
        OK(tuwtree_start(&gather));
        if (round % 2) {
            OK(tuwtree_wait(&gather));
        } else {
            do
                OK(tuwtree_test(&gather, &flag));
            while (!flag);
        }
        CHECK(same_all(p));
        OK(tuwtree_start(&scatter));
        OK(tuwtree_wait(&scatter));
        CHECK(same_own(p));
    }
    OK(tuwtree_free(&gather));
    OK(tuwtree_free(&scatter));
    CHECK(gather == TUWTREE_REQUEST_NULL && scatter == TUWTREE_REQUEST_NULL);
}

/* Columns of a matrix at the leaves, pairs in reverse order at the root. */
static void derived_types(MPI_Comm comm, int root)
{
    enum { ROWS = 3, COLUMNS = 5 };
    int size, rank, i, k;
    int matrix[ROWS * COLUMNS], back[ROWS * COLUMNS];
    int *counts, *displs, *all, *native;
    MPI_Datatype column, resized, swapped;
    int lengths[2] = {1, 1}, places[2] = {1, 0};
    tuwtree_request gather, scatter;
    OK(MPI_Comm_size(comm, &size));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &column));
    OK(MPI_Type_create_resized(column, 0, sizeof(int), &resized));
    OK(MPI_Type_commit(&resized));
    OK(MPI_Type_indexed(2, lengths, places, MPI_INT, &swapped));
    OK(MPI_Type_commit(&swapped));
    counts = (int *)room((size_t)size * sizeof(int));
    displs = (int *)room((size_t)size * sizeof(int));
    for (i = 0, k = 0; i < size; i++) {
        /* 0, 2 or 4 columns are 0, 3 or 6 pairs. */
        counts[i] = i % 3 * 3;
        displs[i] = k + 1;
        k += counts[i] + 1;
    }
    all = (int *)room((size_t)(2 * k + 2) * sizeof(int));
    native = (int *)room((size_t)(2 * k + 2) * sizeof(int));
    for (i = 0; i < ROWS * COLUMNS; i++) {
        matrix[i] = rank * 1000 + i;
        back[i] = -1;
    }
    OK(MPI_Gatherv(matrix, rank % 3 * 2, resized, native, counts, displs, swapped, root, comm));
    OK(tuwtree_gatherv(matrix, rank % 3 * 2, resized, all, counts, displs, swapped, root, comm));
    CHECK(rank != root || memcmp(all, native, (size_t)(2 * k + 2) * sizeof(int)) == 0);
    OK(tuwtree_scatterv(all, counts, displs, swapped, back, rank % 3 * 2, resized, root, comm));
    for (i = 0; i < ROWS * COLUMNS; i++)
        CHECK(back[i] == (i % COLUMNS < rank % 3 * 2 ? matrix[i] : -1));
    memset(all, 0, (size_t)(2 * k + 2) * sizeof(int));
    memset(back, 255, sizeof back);
    OK(tuwtree_gatherv_init(matrix, rank % 3 * 2, resized, all, counts, displs, swapped, root, comm,
                            &gather));
    OK(tuwtree_scatterv_init(all, counts, displs, swapped, back, rank % 3 * 2, resized, root, comm,
                             &scatter));
    /* As with MPI, datatypes may be freed while operations that use them live. */
    OK(MPI_Type_free(&column));
    OK(MPI_Type_free(&resized));
    OK(MPI_Type_free(&swapped));
    for (i = 0; i < 2; i++) {
        OK(tuwtree_start(&gather));
        OK(tuwtree_wait(&gather));
        CHECK(rank != root || memcmp(all, native, (size_t)(2 * k + 2) * sizeof(int)) == 0);
        OK(tuwtree_start(&scatter));
        OK(tuwtree_wait(&scatter));
    }
    for (i = 0; i < ROWS * COLUMNS; i++)
        CHECK(back[i] == (i % COLUMNS < rank % 3 * 2 ? matrix[i] : -1));
    OK(tuwtree_free(&gather));
    OK(tuwtree_free(&scatter));
    free(counts);
    free(displs);
    free(all);
    free(native);
}

/* Several operations under way at once, on one communicator and on duplicates. */
static void several(void)
{
    enum { OPERATIONS = 6 };
    struct problem problems[OPERATIONS];
    tuwtree_request requests[OPERATIONS];
    MPI_Comm duplicate;
    int size, i, round;
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &duplicate));
    OK(tuwtree_set(duplicate, "algorithm", "adaptive"));
    for (i = 0; i < OPERATIONS; i++) {
        struct problem *p = &problems[i];
        make(p, i % 2 ? duplicate : MPI_COMM_WORLD, i % size, 50);
        OK(tuwtree_gatherv_init(p->own, p->counts[p->rank], MPI_INT, p->all, p->counts, p->displs,
                                MPI_INT, p->root, p->comm, &requests[i]));
    }
    for (round = 0; round < 3; round++) {
        for (i = 0; i < OPERATIONS; i++) {
            fill(&problems[i], 10 * round + i);
            gather_natively(&problems[i]);
        }
        /* Started and ended in different orders at different processes. */
        for (i = 0; i < OPERATIONS; i++)
            OK(tuwtree_start(&requests[(i + problems[0].rank) % OPERATIONS]));
        /* Another operation in between, on the same communicator. */
        {
            struct problem between;
            make(&between, duplicate, round % size, 20);
            once(&between, round);
            done(&between);
        }
        for (;;) {
            int ended = 0;
            for (i = 0; i < OPERATIONS; i++) {
                int flag = 0;
                OK(tuwtree_test(&requests[i], &flag));
                ended += flag;
            }
            if (ended == OPERATIONS)
                break;
        }
        for (i = 0; i < OPERATIONS; i++)
            CHECK(same_all(&problems[i]));
    }
    for (i = 0; i < OPERATIONS; i++) {
        OK(tuwtree_free(&requests[i]));
        done(&problems[i]);
    }
    OK(MPI_Comm_free(&duplicate));
}

/* Odd and even processes each among themselves, in reverse order. */
static void split(void)
{
    MPI_Comm half;
    struct problem problem;
    int rank, i;
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half));
    OK(tuwtree_set(half, "algorithm", "adaptive"));
    for (i = 0; i < 3; i++) {
        int size;
        OK(MPI_Comm_size(half, &size));
        make(&problem, half, below(1000) % size, 30);
        once(&problem, i);
        persistent(&problem, 2);
        done(&problem);
    }
    OK(MPI_Comm_free(&half));
}

static int class_of(int code)
{
    int class_;
    OK(MPI_Error_class(code, &class_));
    return class_;
}

static int is_told(const char *what)
{
    if (strstr(tuwtree_error_text(), what) == NULL)
        fprintf(stderr, "error text: %s\n", tuwtree_error_text());
    return strstr(tuwtree_error_text(), what) != NULL;
}

static int handled;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    handled++;
}

/* Wrong arguments are codes, of the class that MPI has for them, and nobody hangs. */
static void errors(void)
{
    MPI_Comm comm;
    MPI_Errhandler handler;
    int size, rank, code, i, value = 7, got = -1, flag;
    int *counts, *displs, *all;
    tuwtree_request request = TUWTREE_REQUEST_NULL;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(tuwtree_set(comm, "algorithm", "adaptive"));
    OK(MPI_Comm_size(comm, &size));
    OK(MPI_Comm_rank(comm, &rank));
    counts = (int *)room((size_t)size * sizeof(int));
    displs = (int *)room((size_t)size * sizeof(int));
    all = (int *)room((size_t)size * 2 * sizeof(int));
    for (i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = 2 * i;
    }
    /* No communicator, no request. */
    code = tuwtree_gatherv(&value, 1, MPI_INT, all, counts, displs, MPI_INT, 0, MPI_COMM_NULL);
    CHECK(class_of(code) == MPI_ERR_COMM);
    CHECK(class_of(tuwtree_start(&request)) == MPI_ERR_REQUEST);
    CHECK(class_of(tuwtree_wait(NULL)) == MPI_ERR_REQUEST);
    CHECK(class_of(tuwtree_free(&request)) == MPI_ERR_REQUEST);
    CHECK(tuwtree_gatherv_init(&value, 1, MPI_INT, all, counts, displs, MPI_INT, 0, comm, NULL) !=
          MPI_SUCCESS);
    /* A root that there is not. */
    code = tuwtree_gatherv(&value, 1, MPI_INT, all, counts, displs, MPI_INT, size, comm);
    CHECK(class_of(code) == MPI_ERR_ROOT);
    CHECK(is_told("root"));
    code = tuwtree_scatterv_init(all, counts, displs, MPI_INT, &got, 1, MPI_INT, -1, comm, &request);
    CHECK(class_of(code) == MPI_ERR_ROOT);
    CHECK(request == TUWTREE_REQUEST_NULL);
    /* A negative count at the last rank; no datatype; no buffer. The others are not left
     * waiting, the root knows. */
    for (i = 0; i < 3; i++) {
        int bad = rank == size - 1;
        code = tuwtree_gatherv(bad && i == 2 ? NULL : &value, bad && i == 0 ? -1 : 1,
                               bad && i == 1 ? MPI_DATATYPE_NULL : MPI_INT, all, counts, displs,
                               MPI_INT, 0, comm);
        if (bad)
            CHECK(class_of(code) == (i == 0   ? MPI_ERR_COUNT
                                     : i == 1 ? MPI_ERR_TYPE
                                              : MPI_ERR_BUFFER));
        CHECK(rank != 0 || code != MPI_SUCCESS);
        code = tuwtree_scatterv(all, counts, displs, MPI_INT, bad && i == 2 ? NULL : &got,
                                bad && i == 0 ? -1 : 1, bad && i == 1 ? MPI_DATATYPE_NULL : MPI_INT,
                                0, comm);
        CHECK((rank != 0 && !bad) || code != MPI_SUCCESS);
        code = tuwtree_gatherv_init(bad && i == 2 ? NULL : &value, bad && i == 0 ? -1 : 1,
                                    bad && i == 1 ? MPI_DATATYPE_NULL : MPI_INT, all, counts, displs,
                                    MPI_INT, 0, comm, &request);
        CHECK(code != MPI_SUCCESS && request == TUWTREE_REQUEST_NULL);
    }
    if (size > 1) {
        /* The last rank has more, less or nothing. */
        static const char *const algorithms[] = {"adaptive-gather-time", "adaptive-data-size",
                                                 "linear"};
        int two[2] = {1, 2}, k, more;
        for (k = 0; k < 3; k++) {
            OK(tuwtree_set(comm, "algorithm", algorithms[k]));
            for (more = 0; more <= 2; more += 2) {
                int count = rank == size - 1 ? more : 1;
                code = tuwtree_gatherv(two, count, MPI_INT, all, counts, displs, MPI_INT, 0, comm);
                CHECK(rank == 0 ? code != MPI_SUCCESS : 1);
                if (rank == 0)
                    CHECK(class_of(code) == (more ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT));
                code = tuwtree_scatterv(all, counts, displs, MPI_INT, two, count, MPI_INT, 0, comm);
                CHECK(rank == 0 && k < 2 ? code != MPI_SUCCESS : 1);
                CHECK(rank == size - 1 && more ? code != MPI_SUCCESS : 1);
                code = tuwtree_scatterv_init(all, counts, displs, MPI_INT, two, count, MPI_INT, 0,
                                             comm, &request);
                CHECK(code != MPI_SUCCESS && request == TUWTREE_REQUEST_NULL);
                CHECK(is_told("bytes"));
            }
        }
        OK(tuwtree_set(comm, "algorithm", "adaptive"));
        /* Different roots. */
        code = tuwtree_gatherv_init(&value, 1, MPI_INT, all, counts, displs, MPI_INT,
                                    rank == size - 1, comm, &request);
        CHECK(code != MPI_SUCCESS && is_told("root"));
        code = tuwtree_gatherv(&value, 1, MPI_INT, all, counts, displs, MPI_INT, rank == size - 1,
                               comm);
        CHECK(class_of(code) == MPI_ERR_ROOT || (rank > 0 && rank < size - 1));
    }
    /* Settings. */
    code = tuwtree_set(comm, "algorithm", "fastest");
    CHECK(code != MPI_SUCCESS && is_told("fastest"));
    CHECK(tuwtree_set(comm, "speed", "fast") != MPI_SUCCESS);
    CHECK(tuwtree_set(comm, NULL, "fast") != MPI_SUCCESS);
    CHECK(tuwtree_set(comm, "machine", "/nowhere") != MPI_SUCCESS);
    CHECK(tuwtree_set(comm, "algorithm", "auto") != MPI_SUCCESS);
    /* What is under way is neither started nor freed. */
    OK(tuwtree_gatherv_init(&value, 1, MPI_INT, all, counts, displs, MPI_INT, 0, comm, &request));
    OK(tuwtree_start(&request));
    code = tuwtree_start(&request);
    CHECK(code == MPI_SUCCESS || class_of(code) == MPI_ERR_REQUEST);
    code = tuwtree_test(&request, NULL);
    CHECK(code != MPI_SUCCESS);
    OK(tuwtree_wait(&request));
    OK(tuwtree_test(&request, &flag));
    OK(tuwtree_free(&request));
    /* A handler of the program's own. */
    OK(MPI_Comm_create_errhandler(note, &handler));
    OK(MPI_Comm_set_errhandler(comm, handler));
    CHECK(tuwtree_gatherv(&value, 1, MPI_INT, all, counts, displs, MPI_INT, size, comm) !=
          MPI_SUCCESS);
    CHECK(handled == 1);
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    free(counts);
    free(displs);
    free(all);
}

int main(int argc, char **argv)
{
    static const char *const algorithms[] = {"adaptive-gather-time", "adaptive-data-size", "linear",
                                             "native", "adaptive-completion-time", "auto",
                                             "deadline-online"};
    int problems, size, rank, i, root, kinds = 4;
    struct problem problem;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    problems = argc > 1 ? atoi(argv[1]) : 100;
    if (argc > 2) {
        OK(tuwtree_set(MPI_COMM_WORLD, "machine", argv[2]));
        kinds = 7;
    }
    /* Every root, every algorithm, both modes. */
    for (root = 0; root < size && root < 4; root++) {
        for (i = 0; i < 2 * kinds; i++) {
            OK(tuwtree_set(MPI_COMM_WORLD, "algorithm", algorithms[i / 2]));
            OK(tuwtree_set(MPI_COMM_WORLD, "mode", i % 2 ? "strict" : "eager"));
            state = (unsigned long long)(17 * root + i);
            make(&problem, MPI_COMM_WORLD, (root * 7 + size - 1) % size, 40);
            once(&problem, i);
            in_place(&problem, i);
            over_and_over(&problem, 5);
            less_and_less(&problem, 3);
            persistent(&problem, 3);
            done(&problem);
        }
    }
    state = 1;
    for (i = 0; i < problems; i++) {
        int largest = below(10) == 0 ? 30000 : 1 + below(300);
        if (i % 50 == 0) {
            OK(tuwtree_set(MPI_COMM_WORLD, "algorithm", algorithms[i / 50 % kinds]));
            OK(tuwtree_set(MPI_COMM_WORLD, "mode", below(2) ? "strict" : "eager"));
        }
        make(&problem, MPI_COMM_WORLD, below(size), largest);
        once(&problem, i);
        if (i % 10 == 0)
            persistent(&problem, 2);
        done(&problem);
    }
    for (i = 0; i < (kinds == 7 ? 4 : 3); i++) {
        OK(tuwtree_set(MPI_COMM_WORLD, "algorithm", algorithms[i == 3 ? 6 : i]));
        derived_types(MPI_COMM_WORLD, i % size);
        several();
    }
    split();
    errors();
    if (rank == 0)
        printf("all right: %d processes, %d random problems\n", size, problems);
    OK(MPI_Finalize());
    return 0;
}
