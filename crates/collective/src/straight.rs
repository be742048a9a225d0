//! Operations without a root in which every message goes straight to its receiver, and all are under way at once.

use crate::CollectiveError;
use crate::error::{allgathered, scattered};
use crate::rounds::finished;
use tuwtree_model::{BlockSizes, Order, Problem, Rank};
use tuwtree_schedule::{
    Action, Arrival, Buffer, Deed, Piece, Programs, Receive, Region, Schedule, Send,
};

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
    let sent = |from, _| (Buffer::Output, block(sizes, from));
    in_turn(problem, Order::Ordered, Arrival::Store, sent, |from, _| block(sizes, from))
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
    let sent = |_, to| (Buffer::Input, block(sizes, to));
    in_turn(problem, Order::Any, Arrival::CombineRight, sent, |_, to| block(sizes, to))
}

/// All messages of each rank: `sent` from one rank to another, and there into `received`.
fn in_turn(
    problem: &Problem,
    order: Order,
    arrival: Arrival,
    sent: impl Fn(Rank, Rank) -> (Buffer, Piece),
    received: impl Fn(Rank, Rank) -> Piece,
) -> Result<Schedule, CollectiveError> {
    let p = problem.ranks();
    let mut programs = Programs::new();
    // What is combined waits for all sends listed before; what is sent of the output waits for receives.
    let combines = arrival != Arrival::Store;
    let turns = |is_send| (1..p).map(move |distance| (is_send, distance));
    let steps: Vec<(bool, usize)> = turns(!combines).chain(turns(combines)).collect();
    for rank in 0..p {
        for &(is_send, distance) in &steps {
            let (to, from) = ((rank + distance) % p, (rank + p - distance) % p);
            let (buffer, piece) = match is_send {
                true => sent(rank, to),
                false => (Buffer::Output, received(from, rank)),
            };
            if piece.bytes == 0 {
                continue;
            }
            let region = Region { buffer, pieces: std::slice::from_ref(&piece) };
            let deed = match is_send {
                true => Deed::Send(Send { to, tag: 0, from: region }),
                false => Deed::Receive(Receive { from, tag: 0, into: region, arrival }),
            };
            programs.push(&Action { port: 0, deed })?;
        }
        programs.end_rank();
    }
    Ok(finished(problem, (order, 1), vec![0; p], programs)?.with_duplex(true))
}

/// The place of a rank's block among all.
fn block(sizes: &BlockSizes, rank: Rank) -> Piece {
    Piece { offset: sizes.before(rank), bytes: sizes.block(rank) }
}
