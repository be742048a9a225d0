//! The linear tree: a star, as in every MPI library's `MPI_Gatherv`.

use crate::ConstructionError;
use crate::best_root::{best_possible_root, best_root};
use crate::error::check_rooted;
use crate::star_root::best_star_root;
use tuwtree_model::{
    BlockSizes, CostModel, Homogeneous, Payload, Problem, Rank, Root, Step, Time, TimeError, Tree,
};

/// The star: the root receives from all others in rank order and copies its own block at its place.
///
/// With overlapping latency, the root of a scatter sends in rank order, as libraries do: the steps are those of the
/// gather, from the last rank to the first.
///
/// With vectors the root joins its own vector with those of lower ranks, the nearest first, then
/// with those of higher ranks. So a reduction needs no commutative operator.
///
/// It knows neither sizes nor costs; but an open root is the one with which it completes first on one
/// port, of several the one of least rank.
///
/// # Errors
/// For an open root [`ConstructionError::Time`] if none has a time (a link to everybody), and
/// [`ConstructionError::TooManyRoots`] for more than 10,000 ranks with costs of each pair.
///
/// # Complexity
/// O(p); with an open root O(p log p) on a machine with levels, as a rule, and O(p^2) at costs of each pair.
///
/// # Source
/// OPT section 5.1, "Linear".
pub fn linear(problem: &Problem) -> Result<Tree, ConstructionError> {
    check_rooted(problem)?;
    let ranks = problem.ranks();
    let root = match problem.root() {
        Root::Given(root) => root,
        Root::Best | Root::None => best(problem)?,
    };
    Ok(match problem.payload() {
        Payload::Blocks(_) if is_backwards(problem) => star(ranks, root, (0..ranks).rev()),
        Payload::Blocks(_) => star(ranks, root, 0..ranks),
        Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => {
            star(ranks, root, outwards(ranks, root))
        }
    })
}

/// True if the steps go from the last rank to the first: a scatter performs them backwards, so that its root sends in
/// rank order.
fn is_backwards(problem: &Problem) -> bool {
    problem.operation().is_outward() && problem.costs().overlaps()
}

/// The most ranks whose stars are all timed for the best root where costs differ: O(p^2).
const MOST_STARS: usize = 10_000;

/// The root with which the star completes first.
fn best(problem: &Problem) -> Result<Rank, ConstructionError> {
    let ranks = problem.ranks();
    match (problem.costs().homogeneous(ranks), problem.payload()) {
        (Some(_), Payload::Blocks(_)) => Ok(best_root(&linear_times(problem)?)),
        // As many vectors of the same size go to every root.
        (Some(_), Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_)) => Ok(0),
        (None, _) => match problem.costs().hierarchy() {
            Some(machine) => {
                let first = |root| first_sender(problem, root);
                Ok(best_star_root(problem, machine, first, |root| star_time(problem, root))?)
            }
            None if ranks > MOST_STARS => {
                Err(ConstructionError::TooManyRoots { most: MOST_STARS, ranks })
            }
            None => Ok(best_possible_root(times(problem))?),
        },
    }
}

/// Sender of the first message at the root of a star, and true if the root has copied before; `None` if no other rank
/// has data.
fn first_sender(problem: &Problem, root: Rank) -> Option<(Rank, bool)> {
    let collective = problem.collective();
    let has_data = |&rank: &Rank| rank != root && collective.segment(rank, rank) > 0;
    let first = in_turn(problem, root).find(has_data)?;
    let is_after_copy = match problem.payload() {
        Payload::Blocks(_) => (first > root) != is_backwards(problem),
        Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => true,
    };
    Some((first, is_after_copy))
}

/// All ranks in the order in which the root of a star takes their blocks.
fn in_turn(problem: &Problem, root: Rank) -> Box<dyn Iterator<Item = Rank>> {
    let ranks = problem.ranks();
    match problem.payload() {
        Payload::Blocks(_) if is_backwards(problem) => Box::new((0..ranks).rev()),
        Payload::Blocks(_) => Box::new(0..ranks),
        Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => {
            Box::new(outwards(ranks, root))
        }
    }
}

/// All ranks, from the root downwards, then from the root upwards.
fn outwards(ranks: usize, root: Rank) -> impl Iterator<Item = Rank> {
    (0..=root).rev().chain(root + 1..ranks)
}

