//! Operations on a communicator that C gives by its handle: what it carries, and how it hears of failures.

use super::{CollectiveError, Collectives};
use crate::sys::raw::{self, MPI_Comm};
use crate::sys::{Communicator, MpiError, Speaker, give, raise, value_of};
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use tuwtree_model::Rank;

const SUCCESS: c_int = raw::MPI_SUCCESS as c_int;

/// Performs what may fail, and reports a failure as MPI does: the error code, after the error handler
/// has been called with it; or `MPI_SUCCESS`.
///
/// # Safety
/// `comm` is a handle that MPI has given out, or `MPI_COMM_NULL`.
#[allow(unsafe_code)]
pub unsafe fn guarded(comm: MPI_Comm, work: impl FnOnce() -> Result<(), CollectiveError>) -> c_int {
    let (class, text, speaker) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return SUCCESS,
        Ok(Err(error)) => {
            let rank = error.speaker();
            // SAFETY: the caller's promise.
            let is_elsewhere = rank.is_some_and(|rank| unsafe { rank_in(comm) } != Some(rank));
            let speaker = if is_elsewhere { Speaker::Elsewhere } else { Speaker::Here };
            (error.class(), error.to_string(), speaker)
        }
        Err(_) => {
            let text = "a defect of the library: it panicked".to_owned();
            (raw::MPI_ERR_INTERN as c_int, text, Speaker::Here)
        }
    };
    // SAFETY: the caller's promise. A user's error handler that unwinds is the user's affair.
    unsafe { raise(comm, class, &text, speaker) }
}

/// The rank of this processor.
///
/// # Safety
/// As [`guarded`].
#[allow(unsafe_code)]
unsafe fn rank_in(comm: MPI_Comm) -> Option<Rank> {
    let mut rank = 0;
    // SAFETY: a communicator by the caller's promise; a constant of the C shim.
    let code = unsafe {
        if comm == raw::RSMPI_COMM_NULL {
            return None;
        }
        raw::PMPI_Comm_rank(comm, &mut rank)
    };
    (code == SUCCESS).then_some(rank as Rank)
}

/// What this communicator carries for collective operations, made when it is first asked for, which
/// is collective.
///
/// # Safety
/// As [`guarded`].
///
/// # Errors
/// No communicator, or one between two groups; settings that make no sense, at all processors.
#[allow(unsafe_code)]
pub unsafe fn collectives_of(comm: MPI_Comm) -> Result<Rc<Collectives>, CollectiveError> {
    let (mut is_initialized, mut is_finalized) = (0, 0);
    // SAFETY: these two may be called at any time.
    unsafe {
        raw::PMPI_Initialized(&mut is_initialized);
        raw::PMPI_Finalized(&mut is_finalized);
    }
    if is_initialized == 0 || is_finalized != 0 {
        return Err(CollectiveError::Refused("MPI is not initialized".to_owned()));
    }
    // SAFETY: reading a constant of the C shim.
    if comm == unsafe { raw::RSMPI_COMM_NULL } {
        let code = raw::MPI_ERR_COMM as c_int;
        return Err(CollectiveError::Mpi(MpiError::new("MPI_COMM_NULL", code)));
    }
    // SAFETY: MPI is initialized, and this is a communicator by the caller's promise.
    unsafe {
        if let Some(known) = value_of::<Collectives>(comm)? {
            return Ok(known);
        }
        let made = Rc::new(Collectives::new(Communicator::duplicate(comm)?)?);
        give(comm, Rc::clone(&made))?;
        Ok(made)
    }
}
