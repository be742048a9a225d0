/* One collective operation, argv[1], on the blocks of argv[2] and further bytes, between two calls of MPI_Pcontrol: what is
 * sent is counted by whoever listens to these, or in the whole program. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size, i, wrong = 0, *counts, *displs;
    char *in, *out;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts = malloc((size_t)size * sizeof *counts);
    displs = malloc(((size_t)size + 1) * sizeof *displs);
    displs[0] = 0;
    for (i = 0; i < size && 2 + i < argc; i++) {
        counts[i] = atoi(argv[2 + i]);
        displs[i + 1] = displs[i] + counts[i];
    }
    if (i < size)
        MPI_Abort(MPI_COMM_WORLD, 2);
    in = malloc((size_t)displs[size]);
    out = malloc((size_t)displs[size]);
    memset(in, rank + 1, (size_t)displs[size]);
    MPI_Pcontrol(1);
    if (!strcmp(argv[1], "allgather")) {
        MPI_Allgatherv(in, counts[rank], MPI_CHAR, out, counts, displs, MPI_CHAR, MPI_COMM_WORLD);
        for (i = 0; i < displs[size]; i++)
            wrong += i >= displs[rank] && i < displs[rank + 1] && out[i] != rank + 1;
    } else {
        MPI_Reduce_scatter(in, out, counts, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
        for (i = 0; i < counts[rank]; i++)
            wrong += out[i] != size * (size + 1) / 2;
    }
    MPI_Pcontrol(0);
    if (wrong)
        MPI_Abort(MPI_COMM_WORLD, 3);
    free(counts);
    free(displs);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
