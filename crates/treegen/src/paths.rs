//! Trees of fastest paths: for networks in which not every pair of ranks has a link.
//!
//! Other constructions decide the shape first and need links for it; this one follows the links, and
//! so has a tree wherever there is one.
//!
//! # Source
//! E. W. Dijkstra, "A note on two problems in connexion with graphs", Numerische Mathematik 1, 1959.

use crate::ConstructionError;
use crate::best_root::best_of_roots;
use crate::copy_first::copy_first;
use tuwtree_model::{CostModel, Problem, Rank, Time, TimeError, Tree};

/// The tree along which each rank's own data alone would reach the root fastest (in a scatter or
/// broadcast, would come from it fastest), with the problem's root or the best of up to 256. Ties: the
/// lowest rank. Each inner rank copies its own block first, then receives from the child with the
/// fewest ranks below it first.
///
/// Where links are missing, it has a tree if any tree moves the data: ranks without data that no
/// path leads from are children of the root, to which they send nothing.
///
/// # Errors
/// [`ConstructionError::TooManyRoots`]; [`ConstructionError::Time`]: a rank with data that no
/// path of links leads from (to), or a time that cannot be stated.
///
/// # Complexity
/// O(p^2) time for each root that is tried, O(p) space.
///
/// # Example
/// 2 can send to 1 only, and 1 to 0.
/// ```
/// use tuwtree_model::{BlockSizes, CostMatrix, Problem, Root};
/// let alpha = |from, to| match (from, to) {
///     (2, 1) | (1, 0) => 1.0,
///     _ => f64::INFINITY,
/// };
/// let costs = CostMatrix::from_fn(3, alpha, |_, _| 1.0, |_| 0.0).unwrap();
/// let problem = Problem::gather(&BlockSizes::new([1, 1, 1]).unwrap(), &costs).unwrap();
/// let tree = tuwtree_treegen::paths(&problem).unwrap();
/// assert_eq!((tree.root(), tree.parent(1), tree.parent(2)), (0, Some(0), Some(1)));
/// ```
pub fn paths(problem: &Problem) -> Result<Tree, ConstructionError> {
    best_of_roots(problem, |root| from(problem, root))
}

/// The tree with this root.
fn from(problem: &Problem, root: Rank) -> Result<Tree, TimeError> {
    let ranks = problem.ranks();
    let own = |rank: Rank| problem.payload().own(rank);
    // For each rank the fastest path that is known: its time, and where it goes first.
    let mut known: Vec<Option<(Time, Rank)>> = vec![None; ranks];
    known[root] = Some((Time::ZERO, root));
    let mut reached = Vec::with_capacity(ranks);
    let mut waiting: Vec<Rank> = (0..ranks).collect();
    let mut missing = None;
    loop {
        let times = waiting.iter().enumerate();
        let nearest = times
            .filter_map(|(place, &rank)| known[rank].map(|(time, _)| (time, rank, place)))
            .min();
        let Some((time, next, place)) = nearest else { break };
        waiting.swap_remove(place);
        reached.push(next);
        for &rank in &waiting {
            let step = match problem.message(rank, next, own(rank).max(1)) {
                Ok(step) => step,
                Err(error @ TimeError::NoLink { .. }) => {
                    missing = missing.or(Some(error));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let there = problem.costs().sum(time, step)?;
            if known[rank].is_none_or(|(least, _)| there < least) {
                known[rank] = Some((there, next));
            }
        }
    }
    if let (true, Some(error)) = (waiting.iter().any(|&rank| own(rank) > 0), missing) {
        return Err(error);
    }
    let mut children = vec![Vec::new(); ranks];
    let mut below = vec![1_usize; ranks];
    for &rank in reached.iter().skip(1).rev() {
        let (_, parent) = known[rank].expect("it was reached");
        below[parent] += below[rank];
        children[parent].push(rank);
    }
    children[root].extend(waiting);
    for children in &mut children {
        children.sort_by_key(|&child| (below[child], child));
    }
    Ok(copy_first(root, &children))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{BlockSizes, CostMatrix, Homogeneous, Root, completion_time};

    /// Costs with these links only.
    fn network(ranks: usize, links: &[(Rank, Rank)]) -> CostMatrix {
        let alpha = |from, to| if links.contains(&(from, to)) { 1.0 } else { f64::INFINITY };
        CostMatrix::from_fn(ranks, alpha, |_, _| 1.0, |_| 0.0).unwrap()
    }

    #[test]
    fn where_no_ordered_tree_has_the_links_another_is_found() {
        let costs = network(4, &[(0, 2), (2, 1), (1, 3)]);
        let sizes = BlockSizes::new([1; 4]).unwrap();
        let problem = Problem::gather(&sizes, &costs).unwrap();
        let tree = paths(&problem).unwrap();
        assert_eq!((tree.root(), tree.depth()), (3, 3));
        // 0 -> 2: 2, 2 -> 1: 3, 1 -> 3: 4.
        assert_eq!(completion_time(&tree, &problem).unwrap().units(), 9.0);
        let scatter = Problem::scatter(&sizes, &costs).unwrap();
        assert_eq!(paths(&scatter).unwrap().root(), 0);
        let wrong = problem.with_root(Root::Given(0)).unwrap();
        assert!(matches!(paths(&wrong), Err(ConstructionError::Time(_))));
    }

    #[test]
    fn ranks_without_data_and_links_are_children_of_the_root() {
        let costs = network(4, &[(1, 2)]);
        let sizes = BlockSizes::new([0, 5, 5, 0]).unwrap();
        let problem = Problem::gather(&sizes, &costs).unwrap();
        let tree = paths(&problem).unwrap();
        assert_eq!((tree.root(), tree.degree(2)), (2, 3));
        assert_eq!(completion_time(&tree, &problem).unwrap().units(), 6.0);
    }

    #[test]
    fn equal_costs_give_a_star() {
        let sizes = BlockSizes::new([1, 2, 3]).unwrap();
        let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
        let tree = paths(&Problem::gather(&sizes, costs).unwrap()).unwrap();
        assert_eq!(tree.depth(), 1);
    }
}
