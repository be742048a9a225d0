//! Completion time of an allgather or a reduce-scatter whose messages have overlapping latency.
//!
//! A rank sends a message as soon as its port is free and all that is in it has come, which is often not the last round's:
//! then rounds overlap, and how many pieces are best, or how large windows, no closed bound tells. Here the rounds of all
//! ranks are performed in thought, in whole numbers, so that all ranks that know sizes and prices find the same. Where all
//! blocks are equal, all ranks do the same at the same time, and one stands for all.

use crate::pieces::Phases;
use crate::rank_rounds::{RoundsKind, needed_window};
use crate::{Circulation, Flow};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tuwtree_model::{BlockSizes, Rank};

/// Time of a message, in whole units of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessagePrice {
    /// For how long it is under way while other messages pass the same ports.
    pub latency: u128,
    /// For how long nothing else leaves the sender's port, and, later by the latency, enters the receiver's.
    pub occupancy: u128,
}

/// Completion time of the last rank, if all begin at once. A rank's messages leave in the order of rounds; they enter
/// in the order of arrival. Combining operations go strictly round by round, each message beginning when both ends have
/// ended their last rounds; combining itself takes no time. Pieces are cut between elements.
///
/// # Panics
/// As [`RankRounds::new`](crate::RankRounds::new).
///
/// # Complexity
/// For pieces [`steps_in_pieces`], and O(n log n) for [`performed_messages`] n; else O(n (log n + r)) for r rounds. O(n) space.
///
/// # Example
/// Two ranks send each other three pieces, one after the other.
/// ```
/// use tuwtree_collective::{Circulation, Flow, MessagePrice, overlapped_time};
/// let sizes = tuwtree_model::BlockSizes::new([30, 0]).unwrap();
/// let price = |bytes: u64| MessagePrice { latency: 100, occupancy: 1 + u128::from(bytes) };
/// let time = |flow| overlapped_time(&sizes, 1, Circulation::Pieces(3), flow, price);
/// assert_eq!(time(Flow::Spread), 100 + 3 * 11);
/// assert_eq!(time(Flow::Combined), 3 * 111);
/// ```
pub fn overlapped_time(
    sizes: &BlockSizes,
    element_bytes: u64,
    circulation: Circulation,
    flow: Flow,
    price: impl Fn(u64) -> MessagePrice,
) -> u128 {
    assert!(element_bytes > 0, "elements have bytes");
    let p = sizes.ranks();
    let kind = RoundsKind::new(p, flow, circulation);
    let circle = circulation.circle(sizes, &kind);
    let sizes = circle.sizes();
    let ranks = distinct_ranks(sizes);
    let messages = messages(sizes, element_bytes, &kind, ranks);
    let receiver = |round: usize, rank: Rank| {
        let to = kind.meeting(p, round, rank).to.expect("all meet in each round");
        if ranks < p { 0 } else { to }
    };
    match flow {
        Flow::Spread => spread(receiver, &messages, price),
        Flow::Combined => combined(receiver, &messages, price),
    }
}

/// Number of messages that [`overlapped_time`] performs: of all ranks, or of one that stands for all.
///
/// # Panics
/// As [`RankRounds::new`](crate::RankRounds::new).
///
/// # Complexity
/// O(p log^2 p) for pieces, else O(p).
pub fn performed_messages(sizes: &BlockSizes, circulation: Circulation) -> u128 {
    let p = sizes.ranks();
    let rounds = RoundsKind::new(p, Flow::Spread, circulation).count(p);
    rounds as u128 * distinct_ranks(sizes) as u128
}

/// Number of ranks performed: 1 if all blocks are equal.
fn distinct_ranks(sizes: &BlockSizes) -> usize {
    let are_equal = sizes.iter().all(|bytes| bytes == sizes.block(0));
    if are_equal { 1 } else { sizes.ranks() }
}

