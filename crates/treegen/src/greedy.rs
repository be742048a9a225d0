//! The greedy tree: whatever is ready next, as much of it as possible.

use crate::best_root::fastest;
use crate::error::blocks;
use crate::groups::{Sorted, levels};
use crate::{ConstructionError, doubling};
use tuwtree_model::{
    BlockSizes, Homogeneous, Ports, Problem, Rank, ScaledSizes, Time, TimeError, Tree,
};

/// The fastest of some trees in which the root copies and receives the other blocks in falling order,
/// in groups, each along a binomial tree.
///
/// - Greedy: each group is the longest that is ready when its turn comes, going by an upper bound on
///   the time of its binomial tree, or a single block; at the point where that is fastest, all the
///   rest is one group, for which the root waits.
/// - Doubling, with the largest block alone first ([`doubling`](crate::doubling())) and without: of
///   these the former is never slower than its bound.
///
/// That is at linear costs that all pairs share. At any others, binomial trees are timed by the costs as
/// they are, on one port: a group grows block by block as long as its message is there when its turn comes.
/// An open root is then the best of all up to 256 ranks, beyond that one with a largest block.
///
/// # Errors
/// [`ConstructionError::NeedsBlocks`]; [`ConstructionError::Time`] if none of the trees has a time: links are
/// missing, say.
///
/// # Complexity
/// O(p log p) time, O(p) space. At other costs O(p^2) time for each root that is tried.
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
    let sizes = blocks(problem)?;
    let Some(costs) = problem.costs().homogeneous(problem.ranks()) else {
        return at_any_costs(problem, sizes);
    };
    let sorted = Sorted::new(sizes, problem.root());
    let blocks = sorted.others.len();
    let mut best = doubling::groups(blocks, Some(1));
    if let Some(times) = GroupTimes::new(sizes, &costs, &sorted) {
        let greedy = ready_groups(blocks, times.scaled.copy(0), &times);
        for plan in [doubling::groups(blocks, None), greedy] {
            if times.completion(&plan) < times.completion(&best) {
                best = plan;
            }
        }
    }
    Ok(sorted.tree(&best))
}

/// The fastest of the same trees on one port, whatever the costs.
fn at_any_costs(problem: &Problem, sizes: &BlockSizes) -> Result<Tree, ConstructionError> {
    let problem = &problem.with_ports(Ports::ONE);
    let mut trees = Vec::new();
    for sorted in Sorted::with_each_root(sizes, problem.root()) {
        let blocks = sorted.others.len();
        let times = LinkTimes::new(problem, sizes, &sorted);
        let greedy = ready_groups(blocks, problem.copy(sorted.root)?.units(), &times);
        let plans = [doubling::groups(blocks, Some(1)), doubling::groups(blocks, None), greedy];
        trees.extend(plans.iter().map(|plan| Ok(sorted.tree(plan))));
    }
    fastest(problem, trees.into_iter())
}

/// Times of groups of blocks in falling order, to compare plans: in floating point, exact for integer times up to 2^53.
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

    /// Time at which that tree's first rank, which copies its block, has all of `from..to`.
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
}

impl Groups for GroupTimes {
    fn at_once(&self, clock: f64, from: usize) -> f64 {
        let to = self.scaled.ranks() - 1;
        clock.max(self.comes_by(from, to)) + self.sent(from, to)
    }

    fn longest_ready(&self, clock: f64, from: usize) -> usize {
        let last = self.scaled.ranks() - 1;
        last_where(from + 1, last, |to| self.comes_by(from, to) <= clock)
    }

    fn received(&self, clock: f64, (from, to): (usize, usize)) -> f64 {
        clock.max(self.latency) + self.sent(from, to)
    }
}

/// Times of messages of groups of blocks in falling order, to choose groups.
trait Groups {
    /// The root's clock if it receives all blocks from `from` on in one message.
    fn at_once(&self, clock: f64, from: usize) -> f64;

