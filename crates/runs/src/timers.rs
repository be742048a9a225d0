//! Times at which columns' entries are examined: timers, and their effects.
//!
//! An entry `(r, e)` of column `j` is exact while its left part is not the later one, `C(i,r-1) <= C(r,j)`; by (L) it
//! is lost for good when that fails. Two simple trees bound the times `C(i',r-1)` of rows `i'` to come; the bounds only
//! grow as `i'` falls, so that a search finds the first row in which both exceed `C(r,j)`.
//!
//! ```text
//!          its timer's row is reached           C(i,r-1) <= C(r,j): a new timer, by closer bounds
//! asleep ----------------------------> awake ---------------------------------------------> asleep
//!                                        | else the front is dropped, and is idle: its value is
//!                                        v looked at in every row
//!                                      idle -------------------------------------------> asleep
//!                                             once the new front's value is no larger
//! ```

use super::column::NONE;
use super::finished::FinishedTiles;
use super::row::NEVER;
use super::run::Excess;
use super::sweep::Sweep;

impl<E: Excess, S: FinishedTiles<E>> Sweep<'_, E, S> {
    /// Wakes the columns whose timers are set to row `i`.
    pub(super) fn fire_timers(&mut self, i: usize) {
        let mut j = self.due[i - self.rows.start];
        while j != NONE {
            let column = j as usize;
            self.columns.set_timer(column, NONE);
            self.columns.set_awake(column, true);
            j = self.next_due[column - self.columns.first()];
        }
    }

    /// Enters column `j` in the list of the row that its timer is set to, if that is in this tile.
    pub(super) fn link_timer(&mut self, j: usize) {
        let row = self.columns.timer(j);
        if row != NONE && row as usize >= self.rows.start {
            let slot = row as usize - self.rows.start;
            self.next_due[j - self.columns.first()] = self.due[slot];
            self.due[slot] = j as u32;
        }
    }

    /// Drops entries of column `j` whose left part has become the later one; the value of the
    /// last such candidate, `C(i,r-1) - S(r,j)`, while it is less than the front's.
    ///
    /// As the row falls that value rises, and the front's never does until it is dropped itself: once
    /// the candidate is dominated it can be forgotten, and the column sleeps until its next timer.
    pub(super) fn wake(&mut self, j: usize) -> i64 {
        let kept = self.finished.kept;
        let mut idle_time = None;
        let mut left = None;
        let mut front = self.columns.front_entry(j);
        while let Some(entry) = front {
            let r = entry.row as usize;
            let time = self.row.left_time(&self.finished, r - 1);
            if time <= kept.volume(r, j) + entry.excess.value() {
                left = (r - 1 > self.row.i).then_some(time);
                break;
            }
            self.columns.set_idle(j, entry.row);
            front = self.columns.drop_front(j);
            idle_time = Some(time);
        }
        if idle_time.is_some() {
            self.columns.refresh(j, kept);
        }
        let idle = self.columns.idle(j);
        if idle != NONE {
            let r = idle as usize;
            let time = idle_time.unwrap_or_else(|| self.row.left_time(&self.finished, r - 1));
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

    /// Sets the timer of column `j` for its front entry. `left` is the time of the entry's left part,
    /// unless that is a single block.
    ///
    /// A timer that is already set is for an earlier front, whose left part was longer and whose
    /// right part was shorter: by (L) and (R) it fires no later than it has to for this one.
    pub(super) fn schedule(&mut self, j: usize, left: Option<i64>) {
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

    /// The first row above the one at hand for which `C(row, r - 1)` may exceed `time`, given its
    /// value `left` for the row at hand unless that is a single block.
    ///
    /// Neighbouring columns expire in neighbouring rows: the search starts from the last result.
    fn expiry(&self, r: usize, time: i64, left: Option<i64>) -> Option<usize> {
        let i = self.row.i;
        if i == 0 {
            return None;
        }
        let may_expire = |row| self.bound(row, r, left) > time;
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

    /// An upper bound on `C(row, r - 1)`, for a row above the one at hand.
    ///
    /// Halving by number: `C <= S + alpha ceil(log2(count))`, since in each join the part with more
    /// data may receive. Or: the new rows gather so, and then send to the root of the known part.
    #[inline(always)]
    fn bound(&self, row: usize, r: usize, left: Option<i64>) -> i64 {
        let kept = self.finished.kept;
        let i = self.row.i;
        let halving = kept.volume(row, r - 1) + kept.latency * levels(r - row);
        let Some(left) = left else { return halving };
        let added = kept.volume(row, i - 1);
        let joined = left.max(added + kept.latency * levels(i - row)) + kept.latency + added;
        halving.min(joined)
    }
}

/// `ceil(log2(count))`.
#[inline(always)]
fn levels(count: usize) -> i64 {
    i64::from(count.next_power_of_two().trailing_zeros())
}
