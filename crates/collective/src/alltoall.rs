//! Alltoall: every rank has a message for every other, each of its own size.
//!
//! Direct messages, bundles, or Bruck's algorithm. The planner knows all sizes; a rank of an MPI program knows its own only.

mod digits;

pub use self::digits::{BruckSketch, bruck, bruck_contiguous, bruck_up_to};
use crate::CollectiveError;
use crate::bundles::{Bundle, BundleRounds, ColumnTrees, Passing, rows_of_roots};
use crate::error::{check_radix, exchanged};
use crate::open_shop;
use crate::rounds::{
    Layout, Meeting, MessageData, Outline, deed, finished, most_bytes_sent, outline_of_rounds,
    shifted_meeting,
};
use rayon::prelude::*;
use std::collections::HashMap;
use tuwtree_model::{
    CostModel, MessageSizes, Order, Problem, Rank, SharedWires, Time, TimeError, WireOwner,
};
use tuwtree_schedule::{
    Action, Arrival, Buffer, Deed, Piece, Programs, Receive, Region, Schedule, Send,
};

/// Rounds of messages that go straight to their receivers, each rank meeting others as `meet` says.
fn direct(
    problem: &Problem,
    sizes: &MessageSizes,
    meet: impl Fn(usize, Rank) -> Meeting,
) -> Result<Schedule, CollectiveError> {
    let mut programs = Programs::new();
    for rank in 0..sizes.ranks() {
        for round in 1..sizes.ranks() {
            let Meeting { to, from } = meet(round, rank);
            let sent = to.map(|to| sent(sizes, rank, to)).filter(|piece| piece.bytes > 0);
            let received = from.map(|from| received(sizes, from, rank));
            let received = received.filter(|piece| piece.bytes > 0);
            let send = to.zip(sent.as_ref()).map(|(to, piece)| send_to(to, piece));
            let receive =
                from.zip(received.as_ref()).map(|(from, piece)| receive_from(from, piece));
            if let Some(deed) = deed(send, receive) {
                programs.push(&Action { port: 0, deed })?;
            }
        }
        programs.end_rank();
    }
    finished(problem, (Order::Ordered, 1), vec![0; sizes.ranks()], programs)
}

/// Position of a message at its sender.
fn sent(sizes: &MessageSizes, from: Rank, to: Rank) -> Piece {
    let offset = sizes.before(from, to) - sizes.before(from, 0);
    Piece { offset, bytes: sizes.message(from, to) }
}

/// Position of a message at its receiver.
fn received(sizes: &MessageSizes, from: Rank, to: Rank) -> Piece {
    Piece { offset: sizes.place(from, to), bytes: sizes.message(from, to) }
}

fn send_to(to: Rank, piece: &Piece) -> Send<'_> {
    Send { to, tag: 0, from: Region { buffer: Buffer::Input, pieces: std::slice::from_ref(piece) } }
}

fn receive_from(from: Rank, piece: &Piece) -> Receive<'_> {
    let into = Region { buffer: Buffer::Output, pieces: std::slice::from_ref(piece) };
    Receive { from, tag: 0, into, arrival: Arrival::Store }
}

/// The alltoall in which rank `i` sends to `i + 1`, `i + 2`, ... and receives from `i - 1`, `i - 2`, ...
///
/// Messages of `c` bytes each take `(p - 1)(alpha + c beta)`. Where part `lambda = alpha - o` of the latency overlaps with
/// other work, all sends and receives are under way at once, on a duplex port: `lambda + (p - 1)(o + c beta)`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.3.
pub fn linear(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = exchanged(problem)?;
    let p = sizes.ranks();
    if problem.costs().overlaps() {
        let turns = |rank: Rank, step: usize| {
            (1..p).map(move |round| (rank + step * round) % p).collect::<Vec<Rank>>()
        };
        let sends: Vec<Vec<Rank>> = (0..p).map(|rank| turns(rank, 1)).collect();
        let receives: Vec<Vec<Rank>> = (0..p).map(|rank| turns(rank, p - 1)).collect();
        return on_a_duplex_port(problem, sizes, &sends, &receives);
    }
    direct(problem, sizes, |round, rank| shifted_meeting(round, rank, p))
}

