//! Estimated times of allgathers on nodes, in time that does not grow with their messages.
//!
//! ```text
//! lanes      shares come together | lane: all but the last message passed on meanwhile | the last is passed on
//! node-all   blocks inside        | one rank's messages to other nodes                 | they are passed on
//! ```
//!
//! A lane is simulated, the one with most data, and the lanes of a node as one whose messages share the node's wire by bytes: each
//! in its turn would be faster, but networks carry packets of all at once. A rank's messages inside a node follow one another on
//! its port.

use super::{Lanes, NodePlan, OnNodes};
use crate::rank_rounds::RoundsKind;
use crate::{
    Circulation, Flow, MessagePrice, overlapped_time, performed_messages, steps_in_pieces,
};
use tuwtree_model::{BlockSizes, Rank};

/// Costs of messages on nodes, by size in bytes.
pub struct NodePrices<'a> {
    /// Inside a node.
    pub inside: &'a dyn Fn(u64) -> MessagePrice,
    /// Between nodes.
    pub between: &'a dyn Fn(u64) -> MessagePrice,
    /// Time on a wire to other nodes that all ranks of a node share; 0 if each has its own.
    pub wire: &'a dyn Fn(u64) -> u128,
}

/// A rank has no more messages than this.
const MOST_LISTED: usize = 1 << 14;

/// A lane has no more rounds than this.
const MOST_ROUNDS: usize = 512;

/// Additional percentage of time on a shared wire but around a ring: some nodes receive from two nodes at once, and others from
/// none. Found by simulation, and on an emulated cluster.
const COLLISIONS: u128 = 20;

/// Looking at more messages, or pieces of messages, of a lane would take longer than some milliseconds.
const MOST_MESSAGES: u128 = 1 << 15;
const MOST_STEPS: u128 = 1 << 21;

/// Lane counts that are worth a try: all ranks of the smallest node, half of them, one.
fn counts(nodes: &[Vec<Rank>]) -> Vec<usize> {
    let least = nodes.iter().map(Vec::len).min().unwrap_or(1);
    let mut counts = vec![least, least.div_ceil(2), 1];
    counts.dedup();
    counts
}

/// Allgathers of lanes that are worth a try for this many bytes in all: delays up to the number of nodes, some numbers of
/// pieces, the ring.
fn betweens(bytes: u64, nodes: usize) -> Vec<Circulation> {
    let mut delays: Vec<usize> =
        [1, 2, 4, 8, 16].into_iter().take_while(|&delay| delay < nodes).collect();
    delays.push(nodes);
    let pieces = [4, 16].into_iter().filter(|&pieces| bytes / nodes as u64 >= LEAST_PIECE * pieces);
    let pieces = pieces.map(|pieces| Circulation::BalancedPieces(pieces as usize));
    let delays = delays.into_iter().map(Circulation::BalancedPostal);
    delays.chain(pieces).chain([Circulation::Ring]).collect()
}

/// A node's data is not cut into pieces of fewer bytes.
const LEAST_PIECE: u64 = 1024;

/// Lanes with all parameters that are worth a try, and their estimated times in the unit of the prices, the fastest first; plus
/// a tenth if not all ranks of the smallest node are lanes, or uneven lanes send pieces. Where nodes are too many to look at, one
/// choice of few messages, with the largest time.
///
/// # Panics
/// As [`lanes`](super::lanes).
///
/// # Complexity
/// O(p + r N log N) for each choice, with lanes of `N` ranks in `r` rounds.
pub fn estimated_lanes(
    (sizes, element_bytes): (&BlockSizes, u64),
    nodes: &[Vec<Rank>],
    prices: &NodePrices<'_>,
) -> Vec<(Lanes, u128)> {
    let mut all = Vec::new();
    let bytes_of = |node: &Vec<Rank>| node.iter().map(|&rank| sizes.block(rank)).sum();
    let of_nodes = BlockSizes::new(nodes.iter().map(bytes_of)).expect("parts of all blocks");
    for count in counts(nodes) {
        for is_even in [false, true] {
            let lanes = Lanes { count, between: Circulation::Ring, is_even, is_whole: true };
            let plan = NodePlan::new((sizes, element_bytes), nodes, OnNodes::Lanes(lanes));
            let worst = plan.of_lanes.iter().max_by_key(|sizes| sizes.total());
            let worst = worst.expect("there is a lane");
            let are_alike = is_even || plan.of_lanes.iter().all(|lane| lane == worst);
            for between in betweens(sizes.total(), nodes.len()) {
                let mut known = None;
                for is_whole in [true, false] {
                    let lanes = Lanes { between, is_whole, ..lanes };
                    if !is_short(nodes, (lanes, worst)) {
                        continue;
                    }
                    let lane = *known.get_or_insert_with(|| prices.lane((lanes, worst), &of_nodes));
                    let time = prices.time((sizes, nodes), (lanes, worst), lane);
                    // Few ranks send larger messages, which may wait for their receivers; lanes with pieces of
                    // different lengths drift apart.
                    let drifts = !are_alike && matches!(between, Circulation::BalancedPieces(_));
                    let may_wait = count < counts(nodes)[0] || drifts;
                    all.push((lanes, if may_wait { time + time / 10 } else { time }));
                }
            }
        }
    }
    if all.is_empty() {
        let (count, between) = (counts(nodes)[0], Circulation::BalancedPostal(1));
        all.push((Lanes { count, between, is_even: false, is_whole: true }, u128::MAX));
    }
    all.sort_by_key(|&(_, time)| time);
    all
}

