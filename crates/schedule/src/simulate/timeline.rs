//! Result of a simulation: starts, ends and waits, and values derived from these.

use super::matching::Matching;
use crate::hold::{Held, Holds};
use crate::program::Programs;
use tuwtree_model::{Rank, Time};

/// Times of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ActionTimes {
    /// Time at which its rank is ready for it: the port is free, and its data has been written.
    pub ready: Time,
    /// Its start; for an exchange, the start of the part that ends last. From `ready` until then it
    /// waits for the other rank, or for its message.
    pub start: Time,
    /// Not before `start`, in the time units of the costs.
    pub end: Time,
    /// From when to when, of the time from `ready` to `start`, the latency of its message passes; twice
    /// `start` if none does.
    pub latency: (Time, Time),
}

/// Occupation of a port, or of one side of it, with its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupation {
    /// The index of the action in its rank's list.
    pub action: usize,
    /// The action, or its half.
    pub held: Held,
    /// Its times; of a receive that combines, the times of combining, which waits for the send beside it.
    pub times: ActionTimes,
}

/// Cause of a wait for the end of a hold.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cause {
    /// The hold itself, or the other end of its message, or what sends beside it: the one without which it would
    /// have ended earlier.
    pub(super) action: u32,
    /// Since when that one was ready.
    pub(super) start: Time,
}

/// The times of all actions of a schedule.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// An entry for each action, in the order of [`Programs`].
    actions: Vec<ActionTimes>,
    /// An entry for each hold, where these are not the actions.
    halves: Vec<ActionTimes>,
    holds: Holds,
    /// An entry for each hold: its rank.
    owner: Vec<u32>,
    /// An entry for each hold.
    cause: Vec<Cause>,
    /// End of each rank's actions.
    ends: Vec<u32>,
    matching: Matching,
    completion_time: Time,
    /// The critical path of a tree by the judge.
    path: Option<Vec<Critical>>,
}

/// An action on the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Critical {
    /// The rank that performs the action.
    pub rank: Rank,
    /// The index of the action in the rank's list.
    pub action: usize,
    /// The action, or its half on the path.
    pub held: Held,
    /// Its start; of an exchange, the start of the half on the path. A message with overlapping latency starts with its
    /// latency.
    pub start: Time,
    /// Its end, or the end of that half; of a message, the later end.
    pub end: Time,
}

impl Timeline {
    pub(super) fn new(
        programs: &Programs,
        holds: Holds,
        owner: Vec<u32>,
        times: Vec<ActionTimes>,
        cause: Vec<Cause>,
        matching: Matching,
    ) -> Timeline {
        let ends = (0..programs.ranks()).map(|rank| programs.range(rank).end as u32).collect();
        let completion_time = times.iter().map(|times| times.end).max().unwrap_or_default();
        let (actions, halves) = match holds.are_actions() {
            true => (times, Vec::new()),
            false => {
                let action = |at| together(&times[holds.of(at..at + 1)]);
                ((0..programs.len()).map(action).collect(), times)
            }
        };
        let path = None;
        Timeline { actions, halves, holds, owner, cause, ends, matching, completion_time, path }
    }

    /// The timeline of a tree by the judge, with its critical path.
    pub(super) fn judged(
        programs: &Programs,
        holds: Holds,
        owner: Vec<u32>,
        times: Vec<ActionTimes>,
        (matching, path): (Matching, Vec<Critical>),
    ) -> Timeline {
        let timeline = Timeline::new(programs, holds, owner, times, Vec::new(), matching);
        Timeline { path: Some(path), ..timeline }
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.ends.len()
    }

    /// The end of the last action.
    pub fn completion_time(&self) -> Time {
        self.completion_time
    }

    /// The times of a rank's actions, in the order of its list.
    pub fn actions(&self, rank: Rank) -> &[ActionTimes] {
        &self.actions[self.range(rank)]
    }

