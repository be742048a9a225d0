//! Each call of MPI, once: all that goes to the MPI library goes through here.
//!
//! The functions have the names and arguments of MPI's own, and return its code as a [`Result`]. They
//! call the `PMPI_` names, so that a preloaded library that has replaced the `MPI_` ones does not call
//! itself. What is safe to call is made of them in the modules beside this one. (What a code means is
//! asked in `error.rs`.)

#![expect(clippy::too_many_arguments, reason = "they are MPI's")]

use super::raw::{
    self, MPI_Aint, MPI_Comm, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function,
    MPI_Count, MPI_Datatype, MPI_Errhandler, MPI_Grequest_cancel_function,
    MPI_Grequest_free_function, MPI_Grequest_query_function, MPI_Group, MPI_Info, MPI_Op,
    MPI_Request, MPI_Status, MPI_User_function,
};
use super::{MpiError, check};
use std::ffi::{c_char, c_int, c_void};

macro_rules! calls {
    ($($name:ident($($argument:ident: $type:ty),*) = $call:ident;)*) => {$(
        #[doc = concat!("Success, or the error that `", stringify!($call), "` returns.")]
        ///
        /// # Safety
        /// What the MPI standard demands of the call.
        ///
        /// # Errors
        /// Every code but `MPI_SUCCESS`.
        #[inline]
        pub unsafe fn $name($($argument: $type),*) -> Result<(), MpiError> {
            // SAFETY: what MPI demands of the call is what this function demands of its caller.
            let code = unsafe { raw::$call($($argument),*) };
            // As the standard names the call: without the P.
            check(&stringify!($call)[1..], code)
        }
    )*};
}

#[rustfmt::skip] // one line a call
mod table {
    use super::*;

