/* Random operations without a root, against the MPI library's own, byte for byte: counts of all kinds, blocks in any
 * order with gaps, datatypes with gaps and others at each rank, in place, again and again, persistent. The first
 * argument says how many problems, the second is the file of a machine; or it is "messages", and the second says how
 * many calls. */
#include "tuwtree_mpi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s (problem %d, rank %d, %s): %s\n", __FILE__,         \
                    __LINE__, #condition, problem, rank, way, tuwtree_error_text());               \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

#define OK(call) CHECK((call) == MPI_SUCCESS)

static int rank, size, problem;
static char way[40] = "native";
static int *counts, *displs, *order;
static MPI_Comm comm;

static unsigned long long state = 7;

/* The same numbers at all processes. */
static int below(int most)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((state >> 33) % (unsigned long long)most);
}

static int *room(long items)
{
    int *memory = (int *)malloc(((size_t)items + 1) * sizeof(int));
    long k;
    CHECK(memory != NULL);
    for (k = 0; k <= items; k++)
        memory[k] = (int)(-1 - k % 1000);
    return memory;
}

/* Counts of pairs of numbers. */
static void choose_counts(void)
{
    int i, kind = below(8), one = below(size), most = below(3) ? 20 : 2000;
    for (i = 0; i < size; i++) {
        int small = below(most);
        switch (kind) {
        case 0: counts[i] = most / 2; break;
        case 1: counts[i] = i == one ? size * most : 0; break;
        case 2: counts[i] = i == one ? size * most : 1; break;
        case 3: counts[i] = below(5) ? 1 : 5 * small; break;
        case 4: counts[i] = below(2) ? 0 : small; break;
        case 5: counts[i] = 0; break;
        case 6: counts[i] = i * most / size; break;
        default: counts[i] = small; break;
        }
    }
}

/* The blocks in any order, with gaps or without, in pairs. Returns how many they take with the gaps. */
static int choose_places(void)
{
    int i, total = 0, gaps = below(2), shuffled = below(2);
    for (i = 0; i < size; i++)
        order[i] = i;
    for (i = size - 1; shuffled && i > 0; i--) {
        int other = below(i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (i = 0; i < size; i++) {
        total += gaps ? below(4) : 0;
        displs[order[i]] = total;
        total += counts[order[i]];
    }
    return total + 3;
}

static void choose_way(const char *operation, int may_be_native)
{
    int pieces = 1 + below(40), kind = below(12);
    if (!may_be_native && (kind == 0 || kind == 4))
        kind = 3;
    if (strcmp(operation, "allgather") && kind >= 8 && kind <= 10)
        kind = 2;
    switch (kind) {
    case 0: strcpy(way, "auto"); break;
    case 1: strcpy(way, strcmp(operation, "allgather") ? "circulant" : "ring"); break;
    case 2: strcpy(way, "circulant"); break;
    case 3: strcpy(way, "circulant-pieces"); break;
    case 4: strcpy(way, "native"); break;
    case 8: strcpy(way, "bruck-postal"); break;
    case 9: sprintf(way, "bruck-postal:%d", pieces); break;
    case 10: sprintf(way, "bruck-balanced:%d", pieces); break;
    case 11: sprintf(way, "circulant-balanced:%d", pieces); break;
    default: sprintf(way, "circulant-pieces:%d", pieces); break;
    }
    OK(tuwtree_set(comm, operation, way));
}

/* Pairs of numbers, next to each other, or with a gap in the pair, and each pair with one behind it. */
static MPI_Datatype pair, gapped;

static void make_datatypes(void)
{
    MPI_Datatype apart;
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &apart));
    OK(MPI_Type_create_resized(apart, 0, 4 * (MPI_Aint)sizeof(int), &gapped));
    OK(MPI_Type_commit(&gapped));
    OK(MPI_Type_free(&apart));
}

/* Where the number k of pairs lies in memory. */
static int at(int k, int kind)
{
    return kind == 2 ? 4 * (k / 2) + 2 * (k % 2) : k;
}

/* The same as an allgather of plain numbers, which are put in their places one by one. */
static void gather_singly(const int *own, int given_kind, int *all, int kind)
{
    int i, k, total = 0, *starts = room(size), *numbers = room(size);
    int *sent = room(2L * counts[rank]), *come;
    for (k = 0; k < 2 * counts[rank]; k++)
        sent[k] = own[at(k, given_kind)];
    for (i = 0; i < size; i++) {
        starts[i] = total, numbers[i] = 2 * counts[i];
        total += numbers[i];
    }
    come = room(total);
    OK(MPI_Allgatherv(sent, numbers[rank], MPI_INT, come, numbers, starts, MPI_INT, comm));
    for (i = 0; i < size; i++)
        for (k = 0; k < numbers[i]; k++)
            all[at(2 * displs[i] + k, kind)] = come[starts[i] + k];
    free(starts), free(numbers), free(sent), free(come);
}

