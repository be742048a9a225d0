//! Block sizes with a dial for skew.

use crate::distribution::DistributionError;
use crate::{BlockSizes, MOST_PROCESSORS, Randomness};

/// Block sizes that fall like a power: the `k`-th largest of `p` is in proportion to `k^-exponent`,
/// and together they are about `p mean_block` bytes. They lie at random ranks, the same for the same
/// seed. Exponent 0 makes all blocks equal, 1 is Zipf's law; from 2 on one block has most of the data.
///
/// # Shapes
/// `p` sizes of at least 1 byte.
///
/// # Errors
/// [`DistributionError`] for no processors or too many, a mean of 0, and a total of 2^63 bytes or more;
/// an exponent that is negative or not finite is [`DistributionError::Exponent`].
///
/// # Complexity
/// O(p).
///
/// # Example
/// ```
/// use tuwtree_model::power_law;
/// let equal = power_law(5, 1000, 0.0, 1).unwrap();
/// assert!(equal.iter().all(|bytes| bytes == 1000));
/// let mut skewed: Vec<u64> = power_law(3, 1100, 1.0, 1).unwrap().iter().collect();
/// skewed.sort();
/// assert_eq!(skewed, [600, 900, 1800]);
/// ```
pub fn power_law(
    processors: usize,
    mean_block: u64,
    exponent: f64,
    seed: u64,
) -> Result<BlockSizes, DistributionError> {
    if processors == 0 || processors > MOST_PROCESSORS {
        return Err(DistributionError::Processors { processors });
    }
    let total = mean_block.checked_mul(processors as u64).filter(|&total| total < 1 << 63);
    let total = match (mean_block, total) {
        (0, _) => return Err(DistributionError::MeanBlock { mean_block }),
        (_, None) => return Err(DistributionError::TooLarge),
        (_, Some(total)) => total as f64,
    };
    if !(exponent.is_finite() && exponent >= 0.0) {
        return Err(DistributionError::Exponent { exponent });
    }
    let weights: Vec<f64> = (1..=processors).map(|place| (place as f64).powf(-exponent)).collect();
    let sum: f64 = weights.iter().rev().sum();
    let mut sizes: Vec<u64> =
        weights.iter().map(|weight| ((total * (weight / sum)).round() as u64).max(1)).collect();
    shuffle(&mut sizes, seed);
    Ok(BlockSizes::new(sizes)?)
}

/// Fisher and Yates' shuffle. Remainders favour small numbers, by less than one in 2^36.
fn shuffle(sizes: &mut [u64], seed: u64) {
    let numbers = Randomness::Xoshiro { seed }.numbers(sizes.len());
    for (last, number) in (1..sizes.len()).rev().zip(numbers) {
        sizes.swap(last, (number % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_moves_blocks_and_changes_none() {
        let sorted = |seed| {
            let mut sizes: Vec<u64> = power_law(100, 1000, 1.5, seed).unwrap().iter().collect();
            let given = sizes.clone();
            sizes.sort_unstable();
            (given, sizes)
        };
        assert_eq!(sorted(1).1, sorted(2).1);
        assert_ne!(sorted(1).0, sorted(2).0);
        assert_eq!(sorted(1).0, sorted(1).0);
    }

    #[test]
    fn the_mean_is_as_asked_for() {
        for exponent in [0.0, 0.5, 1.0, 2.0, 5.0] {
            let total = power_law(1000, 1000, exponent, 1).unwrap().total();
            assert!((999_000..=1_002_000).contains(&total), "{exponent}: {total}");
        }
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        assert!(power_law(0, 1, 1.0, 1).is_err());
        assert!(power_law(2, 0, 1.0, 1).is_err());
        assert!(power_law(4, 1 << 61, 1.0, 1).is_err());
        for exponent in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(power_law(2, 1, exponent, 1).is_err());
        }
        assert_eq!(power_law(1, 7, 3.0, 1).unwrap().block(0), 7);
    }
}
