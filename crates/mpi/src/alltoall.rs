//! Alltoalls for C: once, and set up.

use crate::{COperation, OperationKind, hand_out};
use std::ffi::{c_int, c_void};
use tuwtree_executor::collective::{CollectiveError, collectives_of, guarded};
use tuwtree_executor::sys::raw::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype};
use tuwtree_executor::sys::{AlltoallArguments, EqualAlltoallArguments};

like_alltoallv! {
    /// Sends a message from each to each: `MPI_Alltoallv`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Alltoallv`.
    tuwtree_alltoallv(c_int, c_int) = new, run
}

like_alltoall! {
    /// Sends a message from each to each, all of one size: `MPI_Alltoall`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Alltoall`.
    tuwtree_alltoall(c_int) = new, run_equal
}

like_alltoall! {
    /// Sends a message from each to each, all of one size: `MPI_Alltoall_c`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Alltoall_c`.
    tuwtree_alltoall_c(MPI_Count) = large, run_equal
}

like_alltoallv! {
    /// Sends a message from each to each: `MPI_Alltoallv_c`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Alltoallv_c`.
    tuwtree_alltoallv_c(MPI_Count, MPI_Aint) = large, run
}

like_alltoallv! {
    /// Sets up a message from each to each.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Alltoallv_init`; `request` points to a place for the result, or is null, which is an
    /// error; the communicator lives until the operation is freed.
    tuwtree_alltoallv_init(c_int, c_int, request) = new, init
}

like_alltoallv! {
    /// Sets up a message from each to each, with large counts.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Alltoallv_init_c`; `request` points to a place for the result, or is null, which is an
    /// error; the communicator lives until the operation is freed.
    tuwtree_alltoallv_init_c(MPI_Count, MPI_Aint, request) = large, init
}

like_alltoall! {
    /// Sets up a message from each to each, all of one size.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Alltoall_init`; `request` points to a place for the result, or is null, which is an
    /// error; the communicator lives until the operation is freed.
    tuwtree_alltoall_init(c_int, request) = new, init_equal
}

like_alltoall! {
    /// Sets up a message from each to each, all of one size, with large counts.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Alltoall_init_c`; `request` points to a place for the result, or is null, which is an
    /// error; the communicator lives until the operation is freed.
    tuwtree_alltoall_init_c(MPI_Count, request) = large, init_equal
}

/// # Safety
/// As [`tuwtree_alltoallv`].
unsafe fn run(arguments: &AlltoallArguments<'_>, comm: MPI_Comm) -> Result<(), CollectiveError> {
    // SAFETY: a handle that MPI has given out; nothing is kept after the call.
    unsafe { collectives_of(comm)?.run_alltoall(arguments).map(drop) }
}

/// # Safety
/// As [`tuwtree_alltoall`].
unsafe fn run_equal(
    arguments: &EqualAlltoallArguments<'_>,
    comm: MPI_Comm,
) -> Result<(), CollectiveError> {
    // SAFETY: a handle that MPI has given out; nothing is kept after the call.
    unsafe { collectives_of(comm)?.run_equal_alltoall(arguments).map(drop) }
}

/// # Safety
/// As [`tuwtree_alltoallv_init`].
unsafe fn init(
    arguments: &AlltoallArguments<'static>,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> Result<(), CollectiveError> {
    // SAFETY: the caller promises buffers until the operation is freed, and a place for its handle.
    unsafe {
        hand_out(comm, request, |own| own.init_alltoall(arguments).map(OperationKind::Persistent))
    }
}

/// # Safety
/// As [`tuwtree_alltoall_init`].
unsafe fn init_equal(
    arguments: &EqualAlltoallArguments<'static>,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> Result<(), CollectiveError> {
    // SAFETY: the caller promises buffers until the operation is freed, and a place for its handle.
    unsafe {
        hand_out(comm, request, |own| {
            own.init_equal_alltoall(arguments).map(OperationKind::Persistent)
        })
    }
}
