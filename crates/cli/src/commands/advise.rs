//! `tuwtree advise`: the construction to use for a problem, and its gain.

use super::recorded;
use crate::choice::ComparisonArgs;
use crate::error::CliError;
use crate::output::advice::Advised;
use crate::output::compared::{Compared, check_certificates};
use crate::output::format::{FormatArgs, insert_after, write_json, write_objects};
use crate::output::{comparison, text};
use clap::Args;
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use tuwtree_io::{Format, Source};
use tuwtree_model::ClosedSet;
use tuwtree_plan::{Advice, Rival};

/// Recommend a construction for a problem in a sentence, and say how much faster it is.
///
/// Compares the trees that `optimize` compares, and recommends the same one: the fastest, unpacking at the root
/// included. A simpler tree that takes at most 2 % longer is named beside it. The simplest is linear; then oblivious and
/// adaptive, which need no planning; then trees planned offline, those in rank order first. Times are computed for this
/// problem and these costs only.
///
/// With --recording, advice on each call that a program has made with the preloaded library and TUWTREE_RECORD:
/// by the times of --machine, for the root and the block sizes of the call. See docs/decide.md.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AdviseArgs {
    /// Advise on all calls in a recording; may be given several times
    #[arg(long, value_name = "FILE", value_parser = Source::parse, group = "payload",
          num_args = 1.., conflicts_with_all = ["root", "op"])]
    pub(super) recording: Vec<Source>,

    #[command(flatten)]
    pub(super) comparison: ComparisonArgs,

    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree advise --sizes blocks.txt --machine cluster.json --root 0
  tuwtree advise --recording calls.json* --machine cluster.json   for each call that a program made";

/// Runs the command.
///
/// # Errors
/// As for `optimize`.
pub(crate) fn run(args: &AdviseArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    let format = args.format.printed(&Format::RESULT)?;
    if !args.recording.is_empty() {
        recorded::run(args, format, output)?;
        return Ok(ExitCode::SUCCESS);
    }
    let problem = args.comparison.load()?;
    let comparison = args.comparison.choice.compare(&problem)?;
    let advice = Advice::new(&comparison);
    let advice = Advised(&advice);
    match format {
        Format::Json => write_json(&document(&advice), output)?,
        Format::Csv => {
            let mut rows = comparison::rows(&comparison);
            for (row, outcome) in rows.iter_mut().zip(&comparison.outcomes) {
                row["advised"] = std::ptr::eq(outcome, advice.chosen).into();
            }
            write_objects(&rows, output)?;
        }
        _ => write_text(&advice, output)?,
    }
    if args.comparison.choice.certify {
        check_certificates(&comparison)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the advice in words.
///
/// # Errors
/// Errors of `output`.
pub(crate) fn write_text(advice: &Advised<'_>, output: &mut dyn Write) -> Result<(), CliError> {
    let comparison = Compared(advice.comparison);
    writeln!(output, "{}; {}\n", comparison.title(), comparison.costs())?;
    writeln!(output, "{}", advice.sentence())?;
    if let Some(line) = advice.against_library() {
        writeln!(output, "{line}")?;
    }
    if let Some(line) = advice.price_line() {
        writeln!(output, "{line}")?;
    }
    if let Some(simpler) = Advice::simpler(advice.comparison) {
        writeln!(output, "{}", Advised(&simpler).simpler())?;
    }
    if let Some(line) = advice.unpacking() {
        writeln!(output, "{line}")?;
    }
    Ok(writeln!(output, "{}", advice.limit())?)
}

/// The advice as JSON.
pub(crate) fn document(advice: &Advised<'_>) -> Value {
    let rivals: serde_json::Map<String, serde_json::Value> = Rival::all()
        .filter_map(|rival| {
            let other = advice.rival(rival)?;
            let mut value = json!({
                "construction": other.construction.name(),
                "completion_time": text::json_time(other.time()),
                "completion_time_with_unpacking": text::json_time(other.unpacked),
                "times_as_long": advice.factor(other),
            });
            comparison::add_planned(&mut value, other, advice.comparison);
            Some((rival.name().to_owned(), value))
        })
        .collect();
    let chosen = advice.chosen;
    let mut document = json!({
        "format": "tuwtree-advice",
        "version": 3,
        "construction": chosen.construction.name(),
        "order": chosen.order.name(),
        "root": advice.root(),
        "completion_time": text::json_time(chosen.time()),
        "completion_time_with_unpacking": text::json_time(chosen.unpacked),
        "lower_bound": text::json_time(advice.bound()),
        "against": rivals,
        "baseline": advice.comparison.baseline().map(comparison::baseline),
        "sentence": advice.sentence(),
    });
    insert_after(&mut document, "baseline", comparison::price(advice));
    comparison::add_planned(&mut document, chosen, advice.comparison);
    document
}
