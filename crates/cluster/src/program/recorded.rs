//! `tuwtree-exec bench --recording`: how long the calls of a program take here, the library's own beside ours.

use crate::bench::{BenchArgs, machine, opened_outputs, planned_with, told_by_first};
use crate::file::tell;
use crate::host::{PROGRAM, describe, warning};
use crate::stop::Stop;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::rc::Rc;
use tuwtree_binding::Communicator;
use tuwtree_cluster::Host;
use tuwtree_cluster::bench::{MeasuredProblem, Protocol, Timed};
use tuwtree_cluster::clock::Starts;
use tuwtree_io::{Format, recording};
use tuwtree_measure::{Algorithm, CONFIDENCE, Recording, median, median_interval};
use tuwtree_model::quantity::seconds;
use tuwtree_model::{BlockSizes, ClosedSet, Operation, PayloadKind, Rank, StatedCosts};

/// Calls that differ in nothing that is measured.
struct DistinctCall {
    /// The program's MPI functions that made them.
    functions: Vec<String>,
    operation: Operation,
    /// The root; 0 without one.
    root: Rank,
    sizes: BlockSizes,
    calls: u64,
    seconds: f64,
}

/// Times of a call, or the reason for which it is not measured.
struct Outcome {
    call: DistinctCall,
    timed: Result<Vec<Timed>, String>,
}

/// Measures the calls of recordings. Collective.
///
/// # Errors
/// Unreadable recordings, or recordings without a call on this many processes; otherwise as
/// `bench`.
pub(crate) fn run(args: &BenchArgs, communicator: &Rc<Communicator>) -> Result<(), Stop> {
    let calls = distinct_calls(args, communicator)?;
    check_processes(&calls, communicator.size())?;
    let (outputs, is_taken) = opened_outputs(args, communicator)?;
    let host = Host::of(communicator)?;
    let machine = machine(args, &host, communicator)?;
    let is_first = communicator.rank() == 0;
    if is_first {
        let plan = planned_with(&machine);
        tell(&format!("{}\n{plan}\n{}", describe(&host), warning(&host)), is_taken);
    }
    let costs = StatedCosts::from(machine);
    let mut starts = Starts::new(communicator)?;
    let mut outcomes = Vec::new();
    for call in calls {
        let timed = match posed(&call, args, &costs, communicator.size()) {
            Ok(problem) => Ok(timed(&problem, args, communicator, &mut starts)?),
            Err(reason) => Err(reason),
        };
        outcomes.push(Outcome { call, timed });
    }
    if !is_first {
        return Ok(());
    }
    let file = args.machine.as_ref().map_or("MACHINE".to_owned(), ToString::to_string);
    let text = text(&outcomes, &file);
    for (file, format) in outputs {
        file.write(|output| match format {
            Format::Text => output.write_all(text.as_bytes()),
            Format::Csv => output.write_all(csv(&outcomes).as_bytes()),
            _ => {
                serde_json::to_writer(&mut *output, &document(&outcomes, &host))?;
                writeln!(output)
            }
        })?;
    }
    tell(&format!("\n{text}{}", warning(&host)), is_taken);
    Ok(())
}

/// The calls of all recordings, in the order in which they appear. Collective.
fn distinct_calls(
    args: &BenchArgs,
    communicator: &Communicator,
) -> Result<Vec<DistinctCall>, Stop> {
    let recordings: Vec<Recording> = told_by_first(communicator, || {
        let read = args.recording.iter().map(recording::read);
        read.collect::<Result<_, _>>().map_err(|error| error.to_string())
    })?;
    let mut distinct: Vec<DistinctCall> = Vec::new();
    for call in recordings.into_iter().flat_map(|recording| recording.entries) {
        let operation = call.operation;
        let root = if operation.is_rooted() { call.root } else { 0 };
        let sizes = call.sizes().map_err(|error| Stop::Alone(error.to_string()))?;
        let is_same = |one: &&mut DistinctCall| {
            (one.operation, one.root, &one.sizes) == (operation, root, &sizes)
        };
        match distinct.iter_mut().find(is_same) {
            Some(one) => {
                if !one.functions.contains(&call.function) {
                    one.functions.push(call.function);
                }
                one.calls += call.calls;
                one.seconds += call.seconds;
            }
            None => distinct.push(DistinctCall {
                functions: vec![call.function],
                operation,
                root,
                sizes,
                calls: call.calls,
                seconds: call.seconds,
            }),
        }
    }
    Ok(distinct)
}

