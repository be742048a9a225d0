//! Several constructions for one problem, side by side.

use crate::advice::{recommended, simplest};
use crate::catalogue::{MANY, row};
use crate::certificate::{Certificate, percent_above};
use crate::error::{NoTree, PlanError};
use crate::expense::Effort;
use crate::library::{self, Baseline, Library, LibrarySetting, baselines};
use crate::plan::{Plan, Treeless};
use crate::request::{Built, FEW, Request, Settings, Wanted, time_otherwise};
use std::time::{Duration, Instant};
use tuwtree_bounds::{lower_bound_below, lower_bound_in_pieces};
use tuwtree_dp::wider::Class;
use tuwtree_model::{
    ClosedSet, Construction, CostModel, Order, Ports, Problem, Time, Tree,
    check_combines_neighbours, completion_time, joins_adjacent_ranges, judged_time, unpack_time,
};
use tuwtree_schedule::{Sends, Timeline, simulate};

/// A construction's plan with what there is to say about it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Construction of the plan.
    pub construction: Construction,
    /// The plan, and the method if there was a choice.
    pub built: Built,
    /// The time of the plan, by the judge where latency overlaps, without any unpacking at the root.
    time: Time,
    /// The completion time by the planner: the same where nothing overlaps.
    pub planned: Time,
    /// The order that it keeps.
    pub order: Order,
    /// The time with an unpack step at the root.
    pub unpacked: Time,
    /// The completion time of a plan without a tree with the other kind of ports: on duplex ones, or for a plan for
    /// these, as exchanges that hold all of a port; `None` where ranks would deadlock.
    pub otherwise: Option<Time>,
    /// Simulated timeline of a plan without a tree, if [`Settings::keeps_timelines`].
    pub timeline: Option<Timeline>,
    /// Duration of planning.
    pub build_time: Duration,
    /// Proof that the time is the optimum, if requested.
    pub certificate: Option<Certificate>,
}

/// A construction that was left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The one without an outcome.
    pub construction: Construction,
    /// Reason for having none, in words for users.
    pub reason: String,
}

/// Class of trees in which a tree is a fastest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Optimality {
    /// Of all, with the root that is given, if one is.
    #[strum(serialize = "all")]
    AmongAll,
    /// Of all in rank order: what a rank has received is one range at every moment.
    #[strum(serialize = "ordered")]
    AmongOrdered,
    /// Trees in which each rank copies first, and its data is always one range.
    #[strum(serialize = "copy-first")]
    AmongCopyFirst,
    /// Trees that join adjacent ranges, each of which holds its root (OPT Proposition 3).
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
    /// The built constructions, in order; at least one.
    pub outcomes: Vec<Outcome>,
    /// The constructions left out.
    pub skipped: Vec<Skipped>,
    /// Times of the libraries' own calls; none for operations and ports for which they are unknown.
    pub baselines: Vec<Baseline>,
    /// The library that plans are measured against; `None` for the fastest.
    library: Option<Library>,
    /// Order that a recommended plan may give up.
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
    let least = comparison.outcomes.into_iter().min_by_key(|outcome| outcome.time);
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
    let mut outcomes = Vec::new();
    let mut skipped = Vec::new();
    let mut known = None;
    let floor = |wanted: &Wanted| (row(wanted.construction).floor)(problem);
    let mut all: Vec<(Option<Time>, Wanted)> =
        wanted.iter().map(|wanted| (floor(wanted), *wanted)).collect();
    // Schedules of many messages last, the most promising of them first; then those that yield to others.
    all.sort_by_key(|&(floor, wanted)| (row(wanted.construction).yields_near_bound, floor));
    for (floor, wanted) in all {
        let settled = settled(request, wanted, &outcomes, &mut known);
        let started = started(request, wanted, &outcomes);
        let result = match settled.or_else(|| started.beaten(wanted, floor)) {
            Some(reason) => Err(NoTree::Skipped(reason)),
            None => outcome(&started, wanted),
        };
        match result {
            Ok(outcome) => outcomes.push(outcome),
            Err(NoTree::Skipped(reason)) => {
                skipped.push(Skipped { construction: wanted.construction, reason });
            }
            Err(NoTree::Failed(PlanError::Misused(reason) | PlanError::Failed(reason)))
                if request.settings.leaves_out_refused =>
            {
                skipped.push(Skipped { construction: wanted.construction, reason });
            }
            Err(NoTree::Failed(error)) => return Err(error),
        }
    }
    let place = |construction| wanted.iter().position(|one| one.construction == construction);
    outcomes.sort_by_key(|one: &Outcome| place(one.construction));
    skipped.sort_by_key(|one: &Skipped| place(one.construction));
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
    let has_cut = problem.operation().is_rooted() && problem.vector().is_some();
    let in_pieces = has_cut && wanted.iter().any(|one| !one.construction.builds_trees());
    let least = outcomes.iter().map(Outcome::time).min().expect("there is an outcome");
    let bound = match (in_pieces, known) {
        (true, _) => lower_bound_in_pieces(problem)?,
        (false, Some((below, bound))) if below == least => bound,
        (false, _) => lower_bound_below(problem, least)?,
    };
    for outcome in
        outcomes.iter_mut().filter(|one| certify && row(one.construction).is_best_of_class)
    {
        outcome.certificate = Some(request.certify(outcome, bound)?);
    }
    Ok(Comparison {
        problem: problem.clone(),
        bound,
        baselines: baselines_of(problem, &outcomes),
        library: request.settings.library,
        order: request.settings.order,
        outcomes,
        skipped,
    })
}

