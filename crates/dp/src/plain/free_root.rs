//! The optimal ordered tree with the best root, split by split.

use super::{Nonempty, least_join, least_silent_join};
use crate::ordered::{left_receives, right_receives};
use crate::progress::Meter;
use crate::table::{TransposedTriangle, Triangle, triangle_cells};
use crate::{DpError, Progress};
use std::ops::Range;
use tuwtree_model::{Rank, Scalar, ScaledSizes};

/// `C(i,j)` for all ranges: the least completion time over the ordered trees on `[i..j]` with any
/// root in it.
///
/// # Units
/// Time units of the cost model.
///
/// # Errors
/// [`DpError::OutOfMemory`], [`DpError::Cancelled`].
///
/// # Complexity
/// O(p^3) time; O(p^2) space, two values a range.
///
/// # Source
/// OPT Fig. 6; differs: the splits `k = i` and `k = j - 1`, with the copies of eqs.
/// 5 and 6, are candidates for every range (Fig. 6 as printed has them for pairs only).
///
/// # Example
/// Sizes 2, 1, 4 and costs 1, 1, 1: rank 0 joins 1 for (1 + 2) + 1 = 4, and then [0..1] takes
/// in the last block for 1 + 4 more: 9.
/// ```
/// use tuwtree_dp::plain;
/// use tuwtree_model::{BlockSizes, Homogeneous, ScaledSizes};
/// let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
/// let sizes = BlockSizes::new([2, 1, 4]).unwrap();
/// let scaled = ScaledSizes::<i32>::new(&costs, &sizes).unwrap();
/// assert_eq!(plain::free_root(&scaled, &()).unwrap().get(0, 2), 9);
/// ```
pub fn free_root<T: Scalar>(
    sizes: &ScaledSizes<T>,
    progress: &dyn Progress,
) -> Result<Triangle<T>, DpError> {
    let p = sizes.ranks();
    let mut meter = Meter::new(progress, triangle_cells(p));
    part(sizes, (0, p), &mut meter).map(|(table, _)| table)
}

/// `C` on `[first..first + width - 1]`, by rows and by columns.
pub(crate) fn part<T: Scalar>(
    sizes: &ScaledSizes<T>,
    range: (Rank, usize),
    meter: &mut Meter<'_>,
) -> Result<(Triangle<T>, TransposedTriangle<T>), DpError> {
    ranges(sizes, range, meter, |table, (i, j)| {
        let cost = |i, j| table.get(i, j);
        left_receives(sizes, cost, (i, i, j))
            .least(left_receives(sizes, cost, (i, j - 1, j)))
            .least(right_receives(sizes, cost, (i, i, j)))
            .least(right_receives(sizes, cost, (i, j - 1, j)))
    })
}

/// The table of the recurrence whose splits `k = i` and `k = j - 1` cost `end_joins`, while those
/// strictly between may be joined either way.
pub(crate) fn ranges<T: Scalar>(
    sizes: &ScaledSizes<T>,
    (first, width): (Rank, usize),
    meter: &mut Meter<'_>,
    end_joins: impl Fn(&Triangle<T>, (Rank, Rank)) -> T,
) -> Result<(Triangle<T>, TransposedTriangle<T>), DpError> {
    let mut table = Triangle::new(first, width)?;
    let mut columns = TransposedTriangle::new(first, width)?;
    let nonempty = Nonempty::new(sizes);
    let end = first + width;
    for i in (first..end).rev() {
        for j in i + 1..end {
            // The recurrence.
            let inner = i + 1..(j - 1).max(i + 1);
            let time = least_inner_join(sizes, &nonempty, (&table, &columns), (i, j), inner)
                .least(end_joins(&table, (i, j)));
            table.set(i, j, time);
            columns.set(i, j, time);
        }
        meter.row_done(end - i)?;
    }
    Ok((table, columns))
}

/// The least of `max(C(i,k), C(k+1,j)) + min(comm(S(i,k)), comm(S(k+1,j)))` over these splits `k`,
/// which lie in `i + 1..j - 1`.
#[inline]
pub(crate) fn least_inner_join<T: Scalar>(
    sizes: &ScaledSizes<T>,
    nonempty: &Nonempty,
    (table, columns): (&Triangle<T>, &TransposedTriangle<T>),
    (i, j): (Rank, Rank),
    splits: Range<Rank>,
) -> T {
    let (first, end) = (splits.start, splits.end);
    if first >= end {
        return T::NEVER;
    }
    // Splits that leave one side without data come first and last; they send nothing.
    let data_from = nonempty.data_on_left_from(i).clamp(first, end);
    let data_to = nonempty.no_data_on_right_from(j).clamp(data_from, end);
    let row = table.row(i);
    let volumes = sizes.volumes();
    let (before, after) = (volumes[i], volumes[j + 1]);
    let silent = |from: Rank, to: Rank| {
        least_silent_join(&row[from - i..to - i], columns.part(from + 1, to + 1, j))
    };
    let least = silent(first, data_from).least(silent(data_to, end));
    if data_from == data_to {
        return least;
    }
    let joined = least_join(
        &row[data_from - i..data_to - i],
        columns.part(data_from + 1, data_to + 1, j),
        &volumes[data_from + 1..data_to + 1],
        |volume| (volume - before).least(after - volume),
    );
    least.least(sizes.sent(joined))
}
