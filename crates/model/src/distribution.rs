//! The block-size distributions of the papers' experiments.

use crate::{BlockSizes, BlockSizesError, MOST_PROCESSORS, Randomness};

/// How block sizes are spread over the processors; the mean block is about `b` in each.
///
/// # Source
/// OPT section 5.1, and J. L. Träff, "Practical, distributed, low overhead algorithms for
/// irregular gather and scatter collectives" (TUW), section 5. The formulas are those that
/// reproduce the published totals; where the prose of OPT differs, they are the ones that hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// `m_i = b`.
    Same,
    /// `m_i = 1 + x_i mod 2b`.
    Random,
    /// As random, sorted in falling order.
    RandomDecreasing,
    /// As random, sorted in rising order.
    RandomIncreasing,
    /// `m_i = b/2 + x_i mod b`.
    Bucket,
    /// `m_i = rho b` if `rho` divides `x_i`, else 1.
    Spikes,
    /// `m_i = 2b(p - i)/p + 1`.
    Decreasing,
    /// `m_i = 2b(i + 1)/p + 1`.
    Increasing,
    /// `m_i = b + b/2` for even `i`, `b - b/2` for odd `i`.
    Alternating,
    /// `m_i = pb/rho` for `i < rho`, else 1.
    Skewed,
    /// `m_0 = m_{p-1} = pb/2`, all others empty.
    TwoBlocks,
}

/// The size of a generated problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// `p >= 1`.
    pub processors: usize,
    /// `b >= 1`: the mean block, in bytes.
    pub mean_block: u64,
    /// `rho >= 1`: how rare and large the spikes are; how many processors hold the skewed data.
    pub rho: u64,
}

/// Why there is no such problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DistributionError {
    /// No processors, or more than ranks.
    #[error("{processors} processors; 1 to {MOST_PROCESSORS} are allowed")]
    Processors {
        /// `p`.
        processors: usize,
    },
    /// `b = 0`, or so large that `2b` overflows.
    #[error("mean block size {mean_block}; 1 to 2^62 bytes are allowed")]
    MeanBlock {
        /// `b`.
        mean_block: u64,
    },
    /// `rho = 0`.
    #[error("rho is 0; it is at least 1")]
    Rho,
    /// A power that is negative or not finite.
    #[error("the exponent is {exponent}; it is finite and at least 0")]
    Exponent {
        /// What was given.
        exponent: f64,
    },
    /// A block, or the total, of 2^64 bytes or more.
    #[error("the block sizes add up to more than 2^64 - 1 bytes; reduce p, b or rho")]
    TooLarge,
}

impl From<BlockSizesError> for DistributionError {
    fn from(error: BlockSizesError) -> DistributionError {
        match error {
            BlockSizesError::NoProcessors => DistributionError::Processors { processors: 0 },
            BlockSizesError::TooManyProcessors { processors } => {
                DistributionError::Processors { processors }
            }
            BlockSizesError::TotalOverflows { .. } => DistributionError::TooLarge,
        }
    }
}

impl Distribution {
    /// All distributions, in the order of the published tables.
    pub const ALL: [Distribution; 11] = [
        Distribution::Same,
        Distribution::Random,
        Distribution::RandomDecreasing,
        Distribution::RandomIncreasing,
        Distribution::Bucket,
        Distribution::Spikes,
        Distribution::Decreasing,
        Distribution::Increasing,
        Distribution::Alternating,
        Distribution::Skewed,
        Distribution::TwoBlocks,
    ];

