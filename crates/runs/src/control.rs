//! Progress and cancellation of a sweep.

use super::{ProgressCallback, RunsError};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The account of one computation, shared by its threads.
pub(super) struct Control<'p> {
    progress: &'p ProgressCallback<'p>,
    memory: u64,
    /// All rows of all tiles, once they are known.
    total: AtomicU64,
    done: AtomicU64,
    bytes: AtomicU64,
    cancelled: AtomicBool,
}

impl<'p> Control<'p> {
    pub(super) fn new(memory: u64, progress: &'p ProgressCallback<'p>) -> Control<'p> {
        Control {
            progress,
            memory,
            total: AtomicU64::new(0),
            done: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            cancelled: AtomicBool::new(false),
        }
    }

    /// States the whole work: rows of tiles.
    pub(super) fn plan(&self, rows: usize) {
        self.total.store(rows as u64, Ordering::Relaxed);
    }

    /// Reports rows of a tile that are done, and the bytes that were allocated for them.
    ///
    /// # Errors
    /// [`RunsError::OutOfMemory`], [`RunsError::Cancelled`].
    pub(super) fn advance(&self, rows: usize, bytes: usize) -> Result<(), RunsError> {
        let bytes = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        if bytes > self.memory {
            return Err(RunsError::OutOfMemory { memory: self.memory });
        }
        let done = self.done.fetch_add(rows as u64, Ordering::Relaxed) + rows as u64;
        if (self.progress)(done, self.total.load(Ordering::Relaxed)).is_break() {
            self.cancelled.store(true, Ordering::Relaxed);
        }
        if self.cancelled.load(Ordering::Relaxed) { Err(RunsError::Cancelled) } else { Ok(()) }
    }
}
