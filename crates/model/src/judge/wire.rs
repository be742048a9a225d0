//! A wire that several messages are on: they share it equally, or take turns.

use crate::Rank;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

/// A wire with the messages on it. Times in the time unit of the costs.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    /// Until when what follows is known.
    now: f64,
    /// Counts arrivals and departures.
    version: u64,
    messages: Messages,
}

#[derive(Clone, Debug)]
enum Messages {
    /// Rank sharing: of `n` that are served each advances at a rate of `1/n`.
    Shared {
        /// Service received by a message that was there from the start.
        served: f64,
        /// Messages that share the wire, and the first of the messages that take turns, by the value of `served` at
        /// which each is done.
        waiting: BinaryHeap<Reverse<Due>>,
        /// The first of the messages that take turns.
        first: Option<Rank>,
        /// Later messages that take turns, each with its time on an idle wire.
        line: VecDeque<(Rank, f64)>,
    },
    /// First in, first out, with the remaining work of each.
    Queued(VecDeque<Due>),
}

/// A message, and when it is done.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Due {
    at: f64,
    child: Rank,
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Due) -> Ordering {
        self.at.total_cmp(&other.at).then(self.child.cmp(&other.child))
    }
}

impl Wire {
    /// A wire without messages.
    pub(super) fn new(is_shared: bool) -> Wire {
        let messages = match is_shared {
            true => Messages::Shared {
                served: 0.0,
                waiting: BinaryHeap::new(),
                first: None,
                line: VecDeque::new(),
            },
            false => Messages::Queued(VecDeque::new()),
        };
        Wire { now: 0.0, version: 0, messages }
    }

    /// Changes with every arrival and departure.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Lets a message enter that needs the wire alone for `duration`, and takes turns with others that do.
    /// Times must not fall from call to call.
    pub(super) fn enter(&mut self, time: f64, child: Rank, duration: f64, takes_turns: bool) {
        self.advance(time);
        self.version += 1;
        match &mut self.messages {
            Messages::Shared { first: Some(_), line, .. } if takes_turns => {
                line.push_back((child, duration));
            }
            Messages::Shared { served, waiting, first, .. } => {
                if takes_turns {
                    *first = Some(child);
                }
                waiting.push(Reverse(Due { at: *served + duration, child }));
            }
            Messages::Queued(queue) => {
                let free = queue.back().map_or(time, |last| last.at);
                queue.push_back(Due { at: free + duration, child });
            }
        }
    }

    /// Departure time of the next message, if no other comes.
    pub(super) fn next_departure(&self) -> Option<f64> {
        match &self.messages {
            Messages::Shared { served, waiting, .. } => {
                let Reverse(next) = waiting.peek()?;
                Some(self.now + (next.at - served).max(0.0) * waiting.len() as f64)
            }
            Messages::Queued(queue) => queue.front().map(|next| next.at),
        }
    }

    /// Lets the message leave that is due at this time.
    pub(super) fn leave(&mut self, time: f64) -> Rank {
        self.advance(time);
        self.version += 1;
        let next = match &mut self.messages {
            Messages::Shared { served, waiting, first, line } => {
                let next = waiting.pop().map(|Reverse(next)| next);
                // No rounding is carried on.
                *served = next.map_or(*served, |next| next.at);
                if first.is_some() && *first == next.map(|next| next.child) {
                    let following = line.pop_front();
                    *first = following.map(|(child, _)| child);
                    let due = |(child, duration)| Reverse(Due { at: *served + duration, child });
                    waiting.extend(following.map(due));
                }
                next
            }
            Messages::Queued(queue) => queue.pop_front(),
        };
        next.expect("a message was due").child
    }

    fn advance(&mut self, time: f64) {
        if let Messages::Shared { served, waiting, .. } = &mut self.messages
            && !waiting.is_empty()
        {
            *served += (time - self.now) / waiting.len() as f64;
        }
        self.now = time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times at which messages leave that enter at these times, with these durations.
    fn departures(is_shared: bool, messages: &[(f64, f64)]) -> Vec<(Rank, f64)> {
        let mut wire = Wire::new(is_shared);
        let mut left = Vec::new();
        let until = |wire: &mut Wire, left: &mut Vec<(Rank, f64)>, time: f64| {
            while let Some(next) = wire.next_departure().filter(|&next| next <= time) {
                left.push((wire.leave(next), next));
            }
        };
        for (child, &(time, duration)) in messages.iter().enumerate() {
            until(&mut wire, &mut left, time);
            wire.enter(time, child, duration, false);
        }
        until(&mut wire, &mut left, f64::INFINITY);
        left
    }

    #[test]
    fn messages_share_a_fair_wire_equally() {
        // Alone until 2, then two until 6 (2 each), then three of which the last needs 1 (3 long).
        let left = departures(true, &[(0.0, 6.0), (2.0, 6.0), (6.0, 1.0)]);
        assert_eq!(left, [(2, 9.0), (0, 11.0), (1, 13.0)]);
    }

    #[test]
    fn the_wire_is_never_idle_and_a_queue_keeps_its_order() {
        let left = departures(false, &[(0.0, 6.0), (2.0, 6.0), (3.0, 1.0), (20.0, 0.0)]);
        assert_eq!(left, [(0, 6.0), (1, 12.0), (2, 13.0), (3, 20.0)]);
    }
}
