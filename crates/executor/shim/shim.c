/* What only a C compiler can tell of an MPI library: constants that are macros with casts, and calls
 * that have other names, or none, in some libraries. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

extern const MPI_Datatype TUWTREE_BYTE;
extern void *const TUWTREE_IN_PLACE;
extern const int TUWTREE_COMBINER_NAMED;
extern const int TUWTREE_COMBINER_DUP;
extern const int TUWTREE_COMBINER_CONTIGUOUS;
extern const int TUWTREE_HAS_GATHERV_INIT;
int tuwtree_native_gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                void *recvbuf, const int recvcounts[], const int displs[],
                                MPI_Datatype recvtype, int root, MPI_Comm comm,
                                MPI_Request *request);
int tuwtree_native_scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[],
                                 MPI_Datatype sendtype, void *recvbuf, int recvcount,
                                 MPI_Datatype recvtype, int root, MPI_Comm comm,
                                 MPI_Request *request);
extern const int TUWTREE_HAS_LARGE_COUNTS;
int tuwtree_native_gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
                             *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                             MPI_Datatype recvtype, int root, MPI_Comm comm);
int tuwtree_native_gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint
                                  displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
                                  MPI_Request *request);
int tuwtree_native_igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
                              *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                              MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request);
int tuwtree_native_scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
                              displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                              MPI_Datatype recvtype, int root, MPI_Comm comm);
int tuwtree_native_scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
                                   displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count
                                   recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                   MPI_Request *request);
int tuwtree_native_iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
                               displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                               MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request
                               *request);

int tuwtree_native_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
        void *recvbuf, const int recvcounts[], const int displs[],
        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int tuwtree_native_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
        void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
        MPI_Datatype recvtype, MPI_Comm comm);
int tuwtree_native_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
        void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int tuwtree_native_iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
        void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int tuwtree_native_reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[],
        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request);
int tuwtree_native_reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount,
        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request);
int tuwtree_native_reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int tuwtree_native_reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int tuwtree_native_reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request);
int tuwtree_native_reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request);
int tuwtree_native_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
        MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
        MPI_Datatype recvtype, MPI_Comm comm);
int tuwtree_native_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int tuwtree_native_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
        MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int tuwtree_native_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
        MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int tuwtree_native_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int tuwtree_native_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);

const MPI_Datatype TUWTREE_BYTE = MPI_BYTE;
void *const TUWTREE_IN_PLACE = MPI_IN_PLACE;
const int TUWTREE_COMBINER_NAMED = MPI_COMBINER_NAMED;
const int TUWTREE_COMBINER_DUP = MPI_COMBINER_DUP;
const int TUWTREE_COMBINER_CONTIGUOUS = MPI_COMBINER_CONTIGUOUS;

/* The arguments are looked at, so that no compiler finds them unused. */
static inline int none_of(const void *a, ...) { return a ? MPI_ERR_OTHER : MPI_ERR_OTHER; }

