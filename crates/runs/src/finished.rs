//! Finished rows, in this tile and in others: the input of a tile's sweep.

use super::kept::KeptBlocks;
use super::run::{Excess, Run, excess_in, gallop, last_with};
use super::tile::Tile;

/// The finished tiles that a tile's sweep reads: one implementation for free roots, one for a given
/// root, in which left and right parts come from tables of their own.
pub(super) trait FinishedTiles<E>: Sync {
    /// The finished runs of left parts `[i..b]`, in the tile that holds column `b`; `None` if that
    /// is the row at hand.
    fn left(&self, i: usize, b: usize) -> Option<&[Run<E>]>;

    /// The runs of right parts from `a` on, in the columns of the tile at hand; `None` if `a` is
    /// one of its rows.
    fn right(&self, a: usize) -> Option<&[Run<E>]>;

    /// The runs of row `i` of the table that is being filled, in the finished tile that holds
    /// column `b`.
    fn before(&self, i: usize, b: usize) -> &[Run<E>];

    /// The runs of the row after the tile's last, in the tile's columns.
    fn below(&self, row: usize) -> &[Run<E>];

    /// The tile that holds the cell `(a, b)` of a part; `None` if it is the tile at hand.
    fn part(&self, a: usize, b: usize) -> Option<&Tile<E>>;

    /// The first column of row `i`; `usize::MAX` if there is no such row.
    fn first_column(&self, i: usize) -> usize;

    /// The root that all trees of the table have, if it is given.
    fn root(&self) -> Option<usize>;
}

/// All finished rows: other tiles, and the rows of this one.
pub(super) struct Finished<'t, E, S> {
    pub(super) kept: &'t KeptBlocks,
    pub(super) source: &'t S,
    pub(super) own: Tile<E>,
}

impl<E: Excess, S: FinishedTiles<E>> Finished<'_, E, S> {
    /// The runs of right parts from `a` on.
    #[inline(always)]
    fn right(&self, a: usize) -> &[Run<E>] {
        self.source.right(a).unwrap_or_else(|| self.own.row(a))
    }

    /// `C(a, j)` of a right part; 0 if it is a single block.
    #[inline]
    pub(super) fn right_time(&self, a: usize, j: usize) -> i64 {
        if a == j { 0 } else { self.kept.volume(a, j) + excess_in(self.right(a), j, self.kept) }
    }

    /// [`right_time`](Self::right_time) for columns that only grow: the search starts at `run`.
    #[inline]
    pub(super) fn right_time_from(&self, a: usize, j: usize, run: &mut usize) -> i64 {
        if a == j {
            return 0;
        }
        let runs = self.right(a);
        *run = gallop(runs, *run, |run| run.start() <= j) - 1;
        self.kept.volume(a, j) + runs[*run].law().at(j, self.kept)
    }

    /// Last column before `end` for which the right part from `a` on takes at most `time`, or
    /// `from` if that is later. At least the first `hint` runs of row `a` are known to start within
    /// that time; it is raised to the number found.
    #[inline]
    pub(super) fn reach(
        &self,
        a: usize,
        time: i64,
        from: usize,
        end: usize,
        hint: &mut u32,
    ) -> usize {
        let kept = self.kept;
        let runs = self.right(a);
        let target = time + kept.prefix(a);
        let within = |j: usize, run: Run<E>| kept.prefix(j + 1) + run.law().at(j, kept) <= target;
        // Times do not fall along the row (R).
        let count = gallop(runs, *hint as usize, |run| within(run.start(), run));
        if count == 0 {
            return from;
        }
        *hint = count as u32;
        let run = runs[count - 1];
        let start = run.start();
        let stop = runs.get(count).map_or(end, |next| next.start());
        let missing = target - kept.prefix(start) - run.law().at(start, kept);
        let guess = start.saturating_add(kept.blocks_in(missing));
        last_with(start, stop, guess, |j| within(j, run)).max(from)
    }

    /// The excess of the shadow cell `(a, t)`.
    fn shadow(&self, a: usize, t: usize) -> i64 {
        let tile = self.source.part(a, t).unwrap_or(&self.own);
        tile.shadow(a, t).expect("shadow cells are found before they are needed")
    }

    /// The time of the right part `[a..t]` without trailing empty blocks; 0 if it is one block.
    pub(super) fn shadow_time(&self, a: usize, t: usize) -> i64 {
        if a == t { 0 } else { self.kept.volume(a, t) + self.shadow(a, t) }
    }
}
