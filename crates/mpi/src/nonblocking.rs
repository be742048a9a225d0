//! Nonblocking gather and scatter for C: started once, and gone when `tuwtree_wait` or `tuwtree_test` has seen the end.

use crate::{COperation, OperationKind, hand_out};
use std::ffi::{c_int, c_void};
use tuwtree_executor::collective::{CollectiveError, guarded};
use tuwtree_executor::sys::Arguments;
use tuwtree_executor::sys::raw::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype};

like_gatherv! {
    /// Starts a gather: `MPI_Igatherv`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Igatherv`; `request` points to a place for the result, or is null, which is
    /// an error; the communicator lives until the operation has ended.
    tuwtree_igatherv(c_int, c_int, request) = gatherv, start
}

like_scatterv! {
    /// Starts a scatter: `MPI_Iscatterv`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Iscatterv`; `request` points to a place for the result, or is null, which is
    /// an error; the communicator lives until the operation has ended.
    tuwtree_iscatterv(c_int, c_int, request) = scatterv, start
}

like_gatherv! {
    /// Starts a gather with large counts: `MPI_Igatherv_c`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Igatherv_c`; `request` points to a place for the result, or is null, which is
    /// an error; the communicator lives until the operation has ended.
    tuwtree_igatherv_c(MPI_Count, MPI_Aint, request) = gatherv_c, start
}

like_scatterv! {
    /// Starts a scatter with large counts: `MPI_Iscatterv_c`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Iscatterv_c`; `request` points to a place for the result, or is null, which is
    /// an error; the communicator lives until the operation has ended.
    tuwtree_iscatterv_c(MPI_Count, MPI_Aint, request) = scatterv_c, start
}

/// # Safety
/// As [`tuwtree_igatherv`].
unsafe fn start(
    arguments: &Arguments<'static>,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> Result<(), CollectiveError> {
    // SAFETY: the caller's promise.
    unsafe { hand_out(comm, request, |own| own.start(arguments).map(OperationKind::Nonblocking)) }
}
