/* A program that knows nothing of tuwtree: four threads, each with a communicator of its own, gather and scatter
 * at once. Prints the seconds that it took. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 200 };

struct part {
    MPI_Comm comm;
    int wrong;
};

static void *work(void *argument)
{
    struct part *part = argument;
    int rank, size, i, round, own, back, *counts, *displs, *all;
    MPI_Comm_rank(part->comm, &rank);
    MPI_Comm_size(part->comm, &size);
    counts = malloc((size_t)size * sizeof *counts);
    displs = malloc((size_t)size * sizeof *displs);
    all = malloc((size_t)size * sizeof *all);
    for (i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    for (round = 0; round < ROUNDS; round++) {
        own = 100 * round + rank;
        MPI_Gatherv(&own, 1, MPI_INT, all, counts, displs, MPI_INT, round % size, part->comm);
        for (i = 0; rank == round % size && i < size; i++)
            part->wrong += all[i] != 100 * round + i;
        MPI_Scatterv(all, counts, displs, MPI_INT, &back, 1, MPI_INT, round % size, part->comm);
        part->wrong += back != own;
    }
    free(counts);
    free(displs);
    free(all);
    return NULL;
}

int main(int argc, char **argv)
{
    int level, rank, i, wrong = 0;
    double seconds;
    struct part parts[THREADS];
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (level < MPI_THREAD_MULTIPLE) {
        if (rank == 0)
            printf("no threads\n");
        MPI_Finalize();
        return 0;
    }
    for (i = 0; i < THREADS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &parts[i].comm);
        parts[i].wrong = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = MPI_Wtime();
    for (i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &parts[i]);
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    seconds = MPI_Wtime() - seconds;
    for (i = 0; i < THREADS; i++) {
        wrong += parts[i].wrong;
        MPI_Comm_free(&parts[i].comm);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong, %.3f seconds\n", wrong, seconds);
    MPI_Finalize();
    return wrong != 0;
}
