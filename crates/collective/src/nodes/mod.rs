//! Allgathers on machines with nodes, whose ranks may share a wire, and the reduce-scatters that are these backwards.
//!
//! ```text
//! lanes, two nodes of two ranks          node a: 0 1          node b: 2 3
//! 1. inside: shares of the node's data   0 <-> 1              2 <-> 3
//! 2. between: lane by lane               0 <------------------> 2,  1 <---------> 3
//! 3. inside: other nodes' data           0 <-> 1              2 <-> 3
//! ```
//!
//! # Source
//! J. L. Träff, S. Hunold, Decomposing MPI collectives for exploiting multi-lane communication, IEEE CLUSTER 2020 (lanes, for
//! equal blocks).

mod estimate;

pub use estimate::{NodePrices, estimated_lanes, estimated_node_all};

use crate::error::spread_or_combined;
use crate::rounds::{Layout, MessageData};
use crate::timetable::{TimedMessage, Timetable};
use crate::{Circulation, CollectiveError, Flow, RankRounds, RoundMessages};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use tuwtree_model::{BlockSizes, Problem, Rank};
use tuwtree_schedule::{Piece, Schedule};

/// Parameters of [`lanes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lanes {
    /// Number of ranks of each node that send to other nodes, from 1 to the number of ranks of the smallest node.
    pub count: usize,
    /// Allgather of each lane.
    pub between: Circulation,
    /// True if a node's data is cut into shares of one length; false if each lane has whole blocks.
    pub is_even: bool,
    /// True if data from other nodes is passed on when all has come; false if as it comes.
    pub is_whole: bool,
}

/// Allgather on nodes, or the reduce-scatter that is it backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnNodes {
    /// [`lanes`].
    Lanes(Lanes),
    /// [`node_all`].
    NodeAll,
}

/// Message of a rank in an allgather on nodes; the pieces are parts of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeMessage {
    /// A sent message, for which everything received before it in the list has to be there.
    Send {
        /// Its receiver.
        to: Rank,
        /// Its data.
        pieces: Rc<[Piece]>,
        /// True if the receiver is on the same node.
        is_inside: bool,
    },
    /// A received message.
    Receive {
        /// Its sender.
        from: Rank,
        /// Its data.
        pieces: Rc<[Piece]>,
    },
}

/// Turn of messages between nodes, before all others.
const URGENT: u8 = 0;
/// Turn of messages in which shares come together.
const FIRST: u8 = 1;
/// Turn of messages that pass data on inside a node.
const LAST: u8 = 2;

/// Data of a node, or a lane's share of it, as it lies in outputs.
struct NodeData(Vec<Piece>);

impl NodeData {
    fn bytes(&self) -> u64 {
        self.0.iter().map(|piece| piece.bytes).sum()
    }

    /// Adds the part from an offset to another, counted in these pieces, to data.
    fn push_part(&self, (mut first, mut end): (u64, u64), data: &mut MessageData) {
        for piece in &self.0 {
            let (from, to) = (first.min(piece.bytes), end.min(piece.bytes));
            data.push(piece.offset + from, to - from);
            (first, end) = (first - from, end - to);
        }
    }

    /// Shares of one length, up to elements.
    fn shares(&self, element_bytes: u64, count: usize) -> Vec<NodeData> {
        let (bytes, count) = (self.bytes(), count as u64);
        let elements = u128::from(bytes / element_bytes);
        let cut = |lane: u64| match lane == count {
            true => bytes,
            false => (elements * u128::from(lane) / u128::from(count)) as u64 * element_bytes,
        };
        let share = |lane| {
            let mut data = MessageData::default();
            self.push_part((cut(lane), cut(lane + 1)), &mut data);
            NodeData(data.into_pieces())
        };
        (0..count).map(share).collect()
    }

    /// The bytes of these pieces that lie in another one.
    fn within(&self, other: Piece) -> Vec<Piece> {
        let mut data = MessageData::default();
        for piece in &self.0 {
            let offset = piece.offset.max(other.offset);
            data.push(offset, piece.end().min(other.end()).saturating_sub(offset));
        }
        data.into_pieces()
    }

    /// The bytes of these pieces that do not lie in another one.
    fn without(&self, other: Piece) -> Vec<Piece> {
        let mut data = MessageData::default();
        for piece in &self.0 {
            let before = piece.end().min(other.offset);
            data.push(piece.offset, before.saturating_sub(piece.offset));
            let after = piece.offset.max(other.end());
            data.push(after, piece.end().saturating_sub(after));
        }
        data.into_pieces()
    }
}

