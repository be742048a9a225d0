//! The sweep of one tile: rows upwards, and in each row the columns to the right.

use super::column::{Columns, NONE};
use super::kept::Kept;
use super::row::{Excess, Law, Run, Tile, excess_in, run_of};
use super::zeros::{LastRoot, shadow_limit};

/// Larger than every excess.
const NEVER: i64 = i64::MAX / 4;

/// What a tile's sweep reads of tiles finished before.
pub(super) trait Source<E>: Sync {
    /// The row with the left parts `[i..b]`, `b` inclusive; `None` if it is the row at hand.
    fn left(&self, i: usize, b: usize) -> Option<&[Run<E>]>;

    /// The runs, in the tile's columns, of right parts from `a` on; `None` if `a` is a row of the
    /// tile itself.
    fn right(&self, a: usize) -> Option<&[Run<E>]>;

    /// The runs of row `i` of the table that is being filled in the tile that holds column `b`.
    fn before(&self, i: usize, b: usize) -> &[Run<E>];

    /// The runs in the tile's columns of the row after the tile's last.
    fn below(&self, row: usize) -> &[Run<E>];

    /// The tile that holds the cell `(a, b)` of a part; `None` if it is the tile at hand.
    fn part(&self, a: usize, b: usize) -> Option<&Tile<E>>;

    /// The first column of row `i`; `usize::MAX` if there is no such row.
    fn first_column(&self, i: usize) -> usize;

    /// The root that every cell's tree has.
    fn root(&self) -> Option<usize>;
}

/// What is finished: other tiles, and the rows of this one.
struct Finished<'t, E, S> {
    kept: &'t Kept,
    source: &'t S,
    own: Tile<E>,
}

impl<E: Excess, S: Source<E>> Finished<'_, E, S> {
    /// The runs of right parts from `a` on.
    #[inline(always)]
    fn right(&self, a: usize) -> &[Run<E>] {
        self.source.right(a).unwrap_or_else(|| self.own.row(a))
    }

    /// `C(a, j)` of a right part; 0 if it is a single block.
    #[inline]
    fn right_time(&self, a: usize, j: usize) -> i64 {
        if a == j { 0 } else { self.kept.volume(a, j) + excess_in(self.right(a), j, self.kept) }
    }

    /// [`right_time`](Self::right_time), for columns that only grow: the search starts at `run`.
    #[inline]
    fn right_time_from(&self, a: usize, j: usize, run: &mut usize) -> i64 {
        if a == j {
            return 0;
        }
        let runs = self.right(a);
        *run = gallop(runs, *run, |run| run.start() <= j) - 1;
        self.kept.volume(a, j) + runs[*run].law().at(j, self.kept)
    }

    /// The excess of the cell `(a, t)` without trailing empty blocks.
    fn shadow(&self, a: usize, t: usize) -> i64 {
        self.source.part(a, t).unwrap_or(&self.own).shadow(a, t)
    }

    /// The time of the right part `[a..t]` without trailing empty blocks; 0 if it is one block.
    fn shadow_time(&self, a: usize, t: usize) -> i64 {
        if a == t { 0 } else { self.kept.volume(a, t) + self.shadow(a, t) }
    }

    /// The last column before `end` for which the right part from `a` on takes at most `time`;
    /// columns up to `from` are known to be so. The search starts at run `hint` of the part's row.
    #[inline]
    fn far(&self, a: usize, time: i64, from: usize, end: usize, hint: &mut u32) -> usize {
        let runs = self.right(a);
        let kept = self.kept;
        let target = time + kept.prefix[a];
        let within = |j: usize, law: Law| kept.prefix[j + 1] + law.at(j, kept) <= target;
        let count = gallop(runs, *hint as usize, |run| within(run.start(), run.law()));
        if count == 0 {
            return from;
        }
        *hint = count as u32;
        let run = runs[count - 1];
        let stop = runs.get(count).map_or(end, |next| next.start());
        let expected = kept.blocks_in(target - kept.prefix[run.start()] - run.law().at(run.start(), kept));
        let within = |j: usize| within(j, run.law());
        last_within(run.start(), stop, run.start().saturating_add(expected), within).max(from)
    }
}

