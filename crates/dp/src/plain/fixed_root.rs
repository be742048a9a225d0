//! The optimal ordered tree with a given root, split by split.

use super::{Nonempty, free_root, least_join, least_silent_join};
use crate::ordered::{left_receives, right_receives};
use crate::progress::Meter;
use crate::table::{RootedTable, cells_with_root, triangle_cells, zeros};
use crate::{DpError, Progress};
use tuwtree_model::{Rank, Scalar, ScaledSizes};

/// `F(i,j)`, the least completion time over the ordered trees on `[i..j]` with this root, for all
/// ranges that hold it, and `C(i,j)` of [`free_root`](super::free_root) for the others.
///
/// # Errors
/// [`DpError::OutOfMemory`], [`DpError::Cancelled`].
///
/// # Panics
/// If `root` is not a rank.
///
/// # Complexity
/// O(p^3) time; O(p^2) space, two values a range.
///
/// # Source
/// OPT eqs. 3 to 6, with every communication going to the root where the range
/// holds it (section 3.2). Differs from Fig. 5 as printed, which gives a root at the end of the
/// range one child only.
pub fn fixed_root<T: Scalar>(
    sizes: &ScaledSizes<T>,
    root: Rank,
    progress: &dyn Progress,
) -> Result<RootedTable<T>, DpError> {
    let p = sizes.ranks();
    let cells = triangle_cells(root) + triangle_cells(p - 1 - root) + cells_with_root(p, root);
    let mut meter = Meter::new(progress, cells);
    let (before, _) = free_root::part(sizes, (0, root), &mut meter)?;
    let (after, after_columns) = free_root::part(sizes, (root + 1, p - 1 - root), &mut meter)?;
    let mut table = RootedTable::new(root, p, before, after)?;
    let nonempty = Nonempty::new(sizes);
    // Column j holds F(0,j), …, F(root,j).
    let mut columns = zeros(cells_with_root(p, root))?;
    let column = |j: Rank| (j - root) * (root + 1)..(j - root + 1) * (root + 1);
    for i in (0..=root).rev() {
        for j in root..p {
            if i == j {
                continue;
            }
            let left = inner_on_right(sizes, &nonempty, &table, (i, j), |from, to| {
                after_columns.part(from, to, j)
            });
            let right = inner_on_left(sizes, &nonempty, &table, i, &columns[column(j)]);
            let time = left.least(right).least(end_joins(sizes, &table, (i, j)));
            table.set(i, j, time);
            columns[column(j)][i] = time;
        }
        meter.row_done(p - root)?;
    }
    Ok(table)
}

/// Splits next to the root and to the ends of `[i..j]`, some of which involve a copy.
#[inline]
fn end_joins<T: Scalar>(sizes: &ScaledSizes<T>, table: &RootedTable<T>, (i, j): (Rank, Rank)) -> T {
    let (root, cost) = (table.root(), |i, j| table.get(i, j));
    let mut least = T::NEVER;
    if root < j {
        least = left_receives(sizes, cost, (i, root, j));
        least = least.least(left_receives(sizes, cost, (i, j - 1, j)));
    }
    if i < root {
        least = least.least(right_receives(sizes, cost, (i, i, j)));
        least = least.least(right_receives(sizes, cost, (i, root - 1, j)));
    }
    least
}

/// The least of `max(F(i,k), C(k+1,j)) + comm(S(k+1,j))` over `root < k < j - 1`.
#[inline]
fn inner_on_right<'a, T: Scalar>(
    sizes: &ScaledSizes<T>,
    nonempty: &Nonempty,
    table: &RootedTable<T>,
    (i, j): (Rank, Rank),
    column: impl Fn(Rank, Rank) -> &'a [T],
) -> T {
    let root = table.root();
    if j < root + 3 {
        return T::NEVER;
    }
    let (first, end) = (root + 1, j - 1);
    let data_to = nonempty.no_data_on_right_from(j).clamp(first, end);
    let row = |from: Rank, to: Rank| &table.row(i)[from - root..to - root];
    let silent = least_silent_join(row(data_to, end), column(data_to + 1, end + 1));
    if first == data_to {
        return silent;
    }
    let volumes = sizes.volumes();
    let after = volumes[j + 1];
    let joined = least_join(
        row(first, data_to),
        column(first + 1, data_to + 1),
        &volumes[first + 1..data_to + 1],
        |volume| after - volume,
    );
    silent.least(sizes.sent(joined))
}

/// The least of `max(C(i,k), F(k+1,j)) + comm(S(i,k))` over `i < k < root - 1`.
///
/// `column` holds `F(0,j)`, …, `F(root,j)`.
#[inline]
fn inner_on_left<T: Scalar>(
    sizes: &ScaledSizes<T>,
    nonempty: &Nonempty,
    table: &RootedTable<T>,
    i: Rank,
    column: &[T],
) -> T {
    if table.root() < i + 3 {
        return T::NEVER;
    }
    let (first, end) = (i + 1, table.root() - 1);
    let data_from = nonempty.data_on_left_from(i).clamp(first, end);
    let row = |from: Rank, to: Rank| &table.before.row(i)[from - i..to - i];
    let silent = least_silent_join(row(first, data_from), &column[first + 1..data_from + 1]);
    if data_from == end {
        return silent;
    }
    let volumes = sizes.volumes();
    let before = volumes[i];
    let joined = least_join(
        row(data_from, end),
        &column[data_from + 1..end + 1],
        &volumes[data_from + 1..end + 1],
        |volume| volume - before,
    );
    silent.least(sizes.sent(joined))
}
