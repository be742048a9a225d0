/* Setting operations up: what it leaves alone, how many there may be, and (seen from outside) how many
 * messages it takes. The first argument says which, the second how many operations. */
#include "tuwtree_mpi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

#define OK(call) CHECK((call) == MPI_SUCCESS)

static int rank, size;
static int *counts, *displs;

/* A gather of a number from each rank to `root`. */
static void set_up(int *own, int *all, int root, MPI_Comm comm, tuwtree_request *request)
{
    OK(tuwtree_gatherv_init(own, 1, MPI_INT, all, counts, displs, MPI_INT, root, comm, request));
}

static int copied;

static int refuse(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    *flag = 0;
    copied++;
    return MPI_ERR_OTHER;
}

static int handled;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

/* Neither attributes nor messages nor the error handler of the program's communicator are touched. */
static void untouched(void)
{
    MPI_Comm comm;
    MPI_Errhandler handler, found;
    MPI_Request receive;
    MPI_Status status;
    tuwtree_request request;
    int key, flag, heard = -1, own = rank, value = 5;
    int *all = (int *)calloc((size_t)size, sizeof(int));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Comm_set_attr(comm, key, &value));
    OK(MPI_Comm_create_errhandler(note, &handler));
    OK(MPI_Comm_set_errhandler(comm, handler));
    OK(MPI_Irecv(&heard, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &receive));
    OK(tuwtree_gatherv(&own, 1, MPI_INT, all, counts, displs, MPI_INT, 0, comm));
    set_up(&own, all, size - 1, comm, &request);
    OK(tuwtree_start(&request));
    OK(tuwtree_wait(&request));
    OK(tuwtree_free(&request));
    OK(MPI_Test(&receive, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag && copied == 0 && handled == 0);
    OK(MPI_Barrier(comm));
    OK(MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 77, comm));
    OK(MPI_Wait(&receive, &status));
    CHECK(status.MPI_TAG == 77 && heard == (rank + size - 1) % size);
    OK(MPI_Comm_get_errhandler(comm, &found));
    CHECK(found == handler);
    OK(MPI_Errhandler_free(&found));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free_keyval(&key));
    CHECK(copied == 0 && handled == 0);
    free(all);
}

/* All under way at once, started and freed in other orders at other ranks, others set up after. */
static void many(int operations)
{
    tuwtree_request *requests = (tuwtree_request *)calloc((size_t)operations, sizeof *requests);
    int *own = (int *)calloc((size_t)operations, sizeof(int));
    int *all = (int *)calloc((size_t)operations * (size_t)size, sizeof(int));
    int i, k, round;
    for (i = 0; i < operations; i++)
        set_up(&own[i], &all[i * size], i % size, MPI_COMM_WORLD, &requests[i]);
    for (round = 0; round < 2; round++) {
        for (i = 0; i < operations; i++) {
            own[i] = i * 100 + 10 * round + rank;
            memset(&all[i * size], 255, (size_t)size * sizeof(int));
        }
        for (i = 0; i < operations; i++)
            OK(tuwtree_start(&requests[(i + 7 * rank) % operations]));
        for (i = operations; i-- > 0;)
            OK(tuwtree_wait(&requests[i]));
        for (i = 0; i < operations; i++)
            for (k = 0; k < size && rank == i % size; k++)
                CHECK(all[i * size + k] == i * 100 + 10 * round + k);
        /* Every other one is replaced, in an order of each rank's own. */
        for (i = 0; i < operations; i++) {
            int at = (i + 3 * rank) % operations;
            if (at % 2 == 0)
                OK(tuwtree_free(&requests[at]));
        }
        for (i = 0; i < operations; i += 2)
            set_up(&own[i], &all[i * size], i % size, MPI_COMM_WORLD, &requests[i]);
    }
    for (i = 0; i < operations; i++)
        OK(tuwtree_free(&requests[(i + rank) % operations]));
    free(requests);
    free(own);
    free(all);
}

int main(int argc, char **argv)
{
    int i, operations = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts = (int *)calloc((size_t)size, sizeof(int));
    displs = (int *)calloc((size_t)size, sizeof(int));
    for (i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    if (argc > 1 && strcmp(argv[1], "untouched") == 0)
        untouched();
    else if (argc > 1 && strcmp(argv[1], "many") == 0)
        many(operations);
    else {
        int own = 0, *all = (int *)calloc((size_t)size, sizeof(int));
        for (i = 0; i < operations; i++) {
            tuwtree_request request;
            set_up(&own, all, size / 2, MPI_COMM_WORLD, &request);
            OK(tuwtree_free(&request));
        }
        free(all);
    }
    free(counts);
    free(displs);
    if (rank == 0)
        printf("all right\n");
    MPI_Finalize();
    return 0;
}
