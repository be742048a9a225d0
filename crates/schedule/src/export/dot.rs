//! Graphviz: who sends to whom.
//!
//! A node for each rank, an edge for each message, labelled with its bytes and drawn the wider
//! the more these are. Edges leave a rank in the order of its actions.

use crate::schedule::Schedule;
use std::io::{self, Write};
use tuwtree_model::ClosedSet;

/// The widest line, in points.
const WIDEST: f64 = 8.0;

/// Writes the messages of a schedule as a directed graph.
///
/// # Errors
/// Errors of `output`.
///
/// # Complexity
/// O(1) for each action.
pub fn write(schedule: &Schedule, output: &mut dyn Write) -> io::Result<()> {
    let task = schedule.task();
    // Quoted, since names such as reduce-scatter are no identifiers.
    writeln!(output, "digraph \"{}\" {{", task.operation.name())?;
    writeln!(
        output,
        "  label=\"{} of {} bytes, {} processes{}\";",
        task.operation.name(),
        task.total(),
        task.ranks(),
        task.root_phrase()
    )?;
    // The root is at the top, whichever way the data flows.
    writeln!(output, "  rankdir={};", if task.operation.is_outward() { "TB" } else { "BT" })?;
    writeln!(output, "  node [shape=box, fontname=\"sans-serif\"];")?;
    writeln!(output, "  edge [fontname=\"sans-serif\", fontsize=10];")?;
    let total = task.total().max(1) as f64;
    for rank in 0..schedule.ranks() {
        let shape = if task.root == Some(rank) { ", shape=doubleoctagon" } else { "" };
        writeln!(output, "  {rank} [label=\"{rank}\\n{} B\"{shape}];", task.own(rank))?;
        for action in schedule.programs().actions(rank) {
            if let Some(send) = action.send() {
                let bytes = send.from.bytes();
                let width = 0.5 + (WIDEST - 0.5) * (bytes as f64 / total).min(1.0);
                let to = send.to;
                writeln!(output, "  {rank} -> {to} [label=\"{bytes}\", penwidth={width:.2}];")?;
            }
        }
    }
    writeln!(output, "}}")
}
