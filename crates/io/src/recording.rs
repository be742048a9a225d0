//! Recorded calls of a program, written by a preloaded library.

use crate::error::FileError;
use crate::json::{self, DocumentKind};
use crate::limits::LARGEST_RECORDING;
use crate::source::Source;
use tuwtree_measure::Recording;

const KIND: DocumentKind = DocumentKind {
    name: "a recording of calls",
    format: Recording::FORMAT,
    version: Recording::VERSION,
};

/// The calls in a file or on standard input.
///
/// # Errors
/// [`FileError::Content`] with the source's name, the fault and its place.
pub fn read(source: &Source) -> Result<Recording, FileError> {
    let stream = source.stream(LARGEST_RECORDING)?;
    let recording: Recording =
        json::document(KIND, stream).map_err(|error| source.failure(&error))?;
    recording.check().map_err(|error| source.failure(&error))?;
    Ok(recording)
}
