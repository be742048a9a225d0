//! Allgathers on machines with nodes, whose ranks may share a wire.
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

use crate::error::allgathered;
use crate::intergroup::costs_of_nothing;
use crate::rounds::MessageData;
use crate::timetable::{TimedMessage, Timetable};
use crate::{CollectiveError, bruck_balanced, circulant_balanced, ring};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use tuwtree_model::{BlockSizes, Problem, Rank, Time};
use tuwtree_schedule::{Piece, Schedule};

/// Allgather among the ranks of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// [`bruck_balanced`] with this delay, at least 1: with that of the number of nodes straight to all.
    Steps(usize),
    /// [`circulant_balanced`] in this many pieces, at least 1.
    Pieces(usize),
    /// Around the ring of nodes.
    Ring,
}

/// Parameters of [`lanes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Number of ranks of each node that send to other nodes, from 1 to the number of ranks of the smallest node.
    pub count: usize,
    /// Allgather of each lane.
    pub between: Between,
    /// True if a node's data is cut into shares of one length; false if each lane has whole blocks.
    pub is_even: bool,
    /// True if data from other nodes is passed on when all has come; false if as it comes.
    pub is_whole: bool,
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

/// The shares of a node's data, one for each lane.
fn shares(problem: &Problem, sizes: &BlockSizes, node: &[Rank], lanes: Lanes) -> Vec<NodeData> {
    let whole = |ranks: &mut dyn Iterator<Item = Rank>| {
        let mut data = MessageData::default();
        ranks.for_each(|rank| data.push(sizes.before(rank), sizes.block(rank)));
        NodeData(data.into_pieces())
    };
    if !lanes.is_even {
        let of = |lane| whole(&mut node.iter().copied().skip(lane).step_by(lanes.count));
        return (0..lanes.count).map(of).collect();
    }
    let all = whole(&mut node.iter().copied());
    let element = problem.operator().element_bytes();
    let (bytes, count) = (all.bytes(), lanes.count as u64);
    let cut = |lane: u64| match lane == count {
        true => bytes,
        false => {
            (u128::from(bytes / element) * u128::from(lane) / u128::from(count)) as u64 * element
        }
    };
    let share = |lane| {
        let mut data = MessageData::default();
        all.push_part((cut(lane), cut(lane + 1)), &mut data);
        NodeData(data.into_pieces())
    };
    (0..count).map(share).collect()
}

/// The allgather in which some ranks of each node, its lanes, get a share of the node's data each; the ranks of equal lanes
/// of all nodes gather each other's shares, and pass them on inside. Nodes are lists of their ranks, in any placement. Ranks
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
    timetable_of_lanes(problem, nodes, (lanes, true))?.schedule()
}

/// Planned time of [`lanes`] on the problem's machine, without passing on inside nodes if data is not `passed`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// As [`lanes`].
///
/// # Complexity
/// As [`lanes`]; `O(n log n)` for the `n` messages of lanes if data is not passed on.
pub fn lanes_time(
    problem: &Problem,
    nodes: &[Vec<Rank>],
    (lanes, passed): (Lanes, bool),
) -> Result<Time, CollectiveError> {
    timetable_of_lanes(problem, nodes, (lanes, passed))?.time()
}

/// The messages of [`lanes`], also inside nodes if data is `passed` on there.
fn timetable_of_lanes<'a>(
    problem: &'a Problem,
    nodes: &[Vec<Rank>],
    (lanes, passed): (Lanes, bool),
) -> Result<Timetable<'a>, CollectiveError> {
    let sizes = allgathered(problem)?;
    let mut timetable = Timetable::new(problem);
    let shares: Vec<Vec<NodeData>> =
        nodes.iter().map(|node| shares(problem, sizes, node, lanes)).collect();
    for lane in 0..lanes.count {
        let of_lane: Vec<(&[Rank], &NodeData)> =
            nodes.iter().zip(&shares).map(|(node, shares)| (&node[..], &shares[lane])).collect();
        let mut own = Vec::with_capacity(nodes.len());
        for &(node, share) in &of_lane {
            own.push(add_gathered(&mut timetable, sizes, (node, share), lane));
        }
        let come = add_between(&mut timetable, &of_lane, &own, (lane, lanes.between))?;
        for ((&one, own), come) in of_lane.iter().zip(&own).zip(&come).filter(|_| passed) {
            add_passed(&mut timetable, sizes, one, (lane, lanes.is_whole), (own, come));
        }
    }
    Ok(timetable)
}

