//! The choice of a root among the completion times of all roots.

use tuwtree_model::{Rank, Time};

/// The root with the least completion time; of several, the one of least rank.
///
/// # Panics
/// If there are no times.
pub fn best_root(times: &[Time]) -> Rank {
    let (root, _) = times
        .iter()
        .enumerate()
        .min_by_key(|&(rank, &time)| (time, rank))
        .expect("a problem has at least one processor");
    root
}

/// The root that the program behind the published tables chose: the **last** one that is better
/// than root 0, or root 0. For reproduction only; [`best_root`] is the answer.
///
/// # Source
/// Inferred from OPT Tables 1 to 3, linear and oblivious trees with a chosen root.
pub fn published_root(times: &[Time]) -> Rank {
    times.iter().rposition(|time| *time < times[0]).unwrap_or(0)
}
