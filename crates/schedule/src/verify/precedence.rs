//! Actions that have ended before a message can arrive, at any times: followed back along waits and messages.
//!
//! On a duplex port a rank may be ready to receive into data that it still sends. That is no race if the received data
//! depends on the sent data, for instance where a rank gives its vector away and gets the result.
//!
//! ```text
//! rank 0, sends     [ vector to 1 ]             rank 0 may receive from the start, but what comes left rank 1
//! rank 0, receives                 [ result ]   after the vector had come there, and so after it was sent
//! rank 1                [ vector ]-->[ ... ]-->[ result to 0 ]
//! ```

use super::matching::MatchedMessages;
use super::{Actions, NONE};
use crate::hold::Held;
use std::collections::{BTreeMap, BTreeSet};
use tuwtree_model::Rank;

/// The holds that have ended before what this one receives can arrive; no more than are sure to have.
///
/// # Complexity
/// O(n log n) for n actions.
pub(super) fn ended_before_arrival(
    actions: &Actions<'_>,
    messages: &MatchedMessages,
    before_on_lanes: &[[u32; 2]],
    hold: u32,
) -> BTreeSet<u32> {
    let mut search = PathSearch { actions, messages, ended: BTreeSet::new(), waits: Vec::new() };
    let mut started = BTreeSet::new();
    // Up to where all that writes has ended, for each rank.
    let mut written: BTreeMap<Rank, usize> = BTreeMap::new();
    let mut starts: Vec<u32> = search.sender(hold).into_iter().collect();
    while let Some(start) = starts.pop() {
        if !started.insert(start) {
            continue;
        }
        let before = before_on_lanes[start as usize].into_iter().filter(|&hold| hold != NONE);
        search.waits.extend(before);
        if actions.waits(start) {
            let rank = actions.rank(actions.holds.action(start as usize) as u32);
            let known = written.entry(rank).or_insert(actions.holds_of(rank).start);
            let new = *known..start as usize;
            *known = (*known).max(start as usize);
            search.waits.extend(new.map(|hold| hold as u32).filter(|&hold| actions.writes(hold)));
        }
        while let Some(ended) = search.waits.pop() {
            if search.ended.insert(ended) {
                starts.push(ended);
                // What has come has left, and what is combined is so when what was sent has left.
                let sender = search.sender(ended);
                let awaited = actions.holds.awaited_send(ended as usize);
                starts.extend(sender);
                search.waits.extend(sender.into_iter().chain(awaited.map(|send| send as u32)));
            }
        }
    }
    search.ended
}

struct PathSearch<'a> {
    actions: &'a Actions<'a>,
    messages: &'a MatchedMessages,
    ended: BTreeSet<u32>,
    /// Further ended actions, not yet examined.
    waits: Vec<u32>,
}

impl PathSearch<'_> {
    /// The hold that sends what this one receives, if it does.
    fn sender(&self, hold: u32) -> Option<u32> {
        let holds = &self.actions.holds;
        let received = self.messages.received[holds.action(hold as usize)];
        let receives = holds.held(hold as usize) != Held::SendSide && received != NONE;
        receives.then(|| holds.sending(self.messages.list[received as usize].send as usize) as u32)
    }
}
