//! A schedule: the task, and each rank's actions.

use crate::action::{Action, Buffer, Deed};
use crate::hold::Holds;
use crate::program::Programs;
use crate::role::Role;
use std::borrow::Cow;
use tuwtree_model::{
    BlockSizes, ClosedSet, Collective, Operation, Operator, OperatorError, Order, Payload,
    PayloadKind, Rank, StatedCosts, Tree, TreeError, WrongPayload,
};

/// Task of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The operation that is performed.
    pub operation: Operation,
    /// The root, one of the payload's ranks; `None` if the operation has none.
    pub root: Option<Rank>,
    /// Blocks, a vector or messages, as the operation has them.
    pub payload: Payload,
    /// Offset of each block in the memory of ranks with all blocks, in bytes: the root, in an allgather every rank.
    /// `None` if blocks lie one after the other in rank order.
    ///
    /// Actions ignore them: they address all blocks as if these lay one after the other, and the
    /// executor adds the displacements.
    pub displacements: Option<Vec<u64>>,
    /// Promised order of the data in ranks.
    pub order: Order,
    /// Number of ports of a rank, at least 1: if they are not duplex, its number of simultaneous actions.
    pub ports: u16,
    /// True if each port has an independent side for sending and one for receiving.
    pub duplex: bool,
    /// The costs for which the schedule was made, if that is known.
    pub costs: Option<StatedCosts>,
    /// The operator of a reduction, whose times are in the units of the costs; elsewhere
    /// [`Operator::FREE`].
    pub operator: Operator,
}

impl Task {
    /// The number of ranks, `p >= 1`.
    pub fn ranks(&self) -> usize {
        self.payload.ranks()
    }

    /// All bytes that the operation is about: the sum of the blocks, or the vector.
    pub fn total(&self) -> u64 {
        self.payload.total()
    }

    /// The size of a rank's own data: its block, or the vector.
    pub fn own(&self, rank: Rank) -> u64 {
        self.payload.own(rank)
    }

    /// On how many lanes of a rank something may go on at once: its ports, or the sides of them where they are
    /// duplex.
    pub fn lanes(&self) -> u32 {
        u32::from(self.ports) * if self.duplex { 2 } else { 1 }
    }

    /// The root as it ends a line that says what the schedule is for: `, root 3`; nothing without one.
    pub fn root_phrase(&self) -> String {
        self.root.map_or(String::new(), |root| format!(", root {root}"))
    }

    fn check(&self) -> Result<(), ScheduleError> {
        check_root(self.operation, self.ranks(), self.root)?;
        Collective::new(self.operation, self.payload.clone())?;
        self.operator.check(self.operation, &self.payload)?;
        if self.ports == 0 {
            return Err(ScheduleError::NoPorts);
        }
        match (&self.displacements, &self.payload) {
            (None, _) => Ok(()),
            (Some(displacements), Payload::Blocks(sizes)) if !self.operation.is_reduction() => {
                check_displacements(displacements, sizes)
            }
            (Some(_), _) => Err(ScheduleError::WrongDisplacements { operation: self.operation }),
        }
    }
}

/// Actions of all ranks in a collective operation, without times.
///
/// # Meaning
/// A rank starts the actions of a port one after the other, each when the one before has ended. An action that reads
/// from the segment or the output, or combines received or copied data, also waits for all receives and copies listed
/// before it, on any port. Messages from one rank to another with one tag match in the order of the lists. Received
/// data is combined when the action's messages have both ended: the data sent by an exchange may be the other operand.
/// A copy that combines takes the time of the operator alone.
///
/// Where ports are duplex, each has a side that sends and one that receives. An action that only sends holds the one,
/// one that only receives the other, and a copy both. An exchange holds each side until its own half has ended, and
/// each half starts by itself: the send when that side is free and, if it reads from the segment or the output, all that
/// is listed before has been written; the receive when the other side is free and, if it combines, the same holds.
/// Combining holds the side that receives, and begins when the message has come and all has been sent on the port that is
/// listed up to the action: of an exchange, when both halves have ended.
///
/// In the beginning, inputs hold what the program gives, the root's output of a broadcast holds the
/// vector, every output of an allgather the rank's own block in its place, and in a reduction
/// every segment and every output (of an operation with a root, that of the root) hold the rank's
/// own vector: as much of it as there is room for, and nothing behind it. With one rank, its data
/// is where it belongs.
///
/// In an intergroup allgather a segment holds only the rank's block in its place among its group's blocks, as far as
/// there is room for it.
///
/// The output of a reduce-scatter has room for the whole vector. In the end the rank's own block, in its place, is the
/// result, and the rest has no meaning. The output of an alltoall holds the rank's result; behind that, from the start,
/// its input, and then room for messages in transit, as much as the segment has: so that a message may be made of all
/// of these.
///
/// # Invariants
/// Every action is possible by itself: ranks and ports exist, no rank sends to itself, pieces are
/// not empty and lie in their buffers, inputs are not written. [`verify`](crate::verify()) checks
/// their combined effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    task: Task,
    /// The size of each rank's segment in bytes.
    segments: Vec<u64>,
    programs: Programs,
}

