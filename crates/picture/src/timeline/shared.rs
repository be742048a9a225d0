//! Shared activity of several processes: the number of busy ones over time.

use crate::messages::Performance;
use tuwtree_model::Rank;
use tuwtree_schedule::{Held, Occupation};

/// A stretch of time during which about the same share of processes is busy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stretch {
    pub(crate) start: f64,
    pub(crate) end: f64,
    /// The share of busy ports in tenths, rounded up: 1 to 10.
    pub(crate) tenths: u8,
}

/// Busy times of processes `first..=last`, with as many steps in time as there are cells; intervals
/// without busy processes are left out.
///
/// # Complexity
/// O(cells) for each action, at most.
pub(crate) fn shared(
    performance: Performance<'_>,
    first: Rank,
    last: Rank,
    cells: usize,
) -> Vec<Stretch> {
    let Performance { schedule, timeline, .. } = performance;
    let total = timeline.completion_time().units();
    let place = |time: f64| if total > 0.0 { time / total * cells as f64 } else { 0.0 };
    let mut busy = vec![0.0; cells];
    for Occupation { held, times, .. } in (first..=last).flat_map(|rank| timeline.occupations(rank))
    {
        let is_on_both = schedule.task().duplex && held == Held::Port;
        let lanes = if is_on_both { 2.0 } else { 1.0 };
        let (start, end) = (place(times.start.units()), place(times.end.units()));
        let touched = (start as usize).min(cells)..(end.ceil() as usize).min(cells);
        for (cell, busy) in touched.clone().zip(&mut busy[touched]) {
            *busy += lanes * (end.min(cell as f64 + 1.0) - start.max(cell as f64)).max(0.0);
        }
    }
    let ports = (last - first + 1) as f64 * f64::from(schedule.task().lanes());
    let tenths = |busy: &f64| match *busy > 0.0 {
        true => (busy / ports * 10.0).ceil().clamp(1.0, 10.0) as u8,
        false => 0,
    };
    let levels: Vec<u8> = busy.iter().map(tenths).collect();
    let time = |cell: usize| cell as f64 / cells as f64 * total;
    let mut stretches = Vec::new();
    let mut cell = 0;
    for same in levels.chunk_by(|one, next| one == next) {
        let (start, end) = (time(cell), time(cell + same.len()));
        cell += same.len();
        if same[0] > 0 {
            stretches.push(Stretch { start, end, tenths: same[0] });
        }
    }
    stretches
}