/// Reason for a search to be left out that was not asked for by name: where latency overlaps and ranks are many, another
/// tree is so near the bound that it could gain little. `known` is the last bound, and the time below which it is.
fn settled(
    request: &Request<'_>,
    wanted: Wanted,
    outcomes: &[Outcome],
    known: &mut Option<(Time, Time)>,
) -> Option<String> {
    let problem = request.problem;
    let row = row(wanted.construction);
    let is_search = wanted.construction.builds_trees() && !row.is_online;
    let (percent, few) = match row.yields_near_bound {
        true => (2, MANY),
        false => (1, FEW),
    };
    if wanted.effort == Effort::Any
        || !(is_search || row.yields_near_bound)
        || !problem.costs().overlaps()
        || problem.ranks() <= few
    {
        return None;
    }
    let best =
        recommended(outcomes.iter().filter(|one| one.order <= request.settings.order).collect())?;
    let bound = match *known {
        Some((below, bound)) if below == best.time => bound,
        _ => lower_bound_below(problem, best.time).ok()?,
    };
    *known = Some((best.time, bound));
    let is_near = best.unpacked.units() <= (1.0 + f64::from(percent) / 100.0) * bound.units();
    let name = best.construction.name();
    is_near.then(|| format!("{name} is within {percent} % of the bound; name it to search on"))
}

/// The request, with the fastest plan so far, and the fastest tree as the start of a local search that was not asked for by
/// name.
fn started<'a>(request: &'a Request<'_>, wanted: Wanted, outcomes: &'a [Outcome]) -> Request<'a> {
    let rival = outcomes.iter().min_by_key(|one| one.time).map(|one| (one.time, one.construction));
    let request = Request { rival, ..request.clone() };
    let most = match wanted.construction {
        Construction::Polished => Order::Ordered,
        Construction::Searched => Order::Any,
        _ => return request,
    };
    let trees = outcomes.iter().filter(|one| wanted.effort != Effort::Any && one.order <= most);
    let best = trees.filter_map(|one| Some((one.time, one.tree().ok()?))).min_by_key(|one| one.0);
    Request { start: best.map(|(_, tree)| tree), ..request }
}

/// With different costs, trees that a comparison of trees in rank order leaves out, except for slow constructions: the
/// rotated tree and the tree with relays on several levels, and the fastest of the trees without an order that are
/// filled by predicted times.
///
/// # Complexity
/// Some ten trees.
pub fn beyond_order(request: &Request<'_>) -> Vec<Outcome> {
    let beyond = |construction| {
        let suits = |order| (row(construction).suits)(request, order);
        let is_left_out = suits(Order::Any) && !suits(request.settings.order);
        let wanted = Wanted { construction, search: None, effort: Effort::Moderate };
        is_left_out.then(|| outcome(request, wanted).ok()).flatten()
    };
    let on_levels = [Construction::Rotated, Construction::Relays].into_iter().filter_map(beyond);
    let by_times = [
        Construction::MinimumFirst,
        Construction::MaximumFirst,
        Construction::Graceful,
        Construction::ModelGraceful,
    ];
    let fastest = by_times.into_iter().filter_map(beyond).min_by_key(|one| one.unpacked);
    on_levels.chain(fastest).collect()
}

