//! Which construction is chosen for a problem, and the tree that it builds: the only place of the
//! executor that asks the catalogue (`tuwtree-plan`) for trees.

use crate::settings::Algorithm;
use crate::tree::MESSAGE_BYTES;
use std::rc::Rc;
use tuwtree_model::{
    BlockSizes, ClosedSet, Collective, Construction, CostModel, Costs, Order, Problem, Rank, Root,
    StatedCosts, Time, TimeError, Tree, completion_time,
};
use tuwtree_plan::{
    Effort, Library, NoTree, Request, Settings, Wanted, baselines, catalogue, compare,
};
use tuwtree_schedule::Schedule;
use tuwtree_treegen::{AdaptiveRule, adaptive, linear};

/// The algorithms among which a choice is made for a single call, the first of equals taken: those
/// whose tree the processors find together.
const CANDIDATES: [Algorithm; 4] = [
    Algorithm::Linear,
    Algorithm::AdaptiveGatherTime,
    Algorithm::AdaptiveDataSize,
    Algorithm::AdaptiveCompletionTime,
];

/// The gather, or scatter (`is_outward`), of these blocks at these costs.
///
/// # Errors
/// A root out of range, costs for another number of processors.
pub(crate) fn problem(
    is_outward: bool,
    sizes: &BlockSizes,
    root: Rank,
    costs: impl Into<StatedCosts>,
) -> Result<Problem, String> {
    let collective = match is_outward {
        true => Collective::scatter(sizes),
        false => Collective::gather(sizes),
    };
    Problem::of(collective, costs)
        .and_then(|problem| problem.with_root(Root::Given(root)))
        .map_err(|error| error.to_string())
}

/// Whether a comparison of all trees would build this construction for the problem.
pub(crate) fn suits(construction: Construction, problem: &Problem) -> bool {
    let request = Request::new(problem, MEASURED, &());
    request.suitable(Order::Any, Effort::Quick).iter().any(|one| one.construction == construction)
}

/// The adaptive tree is measured as TUW measures it.
const MEASURED: Settings =
    Settings { adaptive_rule: AdaptiveRule::GatherTime, ..Settings::DEFAULT };

/// The tree of this construction, as it is measured; `None` if it has none for the problem.
///
/// # Errors
/// Why it cannot be built.
pub(crate) fn measured_tree(
    construction: Construction,
    problem: &Problem,
) -> Result<Option<Tree>, String> {
    let request = Request::new(problem, MEASURED, &());
    let wanted = Wanted { effort: Effort::Moderate, ..Wanted::named(construction) };
    match request.build(wanted) {
        Ok(built) => built.plan.into_tree().map(Some).map_err(|error| error.to_string()),
        Err(NoTree::Skipped(_)) => Ok(None),
        Err(NoTree::Failed(error)) => Err(format!("{}: {error}", construction.name())),
    }
}

/// What the library that calls itself so takes for the problem by itself, by the judge; `None` if
/// nothing is known of it, or its time cannot be stated.
pub(crate) fn judged_library(problem: &Problem, name: &str) -> Option<f64> {
    let library = library_named(name)?;
    let Root::Given(root) = problem.root() else { return None };
    let all = baselines(problem, root).ok()?;
    all.iter().find(|one| one.library == library).map(|one| one.judged.units())
}

/// The library that calls itself so.
fn library_named(name: &str) -> Option<Library> {
    let numbers = |after: &str| {
        let version = name.split_once(after)?.1.trim_start();
        let mut numbers = version.split(|letter: char| !letter.is_ascii_digit());
        let mut next = || numbers.next()?.parse::<u32>().ok();
        Some((next()?, next()?))
    };
    match () {
        () if name.starts_with("Open MPI") => Some(match numbers("Open MPI v")? {
            (0..=5, _) => Library::OpenMpi5,
            _ => Library::OpenMpi6,
        }),
        () if name.starts_with("MPICH") => Some(match numbers("Version:")? {
            (0..=3, _) | (4, 0..=2) => Library::Mpich42,
            _ => Library::Mpich,
        }),
        () if name.starts_with("Intel") => Some(Library::Intel),
        () => None,
    }
}

