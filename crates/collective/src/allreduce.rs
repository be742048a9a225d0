//! Allreduce: everybody's vectors are combined, and each rank gets the whole result.
//!
//! Each rank works in its output, which holds its own vector in the beginning. Where the vector is cut, it is
//! between elements, into pieces that differ by at most one element.

use crate::CollectiveError;
use crate::broadcast::binomial_meeting;
use crate::circulant::skips;
use crate::error::check_operation;
use crate::folding::{Folding, Resting};
use crate::reduce_scatter::{circulant_meeting, circulant_window};
use crate::rounds::{Arrives, Cut, Meeting, Rounds, in_rounds};
use tuwtree_model::{Operation, Order, Problem, Rank};
use tuwtree_schedule::{Buffer, Schedule};

/// The schedule of these rounds, each with its meetings and its number of pieces.
pub(crate) fn of_rounds<R: Copy>(
    problem: &Problem,
    order: Order,
    rounds: &[(Arrives, R)],
    cut: Cut,
    meet: impl Fn(R, Rank) -> Meeting,
    window: impl Fn(R, (Rank, Rank)) -> (usize, usize),
) -> Result<Schedule, CollectiveError> {
    let kind = Rounds {
        count: rounds.len(),
        arrives: |round: usize| rounds[round].0,
        source: Buffer::Output,
        order,
    };
    in_rounds(
        problem,
        &kind,
        |round, rank| meet(rounds[round].1, rank),
        |round, ends, data| {
            let (first, count) = window(rounds[round].1, ends);
            cut.push_window(data, first, count);
        },
    )
}

/// A round among ranks, some of which rest.
#[derive(Clone, Copy, Debug)]
enum Folded {
    /// Resting ranks give half of the vector to the ranks that act for them, and get the other
    /// half.
    SwapHalves,
    /// Resting ranks give half of the vector.
    GiveHalf,
    /// Resting ranks give the vector.
    Give,
    /// New ranks at this distance exchange the vector.
    Exchange(usize),
    /// New ranks at this distance exchange the halves of the pieces that they have, which they do not keep.
    Halve(usize),
    /// New ranks at this distance exchange the pieces that they have.
    Double(usize),
    /// Resting ranks get the vector.
    Take,
}

impl Folded {
    fn meeting(self, folding: Folding, rank: Rank) -> Meeting {
        match self {
            Folded::SwapHalves => {
                let other = folding.other(rank);
                Meeting { to: other, from: other }
            }
            Folded::GiveHalf | Folded::Give => folding.into_active(rank),
            Folded::Take => folding.out_of_active(rank),
            Folded::Exchange(mask) | Folded::Halve(mask) | Folded::Double(mask) => {
                folding.exchange(rank, mask)
            }
        }
    }
}

/// 1, 2, 4, ... below this power of two.
pub(crate) fn masks(active: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..active.ilog2()).map(|bit| 1 << bit)
}

/// The allreduce by recursive doubling: with mask 1, 2, 4, ... ranks at that distance exchange and combine whole
/// vectors. Where `p` is no power of two, one of two ranks acts for both at first. In rank order.
///
/// `n` bytes take `l (alpha + n (beta + kappa))` if `p = 2^l`, else with `l = floor(lg p)`
/// `(l + 2)(alpha + n beta) + (l + 1) n kappa`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log p).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.6.
pub fn recursive_doubling(problem: &Problem) -> Result<Schedule, CollectiveError> {
    check_operation(problem, Operation::Allreduce)?;
    let folding = Folding::new(problem.ranks(), Resting::Even);
    let mut rounds = Vec::new();
    if folding.pairs() > 0 {
        rounds.push((Arrives::Combined, Folded::Give));
    }
    rounds.extend(masks(folding.active).map(|mask| (Arrives::Combined, Folded::Exchange(mask))));
    if folding.pairs() > 0 {
        rounds.push((Arrives::Stored, Folded::Take));
    }
    let meet = |round: Folded, rank| round.meeting(folding, rank);
    of_rounds(problem, Order::Ordered, &rounds, Cut::new(problem, 1), meet, |_, _| (0, 1))
}

