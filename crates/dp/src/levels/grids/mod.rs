//! Near-optimal ordered trees on machines with levels, for many ranks.
//!
//! [`optimal`](super::optimal) looks at all `p^2 / 2` ranges of ranks. Here long ranges may begin and end at some
//! boundaries only, the fewer, the more the range weighs; of these, all are looked at, with all splits
//! between such boundaries, by the same recurrence.
//!
//! ```text
//!  scale 0   | | | | | | | | | | | | | | | | | | | | | | | | |      ranges of up to `reach` units
//!  scale 1   |   |   |   |   | | |   |   |   |   |   |   |          up to 2 * reach
//!  scale 2   |       |       | | |       |       |                  up to 4 * reach
//!                              ^ pinned: beside a root, at every scale
//! ```
//!
//! A rank's weight is the least time of its own message. A tree of cells determines the kept boundaries: a range is
//! split at its boundaries of the highest level, there nearest to half of its weight, down to ranks; scale `s` keeps
//! the splits of cells above `2^s` units of weight. The boundaries of a coarse scale are therefore those of nodes and
//! islands, as far as these go.
//!
//! The tree found then tells where a finer choice is worth it: at each boundary that it uses, the nearest
//! ones of three finer scales are kept at its scale, too, and all is done again. Since nothing is taken away, the
//! tree before is still among those looked at: no pass is worse than the one before.
//!
//! # What this module does not do
//! Nearness to the optimum is unproven; with unlimited reach the trees are optimal. `docs/levels.md` has measurements.

mod costs;
mod joins;
mod kept;
mod table;
#[cfg(test)]
mod tests;
mod tree;

use super::boundaries::Boundaries;
use crate::optimum::lone_rank;
use crate::progress::Meter;
use crate::{DpError, Optimum, Progress};
use costs::Costs;
use kept::KeptBoundaries;
use table::{MOST_TYPES, RangeTable, types};
use tuwtree_model::{Problem, completion_time};

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridReach {
    /// How many times as much as the cells of a scale its ranges may weigh; at least 2.
    pub reach: f64,
    /// How often boundaries are refined where the tree uses them.
    pub refinements: usize,
    /// Whether what comes from several nodes is not sent within a node: as a rule one rank of a node then
    /// receives from others. To be taken where the ranks of a node share a wire.
    pub leaders_only: bool,
}

impl GridReach {
    /// What takes about a second for up to 10,000 ranks, and some seconds for 100,000.
    pub fn for_ranks(ranks: usize) -> GridReach {
        let (reach, refinements) = match ranks {
            0..=3_000 => (32.0, 2),
            3_001..=20_000 => (16.0, 1),
            _ => (12.0, 0),
        };
        GridReach { reach, refinements, leaders_only: false }
    }
}

/// A near-optimal copy-first tree on a machine with levels whose groups are adjacent ranks, for gather or
/// scatter through one port; its value is its completion time.
///
/// # Errors
/// [`DpError::Rootless`], [`DpError::NeedsBlocks`], [`DpError::NotHierarchical`], [`DpError::NotContiguous`];
/// [`DpError::TooLarge`]; [`DpError::OutOfMemory`], [`DpError::Cancelled`].
///
/// # Complexity
/// Nearly O(p reach^2 h^2) time and O(p reach h) space, for each refinement.
pub fn near_optimal(
    problem: &Problem,
    grid: GridReach,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    let (sizes, machine) = super::parts(problem)?;
    let ranks = problem.ranks();
    let boundaries = Boundaries::new(machine, ranks)?;
    if ranks == 1 {
        return Ok(lone_rank());
    }
    assert!(types(&boundaries) <= MOST_TYPES, "machines have few levels");
    let costs = Costs::new(machine, sizes, &boundaries, grid.leaders_only);
    let root = problem.root().given();
    let mut kept = KeptBoundaries::new(&costs, &boundaries, grid.reach.max(2.0));
    match root {
        Some(root) => kept.pin(&boundaries, root),
        None => kept.pin(&boundaries, kept.middle()),
    }
    let passes = 1 + grid.refinements;
    let mut meter = Meter::new(progress, passes * kept.scales());
    let mut best: Option<Optimum> = None;
    for pass in 0..passes {
        let table = RangeTable::fill((&costs, &boundaries), &kept, root, &mut meter)?;
        let found = table.tree();
        let bounds: Vec<_> = table.scales.into_iter().map(|scale| scale.bounds).collect();
        if pass + 1 < passes {
            kept.refine(&found.used, &bounds);
        }
        let value = completion_time(&found.tree, problem);
        let value = value.map_err(|_| DpError::TooLarge { total: sizes.total() })?.units();
        if best.as_ref().is_none_or(|best| value < best.value) {
            best = Some(Optimum { tree: found.tree, value });
        }
    }
    Ok(best.expect("there is at least one pass"))
}
