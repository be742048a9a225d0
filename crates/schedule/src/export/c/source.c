/*
 * $TITLE
 *
 * Written by tuwtree $VERSION.
 *
$PROBLEM
 *
 * Usage, with any MPI library of version 3 or later and a communicator of $PROCESSES processes:
 *
 *     $NAME_request *request;
 *     $NAME_init($PASSED, comm, &request);
 *     $NAME_start(request);
 *     $NAME_wait(request);
 *     $NAME_free(&request);
 *
 * Start and wait may be repeated. $NAME.h describes the arguments.
 *
 * Everything returns MPI_SUCCESS or an error code of MPI; errors of messages are returned, too, not
 * fatal. Every request has a communicator of its own: requests that are under way at the same time
 * do not disturb each other.
 *
@if intergroup-allgather
 * The communicator has the processes of the first group, then those of the second: MPI_Intercomm_merge makes it.
 *
@end
 * Messages go by persistent point-to-point requests. A message of one stretch of memory is sent as
 * bytes, any other as one derived datatype; so is a message of more than TUWTREE_CHUNK bytes, since
 * MPI counts in int. $PORT_NOTE
 *
 * To be defined by whoever compiles this file, if need be:
 *     TUWTREE_CHUNK               the longest stretch of bytes that MPI is given as a count
 *     TUWTREE_COPY_HOOK(bytes)    performed after every local copy that the schedule lists, but those that combine
 */
#include "$NAME.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef TUWTREE_CHUNK
#define TUWTREE_CHUNK 1073741824
#endif
#if TUWTREE_CHUNK < 1 || TUWTREE_CHUNK > 2147483647
#error "TUWTREE_CHUNK is a number of bytes from 1 to 2147483647"
#endif
#ifndef TUWTREE_COPY_HOOK
#define TUWTREE_COPY_HOOK(bytes) ((void)(bytes))
#endif

#define PROCESSES $PROCESSES
@if rooted
#define ROOT $ROOT
@end
#define PORTS $PORTS
/* No buffer is larger than this. */
#define LARGEST ((uint64_t)$LARGEST)
@if reduction
/* The bytes that every process gives. */
#define VECTOR ((uint64_t)$VECTOR)
@end

/*
 * What each process does. For every process: the size of its segment, the number of its actions,
 * and the actions. An action's kind and port, then for each message the other process and the tag,
 * then buffer, number of pieces, and offset and bytes of each piece; for a copy, from where and to
 * where. GUARDED: writes where an action that is listed before reads or writes. LEFT, RIGHT: what is
 * received or copied is that operand, what is there the other.
 */
#define COPY(port) ((uint64_t)(port) << 3)
#define SEND(port) (COPY(port) | 1)
#define RECEIVE(port) (COPY(port) | 2)
#define EXCHANGE(port) (COPY(port) | 3)
#define GUARDED 4
#define PEER(process, tag) ((uint64_t)(tag) << 32 | (uint64_t)(process))
#define LEFT ((uint64_t)1 << 62)
#define RIGHT ((uint64_t)2 << 62)
#define INPUT(pieces) ((uint64_t)(pieces) << 2)
#define SEGMENT(pieces) (INPUT(pieces) | 1)
#define OUTPUT(pieces) (INPUT(pieces) | 2)

static const uint64_t program[] = {
$PROGRAM
};

/* Where the part of each process begins. */
static const uint64_t beginnings[PROCESSES] = {
$BEGINNINGS
};

@if blocks
/* Where each block begins if they lie one after the other, which is how actions address them. */
static const uint64_t blocks[PROCESSES + 1] = {
$BLOCKS
};

@end
@if alltoall
/* Of each process: the bytes that it gets, and that it gives; where its message to itself lies in the input, where
 * in the output, and its bytes; and the bytes of memory of its own in which messages come together, which begins
 * with room for the output, then for the input. 0: none is needed. */
static const uint64_t own[PROCESSES][6] = {
$OWN
};

@end
@if intergroup-allgather
/* Of each process: where its block lies in the segment, as many bytes as there is room for. */
static const uint64_t own[PROCESSES][2] = {
$OWN
};

@end
@if displaced
@if rooted
/* Where each block begins in the buffer of the root, unless the program says otherwise. */
@else
/* Where each block begins in the output, unless the program says otherwise. */
@end
static const MPI_Aint exported_displacements[PROCESSES] = {
$DISPLACEMENTS
};

@end
enum state { IDLE, STARTED, ENDED };

enum patience { STAY, LEAVE };

