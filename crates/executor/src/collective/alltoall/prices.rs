//! Choice of an alltoall: in bundles of one kind, or the library's own call.
//!
//! A rank knows its own messages only, and sums up their times as a [`Load`]; given the loads of all ranks, all choose alike.
//!
//! ```text
//! flat machine    library: at least the longest time of a port    bundles: at most, with the largest small message
//! with nodes      library: the longest of a port or a node's wire  node pairs: estimated from the bytes of small messages
//! ```

use super::Bundling;
use tuwtree_binding::RootlessPlaces;
use tuwtree_collective::Passing;
use tuwtree_model::Rank;
use tuwtree_plan::local_choice::{KnownRule, NodePrices, Prices};

/// No larger messages are passed on, whatever the costs are.
const MOST_BUNDLED: u64 = 1 << 16;

/// No bundle has more bytes: MPI counts to `2^31 - 1`.
const MOST_AT_ONCE: u64 = 1 << 30;

/// Time that a rank with wrong arguments states.
const INVALID: u64 = u64::MAX;

/// A rank's messages for others and from others, whichever are more. Times are in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Load {
    /// Bytes of the largest message that can be passed on.
    small: u64,
    /// Bytes of all messages that can be passed on.
    small_bytes: u64,
    /// For how long larger messages occupy the port.
    large: u64,
    /// For how long all messages do.
    all: u64,
    /// For how long larger messages occupy the node's wire.
    wire_large: u64,
    /// For how long all messages do.
    wire_all: u64,
}

/// Statement of a rank before an alltoall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// Number whose sum over all ranks is 0 if both ends of all messages state equal sizes.
    balance: u64,
    load: Load,
}

impl Told {
    /// Statement of a rank with wrong arguments.
    pub(super) const INVALID: Told = Told {
        balance: 1,
        load: Load { small: 0, small_bytes: 0, large: 0, all: INVALID, wire_large: 0, wire_all: 0 },
    };

    /// The statement as numbers.
    pub(super) fn words(self) -> [u64; 7] {
        let Load { small, small_bytes, large, all, wire_large, wire_all } = self.load;
        [self.balance, small, small_bytes, large, all, wire_large, wire_all]
    }

    fn of_words(words: [u64; 7]) -> Told {
        let [balance, small, small_bytes, large, all, wire_large, wire_all] = words;
        let load = Load { small, small_bytes, large, all, wire_large, wire_all };
        Told { balance, load }
    }
}

/// Joint findings of all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) struct Findings {
    /// True if some receiver expects other sizes than are sent, or a rank has wrong arguments.
    pub(in crate::collective) is_loose: bool,
    /// Best parameters by the costs; `None` for the library's own call.
    pub(in crate::collective) best: Option<Bundling>,
}

/// Messages of one size, between a rank and others of its node, or others.
struct Alike {
    count: u64,
    /// Bytes of a sent message and of a received one.
    bytes: [u64; 2],
    is_inside: bool,
}

/// Costs of the messages of an alltoall.
pub(super) struct AlltoallPrices<'a> {
    prices: &'a Prices,
    ranks: usize,
    /// The ranks of each node, where costs on nodes are known and there are several, some of several ranks.
    nodes: Option<(&'a [Vec<Rank>], &'a NodePrices)>,
    /// Messages up to this many bytes are passed on.
    most: u64,
}

