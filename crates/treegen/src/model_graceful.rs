//! Trees with graceful degradation whose sets are weighed by predicted times.
//!
//! The others are sorted by the predicted time of their own block to or from the root, slowest
//! first, and split into sets, each as slow as all before it. Of each set, the processor that takes the
//! least time for all blocks of the set becomes a child; its set is treated the same way, with times
//! to or from it.
//!
//! # Source
//! K. Dichev, V. Rychkov, A. Lastovetsky, "Two algorithms of irregular scatter/gather operations for
//! heterogeneous platforms", EuroMPI 2010 (HET), section 2, "Model-based Träff algorithm". The paper
//! says that the sets are balanced, not how; they are split as Träff's are. Not ordered: what
//! permuting the blocks costs is not counted.

use crate::ConstructionError;
use crate::predicted::{copy_first, own, predicted};
use crate::sets::set_sizes;
use tuwtree_model::{Collective, CostModel, Rank, Time, TimeError, Tree};

/// The tree of sets of growing predicted time with this root. Ties: the lowest rank first. Each inner
/// processor copies its own block first.
///
/// # Errors
/// [`ConstructionError`]: a root out of range; a processor with data that has no link with the head
/// of its set, whether there are other trees or not.
///
/// # Complexity
/// O(p log^2 p) time where costs are alike, O(p^2 log p) at worst; O(p) space.
pub fn model_graceful<'a>(
    problem: impl Into<Collective<'a>>,
    costs: &impl CostModel,
    root: Rank,
) -> Result<Tree, ConstructionError> {
    let problem = problem.into();
    let processors = problem.processors();
    Tree::check_root(processors, root)?;
    let mut children = vec![Vec::new(); processors];
    let others = (0..processors).filter(|&rank| rank != root).collect();
    let mut pending: Vec<(Rank, Vec<Rank>)> = vec![(root, others)];
    while let Some((parent, below)) = pending.pop() {
        let mut timed = Vec::with_capacity(below.len());
        for rank in below {
            let time = predicted(problem, costs, (rank, parent), own(problem, rank))?;
            timed.push((std::cmp::Reverse(time), rank));
        }
        timed.sort_unstable();
        let mut rest = &timed[..];
        for size in set_sizes(timed.iter().map(|(time, _)| time.0.units()), 0.0) {
            let (set, later) = rest.split_at(size);
            rest = later;
            let set: Vec<Rank> = set.iter().map(|&(_, rank)| rank).collect();
            let head = head(problem, costs, &set, parent)?;
            children[parent].push(head);
            let set: Vec<Rank> = set.into_iter().filter(|&rank| rank != head).collect();
            if !set.is_empty() {
                pending.push((head, set));
            }
        }
    }
    Ok(copy_first(root, &children))
}

/// The processor of a set that takes the least time for all data of the set.
fn head(
    problem: Collective<'_>,
    costs: &impl CostModel,
    set: &[Rank],
    parent: Rank,
) -> Result<Rank, TimeError> {
    let bytes = match problem {
        Collective::Gather(sizes) | Collective::Scatter(sizes) => {
            set.iter().map(|&rank| sizes.block(rank)).sum()
        }
        Collective::Broadcast(vector) | Collective::Reduce(vector) => vector.bytes,
    };
    let mut best: Option<(Time, Rank)> = None;
    for &rank in set {
        let time = predicted(problem, costs, (rank, parent), bytes)?;
        best = best.into_iter().chain([(time, rank)]).min();
    }
    Ok(best.expect("sets are not empty").1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{BlockSizes, Homogeneous, Level, Piece, PiecewiseLinear, Placement};

    #[test]
    fn equal_costs_give_sets_that_double() {
        let sizes = BlockSizes::new([5; 9]).unwrap();
        let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
        let tree = model_graceful(&sizes, &costs, 0).unwrap();
        assert_eq!(tree.children(0).collect::<Vec<_>>(), [1, 2, 3, 5]);
        assert_eq!(tree.degree(5), 3);
    }

    #[test]
    fn far_processors_share_one_long_message() {
        let level = |name: &str, alpha| Level {
            name: name.into(),
            members: 4,
            links: PiecewiseLinear::new(vec![Piece { from_bytes: 0, alpha, beta: 1.0 }]).unwrap(),
        };
        let levels = vec![level("node", 1.0), level("grid", 100.0)];
        let costs = tuwtree_model::Hierarchy::new(levels, Placement::Block, 0.0).unwrap();
        let sizes = BlockSizes::new([1; 8]).unwrap();
        let tree = model_graceful(&sizes, &costs, 0).unwrap();
        // The far ones are the slowest: 4, 5, and 6 and 7 together; the near ones come last.
        assert_eq!(tree.children(0).collect::<Vec<_>>(), [4, 5, 6, 1]);
    }
}
