//! The root with which a star completes first on a machine with levels, without timing all stars.
//!
//! A root's port is busy with all messages, which depend on the levels of their senders only: sums over groups
//! say for how long, for all roots in `O(p h)`. It begins no earlier than with the first message, after the latency of
//! that. This is below the star's time, and as a rule it is the time. So stars are timed in the order of these
//! bounds until the next bound is not below the best time.

use std::collections::HashMap;
use tuwtree_model::{Hierarchy, Problem, Rank, Time, TimeError};

/// By how much, in relation, bounds may be above times where costs are no integers: rounding.
const ROUNDING: f64 = 1e-12;

/// The most messages of stars that are timed.
const MOST_MESSAGES: usize = 10_000_000;

/// The root with the least time, if any has one; among equal ones, the least rank. With more than 3,000 ranks it is the
/// best among the roots with the least bounds; only some of these are timed, by ten million messages in all.
///
/// `first` says whose message comes first at a root, and whether the root copies before it; `None` if nobody has
/// anything to send.
///
/// # Errors
/// The least root's, if none has a time.
///
/// # Complexity
/// O(p (h + log p)), and O(p) for each star that is timed: as a rule a few.
pub(crate) fn best_star_root(
    problem: &Problem,
    machine: &Hierarchy,
    first: impl Fn(Rank) -> Option<(Rank, bool)>,
    time: impl Fn(Rank) -> Result<Time, TimeError>,
) -> Result<Rank, TimeError> {
    let rounding = if problem.costs().is_integral() { 0.0 } else { ROUNDING };
    let mut bounds = bounds(problem, machine, first);
    bounds.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    // Of those that do not differ but for rounding, the least rank first.
    let least = bounds.first().map_or(0.0, |&(bound, _)| bound);
    let same = bounds.partition_point(|&(bound, _)| bound <= least * (1.0 + rounding));
    bounds[..same].sort_unstable_by_key(|&(_, rank)| rank);
    let most = (MOST_MESSAGES / bounds.len()).max(1);
    let mut best: Option<(Time, Rank)> = None;
    let mut failed: Option<(Rank, TimeError)> = None;
    for &(bound, rank) in bounds.iter().take(most) {
        if let Some((least, root)) = best {
            let is_worse = match rounding == 0.0 {
                true => bound > least.units() || bound == least.units() && rank > root,
                false => bound * (1.0 - rounding) > least.units(),
            };
            if is_worse {
                // Equal bounds come by rank, greater ones are no better.
                break;
            }
        }
        match time(rank) {
            Ok(time) if best.is_none_or(|best| (time, rank) < best) => best = Some((time, rank)),
            Ok(_) => {}
            Err(error) if failed.as_ref().is_none_or(|&(other, _)| rank < other) => {
                failed = Some((rank, error));
            }
            Err(_) => {}
        }
    }
    match (best, failed) {
        (Some((_, rank)), _) => Ok(rank),
        (None, Some((_, error))) => Err(error),
        (None, None) => unreachable!("a problem has at least one process"),
    }
}

/// For each root what its star takes at least.
fn bounds(
    problem: &Problem,
    machine: &Hierarchy,
    first: impl Fn(Rank) -> Option<(Rank, bool)>,
) -> Vec<(f64, Rank)> {
    let ranks = problem.ranks();
    let levels = machine.levels();
    let bytes = |rank| problem.collective().segment(rank, rank);
    let mut busy = vec![0.0; ranks];
    for (level, of) in levels.iter().enumerate() {
        let own = |rank: Rank| of.links.times(bytes(rank)).1;
        let mut within: HashMap<usize, f64> = HashMap::new();
        let mut nearer: HashMap<usize, f64> = HashMap::new();
        for rank in 0..ranks {
            *within.entry(machine.group(rank, level)).or_default() += own(rank);
            if level > 0 {
                *nearer.entry(machine.group(rank, level - 1)).or_default() += own(rank);
            }
        }
        for (rank, busy) in busy.iter_mut().enumerate() {
            let not_so = match level {
                0 => own(rank),
                _ => nearer[&machine.group(rank, level - 1)],
            };
            *busy += within[&machine.group(rank, level)] - not_so;
        }
    }
    let bound = |(root, busy): (Rank, f64)| {
        let copy = problem.copy(root).map_or(f64::INFINITY, Time::units);
        let Some((sender, is_after_copy)) = first(root) else { return (busy + copy, root) };
        let links = &levels[machine.shared_level(sender, root)].links;
        let (latency, _) = links.times(bytes(sender));
        let wait = if is_after_copy { latency.max(copy) } else { latency + copy };
        (busy + wait, root)
    };
    busy.into_iter().enumerate().map(bound).collect()
}
