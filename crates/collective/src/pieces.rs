//! Simultaneous broadcasts from all ranks, in pieces.
//!
//! On a circulant graph a broadcast of `n` pieces takes `n - 1 + q` rounds, `q = ceil(lg p)`, and no schedule of such
//! pieces takes fewer. A table tells which piece a rank receives in a round, by its distance from the root. In an
//! allgather all ranks are roots of simultaneous broadcasts, and one rank sends another a single message in a round.

use crate::CollectiveError;
use crate::circle::Circle;
use crate::circulant::skips;
use crate::error::allgathered;
use crate::rounds::{Meeting, MessageData, gathering, time_of_rounds};
use tuwtree_model::{BlockSizes, Homogeneous, Operator, Problem, Rank, Time};
use tuwtree_schedule::{Buffer, Schedule};

/// Pieces that every rank sends and receives in each of the `q` rounds of a phase, by its distance from the root.
///
/// Pieces are counted from that of the phase; a negative number is a piece of the phase before.
///
/// # Source
/// J. L. Träff, arXiv:2312.11236 (the algorithm); arXiv:2205.10072 (what its tables must fulfil).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceTable {
    /// `q + 1` entries: 1 to `p`.
    skips: Vec<usize>,
    /// `p` rows of `q` entries.
    received: Vec<i32>,
}

impl PieceTable {
    /// The table for `p` ranks.
    ///
    /// # Complexity
    /// O(p log p).
    ///
    /// # Panics
    /// If there are no ranks.
    ///
    /// # Example
    /// ```
    /// let table = tuwtree_collective::PieceTable::new(5);
    /// assert_eq!(table.skips(), [1, 2, 3, 5]);
    /// assert_eq!(table.received(3), [-2, -3, 2]);
    /// ```
    pub fn new(ranks: usize) -> PieceTable {
        assert!(ranks > 0, "there are ranks");
        let skips = skips(ranks);
        let rounds = skips.len() - 1;
        let mut received = Vec::with_capacity(ranks * rounds);
        for rank in 0..ranks {
            received.extend(PathSearch::new(rank, &skips).found());
        }
        PieceTable { skips, received }
    }

    /// `q`: the rounds of a phase.
    pub fn rounds(&self) -> usize {
        self.skips.len() - 1
    }

    /// Distance of messages in each round of a phase, and at last `p`.
    pub fn skips(&self) -> &[usize] {
        &self.skips
    }

    /// Pieces that a rank at this distance from the root receives in each round of a phase.
    pub fn received(&self, distance: usize) -> &[i32] {
        let rounds = self.rounds();
        &self.received[distance * rounds..][..rounds]
    }

    /// Piece that a rank at this distance from the root sends in a round of a phase: the other end receives it.
    pub fn sent(&self, distance: usize, round: usize) -> i32 {
        let other = (distance + self.skips[round]) % self.ranks();
        self.received[other * self.rounds() + round]
    }

    fn ranks(&self) -> usize {
        self.skips[self.rounds()]
    }
}

/// The search for what a rank receives: paths from the root along skips, no two of them the same.
struct PathSearch<'a> {
    skips: &'a [usize],
    rank: Rank,
    /// The last skip on the rank's own path from the root.
    base: usize,
    /// `p` beyond the rank.
    target: usize,
    /// Skips that no path has begun with yet.
    is_left: Vec<bool>,
    last: usize,
    received: Vec<i32>,
}

