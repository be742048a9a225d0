/*
 * Performs exported schedules with real data and checks every byte, also those that must stay as
 * they are. Run by as many processes as the largest schedule has; prints one line, and a line for
 * everything that is wrong.
 */
#define _POSIX_C_SOURCE 199309L
#include "driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNTOUCHED 0xee
/* Bytes before and behind every buffer. */
#define MARGIN 32
/* A 2x2 matrix of bytes: its product is not commutative. */
#define MATRIX 4

static int failures = 0;
static long long checks = 0;

static void check(int holds, const char *name, const char *format, ...)
{
    checks++;
    if (holds)
        return;
    va_list values;
    char text[200];
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (failures++ < 5)
        printf("%s, process %d: %s\n", name, rank, text);
}

static void *allocate(long long bytes)
{
    void *memory = malloc((size_t)bytes + 1);
    if (memory == NULL) {
        printf("no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static unsigned char value(int round, int process, long long index)
{
    unsigned long long mixed = 1 + (unsigned long long)index + ((unsigned long long)process << 20)
        + ((unsigned long long)round << 40);
    mixed *= 0x9e3779b97f4a7c15ULL;
    mixed ^= mixed >> 29;
    mixed *= 0xbf58476d1ce4e5b9ULL;
    return (unsigned char)(mixed >> 56);
}

static void multiply(void *left, void *right, int *count, MPI_Datatype *type)
{
    const unsigned char *a = left;
    unsigned char *b = right;
    (void)type;
    for (int index = 0; index < *count; index++, a += MATRIX, b += MATRIX) {
        unsigned char product[MATRIX];
        product[0] = (unsigned char)(a[0] * b[0] + a[1] * b[2]);
        product[1] = (unsigned char)(a[0] * b[1] + a[1] * b[3]);
        product[2] = (unsigned char)(a[2] * b[0] + a[3] * b[2]);
        product[3] = (unsigned char)(a[2] * b[1] + a[3] * b[3]);
        memcpy(b, product, MATRIX);
    }
}

/* The buffers of one process for one request, with what they have to hold in the end. */
struct buffers {
    const struct test_case *test;
    int rank;
    MPI_Aint *displacements;
    long long input_bytes;
    long long output_bytes;
    unsigned char *input;
    unsigned char *output;
    unsigned char *expected;
};

/* How the root's blocks lie. */
enum placement { BY_DEFAULT, WITH_GAPS, BACKWARDS, PLACEMENTS };

static long long own_bytes(const struct test_case *test, int rank)
{
    return test->sizes != NULL ? test->sizes[rank] : test->bytes;
}

/* Where a block begins, and through *total, where the last one ends. */
static MPI_Aint place_of(
    const struct test_case *test, enum placement placement, int block, long long *total)
{
    MPI_Aint at = 0, found = 0;
    *total = 0;
    for (int turn = 0; turn < test->processes; turn++) {
        int next = placement == BACKWARDS ? test->processes - 1 - turn : turn;
        if (placement == BY_DEFAULT && test->displacements != NULL)
            at = test->displacements[next];
        else if (placement != BY_DEFAULT)
            at += next % 3;
        if (next == block)
            found = at;
        at += test->sizes[next];
        if (at > *total)
            *total = at;
    }
    return found;
}

static struct buffers make_buffers(
    const struct test_case *test, enum placement placement, int rank)
{
    struct buffers made = { test, rank, NULL, 0, 0, NULL, NULL, NULL };
    int is_root = rank == test->root;
    long long own = own_bytes(test, rank), all = test->bytes;
    if (test->sizes != NULL) {
        made.displacements = allocate(test->processes * (long long)sizeof(MPI_Aint));
        for (int block = 0; block < test->processes; block++)
            made.displacements[block] = place_of(test, placement, block, &all);
    }
    switch (test->operation) {
    case GATHER:
    case REDUCE:
        made.input_bytes = own;
        made.output_bytes = is_root ? all : 0;
        break;
    case SCATTER:
        made.input_bytes = is_root ? all : 0;
        made.output_bytes = own;
        break;
    case BROADCAST:
        made.output_bytes = all;
        break;
    }
    made.input = allocate(made.input_bytes);
    made.output = allocate(made.output_bytes + 2 * MARGIN);
    made.expected = allocate(made.output_bytes + 2 * MARGIN);
    return made;
}

static void free_buffers(struct buffers *buffers)
{
    free(buffers->displacements);
    free(buffers->input);
    free(buffers->output);
    free(buffers->expected);
}

static void fill_block(unsigned char *place, int round, int process, long long bytes)
{
    for (long long index = 0; index < bytes; index++)
        place[index] = value(round, process, index);
}

static void expect_reduction(struct buffers *buffers, int round)
{
    const struct test_case *test = buffers->test;
    unsigned char *result = buffers->expected + MARGIN, *left = allocate(test->bytes);
    int count = (int)(test->bytes / MATRIX), last = test->processes - 1;
    fill_block(result, round, last, test->bytes);
    for (int process = last - 1; process >= 0; process--) {
        fill_block(left, round, process, test->bytes);
        if (test->commutes)
            for (long long index = 0; index < test->bytes; index++)
                result[index] ^= left[index];
        else
            multiply(left, result, &count, NULL);
    }
    free(left);
}

static void fill(struct buffers *buffers, int round)
{
    const struct test_case *test = buffers->test;
    size_t output_bytes = (size_t)buffers->output_bytes + 2 * MARGIN;
    int is_root = buffers->rank == test->root;
    unsigned char *output = buffers->expected + MARGIN;
    memset(buffers->output, UNTOUCHED, output_bytes);
    memset(buffers->expected, UNTOUCHED, output_bytes);
    memset(buffers->input, UNTOUCHED, (size_t)buffers->input_bytes);
    switch (test->operation) {
    case GATHER:
        fill_block(buffers->input, round, buffers->rank, buffers->input_bytes);
        for (int block = 0; is_root && block < test->processes; block++)
            fill_block(output + buffers->displacements[block], round, block, test->sizes[block]);
        break;
    case SCATTER:
        fill_block(output, round, buffers->rank, buffers->output_bytes);
        for (int block = 0; is_root && block < test->processes; block++)
            fill_block(buffers->input + buffers->displacements[block], round, block,
                test->sizes[block]);
        break;
    case BROADCAST:
        fill_block(output, round, test->root, test->bytes);
        if (is_root)
            fill_block(buffers->output + MARGIN, round, test->root, test->bytes);
        break;
    case REDUCE:
        fill_block(buffers->input, round, buffers->rank, test->bytes);
        if (is_root)
            expect_reduction(buffers, round);
        break;
    }
}

static void check_output(const struct buffers *buffers, const char *how, int round)
{
    size_t bytes = (size_t)buffers->output_bytes + 2 * MARGIN;
    size_t wrong = 0;
    while (wrong < bytes && buffers->output[wrong] == buffers->expected[wrong])
        wrong++;
    check(wrong == bytes, buffers->test->name, "%s, round %d: byte %lld of the output is wrong",
        how, round, (long long)wrong - MARGIN);
}

/* What init is given; buffers that are not used at a process are NULL. */
static struct arguments arguments_for(
    const struct buffers *buffers, enum placement placement, const struct arguments *common)
{
    struct arguments given = *common;
    given.input = buffers->input_bytes > 0 ? buffers->input : NULL;
    given.output = buffers->output_bytes > 0 ? buffers->output + MARGIN : NULL;
    given.displacements = placement == BY_DEFAULT ? NULL : buffers->displacements;
    return given;
}

static int ends_by_tests(const struct test_case *test, void *request)
{
    int flag = 0, error = MPI_SUCCESS;
    while (error == MPI_SUCCESS && !flag)
        error = test->test(request, &flag);
    return error;
}

static void *prepare(const struct test_case *test, enum variant variant,
    const struct buffers *buffers, enum placement placement, const struct arguments *common)
{
    struct arguments given = arguments_for(buffers, placement, common);
    void *request = NULL;
    int error = test->init(variant, &given, &request);
    check(error == MPI_SUCCESS && request != NULL, test->name, "init returns %d", error);
    return request;
}

/* Several rounds with other data; ended by wait, and by test. */
static void run(const struct test_case *test, enum variant variant, enum placement placement,
    const struct arguments *common, int rank)
{
    const char *how = variant == EAGER ? "eager" : "strict";
    struct buffers buffers = make_buffers(test, placement, rank);
    fill(&buffers, 99);
    void *request = prepare(test, variant, &buffers, placement, common);
    for (int round = 0; round < 3 && request != NULL; round++) {
        fill(&buffers, round);
        int error = test->start(request);
        check(error == MPI_SUCCESS, test->name, "start returns %d", error);
        error = round == 1 ? ends_by_tests(test, request) : test->wait(request);
        check(error == MPI_SUCCESS, test->name, "wait or test returns %d", error);
        check_output(&buffers, how, round);
    }
    check(test->free(&request) == MPI_SUCCESS && request == NULL, test->name, "free fails");
    free_buffers(&buffers);
}

/* Two requests on one communicator at once, driven in turns. */
static void run_two(const struct test_case *test, const struct arguments *common, int rank)
{
    struct buffers one = make_buffers(test, BY_DEFAULT, rank);
    struct buffers other = make_buffers(test, BY_DEFAULT, rank);
    void *first = prepare(test, STRICT, &one, BY_DEFAULT, common);
    void *second = prepare(test, EAGER, &other, BY_DEFAULT, common);
    for (int round = 10; round < 12; round++) {
        int ended[2] = { 0, 0 };
        fill(&one, round);
        fill(&other, round + 10);
        check(test->start(rank % 2 == 0 ? first : second) == MPI_SUCCESS, test->name, "start");
        check(test->start(rank % 2 == 0 ? second : first) == MPI_SUCCESS, test->name, "start");
        while (!ended[0] || !ended[1]) {
            int errors = test->test(first, &ended[0]) + test->test(second, &ended[1]);
            check(errors == 2 * MPI_SUCCESS, test->name, "test fails with two requests");
        }
        check_output(&one, "first of two", round);
        check_output(&other, "second of two", round);
    }
    check(test->free(&first) == MPI_SUCCESS, test->name, "free");
    check(test->free(&second) == MPI_SUCCESS, test->name, "free");
    free_buffers(&one);
    free_buffers(&other);
}

static int class_of(int error)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    return class;
}

/* What is wrong is returned at all processes, and nothing hangs. */
static void run_wrong(const struct test_case *test, const struct arguments *common, int rank)
{
    struct buffers buffers = make_buffers(test, BY_DEFAULT, rank);
    struct arguments given = arguments_for(&buffers, BY_DEFAULT, common);
    void *request = &buffers;
    int flag = 0;
    given.comm = MPI_COMM_SELF;
    int error = test->processes > 1 ? test->init(STRICT, &given, &request) : MPI_ERR_COMM;
    check(class_of(error) == MPI_ERR_COMM, test->name, "wrong communicator: %d", error);

    given.comm = common->comm;
    int data = test->sizes != NULL ? test->sizes[test->root] > 0 : test->bytes > 0;
    if (rank == test->root && (test->operation == GATHER || test->operation == REDUCE))
        given.input = NULL;
    else if (rank == test->root)
        given.output = NULL;
    if (data && (test->processes > 1 || test->sizes != NULL)) {
        error = test->init(STRICT, &given, &request);
        check(error != MPI_SUCCESS && request == NULL, test->name, "no buffer: %d", error);
        if (rank == test->root)
            check(class_of(error) == MPI_ERR_BUFFER, test->name, "no buffer: %d", error);
    }
    if (test->operation == REDUCE && test->bytes > 0 && test->processes > 1) {
        given = arguments_for(&buffers, BY_DEFAULT, common);
        given.type = MPI_SHORT_INT;
        error = test->init(STRICT, &given, &request);
        check(error != MPI_SUCCESS && request == NULL, test->name, "elements with gaps");
    }

    fill(&buffers, 5);
    request = prepare(test, STRICT, &buffers, BY_DEFAULT, common);
    check(test->wait(request) == MPI_SUCCESS, test->name, "wait for nothing");
    check(test->test(request, &flag) == MPI_SUCCESS && flag, test->name, "test of nothing");
    check(test->start(request) == MPI_SUCCESS, test->name, "start");
    check(class_of(test->start(request)) == MPI_ERR_REQUEST, test->name, "started twice");
    check(class_of(test->free(&request)) == MPI_ERR_REQUEST, test->name, "freed while it runs");
    check(test->wait(request) == MPI_SUCCESS, test->name, "wait");
    check_output(&buffers, "after errors", 5);
    check(test->free(&request) == MPI_SUCCESS, test->name, "free");
    check(class_of(test->free(&request)) == MPI_ERR_REQUEST, test->name, "freed twice");
    free_buffers(&buffers);
}

static void run_case(const struct test_case *test, struct arguments *common, int rank)
{
    int placements = test->sizes != NULL ? PLACEMENTS : BY_DEFAULT + 1;
    for (int placement = BY_DEFAULT; placement < placements; placement++) {
        run(test, STRICT, (enum placement)placement, common, rank);
        run(test, EAGER, (enum placement)placement, common, rank);
    }
    run_two(test, common, rank);
    run_wrong(test, common, rank);
}

/* Waits for all processes, and leaves the processor to those that have work to do. */
static void meet(void)
{
    const struct timespec nap = { 0, 2000000 };
    MPI_Request barrier;
    int flag = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    while (!flag) {
        MPI_Test(&barrier, &flag, MPI_STATUS_IGNORE);
        if (!flag)
            nanosleep(&nap, NULL);
    }
}

int main(int count, char **values)
{
    int rank, size, sum = 0;
    MPI_Op product;
    MPI_Datatype matrix;
    MPI_Init(&count, &values);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Op_create(multiply, 0, &product);
    MPI_Type_contiguous(MATRIX, MPI_BYTE, &matrix);
    MPI_Type_commit(&matrix);
    for (int processes = 1; processes <= size; processes++) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, rank < processes ? 0 : MPI_UNDEFINED, rank, &comm);
        for (int index = 0; index < test_case_count && comm != MPI_COMM_NULL; index++) {
            const struct test_case *test = &test_cases[index];
            struct arguments common = { NULL, NULL, NULL, matrix, product, comm };
            if (test->commutes) {
                common.type = MPI_BYTE;
                common.op = MPI_BXOR;
            }
            if (test->processes == processes)
                run_case(test, &common, rank);
        }
        if (comm != MPI_COMM_NULL)
            MPI_Comm_free(&comm);
        meet();
    }
    MPI_Type_free(&matrix);
    MPI_Op_free(&product);
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d schedules, %lld checks at process 0, %d failures\n", test_case_count, checks, sum);
    MPI_Finalize();
    return sum > 0;
}
