//! The optimal ordered tree with the best root in O(p^2).
//!
//! ```text
//! The splits k of [i..j], with those four of which one is best, besides the ends k = i and k = j-1:
//!
//!    i+1 ............. below | crossover ............ j-2
//!    the right part is later | the left part is later, or both are ready at once
//! receiver is later: least of
//!    column j's queue        | row i's window
//! sender is later: only
//!    below                   | crossover
//!
//! Rows from the last up, columns to the right: i falls, and splits i+1 enter the columns' queues, from
//! whose other end those at the crossover leave; j rises, and splits j-2 enter the row's windows, from
//! whose other end those before the crossover leave.
//! ```

use super::Splits;
use super::queue::MonotoneQueue;
use crate::ordered::{left_receives, right_receives};
use crate::progress::Meter;
use crate::table::{Triangle, triangle_cells};
use crate::{DpError, Progress};
use tuwtree_model::{Rank, Scalar, ScaledSizes};

/// `C(i,j)` for all ranges, the same values as [`plain::free_root`](crate::plain::free_root), for
/// `gamma <= beta`.
///
/// # Errors
/// [`DpError::OutOfMemory`], [`DpError::Cancelled`].
///
/// # Complexity
/// O(p^2) time; one value a range, and beside it queues with a few entries a column as a rule (in
/// the worst case as many as there are ranges).
///
/// # Source
/// The recurrence is OPT Fig. 6 (completed as in the plain engine); for the
/// algorithm see [`dense`](crate::dense).
///
/// # Example
/// An empty last rank copies nothing and so may wait with a full clock: 8 instead of 9.
/// ```
/// use tuwtree_dp::dense;
/// use tuwtree_model::{BlockSizes, Homogeneous, ScaledSizes};
/// let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
/// let sizes = BlockSizes::new([2, 1, 4, 0]).unwrap();
/// let scaled = ScaledSizes::<i32>::new(&costs, &sizes).unwrap();
/// let table = dense::free_root(&scaled, &()).unwrap();
/// assert_eq!((table.get(0, 2), table.get(0, 3)), (9, 8));
/// ```
pub fn free_root<T: Scalar>(
    sizes: &ScaledSizes<T>,
    progress: &dyn Progress,
) -> Result<Triangle<T>, DpError> {
    let p = sizes.ranks();
    let mut meter = Meter::new(progress, triangle_cells(p));
    part(sizes, &Splits::new(sizes), (0, p), &mut meter)
}

/// `C` on `[first..first + width - 1]`.
pub(crate) fn part<T: Scalar>(
    sizes: &ScaledSizes<T>,
    splits: &Splits,
    (first, width): (Rank, usize),
    meter: &mut Meter<'_>,
) -> Result<Triangle<T>, DpError> {
    let mut table = Triangle::new(first, width)?;
    let end = first + width;
    // Column j: the splits before the crossover, by C(k+1,j) - beta S(k+1,j).
    let mut columns = vec![MonotoneQueue::new(); width];
    let mut windows = [Window::new(), Window::new()];
    for i in (first..end).rev() {
        windows.iter_mut().for_each(|window| window.start(splits.after(i)));
        for j in i + 1..end {
            let mut time = end_joins(sizes, &table, (i, j));
            if j >= i + 3 {
                let column = &mut columns[j - first];
                if !sizes.is_empty(i + 2, i + 2) {
                    column.push(i + 1, table.get(i + 2, j) - sizes.volume(i + 2, j))?;
                }
                if !sizes.is_empty(j - 1, j - 1) {
                    let excess = table.get(i, j - 2) - sizes.volume(i, j - 2);
                    for window in &mut windows {
                        window.queue.push(j - 2, excess)?;
                    }
                }
                let window = &mut windows[usize::from(sizes.is_empty(j, j))];
                time = time.least(inner_joins(sizes, splits, &table, (i, j), window, column));
            }
            table.set(i, j, time);
        }
        meter.row_done(end - i)?;
    }
    Ok(table)
}

/// The least over the useful splits `i < k < j - 1`: the four candidates around the crossover.
#[inline(always)]
fn inner_joins<T: Scalar>(
    sizes: &ScaledSizes<T>,
    splits: &Splits,
    table: &Triangle<T>,
    (i, j): (Rank, Rank),
    window: &mut Window<T>,
    column: &mut MonotoneQueue<T>,
) -> T {
    let (left, right) = (|k: Rank| table.get(i, k), |k: Rank| table.get(k + 1, j));
    let crossover = window.advance(splits, j - 1, |k| left(k) < right(k));
    column.expire(|k| k >= crossover);
    let mut time = T::NEVER;
    // The right part decides and sends.
    let below = splits.before(crossover);
    if below > i {
        time = right(below) + sizes.sent(sizes.volume(below + 1, j));
    }
    // The left part decides and sends.
    if crossover < j - 1 {
        time = time.least(left(crossover) + sizes.sent(sizes.volume(i, crossover)));
    }
    // The part that decides receives.
    let whole = sizes.sent(sizes.volume(i, j));
    for excess in [window.queue.least(), column.least()].into_iter().flatten() {
        time = time.least(whole + excess);
    }
    time
}

/// The least over the splits next to the ends of `[i..j]`, which may involve a copy.
///
/// If block `j - 1` is empty, the split before it is none of the useful ones, and moving that
/// block would leave the right root alone, with a copy that has to wait: so it is tried as well.
#[inline(always)]
fn end_joins<T: Scalar>(sizes: &ScaledSizes<T>, table: &Triangle<T>, (i, j): (Rank, Rank)) -> T {
    let cost = |i, j| table.get(i, j);
    let mut least = left_receives(sizes, cost, (i, i, j));
    least = least.least(right_receives(sizes, cost, (i, j - 1, j)));
    if j > i + 1 {
        least = least.least(right_receives(sizes, cost, (i, i, j)));
        least = least.least(left_receives(sizes, cost, (i, j - 1, j)));
    }
    if j > i + 2 && sizes.is_empty(j - 1, j - 1) {
        least = least.least(right_receives(sizes, cost, (i, j - 2, j)));
    }
    least
}

/// The useful splits of a row from the crossover on, by `C(i,k) - beta S(i,k)`.
pub(crate) struct Window<T> {
    /// The crossover of the last column seen, or the least useful split too far right for it.
    split: Rank,
    pub(crate) queue: MonotoneQueue<T>,
}

impl<T: Scalar> Window<T> {
    pub(crate) fn new() -> Window<T> {
        Window { split: 0, queue: MonotoneQueue::new() }
    }

    /// Begins a row whose useful splits start with this one.
    pub(crate) fn start(&mut self, split: Rank) {
        self.split = split;
        self.queue.clear();
    }

    /// Moves to the crossover, the least useful split below `end` whose left part does not complete
    /// `earlier`, and returns it, or `end`.
    #[inline(always)]
    pub(crate) fn advance(
        &mut self,
        splits: &Splits,
        end: Rank,
        earlier: impl Fn(Rank) -> bool,
    ) -> Rank {
        while self.split < end && earlier(self.split) {
            self.split = splits.after(self.split);
        }
        let crossover = self.split.min(end);
        self.queue.expire(|k| k < crossover);
        crossover
    }
}
