//! The library for C: `include/tuwtree_mpi.h` declares and describes these functions.
//!
//! Every function that can fail returns `MPI_SUCCESS` or an error class of MPI, after the error
//! handler of the communicator has been called with it. None unwinds into C.
//!
//! A crate of its own, so that other users of the executor do not export these functions.

use std::ffi::{CStr, c_char, c_int, c_void};
use tuwtree_binding::raw::{self, MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Op};
use tuwtree_binding::{Arguments, Side};
use tuwtree_binding::{mpi_functions, mpi_signature};
use tuwtree_executor::collective::{
    CollectiveError, Persistent, collectives_of, guarded, last_error_text,
};
use tuwtree_executor::settings::{Setting, SettingError};

const SUCCESS: c_int = raw::MPI_SUCCESS as c_int;

/// Text of this thread's last error, zero-terminated; empty if none. Valid until the next error.
#[unsafe(no_mangle)]
pub extern "C" fn tuwtree_error_text() -> *const c_char {
    last_error_text()
}

/// The functions of the table that have names here: each with the parameters of MPI's, persistent ones with a place for
/// a request, which is not null, in place of `info` and `request`. Nothing unwinds, and errors go to the error handler of
/// the communicator, which lives until an operation is freed.
macro_rules! functions {
    ($($function:ident $form:ident $width:ident [$($mpi:ident)*] [$($name:ident)*];)*) => {
        $($(mpi_signature! { $function $width functions (@ $form $name) })*)*
    };
    ((@ init $name:ident) ($($argument:ident: $type:ty),*) ($arguments:expr)) => {
        functions! { @ init $name ($($argument: $type),*) ($arguments) (request) (request: *mut *mut COperation) }
    };
    ((@ once $name:ident) ($($argument:ident: $type:ty),*) ($arguments:expr)) => {
        functions! { @ run $name ($($argument: $type),*) ($arguments) () () }
    };
    ((@ knowing $name:ident) ($($argument:ident: $type:ty),*) ($arguments:expr)) => {
        functions! { @ run_knowing $name ($($argument: $type),*) ($arguments) () () }
    };
    (@ $work:ident $name:ident ($($argument:ident: $type:ty),*) ($arguments:expr)
        ($($request:ident)?) ($($place:ident: $place_type:ty)?)) => {
        #[doc = concat!("`", stringify!($name), "`, as the header describes it.")]
        ///
        /// # Safety
        /// Safety: as the MPI standard demands of the function of this name; see the header.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            $($argument: $type,)*
            comm: MPI_Comm,
            $($place: $place_type,)?
        ) -> c_int {
            // SAFETY: the caller's promise is what the function's description demands.
            unsafe { guarded(comm, || $work(&$arguments, comm $(, $request)?)) }
        }
    };
}

mpi_functions! { functions }

/// # Safety
/// See [`tuwtree_gatherv`].
unsafe fn run(arguments: &Arguments<'_>, comm: MPI_Comm) -> Result<(), CollectiveError> {
    // SAFETY: a handle that MPI has given out; nothing is kept after the call.
    unsafe { collectives_of(comm)?.run(arguments).map(drop) }
}

/// # Safety
/// See [`tuwtree_gatherv_all_counts`].
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

/// An operation, as C holds it.
pub struct COperation {
    operation: Persistent<'static>,
    /// Communicator whose error handler receives failures.
    comm: MPI_Comm,
}

/// # Safety
/// See [`tuwtree_gatherv_init`].
unsafe fn init(
    arguments: &Arguments<'static>,
    comm: MPI_Comm,
    request: *mut *mut COperation,
) -> Result<(), CollectiveError> {
    if request.is_null() {
        return Err(CollectiveError::Refused("a null pointer for the request".to_owned()));
    }
    // SAFETY: a place for the request, which was found not to be null; the communicator's handle is
    // one that MPI has given out.
    unsafe {
        *request = std::ptr::null_mut();
        let operation = collectives_of(comm)?.init(arguments)?;
        *request = Box::into_raw(Box::new(COperation { operation, comm }));
    }
    Ok(())
}

/// Starts an operation.
///
/// # Safety
/// `request` points to a request made by one of the functions above, or to null, or is null; the
/// last two are errors. Buffers have the memory promised to those functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_start(request: *mut *mut COperation) -> c_int {
    // SAFETY: a request that `init` has made, or null, as `tuwtree_start` demands of the program.
    unsafe { with_operation(request, |operation| operation.operation.start()) }
}

/// Waits for an operation.
///
/// # Safety
/// As [`tuwtree_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_wait(request: *mut *mut COperation) -> c_int {
    // SAFETY: a request that `init` has made, or null, as `tuwtree_wait` demands of the program.
    unsafe { with_operation(request, |operation| operation.operation.wait()) }
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
        let has_ended = operation.operation.test()?;
        // SAFETY: a place for the flag, which was found not to be null.
        unsafe { *flag = c_int::from(has_ended) };
        Ok(())
    };
    // SAFETY: a request that `init` has made, or null, as `tuwtree_test` demands of the program.
    unsafe { with_operation(request, test) }
}

/// Frees an operation.
///
/// # Safety
/// As [`tuwtree_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tuwtree_free(request: *mut *mut COperation) -> c_int {
    let check = |operation: &mut COperation| match operation.operation.is_under_way() {
        false => Ok(()),
        true => Err(CollectiveError::NotStartable("under way")),
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
