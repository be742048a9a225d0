//! Errors as MPI reports them: a class, given to the communicator's error handler.
//!
//! The text of an error is kept for [`last_text`], and printed on standard error if the handler
//! ends the job. MPI cannot carry it: `MPI_Add_error_code` with one of MPI's own classes, by which
//! programs know errors, yields codes whose texts MPICH 4.0.2 mixes up.

use super::calls;
use super::raw::{self, MPI_Comm};
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::io::Write;
use std::time::Duration;

thread_local! {
    static TEXT: RefCell<CString> = RefCell::default();
}

/// The rank that prints the error, if the job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// This rank.
    Here,
    /// Another one, which has the same error.
    Elsewhere,
}

/// Time that a rank gives the printing rank before it ends the job itself.
const HEAD_START: Duration = Duration::from_millis(300);

/// Reports an error of this class to the error handler of `comm`, or of the world if that is no
/// communicator, and returns it, if the handler returns.
///
/// # Safety
/// MPI is initialized, and `comm` is a handle that MPI has given out, or `MPI_COMM_NULL`.
pub unsafe fn raise(comm: MPI_Comm, class: c_int, text: &str, speaker: Speaker) -> c_int {
    let kept = CString::new(text.replace('\0', " ")).unwrap_or_default();
    TEXT.with_borrow_mut(|last| *last = kept);
    // SAFETY: a communicator's handle by the caller's promise, or the world's; constants of the C shim.
    unsafe {
        let comm = if comm == raw::RSMPI_COMM_NULL { raw::RSMPI_COMM_WORLD } else { comm };
        let mut handler = raw::RSMPI_ERRORS_RETURN;
        // Whatever fails here, the handler is still called.
        let _ = calls::comm_get_errhandler(comm, &mut handler);
        if handler == raw::RSMPI_ERRORS_ARE_FATAL {
            match speaker {
                // In one piece, since others write there, too; whoever does not listen is not told.
                Speaker::Here => {
                    drop(std::io::stderr().write_all(format!("tuwtree: {text}\n").as_bytes()));
                }
                Speaker::Elsewhere => std::thread::sleep(HEAD_START),
            }
        }
        let _ = calls::comm_call_errhandler(comm, class);
    }
    class
}

/// Text of this thread's last error, zero-terminated; empty if none. Valid until the next error.
pub fn last_text() -> *const c_char {
    TEXT.with_borrow(|text| text.as_ptr())
}
