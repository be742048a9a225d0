//! Binomial trees whose places are filled by predicted times.
//!
//! The shape is a binomial tree's: the root's children have 1, 2, 4, … ranks below and with them,
//! the last one the rest. The places are filled depth first, smaller subtrees first, and each takes
//! from the ranks that are still free the one with the least, or the greatest, predicted time of
//! its own block to or from its parent.
//!
//! # Source
//! K. Dichev, V. Rychkov, A. Lastovetsky, "Two algorithms of irregular scatter/gather operations for
//! heterogeneous platforms", EuroMPI 2010 (HET), section 2. Not ordered: a subtree's blocks are not
//! neighbours in rank, and what permuting them costs is not counted.

use crate::ConstructionError;
use crate::best_root::best_of_roots;
use crate::copy_first::copy_first;
use tuwtree_model::{Problem, Rank, Time, TimeError, Tree};

/// Choice of the free rank for the next place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Filling {
    /// The one with the least predicted time: near ones gather in one subtree.
    MinimumFirst,
    /// The one with the greatest predicted time: a parent's subtrees are balanced.
    MaximumFirst,
}

/// The binomial tree filled by the predicted times, with the problem's root or the best of up to 256.
/// Ties: the lowest rank. Each inner rank copies its own block first.
///
/// # Errors
/// [`ConstructionError::TooManyRoots`]; [`ConstructionError::Time`]: a place that no free rank has
/// a link for.
///
/// # Complexity
/// O(p^2) time for each root that is tried, O(p) space.
pub fn model_binomial(problem: &Problem, filling: Filling) -> Result<Tree, ConstructionError> {
    best_of_roots(problem, |root| filled(problem, root, filling))
}

/// The tree with this root.
fn filled(problem: &Problem, root: Rank, filling: Filling) -> Result<Tree, TimeError> {
    let ranks = problem.ranks();
    let mut free: Vec<Rank> = (0..ranks).filter(|&rank| rank != root).collect();
    let mut children = vec![Vec::new(); ranks];
    // Subtrees to be filled, the next one last: the place's parent, and the number of ranks.
    let mut pending = below(root, ranks);
    while let Some((parent, size)) = pending.pop() {
        let rank = taken(problem, parent, &mut free, filling)?;
        children[parent].push(rank);
        pending.extend(below(rank, size));
    }
    Ok(copy_first(root, &children))
}

/// The subtrees below a rank that heads `size` of them, the first to be filled last.
fn below(parent: Rank, size: usize) -> Vec<(Rank, usize)> {
    let mut left = size - 1;
    let mut subtrees = Vec::new();
    let mut next = 1;
    while left > 0 {
        let subtree = next.min(left);
        subtrees.push((parent, subtree));
        left -= subtree;
        next *= 2;
    }
    subtrees.reverse();
    subtrees
}

/// Takes the rank that the filling prefers out of the free ones, which stay in rank order.
fn taken(
    problem: &Problem,
    parent: Rank,
    free: &mut Vec<Rank>,
    filling: Filling,
) -> Result<Rank, TimeError> {
    let mut best: Option<(Time, usize)> = None;
    let mut no_link = None;
    for (index, &rank) in free.iter().enumerate() {
        let time = match problem.message(rank, parent, problem.payload().own(rank)) {
            Ok(time) => time,
            Err(error @ TimeError::NoLink { .. }) => {
                no_link = no_link.or(Some(error));
                continue;
            }
            Err(error) => return Err(error),
        };
        let better = best.is_none_or(|(known, _)| match filling {
            Filling::MinimumFirst => time < known,
            Filling::MaximumFirst => time > known,
        });
        if better {
            best = Some((time, index));
        }
    }
    match (best, no_link) {
        (Some((_, index)), _) => Ok(free.remove(index)),
        (None, Some(error)) => Err(error),
        (None, None) => unreachable!("there are as many places as processes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{BlockSizes, CostMatrix, Homogeneous, Root};

    fn rooted(problem: &Problem, root: Rank, filling: Filling) -> Result<Tree, ConstructionError> {
        model_binomial(&problem.with_root(Root::Given(root)).unwrap(), filling)
    }

    #[test]
    fn the_shape_is_binomial_and_smaller_subtrees_come_first() {
        let sizes = BlockSizes::new([9, 1, 2, 3, 4, 5, 6, 7]).unwrap();
        let problem = Problem::gather(&sizes, Homogeneous::new(1.0, 1.0, 1.0).unwrap()).unwrap();
        let tree = rooted(&problem, 0, Filling::MinimumFirst).unwrap();
        // Depth first: child 1 alone; child 2 with 3; child 4 with 5 and with 6 and 7.
        assert_eq!(tree.children(0).collect::<Vec<_>>(), [1, 2, 4]);
        assert_eq!(tree.children(2).collect::<Vec<_>>(), [3]);
        assert_eq!(tree.children(4).collect::<Vec<_>>(), [5, 6]);
        assert_eq!(tree.children(6).collect::<Vec<_>>(), [7]);
        let tree = rooted(&problem, 3, Filling::MaximumFirst).unwrap();
        assert_eq!(tree.children(3).collect::<Vec<_>>(), [0, 7, 5]);
        assert_eq!((tree.degree(3), tree.depth()), (3, 3));
    }

    #[test]
    fn places_without_a_link_are_left_to_others() {
        // 0 hears 1 and 3 only.
        let alpha = |from, to| match (from, to) {
            (2, 0) => f64::INFINITY,
            _ => 1.0,
        };
        let costs = CostMatrix::from_fn(4, alpha, |_, _| 1.0, |_| 0.0).unwrap();
        let sizes = BlockSizes::new([1, 1, 1, 1]).unwrap();
        let gather = Problem::gather(&sizes, &costs).unwrap();
        let tree = rooted(&gather, 0, Filling::MinimumFirst).unwrap();
        assert_eq!(tree.children(0).collect::<Vec<_>>(), [1, 3]);
        let scatter = Problem::scatter(&sizes, &costs).unwrap();
        let tree = rooted(&scatter, 0, Filling::MinimumFirst);
        assert_eq!(tree.unwrap().children(0).collect::<Vec<_>>(), [1, 2]);
        let lonely = CostMatrix::from_fn(4, |_, _| f64::INFINITY, |_, _| 1.0, |_| 0.0).unwrap();
        let error =
            rooted(&gather.with_costs(&lonely).unwrap(), 0, Filling::MaximumFirst).unwrap_err();
        assert_eq!(error.to_string(), "there is no link from rank 1 to rank 0");
    }
}
