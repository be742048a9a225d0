/* tuwtree: irregular gather and scatter along trees, and irregular allgather and reduce-scatter, on MPI.
 *
 * MPI_Gatherv and MPI_Scatterv with the same arguments and the same meaning, but along adaptive
 * binomial trees, or a given or chosen one; MPI_Allgatherv, MPI_Reduce_scatter and
 * MPI_Reduce_scatter_block on circulant graphs; once, or set up once and started many times; and
 * MPI_Alltoallv and MPI_Alltoall, with small messages in bundles.
 *
 * What is expected of programs is what MPI expects: all processes of the communicator call the same
 * operations in the same order, with the same root, and with sizes that agree. MPI_IN_PLACE at the
 * root or in an allgather, derived datatypes at both ends, and blocks of 0 bytes are allowed; inter-communicators are
 * not. Not more than one thread at a time uses a communicator.
 *
 * Every function returns MPI_SUCCESS or an error class of MPI, after the communicator's error
 * handler has been called with it; tuwtree_error_text tells more, and where the handler ends the
 * job, so does standard error.
 *
 * The first call on a communicator is collective even where it is not said, since it makes a private
 * one of the same processes. Attributes of the given one are not copied.
 */
#ifndef TUWTREE_MPI_H
#define TUWTREE_MPI_H

#include <mpi.h>

/* The version of this interface. */
#define TUWTREE_VERSION_MAJOR 0
#define TUWTREE_VERSION_MINOR 1

#ifdef __cplusplus
extern "C" {
#endif

/* An operation that is set up once and performed many times. */
typedef struct tuwtree_operation *tuwtree_request;

/* No operation. */
#define TUWTREE_REQUEST_NULL ((tuwtree_request)0)

/* As MPI_Gatherv. */
int tuwtree_gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                    MPI_Comm comm);

/* As MPI_Scatterv. */
int tuwtree_scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                     MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                     int root, MPI_Comm comm);

/* As MPI_Allgatherv. */
int tuwtree_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                       const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                       MPI_Comm comm);

/* As MPI_Reduce_scatter. Operators that do not commute, and elements with gaps, are the MPI library's. */
int tuwtree_reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/* As MPI_Reduce_scatter_block: all blocks have so many elements. */
int tuwtree_reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/* As MPI_Alltoallv. Small messages may go together, through other ranks. */
int tuwtree_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                      MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                      const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

/* As MPI_Alltoall, in the same way. */
int tuwtree_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* The same with large counts, as MPI_Gatherv_c and MPI_Scatterv_c of MPI 4, with every MPI library that has
 * MPI_Count. All ranks of a call use this form. */
int tuwtree_gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                      MPI_Datatype recvtype, int root, MPI_Comm comm);

int tuwtree_scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                       MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                       MPI_Datatype recvtype, int root, MPI_Comm comm);

/* The same where every rank gives what only the root has to give otherwise: counts and their datatype, the same at
 * all. Displacements and the buffer of all blocks still matter at the root only. With the algorithm deadline-online each
 * rank then finds its place in a tree by itself, for any counts, and no message goes but for data; calls with the same
 * counts and root as one of the last 16 need not find it again. With other algorithms it makes no difference. Counts that
 * differ between ranks are an error that may not be found. */
int tuwtree_gatherv_all_counts(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                               void *recvbuf, const int recvcounts[], const int displs[],
                               MPI_Datatype recvtype, int root, MPI_Comm comm);

int tuwtree_scatterv_all_counts(const void *sendbuf, const int sendcounts[], const int displs[],
                                MPI_Datatype sendtype, void *recvbuf, int recvcount,
                                MPI_Datatype recvtype, int root, MPI_Comm comm);

int tuwtree_gatherv_all_counts_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void *recvbuf, const MPI_Count recvcounts[],
                                 const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                                 MPI_Comm comm);

int tuwtree_scatterv_all_counts_c(const void *sendbuf, const MPI_Count sendcounts[],
                                  const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf,
                                  MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                  MPI_Comm comm);

int tuwtree_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                         MPI_Datatype recvtype, MPI_Comm comm);

int tuwtree_reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

int tuwtree_reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

int tuwtree_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                        MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                        const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

int tuwtree_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* Sets up a gather: who sends what to whom, and every message. Collective. The buffers stay the
 * program's, the lists are not needed any more when this returns. All ranks have an error if
 * one has. */
int tuwtree_gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                         const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                         int root, MPI_Comm comm, tuwtree_request *request);

/* Sets up a scatter, in the same way. */
int tuwtree_scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[],
                          MPI_Datatype sendtype, void *recvbuf, int recvcount,
                          MPI_Datatype recvtype, int root, MPI_Comm comm,
                          tuwtree_request *request);

