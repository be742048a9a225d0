//! Simulation: when each action of a schedule starts and ends under a cost model.
//!
//! Written without regard to trees: ranks perform their actions, a message is transmitted when both
//! its ends are ready, and everything happens as soon as possible. Ports need no queue of events in the
//! order of time: an action's times follow from the times of the actions that it waits for. Wires that
//! nodes share do: their messages are taken in the order of their starts, and no message lets another
//! start earlier than itself.
//!
//! ```text
//!            ready: port free, input written         meet: both ends posted
//! candidate --------------------------------> posted ----------------------> over, at start + duration
//!     ^                                         |  copies and eager sends: at once     ^      |
//!     |                                         +--------------------------------------+      |
//!     +---- the next on its port; those that waited for what it has written (note_written) ---+
//! ```
//!
//! # Source
//! OPT section 2.1: synchronous, one-ported communication at linear cost; section 2.3 for k ports.

mod judged;
mod matching;
#[cfg(test)]
mod tests;
mod timeline;

use crate::action::{Action, Arrival, Deed};
use crate::hold::{Held, Holds};
use crate::program::Programs;
use crate::schedule::Schedule;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use timeline::Cause;
use tuwtree_model::{CostModel, Operation, Operator, Rank, SharedWires, Time, TimeError};

pub use judged::perform;
pub(crate) use matching::Matching;
pub use matching::Unmatched;
pub use timeline::{ActionTimes, Critical, Occupation, Timeline};

/// Whether a sender waits for its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Sends {
    /// It does: a transmission starts when both are ready (rendezvous, as in the papers).
    #[default]
    Synchronous,
    /// It does not: a send occupies the sender's port for the transmission's time from the moment
    /// the sender is ready. A receiver that comes later occupies its port for that time, too.
    Eager,
}

/// When the receiver of a message is ready for it, as far as latency is concerned that overlaps with
/// other work. Without such latency it makes no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Posts {
    /// All receives are posted at the start: the latency passes while the receiver does other things.
    #[default]
    PrePosted,
    /// A receive is posted when the action before it has ended. A sender that waits for its receiver
    /// waits until then, and only then the latency begins.
    Strict,
}

/// How messages go from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Handover {
    /// Whether senders wait.
    pub sends: Sends,
    /// When receives are posted.
    pub posts: Posts,
}

impl From<Sends> for Handover {
    fn from(sends: Sends) -> Handover {
        Handover { sends, posts: Posts::default() }
    }
}

