//! The judge: how long a tree takes on a network that serves several messages at once.
//!
//! The planner ([`completion`](crate::completion())) charges a message's whole occupancy to one port, one
//! message after the other. That is what dynamic programs can add up, and no gather takes longer. The judge
//! splits occupancy in two: first the message is on a wire, which all messages that are under way share;
//! then it costs the receiver's rank its overhead. It is what candidates are compared by.
//!
//! ```text
//! gather   child ready      enters          leaves the wire            is received
//!              |---- lambda ---|==== w = f - o, shared ====|~~ waits ~~|== o ==|
//! scatter  k sends before, each o_s long
//!          |-- k o_s --|---- lambda ---|==== w, shared ====|== o ==| child ready
//! ```
//!
//! `o` is what a message of 1 byte occupies, but no more than it takes to begin a send where that is known
//! (else a byte on the wire would pass for work of the rank); 0 for a message beyond the eager limit,
//! and for messages that take turns: all of those at a port that is not fair, small ones at one that is
//! ([`Network::fair_beyond`](crate::Network::fair_beyond)). `f` is the planner's occupancy. A wire belongs to
//! the receiving rank of a gather and the sending rank of a scatter, or to its node.
//!
//! With a window, at most so much data is under way to a rank ([`Network::window`](crate::Network::window)): each child
//! of a gather whose data is beyond it begins when its parent tells it to, by a message of a byte: when enough earlier
//! children are received for its data to fit. Senders that ignore the window ([`Handling::ignores_window`]) lose
//! messages that come while more is under way; TCP sends them again, after 0.2 s.
//!
//! Where nothing overlaps ([`Costs::overlaps`](crate::Costs::overlaps)), and on several ports, the judge is
//! the planner.

mod message;
mod rank;
mod wire;

pub use message::{JudgedMessage, LeastJudged, NodeWires, online_problem, planned_problems};
pub use rank::{ChildMessage, rank_time};

use crate::{
    Completion, CostModel, PortKind, Ports, Problem, Rank, Step, Time, TimeError, Tree, WireOwner,
    completion, completion_time, window_waits,
};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use wire::Wire;

/// Message handling of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Handling {
    /// Order of messages, and number at a time.
    pub service: Service,
    /// True if zero-byte messages are sent too; each costs as much as one byte.
    pub sends_empty: bool,
    /// True if senders of a gather start as soon as they can, whatever the network's window.
    pub ignores_window: bool,
}

/// Handling of several messages by a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Service {
    /// All receives are posted at the start, or all sends begun, and waited for together.
    #[default]
    AllPosted,
    /// One message after the other, in the order of the tree's steps (a scatter's backwards): what lies
    /// beyond the eager limit does not travel before its turn.
    OneByOne,
}

/// The time that a tree takes by the judge, all messages posted at once.
///
/// # Errors
/// [`TimeError`] where there is no link for an edge of the tree that data goes along, and where times are
/// not finite.
///
/// # Panics
/// If tree and problem have different numbers of ranks.
///
/// # Complexity
/// O(p log p) time, O(p) space.
///
/// # Source
/// `docs/planner-and-judge.md`.
///
/// # Example
/// Both messages travel until 6. They share the wire until 12, when it has served three bytes of each;
/// the longer one, alone, until 13. Each costs the rank 1: the second is received until 14.
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, Step, Tree, completion_time, judged_time};
/// let steps = [(0, Step::Copy), (0, Step::Receive(1)), (0, Step::Receive(2))];
/// let tree = Tree::new(3, 0, &steps).unwrap();
/// let sizes = BlockSizes::new([0, 4, 5]).unwrap();
/// let costs = Homogeneous::new(6.0, 1.0, 0.0).unwrap().with_overhead(0.0).unwrap();
/// let problem = Problem::gather(&sizes, costs).unwrap();
/// // The first byte counts as overhead.
/// assert_eq!(judged_time(&tree, &problem).unwrap().units(), 14.0);
/// assert_eq!(completion_time(&tree, &problem).unwrap().units(), 15.0);
/// ```
pub fn judged_time(tree: &Tree, problem: &Problem) -> Result<Time, TimeError> {
    judged_time_as(tree, problem, Handling::default())
}

