//! Reduce-scatters for C: once, and set up.

use crate::{COperation, hand_out};
use std::ffi::{c_int, c_void};
use tuwtree_executor::collective::{CollectiveError, collectives_of, guarded};
use tuwtree_executor::sys::ReduceScatterArguments;
use tuwtree_executor::sys::raw::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Op};

/// Combines vectors and scatters the result: `MPI_Reduce_scatter`.
///
/// # Safety
/// What the MPI standard demands of `MPI_Reduce_scatter`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_reduce_scatter(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: the caller's promise is that of `MPI_Reduce_scatter`; nothing is kept after the call.
    unsafe {
        let arguments = ReduceScatterArguments::new(buffers, recvcounts, combining);
        guarded(comm, || run(&arguments, comm))
    }
}

/// Combines vectors and scatters the result: `MPI_Reduce_scatter_block`.
///
/// # Safety
/// What the MPI standard demands of `MPI_Reduce_scatter_block`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_reduce_scatter_block(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: c_int,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: the caller's promise is that of `MPI_Reduce_scatter_block`; nothing is kept after the call.
    unsafe {
        let arguments = ReduceScatterArguments::block(buffers, recvcount, combining);
        guarded(comm, || run(&arguments, comm))
    }
}

/// Combines vectors and scatters the result: `MPI_Reduce_scatter_c`.
///
/// # Safety
/// What the MPI standard demands of `MPI_Reduce_scatter_c`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_reduce_scatter_c(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: the caller's promise is that of `MPI_Reduce_scatter_c`; nothing is kept after the call.
    unsafe {
        let arguments = ReduceScatterArguments::large(buffers, recvcounts, combining);
        guarded(comm, || run(&arguments, comm))
    }
}

/// Combines vectors and scatters the result: `MPI_Reduce_scatter_block_c`.
///
/// # Safety
/// What the MPI standard demands of `MPI_Reduce_scatter_block_c`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_reduce_scatter_block_c(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: the caller's promise is that of `MPI_Reduce_scatter_block_c`; nothing is kept after the call.
    unsafe {
        let arguments = ReduceScatterArguments::block_large(buffers, recvcount, combining);
        guarded(comm, || run(&arguments, comm))
    }
}

/// Sets up a reduce-scatter with a count for each block.
///
/// # Safety
/// What the MPI standard demands of `MPI_Reduce_scatter_init`; `request` points to a place for the result, or is null,
/// which is an error; communicator and operator live until the operation is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_reduce_scatter_init(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: the caller promises buffers until the operation is freed, and a place for its handle.
    unsafe {
        let arguments = ReduceScatterArguments::new(buffers, recvcounts, combining);
        guarded(comm, || hand_out(comm, request, |own| own.init_reduce_scatter(&arguments)))
    }
}

/// Sets up a reduce-scatter in blocks of one size.
///
/// # Safety
/// What the MPI standard demands of `MPI_Reduce_scatter_block_init`; `request` points to a place for the result, or is null,
/// which is an error; communicator and operator live until the operation is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_reduce_scatter_block_init(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: c_int,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: the caller promises buffers until the operation is freed, and a place for its handle.
    unsafe {
        let arguments = ReduceScatterArguments::block(buffers, recvcount, combining);
        guarded(comm, || hand_out(comm, request, |own| own.init_reduce_scatter(&arguments)))
    }
}

/// Sets up a reduce-scatter with large counts.
///
/// # Safety
/// What the MPI standard demands of `MPI_Reduce_scatter_init_c`; `request` points to a place for the result, or is null,
/// which is an error; communicator and operator live until the operation is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_reduce_scatter_init_c(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: the caller promises buffers until the operation is freed, and a place for its handle.
    unsafe {
        let arguments = ReduceScatterArguments::large(buffers, recvcounts, combining);
        guarded(comm, || hand_out(comm, request, |own| own.init_reduce_scatter(&arguments)))
    }
}

/// Sets up a reduce-scatter in blocks of one large size.
///
/// # Safety
/// What the MPI standard demands of `MPI_Reduce_scatter_block_init_c`; `request` points to a place for the result, or is null,
/// which is an error; communicator and operator live until the operation is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_reduce_scatter_block_init_c(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> c_int {
    let (buffers, combining) = ((sendbuf, recvbuf), (datatype, op));
    // SAFETY: the caller promises buffers until the operation is freed, and a place for its handle.
    unsafe {
        let arguments = ReduceScatterArguments::block_large(buffers, recvcount, combining);
        guarded(comm, || hand_out(comm, request, |own| own.init_reduce_scatter(&arguments)))
    }
}

/// # Safety
/// As [`tuwtree_reduce_scatter`].
unsafe fn run(
    arguments: &ReduceScatterArguments<'_>,
    comm: MPI_Comm,
) -> Result<(), CollectiveError> {
    // SAFETY: a handle that MPI has given out, by the caller's promise.
    unsafe { collectives_of(comm)?.run_reduce_scatter(arguments).map(drop) }
}