/* Open MPI 5 calls itself MPI 3.1, and has the persistent collectives of MPI 4. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define GATHERV_INIT PMPI_Gatherv_init
#define SCATTERV_INIT PMPI_Scatterv_init
#define ALLGATHERV_INIT PMPI_Allgatherv_init
#define REDUCE_SCATTER_INIT PMPI_Reduce_scatter_init
#define REDUCE_SCATTER_BLOCK_INIT PMPI_Reduce_scatter_block_init
#define ALLTOALLV_INIT PMPI_Alltoallv_init
#define ALLTOALL_INIT PMPI_Alltoall_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
#define GATHERV_INIT PMPIX_Gatherv_init
#define SCATTERV_INIT PMPIX_Scatterv_init
#define ALLGATHERV_INIT PMPIX_Allgatherv_init
#define REDUCE_SCATTER_INIT PMPIX_Reduce_scatter_init
#define REDUCE_SCATTER_BLOCK_INIT PMPIX_Reduce_scatter_block_init
#define ALLTOALLV_INIT PMPIX_Alltoallv_init
#define ALLTOALL_INIT PMPIX_Alltoall_init
#endif

#ifdef GATHERV_INIT
const int TUWTREE_HAS_GATHERV_INIT = 1;
#else
const int TUWTREE_HAS_GATHERV_INIT = 0;
#define GATHERV_INIT none_of
#define SCATTERV_INIT none_of
#define ALLGATHERV_INIT none_of
#define REDUCE_SCATTER_INIT none_of
#define REDUCE_SCATTER_BLOCK_INIT none_of
#define ALLTOALLV_INIT none_of
#define ALLTOALL_INIT none_of
#endif

int tuwtree_native_gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                void *recvbuf, const int recvcounts[], const int displs[],
                                MPI_Datatype recvtype, int root, MPI_Comm comm,
                                MPI_Request *request)
{
    return GATHERV_INIT(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                        comm, MPI_INFO_NULL, request);
}

int tuwtree_native_scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[],
                                 MPI_Datatype sendtype, void *recvbuf, int recvcount,
                                 MPI_Datatype recvtype, int root, MPI_Comm comm,
                                 MPI_Request *request)
{
    return SCATTERV_INIT(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
                         comm, MPI_INFO_NULL, request);
}

#if MPI_VERSION >= 4
const int TUWTREE_HAS_LARGE_COUNTS = 1;
#define LARGE(call, arguments) call arguments
#else
const int TUWTREE_HAS_LARGE_COUNTS = 0;
#define LARGE(call, arguments) none_of arguments
#endif

int tuwtree_native_gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
                             *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                             MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return LARGE(PMPI_Gatherv_c, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                 recvtype, root, comm));
}

int tuwtree_native_gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint
                                  displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
                                  MPI_Request *request)
{
    return LARGE(PMPI_Gatherv_init_c, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                 recvtype, root, comm, MPI_INFO_NULL, request));
}

int tuwtree_native_igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void
                              *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                              MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return LARGE(PMPI_Igatherv_c, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                 recvtype, root, comm, request));
}

int tuwtree_native_scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
                              displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                              MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return LARGE(PMPI_Scatterv_c, (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                 recvtype, root, comm));
}

int tuwtree_native_scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
                                   displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count
                                   recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                   MPI_Request *request)
{
    return LARGE(PMPI_Scatterv_init_c, (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                 recvtype, root, comm, MPI_INFO_NULL, request));
}

int tuwtree_native_iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint
                               displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                               MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return LARGE(PMPI_Iscatterv_c, (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                 recvtype, root, comm, request));
}

int tuwtree_native_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
        void *recvbuf, const int recvcounts[], const int displs[],
        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return ALLGATHERV_INIT(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, MPI_INFO_NULL,
                           request);
}

int tuwtree_native_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
        void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
        MPI_Datatype recvtype, MPI_Comm comm)
{
    return LARGE(PMPI_Allgatherv_c, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm));
}

int tuwtree_native_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
        void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return LARGE(PMPI_Allgatherv_init_c, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, MPI_INFO_NULL, request));
}

int tuwtree_native_iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
        void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return LARGE(PMPI_Iallgatherv_c, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request));
}

int tuwtree_native_reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[],
        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return REDUCE_SCATTER_INIT(sendbuf, recvbuf, recvcounts, datatype, op, comm, MPI_INFO_NULL, request);
}

int tuwtree_native_reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount,
        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return REDUCE_SCATTER_BLOCK_INIT(sendbuf, recvbuf, recvcount, datatype, op, comm, MPI_INFO_NULL, request);
}

int tuwtree_native_reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return LARGE(PMPI_Reduce_scatter_c, (sendbuf, recvbuf, recvcounts, datatype, op, comm));
}

int tuwtree_native_reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return LARGE(PMPI_Reduce_scatter_block_c, (sendbuf, recvbuf, recvcount, datatype, op, comm));
}

int tuwtree_native_reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return LARGE(PMPI_Reduce_scatter_init_c, (sendbuf, recvbuf, recvcounts, datatype, op, comm, MPI_INFO_NULL, request));
}

int tuwtree_native_reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return LARGE(PMPI_Reduce_scatter_block_init_c, (sendbuf, recvbuf, recvcount, datatype, op, comm, MPI_INFO_NULL, request));
}

int tuwtree_native_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
        MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
        MPI_Datatype recvtype, MPI_Comm comm)
{
    return LARGE(PMPI_Alltoallv_c, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm));
}

int tuwtree_native_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
        MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return ALLTOALLV_INIT(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
                          MPI_INFO_NULL, request);
}

int tuwtree_native_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
        MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return LARGE(PMPI_Alltoallv_init_c, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, MPI_INFO_NULL, request));
}

int tuwtree_native_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return LARGE(PMPI_Alltoall_c, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

int tuwtree_native_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return ALLTOALL_INIT(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, MPI_INFO_NULL, request);
}

int tuwtree_native_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return LARGE(PMPI_Alltoall_init_c, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, MPI_INFO_NULL, request));
}