/// Checks that some call is on this many processes.
fn check_processes(calls: &[DistinctCall], processes: usize) -> Result<(), Stop> {
    let mut recorded: Vec<usize> = calls.iter().map(|call| call.sizes.ranks()).collect();
    recorded.sort_unstable();
    recorded.dedup();
    match recorded.as_slice() {
        [] => Err(Stop::Shared("--recording: no call is recorded".to_owned())),
        recorded if recorded.contains(&processes) => Ok(()),
        recorded => {
            let counts: Vec<String> = recorded.iter().map(usize::to_string).collect();
            Err(Stop::Shared(format!(
                "--recording: the calls are on {} processes, and this job has {processes}; block sizes belong to ranks, so \
                 measure with as many: mpirun -n {}",
                counts.join(", "),
                recorded[recorded.len() - 1]
            )))
        }
    }
}

/// The problem of a call, or why it is not measured.
fn posed(
    call: &DistinctCall,
    args: &BenchArgs,
    costs: &StatedCosts,
    processes: usize,
) -> Result<MeasuredProblem, String> {
    if call.sizes.ranks() != processes {
        let own = call.sizes.ranks();
        return Err(format!("it is on {own} processes, and this job has {processes}"));
    }
    if call.operation.payload_kind() == PayloadKind::Messages {
        return Err("of an alltoall, only what one rank sends is recorded".to_owned());
    }
    if let Some(other) = args.algorithm.iter().find(|one| !one.is_for(call.operation)) {
        return Err(format!("{} is not for {}", other.name(), call.operation.name()));
    }
    let problem = MeasuredProblem::new(call.operation, call.sizes.clone(), call.root, costs)?;
    let problem = problem.map(|problem| problem.with_window(args.window));
    problem.ok_or_else(|| "its blocks, padded to the largest, have 2^31 bytes or more".to_owned())
}

/// The times of the library's own call and of ours, verified. Collective.
fn timed(
    problem: &MeasuredProblem,
    args: &BenchArgs,
    communicator: &Rc<Communicator>,
    starts: &mut Starts,
) -> Result<Vec<Timed>, Stop> {
    let mut algorithms = vec![Algorithm::Native];
    match args.algorithm.is_empty() {
        true => algorithms.push(Algorithm::Auto),
        false => algorithms.extend(args.algorithm.iter().filter(|&&one| one != Algorithm::Native)),
    }
    algorithms.retain(|&one| problem.admits(one));
    let protocol =
        Protocol { warm_up: args.warm_up as usize, repetitions: args.repetitions as usize };
    Ok(problem.timed(&algorithms, (protocol, None), communicator, starts)?)
}

/// The median of the times.
fn middle(timed: &Timed) -> f64 {
    median(&timed.seconds).unwrap_or(0.0)
}

impl DistinctCall {
    fn bytes(&self) -> u64 {
        self.sizes.iter().sum()
    }

    fn largest(&self) -> u64 {
        self.sizes.iter().max().unwrap_or(0)
    }

    fn title(&self) -> String {
        let at = if self.operation.is_rooted() {
            format!(", root {}", self.root)
        } else {
            String::new()
        };
        format!(
            "{}, {} processes{at}, {} bytes (largest block {}), recorded {} times, {} each",
            self.functions.join(" and "),
            self.sizes.ranks(),
            self.bytes(),
            self.largest(),
            self.calls,
            seconds(self.seconds / self.calls as f64)
        )
    }
}

/// Printed text; `machine` is the file that trees were planned with.
fn text(outcomes: &[Outcome], machine: &str) -> String {
    let mut text = String::new();
    for Outcome { call, timed } in outcomes {
        let _ = writeln!(text, "{}", call.title());
        match timed {
            Err(reason) => {
                let _ = writeln!(text, "  not measured: {reason}");
            }
            Ok(timed) => {
                let native = timed.first().map_or(0.0, middle);
                let width = timed.iter().map(|one| one.algorithm.name().len()).max().unwrap_or(0);
                for one in timed {
                    let _ = writeln!(
                        text,
                        "  {:width$}  {}{}",
                        one.algorithm.name(),
                        spread(one),
                        compared(native, one)
                    );
                }
            }
        }
        text.push('\n');
    }
    text + &in_all(outcomes, machine)
}