/// The block of a rank.
fn block(sizes: &BlockSizes, rank: Rank) -> Piece {
    Piece { offset: sizes.before(rank), bytes: sizes.block(rank) }
}

/// The blocks of these ranks.
fn blocks(sizes: &BlockSizes, ranks: impl Iterator<Item = Rank>) -> NodeData {
    let mut data = MessageData::default();
    ranks.for_each(|rank| data.push(sizes.before(rank), sizes.block(rank)));
    NodeData(data.into_pieces())
}

/// A received message: its sender, and the number of messages that came from it before.
type Arrival = (Rank, usize);

/// A sent message, which is not empty.
struct Sent {
    to: Rank,
    pieces: Rc<[Piece]>,
    /// Messages that its sender needs first.
    after: Vec<Arrival>,
    turn: u8,
}

/// Allgather on nodes: sizes and nodes, from which each rank's messages follow.
struct NodePlan<'a> {
    sizes: &'a BlockSizes,
    nodes: &'a [Vec<Rank>],
    how: OnNodes,
    /// Data of each node: with lanes, their shares, else all at once.
    shares: Vec<Vec<NodeData>>,
    /// For each lane the sizes of the nodes' shares.
    of_lanes: Vec<BlockSizes>,
}

impl<'a> NodePlan<'a> {
    /// # Panics
    /// For elements of no bytes, and lanes without ranks.
    fn new(
        (sizes, element_bytes): (&'a BlockSizes, u64),
        nodes: &'a [Vec<Rank>],
        how: OnNodes,
    ) -> NodePlan<'a> {
        let all = |node: &Vec<Rank>| blocks(sizes, node.iter().copied());
        let shares: Vec<Vec<NodeData>> = match how {
            OnNodes::NodeAll => nodes.iter().map(|node| vec![all(node)]).collect(),
            OnNodes::Lanes(Lanes { count, is_even: true, .. }) => {
                nodes.iter().map(|node| all(node).shares(element_bytes, count)).collect()
            }
            OnNodes::Lanes(Lanes { count, .. }) => {
                let share = |node: &Vec<Rank>, lane| {
                    blocks(sizes, node.iter().copied().skip(lane).step_by(count))
                };
                let of = |node| (0..count).map(|lane| share(node, lane)).collect();
                nodes.iter().map(of).collect()
            }
        };
        let of_lane = |lane: usize| BlockSizes::new(shares.iter().map(|node| node[lane].bytes()));
        let of_lanes = (0..shares[0].len()).map(|lane| of_lane(lane).expect("parts of all blocks"));
        NodePlan { sizes, nodes, how, of_lanes: of_lanes.collect(), shares }
    }

