//! The library for C: `include/tuwtree_mpi.h` declares and describes these functions.
//!
//! Every function that can fail returns `MPI_SUCCESS` or an error class of MPI, after the error
//! handler of the communicator has been called with it. None unwinds into C.
//!
//! A crate of its own, so that whoever else depends on the executor does not export these functions.

#[macro_use]
mod shapes;

pub mod alltoall;
pub mod nonblocking;
pub mod reduce_scatter;

use std::ffi::{CStr, c_char, c_int, c_void};
use tuwtree_executor::collective::{
    CollectiveError, Collectives, Nonblocking, Persistent, collectives_of, guarded, last_error_text,
};
use tuwtree_executor::settings::{Setting, SettingError};
use tuwtree_executor::sys::Arguments;
use tuwtree_executor::sys::raw::{self, MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype};

const SUCCESS: c_int = raw::MPI_SUCCESS as c_int;

/// What the last error in this thread was about: a text with a final zero, which lives until the
/// next error; empty if there was none.
#[unsafe(no_mangle)]
pub extern "C" fn tuwtree_error_text() -> *const c_char {
    last_error_text()
}

like_gatherv! {
    /// Gathers blocks: `MPI_Gatherv`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Gatherv`.
    tuwtree_gatherv(c_int, c_int) = gatherv, run
}

like_scatterv! {
    /// Scatters blocks: `MPI_Scatterv`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Scatterv`.
    tuwtree_scatterv(c_int, c_int) = scatterv, run
}

like_gatherv! {
    /// Gathers blocks with large counts: `MPI_Gatherv_c`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Gatherv_c`.
    tuwtree_gatherv_c(MPI_Count, MPI_Aint) = gatherv_c, run
}

like_scatterv! {
    /// Scatters blocks with large counts: `MPI_Scatterv_c`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Scatterv_c`.
    tuwtree_scatterv_c(MPI_Count, MPI_Aint) = scatterv_c, run
}

like_gatherv! {
    /// Gathers blocks of which every rank gives all counts.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Gatherv`, and counts and their datatype at every rank as at the root.
    tuwtree_gatherv_all_counts(c_int, c_int) = gatherv, run_knowing
}

like_scatterv! {
    /// Scatters blocks of which every rank gives all counts.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Scatterv`, and counts and their datatype at every rank as at the root.
    tuwtree_scatterv_all_counts(c_int, c_int) = scatterv, run_knowing
}

like_gatherv! {
    /// Gathers blocks with large counts of which every rank gives all counts.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Gatherv_c`, and counts and their datatype at every rank as at the root.
    tuwtree_gatherv_all_counts_c(MPI_Count, MPI_Aint) = gatherv_c, run_knowing
}

like_scatterv! {
    /// Scatters blocks with large counts of which every rank gives all counts.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Scatterv_c`, and counts and their datatype at every rank as at the root.
    tuwtree_scatterv_all_counts_c(MPI_Count, MPI_Aint) = scatterv_c, run_knowing
}

/// # Safety
/// As [`tuwtree_gatherv`].
unsafe fn run(arguments: &Arguments<'_>, comm: MPI_Comm) -> Result<(), CollectiveError> {
    // SAFETY: a handle that MPI has given out; nothing is kept after the call.
    unsafe { collectives_of(comm)?.run(arguments).map(drop) }
}

/// # Safety
/// As [`tuwtree_gatherv_all_counts`].
unsafe fn run_knowing(arguments: &Arguments<'_>, comm: MPI_Comm) -> Result<(), CollectiveError> {
    // SAFETY: a handle that MPI has given out, and counts at every rank, by the caller's promise.
    unsafe {
        let collectives = collectives_of(comm)?;
        let own = collectives.communicator();
        let sizes = arguments.all_sizes(own.size());
        let rank = own.rank();
        let sizes = sizes.map_err(|error| CollectiveError::Argument { rank, error })?;
        collectives.run_knowing(arguments, &sizes).map(drop)
    }
}

like_allgatherv! {
    /// Gathers blocks everywhere: `MPI_Allgatherv`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Allgatherv`.
    tuwtree_allgatherv(c_int, c_int) = allgatherv, run
}

like_allgatherv! {
    /// Gathers blocks everywhere with large counts: `MPI_Allgatherv_c`.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Allgatherv_c`.
    tuwtree_allgatherv_c(MPI_Count, MPI_Aint) = allgatherv_c, run
}

