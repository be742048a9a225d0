//! Algorithms side by side on one problem, and their times relative to the library's own call.

use crate::document::{Algorithm, Measurements};
use crate::repetitions::Repetitions;
use crate::statistics::{Interval, median, median_interval};
use crate::text::CONFIDENCE;
use tuwtree_model::quantity::bytes;

/// Times of several algorithms for one problem, which took turns.
#[derive(Clone, Debug)]
pub struct Contest<'a> {
    /// The problem, in some words.
    pub name: String,
    /// Algorithms with their times, in the order in which they took turns.
    pub entries: Vec<(Algorithm, &'a Repetitions)>,
}

/// An algorithm's time over that of the library's own call for the same problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relative {
    /// The median of the ratios, repetition by repetition: both took their turns in each.
    pub ratio: f64,
    /// Its 95 % interval; `None` with fewer than six repetitions.
    pub interval: Option<Interval>,
}

/// Certainty of a relative time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The interval is below 1.
    Faster,
    /// The interval is above 1.
    Slower,
    /// The interval contains 1, or is missing.
    Neither,
}

impl Relative {
    /// Certainty, at 95 %, that the algorithm is faster or slower than the library.
    pub fn certainty(&self) -> Certainty {
        match self.interval {
            Some(ends) if ends.high < 1.0 => Certainty::Faster,
            Some(ends) if ends.low > 1.0 => Certainty::Slower,
            _ => Certainty::Neither,
        }
    }
}

impl Contest<'_> {
    /// The times of an algorithm.
    pub fn of(&self, algorithm: Algorithm) -> Option<&Repetitions> {
        self.entries.iter().find(|(one, _)| *one == algorithm).map(|&(_, times)| times)
    }

    /// Relative time of an algorithm, over repetitions with punctual starts of both it and the library's own call; `None`
    /// without any, or with different numbers of repetitions.
    ///
    /// # Complexity
    /// O(n log n) for n repetitions.
    pub fn relative(&self, algorithm: Algorithm) -> Option<Relative> {
        let library = self.of(Algorithm::Native)?;
        let other = self.of(algorithm)?;
        let are_paired = library.seconds.len() == other.seconds.len();
        let pairs = library.seconds.iter().zip(&other.seconds).enumerate();
        let in_time = |&(at, _): &(usize, _)| library.is_punctual(at) && other.is_punctual(at);
        let ratios: Vec<f64> =
            pairs.filter(in_time).map(|(_, (library, other))| other / library).collect();
        let ratio = median(&ratios).filter(|_| are_paired)?;
        Some(Relative { ratio, interval: median_interval(&ratios, CONFIDENCE) })
    }

    /// The fastest algorithm but the library's own call, and its relative time.
    pub fn fastest(&self) -> Option<(Algorithm, Relative)> {
        let others = self.entries.iter().filter(|(one, _)| *one != Algorithm::Native);
        let relative = others.filter_map(|&(one, _)| Some((one, self.relative(one)?)));
        relative.min_by(|(_, one), (_, other)| one.ratio.total_cmp(&other.ratio))
    }
}

/// Relative times of an algorithm over all problems, summed up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The median of the problems' ratios.
    pub median: f64,
    /// The least ratio.
    pub least: f64,
    /// The largest ratio.
    pub largest: f64,
    /// Number of problems in which the algorithm is certainly faster.
    pub faster: usize,
    /// Number of problems in which it is certainly slower.
    pub slower: usize,
    /// Number of problems, at least 1.
    pub problems: usize,
}

impl Summary {
    /// The summary of relative times; `None` without any.
    pub fn of(all: &[Relative]) -> Option<Summary> {
        let ratios: Vec<f64> = all.iter().map(|one| one.ratio).collect();
        let count = |what| all.iter().filter(|one| one.certainty() == what).count();
        Some(Summary {
            median: median(&ratios)?,
            least: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            largest: ratios.iter().copied().fold(0.0, f64::max),
            faster: count(Certainty::Faster),
            slower: count(Certainty::Slower),
            problems: all.len(),
        })
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Summary { median, least, largest, faster, slower, problems } = *self;
        write!(
            formatter,
            "{median:.2}x the time of the library's own call in the median of {}, {least:.2}x to {largest:.2}x; \
             faster in {faster}, slower in {slower}, with {:.0} % certainty",
            counted(problems, "problem"),
            100.0 * CONFIDENCE
        )
    }
}