/// The time that a tree takes by the judge if ranks handle messages so.
///
/// # Errors, panics, complexity
/// As [`judged_time`].
pub fn judged_time_as(
    tree: &Tree,
    problem: &Problem,
    handling: Handling,
) -> Result<Time, TimeError> {
    if !problem.costs().overlaps() || problem.ports() != Ports::ONE {
        return completion_time(tree, problem);
    }
    let mut judge = Judge::new(tree, problem, handling)?;
    judge.run();
    let end = judge.ranks.iter().map(|rank| rank.busy_until).fold(0.0, f64::max);
    Time::new(end).ok_or(TimeError::NotFinite)
}

/// The times of a tree by the judge, all messages posted at once, in the form of the planner's: transmissions last from
/// when a message enters its wire until its receiver has it, and a scatter's are counted back from the end. Where nothing
/// overlaps, and on several ports, those of [`completion`].
///
/// # Errors, panics, complexity
/// As [`judged_time`].
pub fn judged_completion(tree: &Tree, problem: &Problem) -> Result<Completion, TimeError> {
    if !problem.costs().overlaps() || problem.ports() != Ports::ONE {
        return completion(tree, problem);
    }
    let mut judge = Judge::new(tree, problem, Handling::default())?;
    judge.run();
    let end = judge.ranks.iter().map(|rank| rank.busy_until).fold(0.0, f64::max);
    let ranks = tree.ranks();
    let received = |rank: Rank| judge.messages[rank].map_or(0.0, |message| message.received);
    let stated = |time: f64| Time::new(time.max(0.0)).ok_or(TimeError::NotFinite);
    let ready = (0..ranks).map(|rank| match judge.is_outward {
        true => stated(end - received(rank)),
        false => stated(judge.ranks[rank].busy_until),
    });
    let ready = ready.collect::<Result<Vec<Time>, TimeError>>()?;
    let sent = (0..ranks).map(|rank| match (judge.messages[rank], judge.is_outward) {
        (None, _) => Ok((ready[rank], ready[rank])),
        (Some(one), false) => Ok((stated(one.entered)?, stated(one.received)?)),
        (Some(one), true) => Ok((stated(end - one.received)?, stated(end - one.entered)?)),
    });
    let sent = sent.collect::<Result<Vec<(Time, Time)>, TimeError>>()?;
    let segment = segments(tree, problem);
    Ok(Completion { ready, sent, segment, port: vec![0; ranks], copy_port: vec![0; ranks] })
}

/// Times of a tree's messages and copies by the judge.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedTimes {
    /// Message between each rank and its parent, `p` entries; none for the root, and where there is no data.
    pub messages: Vec<Option<MessageTimes>>,
    /// Start and end of the copy of each rank's own block, `p` entries; twice the same time where there is none.
    pub copies: Vec<(f64, f64)>,
}

/// Times of a message, in the time unit of the costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MessageTimes {
    /// Time at which its sender begins.
    pub sent: f64,
    /// In a scatter, time at which its sender goes on.
    pub begun: f64,
    /// Time at which it enters its wire.
    pub entered: f64,
    /// Time at which it leaves its wire.
    pub left: f64,
    /// Time at which its receiver has it.
    pub received: f64,
}

/// The times of a tree's messages by the judge, all messages posted at once; `None` where nothing overlaps, and on several
/// ports, where the judge is the planner.
///
/// # Errors, panics, complexity
/// As [`judged_time`].
pub fn judged_times(tree: &Tree, problem: &Problem) -> Result<Option<JudgedTimes>, TimeError> {
    if !problem.costs().overlaps() || problem.ports() != Ports::ONE {
        return Ok(None);
    }
    let mut judge = Judge::new(tree, problem, Handling::default())?;
    judge.run();
    let message = |message: &Option<Message>| {
        let &Message { sent, send_overhead, entered, left, received, .. } = message.as_ref()?;
        let begun = sent + send_overhead;
        Some(MessageTimes { sent, begun, entered, left: left.unwrap_or(entered), received })
    };
    let copy = |rank: &RankState| match judge.is_outward {
        true => (rank.busy_until - rank.copy, rank.busy_until),
        false => (0.0, rank.copy),
    };
    Ok(Some(JudgedTimes {
        messages: judge.messages.iter().map(message).collect(),
        copies: judge.ranks.iter().map(copy).collect(),
    }))
}

/// Time after which TCP retransmits a lost message without an acknowledgement, in seconds: the least time-out of Linux.
const RETRANSMISSION: f64 = 0.2;