impl<'a> PathSearch<'a> {
    fn new(rank: Rank, skips: &'a [usize]) -> PathSearch<'a> {
        let rounds = skips.len() - 1;
        let ranks = skips[rounds];
        let base = base(rank, skips);
        let mut is_left = vec![true; rounds + 1];
        is_left[base] = false;
        let (target, last) = (ranks + rank, 2 * ranks);
        PathSearch {
            skips,
            rank,
            base,
            target,
            is_left,
            last,
            received: Vec::with_capacity(rounds),
        }
    }

    fn found(mut self) -> impl Iterator<Item = i32> {
        let rounds = self.skips.len() - 1;
        if rounds > 0 {
            self.search(0, rounds);
        }
        let PathSearch { received, base, rank, .. } = self;
        debug_assert_eq!(received.len(), rounds, "rank {rank} receives in each round");
        received.into_iter().map(move |skip| match skip == rounds as i32 {
            true => base as i32,
            false => skip - rounds as i32,
        })
    }

    /// The next round for which nothing is found yet.
    fn round(&self) -> usize {
        self.received.len()
    }

    /// True if a position is this skip of the chosen round, or more, before the target.
    fn reaches(&self, position: usize, skip: usize) -> bool {
        position + self.skips[skip] <= self.target
    }

    /// Goes on from a position with skips up to this one.
    fn search(&mut self, position: usize, largest: usize) {
        let rounds = self.skips.len() - 1;
        let mut next = Some(largest);
        while let Some(skip) = next.filter(|_| self.round() < rounds) {
            let there = position + self.skips[skip];
            if self.reaches(there, self.round()) && there < self.last {
                if self.reaches(there, self.round() + 1) {
                    self.search(there, skip);
                    if self.round() == rounds {
                        return;
                    }
                }
                if !self.reaches(there, self.round()) || !self.reaches(position, self.round() + 1) {
                    return;
                }
                self.last = there;
                self.received.push(skip as i32);
                self.is_left[skip] = false;
            }
            next = (0..skip).rev().find(|&smaller| self.is_left[smaller]);
        }
    }
}

/// The last skip on the way from the root to a rank if always the longest is taken; `q` for the root.
fn base(rank: Rank, skips: &[usize]) -> usize {
    let (mut rest, mut base) = (rank, skips.len() - 1);
    while rest > 0 {
        base = skips.iter().rposition(|&skip| skip <= rest).expect("the first skip is 1");
        rest -= skips[base];
    }
    base
}

/// The allgather on a circulant graph with every block in `pieces` pieces: as many broadcasts as there are
/// ranks, in `pieces - 1 + ceil(lg p)` rounds.
///
/// A round takes at most `alpha + beta (m_0 / n + m_1 / n + ...)`, each share rounded up, for any sizes of the blocks.
/// Pieces of a block differ by at most one byte; empty pieces are not sent.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For no pieces.
///
/// # Complexity
/// O(p^2 (pieces + log p)).
///
/// # Source
/// J. L. Träff, arXiv:2205.10072, 2407.18004.
pub fn circulant_in_pieces(problem: &Problem, pieces: usize) -> Result<Schedule, CollectiveError> {
    in_pieces(problem, &Broadcasts::in_rank_order(allgathered(problem)?, pieces, 1))
}

/// The allgather of [`circulant_in_pieces`] with ranks in another order on the circulant graph: large blocks far apart,
/// so that neighbours' blocks do not share messages. No difference for equal blocks.
///
/// Of the places in the order in which a piece comes to them for the first time, the `k`-th largest block has that which `k`,
/// its bits reversed, has among `0, ..., p - 1` with bits reversed.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For no pieces.
///
/// # Complexity
/// O(p^2 (pieces + log p)).
///
/// # Source
/// The graph of J. L. Träff, arXiv:2205.10072; the order is ours, after J. G. van der Corput, 1935.
///
/// # Example
/// Two of four blocks have 8 bytes. In rank order both are in one message of the second round.
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem};
/// let costs = Homogeneous::new(1.0, 1.0, 0.0).unwrap();
/// let problem = Problem::allgather(&BlockSizes::new([8, 8, 0, 0]).unwrap(), costs).unwrap();
/// assert_eq!(tuwtree_collective::time_in_pieces(&problem, 1).unwrap().units(), 9.0 + 17.0);
/// assert_eq!(tuwtree_collective::balanced_time(&problem, 1).unwrap().units(), 9.0 + 9.0);
/// ```
pub fn circulant_balanced(problem: &Problem, pieces: usize) -> Result<Schedule, CollectiveError> {
    in_pieces(problem, &Broadcasts::balanced(allgathered(problem)?, pieces, 1))
}

fn in_pieces(problem: &Problem, broadcasts: &Broadcasts<'_>) -> Result<Schedule, CollectiveError> {
    let meet = |round, rank| broadcasts.meeting(round, rank);
    gathering(problem, broadcasts.phases.rounds(), meet, |round, ends, data| {
        broadcasts.fill(round, ends, data);
    })
}

/// Completion time of [`circulant_in_pieces`], without its schedule: exactly the simulation's.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For no pieces.
///
/// # Complexity
/// O(p^2 (pieces + log p)) additions, O(p log p) space.
pub fn time_in_pieces(problem: &Problem, pieces: usize) -> Result<Time, CollectiveError> {
    time_of(problem, &Broadcasts::in_rank_order(allgathered(problem)?, pieces, 1))
}