static void gather_everywhere(void)
{
    int k, total, again, calls = 1 + below(3), is_persistent = below(4) == 0;
    int in_place = below(3) == 0, sent_kind, received_kind;
    int *own, *ours, *theirs;
    /* Numbers singly, in pairs, or in pairs with gaps: each rank as it likes. */
    int kinds = below(4), are_alike;
    choose_counts();
    total = choose_places();
    /* Open MPI 4.1 chooses its algorithm by the size of the datatype that a rank sends, and hangs where these
     * differ; MPICH 4.0 on one process puts the block at the start, whatever its displacement. */
    are_alike = kinds < 3 && below(2) && size > 1;
    choose_way("allgather", are_alike);
    received_kind = kinds == 3 ? rank % 3 : kinds;
    sent_kind = are_alike ? received_kind : (kinds + rank) % 3;
    {
        MPI_Datatype types[3];
        int numbers[3] = {2, 1, 1}, extents[3] = {1, 2, 4};
        MPI_Datatype sent, received;
        tuwtree_request request = TUWTREE_REQUEST_NULL;
        int *received_counts = room(size), *received_displs = room(size), i;
        void *given;
        types[0] = MPI_INT, types[1] = pair, types[2] = gapped;
        sent = types[sent_kind], received = types[received_kind];
        for (i = 0; i < size; i++) {
            received_counts[i] = counts[i] * numbers[received_kind];
            received_displs[i] = displs[i] * numbers[received_kind];
        }
        own = room(4L * counts[rank]), ours = room(4L * total), theirs = room(4L * total);
        given = in_place ? MPI_IN_PLACE : own;
        if (is_persistent)
            OK(tuwtree_allgatherv_init(given, in_place ? 0 : counts[rank] * numbers[sent_kind], sent,
                                       ours, received_counts, received_displs, received, comm,
                                       &request));
        for (again = 0; again < calls; again++) {
            int *mine = ours + received_displs[rank] * extents[received_kind];
            int *other = theirs + received_displs[rank] * extents[received_kind];
            for (k = 0; k < 4 * counts[rank]; k++)
                own[k] = problem * 1000003 + again * 70001 + rank * 10007 + k;
            for (k = 0; in_place && k < received_counts[rank] * extents[received_kind]; k++)
                mine[k] = other[k] = own[k];
            if (are_alike)
                OK(MPI_Allgatherv(given, counts[rank] * numbers[sent_kind], sent, theirs,
                                  received_counts, received_displs, received, comm));
            else
                gather_singly(own, in_place ? received_kind : sent_kind, theirs, received_kind);
            if (is_persistent) {
                int flag = 0;
                OK(tuwtree_start(&request));
                while (again % 2 && !flag)
                    OK(tuwtree_test(&request, &flag));
                OK(tuwtree_wait(&request));
            } else {
                OK(tuwtree_allgatherv(given, in_place ? 0 : counts[rank] * numbers[sent_kind], sent,
                                      ours, received_counts, received_displs, received, comm));
            }
            CHECK(memcmp(ours, theirs, 4 * ((size_t)total) * sizeof(int)) == 0);
        }
        if (is_persistent)
            OK(tuwtree_free(&request));
        free(received_counts), free(received_displs);
    }
    free(own), free(ours), free(theirs);
}

/* Operators of a user: one that commutes, and the composition of functions x -> a x + b, which does not. */
static void add_all(void *left, void *inout, int *count, MPI_Datatype *datatype)
{
    int k;
    (void)datatype;
    for (k = 0; k < *count; k++)
        ((int *)inout)[k] = (int)((unsigned)((int *)left)[k] + (unsigned)((int *)inout)[k]);
}

static void compose_all(void *left, void *inout, int *count, MPI_Datatype *datatype)
{
    unsigned char *from = left, *into = inout;
    int k;
    (void)datatype;
    for (k = 0; k < 4 * *count; k++) {
        int a = from[k] >> 4, b = from[k] & 15, c = into[k] >> 4, d = into[k] & 15;
        into[k] = (unsigned char)(((a * c) & 15) << 4 | ((a * d + b) & 15));
    }
}