    calls! {
        // Messages.
        send(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm) = PMPI_Send;
        recv(buf: *mut c_void, count: c_int, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, status: *mut MPI_Status) = PMPI_Recv;
        probe(source: c_int, tag: c_int, comm: MPI_Comm, status: *mut MPI_Status) = PMPI_Probe;
        sendrecv(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, source: c_int, recvtag: c_int, comm: MPI_Comm, status: *mut MPI_Status) = PMPI_Sendrecv;
        isend(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) = PMPI_Isend;
        irecv(buf: *mut c_void, count: c_int, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) = PMPI_Irecv;
        send_init(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) = PMPI_Send_init;
        recv_init(buf: *mut c_void, count: c_int, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) = PMPI_Recv_init;

        // Requests.
        start(request: *mut MPI_Request) = PMPI_Start;
        startall(count: c_int, array_of_requests: *mut MPI_Request) = PMPI_Startall;
        wait(request: *mut MPI_Request, status: *mut MPI_Status) = PMPI_Wait;
        waitall(count: c_int, array_of_requests: *mut MPI_Request, array_of_statuses: *mut MPI_Status) = PMPI_Waitall;
        waitany(count: c_int, array_of_requests: *mut MPI_Request, index: *mut c_int, status: *mut MPI_Status) = PMPI_Waitany;
        waitsome(incount: c_int, array_of_requests: *mut MPI_Request, outcount: *mut c_int, array_of_indices: *mut c_int, array_of_statuses: *mut MPI_Status) = PMPI_Waitsome;
        test(request: *mut MPI_Request, flag: *mut c_int, status: *mut MPI_Status) = PMPI_Test;
        testall(count: c_int, array_of_requests: *mut MPI_Request, flag: *mut c_int, array_of_statuses: *mut MPI_Status) = PMPI_Testall;
        testany(count: c_int, array_of_requests: *mut MPI_Request, index: *mut c_int, flag: *mut c_int, status: *mut MPI_Status) = PMPI_Testany;
        testsome(incount: c_int, array_of_requests: *mut MPI_Request, outcount: *mut c_int, array_of_indices: *mut c_int, array_of_statuses: *mut MPI_Status) = PMPI_Testsome;
        request_get_status(request: MPI_Request, flag: *mut c_int, status: *mut MPI_Status) = PMPI_Request_get_status;
        request_free(request: *mut MPI_Request) = PMPI_Request_free;
        get_elements_x(status: *const MPI_Status, datatype: MPI_Datatype, count: *mut MPI_Count) = PMPI_Get_elements_x;

        cancel(request: *mut MPI_Request) = PMPI_Cancel;
        iprobe(source: c_int, tag: c_int, comm: MPI_Comm, flag: *mut c_int, status: *mut MPI_Status) = PMPI_Iprobe;
        grequest_start(query_fn: MPI_Grequest_query_function, free_fn: MPI_Grequest_free_function, cancel_fn: MPI_Grequest_cancel_function, extra_state: *mut c_void, request: *mut MPI_Request) = PMPI_Grequest_start;
        grequest_complete(request: MPI_Request) = PMPI_Grequest_complete;
        status_set_elements(status: *mut MPI_Status, datatype: MPI_Datatype, count: c_int) = PMPI_Status_set_elements;
        status_set_cancelled(status: *mut MPI_Status, flag: c_int) = PMPI_Status_set_cancelled;

        // Collective operations.
        ibcast(buffer: *mut c_void, count: c_int, datatype: MPI_Datatype, root: c_int, comm: MPI_Comm, request: *mut MPI_Request) = PMPI_Ibcast;
        iallreduce(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, request: *mut MPI_Request) = PMPI_Iallreduce;
        barrier(comm: MPI_Comm) = PMPI_Barrier;
        bcast(buffer: *mut c_void, count: c_int, datatype: MPI_Datatype, root: c_int, comm: MPI_Comm) = PMPI_Bcast;
        gather(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm) = PMPI_Gather;
        scatter(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm) = PMPI_Scatter;
        gatherv(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: *const c_int, displs: *const c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm) = PMPI_Gatherv;
        scatterv(sendbuf: *const c_void, sendcounts: *const c_int, displs: *const c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm) = PMPI_Scatterv;
        igatherv(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: *const c_int, displs: *const c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, request: *mut MPI_Request) = PMPI_Igatherv;
        iscatterv(sendbuf: *const c_void, sendcounts: *const c_int, displs: *const c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, request: *mut MPI_Request) = PMPI_Iscatterv;
        reduce(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int, datatype: MPI_Datatype, op: MPI_Op, root: c_int, comm: MPI_Comm) = PMPI_Reduce;
        allreduce(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) = PMPI_Allreduce;
        allgather(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, comm: MPI_Comm) = PMPI_Allgather;
        alltoall(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, comm: MPI_Comm) = PMPI_Alltoall;
        ialltoall(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, comm: MPI_Comm, request: *mut MPI_Request) = PMPI_Ialltoall;
        alltoallv(sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtype: MPI_Datatype, comm: MPI_Comm) = PMPI_Alltoallv;
        ialltoallv(sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtype: MPI_Datatype, comm: MPI_Comm, request: *mut MPI_Request) = PMPI_Ialltoallv;
        reduce_scatter(sendbuf: *const c_void, recvbuf: *mut c_void, recvcounts: *const c_int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) = PMPI_Reduce_scatter;
        reduce_scatter_block(sendbuf: *const c_void, recvbuf: *mut c_void, recvcount: c_int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) = PMPI_Reduce_scatter_block;
        ireduce_scatter(sendbuf: *const c_void, recvbuf: *mut c_void, recvcounts: *const c_int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, request: *mut MPI_Request) = PMPI_Ireduce_scatter;
        ireduce_scatter_block(sendbuf: *const c_void, recvbuf: *mut c_void, recvcount: c_int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, request: *mut MPI_Request) = PMPI_Ireduce_scatter_block;
        op_commutative(op: MPI_Op, commute: *mut c_int) = PMPI_Op_commutative;
        allgatherv(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: *const c_int, displs: *const c_int, recvtype: MPI_Datatype, comm: MPI_Comm) = PMPI_Allgatherv;
        iallgatherv(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: *const c_int, displs: *const c_int, recvtype: MPI_Datatype, comm: MPI_Comm, request: *mut MPI_Request) = PMPI_Iallgatherv;
        reduce_local(inbuf: *const c_void, inoutbuf: *mut c_void, count: c_int, datatype: MPI_Datatype, op: MPI_Op) = PMPI_Reduce_local;

        // Communicators.
        comm_rank(comm: MPI_Comm, rank: *mut c_int) = PMPI_Comm_rank;
        comm_size(comm: MPI_Comm, size: *mut c_int) = PMPI_Comm_size;
        comm_group(comm: MPI_Comm, group: *mut MPI_Group) = PMPI_Comm_group;
        comm_create(comm: MPI_Comm, group: MPI_Group, newcomm: *mut MPI_Comm) = PMPI_Comm_create;
        group_free(group: *mut MPI_Group) = PMPI_Group_free;
        comm_split(comm: MPI_Comm, color: c_int, key: c_int, newcomm: *mut MPI_Comm) = PMPI_Comm_split;
        intercomm_create(local_comm: MPI_Comm, local_leader: c_int, bridge_comm: MPI_Comm, remote_leader: c_int, tag: c_int, newintercomm: *mut MPI_Comm) = PMPI_Intercomm_create;
        comm_split_type(comm: MPI_Comm, split_type: c_int, key: c_int, info: MPI_Info, newcomm: *mut MPI_Comm) = PMPI_Comm_split_type;
        comm_free(comm: *mut MPI_Comm) = PMPI_Comm_free;
        comm_test_inter(comm: MPI_Comm, flag: *mut c_int) = PMPI_Comm_test_inter;
        comm_get_attr(comm: MPI_Comm, comm_keyval: c_int, attribute_val: *mut c_void, flag: *mut c_int) = PMPI_Comm_get_attr;
        comm_set_attr(comm: MPI_Comm, comm_keyval: c_int, attribute_val: *mut c_void) = PMPI_Comm_set_attr;
        comm_create_keyval(comm_copy_attr_fn: MPI_Comm_copy_attr_function, comm_delete_attr_fn: MPI_Comm_delete_attr_function, comm_keyval: *mut c_int, extra_state: *mut c_void) = PMPI_Comm_create_keyval;
        comm_get_errhandler(comm: MPI_Comm, erhandler: *mut MPI_Errhandler) = PMPI_Comm_get_errhandler;
        comm_set_errhandler(comm: MPI_Comm, errhandler: MPI_Errhandler) = PMPI_Comm_set_errhandler;
        errhandler_free(errhandler: *mut MPI_Errhandler) = PMPI_Errhandler_free;
        comm_call_errhandler(comm: MPI_Comm, errorcode: c_int) = PMPI_Comm_call_errhandler;

        // Datatypes and operators.
        type_dup(type_: MPI_Datatype, newtype: *mut MPI_Datatype) = PMPI_Type_dup;
        type_vector(count: c_int, blocklength: c_int, stride: c_int, oldtype: MPI_Datatype, newtype: *mut MPI_Datatype) = PMPI_Type_vector;
        type_create_hindexed(count: c_int, array_of_blocklengths: *const c_int, array_of_displacements: *const MPI_Aint, oldtype: MPI_Datatype, newtype: *mut MPI_Datatype) = PMPI_Type_create_hindexed;
        type_commit(type_: *mut MPI_Datatype) = PMPI_Type_commit;
        type_free(type_: *mut MPI_Datatype) = PMPI_Type_free;
        type_size_x(type_: MPI_Datatype, size: *mut MPI_Count) = PMPI_Type_size_x;
        type_get_extent_x(type_: MPI_Datatype, lb: *mut MPI_Count, extent: *mut MPI_Count) = PMPI_Type_get_extent_x;
        type_get_true_extent_x(datatype: MPI_Datatype, true_lb: *mut MPI_Count, true_extent: *mut MPI_Count) = PMPI_Type_get_true_extent_x;
        type_get_envelope(type_: MPI_Datatype, num_integers: *mut c_int, num_addresses: *mut c_int, num_datatypes: *mut c_int, combiner: *mut c_int) = PMPI_Type_get_envelope;
        type_get_contents(mtype: MPI_Datatype, max_integers: c_int, max_addresses: c_int, max_datatypes: c_int, array_of_integers: *mut c_int, array_of_addresses: *mut MPI_Aint, array_of_datatypes: *mut MPI_Datatype) = PMPI_Type_get_contents;
        op_create(function: MPI_User_function, commute: c_int, op: *mut MPI_Op) = PMPI_Op_create;
        op_free(op: *mut MPI_Op) = PMPI_Op_free;

        // The library.
        initialized(flag: *mut c_int) = PMPI_Initialized;
        finalized(flag: *mut c_int) = PMPI_Finalized;
        finalize() = PMPI_Finalize;
        query_thread(provided: *mut c_int) = PMPI_Query_thread;
        abort(comm: MPI_Comm, errorcode: c_int) = PMPI_Abort;
        get_library_version(version: *mut c_char, resultlen: *mut c_int) = PMPI_Get_library_version;
        get_processor_name(name: *mut c_char, resultlen: *mut c_int) = PMPI_Get_processor_name;
    }
}

