//! Why there is no schedule.

use tuwtree_model::{BlockSizes, ClosedSet, Operation, Problem};
use tuwtree_schedule::{ScheduleError, TooManyActions};

/// Why an algorithm has no schedule for a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CollectiveError {
    /// The algorithm performs an allgather.
    #[error("it is for allgather, and not for {}", operation.name())]
    NotAllgather {
        /// The operation that is asked for.
        operation: Operation,
    },
    /// More actions or pieces than can be counted.
    #[error(transparent)]
    Size(#[from] TooManyActions),
    /// A task that is none.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
}

/// The blocks of an allgather.
pub(crate) fn blocks(problem: &Problem) -> Result<&BlockSizes, CollectiveError> {
    let operation = problem.operation();
    let blocks = problem.blocks().filter(|_| operation == Operation::Allgather);
    blocks.ok_or(CollectiveError::NotAllgather { operation })
}
