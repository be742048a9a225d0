//! The tree behind a finished table.

use super::Class;
use super::boundaries::Level;
use super::law::{Law, MessageCosts, beyond};
use super::offers::Offer;
use super::rooted::Rooted;
use super::row::{RangeRow, Type};
use super::side::Side;
use tuwtree_model::{Rank, Scalar, Step, Tree};

/// A finished table.
#[derive(Clone, Debug)]
pub(super) enum Table<T> {
    /// Any root.
    Free(Side<T>),
    /// A given root.
    Rooted(Rooted<T>),
}

/// A range with its best root of a type.
#[derive(Clone, Copy, Debug)]
struct Subrange {
    first: Rank,
    last: Rank,
    /// `None` if it holds the given root.
    of: Option<Type>,
}

/// The receiving one of two neighbouring parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receiver {
    Left,
    Right,
}

/// A root's last message: the sender's part, and the root's part before.
#[derive(Clone, Copy, Debug)]
struct LastMessage {
    receiver: Receiver,
    taken: Subrange,
    rest: Subrange,
}

impl<T: Scalar> Table<T> {
    /// The least time over all ranks; 0 for a lone one.
    pub(super) fn value(&self, ranks: usize) -> T {
        self.whole(ranks).1
    }

    /// All ranks, and their least time.
    fn whole(&self, ranks: usize) -> (Subrange, T) {
        let (first, last) = (0, ranks - 1);
        match self {
            Table::Free(side) => {
                let best = soonest(side.row(0).types(last));
                let (of, time) = best.map_or((None, beyond()), |(of, time)| (Some(of), time));
                (Subrange { first, last, of }, time)
            }
            Table::Rooted(rooted) => {
                let time = rooted.row(0).get(last).unwrap_or(beyond());
                (Subrange { first, last, of: None }, time)
            }
        }
    }

    /// The row of ranges that do not hold the given root.
    fn row(&self, first: Rank) -> &RangeRow<T> {
        match self {
            Table::Free(side) => side.row(first),
            Table::Rooted(rooted) => rooted.side(first).row(first),
        }
    }

    /// `C` of a part, or `F`.
    fn time(&self, part: Subrange) -> T {
        let time = match (self, part.of) {
            (_, Some(of)) => self.row(part.first).time(of, part.last),
            (Table::Rooted(rooted), None) => rooted.row(part.first).get(part.last),
            (Table::Free(_), None) => None,
        };
        time.unwrap_or(beyond())
    }
}

/// The first of the types that are complete first.
fn soonest<T: Scalar>(types: impl Iterator<Item = (Type, T)>) -> Option<(Type, T)> {
    types.reduce(|best, other| if other.1 < best.1 { other } else { best })
}

/// A tree that attains the table's value, which is below [`beyond`].
///
/// Ties: from each root's last message to its first, the first split, the left part as receiver, the
/// first type of the receiver, the lowest level, the first type of the sender.
///
/// # Complexity
/// O(p^2 h^3) time in the worst case, a few scanned splits a rank as a rule; O(p) space.
pub(super) fn tree<T: Scalar>(law: &Law<'_, T>, class: Class, table: &Table<T>) -> Tree {
    let ranks = law.ranks();
    let unwinding = Unwinding { law, class, table };
    // Each subtree: the place of its parent's, and its part.
    let mut subtrees = vec![table.whole(ranks).0];
    let mut received: Vec<Vec<(Receiver, usize)>> = Vec::with_capacity(ranks);
    let mut roots = Vec::with_capacity(ranks);
    while let Some(&subtree) = subtrees.get(roots.len()) {
        let mut part = subtree;
        let mut messages = Vec::new();
        while part.first < part.last {
            let LastMessage { receiver, taken, rest } = unwinding.last_message(part);
            messages.push((receiver, subtrees.len()));
            subtrees.push(taken);
            part = rest;
        }
        messages.reverse();
        roots.push(part.first);
        received.push(messages);
    }
    let mut steps = Vec::with_capacity(2 * ranks);
    for (&root, messages) in roots.iter().zip(&received) {
        let start = steps.len();
        steps.extend(messages.iter().map(|&(_, child)| (root, Step::Receive(roots[child]))));
        if let Some(&(first, _)) = messages.first() {
            let copies_later = class == Class::Adjacent && first == Receiver::Right;
            steps.insert(start + usize::from(copies_later), (root, Step::Copy));
        }
    }
    Tree::new(ranks, roots[0], &steps).expect("joins make a tree")
}

