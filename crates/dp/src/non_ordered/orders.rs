//! A problem whose ranks are put into other orders, and the best ordered tree for each.
//!
//! With linear costs that all pairs share, an order is that of the blocks, and the fast programs find its tree. With
//! any other costs a rank takes its links and its copies along: the ranks at the places of an order pay their own costs
//! anywhere. The programs for tables by size, for levels and for pairs then find its tree, from the costs as they are.
//!
//! ```text
//! costs                              trees for an order           time
//! linear, shared by all pairs        consecutive                  as [`optimal`]
//! by size, shared by all pairs       consecutive, or copy-first   O(p^3) times the distinct copies, or O(p^3)
//! levels, groups of adjacent places  copy-first                   O(p^3)
//! others                             copy-first                   O(p^4), on `h` levels O(p^4 h)
//! ```

use super::arrangement::{Arrangement, by_falling_blocks};
use crate::blocks::{Blocks, shares_one_law};
use crate::per_pair::optimal_copying_first;
use crate::wider::{self, Class, LawBySize};
use crate::{DpError, Optimum, Progress, levels, optimal};
use tuwtree_model::{BlockSizes, Ports, Problem, Rank, Root, largest_block};

/// Source of orders, by costs.
pub(super) enum Orders<'p> {
    /// Linear costs that all pairs share. With gamma <= beta empty blocks do not matter, and have no places.
    Shared(Blocks<'p>),
    /// Any costs, on one port. A rank without data may still relay.
    Any(Problem),
}

impl<'p> Orders<'p> {
    /// The orders of a problem's ranks.
    ///
    /// # Errors
    /// [`DpError::Rootless`], [`DpError::NeedsBlocks`].
    pub(super) fn of(problem: &'p Problem) -> Result<Orders<'p>, DpError> {
        let operation = problem.operation();
        if !operation.is_rooted() {
            return Err(DpError::Rootless { operation });
        }
        match Blocks::overlapping_or_not(problem) {
            Ok(blocks) => Ok(Orders::Shared(blocks)),
            Err(error @ DpError::NeedsBlocks { .. }) => Err(error),
            Err(_) => Ok(Orders::Any(problem.with_ports(Ports::ONE))),
        }
    }

    /// The problem whose completion times trees are compared by.
    pub(super) fn judged(&self) -> Problem {
        match self {
            Orders::Shared(blocks) => blocks.gathered(),
            Orders::Any(problem) => problem.clone(),
        }
    }

    pub(super) fn sizes(&self) -> &BlockSizes {
        match self {
            Orders::Shared(blocks) => blocks.sizes,
            Orders::Any(problem) => blocks_of(problem),
        }
    }

    /// The root that was asked for.
    pub(super) fn root(&self) -> Root {
        match self {
            Orders::Shared(blocks) => blocks.root,
            Orders::Any(problem) => problem.root(),
        }
    }

    /// The given root, or one with a largest block.
    pub(super) fn likely_root(&self) -> Rank {
        self.root().given().unwrap_or_else(|| largest_block(self.sizes()))
    }

    /// Ranks around the likely root, largest block first, of equal ones the least rank.
    pub(super) fn others(&self) -> Vec<Rank> {
        let root = self.likely_root();
        match self {
            Orders::Shared(blocks) => {
                by_falling_blocks(blocks.sizes, |rank| rank != root && blocks.sizes.block(rank) > 0)
            }
            Orders::Any(problem) => by_falling_blocks(blocks_of(problem), |rank| rank != root),
        }
    }

    /// An optimum among the ordered trees over these ranks, in this order, with this root, which is among them if it is
    /// given; all other ranks send to the root. With one law for all pairs it is optimal among consecutive trees if
    /// this many table cells suffice.
    ///
    /// # Errors
    /// As [`optimal`]; [`DpError::NoOrderedTree`] where this order lacks links.
    pub(super) fn arranged(
        &self,
        places: &[Rank],
        root: Root,
        most_cells: u64,
        progress: &dyn Progress,
    ) -> Result<Optimum, DpError> {
        let (arrangement, found) = match self {
            Orders::Shared(blocks) => {
                let places = places.iter().copied().map(Some).collect();
                let arrangement = Arrangement::new(places, Blocks { root, ..*blocks })?;
                let found = optimal(&arrangement.problem, most_cells, progress)?;
                (arrangement, found)
            }
            Orders::Any(problem) => {
                let arrangement = Arrangement::of_ranks(places, problem, root);
                let found = optimal_at_any_costs(&arrangement.problem, None, most_cells, progress)?;
                (arrangement, found)
            }
        };
        let tree = arrangement.receivers(&found.tree, self.sizes().ranks()).tree();
        Ok(Optimum { tree, value: found.value })
    }
}

/// The blocks of a problem that has some.
fn blocks_of(problem: &Problem) -> &BlockSizes {
    problem.blocks().expect("orders are for blocks")
}

/// The best ordered tree for any costs, in which everybody copies first; a given root may be busy until
/// some time, no earlier than its copy is done.
///
/// # Errors
/// [`DpError`].
pub(super) fn optimal_at_any_costs(
    problem: &Problem,
    busy: Option<f64>,
    most_cells: u64,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    let busy = busy.zip(problem.root().given()).map(|(until, root)| (root, until));
    if shares_one_law(problem) {
        let law = LawBySize::shared(problem, blocks_of(problem));
        let (class, root) = (class_by_size(problem, most_cells), problem.root());
        let found = wider::optimal_by_size_with_busy_root(&law, class, root, busy, progress)?;
        return Ok(Optimum { tree: found.tree, value: found.time });
    }
    match levels::memory_needed(problem) {
        Ok(_) => levels::optimal_with_busy_root(problem, levels::Class::CopyFirst, busy, progress),
        Err(_) => optimal_copying_first(problem, busy, progress),
    }
}

/// Class of trees searched for an order of the ranks, if all pairs share one law by size: the widest for which this
/// many table cells suffice.
///
/// # Complexity
/// O(p log p).
pub fn class_by_size(problem: &Problem, most_cells: u64) -> Class {
    let p = problem.ranks() as u64;
    let mut blocks: Vec<u64> = problem.blocks().map_or(vec![], |sizes| sizes.iter().collect());
    blocks.sort_unstable();
    blocks.dedup();
    let splits = (p.saturating_pow(3) / 6).saturating_mul(1 + blocks.len() as u64);
    match splits / SPLITS_PER_CELL <= most_cells {
        true => Class::Consecutive,
        false => Class::CopyFirst,
    }
}

/// Splits of a plain recurrence per table cell, in time.
const SPLITS_PER_CELL: u64 = 20;