/// Figures of [`linear`]; where nodes share wires, `None` if a sender waits for its receiver, as some message has no
/// latency that overlaps.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2), O(p) space; with wires O(p^2 log p), O(p^2) space.
pub fn linear_outline(problem: &Problem) -> Result<Option<Outline>, CollectiveError> {
    let sizes = exchanged(problem)?;
    let (p, costs) = (sizes.ranks(), problem.costs());
    if !costs.overlaps() {
        let meet = |round, rank| shifted_meeting(round + 1, rank, p);
        let bytes = |_, from, to| sizes.message(from, to);
        return outline_of_rounds(problem, Buffer::Input, meet, bytes).map(Some);
    }
    let Some(entered) = entered_wires(problem, sizes)? else { return Ok(None) };
    let mut actions = vec![0; p];
    // When each rank can send the next message, and receive it.
    let [mut sending, mut receiving] = [vec![Time::ZERO; p], vec![Time::ZERO; p]];
    for round in 1..p {
        for from in 0..p {
            let to = (from + round) % p;
            let bytes = sizes.message(from, to);
            if bytes == 0 {
                continue;
            }
            let latency = costs.latency_between(from, to, bytes)?;
            let duration = costs.transmission_between(from, to, bytes)?;
            let arrival = costs.sum(sending[from], latency)?.later(receiving[to]);
            let start = entered.get(from * p + round).map_or(arrival, |&one| arrival.later(one));
            receiving[to] = costs.sum(start, duration)?;
            sending[from] = match latency > Time::ZERO {
                true => costs.sum(sending[from], duration)?,
                // The sender waits for its receiver.
                false => receiving[to],
            };
            actions[from] += 1;
            actions[to] += 1;
        }
    }
    Ok(Some(Outline {
        time: sending.into_iter().chain(receiving).fold(Time::ZERO, Time::later),
        most_actions: actions.into_iter().max().unwrap_or(0),
        most_bytes_sent: most_bytes_sent(p, |from, to| sizes.message(from, to)),
    }))
}

/// Times from which messages of [`linear`] are on the wires of their receivers' nodes, by sender and round, 0 for messages on no
/// such wire; empty if nodes share no wires. `None` if a sender waits for its receiver.
///
/// Senders do not wait, so that the times at which messages could enter wires are known beforehand, and so is their order.
fn entered_wires(
    problem: &Problem,
    sizes: &MessageSizes,
) -> Result<Option<Vec<Time>>, CollectiveError> {
    let (p, costs) = (sizes.ranks(), problem.stated_costs());
    if costs.network().wire != WireOwner::Node {
        return Ok(Some(Vec::new()));
    }
    if u32::try_from(p * p).is_err() {
        return Ok(None);
    }
    let place = |from: Rank, round: usize| (from * p + round) as u32;
    let of_rank = |from: Rank| -> Result<Option<Vec<(Time, u32)>>, TimeError> {
        let (mut all, mut sending) = (Vec::new(), Time::ZERO);
        for round in 1..p {
            let to = (from + round) % p;
            let bytes = sizes.message(from, to);
            if bytes == 0 {
                continue;
            }
            let latency = costs.latency_between(from, to, bytes)?;
            if latency == Time::ZERO {
                return Ok(None);
            }
            if costs.shared_wires(from, to, bytes)?.is_some() {
                all.push((costs.sum(sending, latency)?, place(from, round)));
            }
            sending = costs.sum(sending, costs.transmission_between(from, to, bytes)?)?;
        }
        Ok(Some(all))
    };
    let waiting: Vec<Result<_, TimeError>> = (0..p).into_par_iter().map(of_rank).collect();
    let waiting: Option<Vec<_>> = waiting.into_iter().collect::<Result<_, _>>()?;
    let Some(waiting) = waiting else { return Ok(None) };
    let mut waiting = waiting.concat();
    waiting.par_sort_unstable();
    let mut entered = vec![Time::ZERO; p * p];
    let mut free: Vec<[Time; 2]> = Vec::new();
    for (arrival, place) in waiting {
        let (sender, round) = (place as usize / p, place as usize % p);
        let receiver = (sender + round) % p;
        let wires = costs.shared_wires(sender, receiver, sizes.message(sender, receiver))?;
        let SharedWires { nodes: (from, to), time } = wires.expect("the message waits for wires");
        free.resize(free.len().max(from + 1).max(to + 1), [Time::ZERO; 2]);
        let left = arrival.later(free[from][0]);
        free[from][0] = costs.sum(left, time)?;
        let on_second = left.later(free[to][1]);
        free[to][1] = costs.sum(on_second, time)?;
        entered[place as usize] = on_second;
    }
    Ok(Some(entered))
}

