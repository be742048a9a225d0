/* The first calls of a program that knows nothing of tuwtree: CALLS gathers to the middle rank, of blocks around BYTES
 * that change with every call if CHANGE is 1. The ranks of an emulated cluster share a clock, and begin each call at one
 * time; a call ends when the last rank has it. Prints a line per call: its number and microseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : 20, bytes = argc > 2 ? atoi(argv[2]) : 100;
    int changes = argc > 3 && atoi(argv[3]) == 1, rank, size, call, i;
    double pause = 0.05, start = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *counts = calloc((size_t)size, sizeof(int)), *displs = calloc((size_t)size, sizeof(int));
    char *own = calloc(2 * (size_t)bytes, 1), *all = calloc(2 * (size_t)bytes * (size_t)size, 1);
    double *ends = calloc((size_t)calls, sizeof(double));
    for (call = 0; call < calls; call++) {
        int total = 0;
        for (i = 0; i < size; i++) {
            int lot = (i * 7919 + (changes ? call * 104729 : 0)) % 1009;
            counts[i] = bytes / 2 + (int)((long long)bytes * lot / 1009);
            displs[i] = total, total += counts[i];
        }
        MPI_Barrier(MPI_COMM_WORLD);
        start = now() + pause;
        MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        while (now() < start) {
            struct timespec left = {0, 100000};
            if (start - now() > 0.0005)
                nanosleep(&left, NULL);
        }
        MPI_Gatherv(own, counts[rank], MPI_CHAR, all, counts, displs, MPI_CHAR, size / 2, MPI_COMM_WORLD);
        ends[call] = now() - start;
    }
    MPI_Allreduce(MPI_IN_PLACE, ends, calls, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (call = 0; rank == 0 && call < calls; call++)
        printf("%d %.1f\n", call + 1, 1e6 * ends[call]);
    free(counts), free(displs), free(own), free(all), free(ends);
    MPI_Finalize();
    return 0;
}
