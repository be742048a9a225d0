//! Rounds of one rank in an allgather or a reduce-scatter: each rank knows all sizes, and computes them by itself.
//!
//! Schedules have the messages of all ranks; running programs need one rank's, round after round, in the memory of one
//! round. Callers with equal sizes get the two ends of each message.

use crate::bruck::postal_windows;
use crate::circle::Circle;
use crate::circulant::skips;
use crate::pieces::{Phases, fill_pieces};
use crate::rounds::{Meeting, MessageData};
use tuwtree_model::{BlockSizes, Rank};
use tuwtree_schedule::Piece;

/// Algorithm by which blocks travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Circulation {
    /// Block after block around the ring of all ranks ([`ring`](crate::ring)): allgathers only.
    Ring,
    /// Windows of blocks on a circulant graph ([`circulant`](crate::circulant())).
    Windows,
    /// Bruck's windows of blocks ([`bruck`](crate::bruck())) where sent data has come this many steps later, at least
    /// 1, and messages of as many steps are under way at once: windows grow by a generalised Fibonacci sequence, and
    /// double if it is 1. Allgathers only.
    ///
    /// In step `t` rank `i` has blocks `i`, ..., `i + A_t - 1`, or they are on their way to it, and sends the first
    /// `w_t = min(A_(t - delay + 1), p - A_t)` of them to `i - A_t`; `A_0 = 1`, `A_(t+1) = A_t + w_t`. Where blocks are tiny,
    /// a message occupies ports for `o`, and is under way for `lambda` more, at most `(delay - 1) o`, its `T` steps take
    /// `T o + lambda`.
    ///
    /// # Source
    /// A. Bar-Noy, S. Kipnis, Mathematical Systems Theory 27, 1994 (the postal model); J. Bruck, C.-T. Ho, S. Kipnis,
    /// E. Upfal, D. Weathersby, IEEE TPDS 8(11), 1997 (the windows).
    Postal(usize),
    /// Every block in this many pieces on that graph ([`circulant_in_pieces`](crate::circulant_in_pieces)); at least 1.
    Pieces(usize),
    /// [`Postal`](Circulation::Postal) with ranks in an order in which large blocks are far apart
    /// ([`bruck_balanced`](crate::bruck_balanced())). Allgathers only.
    BalancedPostal(usize),
    /// [`Pieces`](Circulation::Pieces) with ranks in that order ([`circulant_balanced`](crate::circulant_balanced())).
    BalancedPieces(usize),
}

/// Direction of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// An allgather: blocks spread.
    Spread,
    /// A reduce-scatter: partial results of blocks are combined. The rounds of the allgather backwards.
    Combined,
}

/// The messages of a rank in one round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoundMessages {
    /// Whom it sends to, if anything.
    pub to: Option<Rank>,
    /// The sent pieces of all blocks one after the other, none of them empty.
    pub sent: Vec<Piece>,
    /// Whom it receives from, if anything.
    pub from: Option<Rank>,
    /// Destination of the received pieces, or operands that they are combined with.
    pub received: Vec<Piece>,
    /// The last round whose message has to have come before it can send; none if it has all from the start.
    pub needs: Option<usize>,
}

/// The rounds of a rank.
#[derive(Clone, Debug)]
pub struct RankRounds {
    circle: Circle<'static>,
    /// Place of the rank on the circle.
    place: usize,
    flow: Flow,
    kind: RoundsKind,
    /// Blocks are cut at multiples of this many bytes.
    element_bytes: u64,
}

/// Rounds of all ranks.
#[derive(Clone, Debug)]
pub(crate) enum RoundsKind {
    Ring,
    /// Number of blocks that a rank has, or that are on their way to it, before each round of an allgather, and after
    /// the last: the distance of its messages.
    Windows(Vec<usize>),
    Pieces(Phases),
}

impl Circulation {
    /// The order in which ranks with these blocks stand around the circle in rounds of this kind.
    pub(crate) fn circle<'a>(self, sizes: &'a BlockSizes, kind: &RoundsKind) -> Circle<'a> {
        match (self, kind) {
            (Circulation::BalancedPieces(_), RoundsKind::Pieces(phases)) => phases.balanced(sizes),
            (Circulation::BalancedPostal(_), _) => Circle::balanced(sizes, |index| index),
            _ => Circle::in_rank_order(sizes),
        }
    }
}

