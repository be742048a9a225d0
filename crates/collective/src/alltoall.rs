//! Alltoall: every rank has a message for every other, each of its own size.
//!
//! Direct messages, or Bruck's algorithm: messages travel together, digit by digit of their distance. The planner knows
//! all sizes; a rank of an MPI program knows its own only.

use crate::CollectiveError;
use crate::bundles::{Bundle, BundleRounds, ColumnTrees, Passing, rows_of_roots};
use crate::error::{check_radix, exchanged};
use crate::open_shop;
use crate::rounds::{
    Arrives, Meeting, MessageData, Outline, Rounds, copy, deed, finished, in_rounds_with_room,
    most_bytes_sent, outline_of_rounds, shifted_meeting, time_of_rounds,
};
use std::collections::HashMap;
use std::ops::Range;
use tuwtree_model::{CostModel, MessageSizes, Order, Problem, Rank, Time};
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

/// Figures of [`linear`], for machines whose nodes share no wires.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2), O(p) space.
pub fn linear_outline(problem: &Problem) -> Result<Outline, CollectiveError> {
    let sizes = exchanged(problem)?;
    let (p, costs) = (sizes.ranks(), problem.costs());
    if !costs.overlaps() {
        let meet = |round, rank| shifted_meeting(round + 1, rank, p);
        let bytes = |_, from, to| sizes.message(from, to);
        return outline_of_rounds(problem, Buffer::Input, meet, bytes);
    }
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
            let start = costs.sum(sending[from], latency)?.later(receiving[to]);
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
    Ok(Outline {
        time: sending.into_iter().chain(receiving).fold(Time::ZERO, Time::later),
        most_actions: actions.into_iter().max().unwrap_or(0),
        most_bytes_sent: most_bytes_sent(p, |from, to| sizes.message(from, to)),
    })
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

/// The alltoall by Bruck's algorithm with this radix `R`: a message has to go a distance `d = j - i`, and does
/// so digit by digit in base `R`. For each place `w = 1, R, R^2, ...` and digit `z = 1, ..., R - 1` every rank
/// sends all messages that it holds with this digit there to the rank `z w` further on.
///
/// Messages of `c` bytes each take, for radix 2, `ceil(lg p) alpha + N c beta`, where `N` is the number of ones
/// in the distances `1, ..., p - 1`, all written in binary. A larger radix makes more messages of less data.
///
/// # Errors
/// [`CollectiveError`], also [`CollectiveError::Radix`].
///
/// # Complexity
/// O(p^2 log p) for a fixed radix.
///
/// # Source
/// J. Bruck et al., IEEE TPDS 8(11), 1997; R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.3.
/// Radix, and any sizes: K. Fan et al., arXiv:2411.02581.
pub fn bruck(problem: &Problem, radix: usize) -> Result<Schedule, CollectiveError> {
    bruck_up_to(problem, radix, u64::MAX)
}

/// The alltoall by [`bruck`]'s algorithm of the messages of at most `bytes`; larger ones then go direct, in the rounds
/// of [`pairwise`] for any `p`: they pass through no other rank.
///
/// # Errors
/// [`CollectiveError`], also [`CollectiveError::Radix`].
///
/// # Complexity
/// O(p^2 log p) for a fixed radix.
///
/// # Source
/// K. Fan et al., arXiv:2411.02581.
///
/// # Example
/// Among 4 ranks, radix 2: 2 rounds with 2 messages of 1 byte each; one message of 100 bytes takes one more round.
/// ```
/// use tuwtree_collective::alltoall;
/// use tuwtree_model::{Homogeneous, MessageSizes, Problem};
/// use tuwtree_schedule::{Sends, simulate};
/// let sizes = MessageSizes::new((0..16).map(|at| if at == 3 { 100 } else { 1 })).unwrap();
/// let costs = Homogeneous::new(10.0, 1.0, 1.0).unwrap();
/// let problem = Problem::alltoall(&sizes, costs).unwrap();
/// let time = |most| {
///     let schedule = alltoall::bruck_up_to(&problem, 2, most).unwrap();
///     simulate(&schedule, &costs, Sends::Synchronous).unwrap().completion_time().units()
/// };
/// assert_eq!((time(1), time(100)), (12.0 + 12.0 + 110.0, 2.0 * 111.0));
/// ```
pub fn bruck_up_to(
    problem: &Problem,
    radix: usize,
    most: u64,
) -> Result<Schedule, CollectiveError> {
    let rounds = BruckRounds::new(problem, radix, most)?;
    let BruckRounds { sizes, hops, .. } = &rounds;
    let together = |from, to| rounds.together(from, to);
    let (rooms, used) = rooms(sizes.ranks(), hops, together);
    let routes = Routes { sizes, hops, rooms: &rooms, radix, together: &together };
    rounds.schedule(problem, used, |round, holder, (from, to), data| {
        if round < hops.len() {
            return routes.fill(round, holder, from, data);
        }
        let distance = rounds.length(round);
        let come = if holder == from { 0 } else { distance };
        data.push(routes.place(holder, distance, come), rounds.straight(from, to));
    })
}

/// The bytes of all messages of [`bruck_up_to`], from which its time is known without the schedule.
pub struct BruckSketch<'a> {
    problem: &'a Problem,
    rounds: BruckRounds<'a>,
    /// Bytes that each rank sends in each round of messages that go together.
    sent: Vec<Vec<u64>>,
}

