//! MPI's return codes as errors.

use super::raw;
use std::ffi::{CStr, c_char, c_int};

/// A code other than `MPI_SUCCESS`, returned by an MPI call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call}: {text}")]
pub struct MpiError {
    /// The call that failed.
    pub call: &'static str,
    /// The code, which differs between libraries.
    pub code: c_int,
    /// The library's words for it.
    pub text: String,
}

impl MpiError {
    /// The error of a call that returned this code.
    pub fn new(call: &'static str, code: c_int) -> MpiError {
        let mut text = [0 as c_char; raw::MPI_MAX_ERROR_STRING as usize + 1];
        let mut length = 0;
        // SAFETY: the buffer has room for MPI_MAX_ERROR_STRING characters and a final zero.
        let text = unsafe {
            raw::PMPI_Error_string(code, text.as_mut_ptr(), &mut length);
            CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned()
        };
        MpiError { call, code, text }
    }

    /// The error's class, which is the same in all libraries: `MPI_ERR_COUNT` and the like.
    pub fn class(&self) -> c_int {
        let mut class = 0;
        // SAFETY: the class is written to a local variable.
        match unsafe { raw::PMPI_Error_class(self.code, &mut class) } {
            code if code == raw::MPI_SUCCESS as c_int => class,
            _ => raw::MPI_ERR_UNKNOWN as c_int,
        }
    }
}

/// Success, or the error with which `call` returned `code`.
///
/// # Errors
/// [`MpiError`] for every code but `MPI_SUCCESS`.
pub fn check(call: &'static str, code: c_int) -> Result<(), MpiError> {
    if code == raw::MPI_SUCCESS as c_int { Ok(()) } else { Err(MpiError::new(call, code)) }
}

/// The code of a result, as MPI's own calls return it.
pub fn code_of(result: Result<(), MpiError>) -> c_int {
    result.map_or_else(|error| error.code, |()| raw::MPI_SUCCESS as c_int)
}
