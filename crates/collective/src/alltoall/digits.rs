//! Alltoalls digit by digit of distances: Bruck's algorithm in any radix.

use super::sent;
use crate::CollectiveError;
use crate::error::{check_radix, exchanged};
use crate::rounds::{
    Arrives, MessageData, Rounds, copy, deed, finished, in_rounds_with_room, shifted_meeting,
    time_of_rounds,
};
use std::ops::Range;
use tuwtree_model::{MessageSizes, Order, Problem, Rank, Time};
use tuwtree_schedule::{Action, Arrival, Buffer, Piece, Programs, Receive, Region, Schedule, Send};

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
/// of [`pairwise`](super::pairwise) for any `p`: they pass through no other rank.
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