/// Estimated time of [`node_all`](super::node_all), in the unit of the prices.
///
/// # Complexity
/// O(p).
pub fn estimated_node_all(
    sizes: &BlockSizes,
    nodes: &[Vec<Rank>],
    prices: &NodePrices<'_>,
) -> u128 {
    let most = nodes.iter().map(Vec::len).max().unwrap_or(1);
    let least = nodes.iter().map(Vec::len).min().unwrap_or(1);
    let bytes_of = |node: &Vec<Rank>| node.iter().map(|&rank| sizes.block(rank)).sum();
    let bytes = nodes.iter().map(bytes_of).max().unwrap_or(0);
    let straight = (nodes.len() - 1).div_ceil(least);
    let MessagePrice { latency, occupancy } = (prices.between)(bytes);
    let own = latency + straight as u128 * occupancy;
    let largest = latency + (nodes.len() - 1) as u128 * (prices.wire)(bytes);
    let all = prices.wire_time(sizes.total(), nodes.len(), nodes.len() - 1, COLLISIONS);
    prices.inside_node(most - 1, sizes.iter().max().unwrap_or(0))
        + own.max(largest).max(all)
        + prices.inside_node(straight * (most - 1), bytes)
}

/// Number of rounds of a lane.
fn rounds(nodes: &[Vec<Rank>], between: Circulation) -> usize {
    RoundsKind::new(nodes.len(), Flow::Spread, between).count(nodes.len())
}

/// Number of a rank's mates on the largest node.
fn most_mates(nodes: &[Vec<Rank>]) -> usize {
    nodes.iter().map(Vec::len).max().unwrap_or(1) - 1
}

/// True within the limits on messages of a rank, and on simulated ones.
fn is_short(nodes: &[Vec<Rank>], (lanes, shares): (Lanes, &BlockSizes)) -> bool {
    let (rounds, mates) = (rounds(nodes, lanes.between), most_mates(nodes));
    let listed = rounds + mates * if lanes.is_whole { 2 } else { rounds + 2 };
    let steps = match lanes.between {
        Circulation::BalancedPieces(pieces) => steps_in_pieces(nodes.len(), pieces),
        _ => 0,
    };
    let messages = performed_messages(shares, lanes.between);
    rounds <= MOST_ROUNDS
        && listed <= MOST_LISTED
        && steps <= MOST_STEPS
        && messages <= MOST_MESSAGES
}

impl NodePrices<'_> {
    /// Time for all data of other nodes to come over a node's wire in this many messages, if nodes have about as much each; the
    /// wire takes this percentage longer.
    fn wire_time(&self, bytes: u64, nodes: usize, messages: usize, percentage: u128) -> u128 {
        let others = bytes - bytes / nodes as u64;
        let one = others.div_ceil(messages.max(1) as u64);
        let carried = messages as u128 * (self.wire)(one);
        (self.between)(one).latency + carried + carried * percentage / 100
    }

    /// Time of a number of messages of one size inside a node, from one rank or to one.
    fn inside_node(&self, messages: usize, bytes: u64) -> u128 {
        let MessagePrice { latency, occupancy } = (self.inside)(bytes);
        let is_some = u128::from(messages > 0);
        is_some * latency + messages as u128 * occupancy
    }

    /// Time between nodes of the longest lane, which has these shares, and of all lanes on shared wires.
    fn lane(&self, (lanes, shares): (Lanes, &BlockSizes), of_nodes: &BlockSizes) -> u128 {
        let lane = overlapped_time(shares, 1, lanes.between, Flow::Spread, self.between);
        if (self.wire)(of_nodes.total()) == 0 {
            return lane;
        }
        let count = lanes.count as u64;
        let shared = |bytes: u64| {
            let one = bytes.div_ceil(count);
            let wire = u128::from(count) * (self.wire)(one);
            let price = (self.between)(one);
            MessagePrice { occupancy: price.occupancy.max(wire), ..price }
        };
        lane.max(overlapped_time(of_nodes, 1, lanes.between, Flow::Spread, shared))
    }

    /// Time of [`lanes`](super::lanes), whose longest lane has these shares, and that time between nodes.
    fn time(
        &self,
        (sizes, nodes): (&BlockSizes, &[Vec<Rank>]),
        (lanes, shares): (Lanes, &BlockSizes),
        lane: u128,
    ) -> u128 {
        let between = lanes.between;
        let (rounds, mates) = (rounds(nodes, between), most_mates(nodes));
        let (share, total) = (shares.iter().max().unwrap_or(0), shares.total());
        let block = sizes.iter().max().unwrap_or(0);
        // From all mates to one holder, or from one rank to the holders of all shares that its block is in.
        let gathered = match lanes.is_even {
            true => {
                let covered = mates.min((block / share.max(1)) as usize + 1);
                let receives = self.inside_node(mates, share.div_ceil(mates.max(1) as u64));
                self.inside_node(covered, block.min(share)).max(receives)
            }
            false => self.inside_node(mates / lanes.count, block),
        };
        let (collisions, last) = match between {
            Circulation::BalancedPostal(_) if rounds + 1 == nodes.len() => (COLLISIONS, share),
            Circulation::BalancedPostal(_) => (COLLISIONS, total / 2),
            Circulation::BalancedPieces(pieces) => (COLLISIONS, total / pieces as u64),
            _ => (0, share),
        };
        let messages = rounds * lanes.count;
        let wire = self.wire_time(sizes.total(), nodes.len(), messages, collisions);
        let lane = lane.max(wire);
        if lanes.is_whole || rounds == 0 {
            return gathered + lane + self.inside_node(mates, total);
        }
        let first = (self.between)(shares.iter().min().unwrap_or(0));
        let earlier = self.inside_node(mates * rounds, (total - last).div_ceil(rounds as u64));
        let lane = lane.max(first.latency + first.occupancy + earlier);
        gathered + lane + self.inside_node(mates, last)
    }
}
