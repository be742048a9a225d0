//! The linear tree: a star, as in every MPI library's `MPI_Gatherv`.

use crate::best_root::best_possible_root;
use tuwtree_model::{
    BlockSizes, Collective, CostModel, Homogeneous, Rank, Step, Time, TimeError, Tree, TreeError,
};

/// The star: the root receives from all others in rank order and copies its own block at its place.
///
/// # Errors
/// [`TreeError`]: no processors, too many, or a root out of range.
///
/// # Complexity
/// O(p).
///
/// # Source
/// OPT section 5.1, "Linear". It knows neither sizes nor costs.
pub fn linear(processors: usize, root: Rank) -> Result<Tree, TreeError> {
    Tree::check_root(processors, root)?;
    let steps: Vec<(Rank, Step)> = (0..processors)
        .filter(|_| processors > 1)
        .map(|rank| (root, if rank == root { Step::Copy } else { Step::Receive(rank) }))
        .collect();
    Tree::new(processors, root, &steps)
}

/// The root with which the linear tree completes first, whatever the costs; of several, the one of
/// least rank.
///
/// # Errors
/// [`TimeError`] if there is no root with a time: one that has a link to everybody.
///
/// # Complexity
/// O(p^2) time; [`linear_times`] is faster for homogeneous costs.
pub fn linear_root<'a>(
    problem: impl Into<Collective<'a>>,
    costs: &impl CostModel,
) -> Result<Rank, TimeError> {
    let problem = problem.into();
    let processors = problem.processors();
    // In the order of the tree's steps, so that it is the tree's time in floating point, too.
    let time = |root: Rank| {
        (0..processors).filter(|_| processors > 1).try_fold(Time::ZERO, |clock, rank| {
            let span = match rank == root {
                true => costs.copy_at(root, problem.copied(root))?,
                false => {
                    let (from, to) = problem.ends(rank, root);
                    costs.transmission_between(from, to, problem.segment(rank, rank))?
                }
            };
            costs.sum(clock, span)
        })
    };
    best_possible_root((0..processors).map(time))
}

/// The completion time of the linear tree for every root.
///
/// # Errors
/// [`TimeError`] if one of them cannot be stated.
///
/// # Complexity
/// O(p) time and space for all `p` roots together.
pub fn linear_times(sizes: &BlockSizes, costs: &Homogeneous) -> Result<Vec<Time>, TimeError> {
    let processors = sizes.processors();
    if processors == 1 {
        return Ok(vec![Time::ZERO]);
    }
    let mut times = vec![Time::ZERO; processors];
    let mut before = Time::ZERO;
    for (rank, bytes) in sizes.iter().enumerate() {
        times[rank] = costs.after_copy(before, bytes)?;
        before = costs.plus(before, costs.transmission(bytes)?)?;
    }
    let mut after = Time::ZERO;
    for rank in (0..processors).rev() {
        times[rank] = costs.plus(times[rank], after)?;
        after = costs.plus(after, costs.transmission(sizes.block(rank))?)?;
    }
    Ok(times)
}
