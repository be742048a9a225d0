//! Reduce-scatters for C: once, and set up.

use crate::{COperation, OperationKind, hand_out};
use std::ffi::{c_int, c_void};
use tuwtree_executor::collective::{CollectiveError, collectives_of, guarded};
use tuwtree_executor::sys::ReduceScatterArguments;
use tuwtree_executor::sys::raw::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Op};

like_reduce_scatter! {
    /// Combines vectors and scatters the result: `MPI_Reduce_scatter`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Reduce_scatter`.
    tuwtree_reduce_scatter(*const c_int) = new, run
}

like_reduce_scatter! {
    /// Combines vectors and scatters the result: `MPI_Reduce_scatter_block`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Reduce_scatter_block`.
    tuwtree_reduce_scatter_block(c_int) = block, run
}

like_reduce_scatter! {
    /// Combines vectors and scatters the result: `MPI_Reduce_scatter_c`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Reduce_scatter_c`.
    tuwtree_reduce_scatter_c(*const MPI_Count) = large, run
}

like_reduce_scatter! {
    /// Combines vectors and scatters the result: `MPI_Reduce_scatter_block_c`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Reduce_scatter_block_c`.
    tuwtree_reduce_scatter_block_c(MPI_Count) = block_large, run
}

like_reduce_scatter! {
    /// Sets up a reduce-scatter with a count for each block.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Reduce_scatter_init`; `request` points to a place for the result, or is null,
    /// which is an error; communicator and operator live until the operation is freed.
    tuwtree_reduce_scatter_init(*const c_int, request) = new, init
}

like_reduce_scatter! {
    /// Sets up a reduce-scatter in blocks of one size.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Reduce_scatter_block_init`; `request` points to a place for the result, or is null,
    /// which is an error; communicator and operator live until the operation is freed.
    tuwtree_reduce_scatter_block_init(c_int, request) = block, init
}

like_reduce_scatter! {
    /// Sets up a reduce-scatter with large counts.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Reduce_scatter_init_c`; `request` points to a place for the result, or is null,
    /// which is an error; communicator and operator live until the operation is freed.
    tuwtree_reduce_scatter_init_c(*const MPI_Count, request) = large, init
}

like_reduce_scatter! {
    /// Sets up a reduce-scatter in blocks of one large size.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Reduce_scatter_block_init_c`; `request` points to a place for the result, or is null,
    /// which is an error; communicator and operator live until the operation is freed.
    tuwtree_reduce_scatter_block_init_c(MPI_Count, request) = block_large, init
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

/// # Safety
/// As [`tuwtree_reduce_scatter_init`].
unsafe fn init(
    arguments: &ReduceScatterArguments<'static>,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> Result<(), CollectiveError> {
    // SAFETY: the caller promises buffers until the operation is freed, and a place for its handle.
    unsafe {
        hand_out(comm, request, |own| {
            own.init_reduce_scatter(arguments).map(OperationKind::Persistent)
        })
    }
}
