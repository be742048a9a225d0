//! Nonblocking gather and scatter for C: started once, and gone when `tuwtree_wait` or `tuwtree_test` has seen the end.

use crate::{COperation, OperationKind};
use std::ffi::{c_int, c_void};
use tuwtree_executor::collective::{CollectiveError, collectives_of, guarded};
use tuwtree_executor::sys::Arguments;
use tuwtree_executor::sys::raw::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype};

/// Starts a gather: `MPI_Igatherv`.
///
/// # Safety
/// What the MPI standard demands of `MPI_Igatherv`; `request` points to a place for the result, or is null, which is
/// an error; the communicator lives until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_igatherv(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    displs: *const c_int,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> c_int {
    // SAFETY: the caller promises buffers until the operation has ended, and a place for its handle.
    unsafe {
        guarded(comm, || {
            let own = (sendbuf, sendcount, sendtype);
            let all = (recvbuf, recvcounts, displs, recvtype);
            start(&Arguments::gatherv(own, all, root), comm, request)
        })
    }
}

/// Starts a scatter: `MPI_Iscatterv`.
///
/// # Safety
/// What the MPI standard demands of `MPI_Iscatterv`; `request` points to a place for the result, or is null, which is
/// an error; the communicator lives until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_iscatterv(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    displs: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> c_int {
    // SAFETY: the caller promises buffers until the operation has ended, and a place for its handle.
    unsafe {
        guarded(comm, || {
            let all = (sendbuf, sendcounts, displs, sendtype);
            let own = (recvbuf, recvcount, recvtype);
            start(&Arguments::scatterv(all, own, root), comm, request)
        })
    }
}

/// Starts a gather with large counts: `MPI_Igatherv_c`.
///
/// # Safety
/// What the MPI standard demands of `MPI_Igatherv_c`; `request` points to a place for the result, or is null, which is
/// an error; the communicator lives until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_igatherv_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    displs: *const MPI_Aint,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> c_int {
    // SAFETY: the caller promises buffers until the operation has ended, and a place for its handle.
    unsafe {
        guarded(comm, || {
            let own = (sendbuf, sendcount, sendtype);
            let all = (recvbuf, recvcounts, displs, recvtype);
            start(&Arguments::gatherv_c(own, all, root), comm, request)
        })
    }
}

/// Starts a scatter with large counts: `MPI_Iscatterv_c`.
///
/// # Safety
/// What the MPI standard demands of `MPI_Iscatterv_c`; `request` points to a place for the result, or is null, which is
/// an error; the communicator lives until the operation has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_iscatterv_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    displs: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> c_int {
    // SAFETY: the caller promises buffers until the operation has ended, and a place for its handle.
    unsafe {
        guarded(comm, || {
            let all = (sendbuf, sendcounts, displs, sendtype);
            let own = (recvbuf, recvcount, recvtype);
            start(&Arguments::scatterv_c(all, own, root), comm, request)
        })
    }
}

/// # Safety
/// As [`tuwtree_igatherv`].
unsafe fn start(
    arguments: &Arguments<'static>,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> Result<(), CollectiveError> {
    if request.is_null() {
        return Err(CollectiveError::Refused("a null pointer for the request".to_owned()));
    }
    // SAFETY: a place for the request, which was found not to be null; the communicator's handle is
    // one that MPI has given out.
    unsafe {
        *request = std::ptr::null_mut();
        let kind = OperationKind::Nonblocking(collectives_of(comm)?.start(arguments)?);
        *request = Box::into_raw(Box::new(COperation { kind, comm }));
    }
    Ok(())
}
