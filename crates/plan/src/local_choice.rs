//! Costs of messages, in integers, and the choice of algorithm for rootless operations that each rank makes by itself.
//!
//! All ranks have to decide alike: from the sizes, which all have, and the costs of a machine, which all have been told by the
//! first and make whole numbers of once. Then nothing depends on how a rank rounds.
//!
//! Times of rounds are bounded from above, those of allgathers on nodes estimated, and the library's algorithm is bounded from
//! below, in the model of one port that sends and receives at once: ours is chosen only where it is faster by the costs.
//! Where exchanges have costs of their own, ours has the dearer of those and of lone messages, and the library's the cheaper,
//! unless all it sends is of exchanges.

mod least;
mod on_nodes;
mod table;

use self::least::{least_of_allgather, least_of_reduce_scatter};
pub use self::on_nodes::NodePrices;
use self::table::POWERS;
pub use self::table::PriceTable;
use crate::Library;
use std::num::NonZeroU16;
use tuwtree_collective::nodes::OnNodes;
use tuwtree_collective::{
    Circulation, Flow, MessagePrice, overlapped_time, performed_messages, steps_in_pieces,
};
use tuwtree_model::document::Machine;
use tuwtree_model::{BlockSizes, CostModel, Costs, Operation, Rank};

/// Algorithm of operations without a root.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    strum::VariantArray,
    strum::IntoStaticStr,
    strum::EnumString,
)]
#[strum(serialize_all = "kebab-case")]
pub enum RootlessAlgorithm {
    /// Least time by a machine's costs, for the given sizes.
    Auto,
    /// Whatever the MPI library does.
    Native,
    /// Block after block around a ring.
    Ring,
    /// Windows of blocks on a circulant graph, in `ceil(lg p)` rounds.
    Circulant,
    /// All blocks at once, in pieces, on that graph.
    CirculantPieces,
    /// Bruck's windows of blocks where messages of several steps are under way at once.
    BruckPostal,
    /// Like [`CirculantPieces`](RootlessAlgorithm::CirculantPieces), with ranks in an order that separates large
    /// blocks.
    CirculantBalanced,
    /// Like [`BruckPostal`](RootlessAlgorithm::BruckPostal), with ranks in that order.
    BruckBalanced,
    /// Shares of the data of each node, gathered lane by lane between nodes, and passed on inside.
    Lanes,
    /// The data of each node, gathered inside and sent straight to all other nodes.
    NodeAll,
    /// Each message of an alltoall straight to its receiver.
    Linear,
    /// Small messages of an alltoall together, along the digits of distances; large ones straight.
    Bruck,
    /// Small messages of an alltoall in one bundle for each pair of nodes; large ones straight.
    NodePairs,
}

/// An algorithm for operations without a root, and its number, if that is stated: `circulant-pieces:12`, `bruck-postal:6`,
/// `bruck:4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RootlessChoice {
    /// The algorithm.
    pub algorithm: RootlessAlgorithm,
    /// Number of pieces of each block in [`RootlessAlgorithm::CirculantPieces`] and
    /// [`RootlessAlgorithm::CirculantBalanced`], number of steps until a sent message has arrived in
    /// [`RootlessAlgorithm::BruckPostal`] and [`RootlessAlgorithm::BruckBalanced`], or the radix of
    /// [`RootlessAlgorithm::Bruck`]; `None` for the best one by the costs.
    pub number: Option<NonZeroU16>,
}

impl From<RootlessAlgorithm> for RootlessChoice {
    fn from(algorithm: RootlessAlgorithm) -> RootlessChoice {
        RootlessChoice { algorithm, number: None }
    }
}

impl RootlessAlgorithm {
    /// The least number that may be stated, if any may.
    pub fn least_number(self) -> Option<u16> {
        match self {
            RootlessAlgorithm::CirculantPieces
            | RootlessAlgorithm::CirculantBalanced
            | RootlessAlgorithm::BruckPostal
            | RootlessAlgorithm::BruckBalanced => Some(1),
            RootlessAlgorithm::Bruck => Some(2),
            _ => None,
        }
    }
}

/// Algorithm of an allgather or a reduce-scatter, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// In rounds.
    Rounds(Circulation),
    /// By nodes: an allgather.
    OnNodes(OnNodes),
}

