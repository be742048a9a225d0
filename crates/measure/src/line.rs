//! A start-up latency and a time per byte, fitted to measured times.
//!
//! Times of messages from one byte to a megabyte differ by orders of magnitude, and some are wrong,
//! nearly always too long. A least-squares line would follow the largest messages and the worst
//! outliers. The line here makes the sum of the *relative* deviations least,
//! `sum |alpha + beta s - t| / t`: every size counts alike, and an outlier, however large, counts at
//! most 1, since it is divided by itself.
//!
//! Some best line passes through two of the points, or, since neither cost may be negative, through
//! one point with `alpha = 0` or `beta = 0`: the vertices of a linear program. With a few dozen
//! points all of them are tried.
//!
//! # Source
//! L1 regression and its vertices: R. Koenker and G. Bassett, "Regression quantiles", Econometrica
//! 46, 1978. Relative errors: K. Chen, S. Guo, Y. Lin and Z. Ying, "Least absolute relative error
//! estimation", Journal of the American Statistical Association 105, 2010 (its first criterion).

use crate::statistics::median;

/// A measured time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The size of the message in bytes.
    pub bytes: u64,
    /// Duration; finite and above 0.
    pub seconds: f64,
}

/// Costs `alpha + beta * s` that describe times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The start-up latency, `alpha >= 0`.
    pub alpha_seconds: f64,
    /// The time per byte, `beta >= 0`.
    pub beta_seconds_per_byte: f64,
    /// The fit's error: the median of `|alpha + beta s - t| / t` over all samples.
    pub median_relative_deviation: f64,
}

/// Times without a line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoLine {
    /// A line has two parameters.
    #[error("{sizes} message sizes; a line needs at least 2")]
    Sizes {
        /// Number of sizes.
        sizes: usize,
    },
    /// A clock that stands still, or no number.
    #[error("{bytes} bytes took {seconds} s; times above 0 are needed")]
    Time {
        /// The size of the message in bytes.
        bytes: u64,
        /// At most 0, or NaN.
        seconds: f64,
    },
}

impl Line {
    /// The line with the least sum of relative deviations from these samples. Of several lines, the
    /// first found, in the order of the samples by size and time.
    ///
    /// # Errors
    /// [`NoLine`].
    ///
    /// # Complexity
    /// O(n^3) time for n samples; of more than [`Line::MOST_SAMPLES`], the median of each size stands
    /// for all of that size.
    ///
    /// # Example
    /// Five exact times and an outlier.
    /// ```
    /// use tuwtree_measure::{Line, Sample};
    /// let exact = [1, 10, 100, 1000, 10000].map(|bytes| (bytes, 5.0 + 0.5 * bytes as f64));
    /// let samples = exact.into_iter().chain([(500, 9e9)]);
    /// let samples: Vec<_> = samples.map(|(bytes, seconds)| Sample { bytes, seconds }).collect();
    /// let line = Line::fit(&samples).unwrap();
    /// assert!((line.alpha_seconds - 5.0).abs() < 1e-9);
    /// assert!((line.beta_seconds_per_byte - 0.5).abs() < 1e-12);
    /// ```
    pub fn fit(samples: &[Sample]) -> Result<Line, NoLine> {
        let all = sorted(samples)?;
        let points = if all.len() > Self::MOST_SAMPLES { medians(&all) } else { all.clone() };
        let (alpha, beta) = vertices(&points)
            .map(|line| (deviation(line, &points), line))
            .min_by(|(one, _), (other, _)| one.total_cmp(other))
            .map(|(_, line)| line)
            .expect("each point gives the horizontal line through it");
        let relative: Vec<f64> = all.iter().map(|&one| relative((alpha, beta), one)).collect();
        Ok(Line {
            alpha_seconds: alpha,
            beta_seconds_per_byte: beta,
            median_relative_deviation: median(&relative).expect("there are samples"),
        })
    }

    /// The most samples for which every line through two of them is tried.
    pub const MOST_SAMPLES: usize = 150;

    /// Time of a message of this size by the line.
    pub fn seconds(&self, bytes: u64) -> f64 {
        self.alpha_seconds + self.beta_seconds_per_byte * bytes as f64
    }
}

