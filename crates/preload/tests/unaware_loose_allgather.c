/* A program that knows nothing of tuwtree, whose ranks in some calls send less than their counts have room for, as MPI
 * libraries take it. What is behind it is not looked at: libraries differ in what they leave there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 5000, ROUNDS = 20 };

int main(int argc, char **argv)
{
    int rank, size, i, k, round, bad = 0, *counts, *displs, *own, *all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts = malloc((size_t)size * sizeof *counts);
    displs = malloc((size_t)size * sizeof *displs);
    own = malloc(ROOM * sizeof *own);
    all = malloc((size_t)size * ROOM * sizeof *all);
    for (round = 1; round <= ROUNDS; round++) {
        /* Not in rounds 1, 2, 4, ...: the same is said everywhere there. */
        const int less = (round & (round - 1)) != 0;
        for (i = 0; i < size; i++) {
            counts[i] = i == 0 ? ROOM : 3 + i;
            displs[i] = i * ROOM;
        }
        for (k = 0; k < counts[rank]; k++)
            own[k] = 1000 * round + 10 * rank + k;
        for (k = 0; k < size * ROOM; k++)
            all[k] = -1;
        MPI_Allgatherv(own, counts[rank] - less * (1 + rank), MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
        for (i = 0; i < size; i++)
            for (k = 0; k < counts[i] - less * (1 + i); k++)
                bad += all[i * ROOM + k] != 1000 * round + 10 * i + k;
    }
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d rounds, %d wrong\n", round - 1, bad);
    MPI_Finalize();
    return bad != 0;
}