impl BruckSketch<'_> {
    /// The sketch for a radix, and messages of at most `most` bytes together.
    ///
    /// # Errors
    /// [`CollectiveError`], also [`CollectiveError::Radix`].
    ///
    /// # Complexity
    /// O(p^2 log p) for a fixed radix; O(p) space for each round.
    pub fn new(
        problem: &Problem,
        radix: usize,
        most: u64,
    ) -> Result<BruckSketch<'_>, CollectiveError> {
        let rounds = BruckRounds::new(problem, radix, most)?;
        let p = rounds.sizes.ranks();
        // Rank `r` may be `r + p`.
        let mut sent = vec![vec![0; 2 * p]; rounds.hops.len()];
        let mut row = vec![0; p];
        for from in 0..p {
            for (distance, bytes) in row.iter_mut().enumerate() {
                *bytes = rounds.together(from, (from + distance) % p);
            }
            for (hop, sent) in rounds.hops.iter().zip(&mut sent) {
                for stretch in hop.stretches(p) {
                    // Before, a message has come as far as its place in the stretch is.
                    for (sent, bytes) in sent[from..].iter_mut().zip(&row[stretch]) {
                        *sent += bytes;
                    }
                }
            }
        }
        for sent in &mut sent {
            let beyond = sent.split_off(p);
            sent.iter_mut().zip(beyond).for_each(|(sent, beyond)| *sent += beyond);
        }
        Ok(BruckSketch { problem, rounds, sent })
    }

    /// Bytes of a message.
    fn bytes(&self, round: usize, (from, to): (Rank, Rank)) -> u64 {
        self.sent.get(round).map_or_else(|| self.rounds.straight(from, to), |sent| sent[from])
    }

    /// Lower bound on the completion time: exact where nodes share no wires, but 0 on duplex ports if some messages are empty or
    /// go straight, as lone sends do not wait there.
    ///
    /// # Errors
    /// [`CollectiveError::Time`].
    ///
    /// # Complexity
    /// O(p) for each round.
    pub fn least_time(&self) -> Result<Time, CollectiveError> {
        let (p, rounds) = (self.problem.ranks(), &self.rounds);
        let is_any_empty = self.sent.iter().flatten().any(|&bytes| bytes == 0);
        if self.problem.duplex() && (is_any_empty || rounds.count() > self.sent.len()) {
            return Ok(Time::ZERO);
        }
        let meet = |round, rank| shifted_meeting(rounds.length(round), rank, p);
        let to = |round, from| (from + rounds.length(round)) % p;
        time_of_rounds(self.problem, (rounds.count(), Buffer::Output), meet, |round, from| {
            self.bytes(round, (from, to(round, from)))
        })
    }

    /// The schedule with each message as one piece that lies anywhere: to be simulated, not performed.
    ///
    /// # Errors
    /// [`CollectiveError`].
    ///
    /// # Complexity
    /// O(p) for each round.
    pub fn schedule(&self) -> Result<Schedule, CollectiveError> {
        let longest = self.sent.iter().flatten().max().copied().unwrap_or(0);
        let segments = vec![longest; self.problem.ranks()];
        self.rounds.schedule(self.problem, segments, |round, _, ends, data| {
            data.push(0, self.bytes(round, ends));
        })
    }
}

/// Rounds of Bruck's algorithm, followed by rounds of straight messages.
struct BruckRounds<'a> {
    sizes: &'a MessageSizes,
    hops: Vec<Hop>,
    /// Larger messages go straight.
    most: u64,
}

