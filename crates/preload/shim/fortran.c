/* MPI's functions as Fortran calls them, for libraries whose Fortran interface calls C's PMPI_ names (Open MPI's
 * in all of them, MPICH's from mpi_f08 in those without buffers): what they do is convert handles, addresses
 * and statuses, and call C's MPI_ names, which are ours.
 *
 * Every argument is an address. `ierr` is null where mpi_f08 leaves it out. Handles, logicals and statuses
 * are the same integers in mpif.h, mpi and mpi_f08. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdlib.h>

typedef char lists_are_alike[sizeof(MPI_Fint) == sizeof(int) ? 1 : -1];

enum { STATUS_INTS = sizeof(MPI_Status) / sizeof(MPI_Fint), FEW = 16 };

static void say(MPI_Fint *ierr, int code)
{
    if (ierr)
        *ierr = code;
}

#ifdef OPEN_MPI

/* The addresses that stand for constants. A library has them under one of these names. */
#define ADDRESS(lower, upper)                                                                      \
    extern int lower __attribute__((weak)), lower##_ __attribute__((weak));                        \
    extern int lower##__ __attribute__((weak)), upper __attribute__((weak));                       \
    static int is_##lower(const void *address)                                                     \
    {                                                                                              \
        return address && (address == &lower || address == &lower##_ || address == &lower##__ ||   \
                           address == &upper);                                                     \
    }
ADDRESS(mpi_fortran_in_place, MPI_FORTRAN_IN_PLACE)
ADDRESS(mpi_fortran_bottom, MPI_FORTRAN_BOTTOM)
ADDRESS(mpi_fortran_status_ignore, MPI_FORTRAN_STATUS_IGNORE)
ADDRESS(mpi_fortran_statuses_ignore, MPI_FORTRAN_STATUSES_IGNORE)

static void *buffer(void *address)
{
    if (is_mpi_fortran_in_place(address))
        return MPI_IN_PLACE;
    return is_mpi_fortran_bottom(address) ? MPI_BOTTOM : address;
}

/* The datatype sent, which in place does not count. */
static MPI_Datatype sent_type(void *sendbuf, const MPI_Fint *sendtype, const MPI_Fint *recvtype)
{
    return MPI_Type_f2c(buffer(sendbuf) == MPI_IN_PLACE ? *recvtype : *sendtype);
}

/* Open MPI 4 has persistent collectives under names of its own. */
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define INIT(name) MPI_##name##_init
#else
#define INIT(name) MPIX_##name##_init
#endif

/* Parameters of each function before the communicator, and the arguments of C's function. */
#define GATHERV_PARAMETERS                                                                         \
    void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts,   \
        MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *root
#define GATHERV_ARGUMENTS                                                                          \
    buffer(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), buffer(recvbuf), recvcounts, displs,     \
        MPI_Type_f2c(*recvtype), *root
#define SCATTERV_PARAMETERS                                                                        \
    void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *displs, MPI_Fint *sendtype, void *recvbuf,      \
        MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root
#define SCATTERV_ARGUMENTS                                                                         \
    buffer(sendbuf), sendcounts, displs, MPI_Type_f2c(*sendtype), buffer(recvbuf), *recvcount,     \
        MPI_Type_f2c(*recvtype), *root
#define ALLGATHERV_PARAMETERS                                                                      \
    void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts,   \
        MPI_Fint *displs, MPI_Fint *recvtype
#define ALLGATHERV_ARGUMENTS                                                                       \
    buffer(sendbuf), *sendcount, MPI_Type_f2c(*sendtype), buffer(recvbuf), recvcounts, displs,     \
        MPI_Type_f2c(*recvtype)
#define REDUCE_SCATTER_PARAMETERS                                                                  \
    void *sendbuf, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *datatype, MPI_Fint *op
#define REDUCE_SCATTER_ARGUMENTS                                                                   \
    buffer(sendbuf), buffer(recvbuf), recvcounts, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op)
#define REDUCE_SCATTER_BLOCK_PARAMETERS                                                            \
    void *sendbuf, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *datatype, MPI_Fint *op
#define REDUCE_SCATTER_BLOCK_ARGUMENTS                                                             \
    buffer(sendbuf), buffer(recvbuf), *recvcount, MPI_Type_f2c(*datatype), MPI_Op_f2c(*op)
