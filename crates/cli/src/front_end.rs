//! Parts of the command line for packages of other languages, so that their defaults, documents and words are equal.
//!
//! Problems, trees and schedules come from the crates below; this module has the program's own additions: the
//! constructions chosen by options, and the printed results.

use crate::choice::Choice;
use crate::commands::{advise, draw};
use crate::error::CliError;
use crate::output::advice::Advised;
use crate::output::compared::Compared;
use crate::output::machine::describe;
use crate::output::{comparison, page};
use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use serde_json::Value;
use std::error::Error;
use tuwtree_model::document::Machine;
use tuwtree_model::{ClosedSet, Operation, Payload, Ports, Problem, Root, StatedCosts};
use tuwtree_picture::Performance;
use tuwtree_plan::{Advice, Comparison, Outcome, Watch};
use tuwtree_schedule::{Handover, Schedule, SimulationError, Timeline, simulate};

/// Constructions that are compared for a problem: the options of `tuwtree optimize` from `--algorithm` to
/// `--search-seconds`.
#[derive(Parser)]
#[command(name = "tuwtree", disable_help_flag = true)]
pub struct Options {
    #[command(flatten)]
    choice: Choice,
}

impl Options {
    /// The choice that these words of a command line make.
    ///
    /// # Errors
    /// [`CliError::Usage`], naming the option, its value and the allowed values.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Options, CliError> {
        let words = std::iter::once("tuwtree".to_owned()).chain(words);
        Options::try_parse_from(words).map_err(|error| CliError::Usage(in_words(&error)))
    }

    /// All plans that are chosen, built and timed for a problem.
    ///
    /// # Errors
    /// As for `tuwtree optimize`: a named construction that cannot be built, options that do not suit the problem,
    /// [`CliError::Interrupted`] by the observer.
    pub fn compare(&self, problem: &Problem, watch: &dyn Watch) -> Result<Comparison, CliError> {
        self.choice.check_operation(problem.operation())?;
        self.choice.compare_watched(problem, watch)
    }
}

/// An error about an option: its name as an argument of functions, its value and the allowed values.
fn in_words(error: &clap::Error) -> String {
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    let option = of(ContextKind::InvalidArg).unwrap_or_default();
    let option = option.split([' ', '=']).next().unwrap_or_default();
    let option = option.trim_start_matches('-').replace('-', "_");
    let allowed = of(ContextKind::ValidValue).or(error.source().map(ToString::to_string));
    match (of(ContextKind::InvalidValue), allowed) {
        (Some(value), Some(allowed)) => format!("{option}: {value:?}; allowed: {allowed}"),
        _ => error.render().to_string().trim_start_matches("error: ").trim_end().to_owned(),
    }
}

/// The problem of this operation, as `--op`, `--root` and `--ports` state it; without a root the operation's default.
///
/// # Errors
/// [`CliError::Usage`]: data of the wrong kind, costs for another number of ranks, a root out of range, several
/// ports for an operation that has one.
pub fn problem(
    operation: Operation,
    payload: Payload,
    costs: StatedCosts,
    root: Option<Root>,
    ports: Ports,
) -> Result<Problem, CliError> {
    let payload = payload
        .adapted_to(operation)
        .map_err(|error| CliError::Usage(format!("{}: {error}", operation.name())))?;
    let usage = |error: &dyn std::fmt::Display| CliError::Usage(error.to_string());
    let problem = Problem::new(operation, payload, costs).map_err(|error| usage(&error))?;
    let problem = match root {
        Some(root) => {
            problem.with_root(root).map_err(|error| CliError::Usage(format!("root: {error}")))?
        }
        None => problem,
    };
    let has_ports = operation.is_irregular() && operation.is_rooted();
    if ports != Ports::ONE && !has_ports {
        return Err(CliError::Usage(format!(
            "{ports} ports: {} has one port; gather and scatter may have several",
            operation.name()
        )));
    }
    Ok(problem.with_ports(ports))
}

/// A machine in words and tables, as `tuwtree machine` prints it.
pub fn machine_text(machine: &Machine) -> String {
    describe(machine)
}

/// The document of a comparison that `tuwtree optimize --json` prints.
pub fn comparison_document(comparison: &Comparison) -> Value {
    comparison::document(comparison)
}

/// The rows of a comparison that `tuwtree optimize --format csv` prints, as objects.
pub fn comparison_rows(comparison: &Comparison) -> Vec<Value> {
    comparison::rows(comparison)
}

/// The comparison in words, as `tuwtree optimize` prints it.
pub fn comparison_text(comparison: &Comparison) -> String {
    printed(|output| Compared(comparison).write_text(output))
}

/// A plan of a comparison in a line: construction, time, ratio to the library's time, distance from the bound.
pub fn plan_text(comparison: &Comparison, outcome: &Outcome) -> String {
    Compared(comparison).line(outcome)
}

/// The page of a comparison, as `tuwtree optimize --report` writes it; `source` describes the data.
///
/// # Errors
/// A plan that cannot be simulated, which none of a comparison is.
pub fn comparison_page(comparison: &Comparison, source: &str) -> Result<String, CliError> {
    page::page(&Compared(comparison), ("Data", source.to_owned()))
}

/// The document of an advice that `tuwtree advise --json` prints.
pub fn advice_document(advice: &Advice<'_>) -> Value {
    advise::document(&Advised(advice))
}

/// The advice in words, as `tuwtree advise` prints it.
pub fn advice_text(advice: &Advice<'_>) -> String {
    printed(|output| advise::write_text(&Advised(advice), output))
}

/// The times of a simulated schedule.
pub struct Simulated<'a>(crate::commands::simulate::Simulated<'a>);

impl<'a> Simulated<'a> {
    /// Simulated times of a schedule at these costs.
    ///
    /// # Errors
    /// [`SimulationError`]: messages without partner, deadlock, times that cannot be stated.
    pub fn new(
        schedule: &'a Schedule,
        costs: StatedCosts,
        handover: Handover,
    ) -> Result<Simulated<'a>, SimulationError> {
        let timeline = simulate(schedule, &costs, handover)?;
        Ok(Simulated(crate::commands::simulate::Simulated { schedule, costs, handover, timeline }))
    }

    /// Start and end of each action.
    pub fn into_timeline(self) -> Timeline {
        self.0.timeline
    }

    /// The document that `tuwtree simulate --json` prints.
    pub fn document(&self) -> Value {
        self.0.document()
    }

    /// The times in words, as `tuwtree simulate` prints them.
    pub fn text(&self) -> String {
        printed(|output| self.0.write_text(10, output))
    }
}

/// The timeline of a schedule on at most `rows` rows, as `tuwtree draw --picture timeline` draws it.
pub fn timeline_picture(performance: Performance<'_>, rows: usize) -> String {
    draw::timeline_picture(performance, rows)
}

/// Printed text.
fn printed(print: impl FnOnce(&mut dyn std::io::Write) -> Result<(), CliError>) -> String {
    let mut output = Vec::new();
    print(&mut output).expect("memory can be written to");
    String::from_utf8(output).expect("everything printed is UTF-8")
}
