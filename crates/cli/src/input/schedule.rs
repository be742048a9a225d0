//! Schedules: from schedule documents, or made from tree documents.

use super::{Source, tree};
use crate::error::CliError;
use std::io::BufRead;
use tuwtree_model::document::TreeDocument;
use tuwtree_schedule::{Payload, Schedule, document};

/// The schedule in a document, or that of the tree in a document.
///
/// # Errors
/// [`CliError::Failure`] with the source's name and what is wrong where.
pub(crate) fn read(source: &Source) -> Result<Schedule, CliError> {
    let mut stream = source.stream()?;
    let start = stream.fill_buf().map_err(|error| source.failure(&error))?;
    if !is_tree(start) {
        return document::read(stream).map_err(|error| source.failure(&error));
    }
    let document = tree::parse(&source.text_of(stream)?);
    of_tree(document.map_err(|error| source.failure(&error))?)
        .map_err(|error| source.failure(&error))
}

/// Whether a document that starts so says that it holds a tree.
fn is_tree(start: &[u8]) -> bool {
    let start = &start[..start.len().min(256)];
    let format = format!("\"{}\"", TreeDocument::FORMAT);
    start.windows(format.len()).any(|window| window == format.as_bytes())
}

fn of_tree(document: TreeDocument) -> Result<Schedule, String> {
    let Some(problem) = document.problem else {
        return Err("the tree file holds no block sizes; `tuwtree optimize` writes them".into());
    };
    let payload = Payload::Blocks(problem.sizes);
    Schedule::of_tree(&document.tree, problem.operation, payload, Some(problem.costs))
        .map_err(|error| error.to_string())
}
