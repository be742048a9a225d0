//! The choice of a root among the completion times of all roots.

use crate::ConstructionError;
use crate::error::check_rooted;
use tuwtree_model::{Ports, Problem, Rank, Root, Time, TimeError, Tree, completion_time};

/// The root with the least completion time; of several, the one of least rank.
///
/// # Panics
/// If there are no times.
pub fn best_root(times: &[Time]) -> Rank {
    let (root, _) = times
        .iter()
        .enumerate()
        .min_by_key(|&(rank, &time)| (time, rank))
        .expect("a problem has at least one rank");
    root
}

/// The root with the least completion time, if any has one; among equal ones, the least rank.
///
/// # Errors
/// The first root's, if none has a time.
pub(crate) fn best_possible_root(
    times: impl IntoIterator<Item = Result<Time, TimeError>>,
) -> Result<Rank, TimeError> {
    let mut best: Option<(Time, Rank)> = None;
    let mut first_error = None;
    for (rank, time) in times.into_iter().enumerate() {
        match time {
            Ok(time) if best.is_none_or(|(least, _)| time < least) => best = Some((time, rank)),
            Ok(_) => {}
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    match (best, first_error) {
        (Some((_, rank)), _) => Ok(rank),
        (None, Some(error)) => Err(error),
        (None, None) => unreachable!("a problem has at least one process"),
    }
}

/// The most ranks that are all tried as roots of trees which take O(p^2) each.
pub(crate) const MOST_ROOTS: usize = 256;

/// The tree with the problem's root, or that of those with every root which is the fastest on one
/// port.
///
/// # Errors
/// [`ConstructionError::TooManyRoots`] for an open root and more than 256 ranks; the first root's
/// error if no root has a tree with a time.
pub(crate) fn best_of_roots(
    problem: &Problem,
    build: impl Fn(Rank) -> Result<Tree, TimeError>,
) -> Result<Tree, ConstructionError> {
    check_rooted(problem)?;
    let ranks = problem.ranks();
    let roots = match problem.root() {
        Root::Given(root) => return Ok(build(root)?),
        Root::Best | Root::None if ranks > MOST_ROOTS => {
            return Err(ConstructionError::TooManyRoots { most: MOST_ROOTS, ranks });
        }
        Root::Best | Root::None => 0..ranks,
    };
    fastest(&problem.with_ports(Ports::ONE), roots.map(build))
}

/// The tree that completes first, among those that can be built; among equal ones, the first.
///
/// # Errors
/// The first tree's error if none has a time.
///
/// # Panics
/// If there are no trees.
pub(crate) fn fastest(
    problem: &Problem,
    trees: impl Iterator<Item = Result<Tree, TimeError>>,
) -> Result<Tree, ConstructionError> {
    let mut best: Option<(Time, Tree)> = None;
    let mut first_error = None;
    for tree in trees {
        match tree.and_then(|tree| Ok((completion_time(&tree, problem)?, tree))) {
            Ok((time, tree)) if best.as_ref().is_none_or(|(least, _)| time < *least) => {
                best = Some((time, tree));
            }
            Ok(_) => {}
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    match (best, first_error) {
        (Some((_, tree)), _) => Ok(tree),
        (None, Some(error)) => Err(error.into()),
        (None, None) => unreachable!("there is a tree"),
    }
}

/// The root that the program behind the published tables chose: the **last** one that is better
/// than root 0, or root 0. For reproduction only; [`best_root`] is the answer.
///
/// # Source
/// Inferred from OPT Tables 1 to 3, linear and oblivious trees with a chosen root.
pub fn published_root(times: &[Time]) -> Rank {
    times.iter().rposition(|time| *time < times[0]).unwrap_or(0)
}
