//! GOAL text, which LogGOPSim and ATLAHS simulate.
//!
//! Each action becomes an operation of its rank: `send`, `recv`, or `calc` for a copy, and `calc` after a `recv` whose
//! data is combined in some time. An operation requires the one before it on its port, and one that reads received or
//! copied data requires that receive or copy. GOAL counts time in nanoseconds.
//!
//! What a message costs is no part of GOAL: LogGOPSim is told. The settings that come nearest to costs
//! alpha = lambda + o and beta are `L` = lambda, `g` = o, `G` = beta and `o` = 0: LogGOPSim charges its `o`
//! at both ends, the model charges a message's receiver for it, and its sender only where that sends on.
//! Where part of alpha overlaps, a comment in the file says so; where exchanges have costs of their own, too: all messages
//! have one `g` and one `G`.
//!
//! # Source
//! T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language", ICPP 2009.

use super::exchanges::ExchangedMessages;
use super::nodes::{Node, NodeWork, nodes, work_time};
use crate::action::Action;
use crate::schedule::Schedule;
use std::io::{self, Write};
use tuwtree_model::{ClosedSet, Costs, Homogeneous, Rank};

/// Writes a schedule's actions with their dependencies. Copies and combining have their times rounded to nanoseconds; a
/// time unit is this many of these. Where rounding would give 0, the unit is a thousandth of a nanosecond, or a
/// thousandth of that: a comment says so.
///
/// # Errors
/// Errors of `output`; a copy whose time cannot be stated.
///
/// # Complexity
/// O(1) for each action and port.
pub fn write(
    schedule: &Schedule,
    costs: &Costs,
    nanoseconds: f64,
    output: &mut dyn Write,
) -> io::Result<()> {
    let task = schedule.task();
    writeln!(
        output,
        "// {} of {} bytes over {} processes{}",
        task.operation.name(),
        task.total(),
        task.ranks(),
        task.root_phrase()
    )?;
    let calc = |rank: Rank, action: &Action<'_>| {
        Ok(work_time(schedule, costs, rank, action)?.units() * nanoseconds)
    };
    let parts = parts_of_a_nanosecond(least_calc(schedule, &calc)?)?;
    if parts > 1.0 {
        writeln!(output, "// calc in units of {} ns; elsewhere it is 1 ns", 1.0 / parts)?;
    }
    if costs.overlaps() {
        writeln!(output, "// {}", settings(costs, nanoseconds * parts))?;
    }
    if let Some(exchanged) = costs.parameters().filter(|costs| costs.has_exchange_costs()) {
        let messages = ExchangedMessages::new(schedule).map_err(io::Error::other)?;
        let units = nanoseconds * parts;
        writeln!(output, "// {}", settings_with_exchanges(exchanged, &messages, units))?;
    }
    writeln!(output, "num_ranks {}", task.ranks())?;
    for rank in 0..schedule.ranks() {
        writeln!(output, "\nrank {rank} {{")?;
        write_rank(schedule, rank, &|action| Ok(calc(rank, action)? * parts), output)?;
        writeln!(output, "}}")?;
    }
    Ok(())
}

/// The settings of LogGOPSim nearest to the costs; a time unit is this many of its own.
fn settings(costs: &Costs, units: f64) -> String {
    match costs.parameters() {
        Some(costs) => format!(
            "LogGOPSim: -L {} -o 0 -g {} -G {} -O 0 -S 1000000000 comes nearest",
            costs.latency() * units,
            costs.overhead() * units,
            costs.beta() * units
        ),
        None => {
            "LogGOPSim: L, g and G are the same for all ranks and sizes, these costs are not".into()
        }
    }
}

/// The settings of LogGOPSim nearest to costs with exchanges, or the reason for having none; a time unit is this many
/// of its own.
fn settings_with_exchanges(
    costs: &Homogeneous,
    messages: &ExchangedMessages,
    units: f64,
) -> String {
    let settings = |alpha: f64, beta: f64| {
        format!("-L 0 -o 0 -g {} -G {} -O 0 -S 1000000000", alpha * units, beta * units)
    };
    let exchanged = settings(costs.exchange_alpha(), costs.exchange_beta());
    let lone = settings(costs.alpha(), costs.beta());
    let ExchangedMessages { exchanged: of_exchanges, all, .. } = *messages;
    match of_exchanges {
        0 => format!("LogGOPSim: no message is of an exchange; {lone} comes nearest"),
        _ if of_exchanges == all => {
            format!("LogGOPSim: all messages are of exchanges; {exchanged} comes nearest")
        }
        _ => format!(
            "LogGOPSim: g and G are the same for all messages; {of_exchanges} of {all} are of exchanges ({exchanged}), \
             the others are not ({lone})"
        ),
    }
}

