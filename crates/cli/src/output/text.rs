//! Results as people and programs read them.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use std::fmt::Display;
use std::time::Duration;
use tuwtree_model::quantity::Unit;
use tuwtree_model::{
    Construction, Homogeneous, LARGEST_EXACT, Operation, Operator, Payload, Ports, Problem,
    StatedCosts, Time, most_ranges, quantity,
};
use tuwtree_plan::Outcome;
use tuwtree_schedule::Task;

/// A construction's result: a tree, or a schedule without one.
pub(crate) fn plan(outcome: &Outcome) -> &'static str {
    match outcome.tree() {
        Ok(_) => "tree",
        Err(_) => "schedule",
    }
}

/// Suffix for costs of combining, or for elements longer than a byte.
pub(crate) fn with_operator(operator: Operator, unit: Unit) -> String {
    let combine = match operator.combine_per_byte() {
        0.0 => String::new(),
        time => format!(", kappa = {}", unit.units(time)),
    };
    match operator.element_bytes() {
        1 => combine,
        bytes => format!("{combine}, elements of {bytes} bytes"),
    }
}

/// A share in percent, with two significant digits where it is not tiny.
pub(crate) fn share(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        _ if percent <= 0.0 => "0 %".to_owned(),
        _ if percent >= 10.0 => format!("{percent:.0} %"),
        _ if percent >= 1.0 => format!("{percent:.1} %"),
        _ if percent >= 0.1 => format!("{percent:.2} %"),
        _ if percent >= 0.001 => format!("{percent:.3} %"),
        _ => "less than 0.001 %".to_owned(),
    }
}

/// Suffix for several ports, or duplex ones.
pub(crate) fn with_ports(problem: &Problem) -> String {
    match (problem.ports(), problem.duplex()) {
        (Ports::ONE, false) => String::new(),
        (Ports::ONE, true) => "; duplex ports".to_owned(),
        (ports, false) => format!("; {ports} ports"),
        (ports, true) => format!("; {ports} duplex ports"),
    }
}

/// Number of ports of a schedule.
pub(crate) fn ports_of(task: &Task) -> String {
    format!("{}{}", task.ports, if task.duplex { ", duplex" } else { "" })
}

/// Amount of data.
pub(crate) fn payload(payload: &Payload) -> String {
    match payload {
        Payload::Blocks(sizes) => bytes(sizes.total()),
        Payload::Vector(vector) => format!("a vector of {}", bytes(vector.bytes)),
        Payload::Messages(sizes) => bytes(sizes.total()),
        Payload::Groups(sizes) => {
            let [first, second] = sizes.groups();
            format!(
                "{} bytes of {} and {} of {}",
                first.bytes, first.ranks, second.bytes, second.ranks
            )
        }
    }
}

/// A number of bytes, in words.
pub(crate) fn bytes(count: impl Display) -> String {
    counted(count, "byte", "bytes")
}

/// A number of processes, in words.
pub(crate) fn processes(count: usize) -> String {
    counted(count, "process", "processes")
}

/// A number of things, in words.
pub(crate) fn counted(count: impl Display, one: &str, many: &str) -> String {
    let count = count.to_string();
    format!("{count} {}", if count == "1" { one } else { many })
}

/// Degree to which the messages of a tree keep rank order.
pub(crate) fn ranges(most: usize) -> String {
    match most {
        1 => "each holds one range of ranks".to_owned(),
        most => format!("none holds more than {most} ranges of ranks"),
    }
}

/// Description of a tree that does not keep rank order: a sentence without its full stop.
pub(crate) fn out_of_order(outcome: &Outcome, subject: &str) -> String {
    match (outcome.construction, outcome.tree()) {
        (Construction::Rotated, Ok(tree)) => {
            format!("{subject} {ROTATED}: of its messages {}", ranges(most_ranges(tree)))
        }
        _ => format!("{subject} is not in rank order"),
    }
}

/// Description of the trees of `rotated`.
pub(crate) const ROTATED: &str =
    "is in rank order but for groups that are rotated around the root, or brought together";

/// The completion time of a tree that is not ordered, and that with an unpack step at the root (in a
/// scatter, a pack step).
pub(crate) fn unpacking(
    unit: Unit,
    completed: Time,
    unpacked: Time,
    operation: Operation,
) -> String {
    let step = if operation.is_outward() { "pack" } else { "unpack" };
    let a = if operation.is_outward() { "a" } else { "an" };
    let more = unpacked.units() - completed.units();
    let (unpacked, completed) = (unit.time(unpacked), unit.time(completed));
    match more {
        0.0 => format!("{a} {step} step at the root takes no time: {completed}"),
        more => format!(
            "with derived datatypes at the root: {completed}; with {a} {step} step there: \
             {completed} + {} = {unpacked}",
            unit.units(more)
        ),
    }
}

/// A time as a JSON number, without a fraction if it is whole.
pub(crate) fn json_time(time: Time) -> serde_json::Value {
    json_number(time.units())
}

/// The parameters of homogeneous costs, in the order and with the names of documents: the
/// overhead only where it is not all of alpha; null for others.
pub(crate) fn json_parameters(costs: &StatedCosts) -> Vec<(&'static str, serde_json::Value)> {
    let of = |parameter: fn(&Homogeneous) -> f64| match costs.costs().parameters() {
        Some(costs) => json_number(parameter(costs)),
        None => serde_json::Value::Null,
    };
    let mut parameters = vec![("alpha", of(Homogeneous::alpha))];
    if costs.costs().parameters().is_some_and(Homogeneous::overlaps) {
        parameters.push(("overhead", of(Homogeneous::overhead)));
    }
    parameters.push(("beta_per_byte", of(Homogeneous::beta)));
    parameters.push(("gamma_per_byte", of(Homogeneous::gamma)));
    if costs.costs().have_exchange_costs() {
        parameters.push(("exchange_alpha", of(Homogeneous::exchange_alpha)));
        parameters.push(("exchange_beta_per_byte", of(Homogeneous::exchange_beta)));
    }
    parameters
}

/// The operator of a reduction, with the names of documents; nothing of other operations.
pub(crate) fn json_operator(
    operation: Operation,
    operator: Operator,
) -> Vec<(&'static str, serde_json::Value)> {
    match operation.is_reduction() {
        true => vec![
            ("combine_per_byte", json_number(operator.combine_per_byte())),
            ("element_bytes", operator.element_bytes().into()),
        ],
        false => Vec::new(),
    }
}

/// A finite number as a JSON number, without a fraction if it is whole.
pub(crate) fn json_number(value: f64) -> serde_json::Value {
    match value.fract() == 0.0 && value.abs() <= LARGEST_EXACT as f64 {
        true => (value as i64).into(),
        false => value.into(),
    }
}

/// A sum of sizes as a JSON number: exact up to 2^64 - 1, rounded beyond.
pub(crate) fn json_bytes(bytes: u128) -> serde_json::Value {
    u64::try_from(bytes).map_or_else(|_| (bytes as f64).into(), Into::into)
}

/// A duration in words.
pub(crate) fn duration(duration: Duration) -> String {
    quantity::elapsed(duration.as_secs_f64())
}

/// A table in the house style: a heading, no vertical lines, numbers at the right.
pub(crate) fn table(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(headings);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_constraint(ColumnConstraint::ContentWidth);
        let padding = if index == 0 { (0, 1) } else { (1, 1) };
        column.set_padding(padding);
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
