//! Windows of blocks that double in each round.

use crate::CollectiveError;
use crate::error::allgathered;
use crate::rounds::{Meeting, gathering};
use tuwtree_model::Problem;
use tuwtree_schedule::Schedule;

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