/// Actions that are not a schedule.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScheduleError {
    /// The root or the number of ranks is out of range.
    #[error(transparent)]
    Root(#[from] TreeError),
    /// A root for an operation without one.
    #[error("{} has no root", operation.name())]
    Rootless {
        /// The operation that is performed.
        operation: Operation,
    },
    /// No root for an operation that has one.
    #[error("{} has a root", operation.name())]
    Rooted {
        /// The operation that is performed.
        operation: Operation,
    },
    /// Data of the wrong kind.
    #[error(transparent)]
    Payload(#[from] WrongPayload),
    /// An operator that is not one of the operation.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// Displacements for a broadcast or a reduction.
    #[error("{} has no displacements; gather and scatter have", operation.name())]
    WrongDisplacements {
        /// The operation that is performed.
        operation: Operation,
    },
    /// Too few or too many displacements.
    #[error("there are {displacements} displacements for {ranks} processes")]
    DisplacementCount {
        /// Their number.
        displacements: usize,
        /// The needed number: one for each rank.
        ranks: usize,
    },
    /// Two blocks in the same place.
    #[error(
        "blocks {first} and {second} overlap: block {first} of {bytes} bytes is at displacement {at}, block {second} at {next}"
    )]
    Overlap {
        /// The block that starts first.
        first: Rank,
        /// The block that starts within the first.
        second: Rank,
        /// The size of the first.
        bytes: u64,
        /// Offset of the first.
        at: u64,
        /// Offset of the second.
        next: u64,
    },
    /// A block that ends beyond 2^63 - 1, the largest address that MPI has.
    #[error("block {rank} of {bytes} bytes at displacement {at} ends beyond 2^63 - 1")]
    DisplacementOverflow {
        /// The rank whose block it is.
        rank: Rank,
        /// The size of the block.
        bytes: u64,
        /// Offset of the block in the buffer of the root, in bytes.
        at: u64,
    },
    /// A segment that is larger than any memory.
    #[error(
        "rank {rank} has a segment of {bytes} bytes; 2^63 - 1 is the most that MPI can address"
    )]
    SegmentOverflow {
        /// The rank whose segment it is.
        rank: Rank,
        /// Its size.
        bytes: u64,
    },
    /// An output of an alltoall that is larger than any memory.
    #[error("rank {rank} has, gets and passes on more than 2^63 - 1 bytes")]
    RoomOverflow {
        /// The rank whose output it is.
        rank: Rank,
    },
    /// A rank that can do nothing.
    #[error("0 ports; a rank has at least 1")]
    NoPorts,
    /// Too few or too many programs.
    #[error("there are actions for {programs} and segments for {segments} of {ranks} processes")]
    ProgramCount {
        /// Number of lists of actions.
        programs: usize,
        /// Number of segment sizes.
        segments: usize,
        /// The needed number of each.
        ranks: usize,
    },
    /// An action that is wrong by itself.
    #[error("rank {rank}, action {action}: {fault}")]
    Action {
        /// The rank whose action cannot be performed.
        rank: Rank,
        /// The index of the action in the rank's list.
        action: usize,
        /// The fault of the action alone.
        fault: ActionFault,
    },
}

