//! Operations without a root in which every message goes straight to its receiver, and all are under way at once.

use crate::error::{allgathered, scattered};
use crate::rounds::{independent, push_end};
use crate::{CollectiveError, Flow};
use tuwtree_model::{BlockSizes, Problem, Rank};
use tuwtree_schedule::{Piece, Programs, Schedule};

/// The allgather in which rank `i` sends its block to `i + 1`, `i + 2`, ... and receives from `i - 1`, `i - 2`, ..., on a
/// duplex port.
///
/// Blocks of `c` bytes each take `lambda + (p - 1)(o + c beta)`, where `lambda = alpha - o` overlaps with other work.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2).
pub fn allgather(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = allgathered(problem)?;
    in_turn(problem, Flow::Spread, |from, _| block(sizes, from))
}

/// The reduce-scatter in which rank `i` sends `i + 1`, `i + 2`, ... their blocks and combines what comes from `i - 1`,
/// `i - 2`, ..., on a duplex port. For operators that commute.
///
/// Blocks of `c` bytes each take at most `lambda + (p - 1)(o + c (beta + kappa))`, `lambda` as in [`allgather`].
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2).
pub fn reduce_scatter(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = scattered(problem)?;
    in_turn(problem, Flow::Combined, |_, to| block(sizes, to))
}

/// All messages of each rank.
fn in_turn(
    problem: &Problem,
    flow: Flow,
    message: impl Fn(Rank, Rank) -> Piece,
) -> Result<Schedule, CollectiveError> {
    let p = problem.ranks();
    let mut programs = Programs::new();
    for rank in 0..p {
        for (is_sent, distance) in
            [true, false].iter().flat_map(|&one| (1..p).map(move |d| (one, d)))
        {
            let (to, from) = ((rank + distance) % p, (rank + p - distance) % p);
            let (peer, piece) = match is_sent {
                true => (to, message(rank, to)),
                false => (from, message(from, rank)),
            };
            if piece.bytes > 0 {
                push_end(&mut programs, flow, (is_sent, peer), &[piece])?;
            }
        }
        programs.end_rank();
    }
    independent(problem, flow, programs)
}

/// The place of a rank's block among all.
fn block(sizes: &BlockSizes, rank: Rank) -> Piece {
    Piece { offset: sizes.before(rank), bytes: sizes.block(rank) }
}