/* Sets up an allgather, in the same way. */
int tuwtree_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, const int recvcounts[], const int displs[],
                            MPI_Datatype recvtype, MPI_Comm comm, tuwtree_request *request);

/* Sets up a reduce-scatter, in the same way. An operator of the program's is not freed before the operation. */
int tuwtree_reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[],
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                tuwtree_request *request);

int tuwtree_reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount,
                                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                      tuwtree_request *request);

/* Sets up an alltoall, in the same way. That both ends say the same of each message is compared. */
int tuwtree_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                           MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                           const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                           tuwtree_request *request);

/* Messages that all have one size: counts are compared with what the others state, as in all set-ups. */
int tuwtree_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                          int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          tuwtree_request *request);

/* The same with large counts. */
int tuwtree_gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                           MPI_Datatype recvtype, int root, MPI_Comm comm,
                           tuwtree_request *request);

int tuwtree_scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                            const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                            tuwtree_request *request);

int tuwtree_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                              MPI_Datatype recvtype, MPI_Comm comm, tuwtree_request *request);

int tuwtree_reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                  tuwtree_request *request);

int tuwtree_reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                        tuwtree_request *request);

int tuwtree_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                             const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                             const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                             MPI_Datatype recvtype, MPI_Comm comm, tuwtree_request *request);

int tuwtree_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                            MPI_Comm comm, tuwtree_request *request);

/* Starts the operation with what is in the buffers now. They are not to be touched until it has
 * ended. Several operations may be under way, on one communicator too. */
int tuwtree_start(tuwtree_request *request);

/* Waits until the operation has ended at this rank. At once if it is not under way. */
int tuwtree_wait(tuwtree_request *request);

/* Sets *flag to 1 if the operation has ended at this rank or is not under way, else to 0.
 * Messages of the operation move on only in tuwtree_wait and tuwtree_test; those of operations that are started once also
 * while other calls of this library wait. */
int tuwtree_test(tuwtree_request *request, int *flag);

/* Frees an operation that is not under way, and sets *request to TUWTREE_REQUEST_NULL. Before
 * MPI_Finalize. */
int tuwtree_free(tuwtree_request *request);

/* Changes how operations on this communicator are performed that are called or set up from now on.
 * Collective: all ranks say the same; the first one reads the file, if it is one. The
 * defaults are from the environment of the communicator's rank 0.
 *
 *   name        value                                              environment
 *   algorithm   adaptive (adaptive-gather-time),                   TUWTREE_ALGORITHM
 *               adaptive-data-size, adaptive-completion-time,
 *               deadline-online, linear, native, schedule, auto
 *               (auto if a machine is known, else native)
 *   mode        eager (the default), strict                        TUWTREE_MODE
 *   machine     the name of a built-in machine or a file, for      TUWTREE_MACHINE
 *               adaptive-completion-time, deadline-online and auto
 *   schedule    the file of a schedule document, for schedule      TUWTREE_SCHEDULE
 *   most-passed bytes of others' data that a rank which is not     TUWTREE_MOST_PASSED
 *               the root holds at most; 64MiB
 *   window      bytes under way to a rank at once in a gather      TUWTREE_WINDOW
 *               by auto, on switches with small buffers
 *   trial       yes (the default), no: whether auto tries the      TUWTREE_TRIAL
 *               library's own call, too, and keeps the faster
 *   learn       the file of times that trials have measured in     TUWTREE_LEARN
 *               earlier runs
 *   allgather   auto, native, ring, circulant, circulant-pieces,   TUWTREE_ALLGATHER
 *               circulant-pieces:N with N pieces, bruck-postal,
 *               bruck-postal:N with messages of N steps under way,
 *               circulant-balanced and bruck-balanced, likewise,
 *               with large blocks at ranks far apart; lanes and
 *               node-all, on nodes of several ranks
 *               (auto if that is the algorithm, else native)
 *   reduce-scatter                                                 TUWTREE_REDUCE_SCATTER
 *               the same but ring, bruck-..., lanes, node-all; native
 *               combines in the MPI library's own order
 *   alltoall    auto, native, linear (each message straight),      TUWTREE_ALLTOALL
 *               bruck (small ones together), bruck:N in radix N,
 *               node-pairs (small ones together, on nodes)
 */
int tuwtree_set(MPI_Comm comm, const char *name, const char *value);

/* What the last error in this thread was about; empty if there was none. It lives until the next. */
const char *tuwtree_error_text(void);

#ifdef __cplusplus
}
#endif

#endif
