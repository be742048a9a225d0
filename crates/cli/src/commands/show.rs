//! `tuwtree show`: a tree explained: who sends what to whom, when.

use crate::args::{CostArgs, PayloadArgs, PortArgs};
use crate::error::CliError;
use crate::input::{check_sources, problem};
use crate::output::drawing::{Drawing, carried, spans, transmission};
use crate::output::format::{FormatArgs, write_json, write_objects};
use crate::output::text;
use clap::Args;
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use tuwtree_io::{Format, Source, tree};
use tuwtree_model::Problem;
use tuwtree_model::quantity::Unit;
use tuwtree_model::{
    ClosedSet, Completion, CostModel, Operation, Order, Ports, Rank, Tree, completion_time,
    judged_completion, unpack_time,
};

/// Explain a tree: draw its upper part, and list who sends what to whom, and when.
///
/// Times need blocks (or a vector) and costs: those in the tree file, unless given here.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ShowArgs {
    /// The tree file, or `-` for standard input
    #[arg(value_name = "TREE", value_parser = Source::parse)]
    tree: Source,

    #[command(flatten)]
    payload: PayloadArgs,

    #[command(flatten)]
    costs: CostArgs,

    #[command(flatten)]
    ports: PortArgs,

    /// List only messages to or from this rank
    #[arg(long, alias = "processor", value_name = "RANK")]
    rank: Option<Rank>,

    /// List at most this many messages; 0 lists all [default: 40 in text, else all]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Example:
  tuwtree show tree.json";

/// Runs the command.
///
/// # Errors
/// A file that is not a valid tree; blocks that do not fit it.
pub(crate) fn run(args: &ShowArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    let format = args.format.printed(&Format::RESULT)?;
    check_sources(&args.tree, &args.payload, &args.costs)?;
    let document = tree::read(&args.tree)?;
    let tree = &document.tree;
    if let Some(rank) = args.rank.filter(|&rank| rank >= tree.ranks()) {
        let ranks = tree.ranks();
        let message = format!("--rank: {rank} is outside 0..{ranks}");
        return Err(CliError::Usage(message));
    }
    let problem = problem(&document, &args.tree, &args.payload, &args.costs)?;
    let operation = problem.as_ref().map_or(Operation::Gather, Problem::operation);
    let ports = args.ports.for_tree(operation)?;
    let problem = problem.map(|problem| problem.with_ports(ports));
    let times = problem.as_ref().map(|problem| judged_completion(tree, problem)).transpose()?;
    match format {
        Format::Json => {
            let messages = messages(args, tree, operation, times.as_ref());
            let machine = problem.as_ref().and_then(|one| one.stated_costs().machine_name());
            let document = json!({
                "format": "tuwtree-messages",
                "version": 2,
                "operation": operation.name(),
                "ranks": tree.ranks(),
                "root": tree.root(),
                "order": Order::of(tree, operation).name(),
                "ports": ports.get(),
                "machine": machine,
                "messages": messages,
            });
            write_json(&document, output)?;
            return Ok(ExitCode::SUCCESS);
        }
        Format::Csv => {
            write_objects(&messages(args, tree, operation, times.as_ref()), output)?;
            return Ok(ExitCode::SUCCESS);
        }
        _ => {}
    }
    if let Some(problem) = problem.as_ref().filter(|one| one.stated_costs().machine().is_some()) {
        writeln!(output, "{}", problem.stated_costs())?;
    }
    writeln!(output, "order {}\n", order(tree, problem.as_ref())?)?;
    let unit = problem.as_ref().map_or(Unit::Alpha, |problem| problem.stated_costs().unit());
    Drawing { tree, operation, completion: times.as_ref(), unit }.write(output)?;
    writeln!(output)?;
    let times = times.as_ref().map(|times| (times, unit));
    list_messages(args, tree, operation, times, output)?;
    Ok(ExitCode::SUCCESS)
}