/// Why a schedule cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// A message with one end.
    #[error(transparent)]
    Unmatched(#[from] Unmatched),
    /// Ranks wait for each other.
    #[error("deadlock: rank {rank} waits in action {action} for ever; `verify` says why")]
    Deadlock {
        /// The rank of least rank that does not end.
        rank: Rank,
        /// The index of the action in its list.
        action: usize,
    },
    /// A time that cannot be stated.
    #[error(transparent)]
    Time(#[from] TimeError),
}

/// When each action starts and ends.
///
/// Where part of the latency overlaps with other work, a message may occupy its receiver's port only when
/// the latency has passed, from when the sender was ready ([`Posts::PrePosted`]) or both were
/// ([`Posts::Strict`]). In an outward operation it begins when both are ready, and passes after the
/// sender's port was occupied, as in a gather backwards in time. An eager message leaves as soon as the
/// sender is ready.
///
/// Where exchanges have costs of their own, these are what a message takes of whose two ends one is an action that
/// both sends and receives, on duplex ports as well; a lone message takes what others do.
///
/// What a rank of an alltoall has for others it sends without waiting, where latency overlaps and receives are posted
/// at the start ([`Posts::PrePosted`]): a lone send of the input leaves as if it were eager. On a duplex port so does a lone
/// send of an allgather, a reduce-scatter or an alltoall: until its message has arrived, its side of the port is free.
///
/// Where the ranks of a node share a wire ([`CostModel::shared_wires`]), it carries one message out and one in at a time,
/// in the order in which they could start.
///
/// Combining what was received takes the time of the task's operator: it occupies the receiver's port when
/// the action's messages have ended, and no longer the sender's; of a duplex port, the side that receives when
/// all has been sent there that is listed up to the action. A copy that combines takes that time alone.
///
/// # Errors
/// [`SimulationError`].
///
/// # Complexity
/// O(n log n) time, O(n) space for n actions.
///
/// # Source
/// `docs/nodes.md`, "Nodes with one wire".
///
/// # Example
/// Sizes 2, 1, 4 and costs 1, 1, 1: rank 1 receives from 0 until 3, copies until 4, receives
/// from 2 until 9.
/// ```
/// use tuwtree_model::{BlockSizes, Collective, Homogeneous, Operation, Step, Tree};
/// use tuwtree_schedule::{Payload, Schedule, Sends, simulate};
/// let steps = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
/// let tree = Tree::new(3, 1, &steps).unwrap();
/// let payload = Payload::Blocks(BlockSizes::new([2, 1, 4]).unwrap());
/// let schedule = Schedule::without_costs(&tree, &Collective::new(Operation::Gather, payload).unwrap()).unwrap();
/// let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
/// let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
/// assert_eq!(timeline.completion_time().units(), 9.0);
/// ```
pub fn simulate(
    schedule: &Schedule,
    costs: &impl CostModel,
    handover: impl Into<Handover>,
) -> Result<Timeline, SimulationError> {
    simulate_on(schedule, schedule.task().duplex, costs, handover)
}

/// The same with ports that are duplex or not, whatever the schedule says.
///
/// # Errors
/// [`SimulationError`].
///
/// # Complexity
/// As [`simulate`].
pub fn simulate_on(
    schedule: &Schedule,
    duplex: bool,
    costs: &impl CostModel,
    handover: impl Into<Handover>,
) -> Result<Timeline, SimulationError> {
    let matching = Matching::new(schedule.programs())?;
    let holds = Holds::new(schedule.programs(), duplex);
    let mut simulation = Simulation::new(schedule, (&matching, &holds), costs, handover.into());
    simulation.run()?;
    let programs = schedule.programs();
    if let Some(stuck) = simulation.progress.iter().position(|progress| !progress.is_over()) {
        let rank = simulation.owner[stuck] as Rank;
        let action = holds.action(stuck) - programs.range(rank).start;
        return Err(SimulationError::Deadlock { rank, action });
    }
    let Simulation { progress, owner, .. } = simulation;
    let (times, cause) =
        progress.into_iter().map(|progress| (progress.times, progress.cause)).unzip();
    Ok(Timeline::new(programs, holds, owner, times, cause, matching))
}

/// Goes by holds: actions, or halves of exchanges where ports are duplex.
struct Simulation<'a, C> {
    programs: &'a Programs,
    matching: &'a Matching,
    holds: &'a Holds,
    costs: &'a C,
    operator: Operator,
    handover: Handover,
    /// Whether data flows from the root outwards.
    is_outward: bool,
    operation: Operation,
    /// An entry for each hold: its rank.
    owner: Vec<u32>,
    /// An entry for each hold.
    messages: Vec<HeldMessage>,
    /// An entry for each hold: the ones before and after it on its port, or on both sides of it.
    neighbours: Vec<[(u32, u32); 2]>,
    /// An entry for each hold.
    progress: Vec<KnownTimes>,
    /// `p` entries: up to where all holds of a rank that write have ended, and when.
    written: Vec<(usize, Time)>,
    /// Holds that may have become ready.
    candidates: Vec<usize>,
    /// Messages that wait for the wires of nodes: the start without these, and the sender. Both ends are posted, or the
    /// sender goes on alone.
    waiting: BinaryHeap<Reverse<(Time, usize)>>,
    /// An entry for each hold, once a message has entered the wires of nodes: when that of a sender is on the wire of its
    /// receiver's node.
    entered: Vec<Option<Time>>,
    /// An entry for each node with messages: until when its wire is busy outwards and inwards.
    wires: BTreeMap<usize, [Time; 2]>,
}

