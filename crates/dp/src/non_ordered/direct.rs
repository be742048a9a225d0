//! Ordered trees, except that some large blocks go straight to the root.
//!
//! What a root far from the large blocks loses by order, it regains in most cases by one exception:
//! first it receives the largest blocks, directly; the rest comes along an ordered tree, in which
//! nobody holds anything but consecutive ranks without those blocks. Only the root sees that they are
//! missing, and has them already.
//!
//! The rest is the ordered problem with a root that is busy for a while: until it has copied its own
//! block and received the large ones. The best consecutive tree for it is found ([`wider`]), also where costs
//! are tables by size or copies are dear; where costs differ from pair to pair, the best copy-first tree.
//!
//! For numbers of ranks at which this takes long, the result is the best copy-first tree if latency overlaps; else the
//! best of the trees that join adjacent ranges, in which every rank may copy before the first message, even one that
//! receives from its left only, which the recurrence of adjacent trees makes copy afterwards (OPT eq. 6). To the
//! programs that is an ordinary problem, with two empty blocks after each: a rank that has an empty block on its right
//! may copy while it waits.

use super::NonOrderedError;
use super::arrangement::{Arrangement, Receivers, descending};
use super::orders::{Orders, optimal_at_any_costs};
use super::sorted::ORDER_CELLS;
use crate::blocks::{Blocks, shares_one_law};
use crate::optimum::{SETTLING_CELLS, finds_consecutive, ordered_tree};
use crate::wider::{self, Class, Overlapping};
use crate::{DpError, Progress, default_method, optimal, optimal_adjacent};
use tuwtree_model::{
    CostModel, Ports, Problem, Rank, Root, Scalar, ScaledSizes, Time, TimeError, Tree,
    completion_time,
};

/// The fastest tree in which at most `most` of the largest blocks go straight to the root before all
/// others, which come along an ordered tree, through one port, at any costs; of several the one with the
/// fewest. Of the large ones, those come first whose messages arrive first; those without a link to the root
/// are not among them.
///
/// With a given root never slower than the best adjacent tree, even with `most = 0`, since here
/// everybody may copy first. With [`Root::Best`] it is the better of those with the root of a largest
/// block and with the best root for `most = 0`; where costs differ from pair to pair, also of those with the
/// latter root.
///
/// # Errors
/// [`NonOrderedError`]; [`DpError::NoOrderedTree`] if none of these trees has the links.
///
/// # Complexity
/// Some [`ORDER_CELLS`] table cells, `most + 1` times; beyond them that of
/// [`optimal_adjacent`](crate::optimal_adjacent) for three times as many ranks. Where costs differ from pair to pair,
/// `most + 1` times that of [`levels::optimal`](crate::levels::optimal) or
/// [`optimal_per_pair`](crate::optimal_per_pair) for each root.
///
/// # Example
/// Root 2 copies for 1000, while 0 and 1 come together, and receives both: 100 + 6 more. In an ordered
/// tree it receives both first and copies then, or receives them one by one.
/// ```
/// use tuwtree_dp::{Method, non_ordered::direct, optimal_adjacent};
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, Root, completion_time};
/// let sizes = BlockSizes::new([1, 5, 1000]).unwrap();
/// let problem = Problem::gather(&sizes, Homogeneous::new(100.0, 1.0, 1.0).unwrap()).unwrap();
/// let problem = problem.with_root(Root::Given(2)).unwrap();
/// let tree = direct(&problem, 0, &()).unwrap();
/// assert_eq!(completion_time(&tree, &problem).unwrap().units(), 1106.0);
/// assert_eq!(optimal_adjacent(&problem, Method::Plain, &()).unwrap().value, 1206.0);
/// ```
pub fn direct(
    problem: &Problem,
    most: usize,
    progress: &dyn Progress,
) -> Result<Tree, NonOrderedError> {
    match Orders::of(problem)? {
        Orders::Shared(blocks) if blocks.costs.gamma() <= blocks.costs.beta() => {
            at_shared_costs(blocks, most, progress)
        }
        Orders::Shared(_) | Orders::Any(_) => {
            at_any_costs(&problem.with_ports(Ports::ONE), most, progress)
        }
    }
}

