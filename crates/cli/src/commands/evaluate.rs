//! `tuwtree evaluate`: a tree's or schedule's completion time, validity and order.

mod schedules;

use crate::args::{CombineArgs, CostArgs, PayloadArgs, PortArgs};
use crate::error::CliError;
use crate::input::{check_sources, problem};
use crate::output::format::{FormatArgs, insert_after, row_of, write_json, write_objects};
use crate::output::text;
use clap::Args;
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use tuwtree_bounds::lower_bound_below;
use tuwtree_io::schedule::{Document, read_tree_or_schedule};
use tuwtree_io::{Format, Source};
use tuwtree_model::document::TreeDocument;
use tuwtree_model::{
    ClosedSet, CostModel, NotOrdered, Operation, Order, Payload, Problem, Root, Time,
    check_combines_neighbours, check_ordered, completion_time, joins_adjacent_ranges, judged_time,
    most_ranges, unpack_time,
};

/// Recompute a tree's or schedule's completion time, and check that it is one and whether it is ordered.
///
/// A schedule has its data, and is verified; it need not go along a tree. Of a tree, blocks (or the vector) and costs are those in the tree file, unless given here. A file that does not
/// say what its tree is for is evaluated as a gather tree, or with --vector as a broadcast tree.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvaluateArgs {
    /// The tree or schedule, or `-` for standard input
    #[arg(value_name = "TREE", value_parser = Source::parse)]
    tree: Source,

    #[command(flatten)]
    payload: PayloadArgs,

    #[command(flatten)]
    costs: CostArgs,

    #[command(flatten)]
    combine: CombineArgs,

    #[command(flatten)]
    ports: PortArgs,

    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree evaluate tree.json                       what it takes, and whether it is in order
  tuwtree evaluate tree.json --sizes other.txt     the same tree for other blocks
  tuwtree evaluate plan.json --alpha 1000          a schedule without a tree, at other costs";

