/* A program that knows nothing of tuwtree: a million gathers that take no time. Prints the seconds for each. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int i, own = 1, all = 0, count = 1, displ = 0;
    const int calls = 1000000;
    double seconds;
    MPI_Init(&argc, &argv);
    seconds = MPI_Wtime();
    for (i = 0; i < calls; i++)
        MPI_Gatherv(&own, 1, MPI_INT, &all, &count, &displ, MPI_INT, 0, MPI_COMM_SELF);
    printf("%.3e\n", (MPI_Wtime() - seconds) / calls);
    MPI_Finalize();
    return all != 1;
}
