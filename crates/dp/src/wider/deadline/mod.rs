//! Deadline splitting: consecutive trees from the top down, in nearly linear time.
//!
//! An optimal tree is rigid: a rank that receives a message late has had time to gather much. Guess
//! the time `T` at which the root is done, and go back from there. The message received last
//! occupies the root for `o + V`, and its sender was ready lambda before that: it can have gathered
//! the longest range that can be gathered by then. Take the longest that fits, at one end of the
//! rest, and go on with the clock put back by that message.
//!
//! ```text
//!   a                x                 b      clock T
//!   |----------------x=========|u....w=b|     [u..w] fits:   est(u,w) + lambda + o + V(u,w) <= clock
//!   |a....w|=========x=========|              clock back by  o + V(u,w), and so on at either end
//!          |---------x                        x at the edge: its own block is there from the start, and
//!          |--------|                         what is left may be received away from x
//! ```
//!
//! `T` is feasible if the clock never falls below `max(lambda, g_x)`. Bisection finds the least
//! feasible one; then the same is done for every child, with a time of its own. In a copy-first tree `x`
//! never lets go of its own block.
//!
//! # Estimate
//! `est(u,w) = max(lambda, g_y) - lambda + h(w-u+1) + f(S(u,w) - m_y) - o`, where `y` has a largest block, `h(n)` is
//! the time of `n` ranks without data, and `o` and lambda are those of a single byte and of a mean block where they
//! depend on size. The estimate decides what is tried, never a tree's stated time.
//!
//! # Quality
//! Nothing is proven of it. Compared with the exact optimum of consecutive trees it is within some
//! per cent (`docs/consecutive-trees.md`); on tiny adversarial problems it has been up to a fifth
//! above.
//!
//! It needs no table: a construction like those of `tuwtree-treegen`, placed here with its costs.

mod clock;
mod growth;
mod largest;
mod ticks;
mod walk;

pub use ticks::TickLaw;
pub use walk::{ChildRange, OwnPlace, deadline_place, deadline_tree_in_ticks};

use super::empty::WithoutEmpty;
use super::table::given_root;
use super::{BySize, Class, Overlapping};
use crate::DpError;
use clock::Clock;
use growth::growth;
use largest::Largest;
use std::cell::Cell;
use tuwtree_model::{BlockSizes, Rank, Root, Scalar, Step, Tree};

/// Amount of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effort {
    /// Subtrees are rooted where a largest block is; one policy; times to 1/100.
    Least,
    /// Subtrees are rooted where a largest block is; two policies; times to 1/1000.
    Light,
    /// Roots at both ends as well; four policies; times to 1/10,000.
    Full,
}

impl Effort {
    /// All efforts, the least first.
    pub const ALL: [Effort; 3] = [Effort::Least, Effort::Light, Effort::Full];

    fn policies(self) -> &'static [Policy] {
        const ALL: [Policy; 4] =
            [Policy::Longer, Policy::Heavier, Policy::FurtherEnd, Policy::Right];
        match self {
            Effort::Least => &ALL[..1],
            Effort::Light => &ALL[..2],
            Effort::Full => &ALL,
        }
    }

    /// Relative difference of times that counts.
    fn precision(self) -> f64 {
        match self {
            Effort::Least => 1e-2,
            Effort::Light => 1e-3,
            Effort::Full => 1e-4,
        }
    }

    /// One by the precision.
    fn parts(self) -> u64 {
        match self {
            Effort::Least => 100,
            Effort::Light => 1000,
            Effort::Full => 10_000,
        }
    }
}

/// Halvings after which a bisection ends: a dozen are enough, except for times next to 0.
const MOST_HALVINGS: usize = 64;

/// From which end a child is taken if it could be either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    /// The one with more ranks.
    Longer,
    /// The one with more data.
    Heavier,
    /// That of the end which is further from the root.
    FurtherEnd,
    /// The right one.
    Right,
}

