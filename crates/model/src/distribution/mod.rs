//! The block-size distributions: the papers', and laws with a dial for skew.

mod log_normal;
mod power_law;
mod published;
mod zipf;

use crate::{BlockSizes, BlockSizesError, ClosedSet, MOST_RANKS, Randomness};

/// Distribution of block sizes over the ranks; the mean block is about `b` in each.
///
/// # Source
/// The papers' eleven ([`is_published`](Self::is_published)): OPT section 5.1, and J. L. Träff,
/// "Practical, distributed, low overhead algorithms for irregular gather and scatter collectives"
/// (TUW), section 5. The formulas reproduce the published totals; they hold where the prose of OPT
/// differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Distribution {
    /// `m_i = b`.
    Same,
    /// `m_i = 1 + x_i mod 2b`.
    Random,
    /// Random, sorted in falling order.
    RandomDecreasing,
    /// Random, sorted in rising order.
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
    /// The `k`-th largest block is in proportion to `k^-exponent`, at a random rank.
    PowerLaw,
    /// `m_i = b exp(sigma z_i - sigma^2/2)` for normal `z_i`.
    LogNormal,
    /// `m_i` in proportion to `k_i`, drawn from `1..p` with a probability in proportion to
    /// `k^-exponent`.
    Zipf,
}

/// The size of a generated problem, and the parameters that some distributions have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistributionParameters {
    /// `p >= 1`.
    pub ranks: usize,
    /// `b >= 1`: the mean block, in bytes.
    pub mean_block: u64,
    /// `rho >= 1`: how rare and large the spikes are; how many ranks hold the skewed data.
    pub rho: u64,
    /// At least 0: how fast a power law falls, or how rare large numbers are in Zipf's.
    pub exponent: f64,
    /// At least 0: the standard deviation of the logarithms of log-normal blocks.
    pub sigma: f64,
}

impl DistributionParameters {
    /// This many ranks with this many bytes each on average, and the other parameters as in the
    /// papers and the literature: rho 5, exponent 1, sigma 1.
    pub fn new(ranks: usize, mean_block: u64) -> DistributionParameters {
        DistributionParameters { ranks, mean_block, rho: 5, exponent: 1.0, sigma: 1.0 }
    }
}

/// Parameters that are not a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DistributionError {
    /// No ranks, or more than ranks.
    #[error("{ranks} processes; 1 to {MOST_RANKS} are allowed")]
    Ranks {
        /// 0, or more than ranks can be.
        ranks: usize,
    },
    /// `b = 0`, or so large that `2b` overflows.
    #[error("mean block size {mean_block}; 1 to 2^62 bytes are allowed")]
    MeanBlock {
        /// In bytes; 0, or more than 2^62.
        mean_block: u64,
    },
    /// `rho = 0`.
    #[error("rho is 0; it is at least 1")]
    Rho,
    /// A power that is negative or not finite.
    #[error("the exponent is {exponent}; it is finite and at least 0")]
    Exponent {
        /// Negative or not finite.
        exponent: f64,
    },
    /// A deviation that is negative, not finite, or so large that a block may overflow.
    #[error("sigma is {sigma}; 0 to 10 are allowed")]
    Sigma {
        /// Outside 0 to 10, or NaN.
        sigma: f64,
    },
    /// A block, or the total, of 2^64 bytes or more.
    #[error("the block sizes add up to more than 2^64 - 1 bytes; reduce p, b or rho")]
    TooLarge,
}

impl From<BlockSizesError> for DistributionError {
    fn from(error: BlockSizesError) -> DistributionError {
        match error {
            BlockSizesError::NoRanks => DistributionError::Ranks { ranks: 0 },
            BlockSizesError::TooManyRanks { ranks } => DistributionError::Ranks { ranks },
            BlockSizesError::TotalOverflows { .. } => DistributionError::TooLarge,
        }
    }
}

/// Law of a distribution.
struct DistributionLaw {
    /// The block sizes in words.
    formula: &'static str,
    /// True if it is in the papers' experiments.
    is_published: bool,
    /// The sizes, for parameters that are in range.
    sizes: fn(&DistributionParameters, Randomness) -> Result<Vec<u128>, DistributionError>,
}

impl Distribution {
    /// The distributions of the papers' experiments, in the order of the published tables.
    pub fn published() -> impl Iterator<Item = Distribution> {
        Distribution::ALL.iter().copied().filter(|distribution| distribution.is_published())
    }

    /// True if it is in the papers' experiments.
    pub fn is_published(self) -> bool {
        self.law().is_published
    }

