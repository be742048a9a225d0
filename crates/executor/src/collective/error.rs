//! Errors of collective operations.

use crate::tree::Fault;
use std::ffi::c_int;
use tuwtree_binding::{ArgumentError, MpiError, OutOfMemory, raw};
use tuwtree_model::Rank;

/// Reason for which a collective operation fails at a rank.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CollectiveError {
    /// An MPI call failed.
    #[error(transparent)]
    Mpi(#[from] MpiError),
    /// Wrong arguments here.
    #[error("rank {rank}: {error}")]
    Argument {
        /// This rank.
        rank: Rank,
        /// The fault.
        error: ArgumentError,
    },
    /// Ranks could not build a tree.
    #[error("{0}")]
    Fault(#[from] Fault),
    /// The ranks' stated sizes differ from those that the root expects.
    #[error("{}", sizes_text(*.first, *.last, *.stated, *.expected))]
    Sizes {
        /// The first of the ranks.
        first: Rank,
        /// The last.
        last: Rank,
        /// The sum of their blocks' sizes, as they state them, in bytes.
        stated: u64,
        /// The sum as the root expects it.
        expected: u64,
    },
    /// A message of another size than expected.
    #[error("rank {from} sent {bytes} bytes to rank {to}, which expects {expected}")]
    Message {
        /// Sender.
        from: Rank,
        /// Receiver.
        to: Rank,
        /// Its size.
        bytes: u64,
        /// The size expected.
        expected: u64,
    },
    /// No data came, because something is wrong at the root or on the way from it.
    #[error(
        "rank {rank} got nothing: the root's sizes are not those of others, or arguments are invalid"
    )]
    GivenUp {
        /// This rank.
        rank: Rank,
    },
    /// No memory for data that is passed on.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// Something is wrong with settings or files.
    #[error("{0}")]
    Refused(String),
    /// The error of the first rank that has one, told to all.
    #[error("{text}")]
    Agreed {
        /// That rank.
        first: Rank,
        /// Its class.
        class: c_int,
        /// Its text.
        text: String,
    },
    /// Ranks agree at different calls.
    #[error(
        "an algorithm is set for some ranks and not for others: set TUWTREE_ALGORITHM and its like for all (Open MPI \
         passes variables to other nodes with mpirun -x TUWTREE_ALGORITHM only)"
    )]
    Environment,
    /// An operation that is under way is started, or started anew after a failure.
    #[error("the operation is {0}")]
    NotStartable(&'static str),
}

fn sizes_text(first: Rank, last: Rank, stated: u64, expected: u64) -> String {
    let (who, state, whose) = match first == last {
        true => (format!("rank {first}"), "states", "from it"),
        false => (format!("ranks {first} to {last} together"), "state", "from them"),
    };
    match stated == expected {
        false => format!("{who} {state} {stated} bytes; the root expects {expected} {whose}"),
        true => {
            format!("{who} {state} {stated} bytes as the root expects, but not in the same blocks")
        }
    }
}

impl CollectiveError {
    /// The rank that prints the error, if all have it.
    pub fn speaker(&self) -> Option<Rank> {
        match self {
            CollectiveError::Agreed { first, .. } => Some(*first),
            _ => None,
        }
    }

    /// The error of wrong settings, which the first rank has read.
    pub(super) fn of_settings(text: String) -> CollectiveError {
        CollectiveError::Agreed { first: 0, class: raw::MPI_ERR_ARG as c_int, text }
    }

    /// The class of MPI's errors that this belongs to.
    pub fn class(&self) -> c_int {
        let class = match self {
            CollectiveError::Mpi(error) => return error.class(),
            CollectiveError::Argument { error, .. } => return error.class(),
            CollectiveError::Agreed { class, .. } => return *class,
            CollectiveError::Sizes { stated, expected, .. } if stated > expected => {
                raw::MPI_ERR_TRUNCATE
            }
            CollectiveError::Message { bytes, expected, .. } if bytes > expected => {
                raw::MPI_ERR_TRUNCATE
            }
            CollectiveError::Sizes { .. } | CollectiveError::Message { .. } => raw::MPI_ERR_COUNT,
            CollectiveError::Fault(Fault::Differ { .. }) => raw::MPI_ERR_ROOT,
            CollectiveError::Fault(Fault::TooLarge { .. }) => raw::MPI_ERR_COUNT,
            CollectiveError::Memory(_) => raw::MPI_ERR_NO_MEM,
            CollectiveError::Fault(_)
            | CollectiveError::GivenUp { .. }
            | CollectiveError::Environment
            | CollectiveError::Refused(_) => raw::MPI_ERR_OTHER,
            CollectiveError::NotStartable(_) => raw::MPI_ERR_REQUEST,
        };
        class as c_int
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_differ_are_told_with_their_ranks() {
        let error = CollectiveError::Sizes { first: 3, last: 3, stated: 12, expected: 8 };
        assert_eq!(error.to_string(), "rank 3 states 12 bytes; the root expects 8 from it");
        assert_eq!(error.class(), raw::MPI_ERR_TRUNCATE as c_int);
        let error = CollectiveError::Sizes { first: 2, last: 3, stated: 8, expected: 8 };
        assert!(error.to_string().ends_with("as the root expects, but not in the same blocks"));
    }
}
