//! `tuwtree show`: a tree explained: who sends what to whom, when.

use crate::args::{BlockArgs, CostArgs};
use crate::commands::evaluate::{check_sources, problem};
use crate::error::CliError;
use crate::input::{Source, tree};
use crate::output::drawing::{Drawing, blocks, spans, transmission};
use crate::output::text;
use clap::Args;
use std::io::Write;
use std::process::ExitCode;
use tuwtree_model::{Completion, Operation, Rank, Tree, completion};

/// Explain a tree: draw its upper part, and list who sends what to whom, and when.
///
/// Times need blocks and costs: those in the tree file, unless given here.
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// The tree file, or `-` for standard input
    #[arg(value_name = "TREE", value_parser = Source::parse)]
    tree: Source,

    #[command(flatten)]
    blocks: BlockArgs,

    #[command(flatten)]
    costs: CostArgs,

    /// List only messages to or from this processor
    #[arg(long, value_name = "RANK")]
    processor: Option<Rank>,

    /// List at most this many messages; 0 lists all
    #[arg(long, value_name = "N", default_value_t = 40)]
    limit: usize,
}

/// Runs the command.
///
/// # Errors
/// A file that is not a valid tree; blocks that do not fit it.
pub(crate) fn run(args: &ShowArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    check_sources(&args.tree, &args.blocks, &args.costs)?;
    let document = tree::read(&args.tree)?;
    let tree = &document.tree;
    if let Some(rank) = args.processor.filter(|&rank| rank >= tree.processors()) {
        let processors = tree.processors();
        let message = format!("--processor: {rank} is outside 0..{processors}");
        return Err(CliError::Usage(message));
    }
    let problem = problem(&document, &args.tree, &args.blocks, &args.costs)?;
    let times = match &problem {
        Some(problem) => Some(completion(tree, problem.collective(), &*problem.costs.costs())?),
        None => None,
    };
    let operation = problem.as_ref().map_or(Operation::Gather, |problem| problem.operation);
    if let Some(problem) = problem.filter(|problem| problem.costs.machine().is_some()) {
        writeln!(output, "{}\n", text::costs(&problem.costs))?;
    }
    Drawing { tree, operation, completion: times.as_ref() }.write(output)?;
    writeln!(output)?;
    list_messages(args, tree, operation, times.as_ref(), output)?;
    Ok(ExitCode::SUCCESS)
}

/// Lists the messages in the order of their times, or of the senders' ranks where there are none.
fn list_messages(
    args: &ShowArgs,
    tree: &Tree,
    operation: Operation,
    times: Option<&Completion>,
    output: &mut dyn Write,
) -> Result<(), CliError> {
    let mut children: Vec<Rank> = (0..tree.processors())
        .filter(|&child| {
            tree.parent(child).is_some_and(|parent| {
                args.processor.is_none_or(|rank| rank == child || rank == parent)
            })
        })
        .collect();
    if let Some(times) = times {
        children.sort_by_key(|&child| (transmission(tree, operation, times, child), child));
    }
    let listed = match args.limit {
        0 => children.len(),
        limit => limit.min(children.len()),
    };
    let headings = ["from", "to", "blocks", "bytes", "start", "end"];
    let mut table = text::table(&headings[..if times.is_some() { 6 } else { 3 }]);
    let spans = spans(tree);
    for &child in &children[..listed] {
        let parent = tree.parent(child).expect("only children are listed");
        let (from, to) = if operation.is_outward() { (parent, child) } else { (child, parent) };
        let mut row = vec![from.to_string(), to.to_string(), blocks(spans[child])];
        if let Some(times) = times {
            let (start, end) = transmission(tree, operation, times, child);
            row.extend([times.segment[child].to_string(), text::time(start), text::time(end)]);
        }
        table.add_row(row);
    }
    writeln!(output, "{}", table.trim_fmt())?;
    if listed < children.len() {
        let more = children.len() - listed;
        writeln!(output, "… and {more} more messages; --limit 0 lists all")?;
    }
    Ok(())
}