/// An operation, as C holds it.
pub struct COperation {
    kind: OperationKind,
    /// Whose error handler hears of failures.
    comm: MPI_Comm,
}

enum OperationKind {
    Persistent(Persistent<'static>),
    /// Gone when it is seen to have ended.
    Nonblocking(Nonblocking<'static>),
}

/// What is said where an operation is started that has been.
const STARTED: CollectiveError = CollectiveError::NotStartable("under way");

like_gatherv! {
    /// Sets up a gather.
    ///
    /// # Safety
    /// What the MPI standard demands of `MPI_Gatherv_init`; `request` points to a place for the result,
    /// or is null, which is an error; the communicator lives until the operation is freed.
    tuwtree_gatherv_init(c_int, c_int, request) = gatherv, init
}

like_scatterv! {
    /// Sets up a scatter.
    ///
    /// # Safety
    /// As [`tuwtree_gatherv_init`].
    tuwtree_scatterv_init(c_int, c_int, request) = scatterv, init
}

like_gatherv! {
    /// Sets up a gather with large counts.
    ///
    /// # Safety
    /// As [`tuwtree_gatherv_init`].
    tuwtree_gatherv_init_c(MPI_Count, MPI_Aint, request) = gatherv_c, init
}

like_scatterv! {
    /// Sets up a scatter with large counts.
    ///
    /// # Safety
    /// As [`tuwtree_gatherv_init`].
    tuwtree_scatterv_init_c(MPI_Count, MPI_Aint, request) = scatterv_c, init
}

like_allgatherv! {
    /// Sets up an allgather.
    ///
    /// # Safety
    /// As [`tuwtree_gatherv_init`].
    tuwtree_allgatherv_init(c_int, c_int, request) = allgatherv, init
}

like_allgatherv! {
    /// Sets up an allgather with large counts.
    ///
    /// # Safety
    /// As [`tuwtree_gatherv_init`].
    tuwtree_allgatherv_init_c(MPI_Count, MPI_Aint, request) = allgatherv_c, init
}

/// # Safety
/// As [`tuwtree_gatherv_init`].
unsafe fn init(
    arguments: &Arguments<'static>,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> Result<(), CollectiveError> {
    // SAFETY: the caller's promise.
    unsafe { hand_out(comm, request, |own| own.init(arguments).map(OperationKind::Persistent)) }
}

/// Writes what is set up or started.
///
/// # Safety
/// As [`tuwtree_gatherv_init`].
unsafe fn hand_out(
    comm: MPI_Comm,
    request: *mut *mut COperation,
    make: impl FnOnce(&Collectives) -> Result<OperationKind, CollectiveError>,
) -> Result<(), CollectiveError> {
    if request.is_null() {
        return Err(CollectiveError::Refused("a null pointer for the request".to_owned()));
    }
    // SAFETY: a place for the request, which was found not to be null; the communicator's handle is
    // one that MPI has given out.
    unsafe {
        *request = std::ptr::null_mut();
        let kind = make(&*collectives_of(comm)?)?;
        *request = Box::into_raw(Box::new(COperation { kind, comm }));
    }
    Ok(())
}

/// Starts an operation.
///
/// # Safety
/// `request` points to what one of the functions above has made, or to null, or is null, which are
/// errors; buffers have memory as was promised to those.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_start(request: *mut *mut COperation) -> c_int {
    // SAFETY: a request that `init` has made, or null, as `tuwtree_start` demands of the program.
    unsafe {
        with_operation(request, |operation| match &mut operation.kind {
            OperationKind::Persistent(persistent) => persistent.start(),
            OperationKind::Nonblocking(_) => Err(STARTED),
        })
    }
}

/// Waits for an operation.
///
/// # Safety
/// As [`tuwtree_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_wait(request: *mut *mut COperation) -> c_int {
    let wait = |operation: &mut COperation| match &mut operation.kind {
        OperationKind::Persistent(persistent) => persistent.wait().map(|()| true),
        OperationKind::Nonblocking(operation) => loop {
            match operation.test() {
                Some(outcome) => return outcome.map(|_| true),
                None => std::thread::yield_now(),
            }
        },
    };
    // SAFETY: a request that `init` has made, or null, as `tuwtree_wait` demands of the program.
    unsafe { seen(request, wait) }
}

