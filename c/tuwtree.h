/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * tuwtree.h: plans of irregular gathers, scatters, allgathers and reduce-scatters, for C99 and C++.
 *
 * Each rank that knows all block sizes plans its own part, without a message: the messages that it sends and receives, in
 * order. Plans are made once and kept while sizes stay; tuwtree_run.h performs them by MPI. This file allocates nothing,
 * calls nothing but memcpy, memmove and memset, and has no state.
 *
 *     #define TUWTREE_IMPLEMENTATION     in one C or C++ file, before
 *     #include "tuwtree.h"
 *
 * The trees are those of the construction deadline-online of tuwtree, the rounds those of bruck-balanced and
 * circulant-balanced (https://github.com/tuwtree/tuwtree, docs/c-header.md). All ranks have to be compiled alike. With
 * -ffp-contract=off plans are those of the Rust crates on every processor.
 */
#ifndef TUWTREE_H
#define TUWTREE_H

#include <stddef.h>
#include <stdint.h>

/* Changes whenever a plan for some problem does. */
#define TUWTREE_PLAN_VERSION 1

/* More ranks are refused. */
#define TUWTREE_MOST_RANKS (1 << 26)

/* Largest number of pieces of a link's costs. */
#define TUWTREE_MOST_PIECES 16

#ifdef __cplusplus
extern "C" {
#endif

/* Results of functions. */
enum {
    TUWTREE_OK = 0,
    TUWTREE_BAD_RANKS, /* number of ranks, rank or root out of range */
    TUWTREE_BAD_COSTS, /* costs that are negative, infinite or no numbers; pieces that do not ascend from 0 */
    TUWTREE_BAD_BLOCKS, /* sizes whose sum exceeds 2^63 - 1, or that are no multiples of the element */
    TUWTREE_BAD_NUMBER /* a delay or a number of pieces out of range, or an algorithm that there is not */
};

/* Costs of messages of at least from_bytes bytes: one of b bytes takes alpha + beta b, during overhead + beta b of which
 * it occupies a port of each end. Any unit of time. */
typedef struct tuwtree_piece {
    uint64_t from_bytes;
    double alpha;
    double overhead; /* at most alpha */
    double beta;
} tuwtree_piece;

/* Costs that all pairs of ranks share. */
typedef struct tuwtree_costs {
    const tuwtree_piece *pieces; /* the first from 0 bytes */
    int piece_count;
    double gamma; /* per byte copied from a rank's own input */
    double send_overhead; /* time for which a rank is busy with a message that it sends; below 0: as its receiver */
    uint64_t eager_limit; /* messages of more bytes wait for their receive; UINT64_MAX: none does */
    uint64_t turns_limit; /* messages of at most as many bytes are served one after the other; UINT64_MAX: all are */
} tuwtree_costs;

/* An initializer: nothing but the costs of links. */
#define TUWTREE_COSTS(pieces, piece_count) {pieces, piece_count, 0.0, -1.0, UINT64_MAX, 0}

/* Gather and scatter */

/* A child of a rank. Offsets are in bytes, in the sequence of all blocks in rank order. */
typedef struct tuwtree_child {
    int rank;
    uint64_t offset, bytes; /* data of its subtree */
} tuwtree_child;

/* Part of a rank in a gather, or backwards in a scatter. */
typedef struct tuwtree_place {
    int parent; /* -1 for the root, and for other ranks with empty blocks, which take no part */
    uint64_t offset, bytes; /* data of the rank's subtree: one message to its parent */
    uint64_t own_offset, own_bytes; /* the rank's block */
    int child_count;
    const tuwtree_child *children; /* in the order of receives; a scatter sends to the last first */
} tuwtree_place;

/* Bytes of memory, aligned as for uint64_t, that a plan of so many ranks takes: 57 a rank, and 46,000. */
size_t tuwtree_gather_bytes(int ranks);

/* Plans the part of a rank in a gather to the root, or a scatter from it (is_scatter). The children are in the memory.
 * O(p) time, and O(k log p) for each rank with k children between this one and the root. */
int tuwtree_gather_place(const uint64_t *blocks, int ranks, int root, int rank, int is_scatter,
                         const tuwtree_costs *costs, void *memory, tuwtree_place *place);

/* Allgather and reduce-scatter */

typedef enum tuwtree_algorithm {
    TUWTREE_BRUCK_BALANCED, /* allgathers; the number is the delay of the postal model, at least 1 */
    TUWTREE_CIRCULANT_BALANCED /* the number is that of pieces of a block, at least 1 */
} tuwtree_algorithm;

/* Consecutive bytes of all blocks in rank order. */
typedef struct tuwtree_span {
    uint64_t offset, bytes;
} tuwtree_span;

/* Messages of a rank in a round. */
typedef struct tuwtree_round {
    int to, from; /* -1: no message */
    int needs; /* the last round whose message has to have come before this one's is sent; -1: none */
    int sent_count, received_count;
    const tuwtree_span *sent, *received; /* parts of each message, in order */
} tuwtree_round;

/* Rounds of a rank. */
typedef struct tuwtree_rounds {
    int ranks, rank, round_count;
    uint64_t own_offset, own_bytes, all_bytes;
    /* Private. */
    int is_backwards, place, phase, skipped;
    uint64_t pieces, element_bytes;
    const int *ranks_by_place, *windows;
    const uint64_t *starts, *sizes, *longer; /* by place: sizes of blocks, or elements of each piece, and pieces with one more */
    const signed char *table;
    tuwtree_span *sent, *received;
    int skips[32];
} tuwtree_rounds;

/* Bytes of memory, aligned as for uint64_t, that rounds of so many ranks take. */
size_t tuwtree_rounds_bytes(int ranks);

/* Plans the rounds of a rank in an allgather. O(p log p). */
int tuwtree_allgather_plan(const uint64_t *blocks, int ranks, int rank, tuwtree_algorithm algorithm, int number,
                           void *memory, tuwtree_rounds *rounds);

/* Plans the rounds of a rank in a reduce-scatter with an operator that commutes, on elements of so many bytes: those of
 * the allgather backwards. Received data is combined with the data at its place. */
int tuwtree_reduce_scatter_plan(const uint64_t *blocks, int ranks, int rank, uint64_t element_bytes, int pieces,
                                void *memory, tuwtree_rounds *rounds);

/* Messages of a round, valid until the next call for these rounds. O(p log p). */
void tuwtree_round_at(const tuwtree_rounds *rounds, int round, tuwtree_round *messages);

/* Algorithm and number of likely least time for an allgather, or for a reduce-scatter (is_reduce) of elements of so many
 * bytes: TUWTREE_CIRCULANT_BALANCED for these. All ranks choose the same. Memory as for rounds. O(p log p). */
int tuwtree_choose(const uint64_t *blocks, int ranks, int is_reduce, uint64_t element_bytes, const tuwtree_costs *costs,
                   void *memory, tuwtree_algorithm *algorithm, int *number);

#ifdef __cplusplus
}
#endif

#ifdef TUWTREE_IMPLEMENTATION

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Costs in ticks: whole numbers, so that all ranks find the same. A tick is a power of two of a time unit; the longest
 * message takes about 2^50 of them. */

/* The line at + slope (bytes - from) / 2^shift, rounded down. */
typedef struct tuwtree_line {
    uint64_t at;
    int64_t slope;
    int shift;
} tuwtree_line;

/* Sizes between which planned costs are straight lines: ends of pieces, limits, and crossings of their marks. */
#define TUWTREE_ENDS (2 * TUWTREE_MOST_PIECES + 6)
#define TUWTREE_MARKS 7
#define TUWTREE_LINES (TUWTREE_ENDS + 2 * TUWTREE_MARKS * TUWTREE_ENDS + 1)

typedef struct tuwtree_law {
    uint64_t from[TUWTREE_LINES];
    tuwtree_line port[TUWTREE_LINES], latency[TUWTREE_LINES], copy;
    int count;
    /* Sizes, and the planned latency and occupancy of such messages, before they are lines. */
    uint64_t at[TUWTREE_LINES];
    double times[2][TUWTREE_LINES];
} tuwtree_law;

static double tuwtree_larger(double one, double other)
{
    return one < other ? other : one;
}

static double tuwtree_smaller(double one, double other)
{
    return other < one ? other : one;
}

/* Nearest integer; halves away from 0. For |value| < 2^63. */
static int64_t tuwtree_rounded(double value)
{
    int64_t whole = (int64_t)value;
    double rest = value - (double)whole;
    return rest >= 0.5 ? whole + 1 : rest <= -0.5 ? whole - 1 : whole;
}

static uint64_t tuwtree_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void tuwtree_set_line(tuwtree_line *line, uint64_t at, double slope)
{
    int digits = (int)(tuwtree_bits(slope < 0 ? -slope : slope) >> 52) - 1022;
    line->shift = digits > 62 ? 0 : digits < 30 ? 32 : 62 - digits;
    line->at = at;
    line->slope = tuwtree_rounded(slope * (double)((uint64_t)1 << line->shift));
}

/* Value of a line at a distance from its start. */
static uint64_t tuwtree_value(const tuwtree_line *line, uint64_t beyond)
{
    uint64_t size = line->slope < 0 ? 0 - (uint64_t)line->slope : (uint64_t)line->slope;
    /* The product of slope and distance in 128 bits, by halves. */
    uint64_t a = size >> 32, b = size & 0xffffffffu, c = beyond >> 32, d = beyond & 0xffffffffu;
    uint64_t low = b * d, cross = a * d, middle = (low >> 32) + (cross & 0xffffffffu) + b * c;
    uint64_t least = middle << 32 | (low & 0xffffffffu), most = a * c + (cross >> 32) + (middle >> 32);
    uint64_t dropped = least & (((uint64_t)1 << line->shift) - 1), value = least;
    if (line->shift > 0) {
        value = least >> line->shift | most << (64 - line->shift);
        most >>= line->shift;
    }
    if (line->slope < 0) {
        value += dropped > 0;
        return most > 0 || value > line->at ? 0 : line->at - value;
    }
    return most > 0 || value + line->at < value ? UINT64_MAX : value + line->at;
}

/* The lines that hold for a size. */
static int tuwtree_lines_for(const tuwtree_law *law, uint64_t bytes)
{
    int lines = law->count - 1;
    while (law->from[lines] > bytes)
        lines--;
    return lines;
}

/* Time for which a message occupies a port. */
static uint64_t tuwtree_port(const tuwtree_law *law, uint64_t bytes)
{
    int lines = tuwtree_lines_for(law, bytes);
    return tuwtree_value(&law->port[lines], bytes - law->from[lines]);
}

static uint64_t tuwtree_latency(const tuwtree_law *law, uint64_t bytes)
{
    int lines = tuwtree_lines_for(law, bytes);
    return tuwtree_value(&law->latency[lines], bytes - law->from[lines]);
}

/* Time of a message on idle ports. */
static uint64_t tuwtree_message(const tuwtree_law *law, uint64_t bytes)
{
    int lines = tuwtree_lines_for(law, bytes);
    uint64_t beyond = bytes - law->from[lines];
    return tuwtree_value(&law->latency[lines], beyond) + tuwtree_value(&law->port[lines], beyond);
}

/* Links as they are stated. */

static const tuwtree_piece *tuwtree_piece_for(const tuwtree_costs *costs, uint64_t bytes)
{
    int piece = costs->piece_count - 1;
    while (costs->pieces[piece].from_bytes > bytes)
        piece--;
    return &costs->pieces[piece];
}

static double tuwtree_link_occupancy(const tuwtree_costs *costs, uint64_t bytes)
{
    const tuwtree_piece *piece = tuwtree_piece_for(costs, bytes);
    return piece->overhead + piece->beta * (double)bytes;
}

static double tuwtree_link_latency(const tuwtree_costs *costs, uint64_t bytes)
{
    const tuwtree_piece *piece = tuwtree_piece_for(costs, bytes);
    return piece->alpha - piece->overhead;
}

static int tuwtree_is_cost(double cost)
{
    return cost >= 0.0 && cost <= 1e300;
}

static int tuwtree_check_costs(const tuwtree_costs *costs)
{
    int piece;
    if (costs->piece_count < 1 || costs->piece_count > TUWTREE_MOST_PIECES || costs->pieces[0].from_bytes != 0 ||
        !tuwtree_is_cost(costs->gamma) || costs->send_overhead != costs->send_overhead ||
        costs->send_overhead > 1e300)
        return TUWTREE_BAD_COSTS;
    for (piece = 0; piece < costs->piece_count; piece++) {
        const tuwtree_piece *one = &costs->pieces[piece];
        if (!tuwtree_is_cost(one->alpha) || !tuwtree_is_cost(one->overhead) || !tuwtree_is_cost(one->beta) ||
            one->overhead > one->alpha || (piece > 0 && one->from_bytes <= costs->pieces[piece - 1].from_bytes))
            return TUWTREE_BAD_COSTS;
    }
    return TUWTREE_OK;
}

/* Latency and occupancy of a message of a size for a planner that lets messages occupy one port, one after the other.
 * The part that overlaps with other messages counts as latency. */
static void tuwtree_planned(const tuwtree_costs *costs, int is_scatter, uint64_t bytes, double times[2])
{
    double latency = tuwtree_link_latency(costs, bytes), occupancy = tuwtree_link_occupancy(costs, bytes);
    double first_latency = tuwtree_link_latency(costs, 1), first_byte = tuwtree_link_occupancy(costs, 1);
    double least = tuwtree_smaller(first_byte, occupancy), asked = 0, overhead = 0, busy, on_wire;
    int is_eager = bytes <= costs->eager_limit, takes_turns = bytes <= costs->turns_limit;
    /* A message that asks its receiver first is on the wire after a round trip at the earliest. */
    if (is_scatter && !is_eager && takes_turns)
        asked = tuwtree_smaller(tuwtree_larger(2.0 * (first_latency + first_byte) - latency, 0.0), occupancy);
    if (is_eager && !takes_turns)
        overhead = costs->send_overhead < 0 ? least : tuwtree_smaller(costs->send_overhead, least);
    latency = latency + asked;
    on_wire = occupancy - overhead - asked;
    busy = !is_scatter ? overhead : costs->send_overhead < 0 ? least : costs->send_overhead;
    times[0] = tuwtree_larger(latency + (on_wire + overhead - tuwtree_larger(busy, on_wire)), 0.0);
    /* On a fair wire all messages of a scatter slow each other. */
    times[0] = times[0] + (is_scatter && costs->turns_limit != UINT64_MAX ? 8.0 : 0.0) * on_wire;
    times[1] = tuwtree_larger(busy, busy + (on_wire - busy));
}

static void tuwtree_insert(tuwtree_law *law, uint64_t bytes)
{
    int place = law->count;
    while (place > 0 && law->at[place - 1] >= bytes)
        place--;
    if (place < law->count && law->at[place] == bytes)
        return;
    memmove(&law->at[place + 1], &law->at[place], (size_t)(law->count - place) * sizeof law->at[0]);
    law->at[place] = bytes;
    law->count++;
}

static void tuwtree_insert_up_to(tuwtree_law *law, uint64_t bytes, uint64_t most)
{
    if (bytes >= 1 && bytes <= most)
        tuwtree_insert(law, bytes);
}

/* Sizes up to `total` between which planned costs are on straight lines, nearly: pieces, limits, and sizes at which the
 * time on the wire passes a rank's own. */
static void tuwtree_set_sizes(tuwtree_law *law, const tuwtree_costs *costs, uint64_t total)
{
    double first_byte = tuwtree_link_occupancy(costs, 1), marks[TUWTREE_MARKS], busy;
    uint64_t ends[TUWTREE_ENDS];
    int piece, end, mark, mark_count = 0, end_count;
    law->count = 0;
    for (piece = 0; piece < costs->piece_count; piece++) {
        tuwtree_insert_up_to(law, costs->pieces[piece].from_bytes - (piece > 0), total);
        tuwtree_insert_up_to(law, costs->pieces[piece].from_bytes, total);
    }
    if (costs->eager_limit != UINT64_MAX) {
        tuwtree_insert_up_to(law, costs->eager_limit, total);
        tuwtree_insert_up_to(law, costs->eager_limit + 1, total);
    }
    if (costs->turns_limit != UINT64_MAX) {
        tuwtree_insert_up_to(law, costs->turns_limit, total);
        tuwtree_insert_up_to(law, costs->turns_limit + 1, total);
    }
    tuwtree_insert(law, 1);
    tuwtree_insert(law, total);
    for (busy = costs->send_overhead < 0 ? first_byte : costs->send_overhead;; busy = first_byte) {
        marks[mark_count++] = busy;
        marks[mark_count++] = busy + first_byte;
        marks[mark_count++] = 2.0 * busy;
        if (costs->send_overhead < 0 || mark_count > 3)
            break;
    }
    marks[mark_count++] = 2.0 * (tuwtree_link_latency(costs, 1) + first_byte) - tuwtree_link_latency(costs, 1);
    end_count = law->count;
    memcpy(ends, law->at, (size_t)end_count * sizeof ends[0]);
    for (end = 0; end + 1 < end_count; end++)
        for (mark = 0; mark < mark_count; mark++) {
            uint64_t before = ends[end], behind = ends[end + 1];
            int is_low = tuwtree_link_occupancy(costs, before) < marks[mark];
            if (is_low == (tuwtree_link_occupancy(costs, behind) < marks[mark]))
                continue;
            while (behind - before > 1) {
                uint64_t middle = before + (behind - before) / 2;
                if ((tuwtree_link_occupancy(costs, middle) < marks[mark]) == is_low)
                    before = middle;
                else
                    behind = middle;
            }
            tuwtree_insert(law, before);
            tuwtree_insert(law, behind);
        }
}

/* Planned latency and occupancy, summed, on the lines between sizes. */
static double tuwtree_planned_sum(const tuwtree_law *law, uint64_t bytes)
{
    double sum[2];
    int which, next = 0;
    while (next < law->count && law->at[next] < bytes)
        next++;
    for (which = 0; which < 2; which++) {
        const double *times = law->times[which];
        if (next == 0 || law->count == 1) {
            sum[which] = times[0];
        } else if (next < law->count) {
            double share = (double)(bytes - law->at[next - 1]) / (double)(law->at[next] - law->at[next - 1]);
            sum[which] = times[next - 1] + share * (times[next] - times[next - 1]);
        } else {
            double slope = (times[next - 1] - times[next - 2]) / (double)(law->at[next - 1] - law->at[next - 2]);
            sum[which] = times[next - 1] + tuwtree_larger(slope, 0.0) * (double)(bytes - law->at[next - 1]);
        }
    }
    return sum[0] + sum[1];
}

/* Ticks per time unit, for messages that take so long at most. */
static double tuwtree_scale(double most)
{
    const double ticks = (double)((uint64_t)1 << 50);
    uint64_t bits = tuwtree_bits(most) & (uint64_t)0x7ff << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power > 0.0 ? tuwtree_smaller(ticks / power, 1.7976931348623157e308 / ticks / ticks) : 1.0;
}

static uint64_t tuwtree_ticks(double scale, double time)
{
    return (uint64_t)tuwtree_rounded(time * scale);
}

/* The law of links as stated, for messages that take `most` at most. */
static void tuwtree_set_stated(tuwtree_law *law, const tuwtree_costs *costs, double most)
{
    double scale = tuwtree_scale(most);
    int piece;
    law->count = costs->piece_count;
    for (piece = 0; piece < law->count; piece++) {
        const tuwtree_piece *one = &costs->pieces[piece];
        double at = one->overhead + one->beta * (double)one->from_bytes;
        double latency = one->overhead == one->alpha ? 0.0 : one->alpha - one->overhead;
        law->from[piece] = one->from_bytes;
        tuwtree_set_line(&law->port[piece], tuwtree_ticks(scale, at), one->beta * scale);
        tuwtree_set_line(&law->latency[piece], tuwtree_ticks(scale, latency), 0.0);
    }
    tuwtree_set_line(&law->copy, 0, costs->gamma * scale);
}

/* The law by which trees are planned, of judged messages. */
static void tuwtree_set_judged(tuwtree_law *law, double gamma, double most)
{
    double scale = tuwtree_scale(most);
    int which, place;
    law->from[0] = 0;
    for (which = 0; which < 2; which++) {
        tuwtree_line *lines = which == 0 ? law->latency : law->port;
        const double *times = law->times[which];
        double slope = 0;
        tuwtree_set_line(&lines[0], tuwtree_ticks(scale, times[0]), 0.0);
        for (place = 0; place < law->count; place++) {
            uint64_t at = tuwtree_ticks(scale, times[place]);
            if (place + 1 < law->count)
                slope = ((double)tuwtree_ticks(scale, times[place + 1]) - (double)at) /
                        (double)(law->at[place + 1] - law->at[place]);
            else
                slope = tuwtree_larger(slope, 0.0);
            law->from[place + 1] = law->at[place];
            tuwtree_set_line(&lines[place + 1], at, slope);
        }
    }
    law->count++;
    tuwtree_set_line(&law->copy, 0, gamma * scale);
}

/* The time of the longest message, and of copies. Lines are highest at one of their ends. */
static double tuwtree_most_stated(const tuwtree_costs *costs, uint64_t total)
{
    uint64_t limit = total > 1 ? total : 1;
    double most = tuwtree_link_latency(costs, 1) + tuwtree_link_occupancy(costs, 1);
    int piece;
    most = tuwtree_larger(most, total == 0 ? 0.0 : tuwtree_link_latency(costs, total) + tuwtree_link_occupancy(costs, total));
    for (piece = 1; piece < costs->piece_count; piece++) {
        uint64_t start = costs->pieces[piece].from_bytes;
        if (start - 1 <= limit && start > 1)
            most = tuwtree_larger(most, tuwtree_link_latency(costs, start - 1) + tuwtree_link_occupancy(costs, start - 1));
        if (start <= limit)
            most = tuwtree_larger(most, tuwtree_link_latency(costs, start) + tuwtree_link_occupancy(costs, start));
    }
    return most + costs->gamma * (double)total;
}

static int tuwtree_set_law(tuwtree_law *law, const tuwtree_costs *costs, int is_scatter, uint64_t total)
{
    uint64_t limit = total > 1 ? total : 1;
    double most = 0;
    int piece, place, overlaps = 0;
    for (piece = 0; piece < costs->piece_count; piece++)
        overlaps = overlaps || costs->pieces[piece].overhead < costs->pieces[piece].alpha;
    if (!overlaps) {
        most = tuwtree_most_stated(costs, total);
        if (!(most < 1e300))
            return TUWTREE_BAD_COSTS;
        tuwtree_set_stated(law, costs, most);
        return TUWTREE_OK;
    }
    tuwtree_set_sizes(law, costs, limit);
    for (place = 0; place < law->count; place++) {
        double times[2];
        tuwtree_planned(costs, is_scatter, law->at[place], times);
        law->times[0][place] = times[0];
        law->times[1][place] = times[1];
    }
    for (place = 0; place < law->count; place++) {
        if (law->at[place] > 1)
            most = tuwtree_larger(most, tuwtree_planned_sum(law, law->at[place] - 1));
        most = tuwtree_larger(most, tuwtree_planned_sum(law, law->at[place]));
    }
    most = most + costs->gamma * (double)total;
    if (!(most < 1e300))
        return TUWTREE_BAD_COSTS;
    tuwtree_set_judged(law, costs->gamma, most);
    return TUWTREE_OK;
}

/* Memory of the caller, in parts. */
static void *tuwtree_take(char **memory, size_t count, size_t size)
{
    void *part = *memory;
    *memory += (count * size + 7) / 8 * 8;
    return part;
}

/* Deadline splitting: guess the time at which a root is done, and give it the longest ranges that can have come by then,
 * from the last receive back to the first. Bisection finds the least time for which they are all; so does each child. */

#define TUWTREE_GROUP 32

typedef struct tuwtree_splitter {
    int count;
    const int *kept; /* ranks with data, and the root */
    const uint64_t *sums; /* of their blocks before each */
    const uint32_t *masks, *stretches; /* of the largest blocks, by groups */
    const uint64_t *growth; /* least time after which one of n ranks without data has heard of all */
    const tuwtree_law *law;
    uint64_t latency, overhead;
    int groups;
} tuwtree_splitter;

typedef struct tuwtree_range {
    int first, last;
} tuwtree_range;

typedef struct tuwtree_choice {
    int root, is_heavier;
    uint64_t time;
} tuwtree_choice;

static uint64_t tuwtree_max(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

static uint64_t tuwtree_beyond(uint64_t one, uint64_t other)
{
    return one > other ? one - other : 0;
}

/* Number of the highest bit, -1 if there is none. */
static int tuwtree_highest(uint32_t bits)
{
#ifdef __GNUC__
    return bits == 0 ? -1 : 31 - __builtin_clz(bits);
#else
    int highest = -1;
    for (; bits != 0; bits >>= 1)
        highest++;
    return highest;
#endif
}

static uint64_t tuwtree_volume(const tuwtree_splitter *s, int first, int last)
{
    return s->sums[last + 1] - s->sums[first];
}

/* The place of the larger block; the first if they are equal. */
static int tuwtree_larger_block(const tuwtree_splitter *s, int first, int second)
{
    return tuwtree_volume(s, second, second) > tuwtree_volume(s, first, first) ? second : first;
}

static int tuwtree_largest_in_group(const tuwtree_splitter *s, int first, int last)
{
    uint32_t from = s->masks[last] >> first % TUWTREE_GROUP;
    return first + tuwtree_highest(from & (0u - from));
}

/* The place of the largest block in a range; of several the first. O(1). */
static int tuwtree_largest(const tuwtree_splitter *s, int first, int last)
{
    int from = first / TUWTREE_GROUP, to = last / TUWTREE_GROUP, best;
    if (from == to)
        return tuwtree_largest_in_group(s, first, last);
    best = tuwtree_largest_in_group(s, first, from * TUWTREE_GROUP + TUWTREE_GROUP - 1);
    if (from + 1 < to) {
        int power = tuwtree_highest((uint32_t)(to - from - 1));
        const uint32_t *stretch = s->stretches + (size_t)power * (size_t)s->groups;
        best = tuwtree_larger_block(s, best, (int)stretch[from + 1]);
        best = tuwtree_larger_block(s, best, (int)stretch[to - (1 << power)]);
    }
    return tuwtree_larger_block(s, best, tuwtree_largest_in_group(s, to * TUWTREE_GROUP, last));
}

static void tuwtree_set_largest(tuwtree_splitter *s, uint32_t *masks, uint32_t *stretches)
{
    int place, group, half, power;
    s->masks = masks;
    s->stretches = stretches;
    s->groups = (s->count + TUWTREE_GROUP - 1) / TUWTREE_GROUP;
    for (place = 0; place < s->count; place++) {
        int within = place % TUWTREE_GROUP;
        uint32_t mask = within == 0 ? 0 : masks[place - 1];
        while (mask != 0) {
            int highest = tuwtree_highest(mask), other = place - within + highest;
            if (tuwtree_volume(s, other, other) >= tuwtree_volume(s, place, place))
                break;
            mask ^= (uint32_t)1 << highest;
        }
        masks[place] = mask | (uint32_t)1 << within;
    }
    for (group = 0; group < s->groups; group++) {
        int last = (group + 1) * TUWTREE_GROUP - 1;
        last = last < s->count ? last : s->count - 1;
        stretches[group] = (uint32_t)tuwtree_largest_in_group(s, group * TUWTREE_GROUP, last);
    }
    for (half = 1, power = 0; 2 * half <= s->groups; half *= 2, power++) {
        const uint32_t *shorter = stretches + (size_t)power * (size_t)s->groups;
        uint32_t *longer = stretches + (size_t)(power + 1) * (size_t)s->groups;
        for (group = 0; group + 2 * half <= s->groups; group++)
            longer[group] = (uint32_t)tuwtree_larger_block(s, (int)shorter[group], (int)shorter[group + half]);
    }
}

/* The generalised Fibonacci numbers of the postal model: A. Bar-Noy, S. Kipnis, Mathematical Systems Theory 27, 1994. */
static void tuwtree_set_growth(tuwtree_splitter *s, uint64_t *growth)
{
    uint64_t whole = s->overhead + s->latency;
    int same = 2, other = 2, next;
    growth[0] = 0;
    growth[1] = 0;
    if (s->count >= 2)
        growth[2] = whole;
    for (next = 3; next <= s->count; next++) {
        uint64_t soon = growth[same] + s->overhead, later = growth[other] + whole;
        growth[next] = soon <= later ? soon : later;
        if (soon <= later)
            same++;
        else
            other++;
    }
    s->growth = growth;
}

/* True if a range can probably be gathered and received by then. */
static int tuwtree_fits(const tuwtree_splitter *s, int first, int last, uint64_t clock)
{
    uint64_t bytes = tuwtree_volume(s, first, last), gathered = 0;
    if (first != last) {
        int largest = tuwtree_largest(s, first, last);
        uint64_t own = tuwtree_volume(s, largest, largest);
        gathered = tuwtree_beyond(tuwtree_value(&s->law->copy, own), s->latency) + s->growth[last - first + 1] +
                   tuwtree_beyond(tuwtree_port(s->law, bytes - own), s->overhead);
    }
    return gathered + tuwtree_message(s->law, bytes) <= clock;
}

/* The most ranks, up to `most`, at the left or right end of [first, end) that fit. */
static int tuwtree_longest(const tuwtree_splitter *s, int first, int end, int most, int is_right, uint64_t clock)
{
    int good = 0, bad, step = 1;
#define TUWTREE_HOLDS(n)                                                                            \
    (is_right ? tuwtree_fits(s, end - (n), end - 1, clock) : tuwtree_fits(s, first, first + (n) - 1, clock))
    while (good + step <= most && TUWTREE_HOLDS(good + step)) {
        good += step;
        step *= 2;
    }
    bad = good + step < most + 1 ? good + step : most + 1;
    while (bad - good > 1) {
        int middle = good + (bad - good) / 2;
        if (TUWTREE_HOLDS(middle))
            good = middle;
        else
            bad = middle;
    }
#undef TUWTREE_HOLDS
    return good;
}

/* Splits a range so that its root is done at a time. Number of children, the last received first; -1 if impossible. */
static int tuwtree_split(const tuwtree_splitter *s, tuwtree_range range, tuwtree_choice choice, tuwtree_range *children)
{
    int root = choice.root, first = range.first, end = range.last + 1, own = 1, count = 0;
    uint64_t clock = choice.time, port;
    uint64_t start = tuwtree_max(s->latency, tuwtree_value(&s->law->copy, tuwtree_volume(s, root, root)));
    for (;;) {
        int most_left, most_right, left, right, from_left;
        tuwtree_range child;
        if (own && end - first > 1 && (first == root || end - 1 == root)) {
            own = 0;
            if (first == root)
                first = root + 1;
            else
                end = root;
        }
        if (end - first == own)
            return clock >= start ? count : -1;
        most_left = own ? root - first : end - first;
        most_right = own ? end - 1 - root : end - first;
        left = tuwtree_longest(s, first, end, most_left, 0, clock);
        right = tuwtree_longest(s, first, end, most_right, 1, clock);
        if (left == 0 && right == 0)
            return -1;
        if (left == 0 || right == 0)
            from_left = right == 0;
        else if (choice.is_heavier)
            from_left = tuwtree_volume(s, first, first + left - 1) >= tuwtree_volume(s, end - right, end - 1);
        else
            from_left = left >= right;
        child.first = from_left ? first : end - right;
        child.last = from_left ? first + left - 1 : end - 1;
        port = tuwtree_port(s->law, tuwtree_volume(s, child.first, child.last));
        if (port > clock || clock - port < start)
            return -1;
        clock -= port;
        if (children != NULL)
            children[count] = child;
        count++;
        if (from_left)
            first += left;
        else
            end -= right;
    }
}

/* Times differ noticeably from 1/1000 on. */
#define TUWTREE_PARTS 1000

/* The least feasible time of a split, nearly, if it is noticeably less than `most`; else UINT64_MAX. */
static uint64_t tuwtree_least(const tuwtree_splitter *s, tuwtree_range range, int root, int is_heavier, uint64_t most)
{
    uint64_t own = tuwtree_volume(s, root, root), others = tuwtree_volume(s, range.first, range.last) - own;
    uint64_t little = tuwtree_max(tuwtree_port(s->law, others), s->overhead) +
                      tuwtree_max(s->latency, tuwtree_value(&s->law->copy, own));
    uint64_t enough = most, part = tuwtree_max(most / TUWTREE_PARTS, 1), step;
    tuwtree_choice choice;
    int halving;
    choice.root = root;
    choice.is_heavier = is_heavier;
#define TUWTREE_FEASIBLE(at) (choice.time = (at), tuwtree_split(s, range, choice, NULL) >= 0)
    if (most != UINT64_MAX)
        enough = most - (part < most ? part : most);
    if (enough < little)
        return UINT64_MAX;
    if (TUWTREE_FEASIBLE(little))
        return little;
    if (enough == UINT64_MAX) {
        step = tuwtree_max(tuwtree_max(s->overhead + s->latency, little / TUWTREE_PARTS), 1);
        for (enough = little + step; !TUWTREE_FEASIBLE(enough); enough = little + step)
            step += step;
    } else if (!TUWTREE_FEASIBLE(enough)) {
        return UINT64_MAX;
    }
    for (halving = 0; halving < 64 && enough - little > tuwtree_max(enough / TUWTREE_PARTS, 1); halving++) {
        uint64_t middle = little + (enough - little) / 2;
        if (TUWTREE_FEASIBLE(middle))
            enough = middle;
        else
            little = middle;
    }
#undef TUWTREE_FEASIBLE
    return enough;
}

static tuwtree_choice tuwtree_best(const tuwtree_splitter *s, tuwtree_range range, int root)
{
    tuwtree_choice best;
    int is_heavier;
    best.root = root;
    best.is_heavier = 0;
    best.time = UINT64_MAX;
    for (is_heavier = 0; is_heavier < 2 && range.first < range.last; is_heavier++) {
        uint64_t time = tuwtree_least(s, range, root, is_heavier, best.time);
        if (time != UINT64_MAX) {
            best.is_heavier = is_heavier;
            best.time = time;
        }
    }
    return best;
}

static int tuwtree_check(const uint64_t *blocks, int ranks, int rank, uint64_t *total)
{
    int other;
    *total = 0;
    if (ranks < 1 || ranks > TUWTREE_MOST_RANKS || rank < 0 || rank >= ranks)
        return TUWTREE_BAD_RANKS;
    for (other = 0; other < ranks; other++) {
        if (blocks[other] > (uint64_t)INT64_MAX - *total)
            return TUWTREE_BAD_BLOCKS;
        *total += blocks[other];
    }
    return TUWTREE_OK;
}

/* Stretches of powers of two of groups. */
static size_t tuwtree_stretches(int ranks)
{
    int groups = (ranks + TUWTREE_GROUP - 1) / TUWTREE_GROUP;
    return (size_t)groups * (size_t)(tuwtree_highest((uint32_t)groups) + 1);
}

size_t tuwtree_gather_bytes(int ranks)
{
    size_t p;
    if (ranks < 1 || ranks > TUWTREE_MOST_RANKS)
        return 0;
    p = (size_t)ranks + 2;
    return sizeof(tuwtree_law) + p * (2 * sizeof(uint64_t) + sizeof(int) + sizeof(uint32_t)) +
           tuwtree_stretches(ranks) * sizeof(uint32_t) + p * (sizeof(tuwtree_range) + sizeof(tuwtree_child)) + 64;
}

int tuwtree_gather_place(const uint64_t *blocks, int ranks, int root, int rank, int is_scatter,
                         const tuwtree_costs *costs, void *memory, tuwtree_place *place)
{
    char *rest = (char *)memory;
    tuwtree_law *law;
    tuwtree_splitter s;
    tuwtree_range range, *ranges;
    tuwtree_choice choice;
    tuwtree_child *children;
    uint64_t total, *sums, *growth, before, one;
    uint32_t *masks, *stretches;
    int *kept, other, own = 0, own_root = 0, count, wrong;
    size_t p = (size_t)ranks + 2;
    wrong = tuwtree_check(blocks, ranks, rank, &total);
    if (wrong == TUWTREE_OK && (root < 0 || root >= ranks))
        wrong = TUWTREE_BAD_RANKS;
    if (wrong == TUWTREE_OK)
        wrong = tuwtree_check_costs(costs);
    if (wrong != TUWTREE_OK)
        return wrong;
    law = (tuwtree_law *)tuwtree_take(&rest, 1, sizeof *law);
    sums = (uint64_t *)tuwtree_take(&rest, p, sizeof *sums);
    growth = (uint64_t *)tuwtree_take(&rest, p, sizeof *growth);
    kept = (int *)tuwtree_take(&rest, p, sizeof *kept);
    masks = (uint32_t *)tuwtree_take(&rest, p, sizeof *masks);
    stretches = (uint32_t *)tuwtree_take(&rest, tuwtree_stretches(ranks), sizeof *stretches);
    ranges = (tuwtree_range *)tuwtree_take(&rest, p, sizeof *ranges);
    children = (tuwtree_child *)tuwtree_take(&rest, p, sizeof *children);
    wrong = tuwtree_set_law(law, costs, is_scatter, total);
    if (wrong != TUWTREE_OK)
        return wrong;
    /* Empty blocks are in the data of ranks around them for nothing. */
    memset(&s, 0, sizeof s);
    memset(place, 0, sizeof *place);
    sums[0] = 0;
    for (other = 0, before = 0; other < ranks; before += blocks[other], other++) {
        if (other == rank) {
            place->own_offset = place->offset = before;
            place->own_bytes = place->bytes = blocks[other];
            own = s.count;
        }
        if (other == root)
            own_root = s.count;
        if (blocks[other] == 0 && other != root)
            continue;
        kept[s.count] = other;
        sums[s.count + 1] = before + blocks[other];
        s.count++;
    }
    place->parent = -1;
    place->children = children;
    if (blocks[rank] == 0 && rank != root)
        return TUWTREE_OK;
    s.kept = kept;
    s.sums = sums;
    s.law = law;
    s.latency = tuwtree_latency(law, tuwtree_max(total / (uint64_t)s.count, 1));
    one = tuwtree_port(law, 1);
    s.overhead = tuwtree_beyond(one, tuwtree_beyond(tuwtree_port(law, 2), one));
    tuwtree_set_largest(&s, masks, stretches);
    tuwtree_set_growth(&s, growth);
    range.first = 0;
    range.last = s.count - 1;
    choice = tuwtree_best(&s, range, own_root);
    for (;;) {
        count = range.first == range.last ? 0 : tuwtree_split(&s, range, choice, ranges);
        if (choice.root == own)
            break;
        place->parent = kept[choice.root];
        for (other = 0; ranges[other].first > own || ranges[other].last < own; other++)
            continue;
        range = ranges[other];
        choice = tuwtree_best(&s, range, tuwtree_largest(&s, range.first, range.last));
    }
    place->offset = sums[range.first];
    place->bytes = sums[range.last + 1] - sums[range.first];
    place->child_count = count;
    for (other = 0; other < count; other++) {
        tuwtree_range of = ranges[count - 1 - other];
        children[other].rank = kept[tuwtree_largest(&s, of.first, of.last)];
        children[other].offset = sums[of.first];
        children[other].bytes = sums[of.last + 1] - sums[of.first];
    }
    return TUWTREE_OK;
}

/* Ranks around a circle: large blocks far apart, so that messages of a round have nearly one length. */

/* Sorts ranks from the largest block to the smallest, equal ones by rank, byte after byte. O(p) for each byte of a size. */
static void tuwtree_sort(const uint64_t *blocks, int *ranks, int count, int *spare)
{
    int shift, rank, digit;
    uint64_t any = 0;
    for (rank = 0; rank < count; rank++) {
        ranks[rank] = rank;
        any |= blocks[rank];
    }
    for (shift = 0; shift < 64 && any >> shift != 0; shift += 8) {
        int ends[256] = {0}, end = 0;
        for (rank = 0; rank < count; rank++)
            ends[blocks[rank] >> shift & 255]++;
        for (digit = 255; digit >= 0; digit--) {
            end += ends[digit];
            ends[digit] = end - ends[digit];
        }
        for (rank = 0; rank < count; rank++)
            spare[ends[blocks[ranks[rank]] >> shift & 255]++] = ranks[rank];
        memcpy(ranks, spare, (size_t)count * sizeof *ranks);
    }
}

/* Places ranks around the circle: the k-th largest block has, among the places in the given order, the index of k with its
 * bits reversed: the points of van der Corput's sequence. `order` is NULL for places in their own order. */
static void tuwtree_set_circle(tuwtree_rounds *rounds, const uint64_t *blocks, const int *order, int *by_size,
                               int *ranks_by_place, uint64_t *starts, uint64_t *sizes)
{
    int p = rounds->ranks, rank, bits = 0, are_equal = 1;
    uint32_t turned, index = 0;
    uint64_t before = 0;
    for (rank = 0; rank < p; rank++) {
        ranks_by_place[rank] = rank;
        are_equal = are_equal && blocks[rank] == blocks[0];
    }
    while (p > 1 << bits)
        bits++;
    if (!are_equal) {
        tuwtree_sort(blocks, by_size, p, ranks_by_place);
        for (turned = 0; turned < (uint32_t)1 << bits; turned++) {
            uint32_t point = 0;
            int bit;
            for (bit = 0; bit < bits; bit++)
                point |= (turned >> bit & 1) << (bits - 1 - bit);
            if (point < (uint32_t)p) {
                ranks_by_place[order == NULL ? (int)index : order[index]] = by_size[point];
                index++;
            }
        }
    }
    /* Offsets by rank, in the room of the sizes. */
    for (rank = 0; rank < p; rank++) {
        sizes[rank] = before;
        before += blocks[rank];
    }
    for (rank = 0; rank < p; rank++) {
        starts[rank] = sizes[ranks_by_place[rank]];
        if (ranks_by_place[rank] == rounds->rank)
            rounds->place = rank;
    }
    for (rank = 0; rank < p; rank++)
        sizes[rank] = blocks[ranks_by_place[rank]];
    rounds->ranks_by_place = ranks_by_place;
    rounds->starts = starts;
    rounds->sizes = sizes;
    rounds->own_offset = starts[rounds->place];
    rounds->own_bytes = sizes[rounds->place];
    rounds->all_bytes = before;
}

/* Numbers of blocks that a rank has, or that are on their way to it, before each step: A. Bar-Noy, S. Kipnis, 1994, with
 * the windows of J. Bruck et al., IEEE TPDS 8(11), 1997. Number of steps. */
static int tuwtree_set_windows(int ranks, int delay, int *windows)
{
    int steps = 0;
    windows[0] = 1;
    while (windows[steps] < ranks) {
        int window = windows[steps + 1 > delay ? steps + 1 - delay : 0], left = ranks - windows[steps];
        windows[steps + 1] = windows[steps] + (window < left ? window : left);
        steps++;
    }
    return steps;
}

/* Skips of the circulant graph, each half of the next, rounded up. Their number but for the last, which is p. */
static int tuwtree_set_skips(int ranks, int *skips)
{
    int phase = 0, skip, round;
    for (skip = ranks; skip > 1; skip = (skip + 1) / 2)
        phase++;
    for (skip = ranks, round = phase; round >= 0; round--, skip = (skip + 1) / 2)
        skips[round] = skip;
    return phase;
}

/* Pieces that a rank receives in the rounds of a phase, by paths from the root: J. L. Traff, arXiv:2312.11236. */
typedef struct tuwtree_search {
    const int *skips;
    int phase, target, last, found;
    uint32_t left;
    signed char *received;
} tuwtree_search;

static void tuwtree_find(tuwtree_search *search, int position, int largest)
{
    const int *skips = search->skips;
    int skip = largest;
    while (skip >= 0 && search->found < search->phase) {
        int there = position + skips[skip];
        if (there + skips[search->found] <= search->target && there < search->last) {
            if (there + skips[search->found + 1] <= search->target) {
                tuwtree_find(search, there, skip);
                if (search->found == search->phase)
                    return;
            }
            if (there + skips[search->found] > search->target ||
                position + skips[search->found + 1] > search->target)
                return;
            search->last = there;
            search->received[search->found++] = (signed char)skip;
            search->left &= ~((uint32_t)1 << skip);
        }
        skip = tuwtree_highest(search->left & (((uint32_t)1 << skip) - 1));
    }
}

static void tuwtree_set_table(const int *skips, int phase, signed char *table)
{
    int ranks = skips[phase], rank, round;
    tuwtree_search search;
    search.skips = skips;
    search.phase = phase;
    for (rank = 0; rank < ranks; rank++) {
        int rest = rank, base = phase;
        while (rest > 0) {
            while (skips[base] > rest)
                base--;
            rest -= skips[base];
        }
        search.target = ranks + rank;
        search.last = 2 * ranks;
        search.found = 0;
        search.received = table + (size_t)rank * (size_t)phase;
        search.left = ~((uint32_t)1 << base);
        if (phase > 0)
            tuwtree_find(&search, 0, phase);
        for (round = 0; round < phase; round++)
            search.received[round] = (signed char)(search.received[round] == phase ? base : search.received[round] - phase);
    }
}

/* Entry of the table that a rank at a distance from a root sends in a round of a phase. */
static int tuwtree_entry(const tuwtree_rounds *rounds, int round, int distance)
{
    int other = distance + rounds->skips[round];
    other -= other < rounds->ranks ? 0 : rounds->ranks;
    return rounds->table[(size_t)other * (size_t)rounds->phase + (size_t)round];
}

/* Number of rounds since a rank at a distance from a root, which is not 0, received the piece that it sends. */
static int tuwtree_age(const tuwtree_rounds *rounds, int round, int distance)
{
    const signed char *received = rounds->table + (size_t)distance * (size_t)rounds->phase;
    int sent, earlier;
    round = (round + rounds->skipped) % rounds->phase;
    sent = tuwtree_entry(rounds, round, distance);
    for (earlier = 0; earlier < round; earlier++)
        if (received[earlier] == sent)
            return round - earlier;
    for (earlier = 0; received[earlier] != sent + rounds->phase; earlier++)
        continue;
    return round + rounds->phase - earlier;
}

static int tuwtree_push(tuwtree_span *spans, int count, uint64_t offset, uint64_t bytes)
{
    if (bytes == 0)
        return count;
    if (count > 0 && spans[count - 1].offset + spans[count - 1].bytes == offset) {
        spans[count - 1].bytes += bytes;
        return count;
    }
    spans[count].offset = offset;
    spans[count].bytes = bytes;
    return count + 1;
}

/* Message of a round of an allgather in pieces, between two places. The needed round, if asked for. */
static int tuwtree_fill_pieces(const tuwtree_rounds *rounds, int round, int from, int to, tuwtree_span *spans, int *needs)
{
    int p = rounds->ranks, at = (round + rounds->skipped) % rounds->phase, root, count = 0;
    int64_t first = (int64_t)(round + rounds->skipped - at) - rounds->skipped;
    for (root = 0; root < p; root++) {
        int distance = from - root + (from < root ? p : 0);
        int64_t due = first + tuwtree_entry(rounds, at, distance);
        uint64_t piece, share = rounds->sizes[root], longer = rounds->longer[root];
        if (root == to || due < 0)
            continue;
        piece = (uint64_t)due < rounds->pieces ? (uint64_t)due : rounds->pieces - 1;
        count = tuwtree_push(spans, count,
                             rounds->starts[root] +
                                 (piece * share + (piece < longer ? piece : longer)) * rounds->element_bytes,
                             (share + (piece < longer)) * rounds->element_bytes);
        if (needs != NULL && *needs < round - 1 && root != from && (share > 0 || piece < longer)) {
            int needed = round - tuwtree_age(rounds, round, distance);
            *needs = needed > *needs ? needed : *needs;
        }
    }
    return count;
}

static int tuwtree_fill_window(const tuwtree_rounds *rounds, int first, int count, tuwtree_span *spans)
{
    int spans_count = 0, index;
    for (index = 0; index < count; index++) {
        int place = first + index - (first + index < rounds->ranks ? 0 : rounds->ranks);
        spans_count = tuwtree_push(spans, spans_count, rounds->starts[place], rounds->sizes[place]);
    }
    return spans_count;
}

/* The last step whose blocks are in the window that a place sends in this one. */
static int tuwtree_needed_window(const tuwtree_rounds *rounds, int step)
{
    int count = rounds->windows[step + 1] - rounds->windows[step], earlier, index;
    for (earlier = step - 1; earlier >= 0; earlier--)
        for (index = rounds->windows[earlier]; index < rounds->windows[earlier + 1] && index < count; index++)
            if (rounds->sizes[(rounds->place + index) % rounds->ranks] > 0)
                return earlier;
    return -1;
}

size_t tuwtree_rounds_bytes(int ranks)
{
    int skips[32];
    size_t p;
    if (ranks < 1 || ranks > TUWTREE_MOST_RANKS)
        return 0;
    p = (size_t)ranks + 2;
    return sizeof(tuwtree_law) + p * (3 * sizeof(uint64_t) + 4 * sizeof(int) + 2 * sizeof(tuwtree_span)) +
           p * (size_t)tuwtree_set_skips(ranks, skips) + 64;
}

static int tuwtree_plan(const uint64_t *blocks, int ranks, int rank, uint64_t element_bytes,
                        tuwtree_algorithm algorithm, int number, void *memory, tuwtree_rounds *rounds)
{
    char *rest = (char *)memory;
    uint64_t total, *starts, *sizes, *longer;
    int *ranks_by_place, *by_size, *order, *windows, round, index, reached, other, wrong;
    signed char *table;
    size_t p = (size_t)ranks + 2;
    wrong = tuwtree_check(blocks, ranks, rank, &total);
    if (wrong != TUWTREE_OK)
        return wrong;
    if (number < 1 || number > INT32_MAX - 64)
        return TUWTREE_BAD_NUMBER;
    for (other = 0; other < ranks; other++)
        if (element_bytes == 0 || blocks[other] % element_bytes != 0)
            return TUWTREE_BAD_BLOCKS;
    memset(rounds, 0, sizeof *rounds);
    starts = (uint64_t *)tuwtree_take(&rest, p, sizeof *starts);
    sizes = (uint64_t *)tuwtree_take(&rest, p, sizeof *sizes);
    longer = (uint64_t *)tuwtree_take(&rest, p, sizeof *longer);
    ranks_by_place = (int *)tuwtree_take(&rest, p, sizeof *ranks_by_place);
    by_size = (int *)tuwtree_take(&rest, p, sizeof *by_size);
    order = (int *)tuwtree_take(&rest, p, sizeof *order);
    windows = (int *)tuwtree_take(&rest, p, sizeof *windows);
    rounds->sent = (tuwtree_span *)tuwtree_take(&rest, p, sizeof *rounds->sent);
    rounds->received = (tuwtree_span *)tuwtree_take(&rest, p, sizeof *rounds->received);
    table = (signed char *)rest;
    rounds->ranks = ranks;
    rounds->rank = rank;
    rounds->element_bytes = element_bytes;
    if (algorithm == TUWTREE_BRUCK_BALANCED) {
        rounds->round_count = tuwtree_set_windows(ranks, number, windows);
        rounds->windows = windows;
        tuwtree_set_circle(rounds, blocks, NULL, by_size, ranks_by_place, starts, sizes);
        return TUWTREE_OK;
    }
    if (algorithm != TUWTREE_CIRCULANT_BALANCED)
        return TUWTREE_BAD_NUMBER;
    rounds->phase = tuwtree_set_skips(ranks, rounds->skips);
    tuwtree_set_table(rounds->skips, rounds->phase, table);
    rounds->table = table;
    rounds->pieces = (uint64_t)number;
    if (rounds->phase > 0) {
        rounds->skipped = (rounds->phase - (number - 1) % rounds->phase) % rounds->phase;
        rounds->round_count = number - 1 + rounds->phase;
    }
    /* Places in the order in which pieces come to distances from a root: neighbours in it share the first messages. */
    memset(windows, 0, p * sizeof *windows);
    windows[0] = 1;
    order[0] = 0;
    reached = 1;
    for (round = 0; round < rounds->phase; round++) {
        int skip = rounds->skips[(round + rounds->skipped) % rounds->phase], before = reached;
        for (index = 0; index < before; index++) {
            int there = order[index] - skip + (order[index] < skip ? ranks : 0);
            if (!windows[there]) {
                windows[there] = 1;
                order[reached++] = there;
            }
        }
    }
    tuwtree_set_circle(rounds, blocks, order, by_size, ranks_by_place, starts, sizes);
    for (other = 0; other < ranks; other++) {
        uint64_t elements = sizes[other] / element_bytes;
        sizes[other] = elements / rounds->pieces;
        longer[other] = elements % rounds->pieces;
    }
    rounds->longer = longer;
    return TUWTREE_OK;
}

int tuwtree_allgather_plan(const uint64_t *blocks, int ranks, int rank, tuwtree_algorithm algorithm, int number,
                           void *memory, tuwtree_rounds *rounds)
{
    return tuwtree_plan(blocks, ranks, rank, 1, algorithm, number, memory, rounds);
}

int tuwtree_reduce_scatter_plan(const uint64_t *blocks, int ranks, int rank, uint64_t element_bytes, int pieces,
                                void *memory, tuwtree_rounds *rounds)
{
    int wrong = tuwtree_plan(blocks, ranks, rank, element_bytes, TUWTREE_CIRCULANT_BALANCED, pieces, memory, rounds);
    rounds->is_backwards = 1;
    return wrong;
}

void tuwtree_round_at(const tuwtree_rounds *rounds, int round, tuwtree_round *messages)
{
    int p = rounds->ranks, place = rounds->place, to, from;
    messages->sent = rounds->sent;
    messages->received = rounds->received;
    messages->needs = -1;
    if (rounds->windows != NULL) {
        int distance = rounds->windows[round], count = rounds->windows[round + 1] - distance;
        to = (place + p - distance) % p;
        from = (place + distance) % p;
        messages->sent_count = tuwtree_fill_window(rounds, place, count, rounds->sent);
        messages->received_count = tuwtree_fill_window(rounds, from, count, rounds->received);
        messages->needs = tuwtree_needed_window(rounds, round);
    } else {
        int forward = rounds->is_backwards ? rounds->round_count - 1 - round : round;
        int skip = rounds->skips[(forward + rounds->skipped) % rounds->phase];
        int next = (place + skip) % p, last = (place + p - skip) % p;
        to = rounds->is_backwards ? last : next;
        from = rounds->is_backwards ? next : last;
        if (rounds->is_backwards) {
            messages->sent_count = tuwtree_fill_pieces(rounds, forward, last, place, rounds->sent, NULL);
            messages->received_count = tuwtree_fill_pieces(rounds, forward, place, next, rounds->received, NULL);
            messages->needs = round - 1;
        } else {
            messages->sent_count = tuwtree_fill_pieces(rounds, forward, place, next, rounds->sent, &messages->needs);
            messages->received_count = tuwtree_fill_pieces(rounds, forward, last, place, rounds->received, NULL);
        }
    }
    messages->to = messages->sent_count > 0 ? rounds->ranks_by_place[to] : -1;
    messages->from = messages->received_count > 0 ? rounds->ranks_by_place[from] : -1;
}

/* Time of a round of pieces in which each rank sends so many elements, to come before the next. */
static uint64_t tuwtree_round_time(const tuwtree_law *law, uint64_t elements, uint64_t element_bytes)
{
    uint64_t bytes = elements * element_bytes;
    return bytes == 0 ? 0 : tuwtree_message(law, bytes);
}

/* Estimated time of the circulant graph: blocks of roots double in the first rounds, then there is a piece of each. */
static uint64_t tuwtree_pieces_time(const tuwtree_law *law, int ranks, uint64_t total, uint64_t largest,
                                    uint64_t element_bytes, uint64_t pieces)
{
    uint64_t share = (largest + pieces - 1) / pieces, all = total / pieces + 1, time = 0, roots;
    all = all > share ? all : share;
    for (roots = 1; 2 * roots < (uint64_t)ranks; roots *= 2) {
        uint64_t some = all / (uint64_t)ranks * roots;
        time += tuwtree_round_time(law, some > share ? some : share, element_bytes);
    }
    /* In the last round of a lone phase roots do not double any more. */
    if (pieces == 1)
        return time + tuwtree_round_time(law, tuwtree_max(all / (uint64_t)ranks * ((uint64_t)ranks - roots), share),
                                         element_bytes);
    return time + pieces * tuwtree_round_time(law, all, element_bytes);
}

/* Bytes of the longest window of so many places around the circle, of those that begin at multiples of `apart`. */
static uint64_t tuwtree_longest_window(int ranks, const uint64_t *sums, int count, int apart)
{
    uint64_t longest = 0;
    int first;
    for (first = 0; first + count <= ranks; first += apart)
        longest = tuwtree_max(longest, sums[first + count] - sums[first]);
    for (; first < ranks; first += apart)
        longest = tuwtree_max(longest, sums[ranks] - sums[first] + sums[first + count - ranks]);
    return longest;
}

/* Time of Bruck's windows with a delay if each rank sends the longest one of each step, or any time from `best` on.
 * `longest_of` keeps the longest windows by their numbers of places: UINT64_MAX before. A bound on that time if windows
 * are compared that begin some places apart. */
static uint64_t tuwtree_windows_time(const tuwtree_law *law, int ranks, const uint64_t *sums, const int *windows, int steps,
                                     uint64_t best, int apart, uint64_t *longest_of, uint64_t *came)
{
    uint64_t out_free = 0, in_free = 0, begin, port;
    int step, needed;
    for (step = 0; step < steps && in_free < best; step++) {
        int count = windows[step + 1] - windows[step];
        uint64_t longest = longest_of[count];
        if (longest == UINT64_MAX) {
            longest = tuwtree_longest_window(ranks, sums, count, apart);
            longest_of[count] = apart == 1 ? longest : UINT64_MAX;
        }
        for (needed = step - 1; needed >= 0 && windows[needed] >= count; needed--)
            continue;
        begin = needed < 0 ? out_free : tuwtree_max(out_free, came[needed]);
        port = longest == 0 ? 0 : tuwtree_port(law, longest);
        out_free = begin + port;
        begin += longest == 0 ? 0 : tuwtree_latency(law, longest);
        in_free = tuwtree_max(in_free, begin) + port;
        came[step] = in_free;
    }
    return in_free;
}

/* Delays beyond are not tried. */
#define TUWTREE_MOST_DELAY 16

/* Places between windows that are compared for a first bound. */
#define TUWTREE_APART 32

int tuwtree_choose(const uint64_t *blocks, int ranks, int is_reduce, uint64_t element_bytes, const tuwtree_costs *costs,
                   void *memory, tuwtree_algorithm *algorithm, int *number)
{
    char *rest = (char *)memory;
    tuwtree_law *law = (tuwtree_law *)tuwtree_take(&rest, 1, sizeof *law);
    tuwtree_rounds rounds;
    uint64_t largest = 0, pieces, time, best = UINT64_MAX, *sums, *came, *longest_of, bounds[TUWTREE_MOST_DELAY + 1];
    int *windows, delays, least = 0, last, turn, rank, wrong = tuwtree_plan(blocks, ranks, 0, element_bytes, TUWTREE_BRUCK_BALANCED, 1, rest, &rounds);
    double most;
    if (wrong == TUWTREE_OK)
        wrong = tuwtree_check_costs(costs);
    if (wrong != TUWTREE_OK)
        return wrong;
    most = tuwtree_most_stated(costs, rounds.all_bytes);
    if (!(most < 1e300))
        return TUWTREE_BAD_COSTS;
    tuwtree_set_stated(law, costs, most);
    for (rank = 0; rank < ranks; rank++)
        largest = tuwtree_max(largest, blocks[rank] / element_bytes);
    *algorithm = TUWTREE_CIRCULANT_BALANCED;
    *number = 1;
    for (pieces = 1; pieces <= largest && pieces <= (uint64_t)1 << 20; pieces += pieces < 8 ? 1 : pieces / 8) {
        time = tuwtree_pieces_time(law, ranks, rounds.all_bytes / element_bytes, largest, element_bytes, pieces);
        if (time >= best)
            continue;
        best = time;
        *number = (int)pieces;
    }
    if (is_reduce)
        return TUWTREE_OK;
    sums = (uint64_t *)(void *)rounds.received;
    came = (uint64_t *)(void *)rounds.sent;
    longest_of = came + ranks + 2;
    memset(longest_of, 0xff, (size_t)ranks * sizeof *longest_of);
    for (rank = 0, sums[0] = 0; rank < ranks; rank++)
        sums[rank + 1] = sums[rank] + rounds.sizes[rank];
    windows = (int *)(void *)(sums + ranks + 2);
    bounds[0] = UINT64_MAX;
    /* First the delay of least bound, whose time leaves few others to be timed; of equal times the shortest delay. */
    for (delays = 1; delays <= TUWTREE_MOST_DELAY; delays++) {
        int steps = tuwtree_set_windows(ranks, delays, windows);
        bounds[delays] = tuwtree_windows_time(law, ranks, sums, windows, steps, best, TUWTREE_APART, longest_of, came);
        if (bounds[delays] < bounds[least])
            least = delays;
        /* With a longer delay no send of small blocks would wait. */
        if ((uint64_t)(delays - 1) * tuwtree_port(law, 1) >= tuwtree_latency(law, 1))
            break;
    }
    last = delays < TUWTREE_MOST_DELAY ? delays : TUWTREE_MOST_DELAY;
    for (turn = 0; turn <= last; turn++) {
        int steps;
        delays = turn == 0 ? least : turn;
        if (turn == least || bounds[delays] > best || (bounds[delays] == best && delays > *number))
            continue;
        steps = tuwtree_set_windows(ranks, delays, windows);
        time = tuwtree_windows_time(law, ranks, sums, windows, steps, best + 1, 1, longest_of, came);
        if (time < best || (time == best && *algorithm == TUWTREE_BRUCK_BALANCED && delays < *number)) {
            best = time;
            *algorithm = TUWTREE_BRUCK_BALANCED;
            *number = delays;
        }
    }
    return TUWTREE_OK;
}

#ifdef __cplusplus
}
#endif

#endif /* TUWTREE_IMPLEMENTATION */
#endif /* TUWTREE_H */
