/*
 * $TITLE
 *
 * Written by tuwtree $VERSION. $NAME.c says what it is and how it works.
 */
#ifndef $UPPER_H
#define $UPPER_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The operation, prepared for its buffers: a persistent request. */
typedef struct $NAME_request $NAME_request;

/*
 * Prepares the operation; collective over comm, which must have $PROCESSES processes and is
 * duplicated. All processes get an error if one of them fails, and *request is then NULL.
 *
$ARGUMENT_NOTES
 *
 * $NAME_init performs the actions of the schedule strictly in their order. $NAME_init_eager posts all
 * receives at the start and sends as soon as the data is there: more memory where data is combined,
 * and no longer one message at a time.
 */
int $NAME_init($PARAMETERS,
    MPI_Comm comm, $NAME_request **request);
int $NAME_init_eager($PARAMETERS,
    MPI_Comm comm, $NAME_request **request);

/* Starts the operation, as far as it goes without waiting. The buffers now belong to it. */
int $NAME_start($NAME_request *request);

/* Performs what is left of the operation. The request can then be started again. */
int $NAME_wait($NAME_request *request);

/* Performs what can be done without waiting; *flag says whether the operation has ended. */
int $NAME_test($NAME_request *request, int *flag);

/* Gives everything back; collective. The operation must not be under way, unless it failed. */
int $NAME_free($NAME_request **request);

#ifdef __cplusplus
}
#endif

#endif
