//! The recurrence rank by rank, without types: the yardstick.

use super::Class;
use tuwtree_model::{CostModel, Problem, Rank};

/// `C(i,j,r)` for all ranges and roots, whatever the costs.
pub(super) struct Times {
    ranks: usize,
    values: Vec<f64>,
}

impl Times {
    /// All times. O(p^5) time, O(p^3) space.
    pub(super) fn new(problem: &Problem, class: Class) -> Times {
        let ranks = problem.ranks();
        let mut times = Times { ranks, values: vec![0.0; ranks.pow(3)] };
        for length in 1..ranks {
            for i in 0..ranks - length {
                for root in i..=i + length {
                    let index = times.index(i, i + length, root);
                    times.values[index] = times.least(problem, class, (i, i + length, root));
                }
            }
        }
        times
    }

    pub(super) fn get(&self, i: Rank, j: Rank, root: Rank) -> f64 {
        self.values[self.index(i, j, root)]
    }

    fn index(&self, i: Rank, j: Rank, root: Rank) -> usize {
        (i * self.ranks + j) * self.ranks + root
    }

    fn least(&self, problem: &Problem, class: Class, (i, j, root): (Rank, Rank, Rank)) -> f64 {
        let mut least = f64::INFINITY;
        let copy = problem.copy(root).unwrap().units();
        for k in root..j {
            let clock = if k == i { copy } else { self.get(i, k, root) };
            for sender in k + 1..=j {
                let (arrival, occupancy) = self.message(problem, sender, root, (k + 1, j));
                least = least.min(clock.max(arrival) + occupancy);
            }
        }
        for k in i..root {
            let alone = k + 1 == j;
            for sender in i..=k {
                let (arrival, occupancy) = self.message(problem, sender, root, (i, k));
                least = least.min(match class {
                    Class::Adjacent if alone => arrival + occupancy + copy,
                    Class::CopyFirst if alone => copy.max(arrival) + occupancy,
                    _ => self.get(k + 1, j, root).max(arrival) + occupancy,
                });
            }
        }
        least
    }

    /// From when, and for how long, a range's message occupies its receiver's port.
    fn message(
        &self,
        problem: &Problem,
        sender: Rank,
        receiver: Rank,
        (first, last): (Rank, Rank),
    ) -> (f64, f64) {
        let bytes = problem.collective().segment(first, last);
        let (from, to) = problem.collective().ends(sender, receiver);
        let costs = problem.costs();
        let latency = costs.latency_between(from, to, bytes).unwrap().units();
        let occupancy = costs.transmission_between(from, to, bytes).unwrap().units();
        (self.get(first, last, sender) + latency, occupancy)
    }
}
