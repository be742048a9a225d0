//! Choice of a construction for a problem, and its tree: the only place of the executor that asks
//! the catalogue (`tuwtree-plan`) for trees.

use std::rc::Rc;
use tuwtree_model::{
    BlockSizes, Collective, Construction, Order, Problem, Rank, Root, StatedCosts, Tree,
    judged_time,
};
use tuwtree_plan::catalogue::OnlinePart;
use tuwtree_plan::{
    Effort, NoTree, Outcome, Request, Settings, Wanted, catalogue, compare, judged_library,
    recommended,
};
use tuwtree_schedule::Schedule;

/// The gather, or scatter (`is_outward`), of these blocks at these costs.
///
/// # Errors
/// A root out of range, costs for another number of ranks.
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

/// The recommended schedule for an operation that is set up once: of all constructions that suit and are found in a time
/// that a program may wait, and whose trees leave no rank but the root more than `most_passed` bytes of others' data.
/// `None` if there is none, or this library's own call takes at most 2 % longer.
///
/// # Errors
/// No tree has a completion time.
pub(crate) fn best_schedule(
    problem: &Problem,
    library: &str,
    most_passed: u64,
) -> Result<Option<Rc<Schedule>>, String> {
    let outcomes = outcomes(problem, is_quick)?;
    let held = outcomes.iter().filter(|one| held_tree(one, problem, most_passed).is_some());
    let best = recommended(held.collect());
    let paying = best.filter(|outcome| pays(outcome, problem, library));
    let Some(tree) = paying.and_then(|outcome| outcome.tree().ok()) else { return Ok(None) };
    Schedule::without_costs(tree, problem.collective())
        .map(|schedule| Some(Rc::new(schedule)))
        .map_err(|error| error.to_string())
}

/// Result of `use_of` on the tree of least time by the judge, among the quick constructions for which it succeeds, with
/// the construction; `None` if this library's own call takes at most 2 % longer, or no tree exists.
pub(crate) fn best_passed<T>(
    problem: &Problem,
    library: &str,
    use_of: impl Fn(&Tree) -> Option<T>,
) -> Option<(Construction, T)> {
    let mut outcomes = outcomes(problem, is_instant).ok()?;
    outcomes.sort_by_key(|outcome| outcome.unpacked);
    let mut paying = outcomes.iter().take_while(|one| pays(one, problem, library));
    paying.find_map(|one| Some((one.construction, use_of(one.tree().ok()?)?)))
}

/// True if a tree takes hardly longer than another one for this problem.
pub(crate) fn is_as_good(tree: &Tree, other: &Tree, problem: &Problem) -> bool {
    let time = |tree| judged_time(tree, problem).map_or(f64::INFINITY, |time| time.units());
    time(tree) <= NEAR * time(other)
}

/// A process's part of the `deadline-online` tree; consistent at all processes.
///
/// # Errors
/// Costs of each pair; costs that are too large.
pub(crate) fn found_online(problem: &Problem, rank: Rank) -> Result<OnlinePart, String> {
    catalogue::found_online(problem, rank).map_err(|error| error.to_string())
}

/// The whole of that tree.
///
/// # Errors
/// As [`found_online`].
pub(crate) fn online_tree(problem: &Problem) -> Result<Tree, String> {
    let request = Request::new(problem, Settings::default(), &());
    match request.build(Wanted::named(Construction::DeadlineOnline)) {
        Ok(built) => built.plan.into_tree().map_err(|error| error.to_string()),
        Err(NoTree::Skipped(reason)) => Err(reason),
        Err(NoTree::Failed(error)) => Err(error.to_string()),
    }
}

/// The tree, if nobody but the root holds too much.
fn held_tree<'o>(outcome: &'o Outcome, problem: &Problem, most_passed: u64) -> Option<&'o Tree> {
    let sizes = problem.collective().blocks()?;
    outcome.tree().ok().filter(|tree| largest_segment(tree, sizes) <= most_passed)
}

