//! The C interface itself: rsmpi's bindings, and what its shim lacks.

pub use mpi::ffi::*;

unsafe extern "C" {
    /// `MPI_BYTE`.
    pub static TUWTREE_BYTE: MPI_Datatype;
    /// `MPI_IN_PLACE`.
    pub static TUWTREE_IN_PLACE: *mut std::ffi::c_void;
    /// How the library says that a datatype is one of its own.
    pub static TUWTREE_COMBINER_NAMED: std::ffi::c_int;
    /// How it says that a datatype is a duplicate.
    pub static TUWTREE_COMBINER_DUP: std::ffi::c_int;
    /// How it says that a datatype is some elements of another, one after the other.
    pub static TUWTREE_COMBINER_CONTIGUOUS: std::ffi::c_int;
    /// 1 if the library has persistent gatherv and scatterv, else 0.
    pub static TUWTREE_HAS_GATHERV_INIT: std::ffi::c_int;

    /// `MPI_Gatherv_init`, under whatever name; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_gatherv_init(
        sendbuf: *const std::ffi::c_void,
        sendcount: std::ffi::c_int,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcounts: *const std::ffi::c_int,
        displs: *const std::ffi::c_int,
        recvtype: MPI_Datatype,
        root: std::ffi::c_int,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Scatterv_init`, under whatever name; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_scatterv_init(
        sendbuf: *const std::ffi::c_void,
        sendcounts: *const std::ffi::c_int,
        displs: *const std::ffi::c_int,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcount: std::ffi::c_int,
        recvtype: MPI_Datatype,
        root: std::ffi::c_int,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// 1 if the library has calls with large counts, else 0.
    pub static TUWTREE_HAS_LARGE_COUNTS: std::ffi::c_int;

    /// `MPI_Gatherv_c`; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_gatherv_c(
        sendbuf: *const std::ffi::c_void,
        sendcount: MPI_Count,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcounts: *const MPI_Count,
        displs: *const MPI_Aint,
        recvtype: MPI_Datatype,
        root: std::ffi::c_int,
        comm: MPI_Comm,
    ) -> std::ffi::c_int;

    /// `MPI_Gatherv_init_c`; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_gatherv_init_c(
        sendbuf: *const std::ffi::c_void,
        sendcount: MPI_Count,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcounts: *const MPI_Count,
        displs: *const MPI_Aint,
        recvtype: MPI_Datatype,
        root: std::ffi::c_int,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Igatherv_c`; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_igatherv_c(
        sendbuf: *const std::ffi::c_void,
        sendcount: MPI_Count,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcounts: *const MPI_Count,
        displs: *const MPI_Aint,
        recvtype: MPI_Datatype,
        root: std::ffi::c_int,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Scatterv_c`; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_scatterv_c(
        sendbuf: *const std::ffi::c_void,
        sendcounts: *const MPI_Count,
        displs: *const MPI_Aint,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcount: MPI_Count,
        recvtype: MPI_Datatype,
        root: std::ffi::c_int,
        comm: MPI_Comm,
    ) -> std::ffi::c_int;

    /// `MPI_Scatterv_init_c`; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_scatterv_init_c(
        sendbuf: *const std::ffi::c_void,
        sendcounts: *const MPI_Count,
        displs: *const MPI_Aint,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcount: MPI_Count,
        recvtype: MPI_Datatype,
        root: std::ffi::c_int,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Iscatterv_c`; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_iscatterv_c(
        sendbuf: *const std::ffi::c_void,
        sendcounts: *const MPI_Count,
        displs: *const MPI_Aint,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcount: MPI_Count,
        recvtype: MPI_Datatype,
        root: std::ffi::c_int,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Allgatherv_init`, under whatever name; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_allgatherv_init(
        sendbuf: *const std::ffi::c_void,
        sendcount: std::ffi::c_int,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcounts: *const std::ffi::c_int,
        displs: *const std::ffi::c_int,
        recvtype: MPI_Datatype,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Allgatherv_c`, under whatever name; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_allgatherv_c(
        sendbuf: *const std::ffi::c_void,
        sendcount: MPI_Count,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcounts: *const MPI_Count,
        displs: *const MPI_Aint,
        recvtype: MPI_Datatype,
        comm: MPI_Comm,
    ) -> std::ffi::c_int;

    /// `MPI_Allgatherv_init_c`, under whatever name; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_allgatherv_init_c(
        sendbuf: *const std::ffi::c_void,
        sendcount: MPI_Count,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcounts: *const MPI_Count,
        displs: *const MPI_Aint,
        recvtype: MPI_Datatype,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Iallgatherv_c`, under whatever name; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_iallgatherv_c(
        sendbuf: *const std::ffi::c_void,
        sendcount: MPI_Count,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcounts: *const MPI_Count,
        displs: *const MPI_Aint,
        recvtype: MPI_Datatype,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Reduce_scatter_init`, under whatever name; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_reduce_scatter_init(
        sendbuf: *const std::ffi::c_void,
        recvbuf: *mut std::ffi::c_void,
        recvcounts: *const std::ffi::c_int,
        datatype: MPI_Datatype,
        op: MPI_Op,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Reduce_scatter_block_init`, under whatever name; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_reduce_scatter_block_init(
        sendbuf: *const std::ffi::c_void,
        recvbuf: *mut std::ffi::c_void,
        recvcount: std::ffi::c_int,
        datatype: MPI_Datatype,
        op: MPI_Op,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Reduce_scatter_c`; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_reduce_scatter_c(
        sendbuf: *const std::ffi::c_void,
        recvbuf: *mut std::ffi::c_void,
        recvcounts: *const MPI_Count,
        datatype: MPI_Datatype,
        op: MPI_Op,
        comm: MPI_Comm,
    ) -> std::ffi::c_int;

    /// `MPI_Reduce_scatter_block_c`; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_reduce_scatter_block_c(
        sendbuf: *const std::ffi::c_void,
        recvbuf: *mut std::ffi::c_void,
        recvcount: MPI_Count,
        datatype: MPI_Datatype,
        op: MPI_Op,
        comm: MPI_Comm,
    ) -> std::ffi::c_int;

    /// `MPI_Reduce_scatter_init_c`; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_reduce_scatter_init_c(
        sendbuf: *const std::ffi::c_void,
        recvbuf: *mut std::ffi::c_void,
        recvcounts: *const MPI_Count,
        datatype: MPI_Datatype,
        op: MPI_Op,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Reduce_scatter_block_init_c`; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_reduce_scatter_block_init_c(
        sendbuf: *const std::ffi::c_void,
        recvbuf: *mut std::ffi::c_void,
        recvcount: MPI_Count,
        datatype: MPI_Datatype,
        op: MPI_Op,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Alltoall_c`; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_alltoall_c(
        sendbuf: *const std::ffi::c_void,
        sendcount: MPI_Count,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcount: MPI_Count,
        recvtype: MPI_Datatype,
        comm: MPI_Comm,
    ) -> std::ffi::c_int;

    /// `MPI_Alltoall_init`, under whatever name; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_alltoall_init(
        sendbuf: *const std::ffi::c_void,
        sendcount: std::ffi::c_int,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcount: std::ffi::c_int,
        recvtype: MPI_Datatype,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Alltoall_init_c`; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_alltoall_init_c(
        sendbuf: *const std::ffi::c_void,
        sendcount: MPI_Count,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcount: MPI_Count,
        recvtype: MPI_Datatype,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Alltoallv_init`, under whatever name; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_alltoallv_init(
        sendbuf: *const std::ffi::c_void,
        sendcounts: *const std::ffi::c_int,
        sdispls: *const std::ffi::c_int,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcounts: *const std::ffi::c_int,
        rdispls: *const std::ffi::c_int,
        recvtype: MPI_Datatype,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Alltoallv_init_c`; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_alltoallv_init_c(
        sendbuf: *const std::ffi::c_void,
        sendcounts: *const MPI_Count,
        sdispls: *const MPI_Aint,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcounts: *const MPI_Count,
        rdispls: *const MPI_Aint,
        recvtype: MPI_Datatype,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> std::ffi::c_int;

    /// `MPI_Alltoallv_c`; `MPI_ERR_OTHER` where there is none.
    pub fn tuwtree_native_alltoallv_c(
        sendbuf: *const std::ffi::c_void,
        sendcounts: *const MPI_Count,
        sdispls: *const MPI_Aint,
        sendtype: MPI_Datatype,
        recvbuf: *mut std::ffi::c_void,
        recvcounts: *const MPI_Count,
        rdispls: *const MPI_Aint,
        recvtype: MPI_Datatype,
        comm: MPI_Comm,
    ) -> std::ffi::c_int;
}