impl<'a> AlltoallPrices<'a> {
    /// Costs for a number of ranks on nodes. No rank holds more than `most_passed` bytes for others.
    pub(super) fn new(
        prices: &'a Prices,
        ranks: usize,
        nodes: &'a [Vec<Rank>],
        most_passed: u64,
    ) -> AlltoallPrices<'a> {
        let on_nodes = prices.nodes.as_ref().filter(|_| nodes.len() > 1 && nodes.len() < ranks);
        let nodes = on_nodes.map(|on_nodes| (nodes, on_nodes));
        let passing = if nodes.is_some() { Passing::NodePairs } else { Passing::Digits(2) };
        let most = most_passed_on(prices, passing, ranks, most_passed);
        AlltoallPrices { prices, ranks, nodes, most }
    }

    /// Statement of a rank on its messages.
    pub(super) fn told(&self, places: &RootlessPlaces, rank: Rank) -> Told {
        let RootlessPlaces { given, result } = places;
        let given = given.as_ref().unwrap_or(result);
        let mut is_mate = vec![false; self.ranks];
        let nodes = self.nodes.map_or(&[][..], |(nodes, _)| nodes);
        let own = nodes.iter().find(|ranks| ranks.contains(&rank));
        own.into_iter().flatten().for_each(|&mate| is_mate[mate] = true);
        let mut balance = 0_u64;
        let others = (0..self.ranks).filter(|&peer| peer != rank);
        let alike = others.map(|peer| {
            let bytes = [given.block_bytes(peer), result.block_bytes(peer)];
            balance = balance.wrapping_add(mark(rank, peer, bytes[0]));
            balance = balance.wrapping_sub(mark(peer, rank, bytes[1]));
            Alike { count: 1, bytes, is_inside: is_mate[peer] }
        });
        let load = self.load(alike);
        Told { balance, load }
    }

    fn load(&self, messages: impl Iterator<Item = Alike>) -> Load {
        // Of sent messages and of received ones, times as in a load.
        let mut times = [[0_u128; 4]; 2];
        let mut small_bytes = [0_u64; 2];
        let mut small = 0;
        for Alike { count, bytes, is_inside } in messages {
            for (side, bytes) in bytes.into_iter().enumerate() {
                let (least, most, wire) = match self.nodes {
                    None => {
                        let Prices { least, most, .. } = self.prices;
                        (least.occupancy(bytes), most.occupancy(bytes), 0)
                    }
                    Some((_, on_nodes)) => {
                        let (port, wire) = on_nodes.occupied(bytes, is_inside);
                        (port, port, wire)
                    }
                };
                let [large, all, wire_large, wire_all] = &mut times[side];
                let count_times = u128::from(count);
                *all += count_times * least;
                *wire_all += count_times * wire;
                if bytes > self.most {
                    *large += count_times * most;
                    *wire_large += count_times * wire;
                } else {
                    small = small.max(bytes);
                    small_bytes[side] =
                        small_bytes[side].saturating_add(count.saturating_mul(bytes));
                }
            }
        }
        let longer = |at: usize| {
            let time = times[0][at].max(times[1][at]);
            u64::try_from(time).unwrap_or(INVALID).min(INVALID - 1)
        };
        Load {
            small,
            small_bytes: small_bytes[0].max(small_bytes[1]),
            large: longer(0),
            all: longer(1),
            wire_large: longer(2),
            wire_all: longer(3),
        }
    }

    /// Findings from the words that all ranks have told.
    pub(super) fn findings(&self, words: &[[u64; 7]]) -> Findings {
        let all: Vec<Told> = words.iter().copied().map(Told::of_words).collect();
        let sum = all.iter().fold(0_u64, |sum, one| sum.wrapping_add(one.balance));
        let is_invalid = all.iter().any(|one| one.load.all == INVALID);
        let loads: Vec<Load> = all.iter().map(|one| one.load).collect();
        Findings { is_loose: sum != 0 || is_invalid, best: self.best(&loads, u128::MAX) }
    }

    /// Parameters faster than the library's own call with messages of one size; `None` for that call.
    ///
    /// # Complexity
    /// O(p).
    pub(super) fn best_of_equal(&self, bytes: u64, rule: KnownRule) -> Option<Bundling> {
        let (p, has_bundles) = (self.ranks, has_bundles(rule, self.ranks, bytes));
        let others = p as u64 - 1;
        let Some((nodes, on_nodes)) = self.nodes else {
            // Every rank sends and receives all the time.
            let all = u128::from(others) * self.prices.exchanged.occupancy(bytes);
            let all = u64::try_from(all).unwrap_or(INVALID - 1);
            let is_large = bytes > self.most;
            let large = if is_large { all } else { 0 };
            let load =
                Load { small: if is_large { 0 } else { bytes }, large, all, ..Load::default() };
            return self.best(&[load], u128::MAX).filter(|_| !has_bundles);
        };
        let mut loads = vec![Load::default(); p];
        for ranks in nodes {
            let mates = ranks.len() as u64 - 1;
            let alike = [(mates, true), (others - mates, false)];
            let alike =
                alike.map(|(count, is_inside)| Alike { count, bytes: [bytes; 2], is_inside });
            let load = self.load(alike.into_iter());
            ranks.iter().for_each(|&rank| loads[rank] = load);
        }
        let in_bundles = if has_bundles { on_nodes.bruck_time(p, bytes) } else { u128::MAX };
        self.best(&loads, in_bundles)
    }

    /// Parameters faster than the library's own call by the loads of all ranks, or the greatest of all; `None` for that call,
    /// which takes this long at most.
    fn best(&self, loads: &[Load], library_at_most: u128) -> Option<Bundling> {
        let greatest = |of: fn(&Load) -> u64| loads.iter().map(of).max().unwrap_or(0);
        let (large, all) = (greatest(|one| one.large), greatest(|one| one.all));
        let (time, library, passing) = match self.nodes {
            Some((nodes, on_nodes)) => {
                let sum = |of: fn(&Load) -> u64| {
                    let of_node = |ranks: &Vec<Rank>| -> u128 {
                        ranks.iter().map(|&rank| u128::from(of(&loads[rank]))).sum()
                    };
                    nodes.iter().map(of_node).max().unwrap_or(0)
                };
                let large = [u128::from(large), sum(|one| one.wire_large)];
                let library = u128::from(all).max(sum(|one| one.wire_all));
                let library = library + on_nodes.latency();
                let small =
                    [u128::from(greatest(|one| one.small_bytes)), sum(|one| one.small_bytes)];
                let small = small.map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX));
                (on_nodes.pairs_time(small, nodes, large), library, Passing::NodePairs)
            }
            None => {
                let small = greatest(|one| one.small);
                let least = &self.prices.least;
                // Whatever the library does, it sends each message straight.
                let library = u128::from(all) + least.message(1) - least.occupancy(1);
                let (time, radix) = self.best_radix(small);
                (u128::from(large) + time, library, Passing::Digits(radix))
            }
        };
        let library = self.prices.worth(library.min(library_at_most));
        (self.most > 0 && time < library).then_some(Bundling { passing, most: self.most })
    }

    /// Radix of bundles of messages up to this many bytes, and an upper bound on their time.
    fn best_radix(&self, small: u64) -> (u128, usize) {
        let radices = std::iter::successors(Some(2_usize), |one| Some(2 * one));
        let radices = radices.take_while(|&one| one < 2 * self.ranks.max(2));
        let timed =
            radices.map(|radix| (bundled_at_most(self.prices, (self.ranks, radix), small), radix));
        timed.min().expect("radix 2 is one")
    }
}

