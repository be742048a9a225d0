//! Actions as nodes that require others: what formats are made of in which each message end is a node.
//!
//! An action becomes a copy, a send, a receive, or a send and a receive; and combining, if received data is combined in
//! some time. A copy that combines is combining alone. A node requires the action before it on its port, and one that
//! reads received or copied data requires that receive or copy. Combining requires all of its action. With duplex
//! ports, a send requires the node before it on the sending side, a receive the node before it on the other.

use crate::action::{Action, Arrival, Deed, Receive, Send};
use crate::hold::{Held, Holds};
use crate::schedule::Schedule;
use std::collections::BTreeMap;
use std::io;
use tuwtree_model::{CostModel, Costs, Rank, Time};

/// A node of one rank.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node<'a> {
    /// The index of its action among the rank's actions.
    pub(super) action: usize,
    /// Its work.
    pub(super) work: NodeWork<'a>,
    /// The indices of nodes of the rank, all before it, that end before it begins.
    pub(super) requires: Vec<usize>,
}

/// Work of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NodeWork<'a> {
    /// Copy of this many bytes, with its time.
    Copy(u64, f64),
    /// One end of a message.
    Send(Send<'a>),
    /// A receive.
    Receive(Receive<'a>),
    /// Combining of this many received or copied bytes, with its time.
    Combine(u64, f64),
}

/// The nodes of a rank, in the order of its actions; `time` says how long copies and combining take.
///
/// # Errors
/// Errors of `time`.
///
/// # Complexity
/// O(1) for each action and port.
pub(super) fn nodes<'a>(
    schedule: &'a Schedule,
    rank: Rank,
    time: &dyn Fn(&Action<'_>) -> io::Result<f64>,
) -> io::Result<Vec<Node<'a>>> {
    let (programs, duplex) = (schedule.programs(), schedule.task().duplex);
    let mut nodes: Vec<Node<'a>> = Vec::new();
    // On each port, or side of one: what came last, and what was written last.
    let mut last: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut written: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, action) in programs.actions(rank).enumerate() {
        let first = nodes.len();
        let mut lanes_of_writes = Vec::new();
        for (held, lanes) in Holds::of_action(&action, duplex) {
            let lanes: Vec<usize> = lanes.into_iter().flatten().collect();
            let mut requires: Vec<usize> =
                lanes.iter().filter_map(|lane| last.get(lane)).flatten().copied().collect();
            if held.needs_written(&action) {
                let others = written.iter().filter(|(lane, _)| !lanes.contains(lane));
                requires.extend(others.flat_map(|(_, nodes)| nodes));
            }
            requires_once(&mut requires);
            let copied = match action.deed {
                Deed::Copy { from, arrival: Arrival::Store, .. } => {
                    Some(NodeWork::Copy(from.bytes(), time(&action)?))
                }
                Deed::Copy { from, .. } => Some(NodeWork::Combine(from.bytes(), time(&action)?)),
                _ => None,
            };
            let send = action.send().filter(|_| held != Held::ReceiveSide).map(NodeWork::Send);
            let receive =
                action.receive().filter(|_| held != Held::SendSide).map(NodeWork::Receive);
            let start = nodes.len();
            for work in [copied, send, receive].into_iter().flatten() {
                nodes.push(Node { action: index, work, requires: requires.clone() });
            }
            for &lane in &lanes {
                last.insert(lane, (start..nodes.len()).collect());
            }
            if held.writes(&action) {
                lanes_of_writes = lanes;
            }
        }
        let mut ended: Vec<usize> = (first..nodes.len()).collect();
        // What a copy combines has its node.
        let combined = action.combines().filter(|_| action.receive().is_some());
        if let Some(&lane) = lanes_of_writes.first().filter(|_| duplex && combined.is_some()) {
            // What is combined waits for all that is sent on its port before.
            ended.extend(last.get(&(lane - 1)).into_iter().flatten());
            requires_once(&mut ended);
        }
        let combining = if combined.is_some() { time(&action)? } else { 0.0 };
        if let Some(region) = combined.filter(|_| combining > 0.0) {
            let work = NodeWork::Combine(region.bytes(), combining);
            nodes.push(Node { action: index, work, requires: ended });
            ended = vec![nodes.len() - 1];
        }
        for lane in lanes_of_writes {
            // What is only received beside a send does not wait for that.
            if combined.is_some() || !duplex {
                last.insert(lane, ended.clone());
            }
            written.insert(lane, last[&lane].clone());
        }
    }
    Ok(nodes)
}

/// Keeps each node that is required once: a copy is last on both sides of a port.
fn requires_once(requires: &mut Vec<usize>) {
    let mut seen = std::collections::BTreeSet::new();
    requires.retain(|&node| seen.insert(node));
}

/// Time of an action's copy, or of its combining; 0 for neither.
///
/// # Errors
/// A copy or an operator whose time cannot be stated.
pub(super) fn work_time(
    schedule: &Schedule,
    costs: &Costs,
    rank: Rank,
    action: &Action<'_>,
) -> io::Result<Time> {
    let time = match (action.deed, action.combines()) {
        (_, Some(region)) => schedule.task().operator.combine(region.bytes()),
        (Deed::Copy { from, .. }, None) => costs.copy_at(rank, from.bytes()),
        (_, None) => Ok(Time::ZERO),
    };
    time.map_err(io::Error::other)
}
