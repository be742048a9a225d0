/*
 * Times gathers and scatters along given trees, and the library's own, from a moment that all
 * processes agree on until the last one is done.
 *
 *   trees FILE [check]
 *
 * The file has, separated by white space, the number of problems and for each of them: "gather" or
 * "scatter", the root, the block sizes, the number of candidates, and for each candidate "library",
 * or "tree", the parent of each rank (that of the root is itself) and the place of each rank among
 * its siblings in the planned order. Subtrees are consecutive ranks. Prints a line of seconds for
 * each problem, a number for each candidate. With "check" all data are checked.
 *
 * In a gather all receives are posted at once, into place. In a scatter everything is sent at once,
 * to the child that is planned last at first. There are no messages of 0 bytes.
 */
#include "clock.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, processes, checks;

static void fail(const char *what)
{
    fprintf(stderr, "trees, process %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *room(size_t count, size_t bytes)
{
    void *memory = calloc(count + 1, bytes);
    if (memory == NULL)
        fail("too little memory");
    return memory;
}

/* A gather or a scatter. */
struct problem {
    int gathers, root;
    /* Bytes of each block, and where each is; places[processes] is the total. */
    int *sizes, *places;
};

/* What a process does along a tree. */
struct part {
    int parent, first, last, children;
    /* The children in planned order, and the first and last ranks of their subtrees. */
    int *child, *child_first, *child_last;
};

/* Process 0 reads a word, which all return. */
static int read_word(FILE *file, const char *other, const char *one)
{
    int result = 0;
    if (rank == 0) {
        char word[16];
        if (fscanf(file, "%15s", word) != 1 || (strcmp(word, one) != 0 && strcmp(word, other) != 0))
            fail("a wrong word");
        result = strcmp(word, one) == 0;
    }
    MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return result;
}

/* Process 0 reads numbers, which all get. */
static void read_numbers(FILE *file, int count, int *numbers)
{
    if (rank == 0)
        for (int i = 0; i < count; i++)
            if (fscanf(file, "%d", &numbers[i]) != 1)
                fail("a number is missing");
    MPI_Bcast(numbers, count, MPI_INT, 0, MPI_COMM_WORLD);
}

static void read_problem(FILE *file, struct problem *problem)
{
    problem->gathers = read_word(file, "scatter", "gather");
    read_numbers(file, 1, &problem->root);
    read_numbers(file, processes, problem->sizes);
    problem->places[0] = 0;
    for (int i = 0; i < processes; i++)
        problem->places[i + 1] = problem->places[i] + problem->sizes[i];
}

/* This process's part in a tree. */
static void find_part(const int *parents, const int *order, struct part *part)
{
    part->parent = parents[rank];
    part->first = part->last = rank;
    part->children = 0;
    for (int i = 0; i < processes; i++)
        if (i != rank && parents[i] == rank) {
            part->children++;
            part->child[order[i]] = part->child_first[order[i]] = part->child_last[order[i]] = i;
        }
    int members = 1;
    for (int i = 0; i < processes; i++) {
        int ancestor = i, parent = parents[i];
        while (parent != rank && parent != ancestor) {
            ancestor = parent;
            parent = parents[parent];
        }
        if (i == rank || parent != rank)
            continue;
        int place = order[ancestor];
        members++;
        if (i < part->child_first[place])
            part->child_first[place] = i;
        if (i > part->child_last[place])
            part->child_last[place] = i;
        if (i < part->first)
            part->first = i;
        if (i > part->last)
            part->last = i;
    }
    if (members != part->last - part->first + 1)
        fail("a subtree is not of consecutive ranks");
}

static int bytes_of(const struct problem *problem, int first, int last)
{
    return problem->places[last + 1] - problem->places[first];
}

/* Performs this process's part; `data` are the blocks of its subtree, `own` is its own block. */
static void perform(const struct problem *problem, const struct part *part, char *own, char *data,
    MPI_Request *requests)
{
    int count = 0, bytes = bytes_of(problem, part->first, part->last);
    const int *places = problem->places;
    char *place = data + (places[rank] - places[part->first]);
    if (!problem->gathers && part->parent != rank && bytes > 0)
        MPI_Recv(data, bytes, MPI_BYTE, part->parent, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < part->children; i++) {
        int which = problem->gathers ? i : part->children - 1 - i, first = part->child_first[which];
        int of_child = bytes_of(problem, first, part->child_last[which]);
        char *from_or_to = data + (places[first] - places[part->first]);
        if (of_child == 0)
            continue;
        if (problem->gathers)
            MPI_Irecv(from_or_to, of_child, MPI_BYTE, part->child[which], 1, MPI_COMM_WORLD,
                &requests[count++]);
        else
            MPI_Isend(from_or_to, of_child, MPI_BYTE, part->child[which], 1, MPI_COMM_WORLD,
                &requests[count++]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    if (problem->gathers)
        memcpy(place, own, (size_t)problem->sizes[rank]);
    else
        memcpy(own, place, (size_t)problem->sizes[rank]);
    if (problem->gathers && part->parent != rank && bytes > 0)
        MPI_Send(data, bytes, MPI_BYTE, part->parent, 1, MPI_COMM_WORLD);
}

static void perform_library(const struct problem *problem, char *own, char *data)
{
    if (problem->gathers)
        MPI_Gatherv(own, problem->sizes[rank], MPI_BYTE, data, problem->sizes, problem->places,
            MPI_BYTE, problem->root, MPI_COMM_WORLD);
    else
        MPI_Scatterv(data, problem->sizes, problem->places, MPI_BYTE, own, problem->sizes[rank],
            MPI_BYTE, problem->root, MPI_COMM_WORLD);
}

/* The byte at a place of a block; no two neighbours' blocks are alike. */
static char expected(int block, int place)
{
    return (char)(block * 37 + place * 11 + place / 251 + 1);
}

/* Writes or checks the bytes of the blocks of consecutive ranks. */
static void go_through(const struct problem *problem, int first, int last, char *data, int write)
{
    for (int block = first; checks && block <= last; block++)
        for (int i = 0; i < problem->sizes[block]; i++, data++) {
            if (write)
                *data = expected(block, i);
            else if (*data != expected(block, i))
                fail("a wrong byte");
        }
}

/* The seconds of a candidate; `part` is null for the library. */
static double time_of(const struct problem *problem, const struct part *part, MPI_Request *requests)
{
    int at_root = rank == problem->root;
    int first = part != NULL ? part->first : 0, last = part != NULL ? part->last : processes - 1;
    size_t needed = part != NULL || at_root ? (size_t)bytes_of(problem, first, last) : 0;
    char *own = room((size_t)problem->sizes[rank], 1), *data = room(needed, 1);
    if (problem->gathers)
        go_through(problem, rank, rank, own, 1);
    else if (at_root)
        go_through(problem, first, last, data, 1);
    double start = start_together();
    if (part != NULL)
        perform(problem, part, own, data, requests);
    else
        perform_library(problem, own, data);
    double span = span_since(start);
    if (!problem->gathers)
        go_through(problem, rank, rank, own, 0);
    else if (at_root)
        go_through(problem, first, last, data, 0);
    free(own);
    free(data);
    return span;
}

int main(int count, char **values)
{
    MPI_Init(&count, &values);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    checks = count > 2 && strcmp(values[2], "check") == 0;
    FILE *file = rank == 0 && count > 1 ? fopen(values[1], "r") : NULL;
    if (rank == 0 && file == NULL)
        fail("no file of problems");
    size_t ranks = (size_t)processes;
    struct problem problem = { 0, 0, room(ranks, sizeof(int)), room(ranks + 1, sizeof(int)) };
    struct part part = { 0, 0, 0, 0, room(ranks, sizeof(int)), room(ranks, sizeof(int)),
        room(ranks, sizeof(int)) };
    int *parents = room(ranks, sizeof(int)), *order = room(ranks, sizeof(int));
    MPI_Request *requests = room(ranks, sizeof *requests);
    int problems, candidates;
    read_numbers(file, 1, &problems);
    for (int i = 0; i < problems; i++) {
        read_problem(file, &problem);
        read_numbers(file, 1, &candidates);
        for (int j = 0; j < candidates; j++) {
            int along_tree = read_word(file, "library", "tree");
            if (along_tree) {
                read_numbers(file, processes, parents);
                read_numbers(file, processes, order);
                find_part(parents, order, &part);
            }
            double seconds = time_of(&problem, along_tree ? &part : NULL, requests);
            if (rank == 0)
                printf("%s%.10e", j == 0 ? "" : " ", seconds);
        }
        if (rank == 0)
            printf("\n");
    }
    free(problem.sizes);
    free(problem.places);
    free(part.child);
    free(part.child_first);
    free(part.child_last);
    free(parents);
    free(order);
    free(requests);
    MPI_Finalize();
    return 0;
}
