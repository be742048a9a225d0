//! Optimal broadcast and reduction trees at costs that all pairs share: known without a table.
//!
//! The same vector of `m` bytes goes along each edge, for `c = comm(m)`, and nothing is copied. A tree
//! over `n` ranks, ordered or not, whatever its root, takes at least `c ceil(log2 n)`: from the
//! end of a broadcast's message to `c` later the number of ranks that have the vector at most
//! doubles, since each sends to one other at a time; a reduction is the same backwards.
//!
//! **An ordered tree attains this for every root.** By induction on `d = ceil(log2 n)`: a range of
//! more than one rank is split after its first `2^(d-1)`. Both parts have at most so many, hence
//! complete in `c (d-1)` with any root, by induction; the part that holds the wanted root receives
//! from the other, for `c` more. Read from the leaves, these are the joins of the rank-ordered
//! binomial tree, which is thus optimal. So a table as for OPT Theorem 4, O(p^3), is not needed.
//!
//! # Latency that overlaps
//! A message keeps its sender for `f`, and its receiver has the vector `lambda` later. Of `n` ranks
//! the first message begins the broadcast to some `y` of them, after which its sender goes on with the rest:
//!
//! ```text
//! T(1) = 0,   T(n) = f + min over y of max(T(n - y), lambda + T(y))
//! ```
//!
//! **Again an ordered tree attains this for every root.** Let `y` be the least that attains `T(n)`. Then
//! `y <= n/2`: `T` never falls, and whichever part is the larger, it has at least `n/2`, so that `T` of that
//! many is small enough already. One side of the root has at least `y` ranks, since both have `n - 1`
//! in all; the message goes to the `y` that are farthest out on that side. Both parts complete in their `T`
//! with any root, by induction.

use crate::blocks::{homogeneous, shares_one_law};
use crate::joins::{Join, Receiver, tree_of_joins};
use crate::{DpError, Optimum};
use tuwtree_model::{
    CostModel, Homogeneous, Problem, Rank, Time, TimeError, Vector, completion_time,
};

/// An optimal ordered tree for broadcast or reduction at homogeneous costs, given or best root:
/// rank-ordered binomial, and through one port no tree, ordered or not, completes earlier. Where latency
/// overlaps, at any costs that all pairs share: no longer binomial, and no tree completes earlier either.
///
/// All roots are equally good; the best is 0, and so is the first of each subtree that is free to
/// choose.
///
/// # Errors
/// [`DpError::NeedsVector`], [`DpError::NotHomogeneous`], [`DpError::Costs`]; [`DpError::TooLarge`] if
/// the time cannot be stated.
///
/// # Panics
/// If there are no ranks.
///
/// # Complexity
/// O(p) time and space; where latency overlaps O(p log p) time.
///
/// # Source
/// OPT Theorem 4, which says O(p^3). Latency that overlaps: Bar-Noy, Kipnis 1992 (postal model) and Karp et
/// al. 1993 (LogP), whose trees are not ordered.
///
/// # Example
/// Five ranks need three rounds.
/// ```
/// use tuwtree_dp::optimal_broadcast;
/// use tuwtree_model::{Homogeneous, Operation, Problem, Root, Vector};
/// let costs = Homogeneous::new(100.0, 1.0, 1.0).unwrap();
/// let vector = Vector { ranks: 5, bytes: 20 };
/// let problem = Problem::new(Operation::Broadcast, vector, costs).unwrap();
/// let best = optimal_broadcast(&problem.with_root(Root::Given(3)).unwrap()).unwrap();
/// assert_eq!((best.value, best.tree.root()), (360.0, 3));
/// ```
pub fn optimal_broadcast(problem: &Problem) -> Result<Optimum, DpError> {
    let operation = problem.operation();
    let vector = problem.vector().ok_or(DpError::NeedsVector { operation })?;
    let root = problem.root().given().unwrap_or(0);
    if problem.costs().overlaps() && shares_one_law(problem) {
        return postal(problem, vector, root);
    }
    let costs = homogeneous(problem)?;
    let time = time(vector, &costs).map_err(|_| DpError::TooLarge { total: vector.bytes })?;
    let tree = tree_of_joins(vector.ranks, |first, last| {
        let half = (last + 1 - first).next_power_of_two() / 2;
        let last_left = first + half - 1;
        let root_is_right = (last_left + 1..=last).contains(&root);
        Join { last_left, receiver: if root_is_right { Receiver::Right } else { Receiver::Left } }
    });
    Ok(Optimum { tree, value: time.units() })
}