/// A tree of a class and of nearly least completion time, given or chosen root, for linear costs.
///
/// # Errors
/// [`DpError::RootOutOfRange`]; [`DpError::TooLarge`] if times might not be finite.
///
/// # Complexity
/// O(p) space. With `k` children at each of `d` levels, about `k log p` steps a level and rank
/// with children; a twentieth of a second for 10^5 ranks with little effort.
///
/// # Example
/// ```
/// use tuwtree_dp::wider::{Class, Effort, Overlapping, deadline_tree};
/// use tuwtree_model::{BlockSizes, Root};
/// let sizes = BlockSizes::new([9, 1, 1, 1, 1]).unwrap();
/// let costs = Overlapping::new(0.0, 2.0, 1.0, 0.0).unwrap();
/// let tree = deadline_tree(&sizes, &costs, Class::Consecutive, Root::Given(4), Effort::Full).unwrap();
/// assert_eq!(costs.completion_time(&tree, &sizes).unwrap().units(), 16.0);
/// ```
pub fn deadline_tree(
    sizes: &BlockSizes,
    costs: &Overlapping,
    class: Class,
    root: Root,
    effort: Effort,
) -> Result<Tree, DpError> {
    let (latency, occupancy) = (costs.latency(), costs.occupancy());
    let law = BySize {
        sizes,
        port: |bytes: u64| occupancy.alpha() + occupancy.beta() * bytes as f64,
        latency: |_| latency,
        copy: |bytes: u64| occupancy.gamma() * bytes as f64,
    };
    deadline_tree_by_size(&law, class, root, effort)
}

/// Deadline splitting for costs that depend on the size of a message in any way.
///
/// # Errors, complexity
/// As [`deadline_tree`].
pub fn deadline_tree_by_size<P, L, C>(
    law: &BySize<'_, P, L, C>,
    class: Class,
    root: Root,
    effort: Effort,
) -> Result<Tree, DpError>
where
    P: Fn(u64) -> f64,
    L: Fn(u64) -> f64,
    C: Fn(u64) -> f64,
{
    let BySize { sizes, port, latency, copy } = law;
    given_root(sizes.ranks(), root)?;
    let kept = WithoutEmpty::new(sizes, root);
    let total = sizes.total();
    // No tree worth trying lets a block travel more often.
    let most = 64.0 * (port(total) + latency(total) + latency(1) + copy(total));
    if most.is_nan() || most >= <f64 as Scalar>::LIMIT {
        return Err(DpError::TooLarge { total });
    }
    let times = |bytes| (latency(bytes), port(bytes));
    let tree = Splitter::new(&kept.sizes, times, copy, (class, effort)).tree(kept.root);
    Ok(kept.restored(&tree))
}

struct Splitter<'a, T, M> {
    effort: Effort,
    class: Class,
    sizes: &'a BlockSizes,
    /// lambda of a message, and for how long it occupies a port.
    times: M,
    /// Of a mean block.
    latency: T,
    /// Occupation of a port by a message, beside its bytes.
    overhead: T,
    /// `p` entries: the time of each copy.
    copy: Vec<T>,
    largest: Largest,
    /// `h`, up to `p`.
    growth: Vec<T>,
    /// Number of queries for a fitting range.
    probes: Cell<u64>,
}

/// Split of a range at its root.
#[derive(Clone, Copy)]
struct Choice<T> {
    root: Rank,
    policy: Policy,
    time: T,
}