/// The allreduce as a reduction along the binomial tree of rank 0, and a broadcast back along it. In rank order.
///
/// `n` bytes take `ceil(lg p) (2 alpha + n (2 beta + kappa))`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log p).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.5: the old algorithm of MPICH.
pub fn binomial(problem: &Problem) -> Result<Schedule, CollectiveError> {
    check_operation(problem, Operation::Allreduce)?;
    let p = problem.ranks();
    let combined = masks(p.next_power_of_two()).map(|mask| (Arrives::Combined, (mask, true)));
    let stored = masks(p.next_power_of_two()).rev().map(|mask| (Arrives::Stored, (mask, false)));
    let rounds: Vec<(Arrives, (usize, bool))> = combined.chain(stored).collect();
    let meet = |(mask, is_inward), rank| {
        let Meeting { to, from } = binomial_meeting(rank, mask, p);
        match is_inward {
            true => Meeting { to: from, from: to },
            false => Meeting { to, from },
        }
    };
    of_rounds(problem, Order::Ordered, &rounds, Cut::new(problem, 1), meet, |_, _| (0, 1))
}

/// Actions of resting ranks before they rest, where `p` is no power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folds {
    /// They combine half of the vectors themselves: less to combine, and a message more.
    Half,
    /// They give their vectors away, as in MPICH.
    Full,
}

/// The allreduce of Rabenseifner: with mask 1, 2, 4, ... ranks at that distance exchange halves of their data, and
/// combine the rest, down to a piece each; then the same exchanges backwards give every rank the result. In rank order.
///
/// `n` bytes take `2 l alpha + (p - 1)/p n (2 beta + kappa)` if `p = 2^l`. Else, if `P = 2^l`, `l = floor(lg p)`,
/// divides the elements: `(2 l + 3) alpha + 4 n beta + 3/2 n kappa - (2 n beta + n kappa)/P` with [`Folds::Half`],
/// `(2 l + 2) alpha + 4 n beta - 2 n beta/P + (2 - 1/P) n kappa` with [`Folds::Full`].
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log p).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, sections 4.5 and 5.1; [`Folds::Full`] as in MPICH's
/// `allreduce_intra_reduce_scatter_allgather.c`.
pub fn rabenseifner(problem: &Problem, folds: Folds) -> Result<Schedule, CollectiveError> {
    check_operation(problem, Operation::Allreduce)?;
    let resting = if folds == Folds::Half { Resting::Odd } else { Resting::Even };
    let folding = Folding::new(problem.ranks(), resting);
    let active = folding.active;
    let mut rounds = Vec::new();
    match folds {
        _ if folding.pairs() == 0 => {}
        Folds::Half => {
            rounds.push((Arrives::Combined, Folded::SwapHalves));
            rounds.push((Arrives::Stored, Folded::GiveHalf));
        }
        Folds::Full => rounds.push((Arrives::Combined, Folded::Give)),
    }
    rounds.extend(masks(active).map(|mask| (Arrives::Combined, Folded::Halve(mask))));
    rounds.extend(masks(active).rev().map(|mask| (Arrives::Stored, Folded::Double(mask))));
    if folding.pairs() > 0 {
        rounds.push((Arrives::Stored, Folded::Take));
    }
    let new = |rank| folding.new_rank(rank).expect("only active ranks exchange");
    let halves = Cut::new(problem, 2);
    let cut = Cut::new(problem, active);
    let kind = Rounds {
        count: rounds.len(),
        arrives: |round: usize| rounds[round].0,
        source: Buffer::Output,
        order: Order::Ordered,
    };
    let meet = |round: usize, rank| rounds[round].1.meeting(folding, rank);
    in_rounds(problem, &kind, meet, |round, (from, to), data| match rounds[round].1 {
        Folded::SwapHalves => halves.push(data, to % 2, 1),
        Folded::GiveHalf => halves.push(data, 1, 1),
        Folded::Give | Folded::Exchange(_) | Folded::Take => cut.push(data, 0, active),
        Folded::Halve(mask) => {
            let (first, count) = kept(new(to), 2 * mask, active);
            cut.push(data, first, count);
        }
        Folded::Double(mask) => {
            let (first, count) = kept(new(from), 2 * mask, active);
            cut.push(data, first, count);
        }
    })
}

