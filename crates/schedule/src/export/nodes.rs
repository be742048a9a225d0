//! Actions as nodes that require others: what formats are made of in which each message end is a node.
//!
//! An action becomes a copy, a send, a receive, or a send and a receive; and combining, if what it receives is
//! combined in some time. A node requires the action before it on its port, and one that reads what has been received
//! or copied requires that. Combining requires all of its action.

use crate::action::{Action, Deed, Receive, Send};
use crate::schedule::Schedule;
use std::collections::BTreeMap;
use std::io;
use tuwtree_model::{CostModel, Costs, Rank, Time};

/// A node of one rank.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node<'a> {
    /// The index of its action among those of the rank.
    pub(super) action: usize,
    /// What is done.
    pub(super) work: Work<'a>,
    /// The indices of nodes of the rank, all before it, that end before it begins.
    pub(super) requires: Vec<usize>,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Work<'a> {
    /// So many bytes are copied, which takes so long.
    Copy(u64, f64),
    /// One end of a message.
    Send(Send<'a>),
    /// The other.
    Receive(Receive<'a>),
    /// So many received bytes are combined with what is there, which takes so long.
    Combine(u64, f64),
}

/// The nodes of a rank, in the order of its actions; `time` says how long copies and combining take.
///
/// # Errors
/// Those of `time`.
///
/// # Complexity
/// O(1) for each action and port.
pub(super) fn nodes<'a>(
    schedule: &'a Schedule,
    rank: Rank,
    time: &dyn Fn(&Action<'_>) -> io::Result<f64>,
) -> io::Result<Vec<Node<'a>>> {
    let mut nodes: Vec<Node<'a>> = Vec::new();
    // On each port: what came last, and what was written last.
    let mut last: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    let mut written: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for (index, action) in schedule.programs().actions(rank).enumerate() {
        let mut requires = last.get(&action.port).cloned().unwrap_or_default();
        if action.needs_written() {
            let others = written.iter().filter(|&(&port, _)| port != action.port);
            requires.extend(others.flat_map(|(_, nodes)| nodes));
        }
        let copied = match action.deed {
            Deed::Copy { from, .. } => Some(Work::Copy(from.bytes(), time(&action)?)),
            _ => None,
        };
        let messages = [action.send().map(Work::Send), action.receive().map(Work::Receive)];
        let first = nodes.len();
        for work in copied.into_iter().chain(messages.into_iter().flatten()) {
            nodes.push(Node { action: index, work, requires: requires.clone() });
        }
        let mut ended: Vec<usize> = (first..nodes.len()).collect();
        let combined = action.combines().map(|receive| receive.into.bytes());
        let combining = if combined.is_some() { time(&action)? } else { 0.0 };
        if let Some(bytes) = combined.filter(|_| combining > 0.0) {
            let work = Work::Combine(bytes, combining);
            nodes.push(Node { action: index, work, requires: ended });
            ended = vec![nodes.len() - 1];
        }
        if action.writes().is_some() {
            written.insert(action.port, ended.clone());
        }
        last.insert(action.port, ended);
    }
    Ok(nodes)
}

/// How long the copy of an action takes, or the combining of what it receives; none of it, no time.
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
        (Deed::Copy { from, .. }, _) => costs.copy_at(rank, from.bytes()),
        (_, Some(receive)) => schedule.task().operator.combine(receive.into.bytes()),
        (_, None) => Ok(Time::ZERO),
    };
    time.map_err(io::Error::other)
}
