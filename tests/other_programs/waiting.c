/* Finds the ranks that wait for each other in MPI_Gatherv to rank 0: for each other rank, the others gather while this one
 * is late, and say when they are done. When as many as argv[rank] are, and some time for more has gone by, it gathers, too.
 * Rank 0 prints the ranks that were not done before each late one, in one piece: launchers mix the output of several. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { GO = 1, DONE = 2 };

static int rank, size, *counts, *displs, *is_done;
static char *own, *all;

static void gather(void)
{
    MPI_Gatherv(own, counts[rank], MPI_CHAR, all, counts, displs, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void come_late(int expected)
{
    const struct timespec moment = {0, 10 * 1000 * 1000};
    int i, flag, more, done = 0;
    MPI_Status status;
    for (i = 0; i < size; i++)
        if (i != rank)
            MPI_Send(NULL, 0, MPI_CHAR, i, GO, MPI_COMM_WORLD);
    for (more = 0; more < 30; more += done >= expected) {
        MPI_Iprobe(MPI_ANY_SOURCE, DONE, MPI_COMM_WORLD, &flag, &status);
        if (flag) {
            MPI_Recv(NULL, 0, MPI_CHAR, status.MPI_SOURCE, DONE, MPI_COMM_WORLD, &status);
            is_done[status.MPI_SOURCE] = 1;
            done++;
        } else {
            nanosleep(&moment, NULL);
        }
    }
    gather();
    for (i = 0; i < size; i++)
        if (i != rank && !is_done[i])
            MPI_Recv(NULL, 0, MPI_CHAR, i, DONE, MPI_COMM_WORLD, &status);
}

static void print(void)
{
    int i, late, *rows = calloc((size_t)size * (size_t)size, sizeof *rows);
    MPI_Gather(is_done, size, MPI_INT, rows, size, MPI_INT, 0, MPI_COMM_WORLD);
    for (late = 1; rank == 0 && late < size; late++) {
        printf("%d:", late);
        for (i = 0; i < size; i++)
            if (i != late && !rows[late * size + i])
                printf(" %d", i);
        printf("\n");
    }
    free(rows);
}

int main(int argc, char **argv)
{
    int i, late, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != size)
        MPI_Abort(MPI_COMM_WORLD, 2);
    counts = malloc((size_t)size * sizeof *counts);
    displs = malloc((size_t)size * sizeof *displs);
    for (i = 0; i < size; i++) {
        counts[i] = 1 + i % 3;
        displs[i] = total;
        total += counts[i];
    }
    is_done = calloc((size_t)size, sizeof *is_done);
    own = calloc((size_t)total, 1);
    all = calloc((size_t)total, 1);
    for (late = 1; late < size; late++) {
        /* Who was late in the last round is not in this one yet. */
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == late) {
            come_late(atoi(argv[late]));
        } else {
            MPI_Recv(NULL, 0, MPI_CHAR, late, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            gather();
            MPI_Send(NULL, 0, MPI_CHAR, late, DONE, MPI_COMM_WORLD);
        }
    }
    print();
    free(is_done);
    free(counts);
    free(displs);
    free(own);
    free(all);
    MPI_Finalize();
    return 0;
}