impl Pattern {
    /// The algorithm without its parameters.
    pub fn algorithm(self) -> RootlessAlgorithm {
        match self {
            Pattern::Rounds(Circulation::Ring) => RootlessAlgorithm::Ring,
            Pattern::Rounds(Circulation::Windows) => RootlessAlgorithm::Circulant,
            Pattern::Rounds(Circulation::Postal(_)) => RootlessAlgorithm::BruckPostal,
            Pattern::Rounds(Circulation::Pieces(_)) => RootlessAlgorithm::CirculantPieces,
            Pattern::Rounds(Circulation::BalancedPostal(_)) => RootlessAlgorithm::BruckBalanced,
            Pattern::Rounds(Circulation::BalancedPieces(_)) => RootlessAlgorithm::CirculantBalanced,
            Pattern::OnNodes(OnNodes::Lanes(_)) => RootlessAlgorithm::Lanes,
            Pattern::OnNodes(OnNodes::NodeAll) => RootlessAlgorithm::NodeAll,
        }
    }
}

/// Cost of a message by size, in picoseconds: one entry per power of two, linear in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices {
    /// Costs of messages with an end that sends and receives concurrently.
    pub exchanged: PriceTable,
    /// Minimum of exchanged and lone messages: a lower bound.
    pub least: PriceTable,
    /// Maximum of both: an upper bound.
    pub most: PriceTable,
    /// Costs inside nodes and between them, on a machine with nodes.
    pub nodes: Option<NodePrices>,
    /// True if known to be equal on all links, so that ranks may stand in any order.
    pub are_everywhere: bool,
    /// Percentage of our time that the library's own call has to take at least: 105, as much as measurements differ, or more
    /// where the machine's times are uncertain.
    enough: u32,
}

/// Percentage as far as nothing is known of uncertainty.
const ENOUGH: u32 = 105;

impl Prices {
    /// The prices on this machine: of the dearest of the links from rank 0 to all others and between neighbours. Where the ranks
    /// of a node share a wire, upper bounds have all of them send to other nodes at once.
    ///
    /// # Complexity
    /// O(p).
    pub fn of(machine: &Machine, ranks: usize) -> Prices {
        let costs = &machine.costs;
        let links = || (1..ranks).flat_map(|to| [(0, to), (to - 1, to)]);
        let (lone, are_everywhere) = PriceTable::of(costs, links, Costs::transmission_between);
        let (exchanged, exchanges_are_everywhere) =
            PriceTable::of(costs, links, Costs::exchange_between);
        let most = lone.with(&exchanged, u64::max);
        let nodes = NodePrices::of(machine, ranks);
        Prices {
            least: lone.with(&exchanged, u64::min),
            most: nodes.as_ref().map_or(most.clone(), |nodes| nodes.on_wires(most)),
            exchanged,
            nodes,
            are_everywhere: are_everywhere && exchanges_are_everywhere,
            enough: machine.network.uncertainty.map_or(ENOUGH, |factor| {
                (100.0 * factor).ceil().clamp(ENOUGH.into(), u32::MAX.into()) as u32
            }),
        }
    }

    /// Costs of a usual network, for an unknown machine: 10 us and 1 ns per byte.
    pub fn usual() -> Prices {
        Prices::linear(10_000_000, 1000)
    }

    /// The longest time of ours that is worth leaving the library's own call, which takes this long.
    pub fn worth(&self, library: u128) -> u128 {
        library * 100 / u128::from(self.enough)
    }

    /// Costs of `alpha` picoseconds per message and `beta` per byte.
    pub fn linear(alpha: u64, beta: u64) -> Prices {
        let powers: Vec<u64> = (0..=POWERS).map(|power| alpha + (beta << power)).collect();
        PriceTable { occupied: powers.clone(), powers }.into()
    }
}

impl From<PriceTable> for Prices {
    /// Equal costs of all messages, on links of unknown kind.
    fn from(all: PriceTable) -> Prices {
        Prices {
            exchanged: all.clone(),
            least: all.clone(),
            most: all,
            nodes: None,
            are_everywhere: false,
            enough: ENOUGH,
        }
    }
}

/// Rule by which an MPI library chooses algorithms of allgathers, reduce-scatters and alltoalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownRule {
    /// That of MPICH 4.
    Mpich,
    /// That of Open MPI 4.1 and 5.0.
    OpenMpi,
    /// Of any other library.
    Unknown,
}

impl KnownRule {
    /// Rule of this library.
    pub fn of(library: Option<Library>) -> KnownRule {
        match library {
            Some(Library::Mpich | Library::Mpich42) => KnownRule::Mpich,
            Some(Library::OpenMpi5) => KnownRule::OpenMpi,
            Some(Library::OpenMpi6 | Library::Intel | Library::Smpi) | None => KnownRule::Unknown,
        }
    }
}

