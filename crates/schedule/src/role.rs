//! A rank's role in a collective operation, and its possible actions.

use crate::action::{Action, Buffer, Deed, Region};
use crate::schedule::ActionFault;
use tuwtree_model::{Extent, Operation, PayloadKind, Rank};

/// One rank's place in an operation: who it is, and how large its buffers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    /// The operation that is performed.
    pub operation: Operation,
    /// The number of ranks, `p >= 1`.
    pub ranks: usize,
    /// The root, in `0..p`; `None` if the operation has none.
    pub root: Option<Rank>,
    /// The rank itself, in `0..p`.
    pub rank: Rank,
    /// Number of simultaneous actions, at least 1.
    pub ports: u16,
    /// The size of its own data: its block, the vector, or in an alltoall its messages for all.
    pub own_bytes: u64,
    /// All bytes of the operation: the sum of the blocks, or the vector; in an alltoall and an intergroup allgather,
    /// the rank's result. It matters at the root, or without a root at every rank.
    pub total_bytes: u64,
    /// The size of its segment.
    pub segment_bytes: u64,
}

impl Role {
    /// True if the rank is the root.
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
        let extent = match buffer {
            Buffer::Segment => return self.segment_bytes,
            Buffer::Input => self.operation.input(),
            Buffer::Output => self.operation.output(),
        };
        let bytes = match extent {
            Extent::TotalAtRoot if self.is_root() => self.total_bytes,
            Extent::Nothing | Extent::TotalAtRoot => 0,
            Extent::Own => self.own_bytes,
            Extent::Total => self.total_bytes,
        };
        match (buffer, self.operation.payload_kind()) {
            (Buffer::Output, PayloadKind::Messages) => {
                bytes.saturating_add(self.own_bytes).saturating_add(self.segment_bytes)
            }
            _ => bytes,
        }
    }

    /// Fails unless the action is possible by itself: ranks and ports exist, no rank sends to
    /// itself, pieces are not empty and lie in their buffers, inputs are not written.
    ///
    /// # Errors
    /// The first [`ActionFault`] found.
    ///
    /// # Complexity
    /// O(1) for each piece.
    pub fn check(&self, action: &Action<'_>) -> Result<(), ActionFault> {
        let Role { ports, operation, ranks, .. } = *self;
        if action.port >= ports {
            return Err(ActionFault::PortOutOfRange { port: action.port, ports });
        }
        let peers = [action.send().map(|send| send.to), action.receive().map(|from| from.from)];
        for peer in peers.into_iter().flatten() {
            if peer >= ranks {
                return Err(ActionFault::PeerOutOfRange { peer, ranks });
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
