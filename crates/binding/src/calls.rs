//! Each call of MPI, once: all that goes to the MPI library goes through here.
//!
//! The functions have MPI's names and arguments and return its code as a [`Result`]. They call the `PMPI_` names, so
//! that a preloaded library that replaces the `MPI_` ones does not call itself. The modules beside this one make safe
//! functions of them. (`error.rs` asks for the meaning of a code.)

#![expect(clippy::too_many_arguments, reason = "they are MPI's")]

use super::raw::{
    self, MPI_Aint, MPI_Comm, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function,
    MPI_Count, MPI_Datatype, MPI_Errhandler, MPI_Group, MPI_Info, MPI_Op, MPI_Request, MPI_Status,
    MPI_User_function,
};
use super::{MpiError, check};
use std::ffi::{c_char, c_int, c_void};

macro_rules! calls {
    ($($name:ident($($argument:ident: $type:ty),*) = $call:ident;)*) => {$(
        #[doc = concat!("Success, or the error that `", stringify!($call), "` returns.")]
        ///
        /// # Safety
        /// Safety: as the MPI standard demands.
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

        // Collective operations.
        barrier(comm: MPI_Comm) = PMPI_Barrier;
        bcast(buffer: *mut c_void, count: c_int, datatype: MPI_Datatype, root: c_int, comm: MPI_Comm) = PMPI_Bcast;
        gather(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm) = PMPI_Gather;
        scatter(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm) = PMPI_Scatter;
        reduce(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int, datatype: MPI_Datatype, op: MPI_Op, root: c_int, comm: MPI_Comm) = PMPI_Reduce;
        allreduce(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) = PMPI_Allreduce;
        allgather(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, comm: MPI_Comm) = PMPI_Allgather;
        op_commutative(op: MPI_Op, commute: *mut c_int) = PMPI_Op_commutative;
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