/// The most data that a process passes on which is not the root.
pub(crate) fn largest_segment(tree: &Tree, sizes: &BlockSizes) -> u64 {
    let mut bytes: Vec<u64> = sizes.iter().collect();
    let mut largest = 0;
    for rank in tree.top_down().into_iter().rev() {
        let Some(parent) = tree.parent(rank) else { continue };
        if tree.degree(rank) > 0 {
            largest = largest.max(bytes[rank]);
        }
        bytes[parent] += bytes[rank];
    }
    largest
}

/// All trees of constructions that are quick enough.
fn outcomes(
    problem: &Problem,
    is_quick_enough: fn(Construction, &Problem) -> bool,
) -> Result<Vec<Outcome>, String> {
    let request = Request::new(problem, Settings::default(), &());
    let wanted: Vec<Wanted> = request
        .suitable(Order::Any, Effort::Quick)
        .into_iter()
        .filter(|one| is_quick_enough(one.construction, problem))
        .collect();
    compare(&request, &wanted, false)
        .map(|comparison| comparison.outcomes)
        .map_err(|error| error.to_string())
}

/// True if this library's own call takes noticeably longer, and certainly, as far as the machine states its uncertainty.
fn pays(outcome: &Outcome, problem: &Problem, library: &str) -> bool {
    let network = problem.stated_costs().network();
    let enough = network.uncertainty.map_or(ENOUGH, |factor| factor.max(ENOUGH));
    let most = enough * outcome.unpacked.units();
    loses_data(problem) || judged_library(problem, library).is_none_or(|judged| judged > most)
}

/// True if the library's own gather exceeds the window, where the judge ignores windows, since nothing overlaps.
fn loses_data(problem: &Problem) -> bool {
    let window = problem.stated_costs().network().window;
    let (Some(window), Some(sizes)) = (window, problem.blocks()) else { return false };
    let is_judged = problem.costs().overlaps() || problem.operation().is_outward();
    let Root::Given(root) = problem.root() else { return false };
    !is_judged && sizes.total() - sizes.block(root) > window
}

/// Ratio to the time of the best tree up to which the library's own call is chosen.
const ENOUGH: f64 = 1.02;

/// Ratio to the time of the best tree up to which an old one stays.
const NEAR: f64 = 1.05;

/// The most ranks for which a tree is searched for pair by pair, and by many searches or a cubic
/// one at costs that are the same everywhere or on each level.
const MOST: (usize, usize) = (24, 300);

/// The most for which the best ordered tree is searched for.
const MOST_OPTIMAL: usize = 1000;

/// The most ranks for which the best tree of adjacent subtrees, and the optimal one, is searched for
/// while others wait for a call.
const MOST_INSTANT: (usize, usize) = (256, 32);

/// True if a tree of consecutive ranks is found within milliseconds, while a call waits. Deadline splitting was within
/// 2 % of the optimum that takes a thousand times as long, where latency overlaps.
fn is_instant(construction: Construction, problem: &Problem) -> bool {
    let ranks = problem.ranks();
    match construction {
        Construction::Deadline => true,
        Construction::Adjacent => ranks <= MOST_INSTANT.0,
        Construction::Optimal => ranks <= MOST_INSTANT.1 && is_quick(construction, problem),
        other => catalogue::row(other).is_online,
    }
}

