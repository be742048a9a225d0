//! Statistics of repeated measurements, without an assumption on the distribution of times.
//!
//! Times of collectives are skewed and have far outliers, so that means and normal distributions say little. Used
//! instead: the median, its confidence interval from order statistics, and the rank-sum test of one sample's tendency
//! to be larger than another. All assume independent repetitions; repetitions in close succession are not quite
//! independent.
//!
//! # Source
//! Interval: W. R. Thompson, "On confidence ranges for the median", Annals of Mathematical
//! Statistics 7, 1936; recommended for running times by T. Hoefler and R. Belli, "Scientific
//! benchmarking of parallel computing systems", SC 2015. Test: F. Wilcoxon, "Individual comparisons
//! by ranking methods", Biometrics Bulletin 1, 1945, as S. Hunold and A. Carpen-Amarie use it for MPI
//! (IEEE Transactions on Parallel and Distributed Systems 27, 2016).

/// The median, the mean of the two middle ones of an even number of values; `None` without values.
///
/// # Panics
/// For NaN.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = ascending(values);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[middle]),
        _ => Some(sorted[middle - 1].midpoint(sorted[middle])),
    }
}

/// An interval that contains the true median at least with the probability asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end, one of the values.
    pub low: f64,
    /// Its upper end, one of the values.
    pub high: f64,
    /// The probability that the interval covers the median.
    pub coverage: f64,
}

/// The shortest confidence interval of the median that is symmetric in ranks: from the k-th least to
/// the k-th largest value, with the largest `k` that covers the median with probability `confidence`.
/// `None` if even the least and the largest value do not: for 95 %, with fewer than six values.
///
/// The median lies outside with probability `2 P(X < k)`, where X counts the heads in n tosses.
///
/// # Panics
/// For NaN.
///
/// # Example
/// ```
/// use tuwtree_measure::median_interval;
/// let ten: Vec<f64> = (1..=10).map(f64::from).collect();
/// let interval = median_interval(&ten, 0.95).unwrap();
/// assert_eq!((interval.low, interval.high), (2.0, 9.0));
/// assert!((interval.coverage - 0.9785).abs() < 1e-4);
/// ```
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let sorted = ascending(values);
    let count = sorted.len();
    let mut below = 0.0;
    let mut found = None;
    // below = P(X < k), from the probabilities of 0, 1, … heads.
    for k in 1..=count.div_ceil(2) {
        below += (log_choose(count, k - 1) - count as f64 * std::f64::consts::LN_2).exp();
        let coverage = 1.0 - 2.0 * below;
        if coverage < confidence {
            break;
        }
        found = Some(Interval { low: sorted[k - 1], high: sorted[count - k], coverage });
    }
    found
}

/// The logarithm of the binomial coefficient.
fn log_choose(n: usize, k: usize) -> f64 {
    let log_factorial = |n: usize| libm::lgamma(n as f64 + 1.0);
    log_factorial(n) - log_factorial(k) - log_factorial(n - k)
}

/// The one-sided p-value of the rank-sum test: how probable it is, if both samples are from the same
/// distribution, that `left` is larger than `right` by as much as it is here, or more. Small values
/// mean that `left` tends to be larger. 1 if a sample is empty or all values are the same.
///
/// The normal approximation with corrections for ties and for continuity; good from about eight
/// values on each side.
///
/// # Panics
/// For NaN.
///
/// # Complexity
/// O(n log n).
pub fn greater_probability(left: &[f64], right: &[f64]) -> f64 {
    let (n, m) = (left.len() as f64, right.len() as f64);
    let mut all: Vec<(f64, bool)> = left.iter().map(|&value| (value, true)).collect();
    all.extend(right.iter().map(|&value| (value, false)));
    all.sort_by(|(a, _), (b, _)| a.partial_cmp(b).expect("times are numbers"));
    let (mut rank_sum, mut ties, mut before) = (0.0, 0.0, 0.0);
    for equal in all.chunk_by(|(a, _), (b, _)| a == b) {
        let count = equal.len() as f64;
        let rank = before + (count + 1.0) / 2.0;
        rank_sum += rank * equal.iter().filter(|(_, is_left)| *is_left).count() as f64;
        ties += count * (count * count - 1.0);
        before += count;
    }
    // U counts the pairs in which the left value is larger, ties half.
    let u = rank_sum - n * (n + 1.0) / 2.0;
    let total = n + m;
    let variance = n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance.is_nan() || variance <= 0.0 {
        return 1.0;
    }
    let z = (u - n * m / 2.0 - 0.5) / variance.sqrt();
    libm::erfc(z / std::f64::consts::SQRT_2) / 2.0
}

