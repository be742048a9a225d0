//! Performs the waiting of a schedule without its data: in which order things can happen, or why
//! they stop.
//!
//! An action starts when the one before it on its port has ended and, if it reads written data, when all earlier
//! receives and copies have. A message moves when its send and its receive have both started. Waiting only ever ends,
//! so the result does not depend on the order of examination.
//!
//! All of this is said of holds: of actions, or of halves of exchanges where ports are duplex.
//!
//! ```text
//!         port free       writers before it ended      its messages have both ends started
//! Listed ----------> Waits ---------------------> Started ------------------------------> Ended
//!   ^                  ^        (the front has passed it)                                   |
//!   |                  +---- advance: the rank's front moves over all that has ended -------+
//!   +----------------------- free_port: the next action on its port ------------------------+
//! ```

use super::matching::{MatchedMessage, MatchedMessages};
use super::{Actions, NONE, Stuck};
use crate::hold::Held;
use crate::simulate::Sends;
use std::collections::VecDeque;

/// Something that happens.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// The copy with this index among the actions.
    Copy(u32),
    /// The message with this index among the messages.
    Message(u32),
}

/// A schedule that runs to its end.
pub(super) struct Completed {
    /// All copies and messages, each after the events that it waits for.
    pub(super) events: Vec<Event>,
    /// The most messages one after the other.
    pub(super) rounds: u32,
}

