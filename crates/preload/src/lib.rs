//! `MPI_Gatherv`, `MPI_Scatterv`, `MPI_Allgatherv`, `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`,
//! `MPI_Alltoallv` and `MPI_Alltoall` for programs that know nothing of tuwtree.
//!
//! Loaded before the MPI library (`LD_PRELOAD`), this library has the first two performed along
//! trees, and the others on circulant graphs or in bundles, as the environment says: `TUWTREE_ALGORITHM` and the other variables of
//! [`tuwtree_executor::settings`]. It calls the MPI library's own function instead (its `PMPI_` name)
//!
//! - in the first calls on a communicator, unless an algorithm is set,
//! - when told to (`TUWTREE_ALGORITHM=native`), or told nothing: neither an algorithm nor a machine,
//! - with a machine and no algorithm (`auto`), where that is as good,
//! - on inter-communicators, on none, and for a root that there is not,
//! - where ranks have other sizes than others in operations without a root,
//! - when the settings make no sense, which is said, and when a given schedule is not for the call,
//! - where buffers may be in device memory, and where a communicator of our own is not to be had.
//!
//! Each of these is known to all ranks of the communicator, so that all do the same. Under a program that runs on
//! another MPI library than the one that this library was built for, it stands aside altogether (`aside.rs`).
//!
//! The first calls on a communicator are the MPI library's own, until ranks agree on the settings. Then, or at the end, one
//! line on standard error tells of the interception; with `TUWTREE_LOG=1`, rank 0
//! prints a summary in `MPI_Finalize`; with `TUWTREE_LOG=2`, rank 0 of the communicator a line per call, with the reason
//! (`log.rs`).
//!
//! Persistent operations (`MPI_Gatherv_init` and its kin, `MPIX_…` in Open MPI 4) stay the MPI library's, unless
//! `TUWTREE_PERSISTENT=1`: their requests go through `MPI_Start`, `MPI_Wait` and all their kin, and operations along
//! trees progress only in these. See [`persistent`]. Nonblocking operations (`MPI_Igatherv`, `MPI_Iscatterv`) are the
//! MPI library's own, and recorded.

#![expect(non_snake_case, reason = "MPI's names")]

mod aside;
mod device;
pub mod exported;
#[cfg(any(fortran_calls_pmpi, f08_calls_pmpi))]
pub mod fortran;
mod loaded;
mod log;
pub mod persistent;
mod record;
mod waiting;

use std::ffi::{c_char, c_int};
use std::fmt::{self, Display, Formatter};
use std::rc::Rc;
use tuwtree_binding::raw::{self, MPI_Comm, MPI_Request};
use tuwtree_binding::{Arguments, Refused, calls, code_of};
use tuwtree_executor::collective::{
    CollectiveError, Collectives, EARLY_CALLS, Standing, agree, guarded, standing_of,
};

/// `MPI_Init`, at which it is said if the program's MPI library is not ours.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int {
    aside::warn_of_later_libraries();
    let next = loaded::behind(c"MPI_Init");
    // SAFETY: the function of this name in the MPI library or in a tool before it; the caller's promise.
    unsafe {
        let init: unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char) -> c_int =
            std::mem::transmute(next);
        init(argc, argv)
    }
}

/// `MPI_Init_thread`, as [`MPI_Init`].
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Init_thread(
    argc: *mut c_int,
    argv: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
) -> c_int {
    aside::warn_of_later_libraries();
    let next = loaded::behind(c"MPI_Init_thread");
    // SAFETY: as in `MPI_Init`.
    unsafe {
        let init: unsafe extern "C" fn(
            *mut c_int,
            *mut *mut *mut c_char,
            c_int,
            *mut c_int,
        ) -> c_int = std::mem::transmute(next);
        init(argc, argv, required, provided)
    }
}