/// Runs the command.
///
/// # Errors
/// A file that is not a valid tree; blocks that do not fit it; no blocks at all.
pub(crate) fn run(args: &EvaluateArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    let format = args.format.printed(&Format::RESULT)?;
    check_sources(&args.tree, &args.payload, &args.costs)?;
    let document = match read_tree_or_schedule(&args.tree)? {
        Document::Tree(document) => document,
        Document::Schedule(schedule) => {
            schedules::run(args, &schedule, format, output)?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    args.combine.check_not_of_tree(&args.tree)?;
    let Some(problem) = problem(&document, &args.tree, &args.payload, &args.costs)? else {
        return Err(CliError::Usage(format!(
            "{}: the tree file holds no block sizes; give them with --sizes or --dist, or --vector",
            args.tree
        )));
    };
    let problem = problem.with_ports(args.ports.for_tree(problem.operation())?);
    let evaluation = evaluate(&document, &problem)?;
    match format {
        Format::Json => write_json(&evaluation.document(), output)?,
        Format::Csv => write_objects(&[row_of(&evaluation.document())], output)?,
        _ => evaluation.write_text(output)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Facts about a tree and a problem.
struct Evaluation<'a> {
    document: &'a TreeDocument,
    problem: &'a Problem,
    time: Time,
    /// The time by the planner, where part of the latency overlaps.
    planned: Option<Time>,
    /// With an unpack step at the root.
    unpacked: Time,
    bound_own_root: Time,
    bound_any_root: Time,
    /// First violation of rank order, if there is one.
    fault: Result<(), NotOrdered>,
}

fn evaluate<'a>(
    document: &'a TreeDocument,
    problem: &'a Problem,
) -> Result<Evaluation<'a>, CliError> {
    let tree = &document.tree;
    let planned = completion_time(tree, problem)?;
    let (time, planned) = match problem.costs().overlaps() {
        true => (judged_time(tree, problem)?, Some(planned)),
        false => (planned, None),
    };
    let bound = |root| {
        let problem = problem.with_root(root).expect("the tree's root is a rank");
        lower_bound_below(&problem, time)
    };
    Ok(Evaluation {
        document,
        problem,
        time,
        planned,
        unpacked: problem.costs().sum(time, unpack_time(tree, problem)?)?,
        bound_own_root: bound(Root::Given(tree.root()))?,
        bound_any_root: bound(Root::Best)?,
        fault: match problem.vector() {
            None => check_ordered(tree),
            Some(_) => check_combines_neighbours(tree),
        },
    })
}

impl Evaluation<'_> {
    /// The order that the tree keeps for the problem.
    fn order(&self) -> Order {
        Order::of(&self.document.tree, self.problem.operation())
    }

    /// True if it is one of the trees among which `adjacent` is the best. Vectors are not copied, so the time of copies
    /// does not matter.
    fn joins_adjacent_ranges(&self) -> bool {
        match self.problem.payload() {
            Payload::Blocks(_) => joins_adjacent_ranges(&self.document.tree),
            Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => self.fault.is_ok(),
        }
    }

    fn write_text(&self, output: &mut dyn Write) -> Result<(), CliError> {
        let tree = &self.document.tree;
        let unit = self.problem.stated_costs().unit();
        writeln!(output, "completion time  {}", unit.time(self.time))?;
        writeln!(
            output,
            "lower bound      {} with this root, {} with any",
            unit.time(self.bound_own_root),
            unit.time(self.bound_any_root)
        )?;
        writeln!(
            output,
            "problem          {} of {}; {}{}",
            self.problem.operation().name(),
            text::payload(self.problem.payload()),
            self.problem.stated_costs(),
            text::with_ports(self.problem)
        )?;
        writeln!(
            output,
            "tree             {}, root {}, root degree {}, depth {}",
            text::processes(tree.ranks()),
            tree.root(),
            tree.degree(tree.root()),
            tree.depth()
        )?;
        match &self.fault {
            Ok(()) if self.joins_adjacent_ranges() => {
                writeln!(output, "order            ordered, joining adjacent ranges")?;
            }
            Ok(()) => writeln!(output, "order            ordered")?,
            Err(fault) => {
                let but = match self.problem.operation() {
                    Operation::Broadcast => "; a broadcast need not be ordered",
                    reduction if reduction.is_reduction() => "; it is for operators that commute",
                    _ => "",
                };
                writeln!(output, "order            {}: {fault}{but}", self.order().name())?;
            }
        }
        if self.order() != Order::Ordered && self.problem.blocks().is_some() {
            let operation = self.problem.operation();
            if self.order() == Order::Any {
                let ranges = text::ranges(most_ranges(tree));
                writeln!(output, "messages         {ranges}")?;
            }
            let times = text::unpacking(unit, self.time, self.unpacked, operation);
            writeln!(output, "rank order       {times}")?;
        }
        Ok(())
    }

    fn document(&self) -> Value {
        let tree = &self.document.tree;
        let mut document = json!({
            "format": "tuwtree-evaluation",
            "version": 3,
            "operation": self.problem.operation().name(),
            "ranks": tree.ranks(),
            "ports": self.problem.ports().get(),
            "machine": self.problem.stated_costs().machine_name(),
            "root": tree.root(),
            "completion_time": text::json_time(self.time),
            "lower_bound": text::json_time(self.bound_own_root),
            "lower_bound_any_root": text::json_time(self.bound_any_root),
            "root_degree": tree.degree(tree.root()),
            "depth": tree.depth(),
            "completion_time_with_unpacking": text::json_time(self.unpacked),
            "order": self.order().name(),
            "ordered": self.fault.is_ok(),
            "not_ordered_because": self.fault.err().map(|fault| fault.to_string()),
            "joins_adjacent_ranges": self.joins_adjacent_ranges(),
        });
        let planned = self.planned.map(|time| ("planned_completion_time", text::json_time(time)));
        insert_after(&mut document, "completion_time", planned);
        document
    }
}
