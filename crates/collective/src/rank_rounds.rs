//! What one rank does in an allgather or a reduce-scatter: each rank knows all sizes, and works it out by itself.
//!
//! Schedules have the messages of all ranks; programs that run need those of one, round after round, and
//! as little memory as a round takes. Whoever calls with the same sizes gets the other ends of the same messages.

use crate::circulant::skips;
use crate::pieces::{Phases, fill_pieces};
use crate::rounds::{Data, Meeting};
use tuwtree_model::{BlockSizes, Rank};
use tuwtree_schedule::Piece;

/// By which algorithm blocks go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Circulation {
    /// Block after block around the ring of all ranks ([`ring`](crate::ring)): allgathers only.
    Ring,
    /// Windows of blocks on a circulant graph ([`circulant`](crate::circulant())).
    Windows,
    /// Every block in so many pieces on that graph ([`circulant_in_pieces`](crate::circulant_in_pieces)); at least 1.
    Pieces(usize),
}

/// Which way data goes.
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
    /// What it sends: pieces of all blocks one after the other, none of them empty.
    pub sent: Vec<Piece>,
    /// Whom it receives from, if anything.
    pub from: Option<Rank>,
    /// Where that goes, or what it is combined with.
    pub received: Vec<Piece>,
    /// The last round whose message has to have come before it can send; none if it has all from the start.
    pub needs: Option<usize>,
}

/// The rounds of a rank.
#[derive(Clone, Debug)]
pub struct RankRounds {
    sizes: BlockSizes,
    rank: Rank,
    flow: Flow,
    kind: RoundsKind,
    /// Blocks are cut at multiples of so many bytes.
    element_bytes: u64,
}

#[derive(Clone, Debug)]
enum RoundsKind {
    Ring,
    Windows(Vec<usize>),
    Pieces(Phases),
}

impl RankRounds {
    /// The rounds of this rank for blocks of these sizes, which are cut between elements.
    ///
    /// # Panics
    /// For no pieces, elements of no bytes, a rank that there is not, and a ring of a reduce-scatter.
    ///
    /// # Complexity
    /// O(p log^2 p) for pieces, else O(log p); no more space than O(p log p).
    ///
    /// # Example
    /// ```
    /// use tuwtree_collective::{Circulation, Flow, RankRounds, RoundMessages};
    /// let sizes = tuwtree_model::BlockSizes::new([4, 0, 2]).unwrap();
    /// let rounds = RankRounds::new(sizes, 1, 1, Flow::Spread, Circulation::Ring);
    /// let mut messages = RoundMessages::default();
    /// rounds.fill(1, &mut messages);
    /// // Block 0 goes on to rank 2, and block 2 comes from rank 0.
    /// assert_eq!((messages.to, messages.from, messages.needs), (Some(2), Some(0), Some(0)));
    /// ```
    pub fn new(
        sizes: BlockSizes,
        element_bytes: u64,
        rank: Rank,
        flow: Flow,
        circulation: Circulation,
    ) -> RankRounds {
        let p = sizes.processors();
        assert!(rank < p, "rank {rank} of {p}");
        assert!(element_bytes > 0, "elements have bytes");
        let kind = match circulation {
            Circulation::Ring => {
                assert!(flow == Flow::Spread, "there is no ring that combines");
                RoundsKind::Ring
            }
            Circulation::Windows => RoundsKind::Windows(skips(p)),
            Circulation::Pieces(pieces) => RoundsKind::Pieces(Phases::new(p, pieces)),
        };
        RankRounds { sizes, rank, flow, kind, element_bytes }
    }

    /// Where the rank's own block lies among all.
    pub fn own_block(&self) -> Piece {
        Piece { offset: self.sizes.before(self.rank), bytes: self.sizes.block(self.rank) }
    }

    /// The bytes of all blocks.
    pub fn all_bytes(&self) -> u64 {
        self.sizes.total()
    }

    /// How many rounds there are.
    pub fn count(&self) -> usize {
        match &self.kind {
            RoundsKind::Ring => self.sizes.processors() - 1,
            RoundsKind::Windows(skips) => skips.len() - 1,
            RoundsKind::Pieces(phases) => phases.rounds(),
        }
    }

    /// Writes the messages of a round.
    ///
    /// # Complexity
    /// O(p) for pieces, else O(1).
    pub fn fill(&self, round: usize, messages: &mut RoundMessages) {
        let mut sent = Data::of(std::mem::take(&mut messages.sent));
        let mut received = Data::of(std::mem::take(&mut messages.received));
        let Meeting { to, from } = self.meeting(round);
        let [to, from] = [to, from].map(|peer| peer.expect("all meet in each round"));
        self.fill_message(round, (self.rank, to), &mut sent);
        self.fill_message(round, (from, self.rank), &mut received);
        messages.sent = sent.into_pieces();
        messages.received = received.into_pieces();
        messages.to = (!messages.sent.is_empty()).then_some(to);
        messages.from = (!messages.received.is_empty()).then_some(from);
        messages.needs = self.needs(round, to);
    }