/// `MPI_Finalize`, before which operations whose requests have been freed end, and recorded calls and learned times are
/// written.
/// Tools behind this library hear of it.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Finalize() -> c_int {
    record::write();
    log::summarize();
    log::write_learned_times();
    let next = loaded::behind(c"MPI_Finalize");
    if next.is_null() {
        // SAFETY: the caller's promise.
        return code_of(unsafe { calls::finalize() });
    }
    // SAFETY: the function of this name in the MPI library or in a tool before it; the caller's promise.
    unsafe {
        let finalize: unsafe extern "C" fn() -> c_int = std::mem::transmute(next);
        finalize()
    }
}

/// Reason for which a rootless operation is the library's.
const NOT_ALIKE: &str = "ranks do not have the same sizes, or elements cannot be reordered";

/// The communicator's state for a call along a tree, or the reason against one.
///
/// # Safety
/// As the calls.
unsafe fn ours(
    arguments: &Arguments<'_>,
    comm: MPI_Comm,
    is_repeated: bool,
) -> Result<Rc<Standing>, Declined> {
    // SAFETY: the caller's promise.
    let standing = unsafe { standing(comm, is_repeated)? };
    let Standing::Trees(collectives) = &*standing else { return Ok(standing) };
    let root = arguments.root(collectives.communicator().size());
    match arguments.operation().is_rooted() && root.is_none() {
        true => Err(Declined::ToNative("no such root".to_owned())),
        false => Ok(standing),
    }
}

/// The communicator's state.
///
/// # Safety
/// As the calls.
unsafe fn standing(comm: MPI_Comm, is_repeated: bool) -> Result<Rc<Standing>, Declined> {
    // SAFETY: a handle that MPI has given out, or null, which is not asked.
    unsafe {
        if comm == raw::RSMPI_COMM_NULL {
            return Err(Declined::ToNative("no communicator".to_owned()));
        }
        let known = standing_of(comm, is_repeated).transpose();
        let agreed = || waiting::hinting(|| agree(comm, device::obstacle()));
        let standing = known.unwrap_or_else(agreed).map_err(|error| match error {
            CollectiveError::Environment => Declined::Failed(error),
            error => Declined::ToNative(error.to_string()),
        })?;
        if !matches!(*standing, Standing::Early(_)) {
            log::announce(comm, &standing);
        }
        Ok(standing)
    }
}

/// Record of a call along a tree.
struct Done {
    what: &'static str,
    processes: usize,
    /// Along which tree, if one was chosen.
    tree: Option<&'static str>,
}

impl Display for Done {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} on {} processes", self.what, self.processes)?;
        match self.tree {
            Some(tree) => write!(formatter, ", tree {tree}"),
            None => Ok(()),
        }
    }
}

/// Reason for which a call is not performed along a tree.
enum Declined {
    /// All ranks know, and none has moved any data: the MPI library performs it.
    ToNative(String),
    /// It fails.
    Failed(CollectiveError),
}

impl From<CollectiveError> for Declined {
    fn from(error: CollectiveError) -> Declined {
        match error {
            CollectiveError::Agreed { text, .. } => Declined::ToNative(text),
            error => Declined::Failed(error),
        }
    }
}

/// Sets up a persistent operation, ours or the library's. Hints are not passed on.
///
/// # Safety
/// As the calls.
unsafe fn set_up(
    name: &'static str,
    arguments: &Arguments<'static>,
    (comm, request): (MPI_Comm, *mut MPI_Request),
) -> c_int {
    // SAFETY: the program's own arguments and communicator, and a place for the request by the caller's promise.
    unsafe {
        let work = |own: &Rc<Collectives>| registered(own, arguments, (comm, request));
        let native = || code_of(arguments.init_native(comm, request));
        performed(name, arguments, (comm, true), (work, native))
    }
}

