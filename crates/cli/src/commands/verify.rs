//! `tuwtree verify`: checks that a schedule performs its operation.

use crate::args::PortArgs;
use crate::error::CliError;
use crate::input::read_schedule;
use crate::output::format::{FormatArgs, row_of, write_json, write_objects};
use crate::output::text;
use clap::Args;
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use tuwtree_io::{Format, Source};
use tuwtree_model::ClosedSet;
use tuwtree_schedule::{Schedule, Verified, verify};

/// Check that a schedule, from any program, performs its operation correctly.
///
/// Every block reaches its place, and nothing there is overwritten; every send has its receive, with the same size, tag
/// and order; there is no deadlock, even if sends wait for their receivers; no port does two things
/// at once; and the data of each process is consecutive, if the schedule says so. The first fault is
/// explained, with processes and actions, and the exit code is then 1; with --json, the verdict is a document
/// on standard output either way.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// The schedule, or a tree file whose schedule is meant, or `-` for standard input
    #[arg(value_name = "SCHEDULE", value_parser = Source::parse)]
    schedule: Source,

    #[command(flatten)]
    ports: PortArgs,

    /// Refuse schedules that bring data to a place that has it, as broadcasts by scatter and allgather do
    #[arg(long)]
    no_redundant: bool,

    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree verify schedule.json.gz
  tuwtree verify --json schedule.json   the verdict for a program to read";

/// Runs the command.
///
/// # Errors
/// A file that is not a valid schedule, or an incorrect schedule.
pub(crate) fn run(args: &VerifyArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    let format = args.format.printed(&Format::RESULT)?;
    let schedule = read_schedule(&args.schedule, args.ports, None)?;
    let verified = match checked(&schedule, args) {
        Ok(verified) => verified,
        // The verdict is the result.
        Err(fault) if format == Format::Json => {
            write_json(&fault_document(&schedule, &fault), output)?;
            return Ok(ExitCode::FAILURE);
        }
        Err(fault) => return Err(args.schedule.failure(&fault).into()),
    };
    match format {
        Format::Json => write_json(&document(&schedule, &verified), output)?,
        Format::Csv => write_objects(&[row(&schedule, &verified)], output)?,
        _ => write_text(&schedule, &verified, output)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Properties of a schedule, or its first fault in words.
fn checked(schedule: &Schedule, args: &VerifyArgs) -> Result<Verified, String> {
    let verified = verify(schedule).map_err(|fault| fault.to_string())?;
    match verified.redundant_bytes {
        bytes if args.no_redundant && bytes > 0 => {
            Err(format!("{bytes} bytes come to places that have them already"))
        }
        _ => Ok(verified),
    }
}

fn write_text(
    schedule: &Schedule,
    verified: &Verified,
    output: &mut dyn Write,
) -> Result<(), CliError> {
    let task = schedule.task();
    writeln!(
        output,
        "correct    {} of {} over {}{}",
        task.operation.name(),
        text::bytes(task.total()),
        text::processes(task.ranks()),
        task.root_phrase()
    )?;
    writeln!(
        output,
        "messages   {} with {} bytes in all, at most {} one after the other",
        verified.messages, verified.bytes_sent, verified.rounds
    )?;
    writeln!(output, "copies     {} with {} bytes in all", verified.copies, verified.bytes_copied)?;
    if verified.redundant_bytes > 0 {
        writeln!(output, "redundant  {} bytes, which were there", verified.redundant_bytes)?;
    }
    let (rank, bytes) = verified.largest_segment();
    match bytes {
        0 => writeln!(output, "segments   none")?,
        _ => writeln!(output, "segments   at most {bytes} bytes, at rank {rank}")?,
    }
    writeln!(
        output,
        "order      {}{}",
        verified.order.name(),
        if verified.order == task.order {
            String::new()
        } else {
            format!(", though only {} is promised", task.order.name())
        }
    )?;
    if let Some(is_same) = verified.same_bracketing {
        let found = if is_same { "yes" } else { "no" };
        writeln!(output, "same bracketing: {found}")?;
    }
    Ok(writeln!(output, "ports      {}", text::ports_of(task))?)
}

fn document(schedule: &Schedule, verified: &Verified) -> Value {
    let task = schedule.task();
    let mut document = json!({
        "format": "tuwtree-verification",
        "version": 2,
        "is_correct": true,
        "operation": task.operation.name(),
        "ranks": task.ranks(),
        "root": task.root,
        "messages": verified.messages,
        "message_bytes": text::json_bytes(verified.bytes_sent),
        "rounds": verified.rounds,
        "copies": verified.copies,
        "copied_bytes": text::json_bytes(verified.bytes_copied),
        "segment_bytes": verified.segment_bytes,
        "order": verified.order.name(),
        "ports": task.ports,
    });
    if task.duplex {
        document["duplex"] = true.into();
    }
    if let Some(is_same) = verified.same_bracketing {
        document["same_bracketing"] = is_same.into();
    }
    if verified.redundant_bytes > 0 {
        document["redundant_bytes"] = text::json_bytes(verified.redundant_bytes);
    }
    document
}

/// The verdict on an incorrect schedule.
fn fault_document(schedule: &Schedule, fault: &str) -> Value {
    let task = schedule.task();
    json!({
        "format": "tuwtree-verification",
        "version": 2,
        "is_correct": false,
        "operation": task.operation.name(),
        "ranks": task.ranks(),
        "root": task.root,
        "fault": fault,
    })
}

/// The document as a row, with the largest segment in place of the list.
fn row(schedule: &Schedule, verified: &Verified) -> Value {
    let mut row = row_of(&document(schedule, verified));
    row["largest_segment_bytes"] = verified.largest_segment().1.into();
    row
}
