/* A program that knows nothing of tuwtree: persistent gathers and scatters, several under way at once
 * beside ordinary messages, completed in every way that MPI has. Complains of every wrong number. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Gatherv_init MPIX_Gatherv_init
#define MPI_Scatterv_init MPIX_Scatterv_init
#endif

enum { OPERATIONS = 4, STEPS = 24 };

static int rank, size, bad;
static int *counts, *displs, total;

static int value(int operation, int step, int place) { return 1000 * step + 100 * operation + place; }

static void check(int is, int should_be)
{
    if (is != should_be)
        bad++;
}

/* Completes all requests, in a way that depends on the step. */
static void complete(int step, int count, MPI_Request *requests)
{
    int i, flag, index, ended, indices[OPERATIONS + 2];
    MPI_Status statuses[OPERATIONS + 2], status;
    switch (step % 6) {
    case 0:
        MPI_Waitall(count, requests, statuses);
        break;
    case 1:
        for (i = count - 1; i >= 0; i--)
            MPI_Wait(&requests[rank % 2 ? i : count - 1 - i], &status);
        break;
    case 2:
        do
            MPI_Testall(count, requests, &flag, statuses);
        while (!flag);
        break;
    case 3:
        for (i = 0; i < count; i++) {
            MPI_Waitany(count, requests, &index, &status);
            check(index >= 0 && index < count, 1);
        }
        MPI_Waitany(count, requests, &index, &status);
        check(index, MPI_UNDEFINED);
        break;
    case 4:
        for (i = 0; i < count; i += ended) {
            if (rank % 2)
                MPI_Waitsome(count, requests, &ended, indices, statuses);
            else
                MPI_Testsome(count, requests, &ended, indices, statuses);
            check(ended != MPI_UNDEFINED, 1);
            if (ended == MPI_UNDEFINED)
                break;
        }
        break;
    default:
        for (i = 0; i < count; i++) {
            do
                MPI_Request_get_status(requests[i], &flag, &status);
            while (!flag);
            do
                MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
            while (!flag);
        }
    }
}

int main(int argc, char **argv)
{
    int i, k, step, *own[OPERATIONS], *all[OPERATIONS], token = 0, got = -1;
    MPI_Request requests[OPERATIONS + 2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts = malloc((size_t)size * sizeof *counts);
    displs = malloc((size_t)size * sizeof *displs);
    for (i = 0; i < size; i++) {
        counts[i] = (i * 7 + 3) % 5;
        displs[i] = total;
        total += counts[i];
    }
    for (k = 0; k < OPERATIONS; k++) {
        own[k] = malloc((size_t)(counts[rank] + 1) * sizeof **own);
        all[k] = malloc((size_t)(total + 1) * sizeof **all);
        /* Two gathers and two scatters, each with a root of its own. */
        if (k % 2 == 0)
            MPI_Gatherv_init(own[k], counts[rank], MPI_INT, all[k], counts, displs, MPI_INT, k % size,
                             MPI_COMM_WORLD, MPI_INFO_NULL, &requests[k]);
        else
            MPI_Scatterv_init(all[k], counts, displs, MPI_INT, own[k], counts[rank], MPI_INT, k % size,
                              MPI_COMM_WORLD, MPI_INFO_NULL, &requests[k]);
    }
    /* A ring of ordinary persistent messages beside them. */
    MPI_Send_init(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[OPERATIONS]);
    MPI_Recv_init(&got, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                  &requests[OPERATIONS + 1]);
    for (step = 0; step < STEPS; step++) {
        token = 10 * step + rank;
        for (k = 0; k < OPERATIONS; k++) {
            for (i = 0; i < counts[rank]; i++)
                own[k][i] = k % 2 == 0 ? value(k, step, displs[rank] + i) : -1;
            for (i = 0; i < total; i++)
                all[k][i] = k % 2 == 0 ? -1 : value(k, step, i);
        }
        if (step % 2)
            MPI_Startall(OPERATIONS + 2, requests);
        else
            for (k = 0; k < OPERATIONS + 2; k++)
                MPI_Start(&requests[k]);
        complete(step, OPERATIONS + 2, requests);
        check(got, 10 * step + (rank + size - 1) % size);
        for (k = 0; k < OPERATIONS; k++) {
            if (k % 2 == 1)
                for (i = 0; i < counts[rank]; i++)
                    check(own[k][i], value(k, step, displs[rank] + i));
            else if (rank == k % size)
                for (i = 0; i < total; i++)
                    check(all[k][i], value(k, step, i));
        }
    }
    for (k = 0; k < OPERATIONS + 2; k++) {
        MPI_Request_free(&requests[k]);
        check(requests[k] == MPI_REQUEST_NULL, 1);
    }
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d steps, %d wrong\n", STEPS, bad);
    MPI_Finalize();
    return bad != 0;
}