pub use table::*;

/// Success, or the error that `MPI_Gatherv_init` returns, under whatever name the library has it;
/// `MPI_ERR_OTHER` where it has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn gatherv_init(
    (sendbuf, sendcount, sendtype): (*const c_void, c_int, MPI_Datatype),
    (recvbuf, recvcounts, displs, recvtype): (
        *mut c_void,
        *const c_int,
        *const c_int,
        MPI_Datatype,
    ),
    (root, comm): (c_int, MPI_Comm),
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Gatherv_init`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_gatherv_init(
            sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
            request,
        )
    };
    check("MPI_Gatherv_init", code)
}

/// Success, or the error that `MPI_Scatterv_init` returns, as [`gatherv_init`].
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn scatterv_init(
    (sendbuf, sendcounts, displs, sendtype): (
        *const c_void,
        *const c_int,
        *const c_int,
        MPI_Datatype,
    ),
    (recvbuf, recvcount, recvtype): (*mut c_void, c_int, MPI_Datatype),
    (root, comm): (c_int, MPI_Comm),
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Scatterv_init`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_scatterv_init(
            sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
            request,
        )
    };
    check("MPI_Scatterv_init", code)
}

/// Where an alltoall puts all messages: memory, counts, displacements, datatype.
type Target = (*mut c_void, *const c_int, *const c_int, MPI_Datatype);