    /// The ranks of a node after the one at this place, which follows last, without that one.
    fn mates(&self, (node, place): (usize, usize)) -> impl Iterator<Item = Rank> + use<'a> {
        let ranks = &self.nodes[node];
        (1..ranks.len()).map(move |step| ranks[(place + step) % ranks.len()])
    }

    /// Messages that a rank sends.
    fn sent(&self, (node, place): (usize, usize)) -> Vec<Sent> {
        let mut sent = Vec::new();
        match self.how {
            OnNodes::Lanes(lanes) => self.push_shares((node, place), lanes, &mut sent),
            OnNodes::NodeAll => self.push_whole((node, place), &mut sent),
        }
        sent
    }

    /// Adds the messages of a rank in [`lanes`]. Received data is passed on before the first message to another node that waits
    /// for later data.
    fn push_shares(&self, (node, place): (usize, usize), lanes: Lanes, sent: &mut Vec<Sent>) {
        let (ranks, shares) = (&self.nodes[node], &self.shares[node]);
        for (&holder, share) in ranks.iter().zip(shares).filter(|(rank, _)| **rank != ranks[place])
        {
            let pieces = share.within(block(self.sizes, ranks[place]));
            if !pieces.is_empty() {
                sent.push(Sent {
                    to: holder,
                    pieces: pieces.into(),
                    after: Vec::new(),
                    turn: FIRST,
                });
            }
        }
        let Some(share) = shares.get(place) else { return };
        let has_some = |mate: &Rank| !share.within(block(self.sizes, *mate)).is_empty();
        let gathered: Vec<Arrival> =
            self.mates((node, place)).filter(has_some).map(|mate| (mate, 0)).collect();
        let overlap =
            |one: &Piece, other: &Piece| one.offset < other.end() && other.offset < one.end();
        // Data to pass on, and the messages that bring it.
        let mut ready: Vec<(NodeData, Vec<Arrival>)> =
            vec![(NodeData(share.0.clone()), gathered.clone())];
        let pass = |ready: &mut Vec<(NodeData, Vec<Arrival>)>, sent: &mut Vec<Sent>| {
            for (data, after) in ready.drain(..) {
                let all: Rc<[Piece]> = data.0.as_slice().into();
                for to in self.mates((node, place)) {
                    let own = block(self.sizes, to);
                    let pieces = match all.iter().any(|piece| overlap(piece, &own)) {
                        true => data.without(own).into(),
                        false => Rc::clone(&all),
                    };
                    if !pieces.is_empty() {
                        sent.push(Sent { to, pieces, after: after.clone(), turn: LAST });
                    }
                }
            }
        };
        let own = block(&self.of_lanes[place], node);
        let mut come: Vec<(usize, Arrival, Vec<Piece>)> = Vec::new();
        let mut counts: BTreeMap<Rank, usize> = BTreeMap::new();
        let mut passed_on = 0;
        let rounds = self.rounds(place, lanes.between, node);
        let mut messages = RoundMessages::default();
        for round in 0..rounds.count() {
            rounds.fill(round, &mut messages);
            if let Some(to) = messages.to {
                if let Some(needed) = messages.needs.filter(|_| !lanes.is_whole) {
                    pass(&mut ready, sent);
                    for (_, arrival, pieces) in
                        come[passed_on..].iter().take_while(|(round, ..)| *round < needed)
                    {
                        ready.push((NodeData(self.placed(place, pieces)), vec![*arrival]));
                        passed_on += 1;
                    }
                    pass(&mut ready, sent);
                }
                let has = |piece: &Piece| messages.sent.iter().any(|sent| overlap(sent, piece));
                let needed = come.iter().filter(|(.., pieces)| pieces.iter().any(has));
                let mut after: Vec<Arrival> = needed.map(|(_, arrival, _)| *arrival).collect();
                after.extend(gathered.iter().filter(|_| has(&own)));
                let pieces = self.placed(place, &messages.sent).into();
                sent.push(Sent { to: self.nodes[to][place], pieces, after, turn: URGENT });
            }
            if let Some(from) = messages.from {
                let from = self.nodes[from][place];
                let count = counts.entry(from).or_default();
                come.push((round, (from, *count), messages.received.clone()));
                *count += 1;
            }
        }
        let left = come[passed_on..].iter();
        let placed = |pieces: &[Piece]| NodeData(self.placed(place, pieces));
        ready.extend(left.map(|(_, arrival, pieces)| (placed(pieces), vec![*arrival])));
        if lanes.is_whole {
            let (data, after): (Vec<NodeData>, Vec<_>) = ready.drain(..).unzip();
            let mut pieces: Vec<Piece> = data.into_iter().flat_map(|data| data.0).collect();
            pieces.sort_unstable_by_key(|piece| piece.offset);
            ready.push((NodeData(pieces), after.concat()));
        }
        pass(&mut ready, sent);
    }

    /// Rounds of a lane on a node.
    fn rounds(&self, lane: usize, between: Circulation, node: usize) -> RankRounds {
        RankRounds::new(&self.of_lanes[lane], 1, node, Flow::Spread, between)
    }

    /// The place in outputs of pieces of a lane's shares.
    fn placed(&self, lane: usize, pieces: &[Piece]) -> Vec<Piece> {
        let shares = &self.of_lanes[lane];
        let mut data = MessageData::default();
        for piece in pieces {
            let first = (0..shares.ranks()).rev().find(|&node| shares.before(node) <= piece.offset);
            let nodes = first.unwrap_or(0)..shares.ranks();
            for node in nodes.take_while(|&node| shares.before(node) < piece.end()) {
                let within =
                    |at: u64| at.saturating_sub(shares.before(node)).min(shares.block(node));
                let part = (within(piece.offset), within(piece.end()));
                self.shares[node][lane].push_part(part, &mut data);
            }
        }
        data.into_pieces()
    }

    /// Adds the messages of a rank in [`node_all`].
    fn push_whole(&self, (node, place): (usize, usize), sent: &mut Vec<Sent>) {
        let own = self.nodes[node][place];
        let mates = || self.mates((node, place));
        if self.sizes.block(own) > 0 {
            let pieces: Rc<[Piece]> = Rc::new([block(self.sizes, own)]);
            sent.extend(mates().map(|to| Sent {
                to,
                pieces: Rc::clone(&pieces),
                after: Vec::new(),
                turn: FIRST,
            }));
        }
        let gathered: Vec<Arrival> =
            mates().filter(|&mate| self.sizes.block(mate) > 0).map(|mate| (mate, 0)).collect();
        let data = |node: usize| Rc::<[Piece]>::from(&self.shares[node][0].0[..]);
        let pieces = data(node);
        for (to, _) in self.straight((node, place), true).filter(|_| !pieces.is_empty()) {
            let (pieces, after) = (Rc::clone(&pieces), gathered.clone());
            sent.push(Sent { to, pieces, after, turn: URGENT });
        }
        for (from, there) in self.straight((node, place), false) {
            let pieces = data(there);
            let pass =
                |to| Sent { to, pieces: Rc::clone(&pieces), after: vec![(from, 0)], turn: LAST };
            sent.extend(mates().filter(|_| !pieces.is_empty()).map(pass));
        }
    }

    /// Ranks of other nodes that a rank sends to in [`node_all`], or receives from, and their nodes.
    fn straight(
        &self,
        (node, place): (usize, usize),
        is_sending: bool,
    ) -> impl Iterator<Item = (Rank, usize)> {
        let (count, own) = (self.nodes.len(), self.nodes[node].len());
        let of_place = (1..count).filter(move |distance| (distance - 1) % own == place);
        of_place.map(move |distance| {
            let there = (node + if is_sending { distance } else { count - distance }) % count;
            let ranks = &self.nodes[there];
            (ranks[(distance - 1) % ranks.len()], there)
        })
    }

    /// Messages that a rank receives from other nodes, with their data, in the order in which each sender sends them.
    fn received_between(&self, (node, place): (usize, usize)) -> Vec<(Rank, Rc<[Piece]>)> {
        let mut received: Vec<(Rank, Rc<[Piece]>)> = Vec::new();
        match self.how {
            OnNodes::Lanes(lanes) if place < lanes.count => {
                let rounds = self.rounds(place, lanes.between, node);
                let mut messages = RoundMessages::default();
                for round in 0..rounds.count() {
                    rounds.fill(round, &mut messages);
                    let pieces = || self.placed(place, &messages.received).into();
                    received.extend(messages.from.map(|from| (self.nodes[from][place], pieces())));
                }
            }
            OnNodes::Lanes(_) => {}
            OnNodes::NodeAll => {
                let all = self.straight((node, place), false);
                let all = all
                    .map(|(from, there)| (from, Rc::<[Piece]>::from(&self.shares[there][0].0[..])));
                received.extend(all.filter(|(_, pieces)| !pieces.is_empty()));
            }
        }
        received
    }

    /// The messages of all ranks.
    fn timetable<'p>(&self, problem: &'p Problem) -> Timetable<'p> {
        let mut timetable = Timetable::new(problem);
        let mut numbers: BTreeMap<(Rank, Rank), Vec<u32>> = BTreeMap::new();
        let mut waiting: Vec<(u32, Rank, Vec<Arrival>)> = Vec::new();
        for (node, ranks) in self.nodes.iter().enumerate() {
            for (place, &from) in ranks.iter().enumerate() {
                for Sent { to, pieces, after, turn } in self.sent((node, place)) {
                    let number = timetable.push(TimedMessage { ends: (from, to), pieces, turn });
                    numbers.entry((from, to)).or_default().push(number);
                    waiting.push((number, from, after));
                }
            }
        }
        for (number, own, after) in waiting {
            let number_of = |(from, count): Arrival| numbers[&(from, own)][count];
            timetable.need(number, after.into_iter().map(number_of).collect());
        }
        timetable
    }
}