impl BruckRounds<'_> {
    fn new(problem: &Problem, radix: usize, most: u64) -> Result<BruckRounds<'_>, CollectiveError> {
        let sizes = exchanged(problem)?;
        check_radix(radix)?;
        Ok(BruckRounds { sizes, hops: hops(sizes.ranks(), radix), most })
    }

    /// Bytes that the first rank sends to the second one by way of other ranks.
    fn together(&self, from: Rank, to: Rank) -> u64 {
        Some(self.sizes.message(from, to)).filter(|&bytes| bytes <= self.most).unwrap_or(0)
    }

    /// Bytes that the first rank sends straight to the second one.
    fn straight(&self, from: Rank, to: Rank) -> u64 {
        self.sizes.message(from, to) - self.together(from, to)
    }

    /// Number of rounds.
    fn count(&self) -> usize {
        let p = self.sizes.ranks();
        let is_straight = |from, to| from != to && self.straight(from, to) > 0;
        let is_any_straight = (0..p).any(|from| (0..p).any(|to| is_straight(from, to)));
        self.hops.len() + if is_any_straight { p - 1 } else { 0 }
    }

    /// Distance of the messages of a round: behind the last hop, their whole distance.
    fn length(&self, round: usize) -> usize {
        self.hops.get(round).map_or_else(|| round + 1 - self.hops.len(), |hop| hop.length())
    }

    /// The schedule with segments of these sizes and messages as `fill` says.
    fn schedule(
        &self,
        problem: &Problem,
        segments: Vec<u64>,
        fill: impl Fn(usize, Rank, (Rank, Rank), &mut MessageData),
    ) -> Result<Schedule, CollectiveError> {
        let p = self.sizes.ranks();
        let rounds = Rounds {
            count: self.count(),
            arrives: |_| Arrives::Stored,
            source: Buffer::Output,
            order: Order::Ordered,
        };
        let meet = |round: usize, rank| shifted_meeting(self.length(round), rank, p);
        in_rounds_with_room(problem, &rounds, segments, meet, fill)
    }
}

/// The alltoall of [`bruck`] with radix 2 and messages of one piece each: a rank copies the data of a round into a
/// segment first; received data comes to another part of the segment, and is copied to its places from there.
///
/// Messages of `c` bytes each take `ceil(lg p) alpha + N c (beta + 2 gamma)`, where `N` is the number of ones in the
/// distances `1, ..., p - 1`, all written in binary.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2 log p).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.3. Differs: messages are copied from and to their
/// places in each round, so that nothing is rotated in the beginning and at the end.
pub fn bruck_contiguous(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = exchanged(problem)?;
    let (p, radix) = (sizes.ranks(), 2);
    let hops = hops(p, radix);
    let together = |from, to| sizes.message(from, to);
    let (rooms, used) = rooms(p, &hops, together);
    let routes = Routes { sizes, hops: &hops, rooms: &rooms, radix, together: &together };
    let moved = |round: usize, holder: Rank, from: Rank| {
        let mut data = MessageData::default();
        routes.fill(round, holder, from, &mut data);
        let pieces = data.into_pieces();
        let bytes: u64 = pieces.iter().map(|piece| piece.bytes).sum();
        (pieces, bytes)
    };
    let mut programs = Programs::new();
    let mut segments = Vec::with_capacity(p);
    for (rank, &room) in used.iter().enumerate() {
        let rounds: Vec<_> = (0..hops.len())
            .map(|round| {
                let length = hops[round].length();
                let (to, from) = ((rank + length) % p, (rank + p - length) % p);
                ((to, moved(round, rank, rank)), (from, moved(round, rank, from)))
            })
            .collect();
        let longest = rounds.iter().map(|((_, (_, sent)), _)| *sent).max().unwrap_or(0);
        let received = rounds.iter().map(|(_, (_, (_, received)))| *received).max().unwrap_or(0);
        segments.push(room.max(longest + received));
        for ((to, (sent, sent_bytes)), (from, (received, received_bytes))) in &rounds {
            let packed = [Piece { offset: 0, bytes: *sent_bytes }];
            let came = [Piece { offset: longest, bytes: *received_bytes }];
            if *sent_bytes > 0 {
                programs.push(&copy((Buffer::Output, sent), (Buffer::Segment, &packed)))?;
            }
            let [there, here] =
                [&packed, &came].map(|pieces| Region { buffer: Buffer::Segment, pieces });
            let send = (*sent_bytes > 0).then_some(Send { to: *to, tag: 0, from: there });
            let arrival = Arrival::Store;
            let receive = Receive { from: *from, tag: 0, into: here, arrival };
            let receive = (*received_bytes > 0).then_some(receive);
            if let Some(deed) = deed(send, receive) {
                programs.push(&Action { port: 0, deed })?;
            }
            if *received_bytes > 0 {
                programs.push(&copy((Buffer::Segment, &came), (Buffer::Output, received)))?;
            }
        }
        programs.end_rank();
    }
    finished(problem, (Order::Ordered, problem.ports().get()), segments, programs)
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

/// Positions of the data of messages in bundles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Those of the operation.
    InPlace,
    /// One piece for each bundle.
    Anywhere,
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

/// Positions of the messages of Bruck's algorithm on their way.
struct Routes<'a> {
    sizes: &'a MessageSizes,
    hops: &'a [Hop],
    /// Offsets by [`rooms`].
    rooms: &'a [Vec<u64>],
    radix: usize,
    /// Bytes that the first rank sends to the second one by way of other ranks.
    together: &'a dyn Fn(Rank, Rank) -> u64,
}

