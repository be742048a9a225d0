//! Block sizes of an irregular gather or scatter problem, with prefix sums.

use std::sync::Arc;

/// A rank's number, `0..p`.
pub type Rank = usize;

/// The most ranks that a problem may have: ten times the largest machine, and few enough for
/// the linear constructions to fit an ordinary memory.
pub const MOST_RANKS: usize = 100_000_000;

/// The blocks `m_0, …, m_{p-1}` in bytes, at least one of them, with prefix sums.
///
/// The total fits a `u64`, so every range's size is exact and found in O(1). A copy is O(1), too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSizes {
    /// `p + 1` entries, never falling: entry `i` is `m_0 + … + m_{i-1}`. Shared by all copies.
    prefix: Arc<Vec<u64>>,
}

/// Invalid block sizes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockSizesError {
    /// No ranks at all.
    #[error("there are no block sizes; a problem has at least one process")]
    NoRanks,
    /// More ranks than ranks.
    #[error("{ranks} block sizes or more; at most {MOST_RANKS} processes are allowed")]
    TooManyRanks {
        /// A lower bound on the number of sizes.
        ranks: usize,
    },
    /// The total overflows 64 bits.
    #[error(
        "the block sizes of ranks 0 to {rank} add up to more than 2^64 - 1 bytes (block {rank} is {size})"
    )]
    TotalOverflows {
        /// The first rank with which the total is too large.
        rank: Rank,
        /// Its block's size in bytes.
        size: u64,
    },
}

impl BlockSizes {
    /// The block sizes `m_0, …, m_{p-1}` in bytes.
    ///
    /// # Errors
    /// [`BlockSizesError`]: no sizes, more than [`MOST_RANKS`], or a total of 2^64 or more.
    pub fn new(sizes: impl IntoIterator<Item = u64>) -> Result<BlockSizes, BlockSizesError> {
        let mut prefix = vec![0];
        let mut total = 0_u64;
        for (rank, size) in sizes.into_iter().enumerate() {
            if rank == MOST_RANKS {
                return Err(BlockSizesError::TooManyRanks { ranks: rank + 1 });
            }
            total =
                total.checked_add(size).ok_or(BlockSizesError::TotalOverflows { rank, size })?;
            prefix.push(total);
        }
        match prefix.len() {
            1 => Err(BlockSizesError::NoRanks),
            _ => Ok(BlockSizes { prefix: Arc::new(prefix) }),
        }
    }

    /// The number of ranks, `p >= 1`.
    pub fn ranks(&self) -> usize {
        self.prefix.len() - 1
    }

    /// The size of rank `rank`'s block, `m_rank`, in bytes.
    #[inline]
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
        let (p, end) = (self.ranks(), first + count);
        self.prefix[end.min(p)] - self.prefix[first] + self.prefix[end.saturating_sub(p)]
    }

    /// `m_0 + … + m_{rank-1}`: the displacement of `rank`'s block at the root, in bytes.
    pub fn before(&self, rank: Rank) -> u64 {
        self.prefix[rank]
    }

    /// The problem's size `m`, in bytes.
    pub fn total(&self) -> u64 {
        self.prefix[self.ranks()]
    }
}

/// The rank with the largest block; of several, the one of least rank. With gamma <= beta no root
/// allows a faster tree, if trees need not be ordered.
///
/// # Complexity
/// O(p).
///
/// # Source
/// `docs/beyond-ordered-trees.md`.
///
/// # Example
/// ```
/// use tuwtree_model::{BlockSizes, largest_block};
/// assert_eq!(largest_block(&BlockSizes::new([3, 7, 0, 7]).unwrap()), 1);
/// ```
pub fn largest_block(sizes: &BlockSizes) -> Rank {
    let larger = |best: (Rank, u64), next: (Rank, u64)| if next.1 > best.1 { next } else { best };
    sizes.iter().enumerate().reduce(larger).expect("a problem has at least one rank").0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_sums_of_blocks() {
        let sizes = BlockSizes::new([3, 0, 4, 1]).unwrap();
        assert_eq!(sizes.ranks(), 4);
        assert_eq!(sizes.range(1, 3), 5);
        assert_eq!(sizes.before(2), 3);
        assert_eq!(sizes.total(), 8);
        assert_eq!(sizes.iter().collect::<Vec<_>>(), [3, 0, 4, 1]);
    }

    #[test]
    fn a_total_beyond_64_bits_names_the_rank() {
        let error = BlockSizes::new([u64::MAX, 0, 1]).unwrap_err();
        assert_eq!(error, BlockSizesError::TotalOverflows { rank: 2, size: 1 });
        assert_eq!(BlockSizes::new([]).unwrap_err(), BlockSizesError::NoRanks);
    }
}
