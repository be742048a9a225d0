//! Choice among allgathers on nodes, and estimates of their times.
//!
//! ```text
//! lanes      shares come together | lane: all but the last message passed on meanwhile | the last is passed on
//! node-all   blocks inside        | one rank's messages to other nodes                 | they are passed on
//! ```
//!
//! A rank's messages inside a node follow one another on its port; those of all ranks of a node share its wire if the machine
//! says so.

use super::{DEAREST, MOST_MESSAGES, MOST_STEPS, PriceTable};
use crate::settings::RootlessAlgorithm;
use tuwtree_collective::nodes::{Lanes, OnNodes, betweens, lane_sizes};
use tuwtree_collective::{
    Circulation, Flow, MessagePrice, overlapped_time, performed_messages, steps_in_pieces,
};
use tuwtree_model::document::Machine;
use tuwtree_model::{BlockSizes, Rank, WireOwner};

/// Costs of messages on a machine with nodes, or of all messages where no nodes are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodePrices {
    inside: PriceTable,
    between: PriceTable,
    /// Number of ranks of a node that share a wire; 1 if each has its own.
    pub(super) sharing: usize,
}

/// Most messages of a rank, so that each receive has a port of its own.
const MOST_LISTED: usize = 1 << 14;

/// More nodes are not gone through one after the other.
const MOST_NODES_IN_TURN: usize = 512;

impl NodePrices {
    /// The prices on this machine; `None` if it has no nodes of several ranks, or only one.
    pub(super) fn of(machine: &Machine, ranks: usize) -> Option<NodePrices> {
        let levels = machine.costs.hierarchy()?;
        let (inner, outer): (Vec<Rank>, Vec<Rank>) =
            (1..ranks).partition(|&rank| levels.node(rank) == levels.node(0));
        let dearest = |others: &[Rank]| {
            PriceTable::dearest(&machine.costs, || others.iter().map(|&to| (0, to)))
        };
        (!inner.is_empty() && !outer.is_empty()).then(|| NodePrices {
            inside: dearest(&inner),
            between: dearest(&outer),
            sharing: match machine.network.wire {
                WireOwner::Node => inner.len() + 1,
                _ => 1,
            },
        })
    }

    /// Equal costs of all messages.
    pub(super) fn flat(all: &PriceTable) -> NodePrices {
        NodePrices { inside: all.clone(), between: all.clone(), sharing: 1 }
    }

    /// The allgather of least estimated time among those of an algorithm, or of both, with that time in picoseconds and a
    /// twentieth more; lanes of fewest messages where there are too many to look at.
    ///
    /// # Complexity
    /// O(N log N + p) for each number of pieces or delay that is tried, with `N` nodes.
    pub(super) fn best(
        &self,
        (sizes, element_bytes): (&BlockSizes, u64),
        nodes: &[Vec<Rank>],
        algorithm: RootlessAlgorithm,
    ) -> (OnNodes, u128) {
        let count = nodes.iter().map(Vec::len).min().unwrap_or(1);
        let mut all = Vec::new();
        if algorithm != RootlessAlgorithm::Lanes {
            all.push((OnNodes::NodeAll, self.time_of_node_all(sizes, nodes)));
        }
        if algorithm != RootlessAlgorithm::NodeAll {
            for between in betweens(sizes.total(), nodes.len()) {
                for (is_even, is_whole) in
                    [(false, true), (false, false), (true, true), (true, false)]
                {
                    let lanes = Lanes { count, between, is_even, is_whole };
                    let time = self.time_of_lanes((sizes, element_bytes), nodes, lanes);
                    all.extend(time.map(|time| (OnNodes::Lanes(lanes), time)));
                }
            }
        }
        let fewest = Circulation::BalancedPostal(1);
        let fewest = Lanes { count, between: fewest, is_even: false, is_whole: true };
        let best = all.into_iter().min_by_key(|&(_, time)| time);
        let (how, time) = best.unwrap_or((OnNodes::Lanes(fewest), u128::MAX));
        (how, time.saturating_add(time / 20))
    }

    /// Time of a message between nodes, while so many ranks of a node send.
    fn price(&self, senders: usize, bytes: u64) -> MessagePrice {
        let MessagePrice { latency, occupancy } = self.between.parts(bytes);
        MessagePrice { latency, occupancy: occupancy * senders.min(self.sharing) as u128 }
    }

    /// Time of this many messages of so many bytes inside a node, from one rank or to one.
    fn inside(&self, messages: usize, bytes: u64) -> u128 {
        let MessagePrice { latency, occupancy } = self.inside.parts(bytes);
        let is_some = u128::from(messages > 0);
        is_some * latency + messages as u128 * occupancy
    }

    fn time_of_node_all(&self, sizes: &BlockSizes, nodes: &[Vec<Rank>]) -> u128 {
        let most = nodes.iter().map(Vec::len).max().unwrap_or(1);
        let least = nodes.iter().map(Vec::len).min().unwrap_or(1);
        let bytes_of = |node: &Vec<Rank>| node.iter().map(|&rank| sizes.block(rank)).sum();
        let bytes = nodes.iter().map(bytes_of).max().unwrap_or(0);
        let block = sizes.iter().max().unwrap_or(0);
        let straight = (nodes.len() - 1).div_ceil(least);
        let MessagePrice { latency, occupancy } = self.price(most, bytes);
        self.inside(most - 1, block)
            + latency
            + straight as u128 * occupancy
            + self.inside(straight * (most - 1), bytes)
    }

