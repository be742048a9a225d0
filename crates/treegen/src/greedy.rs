//! The greedy tree: whatever is ready next, as much of it as possible.

use crate::error::{blocks, homogeneous};
use crate::groups::{Sorted, levels};
use crate::{ConstructionError, doubling};
use tuwtree_model::{BlockSizes, Homogeneous, Problem, ScaledSizes, Tree};

/// The fastest of some trees in which the root copies and receives the other blocks in falling order,
/// in groups, each along a binomial tree.
///
/// - Greedy: each group is the longest that is ready when its turn comes, going by an upper bound on
///   the time of its binomial tree, or a single block; at the point where that is fastest, all the
///   rest is one group, for which the root waits.
/// - Doubling, with the largest block alone first ([`doubling`](crate::doubling())) and without: of
///   these the former is never slower than its bound.
///
/// # Errors
/// [`ConstructionError::NeedsBlocks`], [`ConstructionError::NotHomogeneous`].
///
/// # Complexity
/// O(p log p) time, O(p) space.
///
/// # Example
/// Root 0 copies for 40. Meanwhile all others have come together, and arrive in one message.
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, Root, completion_time};
/// use tuwtree_treegen::greedy;
/// let sizes = BlockSizes::new([40, 1, 2, 3, 4]).unwrap();
/// let problem = Problem::gather(&sizes, Homogeneous::new(10.0, 1.0, 1.0).unwrap()).unwrap();
/// let tree = greedy(&problem.with_root(Root::Given(0)).unwrap()).unwrap();
/// assert_eq!(completion_time(&tree, &problem).unwrap().units(), 60.0);
/// ```
pub fn greedy(problem: &Problem) -> Result<Tree, ConstructionError> {
    let (sizes, costs) = (blocks(problem)?, homogeneous(problem)?);
    let sorted = Sorted::new(sizes, problem.root());
    let blocks = sorted.others.len();
    let mut best = doubling::groups(blocks, Some(1));
    if let Some(times) = GroupTimes::new(sizes, &costs, &sorted) {
        for plan in [doubling::groups(blocks, None), times.ready_groups()] {
            if times.completion(&plan) < times.completion(&best) {
                best = plan;
            }
        }
    }
    Ok(sorted.tree(&best))
}

/// What groups of blocks in falling order take, to compare plans: in floating point, exact for integer
/// times up to 2^53.
struct GroupTimes {
    /// Place 0 is the root's; block `i` of the others is at place `i + 1`.
    scaled: ScaledSizes<f64>,
    /// lambda: how much later than its sender is ready a message comes.
    latency: f64,
}

impl GroupTimes {
    /// The times of a problem; `None` if they are too large.
    fn new(sizes: &BlockSizes, costs: &Homogeneous, sorted: &Sorted) -> Option<GroupTimes> {
        let ranks = [sorted.root].into_iter().chain(sorted.others.iter().copied());
        let placed = BlockSizes::new(ranks.map(|rank| sizes.block(rank))).ok()?;
        Some(GroupTimes { scaled: ScaledSizes::new(costs, &placed)?, latency: costs.latency() })
    }

    /// How many blocks the root is to receive.
    fn blocks(&self) -> usize {
        self.scaled.processors() - 1
    }

    /// An upper bound on when the message with the binomial tree over blocks `from..to` comes, which
    /// does not fall with `to`.
    fn comes_by(&self, from: usize, to: usize) -> f64 {
        match to - from {
            1 => self.latency,
            count => {
                let received = self.scaled.volume(from + 2, to);
                f64::from(levels(count)) * (self.scaled.latency() + self.latency)
                    + self.scaled.copy(from + 1)
                    + received
                    + self.latency
            }
        }
    }

    /// When that tree's first processor, which copies its block, has all of `from..to`.
    fn gathered(&self, from: usize, to: usize) -> f64 {
        match to - from {
            1 => self.scaled.copy(from + 1),
            count => {
                let middle = from + count.div_ceil(2);
                let sender = if to - middle == 1 { 0.0 } else { self.gathered(middle, to) };
                self.gathered(from, middle).max(sender + self.latency) + self.sent(middle, to)
            }
        }
    }

    /// The time of the message with blocks `from..to`.
    fn sent(&self, from: usize, to: usize) -> f64 {
        self.scaled.transmission(from + 1, to)
    }

    /// The completion time of the tree that receives these groups.
    fn completion(&self, groups: &[usize]) -> f64 {
        let (mut clock, mut from) = (self.scaled.copy(0), 0);
        for &size in groups {
            let to = from + size;
            let ready = if size == 1 { 0.0 } else { self.gathered(from, to) };
            clock = clock.max(ready + self.latency) + self.sent(from, to);
            from = to;
        }
        clock
    }

    /// The groups of the greedy plan.
    fn ready_groups(&self) -> Vec<usize> {
        let blocks = self.blocks();
        let (mut clock, mut from) = (self.scaled.copy(0), 0);
        let mut groups = Vec::new();
        // The least time with all the rest at once, and after how many groups.
        let mut best = (f64::INFINITY, 0);
        while from < blocks {
            let at_once = clock.max(self.comes_by(from, blocks)) + self.sent(from, blocks);
            if at_once < best.0 {
                best = (at_once, groups.len());
            }
            let to = last_where(from + 1, blocks, |to| self.comes_by(from, to) <= clock);
            clock = clock.max(self.latency) + self.sent(from, to);
            groups.push(to - from);
            from = to;
        }
        groups.truncate(best.1);
        let taken: usize = groups.iter().sum();
        if taken < blocks {
            groups.push(blocks - taken);
        }
        groups
    }
}

/// The last of `first..=last` for which a condition holds that fails for all after one for which it
/// fails; `first` if it holds for none.
fn last_where(first: usize, last: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut good, mut end) = (first, last + 1);
    while end - good > 1 {
        let middle = good + (end - good) / 2;
        match holds(middle) {
            true => good = middle,
            false => end = middle,
        }
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_that_holds_is_found_or_else_the_first_of_all() {
        assert_eq!(last_where(3, 9, |n| n < 7), 6);
        assert_eq!(last_where(3, 9, |_| true), 9);
        assert_eq!(last_where(3, 9, |_| false), 3);
    }
}