/// All copies and messages in an order in which they can happen.
///
/// # Errors
/// A cycle of actions that wait for each other.
///
/// # Complexity
/// O(p + n) for n actions.
pub(super) fn run(
    actions: &Actions<'_>,
    messages: &MatchedMessages,
    sends: Sends,
) -> Result<Completed, Vec<Stuck>> {
    let mut run = ProgressCheck::new(actions, messages, sends);
    while let Some(index) = run.ready.pop_front() {
        run.start(index);
    }
    if run.ended == actions.holds.len() { Ok(run.progress) } else { Err(run.cycle()) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ActionState {
    /// The action before it on its port has not ended.
    Listed,
    /// Its port is free, but it waits for receives or copies.
    Waits,
    Started,
    Ended,
}

struct ProgressCheck<'a> {
    actions: &'a Actions<'a>,
    messages: &'a MatchedMessages,
    sends: Sends,
    state: Vec<ActionState>,
    /// For each hold how many of its messages have not ended; of a receive that combines on a duplex port, the last send
    /// there is one of them.
    open: Vec<u8>,
    /// For each hold the number of rounds before it can start, as far as known.
    starts: Vec<u32>,
    /// And before it has ended.
    ends: Vec<u32>,
    /// For each hold how many rounds all earlier receives and copies take; known when these have
    /// ended.
    round_of_writers: Vec<u32>,
    before_on_lanes: Vec<[u32; 2]>,
    after_on_lanes: Vec<[u32; 2]>,
    /// For each rank the first hold that receives or copies and has not ended, or its end.
    front: Vec<u32>,
    ready: VecDeque<u32>,
    ended: usize,
    progress: Completed,
}

impl<'a> ProgressCheck<'a> {
    fn new(
        actions: &'a Actions<'a>,
        messages: &'a MatchedMessages,
        sends: Sends,
    ) -> ProgressCheck<'a> {
        let number = actions.holds.len();
        let before_on_lanes = actions.before_on_lanes();
        let mut after_on_lanes = vec![[NONE; 2]; number];
        for (index, &before) in before_on_lanes.iter().enumerate() {
            for before in before.into_iter().filter(|&before| before != NONE) {
                let after = &mut after_on_lanes[before as usize];
                let free = usize::from(after[0] != NONE);
                after[free] = index as u32;
            }
        }
        let ranks = actions.schedule.ranks();
        let mut run = ProgressCheck {
            actions,
            messages,
            sends,
            state: vec![ActionState::Listed; number],
            open: vec![0; number],
            starts: vec![0; number],
            ends: vec![0; number],
            round_of_writers: vec![0; number],
            before_on_lanes,
            after_on_lanes,
            front: (0..ranks).map(|rank| actions.holds_of(rank).start as u32).collect(),
            ready: VecDeque::new(),
            ended: 0,
            progress: Completed { events: Vec::new(), rounds: 0 },
        };
        for rank in 0..ranks {
            run.advance(rank);
        }
        for index in 0..number as u32 {
            if run.before_on_lanes[index as usize] == [NONE; 2] {
                run.free_port(index);
            }
        }
        run
    }

    /// The action of a hold.
    fn action(&self, index: u32) -> usize {
        self.actions.holds.action(index as usize)
    }

    /// The rank of a hold.
    fn rank(&self, index: u32) -> usize {
        self.actions.rank(self.action(index) as u32)
    }

    /// The messages that a hold sends and receives, or [`NONE`].
    fn messages(&self, index: u32) -> (u32, u32) {
        let (action, held) = (self.action(index), self.actions.holds.held(index as usize));
        let (sent, received) = (self.messages.sent[action], self.messages.received[action]);
        match held {
            Held::Port => (sent, received),
            Held::SendSide => (sent, NONE),
            Held::ReceiveSide => (NONE, received),
        }
    }

    /// The holds that send and receive a message.
    fn ends_of(&self, message: u32) -> (u32, u32) {
        let MatchedMessage { send, receive } = self.messages.list[message as usize];
        let holds = &self.actions.holds;
        (holds.sending(send as usize) as u32, holds.receiving(receive as usize) as u32)
    }

    /// The last send on its duplex port, without which what this hold receives is not combined.
    fn awaited_send(&self, index: u32) -> Option<u32> {
        self.actions.holds.awaited_send(index as usize).map(|send| send as u32)
    }

    /// The port of this hold is free for it.
    fn free_port(&mut self, index: u32) {
        let waits = self.actions.waits(index) && self.front[self.rank(index)] < index;
        if waits {
            self.state[index as usize] = ActionState::Waits;
        } else {
            self.state[index as usize] = ActionState::Started;
            self.ready.push_back(index);
        }
    }

    /// Moves a rank's front over all that has ended, and lets go what waited for that.
    fn advance(&mut self, rank: usize) {
        let end = self.actions.holds_of(rank).end as u32;
        loop {
            let front = self.front[rank];
            if front == end {
                return;
            }
            let at = front as usize;
            if self.state[at] == ActionState::Waits {
                self.state[at] = ActionState::Started;
                self.ready.push_back(front);
            }
            let mut rounds = self.round_of_writers[at];
            if self.actions.writes(front) {
                if self.state[at] != ActionState::Ended {
                    return;
                }
                rounds = rounds.max(self.ends[at]);
            }
            if front + 1 < end {
                self.round_of_writers[at + 1] = rounds;
            }
            self.front[rank] = front + 1;
        }
    }

    fn start(&mut self, index: u32) {
        let at = index as usize;
        if self.actions.waits(index) {
            self.starts[at] = self.starts[at].max(self.round_of_writers[at]);
        }
        let (sent, received) = self.messages(index);
        self.ends[at] = self.starts[at];
        self.open[at] = u8::from(sent != NONE) + u8::from(received != NONE);
        if let Some(send) = self.awaited_send(index) {
            let send = send as usize;
            match self.state[send] {
                ActionState::Ended => self.ends[at] = self.ends[at].max(self.ends[send]),
                _ => self.open[at] += 1,
            }
        }
        if self.open[at] == 0 {
            self.progress.events.push(Event::Copy(self.action(index) as u32));
            self.end(index);
            return;
        }
        if sent != NONE {
            let (_, receive) = self.ends_of(sent);
            if self.has_begun(receive) {
                self.deliver(sent);
            }
            if self.sends == Sends::Eager {
                self.end_half(index);
            }
        }
        if received != NONE {
            let (send, _) = self.ends_of(received);
            if self.has_begun(send) {
                self.deliver(received);
            }
        }
    }

    /// True if a hold has been started by [`ProgressCheck::start`], not only found to be ready.
    fn has_begun(&self, index: u32) -> bool {
        let at = index as usize;
        self.open[at] > 0 || self.state[at] == ActionState::Ended
    }

    fn deliver(&mut self, message: u32) {
        let (send, receive) = self.ends_of(message);
        let round = 1 + self.starts[send as usize].max(self.starts[receive as usize]);
        self.progress.events.push(Event::Message(message));
        self.progress.rounds = self.progress.rounds.max(round);
        self.ends[receive as usize] = self.ends[receive as usize].max(round);
        self.end_half(receive);
        if self.sends == Sends::Synchronous {
            self.ends[send as usize] = self.ends[send as usize].max(round);
            self.end_half(send);
        }
    }

    fn end_half(&mut self, index: u32) {
        self.open[index as usize] -= 1;
        if self.open[index as usize] == 0 {
            self.end(index);
        }
    }

    fn end(&mut self, index: u32) {
        let at = index as usize;
        self.state[at] = ActionState::Ended;
        self.ended += 1;
        if self.actions.writes(index) {
            self.advance(self.rank(index));
        }
        let mut after = self.after_on_lanes[at];
        if after[0] == after[1] {
            // Two copies follow each other.
            after[1] = NONE;
        }
        for next in after.into_iter().filter(|&next| next != NONE) {
            let starts = &mut self.starts[next as usize];
            *starts = self.ends[at].max(*starts);
            let before = self.before_on_lanes[next as usize].into_iter();
            let mut before = before.filter(|&before| before != NONE);
            if before.all(|before| self.state[before as usize] == ActionState::Ended) {
                self.free_port(next);
            }
        }
        // What has been sent may be combined with what has come.
        let holds = &self.actions.holds;
        for receive in
            holds.awaiting(at).filter(|&receive| self.open[receive] > 0).collect::<Vec<_>>()
        {
            self.ends[receive] = self.ends[receive].max(self.ends[at]);
            self.end_half(receive as u32);
        }
    }

    /// Actions each of which waits for the next, the last for the first. Such a cycle exists: each action that has not
    /// ended waits for another.
    fn cycle(&self) -> Vec<Stuck> {
        let first_on_lane = self.first_on_lane();
        let has_not_ended = |&index: &u32| self.state[index as usize] != ActionState::Ended;
        let mut index = (0..self.actions.holds.len() as u32)
            .find(has_not_ended)
            .expect("the schedule has not run to its end");
        // The place of each action on the way so far.
        let mut place = vec![NONE; self.actions.holds.len()];
        let mut way = Vec::new();
        while place[index as usize] == NONE {
            place[index as usize] = way.len() as u32;
            way.push(index);
            index = self.waits_for(index, &first_on_lane);
        }
        let mut cycle = way.split_off(place[index as usize] as usize);
        // From the least of the messages that wait for each other.
        let started = |&index: &u32| self.state[index as usize] == ActionState::Started;
        let least = cycle.iter().copied().filter(started).min();
        let start = cycle.iter().position(|&index| Some(index) == least).unwrap_or(0);
        cycle.rotate_left(start);
        let stuck = |index| {
            let action = self.action(index) as u32;
            Stuck { at: self.actions.at(action), doing: self.actions.doing(action) }
        };
        let mut cycle: Vec<Stuck> = cycle.into_iter().map(stuck).collect();
        // Halves of one exchange.
        cycle.dedup();
        cycle
    }

    /// For each hold that has not ended the first such one on one of its lanes.
    fn first_on_lane(&self) -> Vec<u32> {
        let mut first: Vec<u32> = (0..self.actions.holds.len() as u32).collect();
        for (index, before) in self.before_on_lanes.iter().enumerate() {
            let open =
                |&before: &u32| before != NONE && self.state[before as usize] != ActionState::Ended;
            if let Some(before) = before.iter().copied().find(open) {
                first[index] = first[before as usize];
            }
        }
        first
    }

    /// An action that must start or end before this one can.
    fn waits_for(&self, index: u32, first_on_lane: &[u32]) -> u32 {
        match self.state[index as usize] {
            ActionState::Listed => first_on_lane[index as usize],
            ActionState::Waits => self.front[self.rank(index)],
            ActionState::Started | ActionState::Ended => {
                let (sent, received) = self.messages(index);
                let receiver = (sent != NONE).then(|| self.ends_of(sent).1);
                let sender = (received != NONE).then(|| self.ends_of(received).0);
                let has_not_begun = |&peer: &u32| !self.has_begun(peer);
                let mut peers = receiver.into_iter().chain(sender);
                let beside = || self.awaited_send(index);
                let peer = peers.find(has_not_begun).or_else(beside);
                peer.expect("a message that waits for its other end")
            }
        }
    }
}
