//! Why no tree has a finite time: who cannot reach whom.

use super::links::Links;
use crate::DpError;
use tuwtree_model::{Operation, Rank, Root};

/// The error for a problem without an ordered tree.
///
/// First the links alone: whoever has data must reach the root along links, or, in an outward
/// operation, be reached. If that is so, `blocked` names a range without a tree.
///
/// # Complexity
/// O(p^2) time for a given root, O(p^3) for the best.
pub(crate) fn explain(
    links: &Links,
    operation: Operation,
    root: Root,
    blocked: impl FnOnce() -> (Rank, Rank),
) -> DpError {
    let roots = match root {
        Root::Given(root) => root..root + 1,
        Root::Best => 0..links.processors(),
    };
    let cut_off = roots
        .map(|root| (root, without_way_to(links, root)))
        .min_by_key(|(_, cut_off)| cut_off.iter().filter(|&&rank| has_data(links, rank)).count());
    let (nearest, processors) = cut_off.expect("there is a processor");
    if processors.iter().any(|&rank| has_data(links, rank)) {
        return DpError::CutOff { operation, root, nearest, processors };
    }
    let (first, last) = blocked();
    DpError::NoOrderedTree { operation, root, first, last }
}

/// All processors from which no links lead to `root`, directly or through others.
fn without_way_to(links: &Links, root: Rank) -> Vec<Rank> {
    let mut reaches = vec![false; links.processors()];
    reaches[root] = true;
    let mut pending = vec![root];
    while let Some(receiver) = pending.pop() {
        for (sender, reaches) in reaches.iter_mut().enumerate() {
            if !*reaches && links.is_linked(sender, receiver) {
                *reaches = true;
                pending.push(sender);
            }
        }
    }
    (0..links.processors()).filter(|&rank| !reaches[rank]).collect()
}

/// Whether a message from this processor alone would hold anything.
fn has_data(links: &Links, rank: Rank) -> bool {
    links.bytes(rank, rank) > 0.0
}

/// The first of the shortest ranges that none of its processors can collect; all processors if each
/// smaller range can be.
pub(crate) fn shortest_blocked(
    processors: usize,
    collectable: impl Fn(Rank, Rank) -> bool,
) -> (Rank, Rank) {
    let ranges = (1..processors)
        .flat_map(|length| (0..processors - length).map(move |first| (first, first + length)));
    let mut blocked = ranges.filter(|&(first, last)| !collectable(first, last));
    blocked.next().unwrap_or((0, processors - 1))
}
