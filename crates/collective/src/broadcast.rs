//! Broadcasts that cut the vector into pieces, which take different ways; and the binomial tree, which does not.
//!
//! Ranks are counted from the root: a statement about rank `v` holds for the rank `v` further on.

use crate::CollectiveError;
use crate::allreduce::{masks, of_rounds};
use crate::doubling;
use crate::error::check_operation;
use crate::pieces::Phases;
use crate::rounds::{Arrives, Cut, Meeting, Rounds, in_rounds, root, time_of_rounds};
use tuwtree_model::{Operation, Order, Problem, Rank, Time};
use tuwtree_schedule::{Buffer, Schedule};

/// Ranks as counted from the root of an operation that has one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FromRoot {
    ranks: usize,
    root: Rank,
}

impl FromRoot {
    pub(crate) fn new(problem: &Problem) -> FromRoot {
        let root = root(problem).expect("the operation has a root");
        FromRoot { ranks: problem.ranks(), root }
    }

    /// Distance of a rank from the root.
    pub(crate) fn distance(self, rank: Rank) -> usize {
        (rank + self.ranks - self.root) % self.ranks
    }

    fn rank(self, distance: usize) -> Rank {
        (distance + self.root) % self.ranks
    }

    /// Whom a rank meets, if ranks at these distances do.
    pub(crate) fn meeting(self, rank: Rank, meet: impl Fn(usize) -> Meeting) -> Meeting {
        let Meeting { to, from } = meet(self.distance(rank));
        Meeting { to: to.map(|to| self.rank(to)), from: from.map(|from| self.rank(from)) }
    }
}

/// Whom a rank at this distance from the root meets along this edge of the binomial tree, away from the root.
pub(crate) fn binomial_meeting(distance: usize, mask: usize, ranks: usize) -> Meeting {
    match distance % (2 * mask) {
        0 => {
            let to = distance + mask;
            Meeting { to: (to < ranks).then_some(to), from: None }
        }
        rest if rest == mask => Meeting { to: None, from: Some(distance - mask) },
        _ => Meeting::default(),
    }
}

/// The broadcast along the binomial tree: with mask ..., 4, 2, 1, ranks that are multiples of `2 mask` send the
/// vector to `mask` further on.
///
/// `n` bytes take `ceil(lg p) (alpha + n beta)`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log p).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.2.
pub fn binomial(problem: &Problem) -> Result<Schedule, CollectiveError> {
    check_operation(problem, Operation::Broadcast)?;
    let (p, ranks) = (problem.ranks(), FromRoot::new(problem));
    let rounds: Vec<(Arrives, usize)> =
        masks(p.next_power_of_two()).rev().map(|mask| (Arrives::Stored, mask)).collect();
    let meet = |mask, rank| ranks.meeting(rank, |distance| binomial_meeting(distance, mask, p));
    of_rounds(problem, Order::Ordered, &rounds, Cut::new(problem, 1), meet, |_, _| (0, 1))
}

/// Allgather of the pieces of a scattered vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gathering {
    /// Around the ring.
    Ring,
    /// By recursive doubling.
    Doubling,
}

/// A round of a scatter and an allgather.
#[derive(Clone, Copy, Debug)]
enum Round {
    Scatter(usize),
    Ring(usize),
    Doubling(doubling::DoublingRound),
}

/// The broadcast of van de Geijn: the vector in `p` pieces is scattered along the binomial tree, and all ranks gather
/// it. Inner ranks of the tree get again the pieces that they passed on.
///
/// `n` bytes that `p` divides take `(q + p - 1) alpha + 2 (p - 1)/p n beta`, `q = ceil(lg p)`, with
/// [`Gathering::Ring`], and with [`Gathering::Doubling`] `2 q alpha + 2 (p - 1)/p n beta` if `p = 2^l`. Pieces
/// have `ceil(n/p)` bytes, the last ones less or none, as in MPICH.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2), with [`Gathering::Doubling`] O(p log^2 p).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.2, after M. Barnett et al. (1994).
pub fn scatter_allgather(
    problem: &Problem,
    gathering: Gathering,
) -> Result<Schedule, CollectiveError> {
    check_operation(problem, Operation::Broadcast)?;
    let ranks = FromRoot::new(problem);
    let rounds: Vec<(Arrives, Round)> =
        ranks.rounds(gathering).into_iter().map(|round| (Arrives::Stored, round)).collect();
    let cut = Cut::of_one_length(problem, problem.ranks());
    let meet = |round, rank| ranks.met(round, rank);
    of_rounds(problem, Order::Ordered, &rounds, cut, meet, |round, ends| ranks.window(round, ends))
}

/// Completion time of [`scatter_allgather`], without its schedule: exactly the simulation's.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// As there.
pub fn scatter_allgather_time(
    problem: &Problem,
    gathering: Gathering,
) -> Result<Time, CollectiveError> {
    check_operation(problem, Operation::Broadcast)?;
    let ranks = FromRoot::new(problem);
    let (rounds, cut) = (ranks.rounds(gathering), Cut::of_one_length(problem, problem.ranks()));
    let meet = |round: usize, rank| ranks.met(rounds[round], rank);
    time_of_rounds(problem, (rounds.len(), Buffer::Output), meet, |round, from| {
        let to = meet(round, from).to.expect("asked for senders alone");
        let (first, count) = ranks.window(rounds[round], (from, to));
        cut.before(first + count) - cut.before(first)
    })
}

