//! Block sizes that fall like a power: a dial for skew.
//!
//! The `k`-th largest of `p` is in proportion to `k^-exponent`, and together they are about `p b`
//! bytes. They lie at random ranks. Exponent 0 makes all blocks equal, 1 is the rank-size law of words
//! and cities; from 2 on one block has most of the data.

use super::{DistributionError, DistributionLaw, DistributionParameters, rounded, total};
use crate::Randomness;

pub(super) const LAW: DistributionLaw = DistributionLaw {
    formula: "k-th largest in proportion to k^-exponent, at random ranks",
    is_published: false,
    sizes,
};

fn sizes(
    parameters: &DistributionParameters,
    randomness: Randomness,
) -> Result<Vec<u128>, DistributionError> {
    let total = total(parameters)?;
    let places = 1..=parameters.ranks;
    let weights: Vec<f64> = places.map(|k| (k as f64).powf(-parameters.exponent)).collect();
    let sum: f64 = weights.iter().rev().sum();
    let mut sizes: Vec<u128> =
        weights.iter().map(|weight| rounded(total * (weight / sum))).collect();
    shuffle(&mut sizes, randomness);
    Ok(sizes)
}

/// Fisher and Yates' shuffle. Remainders favour small numbers, by less than one in 2^36.
fn shuffle(sizes: &mut [u128], randomness: Randomness) {
    let numbers = randomness.numbers(sizes.len());
    for (last, number) in (1..sizes.len()).rev().zip(numbers) {
        sizes.swap(last, (number % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Distribution, DistributionParameters, Randomness};

    fn power_law(ranks: usize, mean_block: u64, exponent: f64, seed: u64) -> Vec<u64> {
        let parameters =
            DistributionParameters { exponent, ..DistributionParameters::new(ranks, mean_block) };
        let sizes = Distribution::PowerLaw.sizes(parameters, Randomness::Xoshiro { seed }).unwrap();
        sizes.iter().collect()
    }

    #[test]
    fn the_largest_blocks_fall_as_the_exponent_says() {
        assert!(power_law(5, 1000, 0.0, 1).iter().all(|&bytes| bytes == 1000));
        let mut skewed = power_law(3, 1100, 1.0, 1);
        skewed.sort_unstable();
        assert_eq!(skewed, [600, 900, 1800]);
        assert_eq!(power_law(1, 7, 3.0, 1), [7]);
    }

    #[test]
    fn the_seed_moves_blocks_and_changes_none() {
        let sorted = |seed| {
            let mut sizes = power_law(100, 1000, 1.5, seed);
            sizes.sort_unstable();
            sizes
        };
        assert_eq!(sorted(1), sorted(2));
        assert_ne!(power_law(100, 1000, 1.5, 1), power_law(100, 1000, 1.5, 2));
    }

    #[test]
    fn the_mean_is_as_asked_for() {
        for exponent in [0.0, 0.5, 1.0, 2.0, 5.0] {
            let total: u64 = power_law(1000, 1000, exponent, 1).iter().sum();
            assert!((999_000..=1_002_000).contains(&total), "{exponent}: {total}");
        }
    }

    #[test]
    fn a_total_of_2_to_the_63_is_refused() {
        let parameters = DistributionParameters::new(4, 1 << 61);
        assert!(Distribution::PowerLaw.sizes(parameters, Randomness::default()).is_err());
    }
}
