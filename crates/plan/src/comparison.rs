//! Several constructions for one problem, side by side.

use crate::advice::Advice;
use crate::catalogue::row;
use crate::certificate::{Certificate, percent_above};
use crate::error::{NoTree, PlanError};
use crate::expense::Effort;
use crate::library::{self, Baseline, Library, LibrarySetting, baselines};
use crate::plan::{Plan, Treeless};
use crate::request::{Built, Request, Settings, Wanted};
use std::time::{Duration, Instant};
use tuwtree_dp::wider::Class;
use tuwtree_model::{
    ClosedSet, Completion, Construction, CostModel, Order, Ports, Problem, Time, TimeError, Tree,
    best_lower_bound, check_combines_neighbours, completion, joins_adjacent_ranges,
    judged_lower_bound, judged_time, lower_bound_in_pieces, unpack_time,
};
use tuwtree_schedule::{Sends, Timeline, simulate, simulate_on};

/// A construction's plan with what there is to say about it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How the plan was made.
    pub construction: Construction,
    /// The plan, and the method if there was a choice.
    pub built: Built,
    /// The completion time of the plan, without any unpacking at the root.
    time: Time,
    /// When every subtree of a tree is complete.
    pub completion: Option<Completion>,
    /// The order that it keeps.
    pub order: Order,
    /// The completion time with an unpack step at the root.
    pub unpacked: Time,
    /// The completion time of what goes along no tree in the other reading of its ports: on duplex ones, or where it is for
    /// these, as exchanges that hold all of a port; `None` where ranks would wait for each other for ever.
    pub otherwise: Option<Time>,
    /// What the simulation of what goes along no tree said, if [`Settings::keeps_timelines`].
    pub timeline: Option<Timeline>,
    /// The time by the judge, by which plans are compared: the completion time where nothing overlaps.
    pub judged: Time,
    /// The time by the judge with an unpack step at the root.
    pub judged_unpacked: Time,
    /// How long planning took.
    pub build_time: Duration,
    /// What proves that the time is the optimum, if that was asked for.
    pub certificate: Option<Certificate>,
}

/// A construction that was left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The one without an outcome.
    pub construction: Construction,
    /// Why it has none, in words for users.
    pub reason: String,
}

/// Of which trees a tree is known to be a fastest.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Optimality {
    /// Of all, with the root that is given, if one is.
    #[strum(serialize = "all")]
    AmongAll,
    /// Of all in rank order: what a rank has received is one range at every moment.
    #[strum(serialize = "ordered")]
    AmongOrdered,
    /// Of those in which each rank copies first, and what it holds is one range at every moment.
    #[strum(serialize = "copy-first")]
    AmongCopyFirst,
    /// Of those that join adjacent ranges, each of which holds its root (OPT Proposition 3).
    #[strum(serialize = "adjacent")]
    AmongAdjacent,
}

/// The problem, its bound, and all outcomes.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The problem, with the root that was asked for.
    pub problem: Problem,
    /// No tree of whatever order completes earlier.
    pub bound: Time,
    /// Where latency overlaps on a machine of several levels, no plan takes less by the judge, unless only quick
    /// ones were wanted.
    pub judged_bound: Option<Time>,
    /// What was built, in the order of the constructions; at least one.
    pub outcomes: Vec<Outcome>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
    /// What libraries take by themselves; none for operations and ports for which that is not known.
    pub baselines: Vec<Baseline>,
    /// The library that plans are measured against; `None` for the fastest.
    library: Option<Library>,
    /// How much order may be given up by what is recommended.
    order: Order,
}

/// The fastest tree by the judge for a problem that keeps rank order, of all constructions that suit; of
/// equally fast ones the simplest.
///
/// # Errors
/// [`PlanError`]: times that cannot be stated; no tree at all.
///
/// # Complexity
/// That of the constructions; half a minute for each is the most.
pub fn best(problem: &Problem) -> Result<Outcome, PlanError> {
    let request = Request::new(problem, Settings::default(), &());
    let wanted = request.suitable(Order::Ordered, Effort::Moderate);
    let mut comparison = compare(&request, &wanted, false)?;
    comparison.outcomes.retain(|outcome| outcome.order == Order::Ordered);
    let least = comparison.outcomes.into_iter().min_by_key(|outcome| outcome.judged);
    least.ok_or_else(|| PlanError::Failed("no construction has a tree in rank order".to_owned()))
}

