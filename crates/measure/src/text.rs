//! Measured times as text: a table for people, CSV for programs.

use crate::break_even::{BreakEven, break_even};
use crate::document::{Algorithm, Delayed, Measurements, Series};
use crate::guideline::{Guideline, TriedGuideline, Verdict};
use crate::prediction::{Prediction, Predictions};
use crate::repetitions::Repetitions;
use crate::statistics::{greater_probability, median};
use std::fmt::Write;
use tuwtree_model::ClosedSet;
use tuwtree_model::quantity::{exact, microseconds};

/// Confidence level of an interval of the median.
pub const CONFIDENCE: f64 = 0.95;

/// Probability that a verdict on a guideline is due to chance.
pub const LEVEL: f64 = 0.05;

impl Measurements {
    /// All times in a table, a problem after the other: minimum, median with its interval, predictions, planning,
    /// number of repetitions from which planning pays, and late starts.
    pub fn table(&self) -> String {
        self.table_beside(&self.predictions())
    }

    /// Like [`table`](Self::table), with the times of planner and judge behind the interval if there are any, and the
    /// median in judged times.
    pub fn table_beside(&self, predictions: &Predictions) -> String {
        let mut text = String::new();
        let predicted = match predictions.are_any() {
            true => cells(["planned", "judged", "times judged"].map(str::to_owned)),
            false => String::new(),
        };
        for problem in self.problems() {
            let series: Vec<(usize, &Series)> =
                self.series().iter().enumerate().filter(|(_, one)| one.is_of(problem)).collect();
            let (total, largest) = (series[0].1.total_bytes, series[0].1.largest_block_bytes);
            let _ = writeln!(
                text,
                "{}, b = {}: {total} bytes, largest block {largest}; times in us",
                problem.0.name(),
                problem.1
            );
            let _ = writeln!(
                text,
                "  {:<23}{:>11}{:>11}{:>24}{predicted}{:>12}  pays against",
                "", "minimum", "median", "95 % interval", "planning"
            );
            for (index, one) in series {
                let predicted = match predictions.are_any() {
                    true => cells(predicted_cells(one, predictions.of(index))),
                    false => String::new(),
                };
                let _ = writeln!(text, "  {}", self.row(one, &predicted));
            }
        }
        text
    }

    fn row(&self, series: &Series, predicted: &str) -> String {
        let interval = match series.times.interval() {
            Some(interval) => {
                format!("{} to {}", microseconds(interval.low), microseconds(interval.high))
            }
            None => "-".to_owned(),
        };
        let planning = match series.planning_seconds {
            0.0 => "-".to_owned(),
            seconds => microseconds(seconds),
        };
        let row = format!(
            "{:<23}{:>11}{:>11}{interval:>24}{predicted}{planning:>12}  {}",
            series.algorithm.name(),
            microseconds(series.times.minimum()),
            microseconds(series.times.median()),
            self.pays(series)
        );
        let late = late_starts(&series.times);
        format!("{}{late}", row.trim_end())
    }

    /// From how many repetitions on planning pays, against what needs none: from the medians, where
    /// the rank-sum test says that they differ.
    fn pays(&self, series: &Series) -> String {
        if series.planning_seconds == 0.0 {
            return String::new();
        }
        let against = [Algorithm::Native, Algorithm::Distributed].into_iter().filter_map(|other| {
            let other = self.of(series.problem(), other)?;
            let name = other.algorithm.name();
            let (own, others) = (series.times.punctual(), other.times.punctual());
            if own.is_empty() || others.is_empty() {
                return None;
            }
            let slower = greater_probability(&own, &others);
            let faster = greater_probability(&others, &own);
            Some(match slower.min(faster) < LEVEL {
                true => format!("{name}: {}", break_even(series.plan(), other.plan())),
                false => format!("{name}: no difference"),
            })
        });
        against.collect::<Vec<_>>().join(", ")
    }

