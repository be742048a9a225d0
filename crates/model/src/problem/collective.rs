//! An operation with its data.

use super::{Operation, Payload, Vector, WrongPayload};
use crate::{BlockSizes, Direction, GroupSizes, MessageSizes, Rank};

/// An operation with the data that it moves.
///
/// With the same costs everywhere a scatter takes as long as a gather; with costs of its own for each
/// pair of ranks its data goes the other way.
///
/// A copy shares the block sizes: O(1).
///
/// # Source
/// OPT section 2.2 (gather and scatter), Theorem 4 (broadcast and reduction).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    operation: Operation,
    /// Of the kind that the operation moves.
    payload: Payload,
}

impl Collective {
    /// This operation with this data.
    ///
    /// # Errors
    /// [`WrongPayload`].
    pub fn new(
        operation: Operation,
        payload: impl Into<Payload>,
    ) -> Result<Collective, WrongPayload> {
        let payload = payload.into();
        match operation.payload_kind() == payload.kind() {
            true => Ok(Collective { operation, payload }),
            false => Err(WrongPayload { operation }),
        }
    }

    /// Every rank's block goes to the root.
    pub fn gather(sizes: &BlockSizes) -> Collective {
        Collective { operation: Operation::Gather, payload: sizes.clone().into() }
    }

    /// The root's blocks go to their ranks.
    pub fn scatter(sizes: &BlockSizes) -> Collective {
        Collective { operation: Operation::Scatter, payload: sizes.clone().into() }
    }

    /// Every rank's block goes to all ranks.
    pub fn allgather(sizes: &BlockSizes) -> Collective {
        Collective { operation: Operation::Allgather, payload: sizes.clone().into() }
    }

    /// The vectors of all ranks are combined, a block of these sizes of the result for each.
    pub fn reduce_scatter(sizes: &BlockSizes) -> Collective {
        Collective { operation: Operation::ReduceScatter, payload: sizes.clone().into() }
    }

    /// Each of these messages goes to its receiver.
    pub fn alltoall(sizes: &MessageSizes) -> Collective {
        Collective { operation: Operation::Alltoall, payload: sizes.clone().into() }
    }

    /// The root's whole vector goes along each edge, and is copied nowhere.
    pub fn broadcast(vector: Vector) -> Collective {
        Collective { operation: Operation::Broadcast, payload: vector.into() }
    }

    /// A whole vector goes along each edge, and is copied nowhere. Combining two takes no time.
    pub fn reduce(vector: Vector) -> Collective {
        Collective { operation: Operation::Reduce, payload: vector.into() }
    }

    /// The operation that is performed.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The moved data: a block for each rank, or one vector.
    pub fn payload(&self) -> &Payload {
        &self.payload
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.payload.ranks()
    }

    /// The block sizes, where blocks are moved.
    pub fn blocks(&self) -> Option<&BlockSizes> {
        match &self.payload {
            Payload::Blocks(sizes) => Some(sizes),
            Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => None,
        }
    }

    /// The messages of an alltoall.
    pub fn messages(&self) -> Option<&MessageSizes> {
        match &self.payload {
            Payload::Messages(sizes) => Some(sizes),
            Payload::Blocks(_) | Payload::Vector(_) | Payload::Groups(_) => None,
        }
    }

    /// The blocks of both groups of an intergroup allgather.
    pub fn groups(&self) -> Option<&GroupSizes> {
        match &self.payload {
            Payload::Groups(sizes) => Some(sizes),
            Payload::Blocks(_) | Payload::Vector(_) | Payload::Messages(_) => None,
        }
    }

    /// The vector of a broadcast or reduction.
    pub fn vector(&self) -> Option<Vector> {
        match self.payload {
            Payload::Blocks(_) | Payload::Messages(_) | Payload::Groups(_) => None,
            Payload::Vector(vector) => Some(vector),
        }
    }

    /// The bytes that `rank` copies locally if it is the root or an inner rank.
    pub fn copied(&self, rank: Rank) -> u64 {
        match &self.payload {
            Payload::Blocks(sizes) => sizes.block(rank),
            Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => 0,
        }
    }

    /// The bytes that go to (come from) the parent of a subtree that spans these ranks: their
    /// blocks, or the whole vector; of an alltoall, which has no subtrees, all that these ranks have.
    pub fn segment(&self, first: Rank, last: Rank) -> u64 {
        match &self.payload {
            Payload::Blocks(sizes) => sizes.range(first, last),
            Payload::Vector(vector) => vector.bytes,
            Payload::Messages(sizes) => sizes.before(last + 1, 0) - sizes.before(first, 0),
            Payload::Groups(sizes) => sizes.blocks().range(first, last),
        }
    }

    /// Sender and receiver of the transmission along the edge between a child and its parent.
    #[inline]
    pub fn ends(&self, child: Rank, parent: Rank) -> (Rank, Rank) {
        match self.operation.is_outward() {
            true => (parent, child),
            false => (child, parent),
        }
    }

    /// Direction of data at the root: received in a gather or reduction, else sent.
    pub fn root_direction(&self) -> Direction {
        match self.operation.is_outward() {
            true => Direction::Send,
            false => Direction::Receive,
        }
    }
}
