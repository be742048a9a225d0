//! Lower bounds on the completion time of every tree, ordered or not, and of every schedule of an
//! operation without a root.
//!
//! A tree's time is what its root must receive and copy in any case, plus an alpha for each message
//! that the root receives, plus the time that the root waits. Few messages mean large subtrees, which
//! are ready late; many messages cost many alphas. The bounds here weigh the two against each other
//! for every number of messages at once:
//!
//! - [`volume_bound`]: a subtree that is ready in time holds hardly more data than its root could
//!   have received by then, so that each message at most doubles the root's clock.
//! - [`count_bound`]: neither does it hold more blocks than can have come together by then.
//! - Nor more data than its root can have received one message after the other, each from a subtree of
//!   which the same holds. With the counts, this is what a homogeneous gather with one port has.
//! - Where ranks have several ports, four bounds of which the largest counts (`docs/ports.md`).
//! - On machines with levels, the same level by level, since what is on other nodes has to cross to the root's
//!   (`docs/bounds-on-levels.md`); there, [`lower_bound_below`] also bounds the judge's times.
//!
//! [`best_lower_bound`] is the best of them that is known for a problem, whatever its costs.
//!
//! The two are proven in `docs/beyond-ordered-trees.md`, for every alpha, beta and gamma, and where part of
//! alpha overlaps with other work in `docs/bounds-with-latency.md`. They are at
//! least as large as the simple bound, [`lower_bound`], up to rounding where costs
//! are not integers.
//!
//! # The best root
//! Where nobody prescribes the root and gamma <= beta, a rank with a largest block is as good a
//! root as any: let it change places with the root of any tree, and no time grows. So the bound for
//! that root is the bound for all.
//!
//! # Numbers
//! Computed in integers. Integer costs are exact, and so is the bound: an integer, since every
//! completion time is one. Other costs are scaled by a power of two and rounded **down**, which
//! lowers the optimum; the bound is then lowered by the relative error that
//! [`completion_time`](tuwtree_model::completion_time) can accumulate, so that no tree's time falls below it
//! by rounding either.
//!
//! # What this does not do
//! It builds no trees: whether a bound is attained, only a tree tells.
//!
//! # Source
//! OPT section 2.3 has the simple bound.

mod cheaper;
mod circulated;
mod counts;
mod gathered;
mod judged;
mod levels;
mod load;
mod ports;
mod reach;
mod rootless;
mod simple;
mod spread;

use counts::Counts;
use load::RootLoad;
pub use rootless::{direct_lower_bound, lower_bound_in_pieces};
pub use simple::lower_bound;
use tuwtree_model::{
    BlockSizes, Homogeneous, Ports, Problem, Rank, Root, Time, TimeError, largest_block,
};

/// A lower bound on the completion time of every tree with the problem's root, or with any: volumes
/// double. Where costs are not homogeneous, ranks have several ports, or vectors are moved, it is
/// [`lower_bound`].
///
/// # Errors
/// [`TimeError`] where the bound, and hence every completion time, cannot be stated.
///
/// # Complexity
/// O(p log p) time, O(p) space.
///
/// # Example
/// Root 0 and seven blocks of 1, alpha = 10, beta = gamma = 1: receiving takes 7, and a single message
/// 10 more. But whatever holds six of the blocks is not ready before 10 + 6. So the root may receive
/// one block (11) and wait for 5, which costs two alphas and 5, or pay a third alpha.
/// ```
/// use tuwtree_bounds::{lower_bound, volume_bound};
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, Root};
/// let sizes = BlockSizes::new([0, 1, 1, 1, 1, 1, 1, 1]).unwrap();
/// let problem = Problem::gather(&sizes, Homogeneous::new(10.0, 1.0, 1.0).unwrap()).unwrap();
/// let problem = problem.with_root(Root::Given(0)).unwrap();
/// assert_eq!(lower_bound(&problem).unwrap().units(), 17.0);
/// assert_eq!(volume_bound(&problem).unwrap().units(), 32.0);
/// ```
pub fn volume_bound(problem: &Problem) -> Result<Time, TimeError> {
    one_ported(problem, Subtrees::Volume)
}

