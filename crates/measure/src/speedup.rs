//! Speed-up of an algorithm over the library's own call, problem by problem.

use crate::blocks::Blocks;
use crate::document::{Algorithm, Measurements};
use crate::statistics::{Interval, median, median_interval};
use crate::text::CONFIDENCE;
use std::fmt::Write;

/// The library's time for a problem over an algorithm's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedUp<'a> {
    /// Source of the problem's block sizes.
    pub blocks: &'a Blocks,
    /// The problem's mean block, in elements.
    pub mean_block: u64,
    /// The median of the ratios, repetition by repetition: both took their turns in each.
    pub ratio: f64,
    /// Its 95 % interval; `None` with fewer than six repetitions.
    pub interval: Option<Interval>,
}

/// Certainty of a speed-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The interval is above 1.
    Faster,
    /// The interval is below 1.
    Slower,
    /// The interval contains 1, or is missing.
    Neither,
}

impl SpeedUp<'_> {
    /// Certainty, at 95 %, that the algorithm is faster or slower than the library.
    pub fn certainty(&self) -> Certainty {
        match self.interval {
            Some(ends) if ends.low > 1.0 => Certainty::Faster,
            Some(ends) if ends.high < 1.0 => Certainty::Slower,
            _ => Certainty::Neither,
        }
    }
}

impl Measurements {
    /// Speed-ups of an algorithm over the library's own call, in the order of the problems, if both were measured
    /// equally often.
    ///
    /// # Complexity
    /// O(s^2 + n log n) for s series with n repetitions.
    pub fn speed_ups(&self, algorithm: Algorithm) -> Vec<SpeedUp<'_>> {
        let of_problem = |problem: (_, _)| {
            let library = self.of(problem, Algorithm::Native)?;
            let other = self.of(problem, algorithm)?;
            let pairs = library.seconds.iter().zip(&other.seconds);
            let ratios: Vec<f64> = pairs.map(|(library, other)| library / other).collect();
            let are_paired = library.seconds.len() == other.seconds.len();
            Some(SpeedUp {
                blocks: &other.blocks,
                mean_block: other.mean_block,
                ratio: median(&ratios).filter(|_| are_paired)?,
                interval: median_interval(&ratios, CONFIDENCE),
            })
        };
        self.problems().into_iter().filter_map(of_problem).collect()
    }

    /// A line for each algorithm but the library's own call: the median of its speed-ups over the problems, the
    /// least and the largest, and in how many it is certainly faster or slower. Empty if the library was not measured.
    pub fn speed_up_table(&self) -> String {
        let others = self.algorithms().into_iter().filter(|&one| one != Algorithm::Native);
        let mut text = String::new();
        for algorithm in others {
            let Some(line) = SpeedUps::of(&self.speed_ups(algorithm)) else { continue };
            if text.is_empty() {
                let _ = writeln!(
                    text,
                    "times as fast as the library's own call, over the problems; faster and slower with \
                     {} % certainty\n  {:<23}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}",
                    100.0 * CONFIDENCE,
                    "",
                    "median",
                    "least",
                    "largest",
                    "faster",
                    "slower",
                    "of"
                );
            }
            let SpeedUps { median, least, largest, faster, slower, problems } = line;
            let _ = writeln!(
                text,
                "  {:<23}{median:>9.2}{least:>9.2}{largest:>9.2}{faster:>9}{slower:>9}{problems:>9}",
                algorithm.name()
            );
        }
        text
    }
}

/// An algorithm's speed-ups over all problems, summed up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedUps {
    /// The median of the problems' ratios.
    pub median: f64,
    /// The least ratio.
    pub least: f64,
    /// The largest ratio.
    pub largest: f64,
    /// In how many problems the algorithm is certainly faster.
    pub faster: usize,
    /// In how many problems it is certainly slower.
    pub slower: usize,
    /// The number of problems, at least 1.
    pub problems: usize,
}

impl SpeedUps {
    /// The summary of speed-ups; `None` without any.
    pub fn of(all: &[SpeedUp<'_>]) -> Option<SpeedUps> {
        let ratios: Vec<f64> = all.iter().map(|one| one.ratio).collect();
        let count = |what| all.iter().filter(|one| one.certainty() == what).count();
        Some(SpeedUps {
            median: median(&ratios)?,
            least: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            largest: ratios.iter().copied().fold(0.0, f64::max),
            faster: count(Certainty::Faster),
            slower: count(Certainty::Slower),
            problems: all.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::tests::{series, setting};

    /// Times that drift so much that medians alone would say little; every repetition of `auto` takes
    /// half of the library's, and of the star as long as it, but for one.
    fn measured() -> Measurements {
        let drifting: Vec<f64> = (1..=9).map(f64::from).collect();
        let star: Vec<f64> =
            drifting.iter().map(|&time| if time == 5.0 { 2.0 * time } else { time }).collect();
        let halves: Vec<f64> = drifting.iter().map(|time| time / 2.0).collect();
        let all = vec![
            series(Algorithm::Native, &drifting),
            series(Algorithm::Auto, &halves),
            series(Algorithm::Distributed, &star),
            series(Algorithm::Padded, &drifting[1..]),
        ];
        Measurements::new(setting(), all).unwrap()
    }

    #[test]
    fn ratios_are_of_repetitions_and_not_of_medians() {
        let measured = measured();
        let of = |algorithm| {
            let all = measured.speed_ups(algorithm);
            (all[0].ratio, all[0].certainty(), all.len())
        };
        assert_eq!(of(Algorithm::Auto), (2.0, Certainty::Faster, 1));
        assert_eq!(of(Algorithm::Distributed), (1.0, Certainty::Neither, 1));
        assert_eq!(measured.speed_ups(Algorithm::Padded), [], "no pairs");
        assert_eq!(measured.speed_ups(Algorithm::Online), [], "not measured");
    }

    #[test]
    fn the_table_sums_up_what_is_certain() {
        let table = measured().speed_up_table();
        let line = |name: &str| {
            let found = table.lines().find(|line| line.trim_start().starts_with(name));
            found.map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(line("auto").as_deref(), Some("2.00 2.00 2.00 1 0 1"));
        assert_eq!(line("distributed").as_deref(), Some("1.00 1.00 1.00 0 0 1"));
        assert_eq!(line("native"), None);
    }
}