/// The first of the pieces that a new rank keeps when halves have been exchanged at all distances below this
/// one, and how many they are. Who has the lower rank of two keeps the lower half.
pub(crate) fn kept(new: Rank, mask: usize, pieces: usize) -> (usize, usize) {
    let upper = |bit: usize| new >> bit & 1;
    let bits = mask.ilog2() as usize;
    let first = (0..bits).map(|bit| upper(bit) * (pieces >> (bit + 1))).sum();
    (first, pieces >> bits)
}

/// A round of an allreduce made of a reduce-scatter and an allgather.
#[derive(Clone, Copy, Debug)]
enum Half {
    Scatter(usize),
    Gather(usize),
}

/// The rounds of a reduce-scatter, then of an allgather.
fn halves(
    scatter: impl Iterator<Item = usize>,
    gather: impl Iterator<Item = usize>,
) -> Vec<(Arrives, Half)> {
    let scatter = scatter.map(|round| (Arrives::Combined, Half::Scatter(round)));
    scatter.chain(gather.map(|round| (Arrives::Stored, Half::Gather(round)))).collect()
}

/// The allreduce of a reduce-scatter in which all ranks send each other their pieces, and an allgather around
/// the ring of all ranks. For operators that commute.
///
/// `n` bytes take `2 (p - 1) alpha + (p - 1)/p n (2 beta + kappa)` if `p` divides the elements.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 5.3.
pub fn ring(problem: &Problem) -> Result<Schedule, CollectiveError> {
    check_operation(problem, Operation::Allreduce)?;
    let p = problem.ranks();
    let rounds = halves(1..p, 0..p - 1);
    let meet = |round, rank| {
        let distance = match round {
            Half::Scatter(distance) => distance,
            Half::Gather(_) => 1,
        };
        Meeting { to: Some((rank + distance) % p), from: Some((rank + p - distance) % p) }
    };
    let window = |round, (from, to)| match round {
        Half::Scatter(_) => (to, 1),
        Half::Gather(round) => ((from + p - round) % p, 1),
    };
    of_rounds(problem, Order::Any, &rounds, Cut::new(problem, p), meet, window)
}

/// The allreduce on a circulant graph: the reduce-scatter and the allgather there, of pieces that are as equal as
/// they can be. For operators that commute.
///
/// `n` bytes take `2 ceil(lg p) alpha + (p - 1)/p n (2 beta + kappa)` for every `p` that divides the elements.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log p).
///
/// # Source
/// J. L. Träff, arXiv:2410.14234 (2024).
pub fn circulant(problem: &Problem) -> Result<Schedule, CollectiveError> {
    check_operation(problem, Operation::Allreduce)?;
    let p = problem.ranks();
    let skips = skips(p);
    let rounds = halves((0..skips.len() - 1).rev(), 0..skips.len() - 1);
    let meet = |round, rank| match round {
        Half::Scatter(index) => circulant_meeting(&skips, index, rank),
        Half::Gather(index) => {
            let Meeting { to, from } = circulant_meeting(&skips, index, rank);
            Meeting { to: from, from: to }
        }
    };
    let window = |round, (from, to)| match round {
        Half::Scatter(index) => (to, circulant_window(&skips, index)),
        Half::Gather(index) => (from, circulant_window(&skips, index)),
    };
    of_rounds(problem, Order::Any, &rounds, Cut::new(problem, p), meet, window)
}