/// Message of a hold; of no bytes if it sends none.
#[derive(Clone, Copy, Default)]
struct HeldMessage {
    bytes: u64,
    to: u32,
    /// True if either end both sends and receives.
    is_exchange: bool,
}

/// Stands for no neighbour.
const NOTHING: u32 = u32::MAX;

/// How far the times of a hold are known.
#[derive(Clone, Copy, Default)]
struct KnownTimes {
    times: ActionTimes,
    /// What its end waited for.
    cause: Cause,
    is_posted: bool,
    /// Parts that have not ended: the send, the receive, or the copy; of a receive that combines on a duplex port, the
    /// last send there, too.
    open: u8,
    /// When what writes before it in the list has ended, once that is known.
    written: Option<Time>,
}

/// A copy or a message, as one of its ends sees it.
#[derive(Clone, Copy)]
struct Activity {
    start: Time,
    duration: Time,
    /// From when to when the latency passes.
    latency: (Time, Time),
    cause: Cause,
}

impl Activity {
    /// What an action begins by itself at this time, and what takes none.
    fn at(index: usize, time: Time) -> Activity {
        let cause = Cause { action: index as u32, start: time };
        Activity { start: time, duration: Time::ZERO, latency: (time, time), cause }
    }
}

impl KnownTimes {
    fn is_over(&self) -> bool {
        self.is_posted && self.open == 0
    }
}

impl<'a, C: CostModel> Simulation<'a, C> {
    fn new(
        schedule: &'a Schedule,
        (matching, holds): (&'a Matching, &'a Holds),
        costs: &'a C,
        handover: Handover,
    ) -> Self {
        let programs = schedule.programs();
        let mut owner = vec![0; holds.len()];
        let mut messages = vec![HeldMessage::default(); holds.len()];
        let mut neighbours = vec![[(NOTHING, NOTHING); 2]; holds.len()];
        // For each lane the last hold, and which of that one's neighbours are on this lane.
        let mut last_on_lane = BTreeMap::new();
        for rank in 0..programs.ranks() {
            last_on_lane.clear();
            for index in holds.of_rank(programs, rank) {
                owner[index] = rank as u32;
                let action = programs.action(holds.action(index));
                if let Some(send) = action.send() {
                    let receiver = matching.receiver_of(holds.action(index));
                    let receives = receiver.map(|receiver| programs.action(receiver));
                    let is_exchange = |end: &Action<'_>| matches!(end.deed, Deed::Exchange(..));
                    messages[index] = HeldMessage {
                        bytes: send.from.bytes(),
                        to: send.to as u32,
                        is_exchange: [Some(action), receives].iter().flatten().any(is_exchange),
                    };
                }
                let (first, second) = holds.lanes(index, action.port);
                for (lane, side) in [Some(first), second].into_iter().flatten().zip(0..) {
                    let last: Option<(u32, usize)> =
                        last_on_lane.insert(lane, (index as u32, side));
                    if let Some((before, its_side)) = last {
                        neighbours[index][side].0 = before;
                        neighbours[before as usize][its_side].1 = index as u32;
                    }
                }
            }
        }
        Simulation {
            programs,
            matching,
            holds,
            costs,
            operator: schedule.task().operator,
            handover,
            is_outward: schedule.task().operation.is_outward(),
            operation: schedule.task().operation,
            owner,
            messages,
            neighbours,
            progress: vec![KnownTimes::default(); holds.len()],
            written: (0..programs.ranks())
                .map(|rank| (holds.of_rank(programs, rank).start, Time::ZERO))
                .collect(),
            candidates: Vec::new(),
            waiting: BinaryHeap::new(),
            entered: Vec::new(),
            wires: BTreeMap::new(),
        }
    }