/// The messages of one rank in an allgather on nodes, in an order in which they can be performed: all receives may be posted
/// at once; sends inside the node, and to other nodes, leave one after the other. Messages between two ranks are
/// in the same order at both. Blocks are cut between elements.
///
/// # Panics
/// For nodes that do not have each rank once, elements of no bytes, and as [`lanes`].
///
/// # Complexity
/// O(m (m + N)) for `m` messages of the rank and `N` nodes, with a node's other ranks.
pub fn rank_messages(
    (sizes, element_bytes): (&BlockSizes, u64),
    nodes: &[Vec<Rank>],
    how: OnNodes,
    rank: Rank,
) -> Vec<NodeMessage> {
    let plan = NodePlan::new((sizes, element_bytes), nodes, how);
    let find = |ranks: &Vec<Rank>| ranks.iter().position(|&one| one == rank);
    let mut places = nodes.iter().enumerate();
    let own = places.find_map(|(node, ranks)| Some((node, find(ranks)?)));
    let (node, place) = own.expect("each rank is on a node");
    let mut received: BTreeMap<Rank, Vec<Rc<[Piece]>>> = BTreeMap::new();
    for (mate_place, &mate) in nodes[node].iter().enumerate().filter(|(_, mate)| **mate != rank) {
        let of_mate = plan.sent((node, mate_place)).into_iter();
        let pieces = of_mate.filter(|sent| sent.to == rank).map(|sent| sent.pieces);
        received.insert(mate, pieces.collect());
    }
    for (from, pieces) in plan.received_between((node, place)) {
        received.entry(from).or_default().push(pieces);
    }
    let mut all = Vec::new();
    let mut listed: BTreeMap<Rank, usize> = BTreeMap::new();
    let mut list = |from: Rank, end: usize, all: &mut Vec<NodeMessage>| {
        let done = listed.entry(from).or_default();
        for pieces in received[&from].iter().take(end).skip(*done) {
            all.push(NodeMessage::Receive { from, pieces: Rc::clone(pieces) });
        }
        *done = end.max(*done);
    };
    let inside: BTreeSet<Rank> = nodes[node].iter().copied().collect();
    for Sent { to, pieces, after, .. } in plan.sent((node, place)) {
        after.into_iter().for_each(|(from, count)| list(from, count + 1, &mut all));
        all.push(NodeMessage::Send { to, pieces, is_inside: inside.contains(&to) });
    }
    received.keys().for_each(|&from| list(from, usize::MAX, &mut all));
    all
}

