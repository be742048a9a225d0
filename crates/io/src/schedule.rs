//! Schedules, or trees from which schedules are made.

use crate::error::FileError;
use crate::source::Source;
use crate::tree;
use std::io::BufRead;
use tuwtree_model::document::TreeDocument;
use tuwtree_schedule::{Schedule, document};

/// A tree or a schedule.
pub enum Document {
    /// A tree, with or without the problem that it was made for.
    Tree(TreeDocument),
    /// A schedule.
    Schedule(Schedule),
}

/// The tree or schedule in a document.
///
/// # Errors
/// [`FileError::Content`] with the source's name and what is wrong where.
pub fn read(source: &Source) -> Result<Document, FileError> {
    let mut stream = source.stream()?;
    let start = stream.fill_buf().map_err(|error| source.failure(&error))?;
    if !is_tree(start) {
        let schedule = document::read(stream).map_err(|error| source.failure(&error))?;
        return Ok(Document::Schedule(schedule));
    }
    let tree = tree::parse(&source.text_of(stream)?);
    Ok(Document::Tree(tree.map_err(|error| source.failure(&error))?))
}

/// Whether a document that starts so says that it holds a tree.
fn is_tree(start: &[u8]) -> bool {
    let start = &start[..start.len().min(256)];
    let format = format!("\"{}\"", TreeDocument::FORMAT);
    start.windows(format.len()).any(|window| window == format.as_bytes())
}
