//! A value that a communicator carries, and that goes when the communicator does.

use super::communicator::attribute;
use super::raw::{self, MPI_Comm};
use super::{MpiError, calls};
use std::any::Any;
use std::ffi::{c_int, c_void};
use std::panic::catch_unwind;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

/// The key of our value, once MPI has given it out.
static KEY: Mutex<Option<c_int>> = Mutex::new(None);

/// Value of a communicator's attribute.
type Value = Rc<dyn Any>;

/// The value that this communicator carries, if it does.
///
/// # Safety
/// MPI is initialized, and `comm` is a valid communicator's handle.
///
/// # Errors
/// What MPI returns.
pub unsafe fn value_of<T: 'static>(comm: MPI_Comm) -> Result<Option<Rc<T>>, MpiError> {
    let key = key()?;
    // SAFETY: the attribute under our key is a pointer that `give` has stored.
    unsafe {
        let value = attribute::<Value>(comm, key)?;
        Ok(value.and_then(|value| Rc::clone(&*value).downcast().ok()))
    }
}

/// Has the communicator carry this value, until it is freed. Duplicates do not carry it.
///
/// # Safety
/// As [`value_of`].
///
/// # Errors
/// What MPI returns.
pub unsafe fn give<T: 'static>(comm: MPI_Comm, value: Rc<T>) -> Result<(), MpiError> {
    let key = key()?;
    let value: *mut Value = Box::into_raw(Box::new(value));
    // SAFETY: a communicator by the caller's promise; a pointer that `forget` will make a box of
    // again, once.
    unsafe { calls::comm_set_attr(comm, key, value.cast()) }.inspect_err(|_| {
        // SAFETY: MPI has not taken the pointer, which `into_raw` has just given.
        drop(unsafe { Box::from_raw(value) });
    })
}

/// The key, the same for all communicators of the process.
fn key() -> Result<c_int, MpiError> {
    let mut known = KEY.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(key) = *known {
        return Ok(key);
    }
    let mut key = 0;
    // SAFETY: callbacks of the types that MPI wants, which stay for as long as the process.
    unsafe {
        let no_state = std::ptr::null_mut();
        calls::comm_create_keyval(Some(keep_to_oneself), Some(forget), &mut key, no_state)?;
    }
    *known = Some(key);
    Ok(key)
}

/// MPI asks what a duplicate is to carry: nothing.
unsafe extern "C" fn keep_to_oneself(
    _: MPI_Comm,
    _: c_int,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    is_copied: *mut c_int,
) -> c_int {
    if !is_copied.is_null() {
        // SAFETY: MPI's place for the answer.
        unsafe { *is_copied = 0 };
    }
    raw::MPI_SUCCESS as c_int
}

/// MPI says that the communicator is freed.
unsafe extern "C" fn forget(_: MPI_Comm, _: c_int, value: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: the pointer that `give` has stored, handed back once.
    let dropped = catch_unwind(|| drop(unsafe { Box::from_raw(value.cast::<Value>()) }));
    match dropped {
        Ok(()) => raw::MPI_SUCCESS as c_int,
        Err(_) => raw::MPI_ERR_INTERN as c_int,
    }
}