/// Number of pieces of blocks that [`overlapped_time`] examines: its running time grows with it.
pub fn steps_in_pieces(ranks: usize, pieces: usize) -> u128 {
    let rounds = pieces as u128 + u128::from(ranks.next_power_of_two().ilog2());
    (ranks as u128).pow(2) * rounds
}

/// A rank's message in a round of an allgather.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sending {
    bytes: u64,
    /// The last round with data for it.
    needs: Option<usize>,
}

/// For each round of an allgather, the messages of each of the first `ranks` ranks.
fn messages(
    sizes: &BlockSizes,
    element_bytes: u64,
    kind: &RoundsKind,
    ranks: usize,
) -> Vec<Vec<Sending>> {
    let p = sizes.ranks();
    let all = |sending: &dyn Fn(usize, Rank) -> Sending| {
        let of_round = |round| (0..ranks).map(|rank| sending(round, rank)).collect();
        (0..kind.count(p)).map(of_round).collect()
    };
    match kind {
        RoundsKind::Ring => all(&|round, rank| Sending {
            bytes: sizes.block((rank + p - round) % p),
            needs: round.checked_sub(1),
        }),
        RoundsKind::Windows(skips) => all(&|round, rank| Sending {
            bytes: sizes.window(rank, skips[round + 1] - skips[round]),
            needs: needed_window(sizes, skips, round, rank),
        }),
        RoundsKind::Pieces(phases) => messages_in_pieces(sizes, element_bytes, phases, ranks),
    }
}

/// Like [`messages`], of blocks in pieces.
fn messages_in_pieces(
    sizes: &BlockSizes,
    element_bytes: u64,
    phases: &Phases,
    ranks: usize,
) -> Vec<Vec<Sending>> {
    let (p, pieces) = (sizes.ranks(), phases.pieces());
    let elements = |root| sizes.block(root) / element_bytes;
    let shares: Vec<u64> = (0..p).map(|root| elements(root) / pieces).collect();
    let longer: Vec<u64> = (0..p).map(|root| elements(root) % pieces).collect();
    let of_round = |round: usize| -> Vec<Sending> {
        let to = phases.meeting(round, 0).to.expect("all meet in each round");
        // What is due for each distance from a root: the piece, and since when it is there.
        let due: Vec<(usize, u64, usize)> = (0..p)
            .filter(|&distance| !(distance + to).is_multiple_of(p))
            .filter_map(|distance| {
                let age = if distance == 0 { usize::MAX } else { phases.age(round, distance) };
                Some((distance, phases.sent(round, distance)?, age))
            })
            .collect();
        let sending = |rank: Rank| {
            let (mut sum, mut youngest) = (0, usize::MAX);
            for &(distance, piece, age) in &due {
                let root = if rank >= distance { rank - distance } else { rank + p - distance };
                let share = shares[root] + u64::from(piece < longer[root]);
                sum += share;
                if share > 0 {
                    youngest = youngest.min(age);
                }
            }
            Sending { bytes: sum * element_bytes, needs: round.checked_sub(youngest) }
        };
        (0..ranks).map(sending).collect()
    };
    (0..phases.rounds()).map(of_round).collect()
}

/// Arriving messages: time, round and sender; the first first.
type Arrivals = BinaryHeap<Reverse<(u128, usize, Rank)>>;

