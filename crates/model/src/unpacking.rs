//! Cost of putting blocks into rank order where a tree does not keep it.
//!
//! Completion times leave it out: every message is received in place. In a tree that is not ordered, the blocks of a
//! message are in the order in which they came together, and belong to several places of the root's memory. A derived
//! datatype tells the MPI library so, which then unpacks in its own way; or the root receives such a message elsewhere
//! and copies its blocks one by one. That is the *unpack step* (in a scatter, the pack step before the message): a copy
//! of the whole message. Other ranks only pass on their appended data.
//!
//! # Source
//! `docs/beyond-ordered-trees.md`, "The unpack step".

use crate::{BlockSizes, CostModel, Problem, Rank, Step, Time, TimeError, Tree};

/// The bytes that the root of a tree has to copy once more to put them into rank order (in a scatter,
/// into the order in which they are sent): the volume of its messages whose blocks are not one run in
/// rank order.
///
/// A rank other than the root keeps its data in rank order if that is consecutive in its whole subtree, and else in
/// order of arrival, its own block being copied at its place among the messages. Empty blocks do not count.
///
/// # Shapes
/// `tree` and `sizes` have the same number of ranks.
///
/// # Panics
/// If they have not.
///
/// # Complexity
/// O(p) time and space.
///
/// # Example
/// Root 0 receives blocks 1 and 3 in one message, between which 2 belongs, and then 2.
/// ```
/// use tuwtree_model::{BlockSizes, Step, Tree, unpacked_bytes};
/// use Step::{Copy, Receive};
/// let steps = [(0, Copy), (0, Receive(1)), (0, Receive(2)), (1, Copy), (1, Receive(3))];
/// let tree = Tree::new(4, 0, &steps).unwrap();
/// assert_eq!(unpacked_bytes(&tree, &BlockSizes::new([9, 5, 7, 3]).unwrap()), 8);
/// assert_eq!(unpacked_bytes(&tree, &BlockSizes::new([9, 5, 0, 3]).unwrap()), 0);
/// ```
pub fn unpacked_bytes(tree: &Tree, sizes: &BlockSizes) -> u64 {
    assert_eq!(tree.ranks(), sizes.ranks(), "tree and data of one problem");
    let ranges = ranges(tree);
    let children = tree.children(tree.root()).filter(|&child| ranges[child].is_none());
    children.map(|child| unpacked(tree, sizes, &ranges, child)).sum()
}

/// The time of the unpack step at the root of a gather tree, or of the pack step of a scatter: the copy
/// of [`unpacked_bytes`]. Done after the last message, it comes on top of the completion time; with a
/// derived datatype, how much of it the library needs is not known. Vectors are in one piece: 0.
///
/// # Errors
/// [`TimeError`] if it cannot be stated.
///
/// # Panics
/// If the numbers of ranks differ.
///
/// # Complexity
/// O(p) time and space.
pub fn unpack_time(tree: &Tree, problem: &Problem) -> Result<Time, TimeError> {
    match problem.blocks() {
        Some(sizes) => problem.costs().copy_at(tree.root(), unpacked_bytes(tree, sizes)),
        None => Ok(Time::ZERO),
    }
}

/// `p` entries: the first and last rank of a rank's subtree, if all segments in it are consecutive.
fn ranges(tree: &Tree) -> Vec<Option<(Rank, Rank)>> {
    // First and last rank, how many there are, and whether all below are consecutive.
    let mut spans: Vec<(Rank, Rank, usize, bool)> =
        (0..tree.ranks()).map(|rank| (rank, rank, 1, true)).collect();
    for rank in tree.top_down().into_iter().rev() {
        for child in tree.children(rank) {
            let (first, last, count, kept) = spans[child];
            let all = &mut spans[rank];
            *all = (all.0.min(first), all.1.max(last), all.2 + count, all.3 && kept);
        }
        let (first, last, count, kept) = spans[rank];
        spans[rank].3 = kept && last - first + 1 == count;
    }
    spans.into_iter().map(|(first, last, _, kept)| kept.then_some((first, last))).collect()
}