/// Where an alltoall takes all messages from.
type Source = (*const c_void, *const c_int, *const c_int, MPI_Datatype);

/// Where a gather with large counts puts all blocks: memory, counts, displacements, datatype.
type LargeTarget = (*mut c_void, *const MPI_Count, *const MPI_Aint, MPI_Datatype);

/// Where a scatter with large counts takes all blocks from.
type LargeSource = (*const c_void, *const MPI_Count, *const MPI_Aint, MPI_Datatype);

/// Success, or the error that `MPI_Gatherv_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn gatherv_c(
    (sendbuf, sendcount, sendtype): (*const c_void, MPI_Count, MPI_Datatype),
    (recvbuf, recvcounts, displs, recvtype): LargeTarget,
    (root, comm): (c_int, MPI_Comm),
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Gatherv_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_gatherv_c(
            sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
        )
    };
    check("MPI_Gatherv_c", code)
}

/// Success, or the error that `MPI_Gatherv_init_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn gatherv_init_c(
    (sendbuf, sendcount, sendtype): (*const c_void, MPI_Count, MPI_Datatype),
    (recvbuf, recvcounts, displs, recvtype): LargeTarget,
    (root, comm): (c_int, MPI_Comm),
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Gatherv_init_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_gatherv_init_c(
            sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
            request,
        )
    };
    check("MPI_Gatherv_init_c", code)
}

/// Success, or the error that `MPI_Igatherv_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn igatherv_c(
    (sendbuf, sendcount, sendtype): (*const c_void, MPI_Count, MPI_Datatype),
    (recvbuf, recvcounts, displs, recvtype): LargeTarget,
    (root, comm): (c_int, MPI_Comm),
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Igatherv_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_igatherv_c(
            sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
            request,
        )
    };
    check("MPI_Igatherv_c", code)
}

/// Success, or the error that `MPI_Scatterv_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn scatterv_c(
    (sendbuf, sendcounts, displs, sendtype): LargeSource,
    (recvbuf, recvcount, recvtype): (*mut c_void, MPI_Count, MPI_Datatype),
    (root, comm): (c_int, MPI_Comm),
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Scatterv_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_scatterv_c(
            sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
        )
    };
    check("MPI_Scatterv_c", code)
}

