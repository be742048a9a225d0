//! Actions of a rank: copy, send, receive, or send and receive at once.

use crate::hold::Held;
use tuwtree_model::Rank;

/// One of a rank's three buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Buffer {
    /// Data that the program gives to the collective. Never written.
    Input,
    /// Temporary room for data on its way.
    Segment,
    /// Result for the program.
    Output,
}

/// Consecutive bytes of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Offset in bytes from the buffer's start.
    pub offset: u64,
    /// Number of bytes; more than 0.
    pub bytes: u64,
}

impl Piece {
    /// The offset behind the last byte. Does not overflow in a [`Schedule`](crate::Schedule).
    pub fn end(self) -> u64 {
        self.offset + self.bytes
    }
}

/// The part of a buffer that an action reads or writes: its pieces, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region<'a> {
    /// The buffer that the pieces are parts of.
    pub buffer: Buffer,
    /// At least one piece. More than one is what MPI calls a derived datatype.
    pub pieces: &'a [Piece],
}

impl Region<'_> {
    /// The region's size in bytes, more than 0.
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }
}

/// A message to another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send<'a> {
    /// The receiver, another rank than the sender.
    pub to: Rank,
    /// Messages between two ranks match in order, each tag by itself.
    pub tag: u32,
    /// The data, in the order of its pieces.
    pub from: Region<'a>,
}

/// A message from another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receive<'a> {
    /// The sender, another rank than the receiver.
    pub from: Rank,
    /// Messages between two ranks match in order, each tag by itself.
    pub tag: u32,
    /// Destination of the data.
    pub into: Region<'a>,
    /// Treatment of the data at the destination.
    pub arrival: Arrival,
}

/// Treatment of received or copied data at its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Arrival {
    /// Replaces the data there.
    #[default]
    Store,
    /// A reduction: arriving data is the left operand, data there the right one.
    CombineLeft,
    /// A reduction: data there is the left operand, arriving data the right one.
    CombineRight,
}

/// Kind of an action, with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed<'a> {
    /// Copies data from one buffer of the rank to another, or combines it with the data there as `MPI_Reduce_local`
    /// does, which takes the operator's time instead of a copy's; both regions have one size.
    Copy {
        /// The data, in the order of its pieces.
        from: Region<'a>,
        /// As many bytes as are read, in the order of its pieces.
        into: Region<'a>,
        /// Treatment of the data at the destination.
        arrival: Arrival,
    },
    /// Sends one message.
    Send(Send<'a>),
    /// Receives one message.
    Receive(Receive<'a>),
    /// Sends and receives at once, on one port that works in both directions.
    Exchange(Send<'a>, Receive<'a>),
}

/// A step of a rank's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action<'a> {
    /// The port, in `0..ports`, that the action occupies from its start to its end.
    pub port: u16,
    /// The copy or message, with the regions that it reads and writes.
    pub deed: Deed<'a>,
}

impl<'a> Action<'a> {
    /// The message sent, if one is.
    pub fn send(&self) -> Option<Send<'a>> {
        match self.deed {
            Deed::Send(send) | Deed::Exchange(send, _) => Some(send),
            Deed::Receive(_) | Deed::Copy { .. } => None,
        }
    }

    /// The message received, if one is.
    pub fn receive(&self) -> Option<Receive<'a>> {
        match self.deed {
            Deed::Receive(receive) | Deed::Exchange(_, receive) => Some(receive),
            Deed::Send(_) | Deed::Copy { .. } => None,
        }
    }

    /// The part of the action that holds this: of an exchange on a duplex port one half, else all.
    #[must_use]
    pub fn of_held(self, held: Held) -> Action<'a> {
        let deed = match (self.deed, held) {
            (Deed::Exchange(send, _), Held::SendSide) => Deed::Send(send),
            (Deed::Exchange(_, receive), Held::ReceiveSide) => Deed::Receive(receive),
            (deed, _) => deed,
        };
        Action { deed, ..self }
    }

    /// Region of the rank's own buffers that the action reads.
    pub fn reads(&self) -> Option<Region<'a>> {
        match self.deed {
            Deed::Copy { from, .. } => Some(from),
            _ => self.send().map(|send| send.from),
        }
    }

    /// Treatment of the data at the action's destination.
    pub fn arrival(&self) -> Arrival {
        match self.deed {
            Deed::Copy { arrival, .. } => arrival,
            Deed::Receive(receive) | Deed::Exchange(_, receive) => receive.arrival,
            Deed::Send(_) => Arrival::Store,
        }
    }

    /// Region in which the action combines received or copied data, if it does.
    pub fn combines(&self) -> Option<Region<'a>> {
        self.writes().filter(|_| self.arrival() != Arrival::Store)
    }

    /// True if the action needs the results of earlier receives and copies: it reads from the
    /// segment or the output, or combines received or copied data.
    pub fn needs_written(&self) -> bool {
        self.reads().is_some_and(|region| region.buffer != Buffer::Input)
            || self.combines().is_some()
    }

    /// Region of the rank's own buffers that the action writes.
    pub fn writes(&self) -> Option<Region<'a>> {
        match self.deed {
            Deed::Copy { into, .. } => Some(into),
            _ => self.receive().map(|receive| receive.into),
        }
    }
}
