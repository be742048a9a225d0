//! Progress and cancellation of a computation.

use crate::DpError;
use std::ops::ControlFlow;

/// Somebody who watches a computation and may end it.
pub trait Progress: Sync {
    /// `done` of `total` equal pieces of work are done. `Break` ends the computation with
    /// [`DpError::Cancelled`].
    ///
    /// Called about once a row, hence some `p` times, from any thread; a call should be cheap.
    fn advance(&self, done: u64, total: u64) -> ControlFlow<()>;

    /// The most bytes that a table may take whose size is not known beforehand: that of
    /// [`Method::Runs`](crate::Method::Runs). Beyond it the computation ends with
    /// [`DpError::MemoryExhausted`].
    fn memory_allowed(&self) -> u64 {
        u64::MAX
    }
}

/// Nobody watches.
impl Progress for () {
    fn advance(&self, _done: u64, _total: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Counts the finished cells of one computation.
pub(crate) struct Meter<'a> {
    progress: &'a dyn Progress,
    done: u64,
    total: u64,
}

impl<'a> Meter<'a> {
    /// A count of `total` cells.
    pub(crate) fn new(progress: &'a dyn Progress, total: usize) -> Meter<'a> {
        Meter { progress, done: 0, total: total as u64 }
    }

    /// Reports a row of `cells`.
    ///
    /// # Errors
    /// [`DpError::Cancelled`].
    pub(crate) fn row_done(&mut self, cells: usize) -> Result<(), DpError> {
        self.done += cells as u64;
        match self.progress.advance(self.done, self.total) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(DpError::Cancelled),
        }
    }
}