/// Algorithm of an allgather or a reduce-scatter of blocks of these sizes of single bytes with `auto`, on this machine,
/// or on a usual network without one; `None` for the library's own call. Each rank computes it by itself.
///
/// # Complexity
/// O(p log(p largest block)).
pub fn chosen_circulation(
    operation: Operation,
    sizes: &BlockSizes,
    machine: Option<&Machine>,
) -> Option<Circulation> {
    let of_machine = |machine| Prices::of(machine, sizes.ranks());
    let prices = machine.map_or_else(Prices::usual, of_machine);
    let auto = RootlessChoice::from(RootlessAlgorithm::Auto);
    match pattern(operation, (sizes, 1), &[], auto, (&prices, KnownRule::Unknown))? {
        Pattern::Rounds(circulation) => Some(circulation),
        Pattern::OnNodes(_) => unreachable!("no nodes were given"),
    }
}

/// Direction of data.
fn flow_of(operation: Operation) -> Flow {
    match operation {
        Operation::Allgather => Flow::Spread,
        _ => Flow::Combined,
    }
}

/// Algorithm of an allgather or a reduce-scatter with these sizes on these nodes, if they are known; `None` for the library's
/// own call.
///
/// # Complexity
/// O(p log(p largest block)).
pub fn pattern(
    operation: Operation,
    (sizes, element_bytes): (&BlockSizes, u64),
    nodes: &[Vec<Rank>],
    choice: RootlessChoice,
    (prices, rule): (&Prices, KnownRule),
) -> Option<Pattern> {
    let cut = (element_bytes, flow_of(operation));
    let stated = choice.number.map(|number| usize::from(number.get()));
    let pieces = |cut_so: InPieces| {
        stated.unwrap_or_else(|| best_pieces(sizes, cut, &prices.most, u128::MAX, cut_so).pieces)
    };
    let delay = |delayed_so: Delayed| {
        stated.unwrap_or_else(|| likely_delay(sizes, &prices.most, delayed_so))
    };
    let rounds = match choice.algorithm {
        RootlessAlgorithm::Native
        | RootlessAlgorithm::Linear
        | RootlessAlgorithm::Bruck
        | RootlessAlgorithm::NodePairs => return None,
        RootlessAlgorithm::Ring => Circulation::Ring,
        RootlessAlgorithm::Circulant => Circulation::Windows,
        RootlessAlgorithm::CirculantPieces => Circulation::Pieces(pieces(Circulation::Pieces)),
        RootlessAlgorithm::CirculantBalanced => {
            Circulation::BalancedPieces(pieces(Circulation::BalancedPieces))
        }
        RootlessAlgorithm::BruckPostal => Circulation::Postal(delay(Circulation::Postal)),
        RootlessAlgorithm::BruckBalanced => {
            Circulation::BalancedPostal(delay(Circulation::BalancedPostal))
        }
        algorithm @ (RootlessAlgorithm::Lanes | RootlessAlgorithm::NodeAll) => {
            let known = prices.nodes.clone();
            let known = known.unwrap_or_else(|| NodePrices::flat(&prices.most));
            let (how, _) = known.best((sizes, element_bytes), nodes, algorithm);
            return Some(Pattern::OnNodes(how));
        }
        RootlessAlgorithm::Auto => {
            let library = match operation {
                Operation::Allgather => least_of_allgather(sizes, prices, rule),
                _ => least_of_reduce_scatter(sizes, prices, rule),
            };
            let most = prices.worth(library);
            let mut all = vec![(Circulation::Windows, time_of_windows(sizes, &prices.most))];
            let mut look_at = |cut_so: InPieces, delayed_so: Delayed| {
                let best = best_pieces(sizes, cut, &prices.most, most, cut_so);
                all.push((cut_so(best.pieces), best.time));
                if operation == Operation::Allgather {
                    let best = best_delay(sizes, &prices.most, delayed_so);
                    all.extend(best.map(|best| (delayed_so(best.delay), best.time)));
                }
            };
            look_at(Circulation::Pieces, Circulation::Postal);
            // Where neighbours are not closer than others. Of what takes as long, the order of ranks is taken.
            if prices.are_everywhere && sizes.iter().any(|bytes| bytes != sizes.block(0)) {
                look_at(Circulation::BalancedPieces, Circulation::BalancedPostal);
            }
            let mut all: Vec<(Pattern, u128)> =
                all.into_iter().map(|(rounds, time)| (Pattern::Rounds(rounds), time)).collect();
            if let Some(known) = prices.nodes.as_ref().filter(|_| nodes.len() > 1) {
                let best = known.best((sizes, element_bytes), nodes, RootlessAlgorithm::Auto);
                all.push((Pattern::OnNodes(best.0), best.1));
            }
            let all = all.into_iter().filter(|&(_, time)| time < most);
            return all.min_by_key(|&(_, time)| time).map(|(best, _)| best);
        }
    };
    Some(Pattern::Rounds(rounds))
}