/// Success, or the error that `MPI_Scatterv_init_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn scatterv_init_c(
    (sendbuf, sendcounts, displs, sendtype): LargeSource,
    (recvbuf, recvcount, recvtype): (*mut c_void, MPI_Count, MPI_Datatype),
    (root, comm): (c_int, MPI_Comm),
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Scatterv_init_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_scatterv_init_c(
            sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
            request,
        )
    };
    check("MPI_Scatterv_init_c", code)
}

/// Success, or the error that `MPI_Iscatterv_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn iscatterv_c(
    (sendbuf, sendcounts, displs, sendtype): LargeSource,
    (recvbuf, recvcount, recvtype): (*mut c_void, MPI_Count, MPI_Datatype),
    (root, comm): (c_int, MPI_Comm),
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Iscatterv_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_iscatterv_c(
            sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
            request,
        )
    };
    check("MPI_Iscatterv_c", code)
}

/// Success, or the error that `MPI_Allgatherv_init` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn allgatherv_init(
    (sendbuf, sendcount, sendtype): (*const c_void, c_int, MPI_Datatype),
    (recvbuf, recvcounts, displs, recvtype): (
        *mut c_void,
        *const c_int,
        *const c_int,
        MPI_Datatype,
    ),
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Allgatherv_init`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_allgatherv_init(
            sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request,
        )
    };
    check("MPI_Allgatherv_init", code)
}

/// Success, or the error that `MPI_Allgatherv_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn allgatherv_c(
    (sendbuf, sendcount, sendtype): (*const c_void, MPI_Count, MPI_Datatype),
    (recvbuf, recvcounts, displs, recvtype): LargeTarget,
    comm: MPI_Comm,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Allgatherv_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_allgatherv_c(
            sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
        )
    };
    check("MPI_Allgatherv_c", code)
}

/// Success, or the error that `MPI_Allgatherv_init_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn allgatherv_init_c(
    (sendbuf, sendcount, sendtype): (*const c_void, MPI_Count, MPI_Datatype),
    (recvbuf, recvcounts, displs, recvtype): LargeTarget,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Allgatherv_init_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_allgatherv_init_c(
            sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request,
        )
    };
    check("MPI_Allgatherv_init_c", code)
}

/// Success, or the error that `MPI_Iallgatherv_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn iallgatherv_c(
    (sendbuf, sendcount, sendtype): (*const c_void, MPI_Count, MPI_Datatype),
    (recvbuf, recvcounts, displs, recvtype): LargeTarget,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Iallgatherv_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_iallgatherv_c(
            sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request,
        )
    };
    check("MPI_Iallgatherv_c", code)
}

/// Success, or the error that `MPI_Reduce_scatter_init` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn reduce_scatter_init(
    (sendbuf, recvbuf): (*const c_void, *mut c_void),
    recvcounts: *const c_int,
    (datatype, op): (MPI_Datatype, MPI_Op),
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Reduce_scatter_init`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_reduce_scatter_init(
            sendbuf, recvbuf, recvcounts, datatype, op, comm, request,
        )
    };
    check("MPI_Reduce_scatter_init", code)
}

/// Success, or the error that `MPI_Reduce_scatter_block_init` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn reduce_scatter_block_init(
    (sendbuf, recvbuf): (*const c_void, *mut c_void),
    recvcount: c_int,
    (datatype, op): (MPI_Datatype, MPI_Op),
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Reduce_scatter_block_init`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_reduce_scatter_block_init(
            sendbuf, recvbuf, recvcount, datatype, op, comm, request,
        )
    };
    check("MPI_Reduce_scatter_block_init", code)
}

/// Success, or the error that `MPI_Reduce_scatter_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn reduce_scatter_c(
    (sendbuf, recvbuf): (*const c_void, *mut c_void),
    recvcounts: *const MPI_Count,
    (datatype, op): (MPI_Datatype, MPI_Op),
    comm: MPI_Comm,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Reduce_scatter_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_reduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm)
    };
    check("MPI_Reduce_scatter_c", code)
}

