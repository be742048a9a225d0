//! Names of the MPI library and the computer.

use super::{MpiError, calls, raw};
use std::ffi::{CStr, c_char, c_int};

/// The MPI library's name for itself, its first line.
///
/// # Errors
/// What MPI returns.
pub fn library_version() -> Result<String, MpiError> {
    // SAFETY: the room for a version is a number in rsmpi's C shim, set when the library was built.
    let room = unsafe { raw::RSMPI_MAX_LIBRARY_VERSION_STRING };
    // SAFETY: `text` passes a buffer with room for a version and a final zero, and a local length.
    let text = text(room, |buffer, length| unsafe { calls::get_library_version(buffer, length) })?;
    // MPICH separates name and number with white space of several kinds; Open MPI ends with a zero.
    let words: Vec<&str> = text.lines().next().unwrap_or_default().split_whitespace().collect();
    Ok(words.join(" "))
}

/// The name of the computer that this process is on.
///
/// # Errors
/// What MPI returns.
pub fn processor_name() -> Result<String, MpiError> {
    // SAFETY: the room for a computer's name is such a number, too.
    let room = unsafe { raw::RSMPI_MAX_PROCESSOR_NAME };
    // SAFETY: `text` passes a buffer with room for a name and a final zero, and a local length.
    text(room, |buffer, length| unsafe { calls::get_processor_name(buffer, length) })
}

/// Text that a call writes to a buffer of this size.
fn text(
    room: c_int,
    write: impl FnOnce(*mut c_char, *mut c_int) -> Result<(), MpiError>,
) -> Result<String, MpiError> {
    let mut buffer = vec![0 as c_char; room as usize + 1];
    let mut length = 0;
    write(buffer.as_mut_ptr(), &mut length)?;
    // SAFETY: the last character is a zero that no call may overwrite.
    Ok(unsafe { CStr::from_ptr(buffer.as_ptr()) }.to_string_lossy().into_owned())
}
