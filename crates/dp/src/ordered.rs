//! The recurrence of optimal ordered trees: its terms, and the tree behind a finished table.
//!
//! Each engine computes the same table in its own way; what a join of two ranges costs is written
//! here, once.

use crate::joins::{Join, Receiver, tree_of_joins};
use crate::{RootedTable, Triangle};
use tuwtree_model::{Rank, Scalar, ScaledSizes, Tree};

/// The time of `[i..j]` if `[i..k]` receives from `[k+1..j]`:
/// `max(L, C(k+1,j)) + comm(S(k+1,j))`, where `L = C(i,k)`, or `gamma m_i` if `k = i`.
///
/// `cost` gives the times of the two parts.
///
/// # Source
/// OPT eqs. 3 and 5.
#[inline(always)]
pub(crate) fn left_receives<T: Scalar>(
    sizes: &ScaledSizes<T>,
    cost: impl Fn(Rank, Rank) -> T,
    (i, k, j): (Rank, Rank, Rank),
) -> T {
    let left = if k == i { sizes.copy(i) } else { cost(i, k) };
    left.most(cost(k + 1, j)) + sizes.transmission(k + 1, j)
}

/// The time of `[i..j]` if `[k+1..j]` receives from `[i..k]`:
/// `max(C(i,k), C(k+1,j)) + comm(S(i,k))`, or `C(i,k) + comm(S(i,k)) + gamma m_j` if `k + 1 = j`,
/// because a copy on the right of a first message has to wait for it.
///
/// # Source
/// OPT eqs. 4 and 6.
#[inline(always)]
pub(crate) fn right_receives<T: Scalar>(
    sizes: &ScaledSizes<T>,
    cost: impl Fn(Rank, Rank) -> T,
    (i, k, j): (Rank, Rank, Rank),
) -> T {
    let sent = sizes.transmission(i, k);
    if k + 1 == j {
        cost(i, k) + sent + sizes.copy(j)
    } else {
        cost(i, k).most(cost(k + 1, j)) + sent
    }
}

/// An optimal tree for the table's best root.
///
/// The table alone determines it: at each range the splits are tried in ascending order, a left
/// receiver before a right one, until one attains the range's time. Where rounding hides the
/// equality (non-integer costs), the first of the least joins is taken.
///
/// # Complexity
/// O(p^2) time in the worst case, a few scanned splits a rank as a rule; O(p) space.
pub(crate) fn free_root_tree<T: Scalar>(sizes: &ScaledSizes<T>, table: &Triangle<T>) -> Tree {
    tree_of_joins(sizes.ranks(), |i, j| {
        best_join(sizes, |i, j| table.get(i, j), (i, j), |_| (true, true))
    })
}

/// An optimal tree for the table's root.
///
/// # Complexity
/// As [`free_root_tree`].
pub(crate) fn fixed_root_tree<T: Scalar>(sizes: &ScaledSizes<T>, table: &RootedTable<T>) -> Tree {
    let root = table.root();
    tree_of_joins(sizes.ranks(), |i, j| {
        let holds_root = (i..=j).contains(&root);
        best_join(
            sizes,
            |i, j| table.get(i, j),
            (i, j),
            |k| (!holds_root || root <= k, !holds_root || root > k),
        )
    })
}

/// The first join of `[i..j]` that attains `cost(i, j)`, or else the first of the least ones, among
/// those that `allowed(k)` admits: a left receiver, a right receiver.
fn best_join<T: Scalar>(
    sizes: &ScaledSizes<T>,
    cost: impl Fn(Rank, Rank) -> T,
    (i, j): (Rank, Rank),
    allowed: impl Fn(Rank) -> (bool, bool),
) -> Join {
    let target = cost(i, j);
    let mut best = (T::NEVER, Join { last_left: i, receiver: Receiver::Left });
    for k in i..j {
        let (left, right) = allowed(k);
        if left {
            let time = left_receives(sizes, &cost, (i, k, j));
            if time < best.0 {
                best = (time, Join { last_left: k, receiver: Receiver::Left });
            }
        }
        if right {
            let time = right_receives(sizes, &cost, (i, k, j));
            if time < best.0 {
                best = (time, Join { last_left: k, receiver: Receiver::Right });
            }
        }
        if best.0 == target {
            break;
        }
    }
    best.1
}
