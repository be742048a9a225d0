//! The root and time that the published program reports for the best root, for reproduction only.
//!
//! The tables of OPT section 5 agree with a recurrence that lacks one case: a range's last rank is
//! never its root, pairs included. If that case pays (gamma < beta and large blocks at the end, or
//! empty ones) the published times are above the optimum, and the published roots depend on
//! tie-breaking. Use this only for comparison with the published tables;
//! [`optimal_adjacent`](crate::optimal_adjacent) is the program's own answer.

use crate::ordered::{left_receives, right_receives};
use crate::plain::Nonempty;
use crate::table::{TransposedTriangle, zeros};
use crate::{DpError, Triangle, dense, plain};
use tuwtree_model::{Rank, Scalar, ScaledSizes};

/// The root and the completion time of the published program's optimal tree with the root of its
/// choice.
///
/// The root is found from the table: at each range the splits are tried in ascending order, a root
/// on the right (unless it would be the range's last rank alone) before one on the left, the
/// first of the best is kept, and the search continues in the part that holds the root.
///
/// # Errors
/// [`DpError::OutOfMemory`].
///
/// # Complexity
/// O(p^3) time at worst, because this table is not monotone, though few splits are looked at; O(p^2) if
/// gamma = beta and no block is empty. O(p^2) space.
///
/// # Source
/// OPT section 5, Tables 1 to 3, "optimal", root chosen by the algorithm.
///
/// # Example
/// Sizes 1, 9 and gamma = 0: root 1 would be free to receive 1 unit, but is not considered.
/// ```
/// use tuwtree_dp::published;
/// use tuwtree_model::{BlockSizes, Homogeneous, ScaledSizes};
/// let costs = Homogeneous::new(1.0, 1.0, 0.0).unwrap();
/// let sizes = BlockSizes::new([1, 9]).unwrap();
/// let scaled = ScaledSizes::<i32>::new(&costs, &sizes).unwrap();
/// assert_eq!(published::optimal_root_and_time(&scaled), Ok((0, 10)));
/// ```
pub fn optimal_root_and_time(sizes: &ScaledSizes<i32>) -> Result<(Rank, i32), DpError> {
    let last = sizes.ranks() - 1;
    let table = if coincides_with_optimum(sizes) {
        dense::free_root(sizes, &())?
    } else {
        incomplete_table(sizes)?
    };
    Ok((published_root(sizes, &table), table.get(0, last)))
}

/// Number of splits that share one bound.
const BLOCK: usize = 64;

