//! Timelines of trees by the judge, which lets messages share a wire.

use super::matching::Matching;
use super::timeline::{ActionTimes, Critical, Timeline};
use super::{Sends, SimulationError, simulate};
use crate::action::Deed;
use crate::hold::Holds;
use crate::of_tree::tree_of;
use crate::schedule::Schedule;
use tuwtree_model::{
    JudgedTimes, MessageTimes, Ports, Problem, Rank, Root, StatedCosts, Time, TimeError, Tree,
    judged_times,
};

/// Times of all actions: by the judge for a schedule along a tree where latency overlaps, else as [`simulate`] has them
/// with synchronous sends.
///
/// The judge's messages share a wire. A receiver is busy with one from when it enters the wire, or the message before is
/// received, until it is received itself; the sender of a gather while it is on the wire; that of a scatter until it goes
/// on to the next. So a rank does one thing at a time.
///
/// # Errors
/// [`SimulationError`].
///
/// # Complexity
/// O(n log n) time, O(n) space for n actions.
///
/// # Source
/// `docs/planner-and-judge.md`.
pub fn perform(schedule: &Schedule, costs: &StatedCosts) -> Result<Timeline, SimulationError> {
    match judged(schedule, costs)? {
        Some(timeline) => Ok(timeline),
        None => simulate(schedule, costs, Sends::Synchronous),
    }
}

fn judged(schedule: &Schedule, costs: &StatedCosts) -> Result<Option<Timeline>, SimulationError> {
    let task = schedule.task();
    let is_judged = costs.costs().overlaps() && !task.duplex;
    let Some(tree) = tree_of(schedule).filter(|_| is_judged) else { return Ok(None) };
    let problem = || {
        let problem = Problem::new(task.operation, task.payload.clone(), costs.clone()).ok()?;
        let problem = problem.with_operator(task.operator).ok()?;
        let problem = problem.with_root(Root::Given(task.root?)).ok()?;
        Some(problem.with_ports(Ports::new(task.ports)?))
    };
    let Some(problem) = problem() else { return Ok(None) };
    let Some(times) = judged_times(&tree, &problem)? else { return Ok(None) };
    let matching = Matching::new(schedule.programs())?;
    let performance = JudgedTree::new(schedule, &tree, times);
    let Some((actions, path)) = performance.actions().transpose()?.zip(performance.path()) else {
        return Ok(None);
    };
    let programs = schedule.programs();
    let holds = Holds::new(programs, false);
    let owner = (0..programs.ranks())
        .flat_map(|rank| std::iter::repeat_n(rank as u32, programs.range(rank).len()));
    Ok(Some(Timeline::judged(programs, holds, owner.collect(), actions, (matching, path))))
}

/// A tree's schedule with the judge's times.
struct JudgedTree<'a> {
    schedule: &'a Schedule,
    tree: &'a Tree,
    times: JudgedTimes,
    /// Children of each rank whose messages its port carries, in the order in which they leave it; `p` entries.
    lanes: Vec<Vec<Rank>>,
    /// Time at which the message before that of each child has left the port of its parent; `p` entries.
    before: Vec<f64>,
    /// Actions by which each child, and its parent, move the child's message; `p` entries.
    ends: Vec<[Option<usize>; 2]>,
    /// Copy of each rank; `p` entries.
    copies: Vec<Option<usize>>,
}