/// Fault of an action by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionFault {
    /// A message to or from a rank that is not below the number of ranks.
    #[error("the peer {peer} is outside 0..{ranks} ({ranks} processes)")]
    PeerOutOfRange {
        /// The rank at the other end of the message.
        peer: Rank,
        /// The number of ranks in the schedule.
        ranks: usize,
    },
    /// A message to oneself.
    #[error("a message to oneself; a copy does that")]
    SelfMessage,
    /// A port that is not below the number of ports.
    #[error("port {port} is outside 0..{ports}")]
    PortOutOfRange {
        /// The port named, which is not below the number of ports.
        port: u16,
        /// The number of ports.
        ports: u16,
    },
    /// A region without pieces, or a piece without bytes.
    #[error("a piece of 0 bytes; what is empty is not moved")]
    EmptyPiece,
    /// A piece that reaches out of its buffer.
    #[error(
        "{bytes} bytes at offset {offset} reach beyond the {} of {size} bytes", buffer.name()
    )]
    OutsideBuffer {
        /// Offset of the piece.
        offset: u64,
        /// The size of the piece.
        bytes: u64,
        /// The buffer that the piece is in.
        buffer: Buffer,
        /// The size of the whole buffer, in bytes.
        size: u64,
    },
    /// More bytes in one region than can be counted.
    #[error("more than 2^63 - 1 bytes in one action")]
    TooLarge,
    /// Something is written to the input.
    #[error("the input is written; only segment and output are")]
    WritesInput,
    /// A copy between regions of different size.
    #[error("a copy of {from} bytes into {into}")]
    UnequalCopy {
        /// The size of the source.
        from: u64,
        /// The size of where it goes.
        into: u64,
    },
    /// A combination of data outside of a reduction.
    #[error("received data is combined, but {} is no reduction", operation.name())]
    NothingToCombine {
        /// The operation that is performed.
        operation: Operation,
    },
}

/// An action that holds both sides of a duplex port, where each side should be a port of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "rank {rank}, action {action}: it holds both sides of a duplex port{}",
    if *.ports > 32767 { ", or there are more than 32767 ports" } else {
        ", as copies do, and what combines where something is sent before"
    }
)]
pub struct BothSides {
    /// The rank that performs the action.
    pub rank: Rank,
    /// The index of the action in its list.
    pub action: usize,
    /// The number of duplex ports.
    pub ports: u16,
}

impl Schedule {
    /// The schedule of these programs; `segments` has the size of each rank's segment.
    ///
    /// # Errors
    /// [`ScheduleError`] for a fault of the task, or of an action by itself.
    ///
    /// # Complexity
    /// O(p log p) for displacements, O(1) for each piece of each action.
    pub fn new(
        task: Task,
        segments: Vec<u64>,
        programs: Programs,
    ) -> Result<Schedule, ScheduleError> {
        task.check()?;
        let ranks = task.ranks();
        if programs.ranks() != ranks || segments.len() != ranks {
            return Err(ScheduleError::ProgramCount {
                programs: programs.ranks(),
                segments: segments.len(),
                ranks,
            });
        }
        let schedule = Schedule { task, segments, programs };
        for rank in 0..ranks {
            let role = schedule.role(rank);
            if role.segment_bytes > i64::MAX as u64 {
                let bytes = role.segment_bytes;
                return Err(ScheduleError::SegmentOverflow { rank, bytes });
            }
            if role.operation.payload_kind() == PayloadKind::Messages
                && role.buffer_bytes(Buffer::Output) > i64::MAX as u64
            {
                return Err(ScheduleError::RoomOverflow { rank });
            }
            for (index, action) in schedule.programs.actions(rank).enumerate() {
                role.check(&action).map_err(|fault| ScheduleError::Action {
                    rank,
                    action: index,
                    fault,
                })?;
            }
        }
        Ok(schedule)
    }

    /// The schedule's task.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// This schedule with the root's blocks elsewhere.
    ///
    /// # Errors
    /// [`ScheduleError`] for displacements that do not fit the task.
    pub fn with_displacements(mut self, displacements: Vec<u64>) -> Result<Self, ScheduleError> {
        self.task.displacements = Some(displacements);
        self.task.check()?;
        Ok(self)
    }

    /// This schedule with another operator.
    ///
    /// # Errors
    /// [`ScheduleError`]: the operation has none, or data that is not made of whole elements.
    pub fn with_operator(mut self, operator: Operator) -> Result<Self, ScheduleError> {
        self.task.operator = operator;
        self.task.check()?;
        Ok(self)
    }

    /// This schedule with duplex ports or others. [`verify`](crate::verify()) tells if it still
    /// performs its operation.
    #[must_use]
    pub fn with_duplex(mut self, duplex: bool) -> Self {
        self.task.duplex = duplex;
        self
    }