static MPI_Op added, composed;

/* A call in one of its forms: counts of each block or one for all, large or not. */
static int combine(int form, const void *given, void *result, MPI_Datatype datatype, MPI_Op operator)
{
    MPI_Count *large = (MPI_Count *)malloc((size_t)size * sizeof(MPI_Count));
    int i, code;
    for (i = 0; i < size; i++)
        large[i] = counts[i];
    switch (form) {
    case 0: code = tuwtree_reduce_scatter(given, result, counts, datatype, operator, comm); break;
    case 1: code = tuwtree_reduce_scatter_c(given, result, large, datatype, operator, comm); break;
    case 2:
        code = tuwtree_reduce_scatter_block(given, result, counts[0], datatype, operator, comm);
        break;
    default:
        code = tuwtree_reduce_scatter_block_c(given, result, counts[0], datatype, operator, comm);
    }
    free(large);
    return code;
}

/* The same, set up. Counts are not needed after that. */
static tuwtree_request set_up(int form, const void *given, void *result, MPI_Datatype datatype,
                              MPI_Op operator)
{
    MPI_Count *large = (MPI_Count *)malloc((size_t)size * sizeof(MPI_Count));
    int i, *small = room(size);
    tuwtree_request made = TUWTREE_REQUEST_NULL;
    for (i = 0; i < size; i++)
        large[i] = small[i] = counts[i];
    switch (form) {
    case 0:
        OK(tuwtree_reduce_scatter_init(given, result, small, datatype, operator, comm, &made));
        break;
    case 1:
        OK(tuwtree_reduce_scatter_init_c(given, result, large, datatype, operator, comm, &made));
        break;
    case 2:
        OK(tuwtree_reduce_scatter_block_init(given, result, small[0], datatype, operator, comm,
                                             &made));
        break;
    default:
        OK(tuwtree_reduce_scatter_block_init_c(given, result, large[0], datatype, operator, comm,
                                               &made));
    }
    for (i = 0; i < size; i++)
        large[i] = small[i] = -1;
    free(large), free(small);
    return made;
}

/* Numbers of floating point give the same bits each time; others what the library has. */
static void combine_everywhere(void)
{
    int i, k, total = 0, again, calls = 1 + below(3), in_place = below(3) == 0, kind = below(5);
    int *given, *ours, *theirs, *first, *kept, is_float = kind == 3, room_here;
    int form = below(4), is_persistent = below(3) == 0;
    tuwtree_request request = TUWTREE_REQUEST_NULL;
    MPI_Op operator = kind == 0 ? MPI_SUM : kind == 1 ? MPI_MAX : kind == 2 ? added
                    : kind == 3 ? MPI_SUM : composed;
    MPI_Datatype datatype = is_float ? MPI_FLOAT : MPI_INT;
    choose_counts();
    for (i = 0; form >= 2 && i < size; i++)
        counts[i] = counts[size / 2];
    choose_way("reduce-scatter", 1);
    for (i = 0; i < size; i++)
        total += counts[i];
    room_here = in_place ? total : counts[rank];
    given = room(total), kept = room(total);
    ours = room(room_here), theirs = room(room_here), first = room(counts[rank]);
    if (is_persistent)
        request = set_up(form, in_place ? MPI_IN_PLACE : given, ours, datatype, operator);
    for (again = 0; again < calls; again++) {
        for (k = 0; k < total; k++) {
            int number = (problem + 1) * 10007 + rank * 101 + k * 13;
            float fraction = (float)number / 7.0f;
            given[k] = number;
            if (is_float)
                memcpy(given + k, &fraction, sizeof(fraction));
            kept[k] = given[k];
            if (in_place)
                ours[k] = theirs[k] = given[k];
        }
        OK(MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : given, theirs, counts, datatype, operator,
                              comm));
        if (is_persistent) {
            int flag = 0;
            OK(tuwtree_start(&request));
            while (again % 2 && !flag)
                OK(tuwtree_test(&request, &flag));
            OK(tuwtree_wait(&request));
        } else {
            OK(combine(form, in_place ? MPI_IN_PLACE : given, ours, datatype, operator));
        }
        CHECK(memcmp(given, kept, (size_t)total * sizeof(int)) == 0);
        for (k = 0; is_float && k < counts[rank]; k++) {
            float one, other;
            memcpy(&one, ours + k, sizeof(one)), memcpy(&other, theirs + k, sizeof(other));
            CHECK(one - other <= 1e-5f * one && other - one <= 1e-5f * one);
        }
        CHECK(is_float || memcmp(ours, theirs, (size_t)counts[rank] * sizeof(int)) == 0);
        CHECK(again == 0 || memcmp(ours, first, (size_t)counts[rank] * sizeof(int)) == 0);
        memcpy(first, ours, (size_t)counts[rank] * sizeof(int));
    }
    if (is_persistent)
        OK(tuwtree_free(&request));
    free(given), free(kept), free(ours), free(theirs), free(first);
}