/// Size limit of passed messages, in bytes. No rank holds more than `most_passed` bytes for others.
pub(super) fn most_passed_on(
    prices: &Prices,
    passing: Passing,
    ranks: usize,
    most_passed: u64,
) -> u64 {
    let most = match (passing, &prices.nodes) {
        (Passing::Digits(_), _) => most_bundled(prices, ranks),
        (Passing::NodePairs, Some(on_nodes)) => on_nodes.most_in_pairs().min(MOST_BUNDLED),
        (Passing::NodePairs, None) => MOST_BUNDLED,
    };
    most.min(most_passed.min(MOST_AT_ONCE) / ranks as u64)
}

/// The largest messages, by a power of two, that are not longer under way in bundles than a message of their own occupies
/// ports: they take `ceil(log2 p) / 2` hops.
fn most_bundled(prices: &Prices, ranks: usize) -> u64 {
    let hops = u128::from(ranks.next_power_of_two().ilog2().div_ceil(2));
    let own = prices.exchanged.occupancy(1);
    let more = |bytes: u64| prices.exchanged.occupancy(bytes) - own;
    let pays = |bytes: u64| hops.saturating_sub(1) * more(bytes) <= own;
    let powers = std::iter::successors(Some(MOST_BUNDLED), |one| Some(one / 2));
    powers.take_while(|&one| one > 0).find(|&one| pays(one)).unwrap_or(0)
}

