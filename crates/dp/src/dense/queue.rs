//! The least value in a moving window of splits.
//!
//! ```text
//! leaves by `expire`  <-  3  4  7  9  <-  6 enters by `push`: 7 and 9 go, since 6 stays longer
//!                         |
//!                         least
//! ```

use crate::DpError;
use tuwtree_model::{Rank, Scalar};

/// A monotone queue: splits enter at one end and leave at the other, in the same order; the least
/// value of those inside is at hand.
#[derive(Clone, Debug)]
pub(crate) struct MonotoneQueue<T> {
    /// From `head` on: the splits in the order of entry, with values that strictly rise. A split
    /// that entered before a smaller or equal value will never be the least again, and is gone.
    entries: Vec<(u32, T)>,
    head: usize,
}

impl<T: Scalar> MonotoneQueue<T> {
    /// An empty queue.
    pub(crate) fn new() -> MonotoneQueue<T> {
        MonotoneQueue { entries: Vec::new(), head: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.head = 0;
    }

    /// Lets split `k` in.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    #[inline(always)]
    pub(crate) fn push(&mut self, k: Rank, value: T) -> Result<(), DpError> {
        while self.entries.len() > self.head && self.entries[self.entries.len() - 1].1 >= value {
            self.entries.pop();
        }
        if self.entries.len() == self.entries.capacity() {
            self.make_room()?;
        }
        self.entries.push((k as u32, value));
        Ok(())
    }

    /// Lets out the splits that entered first for as long as they are `gone`.
    #[inline(always)]
    pub(crate) fn expire(&mut self, gone: impl Fn(Rank) -> bool) {
        while let Some(&(k, _)) = self.entries.get(self.head) {
            if !gone(k as Rank) {
                break;
            }
            self.head += 1;
        }
    }

    /// The least value, if there is one.
    #[inline(always)]
    pub(crate) fn least(&self) -> Option<T> {
        self.entries.get(self.head).map(|&(_, value)| value)
    }

    /// Reuses the places of the splits that left, if that is half of the queue; else grows.
    #[cold]
    fn make_room(&mut self) -> Result<(), DpError> {
        if self.head > self.entries.len() / 2 {
            self.entries.drain(..self.head);
            self.head = 0;
            return Ok(());
        }
        let more = self.entries.len().max(8);
        self.entries
            .try_reserve_exact(more)
            .map_err(|_| DpError::OutOfMemory { needed: (more * size_of::<(u32, T)>()) as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_a_moving_window() {
        let mut queue = MonotoneQueue::<i32>::new();
        for (k, value) in [5, 3, 4, 3, 9].into_iter().enumerate() {
            queue.push(k, value).unwrap();
        }
        assert_eq!(queue.least(), Some(3));
        queue.expire(|k| k < 3);
        assert_eq!(queue.least(), Some(3), "equal values: the later one stays");
        queue.expire(|k| k < 4);
        assert_eq!(queue.least(), Some(9));
        queue.expire(|_| true);
        assert_eq!(queue.least(), None);
    }
}
