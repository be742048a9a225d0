//! Times of a program's recorded calls: the library's own beside ours, and the advice.

mod fields;

use crate::contest::{Contest, counted, verdict};
use crate::document::{Algorithm, Setting};
use crate::repetitions::Repetitions;
use crate::text::late_starts;
use fields::CallsFields;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use tuwtree_model::quantity::{bytes, exact, seconds};
use tuwtree_model::{BlockSizes, ClosedSet, Operation, Rank};

/// Times of the distinct calls of recordings, on one communicator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "CallsFields", into = "CallsFields")]
pub struct MeasuredCalls {
    /// The program that measured, with its version.
    pub program: String,
    /// The MPI library, as it calls itself.
    pub library: String,
    /// Number of nodes; `None` in documents of version 1.
    pub nodes: Option<usize>,
    /// True if some node had more ranks than cores; false in documents of version 1.
    pub oversubscribed: bool,
    /// The file with the costs that plans were made with; `None` if they were measured before.
    pub machine_file: Option<String>,
    /// The calls, in the order of the recordings.
    pub calls: Vec<MeasuredCall>,
}

/// A distinct call: operation, root and block sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredCall {
    /// The program's MPI functions that made it.
    pub functions: Vec<String>,
    /// Operation of the call.
    pub operation: Operation,
    /// The root; 0 without one.
    pub root: Rank,
    /// The size of each rank's block, in bytes.
    pub sizes: BlockSizes,
    /// Number of recorded calls, at least one.
    pub recorded_calls: u64,
    /// Duration of all recorded calls at the root, in seconds.
    pub recorded_seconds: f64,
    /// Times of each algorithm, the library's own call first, or the reason for their absence.
    pub measured: Result<Vec<CallTimes>, String>,
}

/// Times of an algorithm for a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallTimes {
    /// The implementation that was timed.
    pub algorithm: Algorithm,
    /// Seconds before the first call: planning and setting up requests.
    pub planning_seconds: f64,
    /// The times of the repetitions.
    pub times: Repetitions,
}

/// Ratio of times below which the advice is to replace the library's calls.
const WORTH: f64 = 0.95;

impl MeasuredCall {
    /// The call in some words: functions, root, bytes.
    pub fn name(&self) -> String {
        let root = match self.operation.is_rooted() {
            true => format!(", root {}", self.root),
            false => String::new(),
        };
        let largest = self.sizes.iter().max().unwrap_or(0);
        format!(
            "{}{root}, {} (largest block {})",
            self.functions.join(" and "),
            bytes(self.sizes.total()),
            bytes(largest)
        )
    }

    /// The times of each algorithm; none if the call was not measured.
    pub fn times(&self) -> &[CallTimes] {
        self.measured.as_deref().unwrap_or_default()
    }

    fn contest(&self) -> Contest<'_> {
        let entries = self.times().iter().map(|one| (one.algorithm, &one.times)).collect();
        Contest { name: self.name(), entries }
    }
}

impl MeasuredCalls {
    /// The name of the format.
    pub const FORMAT: &'static str = "tuwtree-measured-calls";
    /// The version that is written; version 1 has no nodes and no late repetitions.
    pub const VERSION: u64 = 2;

