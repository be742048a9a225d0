//! Operations on a communicator's C handle: its attached state, and its error handler.

use super::{CollectiveError, Collectives};
use crate::settings::Settings;
use std::cell::Cell;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use tuwtree_binding::raw::{self, MPI_Comm};
use tuwtree_binding::{
    Communicator, MpiError, Speaker, give, is_inter, is_running, raise, rank_in, value_of,
};
use tuwtree_model::Rank;

const SUCCESS: c_int = raw::MPI_SUCCESS as c_int;

/// Runs fallible work; reports a failure as MPI does: returns the error code, after calling the error handler with it;
/// or returns `MPI_SUCCESS`.
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

/// True if this process has this rank in the communicator.
///
/// # Safety
/// As [`guarded`].
unsafe fn is_rank(comm: MPI_Comm, rank: Rank) -> bool {
    // SAFETY: a communicator by the caller's promise, or null, which is not asked.
    unsafe { comm != raw::RSMPI_COMM_NULL && rank_in(comm).is_ok_and(|own| own == rank) }
}

/// State that this communicator carries for collective operations; the first request makes it,
/// collectively.
///
/// # Safety
/// As [`guarded`].
///
/// # Errors
/// No communicator, or one between two groups; settings that make no sense, at all ranks.
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

/// Performer of a communicator's operations in unchanged programs; equal at all its ranks.
#[derive(Debug)]
pub enum Standing {
    /// The MPI library.
    Library {
        /// The reason.
        reason: String,
        /// True if a setting asked for something else in invalid words.
        is_mistake: bool,
    },
    /// The communicator's state for trees.
    Trees(Rc<Collectives>),
    /// The MPI library for the first calls, whose number this is.
    Early(Cell<u64>),
}

/// Number of calls on a communicator that are the library's own before ranks agree.
///
/// To agree and to make a communicator took as long as ten calls of 16 ranks on an emulated cluster, and a plan gains a quarter to
/// two thirds of a call. As many calls as would earn that come first, so that a program whose last call comes just then
/// has not lost more than it could have gained.
pub const EARLY_CALLS: u64 = 20;

/// Performer of this communicator's operations, for the call that begins; `None` if ranks have to [`agree`] in it.
///
/// They do so in the call after [`EARLY_CALLS`]; or in the first one that `is_repeated`, which all ranks know; or in the
/// first of all if the environment states an algorithm, `auto` included, as it then has to at all ranks.
///
/// # Safety
/// As [`guarded`].
///
/// # Errors
/// MPI is not initialized, no communicator or one between two groups; what MPI returns.
pub unsafe fn standing_of(
    comm: MPI_Comm,
    is_repeated: bool,
) -> Result<Option<Rc<Standing>>, CollectiveError> {
    if !is_running() {
        return Err(CollectiveError::Refused("MPI is not initialized".to_owned()));
    }
    // SAFETY: MPI is initialized, and this is a communicator by the caller's promise.
    unsafe {
        let known = value_of::<Standing>(comm)?;
        let early = match known.as_deref() {
            None if is_inter(comm)? => {
                return Err(CollectiveError::Refused("an inter-communicator".to_owned()));
            }
            None => 0,
            Some(Standing::Early(calls)) => calls.get(),
            Some(_) => return Ok(known),
        };
        if early == EARLY_CALLS || is_repeated || Settings::are_stated() {
            return Ok(None);
        }
        if let Some(Standing::Early(calls)) = known.as_deref() {
            calls.set(early + 1);
            return Ok(known);
        }
        let made = Rc::new(Standing::Early(Cell::new(1)));
        give(comm, Rc::clone(&made))?;
        Ok(Some(made))
    }
}

/// Performer of this communicator's operations from now on. Collective: ranks agree by collective calls that none has an
/// `obstacle`, on the settings of the first rank, and that a communicator of our own can be made. If anything is lacking
/// at any rank, all leave the operations to the library; settings that do so make no communicator.
///
/// # Safety
/// As [`standing_of`], which has found it due.
///
/// # Errors
/// What MPI returns; at all ranks [`CollectiveError::Environment`].
pub unsafe fn agree(
    comm: MPI_Comm,
    obstacle: Option<&'static str>,
) -> Result<Rc<Standing>, CollectiveError> {
    // SAFETY: MPI is initialized, and this is a communicator by the caller's promise.
    unsafe {
        let early = match value_of::<Standing>(comm)?.as_deref() {
            Some(Standing::Early(calls)) => calls.get(),
            _ => 0,
        };
        let made = Communicator::lent(comm, |lent| agreed_standing(lent, early, obstacle))??;
        let made = Rc::new(made);
        give(comm, Rc::clone(&made))?;
        Ok(made)
    }
}

/// Performer of the operations of the program's communicator, after this number of early calls. Collective.
fn agreed_standing(
    comm: &Communicator,
    early: u64,
    obstacle: Option<&str>,
) -> Result<Standing, CollectiveError> {
    let library =
        |reason: &str, is_mistake| Standing::Library { reason: reason.to_owned(), is_mistake };
    let obstacles = if obstacle.is_some() { comm.size() - comm.rank() } else { 0 } as u64;
    let [most, least, obstacles] = comm.greatest(&[early, EARLY_CALLS - early, obstacles])?[..]
    else {
        unreachable!("there are as many numbers as before")
    };
    if most != EARLY_CALLS - least {
        return Err(CollectiveError::Environment);
    }
    if obstacles > 0 {
        let first = comm.size() - obstacles as usize;
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
