//! The page of a comparison: tables, bars, trees and timelines side by side.

use crate::error::CliError;
use crate::output::compared::Compared;
use std::borrow::Cow;
use std::fmt::Display;
use tuwtree_model::ClosedSet;
use tuwtree_picture::{Candidate, Performance, Report};
use tuwtree_plan::{Outcome, catalogue};
use tuwtree_schedule::{Schedule, Timeline, perform};

/// An outcome, performed.
struct Performed<'a> {
    outcome: &'a Outcome,
    schedule: Cow<'a, Schedule>,
    timeline: Cow<'a, Timeline>,
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
        .map(|outcome| performed(comparison, outcome))
        .collect::<Result<_, CliError>>()?;
    let best = comparison.recommended();
    let mut bound = comparison.bound_name();
    bound[..1].make_ascii_uppercase();
    let facts = [
        (what.to_owned(), source),
        ("Costs".to_owned(), comparison.costs()),
        (bound, comparison.unit().time(comparison.bound)),
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

fn performed<'a>(
    comparison: &Compared<'_>,
    outcome: &'a Outcome,
) -> Result<Performed<'a>, CliError> {
    let problem = &comparison.problem;
    let failure = |error: &dyn Display| {
        CliError::Failure(format!("{}: {error}", outcome.construction.name()))
    };
    let schedule = outcome.plan().schedule(problem).map_err(|error| failure(&error))?;
    let timeline = match &outcome.timeline {
        Some(timeline) => Cow::Borrowed(timeline),
        None => {
            Cow::Owned(perform(&schedule, problem.stated_costs()).map_err(|error| failure(&error))?)
        }
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
        time: outcome.time(),
        cells: comparison.cells(outcome)[1..].to_vec(),
    }
}