/// Algorithm with a given number of pieces, in some order of ranks.
type InPieces = fn(usize) -> Circulation;

/// Windows with this delay, in some order of ranks.
type Delayed = fn(usize) -> Circulation;

/// A number of pieces, and an upper bound on its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PiecesTime {
    pieces: usize,
    time: u128,
}

/// A number of pieces, with the bounds known before its messages are examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PiecesBound {
    pieces: usize,
    /// `(n - 1 + q) (alpha + beta sum of ceil(m_j / n))`.
    bound: u128,
    /// For how long ports are occupied at most.
    occupied: u128,
}

/// Best number of pieces among the examined ones, eight from each power of two to the next.
///
/// Where ranks are few, all messages are performed in thought, by a number of steps that is bounded; what that says is taken
/// a twentieth longer. Else the bound counts; an allgather's rounds overlap as latency does, so that of those numbers whose
/// bound is below `most`, that is chosen for which ports are occupied least.
fn best_pieces(
    sizes: &BlockSizes,
    (element_bytes, flow): (u64, Flow),
    prices: &PriceTable,
    most: u128,
    cut_so: InPieces,
) -> PiecesTime {
    let all = bounds_in_pieces(sizes, element_bytes, prices);
    let least =
        |key: fn(&PiecesBound) -> u128| *all.iter().min_by_key(|one| key(one)).expect("one");
    let (bounded, idle) = (least(|one| one.bound), least(|one| one.occupied));
    let (low, high) = (bounded.pieces / 2, bounded.pieces.max(idle.pieces));
    let likely: Vec<PiecesBound> =
        all.iter().copied().filter(|one| (low..=high).contains(&one.pieces)).collect();
    let steps = |one: &PiecesBound| steps_in_pieces(sizes.ranks(), one.pieces);
    let performed = affordable(&likely, steps, MOST_STEPS).map(|one| {
        let (circulation, price) = (cut_so(one.pieces), |bytes| prices.parts(bytes));
        let time = overlapped_time(sizes, element_bytes, circulation, flow, price);
        PiecesTime { pieces: one.pieces, time: (time + time / 20).min(one.bound) }
    });
    if let Some(best) = performed.min_by_key(|one| one.time) {
        return best;
    }
    let overlapped = all.iter().filter(|one| flow == Flow::Spread && one.bound < most);
    let best = match most {
        u128::MAX => bounded,
        _ => overlapped.min_by_key(|one| one.occupied).copied().unwrap_or(bounded),
    };
    PiecesTime { pieces: best.pieces, time: best.bound }
}

/// Bounds for these numbers of pieces.
///
/// # Source
/// J. L. Träff, arXiv:2205.10072.
fn bounds_in_pieces(
    sizes: &BlockSizes,
    element_bytes: u64,
    prices: &PriceTable,
) -> Vec<PiecesBound> {
    let rounds = u128::from(sizes.ranks().next_power_of_two().ilog2());
    let elements: Vec<u64> =
        sizes.iter().map(|bytes| bytes / element_bytes).filter(|&one| one > 0).collect();
    let largest = elements.iter().copied().max().unwrap_or(1);
    let most_pieces = usize::try_from(largest).unwrap_or(usize::MAX).min(MOST_PIECES);
    let (mut all, mut least) = (Vec::new(), u128::MAX);
    let mut pieces = 1_usize;
    while pieces <= most_pieces {
        let rounds = rounds + pieces as u128 - 1;
        // However short messages get, more rounds take longer.
        if rounds * prices.occupancy(elements.len() as u64) >= least {
            break;
        }
        let shares: u64 = elements.iter().map(|one| one.div_ceil(pieces as u64)).sum();
        let bound = rounds * prices.message(shares * element_bytes);
        least = least.min(bound);
        let occupied = rounds * prices.occupancy(shares * element_bytes);
        all.push(PiecesBound { pieces, bound, occupied });
        pieces += (pieces / 8).max(1);
    }
    all
}

/// Evenly chosen entries, as many as can be examined in the given number of steps; empty if too few can.
fn affordable<T>(all: &[T], steps: impl Fn(&T) -> u128, most: u128) -> impl Iterator<Item = &T> {
    let sum = |stride: usize| -> u128 { all.iter().step_by(stride).map(&steps).sum() };
    let strides = std::iter::successors(Some(1), |&one| Some(2 * one));
    let mut strides = strides.take_while(|&one| one < 2 * all.len().max(1));
    let stride = strides.find(|&stride| sum(stride) <= most);
    all.iter().step_by(stride.unwrap_or(1)).take(if stride.is_some() { all.len() } else { 0 })
}

