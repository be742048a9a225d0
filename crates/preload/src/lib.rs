//! `MPI_Gatherv`, `MPI_Scatterv`, `MPI_Allgatherv`, `MPI_Reduce_scatter`, `MPI_Reduce_scatter_block`,
//! `MPI_Alltoallv` and `MPI_Alltoall` for programs that know nothing of tuwtree.
//!
//! Loaded before the MPI library (`LD_PRELOAD`), this library has the first two performed along
//! trees, and the others on circulant graphs or in bundles, as the environment says: `TUWTREE_ALGORITHM` and the other variables of
//! [`tuwtree_executor::settings`]. It calls the MPI library's own function instead (its `PMPI_` name)
//!
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
//! At the first call, one line on standard error says what is intercepted and how; with `TUWTREE_LOG=1`, rank 0
//! of the communicator says what was done, and why, for each call (`log.rs`).
//!
//! Persistent operations (`MPI_Gatherv_init` and its kin, `MPIX_…` in Open MPI 4) stay the MPI
//! library's, unless `TUWTREE_PERSISTENT=1`: what they return is a request that `MPI_Start`, `MPI_Wait`
//! and all their kin take, and operations along trees go on in these only. See [`persistent`]. So do nonblocking ones
//! (`MPI_Igatherv`, `MPI_Iscatterv`), unless `TUWTREE_NONBLOCKING=1`: [`nonblocking`].

#![expect(non_snake_case, reason = "MPI's names")]

pub mod alltoall;
mod aside;
mod device;
pub mod exported;
#[cfg(any(fortran_calls_pmpi, f08_calls_pmpi))]
pub mod fortran;
#[cfg(has_large_counts)]
pub mod large;
mod loaded;
mod log;
pub mod nonblocking;
pub mod persistent;
mod record;
pub mod reduce_scatter;
mod waiting;

use std::ffi::{c_char, c_int, c_void};
use std::fmt::{self, Display, Formatter};
use std::rc::Rc;
use tuwtree_executor::ClosedSet;
use tuwtree_executor::collective::{
    CollectiveError, Collectives, Persistent, Standing, guarded, standing_of,
};
use tuwtree_executor::sys::raw::{self, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Request};
use tuwtree_executor::sys::{Arguments, Refused, calls, code_of, is_inter};

/// `MPI_Gatherv`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Gatherv(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    displs: *const c_int,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
) -> c_int {
    let (own, all) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype));
    // SAFETY: buffers and lists are as the program has to give them to `MPI_Gatherv`, until this
    // returns.
    unsafe { perform("MPI_Gatherv", &Arguments::gatherv(own, all, root), comm) }
}

/// `MPI_Scatterv`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Scatterv(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    displs: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
) -> c_int {
    let (all, own) = ((sendbuf, sendcounts, displs, sendtype), (recvbuf, recvcount, recvtype));
    // SAFETY: buffers and lists are as the program has to give them to `MPI_Scatterv`, until this
    // returns.
    unsafe { perform("MPI_Scatterv", &Arguments::scatterv(all, own, root), comm) }
}

/// `MPI_Allgatherv`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Allgatherv(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    displs: *const c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let (own, all) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype));
    // SAFETY: buffers and lists are as the program has to give them to `MPI_Allgatherv`, until this
    // returns.
    unsafe { perform("MPI_Allgatherv", &Arguments::allgatherv(own, all), comm) }
}

/// `MPI_Igatherv`, which stays the library's own unless `TUWTREE_NONBLOCKING=1` ([`nonblocking`]).
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Igatherv(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    displs: *const c_int,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> c_int {
    let (own, all) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype));
    // SAFETY: what the program gives to `MPI_Igatherv` it keeps until the request has ended.
    unsafe {
        nonblocking::start("MPI_Igatherv", &Arguments::gatherv(own, all, root), (comm, request))
    }
}

/// `MPI_Iscatterv`, as [`MPI_Igatherv`].
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Iscatterv(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    displs: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> c_int {
    let (all, own) = ((sendbuf, sendcounts, displs, sendtype), (recvbuf, recvcount, recvtype));
    // SAFETY: what the program gives to `MPI_Iscatterv` it keeps until the request has ended.
    unsafe {
        let arguments = Arguments::scatterv(all, own, root);
        nonblocking::start("MPI_Iscatterv", &arguments, (comm, request))
    }
}

/// `MPI_Gatherv_init`. Hints are not passed on.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Gatherv_init(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    displs: *const c_int,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    _info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    let (own, all) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype));
    // SAFETY: what the program gives to `MPI_Gatherv_init` it keeps until it frees the request.
    unsafe {
        let arguments = Arguments::gatherv(own, all, root);
        set_up("MPI_Gatherv_init", &arguments, (comm, request))
    }
}