    /// Occupations of a rank's ports with their times, in the order of its actions: each action, or with duplex ports,
    /// of an exchange the send and then the receive.
    pub fn occupations(&self, rank: Rank) -> impl Iterator<Item = Occupation> + '_ {
        let first = self.first(rank);
        self.holds.of(self.range(rank)).map(move |hold| Occupation {
            action: self.holds.action(hold) - first,
            held: self.holds.held(hold),
            times: self.times()[hold],
        })
    }

    /// The times of what receives in an action that does: of the action, or on a duplex port, of that half.
    ///
    /// # Panics
    /// If the rank has no such action.
    pub fn receiving(&self, rank: Rank, action: usize) -> ActionTimes {
        self.times()[self.holds.receiving(self.index(rank, action))]
    }

    /// The times of what sends in an action that does: of the action, or on a duplex port, of that half.
    ///
    /// # Panics
    /// If the rank has no such action.
    pub fn sending(&self, rank: Rank, action: usize) -> ActionTimes {
        self.times()[self.holds.sending(self.index(rank, action))]
    }

    /// The rank that receives what this action sends, and the index of the receiving action in its
    /// list; nothing if the action does not send.
    ///
    /// # Panics
    /// If the rank has no such action.
    pub fn receipt(&self, rank: Rank, action: usize) -> Option<(Rank, usize)> {
        let receiver = self.matching.receiver_of(self.index(rank, action));
        receiver.map(|index| self.place(self.holds.receiving(index)))
    }

    /// The rank that sends what this action receives, and the index of the sending action in its
    /// list; nothing if the action does not receive.
    ///
    /// # Panics
    /// If the rank has no such action.
    pub fn origin(&self, rank: Rank, action: usize) -> Option<(Rank, usize)> {
        let sender = self.matching.sender_to(self.index(rank, action));
        sender.map(|index| self.place(self.holds.sending(index)))
    }

    /// Time that actions in progress occupy a rank's ports: the sum of all its actions' durations, in time units. With
    /// one port, at most the completion time. With duplex ports, the sum over all sides.
    pub fn busy_units(&self, rank: Rank) -> f64 {
        self.total(rank, |times| times.end.before(times.start))
    }

    /// Time that a rank's ports are occupied by actions that wait for another rank, or for the
    /// latency of a message, in time units.
    pub fn waiting_units(&self, rank: Rank) -> f64 {
        self.total(rank, |times| times.start.before(times.ready))
    }

    fn total(&self, rank: Rank, span: impl Fn(&ActionTimes) -> Time) -> f64 {
        let sides = |held| match held {
            Held::Port if !self.holds.are_actions() => 2.0,
            _ => 1.0,
        };
        // Not `sum`, which is -0 where there are no actions.
        self.occupations(rank)
            .fold(0.0, |units, held| units + sides(held.held) * span(&held.times).units())
    }

    /// An entry for each hold.
    fn times(&self) -> &[ActionTimes] {
        if self.holds.are_actions() { &self.actions } else { &self.halves }
    }

    /// A chain of actions, each starting when the one before ends, from time 0 to the completion
    /// time, in the order of time: what would have to be faster for the whole to be.
    ///
    /// A message appears once, at the rank that did not wait for the other. Of several such
    /// chains, it is the one that ends at the rank of least rank, and stays with a rank
    /// as long as it can.
    ///
    /// # Complexity
    /// O(n) for n actions.
    pub fn critical_path(&self) -> Vec<Critical> {
        if let Some(path) = &self.path {
            return path.clone();
        }
        let last = |&index: &usize| {
            self.times()[index].end == self.completion_time && self.takes_time(index)
        };
        let Some(mut index) = (0..self.holds.len()).find(last) else { return Vec::new() };
        let mut path = Vec::new();
        loop {
            let end = self.times()[index].end;
            let Cause { action, start } = self.cause[index];
            index = action as usize;
            path.push(self.critical(index, start, end));
            match self.ending_at(index, start) {
                // Actions that take no time might follow each other in a circle.
                Some(before) if path.len() < self.holds.len() => index = before,
                _ => break,
            }
        }
        path.reverse();
        path
    }

    /// The last action before this one in its rank's list that ends then, preferably one that
    /// takes time.
    fn ending_at(&self, index: usize, time: Time) -> Option<usize> {
        if time == Time::ZERO {
            return None;
        }
        let first = self.holds.of(self.range(self.owner[index] as Rank)).start;
        let ending = |&before: &usize| self.times()[before].end == time;
        let mut before = (first..index).rev().filter(ending);
        before.clone().find(|&before| self.takes_time(before)).or_else(|| before.next())
    }

    /// True if an action, or the latency before it, takes any time.
    fn takes_time(&self, index: usize) -> bool {
        self.cause[index].start < self.times()[index].end
    }

    fn critical(&self, index: usize, start: Time, end: Time) -> Critical {
        let (rank, action) = self.place(index);
        Critical { rank, action, held: self.holds.held(index), start, end }
    }

    /// The indices of a rank's actions among all.
    fn range(&self, rank: Rank) -> std::ops::Range<usize> {
        self.first(rank)..self.ends[rank] as usize
    }

    /// The index of a rank's first action among all.
    fn first(&self, rank: Rank) -> usize {
        if rank == 0 { 0 } else { self.ends[rank - 1] as usize }
    }

    /// The index of a rank's action among all.
    fn index(&self, rank: Rank, action: usize) -> usize {
        assert!(action < self.actions(rank).len(), "rank {rank} has no action {action}");
        self.first(rank) + action
    }

    /// The rank of a hold, and the index of its action in the rank's list.
    fn place(&self, hold: usize) -> (Rank, usize) {
        let rank = self.owner[hold] as Rank;
        (rank, self.holds.action(hold) - self.first(rank))
    }
}

/// The times of an action whose halves have these.
fn together(halves: &[ActionTimes]) -> ActionTimes {
    let mut halves = halves.iter().copied();
    let first = halves.next().expect("an action has a hold");
    halves.fold(first, |one, other| {
        let last = if other.end >= one.end { other } else { one };
        ActionTimes { ready: one.ready.min(other.ready), ..last }
    })
}
