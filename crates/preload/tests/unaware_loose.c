/* A program that knows nothing of tuwtree, and states as counts what it has room for: the root in gathers, the
 * others in scatters. MPI libraries take that (but for blocks of no data at all, for which Open MPI waits for ever).
 * Nothing is written where nothing comes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 9, ROUNDS = 20 };

int main(int argc, char **argv)
{
    int rank, size, root, i, k, round, bad = 0, *counts, *displs, *sent, *own, *back, *all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    root = size / 2;
    counts = malloc((size_t)size * sizeof *counts);
    displs = malloc((size_t)size * sizeof *displs);
    sent = malloc((size_t)size * sizeof *sent);
    own = malloc(ROOM * sizeof *own);
    back = malloc(ROOM * sizeof *back);
    all = malloc((size_t)size * ROOM * sizeof *all);
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < size; i++) {
            sent[i] = i == root ? ROOM : 1 + (i + round) % (ROOM - 1);
            counts[i] = ROOM;
            displs[i] = i * ROOM;
        }
        for (k = 0; k < ROOM; k++) {
            own[k] = 1000 * round + 10 * rank + k;
            back[k] = -1;
        }
        for (k = 0; k < size * ROOM; k++)
            all[k] = -1;
        MPI_Gatherv(own, sent[rank], MPI_INT, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
        for (i = 0; rank == root && i < size; i++)
            for (k = 0; k < ROOM; k++)
                bad += all[i * ROOM + k] != (k < sent[i] ? 1000 * round + 10 * i + k : -1);
        /* The other way round: less is sent than there is room for. */
        MPI_Scatterv(all, sent, displs, MPI_INT, back, ROOM, MPI_INT, root, MPI_COMM_WORLD);
        for (k = 0; k < ROOM; k++)
            bad += back[k] != (k < sent[rank] ? own[k] : -1);
    }
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d rounds, %d wrong\n", round, bad);
    MPI_Finalize();
    return bad != 0;
}
