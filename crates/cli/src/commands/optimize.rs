//! `tuwtree optimize`: the constructions side by side for one problem, and the best tree.

use crate::break_even;
use crate::choice::ComparisonArgs;
use crate::error::CliError;
use crate::output::compared::{Compared, check_certificates};
use crate::output::drawing::Drawing;
use crate::output::format::{FormatArgs, write_json, write_objects};
use crate::output::{comparison, page};
use clap::Args;
use std::io::Write;
use std::process::ExitCode;
use tuwtree_io::{Destination, Format, Opened, Source, tree};
use tuwtree_model::document::TreeDocument;
use tuwtree_model::{ClosedSet, Problem, Root, Tree, judged_completion};
use tuwtree_plan::{Comparison, Outcome, Plan};
use tuwtree_schedule::document;

/// Compare constructions for one problem, recommend one, and write its tree.
///
/// Gather and scatter need blocks (--dist or --sizes), broadcast and reduce a vector (--vector). The defaults are the
/// papers': 2000 processes, mean block 1000 bytes, alpha 100, beta = gamma = 1, the root chosen by each construction.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct OptimizeArgs {
    #[command(flatten)]
    comparison: ComparisonArgs,

    /// Compare the tree in this JSON file, too; it may be {"parents": [-1, 0, 0]}
    #[arg(long, hide_short_help = true, help_heading = "Comparison", value_name = "FILE", value_parser = Source::parse)]
    tree: Option<Source>,

    /// Write the recommended tree to this JSON file (`-`: standard output alone)
    #[arg(help_heading = "Output", short, long, value_name = "FILE", value_parser = Destination::parse)]
    output: Option<Destination>,

    /// Write a page of trees and timelines (`-`: standard output alone)
    ///
    /// One file that needs no network, with details on hovering.
    #[arg(help_heading = "Output", long, value_name = "FILE", value_parser = Destination::parse)]
    report: Option<Destination>,

    /// Draw the recommended tree below the table
    #[arg(help_heading = "Output", long)]
    draw: bool,

    #[command(flatten)]
    format: FormatArgs,

    /// Say after how many repetitions planning pays for its own time here; with --machine
    #[arg(long, hide_short_help = true, help_heading = "Comparison", conflicts_with = "json")]
    break_even: bool,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree optimize --dist spikes                             the papers' problem, all constructions
  tuwtree optimize --sizes blocks.txt --root 0 -o tree.json  write the best tree for your blocks
  tuwtree optimize --dist spikes -p 200 --report page.html   trees and timelines side by side
  tuwtree optimize --op allgather --dist skewed -p 48        an operation without a root";

/// Runs the command.
///
/// # Errors
/// A problem that cannot be read or is out of range; a construction asked for by name that cannot
/// be built; an output that cannot be written.
pub(crate) fn run(args: &OptimizeArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    let format = args.format.printed(&Format::RESULT)?;
    let files =
        [("--output", &args.output, Format::Json), ("--report", &args.report, Format::Html)];
    for (option, file, format) in files {
        format.check_name(option, file.as_ref())?;
        args.format.check_alone(option, file.as_ref())?;
    }
    let is_printed = |(_, file, _): &(_, &Option<Destination>, _)| {
        matches!(file, Some(Destination::StandardOutput))
    };
    let to_standard_output = files.iter().filter(|&file| is_printed(file)).count();
    if to_standard_output > 1 {
        let fault = "--output - --report -: one of them can be standard output";
        return Err(CliError::Usage(fault.into()));
    }
    for (option, given) in [("--break-even", args.break_even), ("--draw", args.draw)] {
        if given && format != Format::Text {
            return Err(CliError::Usage(format!("{option} goes with --format text")));
        }
    }
    let problem = args.comparison.load()?;
    let [file, report] =
        [&args.output, &args.report].map(|file| file.as_ref().map(Destination::open).transpose());
    let (file, report) = (file?, report?);
    let tree = args.tree.as_ref().map(|source| given_tree(source, &problem)).transpose()?;
    let choice = &args.comparison.choice;
    let comparison = choice.compare_with(&problem, tree.as_ref(), report.is_some())?;
    let break_even = match args.break_even {
        true => break_even::lines(&comparison)?,
        false => Vec::new(),
    };
    if let Some(file) = file {
        write_plan(&comparison, file)?;
    }
    if let Some(report) = report {
        let page = page::page(&Compared(&comparison), args.comparison.payload.source())?;
        report.write(|file| file.write_all(page.as_bytes()))?;
    }
    match format {
        _ if to_standard_output > 0 => {}
        Format::Json => write_json(&comparison::document(&comparison), output)?,
        Format::Csv => write_objects(&comparison::rows(&comparison), output)?,
        _ => {
            let beyond = args.comparison.choice.beyond_order(&problem);
            write_text(&comparison, &beyond, args.draw, output)?;
            break_even.iter().try_for_each(|line| writeln!(output, "{line}"))?;
        }
    }
    if choice.certify {
        check_certificates(&comparison)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The tree in a file, which is to be over the problem's ranks, with its root.
///
/// # Errors
/// A file that holds none.
fn given_tree(source: &Source, problem: &Problem) -> Result<Tree, CliError> {
    let tree = tree::read(source)?.tree;
    let (ranks, operation) = (problem.ranks(), problem.operation());
    let fault = match problem.root() {
        _ if !operation.is_rooted() => format!("{} has no root", operation.name()),
        _ if tree.ranks() != ranks => {
            format!("it has {} ranks, and the problem has {ranks}", tree.ranks())
        }
        Root::Given(root) if root != tree.root() => {
            format!("its root is {}, and --root is {root}", tree.root())
        }
        _ => return Ok(tree),
    };
    Err(CliError::Usage(format!("--tree {source}: {fault}")))
}

/// Writes the recommended tree, or the schedule where there is no tree.
fn write_plan(comparison: &Comparison, file: Opened) -> Result<(), CliError> {
    let problem = &comparison.problem;
    Ok(file.write(|output| match comparison.recommended().plan() {
        Plan::Tree(tree) => {
            let document = TreeDocument { tree: tree.clone(), problem: Some(problem.clone()) };
            serde_json::to_writer(&mut *output, &document)?;
            writeln!(output)
        }
        Plan::Programs(schedule) => document::write(schedule, output),
    })?)
}

fn write_text(
    comparison: &Comparison,
    beyond: &[Outcome],
    draw: bool,
    output: &mut dyn Write,
) -> Result<(), CliError> {
    let compared = Compared(comparison);
    compared.write_text(output)?;
    let saves = |one: &&Outcome| {
        let least = comparison.recommended().time().units();
        one.time().units() < 0.99 * least
    };
    for beyond in beyond.iter().filter(saves) {
        writeln!(output, "{}", compared.beyond_order(beyond))?;
    }
    let recommended = comparison.recommended();
    let Ok(tree) = recommended.tree() else { return Ok(()) };
    if !draw {
        return Ok(());
    }
    writeln!(output)?;
    let problem = &comparison.problem;
    let (operation, unit) = (problem.operation(), problem.stated_costs().unit());
    let completion = judged_completion(tree, problem)?;
    Ok(Drawing { tree, operation, completion: Some(&completion), unit }.write(output)?)
}
