//! Checks that a rank's data is always consecutive.
//!
//! A rank holds received data that has not been sent on. If all is well, that is one range of the
//! operation's data, or one and its own block apart, with known place: copied before the range
//! reaches it, or not delivered yet. Examined in the order of the lists.

use super::contents::ByteRun;
use super::flow::Moved;
use super::matching::MatchedMessages;
use super::{Actions, Fault, MessageEnd, NONE, PackedRange};
use crate::action::{Buffer, Deed};
use tuwtree_model::{Operation, Order, Payload, Rank};

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
    for rank in 0..actions.schedule.ranks() {
        if let Err((fault, kept)) = check_rank(actions, messages, moved, rank) {
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
struct Range {
    start: u64,
    end: u64,
}

impl Range {
    const NOTHING: Range = Range { start: 0, end: 0 };

    fn of(run: ByteRun) -> Range {
        Range { start: run.start, end: run.start + run.bytes }
    }

    fn is_empty(self) -> bool {
        self.start == self.end
    }

    fn is_within(self, other: Range) -> bool {
        other.start <= self.start && self.end <= other.end
    }

    /// With this too, if that is one range.
    fn and(self, more: Range) -> Option<Range> {
        match (self.is_empty(), more.is_empty()) {
            (true, _) => Some(more),
            (_, true) => Some(self),
            _ if more.start <= self.end && self.start <= more.end => {
                Some(Range { start: self.start.min(more.start), end: self.end.max(more.end) })
            }
            _ => None,
        }
    }

    /// The parts before and behind the removed range.
    fn without(self, less: Range) -> [Range; 2] {
        let (start, end) = (less.start.max(self.start), less.end.min(self.end));
        match start >= end {
            true => [self, Range::NOTHING],
            false => [Range { start: self.start, end: start }, Range { start: end, end: self.end }],
        }
    }
}

/// Data of a rank.
#[derive(Clone, Copy, Debug)]
struct Holding {
    /// Its own block's place.
    own: Range,
    /// All of it, except for the block apart.
    range: Range,
    /// The part of its own block that is not in the range.
    apart: Range,
}

impl Holding {
    /// With this too, if that leaves one range and its own block.
    fn and(self, run: ByteRun) -> Option<Holding> {
        let more = Range::of(run);
        if let Some(range) = self.range.and(more) {
            return Some(Holding { range, ..self }.joined());
        }
        if more.is_within(self.own) {
            return self.apart.and(more).map(|apart| Holding { apart, ..self }.joined());
        }
        let begins = self.range.is_within(self.own) && self.apart.is_empty();
        begins.then_some(Holding { range: more, apart: self.range, ..self })
    }

    /// In one range, if it is one.
    fn joined(self) -> Holding {
        match self.range.and(self.apart) {
            Some(range) => Holding { range, apart: Range::NOTHING, ..self },
            None => self,
        }
    }

    /// Without this, if that leaves one range and its own block.
    fn without(self, run: ByteRun) -> Option<Holding> {
        let less = Range::of(run);
        let parts = [self.range.without(less), self.apart.without(less)];
        let mut parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
        let (first, second) = match (parts.next(), parts.next(), parts.next()) {
            (first, second, None) => {
                (first.unwrap_or(Range::NOTHING), second.unwrap_or(Range::NOTHING))
            }
            _ => return None,
        };
        let (range, apart) = match first.is_within(self.own) && !second.is_empty() {
            true => (second, first),
            false => (first, second),
        };
        let is_kept = apart.is_empty() || apart.is_within(self.own);
        is_kept.then_some(Holding { range, apart, ..self })
    }
}

/// Effect of an action on held data.
type Change = (MessageEnd, Option<ByteRun>);

/// The first fault of a rank, and the order that is kept with it.
fn check_rank(
    actions: &Actions<'_>,
    messages: &MatchedMessages,
    moved: &Moved,
    rank: Rank,
) -> Result<(), (Fault, Order)> {
    let task = actions.schedule.task();
    let is_root = task.root == Some(rank);
    let range = match task.operation {
        Operation::Scatter if is_root => Range { start: 0, end: task.total() },
        _ => Range::NOTHING,
    };
    let own = match &task.payload {
        Payload::Blocks(sizes) => {
            Range { start: sizes.before(rank), end: sizes.before(rank) + sizes.block(rank) }
        }
        Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => Range::NOTHING,
    };
    let mut held = Holding { own, range, apart: Range::NOTHING };
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
                MessageEnd::Arrives => held.and(run),
                MessageEnd::Leaves => held.without(run),
            };
            held = next.ok_or_else(|| {
                let span = |start, end: u64| {
                    let (first, last) = (actions.datum(start), actions.datum(end - 1));
                    Box::new(PackedRange { first, last })
                };
                let fault = Fault::NotConsecutive {
                    at,
                    doing,
                    held: span(held.range.start, held.range.end),
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

/// Data that leaves with this action, then arriving data.
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
    if let Deed::Copy { from, into, .. } = action.deed {
        let run = moved.by_copy[index as usize];
        match (gathers, from.buffer, into.buffer) {
            (true, Buffer::Input, _) => arrives = Some(run),
            (false, _, Buffer::Output) => leaves = Some(run),
            _ if run.is_none() => arrives = Some(None),
            _ => {}
        }
    }
    let leaves = leaves.map(|run| (MessageEnd::Leaves, run));
    leaves.into_iter().chain(arrives.map(|run| (MessageEnd::Arrives, run)))
}
