//! Actions that write where an earlier action in the list reads or writes.
//!
//! Such an action must not overtake: a message that arrives early has to wait beside its place.

use crate::action::{Action, Buffer, Region};
use std::collections::BTreeMap;
use tuwtree_model::ClosedSet;

/// The bytes of one rank's buffers that its actions have touched so far.
#[derive(Default)]
pub(super) struct Touched {
    /// For each buffer, disjoint ranges that do not meet: start to end.
    ranges: [BTreeMap<u64, u64>; 3],
}

impl Touched {
    /// True if the action, the next in the list, is guarded: it writes where data was read or
    /// written before, or its own sent data.
    ///
    /// # Complexity
    /// O(log n) amortized for each piece.
    pub(super) fn guards(&mut self, action: &Action<'_>) -> bool {
        if let Some(region) = action.reads() {
            self.add(region);
        }
        let Some(region) = action.writes() else { return false };
        let meets = self.meets(region);
        self.add(region);
        meets
    }

    fn ranges(&mut self, buffer: Buffer) -> &mut BTreeMap<u64, u64> {
        let place = Buffer::ALL.iter().position(|&known| known == buffer);
        &mut self.ranges[place.expect("ALL has all buffers")]
    }

    fn meets(&mut self, region: Region<'_>) -> bool {
        let ranges = self.ranges(region.buffer);
        region.pieces.iter().any(|piece| {
            let before = ranges.range(..piece.end()).next_back();
            before.is_some_and(|(_, &end)| end > piece.offset)
        })
    }

    fn add(&mut self, region: Region<'_>) {
        let ranges = self.ranges(region.buffer);
        for piece in region.pieces {
            let (mut start, mut end) = (piece.offset, piece.end());
            while let Some((&known, &known_end)) = ranges.range(..=end).next_back()
                && known_end >= start
            {
                ranges.remove(&known);
                (start, end) = (start.min(known), end.max(known_end));
            }
            ranges.insert(start, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::{Arrival, Deed, Piece, Receive, Send};

    fn receive(pieces: &[Piece]) -> Action<'_> {
        let into = Region { buffer: Buffer::Segment, pieces };
        let deed = Deed::Receive(Receive { from: 1, tag: 0, into, arrival: Arrival::Store });
        Action { port: 0, deed }
    }

    fn piece(offset: u64, bytes: u64) -> [Piece; 1] {
        [Piece { offset, bytes }]
    }

    #[test]
    fn only_what_was_touched_before_is_guarded() {
        let mut touched = Touched::default();
        assert!(!touched.guards(&receive(&piece(4, 4))));
        assert!(!touched.guards(&receive(&piece(0, 4))), "beside it");
        assert!(!touched.guards(&receive(&piece(10, 2))), "behind it");
        assert!(touched.guards(&receive(&piece(7, 3))), "its last byte");
        assert!(touched.guards(&receive(&piece(9, 1))), "the gap is filled");
        assert!(!touched.guards(&receive(&piece(12, 1))));
    }

    #[test]
    fn an_exchange_is_guarded_from_its_own_send() {
        let held = piece(0, 8);
        let exchange = |into| Action {
            port: 0,
            deed: Deed::Exchange(
                Send { to: 1, tag: 0, from: Region { buffer: Buffer::Segment, pieces: &held } },
                Receive { from: 1, tag: 0, into, arrival: Arrival::Store },
            ),
        };
        let same = Region { buffer: Buffer::Segment, pieces: &held };
        let other = Region { buffer: Buffer::Output, pieces: &held };
        assert!(Touched::default().guards(&exchange(same)));
        assert!(!Touched::default().guards(&exchange(other)));
    }
}