/// Does something with an operation that says whether it has ended, and frees it if it has and is not to be started
/// again.
///
/// # Safety
/// As [`tuwtree_start`].
unsafe fn seen(
    request: *mut *mut COperation,
    work: impl FnOnce(&mut COperation) -> Result<bool, CollectiveError>,
) -> c_int {
    let mut is_over = false;
    // SAFETY: the caller's promise; the box is the one that was handed out, of which nothing is borrowed any more.
    unsafe {
        let code = with_operation(request, |operation| {
            let done = work(operation);
            let has_ended = !matches!(done, Ok(false));
            is_over = has_ended && matches!(operation.kind, OperationKind::Nonblocking(_));
            done.map(drop)
        });
        if is_over {
            drop(Box::from_raw(std::mem::replace(&mut *request, std::ptr::null_mut())));
        }
        code
    }
}

/// Looks whether an operation has ended.
///
/// # Safety
/// As [`tuwtree_start`]; `flag` points to a place for the answer, or is null, which is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_test(request: *mut *mut COperation, flag: *mut c_int) -> c_int {
    if flag.is_null() {
        let null = || Err(CollectiveError::Refused("a null pointer for the flag".to_owned()));
        // SAFETY: as below; nothing is done but to fail.
        return unsafe { with_operation(request, |_| null()) };
    }
    let test = |operation: &mut COperation| {
        let has_ended = match &mut operation.kind {
            OperationKind::Persistent(persistent) => persistent.test()?,
            OperationKind::Nonblocking(operation) => operation.test().transpose()?.is_some(),
        };
        // SAFETY: a place for the flag, which was found not to be null.
        unsafe { *flag = c_int::from(has_ended) };
        Ok(has_ended)
    };
    // SAFETY: a request that `init` has made, or null, as `tuwtree_test` demands of the program.
    unsafe { seen(request, test) }
}

/// Frees an operation.
///
/// # Safety
/// As [`tuwtree_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_free(request: *mut *mut COperation) -> c_int {
    let check = |operation: &mut COperation| match &operation.kind {
        OperationKind::Persistent(persistent) if !persistent.is_under_way() => Ok(()),
        _ => Err(CollectiveError::NotStartable("under way")),
    };
    // SAFETY: the caller's promise; the box is the one that `init` has made.
    unsafe {
        let code = with_operation(request, check);
        if code != SUCCESS {
            return code;
        }
        let operation = Box::from_raw(*request);
        *request = std::ptr::null_mut();
        let comm = operation.comm;
        guarded(comm, move || {
            drop(operation);
            Ok(())
        })
    }
}

/// Does something with an operation, and reports failures to its communicator.
///
/// # Safety
/// As [`tuwtree_start`].
unsafe fn with_operation(
    request: *mut *mut COperation,
    work: impl FnOnce(&mut COperation) -> Result<(), CollectiveError>,
) -> c_int {
    // SAFETY: the caller's promise; a null pointer is none to an operation.
    unsafe {
        let operation = if request.is_null() { None } else { (*request).as_mut() };
        match operation {
            Some(operation) => {
                let comm = operation.comm;
                guarded(comm, || work(operation))
            }
            None => guarded(raw::RSMPI_COMM_NULL, || {
                Err(CollectiveError::NotStartable("none: a null request"))
            }),
        }
    }
}

/// Changes a setting of a communicator.
///
/// # Safety
/// `name` and `value` are texts with a final zero, or null, which is an error; `comm` is a handle
/// that MPI has given out, or `MPI_COMM_NULL`, which is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_set(
    comm: MPI_Comm,
    name: *const c_char,
    value: *const c_char,
) -> c_int {
    // SAFETY: texts with a final zero, or null, and a handle that MPI has given out, or null.
    unsafe {
        guarded(comm, || {
            let refused = |error: SettingError| CollectiveError::Refused(error.to_string());
            let setting: Setting = text_of(name, "the name")?.parse().map_err(refused)?;
            let value = text_of(value, "the value")?;
            collectives_of(comm)?.set(setting, value)
        })
    }
}

/// The text at a pointer from C.
///
/// # Safety
/// A text with a final zero, which lives as long as is needed, or null.
unsafe fn text_of<'a>(text: *const c_char, what: &str) -> Result<&'a str, CollectiveError> {
    if text.is_null() {
        return Err(CollectiveError::Refused(format!("a null pointer for {what} of a setting")));
    }
    // SAFETY: a text with a final zero, which was found not to be null.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| CollectiveError::Refused(format!("{what} of a setting is not UTF-8")))
}