/// The star whose root takes all ranks' blocks, its own among them, in this order.
fn star(ranks: usize, root: Rank, order: impl Iterator<Item = Rank>) -> Tree {
    let steps: Vec<(Rank, Step)> = order
        .filter(|_| ranks > 1)
        .map(|rank| (root, if rank == root { Step::Copy } else { Step::Receive(rank) }))
        .collect();
    Tree::new(ranks, root, &steps).expect("every other rank sends once")
}

/// The completion time of the linear tree for every root, on one port; the problem's own root does
/// not matter.
///
/// # Errors
/// [`TimeError`] if one of them cannot be stated.
///
/// # Complexity
/// For blocks at homogeneous costs O(p) time and space for all `p` roots together, else O(p^2) time.
pub fn linear_times(problem: &Problem) -> Result<Vec<Time>, TimeError> {
    match (problem.blocks(), problem.costs().homogeneous(problem.ranks())) {
        (Some(sizes), Some(costs)) if is_backwards(problem) => {
            let mirrored: Vec<u64> = sizes.iter().collect();
            let mirrored = BlockSizes::new(mirrored.into_iter().rev());
            let mut times = all_times(&mirrored.expect("as many blocks in all"), &costs)?;
            times.reverse();
            Ok(times)
        }
        (Some(sizes), Some(costs)) => all_times(sizes, &costs),
        _ => times(problem).collect(),
    }
}

/// For each root its time, or why it has none, star by star.
fn times(problem: &Problem) -> impl Iterator<Item = Result<Time, TimeError>> + '_ {
    (0..problem.ranks()).map(|root| star_time(problem, root))
}

/// The time of the star with a root, or why it has none: in the order of the tree's steps, so that it is the
/// tree's time in floating point, too.
fn star_time(problem: &Problem, root: Rank) -> Result<Time, TimeError> {
    if problem.ranks() == 1 {
        return Ok(Time::ZERO);
    }
    let collective = problem.collective();
    in_turn(problem, root).try_fold(Time::ZERO, |clock, rank| {
        let bytes = collective.segment(rank, rank);
        let (start, span) = match rank == root {
            true => (clock, problem.copy(root)?),
            false => {
                let arrival = problem.arrival(rank, root, bytes, Time::ZERO)?;
                (clock.later(arrival), problem.edge(rank, root, bytes)?)
            }
        };
        problem.costs().sum(start, span)
    })
}

/// The times of all roots at homogeneous costs, in O(p): those before and after a root add up. All
/// messages come at the same time, so that a root waits for the first of them only.
fn all_times(sizes: &BlockSizes, costs: &Homogeneous) -> Result<Vec<Time>, TimeError> {
    let ranks = sizes.ranks();
    if ranks == 1 {
        return Ok(vec![Time::ZERO]);
    }
    let mut times = vec![Time::ZERO; ranks];
    let mut before = Time::ZERO;
    for (rank, bytes) in sizes.iter().enumerate() {
        times[rank] = costs.after_copy(before, bytes)?;
        let arrival = costs.latency_between(rank, rank, bytes)?;
        before = costs.plus(before.later(arrival), costs.transmission(bytes)?)?;
    }
    let mut after = Time::ZERO;
    for rank in (0..ranks).rev() {
        let arrival = costs.latency_between(rank, rank, sizes.total() - sizes.before(rank + 1))?;
        times[rank] = costs.plus(times[rank].later(arrival), after)?;
        after = costs.plus(after, costs.transmission(sizes.block(rank))?)?;
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tuwtree_laws::machines::{hierarchy, measured_hierarchy, overlapping_hierarchy};
    use tuwtree_laws::problems::{of_each_operation, sizes};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn on_levels_the_root_of_the_star_is_the_best_of_all(
            (sizes, machine) in sizes(40).prop_flat_map(|sizes| {
                let p = sizes.ranks();
                let machine =
                    prop_oneof![hierarchy(p), overlapping_hierarchy(p), measured_hierarchy(p)];
                (Just(sizes), machine)
            }),
            bytes in 0..50_u64,
        ) {
            for problem in of_each_operation(&sizes, bytes, &machine) {
                let root = best(&problem).unwrap();
                let plain = best_possible_root(times(&problem)).unwrap();
                prop_assert_eq!(root, plain);
            }
        }
    }
}
