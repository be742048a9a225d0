//! After how many repetitions an optimized tree pays.
//!
//! An optimized tree is planned once and used in every repetition; the adaptive tree needs no
//! planning, since the processes construct it themselves in each call (with a few constant-sized
//! messages, which are not counted here), and neither does a linear one, the own call of most
//! libraries. Needs times in seconds, and depends on the duration of planning here.

use crate::error::CliError;
use crate::output::text;
use tuwtree_measure::{Repeated, break_even};
use tuwtree_model::{ClosedSet, Construction};
use tuwtree_plan::{Comparison, Outcome};

/// A line for each tree that needs no planning: the number of repetitions from which the optimal tree, or the
/// recommended one if there is none, pays against it.
///
/// # Errors
/// Costs in a unit of unknown length.
pub(crate) fn lines(comparison: &Comparison) -> Result<Vec<String>, CliError> {
    if comparison.problem.stated_costs().machine().is_none() {
        let message =
            "--break-even needs times in seconds: give the costs with --machine or with units";
        return Err(CliError::Usage(message.into()));
    }
    let of = |construction| {
        comparison.outcomes.iter().filter(move |one| one.construction == construction)
    };
    let best = [Construction::Optimal, Construction::CopyFirst, Construction::Adjacent];
    let planned = best
        .into_iter()
        .find_map(|one| of(one).min_by_key(|one| one.build_time))
        .unwrap_or_else(|| comparison.recommended());
    let line = |other: &Outcome| {
        let unplanned =
            Repeated { planning_seconds: 0.0, repetition_seconds: other.time().units() };
        let plan = Repeated {
            planning_seconds: planned.build_time.as_secs_f64(),
            repetition_seconds: planned.time().units(),
        };
        format!(
            "break-even: {}, planned in {}, pays against {}: {}",
            planned.construction.name(),
            text::duration(planned.build_time),
            other.construction.name(),
            break_even(plan, unplanned)
        )
    };
    let others = [Construction::Adaptive, Construction::Linear];
    let others = others.into_iter().filter(|&other| other != planned.construction);
    Ok(others.filter_map(|other| of(other).next()).map(line).collect())
}
