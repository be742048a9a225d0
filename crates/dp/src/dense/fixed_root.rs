//! The optimal ordered tree with a given root in O(p^2).
//!
//! ```text
//!            j = r   ...   j        p-1
//! i = 0                             F     <- the answer
//!     .
//!     i      F(i,r)  ...   F(i,j)         split on the right of the root: F(i,k) from this row,
//!                          |              C(k+1,j) from the table of the ranks behind the root
//!   k+1                    F(k+1,j)       on its left: F(k+1,j) from this column, C(i,k) from the
//!     .                    |              table of the ranks before the root
//! i = r      0       ...   F(r,j)
//!
//! Rows upwards from i = r, columns to the right, as for the free root.
//! ```

use super::Splits;
use super::free_root::{self, Window};
use super::queue::MonotoneQueue;
use crate::ordered::{left_receives, right_receives};
use crate::progress::Meter;
use crate::table::{RootedTable, cells_with_root, triangle_cells};
use crate::{DpError, Progress};
use tuwtree_model::{Rank, Scalar, ScaledSizes};

/// Equal values to [`plain::fixed_root`](crate::plain::fixed_root), for `gamma <= beta`.
///
/// The root decides which part receives, so that each side of it has a crossover of its own:
/// between `F(i,k)` and `C(k+1,j)` to its right, between `C(i,k)` and `F(k+1,j)` to its left.
///
/// # Errors
/// [`DpError::OutOfMemory`], [`DpError::Cancelled`].
///
/// # Panics
/// If `root` is not a rank.
///
/// # Complexity
/// O(p^2) time and space, one value a range and queues as in the free root's engine.
///
/// # Source
/// The recurrence is OPT eqs. 3 to 6; for the algorithm see
/// [`dense`](crate::dense).
pub fn fixed_root<T: Scalar>(
    sizes: &ScaledSizes<T>,
    root: Rank,
    progress: &dyn Progress,
) -> Result<RootedTable<T>, DpError> {
    let p = sizes.ranks();
    let cells = triangle_cells(root) + triangle_cells(p - 1 - root) + cells_with_root(p, root);
    let mut meter = Meter::new(progress, cells);
    let splits = Splits::new(sizes);
    let before = free_root::part(sizes, &splits, (0, root), &mut meter)?;
    let after = free_root::part(sizes, &splits, (root + 1, p - 1 - root), &mut meter)?;
    let mut table = RootedTable::new(root, p, before, after)?;
    let mut columns = vec![MonotoneQueue::new(); p - root];
    let mut left_windows = [Window::new(), Window::new()];
    let mut right_windows = [Window::new(), Window::new()];
    for i in (0..=root).rev() {
        left_windows.iter_mut().for_each(|window| window.start(splits.after(i)));
        right_windows.iter_mut().for_each(|window| window.start(splits.after(root)));
        for j in root..p {
            if i == j {
                continue;
            }
            let class = usize::from(sizes.is_empty(j, j));
            let mut time = end_joins(sizes, &table, (i, j));
            if j >= root + 3 {
                if !sizes.is_empty(j - 1, j - 1) {
                    let excess = table.rooted(i, j - 2) - sizes.volume(i, j - 2);
                    for window in &mut right_windows {
                        window.queue.push(j - 2, excess)?;
                    }
                }
                let window = &mut right_windows[class];
                time = time.least(on_right(sizes, &splits, &table, (i, j), window));
            }
            if i + 3 <= root {
                let column = &mut columns[j - root];
                if !sizes.is_empty(i + 2, i + 2) {
                    column.push(i + 1, table.rooted(i + 2, j) - sizes.volume(i + 2, j))?;
                }
                let window = &mut left_windows[class];
                time = time.least(on_left(sizes, &splits, &table, (i, j), window, column));
            }
            table.set(i, j, time);
        }
        meter.row_done(p - root)?;
    }
    Ok(table)
}

/// The least over the useful splits `root < k < j - 1`; the left part holds the root.
#[inline(always)]
fn on_right<T: Scalar>(
    sizes: &ScaledSizes<T>,
    splits: &Splits,
    table: &RootedTable<T>,
    (i, j): (Rank, Rank),
    window: &mut Window<T>,
) -> T {
    let sender = |k: Rank| table.after.get(k + 1, j);
    let crossover = window.advance(splits, j - 1, |k| table.rooted(i, k) < sender(k));
    let mut time = T::NEVER;
    let below = splits.before(crossover);
    if below > table.root() {
        time = sender(below) + sizes.sent(sizes.volume(below + 1, j));
    }
    if let Some(excess) = window.queue.least() {
        time = time.least(sizes.sent(sizes.volume(i, j)) + excess);
    }
    time
}

/// The least over the useful splits `i < k < root - 1`; the right part holds the root.
#[inline(always)]
fn on_left<T: Scalar>(
    sizes: &ScaledSizes<T>,
    splits: &Splits,
    table: &RootedTable<T>,
    (i, j): (Rank, Rank),
    window: &mut Window<T>,
    column: &mut MonotoneQueue<T>,
) -> T {
    let (end, sender) = (table.root() - 1, |k: Rank| table.before.get(i, k));
    let crossover = window.advance(splits, end, |k| sender(k) < table.rooted(k + 1, j));
    column.expire(|k| k >= crossover);
    let mut time = T::NEVER;
    if crossover < end {
        time = sender(crossover) + sizes.sent(sizes.volume(i, crossover));
    }
    if let Some(excess) = column.least() {
        time = time.least(sizes.sent(sizes.volume(i, j)) + excess);
    }
    time
}

/// The least over the splits next to the root and to the ends of `[i..j]`, which may involve a
/// copy.
///
/// If block `j - 1` is empty and `j` is the root, the split before that block is tried as well, as
/// in the free root's engine.
#[inline(always)]
fn end_joins<T: Scalar>(sizes: &ScaledSizes<T>, table: &RootedTable<T>, (i, j): (Rank, Rank)) -> T {
    let (root, cost) = (table.root(), |i, j| table.get(i, j));
    let mut least = T::NEVER;
    if root < j {
        least = left_receives(sizes, cost, (i, root, j));
        if root + 1 < j {
            least = least.least(left_receives(sizes, cost, (i, j - 1, j)));
        }
    }
    if i < root {
        least = least.least(right_receives(sizes, cost, (i, root - 1, j)));
        if i + 1 < root {
            least = least.least(right_receives(sizes, cost, (i, i, j)));
        }
    }
    if j == root && root > i + 2 && sizes.is_empty(root - 1, root - 1) {
        least = least.least(right_receives(sizes, cost, (i, root - 2, j)));
    }
    least
}
