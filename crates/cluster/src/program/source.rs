//! Schedules from files or standard input.

use tuwtree_io::Source;
use tuwtree_io::schedule::{Document, read};
use tuwtree_model::{Problem, Tree};
use tuwtree_schedule::Schedule;

/// The schedule in a schedule document, or that of the tree in a tree document, with the tree.
///
/// # Errors
/// The source's name and the fault.
pub(crate) fn schedule(source: &Source) -> Result<(Schedule, Option<(Tree, Problem)>), String> {
    let document = match read(source).map_err(|error| error.to_string())? {
        Document::Schedule(schedule) => return Ok((schedule, None)),
        Document::Tree(document) => document,
    };
    let Some(problem) = document.problem else {
        return Err(source.failure(&"the tree file holds no block sizes").to_string());
    };
    let schedule = Schedule::of_tree(&document.tree, &problem)
        .map_err(|error| source.failure(&error).to_string())?;
    Ok((schedule, Some((document.tree, problem))))
}
