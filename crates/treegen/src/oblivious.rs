//! The oblivious binomial tree: its shape depends on the number of ranks and the root only.

use crate::ConstructionError;
use crate::best_root::best_possible_root;
use crate::error::check_rooted;
use crate::join::{ReceivingSide, joined_time};
use crate::subcubes::{Subcube, holding, join_subcubes};
use std::convert::Infallible;
use tuwtree_model::{Problem, Root, Time, TimeError, Tree};

/// The rank-ordered binomial tree: the subcube that holds the root receives, and of two others the
/// right one, so that each gathers at its last rank. It depends on the number of ranks and the root
/// only; an open root is the best of all by completion time.
///
/// # Errors
/// [`ConstructionError::Time`] if the root is open, and none has a time.
///
/// # Complexity
/// O(p), with an open root O(p log p).
///
/// # Source
/// OPT section 5.1, "Oblivious"; the direction is the one of the published tables.
pub fn oblivious(problem: &Problem) -> Result<Tree, ConstructionError> {
    check_rooted(problem)?;
    let root = match problem.root() {
        Root::Given(root) => root,
        Root::Best | Root::None => best_possible_root(times(problem))?,
    };
    let join = |left: &Subcube<()>, right: &Subcube<()>| {
        Ok((holding(Some(root), left, right).unwrap_or(ReceivingSide::Right), ()))
    };
    let Ok::<Tree, Infallible>(tree) = join_subcubes(problem.ranks(), |_| (), join);
    Ok(tree)
}

/// The completion time of the oblivious tree for every root, on one port; the problem's own root does
/// not matter.
///
/// # Errors
/// [`TimeError`] if one of them cannot be stated.
///
/// # Complexity
/// O(p log p) time, O(p) space for all `p` roots together: a root's clock follows from that of its
/// own subcube and the time of the adjacent one, which gathers at its last rank whatever the root.
pub fn oblivious_times(problem: &Problem) -> Result<Vec<Time>, TimeError> {
    times(problem).into_iter().collect()
}

/// For each root its time, or why it has none.
fn times(problem: &Problem) -> Vec<Result<Time, TimeError>> {
    let ranks = problem.ranks();
    // times[r]: when r has gathered its own subcube, if it is the root.
    let mut times = vec![Ok(Time::ZERO); ranks];
    let mut width = 1;
    while width < ranks {
        for first in (0..ranks - width).step_by(2 * width) {
            let [left, right] = [first, first + width].map(|first| {
                let last = (first + width).min(ranks) - 1;
                (Subcube { first, last, root: last, state: () }, times[last])
            });
            // Each rank of the one side in turn is the root; the other side's clock is fixed.
            for (receiver, (cube, _), (other, other_ready)) in
                [(ReceivingSide::Left, left, right), (ReceivingSide::Right, right, left)]
            {
                for (root, time) in (cube.first..).zip(&mut times[cube.first..=cube.last]) {
                    let joined = |own_ready, other_ready| {
                        let own = Subcube { root, ..cube }.side(problem, own_ready);
                        let other = other.side(problem, other_ready);
                        let sides = match receiver {
                            ReceivingSide::Left => (&own, &other),
                            ReceivingSide::Right => (&other, &own),
                        };
                        joined_time(problem.operation(), problem.costs(), receiver, sides)
                    };
                    *time = match (*time, other_ready) {
                        (Ok(own), Ok(other)) => joined(own, other),
                        (Err(error), _) | (_, Err(error)) => Err(error),
                    };
                }
            }
        }
        width *= 2;
    }
    times
}
