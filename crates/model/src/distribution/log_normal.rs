//! Log-normal block sizes: what loads and file sizes often look like.
//!
//! Normal numbers come from uniform ones by Box and Muller's method, with the same bits on every
//! machine.

use super::{DistributionError, DistributionLaw, DistributionParameters, rounded, total};
use crate::Randomness;
use std::f64::consts::TAU;

pub(super) const LAW: DistributionLaw = DistributionLaw {
    formula: "b exp(sigma z - sigma^2/2) for normal z, chosen at random",
    is_published: false,
    sizes,
};

fn sizes(
    parameters: &DistributionParameters,
    randomness: Randomness,
) -> Result<Vec<u128>, DistributionError> {
    let DistributionParameters { ranks, mean_block, sigma, .. } = *parameters;
    total(parameters)?;
    let size = |pair: &[f64]| {
        let radius = libm::sqrt(-2.0 * libm::log(pair[0]));
        let normal = radius * libm::cos(TAU * pair[1]);
        rounded(mean_block as f64 * libm::exp(sigma * normal - sigma * sigma / 2.0))
    };
    Ok(randomness.uniform(2 * ranks).chunks_exact(2).map(size).collect())
}

#[cfg(test)]
mod tests {
    use crate::{Distribution, DistributionParameters, Randomness};

    #[test]
    fn half_of_the_blocks_lie_below_the_median_of_the_law() {
        for randomness in [Randomness::default(), Randomness::Xoshiro { seed: 7 }] {
            for sigma in [0.0, 0.5, 1.0, 2.0] {
                let parameters = DistributionParameters {
                    sigma,
                    ..DistributionParameters::new(10_001, 100_000)
                };
                let sizes = Distribution::LogNormal.sizes(parameters, randomness).unwrap();
                let mut sizes: Vec<u64> = sizes.iter().collect();
                sizes.sort_unstable();
                let median = 100_000.0 * (-sigma * sigma / 2.0).exp();
                let ratio = sizes[5000] as f64 / median;
                assert!((0.95..1.05).contains(&ratio), "sigma {sigma}: {ratio}");
                // One standard deviation up.
                let ratio = sizes[8414] as f64 / (median * sigma.exp());
                assert!((0.9..1.1).contains(&ratio), "sigma {sigma}: {ratio}");
            }
        }
    }
}
