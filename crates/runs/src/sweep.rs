//! The sweep of one tile: rows upwards, and in each row the columns to the right.
//!
//! ```text
//!                      j          stop              end
//!  row i      [== run ==][ found at j ][  to be found    row.queue: left part receives
//!  row i + 1  [==== run ====][==== run ====][== run ==]  `below`, finished
//!  row i + 2  [= run =][======== run =======][== run ==]
//!                      :
//!                      columns' stack of j: right part receives
//! ```
//!
//! `cells` finds the value at `j`: alpha more than the least of the queue's front, the column's
//! front, the column before, and late entries or those that need a search. It is valid up to
//! `stop`, the last column before the queue's front is out of reach, the columns' fronts change, or
//! a column needs a search; the next cell is at `stop + 1`. At the end of the row `settle` compares
//! rows `i` and `i + 1` and brings the stacks to row `i`.

use super::RunsError;
use super::column::{NONE, TileColumns};
use super::control::Control;
use super::finished::{Finished, FinishedTiles};
use super::kept::KeptBlocks;
use super::row::{NEVER, TileRow};
use super::run::{Excess, ExcessLaw, Run, excess_in, run_of};
use super::tile::Tile;
use super::zeros::LastRoot;
use std::ops::Range;

/// The rows between two reports.
const REPORT: usize = 256;

/// The sweep of one tile.
///
/// Before row `i` is swept, the columns stand at row `i + 1`: the stack of column `j` holds the runs
/// of `E(r, j)` over `r > i + 1` that may still be best, and `E(i + 1, j)`, whose left part is the
/// single block `i` and thus never late, is read from row `i + 1` where the stack is empty.
pub(super) struct Sweep<'t, E, S> {
    pub(super) finished: Finished<'t, E, S>,
    pub(super) columns: &'t mut TileColumns<E>,
    pub(super) row: TileRow<E>,
    /// The rows of the tile, swept from the last to the first.
    pub(super) rows: Range<usize>,
    /// For each row of the tile the first column whose timer is set to it.
    pub(super) due: Vec<u32>,
    /// For each column the next one whose timer is set to the same row.
    pub(super) next_due: Vec<u32>,
    /// The row that a timer was set to last.
    pub(super) last_expiry: usize,
    /// Space for a copy of the row below.
    below: Vec<Run<E>>,
}

impl<'t, E: Excess, S: FinishedTiles<E>> Sweep<'t, E, S> {
    /// The sweep of the given rows in the given columns.
    pub(super) fn new(
        kept: &'t KeptBlocks,
        source: &'t S,
        columns: &'t mut TileColumns<E>,
        rows: Range<usize>,
    ) -> Self {
        let mut sweep = Sweep {
            finished: Finished { kept, source, own: Tile::new(rows.end - 1) },
            row: TileRow::new(),
            due: vec![NONE; rows.len()],
            next_due: vec![NONE; columns.range().len()],
            columns,
            rows,
            last_expiry: 0,
            below: Vec::new(),
        };
        for j in sweep.columns.range() {
            sweep.link_timer(j);
        }
        sweep
    }

    /// The tile, swept from its last row to its first.
    ///
    /// # Errors
    /// [`RunsError::OutOfMemory`], [`RunsError::Cancelled`].
    pub(super) fn run(mut self, control: &Control<'_>) -> Result<Tile<E>, RunsError> {
        for i in self.rows.clone().rev() {
            self.sweep_row(i);
            let done = self.rows.end - i;
            if i == self.rows.start || done.is_multiple_of(REPORT) {
                let fresh = (done - 1) % REPORT + 1;
                control.advance(fresh, self.finished.own.take_fresh_bytes())?;
            }
        }
        Ok(self.finished.own)
    }

    fn sweep_row(&mut self, i: usize) {
        self.fire_timers(i);
        self.start_row(i);
        let mut j = self.finished.source.first_column(i).max(self.columns.first());
        let mut below = 0;
        while j < self.columns.end() {
            j = self.cells(j, &mut below) + 1;
        }
        self.settle();
        self.begin_column();
        self.finished.own.push(&self.row.runs);
    }

    /// The runs of row `i + 1` in the tile's columns.
    fn below(&self) -> &[Run<E>] {
        let row = self.row.i + 1;
        if row < self.rows.end {
            self.finished.own.row(row)
        } else {
            self.finished.source.below(row)
        }
    }

    /// Starts row `i` at the tile's first column.
    fn start_row(&mut self, i: usize) {
        self.row.restart(i);
        let root = self.finished.source.root();
        let first = self.finished.source.first_column(i);
        if first < self.columns.first() {
            self.resume_row(first);
        } else if root.is_none_or(|root| root == i) {
            self.row.queue.push((i as u32, -self.finished.kept.lead(i)));
        }
        if root.is_none() {
            self.begin_shadow(i + 1);
            self.begin_last_root(i + 2);
        }
    }

