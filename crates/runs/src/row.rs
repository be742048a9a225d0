//! The row at hand, and its candidates in which the left part receives.
//!
//! For fixed `k` the candidate `max(E(i,k), C(k+1,j) - S(i,k))` is `E(i,k)` up to a column, the
//! *reach* of `k`, and rises from there on. Run ends with the least excess of all later ones wait in
//! a queue, `k` and excess both rising: the front is the best of those within reach, since (L) and
//! (R) make the reach grow with `k`. A front that has dropped out of reach is *late*: the
//! right part is ready after it. Of all late ones the last is best.

use super::finished::{Finished, FinishedTiles};
use super::kept::KeptBlocks;
use super::run::{Excess, ExcessLaw, Run, run_of};
use std::cell::Cell;

/// Larger than every excess.
pub(super) const NEVER: i64 = i64::MAX / 4;

/// Row `i`, in the columns of one tile.
pub(super) struct TileRow<E> {
    pub(super) i: usize,
    /// Its runs so far.
    pub(super) runs: Vec<Run<E>>,
    /// Ends of finished runs with their excesses, from `head` on: both rise. The block itself
    /// counts as the end `(i, -w_i)` where it may be the root.
    pub(super) queue: Vec<(u32, i64)>,
    pub(super) head: usize,
    /// The last column within reach of the front, once it has been asked for.
    pub(super) reach: Option<usize>,
    /// The last run end that has dropped out of reach, until it is worse than the front, which it
    /// then remains.
    pub(super) late: Option<usize>,
    /// A run in the row of the late end's right part that does not start after the column at hand.
    pub(super) late_run: usize,
    /// The excess of the column before.
    pub(super) last: i64,
    /// Columns of the row, and their law, among which the last left part was found.
    left: Cell<(usize, usize, ExcessLaw)>,
}

impl<E: Excess> TileRow<E> {
    /// A row without columns.
    pub(super) fn new() -> TileRow<E> {
        TileRow {
            i: 0,
            runs: Vec::new(),
            queue: Vec::new(),
            head: 0,
            reach: None,
            late: None,
            late_run: 0,
            last: NEVER,
            left: Cell::new((0, 0, ExcessLaw::Level(0))),
        }
    }

    /// Empties the row and makes it row `i`.
    pub(super) fn restart(&mut self, i: usize) {
        self.i = i;
        self.runs.clear();
        self.queue.clear();
        self.head = 0;
        self.reach = None;
        self.late = None;
        self.late_run = 0;
        self.last = NEVER;
        self.left.set((0, 0, ExcessLaw::Level(0)));
    }

    /// `C(i, b)` of a left part; 0 if it is a single block.
    #[inline]
    pub(super) fn left_time<S: FinishedTiles<E>>(
        &self,
        finished: &Finished<'_, E, S>,
        b: usize,
    ) -> i64 {
        if b == self.i {
            return 0;
        }
        let (start, stop, mut law) = self.left.get();
        if !(start..stop).contains(&b) {
            let runs = finished.source.left(self.i, b).unwrap_or(&self.runs);
            let run = run_of(runs, b);
            law = runs[run].law();
            let stop = runs.get(run + 1).map_or(b + 1, |next| next.start());
            self.left.set((runs[run].start(), stop, law));
        }
        finished.kept.volume(self.i, b) + law.at(b, finished.kept)
    }

    /// The front of the queue.
    #[inline(always)]
    pub(super) fn front(&self) -> Option<(usize, i64)> {
        self.queue.get(self.head).map(|&(k, excess)| (k as usize, excess))
    }

    /// Declares the front late.
    #[inline]
    pub(super) fn drop_front(&mut self, k: usize) {
        self.late = Some(k);
        self.late_run = 0;
        self.head += 1;
        self.reach = None;
    }

    /// Adds the end of a finished run, which hides all ends of at least its excess.
    fn push(&mut self, k: usize, excess: i64) {
        while self.queue.len() > self.head && self.queue[self.queue.len() - 1].1 >= excess {
            self.queue.pop();
        }
        if self.queue.len() == self.head {
            self.queue.clear();
            self.head = 0;
            self.reach = None;
        }
        self.queue.push((k as u32, excess));
    }

    /// Adds columns `j..=end`, which follow `law`; `first` is the row's first column.
    pub(super) fn append(
        &mut self,
        j: usize,
        end: usize,
        law: ExcessLaw,
        first: usize,
        kept: &KeptBlocks,
    ) {
        if let Some(merged) = self.merge(j, end, law, kept) {
            let last = self.runs.len() - 1;
            self.runs[last] = merged;
        } else {
            if j > first {
                self.push(j - 1, self.last);
            }
            self.runs.push(Run::new(j, law));
        }
        self.last = law.at(end, kept);
    }

    /// The last run with columns `j..=end` added, if one law covers them. Where `w` does not change,
    /// a level run is a falling one, too.
    fn merge(&self, j: usize, end: usize, law: ExcessLaw, kept: &KeptBlocks) -> Option<Run<E>> {
        let run = *self.runs.last()?;
        if matches!(law, ExcessLaw::Level(_)) && run.law() == law {
            return Some(run);
        }
        if kept.lead(j) < kept.lead(j - 1) {
            return None;
        }
        let base = kept.as_falling(run.law(), run.start(), j - 1)?;
        (kept.as_falling(law, j, end)? == base)
            .then(|| Run::new(run.start(), ExcessLaw::Falling(base)))
    }
}