/// Figures of [`pairwise`], where no latency overlaps with other work.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2), O(p) space.
pub fn pairwise_outline(problem: &Problem) -> Result<Outline, CollectiveError> {
    let sizes = exchanged(problem)?;
    let meet = |round, rank| pairwise_meeting(round + 1, rank, sizes.ranks());
    outline_of_rounds(problem, Buffer::Input, meet, |_, from, to| sizes.message(from, to))
}

/// Whom a rank meets in round `k` of [`pairwise`].
fn pairwise_meeting(round: usize, rank: Rank, p: usize) -> Meeting {
    match p.is_power_of_two() {
        true => Meeting { to: Some(rank ^ round), from: Some(rank ^ round) },
        false => shifted_meeting(round, rank, p),
    }
}

/// The alltoall in which ranks `i` and `i xor k` exchange, `k = 1, 2, ...`, if `p` is a power of two; else rank `i` sends
/// to `i + k` and receives from `i - k`. Each round waits for the one before.
///
/// Messages of `c` bytes each take `(p - 1)(alpha + c beta)`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.3.
pub fn pairwise(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = exchanged(problem)?;
    direct(problem, sizes, |round, rank| pairwise_meeting(round, rank, sizes.ranks()))
}

/// The alltoall in bundles; messages of more than `most` bytes go straight to their receivers. Bundles of one
/// round are under way at once, on a duplex port, unlike those of [`bruck`].
///
/// # Errors
/// [`CollectiveError`], also [`CollectiveError::Radix`].
///
/// # Panics
/// For pairs of nodes that do not have each rank once.
///
/// # Complexity
/// O(p^2) for pairs of nodes, O(p^2 log p) for digits.
///
/// # Example
/// Two nodes of two ranks exchange messages of 1 byte: a bundle of 3 bytes inside each node at most, one of 4 bytes from each node
/// to the other, where 8 messages would go, and one of 2 bytes inside.
/// ```
/// use tuwtree_collective::{Passing, alltoall};
/// use tuwtree_model::{Homogeneous, MessageSizes, Problem};
/// use tuwtree_schedule::{Sends, simulate};
/// let sizes = MessageSizes::new([1; 16]).unwrap();
/// let costs = Homogeneous::new(10.0, 1.0, 1.0).unwrap();
/// let problem = Problem::alltoall(&sizes, costs).unwrap();
/// let nodes = [vec![0, 1], vec![2, 3]];
/// let schedule = alltoall::in_bundles(&problem, (Passing::NodePairs, &nodes), 100).unwrap();
/// let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
/// assert_eq!(timeline.completion_time().units(), 13.0 + 14.0 + 12.0);
/// ```
pub fn in_bundles(
    problem: &Problem,
    (passing, nodes): (Passing, &[Vec<Rank>]),
    most: u64,
) -> Result<Schedule, CollectiveError> {
    if let Passing::Digits(radix) = passing {
        check_radix(radix)?;
    }
    let ranks = problem.ranks();
    let rounds = |rank| BundleRounds::new((rank, ranks), passing, nodes);
    bundled(problem, (most, Layout::InPlace), rounds)
}

