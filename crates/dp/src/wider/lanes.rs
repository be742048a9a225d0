//! The best join of a range in constant time: two moving windows.
//!
//! ```text
//!        i                      j        Left part receives: its clock R(i,k) rises with k,
//!   row  |--R(i,k)--|k  C(k+1,j)|        C(k+1,j) falls. From `turn` on the receiver decides; of
//!        |-----------turn=======|        these the least R(i,k) - V(i,k) counts (window ====).
//!                                        Before it the sender does, best at turn - 1 (shortest).
//!        i                      j
//!  column|C(i,r-1) r|--R(r,j)---|        Right part receives, mirrored: r up to `turn` decide as
//!        |=======turn-----------|        receivers, and behind it turn + 1 is the best sender.
//! ```
//!
//! As `j` grows, `C(k+1,j)` does, and a row's turn moves right; as `i` falls, `C(i,r-1)` grows, and
//! a column's turn moves left. Splits enter a window at one end and leave it at the other.

use super::{Receiving, Scaled};
use crate::DpError;
use crate::dense::queue::MonotoneQueue;
use tuwtree_model::{Rank, Scalar};

/// A law under which the best join of a range is found without trying all: longer messages take no less, neither
/// lambda nor the port's time, and no copy but that of a given root takes longer than its own message.
pub trait DenseLaw<T: Scalar>: Receiving<T> + Sized {
    /// The joins of a row.
    type Row: RowJoins<T, Self>;
    /// The joins of a column.
    type Column: ColumnJoins<T, Self>;

    /// No message may occupy a port before: the least lambda.
    fn earliest(&self) -> T;

    /// True for an empty block.
    fn is_empty(&self, rank: Rank) -> bool;

    /// Time for which all data occupies a port, without overhead.
    fn everything(&self) -> T;
}

/// The joins of a row in which the left part receives.
pub trait RowJoins<T: Scalar, L> {
    /// A row that has not begun.
    fn new(law: &L) -> Self;

    /// Begins row `i`, with splits from `first` on.
    fn start(&mut self, i: Rank, first: Rank);

    /// Minimum of `max(R(i,k), C(k+1,j) + lambda) + f` over `first <= k < j`, where lambda and `f` are those of the
    /// message `[k+1..j]`.
    ///
    /// To be called for every `j > first` in turn; `receiver(k)` is `R(i,k)`, `sender(k)` is
    /// `C(k+1,j)`.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    fn least(
        &mut self,
        law: &L,
        j: Rank,
        receiver: impl Fn(Rank) -> T,
        sender: impl Fn(Rank) -> T,
    ) -> Result<T, DpError>;
}

/// The joins of a column in which the right part receives.
pub trait ColumnJoins<T: Scalar, L> {
    /// A column where the receiving part starts with `last` at most.
    fn new(law: &L, last: Rank) -> Self;

    /// Minimum of `max(R(r,j), C(i,r-1) + lambda) + f` over `i < r <= last`, where lambda and `f` are those of the
    /// message `[i..r-1]`.
    ///
    /// To be called for every `i < last` in turn, downwards; `receiver(r)` is `R(r,j)`,
    /// `sender(r)` is `C(i,r-1)`.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    fn least(
        &mut self,
        law: &L,
        range: (Rank, Rank),
        receiver: impl Fn(Rank) -> T,
        sender: impl Fn(Rank) -> T,
    ) -> Result<T, DpError>;
}

impl<T: Scalar> DenseLaw<T> for Scaled<T> {
    type Row = RowLane<T>;
    type Column = ColumnLane<T>;

    #[inline(always)]
    fn earliest(&self) -> T {
        self.latency()
    }

    fn is_empty(&self, rank: Rank) -> bool {
        Scaled::is_empty(self, rank)
    }

    fn everything(&self) -> T {
        self.volume(0, self.ranks() - 1)
    }
}

