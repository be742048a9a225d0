//! The data that operations move.

use super::{Operation, PayloadKind};
use crate::{BlockSizes, ClosedSet, GroupSizes, MessageSizes, MessageSizesError, Rank};

/// One vector at each of some ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    /// The number of ranks.
    pub ranks: usize,
    /// The vector's size in bytes.
    pub bytes: u64,
}

/// The data that an operation moves: without the operation, and hence without a direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Gather, scatter, allgather and reduce-scatter: a block for each rank.
    Blocks(BlockSizes),
    /// Broadcast, reduction and allreduce: one vector of as many bytes for each of the ranks.
    Vector(Vector),
    /// Alltoall: a message from each rank to each.
    Messages(MessageSizes),
    /// Intergroup allgather: a block for each rank of two groups.
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
    /// Blocks as the payload of an operation that they describe: in an allreduce one vector, of all of them; in an
    /// alltoall each rank's block as its message to every rank. Other payloads are unchanged.
    ///
    /// # Errors
    /// More bytes of messages than can be counted.
    pub fn adapted_to(self, operation: Operation) -> Result<Payload, MessageSizesError> {
        let Payload::Blocks(sizes) = self else { return Ok(self) };
        Ok(match operation.payload_kind() {
            PayloadKind::Messages => MessageSizes::of_senders(&sizes)?.into(),
            PayloadKind::Vector if !operation.is_rooted() => {
                Vector { ranks: sizes.ranks(), bytes: sizes.total() }.into()
            }
            PayloadKind::Blocks | PayloadKind::Vector | PayloadKind::Groups => sizes.into(),
        })
    }

    /// The first operation that moves such data.
    pub fn first_operation(&self) -> Operation {
        let moves = |one: &Operation| one.payload_kind() == self.kind();
        Operation::all().find(moves).expect("each kind of data is some operation's")
    }

    /// Kind of data.
    pub fn kind(&self) -> PayloadKind {
        match self {
            Payload::Blocks(_) => PayloadKind::Blocks,
            Payload::Vector(_) => PayloadKind::Vector,
            Payload::Messages(_) => PayloadKind::Messages,
            Payload::Groups(_) => PayloadKind::Groups,
        }
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        match self {
            Payload::Blocks(sizes) => sizes.ranks(),
            Payload::Vector(vector) => vector.ranks,
            Payload::Messages(sizes) => sizes.ranks(),
            Payload::Groups(sizes) => sizes.blocks().ranks(),
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

    /// The size of a rank's own data: its block, the vector, or the messages that it has.
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