/// The samples by size and time.
fn sorted(samples: &[Sample]) -> Result<Vec<Sample>, NoLine> {
    let is_time = |one: &&Sample| !(one.seconds.is_finite() && one.seconds > 0.0);
    if let Some(&Sample { bytes, seconds }) = samples.iter().find(is_time) {
        return Err(NoLine::Time { bytes, seconds });
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(|a, b| a.bytes.cmp(&b.bytes).then(a.seconds.total_cmp(&b.seconds)));
    match sorted.chunk_by(|a, b| a.bytes == b.bytes).count() {
        sizes @ (0 | 1) => Err(NoLine::Sizes { sizes }),
        _ => Ok(sorted),
    }
}

/// For each size the median time.
fn medians(sorted: &[Sample]) -> Vec<Sample> {
    let of_size = |samples: &[Sample]| {
        let seconds: Vec<f64> = samples.iter().map(|one| one.seconds).collect();
        let seconds = median(&seconds).expect("a size has samples");
        Sample { bytes: samples[0].bytes, seconds }
    };
    sorted.chunk_by(|a, b| a.bytes == b.bytes).map(of_size).collect()
}

/// The candidate lines, alpha and beta, among them a best one.
fn vertices(points: &[Sample]) -> impl Iterator<Item = (f64, f64)> {
    let level = points.iter().map(|one| (one.seconds, 0.0));
    let through_origin =
        points.iter().filter(|one| one.bytes > 0).map(|one| (0.0, one.seconds / one.bytes as f64));
    let pairs = points.iter().enumerate().flat_map(move |(index, &one)| {
        points[index + 1..].iter().filter_map(move |&other| through(one, other))
    });
    pairs.chain(level).chain(through_origin)
}

/// The line through two points, the first of which is not the larger; `None` if a cost would be
/// negative.
fn through(one: Sample, other: Sample) -> Option<(f64, f64)> {
    let bytes = (other.bytes - one.bytes) as f64;
    let beta = (other.seconds - one.seconds) / bytes;
    let alpha = one.seconds - beta * one.bytes as f64;
    (bytes > 0.0 && beta >= 0.0 && alpha >= 0.0).then_some((alpha, beta))
}

fn relative((alpha, beta): (f64, f64), Sample { bytes, seconds }: Sample) -> f64 {
    (alpha + beta * bytes as f64 - seconds).abs() / seconds
}

fn deviation(line: (f64, f64), points: &[Sample]) -> f64 {
    points.iter().map(|&one| relative(line, one)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZES: [u64; 11] = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262_144, 1_048_576];

    fn samples(time: impl Fn(u64) -> f64) -> Vec<Sample> {
        SIZES.map(|bytes| Sample { bytes, seconds: time(bytes) }).into()
    }

    proptest! {
        #[test]
        fn exact_lines_are_found_and_outliers_count_at_most_one_each(
            alpha in 1e-7_f64..1e-3, beta in 1e-11_f64..1e-6,
            wrong in prop::collection::btree_map(0_usize..11, 1.5_f64..1e4, 0..4),
        ) {
            let exact = samples(|bytes| alpha + beta * bytes as f64);
            let line = Line::fit(&exact).unwrap();
            prop_assert!((line.alpha_seconds / alpha - 1.0).abs() < 1e-6);
            prop_assert!((line.beta_seconds_per_byte / beta - 1.0).abs() < 1e-6);
            prop_assert!(line.median_relative_deviation < 1e-9);
            let mut samples = exact;
            for (index, factor) in &wrong {
                samples[*index].seconds *= factor;
            }
            let line = Line::fit(&samples).unwrap();
            let sum = deviation((line.alpha_seconds, line.beta_seconds_per_byte), &samples);
            prop_assert!(sum <= wrong.len() as f64 + 1e-9);
        }

        #[test]
        fn no_line_near_the_best_one_is_better(
            times in prop::collection::vec(1e-6_f64..1e-2, 11), shift in -0.1_f64..0.1, tilt in -0.1_f64..0.1,
        ) {
            let samples: Vec<Sample> = SIZES
                .iter()
                .zip(times)
                .map(|(&bytes, seconds)| Sample { bytes, seconds })
                .collect();
            let best = Line::fit(&samples).unwrap();
            let line = (best.alpha_seconds, best.beta_seconds_per_byte);
            let other = ((line.0 + shift * 1e-3).max(0.0), (line.1 + tilt * 1e-9).max(0.0));
            prop_assert!(deviation(line, &samples) <= deviation(other, &samples) * (1.0 + 1e-9));
        }
    }

    #[test]
    fn large_outliers_do_not_move_the_line() {
        let mut samples = samples(|bytes| 2e-6 + 1e-9 * bytes as f64);
        for index in [0, 5, 10] {
            samples[index].seconds *= 1000.0;
        }
        let line = Line::fit(&samples).unwrap();
        assert!((line.alpha_seconds - 2e-6).abs() < 1e-12, "{line:?}");
        assert!((line.beta_seconds_per_byte - 1e-9).abs() < 1e-15, "{line:?}");
        // Three in eleven are wrong, so the median deviation is 0 up to rounding.
        assert!(line.median_relative_deviation < 1e-9);
    }

    #[test]
    fn the_error_is_the_median_of_the_relative_deviations() {
        // 10 + s through the first two; the others deviate by 1 of 14 and 2 of 22.
        let samples = [(0, 10.0), (20, 30.0), (5, 14.0), (10, 22.0)]
            .map(|(bytes, seconds)| Sample { bytes, seconds });
        let line = Line::fit(&samples).unwrap();
        assert_eq!((line.alpha_seconds, line.beta_seconds_per_byte), (10.0, 1.0));
        assert_eq!(line.median_relative_deviation, (1.0 / 14.0) / 2.0);
    }

    #[test]
    fn many_samples_are_fitted_by_their_medians() {
        let many: Vec<Sample> = (0..50).flat_map(|_| samples(|bytes| 1.0 + bytes as f64)).collect();
        assert!(many.len() > Line::MOST_SAMPLES);
        let line = Line::fit(&many).unwrap();
        assert_eq!((line.alpha_seconds, line.beta_seconds_per_byte), (1.0, 1.0));
    }

    #[test]
    fn costs_are_never_negative() {
        let falling = samples(|bytes| 1.0 / bytes as f64);
        let line = Line::fit(&falling).unwrap();
        assert!(line.alpha_seconds > 0.0 && line.beta_seconds_per_byte == 0.0);
    }

    #[test]
    fn what_has_no_line_is_refused_with_its_value() {
        let at = |bytes, seconds| Sample { bytes, seconds };
        let error = |samples: &[Sample]| Line::fit(samples).unwrap_err().to_string();
        assert_eq!(error(&[at(8, 1.0), at(8, 2.0)]), "1 message sizes; a line needs at least 2");
        assert_eq!(error(&[at(8, 0.0), at(9, 2.0)]), "8 bytes took 0 s; times above 0 are needed");
        assert!(error(&[at(8, f64::NAN), at(9, 2.0)]).contains("NaN"));
    }
}