    /// Cost of a late rank, a problem after the other: medians of the time until the last rank is done, and of other
    /// ranks' time in the call. Empty if not measured.
    pub fn late_table(&self) -> String {
        let mut text = String::new();
        for problem in self.problems() {
            let measured = self.series().iter().filter(|one| one.is_of(problem));
            let measured: Vec<&Series> = measured.filter(|one| !one.delayed.is_empty()).collect();
            let Some(first) = measured.first() else { continue };
            let _ = writeln!(
                text,
                "{}, b = {}: rank {} begins late; until the last rank is done, and how long the others \
                 but the root are in the call on average; medians in us",
                problem.0.name(),
                problem.1,
                first.delayed[0].rank
            );
            let late = |one: &Delayed| {
                format!("{:>24}", format!("late by {}", microseconds(one.delay_seconds)))
            };
            let heading: String = first.delayed.iter().map(late).collect();
            let _ = writeln!(text, "  {:<23}{heading}", "");
            for one in measured {
                let of = |seconds: &[f64]| median(seconds).map_or_else(String::new, microseconds);
                let times = |one: &Delayed| {
                    format!("{:>13}{:>11}", of(&one.seconds), of(&one.others_seconds))
                };
                let times: String = one.delayed.iter().map(times).collect();
                let _ = writeln!(text, "  {:<23}{times}", one.algorithm.name());
            }
        }
        text
    }

    /// The verdicts on both guidelines: how many there are of each kind, and every violation.
    pub fn verdicts(&self) -> String {
        let mut text = String::new();
        for guideline in Guideline::all() {
            let Some(formula) = guideline.formula(self.setting().operation) else { continue };
            let tried = guideline.tried(self, LEVEL);
            let count = |verdict| tried.iter().filter(|one| one.verdict == verdict).count();
            let _ = writeln!(
                text,
                "{}, {}: violated {}, kept {}, no difference {}",
                guideline.name(),
                formula,
                count(Verdict::Violated),
                count(Verdict::Kept),
                count(Verdict::NoDifference)
            );
            for TriedGuideline {
                blocks, mean_block, algorithm, ratio, probability_against, ..
            } in tried.iter().filter(|one| one.verdict == Verdict::Violated)
            {
                let _ = writeln!(
                    text,
                    "  violated by {ratio:.2} times: {}, b = {mean_block}, {} (p = \
                     {probability_against:.1e})",
                    blocks.name(),
                    algorithm.name()
                );
            }
        }
        text
    }

    /// All times in CSV, a line for each series.
    pub fn csv(&self) -> String {
        self.csv_beside(&self.predictions())
    }

    /// The times for programs, with those of planner and judge in two more columns if there are
    /// any.
    pub fn csv_beside(&self, predictions: &Predictions) -> String {
        let setting = self.setting();
        let mut table = csv::Writer::from_writer(Vec::new());
        let has_late = self.series().iter().any(|one| one.times.late_starts().is_some());
        let mut write = |row: [String; 15], predicted: [String; 2], late: String| {
            let predicted = predicted.into_iter().filter(|_| predictions.are_any());
            let row = row.into_iter().chain(predicted).chain(has_late.then_some(late));
            table.write_record(row).expect("as many in each row");
        };
        write(COLUMNS.map(str::to_owned), PREDICTED.map(str::to_owned), LATE.to_owned());
        for (index, one) in self.series().iter().enumerate() {
            let ends = one.times.interval();
            let known = |seconds: Option<f64>| seconds.map_or_else(String::new, exact);
            let predicted = predictions.of(index);
            let predicted =
                predicted.map(|one| [one.planned_seconds, Some(one.judged_seconds)].map(known));
            let row = [
                setting.operation.name().to_owned(),
                setting.ranks.to_string(),
                if setting.operation.is_rooted() {
                    setting.root.to_string()
                } else {
                    String::new()
                },
                one.blocks.name().to_owned(),
                one.mean_block.to_string(),
                setting.element_bytes.to_string(),
                one.total_bytes.to_string(),
                one.largest_block_bytes.to_string(),
                one.algorithm.name().into_owned(),
                one.times.seconds.len().to_string(),
                exact(one.planning_seconds),
                exact(one.times.minimum()),
                exact(one.times.median()),
                ends.as_ref().map_or_else(String::new, |ends| exact(ends.low)),
                ends.as_ref().map_or_else(String::new, |ends| exact(ends.high)),
            ];
            let late = one.times.late_starts();
            let late = late.map_or_else(String::new, |late| late.to_string());
            write(row, predicted.unwrap_or_default(), late);
        }
        let bytes = table.into_inner().expect("memory takes everything");
        String::from_utf8(bytes).expect("names and numbers are UTF-8")
    }
}

