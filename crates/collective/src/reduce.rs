//! Reductions to a root that cut the vector into pieces, which are combined in different places; and the binomial
//! tree, which does not.
//!
//! The root works in its output; others in segments as large as the vector, which hold their own in the beginning.

use crate::CollectiveError;
use crate::allreduce::{Folds, kept, masks, of_rounds};
use crate::broadcast::{FromRoot, Pipeline, binomial_meeting};
use crate::error::check_operation;
use crate::folding::{Folding, Resting};
use crate::rounds::{Arrives, Cut, Meeting, Rounds, in_rounds, root, time_of_rounds};
use tuwtree_model::{Operation, Order, Problem, Rank, Time};
use tuwtree_schedule::{Buffer, Schedule};

/// The reduction along the binomial tree: with mask 1, 2, 4, ..., counted from the root, multiples of `2 mask` combine
/// data from `mask` further on. In rank order if the root is 0.
///
/// `n` bytes take `ceil(lg p) (alpha + n (beta + kappa))`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log p).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.5.
pub fn binomial(problem: &Problem) -> Result<Schedule, CollectiveError> {
    check_operation(problem, Operation::Reduce)?;
    let (p, ranks) = (problem.ranks(), FromRoot::new(problem));
    let rounds: Vec<(Arrives, usize)> =
        masks(p.next_power_of_two()).map(|mask| (Arrives::Combined, mask)).collect();
    let meet = |mask, rank| {
        let Meeting { to, from } =
            ranks.meeting(rank, |distance| binomial_meeting(distance, mask, p));
        Meeting { to: from, from: to }
    };
    let order = if root(problem) == Some(0) { Order::Ordered } else { Order::Any };
    of_rounds(problem, order, &rounds, Cut::new(problem, 1), meet, |_, _| (0, 1))
}

/// The reduction along the binomial tree of rank 0, whose result rank 0 passes on to the root: in rank order for every
/// root.
///
/// `n` bytes take `ceil(lg p) (alpha + n (beta + kappa))`, and `alpha + n beta` more for other roots than 0.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log p).
///
/// # Source
/// MPICH's `reduce_intra_binomial.c`, for operators that do not commute.
pub fn binomial_forwarded(problem: &Problem) -> Result<Schedule, CollectiveError> {
    check_operation(problem, Operation::Reduce)?;
    let p = problem.ranks();
    let root = root(problem).expect("a reduction has a root");
    let combined = masks(p.next_power_of_two()).map(|mask| (Arrives::Combined, Some(mask)));
    let forwarded = (root != 0).then_some((Arrives::Stored, None));
    let rounds: Vec<(Arrives, Option<usize>)> = combined.chain(forwarded).collect();
    let meet = |mask, rank| match mask {
        Some(mask) => {
            let Meeting { to, from } = binomial_meeting(rank, mask, p);
            Meeting { to: from, from: to }
        }
        None => Meeting { to: (rank == 0).then_some(root), from: (rank == root).then_some(0) },
    };
    of_rounds(problem, Order::Ordered, &rounds, Cut::new(problem, 1), meet, |_, _| (0, 1))
}

/// A round of Rabenseifner's reduction.
#[derive(Clone, Copy, Debug)]
enum Round {
    /// Resting ranks give half of the vector to the ranks that act for them, and get the other
    /// half.
    SwapHalves,
    /// Resting ranks give their combined half.
    GiveHalf,
    /// Resting ranks give the vector.
    Give,
    /// New ranks at this distance exchange the halves of the pieces that they have, which they do not keep.
    Halve(usize),
    /// Of two new ranks at this distance, the one that is further from the root gives the pieces that it has.
    Collect(usize),
}

