/* A program that knows nothing of tuwtree, in which one rank after the other sends more than the root of a gather has
 * room for, or has less room than the root of a scatter sends: an error there, and nothing is written behind. In turns with
 * calls in which others have more room than is sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 4, GUARD = 3 };

int main(int argc, char **argv)
{
    int rank, size, root, call, i, k, bad, class_, code, wrong = 0, *counts, *displs, *own, *all;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    root = size / 2;
    counts = malloc((size_t)size * sizeof *counts);
    displs = malloc((size_t)size * sizeof *displs);
    own = malloc((2 * ROOM + GUARD) * sizeof *own);
    all = malloc((size_t)(size * (ROOM + GUARD)) * sizeof *all);
    for (call = 0; call < 6 * size; call++) {
        /* The first two calls of each are the library's own, whatever the algorithm is. */
        bad = call > 1 && call % 2 ? (call / 2) % size : -1;
        for (i = 0; i < size; i++) {
            counts[i] = ROOM;
            displs[i] = i * (ROOM + GUARD);
        }
        for (k = 0; k < size * (ROOM + GUARD); k++)
            all[k] = -1;
        for (k = 0; k < 2 * ROOM + GUARD; k++)
            own[k] = rank;
        code = MPI_Gatherv(own, rank == bad ? 2 * ROOM : ROOM - 1, MPI_INT, all, counts, displs, MPI_INT, root,
                           MPI_COMM_WORLD);
        MPI_Error_class(code, &class_);
        if (rank == root)
            wrong += bad < 0 ? code != MPI_SUCCESS : class_ != MPI_ERR_TRUNCATE && class_ != MPI_ERR_COUNT;
        for (i = 0; rank == root && i < size; i++)
            for (k = 0; k < ROOM + GUARD; k++) {
                int found = all[displs[i] + k], is_sent = k < ROOM - 1 || (i == bad && k < ROOM);
                wrong += is_sent ? found != i && (bad < 0 || found != -1) : found != -1;
            }
        for (k = 0; k < size * (ROOM + GUARD); k++)
            all[k] = rank == root ? k / (ROOM + GUARD) : -1;
        for (k = 0; k < 2 * ROOM + GUARD; k++)
            own[k] = -1;
        code = MPI_Scatterv(all, counts, displs, MPI_INT, own, rank == bad ? ROOM - 2 : ROOM + 1, MPI_INT, root,
                            MPI_COMM_WORLD);
        MPI_Error_class(code, &class_);
        wrong += rank == bad && class_ != MPI_ERR_TRUNCATE && class_ != MPI_ERR_COUNT;
        wrong += bad < 0 && code != MPI_SUCCESS;
        for (k = 0; k < 2 * ROOM + GUARD; k++) {
            int is_sent = k < (rank == bad ? ROOM - 2 : ROOM);
            wrong += is_sent ? own[k] != rank && (bad < 0 || own[k] != -1) : own[k] != -1;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d calls, %d wrong\n", call, wrong);
    MPI_Finalize();
    return wrong != 0;
}