/// Sets up a persistent operation, and writes the request that stands for it.
///
/// # Safety
/// As the calls.
unsafe fn registered(
    collectives: &Rc<Collectives>,
    arguments: &Arguments<'static>,
    (comm, request): (MPI_Comm, *mut MPI_Request),
) -> Result<Done, Declined> {
    let communicator = collectives.communicator();
    communicator.agree(persistent::allowed()).map_err(|refused| match refused {
        Refused::Here { fault, .. } => Declined::ToNative(fault.to_owned()),
        Refused::Elsewhere { rank } => Declined::ToNative(format!("rank {rank} does not allow it")),
        Refused::Mpi(error) => Declined::Failed(error.into()),
    })?;
    let operation = collectives.init_leniently(arguments)?;
    let token =
        persistent::register(operation, comm, collectives).map_err(CollectiveError::from)?;
    // SAFETY: the program gives a place for the request.
    unsafe { *request = token };
    Ok(Done { what: "set up", processes: communicator.size(), tree: None })
}

/// Performs a blocking call, by an algorithm of ours or the library's own call.
///
/// # Safety
/// As the calls.
unsafe fn perform(name: &'static str, arguments: &Arguments<'_>, comm: MPI_Comm) -> c_int {
    let work = |collectives: &Rc<Collectives>| {
        let done = collectives.run_leniently(arguments)?;
        let what = done.ok_or_else(|| Declined::ToNative(NOT_ALIKE.to_owned()))?.name();
        let tree = collectives.last_tree().filter(|_| arguments.operation().is_rooted());
        Ok(Done { what, processes: collectives.communicator().size(), tree })
    };
    // SAFETY: the program's own arguments and communicator, by the caller's promise.
    unsafe {
        let native = || code_of(arguments.call_native(comm));
        performed(name, arguments, (comm, false), (work, native))
    }
}

/// Starts the MPI library's nonblocking operation.
///
/// # Safety
/// As the calls.
unsafe fn start(
    name: &'static str,
    arguments: &Arguments<'static>,
    (comm, request): (MPI_Comm, *mut MPI_Request),
) -> c_int {
    let began = record::began();
    // SAFETY: the program's own arguments, communicator and place for a request, by the caller's promise.
    unsafe {
        let counted = log::began();
        log::of_call(name, comm)(&"native: nonblocking operations are the MPI library's");
        let code = code_of(arguments.start_native(comm, request));
        log::ended(counted, name, "native");
        record::ended(began, name, arguments, comm);
        code
    }
}

/// Does this `work` if the call is ours, else the native call; logs and records the call, which may set up repeated ones.
///
/// # Safety
/// As the calls.
unsafe fn performed(
    name: &'static str,
    arguments: &Arguments<'_>,
    (comm, is_repeated): (MPI_Comm, bool),
    (work, native): (impl FnOnce(&Rc<Collectives>) -> Result<Done, Declined>, impl Fn() -> c_int),
) -> c_int {
    let (began, counted) = (record::began(), log::began());
    // SAFETY: a communicator's handle that the program passed, or null.
    let (ours, log) = unsafe { (ours(arguments, comm, is_repeated), log::of_call(name, comm)) };
    let mut is_native = false;
    let mut algorithm = "failed";
    let logged = || {
        let done = ours.and_then(|standing| match &*standing {
            Standing::Trees(collectives) => work(collectives).map(Some),
            Standing::Library { reason, .. } => {
                log(&format_args!("native: {reason}"));
                Ok(None)
            }
            Standing::Early(_) => {
                log(&format_args!(
                    "native: one of the first {EARLY_CALLS} calls on a communicator"
                ));
                Ok(None)
            }
        });
        match done {
            Ok(Some(done)) => {
                log(&done);
                algorithm = done.tree.unwrap_or(done.what);
                return Ok(());
            }
            Ok(None) => {}
            Err(Declined::ToNative(reason)) => log(&format_args!("native: {reason}")),
            Err(Declined::Failed(error)) => {
                log(&format_args!("failed: {error}"));
                return Err(error);
            }
        }
        (is_native, algorithm) = (true, "native");
        Ok(())
    };
    // SAFETY: a communicator by the caller's promise.
    unsafe {
        let code = guarded(comm, logged);
        let code = if is_native { native() } else { code };
        log::ended(counted, name, algorithm);
        record::ended(began, name, arguments, comm);
        code
    }
}
