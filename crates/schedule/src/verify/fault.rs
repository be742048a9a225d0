//! Faults of a schedule, with ranks and action numbers.

use crate::action::{Action, Arrival, Buffer, Deed};
use std::fmt;
use tuwtree_model::Rank;
use tuwtree_model::{ClosedSet, Order};

/// An action of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    /// The rank that performs the action.
    pub rank: Rank,
    /// The index of the action in the rank's list.
    pub action: usize,
}

impl fmt::Display for At {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "rank {}, action {}", self.rank, self.action)
    }
}

/// A byte of what the operation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datum {
    /// A byte of a block, in gather and scatter.
    OfBlock {
        /// Rank of the block.
        block: Rank,
        /// Byte of the block, from 0.
        byte: u64,
    },
    /// A byte of a message, in an alltoall.
    OfMessage {
        /// Its source rank.
        from: Rank,
        /// Whom it is for.
        to: Rank,
        /// Byte of the vector, from 0.
        byte: u64,
    },
    /// A byte of the vector, in broadcast and reduction.
    OfVector {
        /// Byte of the message, from 0.
        byte: u64,
    },
}

impl fmt::Display for Datum {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Datum::OfBlock { block, byte } => write!(formatter, "byte {byte} of block {block}"),
            Datum::OfMessage { from, to, byte } => {
                write!(formatter, "byte {byte} of the message from {from} to {to}")
            }
            Datum::OfVector { byte } => write!(formatter, "byte {byte} of the vector"),
        }
    }
}

/// Kind of an action, in a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// A copy, or one that combines.
    Copy,
    /// A send to this rank.
    Send(Rank),
    /// A receive from this rank.
    Receive(Rank),
    /// A send to the first and at once a receive from the second.
    Exchange(Rank, Rank),
}

impl From<&Action<'_>> for Doing {
    fn from(action: &Action<'_>) -> Doing {
        match action.deed {
            Deed::Copy { .. } => Doing::Copy,
            Deed::Send(send) => Doing::Send(send.to),
            Deed::Receive(receive) => Doing::Receive(receive.from),
            Deed::Exchange(send, receive) => Doing::Exchange(send.to, receive.from),
        }
    }
}

impl fmt::Display for Doing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doing::Copy => write!(formatter, "copy"),
            Doing::Send(to) => write!(formatter, "send to {to}"),
            Doing::Receive(from) => write!(formatter, "receive from {from}"),
            Doing::Exchange(to, from) => {
                write!(formatter, "send to {to} and receive from {from}")
            }
        }
    }
}

/// An action that does not end, in a cycle of such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The action that has not ended.
    pub at: At,
    /// Copy, send, receive, or exchange.
    pub doing: Doing,
}

/// Effect of eager sends, which end at once, on a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfEager {
    /// No deadlock.
    Passes,
    /// There is one all the same.
    Deadlocks,
}

/// Consecutive bytes of all blocks, packed in rank order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedRange {
    /// The block and the offset of the first byte.
    pub first: Datum,
    /// The block and the offset of the last byte, which may be the first.
    pub last: Datum,
}

impl fmt::Display for PackedRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} to {}", self.first, self.last)
    }
}

/// The ranks whose contributions an operand of a reduction has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contributors {
    /// Exactly these, in this order.
    Consecutive {
        /// The lowest rank that has contributed.
        first: Rank,
        /// The highest rank; all between have contributed, too.
        last: Rank,
    },
    /// Others.
    Scattered,
}

impl fmt::Display for Contributors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contributors::Consecutive { first, last } if first == last => {
                write!(formatter, "that of rank {first}")
            }
            Contributors::Consecutive { first, last } => {
                write!(formatter, "those of ranks {first} to {last}")
            }
            Contributors::Scattered => {
                write!(formatter, "those of processes that are not consecutive")
            }
        }
    }
}