/// Success, or the error that `MPI_Reduce_scatter_block_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn reduce_scatter_block_c(
    (sendbuf, recvbuf): (*const c_void, *mut c_void),
    recvcount: MPI_Count,
    (datatype, op): (MPI_Datatype, MPI_Op),
    comm: MPI_Comm,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Reduce_scatter_block_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_reduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm)
    };
    check("MPI_Reduce_scatter_block_c", code)
}

/// Success, or the error that `MPI_Reduce_scatter_init_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn reduce_scatter_init_c(
    (sendbuf, recvbuf): (*const c_void, *mut c_void),
    recvcounts: *const MPI_Count,
    (datatype, op): (MPI_Datatype, MPI_Op),
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Reduce_scatter_init_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_reduce_scatter_init_c(
            sendbuf, recvbuf, recvcounts, datatype, op, comm, request,
        )
    };
    check("MPI_Reduce_scatter_init_c", code)
}

/// Success, or the error that `MPI_Reduce_scatter_block_init_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn reduce_scatter_block_init_c(
    (sendbuf, recvbuf): (*const c_void, *mut c_void),
    recvcount: MPI_Count,
    (datatype, op): (MPI_Datatype, MPI_Op),
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Reduce_scatter_block_init_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_reduce_scatter_block_init_c(
            sendbuf, recvbuf, recvcount, datatype, op, comm, request,
        )
    };
    check("MPI_Reduce_scatter_block_init_c", code)
}

/// Success, or the error that `MPI_Alltoallv_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn alltoallv_c(
    (sendbuf, sendcounts, sdispls, sendtype): LargeSource,
    (recvbuf, recvcounts, rdispls, recvtype): LargeTarget,
    comm: MPI_Comm,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Alltoallv_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_alltoallv_c(
            sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
        )
    };
    check("MPI_Alltoallv_c", code)
}

/// Success, or the error that `MPI_Alltoallv_init` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn alltoallv_init(
    (sendbuf, sendcounts, sdispls, sendtype): Source,
    (recvbuf, recvcounts, rdispls, recvtype): Target,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Alltoallv_init`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_alltoallv_init(
            sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
            request,
        )
    };
    check("MPI_Alltoallv_init", code)
}

/// Success, or the error that `MPI_Alltoallv_init_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn alltoallv_init_c(
    (sendbuf, sendcounts, sdispls, sendtype): LargeSource,
    (recvbuf, recvcounts, rdispls, recvtype): LargeTarget,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Alltoallv_init_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_alltoallv_init_c(
            sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
            request,
        )
    };
    check("MPI_Alltoallv_init_c", code)
}

/// Success, or the error that `MPI_Alltoall_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn alltoall_c(
    (sendbuf, sendcount, sendtype): (*const c_void, MPI_Count, MPI_Datatype),
    (recvbuf, recvcount, recvtype): (*mut c_void, MPI_Count, MPI_Datatype),
    comm: MPI_Comm,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Alltoall_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_alltoall_c(
            sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
        )
    };
    check("MPI_Alltoall_c", code)
}

/// Success, or the error that `MPI_Alltoall_init` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn alltoall_init(
    (sendbuf, sendcount, sendtype): (*const c_void, c_int, MPI_Datatype),
    (recvbuf, recvcount, recvtype): (*mut c_void, c_int, MPI_Datatype),
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Alltoall_init`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_alltoall_init(
            sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request,
        )
    };
    check("MPI_Alltoall_init", code)
}

/// Success, or the error that `MPI_Alltoall_init_c` returns; `MPI_ERR_OTHER` where the library has none.
///
/// # Safety
/// What the MPI standard demands of the call.
///
/// # Errors
/// Every code but `MPI_SUCCESS`.
pub unsafe fn alltoall_init_c(
    (sendbuf, sendcount, sendtype): (*const c_void, MPI_Count, MPI_Datatype),
    (recvbuf, recvcount, recvtype): (*mut c_void, MPI_Count, MPI_Datatype),
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> Result<(), MpiError> {
    // SAFETY: the shim passes all on to `MPI_Alltoall_init_c`, whose demands are this function's.
    let code = unsafe {
        raw::tuwtree_native_alltoall_init_c(
            sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request,
        )
    };
    check("MPI_Alltoall_init_c", code)
}