    /// `None` if there are too many messages to list, or to look at.
    fn time_of_lanes(
        &self,
        sizes: (&BlockSizes, u64),
        nodes: &[Vec<Rank>],
        lanes: Lanes,
    ) -> Option<u128> {
        let mates = nodes.iter().map(Vec::len).max().unwrap_or(1) - 1;
        let rounds = match lanes.between {
            Circulation::BalancedPieces(pieces) => {
                (steps_in_pieces(nodes.len(), pieces) <= MOST_STEPS).then_some(())?;
                pieces + nodes.len().ilog2() as usize
            }
            Circulation::BalancedPostal(delay) => delay + nodes.len().ilog2() as usize,
            _ => nodes.len(),
        };
        let listed = rounds + mates * if lanes.is_whole { 2 } else { rounds + 2 };
        if rounds > MOST_NODES_IN_TURN || listed > MOST_LISTED {
            return None;
        }
        let of_lanes = lane_sizes(sizes, nodes, lanes);
        let worst = of_lanes.iter().max_by_key(|sizes| sizes.total())?;
        if performed_messages(worst, lanes.between) > MOST_MESSAGES {
            return None;
        }
        let share = worst.iter().max().unwrap_or(0);
        let block = sizes.0.iter().max().unwrap_or(0);
        // From all mates to one holder, or from one rank to the holders of all shares that its block is in.
        let gathered = match lanes.is_even {
            true => {
                let covered = mates.min((block / share.max(1)) as usize + 1);
                let receives = self.inside(mates, share.div_ceil(mates.max(1) as u64));
                self.inside(covered, block.min(share)).max(receives)
            }
            false => self.inside(mates / lanes.count, block),
        };
        let price = |bytes| self.price(lanes.count, bytes);
        let lane = overlapped_time(worst, 1, lanes.between, Flow::Spread, price);
        let total = worst.total();
        let last = match lanes.between {
            _ if lanes.is_whole => total,
            Circulation::BalancedPostal(delay) if delay < nodes.len() => total / 2,
            Circulation::BalancedPieces(pieces) => total / pieces as u64,
            _ => share,
        };
        let before = total - last;
        let earlier = if lanes.is_whole {
            0
        } else {
            self.inside(mates * rounds, before.div_ceil(rounds as u64))
        };
        Some((gathered + lane.max(earlier) + self.inside(mates, last)).min(DEAREST as u128))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_collective::nodes::{lanes, node_all};
    use tuwtree_model::document::Date;
    use tuwtree_model::{Costs, Hierarchy, Level, Network, Placement, Problem, StatedCosts};
    use tuwtree_schedule::{Sends, simulate};

    /// Nodes with a wire each; inside 1 us, 0.1 us of it overhead, 50 GB/s, between 4 us, 0.2 us and 20 GB/s.
    fn machine(members: usize) -> Machine {
        let level = |name: &str, members, (alpha, overhead, beta)| {
            let piece = tuwtree_model::Piece { from_bytes: 0, alpha, overhead, beta };
            let links = tuwtree_model::PiecewiseLinear::new(vec![piece]).unwrap().into();
            Level { name: name.into(), members, links }
        };
        let levels = vec![
            level("node", members, (1e-6, 1e-7, 2e-11)),
            level("network", 1 << 20, (4e-6, 2e-7, 5e-11)),
        ];
        let levels = Hierarchy::new(levels, Placement::Block, 0.0).unwrap();
        Machine {
            name: "nodes".into(),
            date: Date::parse("2026-11-28").unwrap(),
            provenance: "stated".into(),
            combine_per_byte: 0.0,
            network: Network { wire: WireOwner::Node, ..Network::default() },
            costs: Costs::Hierarchical(levels),
        }
    }

    #[test]
    fn estimated_times_are_about_those_of_the_simulation() {
        for (members, count, bytes) in
            [(4, 8, 8), (4, 8, 1000), (8, 16, 8), (8, 16, 4096), (8, 16, 65_536), (3, 5, 700)]
        {
            let machine = machine(members);
            let ranks = members * count;
            let nodes: Vec<Vec<Rank>> =
                (0..count).map(|node| (members * node..members * (node + 1)).collect()).collect();
            for skew in [0, 20] {
                let block = |rank| if rank % 7 == 3 { bytes * (1 + skew) } else { bytes };
                let sizes = BlockSizes::new((0..ranks as u64).map(block)).unwrap();
                let prices = NodePrices::of(&machine, ranks).unwrap();
                let (how, estimate) = prices.best((&sizes, 1), &nodes, RootlessAlgorithm::Auto);
                let costs = StatedCosts::from(machine.clone());
                let problem = Problem::allgather(&sizes, costs).unwrap();
                let schedule = match how {
                    OnNodes::Lanes(how) => lanes(&problem, &nodes, how),
                    OnNodes::NodeAll => node_all(&problem, &nodes),
                };
                let timeline =
                    simulate(&schedule.unwrap(), problem.stated_costs(), Sends::Synchronous);
                let time = timeline.unwrap().completion_time().units();
                let estimate = estimate as f64 / 1e12;
                assert!((0.8..1.6).contains(&(estimate / time)), "{how:?}: {estimate}, {time}");
            }
        }
    }
}
