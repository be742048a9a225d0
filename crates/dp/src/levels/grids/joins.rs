//! All ways in which one of two neighbouring ranges receives the other.

use super::costs::Costs;
use crate::levels::boundaries::{Boundaries, Level};
use tuwtree_model::Rank;

/// A range of ranks with the least time for each type of its root.
///
/// With the greatest level `M` of the boundaries in it and at its ends, a type is `(a, M)` with `a < M`, at entry
/// `a`, or `(M, b)`, at entry `2M - b`.
#[derive(Clone, Copy, Debug)]
pub(super) struct JoinedPart<'a> {
    pub(super) first: Rank,
    pub(super) end: Rank,
    /// `M`.
    pub(super) greatest: Level,
    /// Infinite for absent types.
    pub(super) times: &'a [f64],
    /// The least of them.
    pub(super) least: f64,
}

/// The receiving one of two neighbouring ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReceivingPart {
    Left,
    Right,
}

/// A last message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Join {
    pub(super) receiver: ReceivingPart,
    /// Entry of the receiver's type before, of whichever range receives.
    pub(super) held: usize,
    /// Entry of its type after.
    pub(super) becomes: usize,
    /// Level of the message.
    pub(super) level: Level,
    /// True if the sender pays at least this level to a rank just outside.
    pub(super) is_exact: bool,
    /// Arrival at the receiver.
    pub(super) time: f64,
}

/// The entry of a type in a range with the greatest level `greatest`.
#[inline(always)]
pub(super) fn entry(greatest: Level, left: Level, right: Level) -> usize {
    if left < greatest { left } else { 2 * greatest - right }
}

impl JoinedPart<'_> {
    /// The entries of the types that pay this level to the right, which is not above the greatest.
    #[inline(always)]
    pub(super) fn paying_right(&self, level: Level) -> std::ops::RangeInclusive<usize> {
        match level < self.greatest {
            true => 2 * self.greatest - level..=2 * self.greatest - level,
            false => 0..=self.greatest,
        }
    }

    /// Types that pay a level to the left.
    #[inline(always)]
    pub(super) fn paying_left(&self, level: Level) -> std::ops::RangeInclusive<usize> {
        match level < self.greatest {
            true => level..=level,
            false => self.greatest..=2 * self.greatest,
        }
    }

    #[inline(always)]
    fn is_alone(&self) -> bool {
        self.end - self.first == 1
    }

    /// The first of the entries that are complete first, and when.
    #[inline(always)]
    pub(super) fn soonest(&self, entries: std::ops::RangeInclusive<usize>) -> (usize, f64) {
        let mut best = (*entries.start(), f64::INFINITY);
        for entry in entries {
            if self.times[entry] < best.1 {
                best = (entry, self.times[entry]);
            }
        }
        best
    }
}

