//! `tuwtree evaluate`: a tree file's completion time, validity and order.

use crate::args::{BlockArgs, CostArgs};
use crate::error::CliError;
use crate::input::{Source, check_one_standard_input, tree};
use crate::output::text;
use clap::Args;
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;
use tuwtree_model::document::{Problem, TreeDocument};
use tuwtree_model::{
    NotOrdered, Operation, Time, check_ordered, completion_time, joins_adjacent_ranges,
    lower_bound, lower_bound_any_root,
};

/// Recompute a tree's completion time, and check that it is a tree and whether it is ordered.
///
/// Blocks and costs are those in the tree file, unless given here.
#[derive(Args, Debug)]
pub(crate) struct EvaluateArgs {
    /// The tree file, or `-` for standard input
    #[arg(value_name = "TREE", value_parser = Source::parse)]
    tree: Source,

    #[command(flatten)]
    blocks: BlockArgs,

    #[command(flatten)]
    costs: CostArgs,

    /// Print the result as JSON (see docs/formats.md)
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// A file that is not a valid tree; blocks that do not fit it; no blocks at all.
pub(crate) fn run(args: &EvaluateArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    check_sources(&args.tree, &args.blocks, &args.costs)?;
    let document = tree::read(&args.tree)?;
    let Some(problem) = problem(&document, &args.tree, &args.blocks, &args.costs)? else {
        return Err(CliError::Usage(format!(
            "{}: the tree file holds no block sizes; give them with --sizes or --dist",
            args.tree
        )));
    };
    let evaluation = evaluate(&document, &problem)?;
    match args.json {
        true => evaluation.write_json(output)?,
        false => evaluation.write_text(output)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Fails with exit code 2 if more than one thing is to come from standard input.
pub(crate) fn check_sources(
    tree: &Source,
    blocks: &BlockArgs,
    costs: &CostArgs,
) -> Result<(), CliError> {
    check_one_standard_input(&[
        ("the tree", Some(tree)),
        ("--sizes", blocks.sizes.as_ref()),
        ("--machine", costs.machine.as_ref()),
    ])
}

/// The problem that a tree is to be judged on: as given on the command line, else as in its file.
///
/// # Errors
/// Blocks for another number of processors, or arguments out of range.
pub(crate) fn problem(
    document: &TreeDocument,
    source: &Source,
    blocks: &BlockArgs,
    costs: &CostArgs,
) -> Result<Option<Problem>, CliError> {
    let own = document.problem.as_ref();
    let stated = costs.costs(own.map(|problem| &problem.costs))?;
    let processors = document.tree.processors();
    let sizes = match blocks.load(processors)? {
        Some(sizes) => sizes,
        None => match own {
            Some(problem) => problem.sizes.clone(),
            None => return Ok(None),
        },
    };
    if sizes.processors() != processors {
        let message = format!(
            "{source}: the tree has {processors} processors, but there are {} block sizes",
            sizes.processors()
        );
        return Err(match blocks.sizes {
            Some(_) => CliError::Failure(message),
            None => CliError::Usage(format!("-p: {message}")),
        });
    }
    let operation = own.map_or(Operation::Gather, |problem| problem.operation);
    costs.check_processors(&stated, processors)?;
    Ok(Some(Problem { operation, sizes, costs: stated }))
}

/// What there is to say about a tree and a problem.
struct Evaluation<'a> {
    document: &'a TreeDocument,
    problem: &'a Problem,
    time: Time,
    bound_own_root: Time,
    bound_any_root: Time,
    order: Result<(), NotOrdered>,
}

fn evaluate<'a>(
    document: &'a TreeDocument,
    problem: &'a Problem,
) -> Result<Evaluation<'a>, CliError> {
    let (collective, costs) = (problem.collective(), &*problem.costs.costs());
    Ok(Evaluation {
        document,
        problem,
        time: completion_time(&document.tree, collective, costs)?,
        bound_own_root: lower_bound(document.tree.root(), collective, costs)?,
        bound_any_root: lower_bound_any_root(collective, costs)?,
        order: check_ordered(&document.tree),
    })
}

impl Evaluation<'_> {
    fn write_text(&self, output: &mut dyn Write) -> Result<(), CliError> {
        let tree = &self.document.tree;
        let Problem { operation, sizes, costs } = self.problem;
        writeln!(output, "completion time  {}", text::time(self.time))?;
        writeln!(
            output,
            "lower bound      {} with this root, {} with any",
            text::time(self.bound_own_root),
            text::time(self.bound_any_root)
        )?;
        writeln!(
            output,
            "problem          {} of {} bytes; {}",
            operation.name(),
            sizes.total(),
            text::costs(costs)
        )?;
        writeln!(
            output,
            "tree             {} processors, root {}, root degree {}, depth {}",
            tree.processors(),
            tree.root(),
            tree.degree(tree.root()),
            tree.depth()
        )?;
        match &self.order {
            Ok(()) if joins_adjacent_ranges(tree) => {
                writeln!(output, "ordered          yes, joining adjacent ranges")?;
            }
            Ok(()) => writeln!(
                output,
                "ordered          yes, but not joining adjacent ranges, as `optimal` does"
            )?,
            Err(fault) => writeln!(output, "ordered          no: {fault}")?,
        }
        Ok(())
    }

    fn write_json(&self, output: &mut dyn Write) -> Result<(), CliError> {
        let tree = &self.document.tree;
        let document = json!({
            "format": "tuwtree-evaluation",
            "version": 1,
            "operation": self.problem.operation.name(),
            "processors": tree.processors(),
            "machine": self.problem.costs.machine().map(|machine| &machine.name),
            "root": tree.root(),
            "completion_time": text::json_time(self.time),
            "lower_bound": text::json_time(self.bound_own_root),
            "lower_bound_any_root": text::json_time(self.bound_any_root),
            "root_degree": tree.degree(tree.root()),
            "depth": tree.depth(),
            "ordered": self.order.is_ok(),
            "not_ordered_because": self.order.err().map(|fault| fault.to_string()),
            "joins_adjacent_ranges": joins_adjacent_ranges(tree),
        });
        serde_json::to_writer_pretty(&mut *output, &document).map_err(std::io::Error::from)?;
        Ok(writeln!(output)?)
    }
}
