//! Persistent gather and scatter for programs that know nothing of tuwtree.
//!
//! What a program gets is a request of MPI's own, a token: a persistent receive of nothing from this
//! rank itself, inactive. While the operation is under way the token stays inactive; when it has
//! ended, the token is started, and the message that it waits for is sent. So the MPI library itself
//! says that the request has ended, and makes it inactive again. (A receive from nobody would be
//! simpler, but in MPICH 4.0 is never active.) Every function that starts, waits for, tests or frees requests
//! is replaced by one that lets our operations go on first.
//!
//! They go on in these functions only. In others, such as `MPI_Recv` or `MPI_Barrier`, they do not, where
//! the MPI library's own would: a program that waits in these for somebody who waits for our
//! operation would wait for ever. That is why programs must ask for it (`TUWTREE_PERSISTENT=1`).

use std::ffi::c_int;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tuwtree_binding::raw::{self, MPI_Comm, MPI_Request, MPI_Status};
use tuwtree_binding::{Communicator, MpiError, calls, code_of};
use tuwtree_executor::collective::{CollectiveError, Collectives, Persistent, guarded};

const SUCCESS: c_int = raw::MPI_SUCCESS as c_int;

/// An operation, and the request that stands for it.
struct TokenOperation {
    token: MPI_Request,
    /// The communicator that the program named, which it may free before the operation.
    comm: MPI_Comm,
    /// The communicator's state, alive as long as it.
    carried: Weak<Collectives>,
    persistent: Persistent<'static>,
}

impl TokenOperation {
    fn listener(&self) -> MPI_Comm {
        listener(self.comm, &self.carried)
    }
}

/// Communicator whose error handler receives failures: the operation's, or the world if that is
/// freed.
fn listener(comm: MPI_Comm, carried: &Weak<Collectives>) -> MPI_Comm {
    match carried.strong_count() {
        // SAFETY: a constant of the C shim.
        0 => unsafe { raw::RSMPI_COMM_NULL },
        _ => comm,
    }
}

/// All operations that have not been freed.
struct TokenOperations {
    all: Vec<TokenOperation>,
    /// Communicator on which tokens are received; made with the first.
    own: Option<Communicator>,
}

// SAFETY: `allowed` refuses MPI_THREAD_MULTIPLE: whoever reaches the operations does so in an MPI call,
// and these come one after the other.
unsafe impl Send for TokenOperations {}

static OPERATIONS: Mutex<TokenOperations> =
    Mutex::new(TokenOperations { all: Vec::new(), own: None });

/// Number of operations: at 0, calls go straight to the MPI library.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A failure, and whose error handler hears of it.
type ToldFailure = (MPI_Comm, CollectiveError);

fn operations() -> MutexGuard<'static, TokenOperations> {
    OPERATIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reason for which this rank leaves persistent operations to the MPI library.
pub(crate) fn allowed() -> Result<(), &'static str> {
    if std::env::var_os("TUWTREE_PERSISTENT").is_none_or(|value| value != "1") {
        return Err("persistent operations are the MPI library's unless TUWTREE_PERSISTENT=1");
    }
    if is_one_by_one() { Ok(()) } else { Err(MANY_THREADS) }
}

/// Reason against operations that progress in calls for other operations, where threads call MPI concurrently.
const MANY_THREADS: &str = "MPI_THREAD_MULTIPLE";

/// True if calls of MPI never overlap.
fn is_one_by_one() -> bool {
    let mut level = 0;
    // SAFETY: the level is written to a local variable; a constant of the C shim.
    unsafe { calls::query_thread(&mut level).is_ok() && level < raw::RSMPI_THREAD_MULTIPLE }
}

/// A request that stands for this operation.
///
/// # Errors
/// What MPI returns.
pub(crate) fn register(
    persistent: Persistent<'static>,
    comm: MPI_Comm,
    collectives: &Rc<Collectives>,
) -> Result<MPI_Request, MpiError> {
    let mut operations = operations();
    if operations.own.is_none() {
        // SAFETY: MPI is initialized, or there would be no operation.
        operations.own = Some(unsafe { Communicator::alone() }?);
    }
    let own = operations.own.as_ref().expect("it was just made").raw();
    // SAFETY: nothing is received into no memory; constants of the C shim; the handle is written to a
    // local variable.
    let token = unsafe {
        let mut token = raw::RSMPI_REQUEST_NULL;
        let (nowhere, bytes) = (std::ptr::null_mut(), raw::TUWTREE_BYTE);
        calls::recv_init(nowhere, 0, bytes, 0, 0, own, &mut token)?;
        token
    };
    let carried = Rc::downgrade(collectives);
    operations.all.push(TokenOperation { token, comm, carried, persistent });
    COUNT.fetch_add(1, Ordering::Relaxed);
    Ok(token)
}

/// True if any operation exists.
fn are_any() -> bool {
    COUNT.load(Ordering::Relaxed) > 0
}

