/* Operations without a root of a program that knows nothing of tuwtree: one large block among small ones, several
 * times; then counts larger than what is sent. */
#include <mpi.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

/* A message from each to each, with room for more numbers than others send, if any. (Open MPI sends nothing where there
 * is nothing to send, and waits where there is room; in messages to oneself it takes no more room.) */
static void exchange(int rank, int size, int call, int spare, int is_set_up)
{
    int *lists = calloc(4 * (size_t)size, sizeof(int)), i, k, sent = 0, room = 0;
    int *counts = lists, *starts = lists + size, *rooms = lists + 2 * size, *places = lists + 3 * size;
    int *given, *come;
    for (i = 0; i < size; i++) {
        counts[i] = (rank + 2 * i) % 4, rooms[i] = (i + 2 * rank) % 4;
        rooms[i] += rooms[i] && i != rank ? spare : 0;
        starts[i] = sent, places[i] = room;
        sent += counts[i], room += rooms[i];
    }
    given = calloc((size_t)sent + 1, sizeof(int)), come = calloc((size_t)room + 1, sizeof(int));
    for (i = 0; i < size; i++)
        for (k = 0; k < counts[i]; k++)
            given[starts[i] + k] = call * 10000 + rank * 100 + i * 10 + k;
    if (is_set_up) {
        MPI_Request request;
        int step;
        MPI_Alltoallv_init(given, counts, starts, MPI_INT, come, rooms, places, MPI_INT,
                           MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        for (step = 0; step < 3; step++) {
            memset(come, 255, ((size_t)room + 1) * sizeof(int));
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&request);
    } else {
        MPI_Alltoallv(given, counts, starts, MPI_INT, come, rooms, places, MPI_INT, MPI_COMM_WORLD);
    }
    for (i = 0; i < size; i++)
        for (k = 0; k < (i + 2 * rank) % 4; k++)
            CHECK(come[places[i] + k] == call * 10000 + i * 100 + rank * 10 + k);
    free(lists), free(given), free(come);
}

int main(int argc, char **argv)
{
    int rank, size, i, k, call, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *counts = calloc((size_t)size, sizeof(int)), *displs = calloc((size_t)size, sizeof(int));
    for (i = 0; i < size; i++) {
        counts[i] = i == size / 2 ? 5000 : i % 3;
        displs[i] = total;
        total += counts[i];
    }
    int *all = calloc((size_t)total, sizeof(int)), *own = calloc(5000, sizeof(int));
    for (call = 0; call < 5; call++) {
        for (k = 0; k < counts[rank]; k++)
            own[k] = call * 1000000 + rank * 10000 + k;
        memset(all, 255, (size_t)total * sizeof(int));
        MPI_Allgatherv(own, counts[rank], MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
        for (i = 0; i < size; i++)
            for (k = 0; k < counts[i]; k++)
                CHECK(all[displs[i] + k] == call * 1000000 + i * 10000 + k);
        for (k = 0; k < total; k++)
            all[k] = (rank + 1) * k + call;
        MPI_Reduce_scatter(all, own, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (k = 0; k < counts[rank]; k++)
            CHECK(own[k] == size * (size + 1) / 2 * (displs[rank] + k) + size * call);
        for (k = 0; k < 3 * size; k++)
            all[k] = (rank + 1) * k + call;
        MPI_Reduce_scatter_block(all, own, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (k = 0; k < 3; k++)
            CHECK(own[k] == size * (size + 1) / 2 * (3 * rank + k) + size * call);
        exchange(rank, size, call, 0, 0);
    }
    /* From call 8 on, which is compared, the large block brings less than there is room for. */
    for (; call < 9; call++) {
        int less = rank == size / 2 ? 4000 : counts[rank];
        for (k = 0; k < counts[rank]; k++)
            own[k] = rank;
        memset(all, 255, (size_t)total * sizeof(int));
        if (call >= 7)
            MPI_Allgatherv(own, less, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
        else
            MPI_Allgatherv(own, counts[rank], MPI_INT, all, counts, displs, MPI_INT,
                           MPI_COMM_WORLD);
        CHECK(all[displs[size / 2] + 3999] == size / 2);
        exchange(rank, size, call, call >= 7, 0);
    }
    /* Messages of one size. */
    for (i = 0; i < 3 * size; i++)
        own[i] = rank * 1000 + i;
    MPI_Alltoall(own, 3, MPI_INT, own + 3 * size, 3, MPI_INT, MPI_COMM_WORLD);
    for (i = 0; i < 3 * size; i++)
        CHECK(own[3 * size + i] == i / 3 * 1000 + 3 * rank + i % 3);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, own, 3, MPI_INT, MPI_COMM_WORLD);
    CHECK(memcmp(own, own + 3 * size, 3 * (size_t)size * sizeof(int)) == 0);
    /* Set up, without and with room to spare. */
    exchange(rank, size, call, 0, 1);
    exchange(rank, size, call, 1, 1);
    if (rank == 0)
        printf("all right\n");
    free(counts), free(displs), free(all), free(own);
    MPI_Finalize();
    return 0;
}