/// The table without the case "last rank as root".
///
/// The recurrence is not monotone, so that every split may be the best. A block of splits is examined only if its least
/// times allow a better result than the best so far, with either receiver:
///
/// ```text
/// left receives     at least  least of C(i,k) - S(i,k)       + S(i,j)   and  least of C(k+1,j) + least of S(k+1,j)
/// right receives    at least  least of C(k+1,j) - S(k+1,j)   + S(i,j)   and  least of C(i,k)   + least of S(i,k)
/// ```
///
/// and alpha, if both sides have data. Exact for integers, else up to rounding.
pub(crate) fn incomplete_table<T: Scalar>(sizes: &ScaledSizes<T>) -> Result<Triangle<T>, DpError> {
    let p = sizes.ranks();
    let mut table = Triangle::new(0, p)?;
    let mut columns = TransposedTriangle::new(0, p)?;
    let nonempty = Nonempty::new(sizes);
    let volumes = sizes.volumes();
    let blocks = p.div_ceil(BLOCK);
    // Of [k+1..j], by j and the block of k; of [i..k], by the block of k.
    let mut columns_least = [never::<T>(p * blocks)?, never(p * blocks)?];
    for i in (0..p).rev() {
        let mut row_least = [never::<T>(blocks)?, never(blocks)?];
        let (before, data_from) = (volumes[i], nonempty.data_on_left_from(i));
        let mut best_block = 0;
        for j in i + 1..p {
            let mut time = end_joins(sizes, &table, (i, j));
            let (after, data_to) = (volumes[j + 1], nonempty.no_data_on_right_from(j));
            for block in std::iter::once(best_block).chain(i / BLOCK..=j / BLOCK) {
                let splits = (block * BLOCK).max(i + 1)..((block + 1) * BLOCK).min(j - 1);
                if splits.is_empty() {
                    continue;
                }
                let (left, left_excess) = (row_least[0][block], row_least[1][block]);
                let place = j * blocks + block;
                let (right, right_excess) = (columns_least[0][place], columns_least[1][place]);
                let to_left = (left_excess + after).most(right + (after - volumes[splits.end]));
                let to_right =
                    (right_excess - before).most(left + (volumes[splits.start + 1] - before));
                let mut bound = to_left.least(to_right);
                if data_from <= splits.start && splits.end <= data_to {
                    bound = sizes.sent(bound);
                }
                if bound < time {
                    let parts = (&table, &columns);
                    let joined = plain::least_inner_join(sizes, &nonempty, parts, (i, j), splits);
                    if joined < time {
                        (time, best_block) = (joined, block);
                    }
                }
            }
            table.set(i, j, time);
            columns.set(i, j, time);
            for (least, of_row) in row_least.iter_mut().zip([time, time - after]) {
                least[j / BLOCK] = least[j / BLOCK].least(of_row);
            }
            if i > 0 {
                let place = j * blocks + (i - 1) / BLOCK;
                for (least, of_column) in columns_least.iter_mut().zip([time, time + before]) {
                    least[place] = least[place].least(of_column);
                }
            }
        }
    }
    Ok(table)
}

/// The least time of the splits `k = i` and `k = j - 1`.
pub(crate) fn end_joins<T: Scalar>(
    sizes: &ScaledSizes<T>,
    table: &Triangle<T>,
    (i, j): (Rank, Rank),
) -> T {
    let cost = |i, j| table.get(i, j);
    let left =
        left_receives(sizes, cost, (i, i, j)).least(left_receives(sizes, cost, (i, j - 1, j)));
    if i + 1 < j { left.least(right_receives(sizes, cost, (i, i, j))) } else { left }
}

/// This many values above all others.
fn never<T: Scalar>(count: usize) -> Result<Vec<T>, DpError> {
    let mut values = zeros(count)?;
    values.fill(T::NEVER);
    Ok(values)
}

/// True if the missing case never decides: gamma = beta and no block is empty.
///
/// Let it have no effect on shorter ranges. On a pair it gives `comm(m_i) + gamma m_j`, the same as
/// the left root's `gamma m_i + comm(m_j)`. On a longer range it gives
/// `C(i,j-1) + comm(S(i,j-1)) + gamma m_j`, which is at least the left root's
/// `C(i,j-1) + comm(m_j)` at the same split.
fn coincides_with_optimum<T: Scalar>(sizes: &ScaledSizes<T>) -> bool {
    (0..sizes.ranks())
        .all(|rank| !sizes.is_empty(rank, rank) && sizes.copy(rank) == sizes.volume(rank, rank))
}

/// The root that the published program reports.
fn published_root<T: Scalar>(sizes: &ScaledSizes<T>, table: &Triangle<T>) -> Rank {
    let (mut i, mut j) = (0, sizes.ranks() - 1);
    while i < j {
        let cost = |i, j| table.get(i, j);
        let (mut least, mut part) = (T::NEVER, (i, j));
        for k in i..j {
            if k + 1 < j {
                let time = right_receives(sizes, cost, (i, k, j));
                if time < least {
                    (least, part) = (time, (k + 1, j));
                }
            }
            let time = left_receives(sizes, cost, (i, k, j));
            if time < least {
                (least, part) = (time, (i, k));
            }
        }
        (i, j) = part;
    }
    i
}