/// Upper bound on the time of bundles with messages up to `small` bytes: bundles of a round go at once.
fn bundled_at_most(prices: &Prices, (p, radix): (usize, usize), small: u64) -> u128 {
    let (mut time, mut width) = (0, 1);
    while width < p {
        let mut latency = 0;
        for distance in (1..radix).map(|digit| digit * width).take_while(|&one| one < p) {
            let bytes = 4 + (4 + small) * bundled_count((p, radix), (width, distance));
            time += prices.most.occupancy(bytes);
            latency = latency.max(prices.most.message(bytes) - prices.most.occupancy(bytes));
        }
        time += latency;
        width *= radix;
    }
    time
}

/// Number of messages in a bundle that goes this far in the round of this width.
fn bundled_count((p, radix): (usize, usize), (width, distance): (usize, usize)) -> u64 {
    let period = width * radix;
    let rest = p % period;
    (p / period * width + rest.saturating_sub(distance).min(width)) as u64
}

/// True if the library itself sends messages of one size in bundles.
///
/// # Source
/// MPICH 4.0 to 4.3: `maint/tuning/coll/mpir/generic.json`. Open MPI 4.1 and 5.0: `coll_tuned_decision_fixed.c`. Of others that is
/// not known.
fn has_bundles(rule: KnownRule, ranks: usize, bytes: u64) -> bool {
    match rule {
        KnownRule::Mpich => bytes <= 256,
        KnownRule::OpenMpi => {
            let beyond = match ranks {
                ..16 => 0,
                16..64 | 512..2048 => 512,
                64..512 | 2048..4096 => 1024,
                _ => 2048,
            };
            bytes < beyond
        }
        KnownRule::Unknown => true,
    }
}

