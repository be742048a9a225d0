/*
 * Measures the costs of messages from outside: latency, occupancy, overhead of a sender, eager
 * limit, how ports serve several messages, and who has a wire of its own.
 *
 *   floods LARGEST MEMBERS...
 *
 * LARGEST is the largest message in bytes; MEMBERS, from the innermost level on, is how many groups
 * of a level make one of the next, so that their product is the number of processes. A flood is
 * several messages at once to one process that has posted all its receives. Prints, in seconds:
 *
 *   eager BYTES                        the largest message whose sender does not wait
 *   late BYTES SECONDS                 from a receive that is posted late to its completion
 *   flood LEVEL BYTES N ONE SEVERAL    N messages between groups of a level: each alone, the mean, and at once
 *   send SECONDS                       what a message costs its sender
 *   out FIRST LAST, in FIRST LAST      completions of messages of 1 MiB from or to one process
 *   nodein K SECONDS, nodeout K ...    1 MiB to or from each of K processes of one group at once
 *   pairs K SECONDS                    1 MiB between each of K pairs at once
 */
#include "clock.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { FLOOD = 16, LEVELS = 4, BURST = 8, SENDS = 64, MEBIBYTE = 1 << 20, MESSAGES = 1024 };

static int rank, processes, levels;
/* Processes in a group of each level. */
static int group_size[LEVELS];
/* Room for FLOOD messages of the largest size. */
static char *memory;

