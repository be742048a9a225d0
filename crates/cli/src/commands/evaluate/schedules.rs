//! Evaluation of schedules, which need not go along a tree.

use super::EvaluateArgs;
use crate::error::CliError;
use crate::input::{bound_on_schedule, stated_costs};
use crate::output::format::{insert_after, row_of, write_json, write_objects};
use crate::output::text;
use serde_json::{Value, json};
use std::io::Write;
use tuwtree_io::Format;
use tuwtree_model::{ClosedSet, StatedCosts, Time};
use tuwtree_schedule::{Schedule, Verified, perform, verify};

/// Facts about a schedule and costs.
struct Evaluation<'a> {
    schedule: &'a Schedule,
    costs: StatedCosts,
    verified: Verified,
    time: Time,
    bound: Time,
}

/// Writes what there is to say about a schedule.
///
/// # Errors
/// Data beside it; costs that do not fit; an incorrect schedule.
pub(super) fn run(
    args: &EvaluateArgs,
    schedule: &Schedule,
    format: Format,
    output: &mut dyn Write,
) -> Result<(), CliError> {
    args.ports.check_not_given(&args.tree)?;
    let schedule = args.ports.on(schedule.clone());
    if args.payload.load(schedule.ranks())?.is_some() {
        return Err(CliError::Usage(format!(
            "{}: a schedule has its data; --sizes, --dist and --vector are for trees",
            args.tree
        )));
    }
    let costs = stated_costs(&schedule, &args.tree, &args.costs)?;
    let schedule = &args.combine.on(schedule, &args.costs, &costs)?;
    let failure = |error: &dyn std::fmt::Display| args.tree.failure(&error);
    let verified = verify(schedule).map_err(|fault| failure(&fault))?;
    let timeline = perform(schedule, &costs).map_err(|error| failure(&error))?;
    let bound = bound_on_schedule(schedule, &costs).map_err(|error| failure(&error))?;
    let time = timeline.completion_time();
    let evaluation = Evaluation { schedule, costs, verified, time, bound };
    match format {
        Format::Json => write_json(&evaluation.document(), output)?,
        Format::Csv => write_objects(&[row_of(&evaluation.document())], output)?,
        _ => evaluation.write_text(output)?,
    }
    Ok(())
}

impl Evaluation<'_> {
    fn write_text(&self, output: &mut dyn Write) -> Result<(), CliError> {
        let Evaluation { schedule, costs, verified, time, bound } = self;
        let task = schedule.task();
        writeln!(output, "completion time  {}", costs.unit().time(*time))?;
        let with_root = if task.root.is_some() { " with this root" } else { "" };
        writeln!(
            output,
            "lower bound      {} on any schedule{with_root}",
            costs.unit().time(*bound)
        )?;
        writeln!(
            output,
            "problem          {} of {}; {}{}{}",
            task.operation.name(),
            text::payload(&task.payload),
            costs,
            text::with_operator(task.operator, costs.unit()),
            task.root_phrase()
        )?;
        writeln!(
            output,
            "messages         {} with {} bytes in all, at most {} one after the other",
            verified.messages, verified.bytes_sent, verified.rounds
        )?;
        if verified.redundant_bytes > 0 {
            writeln!(output, "redundant        {} bytes", verified.redundant_bytes)?;
        }
        writeln!(output, "ports            {}", text::ports_of(task))?;
        Ok(writeln!(output, "order            {}", verified.order.name())?)
    }

    fn document(&self) -> Value {
        let Evaluation { schedule, costs, verified, time, bound } = self;
        let task = schedule.task();
        let mut document = json!({
            "format": "tuwtree-evaluation",
            "version": 2,
            "operation": task.operation.name(),
            "ranks": task.ranks(),
            "ports": task.ports,
            "machine": costs.machine_name(),
            "root": task.root,
            "completion_time": text::json_time(*time),
            "lower_bound": text::json_time(*bound),
            "messages": verified.messages,
            "message_bytes": text::json_bytes(verified.bytes_sent),
            "rounds": verified.rounds,
            "redundant_bytes": text::json_bytes(verified.redundant_bytes),
            "order": verified.order.name(),
        });
        let operator = text::json_operator(task.operation, task.operator);
        insert_after(&mut document, "machine", operator);
        insert_after(&mut document, "ports", task.duplex.then_some(("duplex", json!(true))));
        document
    }
}
