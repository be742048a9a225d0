//! Trees that are ordered once the ranks have been put into another order.
//!
//! The best consecutive tree is found for each order ([`optimal`](crate::optimal)), as long as that
//! takes little work; for more ranks, the best adjacent tree, or if latency overlaps the best copy-first tree. If costs
//! differ from pair to pair, ranks take their links along, and the best copy-first tree is found.

use super::NonOrderedError;
use super::orders::Orders;
use crate::{DpError, Progress};
use std::cmp::Reverse;
use tuwtree_model::{BlockSizes, Problem, Rank, Root, Time, Tree, completion_time};

/// An order of the ranks for which [`sorted`] finds an optimal ordered tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum BlockOrder {
    /// The root, then the largest block, down to the smallest. Alone it is within a few per mille of
    /// the optimum as a rule.
    Descending,
    /// The root, then the smallest block, up to the largest.
    Ascending,
    /// The largest blocks next to the root, in turn on its right and on its left.
    BothSides,
    /// The larger half on the left of the root, the smaller half on its right, the largest of either
    /// half next to the root.
    Halves,
    /// All from the largest to the smallest, the root in its place.
    RootAmong,
    /// Rank order: the optimal ordered tree.
    Ranks,
}

impl BlockOrder {
    /// True if the order does not depend on the root.
    fn holds_any_root(self) -> bool {
        match self {
            BlockOrder::RootAmong | BlockOrder::Ranks => true,
            BlockOrder::Descending
            | BlockOrder::Ascending
            | BlockOrder::BothSides
            | BlockOrder::Halves => false,
        }
    }

    /// The ranks in this order, given those beside the root by falling blocks; `Ranks` has all.
    fn places(self, sizes: &BlockSizes, root: Rank, others: Vec<Rank>) -> Vec<Rank> {
        let around = |left: Vec<Rank>, right: Vec<Rank>| {
            left.into_iter().rev().chain([root]).chain(right).collect()
        };
        let turn = |parity: usize| others.iter().copied().skip(parity).step_by(2).collect();
        match self {
            BlockOrder::Descending => around(vec![], others),
            BlockOrder::Ascending => around(vec![], others.into_iter().rev().collect()),
            BlockOrder::BothSides => around(turn(1), turn(0)),
            BlockOrder::Halves => {
                let (large, small) = others.split_at(others.len() / 2);
                around(large.to_vec(), small.to_vec())
            }
            BlockOrder::RootAmong => {
                let mut all = around(vec![], others);
                all.sort_by_key(|&rank| (Reverse(sizes.block(rank)), rank));
                all
            }
            BlockOrder::Ranks => (0..sizes.ranks()).collect(),
        }
    }
}

/// The fastest tree that is optimal among the ordered ones for one of these orders of the ranks,
/// through one port, at any costs; of several, that of the first such order.
///
/// With [`BlockOrder::Ranks`] among them, it is never slower than the best adjacent tree. With [`Root::Best`] every
/// root is tried, unless all pairs share linear costs: the root then has a largest block, except for `Ranks` and
/// `RootAmong`.
///
/// # Errors
/// [`NonOrderedError`], but not for too much work; [`DpError::NoOrderedTree`] if none of the orders has
/// the links. Without orders, as for [`BlockOrder::Descending`].
///
/// # Complexity
/// For each order some [`ORDER_CELLS`] table cells, or beyond them that of [`optimal_adjacent`](crate::optimal_adjacent).
/// Where costs differ from pair to pair, that of [`optimal_per_pair`](crate::optimal_per_pair).
///
/// # Example
/// ```
/// use tuwtree_dp::non_ordered::{BlockOrder, sorted};
/// use tuwtree_model::{BlockSizes, ClosedSet, Homogeneous, Problem, Root, completion_time};
/// let sizes = BlockSizes::new([9, 1, 1, 0]).unwrap();
/// let problem = Problem::gather(&sizes, Homogeneous::new(1.0, 1.0, 1.0).unwrap()).unwrap();
/// let problem = problem.with_root(Root::Given(3)).unwrap();
/// let tree = sorted(&problem, BlockOrder::ALL, &()).unwrap();
/// assert_eq!(completion_time(&tree, &problem).unwrap().units(), 13.0);
/// ```
pub fn sorted(
    problem: &Problem,
    orders: &[BlockOrder],
    progress: &dyn Progress,
) -> Result<Tree, NonOrderedError> {
    let all = Orders::of(problem)?;
    let (judged, receiver, others) = (all.judged(), all.likely_root(), all.others());
    let orders = if orders.is_empty() { &[BlockOrder::Descending] } else { orders };
    let mut best: Option<(Time, Tree)> = None;
    let mut without_tree = None;
    for &order in orders {
        let root = match &all {
            Orders::Shared(_) if !order.holds_any_root() => Root::Given(receiver),
            Orders::Shared(_) | Orders::Any(_) => all.root(),
        };
        let places = order.places(all.sizes(), receiver, others.clone());
        let tree = match all.arranged(&places, root, ORDER_CELLS, progress) {
            Ok(found) => found.tree,
            Err(error @ DpError::NoOrderedTree { .. }) => {
                without_tree = Some(error);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let time = completion_time(&tree, &judged)?;
        if best.as_ref().is_none_or(|best| time < best.0) {
            best = Some((time, tree));
        }
    }
    best.map(|best| best.1).ok_or_else(|| without_tree.expect("there is at least one order").into())
}

/// The table cells that are filled for one of some orders at most.
pub const ORDER_CELLS: u64 = 2_000_000;