    fn meeting(&self, round: usize) -> Meeting {
        let (p, rank) = (self.sizes.processors(), self.rank);
        let at = |to: usize, from: usize| Meeting { to: Some(to % p), from: Some(from % p) };
        match (&self.kind, self.flow) {
            (RoundsKind::Ring, _) => at(rank + 1, rank + p - 1),
            (RoundsKind::Windows(skips), Flow::Spread) => {
                at(rank + p - skips[round], rank + skips[round])
            }
            (RoundsKind::Windows(skips), Flow::Combined) => {
                let skip = skips[skips.len() - 2 - round];
                at(rank + skip, rank + p - skip)
            }
            (RoundsKind::Pieces(phases), Flow::Spread) => phases.meeting(round, rank),
            (RoundsKind::Pieces(phases), Flow::Combined) => phases.meeting_backwards(round, rank),
        }
    }

    /// What the first rank sends to the second.
    fn fill_message(&self, round: usize, (from, to): (Rank, Rank), data: &mut Data) {
        let (sizes, p) = (&self.sizes, self.sizes.processors());
        match (&self.kind, self.flow) {
            (RoundsKind::Ring, _) => data.push_window(sizes, (from + p - round) % p, 1),
            (RoundsKind::Windows(skips), Flow::Spread) => {
                data.push_window(sizes, from, skips[round + 1] - skips[round]);
            }
            (RoundsKind::Windows(skips), Flow::Combined) => {
                let index = skips.len() - 2 - round;
                data.push_window(sizes, to, skips[index + 1] - skips[index]);
            }
            (RoundsKind::Pieces(phases), Flow::Spread) => {
                fill_pieces(sizes, phases, self.element_bytes, round, (from, to), data);
            }
            (RoundsKind::Pieces(phases), Flow::Combined) => {
                let round = phases.backwards(round);
                fill_pieces(sizes, phases, self.element_bytes, round, (to, from), data);
            }
        }
    }

    /// The last round whose message is part of what is sent in this one.
    fn needs(&self, round: usize, to: Rank) -> Option<usize> {
        let before = round.checked_sub(1);
        match (&self.kind, self.flow) {
            (RoundsKind::Pieces(phases), Flow::Spread) => {
                let p = self.sizes.processors();
                let others = (0..p).filter(|&root| root != to && root != self.rank);
                let ages = others.filter_map(|root| {
                    let distance = (self.rank + p - root) % p;
                    let piece = phases.sent(round, distance)?;
                    let elements = self.sizes.block(root) / self.element_bytes;
                    let is_empty = elements < phases.pieces() && piece >= elements;
                    (!is_empty).then(|| phases.age(round, distance))
                });
                ages.min().and_then(|age| round.checked_sub(age))
            }
            _ => before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{circulant, circulant_in_pieces, reduce_scatter, ring};
    use tuwtree_model::{Homogeneous, Operation, Problem};
    use tuwtree_schedule::{Action, Schedule};

    fn sizes(p: usize) -> BlockSizes {
        BlockSizes::new((0..p as u64).map(|rank| (rank * rank * 7 + 3 * rank) % 11)).unwrap()
    }

    fn problem(operation: Operation, p: usize) -> Problem {
        Problem::new(operation, sizes(p), Homogeneous::new(1.0, 1.0, 0.0).unwrap()).unwrap()
    }

    /// Whether every rank's rounds are those of the schedule.
    fn are_of(schedule: &Schedule, flow: Flow, circulation: Circulation) {
        let p = schedule.processors();
        for rank in 0..p {
            let rounds = RankRounds::new(sizes(p), 1, rank, flow, circulation);
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
            let allgather = problem(Operation::Allgather, p);
            are_of(&ring(&allgather).unwrap(), Flow::Spread, Circulation::Ring);
            are_of(&circulant(&allgather).unwrap(), Flow::Spread, Circulation::Windows);
            let combined = problem(Operation::ReduceScatter, p);
            let windows = reduce_scatter::circulant(&combined).unwrap();
            are_of(&windows, Flow::Combined, Circulation::Windows);
            for pieces in [1, 2, 3, 7] {
                let spread = circulant_in_pieces(&allgather, pieces).unwrap();
                are_of(&spread, Flow::Spread, Circulation::Pieces(pieces));
                let back = reduce_scatter::circulant_in_pieces(&combined, pieces).unwrap();
                are_of(&back, Flow::Combined, Circulation::Pieces(pieces));
            }
        }
    }

    #[test]
    fn whatever_is_sent_has_come_by_the_round_that_is_said_to_be_needed() {
        for p in 2..36 {
            for pieces in [1, 2, 5, 11] {
                for rank in 0..p {
                    let circulation = Circulation::Pieces(pieces);
                    let all = RankRounds::new(sizes(p), 1, rank, Flow::Spread, circulation);
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
                        for byte in messages.received.iter().flat_map(|one| one.offset..one.end()) {
                            assert_eq!(came[byte as usize].replace(round), None, "comes once");
                        }
                    }
                    assert_eq!(came.iter().filter(|one| one.is_none()).count() as u64, own);
                }
            }
        }
    }
}