/// The order that the tree keeps, and the cost of putting blocks into rank order if it does not.
fn order(tree: &Tree, problem: Option<&Problem>) -> Result<String, CliError> {
    let operation = problem.map_or(Operation::Gather, Problem::operation);
    let order = Order::of(tree, operation);
    let Some(problem) =
        problem.filter(|problem| order != Order::Ordered && problem.blocks().is_some())
    else {
        return Ok(order.name().to_owned());
    };
    let time = completion_time(tree, problem)?;
    let unpacked = problem.costs().sum(time, unpack_time(tree, problem)?)?;
    Ok(format!(
        "{}; {}",
        order.name(),
        text::unpacking(problem.stated_costs().unit(), time, unpacked, operation)
    ))
}

/// The requested senders of a gather's messages, in the order of the messages' times, or of their ranks without times;
/// and the number to list if `usual` are without --limit.
fn children(
    args: &ShowArgs,
    tree: &Tree,
    operation: Operation,
    times: Option<&Completion>,
    usual: usize,
) -> (Vec<Rank>, usize) {
    let mut children: Vec<Rank> = (0..tree.ranks())
        .filter(|&child| {
            tree.parent(child)
                .is_some_and(|parent| args.rank.is_none_or(|rank| rank == child || rank == parent))
        })
        .collect();
    if let Some(times) = times {
        children.sort_by_key(|&child| (transmission(tree, operation, times, child), child));
    }
    let listed = match args.limit.unwrap_or(usual) {
        0 => children.len(),
        limit => limit.min(children.len()),
    };
    (children, listed)
}

/// The messages, one after the other.
fn messages(
    args: &ShowArgs,
    tree: &Tree,
    operation: Operation,
    times: Option<&Completion>,
) -> Vec<Value> {
    let (children, listed) = children(args, tree, operation, times, 0);
    let spans = spans(tree);
    let message = |&child: &Rank| {
        let parent = tree.parent(child).expect("only children are listed");
        let (from, to) = if operation.is_outward() { (parent, child) } else { (child, parent) };
        let span = times.map(|times| transmission(tree, operation, times, child));
        json!({
            "from": from,
            "to": to,
            "blocks": carried(operation, spans[child]),
            "bytes": times.map(|times| times.segment[child]),
            "start": span.map(|(start, _)| text::json_time(start)),
            "end": span.map(|(_, end)| text::json_time(end)),
            "port": times.map(|times| times.port[child]),
        })
    };
    children[..listed].iter().map(message).collect()
}

/// Lists the messages in a table.
fn list_messages(
    args: &ShowArgs,
    tree: &Tree,
    operation: Operation,
    times: Option<(&Completion, Unit)>,
    output: &mut dyn Write,
) -> Result<(), CliError> {
    const USUAL: usize = 40;
    let completion = times.map(|(times, _)| times);
    let (children, listed) = children(args, tree, operation, completion, USUAL);
    let what = if operation.is_irregular() { "blocks" } else { "vector" };
    let headings = ["from", "to", what, "bytes", "start", "end", "port"];
    let columns = match times {
        None => 3,
        Some(_) if args.ports.ports() == Ports::ONE => 6,
        Some(_) => 7,
    };
    let mut table = text::table(&headings[..columns]);
    let spans = spans(tree);
    for &child in &children[..listed] {
        let parent = tree.parent(child).expect("only children are listed");
        let (from, to) = if operation.is_outward() { (parent, child) } else { (child, parent) };
        let mut row = vec![from.to_string(), to.to_string(), carried(operation, spans[child])];
        if let Some((times, unit)) = times {
            let (start, end) = transmission(tree, operation, times, child);
            row.extend([times.segment[child].to_string(), unit.time(start), unit.time(end)]);
            // The parent's, which is one of several.
            row.push(times.port[child].to_string());
        }
        row.truncate(columns);
        table.add_row(row);
    }
    writeln!(output, "{}", table.trim_fmt())?;
    if listed < children.len() {
        let more = children.len() - listed;
        writeln!(output, "… and {more} more messages; --limit 0 lists all")?;
    }
    Ok(())
}