/// Completion time of [`circulant_balanced`], likewise.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For no pieces.
///
/// # Complexity
/// As [`time_in_pieces`].
pub fn balanced_time(problem: &Problem, pieces: usize) -> Result<Time, CollectiveError> {
    time_of(problem, &Broadcasts::balanced(allgathered(problem)?, pieces, 1))
}

fn time_of(problem: &Problem, broadcasts: &Broadcasts<'_>) -> Result<Time, CollectiveError> {
    let messages = broadcasts.messages();
    let meet = |round, rank| broadcasts.meeting(round, rank);
    let rounds = (broadcasts.phases.rounds(), Buffer::Output);
    time_of_rounds(problem, rounds, meet, |round, from| messages.bytes(round, from))
}

/// Upper bound on the time of [`circulant_in_pieces`], and [`reduce_scatter::circulant_in_pieces`], at homogeneous
/// costs: in each of its rounds a message with a piece of every block, and the combining of that.
///
/// [`reduce_scatter::circulant_in_pieces`]: crate::reduce_scatter::circulant_in_pieces
///
/// # Panics
/// For no pieces.
///
/// # Complexity
/// O(p).
///
/// # Source
/// J. L. Träff, arXiv:2205.10072.
///
/// # Example
/// 4 rounds of pieces of 1, 3, 1, 4 and 2 bytes.
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Operator};
/// let sizes = BlockSizes::new([1, 5, 2, 7, 3]).unwrap();
/// let costs = Homogeneous::new(10.0, 1.0, 0.0).unwrap();
/// let most = tuwtree_collective::time_in_pieces_at_most(&sizes, &costs, Operator::FREE, 2);
/// assert_eq!(most, 84.0);
/// ```
pub fn time_in_pieces_at_most(
    sizes: &BlockSizes,
    costs: &Homogeneous,
    operator: Operator,
    pieces: usize,
) -> f64 {
    let rounds = pieces - 1 + sizes.ranks().next_power_of_two().ilog2() as usize;
    let share = pieces as u64 * operator.element_bytes();
    let shares: u64 = sizes.iter().map(|bytes| bytes.div_ceil(share)).sum();
    let bytes = (shares * operator.element_bytes()) as f64;
    // Of lone messages and those of exchanges, the dearer ones.
    let alpha = costs.alpha().max(costs.exchange_alpha());
    let each = costs.beta().max(costs.exchange_beta()) + operator.combine_per_byte();
    rounds as f64 * (alpha + bytes * each)
}

/// The number of pieces with the least [`time_in_pieces_at_most`] among the candidates: eight from one to its double,
/// at most one for each element of the largest block. A function of sizes and costs alone.
///
/// # Complexity
/// O(p log(largest block)).
pub fn likely_pieces(sizes: &BlockSizes, costs: &Homogeneous, operator: Operator) -> usize {
    let largest = sizes.iter().max().unwrap_or(0) / operator.element_bytes();
    let most = usize::try_from(largest).unwrap_or(usize::MAX).clamp(1, MOST_PIECES);
    let next = |&pieces: &usize| Some(pieces + (pieces / 8).max(1));
    let all = std::iter::successors(Some(1), next).take_while(|&pieces| pieces <= most);
    let time = |pieces| time_in_pieces_at_most(sizes, costs, operator, pieces);
    let least =
        all.map(|pieces| (time(pieces), pieces)).min_by(|one, other| one.0.total_cmp(&other.0));
    least.map_or(1, |(_, pieces)| pieces)
}

/// More pieces are not looked at.
const MOST_PIECES: usize = 1 << 20;

/// The rounds of broadcasts in pieces.
#[derive(Clone, Debug)]
pub(crate) struct Phases {
    table: PieceTable,
    /// At least 1.
    pieces: u64,
    /// Number of rounds before the first that are left out, so that the last one ends a phase.
    skipped: usize,
}

impl Phases {
    /// # Panics
    /// For no pieces.
    pub(crate) fn new(ranks: usize, pieces: usize) -> Phases {
        assert!(pieces > 0, "there is at least one piece");
        let table = PieceTable::new(ranks);
        let skipped = match table.rounds() {
            0 => 0,
            phase => (phase - (pieces - 1) % phase) % phase,
        };
        Phases { table, pieces: pieces as u64, skipped }
    }

