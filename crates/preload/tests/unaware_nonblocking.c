/* A program that knows nothing of tuwtree: nonblocking gathers and scatters, several under way at once on two
 * communicators, with other calls in between, completed in every way that MPI has; a third has room for more
 * than is sent. What comes is compared with what the
 * library's own call brings, byte for byte. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERATIONS = 5, STEPS = 42, GAP = 3 };

static int rank, size, bad, has_trees;
static unsigned seed = 7;

/* The same numbers at all ranks. */
static unsigned next(unsigned below)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % below;
}

static void check(int is_so, const char *what)
{
    if (!is_so && bad++ < 5)
        fprintf(stderr, "rank %d: not so: %s\n", rank, what);
}

struct operation {
    int is_gather, root, total, *counts, *displs;
    int *own, *all, *native; /* `native`: what the library brings, where something is received */
    MPI_Datatype type;
    MPI_Request request;
};

/* One of random sizes; `loose`: with more room than is sent, where anything is (Open MPI waits for nothing); every third one with its block in place at the root. */
static void start(struct operation *one, MPI_Comm comm, int step, int number)
{
    int i, loose = number == 2 * OPERATIONS ? 2 : 0, large = step % 7 == 6 ? 3000 : 1, received, in_place;
    int own_count, *counts;
    void *own;
    one->is_gather = next(2), one->root = next(size), one->total = 0;
    one->counts = malloc(2 * size * sizeof(int)), one->displs = one->counts + size;
    in_place = next(3) == 0;
    for (i = 0; i < size; i++) {
        one->displs[i] = one->total;
        one->counts[i] = next(4) == 0 ? 0 : next(40) * large;
        one->counts[i] += loose && i == (one->root + 1) % size;
        one->total += one->counts[i] + GAP + loose;
    }
    counts = one->counts;
    own_count = counts[rank];
    one->own = malloc((own_count + loose + 1) * sizeof(int));
    one->all = malloc((one->total + 1) * sizeof(int));
    received = one->is_gather ? one->total : own_count + loose;
    one->native = malloc((received + 1) * sizeof(int));
    for (i = 0; i < one->total; i++)
        one->all[i] = one->is_gather ? -1 : 1000 * step + 100 * number + i;
    for (i = 0; i < own_count + loose; i++)
        one->own[i] = one->is_gather ? 100000 * rank + 1000 * step + 10 * number + i : -1;
    in_place = in_place && !loose;
    if (in_place && one->is_gather && rank == one->root)
        memcpy(one->all + one->displs[rank], one->own, own_count * sizeof(int));
    memcpy(one->native, one->is_gather ? one->all : one->own, received * sizeof(int));
    own = in_place && rank == one->root ? MPI_IN_PLACE : one->own;
    /* A datatype of the program's own, which it frees before the end. */
    MPI_Type_contiguous(1, MPI_INT, &one->type);
    MPI_Type_commit(&one->type);
    if (one->is_gather) {
        int *room = malloc(size * sizeof(int));
        for (i = 0; i < size; i++)
            room[i] = counts[i] + (i == one->root || !counts[i] ? 0 : loose);
        PMPI_Gatherv(own == MPI_IN_PLACE ? own : one->own, own_count, one->type, one->native, room, one->displs, one->type,
                     one->root, comm);
        memcpy(counts, room, size * sizeof(int));
        free(room);
        MPI_Igatherv(own, own_count, one->type, one->all, counts, one->displs, one->type, one->root, comm, &one->request);
    } else {
        int room = own_count + (rank == one->root || !own_count ? 0 : loose);
        PMPI_Scatterv(one->all, counts, one->displs, one->type, own == MPI_IN_PLACE ? own : one->native, room, one->type,
                      one->root, comm);
        MPI_Iscatterv(one->all, counts, one->displs, one->type, own, room, one->type, one->root, comm, &one->request);
    }
    MPI_Type_free(&one->type);
}

static void end(struct operation *one)
{
    if (one->is_gather)
        check(rank != one->root || !memcmp(one->all, one->native, one->total * sizeof(int)), "a gather is the library's");
    else
        check(!memcmp(one->own, one->native, one->counts[rank] * sizeof(int)), "a scatter is the library's");
    free(one->counts), free(one->own), free(one->all), free(one->native);
}

