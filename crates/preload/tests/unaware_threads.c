/* A program that knows nothing of tuwtree: four threads, each with a communicator of its own, gather and scatter at
 * once. The first argument is the number of rounds, the second that of repetitions: in turns by the functions of the
 * program and by the MPI library's own (their PMPI_ names). Prints the least seconds of both, and how many times as long
 * the first take in the middle one of all pairs of repetitions. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, MOST = 64 };

typedef int gather(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, int, MPI_Comm);
typedef int scatter(const void *, const int *, const int *, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);

struct part {
    MPI_Comm comm;
    int wrong, rounds, is_native;
};

static void *work(void *argument)
{
    struct part *part = argument;
    gather *gathers = part->is_native ? PMPI_Gatherv : MPI_Gatherv;
    scatter *scatters = part->is_native ? PMPI_Scatterv : MPI_Scatterv;
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
    for (round = 0; round < part->rounds; round++) {
        own = 100 * round + rank;
        gathers(&own, 1, MPI_INT, all, counts, displs, MPI_INT, round % size, part->comm);
        for (i = 0; rank == round % size && i < size; i++)
            part->wrong += all[i] != 100 * round + i;
        scatters(all, counts, displs, MPI_INT, &back, 1, MPI_INT, round % size, part->comm);
        part->wrong += back != own;
    }
    free(counts);
    free(displs);
    free(all);
    return NULL;
}

/* The seconds that all threads take together. */
static double seconds_of(struct part parts[THREADS], int is_native, int rounds)
{
    pthread_t threads[THREADS];
    double seconds;
    int i;
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = MPI_Wtime();
    for (i = 0; i < THREADS; i++) {
        parts[i].is_native = is_native;
        parts[i].rounds = rounds;
        pthread_create(&threads[i], NULL, work, &parts[i]);
    }
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - seconds;
}

static int compare(const void *one, const void *other)
{
    double left = *(const double *)one, right = *(const double *)other;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    int level, rank, i, wrong = 0, rounds, repetitions;
    double least[2] = {1e9, 1e9}, ratios[MOST];
    struct part parts[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    rounds = argc > 1 ? atoi(argv[1]) : 200;
    repetitions = argc > 2 ? atoi(argv[2]) : 1;
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
    /* What is made at first calls. */
    seconds_of(parts, 0, 20);
    seconds_of(parts, 1, 20);
    for (i = 0; i < repetitions && i < MOST; i++) {
        double ours = seconds_of(parts, 0, rounds), theirs = seconds_of(parts, 1, rounds);
        ratios[i] = ours / theirs;
        least[0] = ours < least[0] ? ours : least[0];
        least[1] = theirs < least[1] ? theirs : least[1];
    }
    qsort(ratios, (size_t)i, sizeof *ratios, compare);
    for (i = 0; i < THREADS; i++) {
        wrong += parts[i].wrong;
        MPI_Comm_free(&parts[i].comm);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong, %.4f seconds, the library %.4f, ratio %.2f\n", wrong, least[0], least[1],
               ratios[repetitions / 2]);
    MPI_Finalize();
    return wrong != 0;
}
