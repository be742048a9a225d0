//! The optimal ordered binary tree, split by split.

use super::{Nonempty, least_join, least_silent_join};
use crate::binary_tree::{first_with_one, last_with_one, received};
use crate::progress::Meter;
use crate::table::{TransposedTriangle, Triangle, triangle_cells};
use crate::{DpError, Progress};
use tuwtree_model::{Rank, Scalar, ScaledSizes};

/// `D(i,j)` for all ranges: the least completion time over the strongly ordered trees on `[i..j]`
/// in which no rank has more than two children, with any root.
///
/// With `U(i,k)` and `V(i,k)` for a root at either end of `[i..k]` that has received its one
/// subtree, the five cases of Fig. 7 are three: `W = min(U, V)` is when the root is ready for a
/// right subtree; one kernel runs over the right subtrees, one over pairs of left ones.
///
/// # Errors
/// [`DpError::OutOfMemory`], [`DpError::Cancelled`].
///
/// # Complexity
/// O(p^3) time; O(p^2) space, two values a range.
///
/// # Source
/// OPT Fig. 7; differs: its last case prints `gamma m_i` where the copy of the last
/// block is meant.
pub fn binary<T: Scalar>(
    sizes: &ScaledSizes<T>,
    progress: &dyn Progress,
) -> Result<Triangle<T>, DpError> {
    let p = sizes.ranks();
    let mut meter = Meter::new(progress, triangle_cells(p));
    let mut table = Triangle::new(0, p)?;
    let mut columns = TransposedTriangle::new(0, p)?;
    let nonempty = Nonempty::new(sizes);
    // Entry k - i of each: W(i,k), and D(i,k) + comm(S(i,k)).
    let (mut ready, mut arrived) = (Vec::with_capacity(p), Vec::with_capacity(p));
    for i in (0..p).rev() {
        ready.clear();
        arrived.clear();
        ready.push(sizes.copy(i));
        arrived.push(received(sizes, &table, (i, i)));
        let mut two_on_left = T::NEVER;
        for j in i + 1..p {
            let right = least_second(sizes, &nonempty, &ready, &columns, (i, j));
            let last = last_with_one(sizes, &table, (i, j));
            let mut time = right.least(last);
            if j > i + 1 {
                time = time.least(two_on_left + sizes.copy(j));
            }
            table.set(i, j, time);
            columns.set(i, j, time);
            ready.push(last.least(first_with_one(sizes, &table, (i, j))));
            arrived.push(received(sizes, &table, (i, j)));
            two_on_left = least_second(sizes, &nonempty, &arrived, &columns, (i, j));
        }
        meter.row_done(p - i)?;
    }
    Ok(table)
}

/// The least of `max(clock[k-i], D(k+1,j)) + comm(S(k+1,j))` over `i <= k < j`: the second message
/// of a root that is free from `clock` on.
#[inline]
fn least_second<T: Scalar>(
    sizes: &ScaledSizes<T>,
    nonempty: &Nonempty,
    clock: &[T],
    columns: &TransposedTriangle<T>,
    (i, j): (Rank, Rank),
) -> T {
    let data_to = nonempty.no_data_on_right_from(j).clamp(i, j);
    let part = |from: Rank, to: Rank| columns.part(from + 1, to + 1, j);
    let silent = least_silent_join(&clock[data_to - i..j - i], part(data_to, j));
    if data_to == i {
        return silent;
    }
    let volumes = sizes.volumes();
    let after = volumes[j + 1];
    let joined = least_join(
        &clock[..data_to - i],
        part(i, data_to),
        &volumes[i + 1..data_to + 1],
        |volume| after - volume,
    );
    silent.least(sizes.sent(joined))
}
