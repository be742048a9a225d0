/* A block of more than 2^31 bytes, gathered and scattered: every MiB of it is looked at. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <tuwtree_mpi.h>

enum { UNIT = 1 << 20, UNITS = 2100 };

static void mark(char *memory, int units, int first)
{
    int i;
    for (i = 0; i < units; i++) {
        memory[(size_t)i * UNIT] = (char)(first + i);
        memory[(size_t)i * UNIT + UNIT - 1] = (char)(first + i + 1);
    }
}

static int wrong(const char *memory, int units, int first)
{
    int i, bad = 0;
    for (i = 0; i < units; i++) {
        bad += memory[(size_t)i * UNIT] != (char)(first + i);
        bad += memory[(size_t)i * UNIT + UNIT - 1] != (char)(first + i + 1);
    }
    return bad;
}

int main(int argc, char **argv)
{
    static const char *const algorithms[] = {"adaptive", "linear"};
    int counts[2] = {1, UNITS}, displs[2] = {0, 1}, rank, i, bad = 0;
    char *own, *all = NULL;
    MPI_Datatype unit;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(UNIT, MPI_BYTE, &unit);
    MPI_Type_commit(&unit);
    own = (char *)calloc((size_t)counts[rank], UNIT);
    if (rank == 0)
        all = (char *)calloc((size_t)UNITS + 1, UNIT);
    if (own == NULL || (rank == 0 && all == NULL))
        return 2;
    for (i = 0; i < 2; i++) {
        tuwtree_set(MPI_COMM_WORLD, "algorithm", algorithms[i]);
        mark(own, counts[rank], 3 + displs[rank] + i);
        tuwtree_gatherv(own, counts[rank], unit, all, counts, displs, unit, 0, MPI_COMM_WORLD);
        if (rank == 0) {
            bad += wrong(all, UNITS + 1, 3 + i);
            mark(all, UNITS + 1, 9 + i);
        }
        tuwtree_scatterv(all, counts, displs, unit, own, counts[rank], unit, 0, MPI_COMM_WORLD);
        bad += wrong(own, counts[rank], 9 + displs[rank] + i);
    }
    if (bad == 0)
        printf("rank %d: nothing wrong\n", rank);
    free(own);
    free(all);
    MPI_Type_free(&unit);
    MPI_Finalize();
    return bad != 0;
}
