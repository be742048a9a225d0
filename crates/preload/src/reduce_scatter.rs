//! `MPI_Reduce_scatter` and `MPI_Reduce_scatter_block`, with counts of all kinds, once and persistent.

use crate::{Declined, Done, NOT_ALIKE, logged, record, registered, standing};
use std::ffi::{c_int, c_void};
use std::rc::Rc;
use tuwtree_executor::ClosedSet;
use tuwtree_executor::collective::Collectives;
#[cfg(has_large_counts)]
use tuwtree_executor::sys::raw::MPI_Count;
use tuwtree_executor::sys::raw::{MPI_Comm, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request};
use tuwtree_executor::sys::{ReduceScatterArguments, code_of};
use tuwtree_measure::RecordedOperation;

/// `MPI_Reduce_scatter`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Reduce_scatter(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: what the program gives to `MPI_Reduce_scatter` it keeps until this returns.
    unsafe {
        let arguments = ReduceScatterArguments::new(buffers, recvcounts, combining);
        perform("MPI_Reduce_scatter", &arguments, comm)
    }
}

/// `MPI_Reduce_scatter_block`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Reduce_scatter_block(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: c_int,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: what the program gives to `MPI_Reduce_scatter_block` it keeps until this returns.
    unsafe {
        let arguments = ReduceScatterArguments::block(buffers, recvcount, combining);
        perform("MPI_Reduce_scatter_block", &arguments, comm)
    }
}

/// `MPI_Reduce_scatter_c`.
///
/// # Safety
/// What the MPI standard demands.
#[cfg(has_large_counts)]
pub unsafe extern "C" fn MPI_Reduce_scatter_c(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: what the program gives to `MPI_Reduce_scatter_c` it keeps until this returns.
    unsafe {
        let arguments = ReduceScatterArguments::large(buffers, recvcounts, combining);
        perform("MPI_Reduce_scatter_c", &arguments, comm)
    }
}

/// `MPI_Reduce_scatter_block_c`.
///
/// # Safety
/// What the MPI standard demands.
#[cfg(has_large_counts)]
pub unsafe extern "C" fn MPI_Reduce_scatter_block_c(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: what the program gives to `MPI_Reduce_scatter_block_c` it keeps until this returns.
    unsafe {
        let arguments = ReduceScatterArguments::block_large(buffers, recvcount, combining);
        perform("MPI_Reduce_scatter_block_c", &arguments, comm)
    }
}

/// `MPI_Reduce_scatter_init`. Hints are not passed on.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Reduce_scatter_init(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    _info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: what the program gives to `MPI_Reduce_scatter_init` it keeps until it frees the request.
    unsafe {
        let arguments = ReduceScatterArguments::new(buffers, recvcounts, combining);
        set_up("MPI_Reduce_scatter_init", &arguments, (comm, request))
    }
}

/// `MPI_Reduce_scatter_init` under its name in Open MPI 4.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPIX_Reduce_scatter_init(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    // SAFETY: `MPIX_Reduce_scatter_init` demands what `MPI_Reduce_scatter_init` does, to which all is passed.
    unsafe {
        MPI_Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request)
    }
}

/// `MPI_Reduce_scatter_block_init`. Hints are not passed on.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Reduce_scatter_block_init(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: c_int,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    _info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: what the program gives to `MPI_Reduce_scatter_block_init` it keeps until it frees the request.
    unsafe {
        let arguments = ReduceScatterArguments::block(buffers, recvcount, combining);
        set_up("MPI_Reduce_scatter_block_init", &arguments, (comm, request))
    }
}

/// `MPI_Reduce_scatter_block_init` under its name in Open MPI 4.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPIX_Reduce_scatter_block_init(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: c_int,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    // SAFETY: `MPIX_Reduce_scatter_block_init` demands what `MPI_Reduce_scatter_block_init` does, to which all is passed.
    unsafe {
        MPI_Reduce_scatter_block_init(
            sendbuf, recvbuf, recvcount, datatype, op, comm, info, request,
        )
    }
}

/// `MPI_Reduce_scatter_init_c`. Hints are not passed on.
///
/// # Safety
/// What the MPI standard demands.
#[cfg(has_large_counts)]
pub unsafe extern "C" fn MPI_Reduce_scatter_init_c(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    _info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: what the program gives to `MPI_Reduce_scatter_init_c` it keeps until it frees the request.
    unsafe {
        let arguments = ReduceScatterArguments::large(buffers, recvcounts, combining);
        set_up("MPI_Reduce_scatter_init_c", &arguments, (comm, request))
    }
}

/// `MPI_Reduce_scatter_block_init_c`. Hints are not passed on.
///
/// # Safety
/// What the MPI standard demands.
#[cfg(has_large_counts)]
pub unsafe extern "C" fn MPI_Reduce_scatter_block_init_c(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    _info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: what the program gives to `MPI_Reduce_scatter_block_init_c` it keeps until it frees the request.
    unsafe {
        let arguments = ReduceScatterArguments::block_large(buffers, recvcount, combining);
        set_up("MPI_Reduce_scatter_block_init_c", &arguments, (comm, request))
    }
}

/// Performs a call, or has the library do it.
///
/// # Safety
/// As the calls.
unsafe fn perform(
    name: &'static str,
    arguments: &ReduceScatterArguments<'_>,
    comm: MPI_Comm,
) -> c_int {
    let work = |collectives: &Rc<Collectives>| {
        let done = collectives.run_reduce_scatter_leniently(arguments)?;
        let what = done.ok_or_else(|| Declined::ToNative(NOT_ALIKE.to_owned()))?.name();
        Ok(Done { what, processes: collectives.communicator().size() })
    };
    // SAFETY: the program's own arguments and communicator, by the caller's promise.
    unsafe {
        let native = || code_of(arguments.call_native(comm));
        recorded(name, arguments, comm, || logged(name, standing(comm), comm, (work, native)))
    }
}

/// Sets up a persistent operation, or has the library do it.
///
/// # Safety
/// As the calls.
unsafe fn set_up(
    name: &'static str,
    arguments: &ReduceScatterArguments<'static>,
    (comm, request): (MPI_Comm, *mut MPI_Request),
) -> c_int {
    // SAFETY: the program's own arguments and communicator, and a place for a request, by the caller's promise.
    unsafe {
        let work = |own: &Rc<Collectives>| {
            registered(own, (comm, request), |own| own.init_reduce_scatter(arguments))
        };
        let native = || code_of(arguments.init_native(comm, request));
        recorded(name, arguments, comm, || logged(name, standing(comm), comm, (work, native)))
    }
}

/// Does this, and records it.
///
/// # Safety
/// As the calls.
unsafe fn recorded(
    name: &'static str,
    arguments: &ReduceScatterArguments<'_>,
    comm: MPI_Comm,
    work: impl FnOnce() -> c_int,
) -> c_int {
    let began = record::began();
    let code = work();
    let what = (name, RecordedOperation::ReduceScatter);
    // SAFETY: the program's own communicator, by the caller's promise.
    unsafe { record::ended_everywhere(began, what, comm, |size| arguments.block_bytes(size)) };
    code
}