/// A lower bound on the completion time of every tree with the problem's root, or with any: volumes
/// double, and blocks are counted. At least [`volume_bound`], and known where that is.
///
/// # Errors
/// As [`volume_bound`].
///
/// # Complexity
/// O(p^2) time with a small constant, O(p) space.
///
/// # Example
/// ```
/// use tuwtree_bounds::count_bound;
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, Root};
/// let sizes = BlockSizes::new([0, 1, 1, 1, 1, 1, 1, 1]).unwrap();
/// let problem = Problem::gather(&sizes, Homogeneous::new(10.0, 1.0, 1.0).unwrap()).unwrap();
/// let problem = problem.with_root(Root::Given(0)).unwrap();
/// // Attained: one block (11), two that are together at 12 (24), four that are at 24 (38).
/// assert_eq!(count_bound(&problem).unwrap().units(), 38.0);
/// ```
pub fn count_bound(problem: &Problem) -> Result<Time, TimeError> {
    one_ported(problem, Subtrees::Counts)
}

/// Up to how many blocks that are not empty [`best_lower_bound`] counts them by size.
const COUNTED: usize = 20_000;

/// The best lower bound here that is affordable on the completion time of every tree with the
/// problem's root, or with any, ordered or not.
///
/// For gather and scatter at homogeneous costs at least [`count_bound`], beyond 20,000 nonempty blocks with all of them
/// counted alike; besides, the data of subtrees is followed from sender to receiver. With several ports the bounds of
/// `docs/ports.md`. Otherwise [`lower_bound`]; with overlapping latency and one port, the bound for the cheapest
/// homogeneous costs, if that is larger; and on machines with levels and one port, the bound by the data that each
/// level lets through.
///
/// # Errors
/// As [`volume_bound`] and [`lower_bound`].
///
/// # Complexity
/// O(p log p) time and O(p) space, and a fraction of a second for counting; or that of
/// [`lower_bound`], and where latencies overlap O(p^2) for a matrix.
///
/// # Source
/// `docs/beyond-ordered-trees.md`; with latencies that overlap `docs/bounds-with-latency.md`; on machines with
/// levels `docs/bounds-on-levels.md`.
///
/// # Example
/// Two ports, eight blocks of 1, alpha = 10, no copies. By 11 two messages come in at once, and three
/// blocks are together anywhere; so eight are at the root when two such messages of 13 have followed.
/// ```
/// use tuwtree_bounds::best_lower_bound;
/// use tuwtree_model::{BlockSizes, Homogeneous, Ports, Problem, Root};
/// let sizes = BlockSizes::new([0, 1, 1, 1, 1, 1, 1, 1, 1]).unwrap();
/// let problem = Problem::gather(&sizes, Homogeneous::new(10.0, 1.0, 0.0).unwrap()).unwrap();
/// let problem = problem.with_root(Root::Given(0)).unwrap().with_ports(Ports::new(2).unwrap());
/// assert_eq!(best_lower_bound(&problem).unwrap().units(), 24.0);
/// ```
pub fn best_lower_bound(problem: &Problem) -> Result<Time, TimeError> {
    match homogeneous_blocks(problem) {
        Some(_) if problem.ranks() == 1 => Ok(Time::ZERO),
        Some((sizes, costs)) if problem.ports() != Ports::ONE => {
            let bound = ports::bound_on_ports(sizes, &costs, problem.root(), problem.ports())?;
            if costs.overlaps() { Ok(bound.max(lower_bound(problem)?)) } else { Ok(bound) }
        }
        Some((sizes, costs)) => bound(sizes, &costs, problem.root(), Subtrees::Gathered),
        None => {
            let simple = lower_bound(problem)?;
            let bound = cheaper::bound(problem).map_or(simple, |bound| simple.max(bound));
            Ok(levels::bound(problem, bound.units()).map_or(bound, |levels| bound.max(levels)))
        }
    }
}

/// A lower bound on the time of every tree by the judge, with the problem's root or with any; at most `most`, the judged
/// time of some tree. Where the judge is the planner it is [`best_lower_bound`].
///
/// # Errors
/// As [`best_lower_bound`].
///
/// # Complexity
/// O(p log p), and some million steps; on machines with levels that of [`best_lower_bound`] besides.
///
/// # Source
/// `docs/planner-and-judge.md`.
///
/// # Example
/// Root 0 receives seven messages, each of which keeps it for 1, after a latency of 5.
/// ```
/// use tuwtree_bounds::lower_bound_below;
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, Root, Time};
/// let costs = Homogeneous::new(6.0, 0.0, 0.0).unwrap().with_overhead(1.0).unwrap();
/// let sizes = BlockSizes::new([1; 8]).unwrap();
/// let problem = Problem::gather(&sizes, costs).unwrap().with_root(Root::Given(0)).unwrap();
/// let star = Time::new(12.0).unwrap();
/// let bound = lower_bound_below(&problem, star).unwrap().units();
/// assert!((11.9..=12.0).contains(&bound), "{bound}");
/// ```
pub fn lower_bound_below(problem: &Problem, most: Time) -> Result<Time, TimeError> {
    let is_judged = problem.costs().overlaps() && problem.operation().is_rooted();
    if !is_judged || problem.ports() != Ports::ONE || problem.ranks() == 1 {
        return best_lower_bound(problem);
    }
    let on_levels = levels::judged_bound(problem).map_or(0.0, Time::units);
    let bound = judged::bound(problem, most.units()).max(on_levels).min(most.units());
    Time::new(bound).ok_or(TimeError::NotFinite)
}

