//! Around a ring: everybody passes on the block that it got last.

use crate::CollectiveError;
use crate::error::allgathered;
use crate::rounds::{Meeting, gathering};
use tuwtree_model::Problem;
use tuwtree_schedule::Schedule;

/// The allgather around the ring of all ranks: in round `t`, rank `i` sends block `i - t` to `i + 1`.
///
/// Blocks of `c` bytes each take `(p - 1)(alpha + c beta)`. A block goes through all ranks, and so a
/// single one of `M` bytes takes `(p - 1)(alpha + M beta)`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.1.
///
/// # Example
/// Round 0: 0 sends 4 bytes to 1 until 14, 2 sends 2 to 0 until 12. Round 1, from 14 on: 0 sends block 2 to 1
/// until 26, and 1 block 0 to 2 until 28.
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem};
/// use tuwtree_schedule::{Sends, simulate};
/// let sizes = BlockSizes::new([4, 0, 2]).unwrap();
/// let costs = Homogeneous::new(10.0, 1.0, 1.0).unwrap();
/// let schedule = tuwtree_collective::ring(&Problem::allgather(&sizes, costs).unwrap()).unwrap();
/// let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
/// assert_eq!(timeline.completion_time().units(), 28.0);
/// ```
pub fn ring(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = allgathered(problem)?;
    let p = sizes.processors();
    let meet = |_, rank| Meeting { to: Some((rank + 1) % p), from: Some((rank + p - 1) % p) };
    gathering(problem, p - 1, meet, |round, (from, _), data| {
        data.push_window(sizes, (from + p - round) % p, 1);
    })
}
