//! `tuwtree advise --recording`: advice on each call that a program has made.

use super::advise::{self, AdviseArgs};
use crate::error::CliError;
use crate::output::advice::Advised;
use crate::output::format::{write_json, write_objects};
use crate::output::progress::note;
use crate::output::text;
use serde_json::{Value, json};
use std::io::Write;
use tuwtree_io::{Format, Source, recording};
use tuwtree_measure::{RecordedCall, Recording};
use tuwtree_model::{ClosedSet, quantity};
use tuwtree_plan::{Advice, Comparison, Library, LibrarySetting};

/// Advice on a recorded call.
struct AdvisedCall {
    /// Index of its recording.
    recording: usize,
    /// The MPI library on which it was recorded, or the one that is named instead; `None` if nothing is known of it.
    library: Option<Library>,
    call: RecordedCall,
    /// The comparison of trees, or the reason for having none.
    compared: Result<Comparison, String>,
}

/// Advises on all calls of the recordings.
///
/// # Errors
/// Recordings or a machine that cannot be read, and as for `optimize`; a fault of a single call is printed in place of
/// its advice.
pub(super) fn run(
    args: &AdviseArgs,
    format: Format,
    output: &mut dyn Write,
) -> Result<(), CliError> {
    let read = |source| Ok((source, recording::read(source)?));
    let mut recordings: Vec<(&Source, Recording)> =
        args.recording.iter().map(read).collect::<Result<_, CliError>>()?;
    let mut all: Vec<&mut Recording> = recordings.iter_mut().map(|(_, one)| one).collect();
    Recording::join_alltoalls(&mut all);
    args.comparison.costs.note_assumed();
    args.comparison.note_warnings()?;
    note_other_jobs(&recordings);
    let mut calls = Vec::new();
    for (index, (_, recording)) in recordings.iter().enumerate() {
        let mut choice = args.comparison.choice.clone();
        choice.library = choice.library.or_else(|| Library::named(&recording.mpi_library));
        let library = choice.library;
        for call in &recording.entries {
            let problem = args.comparison.recorded(call)?;
            let compared = match problem {
                Ok(problem) => Ok(choice.compare(&problem)?),
                Err(reason) => Err(reason),
            };
            calls.push(AdvisedCall { recording: index, library, call: call.clone(), compared });
        }
    }
    match format {
        Format::Json => {
            let calls: Vec<Value> = calls.iter().map(AdvisedCall::document).collect();
            let document =
                json!({ "format": "tuwtree-advice-on-calls", "version": 1, "calls": calls });
            Ok(write_json(&document, output)?)
        }
        Format::Csv => {
            let rows: Vec<Value> = calls.iter().map(AdvisedCall::row).collect();
            Ok(write_objects(&rows, output)?)
        }
        _ => write_text(args, &recordings, &calls, output),
    }
}

/// Says which recordings are of other jobs than the first one: they may be left from an earlier run.
fn note_other_jobs(recordings: &[(&Source, Recording)]) {
    let Some((first, rest)) = recordings.split_first() else { return };
    for (source, recording) in rest {
        let (own, others) = (recording.processes, first.1.processes);
        if own != others {
            note(&format!(
                "{source} is of a job of {own} processes, {} of one of {others}: they are of different runs",
                first.0
            ));
        }
    }
}

fn write_text(
    args: &AdviseArgs,
    recordings: &[(&Source, Recording)],
    calls: &[AdvisedCall],
    output: &mut dyn Write,
) -> Result<(), CliError> {
    for (index, (source, recording)) in recordings.iter().enumerate() {
        let own = || calls.iter().filter(|call| call.recording == index);
        // Its only calls were rows of alltoalls, which rank 0 has.
        if own().next().is_none() && recording.left_out_calls == 0 && recording.rank > 0 {
            continue;
        }
        let times: u64 = own().map(|call| call.call.calls).sum();
        let seconds: f64 = own().map(|call| call.call.seconds).sum();
        writeln!(
            output,
            "{source}: {}, {times} in all, {} in them at the roots",
            text::counted(own().count(), "distinct call", "distinct calls"),
            quantity::seconds(seconds)
        )?;
        if recording.left_out_calls > 0 {
            let took = quantity::seconds(recording.left_out_seconds);
            let left_out = recording.left_out_calls;
            writeln!(output, "{left_out} more calls were not recorded; they took {took}.")?;
        }
        for call in own() {
            writeln!(output)?;
            call.write(output)?;
        }
        writeln!(output)?;
    }
    write_next_commands(recordings, args, output)
}