    /// The end of the longest group from `from` on that is ready for a root that is free at `clock`; of a
    /// single block, if none is.
    fn longest_ready(&self, clock: f64, from: usize) -> usize;

    /// The root's clock after that group.
    fn received(&self, clock: f64, group: (usize, usize)) -> f64;
}

/// The groups of the greedy plan for a root that is free at `clock`.
fn ready_groups(blocks: usize, mut clock: f64, times: &impl Groups) -> Vec<usize> {
    let mut from = 0;
    let mut groups = Vec::new();
    // The least time with all the rest at once, and after how many groups.
    let mut best = (f64::INFINITY, 0);
    while from < blocks {
        let at_once = times.at_once(clock, from);
        if at_once < best.0 {
            best = (at_once, groups.len());
        }
        let to = times.longest_ready(clock, from);
        clock = times.received(clock, (from, to));
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

/// Times of groups of blocks in falling order at any costs: in floating point, infinite where links are missing.
struct LinkTimes<'a> {
    problem: &'a Problem,
    sorted: &'a Sorted,
    /// The bytes of all blocks before each of the others, and of all.
    before: Vec<u64>,
}

impl<'a> LinkTimes<'a> {
    /// O(p).
    fn new(problem: &'a Problem, sizes: &BlockSizes, sorted: &'a Sorted) -> LinkTimes<'a> {
        let mut before = vec![0];
        before.extend(sorted.others.iter().scan(0, |total, &rank| {
            *total += sizes.block(rank);
            Some(*total)
        }));
        LinkTimes { problem, sorted, before }
    }

    /// The clock of a receiver after the message with blocks `from..to`, whose binomial tree is complete at
    /// `ready`.
    fn after(&self, clock: f64, receiver: Rank, (ready, from, to): (f64, usize, usize)) -> f64 {
        let (arrives, occupies) = self.message(receiver, (from, to));
        clock.max(ready + arrives) + occupies
    }

    /// lambda and occupancy of that message.
    fn message(&self, receiver: Rank, (from, to): (usize, usize)) -> (f64, f64) {
        let units = |time: Result<Time, TimeError>| time.map_or(f64::INFINITY, Time::units);
        let (sender, bytes) = (self.sorted.others[from], self.before[to] - self.before[from]);
        let latency = self.problem.arrival(sender, receiver, bytes, Time::ZERO);
        (units(latency), units(self.problem.edge(sender, receiver, bytes)))
    }

    /// Time at which the first rank of `from..to` has all of them; it does not copy if it is alone.
    ///
    /// # Complexity
    /// O(to - from).
    fn complete(&self, from: usize, to: usize) -> f64 {
        if to - from == 1 { 0.0 } else { self.gathered(from, to) }
    }

    /// Time at which the first rank of `from..to` has all of them, including its copy.
    fn gathered(&self, from: usize, to: usize) -> f64 {
        let head = self.sorted.others[from];
        if to - from == 1 {
            return self.problem.copy(head).map_or(f64::INFINITY, Time::units);
        }
        let middle = from + (to - from).div_ceil(2);
        let sent = (self.complete(middle, to), middle, to);
        self.after(self.gathered(from, middle), head, sent)
    }
}

impl Groups for LinkTimes<'_> {
    fn at_once(&self, clock: f64, from: usize) -> f64 {
        self.received(clock, (from, self.sorted.others.len()))
    }

    fn longest_ready(&self, clock: f64, from: usize) -> usize {
        let root = self.sorted.root;
        let is_ready = |&to: &usize| {
            let (arrives, occupies) = self.message(root, (from, to));
            self.complete(from, to) + arrives <= clock && occupies.is_finite()
        };
        (from + 1..=self.sorted.others.len()).take_while(is_ready).last().unwrap_or(from + 1)
    }

    fn received(&self, clock: f64, (from, to): (usize, usize)) -> f64 {
        self.after(clock, self.sorted.root, (self.complete(from, to), from, to))
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
