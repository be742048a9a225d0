//! Which construction is chosen for a problem, and the tree that it builds: the only place of the
//! executor that asks for trees.

use crate::settings::Algorithm;
use crate::tree::MESSAGE_BYTES;
use std::rc::Rc;
use tuwtree_dp::{Method, PairMethod, default_method, optimal, optimal_per_pair};
use tuwtree_measure::Construction;
use tuwtree_model::{
    BlockSizes, Collective, CostModel, Costs, Homogeneous, Operation, Rank, Root, Time, TimeError,
    Tree, completion_time,
};
use tuwtree_schedule::{Payload, Schedule};
use tuwtree_treegen::{AdaptiveRule, adaptive, linear, linear_outwards, oblivious};

/// The algorithms among which a choice is made, the first of equals taken.
const CANDIDATES: [Algorithm; 4] = [
    Algorithm::Linear,
    Algorithm::AdaptiveGatherTime,
    Algorithm::AdaptiveDataSize,
    Algorithm::AdaptiveCompletionTime,
];

/// The tree of this construction, as it is measured.
///
/// # Errors
/// Why there is none.
pub(crate) fn measured_tree(
    construction: Construction,
    operation: Operation,
    sizes: &BlockSizes,
    root: Rank,
    costs: &Homogeneous,
) -> Result<Tree, String> {
    let processors = sizes.processors();
    let built = match construction {
        Construction::Linear if operation.is_outward() => {
            linear_outwards(processors, root).map_err(|error| error.to_string())
        }
        Construction::Linear => linear(processors, root).map_err(|error| error.to_string()),
        Construction::Oblivious => oblivious(processors, root).map_err(|error| error.to_string()),
        Construction::Adaptive => {
            adaptive(sizes, costs, Root::Given(root), AdaptiveRule::GatherTime)
                .map_err(|error| error.to_string())
        }
        Construction::Optimal => {
            let method = default_method(sizes, costs);
            optimal(sizes, costs, Root::Given(root), method)
                .map(|optimum| optimum.tree)
                .map_err(|error| error.to_string())
        }
    };
    built.map_err(|reason| format!("{}: {reason}", construction_name(construction)))
}

fn construction_name(construction: Construction) -> &'static str {
    match construction {
        Construction::Linear => "linear",
        Construction::Oblivious => "oblivious",
        Construction::Adaptive => "adaptive",
        Construction::Optimal => "optimal",
    }
}

/// The schedule of least completion time for an operation that is set up once: along an optimal
/// ordered tree, where the costs and the number of processors admit to search for one, or else
/// along the best of the trees among which calls choose.
///
/// # Errors
/// No tree has a completion time.
pub(crate) fn best_schedule(
    sizes: &BlockSizes,
    operation: Operation,
    root: Rank,
    costs: &Costs,
) -> Result<Rc<Schedule>, String> {
    let problem = problem(operation, sizes);
    let searched = optimal_tree(sizes, operation, root, costs);
    let built = CANDIDATES.into_iter().filter_map(|one| tree(one, problem, root, costs));
    let timed = searched
        .into_iter()
        .chain(built)
        .filter_map(|tree| Some((completion_time(&tree, problem, costs).ok()?, tree)));
    let best = timed.min_by_key(|&(time, _)| time).map(|(_, tree)| tree);
    let tree = best.ok_or("no tree has a time by the machine's costs")?;
    let payload = Payload::Blocks(sizes.clone());
    Schedule::of_tree(&tree, operation, payload, None)
        .map(Rc::new)
        .map_err(|error| error.to_string())
}

/// The most processors for which a tree is searched by a program of cubic time, and of quartic.
const MOST: (usize, usize) = (300, 24);

/// The optimal ordered tree with this root, if it is found in a time that a program may wait.
fn optimal_tree(
    sizes: &BlockSizes,
    operation: Operation,
    root: Rank,
    costs: &Costs,
) -> Option<Tree> {
    let processors = sizes.processors();
    let root = Root::Given(root);
    if let Some(homogeneous) = costs.homogeneous(processors) {
        let method = default_method(sizes, &homogeneous);
        let is_fast = method != Method::Plain || processors <= MOST.0;
        let found = is_fast.then(|| optimal(sizes, &homogeneous, root, method));
        return found?.ok().map(|optimum| optimum.tree);
    }
    if processors > MOST.1 {
        return None;
    }
    let problem = problem(operation, sizes);
    // Costs that are not linear are so between the pieces; the best of all trees is judged by themselves.
    let matrix = costs.linearised_at(sizes.total() / processors as u64).matrix(processors).ok()?;
    let found = optimal_per_pair(problem, &matrix, root, PairMethod::Hinges, &());
    found.ok().map(|optimum| optimum.tree)
}

fn problem(operation: Operation, sizes: &BlockSizes) -> Collective<'_> {
    match operation.is_outward() {
        true => Collective::Scatter(sizes),
        false => Collective::Gather(sizes),
    }
}

/// The tree of an algorithm; `None` if it has none.
fn tree(algorithm: Algorithm, problem: Collective<'_>, root: Rank, costs: &Costs) -> Option<Tree> {
    let rule = match algorithm {
        Algorithm::AdaptiveGatherTime => AdaptiveRule::GatherTime,
        Algorithm::AdaptiveDataSize => AdaptiveRule::DataSize,
        Algorithm::AdaptiveCompletionTime => AdaptiveRule::CompletionTime,
        _ => return linear(problem.processors(), root).ok(),
    };
    adaptive(problem, costs, Root::Given(root), rule).ok()
}

/// The algorithm with the least completion time, the time to build the tree included.
pub(crate) fn best_algorithm(
    sizes: &BlockSizes,
    operation: Operation,
    root: Rank,
    costs: &Costs,
) -> Algorithm {
    let time = |algorithm| time(algorithm, sizes, operation, root, costs);
    // What has no time is never best; if nothing has, there may be links for the star only.
    CANDIDATES
        .into_iter()
        .filter_map(|algorithm| Some((time(algorithm)?, algorithm)))
        .min_by_key(|&(time, _)| time)
        .map_or(Algorithm::Linear, |(_, algorithm)| algorithm)
}

fn time(
    algorithm: Algorithm,
    sizes: &BlockSizes,
    operation: Operation,
    root: Rank,
    costs: &Costs,
) -> Option<Time> {
    let problem = problem(operation, sizes);
    let moved = completion_time(&tree(algorithm, problem, root, costs)?, problem, costs).ok()?;
    match algorithm {
        Algorithm::Linear => Some(moved),
        _ => costs.sum(construction_time(sizes.processors(), costs).ok()?, moved).ok(),
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

    fn costs(alpha: f64) -> Costs {
        Costs::Homogeneous(Homogeneous::new(alpha, 1.0, 0.0).unwrap())
    }

    #[test]
    fn few_large_blocks_go_straight_and_many_small_ones_along_a_tree() {
        let choose = |blocks: &[u64], alpha| {
            let sizes = BlockSizes::new(blocks.iter().copied()).unwrap();
            best_algorithm(&sizes, Operation::Gather, 0, &costs(alpha))
        };
        assert_eq!(choose(&[1_000_000; 4], 1.0), Algorithm::Linear);
        assert_ne!(choose(&[1; 500], 1000.0), Algorithm::Linear);
        assert_eq!(choose(&[5], 1.0), Algorithm::Linear);
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
