//! A problem as the programs for homogeneous costs see it: blocks, three costs, a root.

use crate::DpError;
use tuwtree_model::{BlockSizes, Homogeneous, Problem, Rank, Root, largest_block};

/// The blocks of a gather or scatter, at costs that are the same for all pairs of ranks.
///
/// Both operations have the same trees and times; ports are left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks<'p> {
    pub(crate) sizes: &'p BlockSizes,
    pub(crate) costs: Homogeneous,
    /// A given root is one of the ranks.
    pub(crate) root: Root,
}

impl<'p> Blocks<'p> {
    /// Blocks and costs of a problem that these programs support.
    ///
    /// # Errors
    /// [`DpError::Rootless`], [`DpError::NeedsBlocks`], and those of [`homogeneous`].
    pub(crate) fn of(problem: &'p Problem) -> Result<Blocks<'p>, DpError> {
        let operation = problem.operation();
        if !operation.is_rooted() {
            return Err(DpError::Rootless { operation });
        }
        let sizes = problem.blocks().ok_or(DpError::NeedsBlocks { operation })?;
        Ok(Blocks { sizes, costs: homogeneous(problem)?, root: problem.root() })
    }

    /// Like [`of`](Self::of), for programs that also support overlapping latency.
    ///
    /// # Errors
    /// Like [`of`](Self::of), without [`DpError::Overlaps`].
    pub(crate) fn overlapping_or_not(problem: &'p Problem) -> Result<Blocks<'p>, DpError> {
        let operation = problem.operation();
        let sizes = problem.blocks().ok_or(DpError::NeedsBlocks { operation })?;
        Ok(Blocks { sizes, costs: shared(problem)?, root: problem.root() })
    }

    /// The given root, or one with a largest block: with gamma <= beta the best root of trees that
    /// need not be ordered.
    pub(crate) fn likely_root(&self) -> Rank {
        self.root.given().unwrap_or_else(|| largest_block(self.sizes))
    }

    /// The blocks as a problem: a gather, at homogeneous costs, through one port.
    pub(crate) fn gathered(&self) -> Problem {
        Problem::gather(self.sizes, self.costs)
            .and_then(|problem| problem.with_root(self.root))
            .expect("homogeneous costs are for any ranks, and the root is one of them")
    }
}

/// The costs that all pairs of ranks share.
///
/// # Errors
/// [`DpError::Costs`] if they are not linear, [`DpError::NotHomogeneous`] if they differ,
/// [`DpError::Overlaps`] if they are not those of the one-port model.
///
/// # Complexity
/// O(1) for homogeneous costs, O(p) for a hierarchy, O(p^2) for a matrix.
pub(crate) fn homogeneous(problem: &Problem) -> Result<Homogeneous, DpError> {
    let costs = shared(problem)?;
    match costs.overlaps() {
        true => Err(DpError::Overlaps),
        false => Ok(costs),
    }
}

/// True if all pairs of ranks have equal costs, of any form.
///
/// # Complexity
/// As [`homogeneous`].
pub(crate) fn shares_one_law(problem: &Problem) -> bool {
    let (costs, ranks) = (problem.costs(), problem.ranks());
    match costs.hierarchy() {
        Some(machine) => ranks == 1 || machine.only_law(ranks).is_some(),
        None => costs.homogeneous(ranks).is_some(),
    }
}

/// The costs that all pairs of ranks share, if these are linear, overlapping or not.
fn shared(problem: &Problem) -> Result<Homogeneous, DpError> {
    let costs = problem.costs();
    match costs.homogeneous(problem.ranks()) {
        Some(costs) => Ok(costs),
        None => {
            costs.check_linear()?;
            Err(DpError::NotHomogeneous)
        }
    }
}
