//! What a processor does: copy, send, receive, or send and receive at once.

use crate::hold::Held;
use tuwtree_model::Rank;

/// One of a processor's three buffers.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    strum::VariantArray,
    strum::IntoStaticStr,
    strum::EnumString,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Buffer {
    /// What the program gives to the collective. Never written.
    Input,
    /// Temporary room for data on its way.
    Segment,
    /// What the program gets.
    Output,
}

/// Consecutive bytes of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Where they start, in bytes from the buffer's start.
    pub offset: u64,
    /// How many they are; more than 0.
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

/// A message to another processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send<'a> {
    /// The receiver, another rank than the sender.
    pub to: Rank,
    /// Messages between two processors match in order, each tag by itself.
    pub tag: u32,
    /// The data, in the order of its pieces.
    pub from: Region<'a>,
}

/// A message from another processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receive<'a> {
    /// The sender, another rank than the receiver.
    pub from: Rank,
    /// Messages between two processors match in order, each tag by itself.
    pub tag: u32,
    /// Where the data goes.
    pub into: Region<'a>,
    /// What happens to the data that is there.
    pub arrival: Arrival,
}

/// How received or copied data and the data that it meets go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Arrival {
    /// What comes replaces what is there.
    #[default]
    Store,
    /// A reduction: what comes is the left operand, what is there the right one.
    CombineLeft,
    /// A reduction: what is there is the left operand, what comes the right one.
    CombineRight,
}

/// What an action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed<'a> {
    /// Copies data from one buffer of the processor to another, or combines it with what is there as
    /// `MPI_Reduce_local` does, which takes the operator's time and not that of a copy; both regions have one size.
    Copy {
        /// The data, in the order of its pieces.
        from: Region<'a>,
        /// As many bytes as are read, in the order of its pieces.
        into: Region<'a>,
        /// What happens to the data that is there.
        arrival: Arrival,
    },
    /// Sends one message.
    Send(Send<'a>),
    /// Receives one message.
    Receive(Receive<'a>),
    /// Sends and receives at once, on one port that works in both directions.
    Exchange(Send<'a>, Receive<'a>),
}

/// A step of a processor's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action<'a> {
    /// The port, in `0..ports`, that the action occupies from its start to its end.
    pub port: u16,
    /// The copy or message, with what it reads and writes.
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

    /// What the action reads of the processor's own buffers.
    pub fn reads(&self) -> Option<Region<'a>> {
        match self.deed {
            Deed::Copy { from, .. } => Some(from),
            _ => self.send().map(|send| send.from),
        }
    }

    /// How what the action receives or copies and the data that is there go together.
    pub fn arrival(&self) -> Arrival {
        match self.deed {
            Deed::Copy { arrival, .. } => arrival,
            Deed::Receive(receive) | Deed::Exchange(_, receive) => receive.arrival,
            Deed::Send(_) => Arrival::Store,
        }
    }

    /// Where what the action receives or copies is combined with what is there, if it is.
    pub fn combines(&self) -> Option<Region<'a>> {
        self.writes().filter(|_| self.arrival() != Arrival::Store)
    }

    /// Whether the action needs what earlier receives and copies have written: it reads from the
    /// segment or the output, or combines what it receives or copies with what is there.
    pub fn needs_written(&self) -> bool {
        self.reads().is_some_and(|region| region.buffer != Buffer::Input)
            || self.combines().is_some()
    }

    /// What the action writes of the processor's own buffers.
    pub fn writes(&self) -> Option<Region<'a>> {
        match self.deed {
            Deed::Copy { into, .. } => Some(into),
            _ => self.receive().map(|receive| receive.into),
        }
    }
}
