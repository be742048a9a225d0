//! Several constructions for one problem, side by side: what `optimize` and `compare` have in
//! common.
//!
//! [`compare`] answers a [`Choice`] of constructions for a problem with a [`Comparison`]: whoever wants
//! all times of a problem asks it, and reads [`Comparison::outcomes`].

mod choice;
mod text;

pub(crate) use choice::{Choice, ComparisonArgs};

use crate::construction::{BuildError, Built, Certificate, Construction, Plan, Searched, Task};
use crate::error::CliError;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tuwtree_model::document::Problem;
use tuwtree_model::{
    Completion, CostModel, Costs, Order, Ports, Root, Time, TimeError, bound_on_ports,
    check_combines_neighbours, completion_on_ports, joins_adjacent_ranges,
    lower_bound_any_root_on_ports, lower_bound_on_ports, unpack_time,
};

/// A construction's tree with what there is to say about it.
pub(crate) struct Outcome {
    pub(crate) construction: Construction,
    pub(crate) built: Built,
    pub(crate) completion: Completion,
    /// The order that the tree keeps.
    pub(crate) order: Order,
    /// The completion time with an unpack step at the root.
    pub(crate) unpacked: Time,
    /// How long planning took.
    pub(crate) build_time: Duration,
    /// What proves that the time is the optimum, if that was asked for.
    pub(crate) certificate: Option<Certificate>,
}

/// A construction that was left out, and why.
pub(crate) struct Skipped {
    pub(crate) construction: Construction,
    pub(crate) reason: String,
}

/// Of which trees a tree is known to be a fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Optimality {
    /// Of all, with the root that is given, if one is.
    AmongAll,
    /// Of those that join adjacent ranges, as the ordered dynamic programs do.
    AmongOrdered,
}

impl Optimality {
    /// The name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Optimality::AmongAll => "all",
            Optimality::AmongOrdered => "ordered",
        }
    }
}

/// The problem, its bound, and all outcomes.
pub(crate) struct Comparison {
    pub(crate) problem: Problem,
    pub(crate) root: Root,
    pub(crate) ports: Ports,
    /// No tree of whatever order completes earlier.
    pub(crate) bound: Time,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) skipped: Vec<Skipped>,
    /// Whether all times are exact integers.
    is_integral: bool,
    /// Whether the costs are linear and the same for all pairs of processors.
    is_homogeneous: bool,
    /// Whether the costs are linear, so that optimal trees are searched for with the true ones.
    is_linear: bool,
}

/// The best lower bound known here on the completion time of all trees, ordered or not, with such a
/// root and so many ports.
///
/// # Errors
/// Times that cannot be stated.
pub(crate) fn bound_on_any_tree(
    problem: &Problem,
    root: Root,
    ports: Ports,
) -> Result<Time, TimeError> {
    let (collective, costs) = (problem.collective(), &*problem.costs().costs());
    match (collective.blocks(), costs.homogeneous(collective.processors()), root) {
        (Some(sizes), Some(costs), _) => bound_on_ports(root, sizes, &costs, ports),
        (_, _, Root::Given(root)) => lower_bound_on_ports(root, collective, costs, ports),
        (_, _, Root::Best) => lower_bound_any_root_on_ports(collective, costs, ports),
    }
}

/// Builds and times all trees that were asked for.
///
/// # Errors
/// A construction asked for by name that cannot be built; times that cannot be stated.
pub(crate) fn compare(choice: &Choice, problem: Problem) -> Result<Comparison, CliError> {
    let costs = problem.costs().costs();
    let collective = problem.collective();
    // All messages of a vector have its size: with the costs of that, nothing is lost.
    let linearise_at = choice.linearise_at.or(collective.vector().map(|vector| vector.bytes));
    let ports = choice.ports.for_tree(problem.operation())?;
    let task = Task {
        problem: collective,
        costs: &costs,
        searched: Searched::new(&costs, collective.processors(), linearise_at),
        root: choice.root,
        ports,
        adaptive_rule: choice.adaptive_rule,
        local_search: choice.local_search(),
    };
    if let Costs::Matrix(matrix) = task.costs {
        let enough = matrix.check_links(task.problem, choice.root);
        enough.map_err(|cut| CliError::Failure(cut.to_string()))?;
    }
    let bound = bound_on_any_tree(&problem, choice.root, ports);
    let mut outcomes = Vec::new();
    let mut skipped = Vec::new();
    for plan in choice.plans(&task)? {
        match outcome(choice, &task, plan, &bound) {
            Ok(outcome) => outcomes.push(outcome),
            Err(BuildError::Skipped(reason)) => {
                skipped.push(Skipped { construction: plan.construction, reason });
            }
            Err(BuildError::Failed(error)) => return Err(error),
        }
    }
    if outcomes.is_empty() {
        let reasons = skipped.iter().map(|Skipped { construction, reason }| {
            format!("\n  {}: {reason}", construction.name())
        });
        let reasons: String = reasons.collect();
        return Err(CliError::Failure(format!("no construction has a tree:{reasons}")));
    }
    let bound = bound?;
    let is_integral = costs.is_integral();
    let is_homogeneous = costs.homogeneous(collective.processors()).is_some();
    let is_linear = costs.check_linear().is_ok();
    drop(task);
    drop(costs);
    Ok(Comparison {
        problem,
        root: choice.root,
        ports,
        bound,
        outcomes,
        skipped,
        is_integral,
        is_homogeneous,
        is_linear,
    })
}

