//! Schedules: from schedule documents, or made from tree documents.

use super::{Source, check_one_standard_input, tree};
use crate::args::{CostArgs, PortArgs};
use crate::error::CliError;
use std::io::BufRead;
use tuwtree_model::document::{Problem, TreeDocument};
use tuwtree_model::{Ports, Tree};
use tuwtree_schedule::{OfTreeError, Schedule, document};

/// A tree or a schedule.
pub(crate) enum Document {
    Tree(TreeDocument),
    Schedule(Schedule),
}

/// The schedule in a document, or that of the tree in a document on so many ports.
///
/// Which of several ports does what depends on the costs: those given, else those in the file.
///
/// # Errors
/// [`CliError::Failure`] with the source's name and what is wrong where; ports for a schedule or an
/// operation that has its own.
pub(crate) fn read(
    source: &Source,
    ports: PortArgs,
    costs: Option<&CostArgs>,
) -> Result<Schedule, CliError> {
    let document = match read_document(source)? {
        Document::Schedule(schedule) => {
            ports.check_not_given(source)?;
            return Ok(schedule);
        }
        Document::Tree(document) => document,
    };
    let Some(problem) = document.problem else {
        let reason = "the tree file holds no block sizes; `tuwtree optimize` writes them";
        return Err(source.failure(&reason));
    };
    let ports = ports.for_tree(problem.operation())?;
    let problem = match costs {
        Some(costs) if ports != Ports::ONE => at_costs(problem, source, costs)?,
        _ => problem,
    };
    schedule_of_tree(&document.tree, problem, ports).map_err(|error| source.failure(&error))
}

/// The problem at the costs that are given, as far as they are.
fn at_costs(problem: Problem, source: &Source, costs: &CostArgs) -> Result<Problem, CliError> {
    check_one_standard_input(&[("the tree", Some(source)), ("--machine", costs.machine.as_ref())])?;
    let stated = costs.costs(Some(problem.costs()))?;
    let (operation, payload, _) = problem.into_parts();
    costs.check_processors(&stated, payload.processors())?;
    Ok(Problem::new(operation, payload, stated).expect("it was a problem before"))
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

/// The schedule of a tree for a problem on so many ports.
///
/// # Errors
/// [`OfTreeError`].
pub(crate) fn schedule_of_tree(
    tree: &Tree,
    problem: Problem,
    ports: Ports,
) -> Result<Schedule, OfTreeError> {
    let (operation, payload, costs) = problem.into_parts();
    Schedule::of_tree_on_ports(tree, operation, payload, costs, ports)
}
