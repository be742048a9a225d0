//! Blocks in falling order, gathered in groups: shared by the non-ordered constructions.

use crate::best_root::MOST_ROOTS;
use std::cmp::Reverse;
use tuwtree_model::{BlockSizes, Rank, Root, Step, Tree, largest_block};

/// A root, and the other ranks sorted by their blocks.
pub(crate) struct Sorted {
    pub(crate) root: Rank,
    /// All others whose blocks are not empty, the largest first, of equal ones the least rank.
    pub(crate) others: Vec<Rank>,
    /// All others whose blocks are empty.
    empty: Vec<Rank>,
}

impl Sorted {
    /// The ranks with these blocks; the best root is one with a largest block.
    ///
    /// # Complexity
    /// O(p log p).
    pub(crate) fn new(sizes: &BlockSizes, root: Root) -> Sorted {
        Sorted::with_root(sizes, root.given().unwrap_or_else(|| largest_block(sizes)))
    }

    /// The order with each root that may be the best one: with all of up to [`MOST_ROOTS`] ranks.
    pub(crate) fn with_each_root(sizes: &BlockSizes, root: Root) -> impl Iterator<Item = Sorted> {
        let roots = match root {
            Root::Given(root) => root..root + 1,
            Root::Best | Root::None if sizes.ranks() <= MOST_ROOTS => 0..sizes.ranks(),
            Root::Best | Root::None => {
                let root = largest_block(sizes);
                root..root + 1
            }
        };
        roots.map(|root| Sorted::with_root(sizes, root))
    }

    fn with_root(sizes: &BlockSizes, root: Rank) -> Sorted {
        let (mut blocks, mut empty) = (Vec::new(), Vec::new());
        for (rank, bytes) in sizes.iter().enumerate().filter(|&(rank, _)| rank != root) {
            match bytes {
                0 => empty.push(rank),
                _ => blocks.push((Reverse(bytes), rank)),
            }
        }
        blocks.sort_unstable();
        let others = blocks.into_iter().map(|(_, rank)| rank).collect();
        Sorted { root, others, empty }
    }

    /// The tree with these steps, which receive all others: the root copies first, and receives all
    /// empty blocks last, for nothing.
    pub(crate) fn tree_of(&self, steps: Vec<(Rank, Step)>) -> Tree {
        let ranks = 1 + self.others.len() + self.empty.len();
        let copy = (ranks > 1).then_some((self.root, Step::Copy));
        let empty = self.empty.iter().map(|&rank| (self.root, Step::Receive(rank)));
        let steps: Vec<(Rank, Step)> = copy.into_iter().chain(steps).chain(empty).collect();
        Tree::new(ranks, self.root, &steps).expect("every other rank sends once")
    }

    /// The tree in which the root copies and receives the others in groups of these sizes, one after
    /// the other, each along its binomial tree; and all empty blocks last, for nothing.
    pub(crate) fn tree(&self, groups: &[usize]) -> Tree {
        let mut steps = Vec::with_capacity(2 * self.others.len());
        let mut rest = self.others.as_slice();
        for &size in groups {
            let (group, after) = rest.split_at(size);
            binomial(group, &mut steps);
            steps.push((self.root, Step::Receive(group[0])));
            rest = after;
        }
        self.tree_of(steps)
    }
}

/// The binomial tree over a group: its first half, the larger by one if need be, receives the
/// second; so the first rank gathers everything.
///
/// With blocks in falling order and gamma <= beta it is ready at `ceil(log2 c) alpha + beta (S - m) +
/// gamma m` at the latest, for `c` blocks of volume `S`, the first of them `m`: the half that sends has
/// no more data than the one that receives, block by block, and so does not let it wait.
pub(crate) fn binomial(group: &[Rank], steps: &mut Vec<(Rank, Step)>) {
    let mut pending = vec![group];
    while let Some(group) = pending.pop() {
        if group.len() < 2 {
            continue;
        }
        let head = group[0];
        let first = steps.len();
        let mut kept = group;
        while kept.len() > 1 {
            let (keeps, sends) = kept.split_at(kept.len().div_ceil(2));
            steps.push((head, Step::Receive(sends[0])));
            pending.push(sends);
            kept = keeps;
        }
        // The last half to be cut off is received first.
        steps.push((head, Step::Copy));
        steps[first..].reverse();
    }
}

/// `ceil(log2 count)` for `count >= 1`.
pub(crate) fn levels(count: usize) -> u32 {
    count.next_power_of_two().ilog2()
}
