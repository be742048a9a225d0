//! All ranks' actions, stored compactly.

use crate::action::{Action, Arrival, Buffer, Deed, Piece, Receive, Region, Send};
use tuwtree_model::Rank;

/// The actions of ranks `0..p`, each rank's in the order in which it starts them.
///
/// Flat: 12 bytes an action, 20 a region, 16 a piece, whatever the number of ranks.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Programs {
    /// End of each rank's actions.
    ends: Vec<u32>,
    actions: Vec<StoredAction>,
    regions: Vec<StoredRegion>,
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StoredAction {
    kind: ActionKind,
    port: u16,
    /// The first of its regions: read regions, then written ones.
    region: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ActionKind {
    Copy,
    Send,
    Receive,
    Exchange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StoredRegion {
    /// The other rank; without meaning for copies.
    peer: u32,
    tag: u32,
    buffer: Buffer,
    arrival: Arrival,
    /// The first of its pieces, and how many there are.
    piece: u32,
    pieces: u32,
}

/// More than the allowed 2^32 - 1 actions, regions or pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {} actions or pieces of buffers", u32::MAX)]
pub struct TooManyActions;

impl Programs {
    /// Programs of no ranks yet.
    pub fn new() -> Programs {
        Programs::default()
    }

    /// Adds an action to the program of the rank that comes next.
    ///
    /// # Errors
    /// [`TooManyActions`].
    ///
    /// # Complexity
    /// O(1) amortized for each piece.
    pub fn push(&mut self, action: &Action<'_>) -> Result<(), TooManyActions> {
        let region = index(self.regions.len())?;
        let kind = match action.deed {
            Deed::Copy { from, into, arrival } => {
                self.push_region(0, 0, from, Arrival::Store)?;
                self.push_region(0, 0, into, arrival)?;
                ActionKind::Copy
            }
            Deed::Send(send) => {
                self.push_send(send)?;
                ActionKind::Send
            }
            Deed::Receive(receive) => {
                self.push_receive(receive)?;
                ActionKind::Receive
            }
            Deed::Exchange(send, receive) => {
                self.push_send(send)?;
                self.push_receive(receive)?;
                ActionKind::Exchange
            }
        };
        index(self.actions.len() + 1)?;
        self.actions.push(StoredAction { kind, port: action.port, region });
        Ok(())
    }

    /// Ends the program of a rank; actions pushed afterwards belong to the next one.
    pub fn end_rank(&mut self) {
        self.ends.push(self.actions.len() as u32);
    }

    /// The number of ranks whose programs have ended.
    pub fn ranks(&self) -> usize {
        self.ends.len()
    }

    /// The number of all actions.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// True if no rank has actions.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// The indices, in `0..len()`, of the actions of a rank.
    pub fn range(&self, rank: Rank) -> std::ops::Range<usize> {
        let start = if rank == 0 { 0 } else { self.ends[rank - 1] };
        start as usize..self.ends[rank] as usize
    }

    /// The action with this index among all.
    pub fn action(&self, index: usize) -> Action<'_> {
        let StoredAction { kind, port, region } = self.actions[index];
        let first = &self.regions[region as usize];
        let second = || &self.regions[region as usize + 1];
        let deed = match kind {
            ActionKind::Copy => Deed::Copy {
                from: self.region(first),
                into: self.region(second()),
                arrival: second().arrival,
            },
            ActionKind::Send => Deed::Send(self.send(first)),
            ActionKind::Receive => Deed::Receive(self.receive(first)),
            ActionKind::Exchange => Deed::Exchange(self.send(first), self.receive(second())),
        };
        Action { port, deed }
    }

    /// The actions of a rank in order.
    pub fn actions(
        &self,
        rank: Rank,
    ) -> impl DoubleEndedIterator<Item = Action<'_>> + ExactSizeIterator + '_ {
        self.range(rank).map(|index| self.action(index))
    }

    fn push_send(&mut self, send: Send<'_>) -> Result<(), TooManyActions> {
        self.push_region(index(send.to)?, send.tag, send.from, Arrival::Store)
    }

    fn push_receive(&mut self, receive: Receive<'_>) -> Result<(), TooManyActions> {
        self.push_region(index(receive.from)?, receive.tag, receive.into, receive.arrival)
    }

    fn push_region(
        &mut self,
        peer: u32,
        tag: u32,
        region: Region<'_>,
        arrival: Arrival,
    ) -> Result<(), TooManyActions> {
        let piece = index(self.pieces.len())?;
        let pieces = index(region.pieces.len())?;
        index(self.pieces.len() + region.pieces.len())?;
        self.pieces.extend_from_slice(region.pieces);
        self.regions.push(StoredRegion {
            peer,
            tag,
            buffer: region.buffer,
            arrival,
            piece,
            pieces,
        });
        Ok(())
    }

    fn send(&self, stored: &StoredRegion) -> Send<'_> {
        Send { to: stored.peer as Rank, tag: stored.tag, from: self.region(stored) }
    }

    fn receive(&self, stored: &StoredRegion) -> Receive<'_> {
        Receive {
            from: stored.peer as Rank,
            tag: stored.tag,
            into: self.region(stored),
            arrival: stored.arrival,
        }
    }

    fn region(&self, stored: &StoredRegion) -> Region<'_> {
        let pieces = stored.piece as usize..(stored.piece + stored.pieces) as usize;
        Region { buffer: stored.buffer, pieces: &self.pieces[pieces] }
    }
}

fn index(number: usize) -> Result<u32, TooManyActions> {
    u32::try_from(number).map_err(|_| TooManyActions)
}
