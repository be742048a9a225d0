//! Schedules, or trees from which schedules are made.

use crate::error::FileError;
use crate::json::Followed;
use crate::limits::LARGEST_SCHEDULE;
use crate::source::Source;
use crate::tree;
use std::fs::File;
use std::io::{BufRead, Read};
use std::path::Path;
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
/// [`FileError::Content`] with the source's name, the fault and its place.
pub fn read(source: &Source) -> Result<Document, FileError> {
    let mut stream = source.stream(LARGEST_SCHEDULE)?;
    let start = stream.fill_buf().map_err(|error| source.failure(&error))?;
    match says(start, TreeDocument::FORMAT) {
        true => parse_tree(source, stream),
        false => parse_schedule(source, stream),
    }
}

/// A tree or a schedule; a text that says neither is read as a tree.
///
/// # Errors
/// As for [`read`].
pub fn read_tree_or_schedule(source: &Source) -> Result<Document, FileError> {
    let mut stream = source.stream(LARGEST_SCHEDULE)?;
    let start = stream.fill_buf().map_err(|error| source.failure(&error))?;
    match says(start, document::FORMAT) {
        true => parse_schedule(source, stream),
        false => parse_tree(source, stream),
    }
}

fn parse_tree(source: &Source, stream: impl BufRead) -> Result<Document, FileError> {
    let tree = tree::parse(stream).map_err(|error| source.failure(&error))?;
    Ok(Document::Tree(tree))
}

/// True if this is a file that claims to hold a tree.
pub fn is_tree_file(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(256).read_to_end(&mut start));
    read.is_ok() && says(&start, TreeDocument::FORMAT)
}

fn parse_schedule(source: &Source, stream: impl BufRead) -> Result<Document, FileError> {
    let mut input = Followed::new(stream);
    let schedule = document::read(&mut input);
    schedule.map(Document::Schedule).map_err(|error| source.failure(&input.explain(&error)))
}

/// True if a document's start claims this format.
fn says(start: &[u8], format: &str) -> bool {
    let start = &start[..start.len().min(256)];
    let format = format!("\"{format}\"");
    start.windows(format.len()).any(|window| window == format.as_bytes())
}
