//! Trees with graceful degradation: binomial where blocks are alike, direct where one is large.
//!
//! The others are sorted by the size of their blocks, largest first, and split into sets, each as heavy
//! as the root's own block and all sets before it. The first of each set, which has its largest
//! block, becomes a child; its set is treated the same way.
//!
//! # Source
//! J. L. Träff, "Hierarchical gather/scatter algorithms with graceful degradation", IPDPS 2004, as
//! TUW and HET describe it. The root's own block counts into the sum, so that equal blocks give a
//! binomial tree. Not ordered: what permuting the blocks costs is not counted.

use crate::ConstructionError;
use crate::best_root::best_of_roots;
use crate::copy_first::copy_first;
use crate::error::blocks;
use crate::sets::set_sizes;
use tuwtree_model::{BlockSizes, Problem, Rank, Tree};

/// The tree of sets of growing weight, with the problem's root or the best of up to 256; it knows the
/// blocks, but no costs (unless the root is open). Ties: the lowest rank first. Each inner rank
/// copies its own block first.
///
/// # Errors
/// [`ConstructionError::NeedsBlocks`]: vectors all weigh the same; [`ConstructionError::TooManyRoots`],
/// [`ConstructionError::Time`] for an open root.
///
/// # Complexity
/// For each root that is tried O(p log p) time where blocks are alike, at most O(64 p) more where they
/// are not, since an only set is lighter than its parent's block; O(p) space.
pub fn graceful(problem: &Problem) -> Result<Tree, ConstructionError> {
    let sizes = blocks(problem)?;
    best_of_roots(problem, |root| Ok(of_sets(sizes, root)))
}

/// The tree with this root.
fn of_sets(sizes: &BlockSizes, root: Rank) -> Tree {
    let ranks = sizes.ranks();
    let mut sorted: Vec<Rank> = (0..ranks).filter(|&rank| rank != root).collect();
    sorted.sort_by_key(|&rank| std::cmp::Reverse(sizes.block(rank)));
    let mut children = vec![Vec::new(); ranks];
    // Ranks with the part of the sorted ones that is below them.
    let mut pending = vec![(root, 0..sorted.len())];
    while let Some((parent, below)) = pending.pop() {
        let weights = sorted[below.clone()].iter().map(|&rank| sizes.block(rank) as f64);
        let mut first = below.start;
        for size in set_sizes(weights, sizes.block(parent) as f64) {
            children[parent].push(sorted[first]);
            pending.push((sorted[first], first + 1..first + size));
            first += size;
        }
    }
    copy_first(root, &children)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_blocks_give_a_binomial_tree() {
        let sizes = BlockSizes::new([5; 16]).unwrap();
        let tree = of_sets(&sizes, 3);
        assert_eq!((tree.degree(3), tree.depth()), (4, 4));
    }

    #[test]
    fn large_blocks_are_sent_straight_to_the_root() {
        let sizes = BlockSizes::new([1, 1000, 1, 1, 300, 1]).unwrap();
        let tree = of_sets(&sizes, 0);
        assert_eq!(tree.children(0).collect::<Vec<_>>(), [1, 4]);
        // Block 4 outweighs the rest, which comes to it in one message, gathered at 2.
        assert_eq!(tree.children(4).collect::<Vec<_>>(), [2]);
        assert_eq!(tree.children(2).collect::<Vec<_>>(), [3, 5]);
    }

    #[test]
    fn empty_blocks_make_no_chain() {
        let sizes = BlockSizes::new([0; 100]).unwrap();
        assert_eq!(of_sets(&sizes, 7).depth(), 1);
    }
}