/// The blocks and costs of a gather or scatter at homogeneous costs.
fn homogeneous_blocks(problem: &Problem) -> Option<(&BlockSizes, Homogeneous)> {
    if !problem.operation().is_rooted() {
        return None;
    }
    let costs = problem.costs().homogeneous(problem.ranks())?;
    Some((problem.blocks()?, costs))
}

/// The bound with or without counts, where it is known, or else the simple one.
fn one_ported(problem: &Problem, subtrees: Subtrees) -> Result<Time, TimeError> {
    match homogeneous_blocks(problem) {
        Some((sizes, costs)) if problem.ports() == Ports::ONE => {
            bound(sizes, &costs, problem.root(), subtrees)
        }
        _ => lower_bound(problem),
    }
}

/// Knowledge of subtrees by which a root's messages are bounded.
#[derive(Clone, Copy)]
enum Subtrees {
    /// That each has hardly more data than its root can have received.
    Volume,
    /// And how many blocks can be together.
    Counts,
    /// And how much data, received by whom from whom; the blocks counted as affordable.
    Gathered,
}

/// The bound by this knowledge of subtrees.
fn bound(
    sizes: &BlockSizes,
    costs: &Homogeneous,
    root: Root,
    subtrees: Subtrees,
) -> Result<Time, TimeError> {
    if sizes.ranks() == 1 {
        return Ok(Time::ZERO);
    }
    let (beta, gamma) = (costs.beta(), costs.gamma());
    let time = |root, copy_rate| at_root(root, copy_rate, sizes, costs, subtrees);
    match root.given() {
        Some(root) => time(root, gamma),
        None if gamma <= beta => time(largest_block(sizes), gamma),
        // The exchange of roots needs copies that take no longer than messages.
        None => Ok(time(largest_block(sizes), beta)?.max(simple_any_root(sizes, costs)?)),
    }
}

/// The bound for a root that copies its block at `copy_rate`.
fn at_root(
    root: Rank,
    copy_rate: f64,
    sizes: &BlockSizes,
    costs: &Homogeneous,
    subtrees: Subtrees,
) -> Result<Time, TimeError> {
    let load = RootLoad::new(root, copy_rate, sizes, costs);
    let beyond = match subtrees {
        Subtrees::Volume => reach::least_beyond(&load, None)?,
        Subtrees::Counts => reach::least_beyond(&load, Some(&Counts::new(&load)))?,
        Subtrees::Gathered if load.blocks() <= COUNTED => {
            reach::least_beyond_gathered(&load, &Counts::new(&load))?
        }
        Subtrees::Gathered => {
            reach::least_beyond_gathered(&load, &Counts::of_shortest_messages(&load))?
        }
    };
    load.time(beyond)
}

/// The simple bound for any root and gamma > beta: the best copy is the smallest block's, or the only block with data
/// is not sent.
fn simple_any_root(sizes: &BlockSizes, costs: &Homogeneous) -> Result<Time, TimeError> {
    let smallest = sizes.iter().enumerate().min_by_key(|&(_, bytes)| bytes);
    let (smallest, _) = smallest.expect("a problem has at least one rank");
    let simple = |root| {
        let load = RootLoad::new(root, costs.gamma(), sizes, costs);
        load.check()?;
        load.time(if load.blocks() > 0 { load.overhead } else { 0 })
    };
    match (simple(smallest), simple(largest_block(sizes))) {
        (Ok(one), Ok(other)) => Ok(one.min(other)),
        (Ok(time), Err(_)) | (Err(_), Ok(time)) => Ok(time),
        (Err(error), Err(_)) => Err(error),
    }
}

#[cfg(test)]
mod tests;