/// All trees that are wanted, built and timed, in this order; optimal ones are certified if
/// that is asked for.
///
/// # Errors
/// [`PlanError`]: a construction wanted at any effort that cannot be built; no tree at all; times that
/// cannot be stated.
pub fn compare(
    request: &Request<'_>,
    wanted: &[Wanted],
    certify: bool,
) -> Result<Comparison, PlanError> {
    let problem = request.problem;
    problem.check_links().map_err(PlanError::failed)?;
    let goes_in_pieces = |wanted: &Wanted| !wanted.construction.builds_trees();
    let has_cut = problem.operation().is_rooted() && problem.vector().is_some();
    let bound = match has_cut && wanted.iter().any(goes_in_pieces) {
        true => lower_bound_in_pieces(problem),
        false => best_lower_bound(problem),
    };
    let mut outcomes = Vec::new();
    let mut skipped = Vec::new();
    for &wanted in wanted {
        match outcome(request, wanted, certify, &bound) {
            Ok(outcome) => outcomes.push(outcome),
            Err(NoTree::Skipped(reason)) => {
                skipped.push(Skipped { construction: wanted.construction, reason });
            }
            Err(NoTree::Failed(error)) => return Err(error),
        }
    }
    if outcomes.is_empty() {
        let reasons = skipped.iter().map(|Skipped { construction, reason }| {
            format!("\n  {}: {reason}", construction.name())
        });
        let reasons: String = reasons.collect();
        let has_trees = wanted.iter().any(|wanted| wanted.construction.builds_trees());
        let plan = if has_trees { "tree" } else { "schedule" };
        let on_links = match problem.costs().lacks_links() {
            true => " for the links that there are",
            false => "",
        };
        return Err(PlanError::Failed(format!("no construction has a {plan}{on_links}:{reasons}")));
    }
    Ok(Comparison {
        problem: problem.clone(),
        bound: bound?,
        judged_bound: judged_bound(problem, wanted),
        baselines: baselines_of(problem, &outcomes),
        library: request.settings.library,
        order: request.settings.order,
        outcomes,
        skipped,
    })
}

/// A bound on the judge's times where levels allow for one that is worth its time.
fn judged_bound(problem: &Problem, wanted: &[Wanted]) -> Option<Time> {
    let has_levels = problem.costs().hierarchy().is_some() && problem.costs().overlaps();
    let is_worth_it = has_levels && wanted.iter().any(|wanted| wanted.effort != Effort::Quick);
    if is_worth_it { judged_lower_bound(problem).ok().flatten() } else { None }
}

/// Where costs differ, trees that are left out of a comparison of trees in rank order, but those that take too long to
/// find: the rotated one and the one with relays on several levels, and of those without an order that are filled by
/// predicted times the fastest.
///
/// # Complexity
/// Some ten trees.
pub fn beyond_order(request: &Request<'_>) -> Vec<Outcome> {
    let bound = best_lower_bound(request.problem);
    let beyond = |construction| {
        let suits = |order| (row(construction).suits)(request, order);
        let is_left_out = suits(Order::Any) && !suits(request.settings.order);
        let wanted = Wanted { construction, search: None, effort: Effort::Moderate };
        is_left_out.then(|| outcome(request, wanted, false, &bound).ok()).flatten()
    };
    let on_levels = [Construction::Rotated, Construction::Relays].into_iter().filter_map(beyond);
    let by_times = [
        Construction::MinimumFirst,
        Construction::MaximumFirst,
        Construction::Graceful,
        Construction::ModelGraceful,
    ];
    let fastest = by_times.into_iter().filter_map(beyond).min_by_key(|one| one.judged_unpacked);
    on_levels.chain(fastest).collect()
}

/// What libraries take with the given root, or with that of the star if it was built and else of the
/// fastest plan; none where links to the root are missing.
fn baselines_of(problem: &Problem, outcomes: &[Outcome]) -> Vec<Baseline> {
    let star = outcomes.iter().find(|outcome| outcome.construction == Construction::Linear);
    let fastest = || outcomes.iter().min_by_key(|outcome| outcome.judged);
    let root = star.or_else(fastest).and_then(|outcome| outcome.plan().root());
    root.and_then(|root| baselines(problem, root).ok()).unwrap_or_default()
}