/// The schedule of [`in_bundles`] for pairs of nodes with each message as one piece that lies anywhere: to be simulated, not
/// performed.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For nodes that do not have each rank once.
///
/// # Complexity
/// O(p^2).
pub fn sketch_of_node_pairs(
    problem: &Problem,
    nodes: &[Vec<Rank>],
    most: u64,
) -> Result<Schedule, CollectiveError> {
    let ranks = problem.ranks();
    let rounds = |rank| BundleRounds::new((rank, ranks), Passing::NodePairs, nodes);
    bundled(problem, (most, Layout::Anywhere), rounds)
}

/// The alltoall in which only the roots receive, or send, by a [`ColumnTrees`] of rows of as many ranks; messages of more than `most`
/// bytes go straight.
///
/// # Errors
/// [`CollectiveError`], also [`CollectiveError::Radix`].
///
/// # Panics
/// For roots as in [`rows_of_roots`], and if others have messages to pass on.
///
/// # Complexity
/// O(p k (log p + r)) for k roots and radices up to r.
pub fn column_trees(
    problem: &Problem,
    trees: ColumnTrees,
    roots: &[Rank],
    most: u64,
) -> Result<Schedule, CollectiveError> {
    [trees.row, trees.column].into_iter().try_for_each(check_radix)?;
    let ranks = problem.ranks();
    let rows = rows_of_roots(ranks, roots);
    let rounds = |rank| BundleRounds::of_column_trees((rank, ranks), trees, &rows, roots);
    bundled(problem, (most, Layout::InPlace), rounds)
}

/// The alltoall in these rounds of each rank.
fn bundled<'n>(
    problem: &Problem,
    (most, layout): (u64, Layout),
    rounds_of: impl Fn(Rank) -> BundleRounds<'n>,
) -> Result<Schedule, CollectiveError> {
    let sizes = exchanged(problem)?;
    let p = sizes.ranks();
    let is_passed = |from, to| sizes.message(from, to) <= most;
    let (mut programs, mut segments) = (Programs::new(), Vec::with_capacity(p));
    for rank in 0..p {
        let rounds = rounds_of(rank);
        let room = sizes.column(rank) + sizes.row(rank);
        let (mut used, mut passed_on) = (0, HashMap::new());
        let straight =
            |to: Rank| (to != rank && !is_passed(rank, to)).then(|| sent(sizes, rank, to));
        let push_straight = |programs: &mut Programs| -> Result<(), CollectiveError> {
            let others = (1..p).map(|distance| (rank + p - distance) % p);
            let mut straight = others.filter(|&from| !is_passed(from, rank));
            straight
                .try_for_each(|from| push_receive(programs, from, &[received(sizes, from, rank)]))
        };
        // Large messages leave before the last of several rounds, which does not wait for them.
        let last = rounds.count().saturating_sub(1);
        for round in 0..=last {
            for Bundle { peer, messages } in rounds.sent(round) {
                let mut data = MessageData::default();
                for (from, to) in messages.into_iter().filter(|&(from, to)| is_passed(from, to)) {
                    let offset = match passed_on.get(&(from, to)) {
                        _ if layout == Layout::Anywhere => data.end(),
                        Some(offset) => room + offset,
                        None => sizes.column(rank) + sent(sizes, rank, to).offset,
                    };
                    data.push(offset, sizes.message(from, to));
                }
                push_send(&mut programs, peer, (Buffer::Output, &data.into_pieces()))?;
            }
            if round + 1 == last.max(1) {
                for to in (1..p).map(|distance| (rank + distance) % p) {
                    let pieces: Vec<Piece> = straight(to).into_iter().collect();
                    push_send(&mut programs, to, (Buffer::Input, &pieces))?;
                }
            }
            if round == last && last > 0 {
                push_straight(&mut programs)?;
            }
            for Bundle { peer, messages } in rounds.received(round) {
                let mut data = MessageData::default();
                for (from, to) in messages.into_iter().filter(|&(from, to)| is_passed(from, to)) {
                    let bytes = sizes.message(from, to);
                    let offset = match layout {
                        Layout::Anywhere => data.end(),
                        Layout::InPlace if to == rank => sizes.place(from, to),
                        Layout::InPlace => {
                            passed_on.insert((from, to), used);
                            room + used
                        }
                    };
                    data.push(offset, bytes);
                    used += if to == rank { 0 } else { bytes };
                }
                push_receive(&mut programs, peer, &data.into_pieces())?;
            }
        }
        if last == 0 {
            push_straight(&mut programs)?;
        }
        programs.end_rank();
        segments.push(used);
    }
    Ok(finished(problem, (Order::Ordered, 1), segments, programs)?.with_duplex(true))
}

