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

use super::Scaled;
use crate::DpError;
use crate::dense::queue::MonotoneQueue;
use tuwtree_model::{Rank, Scalar};

/// The joins of a row in which the left part receives.
pub(super) struct RowLane<T> {
    i: Rank,
    /// The least split admitted.
    first: Rank,
    /// The least split at which the receiver is not ready before the message is there.
    turn: Rank,
    window: MonotoneQueue<T>,
}

impl<T: Scalar> RowLane<T> {
    pub(super) fn new() -> RowLane<T> {
        RowLane { i: 0, first: 0, turn: 0, window: MonotoneQueue::new() }
    }

    /// Begins row `i`, with splits from `first` on.
    pub(super) fn start(&mut self, i: Rank, first: Rank) {
        (self.i, self.first, self.turn) = (i, first, first);
        self.window.clear();
    }

    /// The least of `max(R(i,k), C(k+1,j) + lambda) + o + V(k+1,j)` over `first <= k < j`.
    ///
    /// To be called for every `j > first` in turn; `receiver(k)` is `R(i,k)`, `sender(k)` is
    /// `C(k+1,j)`.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    #[inline(always)]
    pub(super) fn least(
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

/// The joins of all columns in which the right part receives.
pub(super) struct ColumnLanes<T> {
    /// The rank of the first column.
    first: Rank,
    columns: Vec<Column<T>>,
}

struct Column<T> {
    /// The greatest receiver admitted.
    last: Rank,
    /// The greatest receiver that is not ready before the message is there.
    turn: Rank,
    window: MonotoneQueue<T>,
}

impl<T: Scalar> ColumnLanes<T> {
    /// Columns `first..end`, where the receiving part starts with `last(j)` at most.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    pub(super) fn new(
        first: Rank,
        end: Rank,
        last: impl Fn(Rank) -> Rank,
    ) -> Result<ColumnLanes<T>, DpError> {
        let mut columns = Vec::new();
        columns.try_reserve_exact(end - first).map_err(|_| DpError::OutOfMemory {
            needed: ((end - first) * size_of::<Column<T>>()) as u64,
        })?;
        columns.extend((first..end).map(|j| {
            let last = last(j);
            Column { last, turn: last, window: MonotoneQueue::new() }
        }));
        Ok(ColumnLanes { first, columns })
    }

    /// The least of `max(R(r,j), C(i,r-1) + lambda) + o + V(i,r-1)` over `i < r <= last(j)`.
    ///
    /// To be called for every `i < last(j)` in turn, downwards; `receiver(r)` is `R(r,j)`,
    /// `sender(r)` is `C(i,r-1)`.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    #[inline(always)]
    pub(super) fn least(
        &mut self,
        law: &Scaled<T>,
        (i, j): (Rank, Rank),
        receiver: impl Fn(Rank) -> T,
        sender: impl Fn(Rank) -> T,
    ) -> Result<T, DpError> {
        let column = &mut self.columns[j - self.first];
        if i >= column.last {
            return Ok(T::NEVER);
        }
        column.window.push(i + 1, receiver(i + 1) - law.volume(i + 1, j))?;
        let mut turn = column.turn;
        while turn > i && receiver(turn) < sender(turn) + law.latency() {
            turn -= 1;
        }
        column.turn = turn;
        column.window.expire(|r| r > turn);
        let mut time = T::NEVER;
        if turn < column.last {
            time = sender(turn + 1) + law.latency() + law.volume(i, turn);
        }
        if let Some(excess) = column.window.least() {
            time = time.least(law.volume(i, j) + excess);
        }
        Ok(time + law.overhead())
    }
}