/// The row at hand.
struct Row<E> {
    i: usize,
    /// Its runs so far, in the tile's columns.
    runs: Vec<Run<E>>,
    /// Ends of runs whose left part is the later one, with their excess: both rise.
    deque: Vec<(u32, i64)>,
    head: usize,
    /// Up to where the front of the deque is the later part.
    reach: Option<usize>,
    /// The last run end whose left part is ready before the right one.
    late: Option<usize>,
    /// A run, not after the column at hand, in the row of its right part.
    late_run: usize,
    /// The excess of the column before.
    last: i64,
}

impl<E: Excess> Row<E> {
    /// `C(i, b)` of a left part; 0 if it is a single block.
    #[inline]
    fn left_time<S: Source<E>>(&self, finished: &Finished<'_, E, S>, b: usize) -> i64 {
        if b == self.i {
            return 0;
        }
        let runs = finished.source.left(self.i, b).unwrap_or(&self.runs);
        finished.kept.volume(self.i, b) + excess_in(runs, b, finished.kept)
    }

    fn push(&mut self, k: usize, excess: i64) {
        while self.deque.len() > self.head && self.deque[self.deque.len() - 1].1 >= excess {
            self.deque.pop();
        }
        if self.deque.len() == self.head {
            self.deque.clear();
            self.head = 0;
            self.reach = None;
        }
        self.deque.push((k as u32, excess));
    }

    fn append(&mut self, j: usize, end: usize, law: Law, first: usize, kept: &Kept) {
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

    /// The last run with columns `j..=end` added, if one law covers them.
    fn merge(&self, j: usize, end: usize, law: Law, kept: &Kept) -> Option<Run<E>> {
        let run = *self.runs.last()?;
        if let (Law::Level(old), Law::Level(new)) = (run.law(), law)
            && old == new
        {
            return Some(run);
        }
        if kept.lead(j) < kept.lead(j - 1) {
            return None;
        }
        let base = kept.as_falling(run.law(), run.start(), j - 1)?;
        (kept.as_falling(law, j, end)? == base).then(|| Run::new(run.start(), Law::Falling(base)))
    }
}

/// The sweep of one tile.
pub(super) struct Sweep<'t, E, S> {
    finished: Finished<'t, E, S>,
    columns: &'t mut Columns<E>,
    row: Row<E>,
    rows: std::ops::Range<usize>,
    /// For each row of the tile the first column whose timer fires there.
    due: Vec<u32>,
    /// For each column the next with the same timer.
    next_due: Vec<u32>,
    last_expiry: usize,
    below: Vec<Run<E>>,
}

impl<'t, E: Excess, S: Source<E>> Sweep<'t, E, S> {
    pub(super) fn new(
        kept: &'t Kept,
        source: &'t S,
        columns: &'t mut Columns<E>,
        rows: std::ops::Range<usize>,
    ) -> Self {
        let count = columns.end() - columns.first();
        let mut sweep = Sweep {
            finished: Finished { kept, source, own: Tile::new(rows.end - 1) },
            columns,
            row: Row {
                i: 0,
                runs: Vec::new(),
                deque: Vec::new(),
                head: 0,
                reach: None,
                late: None,
                late_run: 0,
                last: NEVER,
            },
            due: vec![NONE; rows.len()],
            next_due: vec![NONE; count],
            rows,
            last_expiry: 0,
            below: Vec::new(),
        };
        for j in sweep.columns.first()..sweep.columns.end() {
            sweep.link_timer(j);
        }
        sweep
    }

    /// The tile, swept from its last row to its first.
    pub(super) fn run(mut self) -> Tile<E> {
        for i in self.rows.clone().rev() {
            self.sweep_row(i);
        }
        self.finished.own
    }

