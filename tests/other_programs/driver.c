/*
 * Performs exported schedules with real data and checks every byte, also those that must stay as
 * they are. Run by as many processes as the largest schedule has; prints one line, and a line for
 * everything that is wrong.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 199309L
#endif
#include "buffers.h"

#include <stdio.h>
#include <time.h>

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
    check(test->release(&request) == MPI_SUCCESS && request == NULL, test->name, "free fails");
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
    check(test->release(&first) == MPI_SUCCESS, test->name, "free");
    check(test->release(&second) == MPI_SUCCESS, test->name, "free");
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
    if (test->messages != NULL)
        data = root_gets_data(test);
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
    check(class_of(test->release(&request)) == MPI_ERR_REQUEST, test->name, "freed while it runs");
    check(test->wait(request) == MPI_SUCCESS, test->name, "wait");
    check_output(&buffers, "after errors", 5);
    check(test->release(&request) == MPI_SUCCESS, test->name, "free");
    check(class_of(test->release(&request)) == MPI_ERR_REQUEST, test->name, "freed twice");
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

/* Waits for all processes, and leaves the core to those that have work to do. */
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