impl<'a, T: Clock, M: Fn(u64) -> (T, T)> Splitter<'a, T, M> {
    fn new(
        sizes: &'a BlockSizes,
        times: M,
        copy: impl Fn(u64) -> T,
        (class, effort): (Class, Effort),
    ) -> Splitter<'a, T, M> {
        let ranks = sizes.ranks();
        let (latency, _) = times((sizes.total() / ranks as u64).max(1));
        // What is left of the time of a byte without the byte; no message has none.
        let overhead = T::at_zero(times(1).1, times(2).1);
        Splitter {
            effort,
            class,
            sizes,
            times,
            latency,
            overhead,
            copy: sizes.iter().map(copy).collect(),
            largest: Largest::new(sizes.iter().map(|bytes| bytes as f64).collect()),
            growth: growth(ranks, latency, overhead),
            probes: Cell::new(0),
        }
    }

    fn tree(&self, root: Root) -> Tree {
        let ranks = self.copy.len();
        let (whole, first) = self.whole(root);
        let (mut steps, mut children) = (Vec::with_capacity(2 * ranks), Vec::new());
        let mut pending = vec![(whole, first)];
        while let Some((range, choice)) = pending.pop() {
            if range.0 == range.1 {
                continue;
            }
            children.clear();
            let feasible = self.split(range, choice, |child| children.push(child));
            debug_assert!(feasible, "the time chosen is");
            steps.push((choice.root, Step::Copy));
            for &child in children.iter().rev() {
                let chosen = self.choose_root(child);
                steps.push((choice.root, Step::Receive(chosen.root)));
                pending.push((child, chosen));
            }
        }
        Tree::new(ranks, first.root, &steps).expect("splits are a tree")
    }

    /// All ranks, and the best way to split them.
    fn whole(&self, root: Root) -> ((Rank, Rank), Choice<T>) {
        let whole = (0, self.copy.len() - 1);
        let first = match root {
            Root::Given(root) => self.choose(whole, &[root]),
            Root::Best | Root::None => self.choose_root(whole),
        };
        (whole, first)
    }

    /// The best way to split a range, with a root of choice.
    fn choose_root(&self, (a, b): (Rank, Rank)) -> Choice<T> {
        let largest = self.largest.of(a, b);
        match self.effort {
            Effort::Least | Effort::Light => self.choose((a, b), &[largest]),
            Effort::Full => self.choose((a, b), &[largest, a, b]),
        }
    }

    /// The best way to split a range with one of these roots; the first of several.
    fn choose(&self, range: (Rank, Rank), roots: &[Rank]) -> Choice<T> {
        let mut best = Choice { root: roots[0], policy: Policy::Longer, time: T::NEVER };
        if range.0 == range.1 {
            return best;
        }
        for &root in roots {
            for &policy in self.effort.policies() {
                if let Some(time) = self.least(range, (root, policy), best.time) {
                    best = Choice { root, policy, time };
                }
            }
        }
        best
    }

    /// The least feasible time, up to the precision, if it is less than `most` by as much at least.
    fn least(&self, range: (Rank, Rank), (root, policy): (Rank, Policy), most: T) -> Option<T> {
        let feasible = |time| self.split(range, Choice { root, policy, time }, |_| ());
        // All data but the root's comes after its copy and after the first message's latency.
        let others = self.sizes.range(range.0, range.1) - self.sizes.block(root);
        let mut little =
            self.port(others).larger(self.overhead).plus(self.latency.larger(self.copy[root]));
        let mut enough = most.noticeably_less(self.effort);
        if enough < little {
            return None;
        } else if feasible(little) {
            return Some(little);
        } else if enough == T::NEVER {
            // Some positive step even where all costs are 0 and volumes are rounded.
            let mut step =
                self.overhead.plus(self.latency).larger(little.share(self.effort)).larger(T::LEAST);
            enough = little.plus(step);
            while !feasible(enough) {
                step = step.plus(step);
                enough = little.plus(step);
            }
        } else if !feasible(enough) {
            return None;
        }
        for _ in 0..MOST_HALVINGS {
            if little.is_as_good_as(enough, self.effort) {
                break;
            }
            let middle = little.middle(enough);
            *if feasible(middle) { &mut enough } else { &mut little } = middle;
        }
        Some(enough)
    }

    /// Splits a range so that its root is done at the chosen time, if possible. Its children, so
    /// long as they fit, are taken from the last received to the first.
    fn split(
        &self,
        (first, last): (Rank, Rank),
        Choice { root, policy, time }: Choice<T>,
        mut take: impl FnMut((Rank, Rank)),
    ) -> bool {
        let start = self.latency.larger(self.copy[root]);
        let (mut first, mut end, mut own, mut clock) = (first, last + 1, true, time);
        loop {
            let is_at_end = end - first > 1 && (first == root || end - 1 == root);
            if own && is_at_end && self.class == Class::Consecutive {
                own = false;
                *if first == root { &mut first } else { &mut end } =
                    if first == root { root + 1 } else { root };
            }
            if end - first == usize::from(own) {
                return clock >= start;
            }
            // As many as fit, from either end.
            let (most_left, most_right) = match own {
                true => (root - first, end - 1 - root),
                false => (end - first, end - first),
            };
            let left = longest(most_left, |n| self.fits((first, first + n - 1), clock));
            let right = longest(most_right, |n| self.fits((end - n, end - 1), clock));
            let from_left = match (left, right) {
                (0, 0) => return false,
                (_, 0) => true,
                (0, _) => false,
                _ => match policy {
                    Policy::Longer => left >= right,
                    Policy::Heavier => {
                        let of_left = self.sizes.range(first, first + left - 1);
                        of_left >= self.sizes.range(end - right, end - 1)
                    }
                    Policy::FurtherEnd => most_left >= most_right,
                    Policy::Right => false,
                },
            };
            let child = match from_left {
                true => (first, first + left - 1),
                false => (end - right, end - 1),
            };
            match clock.minus(self.port(self.sizes.range(child.0, child.1))) {
                Some(left) if left >= start => clock = left,
                _ => return false,
            }
            take(child);
            match from_left {
                true => first += left,
                false => end -= right,
            }
        }
    }

    /// True if a range can probably be gathered and received by the time `clock`.
    fn fits(&self, (first, last): (Rank, Rank), clock: T) -> bool {
        self.probes.set(self.probes.get() + 1);
        let bytes = self.sizes.range(first, last);
        let (latency, port) = (self.times)(bytes);
        self.estimate(first, last).plus(latency).plus(port) <= clock
    }

    /// Time for which a message occupies a port.
    fn port(&self, bytes: u64) -> T {
        (self.times)(bytes).1
    }

    /// Estimated time of a range.
    fn estimate(&self, first: Rank, last: Rank) -> T {
        if first == last {
            return T::ZERO;
        }
        let largest = self.largest.of(first, last);
        let idle = self.copy[largest].beyond(self.latency);
        let others = self.sizes.range(first, last) - self.sizes.block(largest);
        idle.plus(self.growth[last - first + 1]).plus(self.port(others).beyond(self.overhead))
    }
}

