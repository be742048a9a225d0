/* A program that knows nothing of tuwtree: as many communicators as there are to be had, at most 2100, and a gather
 * on each, when all have been made (with an argument) or at once. Prints how many. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 2100 };

static int wrong, rank, size, *counts, *displs, *all;

static void gather(MPI_Comm comm, int number)
{
    int i, own = number + rank;
    MPI_Gatherv(&own, 1, MPI_INT, all, counts, displs, MPI_INT, 0, comm);
    for (i = 0; rank == 0 && i < size; i++)
        wrong += all[i] != number + i;
}

int main(int argc, char **argv)
{
    int i, made = 0;
    static MPI_Comm comms[MOST];
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts = malloc((size_t)size * sizeof *counts);
    displs = malloc((size_t)size * sizeof *displs);
    all = malloc((size_t)size * sizeof *all);
    for (i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    while (made < MOST && MPI_Comm_dup(MPI_COMM_WORLD, &comms[made]) == MPI_SUCCESS) {
        MPI_Comm_set_errhandler(comms[made], MPI_ERRORS_ARE_FATAL);
        if (argc == 1)
            gather(comms[made], made);
        made++;
    }
    for (i = 0; argc > 1 && i < made; i++)
        gather(comms[i], i);
    for (i = 0; i < made; i++)
        MPI_Comm_free(&comms[i]);
    if (rank == 0)
        printf("%d communicators, %d wrong\n", made, wrong);
    MPI_Finalize();
    return wrong != 0;
}