/// One tree, built, timed and judged.
fn outcome(
    request: &Request<'_>,
    wanted: Wanted,
    certify: bool,
    bound: &Result<Time, TimeError>,
) -> Result<Outcome, NoTree> {
    let construction = wanted.construction;
    let problem = request.problem;
    let started = Instant::now();
    let built = request.build(wanted)?;
    let build_time = started.elapsed();
    let untimed = |error| wanted.effort.unlinked(error);
    let (mut otherwise, mut kept) = (None, None);
    let (completion, time, judged, unpack) = match &built.plan {
        Plan::Tree(tree) => {
            let completion = completion(tree, problem).map_err(untimed)?;
            let time = completion.ready[tree.root()];
            let judged = match problem.costs().overlaps() {
                true => judged_time(tree, problem).map_err(untimed)?,
                false => time,
            };
            let unpack = unpack_time(tree, problem).map_err(untimed)?;
            (Some(completion), time, judged, unpack)
        }
        Plan::Programs(schedule) => {
            let timeline = simulate(schedule, problem.costs(), Sends::Synchronous);
            let timeline = timeline.map_err(|error| wanted.unsimulated(error))?;
            let time = timeline.completion_time();
            otherwise = match !problem.duplex() {
                // Made for these ports, whatever those of the problem are: its time is known.
                other if other == schedule.task().duplex => Some(time),
                other => simulate_on(schedule, other, problem.costs(), Sends::Synchronous)
                    .ok()
                    .map(|timeline| timeline.completion_time()),
            };
            kept = request.settings.keeps_timelines.then_some(timeline);
            (None, time, time, Time::ZERO)
        }
    };
    let with_unpacking = |time| problem.costs().sum(time, unpack).map_err(untimed);
    let certificate = match (certify && construction.is_best_of_its_class(), bound) {
        (true, Ok(bound)) => {
            Some(request.certify(construction, &built, time, *bound).map_err(NoTree::Failed)?)
        }
        _ => None,
    };
    Ok(Outcome {
        construction,
        order: built.plan.order(problem.operation()),
        unpacked: with_unpacking(time)?,
        judged_unpacked: with_unpacking(judged)?,
        judged,
        time,
        otherwise,
        timeline: kept,
        built,
        completion,
        build_time,
        certificate,
    })
}

/// Which of equally fast plans to take, the least first: one that needs no planning, one that is the best of its class,
/// any other.
pub(crate) fn standing(outcome: &Outcome) -> u8 {
    match outcome.construction {
        one if row(one).is_online => 0,
        one if one.is_best_of_its_class() && outcome.built.at_least.is_none() => 1,
        _ => 2,
    }
}

impl Outcome {
    /// What was made, for the operation of the problem.
    pub fn plan(&self) -> &Plan {
        &self.built.plan
    }

    /// The tree that was built, for the operation of the problem.
    ///
    /// # Errors
    /// [`Treeless`]: the operation has programs, and no tree.
    pub fn tree(&self) -> Result<&Tree, Treeless> {
        self.built.plan.tree()
    }

    /// The completion time, without any unpacking at the root.
    pub fn time(&self) -> Time {
        self.time
    }

    /// No tree of the class that was searched takes less, in time units.
    fn at_least(&self) -> f64 {
        self.built.at_least.unwrap_or(self.time.units())
    }
}

impl Comparison {
    /// What is recommended, of what keeps the order that was asked for, if anything does. In the one-port model,
    /// the outcome with the least completion time; of several, one that takes least to unpack, of these one that is built
    /// online, else one that is proven to be the best of its class. Where latency overlaps, the simplest that the judge has within
    /// some per cent of the fastest, as [`Advice`] has it.
    pub fn recommended(&self) -> &Outcome {
        match self.problem.costs().overlaps() {
            true => Advice::new(self, Advice::TOLERANCE_PERCENT / 100.0).chosen,
            false => {
                let admitted = self.admitted().into_iter();
                let least =
                    admitted.min_by_key(|one| (one.time(), one.judged_unpacked, standing(one)));
                least.expect("a comparison has at least one outcome")
            }
        }
    }

    /// The fastest outcome by the judge, if it is faster than what is recommended, and was not admitted for its
    /// order.
    pub fn passed_over(&self) -> Option<&Outcome> {
        let fastest = self.outcomes.iter().min_by_key(|outcome| outcome.judged)?;
        let is_admitted = self.admitted().iter().any(|one| std::ptr::eq(*one, fastest));
        (!is_admitted && fastest.judged < self.recommended().judged).then_some(fastest)
    }

    /// The outcomes of which one is recommended or advised: those that keep the order that was asked for, if there
    /// are any; else all.
    pub(crate) fn admitted(&self) -> Vec<&Outcome> {
        let keeps = |outcome: &&Outcome| outcome.order <= self.order;
        let kept: Vec<&Outcome> = self.outcomes.iter().filter(keeps).collect();
        match kept.is_empty() {
            true => self.outcomes.iter().collect(),
            false => kept,
        }
    }

    /// What the library takes that plans are measured against: the one that was named, or else the fastest
    /// that programs run on.
    pub fn baseline(&self) -> Option<Baseline> {
        library::chosen(&self.baselines, self.library)
    }

