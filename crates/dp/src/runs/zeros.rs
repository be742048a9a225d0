//! Empty blocks: what remains of them once they have lost their rows and columns.

use super::kept::Kept;
use std::collections::VecDeque;

/// How the last processor of a range may be its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastRoot {
    /// It copies after it has received.
    Copies,
    /// An empty block is at hand, so that it copies while the others gather.
    Waits,
    /// Either, but for the latter the left part has to do without its only empty block.
    Takes,
}

impl LastRoot {
    /// The way in which block `j >= 1` may be a root.
    pub(super) fn of(kept: &Kept, j: usize) -> LastRoot {
        match (kept.gap(j - 1), kept.gap(j)) {
            (0, 0) => LastRoot::Copies,
            (1, 0) => LastRoot::Takes,
            _ => LastRoot::Waits,
        }
    }
}

/// Up to which volume of a range that ends with block `t` its time without trailing empty blocks
/// is needed; `None` if it never is.
pub(super) fn shadow_limit(kept: &Kept, t: usize) -> Option<i64> {
    let next = t + 1;
    if next >= kept.blocks() || kept.gap(t) != 1 || kept.gap(next) == 2 {
        return None;
    }
    Some(if kept.root() == Some(next) { i64::MAX } else { kept.volume(next, next) })
}

/// The candidates of a shadowed column in which the right part receives.
#[derive(Clone, Debug, Default)]
pub(super) struct Shadow {
    /// Rows and excesses: rows fall, excesses rise.
    entries: VecDeque<(usize, i64)>,
    idle: Option<usize>,
}

impl Shadow {
    /// The least excess, in row `i` and column `t`, of candidates in which the right part is not a
    /// single block and receives; `left_time(b)` is the time of `[i..b]`.
    pub(super) fn least(
        &mut self,
        t: usize,
        kept: &Kept,
        left_time: impl Fn(usize) -> i64,
    ) -> Option<i64> {
        while let Some(&(r, excess)) = self.entries.front() {
            if left_time(r - 1) <= kept.volume(r, t) + excess {
                break;
            }
            self.idle = Some(r);
            self.entries.pop_front();
        }
        let idle = self.idle.map(|r| left_time(r - 1) - kept.volume(r, t));
        let front = self.entries.front().map(|entry| entry.1);
        idle.into_iter().chain(front).min()
    }

    /// Adds the cell of row `r`, above all others.
    pub(super) fn push(&mut self, r: usize, excess: i64) {
        while self.entries.back().is_some_and(|entry| entry.1 >= excess) {
            self.entries.pop_back();
        }
        self.entries.push_back((r, excess));
    }
}