/// Completion time of these messages, for each round each rank's; a receiver is told by round and sender.
fn spread(
    receiver: impl Fn(usize, Rank) -> Rank,
    messages: &[Vec<Sending>],
    price: impl Fn(u64) -> MessagePrice,
) -> u128 {
    let p = messages.first().map_or(0, Vec::len);
    let mut ranks = vec![RankProgress::default(); p];
    // When what each rank receives in each round has come.
    let mut came: Vec<Vec<Option<u128>>> = vec![vec![None; p]; messages.len()];
    let mut arrivals = Arrivals::new();
    let send_on = |rank: Rank,
                   ranks: &mut [RankProgress],
                   came: &[Vec<Option<u128>>],
                   arrivals: &mut Arrivals| {
        let RankProgress { round, out_free, .. } = &mut ranks[rank];
        while let Some(sending) = messages.get(*round).map(|all| all[rank]) {
            if sending.bytes > 0 {
                let ready = match sending.needs {
                    None => 0,
                    Some(needed) => match came[needed][rank] {
                        Some(moment) => moment,
                        None => return,
                    },
                };
                let MessagePrice { latency, occupancy } = price(sending.bytes);
                let begin = ready.max(*out_free);
                *out_free = begin + occupancy;
                arrivals.push(Reverse((begin + latency, *round, rank)));
            }
            *round += 1;
        }
    };
    for rank in 0..p {
        send_on(rank, &mut ranks, &came, &mut arrivals);
    }
    let mut end = 0;
    while let Some(Reverse((arrival, round, from))) = arrivals.pop() {
        let to = receiver(round, from);
        let occupancy = price(messages[round][from].bytes).occupancy;
        let done = arrival.max(ranks[to].in_free) + occupancy;
        ranks[to].in_free = done;
        came[round][to] = Some(done);
        end = end.max(done);
        send_on(to, &mut ranks, &came, &mut arrivals);
    }
    end
}

/// Progress of a rank.
#[derive(Clone, Copy, Debug, Default)]
struct RankProgress {
    /// Its next message.
    round: usize,
    /// Times at which its ports are free.
    out_free: u128,
    in_free: u128,
}