/// The allgather in which some ranks of each node, its lanes, get a share of the node's data each; the ranks of equal lanes
/// of all nodes gather each other's shares, and pass them on inside. A reduce-scatter is that backwards: lanes combine their
/// shares of all vectors of a node, then those of all nodes. Nodes are lists of their ranks, in any placement. Ranks
/// have a duplex port.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// If there are no ranks for a lane in some node, or no lanes; for no delay or no pieces.
///
/// # Complexity
/// O(n log n) for `n` messages: up to `p c` for each message of a lane of a rank, with `c` ranks on a node.
///
/// # Source
/// Träff, Hunold 2020; differs: blocks of any sizes, shares that are cut evenly, data passed on as it comes.
pub fn lanes(
    problem: &Problem,
    nodes: &[Vec<Rank>],
    lanes: Lanes,
) -> Result<Schedule, CollectiveError> {
    timetable(problem, nodes, OnNodes::Lanes(lanes))?.schedule(Layout::InPlace)
}

/// The schedule of [`lanes`] with each message as one piece that lies anywhere: to be simulated, not performed.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// As [`lanes`].
///
/// # Complexity
/// As [`lanes`].
pub fn sketch_of_lanes(
    problem: &Problem,
    nodes: &[Vec<Rank>],
    lanes: Lanes,
) -> Result<Schedule, CollectiveError> {
    timetable(problem, nodes, OnNodes::Lanes(lanes))?.schedule(Layout::Anywhere)
}

/// The allgather in which the ranks of a node give each other their blocks; each then sends the data of the whole node
/// straight to a rank of each of some other nodes, in turn, which passes it on inside. A reduce-scatter is that backwards.
/// Nodes and ports as in [`lanes`].
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For a node without ranks.
///
/// # Complexity
/// O(n log n) for `n = O(p c + N^2 c)` messages, with `N` nodes of `c` ranks.
pub fn node_all(problem: &Problem, nodes: &[Vec<Rank>]) -> Result<Schedule, CollectiveError> {
    timetable(problem, nodes, OnNodes::NodeAll)?.schedule(Layout::InPlace)
}

/// The messages of all ranks.
fn timetable<'a>(
    problem: &'a Problem,
    nodes: &[Vec<Rank>],
    how: OnNodes,
) -> Result<Timetable<'a>, CollectiveError> {
    let (sizes, flow) = spread_or_combined(problem)?;
    let sizes = (sizes, problem.operator().element_bytes());
    let timetable = NodePlan::new(sizes, nodes, how).timetable(problem);
    if flow == Flow::Combined { timetable.reversed() } else { Ok(timetable) }
}
