//! Errors of binding and performing a part.

use tuwtree_binding::{CutElement, Failure, MpiError, OutOfMemory, PlaceError};
use tuwtree_model::{ClosedSet, Operation, Rank};
use tuwtree_schedule::Buffer;

/// Reason for which a part cannot be bound to memory, or performed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExecutionError {
    /// The part is another rank's.
    #[error(
        "the part of rank {} of {}, performed by rank {} of {}", part.0, part.1, communicator.0, communicator.1
    )]
    OtherCommunicator {
        /// The part's rank, and its number of ranks.
        part: (Rank, usize),
        /// The communicator's.
        communicator: (Rank, usize),
    },
    /// A buffer of another size.
    #[error("rank {rank}: the {} has {bytes} bytes of data; the part needs {needed}", buffer.name())]
    BufferSize {
        /// The rank.
        rank: Rank,
        /// The buffer.
        buffer: Buffer,
        /// Its size.
        bytes: u64,
        /// The size that the part needs.
        needed: u64,
    },
    /// The library's own call of an operation without a root.
    #[error("{} has no root: of places, the library performs gathers, scatters, broadcasts and reductions", operation.name())]
    Rootless {
        /// The operation.
        operation: Operation,
    },
    /// Own data in place at a rank that has no place for it.
    #[error(
        "rank {rank}: data in place; only the root of a gather, scatter or reduction can have it there, with a block for each rank, its own of {own_bytes} bytes"
    )]
    NoPlace {
        /// The rank.
        rank: Rank,
        /// The size of its own data.
        own_bytes: u64,
    },
    /// Scatter in place whose root writes its own input.
    #[error(
        "rank {rank}, action {action}: the output is written, but it is in the input's place, which is not"
    )]
    WritesInPlace {
        /// The rank.
        rank: Rank,
        /// The index of the action.
        action: usize,
    },
    /// A reduction of nothing that is known, or something to reduce without a reduction.
    #[error("a {} {} elements and an operator", operation.name(), if operation.is_reduction() { "needs" } else { "has no" })]
    Reduction {
        /// The operation.
        operation: Operation,
    },
    /// A reduction of data with gaps.
    #[error("rank {rank}: a reduction takes elements without gaps, one after the other")]
    NotPacked {
        /// The rank.
        rank: Rank,
    },
    /// An element in two messages.
    #[error("rank {rank}, action {action}: {fault}")]
    Cut {
        /// The rank.
        rank: Rank,
        /// The index of the action.
        action: usize,
        /// The cut element.
        fault: CutElement,
    },
    /// More messages between two ranks than MPI has tags for.
    #[error(
        "rank {rank} has {messages} messages with rank {peer} in one direction; this MPI library has tags for {tags}"
    )]
    TooManyMessages {
        /// The rank.
        rank: Rank,
        /// The peer.
        peer: Rank,
        /// Number of messages, at least.
        messages: u64,
        /// The number of tags.
        tags: u64,
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
    /// Memory or a datatype.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// No memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// An MPI call failed.
    #[error(transparent)]
    Mpi(#[from] MpiError),
    /// Started, or touched, while it is under way.
    #[error("the operation is under way; it is to be waited for first")]
    UnderWay,
    /// Used after something has failed.
    #[error("the operation has failed before, and cannot be used any more")]
    Failed,
    /// Bytes that a buffer does not have, or that are the user's own.
    #[error("{bytes} bytes at offset {offset} are not in the memory that belongs to the {}", buffer.name())]
    NotOurs {
        /// The buffer.
        buffer: Buffer,
        /// Start of the bytes.
        offset: u64,
        /// Number of bytes.
        bytes: u64,
    },
}

impl ExecutionError {
    /// The error of a message at rank `to`.
    pub(crate) fn of_message(failure: Failure, to: Rank) -> ExecutionError {
        match failure {
            Failure::Mpi(error) => ExecutionError::Mpi(error),
            Failure::Size { from, bytes, expected } => {
                ExecutionError::Message { from, to, bytes, expected }
            }
        }
    }
}
