/*
 * A network whose costs are known: a process between network namespaces.
 *
 *   switch MBIT_PER_SECOND LATENCY_US OVERHEAD_US NAMESPACE...
 *
 * With BED_BUFFER=BYTES in the environment, an in-port stores no more than so many bytes that wait for it; a
 * packet that comes when there is no room is lost, as on a cheap Ethernet switch.
 *
 * Each namespace, a node, gets a TUN device `wire`; node k, from 0 on, is to have the address
 * 10.99.0.(k + 1). What a node sends passes its own out-port and the receiver's in-port. A port
 * serves packets one after the other, each for its bytes at the rate, and OVERHEAD_US more if a
 * message ends in it, that is if it has TCP data and the PSH flag, which Linux sets in the last
 * segment of a write. A packet reaches the in-port LATENCY_US after its service at the out-port
 * begins, so that nothing is stored on the way, and the node when the in-port has served it, but not
 * before LATENCY_US after the out-port has. Without BED_BUFFER nothing is lost.
 *
 * Times follow from when packets come, not from when this process wakes up: if it is late, single
 * packets are late, and those after them are not. Prints "ready" once all devices are there; ends
 * with its standard input.
 *
 * So a message alone takes the latency, an overhead and its bytes; n of them at once to one node take
 * the latency, n overheads and all of their bytes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { NODES = 128, LARGEST = 65536, PACKETS = 1 << 16 };

/* Times in nanoseconds. */
typedef int64_t moment;

struct packet {
    moment due;       /* when it is at the in-port, or at the node */
    moment at_least;  /* the node does not get it before */
    uint64_t number;  /* of those due at once, the lower goes first */
    moment service;   /* how long a port serves it */
    int to, is_served, bytes;
    unsigned char *data;
};

static struct packet *waiting[PACKETS]; /* a heap, the next one first */
static int waiting_count;
static moment out_free[NODES], in_free[NODES], latency, overhead;
static long stored[NODES], buffer_bytes = -1, lost; /* at the in-ports; below 0: as much as comes */
static double per_byte;
static struct pollfd watched[NODES + 1]; /* the nodes' devices, then standard input */
static int nodes;

static moment now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (moment)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int comes_first(const struct packet *one, const struct packet *other)
{
    return one->due != other->due ? one->due < other->due : one->number < other->number;
}

static void exchange(int one, int other)
{
    struct packet *packet = waiting[one];
    waiting[one] = waiting[other];
    waiting[other] = packet;
}

static void add(struct packet *packet)
{
    int place = waiting_count++;
    if (waiting_count > PACKETS)
        abort();
    waiting[place] = packet;
    for (; place > 0 && comes_first(waiting[place], waiting[(place - 1) / 2]); place = (place - 1) / 2)
        exchange(place, (place - 1) / 2);
}

static struct packet *take(void)
{
    struct packet *first = waiting[0];
    waiting[0] = waiting[--waiting_count];
    for (int place = 0;;) {
        int next = place;
        for (int child = 2 * place + 1; child <= 2 * place + 2; child++)
            if (child < waiting_count && comes_first(waiting[child], waiting[next]))
                next = child;
        if (next == place)
            return first;
        exchange(place, next);
        place = next;
    }
}

/* Whether a message ends in an IPv4 packet: all that are not TCP are messages. */
static int ends_message(const unsigned char *packet, int bytes)
{
    enum { TCP = 6, PSH = 8 };
    const unsigned char *tcp = packet + 4 * (packet[0] & 15);
    if (packet[9] != TCP)
        return 1;
    if (tcp + 20 > packet + bytes)
        return 0;
    return tcp + 4 * (tcp[12] >> 4) < packet + bytes && (tcp[13] & PSH) != 0;
}

/* When a port begins to serve what comes at a moment. */
static moment serve(moment *free_from, moment at, moment service)
{
    moment start = at > *free_from ? at : *free_from;
    *free_from = start + service;
    return start;
}

