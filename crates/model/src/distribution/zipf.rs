//! Block sizes drawn from Zipf's law, each by itself: most are small, a few are very large.

use super::{DistributionError, DistributionLaw, DistributionParameters, rounded, total};
use crate::Randomness;

pub(super) const LAW: DistributionLaw = DistributionLaw {
    formula: "in proportion to k in 1..p, chosen with probability in proportion to k^-exponent",
    is_published: false,
    sizes,
};

fn sizes(
    parameters: &DistributionParameters,
    randomness: Randomness,
) -> Result<Vec<u128>, DistributionError> {
    let DistributionParameters { ranks, mean_block, exponent, .. } = *parameters;
    total(parameters)?;
    let mut up_to = Vec::with_capacity(ranks);
    let (mut sum, mut weighted) = (0.0, 0.0);
    for k in 1..=ranks {
        let weight = libm::pow(k as f64, -exponent);
        sum += weight;
        weighted += weight * k as f64;
        up_to.push(sum);
    }
    let unit = mean_block as f64 * (sum / weighted);
    let drawn = |x: f64| 1 + up_to.partition_point(|&below| below < sum * x);
    let numbers = randomness.uniform(ranks);
    Ok(numbers.into_iter().map(|x| rounded(unit * drawn(x).min(ranks) as f64)).collect())
}

#[cfg(test)]
mod tests {
    use crate::{Distribution, DistributionParameters, Randomness};

    #[test]
    fn the_smallest_size_is_the_most_frequent() {
        let parameters = DistributionParameters {
            exponent: 1.0,
            ..DistributionParameters::new(10_000, 100_000)
        };
        let sizes = Distribution::Zipf.sizes(parameters, Randomness::default()).unwrap();
        let unit = sizes.iter().min().unwrap();
        let count = |times: u64| sizes.iter().filter(|&size| size == times * unit).count() as f64;
        // One in the 10,000th harmonic number, 9.79, and half as many with twice the size.
        assert!((900.0..1150.0).contains(&count(1)), "{}", count(1));
        assert!((0.4..0.6).contains(&(count(2) / count(1))), "{}", count(2));
    }
}
