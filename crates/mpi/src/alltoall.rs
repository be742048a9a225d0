//! Alltoalls for C: once, and set up.

use crate::{COperation, hand_out};
use std::ffi::{c_int, c_void};
use tuwtree_executor::collective::{collectives_of, guarded};
use tuwtree_executor::sys::raw::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype};
use tuwtree_executor::sys::{AlltoallArguments, EqualAlltoallArguments};

/// Sends a message from each to each: `MPI_Alltoallv`.
///
/// # Safety
/// What the MPI standard demands of `MPI_Alltoallv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_alltoallv(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    sdispls: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    rdispls: *const c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let given = (sendbuf, sendcounts, sdispls, sendtype);
    let result = (recvbuf, recvcounts, rdispls, recvtype);
    // SAFETY: the caller's promise is that of `MPI_Alltoallv`; nothing is kept after the call.
    unsafe {
        let arguments = AlltoallArguments::new(given, result);
        guarded(comm, || collectives_of(comm)?.run_alltoall(&arguments).map(drop))
    }
}

/// Sends a message from each to each, all of one size: `MPI_Alltoall`.
///
/// # Safety
/// What the MPI standard demands of `MPI_Alltoall`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_alltoall(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let (given, result) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
    // SAFETY: the caller's promise is that of `MPI_Alltoall`; nothing is kept after the call.
    unsafe {
        let arguments = EqualAlltoallArguments::new(given, result);
        guarded(comm, || collectives_of(comm)?.run_equal_alltoall(&arguments).map(drop))
    }
}

/// Sends a message from each to each, all of one size: `MPI_Alltoall_c`.
///
/// # Safety
/// What the MPI standard demands of `MPI_Alltoall_c`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_alltoall_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let (given, result) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
    // SAFETY: the caller's promise is that of `MPI_Alltoall_c`; nothing is kept after the call.
    unsafe {
        let arguments = EqualAlltoallArguments::large(given, result);
        guarded(comm, || collectives_of(comm)?.run_equal_alltoall(&arguments).map(drop))
    }
}

/// Sends a message from each to each: `MPI_Alltoallv_c`.
///
/// # Safety
/// What the MPI standard demands of `MPI_Alltoallv_c`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_alltoallv_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    sdispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    rdispls: *const MPI_Aint,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let given = (sendbuf, sendcounts, sdispls, sendtype);
    let result = (recvbuf, recvcounts, rdispls, recvtype);
    // SAFETY: the caller's promise is that of `MPI_Alltoallv_c`; nothing is kept after the call.
    unsafe {
        let arguments = AlltoallArguments::large(given, result);
        guarded(comm, || collectives_of(comm)?.run_alltoall(&arguments).map(drop))
    }
}

/// Sets up a message from each to each.
///
/// # Safety
/// What the MPI standard demands of `MPI_Alltoallv_init`; `request` points to a place for the result, or is null, which is an
/// error; the communicator lives until the operation is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_alltoallv_init(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    sdispls: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    rdispls: *const c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> c_int {
    let given = (sendbuf, sendcounts, sdispls, sendtype);
    let result = (recvbuf, recvcounts, rdispls, recvtype);
    // SAFETY: the caller promises buffers until the operation is freed, and a place for its handle.
    unsafe {
        let arguments = AlltoallArguments::new(given, result);
        guarded(comm, || hand_out(comm, request, |own| own.init_alltoall(&arguments)))
    }
}

/// Sets up a message from each to each, with large counts.
///
/// # Safety
/// What the MPI standard demands of `MPI_Alltoallv_init_c`; `request` points to a place for the result, or is null, which is an
/// error; the communicator lives until the operation is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_alltoallv_init_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    sdispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    rdispls: *const MPI_Aint,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> c_int {
    let given = (sendbuf, sendcounts, sdispls, sendtype);
    let result = (recvbuf, recvcounts, rdispls, recvtype);
    // SAFETY: the caller promises buffers until the operation is freed, and a place for its handle.
    unsafe {
        let arguments = AlltoallArguments::large(given, result);
        guarded(comm, || hand_out(comm, request, |own| own.init_alltoall(&arguments)))
    }
}

/// Sets up a message from each to each, all of one size.
///
/// # Safety
/// What the MPI standard demands of `MPI_Alltoall_init`; `request` points to a place for the result, or is null, which is an
/// error; the communicator lives until the operation is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_alltoall_init(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> c_int {
    let (given, result) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
    // SAFETY: the caller promises buffers until the operation is freed, and a place for its handle.
    unsafe {
        let arguments = EqualAlltoallArguments::new(given, result);
        guarded(comm, || hand_out(comm, request, |own| own.init_equal_alltoall(&arguments)))
    }
}

/// Sets up a message from each to each, all of one size, with large counts.
///
/// # Safety
/// What the MPI standard demands of `MPI_Alltoall_init_c`; `request` points to a place for the result, or is null, which is an
/// error; the communicator lives until the operation is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_alltoall_init_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> c_int {
    let (given, result) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
    // SAFETY: the caller promises buffers until the operation is freed, and a place for its handle.
    unsafe {
        let arguments = EqualAlltoallArguments::large(given, result);
        guarded(comm, || hand_out(comm, request, |own| own.init_equal_alltoall(&arguments)))
    }
}
