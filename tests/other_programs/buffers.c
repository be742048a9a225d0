/* Buffers for the operations of a test, and what has to be in them. */
#include "buffers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNTOUCHED 0xee
/* Bytes before and behind every buffer. */
#define MARGIN 32
int failures = 0;
long long checks = 0;

void check(int holds, const char *name, const char *format, ...)
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

void multiply(void *left, void *right, int *count, MPI_Datatype *type)
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

/* What one process has for another: of an alltoall its message, of an intergroup allgather its block, if they
 * are in different groups. */
static long long bytes_between(const struct test_case *test, int from, int to)
{
    if (test->operation == ALLTOALL)
        return test->messages[from * test->processes + to];
    return (from < test->group) != (to < test->group) ? test->messages[from] : 0;
}

/* What a process gets of all others. */
static long long got_bytes(const struct test_case *test, int rank)
{
    long long sum = 0;
    for (int from = 0; from < test->processes; from++)
        sum += bytes_between(test, from, rank);
    return sum;
}

int root_gets_data(const struct test_case *test)
{
    return got_bytes(test, test->root) > 0;
}

static long long own_bytes(const struct test_case *test, int rank)
{
    long long sum = 0;
    if (test->operation == INTERGROUP_ALLGATHER)
        return test->messages[rank];
    if (test->operation == ALLTOALL) {
        for (int to = 0; to < test->processes; to++)
            sum += bytes_between(test, rank, to);
        return sum;
    }
    return test->sizes != NULL ? test->sizes[rank] : test->bytes;
}

/* Where each block begins; returns where the last one ends. */
static long long place_blocks(
    const struct test_case *test, enum placement placement, MPI_Aint *places)
{
    MPI_Aint at = 0, total = 0;
    for (int turn = 0; turn < test->processes; turn++) {
        int block = placement == BACKWARDS ? test->processes - 1 - turn : turn;
        if (placement == BY_DEFAULT && test->displacements != NULL)
            at = test->displacements[block];
        else if (placement != BY_DEFAULT)
            at += block % 3;
        places[block] = at;
        at += test->sizes[block];
        if (at > total)
            total = at;
    }
    return total;
}

struct buffers make_buffers(
    const struct test_case *test, enum placement placement, int rank)
{
    struct buffers made = { test, rank, NULL, 0, 0, NULL, NULL, NULL };
    int is_root = rank == test->root;
    long long own = own_bytes(test, rank), all = test->bytes;
    if (test->sizes != NULL) {
        made.displacements = allocate(test->processes * (long long)sizeof(MPI_Aint));
        all = place_blocks(test, placement, made.displacements);
    }
    switch (test->operation) {
    case GATHER:
    case REDUCE:
        made.input_bytes = own;
        made.output_bytes = is_root ? all : 0;
        break;
    case ALLGATHER:
    case REDUCE_SCATTER:
    case ALLREDUCE:
        made.input_bytes = own;
        made.output_bytes = all;
        break;
    case SCATTER:
        made.input_bytes = is_root ? all : 0;
        made.output_bytes = own;
        break;
    case BROADCAST:
        made.output_bytes = all;
        break;
    case ALLTOALL:
    case INTERGROUP_ALLGATHER:
        made.input_bytes = own;
        made.output_bytes = got_bytes(test, rank);
        break;
    }
    made.input = allocate(made.input_bytes);
    made.output = allocate(made.output_bytes + 2 * MARGIN);
    made.expected = allocate(made.output_bytes + 2 * MARGIN);
    return made;
}

void free_buffers(struct buffers *buffers)
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

/* Of an alltoall, each message is that of a process of its own. */
static void fill_messages(struct buffers *buffers, int round)
{
    const struct test_case *test = buffers->test;
    unsigned char *input = buffers->input, *output = buffers->expected + MARGIN;
    int p = test->processes, rank = buffers->rank;
    for (int other = 0; other < p; other++) {
        long long sent = bytes_between(test, rank, other), got = bytes_between(test, other, rank);
        int is_alltoall = test->operation == ALLTOALL;
        if (is_alltoall)
            fill_block(input, round, rank * p + other, sent);
        fill_block(output, round, is_alltoall ? other * p + rank : other, got);
        input += is_alltoall ? sent : 0;
        output += got;
    }
    if (test->operation == INTERGROUP_ALLGATHER)
        fill_block(input, round, rank, buffers->input_bytes);
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

void fill(struct buffers *buffers, int round)
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
    case ALLGATHER:
        is_root |= test->operation == ALLGATHER;
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
    case REDUCE_SCATTER:
    case ALLREDUCE:
        fill_block(buffers->input, round, buffers->rank, test->bytes);
        if (is_root || test->operation != REDUCE)
            expect_reduction(buffers, round);
        break;
    case ALLTOALL:
    case INTERGROUP_ALLGATHER:
        fill_messages(buffers, round);
        break;
    }
}

void check_output(const struct buffers *buffers, const char *how, int round)
{
    size_t bytes = (size_t)buffers->output_bytes + 2 * MARGIN;
    size_t wrong = 0;
    if (buffers->test->operation == REDUCE_SCATTER) {
        /* What is beside the block in the vector is of no meaning. */
        const MPI_Aint *block = buffers->test->displacements + buffers->rank;
        MPI_Aint end = MARGIN + (MPI_Aint)buffers->test->bytes;
        memcpy(buffers->expected + MARGIN, buffers->output + MARGIN, (size_t)block[0]);
        memcpy(buffers->expected + MARGIN + block[1], buffers->output + MARGIN + block[1],
            (size_t)(end - MARGIN - block[1]));
    }
    while (wrong < bytes && buffers->output[wrong] == buffers->expected[wrong])
        wrong++;
    check(wrong == bytes, buffers->test->name, "%s, round %d: byte %lld of the output is wrong",
        how, round, (long long)wrong - MARGIN);
}

struct arguments arguments_for(
    const struct buffers *buffers, enum placement placement, const struct arguments *common)
{
    struct arguments given = *common;
    given.input = buffers->input_bytes > 0 ? buffers->input : NULL;
    given.output = buffers->output_bytes > 0 ? buffers->output + MARGIN : NULL;
    given.displacements = placement == BY_DEFAULT ? NULL : buffers->displacements;
    return given;
}