/// The heading of the table for programs.
const COLUMNS: [&str; 15] = [
    "operation",
    "ranks",
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
];

/// Further columns with predictions.
const PREDICTED: [&str; 2] = ["planned_seconds", "judged_seconds"];

/// Further column with synchronized starts.
const LATE: &str = "late_starts";

/// A remark on late starts; empty without any.
pub(crate) fn late_starts(times: &Repetitions) -> String {
    let all = times.seconds.len();
    match times.late_starts() {
        None | Some(0) => String::new(),
        Some(late) => format!("  ({late} of {all} starts late)"),
    }
}

/// Cells of a series' prediction: planned, judged, and the median in judged times.
fn predicted_cells(series: &Series, prediction: Option<Prediction>) -> [String; 3] {
    let Some(prediction) = prediction else { return ["-"; 3].map(str::to_owned) };
    let ratio = prediction.measured_over_judged(series);
    [
        prediction.planned_seconds.map_or_else(|| "-".to_owned(), microseconds),
        microseconds(prediction.judged_seconds),
        ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
    ]
}

/// Three cells of the table.
fn cells([planned, judged, ratio]: [String; 3]) -> String {
    format!("{planned:>11}{judged:>11}{ratio:>14}")
}

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
        let tree = Algorithm::Planned(Construction::Optimal, Pace::Eager);
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
            format!("  native                        6.00       {median}            6.05 to 6.14")
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
    fn planner_and_judge_stand_beside_the_times_that_they_predict() {
        let measured = measured();
        let nothing = Predictions::new(vec![None; 4]);
        assert_eq!(measured.table_beside(&nothing), measured.table());
        let said = Prediction { planned_seconds: Some(1e-6), judged_seconds: 5e-7 };
        let predictions = Predictions::new(vec![None, None, None, Some(said)]);
        let table = measured.table_beside(&predictions);
        let heading = "95 % interval    planned     judged  times judged    planning";
        assert!(table.contains(heading), "{table}");
        // The median is 1.095.
        assert!(table.contains("       1.00       0.50          2.19       50.00"), "{table}");
        let csv = measured.csv_beside(&predictions);
        assert!(csv.lines().next().unwrap().ends_with(",planned_seconds,judged_seconds"));
        assert!(csv.lines().last().unwrap().ends_with(",1e-6,5e-7"), "{csv}");
        assert!(csv.lines().nth(1).unwrap().ends_with(",,"), "{csv}");
    }

    #[test]
    fn what_a_late_rank_costs_stands_in_a_table_of_its_own() {
        assert_eq!(measured().late_table(), "");
        let delayed = |factor: f64| crate::Delayed {
            rank: 1,
            delay_seconds: factor * 1e-3,
            seconds: vec![2e-3 + factor * 1e-3; 3],
            others_seconds: vec![5e-4; 3],
        };
        let one = Series {
            delayed: [0.0, 1.0].map(delayed).into(),
            ..series(Algorithm::Native, &[2e-3])
        };
        let table = Measurements::new(setting(), vec![one]).unwrap().late_table();
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[0].starts_with("same, b = 10: rank 1 begins late; until"), "{table}");
        assert!(lines[1].ends_with("late by 0.00         late by 1000.00"), "{table}");
        assert!(lines[2].ends_with("2000.00     500.00      3000.00     500.00"), "{table}");
    }

    #[test]
    fn csv_has_as_many_fields_in_each_line() {
        let csv = measured().csv();
        let counts: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(counts, [15; 5]);
        assert!(csv.contains("gather,4,2,same,10,4,160,40,padded,20,0e0,3e-6,"));
    }
}
