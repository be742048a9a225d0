//! Measured times as text: a table for people, CSV for programs.

use crate::break_even::{BreakEven, break_even};
use crate::document::{Algorithm, Measurements, Predicted, Series};
use crate::guideline::{Comparison, Guideline, Verdict};
use crate::statistics::{greater_probability, median_interval};
use std::fmt::Write;
use tuwtree_model::ClosedSet;
use tuwtree_model::quantity::{exact, microseconds};

/// How sure an interval of the median is to be.
pub const CONFIDENCE: f64 = 0.95;

/// How probable it may be that any verdict on a guideline is due to chance.
pub const LEVEL: f64 = 0.05;

impl Measurements {
    /// All times in a table, a problem after the other: minimum, median with its interval, planning,
    /// and from how many repetitions on planning pays.
    pub fn table(&self) -> String {
        let mut text = String::new();
        for (distribution, mean_block) in self.problems() {
            let series: Vec<&Series> = self
                .series()
                .iter()
                .filter(|one| (one.distribution, one.mean_block) == (distribution, mean_block))
                .collect();
            let (total, largest) = (series[0].total_bytes, series[0].largest_block_bytes);
            let _ = writeln!(
                text,
                "{}, b = {mean_block}: {total} bytes, largest block {largest}; times in us",
                distribution.name()
            );
            let _ = writeln!(
                text,
                "  {:<23}{:>11}{:>11}{:>24}{:>11}{:>11}{:>12}  pays against",
                "", "minimum", "median", "95 % interval", "planned", "judged", "planning"
            );
            for one in series {
                let _ = writeln!(text, "  {}", self.row(one));
            }
        }
        text
    }

    fn row(&self, series: &Series) -> String {
        let interval = match median_interval(&series.seconds, CONFIDENCE) {
            Some(interval) => {
                format!("{} to {}", microseconds(interval.low), microseconds(interval.high))
            }
            None => "-".to_owned(),
        };
        let planning = match series.planning_seconds {
            0.0 => "-".to_owned(),
            seconds => microseconds(seconds),
        };
        let predicted = |of: fn(&Predicted) -> Option<f64>| {
            series.predicted.as_ref().and_then(of).map_or("-".to_owned(), microseconds)
        };
        let row = format!(
            "{:<23}{:>11}{:>11}{interval:>24}{:>11}{:>11}{planning:>12}  {}",
            series.algorithm.name(),
            microseconds(series.minimum()),
            microseconds(series.median()),
            predicted(|one| one.planned_seconds),
            predicted(|one| Some(one.judged_seconds)),
            self.pays(series)
        );
        let late = series.late.filter(|&late| late > 0);
        let late = late.map_or_else(String::new, |late| format!("  ({late} starts late)"));
        format!("{}{late}", row.trim_end())
    }

    /// From how many repetitions on planning pays, against what needs none: from the medians, where
    /// the rank-sum test says that they differ.
    fn pays(&self, series: &Series) -> String {
        if series.planning_seconds == 0.0 {
            return String::new();
        }
        let against = [Algorithm::Native, Algorithm::Distributed].into_iter().filter_map(|other| {
            let other = self.of(series.distribution, series.mean_block, other)?;
            let name = other.algorithm.name();
            let slower = greater_probability(&series.seconds, &other.seconds);
            let faster = greater_probability(&other.seconds, &series.seconds);
            Some(match slower.min(faster) < LEVEL {
                true => format!("{name}: {}", break_even(series.plan(), other.plan())),
                false => format!("{name}: no difference"),
            })
        });
        against.collect::<Vec<_>>().join(", ")
    }

    /// The verdicts on both guidelines: how many there are of each kind, and every violation.
    pub fn verdicts(&self) -> String {
        let mut text = String::new();
        for guideline in Guideline::all() {
            let tried = guideline.tried(self, LEVEL);
            let count = |verdict| tried.iter().filter(|one| one.verdict == verdict).count();
            let _ = writeln!(
                text,
                "{}, {}: violated {}, kept {}, no difference {}",
                guideline.name(),
                guideline.formula(self.setting().operation),
                count(Verdict::Violated),
                count(Verdict::Kept),
                count(Verdict::NoDifference)
            );
            for Comparison {
                distribution,
                mean_block,
                algorithm,
                ratio,
                probability_against,
                ..
            } in tried.iter().filter(|one| one.verdict == Verdict::Violated)
            {
                let _ = writeln!(
                    text,
                    "  violated by {ratio:.2} times: {}, b = {mean_block}, {} (p = \
                     {probability_against:.1e})",
                    distribution.name(),
                    algorithm.name()
                );
            }
        }
        text
    }

