/* Performs plans of tuwtree.h on the world communicator, and compares every byte: gathers, scatters, allgathers and
 * reduce-scatters of many sizes. The argument is the number of problems. */
#define TUWTREE_IMPLEMENTATION
#include "../../../../c/tuwtree_run.h"
#include <stdio.h>

static int p, rank;
static uint64_t *blocks, total;
static unsigned char *own, *all, *segment;

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static unsigned char byte_of(uint64_t offset, int problem)
{
    return (unsigned char)(offset * 31 + (uint64_t)problem * 7 + (offset >> 8));
}

static void fail(const char *operation, int problem)
{
    fprintf(stderr, "rank %d: wrong %s in problem %d\n", rank, operation, problem);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(const char *operation, int problem, const unsigned char *data, uint64_t offset, uint64_t bytes)
{
    uint64_t at;
    for (at = 0; at < bytes; at++)
        if (data[at] != byte_of(offset + at, problem))
            fail(operation, problem);
}

static void perform(int problem, uint64_t *state)
{
    tuwtree_piece link = {0, 5e-6, 1e-6, 1e-10};
    tuwtree_costs costs = TUWTREE_COSTS(&link, 1);
    tuwtree_place place;
    tuwtree_rounds rounds;
    tuwtree_algorithm algorithm;
    int root = (int)(draw(state) % (uint64_t)p), kind = (int)(draw(state) % 4), number, at;
    uint64_t size = 0, before = 0, byte;
    unsigned long *vector, *room;
    void *memory = malloc(tuwtree_gather_bytes(p)), *more = malloc(tuwtree_rounds_bytes(p));
    for (at = 0; at < p; at++) {
        uint64_t drawn = draw(state), bytes = kind == 0 ? 64 : kind == 1 ? drawn % 2000 : drawn % 3 > 0 ? 0 : drawn % 70000;
        if (at < rank)
            before += bytes / 8 * 8;
        if (at == rank)
            size = bytes / 8 * 8;
    }
    if (tuwtree_run_sizes(size, blocks, MPI_COMM_WORLD) != MPI_SUCCESS)
        fail("exchange of sizes", problem);
    for (at = 0, total = 0; at < p; at++)
        total += blocks[at];
    own = (unsigned char *)malloc(size + 1);
    all = (unsigned char *)calloc(total + 1, 1);
    segment = (unsigned char *)calloc(total + 1, 1);
    for (byte = 0; byte < size; byte++)
        own[byte] = byte_of(before + byte, problem);
    /* Gather. */
    if (tuwtree_gather_place(blocks, p, root, rank, 0, &costs, memory, &place) != TUWTREE_OK ||
        tuwtree_run_gather(&place, own, rank == root ? all : segment, 1, MPI_COMM_WORLD) != MPI_SUCCESS)
        fail("call of a gather", problem);
    if (rank == root)
        check("gather", problem, all, 0, total);
    /* Scatter, of what has been gathered. */
    memset(own, 0, size);
    if (tuwtree_gather_place(blocks, p, root, rank, 1, &costs, memory, &place) != TUWTREE_OK ||
        tuwtree_run_scatter(&place, own, rank == root ? all : segment, 2, MPI_COMM_WORLD) != MPI_SUCCESS)
        fail("call of a scatter", problem);
    check("scatter", problem, own, before, size);
    /* Allgathers: the chosen one, and others. */
    for (at = 0; at < 3; at++) {
        number = 1 + (int)(draw(state) % 5);
        algorithm = at == 1 ? TUWTREE_BRUCK_BALANCED : TUWTREE_CIRCULANT_BALANCED;
        if (at == 0 && tuwtree_choose(blocks, p, 0, 1, &costs, more, &algorithm, &number) != TUWTREE_OK)
            fail("choice", problem);
        memset(all, 0, total);
        if (size > 0)
            memcpy(all + before, own, size);
        if (tuwtree_allgather_plan(blocks, p, rank, algorithm, number, more, &rounds) != TUWTREE_OK ||
            tuwtree_run_allgather(&rounds, all, 3, MPI_COMM_WORLD) != MPI_SUCCESS)
            fail("call of an allgather", problem);
        check("allgather", problem, all, 0, total);
    }
    /* Reduce-scatter: sums of numbers. */
    vector = (unsigned long *)calloc(total + 8, 1);
    room = (unsigned long *)calloc(total + 8, 1);
    for (byte = 0; byte < total / 8; byte++)
        vector[byte] = (unsigned long)(byte * 3 + (uint64_t)rank);
    if (tuwtree_choose(blocks, p, 1, 8, &costs, more, &algorithm, &number) != TUWTREE_OK ||
        tuwtree_reduce_scatter_plan(blocks, p, rank, 8, number, more, &rounds) != TUWTREE_OK ||
        tuwtree_run_reduce_scatter(&rounds, vector, room, MPI_UNSIGNED_LONG, MPI_SUM, 4, MPI_COMM_WORLD) != MPI_SUCCESS)
        fail("call of a reduce-scatter", problem);
    for (byte = before / 8; byte < (before + size) / 8; byte++)
        if (vector[byte] != (unsigned long)(byte * 3 * (uint64_t)p + (uint64_t)p * (uint64_t)(p - 1) / 2))
            fail("reduce-scatter", problem);
    free(vector);
    free(room);
    free(own);
    free(all);
    free(segment);
    free(memory);
    free(more);
}

int main(int argc, char **argv)
{
    uint64_t state = 1;
    int problem, problems = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    blocks = (uint64_t *)malloc((size_t)p * sizeof *blocks);
    for (problem = 0; problem < problems; problem++)
        perform(problem, &state);
    free(blocks);
    if (rank == 0)
        printf("all right: %d ranks, %d problems\n", p, problems);
    MPI_Finalize();
    return 0;
}