    /// The action of a hold.
    fn action(&self, hold: usize) -> Action<'a> {
        self.programs.action(self.holds.action(hold))
    }

    /// The hold that receives what this one sends, if it sends.
    fn receiver_of(&self, hold: usize) -> Option<usize> {
        let sends = self.holds.held(hold) != Held::ReceiveSide;
        let receiver = self.matching.receiver_of(self.holds.action(hold)).filter(|_| sends)?;
        Some(self.holds.receiving(receiver))
    }

    /// The hold that sends what this one receives, if it receives.
    fn sender_to(&self, hold: usize) -> Option<usize> {
        let receives = self.holds.held(hold) != Held::SendSide;
        let sender = self.matching.sender_to(self.holds.action(hold)).filter(|_| receives)?;
        Some(self.holds.sending(sender))
    }

    /// Performs all actions that do not wait for ever.
    fn run(&mut self) -> Result<(), TimeError> {
        for rank in 0..self.programs.ranks() {
            self.note_written(rank);
        }
        self.candidates = (0..self.holds.len()).rev().collect();
        loop {
            while let Some(index) = self.candidates.pop() {
                if let Some(ready) = self.ready(index) {
                    self.post(index, ready)?;
                }
            }
            let Some(Reverse((start, sender))) = self.waiting.pop() else { return Ok(()) };
            let wires = self.shared_wires(sender)?.expect("the message waits for wires");
            let entered = self.enter(wires, start)?;
            self.entered.resize(self.holds.len(), None);
            self.entered[sender] = Some(entered);
            let receiver = self.receiver_of(sender).expect("the action sends");
            if self.progress[receiver].is_posted {
                self.meet(sender, receiver)?;
            }
        }
    }

    /// The wires of nodes that the message of a sending action is on, if it is on any.
    fn shared_wires(&self, index: usize) -> Result<Option<SharedWires>, TimeError> {
        let HeldMessage { bytes, to, .. } = self.messages[index];
        self.costs.shared_wires(self.owner[index] as Rank, to as Rank, bytes)
    }

    /// Puts a message on the wire of its sender's node, then on that of its receiver's, each as soon as it is free from
    /// this time on; when it is on the latter.
    fn enter(&mut self, wires: SharedWires, start: Time) -> Result<Time, TimeError> {
        let SharedWires { nodes: (from, to), time } = wires;
        let [out, _] = self.wires.entry(from).or_default();
        let left = start.later(*out);
        *out = self.costs.sum(left, time)?;
        let [_, into] = self.wires.entry(to).or_default();
        let entered = left.later(*into);
        *into = self.costs.sum(entered, time)?;
        Ok(entered)
    }

    /// When what is not posted can start as far as its own rank is concerned, if
    /// that is known.
    fn ready(&self, index: usize) -> Option<Time> {
        if self.progress[index].is_posted {
            return None;
        }
        let mut port_free = Time::ZERO;
        for (before, _) in self.neighbours[index] {
            if before != NOTHING {
                let before = &self.progress[before as usize];
                port_free = port_free.later(before.is_over().then_some(before.times.end)?);
            }
        }
        match self.holds.needs_written(index, &self.action(index)) {
            true => Some(port_free.later(self.progress[index].written?)),
            false => Some(port_free),
        }
    }

    fn post(&mut self, index: usize, ready: Time) -> Result<(), TimeError> {
        let progress = &mut self.progress[index];
        progress.is_posted = true;
        progress.times = ActionTimes { ready, start: ready, end: ready, latency: (ready, ready) };
        let action = self.programs.action(self.holds.action(index));
        let is_whole = self.holds.held(index) == Held::Port;
        progress.open = if is_whole && matches!(action.deed, Deed::Exchange(..)) { 2 } else { 1 };
        if self.holds.awaited_send(index).is_some_and(|send| !self.progress[send].is_over()) {
            self.progress[index].open += 1;
        }
        if let Deed::Copy { from, arrival, .. } = action.deed {
            let duration = match arrival {
                Arrival::Store => self.costs.copy_at(self.owner[index] as Rank, from.bytes())?,
                // It ends when it is combined.
                Arrival::CombineLeft | Arrival::CombineRight => Time::ZERO,
            };
            return self.end_part(index, Activity { duration, ..Activity::at(index, ready) });
        }
        if let Some(receiver) = self.receiver_of(index) {
            if self.goes_on_alone(index)? {
                let duration = self.duration(index)?;
                self.end_part(index, Activity { duration, ..Activity::at(index, ready) })?;
                if self.shared_wires(index)?.is_some() {
                    let arrival = self.costs.sum(ready, self.latency(index)?)?;
                    self.waiting.push(Reverse((arrival, index)));
                }
            }
            if self.progress[receiver].is_posted {
                self.meet(index, receiver)?;
            }
        }
        match self.sender_to(index) {
            Some(sender) if self.progress[sender].is_posted => self.meet(sender, index),
            _ => Ok(()),
        }
    }

    /// Whether a sender does not wait for its receiver.
    fn goes_on_alone(&self, sender: usize) -> Result<bool, TimeError> {
        if self.handover.sends == Sends::Eager {
            return Ok(true);
        }
        let needs_written = || self.action(sender).needs_written();
        let may_go = match self.operation {
            Operation::Alltoall => !self.holds.are_actions() || !needs_written(),
            Operation::Allgather | Operation::ReduceScatter => !self.holds.are_actions(),
            _ => false,
        };
        let is_lone = || matches!(self.action(sender).deed, Deed::Send(_));
        if !(may_go && self.handover.posts == Posts::PrePosted && is_lone()) {
            return Ok(false);
        }
        Ok(self.latency(sender)? > Time::ZERO)
    }

    /// From when to when the latency of a message passes whose ends are both posted.
    fn flight(&self, sender: usize, receiver: usize) -> Result<(Time, Time), TimeError> {
        let ready = |index: usize| self.progress[index].times.ready;
        let Handover { sends, posts } = self.handover;
        let leaves_at_once = match (sends, posts) {
            (Sends::Eager, _) => true,
            (Sends::Synchronous, Posts::PrePosted) => !self.is_outward,
            (Sends::Synchronous, Posts::Strict) => false,
        };
        let begin = match leaves_at_once {
            true => ready(sender),
            false => ready(sender).later(ready(receiver)),
        };
        Ok((begin, self.costs.sum(begin, self.latency(sender)?)?))
    }

    /// Transmits a message whose ends are both posted, at once or when wires of nodes are free.
    fn meet(&mut self, sender: usize, receiver: usize) -> Result<(), TimeError> {
        let flight = self.flight(sender, receiver)?;
        let start = flight.1.later(self.progress[receiver].times.ready);
        if self.shared_wires(sender)?.is_none() {
            return self.transmit(sender, receiver, flight, start);
        }
        match self.entered.get(sender).copied().flatten() {
            Some(entered) => self.transmit(sender, receiver, flight, start.later(entered)),
            None if self.goes_on_alone(sender)? => Ok(()),
            None => {
                self.waiting.push(Reverse((start, sender)));
                Ok(())
            }
        }
    }

    /// Transmits a message whose ends are both posted and whose latency has passed: it occupies its receiver's port from
    /// `start` on.
    fn transmit(
        &mut self,
        sender: usize,
        receiver: usize,
        (begin, arrival): (Time, Time),
        start: Time,
    ) -> Result<(), TimeError> {
        let ready = |index: usize| self.progress[index].times.ready;
        let duration = self.duration(sender)?;
        let wait = Time::new(start.units() - arrival.later(ready(receiver)).units());
        let wait = wait.ok_or(TimeError::NotFinite)?;
        // The action that is ready last causes the rest; the own end, if it is one of two. So it does behind a wire.
        let caused = |own: usize, other: usize| {
            let causes = |end: usize| match end == receiver && arrival <= ready(receiver) {
                true => Some(start),
                false => (ready(end) == begin && arrival >= ready(receiver)).then_some(begin),
            };
            let cause = |end| causes(end).map(|start| Cause { action: end as u32, start });
            cause(own).or_else(|| cause(other)).expect("one of the two is ready last")
        };
        let part = Activity {
            start,
            duration,
            latency: (begin, arrival),
            cause: caused(receiver, sender),
        };
        if !self.goes_on_alone(sender)? {
            let cause = caused(sender, receiver);
            let sent = self.costs.sum(begin, wait)?;
            self.end_part(
                sender,
                match self.is_outward {
                    // The latency passes behind the sender's port.
                    true => Activity { start: sent, latency: (begin, begin), cause, ..part },
                    false => Activity { cause, ..part },
                },
            )?;
        }
        self.end_part(receiver, part)
    }

    /// How much later than it is sent the message of a sending action may be received.
    fn latency(&self, index: usize) -> Result<Time, TimeError> {
        let HeldMessage { bytes, to, .. } = self.messages[index];
        self.costs.latency_between(self.owner[index] as Rank, to as Rank, bytes)
    }

    /// The time that the message of a sending action takes: an exchange's, if either end is an action that both sends
    /// and receives.
    fn duration(&self, index: usize) -> Result<Time, TimeError> {
        let HeldMessage { bytes, to, is_exchange } = self.messages[index];
        let (sender, receiver) = (self.owner[index] as Rank, to as Rank);
        match is_exchange {
            true => self.costs.exchange_between(sender, receiver, bytes),
            false => self.costs.transmission_between(sender, receiver, bytes),
        }
    }

    /// Ends one part of a hold, a copy or a message; if it was the last, others may go on.
    fn end_part(&mut self, index: usize, part: Activity) -> Result<(), TimeError> {
        let Activity { start, duration, latency: (begin, arrival), cause } = part;
        let end = self.costs.sum(start, duration)?;
        let progress = &mut self.progress[index];
        if end >= progress.times.end {
            let within = |time: Time| time.later(progress.times.ready).min(start);
            progress.times.latency = match (within(begin), within(arrival)) {
                (begin, arrival) if begin < arrival => (begin, arrival),
                _ => (start, start),
            };
            progress.times.start = start;
            progress.times.end = end;
            progress.cause = cause;
        }
        self.close_part(index)
    }

    /// One part less of a hold that has not ended.
    fn close_part(&mut self, index: usize) -> Result<(), TimeError> {
        self.progress[index].open -= 1;
        if !self.progress[index].is_over() {
            return Ok(());
        }
        if let Some(send) = self.holds.awaited_send(index) {
            let KnownTimes { times, cause, .. } = self.progress[send];
            let progress = &mut self.progress[index];
            if times.end > progress.times.end {
                progress.times.end = times.end;
                progress.cause = cause;
            }
        }
        let combined = self.action(index).combines();
        if let Some(region) = combined.filter(|_| self.holds.held(index) != Held::SendSide) {
            let combine = self.operator.combine(region.bytes())?;
            let progress = &mut self.progress[index];
            progress.times.end = self.costs.sum(progress.times.end, combine)?;
        }
        for (_, next) in self.neighbours[index] {
            if next != NOTHING {
                self.candidates.push(next as usize);
            }
        }
        self.note_written(self.owner[index] as Rank);
        let holds = self.holds;
        for receive in holds.awaiting(index) {
            if self.progress[receive].is_posted {
                self.close_part(receive)?;
            }
        }
        Ok(())
    }

    /// Tells what a rank does when all that is written before them has been.
    fn note_written(&mut self, rank: Rank) {
        let (mut index, mut time) = self.written[rank];
        while index < self.holds.of_rank(self.programs, rank).end {
            if self.progress[index].written.is_none() {
                self.progress[index].written = Some(time);
                self.candidates.push(index);
            }
            if self.holds.writes(index, &self.action(index)) {
                if !self.progress[index].is_over() {
                    break;
                }
                time = time.later(self.progress[index].times.end);
            }
            index += 1;
        }
        self.written[rank] = (index, time);
    }
}
