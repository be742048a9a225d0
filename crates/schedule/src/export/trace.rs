//! Chrome's trace event format: a timeline of all ranks, for Perfetto and `chrome://tracing`.
//!
//! A thread for each rank, or for each of several ports, or for each side of duplex ports; a slice for each action,
//! another for the wait before it; an arrow for each message. The format counts in microseconds: costs in seconds are
//! written in it, and any other unit is shown as a microsecond.
//!
//! # Source
//! "Trace Event Format", Google, as Perfetto's `JsonTraceReader` takes it.

use crate::action::{Arrival, Deed};
use crate::hold::Held;
use crate::schedule::Schedule;
use crate::simulate::{Occupation, Timeline};
use serde_json::{Value, json};
use std::io::{self, Write};
use tuwtree_model::{ClosedSet, Rank, Time};

/// Writes a simulated schedule as a trace; `scale` is how many microseconds a time unit of its costs is shown
/// as.
///
/// # Errors
/// Errors of `output`.
///
/// # Complexity
/// O(n log n) for n actions; nothing is kept but the event that is written.
pub fn write(
    schedule: &Schedule,
    timeline: &Timeline,
    scale: f64,
    output: &mut dyn Write,
) -> io::Result<()> {
    let task = schedule.task();
    let title = format!(
        "{} of {} bytes over {} processes{}",
        task.operation.name(),
        task.total(),
        task.ranks(),
        task.root_phrase()
    );
    let mut trace = Trace { schedule, timeline, scale, output, is_first: true };
    trace.output.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    trace.event(&json!({"ph": "M", "name": "process_name", "pid": 0, "args": {"name": title}}))?;
    for rank in 0..schedule.ranks() {
        trace.name_rank(rank)?;
        trace.write_rank(rank)?;
    }
    trace.output.write_all(b"\n]}\n")
}

struct Trace<'a> {
    schedule: &'a Schedule,
    timeline: &'a Timeline,
    scale: f64,
    output: &'a mut dyn Write,
    is_first: bool,
}

impl Trace<'_> {
    fn event(&mut self, event: &Value) -> io::Result<()> {
        let before = if std::mem::take(&mut self.is_first) { "\n" } else { ",\n" };
        write!(self.output, "{before}{event}")
    }

    fn microseconds(&self, time: Time) -> f64 {
        time.units() * self.scale
    }

    /// The number of the thread that a port of a rank is, or the side of one that is held.
    fn thread(&self, rank: Rank, port: u16, held: Held) -> usize {
        let lanes = self.schedule.task().lanes() as usize;
        let lane = match (self.schedule.task().duplex, held) {
            (false, _) => usize::from(port),
            (true, Held::Port | Held::SendSide) => 2 * usize::from(port),
            (true, Held::ReceiveSide) => 2 * usize::from(port) + 1,
        };
        rank * lanes + lane
    }

    fn name_rank(&mut self, rank: Rank) -> io::Result<()> {
        let actions = self.schedule.programs().actions(rank);
        let last = actions.map(|action| action.port).max().unwrap_or_default();
        let sides = match self.schedule.task().duplex {
            false => &[(Held::Port, "")][..],
            true => &[(Held::SendSide, ", sends"), (Held::ReceiveSide, ", receives")],
        };
        for (port, &(held, side)) in
            (0..=last).flat_map(|port| sides.iter().map(move |side| (port, side)))
        {
            let name = match last {
                0 => format!("rank {rank}{side}"),
                _ => format!("rank {rank}, port {port}{side}"),
            };
            let thread = self.thread(rank, port, held);
            for (kind, value) in [
                ("thread_name", json!({"name": name})),
                ("thread_sort_index", json!({"sort_index": thread})),
            ] {
                self.event(
                    &json!({"ph": "M", "name": kind, "pid": 0, "tid": thread, "args": value}),
                )?;
            }
        }
        Ok(())
    }

    fn write_rank(&mut self, rank: Rank) -> io::Result<()> {
        let (programs, timeline) = (self.schedule.programs(), self.timeline);
        for Occupation { action: index, held, times } in timeline.occupations(rank) {
            let action = programs.action(programs.range(rank).start + index);
            let is_both = self.schedule.task().duplex && held == Held::Port;
            let sides = if is_both { &[Held::SendSide, Held::ReceiveSide][..] } else { &[held] };
            let [ready, start, end] =
                [times.ready, times.start, times.end].map(|time| self.microseconds(time));
            for &side in sides {
                let thread = self.thread(rank, action.port, side);
                if ready < start {
                    let wait = json!({
                        "ph": "X", "name": "wait", "cat": "wait", "pid": 0, "tid": thread,
                        "ts": ready, "dur": start - ready,
                    });
                    self.event(&wait)?;
                }
                let (name, kind, bytes) = what(&action.of_held(held).deed);
                self.event(&json!({
                    "ph": "X", "name": name, "cat": kind, "pid": 0, "tid": thread, "ts": start,
                    "dur": end - start, "args": {"action": index, "bytes": bytes},
                }))?;
            }
            if held != Held::ReceiveSide {
                self.write_arrow(rank, index, times.start)?;
            }
        }
        Ok(())
    }

    /// The arrow of the message that an action sends from a time on, between the beginnings of both slices.
    fn write_arrow(&mut self, rank: Rank, index: usize, start: Time) -> io::Result<()> {
        let Some((to, receipt)) = self.timeline.receipt(rank, index) else { return Ok(()) };
        let programs = self.schedule.programs();
        let port = |rank: Rank, index| programs.action(programs.range(rank).start + index).port;
        let from_thread = self.thread(rank, port(rank, index), Held::SendSide);
        let to_thread = self.thread(to, port(to, receipt), Held::ReceiveSide);
        let id = programs.range(rank).start + index;
        let received = self.timeline.receiving(to, receipt).start;
        let (left, arrived) = (self.microseconds(start), self.microseconds(received));
        self.event(&json!({
            "ph": "s", "name": "message", "cat": "message", "id": id, "pid": 0,
            "tid": from_thread, "ts": left,
        }))?;
        self.event(&json!({
            "ph": "f", "bp": "e", "name": "message", "cat": "message", "id": id, "pid": 0,
            "tid": to_thread, "ts": arrived,
        }))
    }
}

/// An action's name, its kind and the bytes that it moves; of an exchange, in both directions.
fn what(deed: &Deed<'_>) -> (String, &'static str, u64) {
    match *deed {
        Deed::Copy { from, arrival: Arrival::Store, .. } => ("copy".into(), "copy", from.bytes()),
        Deed::Copy { from, .. } => ("combine".into(), "combine", from.bytes()),
        Deed::Send(send) => (format!("to {}", send.to), "send", send.from.bytes()),
        Deed::Receive(receive) => {
            (format!("from {}", receive.from), "receive", receive.into.bytes())
        }
        Deed::Exchange(send, receive) => (
            format!("to {}, from {}", send.to, receive.from),
            "exchange",
            send.from.bytes().saturating_add(receive.into.bytes()),
        ),
    }
}
