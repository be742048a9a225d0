//! Operations on a communicator that C gives by its handle: what it carries, and how it hears of failures.

use super::{CollectiveError, Collectives};
use crate::settings::Settings;
use crate::sys::raw::{self, MPI_Comm};
use crate::sys::{Communicator, MpiError, Speaker, give, is_running, raise, rank_in, value_of};
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
pub unsafe fn guarded(comm: MPI_Comm, work: impl FnOnce() -> Result<(), CollectiveError>) -> c_int {
    let (class, text, speaker) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return SUCCESS,
        Ok(Err(error)) => {
            let rank = error.speaker();
            // SAFETY: a communicator's handle by the caller's promise.
            let is_elsewhere = rank.is_some_and(|rank| !unsafe { is_rank(comm, rank) });
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

/// Whether this processor has this rank in the communicator.
///
/// # Safety
/// As [`guarded`].
unsafe fn is_rank(comm: MPI_Comm, rank: Rank) -> bool {
    // SAFETY: a communicator by the caller's promise, or null, which is not asked.
    unsafe { comm != raw::RSMPI_COMM_NULL && rank_in(comm).is_ok_and(|own| own == rank) }
}

/// What this communicator carries for collective operations, made when it is first asked for, which
/// is collective.
///
/// # Safety
/// As [`guarded`].
///
/// # Errors
/// No communicator, or one between two groups; settings that make no sense, at all processors.
pub unsafe fn collectives_of(comm: MPI_Comm) -> Result<Rc<Collectives>, CollectiveError> {
    if !is_running() {
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

/// Who performs the operations of a communicator in programs that know nothing of us: the same at all its
/// processors.
#[derive(Debug)]
pub enum Standing {
    /// The MPI library.
    Library {
        /// Why.
        reason: String,
        /// Whether somebody wanted something else, in words that make no sense.
        is_mistake: bool,
    },
    /// What the communicator carries for trees.
    Trees(Rc<Collectives>),
}

/// Who performs the operations of this communicator. Collective where it is first asked for: that this processor has
/// no `obstacle`, the settings of the first one, and that there is room for a communicator of our own,
/// are agreed on, by collective calls on this one. Whatever is lacking anywhere, all leave it to the library, and
/// no communicator is made where the settings do.
///
/// # Safety
/// As [`guarded`].
///
/// # Errors
/// MPI is not initialized, no communicator or one between two groups; what MPI returns.
pub unsafe fn standing_of(
    comm: MPI_Comm,
    obstacle: impl FnOnce() -> Option<&'static str>,
) -> Result<Rc<Standing>, CollectiveError> {
    if !is_running() {
        return Err(CollectiveError::Refused("MPI is not initialized".to_owned()));
    }
    // SAFETY: MPI is initialized, and this is a communicator by the caller's promise.
    unsafe {
        if let Some(known) = value_of::<Standing>(comm)? {
            return Ok(known);
        }
        let agreed = Communicator::lent(comm, |lent| agreed_standing(lent, obstacle()))?;
        let made = Rc::new(agreed?);
        give(comm, Rc::clone(&made))?;
        Ok(made)
    }
}

/// Who performs the operations of this communicator, which is the program's. Collective.
fn agreed_standing(comm: &Communicator, obstacle: Option<&str>) -> Result<Standing, MpiError> {
    let library =
        |reason: &str, is_mistake| Standing::Library { reason: reason.to_owned(), is_mistake };
    let size = comm.size();
    let first = comm.least(if obstacle.is_some() { comm.rank() } else { size } as u64)? as Rank;
    if first < size {
        let text = comm.told(obstacle.unwrap_or_default(), first)?;
        return Ok(library(&format!("rank {first}: {text}"), false));
    }
    let settings = match Settings::of_environment(comm)? {
        Ok(settings) => settings,
        Err(text) => return Ok(library(&text, true)),
    };
    if settings.are_native() {
        let reason = settings.stated.map_or("no algorithm or machine is set", |_| "as set");
        return Ok(library(reason, false));
    }
    let made = comm.duplicate_again();
    Ok(match (comm.least(u64::from(made.is_ok()))?, made) {
        (1, Ok(made)) => Standing::Trees(Rc::new(Collectives::with(made, settings))),
        _ => library("there is no other communicator to be had", false),
    })
}