/// True if a tree is found in a time that a program may wait.
fn is_quick(construction: Construction, problem: &Problem) -> bool {
    let ranks = problem.ranks();
    if catalogue::row(construction).is_online {
        return true;
    }
    match problem.costs().homogeneous(ranks) {
        None if problem.costs().hierarchy().is_none() => ranks <= MOST.0,
        None => ranks <= MOST.1,
        Some(costs) if costs.gamma() > costs.beta() => ranks <= MOST.1,
        Some(_) if matches!(construction, Construction::Adjacent | Construction::Deadline) => true,
        Some(_) if construction == Construction::Optimal => ranks <= MOST_OPTIMAL,
        Some(_) => ranks <= MOST.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::document::{Date, Machine};
    use tuwtree_model::{Costs, Homogeneous, Network};

    fn costs(alpha: f64) -> Costs {
        Costs::Homogeneous(Homogeneous::new(alpha, 1.0, 0.0).unwrap())
    }

    fn gather(blocks: &[u64], alpha: f64) -> Problem {
        let sizes = BlockSizes::new(blocks.iter().copied()).unwrap();
        problem(false, &sizes, 0, costs(alpha)).unwrap()
    }

    #[test]
    fn few_large_blocks_go_straight_and_many_small_ones_along_a_tree() {
        let depth = |blocks: &[u64], alpha| {
            let problem = gather(blocks, alpha);
            let best = best_passed(&problem, "MPICH Version: 4.0.2", |tree| Some(tree.depth()));
            best.map(|(_, depth)| depth)
        };
        assert_eq!(depth(&[1_000_000; 4], 1.0), None);
        assert!(depth(&[1; 60], 1000.0).unwrap() > 1);
        assert_eq!(depth(&[5], 1.0), None);
    }

    #[test]
    fn what_is_set_up_has_nobody_hold_more_of_others_data_than_the_limit() {
        const MOST: u64 = 1 << 26;
        let problem = gather(&[MOST / 4; 60], 1e12);
        let sizes = problem.collective().blocks().unwrap();
        let largest = |tree: &Tree| Some(largest_segment(tree, sizes));
        // In calls large blocks go straight, so that there is no need to look.
        assert!(best_passed(&problem, "a library", largest).unwrap().1 > MOST);
        for limit in [MOST, MOST / 4, 0] {
            let set_up = best_schedule(&problem, "a library", limit).unwrap();
            let set_up = set_up.expect("a star at least");
            let segment = |rank| set_up.buffer_bytes(rank, tuwtree_schedule::Buffer::Segment);
            assert!((0..60).all(|rank| segment(rank) <= limit));
        }
    }

    #[test]
    fn what_is_set_up_once_may_follow_any_construction_that_suits() {
        // Not in rank order, and so fast only where the root need not unpack: gamma is 0.
        let problem = gather(&[0, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1], 10.0);
        let schedule = best_schedule(&problem, "a library", 100).unwrap().expect("a tree");
        let request = Request::new(&problem, Settings::DEFAULT, &());
        let optimal = request.build(Wanted::named(tuwtree_model::Construction::Optimal)).unwrap();
        let optimal = optimal.plan.into_tree().unwrap();
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
            let problem = gather(blocks, alpha);
            best_schedule(&problem, "MPICH Version: 4.0.2", 1 << 26).unwrap().is_some()
        };
        assert!(!chosen(&[1_000_000; 4], 1.0));
        assert!(chosen(&[1; 60], 1000.0));
    }

    #[test]
    fn a_gain_within_what_costs_are_known_is_the_librarys_own_call() {
        let sizes = BlockSizes::new([1; 60]).unwrap();
        let chosen = |uncertainty| {
            let machine = Machine {
                name: "m".into(),
                date: Date::parse("2026-11-26").unwrap(),
                provenance: "made up".into(),
                costs: costs(1000.0),
                network: Network { uncertainty, ..Network::default() },
                combine_per_byte: 0.0,
            };
            let problem = problem(false, &sizes, 0, machine).unwrap();
            best_schedule(&problem, "MPICH Version: 4.0.2", 1 << 26).unwrap().is_some()
        };
        assert!(chosen(None) && chosen(Some(1.5)));
        assert!(!chosen(Some(100.0)));
    }

    #[test]
    fn a_library_is_judged_by_what_it_does_and_an_unknown_one_is_not() {
        let problem = gather(&[1000; 4], 5.0);
        // One receive after the other.
        assert_eq!(judged_library(&problem, "Open MPI v4.1.4"), Some(3.0 * 1005.0));
        assert_eq!(judged_library(&problem, "another"), None);
    }
}
