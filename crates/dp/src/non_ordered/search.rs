//! Local search over the orders of the processors.

use super::NonOrderedError;
use super::arrangement::{descending, root_of};
use super::sorted::arranged;
use crate::Progress;
use tuwtree_model::{
    BlockSizes, Homogeneous, Randomness, Rank, Root, Tree, best_lower_bound, completion_time,
};

/// How far a [`search`] goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// How many orders are tried beside the first, at most.
    pub steps: usize,
    /// Which ones: any number.
    pub seed: u64,
}

/// A tree that is optimal among the ordered ones for an order of the processors that was improved
/// step by step, starting with the root and then the largest block down to the smallest.
///
/// Each step moves one processor to another place, and is kept unless the optimal tree takes longer.
/// With the root first, each tree in which everybody copies first is ordered for some order of the
/// others, so that with steps enough the best tree is within reach. The search ends when a lower
/// bound is met.
///
/// # Errors
/// [`NonOrderedError`], but not for too much work.
///
/// # Complexity
/// That of [`optimal`](crate::optimal) for each step.
pub fn search(
    sizes: &BlockSizes,
    costs: &Homogeneous,
    root: Root,
    search: Search,
    progress: &dyn Progress,
) -> Result<Tree, NonOrderedError> {
    search_while(sizes, costs, root, search, progress, &mut || true)
}

/// The tree of [`search()`] with as many of its steps as `goes_on` allows, which is asked before each.
///
/// # Errors, complexity
/// As [`search()`].
pub fn search_while(
    sizes: &BlockSizes,
    costs: &Homogeneous,
    root: Root,
    search: Search,
    progress: &dyn Progress,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Tree, NonOrderedError> {
    let root = root_of(root, sizes)?;
    let bound = best_lower_bound(Root::Given(root), sizes, costs)?;
    let mut order: Vec<Rank> = descending(sizes, root);
    order.insert(0, root);
    let (mut time, mut best) = arranged(&order, (sizes, costs, Root::Given(root)), progress)?;
    if order.len() < 3 {
        return Ok(best);
    }
    let numbers = Randomness::Xoshiro { seed: search.seed }.numbers(2 * search.steps);
    for pair in numbers.chunks_exact(2) {
        if !goes_on() || completion_time(&best, sizes, costs)? <= bound {
            break;
        }
        let [from, to] = [pair[0], pair[1]].map(|number| 1 + number as usize % (order.len() - 1));
        let mut moved = order.clone();
        let rank = moved.remove(from);
        moved.insert(to, rank);
        let (next, tree) = arranged(&moved, (sizes, costs, Root::Given(root)), progress)?;
        if next <= time {
            (time, best, order) = (next, tree, moved);
        }
    }
    Ok(best)
}
