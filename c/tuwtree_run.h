/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tuwtree_run.h: performs plans of tuwtree.h by MPI. Data is bytes in rank order, without gaps.
 *
 *     #define TUWTREE_IMPLEMENTATION     in one C or C++ file, before
 *     #include "tuwtree_run.h"
 *
 * Plan in the set-up, perform in the loop:
 *
 *     tuwtree_run_sizes(own_bytes, blocks, comm);
 *     tuwtree_gather_place(blocks, p, root, rank, 0, &costs, memory, &place);
 *     for (;;)
 *         tuwtree_run_gather(&place, own, is_root ? all : segment, tag, comm);
 *
 * All functions return MPI_SUCCESS or an error of MPI, and are called by all ranks of the communicator. Messages have the
 * given tag, which no other messages in flight on this communicator may have. Messages above 2 GiB are MPI_ERR_COUNT.
 */
#ifndef TUWTREE_RUN_H
#define TUWTREE_RUN_H

#include "tuwtree.h"
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tells each rank the bytes of all. */
int tuwtree_run_sizes(uint64_t own, uint64_t *blocks, MPI_Comm comm);

/* Gathers `own` of each rank: the root has all blocks in `segment` then, inner ranks those of their subtrees. Ranks without
 * children need no segment. */
int tuwtree_run_gather(const tuwtree_place *place, const void *own, void *segment, int tag, MPI_Comm comm);

/* Scatters all blocks of the root's `segment`; each rank has its block in `own` then. A place planned for a scatter. */
int tuwtree_run_scatter(const tuwtree_place *place, void *own, void *segment, int tag, MPI_Comm comm);

/* Gathers all blocks at all ranks: `all` has the own one at its offset before. */
int tuwtree_run_allgather(const tuwtree_rounds *rounds, void *all, int tag, MPI_Comm comm);

/* Combines the ranks' vectors of all blocks by an operator that commutes; each rank has its block of the result at its
 * offset in the vector then, and other bytes of partial results. `room` takes as many bytes as the vector. */
int tuwtree_run_reduce_scatter(const tuwtree_rounds *rounds, void *vector, void *room, MPI_Datatype element, MPI_Op op,
                               int tag, MPI_Comm comm);

#ifdef __cplusplus
}
#endif

#ifdef TUWTREE_IMPLEMENTATION

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

int tuwtree_run_sizes(uint64_t own, uint64_t *blocks, MPI_Comm comm)
{
    return MPI_Allgather(&own, 1, MPI_UINT64_T, blocks, 1, MPI_UINT64_T, comm);
}

int tuwtree_run_gather(const tuwtree_place *place, const void *own, void *segment, int tag, MPI_Comm comm)
{
    char *data = (char *)segment;
    int child, error = MPI_SUCCESS;
    if (place->bytes > INT_MAX && place->parent >= 0)
        return MPI_ERR_COUNT;
    if (place->child_count == 0 && place->parent >= 0)
        return MPI_Send((void *)own, (int)place->bytes, MPI_BYTE, place->parent, tag, comm);
    if (place->own_bytes > 0 && place->own_bytes <= place->bytes && segment != NULL)
        memmove(data + (place->own_offset - place->offset), own, (size_t)place->own_bytes);
    for (child = 0; child < place->child_count && error == MPI_SUCCESS; child++) {
        const tuwtree_child *from = &place->children[child];
        if (from->bytes > INT_MAX)
            return MPI_ERR_COUNT;
        error = MPI_Recv(data + (from->offset - place->offset), (int)from->bytes, MPI_BYTE, from->rank, tag, comm,
                         MPI_STATUS_IGNORE);
    }
    if (error == MPI_SUCCESS && place->parent >= 0)
        error = MPI_Send(segment, (int)place->bytes, MPI_BYTE, place->parent, tag, comm);
    return error;
}

int tuwtree_run_scatter(const tuwtree_place *place, void *own, void *segment, int tag, MPI_Comm comm)
{
    char *data = (char *)segment;
    int child, error = MPI_SUCCESS;
    if (place->bytes > INT_MAX && place->parent >= 0)
        return MPI_ERR_COUNT;
    if (place->parent >= 0)
        error = MPI_Recv(place->child_count == 0 ? own : segment, (int)place->bytes, MPI_BYTE, place->parent, tag, comm,
                         MPI_STATUS_IGNORE);
    if (place->child_count == 0 && place->parent >= 0)
        return error;
    for (child = place->child_count - 1; child >= 0 && error == MPI_SUCCESS; child--) {
        const tuwtree_child *to = &place->children[child];
        if (to->bytes > INT_MAX)
            return MPI_ERR_COUNT;
        error = MPI_Send(data + (to->offset - place->offset), (int)to->bytes, MPI_BYTE, to->rank, tag, comm);
    }
    if (place->own_bytes > 0 && segment != NULL)
        memmove(own, data + (place->own_offset - place->offset), (size_t)place->own_bytes);
    return error;
}

/* A datatype of spans of memory. */
static int tuwtree_run_type(const tuwtree_span *spans, int count, MPI_Datatype *type)
{
    int *lengths = (int *)malloc((size_t)count * sizeof *lengths), span, error = MPI_SUCCESS;
    MPI_Aint *offsets = (MPI_Aint *)malloc((size_t)count * sizeof *offsets);
    uint64_t bytes = 0;
    if (lengths == NULL || offsets == NULL)
        error = MPI_ERR_NO_MEM;
    for (span = 0; span < count && error == MPI_SUCCESS; span++) {
        bytes += spans[span].bytes;
        if (bytes > INT_MAX)
            error = MPI_ERR_COUNT;
        lengths[span] = (int)spans[span].bytes;
        offsets[span] = (MPI_Aint)spans[span].offset;
    }
    if (error == MPI_SUCCESS)
        error = MPI_Type_create_hindexed(count, lengths, offsets, MPI_BYTE, type);
    if (error == MPI_SUCCESS)
        error = MPI_Type_commit(type);
    free(lengths);
    free(offsets);
    return error;
}

