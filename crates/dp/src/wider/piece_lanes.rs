//! The best join of a range under a law in pieces: a window for each piece.
//!
//! ```text
//!        i                          j     In row i, the left part receives, and the message [k+1..j] gets shorter
//!   row  |--R(i,k)--|k  message    j|     as k rises: so the splits of each piece are some in a row. As j grows
//!    k:  . 3 3 3 2 2 2 2 1 1 0 0 0        all messages do, and the splits of a piece move right, as the turn
//!             turn |====|===|=====        does. Of each piece the least R(i,k) - beta S(i,k) is at hand.
//! ```
//!
//! Before the turn the sender decides, and the last such split is best, whatever its piece: its message is the
//! shortest, and its sender the soonest. Columns are the mirror image. No piece need meet the next one.

use super::lanes::{ColumnJoins, RowJoins};
use super::pieces::Pieced;
use crate::DpError;
use crate::dense::queue::MonotoneQueue;
use tuwtree_model::{Rank, Scalar};

/// The splits whose messages are of the sizes of one piece.
#[derive(Clone, Debug)]
struct Window<T> {
    /// The split that enters next.
    next: Rank,
    splits: MonotoneQueue<T>,
}

/// The joins of a row in which the left part receives.
#[derive(Debug)]
pub(crate) struct PieceRow<T> {
    i: Rank,
    /// The least split admitted.
    first: Rank,
    /// The least split at which the receiver is not ready before the message is there.
    turn: Rank,
    /// One for each piece.
    windows: Vec<Window<T>>,
}

impl<T: Scalar> RowJoins<T, Pieced<T>> for PieceRow<T> {
    fn new(law: &Pieced<T>) -> PieceRow<T> {
        let window = Window { next: 0, splits: MonotoneQueue::new() };
        PieceRow { i: 0, first: 0, turn: 0, windows: vec![window; law.pieces.len()] }
    }

    fn start(&mut self, i: Rank, first: Rank) {
        (self.i, self.first, self.turn) = (i, first, first);
        for window in &mut self.windows {
            window.next = first;
            window.splits.clear();
        }
    }

    #[inline]
    fn least(
        &mut self,
        law: &Pieced<T>,
        j: Rank,
        receiver: impl Fn(Rank) -> T,
        sender: impl Fn(Rank) -> T,
    ) -> Result<T, DpError> {
        let (i, first) = (self.i, self.first);
        if j <= first {
            return Ok(T::NEVER);
        }
        let mut turn = self.turn;
        while turn < j && receiver(turn) < sender(turn) + law.latency(turn + 1, j) {
            turn += 1;
        }
        self.turn = turn;
        let mut time = T::NEVER;
        if turn > first {
            time = law.awaited(sender(turn - 1), turn, j);
        }
        let longest = law.bytes(first + 1, j);
        for (piece, window) in law.pieces.iter().zip(&mut self.windows) {
            if longest < piece.from {
                break;
            }
            while window.next < j && law.bytes(window.next + 1, j) >= piece.from {
                let k = window.next;
                if k >= turn && law.bytes(k + 1, j) < piece.end {
                    window.splits.push(k, receiver(k) - piece.volume(i, k))?;
                }
                window.next += 1;
            }
            window.splits.expire(|k| k < turn || law.bytes(k + 1, j) >= piece.end);
            if let Some(excess) = window.splits.least() {
                time = time.least(excess + piece.volume(i, j) + piece.fixed);
            }
        }
        Ok(time)
    }
}

/// The joins of a column in which the right part receives.
#[derive(Debug)]
pub(crate) struct PieceColumn<T> {
    /// The greatest receiver admitted.
    last: Rank,
    /// The greatest receiver that is not ready before the message is there.
    turn: Rank,
    /// One for each piece.
    windows: Vec<Window<T>>,
}

impl<T: Scalar> ColumnJoins<T, Pieced<T>> for PieceColumn<T> {
    fn new(law: &Pieced<T>, last: Rank) -> PieceColumn<T> {
        let window = Window { next: last, splits: MonotoneQueue::new() };
        PieceColumn { last, turn: last, windows: vec![window; law.pieces.len()] }
    }

    #[inline]
    fn least(
        &mut self,
        law: &Pieced<T>,
        (i, j): (Rank, Rank),
        receiver: impl Fn(Rank) -> T,
        sender: impl Fn(Rank) -> T,
    ) -> Result<T, DpError> {
        if i >= self.last {
            return Ok(T::NEVER);
        }
        let mut turn = self.turn;
        while turn > i && receiver(turn) < sender(turn) + law.latency(i, turn - 1) {
            turn -= 1;
        }
        self.turn = turn;
        let mut time = T::NEVER;
        if turn < self.last {
            time = law.awaited(sender(turn + 1), i, turn);
        }
        let longest = law.bytes(i, self.last - 1);
        for (piece, window) in law.pieces.iter().zip(&mut self.windows) {
            if longest < piece.from {
                break;
            }
            while window.next > i && law.bytes(i, window.next - 1) >= piece.from {
                let r = window.next;
                if r <= turn && law.bytes(i, r - 1) < piece.end {
                    window.splits.push(r, receiver(r) - piece.volume(r, j))?;
                }
                window.next -= 1;
            }
            window.splits.expire(|r| r > turn || law.bytes(i, r - 1) >= piece.end);
            if let Some(excess) = window.splits.least() {
                time = time.least(excess + piece.volume(i, j) + piece.fixed);
            }
        }
        Ok(time)
    }
}
