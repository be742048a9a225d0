//! Errors as MPI reports them: a code with a text, given to the communicator's error handler.

use crate::mpi::check;
use crate::mpi::raw::{self, MPI_Comm};
use std::collections::BTreeMap;
use std::ffi::{CString, c_int};
use std::sync::{Mutex, PoisonError};

/// Our error code in each class. One is enough: its text is replaced with each error, because
/// libraries have room for few codes only.
static CODES: Mutex<BTreeMap<c_int, c_int>> = Mutex::new(BTreeMap::new());

/// Reports an error of this class to the error handler of `comm`, or of the world if that is no
/// communicator, and returns its code, if the handler returns.
///
/// # Safety
/// MPI is initialized, and `comm` is a handle that MPI has given out, or `MPI_COMM_NULL`.
#[allow(unsafe_code)]
pub(crate) unsafe fn raise(comm: MPI_Comm, class: c_int, text: &str) -> c_int {
    let code = code_of(class, text).unwrap_or(class);
    // SAFETY: handles of communicators; constants of the C shim.
    unsafe {
        let comm = if comm == raw::RSMPI_COMM_NULL { raw::RSMPI_COMM_WORLD } else { comm };
        raw::PMPI_Comm_call_errhandler(comm, code);
    }
    code
}

/// A code of this class with this text; `None` if MPI has none to give.
#[allow(unsafe_code)]
fn code_of(class: c_int, text: &str) -> Option<c_int> {
    let mut codes = CODES.lock().unwrap_or_else(PoisonError::into_inner);
    let code = match codes.get(&class) {
        Some(&code) => code,
        None => {
            let mut code = 0;
            // SAFETY: the code is written to a local variable.
            check("MPI_Add_error_code", unsafe { raw::PMPI_Add_error_code(class, &mut code) })
                .ok()?;
            codes.insert(class, code);
            code
        }
    };
    // With the final zero, the text is to fit.
    let most = raw::MPI_MAX_ERROR_STRING as usize - 1;
    let end = (0..=text.len().min(most)).rev().find(|&end| text.is_char_boundary(end))?;
    let text = CString::new(text[..end].replace('\0', " ")).ok()?;
    // SAFETY: a code that is ours, and a text with a final zero.
    let added = unsafe { raw::PMPI_Add_error_string(code, text.as_ptr()) };
    check("MPI_Add_error_string", added).ok().map(|()| code)
}