/// Adds the messages in which a lane's share of a node's data comes together, and returns their numbers.
fn add_gathered(
    timetable: &mut Timetable<'_>,
    sizes: &BlockSizes,
    (node, share): (&[Rank], &NodeData),
    lane: usize,
) -> Vec<u32> {
    let holder = node[lane];
    let others = node.iter().filter(|&&rank| rank != holder);
    let messages = others.map(|&rank| {
        let pieces = share.within(block(sizes, rank)).into();
        TimedMessage { ends: (rank, holder), pieces, after: Vec::new(), turn: FIRST }
    });
    messages.filter_map(|message| timetable.push(message)).collect()
}

/// Adds the messages in which the holder of a lane passes its share, and the data from other nodes, to the other ranks of its
/// node.
fn add_passed(
    timetable: &mut Timetable<'_>,
    sizes: &BlockSizes,
    (node, share): (&[Rank], &NodeData),
    (lane, is_whole): (usize, bool),
    (own, come): (&[u32], &[Come]),
) {
    // The next rank first, so that not all send to one.
    for mate in (1..node.len()).map(|step| node[(lane + step) % node.len()]) {
        let own_data = share.without(block(sizes, mate));
        let mut pass = |pieces: Rc<[Piece]>, after: Vec<u32>| {
            timetable.push(TimedMessage { ends: (node[lane], mate), pieces, after, turn: LAST });
        };
        if is_whole {
            let mut pieces = own_data;
            pieces.extend(come.iter().flat_map(|(_, pieces)| pieces.iter().copied()));
            pieces.sort_unstable_by_key(|piece| piece.offset);
            pass(
                pieces.into(),
                own.iter().chain(come.iter().map(|(number, _)| number)).copied().collect(),
            );
        } else {
            pass(own_data.into(), own.to_vec());
            come.iter().for_each(|(number, pieces)| pass(Rc::clone(pieces), vec![*number]));
        }
    }
}

/// A message that has come to a rank, and its data.
type Come = (u32, Rc<[Piece]>);

