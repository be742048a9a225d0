/* Loaded before MPICH: says what each rank sends by UCX between MPI_Pcontrol(1) and MPI_Pcontrol(0), as lines of rank,
 * receiver and bytes. Receivers are known by their places in memory only. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { MOST = 1000 };

static int is_listening, messages;
static const void *receivers[MOST];
static size_t sizes[MOST];

void *ucp_tag_send_nbx(void *receiver, const void *buffer, size_t bytes, uint64_t tag, const void *parameters)
{
    static void *(*next)(void *, const void *, size_t, uint64_t, const void *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "ucp_tag_send_nbx");
    if (is_listening && messages < MOST) {
        receivers[messages] = receiver;
        sizes[messages++] = bytes;
    }
    return next(receiver, buffer, bytes, tag, parameters);
}

int MPI_Pcontrol(const int level, ...)
{
    char said[64 * MOST];
    int i, rank, end = 0;
    is_listening = level;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (i = 0; !is_listening && i < messages; i++)
        end += sprintf(said + end, "%d %p %zu\n", rank, receivers[i], sizes[i]);
    /* In one piece, since all ranks write. */
    fwrite(said, 1, (size_t)end, stdout);
    fflush(stdout);
    return MPI_SUCCESS;
}
