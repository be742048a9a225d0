//! Block sizes of an irregular gather or scatter problem, with prefix sums.

use std::sync::Arc;

/// A processor's number, `0..p`.
pub type Rank = usize;

/// The most processors that a problem may have: ten times the largest machine, and few enough for
/// the linear constructions to fit an ordinary memory.
pub const MOST_PROCESSORS: usize = 100_000_000;

/// The blocks `m_0, …, m_{p-1}` in bytes, at least one of them, with prefix sums.
///
/// The total fits a `u64`, so every range's size is exact and found in O(1). A copy is O(1), too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSizes {
    /// `p + 1` entries, never falling: entry `i` is `m_0 + … + m_{i-1}`. Shared by all copies.
    prefix: Arc<Vec<u64>>,
}

/// Why a list of numbers is not the block sizes of a problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockSizesError {
    /// No processors at all.
    #[error("there are no block sizes; a problem has at least one process")]
    NoProcessors,
    /// More processors than ranks.
    #[error("{processors} block sizes or more; at most {MOST_PROCESSORS} processes are allowed")]
    TooManyProcessors {
        /// How many sizes there are at least.
        processors: usize,
    },
    /// The total overflows 64 bits.
    #[error(
        "the block sizes of ranks 0 to {rank} add up to more than 2^64 - 1 bytes (block {rank} is {size})"
    )]
    TotalOverflows {
        /// The first processor with which the total is too large.
        rank: Rank,
        /// Its block's size in bytes.
        size: u64,
    },
}

impl BlockSizes {
    /// The block sizes `m_0, …, m_{p-1}` in bytes.
    ///
    /// # Errors
    /// [`BlockSizesError`]: no sizes, more than [`MOST_PROCESSORS`], or a total of 2^64 or more.
    pub fn new(sizes: impl IntoIterator<Item = u64>) -> Result<BlockSizes, BlockSizesError> {
        let mut prefix = vec![0];
        let mut total = 0_u64;
        for (rank, size) in sizes.into_iter().enumerate() {
            if rank == MOST_PROCESSORS {
                return Err(BlockSizesError::TooManyProcessors { processors: rank + 1 });
            }
            total =
                total.checked_add(size).ok_or(BlockSizesError::TotalOverflows { rank, size })?;
            prefix.push(total);
        }
        match prefix.len() {
            1 => Err(BlockSizesError::NoProcessors),
            _ => Ok(BlockSizes { prefix: Arc::new(prefix) }),
        }
    }

    /// The number of processors, `p >= 1`.
    pub fn processors(&self) -> usize {
        self.prefix.len() - 1
    }

    /// The size of processor `rank`'s block, `m_rank`, in bytes.
    pub fn block(&self, rank: Rank) -> u64 {
        self.prefix[rank + 1] - self.prefix[rank]
    }

    /// The blocks in rank order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.prefix.windows(2).map(|pair| pair[1] - pair[0])
    }

    /// `S(first, last) = m_first + … + m_last`, in bytes.
    pub fn range(&self, first: Rank, last: Rank) -> u64 {
        self.prefix[last + 1] - self.prefix[first]
    }

    /// The bytes of `count <= p` blocks from this one on; after the last comes the first.
    ///
    /// # Example
    /// ```
    /// let sizes = tuwtree_model::BlockSizes::new([4, 0, 2]).unwrap();
    /// assert_eq!(sizes.window(2, 2), 6);
    /// ```
    pub fn window(&self, first: Rank, count: usize) -> u64 {
        let (p, end) = (self.processors(), first + count);
        self.prefix[end.min(p)] - self.prefix[first] + self.prefix[end.saturating_sub(p)]
    }

    /// `m_0 + … + m_{rank-1}`: the displacement of `rank`'s block at the root, in bytes.
    pub fn before(&self, rank: Rank) -> u64 {
        self.prefix[rank]
    }

    /// The problem's size `m`, in bytes.
    pub fn total(&self) -> u64 {
        self.prefix[self.processors()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_sums_of_blocks() {
        let sizes = BlockSizes::new([3, 0, 4, 1]).unwrap();
        assert_eq!(sizes.processors(), 4);
        assert_eq!(sizes.range(1, 3), 5);
        assert_eq!(sizes.before(2), 3);
        assert_eq!(sizes.total(), 8);
        assert_eq!(sizes.iter().collect::<Vec<_>>(), [3, 0, 4, 1]);
    }

    #[test]
    fn a_total_beyond_64_bits_names_the_processor() {
        let error = BlockSizes::new([u64::MAX, 0, 1]).unwrap_err();
        assert_eq!(error, BlockSizesError::TotalOverflows { rank: 2, size: 1 });
        assert_eq!(BlockSizes::new([]).unwrap_err(), BlockSizesError::NoProcessors);
    }
}
