//! The eleven distributions of the papers' experiments.

use super::{DistributionError, DistributionLaw, DistributionParameters};
use crate::Randomness;

pub(super) const SAME: DistributionLaw =
    law("b everywhere", |parameters, _| regular(parameters, |_, _, mean, _| mean));

pub(super) const RANDOM: DistributionLaw =
    law("uniform in 1..2b", |parameters, randomness| Ok(uniform(parameters, randomness)));

pub(super) const RANDOM_DECREASING: DistributionLaw =
    law("random, sorted in falling order", |parameters, randomness| {
        let mut sizes = uniform(parameters, randomness);
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        Ok(sizes)
    });

pub(super) const RANDOM_INCREASING: DistributionLaw =
    law("random, sorted in rising order", |parameters, randomness| {
        let mut sizes = uniform(parameters, randomness);
        sizes.sort_unstable();
        Ok(sizes)
    });

pub(super) const BUCKET: DistributionLaw =
    law("b/2 plus uniform in 0..b-1", |parameters, randomness| {
        let mean = u128::from(parameters.mean_block);
        Ok(random(parameters, randomness, |x| mean / 2 + x % mean))
    });

pub(super) const SPIKES: DistributionLaw =
    law("rho*b for one process in rho, chosen at random, else 1", |parameters, randomness| {
        let (mean, rho) = (u128::from(parameters.mean_block), u128::from(parameters.rho));
        Ok(random(parameters, randomness, |x| if x.is_multiple_of(rho) { rho * mean } else { 1 }))
    });

pub(super) const DECREASING: DistributionLaw = law("2b(p-i)/p + 1", |parameters, _| {
    regular(parameters, |i, p, mean, _| 2 * mean * (p - i) / p + 1)
});

pub(super) const INCREASING: DistributionLaw = law("2b(i+1)/p + 1", |parameters, _| {
    regular(parameters, |i, p, mean, _| 2 * mean * (i + 1) / p + 1)
});

pub(super) const ALTERNATING: DistributionLaw =
    law("3b/2 on even ranks, b/2 on odd ones", |parameters, _| {
        regular(
            parameters,
            |i, _, mean, _| if i % 2 == 0 { mean + mean / 2 } else { mean - mean / 2 },
        )
    });

pub(super) const SKEWED: DistributionLaw =
    law("p*b/rho on the first rho ranks, else 1", |parameters, _| {
        regular(parameters, |i, p, mean, rho| if i < rho { p * mean / rho } else { 1 })
    });

pub(super) const TWO_BLOCKS: DistributionLaw =
    law("p*b/2 on the first and last rank, else 0", |parameters, _| {
        regular(parameters, |i, p, mean, _| if i == 0 || i == p - 1 { p * mean / 2 } else { 0 })
    });

/// A law of the papers, by its sizes, which may be too large for 64 bits.
const fn law(
    formula: &'static str,
    sizes: fn(&DistributionParameters, Randomness) -> Result<Vec<u128>, DistributionError>,
) -> DistributionLaw {
    DistributionLaw { formula, is_published: true, sizes }
}

/// `m_i` as a function of `i`, `p`, `b` and rho.
fn regular(
    parameters: &DistributionParameters,
    size: fn(u128, u128, u128, u128) -> u128,
) -> Result<Vec<u128>, DistributionError> {
    let (mean, rho) = (u128::from(parameters.mean_block), u128::from(parameters.rho));
    let p = parameters.ranks as u128;
    Ok((0..p).map(|i| size(i, p, mean, rho)).collect())
}

/// `m_i` as a function of the random number `x_i`.
fn random(
    parameters: &DistributionParameters,
    randomness: Randomness,
    size: impl Fn(u128) -> u128,
) -> Vec<u128> {
    let numbers = randomness.numbers(parameters.ranks);
    numbers.into_iter().map(|x| size(u128::from(x))).collect()
}

/// `m_i = 1 + x_i mod 2b`.
fn uniform(parameters: &DistributionParameters, randomness: Randomness) -> Vec<u128> {
    let mean = u128::from(parameters.mean_block);
    random(parameters, randomness, |x| 1 + x % (2 * mean))
}
