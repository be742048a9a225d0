//! Errors of non-ordered trees.

use crate::DpError;
use tuwtree_model::TimeError;

/// Reason for which a non-ordered tree was not computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NonOrderedError {
    /// The exact solver would take too long.
    #[error(
        "the exact solver would take {needed} steps; at most {allowed} are allowed (3^17 for 18 processes with distinct blocks)"
    )]
    TooMuchWork {
        /// The steps needed; `u64::MAX` if there are more.
        needed: u64,
        /// The most steps that are allowed.
        allowed: u64,
    },
    /// More ranks than the exact solver for several ports takes.
    #[error(
        "{ranks} processes; with several ports, the exact solver takes at most {}",
        super::MOST_ON_PORTS
    )]
    TooManyForPorts {
        /// Number of ranks.
        ranks: usize,
    },
    /// An ordered problem on the way has no solution.
    #[error(transparent)]
    Ordered(#[from] DpError),
    /// A tree's completion time cannot be stated.
    #[error(transparent)]
    Time(#[from] TimeError),
}
