/* A program that knows nothing of tuwtree: gathers and scatters of random sizes, in which whoever receives often has
 * room for more than is sent, against the library's own function (its PMPI_ name), byte for byte: also what nothing is
 * written to. Blocks are never without data where there is room for some, for which MPI libraries wait for ever. The
 * first argument is the number of calls, the second a seed; "nonblocking" behind has some of them started. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long state;

/* The same numbers at all processes. */
static int below(int most)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((state >> 33) % (unsigned long long)most);
}

static int *room(int items)
{
    int *memory = malloc(((size_t)items + 1) * sizeof *memory);
    memset(memory, 255, ((size_t)items + 1) * sizeof *memory);
    return memory;
}

int main(int argc, char **argv)
{
    int rank, size, call, i, k, wrong = 0, calls = atoi(argv[1]), *sent, *space, *displs;
    int may_start = argc > 3 && strcmp(argv[3], "nonblocking") == 0;
    MPI_Datatype pair, wide;
    state = (unsigned long long)atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, 4 * (MPI_Aint)sizeof(int), &wide);
    MPI_Type_commit(&wide);
    sent = room(size), space = room(size), displs = room(size);
    for (i = 0; i < size; i++)
        sent[i] = 4;
    for (call = 0; call < calls; call++) {
        /* Few roots, most of the time the same. */
        int root = below(3) ? size / 2 : below(size), kind = below(10), looseness = below(4);
        int is_wide = below(4) == 0, in_place = below(5) == 0, starts = may_start && below(2);
        int unit = is_wide ? 2 : 1, stride = is_wide ? 2 : 1, total = 0, most, *own, *all, *native;
        int *back, *native_back;
        MPI_Datatype type = is_wide ? wide : MPI_INT;
        MPI_Request request;
        for (i = 0; i < size; i++) {
            int small = 2 * below(30), large = 2 * below(20000);
            if (kind == 1)
                sent[i] = small;
            else if (kind == 2)
                sent[i] = below(size) == 0 ? large : small;
            else if (kind == 3)
                sent[i] = below(3) ? 0 : small;
            else if (kind == 4)
                sent[i] += 2 * below(5);
            else if (kind == 5 && below(2))
                sent[i] = sent[i] / 4 * 2;
            space[i] = sent[i];
            /* Exact, a little larger here and there, or the same room for all. */
            if (sent[i] > 0 && looseness == 1)
                space[i] += 2 * below(3);
            if (sent[i] > 0 && looseness == 2 && below(2))
                space[i] += 2 * below(sent[i] > 1000 ? 20000 : 40);
        }
        for (most = i = 0; i < size; i++)
            most = sent[i] > most ? sent[i] : most;
        for (i = 0; i < size; i++) {
            if (looseness == 3 && sent[i] > 0)
                space[i] = most;
            total += below(3);
            displs[i] = total;
            total += space[i] / unit;
        }
        most = space[0];
        for (i = 0; i < size; i++) {
            most = space[i] > most ? space[i] : most;
            space[i] /= unit;
        }
        if (in_place)
            sent[root] = space[root] * unit;
        own = room(most * stride), all = room(total * unit * stride), native = room(total * unit * stride);
        back = room(most * stride), native_back = room(most * stride);
        for (k = 0; k < sent[rank]; k++)
            own[k] = call * 1000003 + rank * 10007 + k;
        if (in_place && rank == root)
            for (k = 0; k < total * unit * stride; k++)
                all[k] = native[k] = 7 * k;
        {
            void *given = in_place && rank == root ? MPI_IN_PLACE : own;
            if (starts) {
                MPI_Igatherv(given, sent[rank], MPI_INT, all, space, displs, type, root,
                             MPI_COMM_WORLD, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            } else
                MPI_Gatherv(given, sent[rank], MPI_INT, all, space, displs, type, root,
                            MPI_COMM_WORLD);
            PMPI_Gatherv(given, sent[rank], MPI_INT, native, space, displs, type, root,
                         MPI_COMM_WORLD);
        }
        if (rank == root && memcmp(all, native, (size_t)total * unit * stride * sizeof *all) != 0)
            wrong++;
        /* The other way round: the root sends no more than `sent`, and the others have room for `space`. */
        for (i = 0; i < size; i++)
            sent[i] /= unit;
        for (k = 0; rank == root && k < total * unit * stride; k++)
            all[k] = native[k] = 13 * k + call;
        {
            void *taken = in_place && rank == root ? MPI_IN_PLACE : back;
            if (starts) {
                MPI_Iscatterv(all, sent, displs, type, taken, space[rank], type, root,
                              MPI_COMM_WORLD, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            } else
                MPI_Scatterv(all, sent, displs, type, taken, space[rank], type, root,
                             MPI_COMM_WORLD);
            taken = taken == MPI_IN_PLACE ? taken : native_back;
            PMPI_Scatterv(native, sent, displs, type, taken, space[rank], type, root,
                          MPI_COMM_WORLD);
        }
        if (memcmp(back, native_back, (size_t)most * stride * sizeof *back) != 0)
            wrong++;
        if (rank == root && memcmp(all, native, (size_t)total * unit * stride * sizeof *all) != 0)
            wrong++;
        for (i = 0; i < size; i++)
            sent[i] *= unit;
        free(own), free(all), free(native), free(back), free(native_back);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d calls, %d wrong\n", call, wrong);
    MPI_Type_free(&pair);
    MPI_Type_free(&wide);
    free(sent), free(space), free(displs);
    MPI_Finalize();
    return wrong != 0;
}