/// `MPI_Scatterv_init`. Hints are not passed on.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Scatterv_init(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    displs: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    _info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    let (all, own) = ((sendbuf, sendcounts, displs, sendtype), (recvbuf, recvcount, recvtype));
    // SAFETY: what the program gives to `MPI_Scatterv_init` it keeps until it frees the request.
    unsafe {
        let arguments = Arguments::scatterv(all, own, root);
        set_up("MPI_Scatterv_init", &arguments, (comm, request))
    }
}

/// `MPI_Allgatherv_init`. Hints are not passed on.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Allgatherv_init(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    displs: *const c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    _info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    let (own, all) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype));
    // SAFETY: what the program gives to `MPI_Allgatherv_init` it keeps until it frees the request.
    unsafe {
        let arguments = Arguments::allgatherv(own, all);
        set_up("MPI_Allgatherv_init", &arguments, (comm, request))
    }
}

/// `MPI_Gatherv_init` under its name in Open MPI 4.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPIX_Gatherv_init(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    displs: *const c_int,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    // SAFETY: `MPIX_Gatherv_init` demands what `MPI_Gatherv_init` does, to which all is passed.
    unsafe {
        MPI_Gatherv_init(
            sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info,
            request,
        )
    }
}

/// `MPI_Scatterv_init` under its name in Open MPI 4.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPIX_Scatterv_init(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    displs: *const c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    // SAFETY: `MPIX_Scatterv_init` demands what `MPI_Scatterv_init` does, to which all is passed.
    unsafe {
        MPI_Scatterv_init(
            sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info,
            request,
        )
    }
}

/// `MPI_Allgatherv_init` under its name in Open MPI 4.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPIX_Allgatherv_init(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    displs: *const c_int,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    // SAFETY: `MPIX_Allgatherv_init` demands what `MPI_Allgatherv_init` does, to which all is passed.
    unsafe {
        MPI_Allgatherv_init(
            sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
            request,
        )
    }
}

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

/// `MPI_Finalize`, before which operations whose requests have been freed end, and calls that were recorded are written.
/// Tools behind this library hear of it.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Finalize() -> c_int {
    nonblocking::end_all();
    record::write();
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

/// Why an operation without a root is the library's.
const NOT_ALIKE: &str = "ranks do not have the same sizes, or elements cannot be reordered";

/// What the communicator carries, if a call is to be performed along a tree; else why not.
///
/// # Safety
/// As the calls.
unsafe fn ours(arguments: &Arguments<'_>, comm: MPI_Comm) -> Result<Rc<Standing>, String> {
    // SAFETY: the caller's promise.
    let standing = unsafe { standing(comm)? };
    let Standing::Trees(collectives) = &*standing else { return Ok(standing) };
    let root = arguments.root(collectives.communicator().size());
    match arguments.operation().is_rooted() && root.is_none() {
        true => Err("no such root".to_owned()),
        false => Ok(standing),
    }
}

/// What the communicator carries, if its calls are ours; else why not.
///
/// # Safety
/// As the calls.
unsafe fn standing(comm: MPI_Comm) -> Result<Rc<Standing>, String> {
    // SAFETY: a handle that MPI has given out, or null, which is not asked.
    let standing = unsafe {
        if comm == raw::RSMPI_COMM_NULL {
            return Err("no communicator".to_owned());
        }
        if is_inter(comm).unwrap_or(false) {
            return Err("an inter-communicator".to_owned());
        }
        let agreed = waiting::hinting(|| standing_of(comm, device::obstacle));
        let standing = agreed.map_err(|error| error.to_string())?;
        log::announce(comm, &standing);
        standing
    };
    match &*standing {
        Standing::Library { reason, .. } => Err(reason.clone()),
        Standing::Trees(_) => Ok(standing),
    }
}

/// What has been done along a tree.
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