impl RoundsKind {
    /// # Panics
    /// For no pieces, no delay, and algorithms for allgathers only where data is combined.
    pub(crate) fn new(ranks: usize, flow: Flow, circulation: Circulation) -> RoundsKind {
        let spreads = flow == Flow::Spread;
        match circulation {
            Circulation::Ring => {
                assert!(spreads, "there is no ring that combines");
                RoundsKind::Ring
            }
            Circulation::Windows => RoundsKind::Windows(skips(ranks)),
            Circulation::Postal(delay) | Circulation::BalancedPostal(delay) => {
                assert!(spreads, "no windows of the postal model combine");
                RoundsKind::Windows(postal_windows(ranks, delay))
            }
            Circulation::Pieces(pieces) | Circulation::BalancedPieces(pieces) => {
                RoundsKind::Pieces(Phases::new(ranks, pieces))
            }
        }
    }

    /// Number of rounds.
    pub(crate) fn count(&self, ranks: usize) -> usize {
        match self {
            RoundsKind::Ring => ranks - 1,
            RoundsKind::Windows(skips) => skips.len() - 1,
            RoundsKind::Pieces(phases) => phases.rounds(),
        }
    }

    /// Places that one place among these meets in a round of an allgather.
    pub(crate) fn meeting(&self, ranks: usize, round: usize, place: usize) -> Meeting {
        let p = ranks;
        let at = |to: usize, from: usize| Meeting { to: Some(to % p), from: Some(from % p) };
        match self {
            RoundsKind::Ring => at(place + 1, place + p - 1),
            RoundsKind::Windows(skips) => at(place + p - skips[round], place + skips[round]),
            RoundsKind::Pieces(phases) => phases.meeting(round, place),
        }
    }
}

/// The last round of an allgather with data for the window that a place sends in this one, along these skips.
///
/// # Complexity
/// O(rounds).
pub(crate) fn needed_window(
    sizes: &BlockSizes,
    skips: &[usize],
    round: usize,
    place: usize,
) -> Option<usize> {
    let (p, count) = (sizes.ranks(), skips[round + 1] - skips[round]);
    (0..round).rev().find(|&earlier| {
        let (start, end) = (skips[earlier], skips[earlier + 1].min(count));
        start < end && sizes.window((place + start) % p, end - start) > 0
    })
}

impl RankRounds {
    /// The rounds of this rank for blocks of these sizes, which are cut between elements.
    ///
    /// # Panics
    /// For no pieces, no delay, elements of no bytes, a rank out of range, and a reduce-scatter by an algorithm for
    /// allgathers only.
    ///
    /// # Complexity
    /// O(p log^2 p) for pieces, O(p log p) for a balanced order, else O(rounds); no more space than O(p log p).
    ///
    /// # Example
    /// ```
    /// use tuwtree_collective::{Circulation, Flow, RankRounds, RoundMessages};
    /// let sizes = tuwtree_model::BlockSizes::new([4, 0, 2]).unwrap();
    /// let rounds = RankRounds::new(&sizes, 1, 1, Flow::Spread, Circulation::Ring);
    /// let mut messages = RoundMessages::default();
    /// rounds.fill(1, &mut messages);
    /// // Block 0 goes on to rank 2, and block 2 comes from rank 0.
    /// assert_eq!((messages.to, messages.from, messages.needs), (Some(2), Some(0), Some(0)));
    /// ```
    pub fn new(
        sizes: &BlockSizes,
        element_bytes: u64,
        rank: Rank,
        flow: Flow,
        circulation: Circulation,
    ) -> RankRounds {
        let p = sizes.ranks();
        assert!(rank < p, "rank {rank} of {p}");
        assert!(element_bytes > 0, "elements have bytes");
        let kind = RoundsKind::new(p, flow, circulation);
        let circle = circulation.circle(sizes, &kind).into_owned();
        RankRounds { place: circle.place(rank), circle, flow, kind, element_bytes }
    }

    /// Direction of data.
    pub fn flow(&self) -> Flow {
        self.flow
    }

    /// Position of the rank's own block among all.
    pub fn own_block(&self) -> Piece {
        Piece { offset: self.circle.start(self.place), bytes: self.sizes().block(self.place) }
    }

    /// The bytes of all blocks.
    pub fn all_bytes(&self) -> u64 {
        self.sizes().total()
    }

    /// The blocks by place.
    fn sizes(&self) -> &BlockSizes {
        self.circle.sizes()
    }

    /// Number of rounds.
    pub fn count(&self) -> usize {
        self.kind.count(self.sizes().ranks())
    }