    /// Finds the queue and the late end of a row that earlier tiles have begun: from its last run
    /// backwards the ends of falling excess, down to the first that is late.
    fn resume_row(&mut self, first: usize) {
        let (kept, i, start) = (self.finished.kept, self.row.i, self.columns.first());
        let mut column = start - 1;
        let mut run = run_of(self.finished.source.before(i, column), column);
        let mut least = NEVER;
        loop {
            let runs = self.finished.source.before(i, column);
            let excess = runs[run].law().at(column, kept);
            let run_start = runs[run].start();
            if least == NEVER {
                // Column `start - 1` enters the queue with the next run.
                self.row.last = excess;
                least = excess;
            } else if excess < least {
                if self.is_late(column, kept.volume(i, column) + excess) {
                    break;
                }
                least = excess;
                self.row.queue.push((column as u32, excess));
            }
            if run_start == first {
                let lead = kept.lead(i);
                let may_be_root = self.finished.source.root().is_none_or(|root| root == i);
                if may_be_root && -lead < least && !self.is_late(i, kept.copy(i)) {
                    self.row.queue.push((i as u32, -lead));
                }
                break;
            }
            column = run_start - 1;
            run = if run > 0 {
                run - 1
            } else {
                run_of(self.finished.source.before(i, column), column)
            };
        }
        self.row.queue.reverse();
    }

    /// True if end `k`, ready at `time`, is late in the tile's first column; it is then recorded as
    /// the late one.
    fn is_late(&mut self, k: usize, time: i64) -> bool {
        let late = self.finished.right_time(k + 1, self.columns.first()) > time;
        if late {
            self.row.late = Some(k);
        }
        late
    }

    /// Fills the cells from column `j` on in which one candidate is best; the last of them.
    fn cells(&mut self, j: usize, below: &mut usize) -> usize {
        let kept = self.finished.kept;
        let i = self.row.i;
        let front = self.front_of_row(j);
        if self.columns.is_shadowed(j) {
            self.shadow_cell(j);
        }
        // The column before is the left part's last one: it is never late for a single block.
        let mut best = front.min(self.row.last);
        best = best.min(self.late(j, best));
        best = best.min(self.look(j));
        let first_below = self.finished.source.first_column(i + 1);
        let (law, stop) = if first_below == usize::MAX && best == front {
            // The given root's row: there is no right part that holds the root.
            (ExcessLaw::Level(best), self.reach(j))
        } else if j < first_below {
            (ExcessLaw::Level(best), j)
        } else {
            let (piece, stop) = self.front_of_columns(j, below);
            let value = piece.at(j, kept);
            // For fixed cuts the left candidates do not fall as `j` grows, and the column before
            // costs alpha more: what is best in `j` is best as long as it follows its law, and as
            // the columns' fronts do not undercut it.
            if value <= best {
                (if stop > j { piece } else { ExcessLaw::Level(value) }, stop)
            } else if best == front {
                let stop = match piece {
                    ExcessLaw::Level(_) => stop,
                    ExcessLaw::Falling(base) => {
                        j + kept.leads(j, stop).partition_point(|lead| base - lead >= best) - 1
                    }
                };
                (ExcessLaw::Level(best), self.extend(best, stop, below))
            } else {
                (ExcessLaw::Level(best), j)
            }
        };
        let first = self.finished.source.first_column(i);
        // The line that is the recurrence.
        self.row.append(j, stop, law.later(kept.latency), first, kept);
        stop
    }

    /// The least candidate of column `j` that is not part of a longer stretch: entries that have just
    /// been dropped, and the last rank as root.
    #[inline]
    fn look(&mut self, j: usize) -> i64 {
        let mut best = NEVER;
        if !self.columns.is_quiet(j) {
            if self.columns.is_awake(j) {
                best = self.wake(j);
            }
            if self.columns.is_special(j) {
                best = best.min(self.last_root(j));
            }
        }
        match self.finished.source.root() {
            Some(root) if j == root => best.min(self.last_root(j)),
            // The pair: its right rank may be the root.
            None if j == self.row.i + 1 => best.min(-self.finished.kept.lead(j)),
            _ => best,
        }
    }

    /// The value of the late end, if it is less than `best`.
    #[inline]
    fn late(&mut self, j: usize, best: i64) -> i64 {
        let Some(k) = self.row.late else { return NEVER };
        let time = self.finished.right_time_from(k + 1, j, &mut self.row.late_run);
        let value = time - self.finished.kept.volume(self.row.i, k);
        if value >= best {
            // It only rises, and the ends that it is compared with stay, until one is late itself.
            self.row.late = None;
        }
        value
    }

    /// The excess of the front of the row's queue, once those out of reach have been dropped.
    #[inline]
    fn front_of_row(&mut self, j: usize) -> i64 {
        while let Some((k, excess)) = self.row.front() {
            if j <= self.reach(j) {
                return excess;
            }
            self.row.drop_front(k);
        }
        NEVER
    }