impl Routes<'_> {
    /// Position in a rank's output of a message for this distance that has come this far.
    fn place(&self, rank: Rank, distance: usize, come: usize) -> u64 {
        let Routes { sizes, rooms, radix, .. } = *self;
        let p = sizes.ranks();
        match come {
            0 => sizes.column(rank) + sent(sizes, rank, (rank + distance) % p).offset,
            _ if come == distance => sizes.place((rank + p - come) % p, rank),
            _ => {
                let room = &rooms[come.ilog(radix) as usize];
                sizes.column(rank) + sizes.row(rank) + room[rank * p + distance]
            }
        }
    }

    /// Adds what the rank `from` sends in a round, where it lies at the holder, who is one of both ends.
    fn fill(&self, round: usize, holder: Rank, from: Rank, data: &mut MessageData) {
        let (p, hop) = (self.sizes.ranks(), self.hops[round]);
        for distance in hop.distances(p) {
            let gone = hop.gone(distance);
            let source = (from + p - gone) % p;
            let come = if holder == from { gone } else { gone + hop.length() };
            let bytes = (self.together)(source, (source + distance) % p);
            data.push(self.place(holder, distance, come), bytes);
        }
    }
}

/// A round of Bruck's algorithm: messages with this digit at this place.
#[derive(Clone, Copy, Debug)]
struct Hop {
    /// A power of the radix.
    place: usize,
    digit: usize,
    radix: usize,
}

/// All rounds for `p` ranks.
fn hops(p: usize, radix: usize) -> Vec<Hop> {
    let places = std::iter::successors(Some(1_usize), |place| place.checked_mul(radix));
    places
        .take_while(|&place| place < p)
        .flat_map(|place| (1..radix).map(move |digit| Hop { place, digit, radix }))
        .filter(|hop| hop.length() < p)
        .collect()
}

impl Hop {
    fn length(self) -> usize {
        self.place * self.digit
    }

    /// The distances of the messages that go, in growing order.
    fn distances(self, p: usize) -> impl Iterator<Item = usize> {
        self.stretches(p).flatten()
    }

    /// These distances in stretches of consecutive ones.
    fn stretches(self, p: usize) -> impl Iterator<Item = Range<usize>> {
        let firsts = (self.length()..p).step_by(self.place.saturating_mul(self.radix));
        firsts.map(move |first| first..p.min(first + self.place))
    }

    /// Distance that a message for this distance has come before.
    fn gone(self, distance: usize) -> usize {
        distance % self.place
    }
}

/// Offset in each rank's buffer of the message of each distance that it passes on, for each place of digits at which
/// such a message has come last; and the buffer's size at each rank.
fn rooms(p: usize, hops: &[Hop], message: impl Fn(Rank, Rank) -> u64) -> (Vec<Vec<u64>>, Vec<u64>) {
    let (mut rooms, mut used) = (Vec::new(), vec![0; p]);
    for hop in hops {
        if hop.digit == 1 {
            rooms.push(vec![0; p * p]);
        }
        let room = rooms.last_mut().expect("digit 1 comes first");
        for (rank, used) in used.iter_mut().enumerate() {
            for distance in hop.distances(p) {
                let come = hop.gone(distance) + hop.length();
                if come < distance {
                    let from = (rank + p - come) % p;
                    room[rank * p + distance] = *used;
                    *used += message(from, (from + distance) % p);
                }
            }
        }
    }
    (rooms, used)
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
