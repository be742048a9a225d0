//! Windows of blocks that double in each round.

use crate::CollectiveError;
use crate::error::allgathered;
use crate::rounds::{Meeting, gathering};
use tuwtree_model::Problem;
use tuwtree_schedule::Schedule;

/// How many blocks a rank has before each step of Bruck's allgather in the postal model, `A_0 = 1, ..., A_T = p`, where what
/// is sent has come `delay` steps later: `A_(t+1) = A_t + min(A_(t - delay + 1), p - A_t)`, with `A_t = 1` before the
/// first step. With a delay of 1 they double.
///
/// # Panics
/// For no delay.
///
/// # Source
/// A. Bar-Noy, S. Kipnis, Designing broadcasting algorithms in the postal model for message-passing systems, Mathematical
/// Systems Theory 27, 1994: the generalised Fibonacci numbers.
pub(crate) fn postal_windows(processors: usize, delay: usize) -> Vec<usize> {
    assert!(delay > 0, "what is sent comes in a later step");
    let mut had = vec![1];
    while let Some(&last) = had.last().filter(|&&last| last < processors) {
        let window = had[had.len().saturating_sub(delay)];
        had.push(last + window.min(processors - last));
    }
    had
}

/// The allgather of Bruck et al.: in round `k`, with `w = 2^k`, rank `i` sends its blocks `i`, `i + 1`, ...,
/// which are `min(w, p - w)`, to `i - w`.
///
/// Blocks of `c` bytes each take `ceil(lg p) alpha + (p - 1) c beta` for every `p`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log p).
///
/// # Source
/// J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, IEEE TPDS 8(11), 1997. Differs: data goes to its
/// place at once, so that nothing is rotated at the end.
pub fn bruck(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = allgathered(problem)?;
    let p = sizes.processors();
    let rounds = p.next_power_of_two().ilog2() as usize;
    let meet = |round: usize, rank| {
        let distance = 1 << round;
        Meeting { to: Some((rank + p - distance) % p), from: Some((rank + distance) % p) }
    };
    gathering(problem, rounds, meet, |round, (from, _), data| {
        let distance = 1 << round;
        data.push_window(sizes, from, distance.min(p - distance));
    })
}