/* Reads what a node has sent; 0: nothing. */
static int read_from(int node)
{
    static unsigned char buffer[LARGEST];
    static uint64_t number;
    static const unsigned char network[3] = { 10, 99, 0 };
    ssize_t bytes = read(watched[node].fd, buffer, sizeof buffer);
    if (bytes <= 0)
        return 0;
    int to = bytes < 20 ? -1 : buffer[19] - 1;
    if (buffer[0] >> 4 != 4 || memcmp(buffer + 16, network, 3) != 0 || to < 0 || to >= nodes)
        return 1;
    struct packet *packet = malloc(sizeof *packet);
    if (packet == NULL || (packet->data = malloc((size_t)bytes)) == NULL)
        abort();
    memcpy(packet->data, buffer, (size_t)bytes);
    packet->service = (moment)((double)bytes * per_byte);
    if (ends_message(buffer, (int)bytes))
        packet->service += overhead;
    moment start = serve(&out_free[node], now(), packet->service);
    packet->due = start + latency;
    packet->at_least = out_free[node] + latency;
    packet->number = number++;
    packet->to = to;
    packet->is_served = 0;
    packet->bytes = (int)bytes;
    add(packet);
    return 1;
}

/* Passes on what is due. */
static void pass_on(void)
{
    while (waiting_count > 0 && waiting[0]->due <= now()) {
        struct packet *packet = take();
        if (!packet->is_served) {
            if (buffer_bytes >= 0 && stored[packet->to] + packet->bytes > buffer_bytes) {
                lost++;
                free(packet->data);
                free(packet);
                continue;
            }
            stored[packet->to] += packet->bytes;
            serve(&in_free[packet->to], packet->due, packet->service);
            packet->due = in_free[packet->to];
            if (packet->due < packet->at_least)
                packet->due = packet->at_least;
            packet->is_served = 1;
            add(packet);
            continue;
        }
        stored[packet->to] -= packet->bytes;
        /* A node that has no address yet takes nothing. */
        if (write(watched[packet->to].fd, packet->data, (size_t)packet->bytes) < 0) { }
        free(packet->data);
        free(packet);
    }
}

static int device_in(const char *namespace)
{
    char path[256];
    snprintf(path, sizeof path, "/run/netns/%s", namespace);
    int space = open(path, O_RDONLY | O_CLOEXEC);
    if (space < 0 || setns(space, CLONE_NEWNET) != 0)
        fail(path);
    close(space);
    struct ifreq request = { .ifr_name = "wire", .ifr_flags = IFF_TUN | IFF_NO_PI };
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0 || ioctl(device, TUNSETIFF, &request) != 0)
        fail("/dev/net/tun");
    return device;
}

int main(int count, char **values)
{
    nodes = count - 4;
    if (nodes < 1 || nodes > NODES || atof(values[1]) <= 0) {
        fprintf(stderr, "switch MBIT_PER_SECOND LATENCY_US OVERHEAD_US NAMESPACE...\n");
        return 2;
    }
    per_byte = 8000 / atof(values[1]);
    latency = (moment)(1000 * atof(values[2]));
    overhead = (moment)(1000 * atof(values[3]));
    if (getenv("BED_BUFFER") != NULL)
        buffer_bytes = atol(getenv("BED_BUFFER"));
    for (int node = 0; node < nodes; node++)
        watched[node] = (struct pollfd){ .fd = device_in(values[4 + node]), .events = POLLIN };
    watched[nodes] = (struct pollfd){ .fd = 0, .events = POLLIN };
    /* As far as it may: it is the network, and on time. */
    struct sched_param urgent = { .sched_priority = 20 };
    sched_setscheduler(0, SCHED_FIFO, &urgent);
    prctl(PR_SET_TIMERSLACK, 1000);
    mlockall(MCL_CURRENT | MCL_FUTURE);
    puts("ready");
    fflush(stdout);
    while (watched[nodes].revents == 0) {
        moment left = waiting_count > 0 ? waiting[0]->due - now() : 1000000000;
        struct timespec wait = { 0, left < 0 ? 0 : left < 999999999 ? left : 999999999 };
        if (ppoll(watched, (nfds_t)nodes + 1, &wait, NULL) > 0)
            for (int node = 0; node < nodes; node++)
                for (int turn = 0; watched[node].revents != 0 && turn < 8 && read_from(node); turn++)
                    pass_on();
        pass_on();
    }
    if (lost > 0)
        printf("%ld packets lost\n", lost);
    return 0;
}