/// Times of the libraries' own calls with the given root, or with that of the star if it was built and else of the
/// fastest plan; none where links to the root are missing.
fn baselines_of(problem: &Problem, outcomes: &[Outcome]) -> Vec<Baseline> {
    let star = outcomes.iter().find(|outcome| outcome.construction == Construction::Linear);
    let fastest = || outcomes.iter().min_by_key(|outcome| outcome.time);
    let root = star.or_else(fastest).and_then(|outcome| outcome.plan().root());
    root.and_then(|root| baselines(problem, root).ok()).unwrap_or_default()
}

/// One tree, built and timed.
fn outcome(request: &Request<'_>, wanted: Wanted) -> Result<Outcome, NoTree> {
    let construction = wanted.construction;
    let problem = request.problem;
    let started = Instant::now();
    let built = request.build(wanted)?;
    let build_time = started.elapsed();
    let untimed = |error| wanted.effort.unlinked(error);
    let (mut otherwise, mut kept) = (None, None);
    let (planned, time, unpack) = match &built.plan {
        Plan::Tree(tree) => {
            let time = judged_time(tree, problem).map_err(untimed)?;
            let planned = completion_time(tree, problem).map_err(untimed)?;
            let unpack = unpack_time(tree, problem).map_err(untimed)?;
            (planned, time, unpack)
        }
        Plan::Programs(schedule) => {
            let time = match built.time {
                Some(time) if !request.settings.keeps_timelines => time,
                _ => {
                    let timeline = simulate(schedule, problem.stated_costs(), Sends::Synchronous);
                    let timeline = timeline.map_err(|error| wanted.unsimulated(error))?;
                    let time = timeline.completion_time();
                    kept = request.settings.keeps_timelines.then_some(timeline);
                    time
                }
            };
            otherwise = built.otherwise.or_else(|| time_otherwise(problem, schedule, time));
            (time, time, Time::ZERO)
        }
    };
    let with_unpacking = |time| problem.costs().sum(time, unpack).map_err(untimed);
    Ok(Outcome {
        construction,
        order: built.plan.order(problem.operation()),
        unpacked: with_unpacking(time)?,
        planned,
        time,
        otherwise,
        timeline: kept,
        built,
        build_time,
        certificate: None,
    })
}

/// True if no plan for the problem is faster, by this bound: exactly where nothing overlaps, up to rounding by the judge.
pub(crate) fn meets(problem: &Problem, time: Time, bound: Time) -> bool {
    let rounding = if problem.costs().overlaps() { ROUNDING } else { 0.0 };
    time.units() * (1.0 - rounding) <= bound.units()
}

/// Relative rounding error of bounds on judged times, at most.
const ROUNDING: f64 = 1e-8;

/// Preference among equally fast plans, the least first: one that needs no planning, one that is the best of its class,
/// any other.
pub(crate) fn standing(outcome: &Outcome) -> u8 {
    match outcome.construction {
        one if row(one).is_online => 0,
        one if row(one).is_best_of_class && outcome.built.at_least.is_none() => 1,
        _ => 2,
    }
}

impl Outcome {
    /// The plan, for the operation of the problem.
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

    /// The time, by the judge where latency overlaps, without any unpacking at the root.
    pub fn time(&self) -> Time {
        self.time
    }

    /// No tree of the class that was searched takes less, in time units.
    fn at_least(&self) -> f64 {
        self.built.at_least.unwrap_or(self.time.units())
    }
}

impl Comparison {
    /// The recommended outcome: the fastest with unpacking, of those that keep the requested order, if there are any.
    pub fn recommended(&self) -> &Outcome {
        recommended(self.admitted()).expect("a comparison has at least one outcome")
    }

    /// The simplest outcome of those that are nearly as fast as the recommended one.
    pub fn simplest(&self) -> &Outcome {
        simplest(self.admitted()).expect("a comparison has at least one outcome")
    }