    fn sweep_row(&mut self, i: usize) {
        self.fire_timers(i);
        self.start_row(i);
        let start = self.finished.source.first_column(i).max(self.columns.first());
        let mut j = start;
        let mut below = 0;
        while j < self.columns.end() {
            j = self.cell(j, &mut below) + 1;
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

    /// Starts row `i`: the candidates in which the left part receives, at the tile's first column.
    fn start_row(&mut self, i: usize) {
        let kept = self.finished.kept;
        let first = self.finished.source.first_column(i);
        let row = &mut self.row;
        row.i = i;
        row.runs.clear();
        row.deque.clear();
        row.head = 0;
        row.reach = None;
        row.late = None;
        row.late_run = 0;
        row.last = NEVER;
        let start = self.columns.first();
        let root = self.finished.source.root();
        if first < start {
            self.resume_row(first, start);
        } else if root.is_none_or(|root| root == i) {
            row.deque.push((i as u32, -kept.lead(i)));
        }
        if root.is_some() {
            return;
        }
        let columns = start..self.columns.end();
        if columns.contains(&(i + 1)) && shadow_limit(kept, i + 1).is_some() {
            self.columns.set_shadowed(i + 1, true);
        }
        if columns.contains(&(i + 2)) {
            let special = self.may_be_last_root(i + 2);
            self.columns.set_special(i + 2, special);
        }
    }

    /// Finds the candidates of a row that earlier tiles have begun, from its last run backwards.
    fn resume_row(&mut self, first: usize, start: usize) {
        let (kept, i) = (self.finished.kept, self.row.i);
        let mut kept_back: Vec<(u32, i64)> = Vec::new();
        let mut column = start - 1;
        let mut least = NEVER;
        'rows: loop {
            let runs = self.finished.source.before(i, column);
            let mut position = run_of(runs, column);
            loop {
                let excess = runs[position].law().at(column, kept);
                if least == NEVER {
                    self.row.last = excess;
                    least = excess;
                } else if excess < least {
                    let time = kept.volume(i, column) + excess;
                    if self.finished.right_time(column + 1, start) > time {
                        self.row.late = Some(column);
                        break 'rows;
                    }
                    least = excess;
                    kept_back.push((column as u32, excess));
                }
                let run_start = runs[position].start();
                if run_start == first {
                    let copies_first = self.finished.source.root().is_none_or(|root| root == i);
                    if copies_first && -kept.lead(i) < least {
                        if self.finished.right_time(i + 1, start) > kept.copy(i) {
                            self.row.late = Some(i);
                        } else {
                            kept_back.push((i as u32, -kept.lead(i)));
                        }
                    }
                    break 'rows;
                }
                column = run_start - 1;
                if position == 0 {
                    continue 'rows;
                }
                position -= 1;
            }
        }
        self.row.deque.extend(kept_back.iter().rev());
    }

    /// Fills the cells from column `j` on in which the same candidate is best; the last of them.
    fn cell(&mut self, j: usize, below: &mut usize) -> usize {
        let kept = self.finished.kept;
        let i = self.row.i;
        let end = self.columns.end();
        let level = self.front_of_row(j);
        if self.columns.is_shadowed(j) {
            self.shadow_cell(j);
        }
        let mut best = level.min(self.row.last);
        if let Some(k) = self.row.late {
            let time = self.finished.right_time_from(k + 1, j, &mut self.row.late_run);
            let value = time - kept.volume(i, k);
            if value >= best {
                self.row.late = None;
            } else {
                best = value;
            }
        }
        if !self.columns.is_quiet(j) {
            if self.columns.is_awake(j) {
                best = best.min(self.wake(j));
            }
            if self.columns.is_special(j) {
                best = best.min(self.last_root(j));
            }
        }
        let first_below = self.finished.source.first_column(i + 1);
        let alpha = kept.latency;
        if let Some(root) = self.finished.source.root() {
            if j == root {
                best = best.min(self.last_root(j));
            }
        } else if j == i + 1 {
            // The pair: its right processor may receive, too.
            best = best.min(-kept.lead(j));
        }
        let (law, stop) = if first_below == usize::MAX && best == level {
            (Law::Level(best + alpha), self.reach(j))
        } else if j < first_below {
            (Law::Level(best + alpha), j)
        } else {
            let (piece, stop) = self.front_of_columns(j, below);
            let value = piece.at(j, kept);
            if value <= best {
                match piece {
                    Law::Falling(base) if stop > j => (Law::Falling(base + alpha), stop),
                    _ => (Law::Level(value + alpha), stop),
                }
            } else if best == level {
                let stop = match piece {
                    Law::Level(_) => stop,
                    Law::Falling(base) => {
                        let leads = kept.leads(j, stop);
                        j + leads.partition_point(|w| base - w >= best) - 1
                    }
                };
                let stop = self.extend(best, stop, below);
                (Law::Level(best + alpha), stop)
            } else {
                (Law::Level(best + alpha), j)
            }
        };
        debug_assert!(stop < end);
        let first = self.finished.source.first_column(i);
        self.row.append(j, stop, law, first, kept);
        stop
    }

    /// How far beyond `stop` the front of the row's deque stays better than the columns' fronts,
    /// which it is up to there.
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

    /// The least excess over left parts that are the later ones.
    #[inline]
    fn front_of_row(&mut self, j: usize) -> i64 {
        while let Some(&(k, excess)) = self.row.deque.get(self.row.head) {
            let reach = self.reach(j);
            if j <= reach {
                return excess;
            }
            self.row.late = Some(k as usize);
            self.row.late_run = 0;
            self.row.head += 1;
            self.row.reach = None;
        }
        NEVER
    }

    /// The last column for which the front of the row's deque is the later part.
    #[inline]
    fn reach(&mut self, j: usize) -> usize {
        if let Some(reach) = self.row.reach {
            return reach;
        }
        let (k, excess) = self.row.deque[self.row.head];
        let k = k as usize;
        let time = self.finished.kept.volume(self.row.i, k) + excess;
        let from = if k + 1 == j { j } else { j - 1 };
        let end = self.columns.end();
        let reach = self.finished.far(k + 1, time, from, end, self.columns.hint(k + 1));
        self.row.reach = Some(reach);
        reach
    }

    /// The excess of the columns' front candidate from `j` on, and up to where it follows one law
    /// and no column needs a look.
    fn front_of_columns(&self, j: usize, below: &mut usize) -> (Law, usize) {
        let end = self.columns.end();
        let step = self.columns.next_step(j + 1).min(end) - 1;
        if self.columns.is_filled(j) {
            let value = self.columns.front(j);
            if self.finished.kept.is_varied() {
                let bend = self.columns.next_bend(j + 1).min(end) - 1;
                if bend > step {
                    return (Law::Falling(value + self.finished.kept.lead(j)), bend);
                }
            }
            return (Law::Level(value), step);
        }
        let runs = self.below();
        while *below + 1 < runs.len() && runs[*below + 1].start() <= j {
            *below += 1;
        }
        let stop = runs.get(*below + 1).map_or(end, |next| next.start()) - 1;
        (runs[*below].law(), stop.min(step))
    }

    /// The excess that the columns' front candidate has in column `j`.
    fn front_value(&self, j: usize) -> i64 {
        if self.columns.is_filled(j) {
            self.columns.front(j)
        } else {
            excess_in(self.below(), j, self.finished.kept)
        }
    }

    /// Drops entries of column `j` whose left part has become the later one; the value of the
    /// last such candidate, or `NEVER`.
    fn wake(&mut self, j: usize) -> i64 {
        let kept = self.finished.kept;
        let mut dropped = None;
        let mut left = None;
        while let Some(entry) = self.columns.front_entry(j) {
            let r = entry.row as usize;
            let time = self.row.left_time(&self.finished, r - 1);
            if time <= kept.volume(r, j) + entry.excess.value() {
                left = (r - 1 > self.row.i).then_some(time);
                break;
            }
            self.columns.set_idle(j, entry.row);
            self.columns.drop_front(j);
            dropped = Some(time);
        }
        if dropped.is_some() {
            self.columns.refresh(j, kept);
        }
        let idle = self.columns.idle(j);
        if idle != NONE {
            let r = idle as usize;
            let time = dropped.unwrap_or_else(|| self.row.left_time(&self.finished, r - 1));
            let value = time - kept.volume(r, j);
            if value < self.front_value(j) {
                return value;
            }
            self.columns.set_idle(j, NONE);
        }
        self.columns.set_awake(j, false);
        self.schedule(j, left);
        NEVER
    }

    /// Whether the last processor of `[i..j]` may be better than its predecessors as a root.
    fn may_be_last_root(&self, j: usize) -> bool {
        let kept = self.finished.kept;
        let volume = kept.volume(self.row.i, j - 1);
        match LastRoot::of(kept, j) {
            LastRoot::Copies => kept.lead(j) > volume,
            LastRoot::Takes => kept.volume(j, j) > volume,
            LastRoot::Waits => false,
        }
    }

    /// The candidates in which processor `j` receives everything else in one message and its
    /// entries in the column do not say so.
    fn last_root(&mut self, j: usize) -> i64 {
        let kept = self.finished.kept;
        let i = self.row.i;
        let lead = kept.lead(j);
        if i + 1 == j {
            return -lead;
        }
        if self.finished.source.root().is_none() && !self.may_be_last_root(j) {
            self.columns.set_special(j, false);
            return NEVER;
        }
        let kind = LastRoot::of(kept, j);
        if kind == LastRoot::Waits {
            return NEVER;
        }
        let copies = self.row.left_time(&self.finished, j - 1) - lead;
        if kind == LastRoot::Copies {
            return copies;
        }
        let waits = self.finished.shadow_time(i, j - 1) - kept.volume(j, j);
        copies.min(waits.max(-lead))
    }

    /// Finds the cell of column `t` without trailing empty blocks, after the front of the row's
    /// deque has been brought to this column.
    fn shadow_cell(&mut self, t: usize) {
        let kept = self.finished.kept;
        let i = self.row.i;
        if shadow_limit(kept, t).is_none_or(|limit| kept.volume(i, t) >= limit) {
            self.columns.set_shadowed(t, false);
            self.columns.shadows.remove(&t);
            return;
        }
        let best = if t == i + 1 {
            -kept.lead(i).max(kept.lead(t))
        } else {
            let shadow = self.columns.shadows.entry(t).or_default();
            let by_right = shadow.least(t, kept, |b| self.row.left_time(&self.finished, b));
            self.shadow_by_left(t).min(by_right.unwrap_or(NEVER)).min(self.shadow_last_root(t))
        };
        let excess = kept.latency + best;
        self.finished.own.push_shadow(i, t, excess);
        self.columns.shadows.entry(t).or_default().push(i, excess);
    }

    /// The least of a shadow cell's candidates in which the left part receives.
    fn shadow_by_left(&self, t: usize) -> i64 {
        let kept = self.finished.kept;
        let i = self.row.i;
        let ends = &self.row.deque[self.row.head..];
        let valid = ends.iter().position(|&(k, excess)| {
            let k = k as usize;
            self.finished.shadow_time(k + 1, t) <= kept.volume(i, k) + excess
        });
        let late = match valid.unwrap_or(ends.len()) {
            0 => self.row.late,
            position => Some(ends[position - 1].0 as usize),
        };
        let late = late.map(|k| self.finished.shadow_time(k + 1, t) - kept.volume(i, k));
        let valid = valid.map(|position| ends[position].1);
        late.into_iter().chain(valid).fold(self.row.last, i64::min)
    }

    /// The least of a shadow cell's candidates in which its last processor is the root.
    fn shadow_last_root(&self, t: usize) -> i64 {
        let kept = self.finished.kept;
        let i = self.row.i;
        let (lead, block) = (kept.lead(t), kept.volume(t, t));
        let left = self.row.left_time(&self.finished, t - 1);
        match kept.gap(t - 1) {
            0 => left - lead,
            1 if block > kept.volume(i, t - 1) => {
                let waits = self.finished.shadow_time(i, t - 1) - block;
                (left - lead).min(waits.max(-lead))
            }
            1 => left - lead,
            _ => (left - block).max(-lead),
        }
    }

    // Timers.

    fn fire_timers(&mut self, i: usize) {
        let mut j = self.due[i - self.rows.start];
        while j != NONE {
            let column = j as usize;
            self.columns.set_timer(column, NONE);
            self.columns.set_awake(column, true);
            j = self.next_due[column - self.columns.first()];
        }
    }

    fn link_timer(&mut self, j: usize) {
        let row = self.columns.timer(j);
        if row != NONE && row as usize >= self.rows.start {
            debug_assert!((row as usize) < self.rows.end);
            let slot = row as usize - self.rows.start;
            self.next_due[j - self.columns.first()] = self.due[slot];
            self.due[slot] = j as u32;
        }
    }

    /// Sets the timer of column `j` for its front entry, unless it has one. `left` is the time of
    /// the entry's left part, unless that is a single block.
    fn schedule(&mut self, j: usize, left: Option<i64>) {
        if self.columns.timer(j) != NONE || self.columns.is_awake(j) {
            return;
        }
        let Some(entry) = self.columns.front_entry(j) else { return };
        let r = entry.row as usize;
        let time = self.finished.kept.volume(r, j) + entry.excess.value();
        if let Some(row) = self.expiry(r, time, left) {
            self.last_expiry = row;
            self.columns.set_timer(j, row as u32);
            self.link_timer(j);
        }
    }

    /// The first row above that may have `C(row, r - 1) > time`; `None` if there is none.
    fn expiry(&self, r: usize, time: i64, left: Option<i64>) -> Option<usize> {
        let kept = self.finished.kept;
        let i = self.row.i;
        let alpha = kept.latency;
        let may_expire = |row: usize| {
            if kept.volume(row, r - 1) + alpha * levels(r - row) <= time {
                return false;
            }
            let Some(left) = left else { return true };
            let added = kept.volume(row, i - 1);
            left.max(added + alpha * levels(i - row)) + alpha + added > time
        };
        if i == 0 {
            return None;
        }
        // Neighbouring columns expire in neighbouring rows: gallop from the last result.
        let start = self.last_expiry.min(i - 1);
        let mut step = 1;
        let (mut safe, mut expired);
        if may_expire(start) {
            expired = start;
            loop {
                safe = (expired + step).min(i);
                if safe == i || !may_expire(safe) {
                    break;
                }
                expired = safe;
                step *= 2;
            }
        } else {
            safe = start;
            loop {
                if safe == 0 {
                    return None;
                }
                expired = safe.saturating_sub(step);
                if may_expire(expired) {
                    break;
                }
                safe = expired;
                step *= 2;
            }
        }
        while safe - expired > 1 {
            let middle = expired + (safe - expired) / 2;
            if may_expire(middle) { expired = middle } else { safe = middle }
        }
        Some(expired)
    }

    // The columns' entries.

    /// Hands row `i` to the columns: where it rose above row `i + 1`, the excess of row `i + 1`
    /// becomes an entry; where it fell, entries may be dominated.
    fn settle(&mut self) {
        let i = self.row.i;
        let kept = self.finished.kept;
        let end = self.columns.end();
        let first = self.finished.source.first_column(i + 1).max(self.columns.first());
        if first >= end {
            return;
        }
        let mut below = std::mem::take(&mut self.below);
        below.clear();
        below.extend_from_slice(self.below());
        let mut new = run_of(&self.row.runs, first);
        let mut old = 0;
        let mut j = first;
        while j < end {
            let (new_law, old_law) = (self.row.runs[new].law(), below[old].law());
            let new_end = self.row.runs.get(new + 1).map_or(end, |run| run.start());
            let old_end = below.get(old + 1).map_or(end, |run| run.start());
            let stop = new_end.min(old_end);
            let one_law = std::mem::discriminant(&new_law) == std::mem::discriminant(&old_law);
            if one_law || kept.is_flat(j, stop - 1) {
                let (a, b) = (new_law.at(j, kept), old_law.at(j, kept));
                if a > b {
                    (j..stop).for_each(|j| self.rose(j, old_law.at(j, kept)));
                } else if a < b {
                    self.fell(j, stop, new_law);
                }
            } else {
                for j in j..stop {
                    let (a, b) = (new_law.at(j, kept), old_law.at(j, kept));
                    if a > b {
                        self.rose(j, b);
                    } else if a < b {
                        self.fell(j, j + 1, new_law);
                    }
                }
            }
            j = stop;
            new += usize::from(new_end == stop);
            old += usize::from(old_end == stop);
        }
        self.below = below;
    }

    /// Gives a column that row `i` has begun the entry of its last processor as a root that waits.
    fn begin_column(&mut self) {
        let kept = self.finished.kept;
        let i = self.row.i;
        let j = i + 1;
        let root = self.finished.source.root();
        if !(self.columns.first()..self.columns.end()).contains(&j)
            || root.is_some_and(|root| root != j)
            || LastRoot::of(kept, j) != LastRoot::Waits
            || -kept.lead(j) >= excess_in(&self.row.runs, j, kept)
        {
            return;
        }
        self.columns.push(j, j, -kept.lead(j));
        self.columns.refresh(j, kept);
        self.schedule(j, None);
    }

    fn rose(&mut self, j: usize, old: i64) {
        if self.columns.push(j, self.row.i + 1, old) {
            self.columns.refresh(j, self.finished.kept);
            self.schedule(j, None);
        }
    }

    fn fell(&mut self, from: usize, stop: usize, law: Law) {
        let mut j = self.columns.next_filled(from);
        while j < stop {
            if self.columns.drop_dominated(j, law.at(j, self.finished.kept)) {
                self.columns.refresh(j, self.finished.kept);
            }
            j = self.columns.next_filled(j + 1);
        }
    }
}

/// The last `j` in `start..stop` for which `within` holds: it holds at `start`, and once it does
/// not, never again. Fast if `guess` is close.
#[inline]
fn last_within(
    start: usize,
    stop: usize,
    guess: usize,
    within: impl Fn(usize) -> bool,
) -> usize {
    let (mut low, mut high) = (start, stop);
    let guess = guess.min(stop - 1);
    let mut step = 1;
    if guess > start && within(guess) {
        low = guess;
        while low + step < stop {
            if !within(low + step) {
                high = low + step;
                break;
            }
            low += step;
            step *= 2;
        }
    } else if guess > start {
        high = guess;
        while high > start + step {
            if within(high - step) {
                low = high - step;
                break;
            }
            high -= step;
            step *= 2;
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if within(middle) { low = middle } else { high = middle }
    }
    low
}

/// The number of leading runs for which `holds`, of which there are at least `from`; fast if they
/// are few more.
#[inline]
fn gallop<E: Excess>(runs: &[Run<E>], from: usize, holds: impl Fn(Run<E>) -> bool) -> usize {
    let mut low = from;
    let mut step = 1;
    while low + step <= runs.len() && holds(runs[low + step - 1]) {
        low += step;
        step *= 2;
    }
    let high = (low + step - 1).min(runs.len());
    low + runs[low..high].partition_point(|&run| holds(run))
}

/// `ceil(log2(count))`.
#[inline]
fn levels(count: usize) -> i64 {
    i64::from(count.next_power_of_two().trailing_zeros())
}