struct action {
    /* The regions in the program that are read and written; NULL if there is none. */
    const uint64_t *from;
    const uint64_t *into;
    /* Where a received message waits for the actions before it, or a copy to be combined; NULL if it
     * goes to its place. */
    char *stage;
    /* LEFT or RIGHT if what is received or copied is combined; else 0. */
    uint64_t side;
    MPI_Request send;
    MPI_Request receive;
    MPI_Datatype send_type;
    MPI_Datatype receive_type;
    int port;
    int sends;
    int receives;
    int guarded;
    enum state state;
    /* Messages of a started action that are under way. */
    int open;
};

struct $NAME_request {
    MPI_Comm comm;
    int rank;
    int eager;
    enum { RESTS, RUNS, FAILED } state;
    const char *input;
    char *output;
    char *segment;
    uint64_t segment_bytes;
    /* Room for messages that wait. */
    char *stages;
@if alltoall
    /* Memory of our own, which is `output` then, if messages come together in some; and the user's output. */
    char *gathered;
    char *result;
@end
@if blocks
@if rooted
    /* NULL if the blocks lie one after the other, and at all processes but the root. */
@else
    /* NULL if the blocks lie one after the other. */
@end
    MPI_Aint *displacements;
@end
@if reduction
    MPI_Datatype type;
    MPI_Op op;
    size_t element;
@end
    struct action *action;
    uint64_t actions;
    /* The first action that writes and has not done so. */
    uint64_t settled;
    /* Strict order: the current action of each port, and the two requests that are under way. */
    uint64_t current[PORTS];
    MPI_Request flight[2 * PORTS];
    /* Sends under way that read what may be written to, which the input never is. */
    int reading;
    /* Eager: the sends of all actions before this one have ended. */
    uint64_t sent;
};