    /// Writes the messages of a round.
    ///
    /// # Complexity
    /// O(p) for pieces and in a balanced order, else O(rounds).
    pub fn fill(&self, round: usize, messages: &mut RoundMessages) {
        let mut sent = MessageData::of(std::mem::take(&mut messages.sent));
        let mut received = MessageData::of(std::mem::take(&mut messages.received));
        let Meeting { to, from } = self.meeting(round);
        let [to, from] = [to, from].map(|peer| peer.expect("all meet in each round"));
        self.fill_message(round, (self.place, to), &mut sent);
        self.fill_message(round, (from, self.place), &mut received);
        messages.sent = sent.into_pieces();
        messages.received = received.into_pieces();
        messages.to = (!messages.sent.is_empty()).then(|| self.circle.rank(to));
        messages.from = (!messages.received.is_empty()).then(|| self.circle.rank(from));
        messages.needs = self.needs(round, to);
    }

    /// Places that it meets.
    fn meeting(&self, round: usize) -> Meeting {
        let (p, place) = (self.sizes().ranks(), self.place);
        match (&self.kind, self.flow) {
            (RoundsKind::Windows(skips), Flow::Combined) => {
                let skip = skips[skips.len() - 2 - round];
                Meeting { to: Some((place + skip) % p), from: Some((place + p - skip) % p) }
            }
            (RoundsKind::Pieces(phases), Flow::Combined) => phases.meeting_backwards(round, place),
            (kind, _) => kind.meeting(p, round, place),
        }
    }

    /// Message of the rank in the first place to the rank in the second.
    fn fill_message(&self, round: usize, (from, to): (usize, usize), data: &mut MessageData) {
        let (circle, p) = (&self.circle, self.sizes().ranks());
        match (&self.kind, self.flow) {
            (RoundsKind::Ring, _) => circle.push_window((from + p - round) % p, 1, data),
            (RoundsKind::Windows(skips), Flow::Spread) => {
                circle.push_window(from, skips[round + 1] - skips[round], data);
            }
            (RoundsKind::Windows(skips), Flow::Combined) => {
                let index = skips.len() - 2 - round;
                circle.push_window(to, skips[index + 1] - skips[index], data);
            }
            (RoundsKind::Pieces(phases), Flow::Spread) => {
                fill_pieces(circle, phases, self.element_bytes, round, (from, to), data);
            }
            (RoundsKind::Pieces(phases), Flow::Combined) => {
                let round = phases.backwards(round);
                fill_pieces(circle, phases, self.element_bytes, round, (to, from), data);
            }
        }
    }

