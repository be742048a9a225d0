//! Trees out of joins: which two neighbouring ranges form a range, and which of them receives.

use tuwtree_model::{Rank, Step, Tree};

/// The one of two neighbouring ranges that holds the root of both, and receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// The range of lower ranks.
    Left,
    /// The range of higher ranks.
    Right,
}

/// A composition of a range: `[i..last_left]` and `[last_left+1..j]` are complete, then the root of
/// one sends everything to the root of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Join {
    pub(crate) last_left: Rank,
    pub(crate) receiver: Receiver,
}

/// The tree in which every range of at least two ranks comes about by the join stated for it.
///
/// A rank copies its own block when it first receives: before a message from its right (it
/// may wait for that message while it copies), after one from its left.
///
/// # Complexity
/// O(p) space and time beside the `p - 1` calls of `join`; no recursion.
///
/// # Source
/// OPT Proposition 3 and, for the places of the copies, eqs. 5 and 6.
pub(crate) fn tree_of_joins(ranks: usize, mut join: impl FnMut(Rank, Rank) -> Join) -> Tree {
    enum Work {
        Range(Rank, Rank),
        Join { first: Rank, last: Rank, join: Join },
    }
    let mut steps = Vec::with_capacity(2 * ranks);
    let mut roots = Vec::new();
    let mut work = vec![Work::Range(0, ranks - 1)];
    while let Some(next) = work.pop() {
        match next {
            Work::Range(first, last) if first == last => roots.push(first),
            Work::Range(first, last) => {
                let join = join(first, last);
                work.push(Work::Join { first, last, join });
                work.push(Work::Range(join.last_left + 1, last));
                work.push(Work::Range(first, join.last_left));
            }
            Work::Join { first, last, join } => {
                let right = roots.pop().expect("the right range is complete");
                let left = roots.pop().expect("the left range is complete");
                roots.push(match join.receiver {
                    Receiver::Left => {
                        if join.last_left == first {
                            steps.push((left, Step::Copy));
                        }
                        steps.push((left, Step::Receive(right)));
                        left
                    }
                    Receiver::Right => {
                        steps.push((right, Step::Receive(left)));
                        if join.last_left + 1 == last {
                            steps.push((right, Step::Copy));
                        }
                        right
                    }
                });
            }
        }
    }
    let root = roots.pop().expect("the whole range is complete");
    Tree::new(ranks, root, &steps).expect("joins make a tree")
}