    /// A schedule on duplex ports as one on twice as many that are not: of port k, port 2 k sends and port 2 k + 1
    /// receives. One on other ports as it is.
    ///
    /// # Errors
    /// An action that has to do with both sides of a duplex port: a copy, or a receive that combines where something is
    /// sent before.
    ///
    /// # Complexity
    /// O(1) for each piece of each action.
    pub fn sides_as_ports(&self) -> Result<Cow<'_, Schedule>, BothSides> {
        if !self.task.duplex {
            return Ok(Cow::Borrowed(self));
        }
        let holds = Holds::new(&self.programs, true);
        let mut programs = Programs::new();
        for rank in 0..self.ranks() {
            for (index, action) in self.programs.actions(rank).enumerate() {
                let fault = BothSides { rank, action: index, ports: self.task.ports };
                let port = action.port.checked_mul(2).filter(|port| port % 2 == 0).ok_or(fault)?;
                let place = self.programs.range(rank).start + index;
                let awaits_send = holds.awaited_send(holds.receiving(place)).is_some();
                if awaits_send || matches!(action.deed, Deed::Copy { .. }) {
                    return Err(fault);
                }
                let halves = [
                    action.send().map(|send| Action { port, deed: Deed::Send(send) }),
                    action
                        .receive()
                        .map(|receive| Action { port: port + 1, deed: Deed::Receive(receive) }),
                ];
                for half in halves.iter().flatten() {
                    programs.push(half).map_err(|_| fault)?;
                }
            }
            programs.end_rank();
        }
        let ports = self.task.ports.saturating_mul(2);
        let task = Task { ports, duplex: false, ..self.task.clone() };
        Ok(Cow::Owned(Schedule { task, segments: self.segments.clone(), programs }))
    }

    /// The number of ranks, `p >= 1`.
    pub fn ranks(&self) -> usize {
        self.segments.len()
    }

    /// All actions of all ranks.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// The most actions of a rank.
    ///
    /// # Complexity
    /// O(p).
    pub fn most_actions(&self) -> usize {
        let actions = (0..self.ranks()).map(|rank| self.programs.range(rank).len());
        actions.max().unwrap_or(0)
    }

    /// The most bytes that a rank sends.
    ///
    /// # Complexity
    /// O(1) for each piece of each action.
    pub fn most_bytes_sent(&self) -> u64 {
        let sent = |rank| {
            let sends = self.programs.actions(rank).filter_map(|action| action.send());
            sends.fold(0_u64, |sum, send| sum.saturating_add(send.from.bytes()))
        };
        (0..self.ranks()).map(sent).max().unwrap_or(0)
    }

    /// The size of a rank's buffer in bytes; all blocks count as if they lay one after the
    /// other.
    pub fn buffer_bytes(&self, rank: Rank, buffer: Buffer) -> u64 {
        self.role(rank).buffer_bytes(buffer)
    }

    /// A rank's place in the operation.
    pub fn role(&self, rank: Rank) -> Role {
        Role {
            operation: self.task.operation,
            ranks: self.ranks(),
            root: self.task.root,
            rank,
            ports: self.task.ports,
            own_bytes: self.task.own(rank),
            total_bytes: match &self.task.payload {
                Payload::Messages(sizes) => sizes.column(rank),
                Payload::Groups(sizes) => sizes.other_group(rank).bytes,
                Payload::Blocks(_) | Payload::Vector(_) => self.task.total(),
            },
            segment_bytes: self.segments[rank],
        }
    }
}

/// Fails unless there is a root where the operation has one, and it is a rank.
pub(crate) fn check_root(
    operation: Operation,
    ranks: usize,
    root: Option<Rank>,
) -> Result<(), ScheduleError> {
    match (root, operation.is_rooted()) {
        (Some(root), true) => Ok(Tree::check_root(ranks, root)?),
        (None, false) => Ok(()),
        (Some(_), false) => Err(ScheduleError::Rootless { operation }),
        (None, true) => Err(ScheduleError::Rooted { operation }),
    }
}

fn check_displacements(displacements: &[u64], sizes: &BlockSizes) -> Result<(), ScheduleError> {
    let ranks = sizes.ranks();
    if displacements.len() != ranks {
        let displacements = displacements.len();
        return Err(ScheduleError::DisplacementCount { displacements, ranks });
    }
    let mut blocks: Vec<Rank> = (0..ranks).filter(|&rank| sizes.block(rank) > 0).collect();
    for &rank in &blocks {
        let (at, bytes) = (displacements[rank], sizes.block(rank));
        if at.checked_add(bytes).is_none_or(|end| end > i64::MAX as u64) {
            return Err(ScheduleError::DisplacementOverflow { rank, bytes, at });
        }
    }
    blocks.sort_by_key(|&rank| (displacements[rank], rank));
    for pair in blocks.windows(2) {
        let (first, second) = (pair[0], pair[1]);
        let (at, bytes, next) = (displacements[first], sizes.block(first), displacements[second]);
        if at + bytes > next {
            return Err(ScheduleError::Overlap { first, second, bytes, at, next });
        }
    }
    Ok(())
}