    /// The last round whose message is part of this round's.
    fn needs(&self, round: usize, to: usize) -> Option<usize> {
        match (&self.kind, self.flow) {
            (RoundsKind::Pieces(phases), Flow::Spread) => {
                let p = self.sizes().ranks();
                let others = (0..p).filter(|&root| root != to && root != self.place);
                let ages = others.filter_map(|root| {
                    let distance = (self.place + p - root) % p;
                    let piece = phases.sent(round, distance)?;
                    let elements = self.sizes().block(root) / self.element_bytes;
                    let is_empty = elements < phases.pieces() && piece >= elements;
                    (!is_empty).then(|| phases.age(round, distance))
                });
                ages.min().and_then(|age| round.checked_sub(age))
            }
            (RoundsKind::Windows(skips), Flow::Spread) => {
                needed_window(self.sizes(), skips, round, self.place)
            }
            _ => round.checked_sub(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bruck, circulant, circulant_balanced, circulant_in_pieces, reduce_scatter, ring};
    use tuwtree_model::{Homogeneous, Problem};
    use tuwtree_schedule::{Action, Schedule};

    fn sizes(p: usize) -> BlockSizes {
        BlockSizes::new((0..p as u64).map(|rank| (rank * rank * 7 + 3 * rank) % 11)).unwrap()
    }

    fn costs() -> Homogeneous {
        Homogeneous::new(1.0, 1.0, 0.0).unwrap()
    }

    /// Whether every rank's rounds are those of the schedule.
    fn are_of(schedule: &Schedule, flow: Flow, circulation: Circulation) {
        let p = schedule.ranks();
        for rank in 0..p {
            let rounds = RankRounds::new(&sizes(p), 1, rank, flow, circulation);
            let mut messages = RoundMessages::default();
            let mut actions = schedule.programs().actions(rank);
            for round in 0..rounds.count() {
                rounds.fill(round, &mut messages);
                let RoundMessages { to, from, .. } = messages;
                if to.is_none() && from.is_none() {
                    continue;
                }
                let action: Action<'_> = actions.next().expect("as many rounds");
                let sent = action.send().map(|send| send.from.pieces).unwrap_or_default();
                let received = action.receive().map(|one| one.into.pieces).unwrap_or_default();
                assert_eq!(
                    (messages.sent.as_slice(), messages.received.as_slice()),
                    (sent, received)
                );
                assert_eq!(to, action.send().map(|send| send.to));
                assert_eq!(from, action.receive().map(|one| one.from));
            }
            assert!(actions.next().is_none(), "rank {rank} of {p}");
        }
    }

    #[test]
    fn a_ranks_rounds_are_its_program_in_the_schedule_of_all() {
        for p in 1..20 {
            let allgather = Problem::allgather(&sizes(p), costs()).unwrap();
            are_of(&ring(&allgather).unwrap(), Flow::Spread, Circulation::Ring);
            are_of(&circulant(&allgather).unwrap(), Flow::Spread, Circulation::Windows);
            let combined = Problem::reduce_scatter(&sizes(p), costs()).unwrap();
            let windows = reduce_scatter::circulant(&combined).unwrap();
            are_of(&windows, Flow::Combined, Circulation::Windows);
            for pieces in [1, 2, 3, 7] {
                let spread = circulant_in_pieces(&allgather, pieces).unwrap();
                are_of(&spread, Flow::Spread, Circulation::Pieces(pieces));
                let back = reduce_scatter::circulant_in_pieces(&combined, pieces).unwrap();
                are_of(&back, Flow::Combined, Circulation::Pieces(pieces));
                let spread = circulant_balanced(&allgather, pieces).unwrap();
                are_of(&spread, Flow::Spread, Circulation::BalancedPieces(pieces));
                let back = reduce_scatter::circulant_balanced(&combined, pieces).unwrap();
                are_of(&back, Flow::Combined, Circulation::BalancedPieces(pieces));
            }
        }
    }

    #[test]
    fn whatever_is_sent_has_come_by_the_round_that_is_said_to_be_needed() {
        let all = [1, 2, 5, 11].map(Circulation::Pieces).into_iter();
        let all =
            all.chain([Circulation::Windows]).chain([1, 2, 3, 6, 40].map(Circulation::Postal));
        let all = all.chain([1, 4].map(Circulation::BalancedPieces));
        let all = all.chain([1, 3].map(Circulation::BalancedPostal));
        for circulation in all {
            for p in 2..36 {
                for rank in 0..p {
                    let all = RankRounds::new(&sizes(p), 1, rank, Flow::Spread, circulation);
                    let (start, own) = (sizes(p).before(rank), sizes(p).block(rank));
                    // For each byte the round in which it came.
                    let mut came: Vec<Option<usize>> = vec![None; sizes(p).total() as usize];
                    let mut messages = RoundMessages::default();
                    for round in 0..all.count() {
                        all.fill(round, &mut messages);
                        let bytes = messages.sent.iter().flat_map(|one| one.offset..one.end());
                        let others = bytes.filter(|byte| !(start..start + own).contains(byte));
                        let last = others.map(|byte| came[byte as usize].expect("it came")).max();
                        assert_eq!(messages.needs.filter(|_| messages.to.is_some()), last);
                        if let Circulation::Postal(delay) | Circulation::BalancedPostal(delay) =
                            circulation
                            && let Some(last) = last
                        {
                            assert!(last + delay <= round, "{last} and {delay} after {round}");
                        }
                        for byte in messages.received.iter().flat_map(|one| one.offset..one.end()) {
                            assert_eq!(came[byte as usize].replace(round), None, "comes once");
                        }
                    }
                    assert_eq!(came.iter().filter(|one| one.is_none()).count() as u64, own);
                }
            }
        }
    }
    #[test]
    fn windows_with_a_delay_of_one_are_bruck_s_and_with_more_those_of_the_postal_model() {
        for p in 1..70 {
            let allgather = Problem::allgather(&sizes(p), costs()).unwrap();
            are_of(&bruck(&allgather).unwrap(), Flow::Spread, Circulation::Postal(1));
        }
        assert_eq!(postal_windows(32, 2), [1, 2, 3, 5, 8, 13, 21, 32]);
        assert_eq!(postal_windows(32, 6), [1, 2, 3, 4, 5, 6, 7, 9, 12, 16, 21, 27, 32]);
        assert_eq!(postal_windows(4, usize::MAX), [1, 2, 3, 4]);
        assert_eq!(postal_windows(1, 3), [1]);
    }
}