/* How many pairs of numbers go from one rank to another. */
static int amount(int kind, int most, int from, int to)
{
    unsigned mixed = (unsigned)(problem * 31 + from * 7 + to * 13) * 2654435761u >> 16;
    switch (kind) {
    case 0: return most;
    case 1: return mixed % 10 == 0 ? most : 0;
    case 2: return from == size / 2 || to == size / 2 ? 10 * most : (int)(mixed % 3);
    case 3: return 0;
    default: return (int)(mixed % (unsigned)(most + 1));
    }
}

/* Where messages lie, in pairs: one after the other from the last rank's on, with gaps. */
static long place_messages(const int *pairs, int *starts, int gap)
{
    long total = 0;
    int i;
    for (i = size - 1; i >= 0; i--) {
        starts[i] = (int)total;
        total += pairs[i] + gap;
    }
    return total;
}

static void exchange_all(void)
{
    int kind = below(6), most = below(2) ? 3 : below(2) ? 60 : 1000, radix = 2 + below(6);
    int calls = 1 + below(3), in_place = below(4) == 0, is_large = below(4) == 0, again, i, k;
    int is_set_up = below(2);
    int sent_kind = (below(3) + rank) % 3, received_kind = (below(3) + 2 * rank) % 3;
    int *sent = room(size), *received = room(size), *starts = room(size), *places = room(size);
    int *plain = room(size), *ends = room(size), *sent_units = room(size), *received_units = room(size);
    long given_total, total, come = 0;
    int *given, *ours, *come_in, *kept;
    MPI_Datatype types[3];
    types[0] = MPI_INT, types[1] = pair, types[2] = gapped;
    switch (below(5)) {
    case 0: strcpy(way, "auto"); break;
    case 1: strcpy(way, "linear"); break;
    case 2: strcpy(way, "bruck"); break;
    case 3: strcpy(way, "node-pairs"); break;
    default: sprintf(way, "bruck:%d", radix);
    }
    /* Open MPI 4.1's own persistent alltoall takes wrong data in place where datatypes have gaps, and may be chosen. */
    if (in_place && strcmp(way, "auto") == 0)
        is_set_up = 0;
    OK(tuwtree_set(comm, "alltoall", way));
    OK(tuwtree_set(comm, "most-passed", below(3) ? "64MiB" : below(2) ? "200" : "0"));
    if (in_place)
        sent_kind = received_kind;
    for (i = 0; i < size; i++) {
        sent[i] = in_place ? amount(kind, most, i < rank ? i : rank, i < rank ? rank : i)
                           : amount(kind, most, rank, i);
        received[i] = in_place ? sent[i] : amount(kind, most, i, rank);
        plain[i] = 2 * received[i], ends[i] = (int)come;
        come += plain[i];
    }
    given_total = place_messages(sent, starts, below(2));
    total = place_messages(received, places, below(2));
    if (in_place)
        memcpy(starts, places, (size_t)size * sizeof(int)), given_total = total;
    given = room(4 * given_total + 8), kept = room(4 * given_total + 8), ours = room(4 * total + 8);
    come_in = room(come);
    for (again = 0; again < calls; again++) {
        /* Numbers that tell where they are from; what should come is worked out, and compared with what does. */
        for (k = 0; k < 4 * given_total + 8; k++)
            given[k] = -7 - k;
        for (i = 0; i < size; i++)
            for (k = 0; k < 2 * sent[i]; k++)
                given[at(2 * starts[i] + k, sent_kind)] = (rank * 64 + i) * 8192 + k + again;
        memcpy(kept, given, (size_t)(4 * given_total + 8) * sizeof(int));
        for (k = 0; k < 4 * total + 8; k++)
            ours[k] = in_place ? given[k] : -1;
        for (i = 0; i < size; i++) {
            sent_units[i] = sent[i] * (sent_kind ? 1 : 2);
            received_units[i] = received[i] * (received_kind ? 1 : 2);
        }
        {
            MPI_Count *large_sent = (MPI_Count *)malloc(2 * (size_t)size * sizeof(MPI_Count));
            MPI_Count *large_received = large_sent + size;
            MPI_Aint *from = (MPI_Aint *)malloc(2 * (size_t)size * sizeof(MPI_Aint)), *into = from + size;
            int *int_from = room(size), *int_into = room(size);
            for (i = 0; i < size; i++) {
                int_from[i] = starts[i] * (sent_kind ? 1 : 2);
                int_into[i] = places[i] * (received_kind ? 1 : 2);
                large_sent[i] = sent_units[i], large_received[i] = received_units[i];
                from[i] = int_from[i], into[i] = int_into[i];
            }
            if (is_set_up) {
                tuwtree_request request = TUWTREE_REQUEST_NULL;
                if (is_large)
                    OK(tuwtree_alltoallv_init_c(in_place ? MPI_IN_PLACE : given, large_sent, from,
                                                types[sent_kind], ours, large_received, into,
                                                types[received_kind], comm, &request));
                else
                    OK(tuwtree_alltoallv_init(in_place ? MPI_IN_PLACE : given, sent_units, int_from,
                                              types[sent_kind], ours, received_units, int_into,
                                              types[received_kind], comm, &request));
                /* Lists are not needed any more. */
                for (i = 0; i < size; i++)
                    large_sent[i] = large_received[i] = from[i] = into[i] = int_from[i] = int_into[i] = -1;
                OK(tuwtree_start(&request));
                OK(tuwtree_wait(&request));
                if (!in_place) {
                    int flag = 0;
                    OK(tuwtree_start(&request));
                    while (!flag)
                        OK(tuwtree_test(&request, &flag));
                }
                OK(tuwtree_free(&request));
            } else if (is_large)
                OK(tuwtree_alltoallv_c(in_place ? MPI_IN_PLACE : given, large_sent, from,
                                       types[sent_kind], ours, large_received, into,
                                       types[received_kind], comm));
            else
                OK(tuwtree_alltoallv(in_place ? MPI_IN_PLACE : given, sent_units, int_from,
                                     types[sent_kind], ours, received_units, int_into,
                                     types[received_kind], comm));
            free(large_sent), free(from), free(int_from), free(int_into);
        }
        CHECK(memcmp(given, kept, (size_t)(4 * given_total + 8) * sizeof(int)) == 0);
        /* The library's own, of plain numbers without gaps. */
        {
            int *packed = room(4 * given_total + 8), *numbers = room(size), *begins = room(size);
            int count = 0;
            for (i = 0; i < size; i++) {
                numbers[i] = 2 * sent[i], begins[i] = count;
                for (k = 0; k < numbers[i]; k++)
                    packed[count++] = given[at(2 * starts[i] + k, sent_kind)];
            }
            OK(MPI_Alltoallv(packed, numbers, begins, MPI_INT, come_in, plain, ends, MPI_INT, comm));
            free(packed), free(numbers), free(begins);
        }
        for (i = 0; i < size; i++)
            for (k = 0; k < plain[i]; k++) {
                int place = at(2 * places[i] + k, received_kind);
                CHECK(ours[place] == come_in[ends[i] + k]);
                ours[place] = in_place ? kept[place] : -1;
            }
        /* Nothing beside them is written. */
        for (k = 0; k < 4 * total + 8; k++)
            CHECK(ours[k] == (in_place ? kept[k] : -1));
    }
    OK(tuwtree_set(comm, "most-passed", "64MiB"));
    free(sent), free(received), free(starts), free(places), free(plain), free(ends);
    free(sent_units), free(received_units), free(given), free(kept), free(ours), free(come_in);
}

