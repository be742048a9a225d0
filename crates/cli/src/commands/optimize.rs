//! `tuwtree optimize`: the constructions side by side for one problem, and the best tree.

use crate::break_even;
use crate::choice::ComparisonArgs;
use crate::error::CliError;
use crate::output::compared::{Compared, exit_code};
use crate::output::comparison;
use crate::output::drawing::Drawing;
use crate::output::format::{FormatArgs, write_json, write_objects};
use clap::Args;
use std::io::Write;
use std::process::ExitCode;
use tuwtree_io::{Destination, Format, Opened};
use tuwtree_model::Construction;
use tuwtree_model::document::TreeDocument;
use tuwtree_plan::{Comparison, Outcome, Plan};
use tuwtree_schedule::document;

/// Compare constructions for one problem, recommend one, and write its tree.
///
/// Gather and scatter need blocks (--dist or --sizes), broadcast and reduce a vector (--vector).
/// The defaults are those of the papers: 2000 processes, mean block 1000 bytes, alpha 100,
/// beta = gamma = 1, the root chosen by each construction. With --machine, trees are evaluated with
/// the machine's costs: linear and oblivious use them only to choose the root, adaptive compares both
/// directions of each join, optimal searches with them.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct OptimizeArgs {
    #[command(flatten)]
    comparison: ComparisonArgs,

    /// Write the recommended tree to this file as JSON (`-`: standard output, and nothing else)
    #[arg(help_heading = "Output", short, long, value_name = "FILE", value_parser = Destination::parse)]
    output: Option<Destination>,

    #[command(flatten)]
    format: FormatArgs,

    /// Say after how many repetitions planning pays for its own time here; with --machine
    #[arg(long, help_heading = "Comparison", conflicts_with = "json")]
    break_even: bool,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree optimize --dist spikes                             the papers' problem, all constructions
  tuwtree optimize --sizes blocks.txt --root 0 -o tree.json  write the best tree for your blocks
  tuwtree optimize --sizes blocks.csv --machine vsc3 --json  on a machine, for a program to read
  tuwtree optimize --op allgather --dist skewed -p 48        an operation without a root";

/// Runs the command.
///
/// # Errors
/// A problem that cannot be read or is out of range; a construction asked for by name that cannot
/// be built; an output that cannot be written.
pub(crate) fn run(args: &OptimizeArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    let to_standard_output = matches!(args.output, Some(Destination::StandardOutput));
    let format = args.format.printed(&Format::RESULT)?;
    Format::Json.check_name("--output", args.output.as_ref())?;
    args.format.check_alone("--output", args.output.as_ref())?;
    if args.break_even && format != Format::Text {
        return Err(CliError::Usage("--break-even goes with --format text".into()));
    }
    let problem = args.comparison.load()?;
    let file = args.output.as_ref().map(Destination::open).transpose()?;
    let comparison = args.comparison.choice.compare(&problem)?;
    let break_even = match args.break_even {
        true => break_even::lines(&comparison)?,
        false => Vec::new(),
    };
    if let Some(file) = file {
        write_plan(&comparison, file)?;
    }
    match format {
        _ if to_standard_output => {}
        Format::Json => write_json(&comparison::document(&comparison), output)?,
        Format::Csv => write_objects(&comparison::rows(&comparison), output)?,
        _ => {
            let beyond = args.comparison.choice.beyond_order(&problem);
            write_text(&comparison, &beyond, output)?;
            break_even.iter().try_for_each(|line| writeln!(output, "{line}"))?;
        }
    }
    Ok(exit_code(&comparison))
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
    output: &mut dyn Write,
) -> Result<(), CliError> {
    let compared = Compared(comparison);
    compared.write_text(output)?;
    let saves = |one: &&Outcome| {
        let is_on_levels =
            [Construction::Rotated, Construction::Relays].contains(&one.construction);
        let least = comparison.recommended().judged.units();
        is_on_levels || one.judged.units() < least * (1.0 - 1e-9)
    };
    for beyond in beyond.iter().filter(saves) {
        writeln!(output, "{}", compared.beyond_order(beyond))?;
    }
    let recommended = comparison.recommended();
    let Ok(tree) = recommended.tree() else { return Ok(()) };
    writeln!(output)?;
    let drawing = Drawing {
        tree,
        operation: comparison.problem.operation(),
        completion: recommended.completion.as_ref(),
    };
    Ok(drawing.write(output)?)
}