/// Lets all operations go on that are under way, and has the requests of those end that have ended.
fn go_on() -> Result<(), ToldFailure> {
    let mut operations = operations();
    let TokenOperations { all, own } = &mut *operations;
    for operation in all {
        if !operation.persistent.is_under_way() {
            continue;
        }
        let listener = operation.listener();
        if operation.persistent.test().map_err(|error| (listener, error))? {
            let own = own.as_ref().expect("made with the first token").raw();
            end(&mut operation.token, own).map_err(|error| (listener, error.into()))?;
        }
    }
    Ok(())
}

/// Starts a token, and has it end.
fn end(token: &mut MPI_Request, own: MPI_Comm) -> Result<(), MpiError> {
    // SAFETY: the token is a persistent receive of ours on this communicator, and inactive; nothing is
    // sent from no memory, to a receive that is there.
    unsafe {
        calls::start(token)?;
        calls::send(std::ptr::null(), 0, raw::TUWTREE_BYTE, 0, 0, own)
    }
}

/// True if one of the requests stands for an operation under way.
fn are_pending(requests: &[MPI_Request]) -> bool {
    let operations = operations();
    let under_way = |one: &&TokenOperation| one.persistent.is_under_way();
    operations.all.iter().filter(under_way).any(|one| requests.contains(&one.token))
}

/// Starts the operation for which this request stands; `None` if it stands for none.
fn start(request: MPI_Request) -> Option<Result<(), ToldFailure>> {
    let mut operations = operations();
    let operation = operations.all.iter_mut().find(|one| one.token == request)?;
    let listener = operation.listener();
    Some(operation.persistent.start().map_err(|error| (listener, error)))
}

/// Gives up the operation for which this request stands, if it stands for one.
fn forget(request: MPI_Request) -> Result<(), ToldFailure> {
    let mut operations = operations();
    let Some(index) = operations.all.iter().position(|one| one.token == request) else {
        return Ok(());
    };
    let operation = &operations.all[index];
    if operation.persistent.is_under_way() {
        return Err((operation.listener(), CollectiveError::NotStartable("under way")));
    }
    let removed = operations.all.swap_remove(index);
    COUNT.fetch_sub(1, Ordering::Relaxed);
    drop(operations);
    drop(removed);
    Ok(())
}

/// The code of a result, after the error handler has heard of a failure.
fn told(result: Result<(), ToldFailure>) -> c_int {
    match result {
        Ok(()) => SUCCESS,
        // SAFETY: an operation names its communicator as long as that lives, and then none.
        Err((comm, error)) => unsafe { guarded(comm, || Err(error)) },
    }
}

/// The requests of a call.
///
/// # Safety
/// `requests` points to `count` requests, or `count` is not positive.
unsafe fn listed<'a>(count: c_int, requests: *const MPI_Request) -> &'a [MPI_Request] {
    match usize::try_from(count) {
        // SAFETY: so many requests by the caller's promise, looked at before MPI writes there.
        Ok(count) if !requests.is_null() => unsafe { std::slice::from_raw_parts(requests, count) },
        _ => &[],
    }
}

/// Lets operations go on until `try_once` has an answer, which it looks for if none of these requests
/// is pending.
fn until(requests: &[MPI_Request], mut try_once: impl FnMut() -> Option<c_int>) -> c_int {
    loop {
        let gone_on = go_on();
        if gone_on.is_err() {
            return told(gone_on);
        }
        if !are_pending(requests)
            && let Some(code) = try_once()
        {
            return code;
        }
        std::thread::yield_now();
    }
}

/// `MPI_Start`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Start(request: *mut MPI_Request) -> c_int {
    // SAFETY: `request`, unless null, points to a request, as `MPI_Start` demands; it is only read
    // here.
    unsafe {
        match if are_any() && !request.is_null() { start(*request) } else { None } {
            Some(result) => told(result),
            None => code_of(calls::start(request)),
        }
    }
}

/// `MPI_Startall`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Startall(count: c_int, requests: *mut MPI_Request) -> c_int {
    // SAFETY: `requests` points to `count` requests, as `MPI_Startall` demands; no index reaches
    // further.
    unsafe {
        if !are_any() {
            return code_of(calls::startall(count, requests));
        }
        for index in 0..listed(count, requests).len() {
            let code = MPI_Start(requests.add(index));
            if code != SUCCESS {
                return code;
            }
        }
        SUCCESS
    }
}

/// `MPI_Wait`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Wait(request: *mut MPI_Request, status: *mut MPI_Status) -> c_int {
    // SAFETY: `request` points to one request, as `MPI_Wait` demands, and `MPI_Test` demands no
    // more of it and of the status; the flag is local.
    unsafe {
        if !are_any() {
            return code_of(calls::wait(request, status));
        }
        until(listed(1, request), || {
            let mut has_ended = 0;
            let code = code_of(calls::test(request, &mut has_ended, status));
            (has_ended != 0 || code != SUCCESS).then_some(code)
        })
    }
}

/// `MPI_Waitall`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Waitall(
    count: c_int,
    requests: *mut MPI_Request,
    statuses: *mut MPI_Status,
) -> c_int {
    // SAFETY: there are `count` requests and statuses, as `MPI_Waitall` demands, and `MPI_Testall`
    // demands no more; the flag is local.
    unsafe {
        if !are_any() {
            return code_of(calls::waitall(count, requests, statuses));
        }
        until(listed(count, requests), || {
            let mut have_ended = 0;
            let code = code_of(calls::testall(count, requests, &mut have_ended, statuses));
            (have_ended != 0 || code != SUCCESS).then_some(code)
        })
    }
}

