//! Tree documents from JSON.

use crate::error::FileError;
use crate::json::{self, DocumentKind};
use crate::limits::LARGEST_TREE;
use crate::source::Source;
use std::io::BufRead;
use tuwtree_model::document::TreeDocument;

const KIND: DocumentKind = DocumentKind {
    name: "a tree document",
    format: TreeDocument::FORMAT,
    version: TreeDocument::VERSION,
};

/// The tree document in a file or on standard input.
///
/// # Errors
/// [`FileError::Content`] with the source's name, the fault and its place.
pub fn read(source: &Source) -> Result<TreeDocument, FileError> {
    parse(source.stream(LARGEST_TREE)?).map_err(|error| source.failure(&error))
}

/// The tree document in a stream.
///
/// # Errors
/// The fault and its place.
pub(crate) fn parse(stream: impl BufRead) -> Result<TreeDocument, String> {
    json::document(KIND, stream)
}