    /// The block sizes in words, for help texts.
    pub fn formula(self) -> &'static str {
        self.law().formula
    }

    fn law(self) -> DistributionLaw {
        match self {
            Distribution::Same => published::SAME,
            Distribution::Random => published::RANDOM,
            Distribution::RandomDecreasing => published::RANDOM_DECREASING,
            Distribution::RandomIncreasing => published::RANDOM_INCREASING,
            Distribution::Bucket => published::BUCKET,
            Distribution::Spikes => published::SPIKES,
            Distribution::Decreasing => published::DECREASING,
            Distribution::Increasing => published::INCREASING,
            Distribution::Alternating => published::ALTERNATING,
            Distribution::Skewed => published::SKEWED,
            Distribution::TwoBlocks => published::TWO_BLOCKS,
            Distribution::PowerLaw => power_law::LAW,
            Distribution::LogNormal => log_normal::LAW,
            Distribution::Zipf => zipf::LAW,
        }
    }

    /// The block sizes of this distribution. All divisions are integer divisions.
    ///
    /// # Errors
    /// [`DistributionError`]: a parameter out of range, or a total of 2^64 bytes or more.
    ///
    /// # Complexity
    /// O(p) time and space, O(p log p) for the sorted ones and for Zipf's.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{Distribution, DistributionParameters, Randomness};
    /// let parameters = DistributionParameters { rho: 2, ..DistributionParameters::new(4, 10) };
    /// let sizes = Distribution::Skewed.sizes(parameters, Randomness::default()).unwrap();
    /// assert_eq!(sizes.iter().collect::<Vec<_>>(), [20, 20, 1, 1]);
    /// ```
    pub fn sizes(
        self,
        parameters: DistributionParameters,
        randomness: Randomness,
    ) -> Result<BlockSizes, DistributionError> {
        let DistributionParameters { ranks, mean_block, rho, exponent, sigma } = parameters;
        if !(1..=MOST_RANKS).contains(&ranks) {
            return Err(DistributionError::Ranks { ranks });
        }
        if !(1..=1 << 62).contains(&mean_block) {
            return Err(DistributionError::MeanBlock { mean_block });
        }
        if rho == 0 {
            return Err(DistributionError::Rho);
        }
        if !(exponent.is_finite() && exponent >= 0.0) {
            return Err(DistributionError::Exponent { exponent });
        }
        if !(0.0..=10.0).contains(&sigma) {
            return Err(DistributionError::Sigma { sigma });
        }
        let sizes = (self.law().sizes)(&parameters, randomness)?;
        let sizes: Option<Vec<u64>> = sizes.into_iter().map(|size| size.try_into().ok()).collect();
        Ok(BlockSizes::new(sizes.ok_or(DistributionError::TooLarge)?)?)
    }
}

/// `p b` as a floating-point number, for laws that share out the total.
fn total(parameters: &DistributionParameters) -> Result<f64, DistributionError> {
    let total = parameters.mean_block.checked_mul(parameters.ranks as u64);
    match total.filter(|&total| total < 1 << 63) {
        Some(total) => Ok(total as f64),
        None => Err(DistributionError::TooLarge),
    }
}

/// A size in bytes, at least 1, from a number that need not be whole.
fn rounded(bytes: f64) -> u128 {
    (bytes.round() as u128).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_the_published_ones() {
        let parameters = DistributionParameters::new(2000, 1000);
        let totals: Vec<u64> = Distribution::published()
            .map(|distribution| distribution.sizes(parameters, Randomness::default()).unwrap())
            .map(|sizes| sizes.total())
            .collect();
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
        let error = |ranks, mean_block, rho| {
            let parameters =
                DistributionParameters { rho, ..DistributionParameters::new(ranks, mean_block) };
            Distribution::Spikes.sizes(parameters, Randomness::default()).unwrap_err()
        };
        assert_eq!(error(0, 1, 1), DistributionError::Ranks { ranks: 0 });
        assert_eq!(error(1, 0, 1), DistributionError::MeanBlock { mean_block: 0 });
        assert_eq!(error(1, 1, 0), DistributionError::Rho);
        assert_eq!(error(100, 1 << 62, 16), DistributionError::TooLarge);
    }

    #[test]
    fn a_dial_out_of_range_is_refused_by_every_distribution() {
        let one = DistributionParameters::new(2, 1);
        for &distribution in Distribution::ALL {
            for value in [-1.0, f64::NAN, f64::INFINITY] {
                let exponent = DistributionParameters { exponent: value, ..one };
                let sigma = DistributionParameters { sigma: value, ..one };
                for parameters in [exponent, sigma] {
                    assert!(distribution.sizes(parameters, Randomness::default()).is_err());
                }
            }
        }
    }

    #[test]
    fn every_mean_is_about_as_asked_for_and_a_seed_decides() {
        let parameters = DistributionParameters::new(20_000, 1000);
        for &distribution in Distribution::ALL {
            let sizes =
                |seed| distribution.sizes(parameters, Randomness::Xoshiro { seed }).unwrap();
            let total = sizes(1).total();
            assert!((19_000_000..=21_000_000).contains(&total), "{}: {total}", distribution.name());
            assert_eq!(sizes(1), sizes(1));
        }
    }

    #[test]
    fn names_are_distinct_and_parsed() {
        let mut names: Vec<&str> = Distribution::ALL.iter().map(|one| one.name()).collect();
        for (&distribution, name) in Distribution::ALL.iter().zip(&names) {
            assert_eq!(name.parse(), Ok(distribution));
        }
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
