//! What one processor is in a collective operation, and which actions it can perform.

use crate::action::{Action, Buffer, Deed, Region};
use crate::schedule::ActionFault;
use tuwtree_model::{Operation, Rank};

/// One processor's place in an operation: who it is, and how large its buffers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    /// The operation that is performed.
    pub operation: Operation,
    /// The number of processors, `p >= 1`.
    pub processors: usize,
    /// The root, in `0..p`; `None` if the operation has none.
    pub root: Option<Rank>,
    /// The processor itself, in `0..p`.
    pub rank: Rank,
    /// How many actions it may perform at once, at least 1.
    pub ports: u16,
    /// The size of its own data: its block, the vector, or in an alltoall what it has for all.
    pub own_bytes: u64,
    /// All bytes that the operation is about: the sum of the blocks, or the vector; in an alltoall and an
    /// intergroup allgather, what the processor gets. It matters at the root only, or if there is none.
    pub total_bytes: u64,
    /// The size of its segment.
    pub segment_bytes: u64,
}

impl Role {
    /// Whether the processor is the root.
    pub fn is_root(&self) -> bool {
        self.root == Some(self.rank)
    }

    /// The size of a buffer in bytes; all blocks count as if they lay one after the other.
    ///
    /// | operation | input | output |
    /// |---|---|---|
    /// | gather | the own block | at the root, all blocks |
    /// | scatter | at the root, all blocks | the own block |
    /// | broadcast | none | the vector, which the root's output holds from the start |
    /// | reduce | the vector | at the root, the result |
    /// | allgather | the own block | all blocks, of which it holds the own one from the start |
    /// | reduce-scatter | the vector | the vector from the start, in the end the own block of the result |
    /// | allreduce | the vector | the vector from the start, in the end the result |
    /// | alltoall | messages to all, by receiver | messages from all, by sender, of which it holds that to itself from the start; behind these, from the start, the input; and as much room again as the segment has |
    /// | intergroup allgather | the own block | all blocks of the other group |
    pub fn buffer_bytes(&self, buffer: Buffer) -> u64 {
        let at_root = if self.is_root() { self.total_bytes } else { 0 };
        match (self.operation, buffer) {
            (_, Buffer::Segment) => self.segment_bytes,
            (Operation::ReduceScatter, Buffer::Input) => self.total_bytes,
            (
                Operation::Allgather | Operation::ReduceScatter | Operation::Allreduce,
                Buffer::Output,
            ) => self.total_bytes,
            (Operation::Allreduce | Operation::Alltoall, Buffer::Input) => self.own_bytes,
            (Operation::Alltoall, Buffer::Output) => {
                let given = self.total_bytes.saturating_add(self.own_bytes);
                given.saturating_add(self.segment_bytes)
            }
            (Operation::IntergroupAllgather, Buffer::Output) => self.total_bytes,
            (Operation::IntergroupAllgather, Buffer::Input) => self.own_bytes,
            (Operation::Gather | Operation::Reduce | Operation::Allgather, Buffer::Input)
            | (Operation::Scatter | Operation::Broadcast, Buffer::Output) => self.own_bytes,
            (Operation::Gather | Operation::Reduce, Buffer::Output)
            | (Operation::Scatter, Buffer::Input) => at_root,
            (Operation::Broadcast, Buffer::Input) => 0,
        }
    }

    /// Whether the action is possible by itself: ranks and ports exist, nobody sends to itself,
    /// pieces are not empty and lie in their buffers, inputs are not written.
    ///
    /// # Errors
    /// The first [`ActionFault`] found.
    ///
    /// # Complexity
    /// O(1) for each piece.
    pub fn check(&self, action: &Action<'_>) -> Result<(), ActionFault> {
        let Role { ports, operation, processors, .. } = *self;
        if action.port >= ports {
            return Err(ActionFault::PortOutOfRange { port: action.port, ports });
        }
        let peers = [action.send().map(|send| send.to), action.receive().map(|from| from.from)];
        for peer in peers.into_iter().flatten() {
            if peer >= processors {
                return Err(ActionFault::PeerOutOfRange { peer, processors });
            }
            if peer == self.rank {
                return Err(ActionFault::SelfMessage);
            }
        }
        for region in [action.reads(), action.writes()].into_iter().flatten() {
            self.check_region(&region)?;
        }
        if action.writes().is_some_and(|region| region.buffer == Buffer::Input) {
            return Err(ActionFault::WritesInput);
        }
        if let Deed::Copy { from, into, .. } = action.deed
            && from.bytes() != into.bytes()
        {
            return Err(ActionFault::UnequalCopy { from: from.bytes(), into: into.bytes() });
        }
        match action.combines() {
            Some(_) if !operation.is_reduction() => {
                Err(ActionFault::NothingToCombine { operation })
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn check_region(&self, region: &Region<'_>) -> Result<(), ActionFault> {
        let size = self.buffer_bytes(region.buffer);
        let mut total = 0_u64;
        for piece in region.pieces {
            if piece.bytes == 0 {
                return Err(ActionFault::EmptyPiece);
            }
            if piece.offset.checked_add(piece.bytes).is_none_or(|end| end > size) {
                return Err(ActionFault::OutsideBuffer {
                    offset: piece.offset,
                    bytes: piece.bytes,
                    buffer: region.buffer,
                    size,
                });
            }
            total = total
                .checked_add(piece.bytes)
                .filter(|&total| total <= i64::MAX as u64)
                .ok_or(ActionFault::TooLarge)?;
        }
        if total == 0 { Err(ActionFault::EmptyPiece) } else { Ok(()) }
    }
}