    /// Warning to readers about ranks that shared cores.
    pub fn warning(&self) -> Option<&'static str> {
        self.oversubscribed.then_some(Setting::OVERSUBSCRIBED)
    }

    /// The measured calls.
    pub fn contests(&self) -> Vec<Contest<'_>> {
        self.calls.iter().filter(|one| one.measured.is_ok()).map(MeasuredCall::contest).collect()
    }

    /// Number of ranks of the measured calls; 0 without any.
    pub fn ranks(&self) -> usize {
        let measured = self.calls.iter().find(|one| one.measured.is_ok());
        measured.map_or(0, |one| one.sizes.ranks())
    }

    /// Total time of all recorded calls by each algorithm, in seconds, from medians; of calls with a verdict, whose number
    /// comes first.
    fn totals(&self) -> (usize, Vec<(Algorithm, f64)>) {
        let has_verdict = |one: &&MeasuredCall| one.contest().fastest().is_some();
        let calls: Vec<&MeasuredCall> = self.calls.iter().filter(has_verdict).collect();
        let mut names: Vec<Algorithm> = Vec::new();
        for one in calls.iter().flat_map(|call| call.times()) {
            if !names.contains(&one.algorithm) {
                names.push(one.algorithm);
            }
        }
        let total = |algorithm: Algorithm| -> Option<f64> {
            let of_call = |call: &&MeasuredCall| {
                let times = call.times().iter().find(|one| one.algorithm == algorithm)?;
                Some(times.times.median() * call.recorded_calls as f64)
            };
            calls.iter().map(of_call).sum()
        };
        let totals = names.iter().filter_map(|&one| Some((one, total(one)?))).collect();
        (calls.len(), totals)
    }

    /// The verdict in sentences: total times, relative times, late starts, and the advice.
    pub fn verdict(&self) -> Vec<String> {
        let (count, totals) = self.totals();
        let of = |wanted| totals.iter().find(|(one, _)| *one == wanted).map(|&(_, sum)| sum);
        let contests = self.contests();
        let mut lines = Vec::new();
        if count > 0 {
            let words = totals.iter().map(|(one, sum)| format!("{} {}", one.name(), seconds(*sum)));
            let which = match count == contests.len() {
                true => "All these calls".to_owned(),
                false => format!("The {} with a verdict", counted(count, "call")),
            };
            let words = words.collect::<Vec<_>>().join(", ");
            lines.push(format!("{which}, as often as recorded: {words}."));
        }
        lines.extend(verdict(&contests));
        if let Some((native, auto)) = of(Algorithm::Native).zip(of(Algorithm::Auto)) {
            let machine = self.machine_file.as_deref().unwrap_or("MACHINE");
            lines.push(match auto < native * WORTH {
                true => format!(
                    "To have the program's calls go this way: tuwtree-exec run --machine {machine} -- mpirun ... PROGRAM"
                ),
                false => "Leave the calls to the MPI library: nothing to gain here.".to_owned(),
            });
        }
        lines
    }

    /// Times of each call, and the verdict.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for call in &self.calls {
            let _ = writeln!(
                text,
                "{}, {} ranks, recorded {} times, {} each",
                call.name(),
                call.sizes.ranks(),
                call.recorded_calls,
                seconds(call.recorded_seconds / call.recorded_calls as f64)
            );
            if let Err(reason) = &call.measured {
                let _ = writeln!(text, "  not measured: {reason}");
            }
            let contest = call.contest();
            let width = call.times().iter().map(|one| one.algorithm.name().len()).max();
            for CallTimes { algorithm, times, .. } in call.times() {
                let interval = times.interval().map_or_else(String::new, |ends| {
                    format!(" ({} to {})", seconds(ends.low), seconds(ends.high))
                });
                let ratio = match contest.relative(*algorithm) {
                    Some(relative) if *algorithm != Algorithm::Native => {
                        format!("  {:.2}x", relative.ratio)
                    }
                    _ => String::new(),
                };
                let _ = writeln!(
                    text,
                    "  {:width$}  {}{interval}{ratio}{}",
                    algorithm.name(),
                    seconds(times.median()),
                    late_starts(times),
                    width = width.unwrap_or(0),
                );
            }
            text.push('\n');
        }
        for line in self.verdict() {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    /// The times in CSV, a row for each call and algorithm.
    pub fn csv(&self) -> String {
        let mut table = csv::Writer::from_writer(Vec::new());
        let mut write = |row: [String; 14]| table.write_record(row).expect("as many in each row");
        write(COLUMNS.map(str::to_owned));
        for call in &self.calls {
            for CallTimes { algorithm, planning_seconds, times } in call.times() {
                write([
                    call.functions.join(" "),
                    call.operation.name().to_owned(),
                    call.root.to_string(),
                    call.sizes.ranks().to_string(),
                    call.sizes.total().to_string(),
                    call.sizes.iter().max().unwrap_or(0).to_string(),
                    call.recorded_calls.to_string(),
                    exact(call.recorded_seconds),
                    algorithm.name().into_owned(),
                    times.seconds.len().to_string(),
                    exact(*planning_seconds),
                    exact(times.minimum()),
                    exact(times.median()),
                    times.late_starts().map_or_else(String::new, |late| late.to_string()),
                ]);
            }
        }
        let bytes = table.into_inner().expect("memory takes everything");
        String::from_utf8(bytes).expect("names and numbers are UTF-8")
    }
}