/// One tree, built, timed and judged.
fn outcome(
    choice: &Choice,
    task: &Task<'_>,
    plan: Plan,
    bound: &Result<Time, TimeError>,
) -> Result<Outcome, BuildError> {
    let construction = plan.construction;
    let started = Instant::now();
    let built = task.build(plan)?;
    let build_time = started.elapsed();
    let untimed = |error| plan.effort.unlinked(error);
    let completion = completion_on_ports(&built.tree, task.problem, task.costs, task.ports);
    let completion = completion.map_err(untimed)?;
    let time = completion.ready[built.tree.root()];
    let unpack = unpack_time(&built.tree, task.problem, task.costs).map_err(untimed)?;
    let certificate = match (choice.certify, construction, bound) {
        (true, Construction::Optimal, Ok(bound)) => {
            Some(task.certify(&built, time, *bound).map_err(BuildError::Failed)?)
        }
        _ => None,
    };
    Ok(Outcome {
        construction,
        order: Order::of(&built.tree, task.problem.operation()),
        unpacked: task.costs.sum(time, unpack).map_err(untimed)?,
        built,
        completion,
        build_time,
        certificate,
    })
}

impl Outcome {
    /// The completion time.
    pub(crate) fn time(&self) -> Time {
        self.completion.ready[self.built.tree.root()]
    }
}

impl Comparison {
    /// The outcome with the least completion time; of several, the simplest construction's.
    pub(crate) fn recommended(&self) -> &Outcome {
        let least = self.outcomes.iter().min_by_key(|outcome| outcome.time());
        least.expect("linear, or a construction asked for by name, was built")
    }

    /// Success, or failure if a certificate was asked for and there is none.
    pub(crate) fn exit_code(&self) -> ExitCode {
        let uncertified = |outcome: &Outcome| matches!(outcome.certificate, Some(Err(_)));
        match self.outcomes.iter().any(uncertified) {
            true => ExitCode::FAILURE,
            false => ExitCode::SUCCESS,
        }
    }

    /// Whether a construction was built by more than one method.
    pub(crate) fn has_several_of(&self, construction: Construction) -> bool {
        self.outcomes.iter().filter(|outcome| outcome.construction == construction).count() > 1
    }

    /// How far a time is above the bound, in percent; `None` if the bound is 0 and the time is not.
    pub(crate) fn gap_percent(&self, time: Time) -> Option<f64> {
        let gap = time.units() - self.bound.units();
        match self.bound == Time::ZERO {
            true => (gap == 0.0).then_some(0.0),
            false => Some(100.0 * gap / self.bound.units()),
        }
    }

    /// How far a time is above the bound, in start-ups; `None` if these cost nothing or differ.
    pub(crate) fn gap_alphas(&self, time: Time) -> Option<f64> {
        let processors = self.problem.payload().processors();
        let costs = self.problem.costs().costs().homogeneous(processors);
        let alpha = costs.map_or(0.0, |costs| costs.alpha());
        (alpha > 0.0).then(|| (time.units() - self.bound.units()) / alpha)
    }

    /// Of which trees an outcome is a fastest, if that is certain: it meets the bound on all trees, or
    /// takes no longer than a tree that is known to be one.
    pub(crate) fn optimality(&self, outcome: &Outcome) -> Option<Optimality> {
        let is_as_fast_as = |construction: Construction| {
            let mut others = self.outcomes.iter();
            others.any(|one| one.construction == construction && outcome.time() <= one.time())
        };
        let joins = match self.keeps_rank_order(outcome) {
            Some(kept) => kept,
            None => joins_adjacent_ranges(&outcome.built.tree),
        };
        match () {
            () if outcome.time() <= self.bound => Some(Optimality::AmongAll),
            () if self.is_homogeneous && is_as_fast_as(Construction::Exact) => {
                Some(Optimality::AmongAll)
            }
            // With several ports, nothing is known of those.
            () if self.ports != Ports::ONE => None,
            () if self.is_linear && joins && is_as_fast_as(Construction::Optimal) => {
                Some(Optimality::AmongOrdered)
            }
            () => None,
        }
    }

    /// Whether vectors are joined with those of neighbouring ranks only; `None` if blocks are moved.
    pub(crate) fn keeps_rank_order(&self, outcome: &Outcome) -> Option<bool> {
        let vector = self.problem.collective().vector();
        vector.map(|_| check_combines_neighbours(&outcome.built.tree).is_ok())
    }
}
