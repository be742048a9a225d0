//! The last rank of a range as its root, and what empty blocks change.
//!
//! ```text
//!  # a kept block, o an empty one; j the last kept block of the range, as its root;
//!  z_j = 0 in the first three cases
//!
//!  i ... j-1   j          z_(j-1) = 0           j copies after it has received        Copies
//!  i ...  #    #
//!
//!  i ... j-1   j          z_(j-1) = 1           o goes to the left part, j copies;    Takes
//!  i ...  #  o #                                or j takes o and waits, and the left
//!                                               part is the shadow cell [i..j-1]
//!
//!  i ... j-1   j          z_(j-1) >= 2          the last o goes to j, which copies    Waits
//!  i ...  # oo #                                while it waits; the others go left
//!
//!  i ... j-1   j          z_j >= 1              o trails: it is j's, which copies     Waits
//!  i ...  #    # o                              while it waits
//! ```
//!
//! Empty blocks have no rows and columns: sending them costs nothing. Yet they matter, since a
//! rank beside an empty block may copy its own block *while* it waits for
//! others, which otherwise only an inner rank or the first one may. Let `z_t` be the number of
//! empty blocks between the kept blocks `t` and `t + 1`.
//!
//! - Leading empty blocks go to the root at the end. Blocks between two parts go to the left part,
//!   where they trail; in the table's column `t` the range `[i..t]` includes those that follow `t`.
//! - A single rank that sends needs no copy, so that its empty neighbours are left to the other
//!   part: it still counts as ready at 0.
//! - A last rank `j` that receives everything copies first if it has an empty block of its own:
//!   one that trails, or the last of two or more between `j - 1` and `j`, the others being enough
//!   for the left part. Then its candidate is that of an entry `(j, -w_j)` in the column's stack.
//! - A single empty block in between can go to either. If `j` takes it, the left part must do
//!   without: its time is that of a *shadow cell*, `[i..j-1]` without what trails. It follows the
//!   same recurrence, with shadow cells for right parts and ordinary ones for left parts.
//!
//! A last root is compared with `k = j-1` and the left part receiving, `C(i,j-1) - S(i,j-1)`. Hence it
//! is of no use once `S(i,j-1)` exceeds `w_j`, or `m_j` if `j` takes a block; neither are the shadow
//! cells it needs. As every such `j` doubles the volume from `i` on, a row has at most
//! `log2(S / m_i) + 1` of them. Only a given root has no such bound: it must be the root.

use super::finished::FinishedTiles;
use super::kept::KeptBlocks;
use super::row::NEVER;
use super::run::Excess;
use super::sweep::Sweep;
use std::collections::VecDeque;

/// Case in which the last rank of a range may be its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastRoot {
    /// It copies after it has received.
    Copies,
    /// It has an empty block to begin with, and copies while the others gather.
    Waits,
    /// Either; but to wait it takes the only empty block of the left part.
    Takes,
}

impl LastRoot {
    /// The way of block `j >= 1`, as the last of a range with all empty blocks that follow.
    pub(super) fn of(kept: &KeptBlocks, j: usize) -> LastRoot {
        if kept.gap(j) > 0 { LastRoot::Waits } else { LastRoot::of_bare(kept, j) }
    }

    /// The way of block `j >= 1`, as the last of a range without the empty blocks that follow.
    pub(super) fn of_bare(kept: &KeptBlocks, j: usize) -> LastRoot {
        match kept.gap(j - 1) {
            0 => LastRoot::Copies,
            1 => LastRoot::Takes,
            _ => LastRoot::Waits,
        }
    }
}

/// The volume of ranges `[i..t]` from which on their shadow cell is of no use; `None` if it never
/// is of use.
fn shadow_limit(kept: &KeptBlocks, t: usize) -> Option<i64> {
    let next = t + 1;
    if next >= kept.blocks() || kept.gap(t) != 1 || kept.gap(next) == 2 {
        return None;
    }
    Some(if kept.root() == Some(next) { i64::MAX } else { kept.volume(next, next) })
}

/// The candidates of a shadowed column in which the right part receives: as in the other columns,
/// but with every cell of the column at hand, and looked at in every row.
#[derive(Clone, Debug, Default)]
pub(super) struct Shadow {
    /// Rows and excesses from front to back: rows fall, excesses rise.
    entries: VecDeque<(usize, i64)>,
    /// The last row dropped from the front: its left part is the later one.
    idle: Option<usize>,
}

