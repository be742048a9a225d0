//! `MPI_Alltoallv`.

use crate::{Declined, Done, NOT_ALIKE, logged, record, standing};
use std::ffi::{c_int, c_void};
use std::rc::Rc;
use tuwtree_executor::ClosedSet;
use tuwtree_executor::collective::Collectives;
#[cfg(has_large_counts)]
use tuwtree_executor::sys::raw::{MPI_Aint, MPI_Count};
use tuwtree_executor::sys::raw::{MPI_Comm, MPI_Datatype};
use tuwtree_executor::sys::{AlltoallArguments, code_of};
use tuwtree_measure::RecordedOperation;

/// `MPI_Alltoallv`.
///
/// # Safety
/// What the MPI standard demands.
#[unsafe(no_mangle)]
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

/// `MPI_Alltoallv_c`.
///
/// # Safety
/// What the MPI standard demands.
#[cfg(has_large_counts)]
#[unsafe(no_mangle)]
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

/// Performs a call, or has the library do it.
///
/// # Safety
/// As the calls.
unsafe fn perform(name: &'static str, arguments: &AlltoallArguments<'_>, comm: MPI_Comm) -> c_int {
    let work = |collectives: &Rc<Collectives>| {
        let done = collectives.run_alltoall_leniently(arguments)?;
        let what = done.ok_or_else(|| Declined::ToNative(NOT_ALIKE.to_owned()))?.name();
        Ok(Done { what, processes: collectives.communicator().size(), tree: None })
    };
    // SAFETY: the program's own arguments and communicator, by the caller's promise.
    unsafe {
        let native = || code_of(arguments.call_native(comm));
        let began = record::began();
        let code = logged(name, standing(comm), comm, (work, native));
        let row = |size| arguments.row_and_column(size).map(|[row, _]| row);
        record::ended_everywhere(began, (name, RecordedOperation::Alltoall), comm, row);
        code
    }
}
