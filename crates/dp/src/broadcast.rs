//! Optimal broadcast and reduction trees, homogeneous costs: known in closed form.
//!
//! The same vector of `m` bytes goes along each edge, for `c = comm(m)`, and nothing is copied. A tree
//! over `n` processors, ordered or not, whatever its root, takes at least `c ceil(log2 n)`: from the
//! end of a broadcast's message to `c` later the number of processors that have the vector at most
//! doubles, since each sends to one other at a time; a reduction is the same backwards.
//!
//! **An ordered tree attains this for every root.** By induction on `d = ceil(log2 n)`: a range of
//! more than one processor is split after its first `2^(d-1)`. Both parts have at most so many, hence
//! complete in `c (d-1)` with any root, by induction; the part that holds the wanted root receives
//! from the other, for `c` more. Read from the leaves, these are the joins of the rank-ordered
//! binomial tree, which is thus optimal. So a table as for OPT Theorem 4, O(p^3), is not needed.

use crate::blocks::homogeneous;
use crate::joins::{Join, Receiver, tree_of_joins};
use crate::{DpError, Optimum};
use tuwtree_model::{Homogeneous, Problem, Time, TimeError, Vector};

/// An optimal ordered tree for broadcast or reduction at homogeneous costs, given or best root:
/// rank-ordered binomial, and through one port no tree, ordered or not, completes earlier.
///
/// All roots are equally good; the best is 0, and so is the first of each subtree that is free to
/// choose.
///
/// # Errors
/// [`DpError::NeedsVector`], [`DpError::NotHomogeneous`], [`DpError::Costs`]; [`DpError::TooLarge`] if
/// the time cannot be stated.
///
/// # Panics
/// If there are no processors.
///
/// # Complexity
/// O(p) time and space.
///
/// # Source
/// OPT Theorem 4, which says O(p^3).
///
/// # Example
/// Five processors need three rounds.
/// ```
/// use tuwtree_dp::optimal_broadcast;
/// use tuwtree_model::{Homogeneous, Operation, Problem, Root, Vector};
/// let costs = Homogeneous::new(100.0, 1.0, 1.0).unwrap();
/// let vector = Vector { processors: 5, bytes: 20 };
/// let problem = Problem::new(Operation::Broadcast, vector, costs).unwrap();
/// let best = optimal_broadcast(&problem.with_root(Root::Given(3)).unwrap()).unwrap();
/// assert_eq!((best.value, best.tree.root()), (360.0, 3));
/// ```
pub fn optimal_broadcast(problem: &Problem) -> Result<Optimum, DpError> {
    let operation = problem.operation();
    let vector = problem.vector().ok_or(DpError::NeedsVector { operation })?;
    let costs = homogeneous(problem)?;
    let root = problem.root().given().unwrap_or(0);
    let time = time(vector, &costs).map_err(|_| DpError::TooLarge { total: vector.bytes })?;
    let tree = tree_of_joins(vector.processors, |first, last| {
        let half = (last + 1 - first).next_power_of_two() / 2;
        let last_left = first + half - 1;
        let root_is_right = (last_left + 1..=last).contains(&root);
        Join { last_left, receiver: if root_is_right { Receiver::Right } else { Receiver::Left } }
    });
    Ok(Optimum { tree, value: time.units() })
}

/// `comm(m) ceil(log2 p)`.
fn time(Vector { processors, bytes }: Vector, costs: &Homogeneous) -> Result<Time, TimeError> {
    let rounds = processors.next_power_of_two().ilog2();
    let message = costs.transmission(bytes)?;
    (0..rounds).try_fold(Time::ZERO, |time, _| costs.plus(time, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{
        BlockSizes, CostMatrix, Operation, Root, completion_time, joins_adjacent_ranges,
    };

    fn problem(operation: Operation, vector: Vector, costs: [f64; 3]) -> Problem {
        let [alpha, beta, gamma] = costs;
        Problem::new(operation, vector, Homogeneous::new(alpha, beta, gamma).unwrap()).unwrap()
    }

    #[test]
    fn every_root_of_every_few_processors_attains_the_bound() {
        for processors in 1..=40 {
            let vector = Vector { processors, bytes: 3 };
            let broadcast = problem(Operation::Broadcast, vector, [7.0, 2.0, 1.0]);
            let bound = 13.0 * (processors as f64).log2().ceil();
            for root in (0..processors).map(Root::Given).chain([Root::Best]) {
                let broadcast = broadcast.with_root(root).unwrap();
                let Optimum { tree, value } = optimal_broadcast(&broadcast).unwrap();
                let time = completion_time(&tree, &broadcast).unwrap();
                assert_eq!((value, time.units()), (bound, bound));
                assert!(joins_adjacent_ranges(&tree));
                assert!(root == Root::Best || root == Root::Given(tree.root()));
            }
        }
    }

    #[test]
    fn a_million_processors_take_twenty_rounds() {
        let vector = Vector { processors: 1_000_000, bytes: 1 };
        let reduce = problem(Operation::Reduce, vector, [1.0, 0.0, 0.0]);
        let reduce = reduce.with_root(Root::Given(777_777)).unwrap();
        let optimum = optimal_broadcast(&reduce).unwrap();
        assert_eq!(optimum.value, 20.0);
        assert_eq!(completion_time(&optimum.tree, &reduce).unwrap().units(), 20.0);
    }

    #[test]
    fn nothing_takes_no_time() {
        let vector = Vector { processors: 9, bytes: 0 };
        let broadcast = problem(Operation::Broadcast, vector, [1.0, 1.0, 1.0]);
        assert_eq!(optimal_broadcast(&broadcast).unwrap().value, 0.0);
    }

    #[test]
    fn blocks_and_costs_that_differ_are_refused() {
        let sizes = BlockSizes::new([2, 1, 4]).unwrap();
        let equal = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
        let error = optimal_broadcast(&Problem::gather(&sizes, equal).unwrap()).unwrap_err();
        assert_eq!(error, DpError::NeedsVector { operation: Operation::Gather });
        let alpha = |sender: usize, receiver: usize| (sender + 2 * receiver) as f64;
        let differ = CostMatrix::from_fn(3, alpha, |_, _| 1.0, |_| 1.0).unwrap();
        let vector = Vector { processors: 3, bytes: 1 };
        let problem = Problem::new(Operation::Broadcast, vector, &differ).unwrap();
        assert_eq!(optimal_broadcast(&problem), Err(DpError::NotHomogeneous));
    }
}