    /// The last column within reach of the front of the row's queue; columns before `j` are.
    #[inline]
    fn reach(&mut self, j: usize) -> usize {
        if let Some(reach) = self.row.reach {
            return reach;
        }
        let (k, excess) = self.row.front().expect("asked for only if there is a front");
        let time = self.finished.kept.volume(self.row.i, k) + excess;
        // A single block is always ready.
        let from = if k + 1 == j { j } else { j - 1 };
        let end = self.columns.end();
        let reach = self.finished.reach(k + 1, time, from, end, self.columns.hint(k + 1));
        self.row.reach = Some(reach);
        reach
    }

    /// Up to where the front of the row's queue, worth `best`, is better than the columns' fronts,
    /// given that it is so up to `stop`.
    #[inline]
    fn extend(&mut self, best: i64, mut stop: usize, below: &mut usize) -> usize {
        let reach = self.reach(stop);
        while stop < reach && self.columns.is_quiet(stop + 1) {
            let (piece, end) = self.front_of_columns(stop + 1, below);
            if piece.at(end, self.finished.kept) <= best {
                break;
            }
            stop = end;
        }
        stop.min(reach)
    }

    /// The law of the columns' fronts from `j` on, and up to where it holds and no column needs a
    /// look. `below` is a run of the row below that does not start after `j`.
    fn front_of_columns(&self, j: usize, below: &mut usize) -> (ExcessLaw, usize) {
        let end = self.columns.end();
        let step = self.columns.next_step(j + 1).min(end) - 1;
        if self.columns.is_filled(j) {
            let value = self.columns.front(j);
            if self.finished.kept.is_varied() {
                let bend = self.columns.next_bend(j + 1).min(end) - 1;
                if bend > step {
                    return (ExcessLaw::Falling(value + self.finished.kept.lead(j)), bend);
                }
            }
            return (ExcessLaw::Level(value), step);
        }
        let runs = self.below();
        while *below + 1 < runs.len() && runs[*below + 1].start() <= j {
            *below += 1;
        }
        let stop = runs.get(*below + 1).map_or(end, |next| next.start()) - 1;
        (runs[*below].law(), stop.min(step))
    }

    /// The value of the front of column `j`.
    pub(super) fn front_value(&self, j: usize) -> i64 {
        if self.columns.is_filled(j) {
            self.columns.front(j)
        } else {
            excess_in(self.below(), j, self.finished.kept)
        }
    }

    /// Hands row `i` to the columns: where it rose above row `i + 1`, the latter becomes an entry;
    /// where it fell, entries may be dominated.
    fn settle(&mut self) {
        let kept = self.finished.kept;
        let end = self.columns.end();
        let first = self.finished.source.first_column(self.row.i + 1).max(self.columns.first());
        if first >= end {
            return;
        }
        let mut below = std::mem::take(&mut self.below);
        below.clear();
        below.extend_from_slice(self.below());
        let (mut new, mut old) = (run_of(&self.row.runs, first), 0);
        let mut j = first;
        while j < end {
            let (new_law, old_law) = (self.row.runs[new].law(), below[old].law());
            let new_end = self.row.runs.get(new + 1).map_or(end, |run| run.start());
            let old_end = below.get(old + 1).map_or(end, |run| run.start());
            let stop = new_end.min(old_end);
            if new_law.is_parallel(old_law) || kept.is_flat(j, stop - 1) {
                self.replace(j..stop, old_law, new_law);
            } else {
                (j..stop).for_each(|j| self.replace(j..j + 1, old_law, new_law));
            }
            j = stop;
            new += usize::from(new_end == stop);
            old += usize::from(old_end == stop);
        }
        self.below = below;
    }

    /// Replaces `old` by `new` as the excess of the columns' last row; one is the larger throughout.
    fn replace(&mut self, columns: Range<usize>, old: ExcessLaw, new: ExcessLaw) {
        let kept = self.finished.kept;
        let (before, after) = (old.at(columns.start, kept), new.at(columns.start, kept));
        if after > before {
            for j in columns {
                if self.columns.push(j, self.row.i + 1, old.at(j, kept)) {
                    self.columns.refresh(j, kept);
                    self.schedule(j, None);
                }
            }
        } else if after < before {
            let mut j = self.columns.next_filled(columns.start);
            while j < columns.end {
                if self.columns.drop_dominated(j, new.at(j, kept)) {
                    self.columns.refresh(j, kept);
                }
                j = self.columns.next_filled(j + 1);
            }
        }
    }

    /// Gives a column that row `i` has begun the entry of its last rank as a root that waits.
    fn begin_column(&mut self) {
        let kept = self.finished.kept;
        let j = self.row.i + 1;
        let may_be_root = self.finished.source.root().is_none_or(|root| root == j);
        if !self.columns.range().contains(&j)
            || !may_be_root
            || LastRoot::of(kept, j) != LastRoot::Waits
            || -kept.lead(j) >= excess_in(&self.row.runs, j, kept)
        {
            return;
        }
        self.columns.push(j, j, -kept.lead(j));
        self.columns.refresh(j, kept);
        self.schedule(j, None);
    }
}
