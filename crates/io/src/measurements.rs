//! Measured times, as `tuwtree-exec bench` writes them.

use crate::error::FileError;
use crate::json::{self, DocumentKind};
use crate::limits::LARGEST_MEASUREMENTS;
use crate::source::Source;
use std::io::BufRead;
use tuwtree_measure::{MeasuredCalls, Measurements};

/// Measured times of either kind.
#[derive(Clone, Debug)]
pub enum Measured {
    /// Of one operation: many problems, many algorithms.
    Problems(Box<Measurements>),
    /// Of a program's recorded calls.
    Calls(MeasuredCalls),
}

const PROBLEMS: DocumentKind = DocumentKind {
    name: "a document of measured times",
    format: Measurements::FORMAT,
    version: Measurements::VERSION,
};

const CALLS: DocumentKind = DocumentKind {
    name: "a document of measured calls",
    format: MeasuredCalls::FORMAT,
    version: MeasuredCalls::VERSION,
};

/// The times in a file or on standard input, of recorded calls if their format is named at the beginning.
///
/// # Errors
/// [`FileError::Content`] with the source's name, the fault and its place.
pub fn read(source: &Source) -> Result<Measured, FileError> {
    let mut stream = source.stream(LARGEST_MEASUREMENTS)?;
    // A fault of the stream is met again, and told, by the reader of the document.
    let beginning = stream.fill_buf().unwrap_or_default();
    let name = MeasuredCalls::FORMAT.as_bytes();
    let read = match beginning.windows(name.len()).any(|bytes| bytes == name) {
        true => json::document(CALLS, stream).map(Measured::Calls),
        false => json::document(PROBLEMS, stream).map(|read| Measured::Problems(Box::new(read))),
    };
    read.map_err(|error| source.failure(&error))
}