static void fail(const char *what)
{
    if (rank == 0)
        fprintf(stderr, "floods: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Messages of one size that are sent at once. */
struct pattern {
    int count;
    int sender[MESSAGES], receiver[MESSAGES];
};

static void add(struct pattern *pattern, int sender, int receiver)
{
    if (pattern->count == MESSAGES)
        fail("too many messages");
    pattern->sender[pattern->count] = sender;
    pattern->receiver[pattern->count++] = receiver;
}

/* The time until all messages of a pattern are there; all receives are posted at first. */
static double time_of(const struct pattern *pattern, int bytes)
{
    MPI_Request requests[MESSAGES];
    int count = 0;
    for (int i = 0; i < pattern->count; i++)
        if (pattern->receiver[i] == rank) {
            MPI_Irecv(memory + (size_t)count * (size_t)bytes, bytes, MPI_BYTE, pattern->sender[i],
                1, MPI_COMM_WORLD, &requests[count]);
            count++;
        }
    double start = start_together();
    for (int i = 0; i < pattern->count; i++)
        if (pattern->sender[i] == rank)
            MPI_Isend(memory, bytes, MPI_BYTE, pattern->receiver[i], 1, MPI_COMM_WORLD,
                &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    return span_since(start);
}

/* Whether the sender of so many bytes is free long before the receive is posted; says `late`. */
static int is_eager(int bytes, int sender)
{
    double occupied = 0, late = 0, start = start_together();
    if (rank == sender) {
        MPI_Send(memory, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        occupied = MPI_Wtime() - start;
    }
    if (rank == 0) {
        sleep_until(start + 0.01);
        late = MPI_Wtime();
        MPI_Recv(memory, bytes, MPI_BYTE, sender, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        late = MPI_Wtime() - late;
        printf("late %d %.10e\n", bytes, late);
    }
    return largest(occupied) < 0.005;
}

/* The largest message, up to `most` bytes, whose sender is free at once; 0: there is none. */
static int eager_limit(int most, int sender)
{
    int eager = 0, not_eager = most + 1;
    while (not_eager - eager > 1) {
        int middle = eager + (not_eager - eager) / 2;
        if (is_eager(middle, sender))
            eager = middle;
        else
            not_eager = middle;
    }
    return eager;
}

/* Up to FLOOD processes whose messages to process 0 cross this level, of many groups, near and far. */
static struct pattern flood(int level)
{
    struct pattern pattern = { 0 };
    int inner = level == 0 ? 1 : group_size[level - 1], others = group_size[level] / inner - 1;
    int count = others * inner < FLOOD ? others * inner : FLOOD;
    for (int i = 0; i < count; i++) {
        int group = count <= others ? (i + 1) * others / count : 1 + i % others;
        add(&pattern, group * inner + (count <= others ? 0 : i / others), 0);
    }
    return pattern;
}

/* The mean time of the messages of a pattern, each alone. */
static double mean_alone(const struct pattern *pattern, int bytes)
{
    double sum = 0;
    for (int i = 0; i < pattern->count; i++) {
        struct pattern one = { 1, { pattern->sender[i] }, { pattern->receiver[i] } };
        sum += time_of(&one, bytes);
    }
    return sum / pattern->count;
}

/* Floods of one size. */
struct floods {
    int bytes;
    double one, several;
};

static struct floods measure(int level, int bytes)
{
    struct pattern several = flood(level);
    struct floods floods = { bytes, mean_alone(&several, bytes), 0 };
    floods.several = several.count > 1 ? time_of(&several, bytes) : floods.one;
    if (rank == 0)
        printf("flood %d %d %d %.10e %.10e\n", level, bytes, several.count, floods.one,
            floods.several);
    return floods;
}

/* Whether a time is off the middle of two others by more than 3 %. */
static int is_off(double low, double time, double high)
{
    return fabs(time - (low + high) / 2) > 0.03 * time;
}

/* Halves the sizes between two floods until the middle is on the line. */
static void refine(int level, struct floods low, struct floods high)
{
    int least = low.bytes / 64 > 16 ? low.bytes / 64 : 16;
    if (high.bytes - low.bytes <= least)
        return;
    struct floods middle = measure(level, low.bytes + (high.bytes - low.bytes) / 2);
    if (is_off(low.one, middle.one, high.one) || is_off(low.several, middle.several, high.several)) {
        refine(level, low, middle);
        refine(level, middle, high);
    }
}

/* The next size of 1, 16, 64, 96, 128, ..., 2^k, 1.5 2^k. */
static int next_size(int bytes)
{
    if (bytes < 64)
        return bytes < 16 ? 16 : 64;
    return (bytes & (bytes - 1)) == 0 ? bytes + bytes / 2 : bytes / 3 * 4;
}

static void measure_level(int level, int most, int eager)
{
    struct floods low = measure(level, 1);
    for (int bytes = 16; bytes <= most; bytes = next_size(bytes)) {
        if (low.bytes < eager && eager < bytes) {
            struct floods last = measure(level, eager);
            refine(level, low, last);
            low = measure(level, eager + 1);
        }
        if (low.bytes == bytes)
            continue;
        struct floods high = measure(level, bytes);
        refine(level, low, high);
        low = high;
    }
}

/* Says what a message of a byte costs its sender. */
static void measure_send(void)
{
    double spans[2];
    for (int round = 0; round < 2; round++) {
        MPI_Request requests[SENDS];
        int count = round == 0 ? 1 : SENDS, used = 0;
        if (rank == 1)
            for (; used < count; used++)
                MPI_Irecv(memory + used, 1, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &requests[used]);
        double start = start_together();
        if (rank == 0)
            for (; used < count; used++)
                MPI_Isend(memory, 1, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &requests[used]);
        spans[round] = largest(rank == 0 ? MPI_Wtime() - start : 0);
        MPI_Waitall(used, requests, MPI_STATUSES_IGNORE);
    }
    if (rank == 0)
        printf("send %.10e\n", (spans[1] - spans[0]) / (SENDS - 1));
}

/* Says when the first and the last of several messages from or to process 0 are there. */
static void measure_discipline(int out)
{
    MPI_Request requests[BURST];
    int count = 0, inner = levels == 1 ? 1 : group_size[levels - 2];
    int group = rank / inner, takes_part = rank % inner == 0 && 0 < group && group <= BURST;
    int groups = processes / inner - 1;
    double first = INFINITY, last = 0;
    groups = groups > BURST ? BURST : groups;
    if (out ? takes_part : rank == 0)
        for (int peer = 1; peer <= (out ? 1 : groups); peer++, count++)
            MPI_Irecv(memory + (size_t)count * MEBIBYTE, MEBIBYTE, MPI_BYTE, out ? 0 : peer * inner,
                4, MPI_COMM_WORLD, &requests[count]);
    int receives = count;
    double start = start_together();
    if (out ? rank == 0 : takes_part)
        for (int peer = 1; peer <= (out ? groups : 1); peer++, count++)
            MPI_Isend(memory, MEBIBYTE, MPI_BYTE, out ? peer * inner : 0, 4, MPI_COMM_WORLD,
                &requests[count]);
    for (int left = receives; left > 0; left--) {
        int which;
        MPI_Waitany(receives, requests, &which, MPI_STATUS_IGNORE);
        last = MPI_Wtime() - start;
        first = first < last ? first : last;
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    first = -largest(-first);
    last = largest(last);
    if (rank == 0)
        printf("%s %.10e %.10e\n", out ? "out" : "in", first, last);
}

/* Says how long 1 MiB to or from each of several processes of group 0 takes, each from or to
 * another group. */
static void measure_group(int out)
{
    int inner = group_size[levels - 2], others = processes / inner - 1;
    for (int count = 1; count <= inner; count *= 2) {
        struct pattern pattern = { 0 };
        for (int i = 0; i < count; i++) {
            int peer = (1 + i % others) * inner + i / others;
            add(&pattern, out ? i : peer, out ? peer : i);
        }
        double time = time_of(&pattern, MEBIBYTE);
        if (rank == 0)
            printf("%s %d %.10e\n", out ? "nodeout" : "nodein", count, time);
    }
}

static void measure_pairs(void)
{
    int half = processes / 2;
    for (int count = 1; count <= half; count += half - 1 > 0 ? half - 1 : 1) {
        struct pattern pattern = { 0 };
        for (int i = 0; i < count; i++)
            add(&pattern, i + half, i);
        double time = time_of(&pattern, MEBIBYTE);
        if (rank == 0)
            printf("pairs %d %.10e\n", count, time);
    }
}

int main(int count, char **values)
{
    MPI_Init(&count, &values);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    int most = count > 1 ? atoi(values[1]) : 0, size = 1;
    levels = count - 2;
    if (levels < 1 || levels > LEVELS || most < MEBIBYTE)
        fail("floods LARGEST MEMBERS...: at least 1048576 bytes, 1 to 4 levels");
    for (int level = 0; level < levels; level++)
        group_size[level] = size *= atoi(values[2 + level]);
    if (size != processes)
        fail("the members of all levels are not as many as the processes");
    memory = calloc(FLOOD, (size_t)most);
    if (memory == NULL)
        fail("too little memory");
    int eager = eager_limit(most, processes - 1);
    if (rank == 0)
        printf("eager %d\n", eager);
    for (int level = 0; level < levels; level++)
        measure_level(level, most, eager);
    measure_send();
    measure_discipline(1);
    measure_discipline(0);
    if (levels > 1) {
        measure_group(1);
        measure_group(0);
    }
    measure_pairs();
    MPI_Finalize();
    return 0;
}