/// Why a call is not performed along a tree.
enum Declined {
    /// All processors know, and none has moved any data: the MPI library performs it.
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

/// Sets up a persistent operation along a tree, or natively.
///
/// # Safety
/// As the calls.
unsafe fn set_up(
    name: &'static str,
    arguments: &Arguments<'static>,
    (comm, request): (MPI_Comm, *mut MPI_Request),
) -> c_int {
    // SAFETY: a place for the request by the caller's promise.
    let work = |own: &Rc<Collectives>| unsafe {
        registered(own, (comm, request), |own| own.init(arguments))
    };
    // SAFETY: the program's own arguments, and a place for a request by the caller's promise.
    let native = || code_of(unsafe { arguments.init_native(comm, request) });
    // SAFETY: `comm` is what the program gave to the call that sets up.
    unsafe { along_tree(name, arguments, comm, (work, native)) }
}

/// Sets up a persistent operation, and writes the request that stands for it.
///
/// # Safety
/// As the calls.
unsafe fn registered(
    collectives: &Rc<Collectives>,
    (comm, request): (MPI_Comm, *mut MPI_Request),
    set_up: impl FnOnce(&Collectives) -> Result<Persistent<'static>, CollectiveError>,
) -> Result<Done, Declined> {
    let communicator = collectives.communicator();
    communicator.agree(persistent::allowed()).map_err(|refused| match refused {
        Refused::Here { fault, .. } => Declined::ToNative(fault.to_owned()),
        Refused::Elsewhere { rank } => Declined::ToNative(format!("rank {rank} does not allow it")),
        Refused::Mpi(error) => Declined::Failed(error.into()),
    })?;
    let operation = set_up(collectives)?;
    let token =
        persistent::register(operation, comm, collectives).map_err(CollectiveError::from)?;
    // SAFETY: the program gives a place for the request.
    unsafe { *request = token };
    Ok(Done { what: "set up", processes: communicator.size(), tree: None })
}

/// Performs a call along a tree, or natively.
///
/// # Safety
/// As the calls.
unsafe fn perform(name: &'static str, arguments: &Arguments<'_>, comm: MPI_Comm) -> c_int {
    let work = |collectives: &Rc<Collectives>| {
        let is_rooted = arguments.operation().is_rooted();
        let what = if is_rooted {
            collectives.run_leniently(arguments)?.name()
        } else {
            let done = collectives.run_allgather_leniently(arguments)?;
            done.ok_or_else(|| Declined::ToNative(NOT_ALIKE.to_owned()))?.name()
        };
        let tree = collectives.last_tree().filter(|_| is_rooted);
        Ok(Done { what, processes: collectives.communicator().size(), tree })
    };
    // SAFETY: the program's own arguments, by the caller's promise.
    let native = || code_of(unsafe { arguments.call_native(comm) });
    // SAFETY: `comm` is what the program gave to the one-shot call.
    unsafe { along_tree(name, arguments, comm, (work, native)) }
}

/// Does this `work`, which says what it has done, or else the native call; logs which.
///
/// # Safety
/// As the calls.
unsafe fn along_tree(
    name: &'static str,
    arguments: &Arguments<'_>,
    comm: MPI_Comm,
    (work, native): (impl FnOnce(&Rc<Collectives>) -> Result<Done, Declined>, impl Fn() -> c_int),
) -> c_int {
    let began = record::began();
    // SAFETY: a communicator's handle that the program passed, or null.
    unsafe {
        let code = logged(name, ours(arguments, comm), comm, (work, native));
        record::ended(began, name, arguments, comm);
        code
    }
}

/// Does this `work`, if the call is ours, or else the native call; logs which.
///
/// # Safety
/// As the calls.
unsafe fn logged(
    name: &'static str,
    ours: Result<Rc<Standing>, String>,
    comm: MPI_Comm,
    (work, native): (impl FnOnce(&Rc<Collectives>) -> Result<Done, Declined>, impl Fn() -> c_int),
) -> c_int {
    // SAFETY: a communicator's handle that the program passed, or null.
    unsafe { logged_by(&log::of_call(name, comm), ours, comm, (work, native)) }
}

/// The same, logged by this log.
///
/// # Safety
/// As the calls.
unsafe fn logged_by(
    log: &impl Fn(&dyn Display),
    ours: Result<Rc<Standing>, String>,
    comm: MPI_Comm,
    (work, native): (impl FnOnce(&Rc<Collectives>) -> Result<Done, Declined>, impl Fn() -> c_int),
) -> c_int {
    let mut is_native = false;
    let logged = || match ours.map_err(Declined::ToNative).and_then(|standing| match &*standing {
        Standing::Trees(collectives) => work(collectives),
        Standing::Library { .. } => unreachable!("it has been found to have trees"),
    }) {
        Ok(what) => {
            log(&what);
            Ok(())
        }
        Err(Declined::ToNative(reason)) => {
            log(&format!("native: {reason}"));
            is_native = true;
            Ok(())
        }
        Err(Declined::Failed(error)) => {
            log(&format!("failed: {error}"));
            Err(error)
        }
    };
    // SAFETY: a communicator by the caller's promise.
    let code = unsafe { guarded(comm, logged) };
    if is_native { native() } else { code }
}
