//! Trees that are ordered once the processors have been put into another order.

use super::NonOrderedError;
use super::arrangement::{Arrangement, descending, root_of};
use crate::{DpError, Optimum, Progress, default_method, optimal_with};
use std::cmp::Reverse;
use tuwtree_model::{BlockSizes, Homogeneous, Rank, Root, Time, Tree, completion_time};

/// An order of the processors for which [`sorted`] finds an optimal ordered tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
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
    /// As they are numbered: the optimal ordered tree.
    Ranks,
}

impl Order {
    /// All orders.
    pub const ALL: [Order; 6] = [
        Order::Descending,
        Order::Ascending,
        Order::BothSides,
        Order::Halves,
        Order::RootAmong,
        Order::Ranks,
    ];

    /// The name by which users and documents call the order.
    pub fn name(self) -> &'static str {
        match self {
            Order::Descending => "descending",
            Order::Ascending => "ascending",
            Order::BothSides => "both-sides",
            Order::Halves => "halves",
            Order::RootAmong => "root-among",
            Order::Ranks => "ranks",
        }
    }

    /// The processors in this order: the root and all with data; `Ranks` has all.
    fn places(self, sizes: &BlockSizes, root: Rank) -> Vec<Rank> {
        let others = descending(sizes, root);
        let around = |left: Vec<Rank>, right: Vec<Rank>| {
            left.into_iter().rev().chain([root]).chain(right).collect()
        };
        let turn = |parity: usize| others.iter().copied().skip(parity).step_by(2).collect();
        match self {
            Order::Descending => around(vec![], others),
            Order::Ascending => around(vec![], others.into_iter().rev().collect()),
            Order::BothSides => around(turn(1), turn(0)),
            Order::Halves => {
                let (large, small) = others.split_at(others.len() / 2);
                around(large.to_vec(), small.to_vec())
            }
            Order::RootAmong => {
                let mut all = around(vec![], others);
                all.sort_by_key(|&rank| (Reverse(sizes.block(rank)), rank));
                all
            }
            Order::Ranks => (0..sizes.processors()).collect(),
        }
    }
}

/// The fastest tree that is optimal among the ordered ones for one of these orders of the processors;
/// of several, that of the first such order.
///
/// With [`Order::Ranks`] among them, it is never slower than the optimal ordered tree. With
/// [`Root::Best`] the root has a largest block, but for `Ranks` and `RootAmong`, where every root is
/// tried.
///
/// # Errors
/// [`NonOrderedError`], but not for too much work. Without orders, as for [`Order::Descending`].
///
/// # Complexity
/// That of [`optimal`](crate::optimal) for each order, by its [`default_method`].
///
/// # Example
/// ```
/// use tuwtree_dp::non_ordered::{Order, sorted};
/// use tuwtree_model::{BlockSizes, Homogeneous, Root, completion_time};
/// let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
/// let sizes = BlockSizes::new([9, 1, 1, 0]).unwrap();
/// let tree = sorted(&sizes, &costs, Root::Given(3), &Order::ALL, &()).unwrap();
/// assert_eq!(completion_time(&tree, &sizes, &costs).unwrap().units(), 13.0);
/// ```
pub fn sorted(
    sizes: &BlockSizes,
    costs: &Homogeneous,
    root: Root,
    orders: &[Order],
    progress: &dyn Progress,
) -> Result<Tree, NonOrderedError> {
    let orders = if orders.is_empty() { &[Order::Descending] } else { orders };
    let mut best: Option<(Time, Tree)> = None;
    for &order in orders {
        let receiver = root_of(root, sizes)?;
        let free = matches!(order, Order::Ranks | Order::RootAmong) && root == Root::Best;
        let root = if free { Root::Best } else { Root::Given(receiver) };
        let places = order.places(sizes, receiver);
        let (_, tree) = arranged(&places, (sizes, costs, root), progress)?;
        let time = completion_time(&tree, sizes, costs)?;
        if best.as_ref().is_none_or(|best| time < best.0) {
            best = Some((time, tree));
        }
    }
    Ok(best.expect("there is at least one order").1)
}

/// The least time of an ordered tree over these processors, in this order, and such a tree.
///
/// # Errors
/// As [`optimal_with`].
pub(super) fn arranged(
    places: &[Rank],
    (sizes, costs, root): (&BlockSizes, &Homogeneous, Root),
    progress: &dyn Progress,
) -> Result<(f64, Tree), DpError> {
    let arrangement = Arrangement::new(places.iter().copied().map(Some).collect(), sizes)?;
    let root = match root {
        Root::Given(root) => arrangement.root(root),
        Root::Best => Root::Best,
    };
    let method = default_method(&arrangement.sizes, costs);
    let Optimum { tree, value, .. } =
        optimal_with(&arrangement.sizes, costs, root, method, progress)?;
    Ok((value, arrangement.receivers(&tree, sizes.processors()).tree()))
}
