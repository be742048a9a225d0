//! Rows of processes: their own, or shared ones.
//!
//! If space is short, the root, ranks on the critical path and the busiest have rows; all processes
//! between two of them share one. Equally interesting ones are chosen evenly.

use crate::messages::Performance;
use std::cmp::Reverse;
use tuwtree_model::{Rank, Time};

/// A row of the timeline: one process, or several consecutive ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimelineRow {
    One(Rank),
    /// From the first to the last rank.
    Several(Rank, Rank),
}

impl TimelineRow {
    /// The ranks in the row.
    pub(crate) fn ranks(self) -> std::ops::RangeInclusive<Rank> {
        match self {
            TimelineRow::One(rank) => rank..=rank,
            TimelineRow::Several(first, last) => first..=last,
        }
    }
}

/// At most `most >= 3` rows for all processes, in rank order.
///
/// # Complexity
/// O(n + p log p) for n actions.
pub(crate) fn rows(performance: Performance<'_>, most: usize) -> Vec<TimelineRow> {
    let ranks = performance.schedule.ranks();
    if ranks <= most {
        return (0..ranks).map(TimelineRow::One).collect();
    }
    let mut is_critical = vec![false; ranks];
    for critical in performance.timeline.critical_path() {
        is_critical[critical.rank] = true;
    }
    let root = performance.schedule.task().root;
    let busy = |rank| Time::new(performance.timeline.busy_units(rank)).unwrap_or_default();
    let mut by_interest: Vec<Rank> = (0..ranks).collect();
    // Reversed bits count evenly spaced ranks first.
    by_interest.sort_by_cached_key(|&rank| {
        (Some(rank) != root, !is_critical[rank], Reverse(busy(rank)), rank.reverse_bits())
    });
    let mut chosen = by_interest[..(most - 1) / 2].to_vec();
    chosen.sort_unstable();
    let mut rows = Vec::with_capacity(most);
    let mut next = 0;
    for rank in chosen {
        rows.extend(between(next, rank));
        rows.push(TimelineRow::One(rank));
        next = rank + 1;
    }
    rows.extend(between(next, ranks));
    rows
}

/// The row of the processes `first..end`, if there are any.
fn between(first: Rank, end: Rank) -> Option<TimelineRow> {
    match end - first {
        0 => None,
        1 => Some(TimelineRow::One(first)),
        _ => Some(TimelineRow::Several(first, end - 1)),
    }
}