/// Linear costs that all pairs share, with gamma <= beta.
fn at_shared_costs(
    blocks: Blocks<'_>,
    most: usize,
    progress: &dyn Progress,
) -> Result<Tree, NonOrderedError> {
    let Blocks { sizes, costs, root } = blocks;
    let is_consecutive = finds_consecutive(blocks, ORDER_CELLS)?;
    let judged = blocks.gathered();
    let receiver = blocks.likely_root();
    let largest = descending(sizes, receiver);
    let mut best = match root {
        Root::Given(_) => None,
        Root::Best | Root::None if is_consecutive || costs.overlaps() => {
            let tree = optimal(&judged, ORDER_CELLS, progress)?.tree;
            Some((completion_time(&tree, &judged)?, tree))
        }
        Root::Best | Root::None => {
            let arrangement = with_fillers(&[], blocks)?;
            let method = default_method(&arrangement.problem);
            let optimum = optimal_adjacent(&arrangement.problem, method, progress)?;
            let tree = arrangement.receivers(&optimum.tree, sizes.ranks()).tree();
            Some((completion_time(&tree, &judged)?, tree))
        }
    };
    for senders in 0..=most.min(largest.len()) {
        let senders = &largest[..senders];
        let tree = match (is_consecutive, costs.overlaps()) {
            (true, _) => with_class(blocks, (receiver, senders), Class::Consecutive, progress)?,
            (false, true) => with_class(blocks, (receiver, senders), Class::CopyFirst, progress)?,
            (false, false) => with_direct(blocks, receiver, senders, progress)?,
        };
        let time: Time = completion_time(&tree, &judged)?;
        if best.as_ref().is_none_or(|best| time < best.0) {
            best = Some((time, tree));
        }
    }
    Ok(best.expect("no direct senders at all are tried").1)
}

/// The best tree at any costs, on one port.
fn at_any_costs(
    problem: &Problem,
    most: usize,
    progress: &dyn Progress,
) -> Result<Tree, NonOrderedError> {
    let orders = Orders::of(problem)?;
    let mut best = Fastest { problem, found: None, without_tree: None };
    let mut roots = vec![orders.likely_root()];
    if problem.root() == Root::Best {
        let found = optimal_at_any_costs(problem, None, ORDER_CELLS, progress);
        let tree = found.map(|found| found.tree).map_err(NonOrderedError::from);
        match &tree {
            Ok(tree) if !shares_one_law(problem) && !roots.contains(&tree.root()) => {
                roots.push(tree.root());
            }
            _ => {}
        }
        best.consider(tree)?;
    }
    for root in roots {
        let mut largest = descending(orders.sizes(), root);
        largest.retain(|&rank| direct_message(problem, rank, root).is_ok());
        for senders in 0..=most.min(largest.len()) {
            best.consider(with_rest(problem, (root, &largest[..senders]), progress))?;
        }
    }
    best.tree()
}

/// The fastest of some trees, of several the first.
struct Fastest<'a> {
    problem: &'a Problem,
    found: Option<(Time, Tree)>,
    /// Error without direct senders, where links are missing.
    without_tree: Option<DpError>,
}

