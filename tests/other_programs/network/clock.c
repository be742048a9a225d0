#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 199309L
#endif
#include "clock.h"

#include <mpi.h>
#include <time.h>

void sleep_until(double moment)
{
    for (;;) {
        double pause = moment - MPI_Wtime();
        struct timespec rest;
        if (pause <= 0)
            return;
        rest.tv_sec = (time_t)pause;
        /* Rounded up: simulated time stands still while nobody sleeps. */
        rest.tv_nsec = (long)((pause - (double)rest.tv_sec) * 1e9) + 1;
        nanosleep(&rest, NULL);
    }
}

double largest(double value)
{
    double result;
    MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return result;
}

double start_together(void)
{
    double start = largest(MPI_Wtime()) + 0.01;
    sleep_until(start);
    return start;
}

double span_since(double start)
{
    return largest(MPI_Wtime() - start);
}