    /// The fastest outcome, if it is faster than the recommended one, and was not admitted for its order.
    pub fn passed_over(&self) -> Option<&Outcome> {
        let fastest = self.outcomes.iter().min_by_key(|outcome| outcome.unpacked)?;
        let is_admitted = self.admitted().iter().any(|one| std::ptr::eq(*one, fastest));
        (!is_admitted && fastest.unpacked < self.recommended().unpacked).then_some(fastest)
    }

    /// The candidates for a recommendation or advice: outcomes that keep the requested order, if there are any; else
    /// all.
    pub(crate) fn admitted(&self) -> Vec<&Outcome> {
        let keeps = |outcome: &&Outcome| outcome.order <= self.order;
        let kept: Vec<&Outcome> = self.outcomes.iter().filter(keeps).collect();
        match kept.is_empty() {
            true => self.outcomes.iter().collect(),
            false => kept,
        }
    }

    /// The library's time that plans are measured against: the named library's, or else the fastest real one's.
    pub fn baseline(&self) -> Option<Baseline> {
        library::chosen(&self.baselines, self.library)
    }

    /// The setting of a library that makes its own call fastest, and the resulting construction; `None` if
    /// no such setting is known.
    pub fn best_setting(&self, library: Library) -> Option<(LibrarySetting, &Outcome)> {
        let ranks = self.problem.ranks();
        let settings = library.settings(self.problem.operation()).iter();
        let settings = settings.filter(|setting| setting.is_for(ranks));
        let done = settings.filter_map(|&setting| {
            let is_so = |outcome: &&Outcome| outcome.construction == setting.construction;
            self.outcomes.iter().find(is_so).map(|outcome| (setting, outcome))
        });
        done.min_by_key(|(_, outcome)| outcome.time)
    }

    /// The outcome with the least completion time; of several, the simplest construction's.
    pub fn fastest(&self) -> &Outcome {
        let least = self.outcomes.iter().min_by_key(|outcome| outcome.time());
        least.expect("a comparison has at least one outcome")
    }

    /// True if a construction was built by more than one method.
    pub fn has_several_of(&self, construction: Construction) -> bool {
        self.outcomes.iter().filter(|outcome| outcome.construction == construction).count() > 1
    }

    /// Percentage of a time above the bound; `None` if the bound is 0 and the time is not.
    pub fn gap_percent(&self, time: Time) -> Option<f64> {
        let gap = time.units() - self.bound.units();
        match self.bound == Time::ZERO {
            true => (gap == 0.0).then_some(0.0),
            false => Some(100.0 * gap / self.bound.units()),
        }
    }

    /// Difference of a time and the bound, in start-ups; `None` if these cost nothing or differ.
    pub fn gap_alphas(&self, time: Time) -> Option<f64> {
        let costs = self.problem.costs().homogeneous(self.problem.ranks());
        let alpha = costs.map_or(0.0, |costs| costs.alpha());
        (alpha > 0.0).then(|| (time.units() - self.bound.units()) / alpha)
    }

    /// Class in which this outcome is proven optimal, if any: it meets the bound on all trees, or takes no longer than
    /// a proven optimum.
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
            () if meets(&self.problem, outcome.time(), self.bound) => Some(Optimality::AmongAll),
            // The best of a class by the planner is not the best by the judge.
            () if self.problem.costs().overlaps() => None,
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

    /// Most per cent that an ordered tree is above the best ordered one; `None` if it is not
    /// ordered, if nothing is known, or if it is a best one.
    pub fn above_ordered_percent(&self, outcome: &Outcome) -> Option<f64> {
        let optimal = self.outcomes.iter().find(|one| one.construction == Construction::Optimal)?;
        let is_searched = self.problem.ports() == Ports::ONE && !self.problem.costs().overlaps();
        let at_least = optimal.built.at_least.filter(|_| is_searched)?;
        let is_above = outcome.order == Order::Ordered && outcome.time().units() > at_least;
        is_above.then(|| percent_above(outcome.time().units(), at_least))
    }

    /// True if vectors are joined with those of neighbouring ranks only; `None` for blocks, and without a tree.
    pub fn keeps_rank_order(&self, outcome: &Outcome) -> Option<bool> {
        let tree = self.problem.vector().and_then(|_| outcome.tree().ok());
        tree.map(|tree| check_combines_neighbours(tree).is_ok())
    }
}
