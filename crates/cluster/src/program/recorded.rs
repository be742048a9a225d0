//! `tuwtree-exec bench --recording`: how long the calls of a program take here, the library's own beside ours.

use crate::bench::{BenchArgs, machine, opened_outputs, planned_with, told_by_first};
use crate::file::tell;
use crate::host::{PROGRAM, describe, warning};
use crate::stop::Stop;
use std::rc::Rc;
use tuwtree_binding::Communicator;
use tuwtree_cluster::Host;
use tuwtree_cluster::bench::{MeasuredProblem, Protocol, Timed};
use tuwtree_cluster::clock::Starts;
use tuwtree_io::{Format, recording};
use tuwtree_measure::{Algorithm, CallTimes, MeasuredCall, MeasuredCalls, Recording};
use tuwtree_model::{ClosedSet, PayloadKind, StatedCosts};

/// Measures the calls of recordings. Collective.
///
/// # Errors
/// Unreadable recordings, or recordings without a call on this many processes; otherwise as
/// `bench`.
pub(crate) fn run(args: &BenchArgs, communicator: &Rc<Communicator>) -> Result<(), Stop> {
    let mut calls = distinct_calls(args, communicator)?;
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
    for call in &mut calls {
        call.measured = match posed(call, args, &costs, communicator.size()) {
            Ok(problem) => Ok(timed(&problem, args, communicator, &mut starts)?),
            Err(reason) => Err(reason),
        };
    }
    if !is_first {
        return Ok(());
    }
    let measured = MeasuredCalls {
        program: PROGRAM.to_owned(),
        library: host.library.clone(),
        nodes: Some(host.node_count()),
        oversubscribed: host.is_oversubscribed(),
        machine_file: args.machine.as_ref().map(ToString::to_string),
        calls,
    };
    let text = measured.text();
    for (file, format) in outputs {
        file.write(|output| match format {
            Format::Text => output.write_all(text.as_bytes()),
            Format::Csv => output.write_all(measured.csv().as_bytes()),
            _ => {
                serde_json::to_writer(&mut *output, &measured)?;
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
) -> Result<Vec<MeasuredCall>, Stop> {
    let recordings: Vec<Recording> = told_by_first(communicator, || {
        let read = args.recording.iter().map(recording::read);
        read.collect::<Result<_, _>>().map_err(|error| error.to_string())
    })?;
    let mut distinct: Vec<MeasuredCall> = Vec::new();
    for call in recordings.into_iter().flat_map(|recording| recording.entries) {
        let operation = call.operation;
        let root = if operation.is_rooted() { call.root } else { 0 };
        let sizes = call.sizes().map_err(|error| Stop::Alone(error.to_string()))?;
        let is_same = |one: &&mut MeasuredCall| {
            (one.operation, one.root, &one.sizes) == (operation, root, &sizes)
        };
        match distinct.iter_mut().find(is_same) {
            Some(one) => {
                if !one.functions.contains(&call.function) {
                    one.functions.push(call.function);
                }
                one.recorded_calls += call.calls;
                one.recorded_seconds += call.seconds;
            }
            None => distinct.push(MeasuredCall {
                functions: vec![call.function],
                operation,
                root,
                sizes,
                recorded_calls: call.calls,
                recorded_seconds: call.seconds,
                measured: Ok(Vec::new()),
            }),
        }
    }
    Ok(distinct)
}

/// Checks that some call is on this many processes.
fn check_processes(calls: &[MeasuredCall], processes: usize) -> Result<(), Stop> {
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
    call: &MeasuredCall,
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
) -> Result<Vec<CallTimes>, Stop> {
    let mut algorithms = vec![Algorithm::Native];
    match args.algorithm.is_empty() {
        true => algorithms.push(Algorithm::Auto),
        false => algorithms.extend(args.algorithm.iter().filter(|&&one| one != Algorithm::Native)),
    }
    algorithms.retain(|&one| problem.admits(one));
    let protocol =
        Protocol { warm_up: args.warm_up as usize, repetitions: args.repetitions as usize };
    let all = problem.timed(&algorithms, (protocol, None), communicator, starts)?;
    let times = |Timed { algorithm, planning_seconds, times, .. }| CallTimes {
        algorithm,
        planning_seconds,
        times,
    };
    Ok(all.into_iter().map(times).collect())
}
