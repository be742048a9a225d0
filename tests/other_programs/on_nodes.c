/* An allgather (with ALLGATHER) or a reduce-scatter of counts.h: by the exported schedule, eagerly, and the library's own.
 * Prints the microseconds that each takes, from one moment at all ranks to the last one's end. Data is not looked at: SMPI does
 * not receive datatypes that are freed once a request is set up; MPI libraries do. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 199309L
#endif
#include "counts.h"
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void wait_for(double moment)
{
    double pause = moment - MPI_Wtime();
    struct timespec rest = { (time_t)pause, (long)((pause - (double)(time_t)pause) * 1e9) };
    nanosleep(&rest, NULL);
}

static void report(double start, int rank)
{
    double span = MPI_Wtime() - start, longest = 0;
    MPI_Reduce(&span, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.6f\n", longest * 1e6);
}

int main(int argc, char **argv)
{
    int rank, ranks, i, all = 0;
    int *starts = malloc(sizeof counts);
    unsigned char *given, *result;
    plan_request *request = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (i = 0; i < ranks; i++)
        starts[i] = all, all += counts[i];
    given = calloc((size_t)all + 1, 1), result = calloc((size_t)all + 1, 1);
#ifdef ALLGATHER
    plan_init_eager(given, result, NULL, MPI_COMM_WORLD, &request);
#else
    plan_init_eager(given, result, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD, &request);
#endif
    wait_for(1000);
    plan_start(request);
    plan_wait(request);
    report(1000, rank);
    wait_for(2000);
#ifdef ALLGATHER
    MPI_Allgatherv(given, counts[rank], MPI_BYTE, result, counts, starts, MPI_BYTE, MPI_COMM_WORLD);
#else
    MPI_Reduce_scatter(given, result, counts, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
#endif
    report(2000, rank);
    plan_free(&request);
    free(starts), free(given), free(result);
    MPI_Finalize();
    return 0;
}
