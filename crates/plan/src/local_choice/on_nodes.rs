//! Costs of messages on nodes, and the choice among allgathers on nodes by their estimated times.

use super::{PriceTable, RootlessAlgorithm};
use tuwtree_collective::nodes::{self, OnNodes, estimated_lanes, estimated_node_all};
use tuwtree_collective::{MessagePrice, most_in_pairs};
use tuwtree_model::document::Machine;
use tuwtree_model::{BlockSizes, CostModel, Rank, StatedCosts};

/// Costs of messages on a machine with nodes, or of all messages where no nodes are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePrices {
    inside: PriceTable,
    between: PriceTable,
    /// Time on a wire that all ranks of a node share; 0 if each has its own.
    wire: PriceTable,
    /// Number of ranks on the first node.
    members: usize,
}

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
            wire: {
                let costs = StatedCosts::from(machine.clone());
                PriceTable::by_size(|bytes| match costs.shared_wires(0, outer[0], bytes) {
                    Ok(Some(shared)) => (shared.time.units(), shared.time.units()),
                    _ => (0.0, 0.0),
                })
            },
            members: inner.len() + 1,
        })
    }

    /// Equal costs of all messages.
    pub(super) fn flat(all: &PriceTable) -> NodePrices {
        NodePrices {
            inside: all.clone(),
            between: all.clone(),
            wire: PriceTable::by_size(|_| (0.0, 0.0)),
            members: 1,
        }
    }

    /// The upper bounds, with all ranks of a node sending to other nodes at once.
    pub(super) fn on_wires(&self, most: PriceTable) -> PriceTable {
        most.at_least(&self.wire, self.members as u64)
    }

    /// Latency between nodes.
    pub fn latency(&self) -> u128 {
        self.between.parts(1).latency
    }

    /// For how long a message occupies ports, and the wire of a node.
    pub fn occupied(&self, bytes: u64, is_inside: bool) -> (u128, u128) {
        match is_inside {
            true => (self.inside.occupancy(bytes), 0),
            false => (self.between.occupancy(bytes), self.wire.message(bytes)),
        }
    }

    /// Bytes of the largest messages of an alltoall that are passed on by pairs of nodes.
    pub fn most_in_pairs(&self) -> u64 {
        most_in_pairs(|bytes| self.inside.occupancy(bytes), |bytes| self.between.occupancy(bytes))
    }

    /// Estimated time of an alltoall by pairs of nodes, where no rank, and no node, has more bytes of small messages, and larger
    /// ones occupy a port, and a wire, for so long; in picoseconds, plus a twentieth. Bundles are as large as they are on average.
    pub fn pairs_time(
        &self,
        [of_rank, of_node]: [u64; 2],
        nodes: &[Vec<Rank>],
        [port, wire]: [u128; 2],
    ) -> u128 {
        let ranks: usize = nodes.iter().map(Vec::len).sum();
        let members = nodes.iter().map(Vec::len).max().unwrap_or(1) as u64;
        let fewest = nodes.iter().map(Vec::len).min().unwrap_or(1);
        let others = nodes.len() as u64 - 1;
        // With the sizes of the messages.
        let sizes = 4 * ranks as u64;
        let inside = self.inside.parts(of_rank.saturating_add(sizes).div_ceil(members));
        let inside = inside.latency + u128::from(members - 1) * inside.occupancy;
        let bundle = of_node.saturating_add(sizes * members).div_ceil(others);
        let sent = others.div_ceil(fewest as u64);
        let sent = u128::from(sent) * self.between.occupancy(bundle) + port;
        let carried = u128::from(others) * self.wire.message(bundle) + wire;
        let time = 2 * inside + self.between.parts(bundle).latency + sent.max(carried);
        time.saturating_add(time / 20)
    }

    /// Estimated time of an alltoall of messages of this size by Bruck's algorithm in radix 2 without regard to nodes, in
    /// picoseconds.
    pub fn bruck_time(&self, ranks: usize, bytes: u64) -> u128 {
        let round = |power: u32| {
            let (width, period) = (1 << power, 2 << power);
            let count = ranks / period * width + (ranks % period).saturating_sub(width);
            let bundle = bytes.saturating_mul(count as u64);
            let carried = self.members as u128 * self.wire.message(bundle);
            let MessagePrice { latency, occupancy } = self.between.parts(bundle);
            latency + occupancy.max(carried)
        };
        (0..ranks.next_power_of_two().ilog2()).map(round).sum()
    }

    /// Estimated time of an allgather around the ring of all ranks, in picoseconds: a rank passes a block on when it has come, and
    /// the one before has left. A reduce-scatter takes about as long.
    ///
    /// # Complexity
    /// O(p^2).
    pub(super) fn ring_time(&self, sizes: &BlockSizes, nodes: &[Vec<Rank>]) -> u128 {
        let p = sizes.ranks();
        let mut node_of = vec![0; p];
        for (node, ranks) in nodes.iter().enumerate() {
            ranks.iter().for_each(|&rank| node_of[rank] = node);
        }
        let all = |table: &PriceTable| sizes.iter().map(|bytes| table.parts(bytes)).collect();
        let [inside, between]: [Vec<MessagePrice>; 2] = [all(&self.inside), all(&self.between)];
        let mut ready = vec![0; p];
        for round in 0..p - 1 {
            let mut next = ready.clone();
            for from in 0..p {
                let to = (from + 1) % p;
                let prices = if node_of[from] == node_of[to] { &inside } else { &between };
                let MessagePrice { latency, occupancy } = prices[(from + p - round) % p];
                let left = ready[from] + occupancy;
                next[from] = left.max(next[from]);
                next[to] = (left + latency).max(next[to]);
            }
            ready = next;
        }
        ready.into_iter().max().unwrap_or(0)
    }

    /// Costs by size, inside and between nodes, and on a wire.
    fn by_size(
        &self,
    ) -> (impl Fn(u64) -> MessagePrice, impl Fn(u64) -> MessagePrice, impl Fn(u64) -> u128) {
        (
            |bytes| self.inside.parts(bytes),
            |bytes| self.between.parts(bytes),
            |bytes| self.wire.message(bytes),
        )
    }

    /// The allgather of least estimated time by an algorithm, or by any; its time in picoseconds, plus a twentieth.
    ///
    /// # Complexity
    /// As [`estimated_lanes`].
    pub(super) fn best(
        &self,
        sizes: (&BlockSizes, u64),
        nodes: &[Vec<Rank>],
        algorithm: RootlessAlgorithm,
    ) -> (OnNodes, u128) {
        let (inside, between, wire) = self.by_size();
        let prices = nodes::NodePrices { inside: &inside, between: &between, wire: &wire };
        let node_all = || (OnNodes::NodeAll, estimated_node_all(sizes.0, nodes, &prices));
        let lanes = || {
            let (lanes, time) = estimated_lanes(sizes, nodes, &prices)[0];
            (OnNodes::Lanes(lanes), time)
        };
        let (how, time) = match algorithm {
            RootlessAlgorithm::Lanes => lanes(),
            RootlessAlgorithm::NodeAll => node_all(),
            _ => {
                // Of algorithms that take about as long, the one of fewer messages.
                let (all, lanes) = (node_all(), lanes());
                if all.1 <= lanes.1.saturating_add(lanes.1 / 20) { all } else { lanes }
            }
        };
        (how, time.saturating_add(time / 20))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_collective::Circulation;
    use tuwtree_collective::nodes::{lanes, node_all};
    use tuwtree_laws::machines::nodes_with_a_wire;
    use tuwtree_model::Problem;
    use tuwtree_schedule::{Sends, simulate};

    #[test]
    fn blocks_around_a_ring_of_nodes_wait_for_links_between_nodes_once_a_node() {
        let table = |latency: f64| PriceTable::by_size(|_| ((latency + 1.0) / 1e12, 1e-12));
        let prices = NodePrices { between: table(10.0), ..NodePrices::flat(&table(0.0)) };
        let sizes = BlockSizes::new([1; 4]).unwrap();
        // Blocks leave nodes after 1, 2 and 13, as the third was between nodes before.
        assert_eq!(prices.ring_time(&sizes, &[vec![0, 1], vec![2, 3]]), 23);
        // All links are between nodes: 3 messages follow one another.
        assert_eq!(prices.ring_time(&sizes, &[vec![0, 2], vec![1, 3]]), 33);
    }

    /// Lanes that took turns on a wire would hand the blocks of a ring on in pieces, so that the judge would choose the ring. Packets
    /// of all lanes are on the wire at once.
    #[test]
    fn uneven_large_blocks_around_a_ring_are_estimated_slow_on_a_shared_wire() {
        let parts = [2_u64, 1, 1, 2, 0, 0, 3, 3, 2, 2, 0, 1, 2, 0, 2, 2];
        let sizes = BlockSizes::new((0..128).map(|rank: usize| parts[rank / 8] << 16)).unwrap();
        let nodes: Vec<Vec<Rank>> =
            (0..16).map(|node| (8 * node..8 * node + 8).collect()).collect();
        let prices = NodePrices::of(&nodes_with_a_wire(8), 128).unwrap();
        let (inside, between, wire) = prices.by_size();
        let prices = nodes::NodePrices { inside: &inside, between: &between, wire: &wire };
        let all = estimated_lanes((&sizes, 1), &nodes, &prices);
        let ring = all.iter().find(|(lanes, _)| lanes.between == Circulation::Ring).unwrap();
        assert!(2 * ring.1 > 3 * all[0].1, "{ring:?}, {:?}", all[0]);
    }

    #[test]
    fn estimated_times_are_about_those_of_the_simulation() {
        for (members, count, bytes) in
            [(4, 8, 8), (4, 8, 1000), (8, 16, 8), (8, 16, 4096), (8, 16, 65_536), (3, 5, 700)]
        {
            let machine = nodes_with_a_wire(members);
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
                assert!((0.7..1.6).contains(&(estimate / time)), "{how:?}: {estimate}, {time}");
            }
        }
    }
}
