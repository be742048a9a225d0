/* Buffers for the operations of a test, and what has to be in them. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "driver.h"

/* A 2x2 matrix of bytes: its product is not commutative. */
#define MATRIX 4

extern int failures;
extern long long checks;

/* Counts a check, and a failure if it does not hold; prints the first failures. */
void check(int holds, const char *name, const char *format, ...);

/* The operator of reductions: matrices are multiplied. */
void multiply(void *left, void *right, int *count, MPI_Datatype *type);

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

/* Whether process 0 of an alltoall or intergroup allgather gets anything. */
int root_gets_data(const struct test_case *test);

struct buffers make_buffers(
    const struct test_case *test, enum placement placement, int rank);

/* New data, other in every round, and what the output has to be. */
void fill(struct buffers *buffers, int round);

void check_output(const struct buffers *buffers, const char *how, int round);

/* What init is given; buffers that are not used at a process are NULL. */
struct arguments arguments_for(
    const struct buffers *buffers, enum placement placement, const struct arguments *common);

void free_buffers(struct buffers *buffers);

#endif