impl Fastest<'_> {
    /// One more tree, if links are not missing for it.
    fn consider(&mut self, tree: Result<Tree, NonOrderedError>) -> Result<(), NonOrderedError> {
        match tree {
            Ok(tree) => {
                let time = completion_time(&tree, self.problem)?;
                if self.found.as_ref().is_none_or(|found| time < found.0) {
                    self.found = Some((time, tree));
                }
            }
            Err(NonOrderedError::Ordered(
                error @ (DpError::NoOrderedTree { .. } | DpError::NoTree(_)),
            )) => {
                self.without_tree.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn tree(self) -> Result<Tree, NonOrderedError> {
        let Fastest { found, without_tree, .. } = self;
        found.map(|found| found.1).ok_or_else(|| without_tree.expect("a tree is considered").into())
    }
}

/// lambda and occupancy of the message with a rank's own block to the root.
fn direct_message(problem: &Problem, sender: Rank, root: Rank) -> Result<(Time, Time), TimeError> {
    let bytes = problem.collective().copied(sender);
    let arrival = problem.arrival(sender, root, bytes, Time::ZERO)?;
    Ok((arrival, problem.edge(sender, root, bytes)?))
}

/// The best tree at any costs in which this root first receives from these ranks.
fn with_rest(
    problem: &Problem,
    (root, direct): (Rank, &[Rank]),
    progress: &dyn Progress,
) -> Result<Tree, NonOrderedError> {
    let mut messages = Vec::with_capacity(direct.len());
    for &sender in direct {
        messages.push((direct_message(problem, sender, root)?, sender));
    }
    // In the order in which they arrive the root is free first.
    messages.sort_by_key(|&((arrival, _), _)| arrival);
    let mut clock = problem.copy(root)?;
    for &((arrival, occupancy), _) in &messages {
        clock = problem.costs().sum(clock.later(arrival), occupancy)?;
    }
    let ranks = problem.ranks();
    let rest: Vec<Rank> = (0..ranks).filter(|rank| !direct.contains(rank)).collect();
    let mut receivers = Receivers::new(ranks);
    receivers.root = root;
    if rest.len() > 1 {
        let arrangement = Arrangement::of_ranks(&rest, problem, Root::Given(root));
        let busy = (!direct.is_empty()).then_some(clock.units());
        let found = optimal_at_any_costs(&arrangement.problem, busy, ORDER_CELLS, progress)?;
        receivers = arrangement.receivers(&found.tree, ranks);
    }
    receivers.children[root].splice(0..0, messages.into_iter().map(|(_, sender)| sender));
    Ok(receivers.tree())
}

/// The best tree in which this root first receives from these ranks, and then along a tree of a class.
fn with_class(
    blocks: Blocks<'_>,
    (root, direct): (Rank, &[Rank]),
    class: Class,
    progress: &dyn Progress,
) -> Result<Tree, DpError> {
    let blocks = Blocks { root: Root::Given(root), ..blocks };
    let costs = Overlapping::from(blocks.costs);
    let is_direct = flags(blocks, direct);
    let others = (0..is_direct.len()).filter(|&rank| !is_direct[rank]).map(Some).collect();
    let arrangement = Arrangement::new(others, blocks)?;
    let copy = blocks.costs.gamma() * blocks.sizes.block(root) as f64;
    let start = if direct.is_empty() { copy } else { copy.max(costs.latency()) };
    let (overhead, beta) = (costs.occupancy().alpha(), blocks.costs.beta());
    let message = |&sender: &Rank| overhead + beta * blocks.sizes.block(sender) as f64;
    let busy = start + direct.iter().map(message).sum::<f64>();
    let by_place = Blocks::overlapping_or_not(&arrangement.problem)?;
    let busy_root = (by_place.likely_root(), busy);
    let sizes = by_place.sizes;
    let found = match class {
        Class::Consecutive => {
            wider::optimal_with_busy_root(sizes, &costs, busy_root, SETTLING_CELLS, progress)?
        }
        Class::CopyFirst => {
            wider::optimal_copy_first_with_busy_root(sizes, &costs, busy_root, progress)?
        }
    };
    let mut receivers = arrangement.receivers(&found.tree, blocks.sizes.ranks());
    receivers.children[root].splice(0..0, direct.iter().copied());
    Ok(receivers.tree())
}

/// Flags of the direct senders.
fn flags(blocks: Blocks<'_>, direct: &[Rank]) -> Vec<bool> {
    let mut is_direct = vec![false; blocks.sizes.ranks()];
    direct.iter().for_each(|&rank| is_direct[rank] = true);
    is_direct
}

/// All ranks but the direct senders, each with two fillers on its right.
///
/// With a single filler after each, the programs would have to decide whose it is.
fn with_fillers(direct: &[Rank], blocks: Blocks<'_>) -> Result<Arrangement, DpError> {
    let is_direct = flags(blocks, direct);
    let places = (0..is_direct.len())
        .filter(|&rank| !is_direct[rank])
        .flat_map(|rank| [Some(rank), None, None])
        .collect();
    Arrangement::new(places, blocks)
}

/// The best tree in which this root first receives from these ranks.
fn with_direct(
    blocks: Blocks<'_>,
    root: Rank,
    direct: &[Rank],
    progress: &dyn Progress,
) -> Result<Tree, DpError> {
    let blocks = Blocks { root: Root::Given(root), ..blocks };
    let arrangement = with_fillers(direct, blocks)?;
    let tree = if blocks.costs.is_integral() {
        rest::<i64>(blocks, (root, direct), &arrangement, progress)
    } else {
        rest::<f64>(blocks, (root, direct), &arrangement, progress)
    }?;
    let mut receivers = arrangement.receivers(&tree, blocks.sizes.ranks());
    receivers.children[root].splice(0..0, direct.iter().copied());
    Ok(receivers.tree())
}

/// The best ordered tree over the places, with a root that is busy with the direct senders first.
fn rest<T: Scalar>(
    Blocks { sizes, costs, .. }: Blocks<'_>,
    (root, direct): (Rank, &[Rank]),
    arrangement: &Arrangement,
    progress: &dyn Progress,
) -> Result<Tree, DpError> {
    let too_large = DpError::TooLarge { total: sizes.total() };
    let all = ScaledSizes::<T>::new(&costs, sizes).ok_or(too_large.clone())?;
    let busy = direct.iter().fold(all.copy(root), |busy, &x| busy + all.transmission(x, x));
    let by_place = Blocks::of(&arrangement.problem)?;
    let scaled = ScaledSizes::<T>::new(&costs, by_place.sizes).ok_or(too_large)?;
    let scaled = scaled.with_busy_root(by_place.likely_root(), busy);
    let method = default_method(&arrangement.problem);
    Ok(ordered_tree(&scaled, by_place.root, method, progress)?.tree)
}