/// Looking at more pieces of messages would take longer than some milliseconds.
const MOST_STEPS: u128 = 1 << 21;

/// More pieces are not looked at.
const MOST_PIECES: usize = 1 << 20;

/// A delay of windows in the postal model, with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DelayTime {
    delay: usize,
    time: u128,
}

/// The best delay of those for which rounds overlap, all messages performed in thought, and a twentieth longer; none where
/// messages are under way for no longer than they occupy ports, and where irregular blocks are of more ranks than can be looked at.
fn best_delay(sizes: &BlockSizes, prices: &PriceTable, delayed_so: Delayed) -> Option<DelayTime> {
    let MessagePrice { latency, occupancy } = prices.parts(1);
    if latency == 0 {
        return None;
    }
    // With more, no send of tiny blocks waits.
    let most = latency.div_ceil(occupancy.max(1)).saturating_add(1);
    let most = usize::try_from(most).unwrap_or(usize::MAX).min(MOST_DELAY);
    let all: Vec<usize> = (1..=most).collect();
    let messages = |&delay: &usize| performed_messages(sizes, delayed_so(delay));
    let performed = affordable(&all, messages, MOST_MESSAGES).map(|&delay| {
        let (circulation, price) = (delayed_so(delay), |bytes| prices.parts(bytes));
        let time = overlapped_time(sizes, 1, circulation, Flow::Spread, price);
        DelayTime { delay, time: time + time / 20 }
    });
    performed.min_by_key(|one| one.time)
}

/// Likely delay for these sizes, or for equal blocks if ranks are too many for irregular ones; 1 where nothing
/// overlaps.
fn likely_delay(sizes: &BlockSizes, prices: &PriceTable, delayed_so: Delayed) -> usize {
    let equal = || {
        let p = sizes.ranks();
        let mean = (sizes.total() / p as u64).max(1);
        let sizes = BlockSizes::new(std::iter::repeat_n(mean, p)).expect("as many, and no larger");
        best_delay(&sizes, prices, delayed_so)
    };
    best_delay(sizes, prices, delayed_so).or_else(equal).map_or(1, |one| one.delay)
}

/// No larger delays are looked at.
const MOST_DELAY: usize = 16;

/// Performing more messages would take longer than some milliseconds.
const MOST_MESSAGES: u128 = 1 << 15;

/// Upper bound on the time of windows of blocks along skips that halve `p`: in each round the longest message.
fn time_of_windows(sizes: &BlockSizes, prices: &PriceTable) -> u128 {
    let (p, mut time) = (sizes.ranks(), 0);
    let mut skip = p;
    while skip > 1 {
        let shorter = skip.div_ceil(2);
        time += prices.message(longest_window(sizes, skip - shorter));
        skip = shorter;
    }
    time
}