/// Least level of a range's messages: 0, except for ranges of several nodes if only leaders talk to other nodes.
#[inline(always)]
fn least_level(
    (costs, boundaries): (&Costs<'_>, &Boundaries),
    sender: JoinedPart<'_>,
    lowest: Level,
) -> Level {
    let is_held_back = lowest == 0
        && costs.leaders_only
        && sender.end - sender.first > 1
        && boundaries.turn(sender.first + 1, 1) < sender.end;
    if is_held_back { 1 } else { lowest }
}

/// Calls `found` with all last messages between two neighbouring ranges, either way, that may end before `limit`.
#[inline(always)]
pub(super) fn joins(
    (costs, boundaries): (&Costs<'_>, &Boundaries),
    (left, right): (JoinedPart<'_>, JoinedPart<'_>),
    limit: f64,
    mut found: impl FnMut(Join),
) {
    let lowest = boundaries.at(right.first);
    let to_left = PartMessage::new((costs, boundaries), (left, right), lowest);
    if to_left.earliest < limit {
        let clock = left.is_alone().then(|| costs.copy(left.first));
        let senders = |level| right.soonest(right.paying_left(level)).1;
        let greatest = to_left.greatest;
        to_left.each(costs, senders, |level, paid, arrival, occupancy| {
            for held in left.paying_right(paid) {
                if left.times[held] < f64::INFINITY {
                    let clock = clock.unwrap_or(left.times[held]);
                    let facing_left = held.min(left.greatest);
                    found(Join {
                        receiver: ReceivingPart::Left,
                        held,
                        becomes: entry(greatest, facing_left, paid.max(right.greatest)),
                        level,
                        is_exact: paid < level,
                        time: clock.max(arrival) + occupancy,
                    });
                }
            }
        });
    }
    let to_right = PartMessage::new((costs, boundaries), (right, left), lowest);
    if to_right.earliest < limit {
        let clock = right.is_alone().then(|| costs.copy(right.first));
        let senders = |level| left.soonest(left.paying_right(level)).1;
        let greatest = to_right.greatest;
        to_right.each(costs, senders, |level, paid, arrival, occupancy| {
            for held in right.paying_left(paid) {
                if right.times[held] < f64::INFINITY {
                    let clock = clock.unwrap_or(right.times[held]);
                    let facing_right = right.greatest.min(2 * right.greatest - held);
                    found(Join {
                        receiver: ReceivingPart::Right,
                        held,
                        becomes: entry(greatest, paid.max(left.greatest), facing_right),
                        level,
                        is_exact: paid < level,
                        time: clock.max(arrival) + occupancy,
                    });
                }
            }
        });
    }
}

/// A message of one range to the neighbouring one.
struct PartMessage {
    bytes: u64,
    /// The level of the boundary between.
    lowest: Level,
    /// The greatest levels of either and of both.
    of_receiver: Level,
    of_sender: Level,
    greatest: Level,
    /// Least level of the message.
    least: Level,
    /// Nobody has it before.
    earliest: f64,
}

impl PartMessage {
    #[inline(always)]
    fn new(
        (costs, boundaries): (&Costs<'_>, &Boundaries),
        (receiver, sender): (JoinedPart<'_>, JoinedPart<'_>),
        lowest: Level,
    ) -> PartMessage {
        let least = least_level((costs, boundaries), sender, lowest);
        let greatest = receiver.greatest.max(sender.greatest);
        let bytes = costs.bytes(sender.first, sender.end);
        let mut earliest = f64::INFINITY;
        for level in least..=greatest {
            let (latency, occupancy) = costs.message(level, bytes);
            earliest = earliest.min(receiver.least.max(sender.least + latency) + occupancy);
        }
        let (of_receiver, of_sender) = (receiver.greatest, sender.greatest);
        PartMessage { bytes, lowest, of_receiver, of_sender, greatest, least, earliest }
    }

    /// Calls `found` with the level of a message, what its receiver pays to a rank just outside, when the message
    /// may occupy its port, and for how long. `senders` says when the first is ready that pays a level.
    #[inline(always)]
    fn each(
        &self,
        costs: &Costs<'_>,
        senders: impl Fn(Level) -> f64,
        mut found: impl FnMut(Level, Level, f64, f64),
    ) {
        let mut soonest = f64::INFINITY;
        for level in self.lowest..=self.greatest {
            // Those that pay this level, and no less, and the best of those that pay up to this.
            let exact = if level <= self.of_sender { senders(level) } else { f64::INFINITY };
            soonest = soonest.min(exact);
            if level < self.least {
                continue;
            }
            let (latency, occupancy) = costs.message(level, self.bytes);
            for paid in self.lowest..=level.min(self.of_receiver) {
                let ready = if paid == level { soonest } else { exact };
                if ready < f64::INFINITY {
                    found(level, paid, ready + latency, occupancy);
                }
            }
        }
    }
}

/// Calls `found` with the last messages from a range to a neighbouring one that holds the given root, which pays
/// `level` to its nearer end, and is free at `clock`: entry and time.
#[inline(always)]
pub(super) fn joins_to_root(
    (costs, boundaries): (&Costs<'_>, &Boundaries),
    (clock, paid): (f64, Level),
    (sender, is_right): (JoinedPart<'_>, bool),
    mut found: impl FnMut(Level, bool, f64),
) {
    let bytes = costs.bytes(sender.first, sender.end);
    let entries =
        |level| if is_right { sender.paying_left(level) } else { sender.paying_right(level) };
    let least = least_level((costs, boundaries), sender, 0);
    let mut soonest = f64::INFINITY;
    for level in 0..=paid.max(sender.greatest) {
        let exact = match level <= sender.greatest {
            true => sender.soonest(entries(level)).1,
            false => f64::INFINITY,
        };
        soonest = soonest.min(exact);
        let ready = if level == paid { soonest } else { exact };
        if level < paid.max(least) || ready == f64::INFINITY {
            continue;
        }
        let (latency, occupancy) = costs.message(level, bytes);
        found(level, level > paid, clock.max(ready + latency) + occupancy);
    }
}
