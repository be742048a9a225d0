/*
 * Preloaded into ranks that share cores: a rank that waits for messages sleeps until one comes.
 *
 * MPI libraries ask the kernel for news without a pause (epoll_wait and poll that do not wait). That
 * is right where each rank has a core. Here, a question that follows ten others in vain, at once after
 * the last, waits up to ten milliseconds, and no longer than until there is news.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { QUESTIONS = 10, PAUSE_NS = 50000, NAP_MS = 10 };

static __thread int in_vain;
static __thread long long last;

static long long nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* How long the next question is to wait. */
static int patience(int timeout)
{
    if (timeout != 0)
        return timeout;
    if (nanoseconds() - last > PAUSE_NS)
        in_vain = 0;
    return in_vain < QUESTIONS ? 0 : NAP_MS;
}

static int answered(int found)
{
    in_vain = found > 0 ? 0 : in_vain + 1;
    last = nanoseconds();
    return found;
}

int epoll_wait(int poll, struct epoll_event *events, int most, int timeout)
{
    static int (*ask)(int, struct epoll_event *, int, int);
    if (ask == NULL)
        *(void **)&ask = dlsym(RTLD_NEXT, "epoll_wait");
    return answered(ask(poll, events, most, patience(timeout)));
}

int poll(struct pollfd *files, nfds_t count, int timeout)
{
    static int (*ask)(struct pollfd *, nfds_t, int);
    if (ask == NULL)
        *(void **)&ask = dlsym(RTLD_NEXT, "poll");
    return answered(ask(files, count, count == 0 ? timeout : patience(timeout)));
}

/*
 * With PATIENT_ENDS, ranks end after a barrier instead of in MPI_Finalize, which hangs in MPICH over UCX's TCP.
 * The communicator of all ranks is this number in MPICH.
 */
int MPI_Finalize(void)
{
    int (*barrier)(int), (*finalize)(void);
    *(void **)&finalize = dlsym(RTLD_NEXT, "MPI_Finalize");
    *(void **)&barrier = dlsym(RTLD_NEXT, "MPI_Barrier");
    if (getenv("PATIENT_ENDS") == NULL)
        return finalize();
    barrier(0x44000000);
    fflush(NULL);
    /* What the barrier has sent is still under way. */
    usleep(300000);
    _exit(0);
}