impl FromRoot {
    /// The rounds of a scatter along the binomial tree, and of an allgather.
    fn rounds(self, gathering: Gathering) -> Vec<Round> {
        let scatter = masks(self.ranks.next_power_of_two()).rev().map(Round::Scatter);
        match gathering {
            Gathering::Ring => scatter.chain((1..self.ranks).map(Round::Ring)).collect(),
            Gathering::Doubling => {
                let doubling = doubling::rounds(self.ranks).into_iter().map(Round::Doubling);
                scatter.chain(doubling).collect()
            }
        }
    }

    fn met(self, round: Round, rank: Rank) -> Meeting {
        let p = self.ranks;
        self.meeting(rank, |distance| match round {
            Round::Scatter(mask) => binomial_meeting(distance, mask, p),
            Round::Ring(_) => {
                Meeting { to: Some((distance + 1) % p), from: Some((distance + p - 1) % p) }
            }
            Round::Doubling(round) => round.meeting(distance, p),
        })
    }

    /// The first piece of a message, and how many it has.
    fn window(self, round: Round, (from, to): (Rank, Rank)) -> (usize, usize) {
        let p = self.ranks;
        match round {
            Round::Scatter(mask) => {
                let first = self.distance(to);
                (first, mask.min(p - first))
            }
            Round::Ring(round) => ((self.distance(from) + p + 1 - round) % p, 1),
            Round::Doubling(round) => round.window(self.distance(from), p),
        }
    }
}

/// A vector that goes from the root to everybody in pieces, or comes together from them.
pub(crate) struct Pipeline {
    pub(crate) phases: Phases,
    pub(crate) ranks: FromRoot,
    cut: Cut,
}

impl Pipeline {
    /// # Panics
    /// For no pieces.
    pub(crate) fn new(problem: &Problem, pieces: usize) -> Pipeline {
        Pipeline {
            phases: Phases::new(problem.ranks(), pieces),
            ranks: FromRoot::new(problem),
            cut: Cut::new(problem, pieces),
        }
    }

    /// The piece that the first rank sends to the second in a round of a broadcast, if one is due: the first
    /// piece, and how many.
    pub(crate) fn window(&self, round: usize, (from, to): (Rank, Rank)) -> (usize, usize) {
        match self.phases.sent(round, self.ranks.distance(from)) {
            Some(piece) if self.ranks.distance(to) > 0 => (piece as usize, 1),
            _ => (0, 0),
        }
    }

    /// The bytes of such a window.
    pub(crate) fn bytes(&self, (first, count): (usize, usize)) -> u64 {
        self.cut.before(first + count) - self.cut.before(first)
    }

    pub(crate) fn cut(&self) -> Cut {
        self.cut
    }
}

/// The broadcast on a circulant graph in this many pieces: `pieces - 1 + ceil(lg p)` rounds, and no schedule of such
/// pieces takes fewer.
///
/// `n` bytes in `k` pieces take `(k - 1 + ceil(lg p)) (alpha + beta ceil(n/k))`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For no pieces.
///
/// # Complexity
/// O(p (pieces + log p)).
///
/// # Source
/// J. L. Träff, arXiv:2205.10072, 2312.11236.
///
/// # Example
/// 5 ranks and 24 bytes in 2 pieces, at alpha 10 and beta 1: 4 rounds of 10 + 12.
/// ```
/// use tuwtree_model::{Homogeneous, Operation, Problem, Vector};
/// let costs = Homogeneous::new(10.0, 1.0, 1.0).unwrap();
/// let vector = Vector { ranks: 5, bytes: 24 };
/// let problem = Problem::new(Operation::Broadcast, vector, costs).unwrap();
/// let time = tuwtree_collective::broadcast::time_in_pieces(&problem, 2).unwrap();
/// assert_eq!(time.units(), 88.0);
/// ```
pub fn circulant_in_pieces(problem: &Problem, pieces: usize) -> Result<Schedule, CollectiveError> {
    check_operation(problem, Operation::Broadcast)?;
    let pipeline = Pipeline::new(problem, pieces);
    let rounds = Rounds {
        count: pipeline.phases.rounds(),
        arrives: |_| Arrives::Stored,
        source: Buffer::Output,
        order: Order::Ordered,
    };
    let meet = |round, rank| pipeline.phases.meeting(round, rank);
    in_rounds(problem, &rounds, meet, |round, ends, data| {
        let (first, count) = pipeline.window(round, ends);
        pipeline.cut().push(data, first, count);
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
/// O(p (pieces + log p)).
pub fn time_in_pieces(problem: &Problem, pieces: usize) -> Result<Time, CollectiveError> {
    check_operation(problem, Operation::Broadcast)?;
    let pipeline = Pipeline::new(problem, pieces);
    let meet = |round, rank| pipeline.phases.meeting(round, rank);
    let rounds = (pipeline.phases.rounds(), Buffer::Output);
    time_of_rounds(problem, rounds, meet, |round, from| {
        let to = meet(round, from).to.expect("every rank sends in each round");
        pipeline.bytes(pipeline.window(round, (from, to)))
    })
}