/* Messages of one size, by the library and by us. */
static void exchange_equally(void)
{
    static const char *const ways[] = {"auto", "linear", "bruck", "bruck:4", "node-pairs", "native"};
    int count = below(3) ? below(9) : below(700), in_place = below(4) == 0, is_large = below(2), k;
    int *given = room(2L * count * size + 1), *ours = room(2L * count * size + 1);
    int *theirs = room(2L * count * size + 1);
    const void *from = in_place ? MPI_IN_PLACE : given;
    OK(tuwtree_set(comm, "alltoall", ways[below(6)]));
    for (k = 0; k < 2 * count * size; k++)
        given[k] = rank * 100000 + k, ours[k] = theirs[k] = in_place ? given[k] : -1;
    OK(MPI_Alltoall(from, 2 * count, MPI_INT, theirs, 2 * count, MPI_INT, comm));
    if (is_large)
        OK(tuwtree_alltoall_c(from, 2 * count, MPI_INT, ours, count, pair, comm));
    else
        OK(tuwtree_alltoall(from, 2 * count, MPI_INT, ours, count, pair, comm));
    CHECK(memcmp(ours, theirs, (size_t)(2 * count * size) * sizeof(int)) == 0);
    /* The same, set up: each start takes what is there then. Open MPI 4.1's own takes wrong data in place. */
    if (!in_place) {
        tuwtree_request request = TUWTREE_REQUEST_NULL;
        int start;
        if (is_large)
            OK(tuwtree_alltoall_init_c(from, 2 * count, MPI_INT, ours, count, pair, comm, &request));
        else
            OK(tuwtree_alltoall_init(from, 2 * count, MPI_INT, ours, count, pair, comm, &request));
        for (start = 0; start < 3; start++) {
            int flag = 0;
            for (k = 0; k < 2 * count * size; k++)
                given[k] += 7 * start, ours[k] = -1;
            OK(MPI_Alltoall(from, 2 * count, MPI_INT, theirs, 2 * count, MPI_INT, comm));
            OK(tuwtree_start(&request));
            while (start == 1 && !flag)
                OK(tuwtree_test(&request, &flag));
            OK(tuwtree_wait(&request));
            CHECK(memcmp(ours, theirs, (size_t)(2 * count * size) * sizeof(int)) == 0);
        }
        OK(tuwtree_free(&request));
    }
    free(given), free(ours), free(theirs);
}

