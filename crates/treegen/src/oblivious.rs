//! The oblivious binomial tree: its shape depends on the number of processors and the root only.

use crate::subcubes::{Receiver, Subcube, clock, join_subcubes};
use std::convert::Infallible;
use tuwtree_model::{BlockSizes, Homogeneous, Rank, Time, TimeError, Tree, TreeError};

/// The rank-ordered binomial tree: the subcube that holds the root receives, and of two others the
/// right one, so that each gathers at its last rank.
///
/// # Errors
/// [`TreeError`]: no processors, too many, or a root out of range.
///
/// # Complexity
/// O(p).
///
/// # Source
/// OPT section 5.1, "Oblivious"; the direction is the one of the published tables.
pub fn oblivious(processors: usize, root: Rank) -> Result<Tree, TreeError> {
    Tree::check_root(processors, root)?;
    let join = |left: &Subcube<()>, right: &Subcube<()>| {
        Ok((Receiver::holding(Some(root), left, right).unwrap_or(Receiver::Right), ()))
    };
    let Ok::<Tree, Infallible>(tree) = join_subcubes(processors, |_| (), join);
    Ok(tree)
}

/// The completion time of the oblivious tree for every root.
///
/// # Errors
/// [`TimeError`] if one of them cannot be stated.
///
/// # Complexity
/// O(p log p) time, O(p) space for all `p` roots together: a root's clock follows from that of its
/// own subcube and the time of the adjacent one, which gathers at its last rank whatever the root.
pub fn oblivious_times(sizes: &BlockSizes, costs: &Homogeneous) -> Result<Vec<Time>, TimeError> {
    let processors = sizes.processors();
    // times[r]: when r has gathered its own subcube, if it is the root.
    let mut times = vec![Time::ZERO; processors];
    let mut width = 1;
    while width < processors {
        for first in (0..processors - width).step_by(2 * width) {
            let [left, right] = [first, first + width].map(|first| {
                let last = (first + width).min(processors) - 1;
                (Subcube { first, last, root: last, state: () }, times[last])
            });
            // Each rank of the one side in turn is the root; the other side's clock is fixed.
            for (receiver, (cube, _)) in [(Receiver::Left, left), (Receiver::Right, right)] {
                for time in &mut times[cube.first..=cube.last] {
                    let (left, right) = match receiver {
                        Receiver::Left => ((&left.0, *time), (&right.0, right.1)),
                        Receiver::Right => ((&left.0, left.1), (&right.0, *time)),
                    };
                    *time = clock::joined((sizes, costs), receiver, left, right)?;
                }
            }
        }
        width *= 2;
    }
    Ok(times)
}
