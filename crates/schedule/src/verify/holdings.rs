//! Whether what a processor holds is always consecutive.
//!
//! A processor holds what has come to it and has not gone on; that is one range of the operation's
//! data as long as all goes well. Examined in the order of the lists.

use super::contents::ByteRun;
use super::flow::Moved;
use super::matching::MatchedMessages;
use super::{Actions, Direction, Fault, NONE, Span};
use crate::action::{Buffer, Deed};
use tuwtree_model::{Operation, Order, Rank};

/// The strictest order that a gather or scatter keeps.
///
/// # Errors
/// The first action that breaks the promised one.
///
/// # Complexity
/// O(p + n) for n actions.
pub(super) fn check(
    actions: &Actions<'_>,
    messages: &MatchedMessages,
    moved: &Moved,
) -> Result<Order, Fault> {
    let task = actions.schedule.task();
    let mut order = Order::Ordered;
    for rank in 0..actions.schedule.processors() {
        if let Err((fault, kept)) = check_processor(actions, messages, moved, rank) {
            if kept > task.order {
                return Err(fault);
            }
            order = order.max(kept);
        }
    }
    Ok(order)
}

/// A range of the operation's data; empty if it ends where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    start: u64,
    end: u64,
}

impl Held {
    const NOTHING: Held = Held { start: 0, end: 0 };

    /// With this too, if that is one range.
    fn and(self, run: ByteRun) -> Option<Held> {
        let (start, end) = (run.start, run.start + run.bytes);
        if self.start == self.end {
            return Some(Held { start, end });
        }
        let touch = start <= self.end && self.start <= end;
        touch.then(|| Held { start: self.start.min(start), end: self.end.max(end) })
    }

    /// Without this, if that is one range.
    fn without(self, run: ByteRun) -> Option<Held> {
        let (start, end) = (run.start.max(self.start), (run.start + run.bytes).min(self.end));
        if start >= end {
            return Some(self);
        }
        match (start == self.start, end == self.end) {
            (true, _) => Some(Held { start: end, ..self }),
            (false, true) => Some(Held { end: start, ..self }),
            (false, false) => None,
        }
    }
}

/// What an action does to what is held.
type Change = (Direction, Option<ByteRun>);

/// The first fault of a processor, and the order that is kept with it.
fn check_processor(
    actions: &Actions<'_>,
    messages: &MatchedMessages,
    moved: &Moved,
    rank: Rank,
) -> Result<(), (Fault, Order)> {
    let task = actions.schedule.task();
    let is_root = task.root == Some(rank);
    let mut held = match task.operation {
        Operation::Scatter if is_root => Held { start: 0, end: task.total() },
        _ => Held::NOTHING,
    };
    let fault_at_root_only = if is_root { Order::Direct } else { Order::Any };
    for index in actions.schedule.programs().range(rank) {
        for (direction, run) in changes(actions, messages, moved, index as u32) {
            let (at, doing) = (actions.at(index as u32), actions.doing(index as u32));
            let Some(run) = run else {
                // A message has an end that is not the root.
                let is_copy = messages.sent[index] == NONE && messages.received[index] == NONE;
                let kept = if is_copy { fault_at_root_only } else { Order::Any };
                return Err((Fault::Reordered { at, doing, order: task.order }, kept));
            };
            let next = match direction {
                Direction::Arrives => held.and(run),
                Direction::Leaves => held.without(run),
            };
            held = next.ok_or_else(|| {
                let span = |start, end: u64| {
                    let (first, last) = (actions.datum(start), actions.datum(end - 1));
                    Box::new(Span { first, last })
                };
                let fault = Fault::NotConsecutive {
                    at,
                    doing,
                    held: span(held.start, held.end),
                    moved: span(run.start, run.start + run.bytes),
                    direction,
                    order: task.order,
                };
                (fault, fault_at_root_only)
            })?;
        }
    }
    Ok(())
}

/// What leaves with this action, then what arrives.
fn changes(
    actions: &Actions<'_>,
    messages: &MatchedMessages,
    moved: &Moved,
    index: u32,
) -> impl Iterator<Item = Change> {
    let task = actions.schedule.task();
    let gathers = task.operation == Operation::Gather;
    let action = actions.get(index);
    let run_of = |message: u32| moved.by_message[message as usize];
    let sent = action.send().map(|_| run_of(messages.sent[index as usize]));
    let received = action.receive().map(|receive| {
        let run = run_of(messages.received[index as usize]);
        (run, receive.into.buffer)
    });
    let (mut leaves, mut arrives) = (sent, None);
    if gathers && action.reads().is_some_and(|region| region.buffer == Buffer::Input) {
        // The own block, sent from where it was given, was never held.
        leaves = sent.filter(Option::is_none);
    }
    if let Some((run, buffer)) = received {
        match (gathers, buffer) {
            // Delivered at once.
            (false, Buffer::Output) => arrives = run.is_none().then_some(None),
            _ => arrives = Some(run),
        }
    }
    if let Deed::Copy { from, into } = action.deed {
        let run = moved.by_copy[index as usize];
        match (gathers, from.buffer, into.buffer) {
            (true, Buffer::Input, _) => arrives = Some(run),
            (false, _, Buffer::Output) => leaves = Some(run),
            _ if run.is_none() => arrives = Some(None),
            _ => {}
        }
    }
    let leaves = leaves.map(|run| (Direction::Leaves, run));
    leaves.into_iter().chain(arrives.map(|run| (Direction::Arrives, run)))
}
