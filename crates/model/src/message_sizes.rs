//! The sizes of an alltoall, with sums: each rank's message to each rank.

use crate::{BlockSizes, BlockSizesError, Rank};
use std::sync::Arc;

/// The messages `m[i][j]` from each rank to each, in bytes, those to oneself included.
///
/// The total fits a `u64`. A copy is O(1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageSizes {
    ranks: usize,
    /// Row after row: entry `i p + j` is `m[i][j]`.
    sizes: BlockSizes,
    /// Column after column, `p + 1` entries each: entry `j (p + 1) + i` is `m[0][j] + … + m[i-1][j]`.
    columns: Arc<[u64]>,
}

/// A list of numbers that is no matrix of messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageSizesError {
    /// Not a square number of them.
    #[error("{count} message sizes; p rows of p are needed, one row for each sender")]
    NotSquare {
        /// Number of entries.
        count: usize,
    },
    /// None, too many, or a total that is too large.
    #[error(transparent)]
    Sizes(#[from] BlockSizesError),
}

impl MessageSizes {
    /// The messages, row after row: all of rank 0 first.
    ///
    /// # Errors
    /// [`MessageSizesError`].
    ///
    /// # Complexity
    /// O(p^2).
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::MessageSizes;
    /// let sizes = MessageSizes::new([0, 5, 7, 0]).unwrap();
    /// assert_eq!((sizes.ranks(), sizes.message(0, 1), sizes.message(1, 0)), (2, 5, 7));
    /// assert!(MessageSizes::new([1, 2, 3]).is_err());
    /// ```
    pub fn new(sizes: impl IntoIterator<Item = u64>) -> Result<MessageSizes, MessageSizesError> {
        let sizes = BlockSizes::new(sizes)?;
        let count = sizes.ranks();
        let ranks = count.isqrt();
        if ranks * ranks != count {
            return Err(MessageSizesError::NotSquare { count });
        }
        let mut columns = Vec::with_capacity(ranks * (ranks + 1));
        for receiver in 0..ranks {
            let mut sum = 0;
            columns.push(sum);
            for sender in 0..ranks {
                sum += sizes.block(sender * ranks + receiver);
                columns.push(sum);
            }
        }
        Ok(MessageSizes { ranks, sizes, columns: columns.into() })
    }

    /// The messages where each rank has its block for each rank.
    ///
    /// # Errors
    /// [`MessageSizesError::Sizes`]: too many, or a total that is too large.
    pub fn of_senders(blocks: &BlockSizes) -> Result<MessageSizes, MessageSizesError> {
        let ranks = blocks.ranks();
        MessageSizes::new(blocks.iter().flat_map(|block| std::iter::repeat_n(block, ranks)))
    }

    /// The number of ranks, `p >= 1`.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// `m[from][to]` in bytes.
    #[inline]
    pub fn message(&self, from: Rank, to: Rank) -> u64 {
        self.sizes.block(from * self.ranks + to)
    }

    /// All messages, row after row.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.sizes.iter()
    }

    /// The sum of all messages.
    pub fn total(&self) -> u64 {
        self.sizes.total()
    }

    /// The sum of what a rank gives.
    pub fn row(&self, from: Rank) -> u64 {
        self.before(from + 1, 0) - self.before(from, 0)
    }

    /// The sum of what a rank gets.
    pub fn column(&self, to: Rank) -> u64 {
        self.place(self.ranks, to)
    }

    /// Offset of a message among all, row after row; for rank `p` and 0, the end of the last one.
    pub fn before(&self, from: Rank, to: Rank) -> u64 {
        self.sizes.before(from * self.ranks + to)
    }

    /// Offset of a message in its receiver's column, by sender; for sender `p`, the end of the last one.
    pub fn place(&self, from: Rank, to: Rank) -> u64 {
        self.columns[to * (self.ranks + 1) + from]
    }

    /// Sender and receiver of the byte with this number among all, and its number in the message.
    pub fn message_of(&self, offset: u64) -> (Rank, Rank, u64) {
        // The last message that starts at or before the byte: empty ones come first.
        let (mut index, mut end) = (0, self.sizes.ranks());
        while end - index > 1 {
            let middle = index + (end - index) / 2;
            if self.sizes.before(middle) <= offset {
                index = middle;
            } else {
                end = middle;
            }
        }
        let byte = offset - self.sizes.before(index);
        (index / self.ranks, index % self.ranks, byte)
    }

    /// The number, among all, of the byte at this place of a rank's column.
    pub fn at_place(&self, to: Rank, place: u64) -> u64 {
        let column = &self.columns[to * (self.ranks + 1)..][..=self.ranks];
        let from = column.partition_point(|&start| start <= place) - 1;
        let from = from.min(self.ranks - 1);
        self.before(from, to) + (place - column[from])
    }
}