/* Completes all requests, in a way that depends on the step. */
static void complete(int step, int count, MPI_Request *requests)
{
    int i, flag, index, ended, indices[2 * OPERATIONS + 3];
    MPI_Status statuses[2 * OPERATIONS + 3], status;
    switch (step % 8) {
    case 0:
        MPI_Waitall(count, requests, statuses);
        break;
    case 1: /* in another order at each rank */
        for (i = 0; i < count; i++)
            MPI_Wait(&requests[rank % 2 ? count - 1 - i : i], &status);
        break;
    case 2:
        do
            MPI_Testall(count, requests, &flag, statuses);
        while (!flag);
        break;
    case 3:
        for (i = 0; i < count; i++) {
            MPI_Waitany(count, requests, &index, &status);
            check(index >= 0 && index < count, "one of them has ended");
        }
        MPI_Waitany(count, requests, &index, &status);
        check(index == MPI_UNDEFINED, "all have ended");
        break;
    case 4:
        for (i = 0; i < count; i += ended) {
            ended = 0;
            if (rank % 2)
                MPI_Waitsome(count, requests, &ended, indices, statuses);
            else
                MPI_Testsome(count, requests, &ended, indices, statuses);
            check(ended != MPI_UNDEFINED, "some have not ended");
            if (ended == MPI_UNDEFINED)
                break;
        }
        break;
    case 5:
        for (i = 0; i < count;) {
            MPI_Testany(count, requests, &index, &flag, &status);
            i += flag;
            check(!flag || index != MPI_UNDEFINED, "one has ended");
        }
        break;
    case 6:
        for (i = 0; i < count; i++) {
            do
                MPI_Request_get_status(requests[i], &flag, &status);
            while (!flag);
            MPI_Test(&requests[i], &flag, &status);
            check(flag && requests[i] == MPI_REQUEST_NULL, "what has ended is null");
        }
        break;
    default:
        for (i = 0; i < count; i++) {
            for (flag = 0; !flag;)
                MPI_Test(&requests[i], &flag, &status);
            MPI_Get_count(&status, MPI_BYTE, &ended);
            MPI_Test_cancelled(&status, &flag);
            check((ended == 0 || i >= count - 2 || !has_trees) && !flag, "the status says nothing");
        }
    }
}

int main(int argc, char **argv)
{
    struct operation all[2 * OPERATIONS + 1];
    MPI_Request requests[2 * OPERATIONS + 3];
    MPI_Comm other, loose;
    int step, i, provided, total;
    int level = argc > 1 && !strcmp(argv[1], "multiple") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_dup(MPI_COMM_WORLD, &loose);
    has_trees = argc > 1 && !strcmp(argv[1], "trees");
    for (step = 0; step < STEPS; step++) {
        int count = 1 + step % OPERATIONS, sum, one = 1, right = (rank + 1) % size, left = (rank + size - 1) % size;
        int sent = 50 + rank, got = 0;
        for (i = 0; i < count; i++)
            start(&all[i], MPI_COMM_WORLD, step, i);
        for (i = count; i < 2 * count; i++)
            start(&all[i], other, step, i);
        start(&all[i], loose, step, 2 * OPERATIONS);
        for (i = 0; i <= 2 * count; i++)
            requests[i] = all[i].request;
        MPI_Irecv(&got, 1, MPI_INT, left, step, MPI_COMM_WORLD, &requests[2 * count + 1]);
        MPI_Isend(&sent, 1, MPI_INT, right, step, MPI_COMM_WORLD, &requests[2 * count + 2]);
        /* Calls that wait, of the same kind and of another, before any has been waited for. */
        if (step % 3 == 0) {
            int own = rank, *numbers = malloc(3 * size * sizeof(int)), *counts = numbers + size, *displs = counts + size;
            for (i = 0; i < size; i++)
                counts[i] = 1, displs[i] = i;
            MPI_Gatherv(&own, 1, MPI_INT, numbers, counts, displs, MPI_INT, step % size, MPI_COMM_WORLD);
            for (i = 0; i < size && rank == step % size; i++)
                check(numbers[i] == i, "a call that waits comes in between");
            free(numbers);
        }
        if (step % 3 == 1) {
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            check(sum == size, "another call comes in between");
        }
        complete(step, 2 * count + 3, requests);
        check(got == 50 + left, "a message comes in between");
        for (i = 0; i <= 2 * count; i++)
            end(&all[i]);
    }
    /* The communicator is freed before its operations have ended. */
    {
        static int own = 5, here, counts[64], displs[64], numbers[64];
        for (i = 0; i <= size; i++)
            counts[i] = 1, displs[i] = i, numbers[i] = 10 + i;
        MPI_Igatherv(&own, 1, MPI_INT, numbers, counts, displs, MPI_INT, 0, other, &requests[0]);
        MPI_Iscatterv(numbers + 1, counts, displs, MPI_INT, &here, 1, MPI_INT, size - 1, other, &requests[1]);
        MPI_Comm_free(&other);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        check(here == 11 + rank || size == 1, "operations go on without their communicator");
    }
    MPI_Comm_free(&loose);
    MPI_Allreduce(&bad, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s, %d steps, %d wrong\n", provided == MPI_THREAD_MULTIPLE ? "threads" : "nonblocking", STEPS, total);
    /* A request that is freed, of which nobody hears again: the standard forbids it, and libraries fail; ours does not. */
    if (has_trees) {
        static int own = 5, counts[64], displs[64], numbers[64];
        MPI_Request freed;
        for (i = 0; i < size; i++)
            counts[i] = 1, displs[i] = i;
        MPI_Igatherv(&own, 1, MPI_INT, numbers, counts, displs, MPI_INT, 0, MPI_COMM_WORLD, &freed);
        if (rank > 0)
            MPI_Request_free(&freed);
        else
            MPI_Wait(&freed, MPI_STATUS_IGNORE);
        check(rank > 0 || numbers[size - 1] == 5, "an operation goes on whose request is freed");
    }
    MPI_Finalize();
    return bad != 0;
}