    /// The number of rounds; 0 for a lone rank.
    pub(crate) fn rounds(&self) -> usize {
        match self.table.rounds() {
            0 => 0,
            phase => self.pieces as usize - 1 + phase,
        }
    }

    /// Into how many pieces each block is cut.
    pub(crate) fn pieces(&self) -> u64 {
        self.pieces
    }

    pub(crate) fn meeting(&self, round: usize, rank: Rank) -> Meeting {
        let p = self.table.ranks();
        let skip = self.table.skips[(round + self.skipped) % self.table.rounds()];
        Meeting { to: Some((rank + skip) % p), from: Some((rank + p - skip) % p) }
    }

    /// The round that comes at this place if the last is the first.
    pub(crate) fn backwards(&self, round: usize) -> usize {
        self.rounds() - 1 - round
    }

    /// Meeting of a rank in a round backwards in time: receivers send.
    pub(crate) fn meeting_backwards(&self, round: usize, rank: Rank) -> Meeting {
        let Meeting { to, from } = self.meeting(self.backwards(round), rank);
        Meeting { to: from, from: to }
    }

    /// The piece that a rank at this distance from the root sends in a round, if one is due.
    pub(crate) fn sent(&self, round: usize, distance: usize) -> Option<u64> {
        let phase = self.table.rounds();
        let round = round + self.skipped;
        let first = (phase * (round / phase)) as i64 - self.skipped as i64;
        let piece = first + i64::from(self.table.sent(distance, round % phase));
        u64::try_from(piece).ok().map(|piece| piece.min(self.pieces - 1))
    }
}

impl Phases {
    /// Ranks with blocks balanced along the order in which pieces come to distances from a root for the first time:
    /// neighbours in it are sent together in the first rounds.
    ///
    /// # Complexity
    /// O(p log p).
    pub(crate) fn balanced<'a>(&self, sizes: &'a BlockSizes) -> Circle<'a> {
        let (p, phase) = (self.table.ranks(), self.table.rounds());
        let mut reached = vec![0];
        let mut is_reached = vec![false; p];
        is_reached[0] = true;
        for round in 0..phase {
            let skip = self.table.skips[(round + self.skipped) % phase];
            for index in 0..reached.len() {
                let there = (reached[index] + skip) % p;
                if !std::mem::replace(&mut is_reached[there], true) {
                    reached.push(there);
                }
            }
        }
        // From there back to the roots whose blocks a rank sends on.
        Circle::balanced(sizes, |index| (p - reached[index]) % p)
    }

    /// Number of rounds since a rank at this distance from the root, which is not 0, received the piece that it sends
    /// in a round: in this phase, or as its own piece of the phase before.
    pub(crate) fn age(&self, round: usize, distance: usize) -> usize {
        let phase = self.table.rounds();
        let round = (round + self.skipped) % phase;
        let (sent, received) = (self.table.sent(distance, round), self.table.received(distance));
        match received[..round].iter().position(|&one| one == sent) {
            Some(earlier) => round - earlier,
            None => {
                let before = received.iter().position(|&one| one == sent + phase as i32);
                round + phase - before.expect("a piece comes before it is sent")
            }
        }
    }
}

/// Adds what the rank in the first place sends to that in the second in a round: a piece of each block, where one is due.
///
/// # Complexity
/// O(p).
pub(crate) fn fill_pieces(
    circle: &Circle<'_>,
    phases: &Phases,
    element_bytes: u64,
    round: usize,
    (from, to): (usize, usize),
    data: &mut MessageData,
) {
    let (sizes, pieces) = (circle.sizes(), phases.pieces);
    let p = sizes.ranks();
    for root in (0..p).filter(|&root| root != to) {
        if let Some(piece) = phases.sent(round, (from + p - root) % p) {
            let elements = sizes.block(root) / element_bytes;
            let (share, longer) = (elements / pieces, elements % pieces);
            let offset = (piece * share + piece.min(longer)) * element_bytes;
            let bytes = (share + u64::from(piece < longer)) * element_bytes;
            data.push(circle.start(root) + offset, bytes);
        }
    }
}

