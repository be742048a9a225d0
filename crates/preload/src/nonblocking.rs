//! Nonblocking gather and scatter for programs that know nothing of tuwtree.
//!
//! What a program gets is a generalized request of MPI's own, so that every function that takes requests knows when the
//! operation has ended, statuses and freed requests included. Operations go on in the functions that `persistent` replaces,
//! which wait for, test or free requests, and while calls of ours wait; in others, such as `MPI_Recv`, they do not, where the
//! MPI library's own would. That is why programs must ask for it (`TUWTREE_NONBLOCKING=1`, at all ranks).

use crate::log::{self, CallLog};
use crate::persistent::{COUNT, MANY_THREADS, ToldFailure, is_one_by_one, listener, told};
use crate::{Declined, Done, logged_by, ours, record};
use std::ffi::{c_int, c_void};
use std::rc::{Rc, Weak};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tuwtree_executor::ClosedSet;
use tuwtree_executor::collective::{CollectiveError, Collectives, Nonblocking, Strictness};
use tuwtree_executor::sys::raw::{self, MPI_Comm, MPI_Request, MPI_Status};
use tuwtree_executor::sys::{Arguments, MpiError, calls, code_of, is_running};

/// An operation under way, and the request that stands for it.
struct RequestOperation {
    request: MPI_Request,
    /// The communicator that the program named, which it may free before the operation has ended.
    comm: MPI_Comm,
    /// What that communicator carries, as long as it lives.
    carried: Weak<Collectives>,
    operation: Nonblocking<'static>,
    processes: usize,
    log: CallLog,
}

/// All operations that have not ended.
struct RequestOperations(Vec<RequestOperation>);

// SAFETY: where threads call MPI at the same time there are none: whoever reaches the operations does so in an MPI call,
// and these come one after the other.
unsafe impl Send for RequestOperations {}

static OPERATIONS: Mutex<RequestOperations> = Mutex::new(RequestOperations(Vec::new()));

fn operations() -> MutexGuard<'static, RequestOperations> {
    OPERATIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why this processor leaves nonblocking operations to the MPI library, if it does.
fn obstacle() -> Option<&'static str> {
    (!is_one_by_one()).then_some(MANY_THREADS)
}

/// Starts an operation along a tree, or the library's own.
///
/// # Safety
/// As the calls.
pub(crate) unsafe fn start(
    name: &'static str,
    arguments: &Arguments<'static>,
    (comm, request): (MPI_Comm, *mut MPI_Request),
) -> c_int {
    let began = record::began();
    // SAFETY: the program's own arguments, and a place for a request by the caller's promise; a communicator's handle
    // that the program passed, or null.
    unsafe {
        let log = Rc::new(log::of_call(name, comm));
        let native = || code_of(arguments.start_native(comm, request));
        let code = if std::env::var_os("TUWTREE_NONBLOCKING").is_some_and(|value| value == "1") {
            let own = Rc::clone(&log);
            let work = move |collectives: &Rc<Collectives>| {
                started(collectives, arguments, (comm, request), Box::new(move |what| own(what)))
            };
            logged_by(&*log, ours(arguments, comm), comm, (work, native))
        } else {
            log(
                &"native: nonblocking operations are the MPI library's unless TUWTREE_NONBLOCKING=1",
            );
            native()
        };
        record::ended(began, name, arguments, comm);
        code
    }
}

/// Starts an operation, and writes the request that stands for it.
///
/// # Safety
/// As the calls.
unsafe fn started(
    collectives: &Rc<Collectives>,
    arguments: &Arguments<'static>,
    (comm, request): (MPI_Comm, *mut MPI_Request),
    log: CallLog,
) -> Result<Done, Declined> {
    let queue = collectives.queue(obstacle)?;
    let processes = collectives.communicator().size();
    // SAFETY: a place for the request by the caller's promise.
    let token = unsafe {
        let token = new_request().map_err(CollectiveError::from)?;
        *request = token;
        token
    };
    let operation = queue.start(arguments, Strictness::Loose)?;
    let carried = Rc::downgrade(collectives);
    let started = RequestOperation { request: token, comm, carried, operation, processes, log };
    operations().0.push(started);
    COUNT.fetch_add(1, Ordering::Relaxed);
    Ok(Done { what: "started", processes, tree: None })
}

/// A request that ends when it is said to.
///
/// # Errors
/// What MPI returns.
fn new_request() -> Result<MPI_Request, MpiError> {
    // SAFETY: callbacks of the types that MPI wants, which need no state; the handle is written to a local variable.
    unsafe {
        let mut request = raw::RSMPI_REQUEST_NULL;
        let no_state = std::ptr::null_mut();
        calls::grequest_start(Some(query), Some(free), Some(cancel), no_state, &mut request)?;
        Ok(request)
    }
}

/// MPI asks for the status of an operation that has ended: as with the library's own, it says nothing.
unsafe extern "C" fn query(_: *mut c_void, status: *mut MPI_Status) -> c_int {
    // SAFETY: MPI's place for a status.
    let filled = unsafe {
        (*status).MPI_SOURCE = raw::RSMPI_UNDEFINED;
        (*status).MPI_TAG = raw::RSMPI_UNDEFINED;
        calls::status_set_elements(status, raw::TUWTREE_BYTE, 0)
            .and_then(|()| calls::status_set_cancelled(status, 0))
    };
    code_of(filled)
}

/// MPI frees a request.
unsafe extern "C" fn free(_: *mut c_void) -> c_int {
    raw::MPI_SUCCESS as c_int
}

/// The program wants to cancel a collective operation, which the standard does not allow.
unsafe extern "C" fn cancel(_: *mut c_void, _: c_int) -> c_int {
    raw::MPI_ERR_REQUEST as c_int
}

/// Lets all operations go on, and has the requests of those end that have ended. The first that failed is told of.
pub(crate) fn go_on() -> Result<(), ToldFailure> {
    let mut operations = operations();
    let all = &mut operations.0;
    let (mut index, mut failure) = (0, Ok(()));
    while let Some(one) = all.get_mut(index) {
        let Some(outcome) = one.operation.test() else {
            index += 1;
            continue;
        };
        let ended = all.remove(index);
        COUNT.fetch_sub(1, Ordering::Relaxed);
        match &outcome {
            Ok(algorithm) => {
                (ended.log)(&Done {
                    what: algorithm.name(),
                    processes: ended.processes,
                    tree: None,
                });
            }
            Err(error) => (ended.log)(&format!("failed: {error}")),
        }
        // SAFETY: a generalized request that has not been said to have ended; if the program has freed it, MPI keeps
        // it until then.
        let said = unsafe { calls::grequest_complete(ended.request) };
        let whole = outcome.and(said.map_err(CollectiveError::from));
        failure = failure.and(whole.map_err(|error| (listener(ended.comm, &ended.carried), error)));
    }
    failure
}

/// Waits for all operations, of which the program may have freed the requests.
pub(crate) fn end_all() {
    while COUNT.load(Ordering::Relaxed) > 0 && is_running() && !operations().0.is_empty() {
        told(go_on());
        std::thread::yield_now();
    }
}