/// The median and its confidence interval.
fn spread(timed: &Timed) -> String {
    let median = seconds(middle(timed));
    match median_interval(&timed.seconds, CONFIDENCE) {
        Some(interval) => {
            format!("{median} ({} to {})", seconds(interval.low), seconds(interval.high))
        }
        None => median,
    }
}

/// Ratio to the time of the library's own call.
fn compared(native: f64, timed: &Timed) -> String {
    let own = middle(timed);
    match timed.algorithm {
        Algorithm::Native => String::new(),
        _ if native <= 0.0 || own <= 0.0 => String::new(),
        _ => format!(", {:.2} times as fast", native / own),
    }
}

/// By how much less time something is worth its name.
const WORTH: f64 = 0.95;

/// Total time of all recorded calls by each algorithm, from medians, and the advice.
fn in_all(outcomes: &[Outcome], machine: &str) -> String {
    let measured: Vec<(&DistinctCall, &Vec<Timed>)> =
        outcomes.iter().filter_map(|one| Some((&one.call, one.timed.as_ref().ok()?))).collect();
    let total = |algorithm: Algorithm| -> Option<f64> {
        let of_call = |&(call, timed): &(&DistinctCall, &Vec<Timed>)| {
            let timed = timed.iter().find(|one| one.algorithm == algorithm)?;
            Some(middle(timed) * call.calls as f64)
        };
        measured.iter().map(of_call).sum()
    };
    let mut names: Vec<Algorithm> = Vec::new();
    for timed in measured.iter().flat_map(|(_, timed)| timed.iter()) {
        if !names.contains(&timed.algorithm) {
            names.push(timed.algorithm);
        }
    }
    let totals: Vec<(Algorithm, f64)> =
        names.into_iter().filter_map(|one| Some((one, total(one)?))).collect();
    let words: Vec<String> =
        totals.iter().map(|(one, sum)| format!("{} {}", one.name(), seconds(*sum))).collect();
    let mut text = format!("All these calls, as often as recorded: {}\n", words.join(", "));
    let of = |wanted: Algorithm| totals.iter().find(|(one, _)| *one == wanted).map(|&(_, sum)| sum);
    if let Some((native, auto)) = of(Algorithm::Native).zip(of(Algorithm::Auto)) {
        text += &match auto < native * WORTH {
            true => format!(
                "To have the program's calls go this way: tuwtree-exec run --machine {machine} -- mpirun ... PROGRAM\n"
            ),
            false => "Leave the calls to the MPI library: nothing to gain here.\n".to_owned(),
        };
    }
    text
}

/// A row for each call and algorithm.
fn csv(outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "functions,operation,root,processes,bytes,largest_block_bytes,recorded_calls,recorded_seconds,algorithm,\
         median_seconds,least_seconds\n",
    );
    for Outcome { call, timed } in outcomes {
        for one in timed.iter().flatten() {
            let least = one.seconds.iter().copied().fold(f64::INFINITY, f64::min);
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{},{},{},{},{least}",
                call.functions.join(" "),
                call.operation.name(),
                call.root,
                call.sizes.ranks(),
                call.bytes(),
                call.largest(),
                call.calls,
                call.seconds,
                one.algorithm.name(),
                middle(one),
            );
        }
    }
    text
}

fn document(outcomes: &[Outcome], host: &Host) -> Value {
    let calls: Vec<Value> = outcomes
        .iter()
        .map(|Outcome { call, timed }| {
            let mut value = json!({
                "functions": call.functions,
                "operation": call.operation.name(),
                "root": call.root,
                "block_sizes_bytes": call.sizes.iter().collect::<Vec<u64>>(),
                "recorded_calls": call.calls,
                "recorded_seconds": call.seconds,
            });
            match timed {
                Ok(timed) => value["measured"] = timed.iter().map(measured).collect(),
                Err(reason) => value["not_measured"] = reason.as_str().into(),
            }
            value
        })
        .collect();
    json!({
        "format": "tuwtree-measured-calls",
        "version": 1,
        "program": PROGRAM,
        "mpi_library": host.library,
        "calls": calls,
    })
}

fn measured(timed: &Timed) -> Value {
    json!({
        "algorithm": timed.algorithm.name(),
        "planning_seconds": timed.planning_seconds,
        "median_seconds": middle(timed),
        "seconds": timed.seconds,
    })
}
