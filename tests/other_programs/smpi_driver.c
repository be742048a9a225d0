/*
 * Times exported schedules, and the library's own operations on the same problems, in simulated
 * time: all processes start at one moment, and the last one's end counts. Checks all data. Prints
 * a line for each time: the name, "schedule" or "native", seconds. The library's own operation,
 * which is the same for all trees, is timed where the tree is linear.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 199309L
#endif
#include "buffers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Seconds from the beginning of one operation to that of the next. */
#define PERIOD 100000

/* Waits for the moment at which all processes start the next operation. */
static double start_together(int *operations)
{
    double start = (double)++*operations * PERIOD;
    double pause = start - MPI_Wtime();
    struct timespec rest;
    check(pause > 0, "all", "an operation takes too long");
    rest.tv_sec = (time_t)pause;
    rest.tv_nsec = (long)((pause - (double)rest.tv_sec) * 1e9);
    nanosleep(&rest, NULL);
    return start;
}

static void report(const char *name, const char *what, double start, int rank)
{
    double span = MPI_Wtime() - start, longest = 0;
    MPI_Reduce(&span, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %s %.9f\n", name, what, longest);
}

static void time_schedule(
    const struct test_case *test, const struct arguments *common, int rank, int *operations)
{
    struct buffers buffers = make_buffers(test, BY_DEFAULT, rank);
    struct arguments given = arguments_for(&buffers, BY_DEFAULT, common);
    void *request = NULL;
    check(test->init(STRICT, &given, &request) == MPI_SUCCESS, test->name, "init");
    /* Once is enough for most; the others show that a request can be started again. */
    for (int round = 0; round < (test->sizes != NULL ? 1 : 2); round++) {
        fill(&buffers, round);
        double start = start_together(operations);
        check(test->start(request) == MPI_SUCCESS, test->name, "start");
        check(test->wait(request) == MPI_SUCCESS, test->name, "wait");
        report(test->name, "schedule", start, rank);
        check_output(&buffers, "strict", round);
    }
    check(test->release(&request) == MPI_SUCCESS, test->name, "free");
    free_buffers(&buffers);
}

static void time_native(
    const struct test_case *test, const struct arguments *common, int rank, int *operations)
{
    struct buffers buffers = make_buffers(test, BY_DEFAULT, rank);
    struct arguments given = arguments_for(&buffers, BY_DEFAULT, common);
    int *counts = malloc((size_t)test->processes * sizeof *counts);
    int *places = malloc((size_t)test->processes * sizeof *places);
    if (counts == NULL || places == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int block = 0; block < test->processes; block++) {
        counts[block] = (int)test->sizes[block];
        places[block] = (int)buffers.displacements[block];
    }
    fill(&buffers, 7);
    double start = start_together(operations);
    if (test->operation == GATHER)
        MPI_Gatherv(given.input, counts[rank], MPI_BYTE, given.output, counts, places, MPI_BYTE,
            test->root, MPI_COMM_WORLD);
    else
        MPI_Scatterv(given.input, counts, places, MPI_BYTE, given.output, counts[rank], MPI_BYTE,
            test->root, MPI_COMM_WORLD);
    report(test->name, "native", start, rank);
    check_output(&buffers, "native", 7);
    free(counts);
    free(places);
    free_buffers(&buffers);
}

int main(int count, char **values)
{
    int rank, operations = 0;
    MPI_Op product;
    MPI_Datatype matrix;
    MPI_Init(&count, &values);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(multiply, 0, &product);
    MPI_Type_contiguous(MATRIX, MPI_BYTE, &matrix);
    MPI_Type_commit(&matrix);
    struct arguments common = { NULL, NULL, NULL, matrix, product, MPI_COMM_WORLD };
    for (int index = 0; index < test_case_count; index++) {
        time_schedule(&test_cases[index], &common, rank, &operations);
        if (strstr(test_cases[index].name, "_linear") != NULL)
            time_native(&test_cases[index], &common, rank, &operations);
    }
    MPI_Type_free(&matrix);
    MPI_Op_free(&product);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d schedules, %d failures\n", test_case_count, failures);
    MPI_Finalize();
    return failures > 0;
}