impl<'a> JudgedTree<'a> {
    fn new(schedule: &'a Schedule, tree: &'a Tree, times: JudgedTimes) -> JudgedTree<'a> {
        let ranks = tree.ranks();
        let mut this = JudgedTree {
            schedule,
            tree,
            times,
            lanes: vec![Vec::new(); ranks],
            before: vec![0.0; ranks],
            ends: vec![[None; 2]; ranks],
            copies: vec![None; ranks],
        };
        for rank in 0..ranks {
            for (index, action) in schedule.programs().actions(rank).enumerate() {
                let peer = match action.deed {
                    Deed::Send(send) => send.to,
                    Deed::Receive(receive) => receive.from,
                    Deed::Copy { .. } | Deed::Exchange(..) => {
                        this.copies[rank] = Some(index);
                        continue;
                    }
                };
                match tree.parent(rank) == Some(peer) {
                    true => this.ends[rank][0] = Some(index),
                    false => this.ends[peer][1] = Some(index),
                }
            }
            let mut lane: Vec<Rank> =
                tree.children(rank).filter(|&child| this.times.messages[child].is_some()).collect();
            lane.sort_by(|&one, &other| this.freed(one).total_cmp(&this.freed(other)));
            let mut before = this.is_free(rank);
            for &child in &lane {
                this.before[child] = before;
                before = this.freed(child);
            }
            this.lanes[rank] = lane;
        }
        this
    }

    fn is_outward(&self) -> bool {
        self.schedule.task().operation.is_outward()
    }

    fn message(&self, child: Rank) -> MessageTimes {
        self.times.messages[child].expect("a child with a message")
    }

    /// Time from which a rank's port is free for its children's messages.
    fn is_free(&self, rank: Rank) -> f64 {
        match (self.is_outward(), self.times.messages[rank]) {
            (true, message) => message.map_or(0.0, |message| message.received),
            (false, _) => self.times.copies[rank].1,
        }
    }

    /// Time at which a child's message leaves its parent's port.
    fn freed(&self, child: Rank) -> f64 {
        let MessageTimes { left, received, .. } = self.message(child);
        if self.is_outward() { left } else { received }
    }

    /// Times of all actions in the order of the programs; `None` for an action that the judge does not know.
    fn actions(&self) -> Option<Result<Vec<ActionTimes>, TimeError>> {
        let programs = self.schedule.programs();
        let mut all = vec![ActionTimes::default(); programs.len()];
        let stated = |time: f64| Time::new(time.max(0.0)).ok_or(TimeError::NotFinite);
        let span = |ready: f64, latency: (f64, f64), start: f64, end: f64| {
            // A latency of which nothing is left passes at the start.
            let latency = if latency.0 < latency.1 { latency } else { (start, start) };
            Ok(ActionTimes {
                ready: stated(ready)?,
                start: stated(start)?,
                end: stated(end.max(start))?,
                latency: (stated(latency.0)?, stated(latency.1)?),
            })
        };
        let mut known = 0;
        let mut put = |rank: Rank, index: usize, times: Result<ActionTimes, TimeError>| {
            all[programs.range(rank).start + index] = times?;
            known += 1;
            Ok(())
        };
        for rank in 0..self.tree.ranks() {
            if let Some(index) = self.copies[rank] {
                let (start, end) = self.times.copies[rank];
                if let Err(error) = put(rank, index, span(start, (0.0, 0.0), start, end)) {
                    return Some(Err(error));
                }
            }
            let (Some(message), [Some(own), Some(others)]) =
                (self.times.messages[rank], self.ends[rank])
            else {
                continue;
            };
            let parent = self.tree.parent(rank).expect("a message has a parent");
            let MessageTimes { sent, begun, entered, left, received } = message;
            let (own_times, at_parent) = match self.is_outward() {
                true => (
                    span(0.0, (sent, entered), entered, received),
                    span(sent, (0.0, 0.0), sent, begun),
                ),
                false => {
                    let last = self.lanes[rank].last();
                    let ready = last.map_or(self.is_free(rank), |&last| self.freed(last));
                    let before = self.before[rank];
                    (
                        span(ready, (sent, entered), entered, left),
                        span(before, (0.0, 0.0), entered.max(before), received),
                    )
                }
            };
            let both = put(rank, own, own_times).and_then(|()| put(parent, others, at_parent));
            if let Err(error) = both {
                return Some(Err(error));
            }
        }
        (known == programs.len()).then_some(Ok(all))
    }

    /// The chain of messages that determines the completion time, first to last.
    fn path(&self) -> Option<Vec<Critical>> {
        let mut path = Vec::new();
        match self.is_outward() {
            true => self.outward_path(&mut path)?,
            false => self.inward_path(&mut path)?,
        }
        path.reverse();
        Some(path)
    }

    fn push(
        &self,
        path: &mut Vec<Critical>,
        (rank, action): (Rank, Option<usize>),
        (start, end): (f64, f64),
    ) -> Option<()> {
        let [start, end] = [start, end].map(|time| Time::new(time.max(0.0)));
        let held = crate::hold::Held::Port;
        path.push(Critical { rank, action: action?, held, start: start?, end: end? });
        Some(())
    }

    fn inward_path(&self, path: &mut Vec<Critical>) -> Option<()> {
        let mut rank = self.tree.root();
        'ranks: loop {
            for &child in self.lanes[rank].iter().rev() {
                let MessageTimes { sent, entered, received, .. } = self.message(child);
                let before = self.before[child];
                let waits = entered > before;
                let start = if waits { sent } else { before };
                self.push(path, (rank, self.ends[child][1]), (start, received))?;
                if waits {
                    rank = child;
                    continue 'ranks;
                }
            }
            let (start, end) = self.times.copies[rank];
            if start < end {
                self.push(path, (rank, self.copies[rank]), (start, end))?;
            }
            return Some(());
        }
    }

    fn outward_path(&self, path: &mut Vec<Critical>) -> Option<()> {
        let received =
            |rank: Rank| self.times.messages[rank].map_or(0.0, |message| message.received);
        let end = |rank: Rank| received(rank).max(self.times.copies[rank].1);
        let ranks = 0..self.tree.ranks();
        // Of several, the least rank.
        let last = ranks.rev().max_by(|&one, &other| end(one).total_cmp(&end(other)))?;
        let (start, copied) = self.times.copies[last];
        if copied > received(last) {
            self.push(path, (last, self.copies[last]), (start, copied))?;
            // It follows when all messages have been begun.
            let begun = |&one: &Rank, &other: &Rank| {
                self.message(one).sent.total_cmp(&self.message(other).sent)
            };
            if let Some(child) = self.lanes[last].iter().copied().max_by(begun) {
                self.push(path, (last, self.ends[child][1]), (self.is_free(last), start))?;
            }
        }
        let mut rank = last;
        while let Some(parent) =
            self.tree.parent(rank).filter(|_| self.times.messages[rank].is_some())
        {
            let place = self.lanes[parent].iter().position(|&child| child == rank)?;
            let mut end = received(rank);
            for &child in self.lanes[parent][..=place].iter().rev() {
                let before = self.before[child];
                let waits = self.message(child).entered > before || child == self.lanes[parent][0];
                let start = if waits { self.is_free(parent) } else { before };
                self.push(path, (parent, self.ends[child][1]), (start, end))?;
                if waits {
                    break;
                }
                end = before;
            }
            rank = parent;
        }
        Some(())
    }
}
