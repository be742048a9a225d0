//! Actions as they are performed: the root's own data may be in the place of all data, and messages
//! may be empty.

use super::order::Doing;
use smallvec::SmallVec;
use tuwtree_binding::Few;
use tuwtree_model::Rank;
use tuwtree_schedule::{Action, Arrival, Buffer, Piece, Region};

/// Largest number of actions compared pairwise.
pub(super) const SHORT: usize = 6;

/// A buffer and the pieces of it.
pub(crate) type BoundRegion = (Buffer, SmallVec<[Piece; 1]>);

/// An action with regions of its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BoundAction {
    pub(crate) port: u16,
    /// True if it waits for all receives and copies listed before it, in strict order.
    pub(crate) needs_written: bool,
    pub(crate) reads: Option<BoundRegion>,
    pub(crate) writes: Option<BoundRegion>,
    /// Receiver and tag of a send.
    pub(crate) send: Option<(Rank, u32)>,
    /// From whom it receives, and the tag.
    pub(crate) receive: Option<(Rank, u32)>,
    /// Treatment of existing data on arrival.
    pub(crate) arrival: Arrival,
    /// The rank from which the last message listed before it has to have come, whatever bytes both use.
    pub(crate) after: Option<Rank>,
}

impl BoundAction {
    pub(crate) fn new(action: &Action<'_>) -> BoundAction {
        let owned = |region: Region<'_>| (region.buffer, SmallVec::from_slice(region.pieces));
        BoundAction {
            port: action.port,
            needs_written: action.needs_written(),
            reads: action.reads().map(owned),
            writes: action.writes().map(owned),
            send: action.send().map(|send| (send.to, send.tag)),
            receive: action.receive().map(|receive| (receive.from, receive.tag)),
            arrival: action.arrival(),
            after: None,
        }
    }

    pub(crate) fn combines(&self) -> bool {
        self.arrival != Arrival::Store
    }

    pub(crate) fn is_copy(&self) -> bool {
        self.send.is_none() && self.receive.is_none()
    }

    /// The steps of the action.
    pub(crate) fn steps(&self) -> &'static [Doing] {
        use Doing::{Combine, Copy, Receive, Send};
        match (self.send.is_some(), self.receive.is_some(), self.combines()) {
            (false, false, false) => &[Copy],
            (false, false, true) => &[Copy, Combine],
            (true, false, _) => &[Send],
            (false, true, false) => &[Receive],
            (false, true, true) => &[Receive, Combine],
            (true, true, false) => &[Send, Receive],
            (true, true, true) => &[Send, Receive, Combine],
        }
    }

    /// Puts the data of one buffer into another, `shift` bytes from its start.
    pub(crate) fn relocate(&mut self, from: Buffer, into: Buffer, shift: u64) {
        for (buffer, pieces) in [&mut self.reads, &mut self.writes].into_iter().flatten() {
            if *buffer == from {
                *buffer = into;
                pieces.iter_mut().for_each(|piece| piece.offset += shift);
            }
        }
    }

    /// True if it copies data onto itself.
    pub(crate) fn copies_nothing(&self) -> bool {
        self.is_copy() && !self.combines() && self.reads == self.writes
    }
}

/// For each action the numbers of the messages that it sends and receives, among all between the same
/// two ranks: by tag, then in the order of the lists.
///
/// Both ends count alike if their lists fit together, whatever the order in which messages are
/// started: on several ports, or eagerly, that is not the order of the lists.
///
/// # Complexity
/// O(n log n).
pub(crate) fn message_numbers(actions: &[BoundAction]) -> Few<(u32, u32)> {
    let sent = |action: &BoundAction| action.send;
    let received = |action: &BoundAction| action.receive;
    if actions.len() <= SHORT {
        // Counted for each, which is quick where there are few.
        let earlier = |index: usize, end: &dyn Fn(&BoundAction) -> Option<(Rank, u32)>| {
            let Some((peer, tag)) = end(&actions[index]) else { return 0 };
            let is_earlier = |&(other, action): &(usize, &BoundAction)| {
                end(action).is_some_and(|(to, its)| to == peer && (its, other) < (tag, index))
            };
            actions.iter().enumerate().filter(is_earlier).count() as u32
        };
        return (0..actions.len())
            .map(|index| (earlier(index, &sent), earlier(index, &received)))
            .collect();
    }
    let mut numbers = Few::from_elem((0, 0), actions.len());
    for (index, number) in numbered(actions.iter().map(sent)) {
        numbers[index].0 = number;
    }
    for (index, number) in numbered(actions.iter().map(received)) {
        numbers[index].1 = number;
    }
    numbers
}

fn numbered(messages: impl Iterator<Item = Option<(Rank, u32)>>) -> Few<(usize, u32)> {
    let mut ends: Few<(Rank, u32, usize)> = messages
        .enumerate()
        .filter_map(|(index, message)| message.map(|(peer, tag)| (peer, tag, index)))
        .collect();
    ends.sort_unstable();
    let peers = ends.chunk_by(|one, other| one.0 == other.0);
    peers.flat_map(|chunk| chunk.iter().zip(0..).map(|(end, number)| (end.2, number))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_schedule::{Deed, Receive, Send};

    fn send(to: Rank, tag: u32) -> BoundAction {
        let pieces = [Piece { offset: 0, bytes: 1 }];
        let from = Region { buffer: Buffer::Input, pieces: &pieces };
        BoundAction::new(&Action { port: 0, deed: Deed::Send(Send { to, tag, from }) })
    }

    #[test]
    fn messages_are_numbered_by_tag_then_in_order() {
        let actions = [send(1, 7), send(2, 0), send(1, u32::MAX), send(1, 7), send(1, 0)];
        let numbers = |actions: &[BoundAction]| -> Vec<u32> {
            message_numbers(actions).iter().map(|pair| pair.0).collect()
        };
        assert_eq!(numbers(&actions), [1, 0, 3, 2, 0]);
        let more: Vec<BoundAction> =
            actions.into_iter().chain((2..9).map(|peer| send(peer, 1))).collect();
        assert_eq!(numbers(&more), [1, 0, 3, 2, 0, 1, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn data_in_place_is_copied_nowhere() {
        let own = [Piece { offset: 0, bytes: 4 }];
        let place = [Piece { offset: 8, bytes: 4 }];
        let from = Region { buffer: Buffer::Input, pieces: &own };
        let into = Region { buffer: Buffer::Output, pieces: &place };
        let deed = Deed::Copy { from, into, arrival: Arrival::Store };
        let mut copy = BoundAction::new(&Action { port: 0, deed });
        assert!(!copy.copies_nothing());
        copy.relocate(Buffer::Input, Buffer::Output, 8);
        assert!(copy.copies_nothing());
        let receive = Receive { from: 1, tag: 0, into, arrival: Arrival::Store };
        assert!(
            !BoundAction::new(&Action { port: 0, deed: Deed::Receive(receive) }).copies_nothing()
        );
    }
}