/// A broadcast from every rank, all at once, of blocks in pieces.
pub(crate) struct Broadcasts<'a> {
    circle: Circle<'a>,
    pub(crate) phases: Phases,
    element_bytes: u64,
}

impl<'a> Broadcasts<'a> {
    /// # Panics
    /// For no pieces.
    pub(crate) fn in_rank_order(
        sizes: &'a BlockSizes,
        pieces: usize,
        element_bytes: u64,
    ) -> Broadcasts<'a> {
        let phases = Phases::new(sizes.ranks(), pieces);
        Broadcasts { circle: Circle::in_rank_order(sizes), phases, element_bytes }
    }

    /// Ranks in an order in which large blocks are far apart.
    ///
    /// # Panics
    /// For no pieces.
    pub(crate) fn balanced(
        sizes: &'a BlockSizes,
        pieces: usize,
        element_bytes: u64,
    ) -> Broadcasts<'a> {
        let phases = Phases::new(sizes.ranks(), pieces);
        Broadcasts { circle: phases.balanced(sizes), phases, element_bytes }
    }

    /// Meeting of a rank in a round.
    pub(crate) fn meeting(&self, round: usize, rank: Rank) -> Meeting {
        self.circle.ranks(self.phases.meeting(round, self.circle.place(rank)))
    }

    /// Meeting of a rank in a round backwards in time.
    pub(crate) fn meeting_backwards(&self, round: usize, rank: Rank) -> Meeting {
        self.circle.ranks(self.phases.meeting_backwards(round, self.circle.place(rank)))
    }

    /// Lengths of their messages.
    pub(crate) fn messages(&self) -> MessageLengths<'_> {
        let Phases { table, pieces, .. } = &self.phases;
        let sizes = self.circle.sizes();
        let (p, phase) = (sizes.ranks(), table.rounds());
        let elements = |root| sizes.block(root) / self.element_bytes;
        let last_first = || (0..p).rev().map(elements);
        let sent = |round| (0..p).map(|distance| table.sent(distance, round)).collect();
        MessageLengths {
            broadcasts: self,
            shares: last_first().map(|elements| elements / pieces).collect(),
            longer: last_first().map(|elements| (elements % pieces) as i64).collect(),
            sent: (0..phase).map(sent).collect(),
        }
    }

    /// Message of the first rank to the second in a round: a due piece of each block.
    pub(crate) fn fill(&self, round: usize, (from, to): (Rank, Rank), data: &mut MessageData) {
        let ends = (self.circle.place(from), self.circle.place(to));
        fill_pieces(&self.circle, &self.phases, self.element_bytes, round, ends, data);
    }
}

/// Lengths of the messages of all broadcasts.
pub(crate) struct MessageLengths<'a> {
    broadcasts: &'a Broadcasts<'a>,
    /// The elements that each piece of a block has at least, by the place of its root, the last one first.
    shares: Vec<u64>,
    /// Number of pieces with one element more, in this order.
    longer: Vec<i64>,
    /// For each round of a phase the piece that a rank sends, by its distance from the root.
    sent: Vec<Vec<i32>>,
}

impl MessageLengths<'_> {
    /// The bytes that a rank sends in a round.
    ///
    /// # Complexity
    /// O(p).
    pub(crate) fn bytes(&self, round: usize, from: Rank) -> u64 {
        let Broadcasts { circle, phases, element_bytes } = self.broadcasts;
        let Phases { table, pieces, skipped } = phases;
        let (p, phase) = (circle.sizes().ranks(), table.rounds());
        let from = circle.place(from);
        let round = round + skipped;
        let first = (phase * (round / phase)) as i64 - *skipped as i64;
        let (sent, last) = (&self.sent[round % phase], *pieces as i64 - 1);
        let elements = |root: usize, distance: usize| {
            let piece = first + i64::from(sent[distance]);
            let length = self.shares[root] + u64::from(piece.min(last) < self.longer[root]);
            if piece < 0 { 0 } else { length }
        };
        // Distances grow as roots fall, from the rank itself down to 0, and then from the last one down.
        let own = p - 1 - from;
        let below: u64 = (own..p).map(|root| elements(root, root - own)).sum();
        let above: u64 = (0..own).map(|root| elements(root, root + from + 1)).sum();
        // The receiver has its own block.
        let distance = p - table.skips[round % phase];
        let of_receiver = elements((own + distance) % p, distance);
        (below + above - of_receiver) * element_bytes
    }
}
