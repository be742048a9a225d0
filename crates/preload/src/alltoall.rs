//! `MPI_Alltoall`, `MPI_Alltoallv` and `MPI_Alltoallv_init`.

use crate::{Declined, Done, NOT_ALIKE, logged, record, registered, standing};
use std::ffi::{c_int, c_void};
use std::rc::Rc;
use tuwtree_executor::ClosedSet;
use tuwtree_executor::collective::Collectives;
#[cfg(has_large_counts)]
use tuwtree_executor::sys::raw::{MPI_Aint, MPI_Count};
use tuwtree_executor::sys::raw::{MPI_Comm, MPI_Datatype, MPI_Info, MPI_Request};
use tuwtree_executor::sys::{AlltoallArguments, EqualAlltoallArguments, code_of};
use tuwtree_measure::RecordedOperation;

/// `MPI_Alltoallv`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Alltoallv(
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
    // SAFETY: what the program gives to `MPI_Alltoallv` it keeps until this returns.
    unsafe { perform("MPI_Alltoallv", &AlltoallArguments::new(given, result), comm) }
}

/// `MPI_Alltoall`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Alltoall(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let (given, result) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
    // SAFETY: what the program gives to `MPI_Alltoall` it keeps until this returns.
    unsafe { exchange("MPI_Alltoall", &EqualAlltoallArguments::new(given, result), comm) }
}

/// `MPI_Alltoall_c`.
///
/// # Safety
/// What the MPI standard demands.
#[cfg(has_large_counts)]
pub unsafe extern "C" fn MPI_Alltoall_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let (given, result) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
    // SAFETY: what the program gives to `MPI_Alltoall_c` it keeps until this returns.
    unsafe { exchange("MPI_Alltoall_c", &EqualAlltoallArguments::large(given, result), comm) }
}

/// `MPI_Alltoallv_c`.
///
/// # Safety
/// What the MPI standard demands.
#[cfg(has_large_counts)]
pub unsafe extern "C" fn MPI_Alltoallv_c(
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
    // SAFETY: what the program gives to `MPI_Alltoallv_c` it keeps until this returns.
    unsafe { perform("MPI_Alltoallv_c", &AlltoallArguments::large(given, result), comm) }
}

/// `MPI_Alltoallv_init`. Hints are not passed on.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Alltoallv_init(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    sdispls: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    rdispls: *const c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    _info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    let given = (sendbuf, sendcounts, sdispls, sendtype);
    let result = (recvbuf, recvcounts, rdispls, recvtype);
    // SAFETY: what the program gives to `MPI_Alltoallv_init` it keeps until it frees the request.
    unsafe {
        let arguments = AlltoallArguments::new(given, result);
        set_up("MPI_Alltoallv_init", &arguments, (comm, request))
    }
}

/// `MPI_Alltoallv_init` under its name in Open MPI 4.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPIX_Alltoallv_init(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    sdispls: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    rdispls: *const c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    // SAFETY: `MPIX_Alltoallv_init` demands what `MPI_Alltoallv_init` does, to which all is passed.
    unsafe {
        MPI_Alltoallv_init(
            sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
            info, request,
        )
    }
}

/// `MPI_Alltoallv_init_c`. Hints are not passed on.
///
/// # Safety
/// What the MPI standard demands.
#[cfg(has_large_counts)]
pub unsafe extern "C" fn MPI_Alltoallv_init_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    sdispls: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    rdispls: *const MPI_Aint,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    _info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    let given = (sendbuf, sendcounts, sdispls, sendtype);
    let result = (recvbuf, recvcounts, rdispls, recvtype);
    // SAFETY: what the program gives to `MPI_Alltoallv_init_c` it keeps until it frees the request.
    unsafe {
        let arguments = AlltoallArguments::large(given, result);
        set_up("MPI_Alltoallv_init_c", &arguments, (comm, request))
    }
}

/// Performs a call, or has the library do it.
///
/// # Safety
/// As the calls.
unsafe fn perform(name: &'static str, arguments: &AlltoallArguments<'_>, comm: MPI_Comm) -> c_int {
    let work = |collectives: &Rc<Collectives>| {
        let done = collectives.run_alltoall_leniently(arguments)?;
        let what = done.ok_or_else(|| Declined::ToNative(NOT_ALIKE.to_owned()))?.name();
        Ok(Done { what, processes: collectives.communicator().size() })
    };
    // SAFETY: the program's own arguments and communicator, by the caller's promise.
    unsafe {
        let native = || code_of(arguments.call_native(comm));
        let row = |size| arguments.row_and_column(size).map(|[row, _]| row);
        recorded(name, row, comm, || logged(name, standing(comm), comm, (work, native)))
    }
}

/// Sets up a persistent operation, or has the library do it.
///
/// # Safety
/// As the calls.
unsafe fn set_up(
    name: &'static str,
    arguments: &AlltoallArguments<'static>,
    (comm, request): (MPI_Comm, *mut MPI_Request),
) -> c_int {
    // SAFETY: the program's own arguments and communicator, and a place for a request, by the caller's promise.
    unsafe {
        let work = |own: &Rc<Collectives>| {
            registered(own, (comm, request), |own| own.init_alltoall_leniently(arguments))
        };
        let native = || code_of(arguments.init_native(comm, request));
        let row = |size| arguments.row_and_column(size).map(|[row, _]| row);
        recorded(name, row, comm, || logged(name, standing(comm), comm, (work, native)))
    }
}

/// Performs a call with messages of one size, or has the library do it.
///
/// # Safety
/// As the calls.
unsafe fn exchange(
    name: &'static str,
    arguments: &EqualAlltoallArguments<'_>,
    comm: MPI_Comm,
) -> c_int {
    let work = |collectives: &Rc<Collectives>| {
        let what = collectives.run_equal_alltoall(arguments)?.name();
        Ok(Done { what, processes: collectives.communicator().size() })
    };
    // SAFETY: the program's own arguments and communicator, by the caller's promise.
    unsafe {
        let native = || code_of(arguments.call_native(comm));
        let row = |size| arguments.row(size);
        recorded(name, row, comm, || logged(name, standing(comm), comm, (work, native)))
    }
}

/// Does this, and records it.
///
/// # Safety
/// As the calls.
unsafe fn recorded(
    name: &'static str,
    row: impl FnOnce(usize) -> Option<Vec<u64>>,
    comm: MPI_Comm,
    work: impl FnOnce() -> c_int,
) -> c_int {
    let began = record::began();
    let code = work();
    // SAFETY: the program's own communicator, by the caller's promise.
    unsafe { record::ended_everywhere(began, (name, RecordedOperation::Alltoall), comm, row) };
    code
}
