//! The data that operations move.

use super::{Operation, PayloadKind};
use crate::{BlockSizes, ClosedSet, GroupSizes, MessageSizes, Rank};

/// One vector at each of some processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    /// The number of processors.
    pub processors: usize,
    /// The vector's size in bytes.
    pub bytes: u64,
}

/// The data that an operation moves: without the operation, and hence without a direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Gather, scatter, allgather and reduce-scatter: a block for each processor.
    Blocks(BlockSizes),
    /// Broadcast, reduction and allreduce: one vector of as many bytes for each of the processors.
    Vector(Vector),
    /// Alltoall: a message from each processor to each.
    Messages(MessageSizes),
    /// Intergroup allgather: a block for each processor of two groups.
    Groups(GroupSizes),
}

/// Blocks for a broadcast or reduction, or one vector for a gather or scatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} needs {}", operation.name(), match operation.payload_kind() { PayloadKind::Blocks => "block sizes, not one vector size", PayloadKind::Vector => "one vector size, not block sizes", PayloadKind::Messages => "the size of each message", PayloadKind::Groups => "the block sizes of two groups" })]
pub struct WrongPayload {
    /// The operation that is performed.
    pub operation: Operation,
}

impl Payload {
    /// What kind of data it is.
    pub fn kind(&self) -> PayloadKind {
        match self {
            Payload::Blocks(_) => PayloadKind::Blocks,
            Payload::Vector(_) => PayloadKind::Vector,
            Payload::Messages(_) => PayloadKind::Messages,
            Payload::Groups(_) => PayloadKind::Groups,
        }
    }

    /// The number of processors.
    pub fn processors(&self) -> usize {
        match self {
            Payload::Blocks(sizes) => sizes.processors(),
            Payload::Vector(vector) => vector.processors,
            Payload::Messages(sizes) => sizes.processors(),
            Payload::Groups(sizes) => sizes.blocks().processors(),
        }
    }

    /// All bytes that there are: the sum of the blocks or messages, or the vector.
    pub fn total(&self) -> u64 {
        match self {
            Payload::Blocks(sizes) => sizes.total(),
            Payload::Vector(vector) => vector.bytes,
            Payload::Messages(sizes) => sizes.total(),
            Payload::Groups(sizes) => sizes.blocks().total(),
        }
    }

    /// The size of a processor's own data: its block, the vector, or the messages that it has.
    pub fn own(&self, rank: Rank) -> u64 {
        match self {
            Payload::Blocks(sizes) => sizes.block(rank),
            Payload::Vector(vector) => vector.bytes,
            Payload::Messages(sizes) => sizes.row(rank),
            Payload::Groups(sizes) => sizes.blocks().block(rank),
        }
    }
}

impl From<BlockSizes> for Payload {
    fn from(sizes: BlockSizes) -> Payload {
        Payload::Blocks(sizes)
    }
}

impl From<MessageSizes> for Payload {
    fn from(sizes: MessageSizes) -> Payload {
        Payload::Messages(sizes)
    }
}

impl From<GroupSizes> for Payload {
    fn from(sizes: GroupSizes) -> Payload {
        Payload::Groups(sizes)
    }
}

impl From<Vector> for Payload {
    fn from(vector: Vector) -> Payload {
        Payload::Vector(vector)
    }
}