/// Goes back through what the root of a part received.
struct Unwinding<'a, 'law, T> {
    law: &'a Law<'law, T>,
    class: Class,
    table: &'a Table<T>,
}

impl<T: Scalar> Unwinding<'_, '_, T> {
    /// The first message that attains the time of a part of several ranks.
    fn last_message(&self, part: Subrange) -> LastMessage {
        let target = self.table.time(part);
        for split in part.first..part.last {
            for receiver in [Receiver::Left, Receiver::Right] {
                for (rest, level) in self.receivers(part, split, receiver) {
                    if let Some(taken) = self.sender(part, (rest, receiver, level), target) {
                        return LastMessage { receiver, taken, rest };
                    }
                }
            }
        }
        unreachable!("a finished time is attained by a message")
    }

    /// The parts that may have received last in `part`, and the level that each pays to a rank just
    /// outside, on the side from which it received.
    fn receivers(&self, part: Subrange, split: Rank, receiver: Receiver) -> Vec<(Subrange, Level)> {
        let boundaries = &self.law.boundaries;
        let rest = |of| match receiver {
            Receiver::Left => Subrange { last: split, of, ..part },
            Receiver::Right => Subrange { first: split + 1, of, ..part },
        };
        let Some(target) = part.of else {
            let Table::Rooted(Rooted { root, .. }) = *self.table else { return Vec::new() };
            return match receiver {
                Receiver::Left if root <= split => {
                    vec![(rest(None), boundaries.greatest(root + 1, split + 1))]
                }
                Receiver::Right if root > split => {
                    vec![(rest(None), boundaries.greatest(split + 1, root))]
                }
                Receiver::Left | Receiver::Right => Vec::new(),
            };
        };
        let all = rest(None);
        let types = self.table.row(all.first).types(all.last).map(|(of, _)| of);
        let grown = |of: &Type| match receiver {
            Receiver::Left => of.after_right(boundaries.greatest(split + 1, part.last + 1)),
            Receiver::Right => of.after_left(boundaries.greatest(part.first, split + 1)),
        };
        let facing = |of: Type| if receiver == Receiver::Left { of.right } else { of.left };
        types.filter(|of| grown(of) == target).map(|of| (rest(Some(of)), facing(of))).collect()
    }

    /// The sender that makes a receiver's part complete at `target`, if there is one.
    fn sender(
        &self,
        part: Subrange,
        (rest, receiver, level): (Subrange, Receiver, Level),
        target: T,
    ) -> Option<Subrange> {
        let (first, last) = match receiver {
            Receiver::Left => (rest.last + 1, part.last),
            Receiver::Right => (part.first, rest.first - 1),
        };
        let row = self.table.row(first);
        let facing = |of: Type| if receiver == Receiver::Left { of.left } else { of.right };
        (level..self.law.boundaries.used()).find_map(|paid| {
            let pays = |of: Type| facing(of).max(level) == paid;
            let (of, ready) = soonest(row.types(last).filter(|&(of, _)| pays(of)))?;
            let attained = self.joined(rest, receiver, (ready, paid), (first, last)) == target;
            attained.then_some(Subrange { first, last, of: Some(of) })
        })
    }

    /// Arrival of a range's message at a receiver, given its part before.
    fn joined(
        &self,
        rest: Subrange,
        receiver: Receiver,
        (ready, level): (T, Level),
        range: (Rank, Rank),
    ) -> T {
        let MessageCosts { latency, occupancy } = self.law.message(level, range);
        let offer = Offer { arrival: ready + latency, occupancy };
        let alone = rest.first == rest.last;
        let clock = match receiver {
            Receiver::Right if alone => {
                return self.class.after_first_from_left(self.law.copy(rest.first), offer);
            }
            Receiver::Left if alone => self.law.copy(rest.first),
            Receiver::Left | Receiver::Right => self.table.time(rest),
        };
        clock.most(offer.arrival) + offer.occupancy
    }
}
