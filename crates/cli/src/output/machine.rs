//! Machines as people read them.

use super::text;
use std::fmt::Write as _;
use tuwtree_model::document::Machine;
use tuwtree_model::quantity::seconds;
use tuwtree_model::{ClosedSet, Costs, Description, LinkLaw, Network, Piece, PortKind, WireOwner};

/// A machine's costs as C, for `c/tuwtree.h`; of a machine with levels, the outermost level's.
///
/// # Errors
/// Costs of each pair, and costs by measured sizes, in words.
pub(crate) fn c_header(machine: &Machine) -> Result<String, String> {
    let Machine { name, date, provenance, costs, network, .. } = machine;
    let (pieces, gamma) = match costs {
        Costs::Homogeneous(costs) => {
            let (alpha, overhead, beta) = (costs.alpha(), costs.overhead(), costs.beta());
            (vec![Piece { from_bytes: 0, alpha, overhead, beta }], costs.gamma())
        }
        Costs::Hierarchical(levels) => match levels.levels().last().map(|level| &level.links) {
            Some(LinkLaw::Pieces(law)) => (law.pieces().to_vec(), levels.gamma()),
            _ => return Err("costs at measured sizes: --linearise-at makes them linear".into()),
        },
        _ => return Err("C needs costs that all pairs of ranks share".into()),
    };
    let word = |one: char| if one.is_ascii_alphanumeric() { one.to_ascii_lowercase() } else { '_' };
    let word: String = name.chars().map(word).collect();
    let stated = |limit: Option<u64>| limit.map_or("UINT64_MAX".into(), |limit| limit.to_string());
    let turns = match network.port {
        PortKind::FirstInFirstOut => stated(None),
        PortKind::Fair => network.fair_beyond.unwrap_or(0).to_string(),
    };
    let about = format!("{name}, {date}: {provenance}").replace("*/", "* /");
    let mut text = format!(
        "/* Costs for tuwtree.h, in seconds and bytes. {about} */\n#include \"tuwtree.h\"\n\n\
         static const tuwtree_piece links_of_{word}[] = {{\n"
    );
    for Piece { from_bytes, alpha, overhead, beta } in &pieces {
        let _ = writeln!(text, "    {{{from_bytes}, {alpha:e}, {overhead:e}, {beta:e}}},");
    }
    let (count, eager) = (pieces.len(), stated(network.eager_limit));
    let send_overhead = network.send_overhead.unwrap_or(-1.0);
    let _ = writeln!(
        text,
        "}};\n\nstatic const tuwtree_costs costs_of_{word} = {{\n    \
         links_of_{word}, {count}, {gamma:e}, {send_overhead:e}, {eager}, {turns}}};"
    );
    Ok(text)
}

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
