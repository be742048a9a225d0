/* Plans what standard input asks for, line after line, by tuwtree.h, and prints the plans of some ranks.
 *
 *   place P ROOT IS_SCATTER GAMMA SEND_OVERHEAD EAGER TURNS PIECES (FROM ALPHA OVERHEAD BETA)... RANKS RANK... BLOCK...
 *   rounds P IS_REDUCE ELEMENT ALGORITHM NUMBER RANKS RANK... BLOCK...
 *   choose P IS_REDUCE ELEMENT PIECES (FROM ALPHA OVERHEAD BETA)... BLOCK...
 *
 * Costs are the bits of their numbers.
 */
#define TUWTREE_IMPLEMENTATION
#include "tuwtree.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t number(void)
{
    uint64_t value;
    if (scanf("%" SCNu64, &value) != 1)
        exit(2);
    return value;
}

static int small(void)
{
    return (int)number();
}

static double cost(void)
{
    uint64_t bits = number();
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static tuwtree_piece pieces[TUWTREE_MOST_PIECES];
static int *asked, asked_count, p;
static uint64_t *blocks;
static void *memory;

static void read_pieces(tuwtree_costs *costs)
{
    int piece;
    costs->pieces = pieces;
    costs->piece_count = small();
    for (piece = 0; piece < costs->piece_count; piece++) {
        pieces[piece].from_bytes = number();
        pieces[piece].alpha = cost();
        pieces[piece].overhead = cost();
        pieces[piece].beta = cost();
    }
}

static void read_asked(void)
{
    int one;
    asked_count = small();
    asked = (int *)malloc((size_t)asked_count * sizeof *asked);
    for (one = 0; one < asked_count; one++)
        asked[one] = small();
}

static void read_blocks(void)
{
    int rank;
    blocks = (uint64_t *)malloc((size_t)p * sizeof *blocks);
    for (rank = 0; rank < p; rank++)
        blocks[rank] = number();
}

static void print_places(void)
{
    tuwtree_costs costs = TUWTREE_COSTS(pieces, 0);
    int root = small(), is_scatter = small(), one, child, wrong;
    costs.gamma = cost();
    costs.send_overhead = cost();
    costs.eager_limit = number();
    costs.turns_limit = number();
    read_pieces(&costs);
    read_asked();
    read_blocks();
    memory = malloc(tuwtree_gather_bytes(p));
    for (one = 0; one < asked_count; one++) {
        tuwtree_place place;
        wrong = tuwtree_gather_place(blocks, p, root, asked[one], is_scatter, &costs, memory, &place);
        if (wrong != TUWTREE_OK) {
            printf("error %d\n", wrong);
            continue;
        }
        printf("%d %" PRIu64 "+%" PRIu64 " %" PRIu64 "+%" PRIu64, place.parent, place.own_offset, place.own_bytes,
               place.offset, place.bytes);
        for (child = 0; child < place.child_count; child++)
            printf(" %d:%" PRIu64 "+%" PRIu64, place.children[child].rank, place.children[child].offset,
                   place.children[child].bytes);
        printf("\n");
    }
}

static void print_spans(int peer, const tuwtree_span *spans, int count)
{
    int span;
    printf(" %d", peer);
    for (span = 0; span < count; span++)
        printf(",%" PRIu64 "+%" PRIu64, spans[span].offset, spans[span].bytes);
}

static void print_rounds(void)
{
    int is_reduce = small(), algorithm, count, one, round, wrong;
    uint64_t element = number();
    algorithm = small();
    count = small();
    read_asked();
    read_blocks();
    memory = malloc(tuwtree_rounds_bytes(p));
    for (one = 0; one < asked_count; one++) {
        tuwtree_rounds rounds;
        tuwtree_round messages;
        wrong = is_reduce ? tuwtree_reduce_scatter_plan(blocks, p, asked[one], element, count, memory, &rounds)
                          : tuwtree_allgather_plan(blocks, p, asked[one], (tuwtree_algorithm)algorithm, count, memory,
                                                   &rounds);
        if (wrong != TUWTREE_OK) {
            printf("error %d\n", wrong);
            continue;
        }
        printf("%d %" PRIu64 "+%" PRIu64, rounds.round_count, rounds.own_offset, rounds.own_bytes);
        for (round = 0; round < rounds.round_count; round++) {
            tuwtree_round_at(&rounds, round, &messages);
            printf(" |%d", messages.needs);
            print_spans(messages.to, messages.sent, messages.sent_count);
            print_spans(messages.from, messages.received, messages.received_count);
        }
        printf("\n");
    }
}

static void print_choice(void)
{
    tuwtree_costs costs = TUWTREE_COSTS(pieces, 0);
    tuwtree_algorithm algorithm;
    int is_reduce = small(), count, wrong;
    uint64_t element = number();
    read_pieces(&costs);
    read_blocks();
    memory = malloc(tuwtree_rounds_bytes(p));
    wrong = tuwtree_choose(blocks, p, is_reduce, element, &costs, memory, &algorithm, &count);
    if (wrong == TUWTREE_OK)
        printf("%d %d\n", (int)algorithm, count);
    else
        printf("error %d\n", wrong);
}

int main(void)
{
    char word[16];
    while (scanf("%15s", word) == 1) {
        asked = NULL;
        p = small();
        if (word[0] == 'p')
            print_places();
        else if (word[0] == 'r')
            print_rounds();
        else
            print_choice();
        free(asked);
        free(blocks);
        free(memory);
    }
    return 0;
}