/// The schedule of least time by the judge for an operation that is set up once, the unpack step at the
/// root counted: of all constructions that suit and are found in a time that a program may wait. `None` if
/// the library that calls itself so takes at most 2 % longer by its own call.
///
/// # Errors
/// No tree has a completion time.
pub(crate) fn best_schedule(
    problem: &Problem,
    library: &str,
) -> Result<Option<Rc<Schedule>>, String> {
    let request = Request::new(problem, Settings::default(), &());
    let wanted: Vec<Wanted> = request
        .suitable(Order::Any, Effort::Quick)
        .into_iter()
        .filter(|one| is_quick(one.construction, problem))
        .collect();
    let comparison = compare(&request, &wanted, false).map_err(|error| error.to_string())?;
    let best = comparison.outcomes.iter().min_by_key(|outcome| outcome.judged_unpacked);
    let best = best.expect("a comparison has at least one outcome");
    let most = ENOUGH * best.judged_unpacked.units();
    if judged_library(problem, library).is_some_and(|judged| judged <= most) {
        return Ok(None);
    }
    let tree = best.tree().map_err(|error| error.to_string())?;
    Schedule::without_costs(tree, problem.collective())
        .map(|schedule| Some(Rc::new(schedule)))
        .map_err(|error| error.to_string())
}

/// The library's own call is chosen up to so many times the time of the best tree.
const ENOUGH: f64 = 1.02;

/// The most processors for which a tree is searched for pair by pair, and by many searches or a cubic
/// one at costs that are the same everywhere or on each level.
const MOST: (usize, usize) = (24, 300);

/// The most for which the best ordered tree is searched for.
const MOST_OPTIMAL: usize = 1000;

/// Whether a tree is found in a time that a program may wait.
fn is_quick(construction: Construction, problem: &Problem) -> bool {
    let processors = problem.processors();
    if catalogue::row(construction).is_online {
        return true;
    }
    match problem.costs().homogeneous(processors) {
        None if problem.costs().hierarchy().is_none() => processors <= MOST.0,
        None => processors <= MOST.1,
        Some(costs) if costs.gamma() > costs.beta() => processors <= MOST.1,
        Some(_) if matches!(construction, Construction::Adjacent | Construction::Deadline) => true,
        Some(_) if construction == Construction::Optimal => processors <= MOST_OPTIMAL,
        Some(_) => processors <= MOST.1,
    }
}

/// The tree of an algorithm; `None` if it has none.
fn tree(algorithm: Algorithm, problem: &Problem) -> Option<Tree> {
    let rule = match algorithm {
        Algorithm::AdaptiveGatherTime => AdaptiveRule::GatherTime,
        Algorithm::AdaptiveDataSize => AdaptiveRule::DataSize,
        Algorithm::AdaptiveCompletionTime => AdaptiveRule::CompletionTime,
        Algorithm::Linear => return linear(problem).ok(),
        Algorithm::Native | Algorithm::Auto | Algorithm::Schedule => return None,
    };
    adaptive(problem, rule).ok()
}

/// The algorithm with the least completion time for a single call, the time to build the tree
/// included.
pub(crate) fn best_algorithm(problem: &Problem) -> Algorithm {
    // What has no time is never best; if nothing has, there may be links for the star only.
    CANDIDATES
        .into_iter()
        .filter_map(|algorithm| Some((time(algorithm, problem)?, algorithm)))
        .min_by_key(|&(time, _)| time)
        .map_or(Algorithm::Linear, |(_, algorithm)| algorithm)
}

fn time(algorithm: Algorithm, problem: &Problem) -> Option<Time> {
    let moved = completion_time(&tree(algorithm, problem)?, problem).ok()?;
    match algorithm {
        Algorithm::Linear => Some(moved),
        _ => {
            let costs = problem.costs();
            costs.sum(construction_time(problem.processors(), costs).ok()?, moved).ok()
        }
    }
}

