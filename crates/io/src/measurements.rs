//! Measured times, as `tuwtree-exec bench` writes them.

use crate::error::FileError;
use crate::json::{self, DocumentKind};
use crate::limits::LARGEST_MEASUREMENTS;
use crate::source::Source;
use tuwtree_measure::Measurements;

const KIND: DocumentKind = DocumentKind {
    name: "a document of measured times",
    format: Measurements::FORMAT,
    version: Measurements::VERSION,
};

/// The times in a file or on standard input.
///
/// # Errors
/// [`FileError::Content`] with the source's name, the fault and its place.
pub fn read(source: &Source) -> Result<Measurements, FileError> {
    let stream = source.stream(LARGEST_MEASUREMENTS)?;
    json::document(KIND, stream).map_err(|error| source.failure(&error))
}