struct Judge<'a> {
    tree: &'a Tree,
    is_outward: bool,
    service: Service,
    /// `p` entries: the message along the edge between a rank and its parent; none for the root, and
    /// where there is no data.
    messages: Vec<Option<Message>>,
    /// `p` entries: the children whose messages a rank handles, in this order.
    children: Vec<Vec<Rank>>,
    ranks: Vec<RankState>,
    wires: Vec<Wire>,
    /// Possible losses, where senders ignore the window.
    losses: Option<Losses>,
    /// With a window, for each child the children that are told to start when it is received.
    after: Vec<Vec<Rank>>,
    queue: BinaryHeap<Reverse<Event>>,
}

/// Data under way on each wire, and its limit.
struct Losses {
    window: u64,
    under_way: Vec<u64>,
}

/// A message with its costs, in the time unit of the costs.
#[derive(Clone, Copy, Debug)]
struct Message {
    latency: f64,
    /// `w`.
    on_wire: f64,
    /// `o`.
    overhead: f64,
    /// `o_s`.
    send_overhead: f64,
    /// Its size.
    bytes: u64,
    /// Time of its parent's permission to start.
    told_after: f64,
    /// True if it need not wait for a permission, or has one.
    is_told: bool,
    /// Time of the permission, or 0.
    told_at: f64,
    /// True if it has been lost once.
    was_lost: bool,
    /// True if it travels before its turn.
    is_eager: bool,
    /// True if it is served after earlier messages, not with them.
    takes_turns: bool,
    /// The index of the wire that it is on.
    wire: usize,
    /// Time at which its sender began.
    sent: f64,
    /// Time at which it entered the wire.
    entered: f64,
    /// Time at which it left the wire, if it has.
    left: Option<f64>,
    /// Time at which its receiver has it.
    received: f64,
}

#[derive(Clone, Copy, Debug)]
struct RankState {
    /// The time of the copy of the rank's own block.
    copy: f64,
    /// Time at which its rank is free.
    busy_until: f64,
    /// Number of its children's messages that are done.
    turn: usize,
    /// Time at which its last sent message enters its wire.
    entered: f64,
}

/// An event at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Event {
    time: f64,
    what: What,
}

/// At equal times departures come first, then lower numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// The message that is due on this wire leaves it, unless another came or left meanwhile.
    Leave { wire: usize, version: u64 },
    /// The message of this child enters its wire; in a scatter, after `turn` messages of its sender.
    Enter { turn: usize, child: Rank },
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    fn cmp(&self, other: &Event) -> Ordering {
        self.time.total_cmp(&other.time).then(self.what.cmp(&other.what))
    }
}

