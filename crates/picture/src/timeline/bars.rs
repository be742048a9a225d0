//! Actions of a rank as bars, with the waits before them.

use crate::messages::Performance;
use tuwtree_model::Rank;
use tuwtree_schedule::{Arrival, Deed, Held, Occupation, Schedule};

/// Activity of a bar, in the order of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum BarKind {
    Send,
    Receive,
    Exchange,
    Copy,
    /// A copy combined with data in the buffer.
    Combine,
    Wait,
    Latency,
}

impl BarKind {
    /// The height of bars that are thinner than others.
    pub(super) fn height(self) -> Option<f64> {
        match self {
            BarKind::Wait => Some(3.0),
            BarKind::Latency => Some(1.0),
            BarKind::Send
            | BarKind::Receive
            | BarKind::Exchange
            | BarKind::Copy
            | BarKind::Combine => None,
        }
    }
}

/// A stretch of time on one port of a rank, or a side of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bar {
    pub(crate) kind: BarKind,
    /// The port, or of duplex ones the side: 2 k of port k sends, 2 k + 1 receives.
    pub(crate) lane: u32,
    pub(crate) start: f64,
    pub(crate) end: f64,
    /// Receiver of sent data.
    pub(crate) to: Option<Rank>,
    /// From whom, if something is received or to be received.
    pub(crate) from: Option<Rank>,
    /// The bytes that are moved; of an exchange, in both directions.
    pub(crate) bytes: u64,
    pub(crate) is_critical: bool,
}

/// The lane of what holds a port, or a side of it; of a copy that holds both, that which sends.
pub(crate) fn lane(schedule: &Schedule, port: u16, held: Held) -> u32 {
    let port = u32::from(port);
    match (schedule.task().duplex, held) {
        (false, _) => port,
        (true, Held::Port | Held::SendSide) => 2 * port,
        (true, Held::ReceiveSide) => 2 * port + 1,
    }
}

/// The bars of a rank, each port's in the order of time; waits before their actions, the latencies
/// of messages among them. A copy that holds both sides of a port has a bar on each.
pub(crate) fn bars(
    performance: Performance<'_>,
    rank: Rank,
    critical: &[(usize, Held)],
) -> Vec<Bar> {
    let Performance { schedule, timeline, .. } = performance;
    let programs = schedule.programs();
    let mut bars = Vec::new();
    for Occupation { action: index, held, times } in timeline.occupations(rank) {
        let action = programs.action(programs.range(rank).start + index).of_held(held);
        let (send, receive) = (action.send(), action.receive());
        let (kind, copied) = match action.deed {
            Deed::Copy { from, arrival: Arrival::Store, .. } => (BarKind::Copy, from.bytes()),
            Deed::Copy { from, .. } => (BarKind::Combine, from.bytes()),
            Deed::Send(_) => (BarKind::Send, 0),
            Deed::Receive(_) => (BarKind::Receive, 0),
            Deed::Exchange(..) => (BarKind::Exchange, 0),
        };
        let bar = Bar {
            kind,
            lane: lane(schedule, action.port, held),
            start: times.start.units(),
            end: times.end.units(),
            to: send.map(|send| send.to),
            from: receive.map(|receive| receive.from),
            bytes: copied
                + send.map_or(0, |send| send.from.bytes())
                + receive.map_or(0, |receive| receive.into.bytes()),
            is_critical: critical.binary_search(&(index, held)).is_ok(),
        };
        let is_on_both = schedule.task().duplex && held == Held::Port;
        let lanes = bar.lane..bar.lane + if is_on_both { 2 } else { 1 };
        let (begin, arrival) = times.latency;
        for (kind, start, end) in [
            (BarKind::Wait, times.ready, begin),
            (BarKind::Latency, begin, arrival),
            (BarKind::Wait, arrival, times.start),
        ] {
            if start < end {
                let (start, end) = (start.units(), end.units());
                let wait = Bar { kind, start, end, is_critical: false, ..bar };
                bars.extend(lanes.clone().map(|lane| Bar { lane, ..wait }));
            }
        }
        if times.start < times.end {
            bars.extend(lanes.map(|lane| Bar { lane, ..bar }));
        }
    }
    bars.sort_by_key(|bar| bar.lane);
    bars
}

/// For each rank, the indices of its actions on the critical path, in order, with the holds of these, or of their
/// halves on it.
///
/// A message is on it at both its ends.
pub(crate) fn critical_actions(performance: Performance<'_>) -> Vec<Vec<(usize, Held)>> {
    let Performance { schedule, timeline, .. } = performance;
    let mut critical = vec![Vec::new(); schedule.ranks()];
    for step in timeline.critical_path() {
        critical[step.rank].push((step.action, step.held));
        let times = timeline.actions(step.rank)[step.action];
        let receipt = timeline.receipt(step.rank, step.action);
        let origin = timeline.origin(step.rank, step.action);
        let [sends, receives] = match schedule.task().duplex {
            true => [Held::SendSide, Held::ReceiveSide],
            false => [Held::Port; 2],
        };
        // Of an exchange, one half may be on the path.
        let is_exchange = step.held == Held::Port && receipt.is_some() && origin.is_some();
        let receipt = receipt.filter(|_| step.held != Held::ReceiveSide);
        let origin = origin.filter(|_| step.held != Held::SendSide);
        for ((peer, action), held) in
            receipt.zip(Some(receives)).into_iter().chain(origin.zip(Some(sends)))
        {
            let at = timeline.actions(peer)[action];
            if !is_exchange || (at.start, at.end) == (times.start, times.end) {
                critical[peer].push((action, held));
            }
        }
    }
    for actions in &mut critical {
        actions.sort_unstable();
        actions.dedup();
    }
    critical
}

/// The bar in words.
pub(crate) fn story(bar: &Bar) -> String {
    let peer = match (bar.to, bar.from) {
        (Some(to), Some(from)) if to == from => format!(" with {to}"),
        (Some(to), Some(from)) => format!(" to {to}, from {from}"),
        (Some(to), None) => format!(" to {to}"),
        (None, Some(from)) => format!(" from {from}"),
        (None, None) => String::new(),
    };
    let peer = match bar.kind {
        BarKind::Wait => {
            let whom = bar.to.or(bar.from).map(|rank| format!(" for {rank}"));
            return whom.unwrap_or_default();
        }
        BarKind::Latency => " of the message".to_owned() + &peer,
        _ => peer,
    };
    format!("{peer}, {} bytes", bar.bytes)
}
