/* A program that knows nothing of tuwtree, with MPI 4's large counts: two gathers and two scatters at a time that are
 * started with MPI_Count and MPI_Aint, and completed in the other order, against the library's own calls (their PMPI_
 * names), byte for byte. Receivers have room for more than is sent here and there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 40, OPERATIONS = 4 };

static unsigned long long state = 11;

/* The same numbers at all processes. */
static int below(int most)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((state >> 33) % (unsigned long long)most);
}

/* A gather or scatter, its data, and what the library makes of the same. */
struct operation {
    MPI_Count *sent, *room, total;
    MPI_Aint *displs;
    int root, *own, *all, *theirs;
};

static int *filled(MPI_Count items, int value)
{
    MPI_Count k;
    int *memory = malloc(((size_t)items + 1) * sizeof *memory);
    for (k = 0; k <= items; k++)
        memory[k] = value < 0 ? -1 : value + (int)k;
    return memory;
}

int main(int argc, char **argv)
{
    int rank, size, round, i, at, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (round = 0; round < ROUNDS; round++) {
        struct operation all[OPERATIONS];
        MPI_Request requests[OPERATIONS];
        for (at = 0; at < OPERATIONS; at++) {
            struct operation *one = &all[at];
            int is_scatter = at % 2, most = round % 8 == 7 ? 30000 : 40;
            one->root = round % 3 ? size / 2 : below(size);
            one->sent = malloc((size_t)size * sizeof *one->sent);
            one->room = malloc((size_t)size * sizeof *one->room);
            one->displs = malloc((size_t)size * sizeof *one->displs);
            one->total = 0;
            /* The last block first, with gaps. */
            for (i = size - 1; i >= 0; i--) {
                one->sent[i] = 1 + below(most);
                one->room[i] = one->sent[i] + (below(4) == 0 ? below(50) : 0);
                one->displs[i] = (MPI_Aint)(one->total += below(3));
                one->total += one->room[i];
            }
            one->own = filled(one->room[rank], is_scatter ? -1 : 1000 * round + 100 * rank);
            one->all = filled(one->total, is_scatter ? 77 * round : -1);
            if (is_scatter) {
                one->theirs = filled(one->room[rank], -1);
                PMPI_Scatterv_c(one->all, one->sent, one->displs, MPI_INT, one->theirs, one->room[rank], MPI_INT,
                                one->root, MPI_COMM_WORLD);
                MPI_Iscatterv_c(one->all, one->sent, one->displs, MPI_INT, one->own, one->room[rank], MPI_INT,
                                one->root, MPI_COMM_WORLD, &requests[at]);
            } else {
                one->theirs = filled(one->total, -1);
                PMPI_Gatherv_c(one->own, one->sent[rank], MPI_INT, one->theirs, one->room, one->displs, MPI_INT,
                               one->root, MPI_COMM_WORLD);
                MPI_Igatherv_c(one->own, one->sent[rank], MPI_INT, one->all, one->room, one->displs, MPI_INT,
                               one->root, MPI_COMM_WORLD, &requests[at]);
            }
        }
        for (at = OPERATIONS - 1; at >= 0; at--) {
            struct operation *one = &all[at];
            MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
            if (at % 2)
                wrong += memcmp(one->own, one->theirs, (size_t)one->room[rank] * sizeof(int)) != 0;
            else
                wrong += memcmp(one->all, one->theirs, (size_t)one->total * sizeof(int)) != 0;
            free(one->sent), free(one->room), free(one->displs);
            free(one->own), free(one->all), free(one->theirs);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d rounds, %d wrong\n", round, wrong);
    MPI_Finalize();
    return wrong != 0;
}
