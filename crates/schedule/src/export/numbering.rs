//! Numbers that tell messages between two ranks apart, whatever order they are started in.

use crate::schedule::Schedule;
use tuwtree_model::Rank;

/// The messages between each two ranks numbered from 0, by tag, then in the order of the lists.
pub(super) struct Numbering {
    /// For each action of all ranks, the numbers of its send and its receive; 0 for none.
    pub(super) of_actions: Vec<(u32, u32)>,
    /// The sender and the receiver between whom there are most messages, and how many.
    pub(super) most: Option<(Rank, Rank, usize)>,
}

/// Sender, receiver, tag, and the index of the action.
type NumberedEnd = (Rank, Rank, u32, usize);

impl Numbering {
    /// The numbers of a schedule's messages.
    ///
    /// # Complexity
    /// O(n log n) for n actions.
    pub(super) fn new(schedule: &Schedule) -> Numbering {
        let programs = schedule.programs();
        let (mut sends, mut receives): (Vec<NumberedEnd>, Vec<NumberedEnd>) =
            (Vec::new(), Vec::new());
        for rank in 0..programs.ranks() {
            for index in programs.range(rank) {
                let action = programs.action(index);
                if let Some(send) = action.send() {
                    sends.push((rank, send.to, send.tag, index));
                }
                if let Some(receive) = action.receive() {
                    receives.push((receive.from, rank, receive.tag, index));
                }
            }
        }
        let mut numbering = Numbering { of_actions: vec![(0, 0); programs.len()], most: None };
        numbering.number(sends, |numbers| &mut numbers.0);
        numbering.number(receives, |numbers| &mut numbers.1);
        numbering
    }

    fn number(&mut self, mut ends: Vec<NumberedEnd>, side: impl Fn(&mut (u32, u32)) -> &mut u32) {
        ends.sort_unstable();
        for pair in ends.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
            if self.most.is_none_or(|(.., messages)| messages < pair.len()) {
                self.most = Some((pair[0].0, pair[0].1, pair.len()));
            }
            for (end, number) in pair.iter().zip(0..) {
                *side(&mut self.of_actions[end.3]) = number;
            }
        }
    }
}