/* Starts the message of a round that comes (is_receive), or the one that goes; none is a null request. */
static int tuwtree_run_start(const tuwtree_round *messages, int is_receive, void *all, int tag, MPI_Comm comm,
                             MPI_Request *request)
{
    const tuwtree_span *spans = is_receive ? messages->received : messages->sent;
    int count = is_receive ? messages->received_count : messages->sent_count, length = 1, error;
    char *data = (char *)all;
    MPI_Datatype type;
    *request = MPI_REQUEST_NULL;
    if (count == 0)
        return MPI_SUCCESS;
    if (count == 1 && spans[0].bytes <= INT_MAX) {
        type = MPI_BYTE;
        length = (int)spans[0].bytes;
        data += spans[0].offset;
    } else {
        error = tuwtree_run_type(spans, count, &type);
        if (error != MPI_SUCCESS)
            return error;
    }
    error = is_receive ? MPI_Irecv(data, length, type, messages->from, tag, comm, request)
                       : MPI_Isend(data, length, type, messages->to, tag, comm, request);
    if (type != MPI_BYTE)
        MPI_Type_free(&type);
    return error;
}

static int tuwtree_run_wait(MPI_Request *requests, int count)
{
    int one, error = MPI_SUCCESS;
    for (one = 0; one < count && error == MPI_SUCCESS; one++)
        error = MPI_Wait(&requests[one], MPI_STATUS_IGNORE);
    return error;
}

/* Rounds whose messages may be in flight at once. */
#define TUWTREE_RUN_ROUNDS 16

int tuwtree_run_allgather(const tuwtree_rounds *rounds, void *all, int tag, MPI_Comm comm)
{
    MPI_Request received[TUWTREE_RUN_ROUNDS], sent[TUWTREE_RUN_ROUNDS];
    int round, posted = 0, came = 0, slot, error = MPI_SUCCESS;
    tuwtree_round messages;
    for (slot = 0; slot < TUWTREE_RUN_ROUNDS; slot++)
        received[slot] = sent[slot] = MPI_REQUEST_NULL;
    for (round = 0; round < rounds->round_count && error == MPI_SUCCESS; round++) {
        /* Receives are posted ahead, each in the place of one that has ended. */
        for (; posted < rounds->round_count && posted < round + TUWTREE_RUN_ROUNDS && error == MPI_SUCCESS; posted++) {
            error = MPI_Wait(&received[posted % TUWTREE_RUN_ROUNDS], MPI_STATUS_IGNORE);
            tuwtree_round_at(rounds, posted, &messages);
            if (error == MPI_SUCCESS)
                error = tuwtree_run_start(&messages, 1, all, tag, comm, &received[posted % TUWTREE_RUN_ROUNDS]);
        }
        if (came < posted - TUWTREE_RUN_ROUNDS)
            came = posted - TUWTREE_RUN_ROUNDS;
        tuwtree_round_at(rounds, round, &messages);
        for (; came <= messages.needs && error == MPI_SUCCESS; came++)
            error = MPI_Wait(&received[came % TUWTREE_RUN_ROUNDS], MPI_STATUS_IGNORE);
        if (error == MPI_SUCCESS)
            error = MPI_Wait(&sent[round % TUWTREE_RUN_ROUNDS], MPI_STATUS_IGNORE);
        if (error == MPI_SUCCESS)
            error = tuwtree_run_start(&messages, 0, all, tag, comm, &sent[round % TUWTREE_RUN_ROUNDS]);
    }
    if (error == MPI_SUCCESS)
        error = tuwtree_run_wait(received, TUWTREE_RUN_ROUNDS);
    return error == MPI_SUCCESS ? tuwtree_run_wait(sent, TUWTREE_RUN_ROUNDS) : error;
}

int tuwtree_run_reduce_scatter(const tuwtree_rounds *rounds, void *vector, void *room, MPI_Datatype element, MPI_Op op,
                               int tag, MPI_Comm comm)
{
    int round, span, size, error = MPI_Type_size(element, &size);
    for (round = 0; round < rounds->round_count && error == MPI_SUCCESS; round++) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        tuwtree_round messages;
        uint64_t bytes = 0;
        char *data = (char *)room;
        tuwtree_round_at(rounds, round, &messages);
        for (span = 0; span < messages.received_count; span++)
            bytes += messages.received[span].bytes;
        if (bytes > INT_MAX)
            return MPI_ERR_COUNT;
        if (bytes > 0)
            error = MPI_Irecv(room, (int)bytes, MPI_BYTE, messages.from, tag, comm, &requests[0]);
        if (error == MPI_SUCCESS)
            error = tuwtree_run_start(&messages, 0, vector, tag, comm, &requests[1]);
        if (error == MPI_SUCCESS)
            error = tuwtree_run_wait(requests, 2);
        for (span = 0; span < messages.received_count && error == MPI_SUCCESS; span++) {
            const tuwtree_span *one = &messages.received[span];
            error = MPI_Reduce_local(data, (char *)vector + one->offset, (int)(one->bytes / (uint64_t)size), element, op);
            data += one->bytes;
        }
    }
    return error;
}

#ifdef __cplusplus
}
#endif

#endif /* TUWTREE_IMPLEMENTATION */
#endif /* TUWTREE_RUN_H */
