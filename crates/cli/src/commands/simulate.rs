//! `tuwtree simulate`: when everything in a schedule happens.

use crate::args::{CombineArgs, CostArgs, PortArgs, named};
use crate::error::CliError;
use crate::input::{read_schedule, stated_costs};
use crate::output::format::{FormatArgs, insert_after, write_csv, write_json};
use crate::output::progress::note;
use crate::output::text;
use clap::Args;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::process::ExitCode;
use tuwtree_io::{Destination, Format, Source};
use tuwtree_model::{ClosedSet, Rank, StatedCosts};
use tuwtree_schedule::export::trace;
use tuwtree_schedule::{
    Action, Deed, Handover, Occupation, Posts, Schedule, Sends, Timeline, simulate, tree_of,
};

/// Simulate a schedule: actions of each process with their times, their waits, and the cause of the
/// end time.
///
/// The schedule need not follow a tree: every process performs its actions, every message is
/// transmitted when both its ends are ready. Costs are those in the file, unless given here.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SimulateArgs {
    /// The schedule, or a tree file whose schedule is meant, or `-` for standard input
    #[arg(value_name = "SCHEDULE", value_parser = Source::parse)]
    schedule: Source,

    #[command(flatten)]
    costs: CostArgs,

    #[command(flatten)]
    combine: CombineArgs,

    #[command(flatten)]
    ports: PortArgs,

    /// Synchronous or eager sends
    #[arg(long, value_name = "KIND", default_value = "synchronous",
          value_parser = named(|sends: Sends| match sends {
              Sends::Synchronous => "they do (rendezvous), as in the papers",
              Sends::Eager => "they go on when their data has left",
          }))]
    sends: Sends,

    /// Posting of receives, which matters if part of the latency overlaps with other work
    #[arg(long, value_name = "KIND", default_value = "pre-posted",
          value_parser = named(|posts: Posts| match posts {
              Posts::PrePosted => "all at the start: latency passes beside other work",
              Posts::Strict => "each when the action before it has ended: latency passes after that",
          }))]
    posts: Posts,

    /// List at most this many of the busiest processes and of the critical path's actions; 0 lists
    /// all
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,

    /// Write start and end of every action to this file as CSV (see docs/formats.md; `-`: standard
    /// output, and nothing else)
    #[arg(long, value_name = "FILE", value_parser = Destination::parse)]
    timeline: Option<Destination>,

    /// Write the same as a trace for Perfetto (ui.perfetto.dev) or chrome://tracing to this file: a
    /// track for each process, arrows for messages (`-`: standard output, and nothing else)
    #[arg(long, value_name = "FILE", value_parser = Destination::parse, conflicts_with = "timeline")]
    trace: Option<Destination>,

    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree simulate schedule.json --machine vsc3
  tuwtree simulate tree.json --trace trace.json    open it at https://ui.perfetto.dev";