/// A number that stands for a message.
fn mark(from: Rank, to: Rank, bytes: u64) -> u64 {
    let mut mark = 0_u64;
    for word in [from as u64, to as u64, bytes] {
        mark = (mark ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mark = (mark ^ (mark >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mark = (mark ^ (mark >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mark ^= mark >> 31;
    }
    mark
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_collective::{BundleRounds, alltoall};
    use tuwtree_laws::machines::nodes_with_a_wire;
    use tuwtree_model::{MessageSizes, Problem, StatedCosts};
    use tuwtree_schedule::{Sends, simulate};

    #[test]
    fn bundles_have_as_many_messages_as_are_counted() {
        for p in 2..40 {
            for radix in [2, 3, 4, 8, 64] {
                let rounds = BundleRounds::new((1, p), Passing::Digits(radix), &[]);
                for round in 0..rounds.count() {
                    let width = radix.pow(round as u32);
                    for bundle in rounds.sent(round) {
                        let distance = (bundle.peer + p - 1) % p;
                        let counted = bundled_count((p, radix), (width, distance));
                        assert_eq!(bundle.messages.len() as u64, counted, "{p} {radix}");
                    }
                }
            }
        }
    }

    #[test]
    fn small_messages_are_bundled_where_that_is_faster_beyond_doubt() {
        let best = |prices: &Prices, small: u64, large: u64, all: u64| {
            let known = AlltoallPrices::new(prices, 64, &[], 1 << 26);
            known.best(&[Load { small, large, all, ..Load::default() }], u128::MAX)
        };
        let radix = |one: Option<Bundling>| match one?.passing {
            Passing::Digits(radix) => Some(radix),
            Passing::NodePairs => None,
        };
        let prices = Prices::linear(10_000_000, 1000);
        assert_eq!(AlltoallPrices::new(&prices, 64, &[], 1 << 26).most, 4096);
        let straight = |bytes| 63 * prices.least.occupancy(bytes) as u64;
        let chosen = |bytes| radix(best(&prices, bytes, 0, straight(bytes)));
        assert!(chosen(8).is_some_and(|radix| radix <= 4), "{:?}", chosen(8));
        // Larger ones in a larger radix, in which data takes fewer hops.
        assert_eq!(chosen(4096), Some(8));
        // Start-ups of 10 bytes.
        let cheap = Prices::linear(10_000, 1000);
        assert_eq!(AlltoallPrices::new(&cheap, 64, &[], 1 << 26).most, 4);
        let straight_cheap = 63 * cheap.least.occupancy(4) as u64;
        assert_eq!(best(&cheap, 4, 0, straight_cheap), None);
        // Large ones beside small ones take as long either way.
        let large = prices.most.occupancy(1_000_000) as u64;
        assert!(best(&prices, 8, large, straight(8) + large).is_some());
        assert_eq!(best(&prices, 0, large, large), None);
    }

    #[test]
    fn on_nodes_small_messages_go_by_pairs_of_nodes_in_about_the_estimated_time() {
        let nodes: Vec<Vec<Rank>> = (0..8).map(|node| (4 * node..4 * node + 4).collect()).collect();
        let machine = nodes_with_a_wire(4);
        let prices = Prices::of(&machine, 32);
        let known = AlltoallPrices::new(&prices, 32, &nodes, 1 << 26);
        let (_, on_nodes) = known.nodes.unwrap();
        for (bytes, is_small) in [(8, true), (100, true), (400, true), (1000, false), (9000, false)]
        {
            let best = known.best_of_equal(bytes, KnownRule::OpenMpi);
            let expected = Bundling { passing: Passing::NodePairs, most: 4096 };
            assert_eq!(best, is_small.then_some(expected), "{bytes}");
            let sizes = MessageSizes::new([bytes; 32 * 32]).unwrap();
            let problem = Problem::alltoall(&sizes, StatedCosts::from(machine.clone())).unwrap();
            let pairs = (Passing::NodePairs, &nodes[..]);
            let schedule = alltoall::in_bundles(&problem, pairs, u64::MAX).unwrap();
            let timeline = simulate(&schedule, problem.stated_costs(), Sends::Synchronous);
            let time = timeline.unwrap().completion_time().units() * 1e12;
            let estimate = on_nodes.pairs_time([31 * bytes, 4 * 31 * bytes], &nodes, [0, 0]);
            assert!((0.9..1.5).contains(&(estimate as f64 / time)), "{bytes}: {estimate}, {time}");
        }
    }

    #[test]
    fn messages_of_one_size_stay_the_librarys_where_it_has_bundles() {
        let open_mpi = |ranks, bytes| has_bundles(KnownRule::OpenMpi, ranks, bytes);
        assert_eq!([8, 32, 64, 5000].map(|p| open_mpi(p, 511)), [false, true, true, true]);
        assert_eq!([8, 32, 64, 5000].map(|p| open_mpi(p, 1000)), [false, false, true, true]);
        assert!(has_bundles(KnownRule::Mpich, 32, 256) && !has_bundles(KnownRule::Mpich, 32, 257));
        assert!(has_bundles(KnownRule::Unknown, 32, 100_000));
    }

    #[test]
    fn passed_on_messages_stay_within_the_limit() {
        let prices = Prices::linear(10_000_000, 1000);
        let most = |ranks, limit| most_passed_on(&prices, Passing::Digits(2), ranks, limit);
        assert_eq!([most(64, 64 * 100), most(64, 0), most(2, 1 << 40)], [100, 0, 65_536]);
    }

    #[test]
    fn both_ends_of_a_message_say_the_same_of_it() {
        assert_eq!(mark(1, 2, 30), mark(1, 2, 30));
        assert_ne!(mark(1, 2, 30), mark(2, 1, 30));
        assert_ne!(mark(1, 2, 30), mark(1, 2, 31));
    }
}
