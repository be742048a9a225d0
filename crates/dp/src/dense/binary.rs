//! The optimal ordered binary tree in O(p^2).

use super::queue::MonotoneQueue;
use crate::binary_tree::{first_with_one, last_with_one, received, second_message};
use crate::progress::Meter;
use crate::table::{Triangle, triangle_cells};
use crate::{DpError, Progress};
use tuwtree_model::{Rank, Scalar, ScaledSizes};

/// `D(i,j)` for all ranges, the same values as [`plain::binary`](crate::plain::binary), for
/// `gamma <= beta`.
///
/// `D` never falls when a range grows at either end, not even by an empty block: hence every split
/// counts, and each row has one crossover for its right subtrees and one for its pairs of left
/// ones, both of which move right.
///
/// Proof, by induction on the number of ranks: drop the rank at the end from the
/// subtree that holds it. If it is the root, then
/// - at the left, rank `i+1` takes its place: its copy and what it receives of its former
///   subtree, `max(g_{i+1}, D(i+2,k)) + comm(S(i+2,k))`, take no longer than collecting and sending
///   that subtree did, `D(i+1,k) + comm(S(i+1,k))`, because gamma <= beta;
/// - at the right, `j-1` takes its place, and copies in place of its block being sent.
///
/// # Errors
/// [`DpError::OutOfMemory`], [`DpError::Cancelled`].
///
/// # Complexity
/// O(p^2) time; one value a range and O(p) beside it.
///
/// # Source
/// The recurrence is OPT Fig. 7 (corrected as in the plain engine); for the
/// crossovers see [`dense`](crate::dense).
pub fn binary<T: Scalar>(
    sizes: &ScaledSizes<T>,
    progress: &dyn Progress,
) -> Result<Triangle<T>, DpError> {
    let p = sizes.ranks();
    let mut meter = Meter::new(progress, triangle_cells(p));
    let mut table = Triangle::new(0, p)?;
    let mut row = RangesFrom::new(sizes);
    for i in (0..p).rev() {
        row.start(i, sizes.copy(i), received(sizes, &table, (i, i)));
        let mut two_on_left = T::NEVER;
        for j in i + 1..p {
            let last = last_with_one(sizes, &table, (i, j));
            let first = first_with_one(sizes, &table, (i, j));
            let right = row.least_right_subtree(sizes, &table, j)?;
            let mut time = first.least(last).least(right);
            if j > i + 1 {
                time = time.least(two_on_left + sizes.copy(j));
            }
            table.set(i, j, time);
            row.ready.push(first.least(last));
            row.arrived.push(received(sizes, &table, (i, j)));
            two_on_left = row.least_left_pair(sizes, &table, j);
        }
        meter.row_done(p - i)?;
    }
    Ok(table)
}

/// Tabulated ranges that start at `i`.
struct RangesFrom<T> {
    i: Rank,
    /// `p` entries: the greatest rank up to each one whose block is not empty; 0 if none.
    last_nonempty: Vec<Rank>,
    /// Entry `k - i` is `W(i,k)`: when a root that has collected `[i..k]` with at most one subtree
    /// is ready for a subtree on its right. Never falls.
    ready: Vec<T>,
    /// Entry `k - i` is `D(i,k) + comm(S(i,k))`. Never falls.
    arrived: Vec<T>,
    /// The least `k > i` where the root is not ready before the right subtree is.
    right_crossover: Rank,
    /// The least `k` where the outer left subtree does not arrive before the inner one is complete.
    left_crossover: Rank,
    /// The splits from the right crossover on, by `W(i,k) - beta S(i,k)`.
    window: MonotoneQueue<T>,
}

impl<T: Scalar> RangesFrom<T> {
    fn new(sizes: &ScaledSizes<T>) -> RangesFrom<T> {
        let ranks = sizes.ranks();
        let mut last_nonempty: Vec<Rank> = (0..ranks).collect();
        for rank in (1..ranks).filter(|&rank| sizes.is_empty(rank, rank)) {
            last_nonempty[rank] = last_nonempty[rank - 1];
        }
        RangesFrom {
            i: 0,
            last_nonempty,
            ready: Vec::with_capacity(ranks),
            arrived: Vec::with_capacity(ranks),
            right_crossover: 0,
            left_crossover: 0,
            window: MonotoneQueue::new(),
        }
    }

    fn start(&mut self, i: Rank, ready: T, arrived: T) {
        self.ready.clear();
        self.ready.push(ready);
        self.arrived.clear();
        self.arrived.push(arrived);
        self.window.clear();
        (self.i, self.right_crossover, self.left_crossover) = (i, i + 1, i);
    }

    /// The least of `max(W(i,k), D(k+1,j)) + comm(S(k+1,j))` over `i < k < j`.
    ///
    /// A subtree behind the last non-empty block sends nothing, which the window overestimates.
    #[inline(always)]
    fn least_right_subtree(
        &mut self,
        sizes: &ScaledSizes<T>,
        table: &Triangle<T>,
        j: Rank,
    ) -> Result<T, DpError> {
        let i = self.i;
        if j < i + 2 {
            return Ok(T::NEVER);
        }
        self.window.push(j - 1, self.ready[j - 1 - i] - sizes.volume(i, j - 1))?;
        while self.right_crossover < j
            && self.ready[self.right_crossover - i] < table.get(self.right_crossover + 1, j)
        {
            self.right_crossover += 1;
        }
        let crossover = self.right_crossover;
        self.window.expire(|k| k < crossover);
        let mut time = T::NEVER;
        if crossover > i + 1 {
            time = received(sizes, table, (crossover, j));
        }
        if let Some(excess) = self.window.least() {
            time = time.least(sizes.sent(sizes.volume(i, j)) + excess);
        }
        let end = self.last_nonempty[j];
        if end < j {
            let k = end.max(i + 1);
            time = time.least(second_message(sizes, table, self.ready[k - i], (k + 1, j)));
        }
        Ok(time)
    }

    /// The least of `max(D(i,k) + comm(S(i,k)), D(k+1,j)) + comm(S(k+1,j))` over `i <= k < j`.
    ///
    /// From the crossover on this is `2 alpha + beta S(i,j) + D(i,k)`, which never falls, unless
    /// one of the two holds no data.
    #[inline(always)]
    fn least_left_pair(&mut self, sizes: &ScaledSizes<T>, table: &Triangle<T>, j: Rank) -> T {
        let i = self.i;
        while self.left_crossover < j
            && self.arrived[self.left_crossover - i] < table.get(self.left_crossover + 1, j)
        {
            self.left_crossover += 1;
        }
        let mut time = T::NEVER;
        let mut consider = |k: Rank| {
            time = time.least(second_message(sizes, table, self.arrived[k - i], (k + 1, j)));
        };
        if self.left_crossover < j {
            consider(self.left_crossover);
        }
        if self.left_crossover > i {
            consider(self.left_crossover - 1);
        }
        let end = self.last_nonempty[j];
        if end < j {
            consider(end.max(i));
        }
        time
    }
}