    /// All times in CSV, a line for each series.
    pub fn csv(&self) -> String {
        let setting = self.setting();
        let mut table = csv::Writer::from_writer(Vec::new());
        let mut write = |row: [String; 18]| table.write_record(row).expect("as many in each row");
        write(COLUMNS.map(str::to_owned));
        for one in self.series() {
            let ends = median_interval(&one.seconds, CONFIDENCE);
            let known = |seconds: Option<f64>| seconds.map_or_else(String::new, exact);
            write([
                setting.operation.name().to_owned(),
                setting.processors.to_string(),
                setting.root.to_string(),
                one.distribution.name().to_owned(),
                one.mean_block.to_string(),
                setting.element_bytes.to_string(),
                one.total_bytes.to_string(),
                one.largest_block_bytes.to_string(),
                one.algorithm.name().into_owned(),
                one.seconds.len().to_string(),
                exact(one.planning_seconds),
                exact(one.minimum()),
                exact(one.median()),
                ends.as_ref().map_or_else(String::new, |ends| exact(ends.low)),
                ends.as_ref().map_or_else(String::new, |ends| exact(ends.high)),
                known(one.predicted.and_then(|one| one.planned_seconds)),
                known(one.predicted.map(|one| one.judged_seconds)),
                one.late.map_or_else(String::new, |late| late.to_string()),
            ]);
        }
        let bytes = table.into_inner().expect("memory takes everything");
        String::from_utf8(bytes).expect("names and numbers are UTF-8")
    }
}

/// The heading of the table for programs.
const COLUMNS: [&str; 18] = [
    "operation",
    "processors",
    "root",
    "distribution",
    "mean_block",
    "element_bytes",
    "total_bytes",
    "largest_block_bytes",
    "algorithm",
    "repetitions",
    "planning_seconds",
    "minimum_seconds",
    "median_seconds",
    "median_low_seconds",
    "median_high_seconds",
    "planned_seconds",
    "judged_seconds",
    "late_starts",
];

impl std::fmt::Display for BreakEven {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BreakEven::From(1) => formatter.write_str("at once"),
            BreakEven::From(first) => write!(formatter, "from {first} repetitions on"),
            BreakEven::UpTo(last) => write!(formatter, "up to {last} repetitions"),
            BreakEven::Never => formatter.write_str("never"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Pace;
    use crate::document::tests::{series, setting};
    use tuwtree_model::Construction;

    fn measured() -> Measurements {
        let times = |from: f64| -> Vec<f64> {
            (0..20).map(|index| from + f64::from(index) * 1e-8).collect()
        };
        let tree = Algorithm::Tree(Construction::Optimal, Pace::Eager);
        let planned = Series { planning_seconds: 5e-5, ..series(tree, &times(1e-6)) };
        let all = vec![
            series(Algorithm::Regular, &times(2e-6)),
            series(Algorithm::Padded, &times(3e-6)),
            series(Algorithm::Native, &times(6e-6)),
            planned,
        ];
        Measurements::new(setting(), all).unwrap()
    }

    #[test]
    fn the_table_says_from_when_on_planning_pays() {
        let table = measured().table();
        // 50 + 1.095 n < 6.095 n from n = 11 on.
        assert!(table.contains("50.00  native: from 11 repetitions on\n"), "{table}");
        assert!(table.starts_with("same, b = 10: 160 bytes, largest block 40; times in us\n"));
        // Times rise by 0.01: the median lies between two, and is rounded up or down.
        let native = |median: &str| {
            format!(
                "  native                        6.00       {median}            6.05 to 6.14          -"
            )
        };
        assert!(["6.09", "6.10"].iter().any(|one| table.contains(&native(one))), "{table}");
    }

    #[test]
    fn verdicts_name_every_violation() {
        let verdicts = measured().verdicts();
        assert!(verdicts.contains("GL1, MPI_Gather(m) <= MPI_Gatherv(m): violated 1, kept 1"));
        assert!(
            verdicts.contains("violated by 1.97 times: same, b = 10, native (p ="),
            "{verdicts}"
        );
        assert!(verdicts.contains("same, b = 10, optimal-eager"), "{verdicts}");
    }

    #[test]
    fn csv_has_as_many_fields_in_each_line() {
        let csv = measured().csv();
        let counts: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(counts, [18; 5]);
        assert!(csv.contains("gather,4,2,same,10,4,160,40,padded,20,0e0,3e-6,"));
    }
}
