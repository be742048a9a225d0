/* Times from a moment that all processes agree on, so that none is late because of a barrier. */
#ifndef CLOCK_H
#define CLOCK_H

/* Waits for a moment in seconds of MPI_Wtime. */
void sleep_until(double moment);

/* A moment 10 ms from now, the same for all processes, at which they return from here. */
double start_together(void);

/* The largest of all processes' values. */
double largest(double value);

/* The largest time of all processes since a moment. */
double span_since(double start);

#endif