/// The least nonzero time of a copy or of combining; infinite if there is none.
fn least_calc(
    schedule: &Schedule,
    calc: &impl Fn(Rank, &Action<'_>) -> io::Result<f64>,
) -> io::Result<f64> {
    let mut least = f64::INFINITY;
    for rank in 0..schedule.ranks() {
        for action in schedule.programs().actions(rank) {
            let time = calc(rank, &action)?;
            least = if time > 0.0 { least.min(time) } else { least };
        }
    }
    Ok(least)
}

/// Into how many parts a nanosecond is to be divided so that a copy of this time is not nothing: one,
/// where it is that without; else a power of a thousand that keeps two digits of it.
///
/// # Errors
/// A time that is nothing even so.
fn parts_of_a_nanosecond(least: f64) -> io::Result<f64> {
    const MOST: f64 = 1e12;
    if least >= 0.5 {
        return Ok(1.0);
    }
    let mut parts = 1000.0;
    while least * parts < 10.0 && parts <= MOST {
        parts *= 1000.0;
    }
    match parts <= MOST {
        true => Ok(parts),
        false => Err(io::Error::other(format!(
            "a copy of {least:e} ns is too short for GOAL, which counts in whole numbers"
        ))),
    }
}

fn write_rank(
    schedule: &Schedule,
    rank: Rank,
    calc: &dyn Fn(&Action<'_>) -> io::Result<f64>,
    output: &mut dyn Write,
) -> io::Result<()> {
    let nodes = nodes(schedule, rank, calc)?;
    let of_one = |one: &Node<'_>, other: &Node<'_>| {
        let combines = |node: &Node<'_>| matches!(node.work, NodeWork::Combine(..));
        (one.action, combines(one)) == (other.action, combines(other))
    };
    for together in nodes.chunk_by(of_one) {
        for node in together {
            write_node(node, output)?;
        }
        for node in together {
            for &required in &node.requires {
                writeln!(output, "{} requires {}", label(node), label(&nodes[required]))?;
            }
        }
    }
    Ok(())
}

/// The name of a node in the text.
fn label(node: &Node<'_>) -> String {
    let kind = match node.work {
        NodeWork::Copy(..) | NodeWork::Combine(..) => 'c',
        NodeWork::Send(_) => 's',
        NodeWork::Receive(_) => 'r',
    };
    format!("{kind}{}", node.action)
}

fn write_node(node: &Node<'_>, output: &mut dyn Write) -> io::Result<()> {
    let label = label(node);
    match node.work {
        NodeWork::Copy(_, time) | NodeWork::Combine(_, time) => {
            writeln!(output, "{label}: calc {time:.0}")
        }
        NodeWork::Send(send) => {
            let (bytes, to, tag) = (send.from.bytes(), send.to, send.tag);
            writeln!(output, "{label}: send {bytes}b to {to} tag {tag}")
        }
        NodeWork::Receive(receive) => {
            let (bytes, from, tag) = (receive.into.bytes(), receive.from, receive.tag);
            writeln!(output, "{label}: recv {bytes}b from {from} tag {tag}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{BlockSizes, Collective, Step, Tree};

    fn exported(gamma: f64) -> io::Result<String> {
        exported_at(Homogeneous::new(1.0, 1.0, gamma).unwrap())
    }

    fn exported_at(costs: Homogeneous) -> io::Result<String> {
        let steps = [(0, Step::Copy), (0, Step::Receive(1))];
        let tree = Tree::new(2, 0, &steps).unwrap();
        let gather = Collective::gather(&BlockSizes::new([3, 4]).unwrap());
        let schedule = Schedule::without_costs(&tree, &gather).unwrap();
        let mut text = Vec::new();
        write(&schedule, &costs.into(), 1.0, &mut text)?;
        Ok(String::from_utf8(text).unwrap())
    }

    #[test]
    fn a_copy_that_takes_time_never_becomes_nothing() {
        let whole = exported(2.0).unwrap();
        assert!(whole.contains("calc 6\n") && !whole.contains("units of"), "{whole}");
        assert!(exported(0.0).unwrap().contains("calc 0\n"));
        let small = exported(0.01).unwrap();
        assert!(small.contains("// calc in units of 0.001 ns"), "{small}");
        assert!(small.contains("calc 30\n"), "{small}");
        assert!(exported(1e-9).unwrap().contains("calc 3000\n"));
        assert!(exported(1e-30).unwrap_err().to_string().contains("too short for GOAL"));
    }

    #[test]
    fn what_overlaps_is_said_in_the_settings_of_the_simulator_and_only_then() {
        let costs = Homogeneous::new(10.0, 2.0, 1.0).unwrap();
        assert!(!exported_at(costs).unwrap().contains("LogGOPSim"));
        let overlapping = exported_at(costs.with_overhead(3.0).unwrap()).unwrap();
        assert!(overlapping.contains("// LogGOPSim: -L 7 -o 0 -g 3 -G 2 -O 0 "), "{overlapping}");
    }

    #[test]
    fn what_exchanges_cost_is_said_for_all_messages_or_said_to_be_left_out() {
        let exported_at = |actions: &str| {
            let text = format!(
                r#"{{"format":"tuwtree-schedule","version":3,"operation":"allreduce","processors":2,"order":"any",
                "ports":1,"vector_bytes":4,"segment_bytes":[0,4],"actions":[{actions}]}}"#
            );
            let schedule = crate::document::read(text.as_bytes()).unwrap();
            let costs = Homogeneous::new(10.0, 2.0, 1.0).unwrap().with_exchange(15.0, 3.0).unwrap();
            let mut text = Vec::new();
            write(&schedule, &costs.into(), 1.0, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let both = r#"{"send":TO,"from":["output",0,4],"receive":TO,"into":["output",0,4],"combine":"right"}"#;
        let both = [both.replace("TO", "1"), both.replace("TO", "0")];
        let all = exported_at(&format!("[{}],[{}]", both[0], both[1]));
        assert!(all.contains("all messages are of exchanges; -L 0 -o 0 -g 15 -G 3 -O 0"), "{all}");
        let send = r#"{"send":TO,"from":["output",0,4]}"#;
        let receive = r#"{"receive":FROM,"into":["output",0,4]}"#;
        let (first, second) = (send.replace("TO", "1"), send.replace("TO", "0"));
        let (from_first, from_second) =
            (receive.replace("FROM", "0"), receive.replace("FROM", "1"));
        let lone = exported_at(&format!("[{first},{from_second}],[{from_first},{second}]"));
        assert!(lone.contains("no message is of an exchange; -L 0 -o 0 -g 10 -G 2"), "{lone}");
        let mixed = exported_at(&format!("[{},{first}],[{},{from_first}]", both[0], both[1]));
        assert!(mixed.contains("2 of 3 are of exchanges (-L 0 -o 0 -g 15 -G 3 "), "{mixed}");
    }

    #[test]
    fn combining_is_a_calc_that_waits_for_both_halves_of_an_exchange() {
        let exchange = |to: u32| {
            format!(
                r#"[{{"send":{to},"from":["output",0,4],"receive":{to},"into":["output",0,4],"combine":"right"}}]"#
            )
        };
        let text = format!(
            r#"{{"format":"tuwtree-schedule","version":3,"operation":"allreduce","processors":2,"order":"any",
            "ports":1,"vector_bytes":4,"combine_per_byte":3.0,"segment_bytes":[0,0],
            "actions":[{},{}]}}"#,
            exchange(1),
            exchange(0)
        );
        let schedule = crate::document::read(text.as_bytes()).unwrap();
        let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
        let mut text = Vec::new();
        write(&schedule, &costs.into(), 1.0, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let expected = "s0: send 4b to 1 tag 0\nr0: recv 4b from 1 tag 0\n\
                        c0: calc 12\nc0 requires s0\nc0 requires r0\n";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn a_copy_that_combines_is_a_calc_of_the_operator_s_time() {
        let text = r#"{"format":"tuwtree-schedule","version":5,"operation":"allreduce","processors":2,"order":"any",
            "ports":1,"vector_bytes":4,"combine_per_byte":3.0,"segment_bytes":[4,0],
            "actions":[[{"receive":1,"into":["segment",0,4]},
                {"from":["segment",0,4],"into":["output",0,4],"combine":"right"},
                {"send":1,"from":["output",0,4]}],
                [{"send":0,"from":["input",0,4]},{"receive":0,"into":["output",0,4]}]]}"#;
        let schedule = crate::document::read(text.as_bytes()).unwrap();
        let mut text = Vec::new();
        write(&schedule, &Homogeneous::new(1.0, 1.0, 1.0).unwrap().into(), 1.0, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let expected = "r0: recv 4b from 1 tag 0\nc1: calc 12\nc1 requires r0\ns2: send 4b to 1 tag 0\ns2 requires c1\n";
        assert!(text.contains(expected), "{text}");
    }
}