/// Commands to run next: measure, then use.
fn write_next_commands(
    recordings: &[(&Source, Recording)],
    args: &AdviseArgs,
    output: &mut dyn Write,
) -> Result<(), CliError> {
    let entries = recordings.iter().flat_map(|(_, recording)| &recording.entries);
    let processes = entries.map(|call| call.block_sizes_bytes.len()).max().unwrap_or(1);
    let files: Vec<String> = recordings.iter().map(|(source, _)| source.to_string()).collect();
    let machine = args.comparison.machine().map_or("MACHINE".to_owned(), ToString::to_string);
    Ok(writeln!(
        output,
        "To measure these calls: mpirun -n {processes} tuwtree-exec bench --recording {} --machine {machine}\n\
         To have them go this way: tuwtree-exec run --machine {machine} -- mpirun -n {processes} PROGRAM",
        files.join(" ")
    )?)
}

impl AdvisedCall {
    /// Blocks, or the messages of all ranks if they are known.
    fn sizes(&self) -> &[u64] {
        match self.call.matrix_bytes.is_empty() {
            true => &self.call.block_sizes_bytes,
            false => &self.call.matrix_bytes,
        }
    }

    fn write(&self, output: &mut dyn Write) -> Result<(), CliError> {
        let RecordedCall { function, root, block_sizes_bytes, calls, .. } = &self.call;
        let sizes = self.sizes();
        let bytes: u128 = sizes.iter().copied().map(u128::from).sum();
        let largest = sizes.iter().max().copied().unwrap_or(0);
        writeln!(
            output,
            "{function}, {}, {} {root}, {} (largest block {largest}): {}, {} each",
            text::processes(block_sizes_bytes.len()),
            if self.call.operation.is_rooted() { "root" } else { "at rank" },
            text::bytes(bytes),
            text::counted(calls, "time", "times"),
            quantity::seconds(self.call.seconds / *calls as f64)
        )?;
        let comparison = match &self.compared {
            Ok(comparison) => comparison,
            Err(reason) => return Ok(writeln!(output, "  No advice: {reason}.")?),
        };
        let advice = Advice::new(comparison);
        let advice = Advised(&advice);
        writeln!(output, "  {}", advice.sentence())?;
        if let Some(line) = advice.against_library() {
            writeln!(output, "  {line}")?;
        }
        match self.setting_line(&advice) {
            Some(line) => Ok(writeln!(output, "  {line}")?),
            None => Ok(()),
        }
    }

    /// Time of the library's best setting, if the library is known.
    fn setting_line(&self, advice: &Advised<'_>) -> Option<String> {
        let library = self.library?;
        let operation = advice.comparison.problem.operation();
        Some(match advice.comparison.best_setting(library) {
            None => format!("{} has no setting that does it in another way.", library.title()),
            Some((setting, outcome)) if std::ptr::eq(outcome, advice.chosen) => {
                format!(
                    "{} does the same with {}.{}",
                    library.title(),
                    setting.words,
                    caution(setting)
                )
            }
            Some((setting, outcome)) => format!(
                "The {} of {} at its best setting ({}: {}) {}.{}",
                operation.name(),
                library.title(),
                setting.words,
                outcome.construction.name(),
                advice.takes(outcome),
                caution(setting)
            ),
        })
    }

    fn document(&self) -> Value {
        let mut document = serde_json::to_value(&self.call).expect("a call is JSON");
        match &self.compared {
            Ok(comparison) => {
                let advice = Advice::new(comparison);
                document["advice"] = advise::document(&Advised(&advice));
                let best = self.library.and_then(|library| comparison.best_setting(library));
                if let Some((setting, outcome)) = best {
                    document["library_setting"] = json!({
                        "set": setting.words,
                        "construction": outcome.construction.name(),
                        "time": outcome.time().units(),
                        "needs_commutative": setting.needs_commutative,
                    });
                }
            }
            Err(reason) => document["no_advice"] = reason.as_str().into(),
        }
        document
    }

    fn row(&self) -> Value {
        let RecordedCall { function, root, block_sizes_bytes, calls, seconds, .. } = &self.call;
        let bytes: u128 = self.sizes().iter().copied().map(u128::from).sum();
        let advised = self.compared.as_ref().ok().map(|comparison| {
            let chosen = Advice::new(comparison).chosen;
            (chosen.construction.name(), chosen.unpacked.units())
        });
        let library = self.compared.as_ref().ok().and_then(Comparison::baseline);
        json!({
            "function": function,
            "processes": block_sizes_bytes.len(),
            "root": root,
            "bytes": bytes as f64,
            "calls": calls,
            "recorded_seconds": seconds,
            "advised": advised.map(|(name, _)| name),
            "advised_time": advised.map(|(_, time)| time),
            "library_time": library.map(|library| library.time.units()),
        })
    }
}

/// A warning of a setting with some wrong results, as a sentence behind others.
fn caution(setting: LibrarySetting) -> &'static str {
    match setting.needs_commutative {
        true => " With it, reductions by operators that do not commute give wrong results.",
        false => "",
    }
}