/// Optimal broadcast with overlapping latency.
fn postal(problem: &Problem, vector: Vector, root: Rank) -> Result<Optimum, DpError> {
    let too_large = |_| DpError::TooLarge { total: vector.bytes };
    let costs = problem.costs();
    // Of a lone rank, nothing is asked.
    let other = usize::from(vector.ranks > 1);
    let rounds = Rounds::new(
        vector.ranks,
        costs.latency_between(0, other, vector.bytes).map_err(too_large)?.units(),
        costs.transmission_between(0, other, vector.bytes).map_err(too_large)?.units(),
    );
    let tree = tree_of_joins(vector.ranks, |first, last| {
        let reached = rounds.first_reached(last + 1 - first);
        let root = if (first..=last).contains(&root) { root } else { first };
        match last - root >= reached {
            true => Join { last_left: last - reached, receiver: Receiver::Left },
            false => Join { last_left: first + reached - 1, receiver: Receiver::Right },
        }
    });
    let value = completion_time(&tree, problem).map_err(too_large)?.units();
    Ok(Optimum { tree, value })
}

/// Duration of a broadcast to a number of ranks, with overlapping latency.
struct Rounds {
    latency: f64,
    /// Entry `n` is `T(n)`; never falls.
    times: Vec<f64>,
}

impl Rounds {
    fn new(ranks: usize, latency: f64, occupancy: f64) -> Rounds {
        let mut rounds = Rounds { latency, times: vec![0.0; 2] };
        for n in 2..=ranks {
            rounds.times.push(rounds.least(n) + occupancy);
        }
        rounds
    }

    /// The least of `max(T(n - y), lambda + T(y))`: where the one no longer exceeds the other, or before.
    fn least(&self, n: usize) -> f64 {
        let (rest, reached) =
            (|y: usize| self.times[n - y], |y: usize| self.latency + self.times[y]);
        let crossing = first_from_1(n, |y| reached(y) >= rest(y));
        let before = if crossing > 1 { rest(crossing - 1) } else { f64::INFINITY };
        reached(crossing).min(before)
    }

    /// The least `y` that attains `T(n)`, for `n > 1`.
    fn first_reached(&self, n: usize) -> usize {
        let least = self.least(n);
        first_from_1(n, |y| self.times[n - y] <= least)
    }
}

/// The first number from 1 to before `end` that holds, if all after it do and the last does.
fn first_from_1(end: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut failing, mut holding) = (0, end - 1);
    while holding - failing > 1 {
        let middle = failing.midpoint(holding);
        *if holds(middle) { &mut holding } else { &mut failing } = middle;
    }
    holding
}

/// `comm(m) ceil(log2 p)`.
fn time(Vector { ranks, bytes }: Vector, costs: &Homogeneous) -> Result<Time, TimeError> {
    let rounds = ranks.next_power_of_two().ilog2();
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
    fn every_root_of_every_few_ranks_attains_the_bound() {
        for ranks in 1..=40 {
            let vector = Vector { ranks, bytes: 3 };
            let broadcast = problem(Operation::Broadcast, vector, [7.0, 2.0, 1.0]);
            let bound = 13.0 * (ranks as f64).log2().ceil();
            for root in (0..ranks).map(Root::Given).chain([Root::Best]) {
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
    fn a_million_ranks_take_twenty_rounds() {
        let vector = Vector { ranks: 1_000_000, bytes: 1 };
        let reduce = problem(Operation::Reduce, vector, [1.0, 0.0, 0.0]);
        let reduce = reduce.with_root(Root::Given(777_777)).unwrap();
        let optimum = optimal_broadcast(&reduce).unwrap();
        assert_eq!(optimum.value, 20.0);
        assert_eq!(completion_time(&optimum.tree, &reduce).unwrap().units(), 20.0);
    }

    #[test]
    fn where_latency_overlaps_every_root_takes_what_the_recurrence_says() {
        for (latency, overhead) in [(1.0, 1.0), (5.0, 2.0), (13.0, 0.0), (1.0, 30.0), (2.5, 0.7)] {
            let mut least = vec![0.0; 2];
            for n in 2..=40_usize {
                let two = |y: usize| f64::max(least[n - y], latency + least[y]);
                let best = (1..n).map(two).fold(f64::INFINITY, f64::min);
                least.push(best + (overhead + 3.0));
            }
            let costs = Homogeneous::new(latency + overhead, 1.0, 1.0).unwrap();
            let costs = costs.with_overhead(overhead).unwrap();
            for (ranks, &least) in least.iter().enumerate().skip(1) {
                let vector = Vector { ranks, bytes: 3 };
                for operation in [Operation::Broadcast, Operation::Reduce] {
                    let problem = Problem::new(operation, vector, costs).unwrap();
                    for root in (0..ranks).map(Root::Given).chain([Root::Best]) {
                        let problem = problem.with_root(root).unwrap();
                        let Optimum { tree, value } = optimal_broadcast(&problem).unwrap();
                        assert!((value - least).abs() <= 1e-12 * least, "{value} {least}");
                        assert_eq!(completion_time(&tree, &problem).unwrap().units(), value);
                        assert!(joins_adjacent_ranges(&tree));
                        assert!(root == Root::Best || root == Root::Given(tree.root()));
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_takes_no_time() {
        let vector = Vector { ranks: 9, bytes: 0 };
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
        let vector = Vector { ranks: 3, bytes: 1 };
        let problem = Problem::new(Operation::Broadcast, vector, &differ).unwrap();
        assert_eq!(optimal_broadcast(&problem), Err(DpError::NotHomogeneous));
    }
}