/// The joins of a row at linear costs.
pub struct RowLane<T> {
    i: Rank,
    /// The least split admitted.
    first: Rank,
    /// The least split at which the receiver is not ready before the message is there.
    turn: Rank,
    window: MonotoneQueue<T>,
}

impl<T: Scalar> RowJoins<T, Scaled<T>> for RowLane<T> {
    fn new(_: &Scaled<T>) -> RowLane<T> {
        RowLane { i: 0, first: 0, turn: 0, window: MonotoneQueue::new() }
    }

    fn start(&mut self, i: Rank, first: Rank) {
        (self.i, self.first, self.turn) = (i, first, first);
        self.window.clear();
    }

    #[inline(always)]
    fn least(
        &mut self,
        law: &Scaled<T>,
        j: Rank,
        receiver: impl Fn(Rank) -> T,
        sender: impl Fn(Rank) -> T,
    ) -> Result<T, DpError> {
        if j <= self.first {
            return Ok(T::NEVER);
        }
        self.window.push(j - 1, receiver(j - 1) - law.volume(self.i, j - 1))?;
        let mut turn = self.turn;
        while turn < j && receiver(turn) < sender(turn) + law.latency() {
            turn += 1;
        }
        self.turn = turn;
        self.window.expire(|k| k < turn);
        let mut time = T::NEVER;
        if turn > self.first {
            time = sender(turn - 1) + law.latency() + law.volume(turn, j);
        }
        if let Some(excess) = self.window.least() {
            time = time.least(law.volume(self.i, j) + excess);
        }
        Ok(time + law.overhead())
    }
}

/// The joins of a column at linear costs.
pub struct ColumnLane<T> {
    /// The greatest receiver admitted.
    last: Rank,
    /// The greatest receiver that is not ready before the message is there.
    turn: Rank,
    window: MonotoneQueue<T>,
}

impl<T: Scalar> ColumnJoins<T, Scaled<T>> for ColumnLane<T> {
    fn new(_: &Scaled<T>, last: Rank) -> ColumnLane<T> {
        ColumnLane { last, turn: last, window: MonotoneQueue::new() }
    }

    #[inline(always)]
    fn least(
        &mut self,
        law: &Scaled<T>,
        (i, j): (Rank, Rank),
        receiver: impl Fn(Rank) -> T,
        sender: impl Fn(Rank) -> T,
    ) -> Result<T, DpError> {
        if i >= self.last {
            return Ok(T::NEVER);
        }
        self.window.push(i + 1, receiver(i + 1) - law.volume(i + 1, j))?;
        let mut turn = self.turn;
        while turn > i && receiver(turn) < sender(turn) + law.latency() {
            turn -= 1;
        }
        self.turn = turn;
        self.window.expire(|r| r > turn);
        let mut time = T::NEVER;
        if turn < self.last {
            time = sender(turn + 1) + law.latency() + law.volume(i, turn);
        }
        if let Some(excess) = self.window.least() {
            time = time.least(law.volume(i, j) + excess);
        }
        Ok(time + law.overhead())
    }
}

/// The columns of a side.
pub(super) struct SideColumns<C> {
    /// The rank of the first column.
    first: Rank,
    columns: Vec<C>,
}

impl<C> SideColumns<C> {
    /// Columns `first..end`, where the receiving part starts with `last(j)` at most.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    pub(super) fn new<T: Scalar, L>(
        law: &L,
        (first, end): (Rank, Rank),
        last: impl Fn(Rank) -> Rank,
    ) -> Result<SideColumns<C>, DpError>
    where
        C: ColumnJoins<T, L>,
    {
        let mut columns = Vec::new();
        columns.try_reserve_exact(end - first).map_err(|_| DpError::OutOfMemory {
            needed: ((end - first) * size_of::<C>()) as u64,
        })?;
        columns.extend((first..end).map(|j| C::new(law, last(j))));
        Ok(SideColumns { first, columns })
    }

    /// Column `j`.
    #[inline(always)]
    pub(super) fn at(&mut self, j: Rank) -> &mut C {
        &mut self.columns[j - self.first]
    }
}