    /// The setting of a library that makes its own call fastest by the judge, and what it then does; `None` if it has
    /// none of which that is known.
    pub fn best_setting(&self, library: Library) -> Option<(LibrarySetting, &Outcome)> {
        let processors = self.problem.processors();
        let settings = library.settings(self.problem.operation()).iter();
        let settings = settings.filter(|setting| setting.is_for(processors));
        let done = settings.filter_map(|&setting| {
            let is_so = |outcome: &&Outcome| outcome.construction == setting.construction;
            self.outcomes.iter().find(is_so).map(|outcome| (setting, outcome))
        });
        done.min_by_key(|(_, outcome)| outcome.judged)
    }

    /// The outcome with the least completion time; of several, the simplest construction's.
    pub fn fastest(&self) -> &Outcome {
        let least = self.outcomes.iter().min_by_key(|outcome| outcome.time());
        least.expect("a comparison has at least one outcome")
    }

    /// Whether a certificate was asked for and there is none.
    pub fn is_uncertified(&self) -> bool {
        let uncertified = |outcome: &Outcome| matches!(outcome.certificate, Some(Err(_)));
        self.outcomes.iter().any(uncertified)
    }

    /// Whether a construction was built by more than one method.
    pub fn has_several_of(&self, construction: Construction) -> bool {
        self.outcomes.iter().filter(|outcome| outcome.construction == construction).count() > 1
    }

    /// How far a time is above the bound, in percent; `None` if the bound is 0 and the time is not.
    pub fn gap_percent(&self, time: Time) -> Option<f64> {
        let gap = time.units() - self.bound.units();
        match self.bound == Time::ZERO {
            true => (gap == 0.0).then_some(0.0),
            false => Some(100.0 * gap / self.bound.units()),
        }
    }

    /// How far a time by the judge is above the bound on those, in percent; `None` if none is known, or it is 0.
    pub fn judged_gap_percent(&self, judged: Time) -> Option<f64> {
        let bound = self.judged_bound.filter(|&bound| bound > Time::ZERO)?;
        Some(percent_above(judged.units(), bound.units()))
    }

    /// How far a time is above the bound, in start-ups; `None` if these cost nothing or differ.
    pub fn gap_alphas(&self, time: Time) -> Option<f64> {
        let costs = self.problem.costs().homogeneous(self.problem.processors());
        let alpha = costs.map_or(0.0, |costs| costs.alpha());
        (alpha > 0.0).then(|| (time.units() - self.bound.units()) / alpha)
    }

    /// Of which trees an outcome is a fastest, if that is certain: it meets the bound on all trees, or
    /// takes no longer than a tree that is known to be one.
    pub fn optimality(&self, outcome: &Outcome) -> Option<Optimality> {
        let is_best = |construction: Construction| {
            let mut others = self.outcomes.iter();
            others.any(|one| {
                one.construction == construction && outcome.time().units() <= one.at_least()
            })
        };
        let holds = |check: fn(&Tree) -> bool| outcome.tree().is_ok_and(check);
        let kept = self.keeps_rank_order(outcome);
        let is_ordered = kept.unwrap_or(outcome.order == Order::Ordered);
        match () {
            () if outcome.time() <= self.bound => Some(Optimality::AmongAll),
            () if is_best(Construction::Exact) => Some(Optimality::AmongAll),
            // With several ports, nothing is known of those.
            () if self.problem.ports() != Ports::ONE => None,
            () if is_ordered && is_best(Construction::Optimal) => Some(Optimality::AmongOrdered),
            () if holds(|tree| Class::CopyFirst.check(tree).is_ok())
                && is_best(Construction::CopyFirst) =>
            {
                Some(Optimality::AmongCopyFirst)
            }
            () if kept.unwrap_or(holds(joins_adjacent_ranges))
                && is_best(Construction::Adjacent) =>
            {
                Some(Optimality::AmongAdjacent)
            }
            () => None,
        }
    }

    /// How far an ordered tree is above the best of these at most, in percent; `None` if it is not
    /// ordered, if nothing is known, or if it is a best one.
    pub fn above_ordered_percent(&self, outcome: &Outcome) -> Option<f64> {
        let optimal = self.outcomes.iter().find(|one| one.construction == Construction::Optimal)?;
        let at_least = optimal.built.at_least.filter(|_| self.problem.ports() == Ports::ONE)?;
        let is_above = outcome.order == Order::Ordered && outcome.time().units() > at_least;
        is_above.then(|| percent_above(outcome.time().units(), at_least))
    }

    /// Whether vectors are joined with those of neighbouring ranks only; `None` if blocks are moved, or
    /// if there is no tree.
    pub fn keeps_rank_order(&self, outcome: &Outcome) -> Option<bool> {
        let tree = self.problem.vector().and_then(|_| outcome.tree().ok());
        tree.map(|tree| check_combines_neighbours(tree).is_ok())
    }
}