/// `MPI_Waitany`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Waitany(
    count: c_int,
    requests: *mut MPI_Request,
    index: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: `MPI_Testany` demands no more than `MPI_Waitany`, but for the flag, which is local.
    unsafe {
        if !are_any() {
            return code_of(calls::waitany(count, requests, index, status));
        }
        until(&[], || {
            let mut has_ended = 0;
            let code = MPI_Testany(count, requests, index, &mut has_ended, status);
            (has_ended != 0 || code != SUCCESS).then_some(code)
        })
    }
}

/// `MPI_Waitsome`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Waitsome(
    count: c_int,
    requests: *mut MPI_Request,
    ended: *mut c_int,
    indices: *mut c_int,
    statuses: *mut MPI_Status,
) -> c_int {
    // SAFETY: `MPI_Testsome` demands what `MPI_Waitsome` does, and has written `ended` where it
    // succeeds.
    unsafe {
        if !are_any() {
            return code_of(calls::waitsome(count, requests, ended, indices, statuses));
        }
        until(&[], || {
            let code = MPI_Testsome(count, requests, ended, indices, statuses);
            (code != SUCCESS || *ended != 0).then_some(code)
        })
    }
}

/// `MPI_Test`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Test(
    request: *mut MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: `request` and `flag` are one each, as `MPI_Test` demands: to be read and to be
    // written.
    unsafe {
        match look(1, request, flag) {
            Some(code) => code,
            None => code_of(calls::test(request, flag, status)),
        }
    }
}

/// `MPI_Testall`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Testall(
    count: c_int,
    requests: *mut MPI_Request,
    flag: *mut c_int,
    statuses: *mut MPI_Status,
) -> c_int {
    // SAFETY: there are `count` requests, and a flag to be written, as `MPI_Testall` demands.
    unsafe {
        match look(count, requests, flag) {
            Some(code) => code,
            None => code_of(calls::testall(count, requests, flag, statuses)),
        }
    }
}

/// `MPI_Testany`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Testany(
    count: c_int,
    requests: *mut MPI_Request,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: `flag` and `index` are places for numbers, as `MPI_Testany` demands, read only where
    // the library has written them.
    unsafe {
        let gone_on = if are_any() { go_on() } else { Ok(()) };
        if gone_on.is_err() {
            return told(gone_on);
        }
        let code = code_of(calls::testany(count, requests, index, flag, status));
        // The library sees no active request, but there is one.
        if code == SUCCESS
            && *flag != 0
            && *index == raw::RSMPI_UNDEFINED
            && are_pending(listed(count, requests))
        {
            *flag = 0;
        }
        code
    }
}

/// `MPI_Testsome`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Testsome(
    count: c_int,
    requests: *mut MPI_Request,
    ended: *mut c_int,
    indices: *mut c_int,
    statuses: *mut MPI_Status,
) -> c_int {
    // SAFETY: `ended` is a place for a number, as `MPI_Testsome` demands, read only where the
    // library has written it.
    unsafe {
        let gone_on = if are_any() { go_on() } else { Ok(()) };
        if gone_on.is_err() {
            return told(gone_on);
        }
        let code = code_of(calls::testsome(count, requests, ended, indices, statuses));
        // The library sees no active request, but there is one.
        if code == SUCCESS && *ended == raw::RSMPI_UNDEFINED && are_pending(listed(count, requests))
        {
            *ended = 0;
        }
        code
    }
}

/// `MPI_Request_get_status`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Request_get_status(
    request: MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the request is a copy of our own, and `flag` the program's place for the answer.
    unsafe {
        match look(1, &request, flag) {
            Some(code) => code,
            None => code_of(calls::request_get_status(request, flag, status)),
        }
    }
}

/// `MPI_Request_free`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Request_free(request: *mut MPI_Request) -> c_int {
    // SAFETY: `request`, unless null, points to a request, as `MPI_Request_free` demands; it is
    // read before the library overwrites it.
    unsafe {
        let forgotten = if are_any() && !request.is_null() { forget(*request) } else { Ok(()) };
        match forgotten {
            Ok(()) => code_of(calls::request_free(request)),
            Err(failure) => told(Err(failure)),
        }
    }
}

/// Lets operations go on, and has the answer of a test of all these requests if one of them is under
/// way here; `None` if the MPI library has it.
///
/// # Safety
/// What the MPI standard demands.
unsafe fn look(count: c_int, requests: *const MPI_Request, flag: *mut c_int) -> Option<c_int> {
    if !are_any() {
        return None;
    }
    let gone_on = go_on();
    if gone_on.is_err() {
        return Some(told(gone_on));
    }
    // SAFETY: a list of requests and a place for a flag, as every test has them.
    unsafe {
        are_pending(listed(count, requests)).then(|| {
            *flag = 0;
            SUCCESS
        })
    }
}