/// Greatest `n` of `0..=most` for which a monotone condition holds. O(log n) queries.
fn longest(most: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut good, mut step) = (0, 1);
    while good + step <= most && holds(good + step) {
        good += step;
        step *= 2;
    }
    let mut bad = (good + step).min(most + 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        *if holds(middle) { &mut good } else { &mut bad } = middle;
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_that_holds_is_found() {
        for most in 0..40 {
            for last in 0..=40 {
                assert_eq!(longest(most, |n| n <= last), last.min(most));
            }
        }
    }

    #[test]
    fn equal_blocks_without_latency_give_a_tree_as_high_as_a_binomial_one() {
        let sizes = BlockSizes::new([1; 64]).unwrap();
        let costs = Overlapping::new(0.0, 1000.0, 1.0, 1.0).unwrap();
        let tree = deadline_tree(&sizes, &costs, Class::Consecutive, Root::Given(0), Effort::Light)
            .unwrap();
        let time = costs.completion_time(&tree, &sizes).unwrap().units();
        assert!((6064.0..6080.0).contains(&time), "{time}");
    }

    #[test]
    fn whatever_the_costs_there_is_a_tree() {
        let sizes = BlockSizes::new([3, 0, 1, 4, 1, 5, 9, 2, 6]).unwrap();
        let choices = [0.0, 1e-300, 0.1, 1e250];
        for case in 0..256 {
            let cost = |place: u32| choices[case / 4_usize.pow(place) % 4];
            let costs = Overlapping::new(cost(0), cost(1), cost(2), cost(3)).unwrap();
            for (root, effort) in [(Root::Best, Effort::Full), (Root::Given(1), Effort::Light)] {
                for class in Class::ALL {
                    let tree = deadline_tree(&sizes, &costs, class, root, effort).unwrap();
                    assert_eq!(class.check(&tree), Ok(()), "{costs:?}");
                }
            }
        }
    }

    #[test]
    fn costs_of_nothing_and_blocks_of_nothing_do() {
        let free = Overlapping::new(0.0, 0.0, 0.0, 0.0).unwrap();
        for blocks in [vec![3, 1, 4, 1, 5], vec![0, 0, 0], vec![7]] {
            let sizes = BlockSizes::new(blocks).unwrap();
            for effort in Effort::ALL {
                let tree =
                    deadline_tree(&sizes, &free, Class::CopyFirst, Root::Best, effort).unwrap();
                assert_eq!(free.completion_time(&tree, &sizes).unwrap().units(), 0.0);
            }
        }
        let sizes = BlockSizes::new([1, 2]).unwrap();
        let error = deadline_tree(&sizes, &free, Class::CopyFirst, Root::Given(2), Effort::Light);
        assert_eq!(error, Err(DpError::RootOutOfRange { root: 2, ranks: 2 }));
        let huge = Overlapping::new(0.0, 0.0, 1e300, 0.0).unwrap();
        let error = deadline_tree(&sizes, &huge, Class::CopyFirst, Root::Best, Effort::Light);
        assert_eq!(error, Err(DpError::TooLarge { total: 3 }));
    }
}
