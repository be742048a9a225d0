//! Bundles of small messages of an alltoall, which other ranks pass on.
//!
//! In each round a rank sends bundles, one to each of some ranks, of messages that it holds. Both ends of a bundle list its
//! messages alike, without sizes.
//!
//! ```text
//! digits, radix 2, 8 ranks   +1: distances 1, 3, 5, 7         | +2: 2, 3, 6, 7         | +4: 4, 5, 6, 7
//! node pairs                 to the rank that sends to a node | a bundle between nodes | to the receivers
//! ```
//!
//! # Source
//! J. Bruck et al., IEEE TPDS 8(11), 1997, section 3; K. Fan et al., arXiv:2411.02581 (radix).

use tuwtree_model::Rank;

/// How small messages of an alltoall are passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passing {
    /// By the digits of distances in this radix, at least 2, the least significant first.
    Digits(usize),
    /// One bundle for each pair of nodes, with bundles inside nodes before and after.
    NodePairs,
}

/// Messages that go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// Receiver of a bundle that is sent, sender of one that is received.
    pub peer: Rank,
    /// Sender and receiver of each message.
    pub messages: Vec<(Rank, Rank)>,
}

/// The rounds of bundles of one rank.
#[derive(Clone, Debug)]
pub struct BundleRounds<'n> {
    passing: Passing,
    nodes: &'n [Vec<Rank>],
    ranks: usize,
    rank: Rank,
    /// Index of the rank's node, and the rank's index there.
    place: (usize, usize),
}

/// Largest power of two of the bytes of a message that is better passed on by [`Passing::NodePairs`]: two more ways inside a node,
/// of which `inside` is the time of the port, take no longer than the start of a message of its own `between` nodes. 0 if
/// there is none.
///
/// # Complexity
/// O(1).
pub fn most_in_pairs(inside: impl Fn(u64) -> u128, between: impl Fn(u64) -> u128) -> u64 {
    let [own, start] = [inside(1), between(1)];
    let powers = (0..MOST_PASSED.ilog2()).rev().map(|power| 1 << power);
    let mut small = powers.skip_while(|&bytes| 2 * inside(bytes).saturating_sub(own) > start);
    small.next().unwrap_or(0)
}

/// No larger message is passed on.
const MOST_PASSED: u64 = 1 << 17;

/// The end of a bundle that a rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Sender,
    Receiver,
}

impl<'n> BundleRounds<'n> {
    /// The rounds of a rank among so many. Nodes are lists of their ranks, in any placement; digits need none.
    ///
    /// # Panics
    /// For a radix below 2, or nodes without the rank where pairs of them are asked for.
    ///
    /// # Complexity
    /// O(p).
    pub fn new(
        (rank, ranks): (Rank, usize),
        passing: Passing,
        nodes: &'n [Vec<Rank>],
    ) -> BundleRounds<'n> {
        let place = match passing {
            Passing::Digits(radix) => {
                assert!(radix >= 2, "radix {radix}");
                (0, 0)
            }
            Passing::NodePairs => {
                let index = |ranks: &Vec<Rank>| ranks.iter().position(|&one| one == rank);
                let mut places = nodes.iter().enumerate();
                let place = places.find_map(|(node, ranks)| Some((node, index(ranks)?)));
                place.expect("each rank is on a node")
            }
        };
        BundleRounds { passing, nodes, ranks, rank, place }
    }

    /// Number of rounds.
    pub fn count(&self) -> usize {
        match self.passing {
            Passing::Digits(radix) => {
                let longest = (self.ranks - 1).checked_ilog(radix);
                longest.map_or(0, |position| position as usize + 1)
            }
            Passing::NodePairs => 3,
        }
    }

    /// Bundles that the rank sends in a round, in order.
    ///
    /// # Complexity
    /// O(n) for n messages.
    pub fn sent(&self, round: usize) -> Vec<Bundle> {
        self.bundles(round, End::Sender)
    }

    /// Bundles that the rank receives in a round, in order.
    ///
    /// # Complexity
    /// O(n) for n messages.
    pub fn received(&self, round: usize) -> Vec<Bundle> {
        self.bundles(round, End::Receiver)
    }

    fn bundles(&self, round: usize, end: End) -> Vec<Bundle> {
        match (self.passing, round) {
            (Passing::Digits(radix), _) => {
                let width = radix.pow(round as u32);
                let lengths = (1..radix).map(|digit| digit * width);
                let lengths = lengths.take_while(|&length| length < self.ranks);
                lengths.map(|length| self.hop((width, radix), length, end)).collect()
            }
            (Passing::NodePairs, 1) => {
                self.distances(self.place.1).map(|distance| self.pair(distance, end)).collect()
            }
            (Passing::NodePairs, _) => self.inside(round == 0, end),
        }
    }

    /// Bundle that goes this far, of messages whose distances have a digit there.
    fn hop(&self, (width, radix): (usize, usize), length: usize, end: End) -> Bundle {
        let (rank, p) = (self.rank, self.ranks);
        let (sender, peer) = match end {
            End::Sender => (rank, (rank + length) % p),
            End::Receiver => ((rank + p - length) % p, (rank + p - length) % p),
        };
        let has_digit = |distance: &usize| distance / width % radix == length / width;
        let message = |distance: usize| {
            let from = (sender + p - distance % width) % p;
            (from, (from + distance) % p)
        };
        Bundle { peer, messages: (length..p).filter(has_digit).map(message).collect() }
    }

    /// Distances between nodes whose bundles are sent, and received, by ranks with this index on a node like the rank's own.
    fn distances(&self, index: usize) -> impl Iterator<Item = usize> + use<'n> {
        let own = self.nodes[self.place.0].len();
        (1..self.nodes.len()).filter(move |distance| (distance - 1) % own == index)
    }

    /// Index of the node this many nodes on, or before.
    fn node(&self, distance: usize, end: End) -> usize {
        let (node, count) = (self.place.0, self.nodes.len());
        match end {
            End::Sender => (node + distance) % count,
            End::Receiver => (node + count - distance) % count,
        }
    }

    /// Bundle between the rank's node and the one at this distance.
    fn pair(&self, distance: usize, end: End) -> Bundle {
        let [own, other] = [self.place.0, self.node(distance, end)].map(|node| &self.nodes[node]);
        let (from, to) = if end == End::Sender { (own, other) } else { (other, own) };
        let all = from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to)));
        Bundle { peer: other[(distance - 1) % other.len()], messages: all.collect() }
    }

    /// Bundles inside the node, before those between nodes or after.
    fn inside(&self, is_before: bool, end: End) -> Vec<Bundle> {
        let (node, place) = self.place;
        let mates = &self.nodes[node];
        let bundle = |step: usize| {
            let other = match end {
                End::Sender => (place + step) % mates.len(),
                End::Receiver => (place + mates.len() - step) % mates.len(),
            };
            let (from, to) = if end == End::Sender { (place, other) } else { (other, place) };
            let messages = if is_before {
                let nodes = self.distances(to).map(|distance| self.node(distance, End::Sender));
                let beyond = nodes.flat_map(|node| &self.nodes[node]).copied();
                [mates[to]].into_iter().chain(beyond).map(|to| (mates[from], to)).collect()
            } else {
                let nodes = self.distances(from).map(|distance| self.node(distance, End::Receiver));
                nodes.flat_map(|node| &self.nodes[node]).map(|&from| (from, mates[to])).collect()
            };
            Bundle { peer: mates[other], messages }
        };
        let bundles = (1..mates.len()).map(bundle);
        bundles.filter(|bundle| !bundle.messages.is_empty()).collect()
    }
}