const COLUMNS: [&str; 14] = [
    "functions",
    "operation",
    "root",
    "ranks",
    "total_bytes",
    "largest_block_bytes",
    "recorded_calls",
    "recorded_seconds",
    "algorithm",
    "repetitions",
    "planning_seconds",
    "minimum_seconds",
    "median_seconds",
    "late_starts",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LateStarts;

    fn call(calls: u64, seconds: [f64; 2], late: LateStarts) -> MeasuredCall {
        let times = |algorithm, seconds: f64, late| CallTimes {
            algorithm,
            planning_seconds: 0.0,
            times: Repetitions { seconds: vec![seconds; 8], late },
        };
        MeasuredCall {
            functions: vec!["MPI_Gatherv".into()],
            operation: Operation::Gather,
            root: 1,
            sizes: BlockSizes::new([1000, 0, calls]).unwrap(),
            recorded_calls: calls,
            recorded_seconds: 0.5,
            measured: Ok(vec![
                times(Algorithm::Native, seconds[0], LateStarts::Listed(Vec::new())),
                times(Algorithm::Auto, seconds[1], late),
            ]),
        }
    }

    fn measured(calls: Vec<MeasuredCall>) -> MeasuredCalls {
        MeasuredCalls {
            program: "a program 1.0".into(),
            library: "a library 4.0".into(),
            nodes: Some(2),
            oversubscribed: false,
            machine_file: None,
            calls,
        }
    }

    #[test]
    fn the_verdict_is_on_calls_as_often_as_recorded() {
        let in_time = || LateStarts::Listed(Vec::new());
        let calls = vec![call(10, [2e-3, 1e-3], in_time()), call(1, [1e-3, 5e-3], in_time())];
        let verdict = measured(calls).verdict();
        assert_eq!(verdict[0], "All these calls, as often as recorded: native 21 ms, auto 15 ms.");
        assert!(verdict[1].starts_with("auto: 2.75x the time of the library's own call"));
        assert!(verdict[1].contains("faster in 1, slower in 1"), "{}", verdict[1]);
        assert!(verdict.last().unwrap().contains("run --machine MACHINE"), "{verdict:?}");
    }

    #[test]
    fn a_call_that_began_late_has_no_share_in_the_advice() {
        let all_late = LateStarts::Listed((0..8).collect());
        let calls = vec![
            call(10, [2e-3, 1e-3], all_late),
            call(1, [1e-3, 5e-3], LateStarts::Listed(Vec::new())),
        ];
        let verdict = measured(calls).verdict();
        assert_eq!(
            verdict[0],
            "The 1 call with a verdict, as often as recorded: native 1 ms, auto 5 ms."
        );
        assert!(verdict.iter().any(|line| line.starts_with("No verdict on 1 problem:")));
        assert!(verdict.last().unwrap().starts_with("Leave the calls to the MPI library"));
    }

    #[test]
    fn a_document_reads_as_it_was_written_and_old_ones_are_read() {
        let mut calls = vec![call(3, [2e-3, 1e-3], LateStarts::Listed(vec![2]))];
        calls.push(MeasuredCall { measured: Err("a reason".into()), ..calls[0].clone() });
        let calls = measured(calls);
        let text = serde_json::to_string(&calls).unwrap();
        assert_eq!(serde_json::from_str::<MeasuredCalls>(&text).unwrap(), calls);
        let old = text.replace("\"version\":2", "\"version\":1");
        let old = old.replace("\"nodes\":2,\"oversubscribed\":false,", "");
        let old =
            old.replace("\"late_repetitions\":[],", "").replace("\"late_repetitions\":[2],", "");
        let old: MeasuredCalls = serde_json::from_str(&old).unwrap();
        assert_eq!((old.nodes, old.calls[0].times()[1].times.late_starts()), (None, None));
        for (from, to, fault) in [
            ("\"version\":2", "\"version\":3", "version 3"),
            ("\"recorded_calls\":3", "\"recorded_calls\":0", "call 0: 0 calls"),
            ("\"root\":1", "\"root\":3", "call 0: root 3 is outside 0..3"),
            ("\"auto\"", "\"autp\"", "call 0: \"algorithm\" is \"autp\""),
            ("[2]", "[8]", "call 0: late repetitions are not ascending numbers below 8"),
            ("\"not_measured\":\"a reason\"", "\"measured\":[]", "call 1: \"measured\" is empty"),
        ] {
            let error = serde_json::from_str::<MeasuredCalls>(&text.replace(from, to));
            let error = error.unwrap_err().to_string();
            assert!(error.contains(fault), "{to}: {error}");
        }
    }
}
