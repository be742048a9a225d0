//! `tuwtree compare`: the constructions side by side for one problem, with a page of pictures.

use crate::choice::ComparisonArgs;
use crate::error::CliError;
use crate::output::compared::{Compared, exit_code};
use crate::output::format::{FormatArgs, write_json, write_objects};
use crate::output::{comparison, text};
use clap::Args;
use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;
use tuwtree_io::{Destination, Format};
use tuwtree_model::ClosedSet;
use tuwtree_picture::{Candidate, Performance, Report};
use tuwtree_plan::{Outcome, catalogue};
use tuwtree_schedule::{Schedule, Sends, Timeline, simulate};

/// Compare constructions for one problem, and show their trees and timelines on a page.
///
/// The page is one file that needs no network: tables, bars, trees and timelines side by side, with
/// details on hovering and a zoom.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    comparison: ComparisonArgs,

    /// Write the page to this file (`-`: standard output, and nothing else)
    #[arg(help_heading = "Output", long, value_name = "FILE", value_parser = Destination::parse)]
    report: Option<Destination>,

    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Example:
  tuwtree compare --dist spikes -p 200 --report report.html   trees and timelines side by side";

/// An outcome, performed.
struct Performed<'a> {
    outcome: &'a Outcome,
    schedule: Cow<'a, Schedule>,
    timeline: Cow<'a, Timeline>,
}

/// Runs the command.
///
/// # Errors
/// A problem that cannot be read or is out of range; a construction asked for by name that cannot
/// be built; an output that cannot be written.
pub(crate) fn run(args: &CompareArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    let format = args.format.printed(&Format::RESULT)?;
    Format::Html.check_name("--report", args.report.as_ref())?;
    let to_standard_output = matches!(args.report, Some(Destination::StandardOutput));
    args.format.check_alone("--report", args.report.as_ref())?;
    let problem = args.comparison.load()?;
    let file = args.report.as_ref().map(Destination::open).transpose()?;
    let comparison = match &file {
        Some(_) => args.comparison.choice.compare_in_pictures(&problem)?,
        None => args.comparison.choice.compare(&problem)?,
    };
    let comparison = Compared(&comparison);
    if let Some(file) = file {
        let page = page(&comparison, args.comparison.payload.source())?;
        file.write(|file| file.write_all(page.as_bytes()))?;
    }
    match format {
        _ if to_standard_output => {}
        Format::Json => write_json(&comparison::document(&comparison), output)?,
        Format::Csv => write_objects(&comparison::rows(&comparison), output)?,
        _ => comparison.write_text(output)?,
    }
    Ok(exit_code(&comparison))
}

/// The page of a comparison; what there is to move, and where it is from, is told.
///
/// # Errors
/// A plan without a schedule, which none of a comparison is.
pub(crate) fn page(
    comparison: &Compared<'_>,
    (what, source): (&'static str, String),
) -> Result<String, CliError> {
    let performed: Vec<Performed<'_>> = comparison
        .outcomes
        .iter()
        .map(|outcome| perform(comparison, outcome))
        .collect::<Result<_, CliError>>()?;
    let best = comparison.recommended();
    let mut bound = comparison.bound_name();
    bound[..1].make_ascii_uppercase();
    let facts = [
        (what.to_owned(), source),
        ("Costs".to_owned(), comparison.costs()),
        (bound, text::time(comparison.bound)),
    ];
    let mut notes: Vec<String> = comparison.recommendation().lines().map(str::to_owned).collect();
    notes.extend(comparison.notes());
    let report = Report {
        title: comparison.title(),
        facts: facts.into(),
        notes,
        columns: comparison.headings().into_iter().map(str::to_owned).collect(),
        bound: comparison.bound,
        candidates: performed.iter().map(|one| candidate(comparison, one)).collect(),
        recommended: performed
            .iter()
            .position(|one| std::ptr::eq(one.outcome, best))
            .expect("what is recommended was built"),
        version: env!("CARGO_PKG_VERSION"),
    };
    report.html().map_err(|error| CliError::Failure(error.to_string()))
}

fn perform<'a>(comparison: &Compared<'_>, outcome: &'a Outcome) -> Result<Performed<'a>, CliError> {
    let problem = &comparison.problem;
    let failure = |error: &dyn Display| {
        CliError::Failure(format!("{}: {error}", outcome.construction.name()))
    };
    let schedule = outcome.plan().schedule(problem).map_err(|error| failure(&error))?;
    let timeline = match &outcome.timeline {
        Some(timeline) => Cow::Borrowed(timeline),
        None => Cow::Owned(
            simulate(&schedule, problem.costs(), Sends::Synchronous)
                .map_err(|error| failure(&error))?,
        ),
    };
    Ok(Performed { outcome, schedule, timeline })
}

fn candidate<'a>(comparison: &'a Compared<'_>, one: &'a Performed<'a>) -> Candidate<'a> {
    let Performed { outcome, schedule, timeline } = one;
    let name = match outcome.built.search {
        Some(method) if comparison.has_several_of(outcome.construction) => {
            format!("{}-{}", outcome.construction.name(), method.name())
        }
        _ => outcome.construction.name().to_owned(),
    };
    Candidate {
        name,
        summary: catalogue::row(outcome.construction).summary.to_owned(),
        tree: outcome.tree().ok(),
        performance: Performance { schedule, timeline, costs: comparison.problem.stated_costs() },
        cells: comparison.cells(outcome)[1..].to_vec(),
    }
}
