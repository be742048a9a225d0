/* Microseconds in which a rank plans by tuwtree.h, best of 30, at InfiniBand's costs: cc -O2 -I c tests/c_header/time.c */
#define _POSIX_C_SOURCE 199309L
#define TUWTREE_IMPLEMENTATION
#include "tuwtree.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { GATHER, BRUCK, CIRCULANT, CHOICE, KINDS };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void plan(int kind, const uint64_t *blocks, int p, int rank, void *memory)
{
    tuwtree_piece link = {0, 3.5e-6, 1e-7, 4.3e-11};
    tuwtree_costs costs = TUWTREE_COSTS(&link, 1);
    tuwtree_place place;
    tuwtree_rounds rounds;
    tuwtree_round messages;
    tuwtree_algorithm algorithm = kind == BRUCK ? TUWTREE_BRUCK_BALANCED : TUWTREE_CIRCULANT_BALANCED;
    int wrong, number, round;
    if (kind == GATHER)
        wrong = tuwtree_gather_place(blocks, p, p / 3, rank, 0, &costs, memory, &place);
    else if (kind == CHOICE)
        wrong = tuwtree_choose(blocks, p, 0, 1, &costs, memory, &algorithm, &number);
    else
        wrong = tuwtree_allgather_plan(blocks, p, rank, algorithm, 3, memory, &rounds);
    if (wrong != TUWTREE_OK)
        exit(1);
    for (round = 0; (kind == BRUCK || kind == CIRCULANT) && round < rounds.round_count; round++)
        tuwtree_round_at(&rounds, round, &messages);
}

int main(void)
{
    const int ranks[] = {64, 1024, 16384, 65536};
    size_t one;
    printf("%8s %8s %8s %10s %8s\n", "ranks", "gather", "Bruck", "circulant", "choice");
    for (one = 0; one < sizeof ranks / sizeof ranks[0]; one++) {
        int p = ranks[one], kind, turn, rank;
        uint64_t state = 1, *blocks = (uint64_t *)malloc((size_t)p * sizeof *blocks);
        size_t room = tuwtree_gather_bytes(p), other = tuwtree_rounds_bytes(p);
        void *memory = malloc(room > other ? room : other);
        for (rank = 0; rank < p; rank++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            blocks[rank] = (state >> 33) % 4000;
        }
        printf("%8d", p);
        for (kind = 0; kind < KINDS; kind++) {
            double best = 1e30;
            for (turn = 0; turn < 30; turn++) {
                double start = now();
                plan(kind, blocks, p, (int)((long)turn * 7919 % p), memory);
                start = now() - start;
                best = start < best ? start : best;
            }
            printf(" %*.0f", kind == CIRCULANT ? 10 : 8, best);
        }
        printf("\n");
        free(blocks);
        free(memory);
    }
    return 0;
}