/* So many alltoalls of a number each, for whoever counts messages. */
static void send_bundles(int calls)
{
    int i, *own = room(size), *all = room(size);
    OK(tuwtree_set(comm, "alltoall", "bruck"));
    for (i = 0; i < size; i++)
        counts[i] = 1, displs[i] = i;
    for (i = 0; i < calls; i++)
        OK(tuwtree_alltoallv(own, counts, displs, MPI_INT, all, counts, displs, MPI_INT, comm));
    free(own), free(all);
}

/* Nobody waits where a rank has another block than its counts say, and it is told. */
static void tell_who_is_wrong(void)
{
    int i, *own = room(4), *all = room(4L * size), code;
    OK(tuwtree_set(comm, "allgather", "circulant"));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (i = 0; i < size; i++)
        counts[i] = 2, displs[i] = 2 * i;
    own[0] = own[1] = rank;
    code = tuwtree_allgatherv(own, rank == 0 ? 1 : 2, MPI_INT, all, counts, displs, MPI_INT, comm);
    CHECK((code == MPI_SUCCESS) == (rank != 0));
    for (i = 1; i < size; i++)
        CHECK(all[2 * i] == i && all[2 * i + 1] == i);
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
    free(own), free(all);
}

/* So many allgathers of blocks of 100 numbers each, for whoever counts messages. */
static void send_messages(int calls)
{
    int i, *own = room(100), *all = room(100L * size);
    OK(tuwtree_set(comm, "allgather", "circulant-pieces:4"));
    for (i = 0; i < size; i++)
        counts[i] = 100, displs[i] = 100 * i;
    for (i = 0; i < calls; i++)
        OK(tuwtree_allgatherv(own, 100, MPI_INT, all, counts, displs, MPI_INT, comm));
    free(own), free(all);
}

int main(int count, char **arguments)
{
    int problems = count > 1 ? atoi(arguments[1]) : 100;
    MPI_Init(&count, &arguments);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    counts = room(size), displs = room(size), order = room(size);
    make_datatypes();
    MPI_Op_create(add_all, 1, &added);
    MPI_Op_create(compose_all, 0, &composed);
    if (count > 2 && strcmp(arguments[1], "messages") == 0) {
        send_messages(atoi(arguments[2]));
        problems = 0;
    } else if (count > 2 && strcmp(arguments[1], "bundles") == 0) {
        send_bundles(atoi(arguments[2]));
        problems = 0;
    } else if (count > 2)
        OK(tuwtree_set(comm, "machine", arguments[2]));
    for (problem = 0; problem < problems; problem++)
        if (problem % 4 == 3)
            problem % 8 == 7 ? exchange_equally() : exchange_all();
        else if (problem % 4 == 2)
            combine_everywhere();
        else
            gather_everywhere();
    tell_who_is_wrong();
    if (rank == 0)
        printf("all right: %d processes, %d problems\n", size, problems);
    MPI_Type_free(&pair);
    MPI_Type_free(&gapped);
    MPI_Op_free(&added);
    MPI_Op_free(&composed);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