/// Runs the command.
///
/// # Errors
/// A file that is not a valid schedule; messages without partner; deadlock.
pub(crate) fn run(args: &SimulateArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    let all_times = args.timeline.as_ref().or(args.trace.as_ref());
    let times_are_output = matches!(all_times, Some(Destination::StandardOutput));
    let format = args.format.printed(&Format::RESULT)?;
    Format::Csv.check_name("--timeline", args.timeline.as_ref())?;
    Format::Json.check_name("--trace", args.trace.as_ref())?;
    args.format.check_alone("--timeline", args.timeline.as_ref())?;
    args.format.check_alone("--trace", args.trace.as_ref())?;
    let schedule = read_schedule(&args.schedule, args.ports, Some(&args.costs))?;
    let costs = stated_costs(&schedule, &args.schedule, &args.costs)?;
    let schedule = args.combine.on(schedule, &args.costs, &costs)?;
    if costs.costs().overlaps() && tree_of(&schedule).is_some() {
        note(
            "messages come one after the other at each port here, as in the papers; `evaluate` and `draw` have the judge's \
             times, who lets them share a wire",
        );
    }
    let handover = Handover { sends: args.sends, posts: args.posts };
    let timeline =
        simulate(&schedule, &costs, handover).map_err(|error| args.schedule.failure(&error))?;
    let simulated = Simulated { schedule: &schedule, costs, handover, timeline };
    if let Some(destination) = &args.timeline {
        destination.open()?.write(|file| simulated.write_csv(file))?;
    }
    if let Some(destination) = &args.trace {
        destination.open()?.write(|file| simulated.write_trace(file))?;
    }
    match format {
        _ if times_are_output => {}
        Format::Json => write_json(&simulated.document(), output)?,
        Format::Csv => simulated.write_csv(output)?,
        _ => simulated.write_text(args.limit, output)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A schedule, simulated.
pub(crate) struct Simulated<'a> {
    pub(crate) schedule: &'a Schedule,
    pub(crate) costs: StatedCosts,
    pub(crate) handover: Handover,
    pub(crate) timeline: Timeline,
}

impl Simulated<'_> {
    /// Prints the times in words: at most `limit` of the busiest processes and of the critical path's actions.
    ///
    /// # Errors
    /// Errors of `output`.
    pub(crate) fn write_text(&self, limit: usize, output: &mut dyn Write) -> Result<(), CliError> {
        let task = self.schedule.task();
        writeln!(
            output,
            "completion time  {}",
            self.costs.unit().time(self.timeline.completion_time())
        )?;
        writeln!(
            output,
            "schedule         {} of {} over {}{}; order {}, {}{} port{}",
            task.operation.name(),
            text::bytes(task.total()),
            text::processes(task.ranks()),
            task.root_phrase(),
            task.order.name(),
            task.ports,
            if task.duplex { " duplex" } else { "" },
            if task.ports == 1 { "" } else { "s" }
        )?;
        writeln!(
            output,
            "costs            {}{}; {} sends{}",
            self.costs,
            text::with_operator(task.operator, self.costs.unit()),
            self.handover.sends.name(),
            self.posts().map_or(String::new(), |posts| format!(", {} receives", posts.name()))
        )?;
        let (messages, bytes) = self.messages();
        writeln!(output, "messages         {messages} with {bytes} bytes in all")?;
        self.write_ranks(limit, output)?;
        self.write_critical_path(limit, output)
    }

    /// The processes in the order of their busy time, the busiest first.
    fn busiest(&self) -> Vec<Rank> {
        let mut ranks: Vec<Rank> = (0..self.schedule.ranks()).collect();
        let busy = |rank: Rank| self.timeline.busy_units(rank);
        ranks.sort_by(|&one, &other| busy(other).total_cmp(&busy(one)).then(one.cmp(&other)));
        ranks
    }

    fn write_ranks(&self, limit: usize, output: &mut dyn Write) -> Result<(), CliError> {
        let ranks = self.busiest();
        let listed = if limit == 0 { ranks.len() } else { limit.min(ranks.len()) };
        let mut table = text::table(&["rank", "actions", "busy %", "waits %", "ends at"]);
        for &rank in &ranks[..listed] {
            let actions = self.timeline.actions(rank);
            let end = actions.iter().map(|times| times.end).max().unwrap_or_default();
            table.add_row([
                rank.to_string(),
                actions.len().to_string(),
                format!("{:.1}", 100.0 * self.share(self.timeline.busy_units(rank))),
                format!("{:.1}", 100.0 * self.share(self.timeline.waiting_units(rank))),
                self.costs.unit().time(end),
            ]);
        }
        writeln!(output, "\n{}", table.trim_fmt())?;
        if listed < ranks.len() {
            writeln!(output, "… and {} less busy processes", ranks.len() - listed)?;
        }
        Ok(())
    }

    fn write_critical_path(&self, limit: usize, output: &mut dyn Write) -> Result<(), CliError> {
        let path = self.timeline.critical_path();
        let listed = if limit == 0 { path.len() } else { limit.min(path.len()) };
        let mut table = text::table(&["critical path", "action", "what", "bytes", "start", "end"]);
        // The end is what people look at first; the start of a long path is left out.
        for step in &path[path.len() - listed..] {
            let index = self.schedule.programs().range(step.rank).start + step.action;
            let action = self.schedule.programs().action(index).of_held(step.held);
            table.add_row([
                step.rank.to_string(),
                step.action.to_string(),
                what(&action),
                action.reads().or(action.writes()).map_or(0, |region| region.bytes()).to_string(),
                self.costs.unit().time(step.start),
                self.costs.unit().time(step.end),
            ]);
        }
        if listed < path.len() {
            writeln!(
                output,
                "\nThe last {listed} of {} actions; --limit 0 lists all.",
                path.len()
            )?;
        } else {
            writeln!(output)?;
        }
        Ok(writeln!(output, "{}", table.trim_fmt())?)
    }

    /// Posting of receives, if that matters or is requested.
    fn posts(&self) -> Option<Posts> {
        let posts = self.handover.posts;
        (posts == Posts::Strict || self.costs.costs().overlaps()).then_some(posts)
    }

    fn messages(&self) -> (usize, u128) {
        let programs = self.schedule.programs();
        (0..self.schedule.ranks())
            .flat_map(|rank| programs.actions(rank))
            .filter_map(|action| action.send())
            .fold((0, 0), |(count, bytes), send| (count + 1, bytes + u128::from(send.from.bytes())))
    }

    /// A span of all ports of a rank, or of both sides of duplex ones, as a share of their time until completion.
    fn share(&self, units: f64) -> f64 {
        let ports = f64::from(self.schedule.task().lanes());
        let total = self.timeline.completion_time().units() * ports;
        if total > 0.0 { units / total } else { 0.0 }
    }

    fn write_csv(&self, output: &mut dyn Write) -> io::Result<()> {
        write_csv(COLUMNS, (0..self.schedule.ranks()).flat_map(|rank| self.events(rank)), output)
    }

    fn write_trace(&self, output: &mut dyn Write) -> io::Result<()> {
        // Costs of a machine are seconds; others have no unit, and one of theirs is shown as a microsecond.
        let scale = if self.costs.machine().is_some() { 1e6 } else { 1.0 };
        trace::write(self.schedule, &self.timeline, scale, output)
    }

    /// Events of a rank, one after the other, in the order of [`COLUMNS`]; of an exchange on a duplex port, each half.
    fn events(&self, rank: Rank) -> impl Iterator<Item = [Value; 10]> + '_ {
        let programs = self.schedule.programs();
        self.timeline.occupations(rank).map(move |Occupation { action: index, held, times }| {
            let action = programs.action(programs.range(rank).start + index).of_held(held);
            let bytes = action.reads().or(action.writes()).map_or(0, |region| region.bytes());
            [
                json!(rank),
                json!(index),
                json!(kind(&action)),
                json!(action.send().map(|send| send.to)),
                json!(action.receive().map(|receive| receive.from)),
                json!(bytes),
                json!(action.port),
                json!(times.ready.to_string()),
                json!(times.start.to_string()),
                json!(times.end.to_string()),
            ]
        })
    }

    /// The times as a document.
    pub(crate) fn document(&self) -> Value {
        let task = self.schedule.task();
        let (messages, bytes) = self.messages();
        let ranks: Vec<Value> = (0..self.schedule.ranks())
            .map(|rank| {
                json!({
                    "busy": text::json_number(self.timeline.busy_units(rank)),
                    "waiting": text::json_number(self.timeline.waiting_units(rank)),
                })
            })
            .collect();
        let path: Vec<Value> = self
            .timeline
            .critical_path()
            .iter()
            .map(|step| {
                json!({
                    "rank": step.rank,
                    "action": step.action,
                    "start": text::json_time(step.start),
                    "end": text::json_time(step.end),
                })
            })
            .collect();
        let mut document = json!({
            "format": "tuwtree-simulation",
            "version": 2,
            "operation": task.operation.name(),
            "ranks": task.ranks(),
            "root": task.root,
            "order": task.order.name(),
            "ports": task.ports,
            "machine": self.costs.machine_name(),
            "sends": self.handover.sends.name(),
            "completion_time": text::json_time(self.timeline.completion_time()),
            "messages": messages,
            "message_bytes": text::json_bytes(bytes),
            "critical_path": path,
            "per_rank": ranks,
        });
        insert_after(&mut document, "ports", text::json_parameters(&self.costs));
        let operator = text::json_operator(task.operation, task.operator);
        insert_after(&mut document, "gamma_per_byte", operator);
        insert_after(&mut document, "ports", task.duplex.then_some(("duplex", json!(true))));
        let posts = self.posts().map(|posts| ("posts", posts.name().into()));
        insert_after(&mut document, "sends", posts);
        document
    }
}

/// The columns of the CSV timeline.
const COLUMNS: [&str; 10] =
    ["rank", "action", "kind", "to", "from", "bytes", "port", "ready", "start", "end"];

fn kind(action: &Action<'_>) -> &'static str {
    match action.deed {
        Deed::Copy { .. } if action.combines().is_some() => "combine",
        Deed::Copy { .. } => "copy",
        Deed::Send(_) => "send",
        Deed::Receive(_) => "receive",
        Deed::Exchange(..) => "exchange",
    }
}

/// An action in words.
fn what(action: &Action<'_>) -> String {
    match action.deed {
        Deed::Copy { .. } if action.combines().is_some() => "combines".into(),
        Deed::Copy { .. } => "copies".into(),
        Deed::Send(send) => format!("sends to {}", send.to),
        Deed::Receive(receive) => format!("receives from {}", receive.from),
        Deed::Exchange(send, receive) => {
            format!("sends to {}, receives from {}", send.to, receive.from)
        }
    }
}
