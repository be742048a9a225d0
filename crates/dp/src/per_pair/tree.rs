//! The trees behind finished tables.
//!
//! Ties: the lowest root, then at each message, from a root's last to its first, the lowest split,
//! then the lowest sender. Every comparison is of times computed in one and the same way, so that
//! equality holds to the last bit whatever the costs.

use super::binary::{self, BinaryPart};
use super::links::Links;
use tuwtree_model::{Rank, Step, Tree};

/// A root's last message: its contents, and its sender.
#[derive(Clone, Copy, Debug)]
struct LastMessage {
    /// The last rank of the left one of both ranges.
    split: Rank,
    sender: Rank,
}

/// The best root and its time; `None` if no root is possible.
pub(crate) fn best_root(times: impl Iterator<Item = f64>) -> Option<(Rank, f64)> {
    let mut best = None;
    for (root, time) in times.enumerate() {
        if time.is_finite() && best.is_none_or(|(_, least)| time < least) {
            best = Some((root, time));
        }
    }
    best
}

/// An optimal tree with this root, whose time is finite.
///
/// `time(i, j, r)` is the finished table.
///
/// # Complexity
/// O(p^3) time in the worst case, O(p) space; no recursion.
pub(crate) fn of_joins(links: &Links, root: Rank, time: impl Fn(Rank, Rank, Rank) -> f64) -> Tree {
    let ranks = links.ranks();
    let mut steps = Vec::with_capacity(2 * ranks);
    let mut pending = vec![(0, ranks - 1, root)];
    while let Some((mut i, mut j, r)) = pending.pop() {
        let from = steps.len();
        while i < j {
            let LastMessage { split, sender } = last_message(links, &time, (i, j, r));
            if r <= split {
                steps.push((r, Step::Receive(sender)));
                if split == i {
                    steps.push((r, Step::Copy));
                }
                pending.push((split + 1, j, sender));
                j = split;
            } else {
                let is_first = split + 1 == j;
                if is_first && !links.copies_first() {
                    steps.push((r, Step::Copy));
                }
                steps.push((r, Step::Receive(sender)));
                if is_first && links.copies_first() {
                    steps.push((r, Step::Copy));
                }
                pending.push((i, split, sender));
                i = split + 1;
            }
        }
        steps[from..].reverse();
    }
    Tree::new(ranks, root, &steps).expect("joins make a tree")
}

/// The first message that attains the time of a range.
fn last_message(
    links: &Links,
    time: &impl Fn(Rank, Rank, Rank) -> f64,
    (i, j, r): (Rank, Rank, Rank),
) -> LastMessage {
    let target = time(i, j, r);
    for split in i..j {
        let (a, b, clock, copy) = if r <= split {
            let clock = if split == i { links.copy(r) } else { time(i, split, r) };
            (split + 1, j, clock, 0.0)
        } else {
            let (clock, copy) = match split + 1 == j {
                true if links.copies_first() => (links.copy(r), 0.0),
                true => (0.0, links.copy(r)),
                false => (time(split + 1, j, r), 0.0),
            };
            (i, split, clock, copy)
        };
        if clock > target {
            continue;
        }
        let arrival = |sender| links.arrival(clock, (sender, time(a, b, sender)), (a, b, r)) + copy;
        if let Some(sender) = (a..=b).find(|&sender| arrival(sender) == target) {
            return LastMessage { split, sender };
        }
    }
    unreachable!("a finished time is attained by a message")
}

/// An optimal binary tree with this root, whose time is finite.
///
/// # Complexity
/// As [`of_joins`].
pub(crate) fn of_shapes(links: &Links, root: Rank, table: &binary::BinaryTable) -> Tree {
    let ranks = links.ranks();
    let mut steps = Vec::with_capacity(2 * ranks);
    let mut pending = vec![(0, ranks - 1, root)];
    while let Some((i, j, r)) = pending.pop() {
        if i == j {
            continue;
        }
        let (_, shape) = table.best_shape(links, (i, j, r));
        let mut clock = 0.0;
        for part in shape.into_iter().flatten() {
            match part {
                BinaryPart::Own => {
                    clock += links.copy(r);
                    steps.push((r, Step::Copy));
                }
                BinaryPart::Subtree(a, b) => {
                    let (sender, arrival) =
                        first_of_the_best(links, clock, table.roots(a, b), (a, b, r));
                    clock = arrival;
                    steps.push((r, Step::Receive(sender)));
                    pending.push((a, b, sender));
                }
            }
        }
    }
    Tree::new(ranks, root, &steps).expect("shapes make a tree")
}

/// The lowest of the senders whose message arrives first, and when.
fn first_of_the_best(
    links: &Links,
    clock: f64,
    times: &[f64],
    (a, b, receiver): (Rank, Rank, Rank),
) -> (Rank, f64) {
    let mut best = (a, f64::INFINITY);
    for (sender, &time) in (a..=b).zip(times) {
        let arrival = links.arrival(clock, (sender, time), (a, b, receiver));
        if arrival < best.1 {
            best = (sender, arrival);
        }
    }
    best
}