static uint64_t least(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

static uint64_t buffer_of(const uint64_t *region)
{
    return region[0] & 3;
}

static const uint64_t *behind(const uint64_t *region)
{
    return region + 1 + 2 * (region[0] >> 2);
}

static uint64_t bytes_of(const uint64_t *region)
{
    uint64_t bytes = 0;
    for (const uint64_t *piece = region + 1; piece < behind(region); piece += 2)
        bytes += piece[1];
    return bytes;
}

static const char *readable(const struct $NAME_request *request, const uint64_t *region)
{
    switch (buffer_of(region)) {
    case INPUT(0):
        return request->input;
    case SEGMENT(0):
        return request->segment;
    default:
        return request->output;
    }
}

static char *writable(const struct $NAME_request *request, const uint64_t *region)
{
    return buffer_of(region) == SEGMENT(0) ? request->segment : request->output;
}

/* A walk through a region, one stretch of memory after the other. */
struct walk {
    const uint64_t *piece;
    const uint64_t *end;
    /* Bytes of the piece that lie behind. */
    uint64_t done;
@if blocks
    const MPI_Aint *displacements;
@end
};

static struct walk walk_through(const struct $NAME_request *request, const uint64_t *region)
{
    struct walk walk;
    walk.piece = region + 1;
    walk.end = behind(region);
    walk.done = 0;
@if blocks
    walk.displacements = buffer_of(region) == $BLOCK_BUFFER(0) ? request->displacements : NULL;
@else
    (void)request;
@end
    return walk;
}

@if blocks
/* The block that holds the byte with this offset. */
static int block_with(uint64_t offset)
{
    int low = 0, high = PROCESSES - 1;
    while (low < high) {
        int middle = high - (high - low) / 2;
        if (blocks[middle] <= offset)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

@end
/* Whether there is another stretch; it begins *at bytes from the start of the buffer. */
static int next_stretch(struct walk *walk, MPI_Aint *at, uint64_t *bytes)
{
    if (walk->piece == walk->end)
        return 0;
    uint64_t offset = walk->piece[0] + walk->done;
    *at = (MPI_Aint)offset;
    *bytes = walk->piece[1] - walk->done;
@if blocks
    if (walk->displacements != NULL) {
        int block = block_with(offset);
        *bytes = least(*bytes, blocks[block + 1] - offset);
        *at = walk->displacements[block] + (MPI_Aint)(offset - blocks[block]);
    }
@end
    walk->done += *bytes;
    if (walk->done == walk->piece[1]) {
        walk->piece += 2;
        walk->done = 0;
    }
    return 1;
}

@if reduction
/* Puts what is to be combined beside its place, where the operator may overwrite it. */
static void stage_copy(const struct $NAME_request *request, const struct action *action)
{
    const char *source = readable(request, action->from);
    char *target = action->stage;
    struct walk from = walk_through(request, action->from);
    MPI_Aint at;
    uint64_t bytes;
    while (next_stretch(&from, &at, &bytes)) {
        memcpy(target, source + at, (size_t)bytes);
        target += bytes;
    }
}

@end
static void copy(const struct $NAME_request *request, const struct action *action)
{
@if reduction
    if (action->stage != NULL) {
        stage_copy(request, action);
        return;
    }
@end
    const char *source = readable(request, action->from);
    char *target = writable(request, action->into);
    struct walk from = walk_through(request, action->from);
    struct walk into = walk_through(request, action->into);
    MPI_Aint read = 0, written = 0;
    uint64_t given = 0, room = 0, total = 0;
    while ((given > 0 || next_stretch(&from, &read, &given))
        && (room > 0 || next_stretch(&into, &written, &room))) {
        uint64_t part = least(given, room);
        memmove(target + written, source + read, (size_t)part);
        read += (MPI_Aint)part;
        written += (MPI_Aint)part;
        given -= part;
        room -= part;
        total += part;
    }
    TUWTREE_COPY_HOOK(total);
}

@if reduction
/* Combines bytes that were received, or copied, with those that are there; they do not survive. */
static int combine(const struct $NAME_request *request, const struct action *action, char *received,
    char *held, uint64_t bytes)
{
    for (uint64_t elements = bytes / request->element; elements > 0;) {
        int count = elements < INT_MAX ? (int)elements : INT_MAX;
        size_t part = (size_t)count * request->element;
        int error;
        if (action->side == LEFT) {
            error = MPI_Reduce_local(received, held, count, request->type, request->op);
        } else {
            error = MPI_Reduce_local(held, received, count, request->type, request->op);
            memcpy(held, received, part);
        }
        if (error != MPI_SUCCESS)
            return error;
        received += part;
        held += part;
        elements -= (uint64_t)count;
    }
    return MPI_SUCCESS;
}

@end
/* Brings what has waited to its place. */
static int unload(const struct $NAME_request *request, const struct action *action)
{
    struct walk into = walk_through(request, action->into);
    char *received = action->stage;
    MPI_Aint at;
    uint64_t bytes;
    while (next_stretch(&into, &at, &bytes)) {
        char *place = writable(request, action->into) + at;
@if reduction
        if (action->side != 0) {
            int error = combine(request, action, received, place, bytes);
            if (error != MPI_SUCCESS)
                return error;
        } else {
            memcpy(place, received, (size_t)bytes);
        }
@else
        memcpy(place, received, (size_t)bytes);
@end
        received += bytes;
    }
    return MPI_SUCCESS;
}

static int is_copy(const struct action *action)
{
    return !action->sends && !action->receives;
}

/* Whether the action reads a buffer that is written to. */
static int reads_written(const struct action *action)
{
    return action->from != NULL && buffer_of(action->from) != INPUT(0);
}

/* Whether what the action reads is there: data of the input always is, other data when all actions
 * before it have written. */
static int has_data(const struct $NAME_request *request, const struct action *action)
{
    return !reads_written(action)
        || request->settled >= (uint64_t)(action - request->action);
}

/* ---- strict order ---- */

/* Whether a copy has been made that waits to be combined: what comes next may wait in the same place. */
static int is_to_be_combined(const struct $NAME_request *request, const struct action *action)
{
    return is_copy(action) && action->stage != NULL
        && request->settled <= (uint64_t)(action - request->action);
}

static int start_action(struct $NAME_request *request, struct action *action)
{
    MPI_Request *flight = &request->flight[2 * action->port];
    int error = MPI_SUCCESS;
    action->open = action->sends + action->receives;
    action->state = action->open > 0 ? STARTED : ENDED;
    if (is_copy(action))
        copy(request, action);
    if (action->receives) {
        error = MPI_Start(&action->receive);
        flight[1] = action->receive;
    }
    if (error == MPI_SUCCESS && action->sends) {
        error = MPI_Start(&action->send);
        flight[0] = action->send;
        request->reading += reads_written(action);
    }
    return error;
}

static uint64_t next_on_port(const struct $NAME_request *request, uint64_t index, int port)
{
    while (index < request->actions && request->action[index].port != port)
        index++;
    return index;
}

/* Starts on every port what may start. */
static int start_ports(struct $NAME_request *request, int *moved)
{
    for (int port = 0; port < PORTS; port++) {
        uint64_t *current = &request->current[port];
        while (*current < request->actions) {
            struct action *action = &request->action[*current];
            if (action->state == IDLE) {
                int in_use = is_copy(action) && action->guarded && request->reading > 0;
                if (in_use || !has_data(request, action))
                    break;
                int error = start_action(request, action);
                if (error != MPI_SUCCESS)
                    return error;
                *moved = 1;
            }
            if (action->state != ENDED || is_to_be_combined(request, action))
                break;
            *current = next_on_port(request, *current + 1, port);
        }
    }
    return MPI_SUCCESS;
}

/* Brings messages that have waited to their places, in the order of the list. */
static int settle(struct $NAME_request *request, int *moved)
{
    while (request->settled < request->actions) {
        struct action *action = &request->action[request->settled];
        if (action->into != NULL && action->state != ENDED)
            break;
        if (action->stage != NULL) {
            if (action->guarded && request->reading > 0)
                break;
            int error = unload(request, action);
            if (error != MPI_SUCCESS)
                return error;
        }
        request->settled++;
        *moved = 1;
    }
    return MPI_SUCCESS;
}

/* Does what can be done without waiting. What has arrived is put away before anything else arrives,
 * which may wait in the same place. */
static int advance(struct $NAME_request *request)
{
    int moved = 1;
    while (moved) {
        moved = 0;
        int error = settle(request, &moved);
        if (error == MPI_SUCCESS)
            error = start_ports(request, &moved);
        if (error != MPI_SUCCESS)
            return error;
    }
    return MPI_SUCCESS;
}

static int has_ended(const struct $NAME_request *request)
{
    for (int port = 0; port < PORTS; port++)
        if (request->current[port] < request->actions)
            return 0;
    return request->settled == request->actions;
}

static int finish_in_order(struct $NAME_request *request, enum patience patience, int *flag)
{
    for (;;) {
        int index = MPI_UNDEFINED, arrived = 1;
        int error = advance(request);
        *flag = error == MPI_SUCCESS && has_ended(request);
        if (error != MPI_SUCCESS || *flag)
            return error;
        if (patience == STAY)
            error = MPI_Waitany(2 * PORTS, request->flight, &index, MPI_STATUS_IGNORE);
        else
            error = MPI_Testany(2 * PORTS, request->flight, &index, &arrived, MPI_STATUS_IGNORE);
        if (error != MPI_SUCCESS || !arrived)
            return error;
        if (index == MPI_UNDEFINED)
            return MPI_ERR_INTERN;
        struct action *action = &request->action[request->current[index / 2]];
        request->flight[index] = MPI_REQUEST_NULL;
        if (index % 2 == 0)
            request->reading -= reads_written(action);
        if (--action->open == 0)
            action->state = ENDED;
    }
}

/* ---- eager ---- */

/* Posts all receives, and sends what is there from the start. */
static int post_all(struct $NAME_request *request)
{
    int error = MPI_SUCCESS;
    for (uint64_t index = 0; index < request->actions && error == MPI_SUCCESS; index++)
        if (request->action[index].receives)
            error = MPI_Start(&request->action[index].receive);
    for (uint64_t index = 0; index < request->actions && error == MPI_SUCCESS; index++) {
        struct action *action = &request->action[index];
        if (action->sends && !reads_written(action)) {
            error = MPI_Start(&action->send);
            action->state = STARTED;
        }
    }
    return error;
}

static int finish(MPI_Request *message, enum patience patience, int *flag)
{
    *flag = 1;
    if (patience == STAY)
        return MPI_Wait(message, MPI_STATUS_IGNORE);
    return MPI_Test(message, flag, MPI_STATUS_IGNORE);
}

/* Ends the sends of all actions before this one. */
static int finish_sends(
    struct $NAME_request *request, uint64_t end, enum patience patience, int *flag)
{
    for (*flag = 1; request->sent < end; request->sent++) {
        struct action *action = &request->action[request->sent];
        if (!action->sends)
            continue;
        int error = finish(&action->send, patience, flag);
        if (error != MPI_SUCCESS || !*flag)
            return error;
    }
    return MPI_SUCCESS;
}

static int finish_eagerly(struct $NAME_request *request, enum patience patience, int *flag)
{
    for (; request->settled < request->actions; request->settled++) {
        struct action *action = &request->action[request->settled];
        int error = MPI_SUCCESS;
        *flag = 1;
        if (action->sends && action->state == IDLE) {
            error = MPI_Start(&action->send);
            action->state = STARTED;
        }
        if (error == MPI_SUCCESS && action->receives)
            error = finish(&action->receive, patience, flag);
        if (error == MPI_SUCCESS && *flag && action->guarded)
            error = finish_sends(request, request->settled + 1, patience, flag);
        if (error == MPI_SUCCESS && *flag && is_copy(action))
            copy(request, action);
        if (error == MPI_SUCCESS && *flag && action->stage != NULL)
            error = unload(request, action);
        if (error != MPI_SUCCESS || !*flag)
            return error;
    }
    return finish_sends(request, request->actions, patience, flag);
}

/* ---- preparation ---- */

/* Stretches of memory as MPI takes them: their lengths fit an int. */
struct layout {
    MPI_Aint *at;
    int *bytes;
    int stretches;
    int room;
};

static int add_stretch(struct layout *layout, MPI_Aint at, int bytes)
{
    if (layout->stretches == layout->room) {
        if (layout->room > INT_MAX / 2)
            return MPI_ERR_COUNT;
        size_t room = layout->room > 0 ? 2 * (size_t)layout->room : 8;
        MPI_Aint *places = realloc(layout->at, room * sizeof *places);
        if (places == NULL)
            return MPI_ERR_NO_MEM;
        layout->at = places;
        int *lengths = realloc(layout->bytes, room * sizeof *lengths);
        if (lengths == NULL)
            return MPI_ERR_NO_MEM;
        layout->bytes = lengths;
        layout->room = (int)room;
    }
    layout->at[layout->stretches] = at;
    layout->bytes[layout->stretches++] = bytes;
    return MPI_SUCCESS;
}

/* Adds bytes to the layout, in chunks; what continues the last stretch becomes part of it. */
static int add_bytes(struct layout *layout, MPI_Aint at, uint64_t bytes)
{
    while (bytes > 0) {
        int last = layout->stretches - 1, error = MPI_SUCCESS;
        int part = bytes < TUWTREE_CHUNK ? (int)bytes : TUWTREE_CHUNK;
        if (last >= 0 && layout->at[last] + layout->bytes[last] == at
            && layout->bytes[last] < TUWTREE_CHUNK) {
            int room = TUWTREE_CHUNK - layout->bytes[last];
            part = part < room ? part : room;
            layout->bytes[last] += part;
        } else {
            error = add_stretch(layout, at, part);
        }
        if (error != MPI_SUCCESS)
            return error;
        at += part;
        bytes -= (uint64_t)part;
    }
    return MPI_SUCCESS;
}

/* The layout as start, count and datatype; the type is MPI_DATATYPE_NULL if bytes will do. */
static int describe(const struct layout *layout, MPI_Aint *start, int *count, MPI_Datatype *type)
{
    if (layout->stretches == 1) {
        *start = layout->at[0];
        *count = layout->bytes[0];
        *type = MPI_DATATYPE_NULL;
        return MPI_SUCCESS;
    }
    *start = 0;
    *count = 1;
    int error = MPI_Type_create_hindexed(
        layout->stretches, layout->bytes, layout->at, MPI_BYTE, type);
    return error == MPI_SUCCESS ? MPI_Type_commit(type) : error;
}

static int lay_out(
    const struct $NAME_request *request, const uint64_t *region, struct layout *layout)
{
    struct walk walk = walk_through(request, region);
    MPI_Aint at;
    uint64_t bytes;
    int error = MPI_SUCCESS;
    while (error == MPI_SUCCESS && next_stretch(&walk, &at, &bytes))
        error = add_bytes(layout, at, bytes);
    return error;
}

static int prepare_send(struct $NAME_request *request, struct action *action)
{
    struct layout layout = { NULL, NULL, 0, 0 };
    MPI_Aint start = 0;
    int count = 0, process = (int)(action->from[-1] & 0xffffffff);
    int tag = (int)(action->from[-1] >> 32 & 0xffff);
    int error = lay_out(request, action->from, &layout);
    if (error == MPI_SUCCESS)
        error = describe(&layout, &start, &count, &action->send_type);
    if (error == MPI_SUCCESS)
        error = MPI_Send_init(readable(request, action->from) + start, count,
            action->send_type == MPI_DATATYPE_NULL ? MPI_BYTE : action->send_type, process, tag,
            request->comm, &action->send);
    free(layout.at);
    free(layout.bytes);
    return error;
}

static int prepare_receive(struct $NAME_request *request, struct action *action)
{
    struct layout layout = { NULL, NULL, 0, 0 };
    MPI_Aint start = 0;
    int count = 0, process = (int)(action->into[-1] & 0xffffffff);
    int tag = (int)(action->into[-1] >> 32 & 0xffff);
    char *place = action->stage != NULL ? action->stage : writable(request, action->into);
    int error = action->stage != NULL ? add_bytes(&layout, 0, bytes_of(action->into))
                                      : lay_out(request, action->into, &layout);
    if (error == MPI_SUCCESS)
        error = describe(&layout, &start, &count, &action->receive_type);
    if (error == MPI_SUCCESS)
        error = MPI_Recv_init(place + start, count,
            action->receive_type == MPI_DATATYPE_NULL ? MPI_BYTE : action->receive_type, process,
            tag, request->comm, &action->receive);
    free(layout.at);
    free(layout.bytes);
    return error;
}

/* Whether what is received, or copied, has to wait for the actions that are listed before it. */
static int waits(const struct $NAME_request *request, const struct action *action)
{
    int overtakes = request->eager || PORTS > 1 || action->sends;
    return action->side != 0 || (action->receives && action->guarded && overtakes);
}

/* The actions of the process, as yet without requests. */
static void read_program(struct $NAME_request *request, const uint64_t *word)
{
    for (uint64_t index = 0; index < request->actions; index++) {
        struct action *action = &request->action[index];
        uint64_t kind = *word++;
        action->port = (int)(kind >> 3 & 0xffff);
        action->side = kind & (LEFT | RIGHT);
        action->sends = (kind & SEND(0)) != 0;
        action->receives = (kind & RECEIVE(0)) != 0;
        action->guarded = (kind & GUARDED) != 0;
        action->send = action->receive = MPI_REQUEST_NULL;
        action->send_type = action->receive_type = MPI_DATATYPE_NULL;
        if (!action->receives || action->sends) {
            word += action->sends;
            action->from = word;
            word = behind(word);
        }
        if (!action->sends || action->receives) {
            word += action->receives;
            action->into = word;
            word = behind(word);
        }
    }
}

/* Makes room for messages that wait: for one after the other in strict order on one port, for all at
 * once otherwise. */
static int make_stages(struct $NAME_request *request)
{
    const uint64_t alignment = 64;
    int shared = !request->eager && PORTS == 1;
    uint64_t room = 0;
    for (uint64_t index = 0; index < request->actions; index++) {
        struct action *action = &request->action[index];
        if (!waits(request, action))
            continue;
        uint64_t bytes = (bytes_of(action->into) + alignment - 1) / alignment * alignment;
        room = !shared ? room + bytes : bytes > room ? bytes : room;
        if (room > SIZE_MAX / 2)
            return MPI_ERR_NO_MEM;
    }
    if (room > 0 && (request->stages = malloc((size_t)room)) == NULL)
        return MPI_ERR_NO_MEM;
    char *stage = request->stages;
    for (uint64_t index = 0; index < request->actions; index++) {
        struct action *action = &request->action[index];
        if (!waits(request, action))
            continue;
        action->stage = stage;
        if (!shared)
            stage += (bytes_of(action->into) + alignment - 1) / alignment * alignment;
    }
    return MPI_SUCCESS;
}

@if reduction
/* Whether the elements are consecutive bytes, and all messages whole numbers of them. */
static int check_elements(struct $NAME_request *request)
{
    MPI_Aint lower = 0, extent = 0;
    int size = 0;
    int error = MPI_Type_size(request->type, &size);
    if (error == MPI_SUCCESS)
        error = MPI_Type_get_extent(request->type, &lower, &extent);
    if (error != MPI_SUCCESS)
        return error;
    if (size < 1 || lower != 0 || extent != size)
        return MPI_ERR_TYPE;
    request->element = (size_t)size;
    for (uint64_t index = 0; index < request->actions; index++) {
        const uint64_t *into = request->action[index].into;
        if (request->action[index].side == 0)
            continue;
        for (const uint64_t *piece = into + 1; piece < behind(into); piece += 2)
            if (piece[0] % request->element != 0 || piece[1] % request->element != 0)
                return MPI_ERR_TYPE;
    }
    return MPI_SUCCESS;
}

@if rooted
/* In the beginning, the segment and the output of the root hold the process's own vector. */
@else
/* In the beginning, the segment and the output hold the process's own vector. */
@end
static void begin_with_own_vector(struct $NAME_request *request)
{
    uint64_t bytes = least(request->segment_bytes, VECTOR);
    if (bytes > 0)
        memcpy(request->segment, request->input, (size_t)bytes);
@if rooted
    if (request->rank == ROOT && VECTOR > 0)
@else
    if (VECTOR > 0)
@end
        memmove(request->output, request->input, (size_t)VECTOR);
}

@end
@if allgather
/* In the beginning, the output holds the process's own block in its place. */
static void begin_with_own_block(struct $NAME_request *request)
{
    uint64_t bytes = blocks[request->rank + 1] - blocks[request->rank];
    MPI_Aint at = (MPI_Aint)blocks[request->rank];
    if (request->displacements != NULL)
        at = request->displacements[request->rank];
    if (bytes > 0)
        memmove(request->output + at, request->input, (size_t)bytes);
}

@end
@if alltoall
/* In the beginning, the output holds the process's message to itself; behind what it gets, memory of our own holds
 * what it gives. */
static void begin_with_own_message(struct $NAME_request *request)
{
    const uint64_t *of = own[request->rank];
    if (of[4] > 0)
        memmove(request->output + of[3], request->input + of[2], (size_t)of[4]);
    if (request->gathered != NULL && of[1] > 0)
        memcpy(request->output + of[0], request->input, (size_t)of[1]);
}

/* Gives the user what has come together in memory of our own. */
static void give_result(struct $NAME_request *request)
{
    const uint64_t *of = own[request->rank];
    if (request->gathered != NULL && of[0] > 0)
        memcpy(request->result, request->output, (size_t)of[0]);
}

@end
@if intergroup-allgather
/* In the beginning, the segment holds the process's own block in its place. */
static void begin_with_own_block(struct $NAME_request *request)
{
    const uint64_t *of = own[request->rank];
    if (of[1] > 0)
        memcpy(request->segment + of[0], request->input, (size_t)of[1]);
}

@end
static int check_buffers(const struct $NAME_request *request)
{
    for (uint64_t index = 0; index < request->actions; index++) {
        const struct action *action = &request->action[index];
        if (action->from != NULL && readable(request, action->from) == NULL)
            return MPI_ERR_BUFFER;
        if (action->into != NULL && writable(request, action->into) == NULL)
            return MPI_ERR_BUFFER;
    }
@if alltoall
    const uint64_t *of = own[request->rank];
    if ((of[0] > 0 && request->result == NULL) || (of[1] > 0 && request->input == NULL))
        return MPI_ERR_BUFFER;
@end
@if intergroup-allgather
    if (own[request->rank][1] > 0 && request->input == NULL)
        return MPI_ERR_BUFFER;
@end
@if reduction
@if rooted
    if (VECTOR > 0 && (request->input == NULL || (request->rank == ROOT && request->output == NULL)))
@else
    if (VECTOR > 0 && (request->input == NULL || request->output == NULL))
@end
        return MPI_ERR_BUFFER;
@end
@if allgather
    if (blocks[request->rank + 1] > blocks[request->rank]
        && (request->input == NULL || request->output == NULL))
        return MPI_ERR_BUFFER;
@end
    return MPI_SUCCESS;
}

@if blocks
static int keep_displacements(struct $NAME_request *request, const MPI_Aint *displacements)
{
@if displaced
    if (displacements == NULL)
        displacements = exported_displacements;
@end
@if rooted
    if (request->rank != ROOT || displacements == NULL)
@else
    if (displacements == NULL)
@end
        return MPI_SUCCESS;
    request->displacements = malloc(PROCESSES * sizeof *displacements);
    if (request->displacements == NULL)
        return MPI_ERR_NO_MEM;
    memcpy(request->displacements, displacements, PROCESSES * sizeof *displacements);
    return MPI_SUCCESS;
}

@end
static int prepare(struct $NAME_request *request)
{
    const uint64_t *word = program + beginnings[request->rank];
    if (LARGEST > SIZE_MAX / 2)
        return MPI_ERR_COUNT;
    request->segment_bytes = word[0];
    request->actions = word[1];
    request->action = calloc((size_t)request->actions + 1, sizeof *request->action);
    request->segment = malloc((size_t)request->segment_bytes + 1);
    if (request->action == NULL || request->segment == NULL) {
        request->actions = 0;
        return MPI_ERR_NO_MEM;
    }
@if alltoall
    request->result = request->output;
    if (own[request->rank][5] > 0) {
        request->output = request->gathered = malloc((size_t)own[request->rank][5]);
        if (request->gathered == NULL) {
            request->actions = 0;
            return MPI_ERR_NO_MEM;
        }
    }
@end
    read_program(request, word + 2);
    int error = check_buffers(request);
@if reduction
    if (error == MPI_SUCCESS)
        error = check_elements(request);
@end
    if (error == MPI_SUCCESS)
        error = make_stages(request);
    for (uint64_t index = 0; index < request->actions; index++) {
        struct action *action = &request->action[index];
        if (error == MPI_SUCCESS && action->sends)
            error = prepare_send(request, action);
        if (error == MPI_SUCCESS && action->receives)
            error = prepare_receive(request, action);
    }
    return error;
}

static void keep_first(int *error, int next)
{
    if (*error == MPI_SUCCESS)
        *error = next;
}

static int release(struct $NAME_request *request)
{
    int error = MPI_SUCCESS;
    for (uint64_t index = 0; index < request->actions; index++) {
        struct action *action = &request->action[index];
        if (action->send != MPI_REQUEST_NULL)
            keep_first(&error, MPI_Request_free(&action->send));
        if (action->receive != MPI_REQUEST_NULL)
            keep_first(&error, MPI_Request_free(&action->receive));
        if (action->send_type != MPI_DATATYPE_NULL)
            keep_first(&error, MPI_Type_free(&action->send_type));
        if (action->receive_type != MPI_DATATYPE_NULL)
            keep_first(&error, MPI_Type_free(&action->receive_type));
    }
    free(request->action);
    free(request->segment);
    free(request->stages);
@if alltoall
    free(request->gathered);
@end
@if blocks
    free(request->displacements);
@end
    free(request);
    return error;
}

static int check_communicator(MPI_Comm comm)
{
    int inter = 0, processes = 0;
    if (comm == MPI_COMM_NULL)
        return MPI_ERR_COMM;
    int error = MPI_Comm_test_inter(comm, &inter);
    if (error == MPI_SUCCESS && !inter)
        error = MPI_Comm_size(comm, &processes);
    if (error != MPI_SUCCESS)
        return error;
    return inter || processes != PROCESSES ? MPI_ERR_COMM : MPI_SUCCESS;
}

static int create(int eager, $PARAMETERS,
    MPI_Comm comm, $NAME_request **request)
{
    MPI_Comm own = MPI_COMM_NULL;
    if (request == NULL)
        return MPI_ERR_ARG;
    *request = NULL;
    int error = check_communicator(comm);
    if (error == MPI_SUCCESS)
        error = MPI_Comm_dup(comm, &own);
    if (error != MPI_SUCCESS)
        return error;
    keep_first(&error, MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
    struct $NAME_request *made = calloc(1, sizeof *made);
    if (made == NULL) {
        keep_first(&error, MPI_ERR_NO_MEM);
    } else {
        made->comm = own;
        made->eager = eager;
        made->state = RESTS;
        keep_first(&error, MPI_Comm_rank(own, &made->rank));
@if broadcast
        made->output = vector;
@else
        made->input = input;
        made->output = output;
@end
@if reduction
        made->type = type;
        made->op = op;
@end
@if blocks
        if (error == MPI_SUCCESS)
            error = keep_displacements(made, displacements);
@end
        if (error == MPI_SUCCESS)
            error = prepare(made);
    }
    /* Nobody goes on alone: all processes know of a failure of any. */
    int failed = error != MPI_SUCCESS, failures = 0;
    keep_first(&error, MPI_Allreduce(&failed, &failures, 1, MPI_INT, MPI_MAX, own));
    if (failures > 0)
        keep_first(&error, MPI_ERR_OTHER);
    if (error != MPI_SUCCESS) {
        if (made != NULL)
            release(made);
        MPI_Comm_free(&own);
        return error;
    }
    *request = made;
    return MPI_SUCCESS;
}

/* ---- what $NAME.h declares ---- */

int $NAME_init($PARAMETERS,
    MPI_Comm comm, $NAME_request **request)
{
    return create(0, $PASSED, comm, request);
}

int $NAME_init_eager($PARAMETERS,
    MPI_Comm comm, $NAME_request **request)
{
    return create(1, $PASSED, comm, request);
}

int $NAME_start($NAME_request *request)
{
    if (request == NULL || request->state != RESTS)
        return MPI_ERR_REQUEST;
    for (uint64_t index = 0; index < request->actions; index++)
        request->action[index].state = IDLE;
    request->settled = 0;
    request->sent = 0;
    request->reading = 0;
    for (int port = 0; port < PORTS; port++) {
        request->current[port] = next_on_port(request, 0, port);
        request->flight[2 * port] = request->flight[2 * port + 1] = MPI_REQUEST_NULL;
    }
@if reduction
    begin_with_own_vector(request);
@end
@if allgather
    begin_with_own_block(request);
@end
@if alltoall
    begin_with_own_message(request);
@end
@if intergroup-allgather
    begin_with_own_block(request);
@end
    request->state = RUNS;
    int error = request->eager ? post_all(request) : advance(request);
    if (error != MPI_SUCCESS)
        request->state = FAILED;
    return error;
}

static int go_on(struct $NAME_request *request, enum patience patience, int *flag)
{
    *flag = 1;
    if (request == NULL || request->state == FAILED)
        return MPI_ERR_REQUEST;
    if (request->state == RESTS)
        return MPI_SUCCESS;
    int error = request->eager ? finish_eagerly(request, patience, flag)
                               : finish_in_order(request, patience, flag);
    if (error != MPI_SUCCESS)
        request->state = FAILED;
@if alltoall
    else if (*flag) {
        give_result(request);
        request->state = RESTS;
    }
@else
    else if (*flag)
        request->state = RESTS;
@end
    return error;
}

int $NAME_wait($NAME_request *request)
{
    int flag;
    return go_on(request, STAY, &flag);
}

int $NAME_test($NAME_request *request, int *flag)
{
    return flag == NULL ? MPI_ERR_ARG : go_on(request, LEAVE, flag);
}

int $NAME_free($NAME_request **request)
{
    if (request == NULL || *request == NULL || (*request)->state == RUNS)
        return MPI_ERR_REQUEST;
    MPI_Comm comm = (*request)->comm;
    int error = release(*request);
    *request = NULL;
    keep_first(&error, MPI_Comm_free(&comm));
    return error;
}
