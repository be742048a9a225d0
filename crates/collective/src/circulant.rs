//! Windows of blocks along the skips of a circulant graph.

use crate::CollectiveError;
use crate::error::allgathered;
use crate::rounds::{Meeting, gathering};
use tuwtree_model::Problem;
use tuwtree_schedule::Schedule;

/// The skips `s_0 = 1, ..., s_q = p` for `q = ceil(lg p)`: each is half of the next, rounded up.
///
/// # Source
/// J. L. Träff, arXiv:2410.14234.
pub(crate) fn skips(ranks: usize) -> Vec<usize> {
    let mut skips = vec![ranks];
    while skips[skips.len() - 1] > 1 {
        skips.push(skips[skips.len() - 1].div_ceil(2));
    }
    skips.reverse();
    skips
}

/// The allgather on a circulant graph, in one pass: in round `k`, rank `v` sends its first
/// `s_(k+1) - s_k` blocks `v`, `v + 1`, ... to `v - s_k`, where each skip `s_k` is half of the next and the
/// last is `p`.
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
/// J. L. Träff, arXiv:2410.14234 (2024).
pub fn circulant(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = allgathered(problem)?;
    let p = sizes.ranks();
    let skips = skips(p);
    let meet = |round: usize, rank| {
        let skip = skips[round];
        Meeting { to: Some((rank + p - skip) % p), from: Some((rank + skip) % p) }
    };
    gathering(problem, skips.len() - 1, meet, |round, (from, _), data| {
        data.push_window(sizes, from, skips[round + 1] - skips[round]);
    })
}
