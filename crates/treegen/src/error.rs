//! Problems without a tree.

use tuwtree_model::{BlockSizes, Operation, Problem, Rank, TimeError};

/// A problem for which a construction has no tree.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConstructionError {
    /// A transmission that the construction considers has no link or no time.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// The root is open, and too many are to be tried.
    #[error(
        "the best root is looked for among at most {most} processes at these costs, and there are \
         {ranks}; name a root"
    )]
    TooManyRoots {
        /// Among how many ranks the best root is looked for.
        most: usize,
        /// Number of ranks.
        ranks: usize,
    },
    /// The construction is made of blocks, and there are none.
    #[error(
        "it is for the blocks of a gather or scatter, and a {} has none",
        tuwtree_model::ClosedSet::name(*operation)
    )]
    NeedsBlocks {
        /// The operation that is performed.
        operation: Operation,
    },
    /// The operation has no root, and goes along no tree.
    #[error("{} has no root, and goes along no tree", tuwtree_model::ClosedSet::name(*operation))]
    Rootless {
        /// The operation that is performed.
        operation: Operation,
    },
    /// The construction is made for at most two block sizes.
    #[error(
        "rank {rank} has a block of {size} bytes, beside others of {smaller} and {larger}; at \
         most two block sizes are allowed"
    )]
    ThirdSize {
        /// The first rank with a third size.
        rank: Rank,
        /// The size of its block in bytes, which is the third.
        size: u64,
        /// The smaller of the two sizes before.
        smaller: u64,
        /// The larger of the two sizes before.
        larger: u64,
    },
}

/// Fails if the operation has no root.
pub(crate) fn check_rooted(problem: &Problem) -> Result<(), ConstructionError> {
    match problem.operation() {
        operation if operation.is_rooted() => Ok(()),
        operation => Err(ConstructionError::Rootless { operation }),
    }
}

/// The blocks of a gather or scatter.
pub(crate) fn blocks(problem: &Problem) -> Result<&BlockSizes, ConstructionError> {
    check_rooted(problem)?;
    let operation = problem.operation();
    problem.blocks().ok_or(ConstructionError::NeedsBlocks { operation })
}