/// Most bytes in `count` consecutive blocks.
fn longest_window(sizes: &BlockSizes, count: usize) -> u64 {
    (0..sizes.ranks()).map(|first| sizes.window(first, count)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::least::{CHUNK_BYTES, Least};
    use super::*;
    use tuwtree_collective::{
        CollectiveError, bruck, circulant, circulant_in_pieces, recursive_doubling, reduce_scatter,
        ring, ring_in_chunks,
    };
    use tuwtree_model::document::Date;
    use tuwtree_model::{CostMatrix, Homogeneous, Network, Problem};
    use tuwtree_schedule::{Schedule, Sends, simulate};

    /// 100 picoseconds and 1 for each byte: the costs of the tables.
    fn prices() -> Prices {
        Prices::linear(100, 1)
    }

    fn circulation(
        operation: Operation,
        sizes: &BlockSizes,
        element_bytes: u64,
        choice: RootlessChoice,
        known: (&Prices, KnownRule),
    ) -> Option<Circulation> {
        match pattern(operation, (sizes, element_bytes), &[], choice, known)? {
            Pattern::Rounds(circulation) => Some(circulation),
            Pattern::OnNodes(how) => panic!("{how:?} without nodes"),
        }
    }

    fn chosen(sizes: &[u64], rule: KnownRule) -> Option<Circulation> {
        let sizes = BlockSizes::new(sizes.iter().copied()).unwrap();
        let choice = RootlessChoice::from(RootlessAlgorithm::Auto);
        circulation(Operation::Allgather, &sizes, 1, choice, (&prices(), rule))
    }

    #[test]
    fn prices_are_exact_on_straight_lines_and_messages_of_nothing_are_free() {
        for bytes in [1, 2, 3, 1000, 65_537, 1 << 40, (1 << 42) + 7] {
            assert_eq!(prices().least.message(bytes), 100 + u128::from(bytes), "{bytes}");
        }
        assert_eq!(prices().least.message(0), 0);
    }

    #[test]
    fn bounds_are_closed() {
        let sizes = BlockSizes::new([1, 5, 2, 7, 3]).unwrap();
        let bounds = |alpha| -> Vec<u128> {
            let all = bounds_in_pieces(&sizes, 1, &Prices::linear(alpha, 1).most);
            all.iter().map(|one| one.bound).take(3).collect()
        };
        // 3 rounds of 18 bytes, 4 of 11, or 5 of 8.
        assert_eq!(bounds(10), [84, 84, 90]);
        assert_eq!(bounds(1), [57, 48, 45]);
    }

    /// Clusters of 50 Mbit/s whose messages are under way for so long, and occupy ports for so long besides their bytes; in
    /// microseconds.
    fn cluster(latency: u64, overhead: u64) -> Prices {
        let occupied = |power: u32| overhead * 1_000_000 + (160_000_u64 << power);
        let occupied: Vec<u64> = (0..=POWERS).map(occupied).collect();
        let powers = occupied.iter().map(|one| one + latency * 1_000_000).collect();
        PriceTable { powers, occupied }.into()
    }

    #[test]
    fn ranks_stand_in_a_balanced_order_where_all_links_are_alike_and_large_blocks_are_neighbours() {
        let auto = RootlessChoice::from(RootlessAlgorithm::Auto);
        let skewed = BlockSizes::new((0..32).map(|rank| if rank < 5 { 6400 } else { 1 })).unwrap();
        let of = |operation, everywhere: &Prices| {
            let known = (everywhere, KnownRule::OpenMpi);
            circulation(operation, &skewed, 1, auto, known)
        };
        let everywhere =
            |latency, overhead| Prices { are_everywhere: true, ..cluster(latency, overhead) };
        let (overlapping, costly) = (everywhere(1600, 400), everywhere(200, 800));
        let gathered = of(Operation::Allgather, &overlapping);
        assert_eq!(gathered, Some(Circulation::BalancedPostal(2)));
        assert_eq!(of(Operation::Allgather, &costly), Some(Circulation::BalancedPieces(2)));
        let combined = |cut_so| {
            best_pieces(&skewed, (1, Flow::Combined), &costly.most, u128::MAX, cut_so).time
        };
        assert!(combined(Circulation::BalancedPieces) < combined(Circulation::Pieces));
        // Ranks that are closer to some than to others keep their places, as where nothing is known.
        let unknown = of(Operation::Allgather, &cluster(200, 800));
        assert_eq!(unknown, Some(Circulation::Pieces(3)));
        let flat = machine(&Homogeneous::new(1e7, 1e3, 0.0).unwrap());
        assert!(Prices::of(&flat, 32).are_everywhere);
        let alpha = |from: Rank, to: Rank| if from / 4 == to / 4 { 1e-6 } else { 1e-5 };
        let nodes = CostMatrix::from_fn(32, alpha, |_, _| 1e-9, |_| 0.0).unwrap();
        let in_nodes = Machine { costs: Costs::Matrix(nodes), ..flat };
        assert!(!Prices::of(&in_nodes, 32).are_everywhere);
    }

    #[test]
    fn where_ranks_are_few_pieces_are_those_that_are_fastest_where_rounds_overlap() {
        let skewed = BlockSizes::new((0..32).map(|rank| if rank < 5 { 6400 } else { 1 })).unwrap();
        let one = BlockSizes::new((0..32).map(|rank| if rank == 10 { 32_000 } else { 1 })).unwrap();
        let pieces = |sizes: &BlockSizes, prices: &Prices| {
            best_pieces(sizes, (1, Flow::Spread), &prices.most, u128::MAX, Circulation::Pieces)
                .pieces
        };
        let (overlapping, costly) = (cluster(1600, 400), cluster(200, 800));
        // By the bound it would be 3 and 4, by what ports are occupied 7 and 8.
        assert_eq!(pieces(&one, &overlapping), 4);
        assert_eq!(pieces(&skewed, &overlapping), 3);
        assert_eq!(pieces(&skewed, &costly), 3);
        let library = KnownRule::OpenMpi;
        let choice = RootlessChoice::from(RootlessAlgorithm::Auto);
        let chosen =
            |sizes, prices| circulation(Operation::Allgather, sizes, 1, choice, (prices, library));
        assert_eq!(chosen(&skewed, &overlapping), Some(Circulation::Pieces(3)));
    }

    #[test]
    fn small_blocks_go_in_windows_of_the_postal_model_where_rounds_overlap() {
        let cluster = cluster(1600, 400);
        let choice = RootlessChoice::from(RootlessAlgorithm::Auto);
        let known = (&cluster, KnownRule::OpenMpi);
        // The delay, and how many hundredths as long windows, pieces and the library's algorithm take by these costs.
        let compared = |block: fn(usize) -> u64| {
            let sizes = BlockSizes::new((0..32).map(block)).unwrap();
            let chosen = circulation(Operation::Allgather, &sizes, 1, choice, known);
            let best = best_delay(&sizes, &cluster.most, Circulation::Postal).unwrap();
            assert_eq!(chosen, Some(Circulation::Postal(best.delay)));
            let pieces = best_pieces(
                &sizes,
                (1, Flow::Spread),
                &cluster.most,
                u128::MAX,
                Circulation::Pieces,
            )
            .time;
            let library = least_of_allgather(&sizes, &cluster, KnownRule::OpenMpi);
            let all = [time_of_windows(&sizes, &cluster.most), pieces, library];
            (best.delay, all.map(|time| 100 * time / best.time))
        };
        assert_eq!(compared(|_| 10), (5, [158, 161, 190]));
        // 30 kB in all.
        let spikes = |rank| if rank % 5 == 3 { 5000 } else { 10 };
        assert_eq!(compared(spikes), (2, [127, 134, 127]));
        let few = |rank| if rank % 16 == 3 { 5000 } else { 10 };
        assert_eq!(compared(few), (2, [123, 129, 123]));
    }

    #[test]
    fn a_delay_for_too_many_ranks_to_perform_is_that_of_equal_blocks() {
        let cluster = cluster(1600, 400);
        let delays = |sizes: Vec<u64>| {
            let sizes = BlockSizes::new(sizes).unwrap();
            let best = best_delay(&sizes, &cluster.most, Circulation::Postal).map(|one| one.delay);
            (best, likely_delay(&sizes, &cluster.most, Circulation::Postal))
        };
        let blocks = |p: u64, block: fn(u64) -> u64| (0..p).map(block).collect();
        assert_eq!(delays(blocks(8192, |rank| rank % 3)), (None, 5));
        assert_eq!(delays(blocks(8192, |_| 1)), (Some(5), 5));
        assert_eq!(delays(blocks(512, |rank| rank % 3)), (Some(5), 5));
        // Nothing is under way while ports are free.
        assert_eq!(
            best_delay(&BlockSizes::new([1; 8]).unwrap(), &prices().most, Circulation::Postal),
            None
        );
    }

    #[test]
    fn one_large_block_goes_in_pieces_and_equal_ones_as_the_library_has_them() {
        let mut sizes = vec![1; 48];
        sizes[16] = 48_000;
        for rule in [KnownRule::Mpich, KnownRule::OpenMpi, KnownRule::Unknown] {
            let one = chosen(&sizes, rule);
            assert!(matches!(one, Some(Circulation::Pieces(20..))), "{one:?}");
            assert_eq!(chosen(&[1_000_000; 48], rule), None, "{rule:?}");
        }
    }

    /// A machine with these costs, in picoseconds.
    fn machine(costs: &Homogeneous) -> Machine {
        let seconds = |picoseconds: f64| picoseconds * 1e-12;
        let costs = Homogeneous::new(seconds(costs.alpha()), seconds(costs.beta()), 0.0)
            .unwrap()
            .with_exchange(seconds(costs.exchange_alpha()), seconds(costs.exchange_beta()))
            .unwrap();
        Machine {
            name: "exchanges".to_owned(),
            date: Date::parse("2026-01-01").unwrap(),
            provenance: "costs of exchanges in a test".to_owned(),
            costs: costs.into(),
            network: Network::default(),
            combine_per_byte: 0.0,
        }
    }

    /// Blocks of one size, of several, some of them empty, and one large among small ones.
    fn blocks(p: u64) -> [BlockSizes; 4] {
        let of = |size: fn(u64) -> u64| BlockSizes::new((0..p).map(size)).unwrap();
        [
            of(|_| 300),
            of(|rank| 1 + rank * 37 % 11 * 50),
            of(|rank| rank % 3 * 100),
            of(|rank| if rank == 1 { 90_000 } else { 5 }),
        ]
    }

    #[test]
    fn what_is_taken_at_most_and_at_least_is_so_whatever_exchanges_cost() {
        let lone = Homogeneous::new(1000.0, 2.0, 0.0).unwrap();
        for exchange in [
            (1000.0, 2.0),
            (2000.0, 4.0),
            (1500.0, 2.0),
            (500.0, 1.0),
            (1000.0, 3.0),
            (3000.0, 1.0),
        ] {
            let costs = lone.with_exchange(exchange.0, exchange.1).unwrap();
            for p in [2, 3, 4, 5, 8, 12, 13, 16] {
                let prices = Prices::of(&machine(&costs), p as usize);
                assert_eq!(
                    prices.exchanged,
                    Prices::linear(exchange.0 as u64, exchange.1 as u64).most
                );
                for sizes in blocks(p) {
                    let gathered = Problem::allgather(&sizes, costs).unwrap();
                    let scattered = Problem::reduce_scatter(&sizes, costs).unwrap();
                    let least = Least::of(&sizes, &prices);
                    let windows = time_of_windows(&sizes, &prices.most);
                    let pieces = bounds_in_pieces(&sizes, 1, &prices.most);
                    let pieces = pieces.iter().find(|one| one.pieces == 2).map(|one| one.bound);
                    let ours = [
                        (Some(windows), circulant(&gathered)),
                        (Some(windows), reduce_scatter::circulant(&scattered)),
                        (pieces, circulant_in_pieces(&gathered, 2)),
                        (pieces, reduce_scatter::circulant_in_pieces(&scattered, 2)),
                    ];
                    let mut libraries = vec![
                        (least.ring(u64::MAX), ring(&gathered)),
                        (least.ring(CHUNK_BYTES), ring_in_chunks(&gathered, CHUNK_BYTES)),
                        (least.bruck(), bruck(&gathered)),
                        (least.few_rounds(), bruck(&gathered)),
                        (least.few_rounds(), reduce_scatter::halving(&scattered)),
                        (least.pairwise(), reduce_scatter::pairwise(&scattered)),
                    ];
                    if p.is_power_of_two() {
                        libraries.push((least.doubling(), recursive_doubling(&gathered)));
                    }
                    let time = |schedule: Result<Schedule, CollectiveError>| {
                        let timeline = simulate(&schedule.unwrap(), &costs, Sends::Synchronous);
                        timeline.unwrap().completion_time().units() as u128
                    };
                    for (which, (bound, schedule)) in ours.into_iter().enumerate() {
                        let time = time(schedule);
                        let holds = bound.is_none_or(|bound| time <= bound);
                        assert!(
                            holds,
                            "ours {which}, {p}, {sizes:?}, {exchange:?}: {time} {bound:?}"
                        );
                    }
                    for (which, (bound, schedule)) in libraries.into_iter().enumerate() {
                        let time = time(schedule);
                        assert!(
                            bound <= time,
                            "{which}, {p}, {sizes:?}, {exchange:?}: {bound} {time}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_exchanges_cost_decides_how_blocks_go() {
        let mut sizes = vec![1; 48];
        sizes[16] = 48_000;
        let sizes = BlockSizes::new(sizes).unwrap();
        let lone = Homogeneous::new(100.0, 1.0, 0.0).unwrap();
        let chosen = |alpha: f64, beta: f64| {
            let costs = lone.with_exchange(alpha, beta).unwrap();
            chosen_circulation(Operation::Allgather, &sizes, Some(&machine(&costs)))
        };
        let usual = chosen(100.0, 1.0);
        assert!(matches!(usual, Some(Circulation::Pieces(20..))), "{usual:?}");
        // Start-ups that are dearer: fewer pieces.
        let (Some(Circulation::Pieces(usual)), Some(Circulation::Pieces(fewer))) =
            (usual, chosen(1000.0, 1.0))
        else {
            panic!("both go in pieces");
        };
        assert!(fewer < usual, "{fewer} {usual}");
    }

    #[test]
    fn what_is_stated_is_done_whatever_it_takes() {
        let sizes = BlockSizes::new([4, 4, 4]).unwrap();
        let stated = |choice: RootlessChoice| {
            let known = (&prices(), KnownRule::Mpich);
            circulation(Operation::Allgather, &sizes, 1, choice, known)
        };
        use RootlessAlgorithm::{BruckPostal, Circulant, CirculantPieces, Native, Ring};
        assert_eq!(stated(Ring.into()), Some(Circulation::Ring));
        assert_eq!(stated(Native.into()), None);
        assert_eq!(stated(Circulant.into()), Some(Circulation::Windows));
        let pieces = std::num::NonZeroU16::new(3);
        let three = RootlessChoice { algorithm: CirculantPieces, number: pieces };
        assert_eq!(stated(three), Some(Circulation::Pieces(3)));
        let three = RootlessChoice { algorithm: BruckPostal, ..three };
        assert_eq!(stated(three), Some(Circulation::Postal(3)));
        // Nothing overlaps at these prices.
        assert_eq!(stated(BruckPostal.into()), Some(Circulation::Postal(1)));
    }
}