impl Shadow {
    /// The least candidate of column `t`, where `[i..b]` takes `left_time(b)`.
    fn least(&mut self, t: usize, kept: &KeptBlocks, left_time: impl Fn(usize) -> i64) -> i64 {
        while let Some(&(r, excess)) = self.entries.front() {
            if left_time(r - 1) <= kept.volume(r, t) + excess {
                break;
            }
            self.idle = Some(r);
            self.entries.pop_front();
        }
        let idle = self.idle.map(|r| left_time(r - 1) - kept.volume(r, t));
        let front = self.entries.front().map(|entry| entry.1);
        idle.into_iter().chain(front).fold(NEVER, i64::min)
    }

    /// Adds the cell of row `r`, above all others.
    fn push(&mut self, r: usize, excess: i64) {
        while self.entries.back().is_some_and(|entry| entry.1 >= excess) {
            self.entries.pop_back();
        }
        self.entries.push_back((r, excess));
    }
}

impl<E: Excess, S: FinishedTiles<E>> Sweep<'_, E, S> {
    /// Marks column `j`, which begins with the row at hand, if its last rank may be worth
    /// trying as a root.
    pub(super) fn begin_last_root(&mut self, j: usize) {
        if self.columns.range().contains(&j) {
            let special = self.may_be_last_root(j);
            self.columns.set_special(j, special);
        }
    }

    /// Marks column `t`, which begins with the row at hand, if its shadow cells are needed.
    pub(super) fn begin_shadow(&mut self, t: usize) {
        if self.columns.range().contains(&t) && shadow_limit(self.finished.kept, t).is_some() {
            self.columns.set_shadowed(t, true);
        }
    }

    /// True if the last rank of `[i..j]`, three or more, may be better than its predecessors as a
    /// root, and no entry of its column says so.
    fn may_be_last_root(&self, j: usize) -> bool {
        let kept = self.finished.kept;
        let volume = kept.volume(self.row.i, j - 1);
        match LastRoot::of(kept, j) {
            LastRoot::Copies => kept.lead(j) > volume,
            LastRoot::Takes => kept.volume(j, j) > volume,
            LastRoot::Waits => false,
        }
    }

    /// The candidates in which rank `j` receives everything else in one message, unless an
    /// entry of its column stands for them.
    pub(super) fn last_root(&mut self, j: usize) -> i64 {
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
        let takes = self.finished.shadow_time(i, j - 1) - kept.volume(j, j);
        copies.min(takes.max(-lead))
    }

    /// Finds the shadow cell of column `t`, after the front of the row's queue has been brought to
    /// this column.
    pub(super) fn shadow_cell(&mut self, t: usize) {
        let kept = self.finished.kept;
        let i = self.row.i;
        if shadow_limit(kept, t).is_none_or(|limit| kept.volume(i, t) >= limit) {
            self.columns.set_shadowed(t, false);
            self.columns.shadows.remove(&t);
            return;
        }
        let shadow = self.columns.shadows.entry(t).or_default();
        let best = if t == i + 1 {
            -kept.lead(i).max(kept.lead(t))
        } else {
            let by_right = shadow.least(t, kept, |b| self.row.left_time(&self.finished, b));
            by_right.min(self.shadow_by_left(t)).min(self.shadow_last_root(t))
        };
        let excess = kept.latency + best;
        self.finished.own.push_shadow(i, t, excess);
        self.columns.shadows.entry(t).or_default().push(i, excess);
    }

    /// The least of a shadow cell's candidates in which the left part receives. Shadow cells take
    /// longer than ordinary ones, so that ends that are late for these are late for those.
    fn shadow_by_left(&self, t: usize) -> i64 {
        let kept = self.finished.kept;
        let i = self.row.i;
        let ends = &self.row.queue[self.row.head..];
        let in_reach = ends.partition_point(|&(k, excess)| {
            let k = k as usize;
            self.finished.shadow_time(k + 1, t) > kept.volume(i, k) + excess
        });
        let late = match in_reach {
            0 => self.row.late,
            position => Some(ends[position - 1].0 as usize),
        };
        let late = late.map(|k| self.finished.shadow_time(k + 1, t) - kept.volume(i, k));
        let front = ends.get(in_reach).map(|end| end.1);
        late.into_iter().chain(front).fold(self.row.last, i64::min)
    }

    /// The least of a shadow cell's candidates in which its last rank is the root.
    fn shadow_last_root(&self, t: usize) -> i64 {
        let kept = self.finished.kept;
        let i = self.row.i;
        let (lead, block) = (kept.lead(t), kept.volume(t, t));
        let left = self.row.left_time(&self.finished, t - 1);
        match LastRoot::of_bare(kept, t) {
            LastRoot::Takes if block > kept.volume(i, t - 1) => {
                let takes = self.finished.shadow_time(i, t - 1) - block;
                (left - lead).min(takes.max(-lead))
            }
            LastRoot::Copies | LastRoot::Takes => left - lead,
            LastRoot::Waits => (left - block).max(-lead),
        }
    }
}