/// What it takes the processors to build an adaptive tree, about: two messages a round, at the costs
/// between the first and the last of them.
fn construction_time(processors: usize, costs: &Costs) -> Result<Time, TimeError> {
    let rounds = processors.next_power_of_two().ilog2();
    if rounds == 0 {
        return Ok(Time::ZERO);
    }
    let message = costs.transmission_between(0, processors - 1, MESSAGE_BYTES as u64)?;
    (0..2 * rounds).try_fold(Time::ZERO, |time, _| costs.sum(time, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::Homogeneous;

    fn costs(alpha: f64) -> Costs {
        Costs::Homogeneous(Homogeneous::new(alpha, 1.0, 0.0).unwrap())
    }

    fn gather(blocks: &[u64], alpha: f64) -> Problem {
        let sizes = BlockSizes::new(blocks.iter().copied()).unwrap();
        problem(false, &sizes, 0, costs(alpha)).unwrap()
    }

    #[test]
    fn few_large_blocks_go_straight_and_many_small_ones_along_a_tree() {
        let choose = |blocks: &[u64], alpha| best_algorithm(&gather(blocks, alpha));
        assert_eq!(choose(&[1_000_000; 4], 1.0), Algorithm::Linear);
        assert_ne!(choose(&[1; 500], 1000.0), Algorithm::Linear);
        assert_eq!(choose(&[5], 1.0), Algorithm::Linear);
    }

    #[test]
    fn what_is_set_up_once_may_follow_any_construction_that_suits() {
        // Not in rank order, and so fast only where the root need not unpack: gamma is 0.
        let problem = gather(&[0, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1], 10.0);
        let schedule = best_schedule(&problem, "a library").unwrap().expect("a tree");
        let optimal = measured_tree(Construction::Optimal, &problem).unwrap().unwrap();
        let optimal = Schedule::without_costs(&optimal, problem.collective()).unwrap();
        let time = |schedule: &Schedule| {
            tuwtree_schedule::simulate(
                schedule,
                problem.costs(),
                tuwtree_schedule::Sends::default(),
            )
            .unwrap()
            .completion_time()
        };
        assert!(time(&schedule) < time(&optimal));
    }

    #[test]
    fn the_library_stands_aside_only_where_a_tree_gains() {
        let chosen = |blocks: &[u64], alpha| {
            best_schedule(&gather(blocks, alpha), "MPICH Version: 4.0.2").unwrap().is_some()
        };
        assert!(!chosen(&[1_000_000; 4], 1.0));
        assert!(chosen(&[1; 60], 1000.0));
    }

    #[test]
    fn libraries_are_known_by_what_they_call_themselves() {
        for (name, library) in [
            ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", Some(Library::OpenMpi5)),
            ("Open MPI v6.1.0a1", Some(Library::OpenMpi6)),
            ("MPICH Version:      4.0.2", Some(Library::Mpich42)),
            ("MPICH Version:\t4.3.0\nMPICH Release date", Some(Library::Mpich)),
            ("Intel(R) MPI Library 2021.9", Some(Library::Intel)),
            ("MVAPICH2 Version: 2.3", None),
        ] {
            assert_eq!(library_named(name), library, "{name}");
        }
        let problem = gather(&[1000; 4], 5.0);
        // One receive after the other.
        assert_eq!(judged_library(&problem, "Open MPI v4.1.4"), Some(3.0 * 1005.0));
        assert_eq!(judged_library(&problem, "another"), None);
    }

    #[test]
    fn building_a_tree_takes_two_messages_a_round() {
        let rounds = |processors| {
            let message = 1.0 + MESSAGE_BYTES as f64;
            construction_time(processors, &costs(1.0)).unwrap().units() / message
        };
        assert_eq!([1, 2, 8, 9].map(rounds), [0.0, 2.0, 6.0, 8.0]);
    }
}