/// The bytes of the message from a subtree that is not kept in rank order, unless they happen to be.
fn unpacked(tree: &Tree, sizes: &BlockSizes, ranges: &[Option<(Rank, Rank)>], top: Rank) -> u64 {
    let (mut bytes, mut end, mut is_one_run) = (0, None, true);
    let mut add = |first: Rank, last: Rank| {
        let size = sizes.range(first, last);
        if size > 0 {
            let start = sizes.before(first);
            is_one_run &= end.is_none_or(|end| end == start);
            end = Some(start + size);
            bytes += size;
        }
    };
    // Steps yet to come, the next one last.
    let mut pending = vec![(top, Step::Receive(top))];
    while let Some((rank, step)) = pending.pop() {
        match step {
            Step::Copy => add(rank, rank),
            Step::Receive(child) => match ranges[child] {
                Some((first, last)) => add(first, last),
                None => pending.extend(tree.steps(child).rev().map(|step| (child, step))),
            },
        }
    }
    if is_one_run { 0 } else { bytes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Collective, Homogeneous, Vector};
    use Step::{Copy, Receive};

    fn bytes(sizes: &[u64], steps: &[(Rank, Step)]) -> u64 {
        let tree = Tree::new(sizes.len(), 0, steps).unwrap();
        unpacked_bytes(&tree, &BlockSizes::new(sizes.iter().copied()).unwrap())
    }

    #[test]
    fn messages_of_one_block_are_received_in_their_places() {
        let star = [(0, Copy), (0, Receive(2)), (0, Receive(1)), (0, Receive(3))];
        assert_eq!(bytes(&[1, 2, 4, 8], &star), 0);
    }

    #[test]
    fn a_consecutive_subtree_is_in_rank_order_however_it_came_together() {
        let steps = [(0, Copy), (0, Receive(1)), (1, Copy), (1, Receive(3)), (1, Receive(2))];
        assert_eq!(bytes(&[1, 2, 4, 8], &steps), 0);
    }

    #[test]
    fn only_messages_with_gaps_are_unpacked_and_these_as_a_whole() {
        let steps = [
            (0, Copy),
            (0, Receive(1)),
            (0, Receive(2)),
            (1, Copy),
            (1, Receive(3)),
            (3, Copy),
            (3, Receive(4)),
            (2, Copy),
            (2, Receive(5)),
        ];
        assert_eq!(bytes(&[1, 2, 4, 8, 16, 32], &steps), 62);
        // Without blocks 2 and 5, the first message is one run.
        assert_eq!(bytes(&[1, 2, 0, 8, 16, 0], &steps), 0);
        assert_eq!(bytes(&[1, 2, 0, 8, 16, 32], &steps), 0);
        assert_eq!(bytes(&[1, 2, 4, 8, 16, 0], &steps), 26);
    }

    #[test]
    fn blocks_in_the_wrong_order_are_unpacked_though_none_is_missing() {
        // 4 appends 1 to its own block; between them stands nothing but the empty 2 and 3.
        let steps = [(0, Copy), (0, Receive(4)), (0, Receive(2)), (0, Receive(3)), (4, Copy)];
        let steps = [&steps[..], &[(4, Receive(1))]].concat();
        assert_eq!(bytes(&[1, 2, 0, 0, 16], &steps), 18);
    }

    #[test]
    fn the_step_takes_a_copy_at_the_root_and_vectors_none() {
        let steps = [(0, Copy), (0, Receive(1)), (0, Receive(2)), (1, Copy), (1, Receive(3))];
        let tree = Tree::new(4, 0, &steps).unwrap();
        let sizes = BlockSizes::new([9, 5, 7, 3]).unwrap();
        let costs = Homogeneous::new(100.0, 1.0, 0.5).unwrap();
        let time = |collective| {
            unpack_time(&tree, &Problem::of(collective, costs).unwrap()).unwrap().units()
        };
        assert_eq!(time(Collective::gather(&sizes)), 4.0);
        assert_eq!(time(Collective::scatter(&sizes)), 4.0);
        assert_eq!(time(Collective::reduce(Vector { ranks: 4, bytes: 9 })), 0.0);
    }
}
