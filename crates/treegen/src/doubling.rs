//! The doubling tree: a given root pays no bandwidth, if trees need not be ordered.

use crate::ConstructionError;
use crate::error::blocks;
use crate::groups::Sorted;
use tuwtree_model::{Problem, Tree};

/// The tree in which the root copies, receives the largest block alone, and then the next largest 1, 2,
/// 4, … blocks, each of these groups along a binomial tree.
///
/// When a group is due, the root has received as many blocks, none of them smaller. So the group is
/// ready, and the root never waits, except for overlapping latency.
///
/// # Errors
/// [`ConstructionError::NeedsBlocks`].
///
/// # Complexity
/// O(p log p) time, O(p) space.
///
/// # Source
/// With gamma <= beta and any given root `r` the completion time is at most
/// `(ceil(log2 n) + 1) alpha + beta (m - m_r) + gamma m_r`, for `n` other blocks that are not empty
/// (`docs/beyond-ordered-trees.md`). TUW Lemma 2, for ordered trees, adds up to beta times the volume of
/// a subcube.
///
/// # Example
/// Root 0, alpha = 10, beta = gamma = 1: 5 alone (15), 4 (29), then 3 and 2, which are together at 15.
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, Root, completion_time};
/// use tuwtree_treegen::doubling;
/// let sizes = BlockSizes::new([0, 2, 3, 4, 5]).unwrap();
/// let problem = Problem::gather(&sizes, Homogeneous::new(10.0, 1.0, 1.0).unwrap()).unwrap();
/// let tree = doubling(&problem.with_root(Root::Given(0)).unwrap()).unwrap();
/// assert_eq!(tree.children(0).collect::<Vec<_>>(), [4, 3, 2]);
/// assert_eq!(completion_time(&tree, &problem).unwrap().units(), 44.0);
/// ```
pub fn doubling(problem: &Problem) -> Result<Tree, ConstructionError> {
    let sorted = Sorted::new(blocks(problem)?, problem.root());
    Ok(sorted.tree(&groups(sorted.others.len(), Some(1))))
}

/// The sizes of groups that double from 1 on, after one of this size, if any.
pub(crate) fn groups(blocks: usize, alone: Option<usize>) -> Vec<usize> {
    let doubled = std::iter::successors(Some(1_usize), |size| size.checked_mul(2));
    let mut left = blocks;
    alone
        .into_iter()
        .chain(doubled)
        .map_while(|size| {
            let size = size.min(left);
            left -= size;
            (size > 0).then_some(size)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{BlockSizes, Homogeneous, Root};

    #[test]
    fn groups_double_and_the_last_takes_what_is_left() {
        assert_eq!(groups(12, Some(1)), [1, 1, 2, 4, 4]);
        assert_eq!(groups(12, None), [1, 2, 4, 5]);
        assert_eq!(groups(0, Some(1)), []);
    }

    #[test]
    fn a_group_of_five_is_gathered_by_its_largest_in_three_rounds() {
        let sizes = BlockSizes::new([0, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]).unwrap();
        let problem = Problem::gather(&sizes, Homogeneous::new(1.0, 1.0, 1.0).unwrap()).unwrap();
        let tree = doubling(&problem.with_root(Root::Given(0)).unwrap()).unwrap();
        assert_eq!(tree.children(0).collect::<Vec<_>>(), [1, 2, 3, 5, 9, 10]);
        assert_eq!(tree.children(5).collect::<Vec<_>>(), [6, 7]);
        assert_eq!(tree.children(7).collect::<Vec<_>>(), [8]);
    }
}