#define ALLTOALL_PARAMETERS                                                                        \
    void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount,    \
        MPI_Fint *recvtype
#define ALLTOALL_ARGUMENTS                                                                         \
    buffer(sendbuf), *sendcount, sent_type(sendbuf, sendtype, recvtype), buffer(recvbuf),          \
        *recvcount, MPI_Type_f2c(*recvtype)
#define ALLTOALLV_PARAMETERS                                                                       \
    void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtype, void *recvbuf,     \
        MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtype
#define ALLTOALLV_ARGUMENTS                                                                        \
    buffer(sendbuf), sendcounts, sdispls, sent_type(sendbuf, sendtype, recvtype), buffer(recvbuf), \
        recvcounts, rdispls, MPI_Type_f2c(*recvtype)

#define BLOCKING(name, call, SHAPE)                                                                \
    void tuwtree_fortran_##name(SHAPE##_PARAMETERS, MPI_Fint *comm, MPI_Fint *ierr)                \
    {                                                                                              \
        say(ierr, call(SHAPE##_ARGUMENTS, MPI_Comm_f2c(*comm)));                                   \
    }
#define NONBLOCKING(name, call, SHAPE)                                                             \
    void tuwtree_fortran_##name(SHAPE##_PARAMETERS, MPI_Fint *comm, MPI_Fint *request,             \
                                MPI_Fint *ierr)                                                    \
    {                                                                                              \
        MPI_Request made;                                                                          \
        int code = call(SHAPE##_ARGUMENTS, MPI_Comm_f2c(*comm), &made);                            \
        if (code == MPI_SUCCESS)                                                                   \
            *request = MPI_Request_c2f(made);                                                      \
        say(ierr, code);                                                                           \
    }
#define PERSISTENT(name, call, SHAPE)                                                              \
    void tuwtree_fortran_##name(SHAPE##_PARAMETERS, MPI_Fint *comm, MPI_Fint *info,                \
                                MPI_Fint *request, MPI_Fint *ierr)                                 \
    {                                                                                              \
        MPI_Request made;                                                                          \
        int code = call(SHAPE##_ARGUMENTS, MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &made);       \
        if (code == MPI_SUCCESS)                                                                   \
            *request = MPI_Request_c2f(made);                                                      \
        say(ierr, code);                                                                           \
    }

BLOCKING(gatherv, MPI_Gatherv, GATHERV)
BLOCKING(scatterv, MPI_Scatterv, SCATTERV)
BLOCKING(allgatherv, MPI_Allgatherv, ALLGATHERV)
BLOCKING(reduce_scatter, MPI_Reduce_scatter, REDUCE_SCATTER)
BLOCKING(reduce_scatter_block, MPI_Reduce_scatter_block, REDUCE_SCATTER_BLOCK)
BLOCKING(alltoall, MPI_Alltoall, ALLTOALL)
BLOCKING(alltoallv, MPI_Alltoallv, ALLTOALLV)
NONBLOCKING(igatherv, MPI_Igatherv, GATHERV)
NONBLOCKING(iscatterv, MPI_Iscatterv, SCATTERV)
PERSISTENT(gatherv_init, INIT(Gatherv), GATHERV)
PERSISTENT(scatterv_init, INIT(Scatterv), SCATTERV)
PERSISTENT(allgatherv_init, INIT(Allgatherv), ALLGATHERV)
PERSISTENT(reduce_scatter_init, INIT(Reduce_scatter), REDUCE_SCATTER)
PERSISTENT(reduce_scatter_block_init, INIT(Reduce_scatter_block), REDUCE_SCATTER_BLOCK)
PERSISTENT(alltoallv_init, INIT(Alltoallv), ALLTOALLV)

#else

/* The addresses that stand for constants in mpi_f08. */
static int is_mpi_fortran_status_ignore(const void *address)
{
    return address == (const void *)MPI_F08_STATUS_IGNORE;
}

static int is_mpi_fortran_statuses_ignore(const void *address)
{
    return address == (const void *)MPI_F08_STATUSES_IGNORE;
}

#endif

/* Requests and statuses of a call as C has them: few without asking for memory. */
struct lists {
    int count;
    MPI_Request *requests, few_requests[FEW];
    MPI_Status *statuses, few_statuses[FEW];
};

/* Whether there is memory for the lists, with the requests in them. */
static int open_lists(struct lists *lists, MPI_Fint count, const MPI_Fint *requests)
{
    MPI_Fint i;
    lists->count = count > 0 ? count : 0;
    lists->requests = lists->few_requests;
    lists->statuses = lists->few_statuses;
    if (lists->count > FEW) {
        lists->requests = malloc((size_t)count * sizeof(MPI_Request));
        lists->statuses = malloc((size_t)count * sizeof(MPI_Status));
    }
    if (!lists->requests || !lists->statuses) {
        if (lists->count > FEW) {
            free(lists->requests);
            free(lists->statuses);
        }
        return 0;
    }
    for (i = 0; i < lists->count; i++)
        lists->requests[i] = MPI_Request_f2c(requests[i]);
    return 1;
}

/* Whether a call has written what it returns. */
static int is_written(int code) { return code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS; }

/* Hands out requests, and the first statuses, and frees the lists. */
static void close_lists(struct lists *lists, int code, MPI_Fint *requests, MPI_Fint *statuses,
                        int ended)
{
    int i;
    for (i = 0; is_written(code) && i < lists->count; i++)
        requests[i] = MPI_Request_c2f(lists->requests[i]);
    if (!is_mpi_fortran_statuses_ignore(statuses))
        for (i = 0; is_written(code) && i < ended; i++)
            MPI_Status_c2f(&lists->statuses[i], statuses + (size_t)i * STATUS_INTS);
    if (lists->requests != lists->few_requests) {
        free(lists->requests);
        free(lists->statuses);
    }
}

/* The statuses as a call takes them. */
static MPI_Status *statuses_of(struct lists *lists, const MPI_Fint *statuses)
{
    return is_mpi_fortran_statuses_ignore(statuses) ? MPI_STATUSES_IGNORE : lists->statuses;
}

/* Hands a status out, unless it is ignored. */
static void give_status(const MPI_Status *given, MPI_Fint *status)
{
    if (!is_mpi_fortran_status_ignore(status))
        MPI_Status_c2f(given, status);
}

void tuwtree_fortran_start(MPI_Fint *request, MPI_Fint *ierr)
{
    MPI_Request one = MPI_Request_f2c(*request);
    int code = MPI_Start(&one);
    if (code == MPI_SUCCESS)
        *request = MPI_Request_c2f(one);
    say(ierr, code);
}

void tuwtree_fortran_startall(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *ierr)
{
    struct lists lists;
    int code = MPI_ERR_NO_MEM;
    if (open_lists(&lists, *count, requests)) {
        code = MPI_Startall(*count, lists.requests);
        close_lists(&lists, code, requests, NULL, 0);
    }
    say(ierr, code);
}

void tuwtree_fortran_wait(MPI_Fint *request, MPI_Fint *status, MPI_Fint *ierr)
{
    MPI_Request one = MPI_Request_f2c(*request);
    MPI_Status given;
    int code = MPI_Wait(&one, &given);
    if (code == MPI_SUCCESS) {
        *request = MPI_Request_c2f(one);
        give_status(&given, status);
    }
    say(ierr, code);
}

void tuwtree_fortran_waitall(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *statuses,
                             MPI_Fint *ierr)
{
    struct lists lists;
    int code = MPI_ERR_NO_MEM;
    if (open_lists(&lists, *count, requests)) {
        code = MPI_Waitall(*count, lists.requests, statuses_of(&lists, statuses));
        close_lists(&lists, code, requests, statuses, lists.count);
    }
    say(ierr, code);
}

void tuwtree_fortran_waitany(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *status,
                             MPI_Fint *ierr)
{
    struct lists lists;
    MPI_Status given;
    int code = MPI_ERR_NO_MEM, at = MPI_UNDEFINED;
    if (open_lists(&lists, *count, requests)) {
        code = MPI_Waitany(*count, lists.requests, &at, &given);
        close_lists(&lists, code, requests, NULL, 0);
    }
    if (code == MPI_SUCCESS) {
        *index = at == MPI_UNDEFINED ? at : at + 1;
        give_status(&given, status);
    }
    say(ierr, code);
}

/* Hands out which of several have ended. */
static void give_indices(int code, int ended, MPI_Fint *outcount, MPI_Fint *indices)
{
    int i;
    if (!is_written(code))
        return;
    *outcount = ended;
    for (i = 0; ended != MPI_UNDEFINED && i < ended; i++)
        indices[i]++;
}

void tuwtree_fortran_waitsome(MPI_Fint *incount, MPI_Fint *requests, MPI_Fint *outcount,
                              MPI_Fint *indices, MPI_Fint *statuses, MPI_Fint *ierr)
{
    struct lists lists;
    int code = MPI_ERR_NO_MEM, ended = 0;
    if (open_lists(&lists, *incount, requests)) {
        code = MPI_Waitsome(*incount, lists.requests, &ended, indices,
                            statuses_of(&lists, statuses));
        close_lists(&lists, code, requests, statuses, ended == MPI_UNDEFINED ? 0 : ended);
        give_indices(code, ended, outcount, indices);
    }
    say(ierr, code);
}

void tuwtree_fortran_test(MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierr)
{
    MPI_Request one = MPI_Request_f2c(*request);
    MPI_Status given;
    int has_ended = 0, code = MPI_Test(&one, &has_ended, &given);
    if (code == MPI_SUCCESS) {
        *request = MPI_Request_c2f(one);
        *flag = has_ended;
        if (has_ended)
            give_status(&given, status);
    }
    say(ierr, code);
}

void tuwtree_fortran_testall(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *flag,
                             MPI_Fint *statuses, MPI_Fint *ierr)
{
    struct lists lists;
    int code = MPI_ERR_NO_MEM, have_ended = 0;
    if (open_lists(&lists, *count, requests)) {
        code = MPI_Testall(*count, lists.requests, &have_ended, statuses_of(&lists, statuses));
        close_lists(&lists, code, requests, statuses, have_ended ? lists.count : 0);
    }
    if (is_written(code))
        *flag = have_ended;
    say(ierr, code);
}

void tuwtree_fortran_testany(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *flag,
                             MPI_Fint *status, MPI_Fint *ierr)
{
    struct lists lists;
    MPI_Status given;
    int code = MPI_ERR_NO_MEM, at = MPI_UNDEFINED, has_ended = 0;
    if (open_lists(&lists, *count, requests)) {
        code = MPI_Testany(*count, lists.requests, &at, &has_ended, &given);
        close_lists(&lists, code, requests, NULL, 0);
    }
    if (code == MPI_SUCCESS) {
        *flag = has_ended;
        *index = at == MPI_UNDEFINED ? at : at + 1;
        if (has_ended)
            give_status(&given, status);
    }
    say(ierr, code);
}

void tuwtree_fortran_testsome(MPI_Fint *incount, MPI_Fint *requests, MPI_Fint *outcount,
                              MPI_Fint *indices, MPI_Fint *statuses, MPI_Fint *ierr)
{
    struct lists lists;
    int code = MPI_ERR_NO_MEM, ended = 0;
    if (open_lists(&lists, *incount, requests)) {
        code = MPI_Testsome(*incount, lists.requests, &ended, indices,
                            statuses_of(&lists, statuses));
        close_lists(&lists, code, requests, statuses, ended == MPI_UNDEFINED ? 0 : ended);
        give_indices(code, ended, outcount, indices);
    }
    say(ierr, code);
}

void tuwtree_fortran_request_get_status(MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status,
                                        MPI_Fint *ierr)
{
    MPI_Status given;
    int has_ended = 0;
    int code = MPI_Request_get_status(MPI_Request_f2c(*request), &has_ended, &given);
    if (code == MPI_SUCCESS) {
        *flag = has_ended;
        if (has_ended)
            give_status(&given, status);
    }
    say(ierr, code);
}

void tuwtree_fortran_request_free(MPI_Fint *request, MPI_Fint *ierr)
{
    MPI_Request one = MPI_Request_f2c(*request);
    int code = MPI_Request_free(&one);
    if (code == MPI_SUCCESS)
        *request = MPI_Request_c2f(MPI_REQUEST_NULL);
    say(ierr, code);
}

void tuwtree_fortran_finalize(MPI_Fint *ierr) { say(ierr, MPI_Finalize()); }