fn ascending(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("times are numbers"));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn first(count: usize) -> Vec<f64> {
        (1..=count).map(|value| value as f64).collect()
    }

    #[test]
    fn medians_are_middle_values() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    /// The ranks and coverages of tables of the sign test's intervals, such as table 3 of
    /// W. J. Conover, "Practical Nonparametric Statistics": sums of binomial coefficients over 2^n.
    #[test]
    fn intervals_have_the_ranks_of_the_tables() {
        assert_eq!(median_interval(&first(5), 0.95), None);
        for (count, low, high, coverage) in [
            (6, 1, 6, 0.9688),
            (8, 1, 8, 0.9922),
            (9, 2, 8, 0.9609),
            (15, 4, 12, 0.9648),
            (20, 6, 15, 0.9586),
            (25, 8, 18, 0.9567),
            (30, 10, 21, 0.9572),
            (50, 18, 33, 0.9672),
            (100, 40, 61, 0.9648),
        ] {
            let interval = median_interval(&first(count), 0.95).unwrap();
            assert_eq!((interval.low, interval.high), (f64::from(low), f64::from(high)), "{count}");
            assert!((interval.coverage - coverage).abs() < 1e-4, "{count}: {}", interval.coverage);
        }
    }

    #[test]
    fn intervals_of_many_values_are_finite_and_narrow() {
        let interval = median_interval(&first(10_000), 0.95).unwrap();
        // n/2 +- 0.98 sqrt(n).
        assert_eq!((interval.low, interval.high), (4902.0, 5099.0));
        assert!((0.95..0.955).contains(&interval.coverage));
    }

    /// The example in the documentation of scipy.stats.mannwhitneyu: two-sided, asymptotic, with
    /// correction for continuity, p = 0.11134688653314041.
    #[test]
    fn the_rank_sum_test_agrees_with_scipy() {
        let men = [19.0, 22.0, 16.0, 29.0, 24.0];
        let women = [20.0, 11.0, 17.0, 12.0];
        let p = greater_probability(&men, &women);
        assert!((2.0 * p - 0.111_346_886_533_140_41).abs() < 1e-12, "{p}");
    }

    /// 1, 2, 2 against 2, 3, by hand: the ranks are 1, 3, 3, 3, 5; U = 7 - 6 = 1; the mean is 3, the
    /// variance 3 * 2 / 12 * (6 - 24 / 20) = 2.4.
    #[test]
    fn ties_have_their_mean_rank_and_lower_the_variance() {
        let z = (1.0 - 3.0 - 0.5) / 2.4_f64.sqrt();
        let expected = libm::erfc(z / std::f64::consts::SQRT_2) / 2.0;
        let p = greater_probability(&[2.0, 1.0, 2.0], &[3.0, 2.0]);
        assert!((p - expected).abs() < 1e-14);
    }

    #[test]
    fn nothing_is_shown_by_nothing_or_by_equal_values() {
        assert_eq!(greater_probability(&[], &[1.0]), 1.0);
        assert_eq!(greater_probability(&[1.0; 9], &[1.0; 9]), 1.0);
        assert_eq!(greater_probability(&[1.0], &[]), 1.0);
    }

    proptest! {
        /// How often the interval misses the median 0.5 of uniform values is a matter of chance;
        /// that its probability is the sum of the outer binomial terms is not.
        #[test]
        fn coverage_is_the_inner_part_of_the_binomial_distribution(count in 6_usize..60) {
            let interval = median_interval(&first(count), 0.95).unwrap();
            let k = interval.low as usize;
            let choose = |k: usize| (0..k).fold(1.0, |c, i| c * (count - i) as f64 / (i + 1) as f64);
            let inner: f64 = (k..=count - k).map(choose).sum();
            prop_assert!((interval.coverage - inner / 2_f64.powi(count as i32)).abs() < 1e-9);
            // One rank further in would be too narrow.
            let next = interval.coverage - 2.0 * choose(k) / 2_f64.powi(count as i32);
            prop_assert!(next < 0.95);
        }

        #[test]
        fn what_is_larger_for_one_side_is_smaller_for_the_other(
            left in prop::collection::vec(0_u8..20, 8..30),
            right in prop::collection::vec(0_u8..20, 8..30), shift in 1_u8..200,
        ) {
            let floats = |values: &[u8], shift: u8| -> Vec<f64> {
                values.iter().map(|&value| f64::from(value) + f64::from(shift)).collect()
            };
            let (left, larger, right) = (floats(&left, 0), floats(&left, shift), floats(&right, 0));
            let p = greater_probability(&left, &right);
            prop_assert!((0.0..=1.0).contains(&p));
            prop_assert!(greater_probability(&larger, &right) <= p + 1e-12 || p == 1.0);
            // Both sides together exceed 1 by the correction for continuity only.
            let sum = p + greater_probability(&right, &left);
            prop_assert!((1.0..=2.0).contains(&sum), "{sum}");
        }
    }
}
