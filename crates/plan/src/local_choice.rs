//! Algorithm for rootless operations by each rank alone, from costs of messages in integers.
//!
//! All ranks have to decide alike: from the sizes, which all have, and the costs of a machine, which all have been told by the
//! first and make whole numbers of once. Then nothing depends on how a rank rounds.
//!
//! Times of rounds are bounded from above, those on nodes estimated, and the library's algorithm is bounded from below, in the model of one port that sends and receives at once: ours is chosen only where it is faster by the costs.
//! Where exchanges have costs of their own, ours has the dearer of those and of lone messages, and the library's the cheaper,
//! unless all it sends is of exchanges.

mod algorithm;
mod least;
mod on_nodes;
mod table;
#[cfg(test)]
mod tests;

pub use self::algorithm::{Pattern, RootlessAlgorithm, RootlessChoice};
use self::least::{least_of_allgather, least_of_reduce_scatter};
pub use self::on_nodes::NodePrices;
use self::table::POWERS;
pub use self::table::PriceTable;
use crate::Library;
use tuwtree_collective::{
    Circulation, Flow, MessagePrice, overlapped_time, performed_messages, steps_in_pieces,
};
use tuwtree_model::document::Machine;
use tuwtree_model::{BlockSizes, CostModel, Costs, Operation, Rank};

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
                Operation::Allgather => least_of_allgather(sizes, nodes, prices, rule),
                _ => least_of_reduce_scatter(sizes, nodes, prices, rule),
            };
            let most = prices.worth(library);
            let mut all = vec![(Circulation::Windows, time_of_windows(sizes, &prices.most))];
            let mut look_at = |cut_so: InPieces, delayed_so: Delayed| {
                let best = best_pieces(sizes, cut, &prices.most, most, cut_so);
                all.push((cut_so(best.pieces), best.time));
                let best = best_delay(sizes, &prices.most, delayed_so);
                all.extend(best.map(|best| (delayed_so(best.delay), best.time)));
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
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let all = (1..=16).chain([24, 32, 48, 64]).take_while(|&delay| delay <= most);
    let all: Vec<usize> = all.collect();
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