/// Completion time of combining along these messages backwards, from each receiver to its sender.
fn combined(
    receiver: impl Fn(usize, Rank) -> Rank,
    messages: &[Vec<Sending>],
    price: impl Fn(u64) -> MessagePrice,
) -> u128 {
    let p = messages.first().map_or(0, Vec::len);
    let mut ended = vec![0_u128; p];
    for (round, all) in messages.iter().enumerate().rev() {
        let mut next = ended.clone();
        for (into, sending) in all.iter().enumerate().filter(|(_, sending)| sending.bytes > 0) {
            let from = receiver(round, into);
            let MessagePrice { latency, occupancy } = price(sending.bytes);
            let begin = ended[from].max(ended[into]);
            next[from] = next[from].max(begin + occupancy);
            next[into] = next[into].max(begin + latency + occupancy);
        }
        ended = next;
    }
    ended.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bruck::postal_windows;
    use crate::{RankRounds, RoundMessages, reduce_scatter};
    use tuwtree_model::{Homogeneous, Problem};
    use tuwtree_schedule::{Sends, simulate};

    fn sizes(p: usize) -> BlockSizes {
        BlockSizes::new((0..p as u64).map(|rank| (rank * rank * 7 + 3 * rank) % 11)).unwrap()
    }

    fn at_once(bytes: u64) -> MessagePrice {
        MessagePrice { latency: 0, occupancy: 10 + u128::from(bytes) }
    }

    #[test]
    fn messages_are_those_of_each_rank() {
        let pieces = [1, 2, 5, 11].map(Circulation::Pieces).into_iter();
        let delays = [1, 2, 5].map(Circulation::Postal);
        for circulation in pieces.chain(delays).chain([Circulation::Ring, Circulation::Windows]) {
            for p in 2..20 {
                let kind = RoundsKind::new(p, Flow::Spread, circulation);
                let found = messages(&sizes(p), 1, &kind, p);
                let mut own = RoundMessages::default();
                for rank in 0..p {
                    let rounds = RankRounds::new(&sizes(p), 1, rank, Flow::Spread, circulation);
                    assert_eq!(found.len(), rounds.count());
                    for (round, found) in found.iter().enumerate() {
                        rounds.fill(round, &mut own);
                        let bytes = own.sent.iter().map(|piece| piece.bytes).sum();
                        let needs = own.needs;
                        assert_eq!(found[rank], Sending { bytes, needs }, "{p} {circulation:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn one_rank_stands_for_all_where_blocks_are_equal() {
        let price = |bytes: u64| MessagePrice {
            latency: 300 + u128::from(bytes),
            occupancy: 90 + u128::from(bytes),
        };
        let pieces = [1, 3, 7].map(Circulation::Pieces).into_iter();
        for circulation in pieces.chain([1, 2, 5].map(Circulation::Postal)) {
            for p in 2..40 {
                let sizes = BlockSizes::new(vec![21; p]).unwrap();
                let kind = RoundsKind::new(p, Flow::Spread, circulation);
                let all = messages(&sizes, 1, &kind, p);
                let receiver = |round, rank| kind.meeting(p, round, rank).to.unwrap();
                let found = overlapped_time(&sizes, 1, circulation, Flow::Spread, price);
                assert_eq!(found, spread(receiver, &all, price), "{p} {circulation:?}");
            }
        }
    }

    /// A hundred of latency, ten for which a tiny message occupies ports.
    #[test]
    fn tiny_blocks_take_as_many_occupancies_as_there_are_steps_and_the_latency_once() {
        let price =
            |bytes: u64| MessagePrice { latency: 100, occupancy: 10 + u128::from(bytes) / 1000 };
        let sizes = BlockSizes::new(vec![1; 32]).unwrap();
        let time = |circulation| overlapped_time(&sizes, 1, circulation, Flow::Spread, price);
        assert_eq!(time(Circulation::Windows), 5 * 110);
        assert_eq!(time(Circulation::Postal(1)), 5 * 110);
        for delay in [11, 12, 20] {
            let rounds = postal_windows(32, delay).len() as u128 - 1;
            assert_eq!(time(Circulation::Postal(delay)), rounds * 10 + 100, "{delay}");
        }
    }

    #[test]
    fn on_a_balanced_circle_it_takes_as_long_as_blocks_that_stand_in_its_order() {
        let price = |bytes: u64| MessagePrice { latency: 50, occupancy: 10 + u128::from(bytes) };
        for p in 2..20 {
            let sizes = sizes(p);
            let time = |sizes: &BlockSizes, circulation| {
                overlapped_time(sizes, 1, circulation, Flow::Spread, price)
            };
            for number in 1..5 {
                for (balanced, plain) in [
                    (Circulation::BalancedPieces(number), Circulation::Pieces(number)),
                    (Circulation::BalancedPostal(number), Circulation::Postal(number)),
                ] {
                    let kind = RoundsKind::new(p, Flow::Spread, balanced);
                    let order = balanced.circle(&sizes, &kind).sizes().clone();
                    assert_eq!(time(&sizes, balanced), time(&order, plain));
                }
            }
        }
    }

    #[test]
    fn what_combines_takes_as_long_as_the_schedule_of_all() {
        for p in 2..20 {
            let costs = Homogeneous::new(10.0, 1.0, 0.0).unwrap();
            let problem = Problem::reduce_scatter(&sizes(p), costs).unwrap();
            for pieces in [1, 2, 5] {
                let schedule = reduce_scatter::circulant_in_pieces(&problem, pieces).unwrap();
                let expected = simulate(&schedule, problem.costs(), Sends::Synchronous)
                    .unwrap()
                    .completion_time();
                let circulation = Circulation::Pieces(pieces);
                let found = overlapped_time(&sizes(p), 1, circulation, Flow::Combined, at_once);
                assert_eq!(found as f64, expected.units(), "{p} {pieces}");
            }
        }
    }

    #[test]
    fn one_large_block_takes_what_a_program_apart_from_this_has_found() {
        let block = |rank| if rank == 10 { 32_000 } else { 1 };
        let sizes = BlockSizes::new((0..32).map(block)).unwrap();
        let price =
            |bytes: u64| MessagePrice { latency: 1600, occupancy: 400 + u128::from(bytes) / 6 };
        let time =
            |pieces| overlapped_time(&sizes, 1, Circulation::Pieces(pieces), Flow::Spread, price);
        let all: Vec<u128> = (1..=6).map(time).collect();
        assert_eq!(all, [36_668, 28_001, 24_847, 24_002, 24_402, 25_333]);
    }
}