/// The reduction of Rabenseifner: with mask 1, 2, 4, ... ranks at that distance exchange halves of their data, and
/// combine the rest, down to a piece each; these come together at the root, along the same pairs backwards. In rank
/// order.
///
/// `n` bytes take `2 l alpha + (p - 1)/p n (2 beta + kappa)` if `p = 2^l`. Else, if `P = 2^l`, `l = floor(lg p)`,
/// divides the elements, with [`Folds::Half`] `(2 l + 2) alpha + 3 n beta + 3/2 n kappa - (2 n beta + n kappa)/P`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log p).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, sections 4.5 and 5.1; [`Folds::Full`] as in MPICH's
/// `reduce_intra_reduce_scatter_gather.c`.
pub fn rabenseifner(problem: &Problem, folds: Folds) -> Result<Schedule, CollectiveError> {
    check_operation(problem, Operation::Reduce)?;
    let folding = Folding::new(problem.ranks(), Resting::Odd);
    let active = folding.active;
    let root = root(problem).expect("a reduction has a root");
    // The root does not rest: it and the other one of its pair change roles.
    let rests = root < 2 * folding.pairs() && root % 2 == 1;
    let role = |rank: Rank| if rests && rank / 2 == root / 2 { rank ^ 1 } else { rank };
    let new = |rank| folding.new_rank(role(rank)).expect("only active ranks exchange");
    let target = new(root);
    let mut rounds = Vec::new();
    match folds {
        _ if folding.pairs() == 0 => {}
        Folds::Half => {
            rounds.push((Arrives::Combined, Round::SwapHalves));
            rounds.push((Arrives::Stored, Round::GiveHalf));
        }
        Folds::Full => rounds.push((Arrives::Combined, Round::Give)),
    }
    rounds.extend(masks(active).map(|mask| (Arrives::Combined, Round::Halve(mask))));
    rounds.extend(masks(active).rev().map(|mask| (Arrives::Stored, Round::Collect(mask))));
    let meet = |round: usize, rank: Rank| {
        let Meeting { to, from } = match rounds[round].1 {
            Round::SwapHalves => {
                let other = folding.other(role(rank));
                Meeting { to: other, from: other }
            }
            Round::GiveHalf | Round::Give => folding.into_active(role(rank)),
            Round::Halve(mask) => folding.exchange(role(rank), mask),
            Round::Collect(mask) => match folding.new_rank(role(rank)) {
                // Above this distance all who take part are as the root.
                Some(new) if (new ^ target) < 2 * mask => {
                    let other = Some(folding.rank(new ^ mask));
                    match (new ^ target) & mask == 0 {
                        true => Meeting { to: None, from: other },
                        false => Meeting { to: other, from: None },
                    }
                }
                _ => Meeting::default(),
            },
        };
        Meeting { to: to.map(role), from: from.map(role) }
    };
    let (halves, cut) = (Cut::new(problem, 2), Cut::new(problem, active));
    let kind = Rounds {
        count: rounds.len(),
        arrives: |round: usize| rounds[round].0,
        source: Buffer::Output,
        order: Order::Ordered,
    };
    in_rounds(problem, &kind, meet, |round, (from, to), data| match rounds[round].1 {
        Round::SwapHalves => halves.push(data, role(to) % 2, 1),
        Round::GiveHalf => halves.push(data, 1, 1),
        Round::Give => cut.push(data, 0, active),
        Round::Halve(mask) => {
            let (first, count) = kept(new(to), 2 * mask, active);
            cut.push(data, first, count);
        }
        Round::Collect(mask) => {
            let (first, count) = kept(new(from), 2 * mask, active);
            cut.push(data, first, count);
        }
    })
}

/// The reduction in which all ranks send each other their pieces, and then theirs of the result to the root. For
/// operators that commute.
///
/// `n` bytes that `p` divides take `(p - 1) 2 alpha + (p - 1)/p n (2 beta + kappa)`.
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
    check_operation(problem, Operation::Reduce)?;
    let (p, ranks) = (problem.ranks(), FromRoot::new(problem));
    let scatter = (1..p).map(|round| (Arrives::Combined, (round, true)));
    let gather = (1..p).map(|round| (Arrives::Stored, (round, false)));
    let rounds: Vec<(Arrives, (usize, bool))> = scatter.chain(gather).collect();
    let meet = |(round, scatters), rank| {
        ranks.meeting(rank, |distance| match (scatters, distance) {
            (true, _) => {
                Meeting { to: Some((distance + round) % p), from: Some((distance + p - round) % p) }
            }
            (false, 0) => Meeting { to: None, from: Some(round) },
            (false, _) => Meeting { to: (distance == round).then_some(0), from: None },
        })
    };
    let window = |(_, scatters), (from, to)| match scatters {
        true => (to, 1),
        false => (from, 1),
    };
    of_rounds(problem, Order::Any, &rounds, Cut::new(problem, p), meet, window)
}

/// The reduction on a circulant graph in this many pieces: the broadcast there backwards, in
/// `pieces - 1 + ceil(lg p)` rounds. For operators that commute.
///
/// `n` bytes in `k` pieces take `(k - 1 + ceil(lg p)) (alpha + (beta + kappa) ceil(n/k))`.
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
/// J. L. Träff, arXiv:2205.10072, 2407.18004.
pub fn circulant_in_pieces(problem: &Problem, pieces: usize) -> Result<Schedule, CollectiveError> {
    check_operation(problem, Operation::Reduce)?;
    let pipeline = Pipeline::new(problem, pieces);
    let rounds = Rounds {
        count: pipeline.phases.rounds(),
        arrives: |_| Arrives::Combined,
        source: Buffer::Output,
        order: Order::Any,
    };
    let meet = |round, rank| pipeline.phases.meeting_backwards(round, rank);
    in_rounds(problem, &rounds, meet, |round, (from, to), data| {
        let (first, count) = pipeline.window(pipeline.phases.backwards(round), (to, from));
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
    check_operation(problem, Operation::Reduce)?;
    let pipeline = Pipeline::new(problem, pieces);
    let meet = |round, rank| pipeline.phases.meeting_backwards(round, rank);
    let rounds = (pipeline.phases.rounds(), Buffer::Output);
    time_of_rounds(problem, rounds, meet, |round, from| {
        let to = meet(round, from).to.expect("every rank sends in each round");
        pipeline.bytes(pipeline.window(pipeline.phases.backwards(round), (to, from)))
    })
}