impl<'a> Judge<'a> {
    fn new(tree: &'a Tree, problem: &Problem, handling: Handling) -> Result<Judge<'a>, TimeError> {
        let ranks = tree.ranks();
        assert_eq!(ranks, problem.ranks(), "tree and data of one problem");
        let network = problem.stated_costs().network();
        let nodes = match network.wire {
            WireOwner::Node => problem.costs().hierarchy(),
            WireOwner::Rank => None,
        };
        let is_outward = problem.operation().is_outward();
        let Handling { service, sends_empty, ignores_window } = handling;
        let is_gather = !is_outward && problem.blocks().is_some();
        let window = network.window.filter(|_| is_gather);
        // One message after the other never is more than a window.
        let keeps_window = !ignores_window && service == Service::AllPosted;
        let mut after = vec![Vec::new(); if window.is_some() { ranks } else { 0 }];
        let mut segments = segments(tree, problem);
        if sends_empty {
            segments.iter_mut().for_each(|bytes| *bytes = (*bytes).max(1));
        }
        let mut messages = vec![None; ranks];
        let mut children = vec![Vec::new(); ranks];
        let mut states = Vec::with_capacity(ranks);
        for (parent, children) in children.iter_mut().enumerate() {
            for child in tree.children(parent).filter(|&child| segments[child] > 0) {
                let (from, to) = problem.collective().ends(child, parent);
                let (costs, bytes) = (problem.costs(), segments[child]);
                let times = |bytes| {
                    let latency = costs.latency_between(from, to, bytes)?.units();
                    Ok((latency, costs.transmission_between(from, to, bytes)?.units()))
                };
                let (first_latency, first_byte) = times(1)?;
                let JudgedMessage { latency, on_wire, overhead, send_overhead } =
                    JudgedMessage::new(&network, is_outward, bytes, times)?;
                messages[child] = Some(Message {
                    bytes,
                    told_after: first_latency + first_byte,
                    is_told: true,
                    told_at: 0.0,
                    was_lost: false,
                    latency,
                    on_wire,
                    overhead,
                    send_overhead,
                    is_eager: network.is_eager(bytes),
                    takes_turns: network.takes_turns(bytes),
                    wire: match nodes {
                        Some(machine) if machine.node(child) != machine.node(parent) => {
                            ranks + machine.node(parent)
                        }
                        _ => parent,
                    },
                    sent: 0.0,
                    entered: 0.0,
                    left: None,
                    received: 0.0,
                });
                children.push(child);
            }
            if let Some(window) = window.filter(|_| keeps_window) {
                let bytes: Vec<u64> = children.iter().map(|&child| segments[child]).collect();
                for (index, first) in window_waits(&bytes, window).into_iter().enumerate() {
                    let Some(first) = first else { continue };
                    let message: &mut Option<Message> = &mut messages[children[index]];
                    message.as_mut().expect("a child with data").is_told = false;
                    after[children[first]].push(children[index]);
                }
            }
            if is_outward {
                children.reverse();
            }
            let copies = tree.steps(parent).any(|step| step == Step::Copy);
            let copy = if copies { problem.copy(parent)?.units() } else { 0.0 };
            states.push(RankState { copy, busy_until: 0.0, turn: 0, entered: 0.0 });
        }
        let wires = ranks + nodes.map_or(0, |machine| machine.nodes_of(ranks));
        let wire = Wire::new(network.port == PortKind::Fair);
        Ok(Judge {
            tree,
            is_outward,
            service,
            messages,
            children,
            ranks: states,
            wires: vec![wire; wires],
            losses: window
                .filter(|_| ignores_window)
                .map(|window| Losses { window, under_way: vec![0; wires] }),
            after,
            queue: BinaryHeap::new(),
        })
    }

    fn run(&mut self) {
        match self.is_outward {
            true => self.send_on(self.tree.root()),
            false => {
                for rank in self.ranks.iter_mut() {
                    rank.busy_until = rank.copy;
                }
                for rank in 0..self.ranks.len() {
                    self.hand_in_if_complete(rank);
                }
            }
        }
        while let Some(Reverse(Event { time, what })) = self.queue.pop() {
            match what {
                What::Enter { turn, child } if self.is_lost(child) => {
                    let what = What::Enter { turn, child };
                    self.queue.push(Reverse(Event { time: time + RETRANSMISSION, what }));
                }
                What::Enter { child, .. } => {
                    let message = self.message(child);
                    message.entered = time;
                    let Message { wire, on_wire, takes_turns, .. } = *message;
                    self.wires[wire].enter(time, child, on_wire, takes_turns);
                    self.await_departure(wire);
                }
                What::Leave { wire, version } if self.wires[wire].version() == version => {
                    let child = self.wires[wire].leave(time);
                    self.await_departure(wire);
                    let message = self.message(child);
                    message.left = Some(time);
                    let bytes = message.bytes;
                    if let Some(losses) = &mut self.losses {
                        losses.under_way[wire] -= bytes;
                    }
                    match self.is_outward {
                        true => self.arrived_outward(child, time),
                        false => self.arrived_inward(self.parent(child), child),
                    }
                }
                What::Leave { .. } => {}
            }
        }
    }

    /// True if a message that comes to its wire is lost; otherwise it is then under way.
    fn is_lost(&mut self, child: Rank) -> bool {
        let Some(losses) = &mut self.losses else { return false };
        let message = self.messages[child].as_mut().expect("it has been sent");
        let under_way = &mut losses.under_way[message.wire];
        let is_too_much = under_way.saturating_add(message.bytes) > losses.window;
        if is_too_much && *under_way > 0 && !message.was_lost {
            message.was_lost = true;
            return true;
        }
        *under_way = under_way.saturating_add(message.bytes);
        false
    }

    fn message(&mut self, child: Rank) -> &mut Message {
        self.messages[child].as_mut().expect("only children with data have a message")
    }

    fn parent(&self, child: Rank) -> Rank {
        self.tree.parent(child).expect("only children have a message")
    }

    fn enter(&mut self, child: Rank, time: f64) {
        self.message(child).sent = time;
        let Message { latency, is_eager, takes_turns, .. } = *self.message(child);
        let mut time = time + latency;
        let mut turn = 0;
        if self.is_outward {
            let parent = self.parent(child);
            let sender = &mut self.ranks[parent];
            // A port that takes turns keeps the order of its rank, however soon a later message would come.
            // Data that waits for its receiver's answer holds nothing up: what is sent meanwhile goes first.
            if is_eager && takes_turns {
                time = time.max(sender.entered);
                sender.entered = time;
            }
            turn = sender.turn;
        }
        self.queue.push(Reverse(Event { time, what: What::Enter { turn, child } }));
    }

    fn await_departure(&mut self, wire: usize) {
        if let Some(time) = self.wires[wire].next_departure() {
            let what = What::Leave { wire, version: self.wires[wire].version() };
            self.queue.push(Reverse(Event { time, what }));
        }
    }

    /// The message whose turn it is at a rank.
    fn turn(&self, rank: Rank) -> Option<Rank> {
        self.children[rank].get(self.ranks[rank].turn).copied()
    }

    /// Sends a rank's segment to its parent, if the rank has all of it and it need not wait for its turn.
    fn hand_in_if_complete(&mut self, rank: Rank) {
        let is_complete = self.turn(rank).is_none();
        let Some(message) = self.messages[rank].filter(|_| is_complete) else { return };
        let parent = self.parent(rank);
        let ready = self.ranks[rank].busy_until.max(message.told_at);
        if !message.is_told {
            return;
        }
        if self.service == Service::AllPosted || message.is_eager {
            self.enter(rank, ready);
        } else if self.turn(parent) == Some(rank) {
            self.enter(rank, ready.max(self.ranks[parent].busy_until));
        }
    }

    /// A message has come to a rank, whose rank takes it, at once or in its turn.
    fn arrived_inward(&mut self, rank: Rank, child: Rank) {
        match self.service {
            Service::AllPosted => self.take(rank, child),
            Service::OneByOne => {
                while let Some(next) = self.turn(rank) {
                    if self.message(next).left.is_none() {
                        break;
                    }
                    self.take(rank, next);
                    // The next one may travel now, if it was complete before.
                    let following = self.turn(rank).filter(|&one| !self.message(one).is_eager);
                    if let Some(following) = following {
                        self.hand_in_if_complete(following);
                    }
                }
            }
        }
        self.hand_in_if_complete(rank);
    }

    fn take(&mut self, rank: Rank, child: Rank) {
        let Message { left, overhead, .. } = *self.message(child);
        let state = &mut self.ranks[rank];
        state.busy_until = state.busy_until.max(left.expect("it is off the wire")) + overhead;
        state.turn += 1;
        let time = state.busy_until;
        self.message(child).received = time;
        self.tell_those_after(child, time);
    }

    /// Tells those children to go that wait for the one that is received.
    fn tell_those_after(&mut self, received: Rank, time: f64) {
        for child in self.after.get_mut(received).map(std::mem::take).unwrap_or_default() {
            let message = self.message(child);
            (message.is_told, message.told_at) = (true, time + message.told_after);
            self.hand_in_if_complete(child);
        }
    }

    /// A child has its segment, and sends on; with [`Service::OneByOne`] its parent may go on, too.
    fn arrived_outward(&mut self, child: Rank, time: f64) {
        let Message { overhead, is_eager, .. } = *self.message(child);
        let parent = self.parent(child);
        if self.service == Service::OneByOne && !is_eager {
            self.ranks[parent].busy_until = time;
            self.ranks[parent].turn += 1;
            self.send_on(parent);
        }
        self.ranks[child].busy_until = time + overhead;
        self.message(child).received = time + overhead;
        self.send_on(child);
    }

    /// Sends what a rank has to send, up to the first message that blocks, and copies after the last.
    fn send_on(&mut self, rank: Rank) {
        while let Some(child) = self.turn(rank) {
            self.enter(child, self.ranks[rank].busy_until);
            let Message { is_eager, send_overhead, .. } = *self.message(child);
            if self.service == Service::OneByOne && !is_eager {
                return;
            }
            self.ranks[rank].busy_until += send_overhead;
            self.ranks[rank].turn += 1;
        }
        self.ranks[rank].busy_until += self.ranks[rank].copy;
    }
}

/// The bytes along the edge to each rank's parent.
fn segments(tree: &Tree, problem: &Problem) -> Vec<u64> {
    let mut segments: Vec<u64> =
        (0..tree.ranks()).map(|rank| problem.payload().own(rank)).collect();
    if problem.blocks().is_some() {
        for rank in tree.top_down().into_iter().rev() {
            if let Some(parent) = tree.parent(rank) {
                segments[parent] += segments[rank];
            }
        }
    }
    segments
}
