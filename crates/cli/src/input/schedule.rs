//! Schedules: from schedule documents, or made from tree documents.

use super::{Source, tree};
use crate::error::CliError;
use std::io::BufRead;
use tuwtree_model::document::TreeDocument;
use tuwtree_schedule::{Payload, Schedule, document};

/// A tree or a schedule.
pub(crate) enum Document {
    Tree(TreeDocument),
    Schedule(Schedule),
}

/// The schedule in a document, or that of the tree in a document.
///
/// # Errors
/// [`CliError::Failure`] with the source's name and what is wrong where.
pub(crate) fn read(source: &Source) -> Result<Schedule, CliError> {
    match read_document(source)? {
        Document::Schedule(schedule) => Ok(schedule),
        Document::Tree(tree) => of_tree(tree).map_err(|error| source.failure(&error)),
    }
}

/// The tree or schedule in a document.
///
/// # Errors
/// [`CliError::Failure`] with the source's name and what is wrong where.
pub(crate) fn read_document(source: &Source) -> Result<Document, CliError> {
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

fn of_tree(document: TreeDocument) -> Result<Schedule, String> {
    let Some(problem) = document.problem else {
        return Err("the tree file holds no block sizes; `tuwtree optimize` writes them".into());
    };
    let payload = Payload::Blocks(problem.sizes);
    Schedule::of_tree(&document.tree, problem.operation, payload, Some(problem.costs))
        .map_err(|error| error.to_string())
}
