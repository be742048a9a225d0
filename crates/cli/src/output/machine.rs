//! Machines as people read them.

use super::text;
use std::fmt::Write as _;
use tuwtree_model::document::Machine;
use tuwtree_model::quantity::seconds;
use tuwtree_model::{ClosedSet, Description, Network, WireOwner};

/// A machine in words and tables.
pub(crate) fn describe(machine: &Machine) -> String {
    let Machine { name, date, provenance, costs, network, combine_per_byte } = machine;
    let Description { processes, facts, headings, rows } = costs.kind().description();
    let mut text = format!(
        "name        {name}\ndate        {date}\nprovenance  {provenance}\nprocesses   {processes}\n"
    );
    for (label, fact) in facts {
        let _ = writeln!(text, "{label:<12}{fact}");
    }
    if *combine_per_byte > 0.0 {
        let _ = writeln!(text, "combining   {} per byte", seconds(*combine_per_byte));
    }
    if *network != Network::default() {
        let _ = writeln!(text, "network     {}", served(network));
        for (what, how) in &network.measured {
            let _ = writeln!(text, "{:<12}{what}: {how}", "measured");
        }
    }
    if !rows.is_empty() {
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        let mut table = text::table(&headings);
        table.add_rows(rows);
        let _ = writeln!(text, "\n{}", table.trim_fmt());
    }
    text
}

/// Service of messages by a network.
fn served(network: &Network) -> String {
    let mut facts = vec![format!("{} ports", network.port.name())];
    if network.wire == WireOwner::Node {
        facts.push("one wire for each node".to_owned());
    }
    if let Some(bytes) = network.eager_limit {
        facts.push(format!("eager up to {bytes} bytes"));
    }
    if let Some(overhead) = network.send_overhead {
        facts.push(format!("{} to begin a send", seconds(overhead)));
    }
    if let Some(bytes) = network.window {
        facts.push(format!("at most {bytes} bytes under way to a rank"));
    }
    if let Some(factor) = network.uncertainty {
        facts.push(format!("times are known within a factor of {factor}"));
    }
    facts.join(", ")
}