/// The first fault found in a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Nobody receives a message.
    #[error(
        "{send} sends to {to} with tag {tag}, but {to} receives only {received} such messages; this is number {number}", number = received + 1
    )]
    UnmatchedSend {
        /// The action that sends.
        send: At,
        /// The rank that it is sent to.
        to: Rank,
        /// The tag that has no counterpart.
        tag: u32,
        /// Number of messages of this tag that the receiver takes from this sender.
        received: usize,
    },
    /// Nobody sends a message.
    #[error(
        "{receive} receives from {from} with tag {tag}, but {from} sends only {sent} such messages; this is number {number}", number = sent + 1
    )]
    UnmatchedReceive {
        /// The action that receives.
        receive: At,
        /// From where it should come.
        from: Rank,
        /// The tag that has no counterpart.
        tag: u32,
        /// Number of messages of this tag that the sender has for this receiver.
        sent: usize,
    },
    /// A message whose sender and receiver disagree about its size.
    #[error("{send} sends {sent} bytes, but {receive}, which receives them, expects {expected}")]
    UnequalSizes {
        /// The action that sends.
        send: At,
        /// The size sent.
        sent: u64,
        /// The action that receives.
        receive: At,
        /// The size of where it goes.
        expected: u64,
    },
    /// A piece of a reduction that is not made of whole elements.
    #[error(
        "{at} ({doing}) takes {bytes} bytes at offset {offset} of its {}, which cuts an element of {element} bytes",
        buffer.name()
    )]
    CutElement {
        /// The action that is at fault.
        at: At,
        /// Copy, send, receive, or exchange.
        doing: Doing,
        /// The buffer of that rank which is touched.
        buffer: Buffer,
        /// Offset of the piece.
        offset: u64,
        /// Its size.
        bytes: u64,
        /// The size of an element; offset and size have to be multiples.
        element: u64,
    },
    /// An action that writes a byte twice, or reads and writes it.
    #[error(
        "{at} {what} at offset {offset} of its {}", buffer.name(),
        what = match overlap {
            Overlap::Writes => "writes twice",
            Overlap::ReadsAndWrites => "reads what it writes",
        }
    )]
    OverlapsItself {
        /// The action that is at fault.
        at: At,
        /// The buffer of that rank which is touched.
        buffer: Buffer,
        /// The first such byte.
        offset: u64,
        /// Written twice, or read and written.
        overlap: Overlap,
    },
    /// An action on one port that overwrites what another on another port still uses.
    #[error(
        "{second} ({second_doing}) on port {second_port} writes at offset {offset} of the {}, which \
         action {} ({first_doing}) on port {first_port} may still use at that time",
        buffer.name(), first.action
    )]
    Race {
        /// The action listed first.
        first: At,
        /// Copy, send, receive, or exchange.
        first_doing: Doing,
        /// The port that performs the first action.
        first_port: u16,
        /// The action that writes.
        second: At,
        /// Copy, send, receive, or exchange.
        second_doing: Doing,
        /// The port that performs the second action.
        second_port: u16,
        /// The buffer of that rank which is touched.
        buffer: Buffer,
        /// A byte that both use.
        offset: u64,
    },
    /// Actions that wait for each other, all the way round.
    #[error("deadlock: {}{}", Cycle(cycle), match if_eager {
        IfEager::Passes => "; with eager sends, which end at once, there is none",
        IfEager::Deadlocks => "",
    })]
    Deadlock {
        /// Each waits for the next, the last for the first.
        cycle: Vec<Stuck>,
        /// Effect of eager sends.
        if_eager: IfEager,
    },
    /// Data that is used before it is there, or that never is.
    #[error(
        "{at} ({doing}) reads the {} at offset {offset}, where nothing has been written yet",
        buffer.name()
    )]
    ReadBeforeWritten {
        /// The action that reads.
        at: At,
        /// Copy, send, receive, or exchange.
        doing: Doing,
        /// The buffer of that rank which is touched.
        buffer: Buffer,
        /// The first byte that is not there.
        offset: u64,
    },
    /// A byte of an output that is written a second time: with another one, or in a gather or scatter.
    #[error(
        "{at} writes the output at offset {offset}, the place of {place}, a second time{}",
        By("; the first time by action ", *before)
    )]
    WrittenTwice {
        /// The action that writes last.
        at: At,
        /// The byte's offset in the output.
        offset: u64,
        /// The byte of the result that belongs there.
        place: Datum,
        /// The index of the other action that writes there; `None` if the byte was there from the
        /// start.
        before: Option<usize>,
    },
    /// A byte of an output that is never written.
    #[error("{place} never reaches the output of rank {rank} (offset {offset})")]
    Missing {
        /// The rank whose output it is.
        rank: Rank,
        /// The byte's offset in the output.
        offset: u64,
        /// The byte of the result that belongs there.
        place: Datum,
    },
    /// A byte of an output that is wrong in the end.
    #[error(
        "the output of rank {rank} has at offset {offset} {found}, where {place} belongs{}",
        By("; written by action ", *written)
    )]
    Misplaced {
        /// The rank whose output it is.
        rank: Rank,
        /// The byte's offset in the output.
        offset: u64,
        /// The byte of the result that belongs there.
        place: Datum,
        /// The byte that the schedule leaves there.
        found: Datum,
        /// The index of the action that wrote it.
        written: Option<usize>,
    },
    /// A reduction of different places of the vector.
    #[error(
        "{at} combines byte {received} of the vector with byte {held}, at offset {offset} of the {}",
        buffer.name()
    )]
    Misaligned {
        /// The action that receives.
        at: At,
        /// Buffer of the meeting.
        buffer: Buffer,
        /// And at which offset.
        offset: u64,
        /// Byte of the vector that arrives.
        received: u64,
        /// Byte of the vector in the buffer.
        held: u64,
    },
    /// A reduction whose operands are not neighbours in rank order, though the schedule promises it.
    #[error(
        "{at} combines contributions out of rank order, though the order is {:?}: on the left {left}, on the right {right}",
        order.name()
    )]
    NotAdjacent {
        /// The action that receives.
        at: At,
        /// The ranks whose vectors the left operand combines.
        left: Contributors,
        /// The ranks whose vectors the right operand combines.
        right: Contributors,
        /// The order that the schedule promises to keep.
        order: Order,
    },
    /// A result without a rank's contribution.
    #[error("the result lacks the contribution of rank {rank} at offset {offset}")]
    NoContribution {
        /// The rank that is left out.
        rank: Rank,
        /// Offset in the result.
        offset: u64,
    },
    /// A result with a rank's contribution more than once.
    #[error(
        "the result has the contribution of rank {rank} more than once at offset {offset}: {at} has it in both operands"
    )]
    ContributionTwice {
        /// The rank that is counted twice.
        rank: Rank,
        /// Offset in the result.
        offset: u64,
        /// The receive whose operands both have it.
        at: At,
    },
    /// A message or copy whose data is not consecutive in rank order, though the schedule promises
    /// it.
    #[error(
        "{at} ({doing}) moves data that is not consecutive in rank order, though the order is {:?}",
        order.name()
    )]
    Reordered {
        /// The action that is at fault.
        at: At,
        /// Copy, send, receive, or exchange.
        doing: Doing,
        /// The order that the schedule promises to keep.
        order: Order,
    },
    /// Data at a rank that is not consecutive, though the schedule promises it.
    #[error(
        "{at} ({doing}): {held} is held, {moved} {}, and what is then held is not consecutive, though the order is {:?}",
        direction.name(), order.name()
    )]
    NotConsecutive {
        /// The action after which it is not.
        at: At,
        /// Copy, send, receive, or exchange.
        doing: Doing,
        /// Data of the rank before the action.
        held: Box<PackedRange>,
        /// Data that the action moves.
        moved: Box<PackedRange>,
        /// To or from the rank.
        direction: MessageEnd,
        /// The order that the schedule promises to keep.
        order: Order,
    },
    /// A reduction with more small parts than any rank could process.
    #[error(
        "the reduction falls into more than {limit} parts with different contributors; it is not verified"
    )]
    TooIntricate {
        /// Most parts examined.
        limit: u64,
    },
}

