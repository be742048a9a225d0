//! GOAL text, which LogGOPSim and ATLAHS simulate.
//!
//! Each action becomes an operation of its processor: `send`, `recv`, or `calc` for a copy. An
//! operation requires the one before it on its port, and one that reads what has been received or
//! copied requires that. GOAL counts time in nanoseconds.
//!
//! # Source
//! T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language", ICPP 2009.

use crate::action::{Action, Deed};
use crate::schedule::Schedule;
use std::collections::BTreeMap;
use std::io::{self, Write};
use tuwtree_model::{CostModel, Rank};

/// Writes a schedule's actions with their dependencies. Copies take what they cost, in time units of
/// which each is so many nanoseconds, rounded.
///
/// # Errors
/// Those of `output`; a copy whose time cannot be stated.
///
/// # Complexity
/// O(1) for each action and port.
pub fn write(
    schedule: &Schedule,
    costs: &impl CostModel,
    nanoseconds: f64,
    output: &mut dyn Write,
) -> io::Result<()> {
    let task = schedule.task();
    writeln!(
        output,
        "// {} of {} bytes over {} processors, root {}",
        task.operation.name(),
        task.total(),
        task.processors(),
        task.root
    )?;
    writeln!(output, "num_ranks {}", task.processors())?;
    let calc = |rank: Rank, bytes: u64| {
        let time = costs.copy_at(rank, bytes).map_err(io::Error::other)?;
        Ok(time.units() * nanoseconds)
    };
    for rank in 0..schedule.processors() {
        writeln!(output, "\nrank {rank} {{")?;
        write_processor(schedule, rank, &|bytes| calc(rank, bytes), output)?;
        writeln!(output, "}}")?;
    }
    Ok(())
}

/// The labels of the operations that an action has become.
type Labels = Vec<String>;

/// The nanoseconds that a copy of so many bytes takes.
type Calc<'a> = &'a dyn Fn(u64) -> io::Result<f64>;

fn write_processor(
    schedule: &Schedule,
    rank: Rank,
    calc: Calc<'_>,
    output: &mut dyn Write,
) -> io::Result<()> {
    // On each port: what came last, and what was written last.
    let mut last: BTreeMap<u16, Labels> = BTreeMap::new();
    let mut written: BTreeMap<u16, Labels> = BTreeMap::new();
    for (index, action) in schedule.programs().actions(rank).enumerate() {
        let labels = write_operations(index, &action, calc, output)?;
        let mut required = last.get(&action.port).cloned().unwrap_or_default();
        if action.needs_written() {
            let others = written.iter().filter(|&(&port, _)| port != action.port);
            required.extend(others.flat_map(|(_, labels)| labels.iter().cloned()));
        }
        for label in &labels {
            for required in &required {
                writeln!(output, "{label} requires {required}")?;
            }
        }
        if action.writes().is_some() {
            written.insert(action.port, labels.clone());
        }
        last.insert(action.port, labels);
    }
    Ok(())
}

fn write_operations(
    index: usize,
    action: &Action<'_>,
    calc: Calc<'_>,
    output: &mut dyn Write,
) -> io::Result<Labels> {
    let mut labels = Vec::new();
    if let Deed::Copy { from, .. } = action.deed {
        let label = format!("c{index}");
        writeln!(output, "{label}: calc {:.0}", calc(from.bytes())?)?;
        labels.push(label);
    }
    if let Some(send) = action.send() {
        let label = format!("s{index}");
        writeln!(output, "{label}: send {}b to {} tag {}", send.from.bytes(), send.to, send.tag)?;
        labels.push(label);
    }
    if let Some(receive) = action.receive() {
        let label = format!("r{index}");
        let (bytes, from, tag) = (receive.into.bytes(), receive.from, receive.tag);
        writeln!(output, "{label}: recv {bytes}b from {from} tag {tag}")?;
        labels.push(label);
    }
    Ok(labels)
}
