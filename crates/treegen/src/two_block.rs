//! Trees for two block sizes: the small and the large blocks apart, then one message.

use crate::ConstructionError;
use crate::error::blocks;
use crate::groups::binomial;
use tuwtree_model::{BlockSizes, Problem, Rank, Step, Tree, largest_block};

/// The tree in which the ranks with small blocks and those with large blocks gather apart, each
/// along a binomial tree, and one message joins the two. The root gathers its own kind.
///
/// # Errors
/// [`ConstructionError::NeedsBlocks`]; [`ConstructionError::ThirdSize`]: more than two sizes. With one
/// size only it is a binomial tree.
///
/// # Complexity
/// O(p) time and space.
///
/// # Source
/// OPT Lemma 2 and the implementation TWO_Gatherv in section 5.3, which uses a library's regular gathers. With a single
/// large block at the best root, and small ones that come together while it is copied, the tree is
/// optimal: `alpha + beta (m - m_r) + gamma m_r`.
///
/// # Example
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, completion_time};
/// use tuwtree_treegen::two_block;
/// let sizes = BlockSizes::new([1, 1, 500, 1, 1]).unwrap();
/// let problem = Problem::gather(&sizes, Homogeneous::new(100.0, 1.0, 1.0).unwrap()).unwrap();
/// let tree = two_block(&problem).unwrap();
/// assert_eq!(tree.root(), 2);
/// assert_eq!(completion_time(&tree, &problem).unwrap().units(), 604.0);
/// ```
pub fn two_block(problem: &Problem) -> Result<Tree, ConstructionError> {
    let sizes = blocks(problem)?;
    let ranks = sizes.ranks();
    let root = problem.root().given().unwrap_or_else(|| largest_block(sizes));
    check_sizes(sizes)?;
    let kind = sizes.block(root);
    let (mut own, others): (Vec<Rank>, Vec<Rank>) =
        (0..ranks).partition(|&rank| sizes.block(rank) == kind);
    let place = own.iter().position(|&rank| rank == root).expect("the root is of its own kind");
    own[..=place].rotate_right(1);
    let mut steps = Vec::with_capacity(2 * ranks);
    binomial(&own, &mut steps);
    if let Some(&head) = others.first() {
        binomial(&others, &mut steps);
        if own.len() == 1 {
            steps.push((root, Step::Copy));
        }
        steps.push((root, Step::Receive(head)));
    }
    Ok(Tree::new(ranks, root, &steps).expect("every other rank sends once"))
}

/// Fails at the first rank with a third size.
fn check_sizes(sizes: &BlockSizes) -> Result<(), ConstructionError> {
    let first = sizes.block(0);
    let mut second = None;
    for (rank, size) in sizes.iter().enumerate() {
        match second {
            _ if size == first => {}
            None => second = Some(size),
            Some(second) if size != second => {
                let (smaller, larger) = (first.min(second), first.max(second));
                return Err(ConstructionError::ThirdSize { rank, size, smaller, larger });
            }
            Some(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{Homogeneous, Root};

    fn tree(sizes: &[u64], root: Root) -> Result<Tree, ConstructionError> {
        let sizes = BlockSizes::new(sizes.iter().copied()).unwrap();
        let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
        two_block(&Problem::gather(&sizes, costs).unwrap().with_root(root).unwrap())
    }

    #[test]
    fn each_kind_gathers_by_itself() {
        let tree = tree(&[7, 1, 7, 1, 7], Root::Given(2)).unwrap();
        let steps = |rank| tree.steps(rank).collect::<Vec<_>>();
        assert_eq!(steps(2), [Step::Copy, Step::Receive(0), Step::Receive(4), Step::Receive(1)]);
        assert_eq!(steps(1), [Step::Copy, Step::Receive(3)]);
    }

    #[test]
    fn one_size_is_a_binomial_tree_and_three_are_refused() {
        let same = tree(&[3; 8], Root::Given(5)).unwrap();
        assert_eq!((same.depth(), same.degree(5)), (3, 3));
        assert_eq!(tree(&[3], Root::Best).unwrap().ranks(), 1);
        let error = tree(&[5, 5, 1, 2], Root::Best).unwrap_err();
        assert_eq!(error, ConstructionError::ThirdSize { rank: 3, size: 2, smaller: 1, larger: 5 });
    }
}
