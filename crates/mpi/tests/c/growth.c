/* Thousands of calls with derived datatypes: how much memory they leave behind, in bytes for each. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <tuwtree_mpi.h>

enum { CALLS = 4000, ELEMENTS = 6 };

/* What this process holds, in bytes. */
static double held(void)
{
    long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &all, &pages) != 2)
        return 0;
    fclose(file);
    return 4096.0 * (double)pages;
}

int main(int argc, char **argv)
{
    int rank, size, i, *counts, *displs, *all, own[2 * ELEMENTS] = {0};
    double before = 0, grown;
    MPI_Datatype every_second;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_vector(ELEMENTS, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    counts = (int *)malloc((size_t)size * sizeof *counts);
    displs = (int *)malloc((size_t)size * sizeof *displs);
    all = (int *)malloc((size_t)size * 2 * ELEMENTS * sizeof *all);
    for (i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    for (i = 0; i < 2 * CALLS; i++) {
        if (i == CALLS)
            before = held();
        tuwtree_gatherv(own, 1, every_second, all, counts, displs, every_second, 0, MPI_COMM_WORLD);
        tuwtree_scatterv(all, counts, displs, every_second, own, 1, every_second, 0,
                         MPI_COMM_WORLD);
    }
    grown = (held() - before) / CALLS;
    MPI_Allreduce(MPI_IN_PLACE, &grown, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.0f bytes a call\n", grown);
    MPI_Type_free(&every_second);
    free(counts);
    free(displs);
    free(all);
    MPI_Finalize();
    return 0;
}
