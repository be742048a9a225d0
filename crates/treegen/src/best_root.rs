//! The choice of a root among the completion times of all roots.

use tuwtree_model::{Rank, Time, TimeError};

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

/// The root with the least completion time of those that have one; of several, the one of least rank.
///
/// # Errors
/// The first root's, if none has a time.
pub(crate) fn best_possible_root(
    times: impl IntoIterator<Item = Result<Time, TimeError>>,
) -> Result<Rank, TimeError> {
    let mut best: Option<(Time, Rank)> = None;
    let mut first_error = None;
    for (rank, time) in times.into_iter().enumerate() {
        match time {
            Ok(time) if best.is_none_or(|(least, _)| time < least) => best = Some((time, rank)),
            Ok(_) => {}
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    match (best, first_error) {
        (Some((_, rank)), _) => Ok(rank),
        (None, Some(error)) => Err(error),
        (None, None) => unreachable!("a problem has at least one processor"),
    }
}

/// The root that the program behind the published tables chose: the **last** one that is better
/// than root 0, or root 0. For reproduction only; [`best_root`] is the answer.
///
/// # Source
/// Inferred from OPT Tables 1 to 3, linear and oblivious trees with a chosen root.
pub fn published_root(times: &[Time]) -> Rank {
    times.iter().rposition(|time| *time < times[0]).unwrap_or(0)
}
