//! Errors as MPI reports them: a class, given to the communicator's error handler.
//!
//! The text of an error is kept for whoever asks ([`last_text`]), and said on standard error where
//! the handler ends the job. It cannot be given to MPI: `MPI_Add_error_code` with one of MPI's own
//! classes, by which programs know errors, yields codes whose texts MPICH 4.0.2 mixes up.

use super::calls;
use super::raw::{self, MPI_Comm};
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::io::Write;
use std::time::Duration;

thread_local! {
    static TEXT: RefCell<CString> = RefCell::default();
}

/// Who says what is wrong, if the job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// This processor.
    Here,
    /// Another one, which has the same error.
    Elsewhere,
}

/// How long a processor waits for the one that says what is wrong, before it ends the job.
const HEAD_START: Duration = Duration::from_millis(300);

/// Reports an error of this class to the error handler of `comm`, or of the world if that is no
/// communicator, and returns it, if the handler returns.
///
/// # Safety
/// MPI is initialized, and `comm` is a handle that MPI has given out, or `MPI_COMM_NULL`.
pub(crate) unsafe fn raise(comm: MPI_Comm, class: c_int, text: &str, speaker: Speaker) -> c_int {
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

/// What the last error of this thread was about, with a final zero; empty if there was none. It
/// lives until the next one.
pub fn last_text() -> *const c_char {
    TEXT.with_borrow(|text| text.as_ptr())
}