/// Adds the messages of a lane between nodes, each after the messages in which its node's share came together if it has any
/// of it, and returns the messages to each node.
fn add_between(
    timetable: &mut Timetable<'_>,
    nodes: &[(&[Rank], &NodeData)],
    gathered: &[Vec<u32>],
    (lane, between): (usize, Between),
) -> Result<Vec<Vec<Come>>, CollectiveError> {
    let shares = BlockSizes::new(nodes.iter().map(|(_, share)| share.bytes()))?;
    let problem = Problem::allgather(&shares, costs_of_nothing())?;
    let schedule = match between {
        Between::Steps(delay) => bruck_balanced(&problem, delay)?,
        Between::Pieces(pieces) => circulant_balanced(&problem, pieces)?,
        Between::Ring => ring(&problem)?,
    };
    let placed = |pieces: &[Piece]| {
        let mut data = MessageData::default();
        for piece in pieces {
            let first = (0..nodes.len()).rev().find(|&node| shares.before(node) <= piece.offset);
            let from = nodes.iter().enumerate().skip(first.unwrap_or(0));
            for (node, (_, share)) in
                from.take_while(|(node, _)| shares.before(*node) < piece.end())
            {
                let within =
                    |at: u64| at.saturating_sub(shares.before(node)).min(shares.block(node));
                share.push_part((within(piece.offset), within(piece.end())), &mut data);
            }
        }
        Rc::from(data.into_pieces())
    };
    // Numbers of the messages between two nodes, in their order.
    let mut sent: BTreeMap<(usize, usize), VecDeque<u32>> = BTreeMap::new();
    for (from, (node, _)) in nodes.iter().enumerate() {
        for send in schedule.programs().actions(from).filter_map(|action| action.send()) {
            let ends = (node[lane], nodes[send.to].0[lane]);
            let pieces = placed(send.from.pieces);
            let message = TimedMessage { ends, pieces, after: Vec::new(), turn: URGENT };
            sent.entry((from, send.to)).or_default().extend(timetable.push(message));
        }
    }
    let mut come = Vec::with_capacity(nodes.len());
    let mut left = sent.clone();
    for (node, own) in gathered.iter().enumerate() {
        let own_share = Piece { offset: shares.before(node), bytes: shares.block(node) };
        let overlaps =
            |one: &Piece, other: &Piece| one.offset < other.end() && other.offset < one.end();
        let mut here: Vec<(u32, Vec<Piece>)> = Vec::new();
        for action in schedule.programs().actions(node) {
            if let Some(send) = action.send() {
                let number = left.get_mut(&(node, send.to)).and_then(VecDeque::pop_front);
                let has = |piece: &Piece| send.from.pieces.iter().any(|sent| overlaps(sent, piece));
                let needed = here.iter().filter(|(_, pieces)| pieces.iter().any(has));
                let mut after: Vec<u32> = needed.map(|&(number, _)| number).collect();
                after.extend(own.iter().filter(|_| has(&own_share)));
                timetable.need(number.expect("a message of a lane has data"), after);
            }
            if let Some(receive) = action.receive() {
                let number = sent.get_mut(&(receive.from, node)).and_then(VecDeque::pop_front);
                here.push((
                    number.expect("each received message is sent"),
                    receive.into.pieces.to_vec(),
                ));
            }
        }
        come.push(here.into_iter().map(|(number, _)| (number, timetable.pieces(number))).collect());
    }
    Ok(come)
}

/// The allgather in which the ranks of a node give each other their blocks; each then sends the data of the whole node
/// straight to a rank of each of some other nodes, in turn, which passes it on inside.
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
    let sizes = allgathered(problem)?;
    let mut timetable = Timetable::new(problem);
    let mut gathered: BTreeMap<Rank, Vec<u32>> = BTreeMap::new();
    for node in nodes {
        for (index, &from) in node.iter().enumerate() {
            for step in 1..node.len() {
                let to = node[(index + step) % node.len()];
                let pieces = Rc::new([block(sizes, from)]);
                let message =
                    TimedMessage { ends: (from, to), pieces, after: Vec::new(), turn: FIRST };
                gathered.entry(to).or_default().extend(timetable.push(message));
            }
        }
    }
    for distance in 1..nodes.len() {
        for (index, node) in nodes.iter().enumerate() {
            let there = &nodes[(index + distance) % nodes.len()];
            let (from, to) =
                (node[(distance - 1) % node.len()], there[(distance - 1) % there.len()]);
            let mut data = MessageData::default();
            node.iter().for_each(|&rank| data.push(sizes.before(rank), sizes.block(rank)));
            let pieces: Rc<[Piece]> = data.into_pieces().into();
            let after = gathered.get(&from).cloned().unwrap_or_default();
            let message =
                TimedMessage { ends: (from, to), pieces: pieces.clone(), after, turn: URGENT };
            let Some(number) = timetable.push(message) else { continue };
            let place = (distance - 1) % there.len();
            for step in 1..there.len() {
                let ends = (to, there[(place + step) % there.len()]);
                timetable.push(TimedMessage {
                    ends,
                    pieces: pieces.clone(),
                    after: vec![number],
                    turn: LAST,
                });
            }
        }
    }
    timetable.schedule()
}
