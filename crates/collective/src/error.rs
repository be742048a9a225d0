//! Problems without a schedule.

use crate::Flow;
use tuwtree_model::{
    BlockSizes, BlockSizesError, ClosedSet, GroupSizes, MessageSizes, Operation, Problem,
    ProblemError, TimeError,
};
use tuwtree_schedule::{ScheduleError, TooManyActions};

/// A problem for which an algorithm has no schedule.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CollectiveError {
    /// The algorithm performs another operation.
    #[error("it is for {}, and not for {}", needed.name(), operation.name())]
    OtherOperation {
        /// The operation that the algorithm performs.
        needed: Operation,
        /// The operation that is asked for.
        operation: Operation,
    },
    /// A radix in which there are no digits.
    #[error("the radix is {radix}; 2 and more are allowed")]
    Radix {
        /// 0 or 1.
        radix: usize,
    },
    /// A time on which a choice depends cannot be stated.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// More actions or pieces than can be counted.
    #[error(transparent)]
    Size(#[from] TooManyActions),
    /// Shares of a group that are no blocks, or a problem of a part that is none.
    #[error(transparent)]
    Shares(#[from] BlockSizesError),
    /// The problem of a group.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A task that is none.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
}

/// The blocks of an allgather.
pub(crate) fn allgathered(problem: &Problem) -> Result<&BlockSizes, CollectiveError> {
    blocks(problem, Operation::Allgather)
}

/// The blocks of a reduce-scatter.
pub(crate) fn scattered(problem: &Problem) -> Result<&BlockSizes, CollectiveError> {
    blocks(problem, Operation::ReduceScatter)
}

/// The blocks of an allgather or a reduce-scatter.
pub(crate) fn spread_or_combined(
    problem: &Problem,
) -> Result<(&BlockSizes, Flow), CollectiveError> {
    match problem.operation() {
        Operation::ReduceScatter => Ok((scattered(problem)?, Flow::Combined)),
        _ => Ok((allgathered(problem)?, Flow::Spread)),
    }
}

/// The blocks of this operation.
fn blocks(problem: &Problem, needed: Operation) -> Result<&BlockSizes, CollectiveError> {
    let operation = problem.operation();
    let blocks = problem.blocks().filter(|_| operation == needed);
    blocks.ok_or(CollectiveError::OtherOperation { needed, operation })
}

/// Fails unless the problem is one of this operation.
pub(crate) fn check_operation(problem: &Problem, needed: Operation) -> Result<(), CollectiveError> {
    match problem.operation() {
        operation if operation == needed => Ok(()),
        operation => Err(CollectiveError::OtherOperation { needed, operation }),
    }
}

/// The messages of an alltoall.
pub(crate) fn exchanged(problem: &Problem) -> Result<&MessageSizes, CollectiveError> {
    let (needed, operation) = (Operation::Alltoall, problem.operation());
    problem.messages().ok_or(CollectiveError::OtherOperation { needed, operation })
}

/// The blocks of both groups of an intergroup allgather.
pub(crate) fn grouped(problem: &Problem) -> Result<&GroupSizes, CollectiveError> {
    let (needed, operation) = (Operation::IntergroupAllgather, problem.operation());
    problem.groups().ok_or(CollectiveError::OtherOperation { needed, operation })
}

/// Fails unless there are digits in this radix.
pub(crate) fn check_radix(radix: usize) -> Result<(), CollectiveError> {
    if radix < 2 { Err(CollectiveError::Radix { radix }) } else { Ok(()) }
}
