//! Trees with graceful degradation whose sets are weighed by predicted times.
//!
//! The others are sorted by the predicted time of their own block to or from the root, slowest
//! first, and split into sets, each as slow as all before it. Of each set, the rank that takes the
//! least time for all blocks of the set becomes a child; its set is treated the same way, with times
//! to or from it.
//!
//! # Source
//! K. Dichev, V. Rychkov, A. Lastovetsky, "Two algorithms of irregular scatter/gather operations for
//! heterogeneous platforms", EuroMPI 2010 (HET), section 2, "Model-based Träff algorithm". The paper
//! says that the sets are balanced, not how; they are split as Träff's are. Not ordered: what
//! permuting the blocks costs is not counted.

use crate::ConstructionError;
use crate::best_root::best_of_roots;
use crate::copy_first::copy_first;
use crate::sets::set_sizes;
use tuwtree_model::{Payload, Problem, Rank, Time, TimeError, Tree};

/// The tree of sets of growing predicted time, with the problem's root or the best of up to 256. Ties:
/// the lowest rank first. Each inner rank copies its own block first.
///
/// # Errors
/// [`ConstructionError::TooManyRoots`]; [`ConstructionError::Time`]: a rank with data that has no
/// link with the head of its set, whether there are other trees or not.
///
/// # Complexity
/// O(p log^2 p) time where costs are alike, O(p^2 log p) at worst, for each root that is tried; O(p)
/// space.
pub fn model_graceful(problem: &Problem) -> Result<Tree, ConstructionError> {
    best_of_roots(problem, |root| of_sets(problem, root))
}

/// The tree with this root.
fn of_sets(problem: &Problem, root: Rank) -> Result<Tree, TimeError> {
    let ranks = problem.ranks();
    let mut children = vec![Vec::new(); ranks];
    let others = (0..ranks).filter(|&rank| rank != root).collect();
    let mut pending: Vec<(Rank, Vec<Rank>)> = vec![(root, others)];
    while let Some((parent, below)) = pending.pop() {
        let mut timed = Vec::with_capacity(below.len());
        for rank in below {
            let time = problem.message(rank, parent, problem.payload().own(rank))?;
            timed.push((std::cmp::Reverse(time), rank));
        }
        timed.sort_unstable();
        let mut rest = &timed[..];
        for size in set_sizes(timed.iter().map(|(time, _)| time.0.units()), 0.0) {
            let (set, later) = rest.split_at(size);
            rest = later;
            let set: Vec<Rank> = set.iter().map(|&(_, rank)| rank).collect();
            let head = head(problem, &set, parent)?;
            children[parent].push(head);
            let set: Vec<Rank> = set.into_iter().filter(|&rank| rank != head).collect();
            if !set.is_empty() {
                pending.push((head, set));
            }
        }
    }
    Ok(copy_first(root, &children))
}

/// The rank of a set that takes the least time for all data of the set.
fn head(problem: &Problem, set: &[Rank], parent: Rank) -> Result<Rank, TimeError> {
    let bytes = match problem.payload() {
        Payload::Blocks(sizes) => set.iter().map(|&rank| sizes.block(rank)).sum(),
        Payload::Vector(vector) => vector.bytes,
        Payload::Groups(sizes) => set.iter().map(|&rank| sizes.blocks().block(rank)).sum(),
        Payload::Messages(sizes) => set.iter().map(|&rank| sizes.row(rank)).sum(),
    };
    let mut best: Option<(Time, Rank)> = None;
    for &rank in set {
        let time = problem.message(rank, parent, bytes)?;
        best = best.into_iter().chain([(time, rank)]).min();
    }
    Ok(best.expect("sets are not empty").1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{
        BlockSizes, Homogeneous, Level, Piece, PiecewiseLinear, Placement, Root, StatedCosts,
    };

    fn with_root_0(sizes: &BlockSizes, costs: impl Into<StatedCosts>) -> Tree {
        let problem = Problem::gather(sizes, costs).unwrap();
        model_graceful(&problem.with_root(Root::Given(0)).unwrap()).unwrap()
    }

    #[test]
    fn equal_costs_give_sets_that_double() {
        let sizes = BlockSizes::new([5; 9]).unwrap();
        let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
        let tree = with_root_0(&sizes, costs);
        assert_eq!(tree.children(0).collect::<Vec<_>>(), [1, 2, 3, 5]);
        assert_eq!(tree.degree(5), 3);
    }

    #[test]
    fn far_ranks_share_one_long_message() {
        let level = |name: &str, alpha| Level {
            name: name.into(),
            members: 4,
            links: PiecewiseLinear::new(vec![Piece::one_port(0, alpha, 1.0)]).unwrap().into(),
        };
        let levels = vec![level("node", 1.0), level("grid", 100.0)];
        let costs = &tuwtree_model::Hierarchy::new(levels, Placement::Block, 0.0).unwrap();
        let sizes = BlockSizes::new([1; 8]).unwrap();
        let tree = with_root_0(&sizes, costs);
        // The far ones are the slowest: 4, 5, and 6 and 7 together; the near ones come last.
        assert_eq!(tree.children(0).collect::<Vec<_>>(), [4, 5, 6, 1]);
    }
}