/// Overlap of an action with itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// Two of the pieces that are written.
    Writes,
    /// A piece that is read and one that is written.
    ReadsAndWrites,
}

/// Direction of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageEnd {
    /// It comes.
    Arrives,
    /// It goes.
    Leaves,
}

impl MessageEnd {
    /// Its verb.
    fn name(self) -> &'static str {
        match self {
            MessageEnd::Arrives => "arrives",
            MessageEnd::Leaves => "leaves",
        }
    }
}

/// A cycle in words, of bounded length.
struct Cycle<'a>(&'a [Stuck]);

impl Cycle<'_> {
    /// The most actions that are named.
    const NAMED: usize = 12;
}

impl fmt::Display for Cycle<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cycle(cycle) = *self;
        for (index, stuck) in cycle.iter().take(Self::NAMED).enumerate() {
            if index > 0 {
                let which = if index > 1 { ", which" } else { "" };
                write!(formatter, "{which} waits for ")?;
            }
            write!(formatter, "{} ({})", stuck.at, stuck.doing)?;
        }
        if cycle.len() > Self::NAMED {
            write!(formatter, ", which waits for {} more", cycle.len() - Self::NAMED)?;
        }
        let which = if cycle.len() > 1 { ", which" } else { "" };
        match cycle.first() {
            Some(first) => write!(formatter, "{which} waits for {}", first.at),
            None => Ok(()),
        }
    }
}

/// Words and a number, if there is one.
struct By(&'static str, Option<usize>);

impl fmt::Display for By {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(action) => write!(formatter, "{}{action}", self.0),
            None => Ok(()),
        }
    }
}

/// True if received data is combined with data in the buffer.
pub(super) fn combines(action: &Action<'_>) -> bool {
    action.receive().is_some_and(|receive| receive.arrival != Arrival::Store)
}