/// A number of things, in words.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The verdict on measured algorithms in sentences: `auto`, the fastest measured ones, late starts.
pub fn verdict(contests: &[Contest<'_>]) -> Vec<String> {
    let of_auto = contests.iter().filter_map(|one| one.relative(Algorithm::Auto));
    let auto = Summary::of(&of_auto.collect::<Vec<_>>());
    let fastest: Vec<(Algorithm, Relative)> =
        contests.iter().filter_map(Contest::fastest).collect();
    let mut lines: Vec<String> = auto.iter().map(|auto| format!("auto: {auto}.")).collect();
    if fastest.iter().any(|(one, _)| *one != Algorithm::Auto) {
        let mut wins: Vec<(Algorithm, usize)> = Vec::new();
        for (algorithm, _) in &fastest {
            match wins.iter_mut().find(|(one, _)| one == algorithm) {
                Some((_, count)) => *count += 1,
                None => wins.push((*algorithm, 1)),
            }
        }
        wins.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let names = wins.iter().take(3).map(|(one, count)| format!("{} in {count}", one.name()));
        let relative: Vec<Relative> = fastest.iter().map(|&(_, relative)| relative).collect();
        let summary = Summary::of(&relative).expect("there are some");
        let mut names: Vec<String> = names.collect();
        let rest: usize = wins.iter().skip(3).map(|(_, count)| count).sum();
        names.extend((rest > 0).then(|| format!("others in {rest}")));
        lines.push(format!("Fastest measured ({}): {summary}.", names.join(", ")));
    }
    let entries = || contests.iter().flat_map(|one| &one.entries);
    let late: usize = entries().filter_map(|(_, times)| times.late_starts()).sum();
    if late > 0 {
        let all: usize = entries().map(|(_, times)| times.seconds.len()).sum();
        lines.push(format!(
            "{late} of {all} starts were late by more than 5 % of the call; late calls enter no verdict."
        ));
    }
    let has_verdict = |one: &&Contest<'_>| one.fastest().is_some();
    let without = contests.len() - contests.iter().filter(has_verdict).count();
    let others = |one: &Contest<'_>| one.of(Algorithm::Native).is_some() && one.entries.len() > 1;
    if without > 0 && late > 0 && contests.iter().any(others) {
        lines.push(format!(
            "No verdict on {}: the calls are too short for ranks to begin them at one moment here.",
            counted(without, "problem")
        ));
    }
    lines
}

impl Measurements {
    /// The measured problems, in their order.
    ///
    /// # Complexity
    /// O(s^2) for s series.
    pub fn contests(&self) -> Vec<Contest<'_>> {
        let element = self.setting().element_bytes;
        let of_problem = |problem: (&crate::Blocks, u64)| Contest {
            name: format!(
                "{}, mean block {}",
                problem.0.name(),
                bytes(problem.1.saturating_mul(element))
            ),
            entries: self
                .series()
                .iter()
                .filter(|one| one.is_of(problem))
                .map(|one| (one.algorithm, &one.times))
                .collect(),
        };
        self.problems().into_iter().map(of_problem).collect()
    }

    /// A line for each algorithm but the library's own call: the median of its relative times over the problems, the
    /// least and the largest, and in how many it is certainly faster or slower. Empty if the library was not measured.
    pub fn relative_table(&self) -> String {
        let contests = self.contests();
        let others = self.algorithms().into_iter().filter(|&one| one != Algorithm::Native);
        let lines: String = others
            .filter_map(|algorithm| {
                let all = contests.iter().filter_map(|one| one.relative(algorithm));
                let Summary { median, least, largest, faster, slower, problems } =
                    Summary::of(&all.collect::<Vec<_>>())?;
                Some(format!(
                    "  {:<23}{:>9}{:>9}{:>9}{faster:>9}{slower:>9}{problems:>9}\n",
                    algorithm.name(),
                    format!("{median:.2}x"),
                    format!("{least:.2}x"),
                    format!("{largest:.2}x"),
                ))
            })
            .collect();
        if lines.is_empty() {
            return lines;
        }
        format!(
            "times over the library's own call's, over the problems; faster and slower with {} % certainty\n  \
             {:<23}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}\n{lines}",
            100.0 * CONFIDENCE,
            "",
            "median",
            "least",
            "largest",
            "faster",
            "slower",
            "of"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LateStarts;
    use crate::document::tests::{series, setting};

    /// Times that drift so much that medians alone would say little; every repetition of `auto` takes half of the
    /// library's, and of the star as long as it, but for one.
    fn measured(late: LateStarts) -> Measurements {
        let drifting: Vec<f64> = (1..=9).map(f64::from).collect();
        let star: Vec<f64> =
            drifting.iter().map(|&time| if time == 5.0 { 2.0 * time } else { time }).collect();
        let halves: Vec<f64> = drifting.iter().map(|time| time / 2.0).collect();
        let mut auto = series(Algorithm::Auto, &halves);
        auto.times.late = late;
        let all = vec![
            series(Algorithm::Native, &drifting),
            auto,
            series(Algorithm::Distributed, &star),
            series(Algorithm::Padded, &drifting[1..]),
        ];
        Measurements::new(setting(), all).unwrap()
    }

    #[test]
    fn ratios_are_of_repetitions_and_not_of_medians() {
        let measured = measured(LateStarts::Unknown);
        let contest = &measured.contests()[0];
        assert_eq!(contest.name, "same, mean block 40 B");
        let of = |algorithm| contest.relative(algorithm).map(|one| (one.ratio, one.certainty()));
        assert_eq!(of(Algorithm::Auto), Some((0.5, Certainty::Faster)));
        assert_eq!(of(Algorithm::Distributed), Some((1.0, Certainty::Neither)));
        assert_eq!(of(Algorithm::Padded), None, "no pairs");
        assert_eq!(of(Algorithm::Online), None, "not measured");
    }

    #[test]
    fn late_starts_enter_no_verdict() {
        let some = measured(LateStarts::Listed((0..4).collect()));
        let relative = some.contests()[0].relative(Algorithm::Auto).unwrap();
        assert_eq!((relative.ratio, relative.certainty()), (0.5, Certainty::Neither));
        let all = measured(LateStarts::Listed((0..9).collect()));
        assert_eq!(all.contests()[0].relative(Algorithm::Auto), None);
        let said = verdict(&all.contests()).join("\n");
        assert!(said.contains("9 of 35 starts were late"), "{said}");
        assert!(!said.contains("auto:"), "{said}");
    }

    #[test]
    fn the_table_sums_up_what_is_certain() {
        let table = measured(LateStarts::Unknown).relative_table();
        let line = |name: &str| {
            let found = table.lines().find(|line| line.trim_start().starts_with(name));
            found.map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(line("auto").as_deref(), Some("0.50x 0.50x 0.50x 1 0 1"));
        assert_eq!(line("distributed").as_deref(), Some("1.00x 1.00x 1.00x 0 0 1"));
        assert_eq!(line("native"), None);
    }
}