/// Adds the send of these pieces, if there are any.
fn push_send(
    programs: &mut Programs,
    to: Rank,
    (buffer, pieces): (Buffer, &[Piece]),
) -> Result<(), CollectiveError> {
    if pieces.is_empty() {
        return Ok(());
    }
    let from = Region { buffer, pieces };
    Ok(programs.push(&Action { port: 0, deed: Deed::Send(Send { to, tag: 0, from }) })?)
}

/// Adds the receive of these pieces of the output, if there are any.
fn push_receive(
    programs: &mut Programs,
    from: Rank,
    pieces: &[Piece],
) -> Result<(), CollectiveError> {
    if pieces.is_empty() {
        return Ok(());
    }
    let into = Region { buffer: Buffer::Output, pieces };
    let receive = Receive { from, tag: 0, into, arrival: Arrival::Store };
    Ok(programs.push(&Action { port: 0, deed: Deed::Receive(receive) })?)
}

/// The alltoall of messages that go straight to their receivers in an order found for the problem's costs: at
/// each moment, of all pairs of a rank that sends nothing and one that receives nothing, with a message
/// between them, the pair begins in which somebody has most to do yet. Each rank has a duplex port, which sends
/// and receives each by itself.
///
/// Which order is best is an open shop problem: NP-hard, but the bound, what the busiest rank sends or
/// receives, is hardly missed. It is the best order of direct messages if it is met.
///
/// # Errors
/// [`CollectiveError`]; [`CollectiveError::Time`] where a time cannot be stated.
///
/// # Complexity
/// O(p^2 w), where `w` ranks wait when a message ends, at most O(p^3); O(p^4) at worst, where at all times ranks that
/// have equally much to do wait for the same one.
pub fn open_shop(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = exchanged(problem)?;
    let p = sizes.ranks();
    let (mut sends, mut receives) = (vec![Vec::new(); p], vec![Vec::new(); p]);
    for (from, to) in open_shop::order(problem, sizes)? {
        sends[from].push(to);
        receives[to].push(from);
    }
    on_a_duplex_port(problem, sizes, &sends, &receives)
}

/// Messages that go straight to their receivers: each rank sends to these, one after the other, and receives from
/// those likewise, at the same time; nothing where there is no data.
fn on_a_duplex_port(
    problem: &Problem,
    sizes: &MessageSizes,
    sends: &[Vec<Rank>],
    receives: &[Vec<Rank>],
) -> Result<Schedule, CollectiveError> {
    let p = sizes.ranks();
    let mut programs = Programs::new();
    for rank in 0..p {
        for &to in &sends[rank] {
            let piece = sent(sizes, rank, to);
            if piece.bytes > 0 {
                programs.push(&Action { port: 0, deed: Deed::Send(send_to(to, &piece)) })?;
            }
        }
        for &from in &receives[rank] {
            let piece = received(sizes, from, rank);
            if piece.bytes > 0 {
                let deed = Deed::Receive(receive_from(from, &piece));
                programs.push(&Action { port: 0, deed })?;
            }
        }
        programs.end_rank();
    }
    Ok(finished(problem, (Order::Ordered, 1), vec![0; p], programs)?.with_duplex(true))
}