    /// The name by which users, documents and tests call the distribution.
    pub fn name(self) -> &'static str {
        match self {
            Distribution::Same => "same",
            Distribution::Random => "random",
            Distribution::RandomDecreasing => "random-decreasing",
            Distribution::RandomIncreasing => "random-increasing",
            Distribution::Bucket => "bucket",
            Distribution::Spikes => "spikes",
            Distribution::Decreasing => "decreasing",
            Distribution::Increasing => "increasing",
            Distribution::Alternating => "alternating",
            Distribution::Skewed => "skewed",
            Distribution::TwoBlocks => "two-blocks",
        }
    }

    /// The block sizes in words, for help texts.
    pub fn formula(self) -> &'static str {
        match self {
            Distribution::Same => "b everywhere",
            Distribution::Random => "uniform in 1..2b",
            Distribution::RandomDecreasing => "random, sorted in falling order",
            Distribution::RandomIncreasing => "random, sorted in rising order",
            Distribution::Bucket => "b/2 plus uniform in 0..b-1",
            Distribution::Spikes => "rho*b for one processor in rho, chosen at random, else 1",
            Distribution::Decreasing => "2b(p-i)/p + 1",
            Distribution::Increasing => "2b(i+1)/p + 1",
            Distribution::Alternating => "3b/2 on even ranks, b/2 on odd ones",
            Distribution::Skewed => "p*b/rho on the first rho processors, else 1",
            Distribution::TwoBlocks => "p*b/2 on the first and last processor, else 0",
        }
    }

    /// Whether the sizes depend on the random numbers.
    fn is_random(self) -> bool {
        use Distribution::{Bucket, Random, RandomDecreasing, RandomIncreasing, Spikes};
        matches!(self, Random | RandomDecreasing | RandomIncreasing | Bucket | Spikes)
    }

    /// The block sizes of this distribution. All divisions are integer divisions.
    ///
    /// # Errors
    /// [`DistributionError`]: a parameter out of range, or a total of 2^64 bytes or more.
    ///
    /// # Complexity
    /// O(p) time and space, O(p log p) for the sorted ones.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{Distribution, Randomness, Scale};
    /// let scale = Scale { processors: 4, mean_block: 10, rho: 2 };
    /// let sizes = Distribution::Skewed.sizes(scale, Randomness::default()).unwrap();
    /// assert_eq!(sizes.iter().collect::<Vec<_>>(), [20, 20, 1, 1]);
    /// ```
    pub fn sizes(
        self,
        scale: Scale,
        randomness: Randomness,
    ) -> Result<BlockSizes, DistributionError> {
        let Scale { processors, mean_block, rho } = scale;
        if !(1..=MOST_PROCESSORS).contains(&processors) {
            return Err(DistributionError::Processors { processors });
        }
        if !(1..=1 << 62).contains(&mean_block) {
            return Err(DistributionError::MeanBlock { mean_block });
        }
        if rho == 0 {
            return Err(DistributionError::Rho);
        }
        let sizes = if self.is_random() {
            self.random_sizes(scale, &randomness.numbers(processors))
        } else {
            (0..processors).map(|rank| self.regular_size(scale, rank)).collect()
        };
        let sizes: Option<Vec<u64>> = sizes.into_iter().map(|size| size.try_into().ok()).collect();
        Ok(BlockSizes::new(sizes.ok_or(DistributionError::TooLarge)?)?)
    }

    /// The sizes that depend on random numbers, which may be too large for 64 bits.
    fn random_sizes(self, scale: Scale, numbers: &[u64]) -> Vec<u128> {
        let (mean, rho) = (u128::from(scale.mean_block), u128::from(scale.rho));
        let size = |x: u128| match self {
            Distribution::Bucket => mean / 2 + x % mean,
            Distribution::Spikes if x.is_multiple_of(rho) => rho * mean,
            Distribution::Spikes => 1,
            _ => 1 + x % (2 * mean),
        };
        let mut sizes: Vec<u128> = numbers.iter().map(|&x| size(u128::from(x))).collect();
        match self {
            Distribution::RandomIncreasing => sizes.sort_unstable(),
            Distribution::RandomDecreasing => sizes.sort_unstable_by(|a, b| b.cmp(a)),
            _ => {}
        }
        sizes
    }

    /// `m_rank` of the distributions without random numbers, which may be too large for 64 bits.
    fn regular_size(self, scale: Scale, rank: usize) -> u128 {
        let (mean, rho) = (u128::from(scale.mean_block), u128::from(scale.rho));
        let (p, i) = (scale.processors as u128, rank as u128);
        match self {
            Distribution::Decreasing => 2 * mean * (p - i) / p + 1,
            Distribution::Increasing => 2 * mean * (i + 1) / p + 1,
            Distribution::Alternating if i % 2 == 0 => mean + mean / 2,
            Distribution::Alternating => mean - mean / 2,
            Distribution::Skewed if i < rho => p * mean / rho,
            Distribution::Skewed => 1,
            Distribution::TwoBlocks if i == 0 || i == p - 1 => p * mean / 2,
            Distribution::TwoBlocks => 0,
            _ => mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLISHED: Scale = Scale { processors: 2000, mean_block: 1000, rho: 5 };

    #[test]
    fn totals_are_the_published_ones() {
        let totals = Distribution::ALL
            .map(|distribution| distribution.sizes(PUBLISHED, Randomness::default()).unwrap())
            .map(|sizes| sizes.total());
        assert_eq!(
            totals,
            [
                2_000_000, 1_983_668, 1_983_668, 1_983_668, 2_005_668, 2_001_600, 2_003_000,
                2_003_000, 2_000_000, 2_001_995, 2_000_000
            ]
        );
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let error = |processors, mean_block, rho| {
            let scale = Scale { processors, mean_block, rho };
            Distribution::Spikes.sizes(scale, Randomness::default()).unwrap_err()
        };
        assert_eq!(error(0, 1, 1), DistributionError::Processors { processors: 0 });
        assert_eq!(error(1, 0, 1), DistributionError::MeanBlock { mean_block: 0 });
        assert_eq!(error(1, 1, 0), DistributionError::Rho);
        assert_eq!(error(100, 1 << 62, 16), DistributionError::TooLarge);
    }

    #[test]
    fn names_are_distinct() {
        let mut names = Distribution::ALL.map(Distribution::name);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
