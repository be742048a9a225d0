//! The tables of a given root: two triangles of free roots, and a rectangle.
//!
//! `F(i, j)`, for `i <= r <= j`, is the least time of gathering `[i..j]` at `r`. The recurrence is
//! that of free roots, with `F` for the part that holds `r` and `C` for the other one:
//!
//! - The left part holds `r` and receives. Candidates are the ends of runs of row `i` of `F`; in
//!   row `r`, `r` alone counts as the end `(r, -w_r)`. In rows above it, `F(i, r)` is an ordinary
//!   first column.
//! - The right part holds `r` and receives: entries of columns of `F`, whose left parts end before `r`.
//! - `r` alone is the right part only in column `r`: the last rank as root, in every row.
//!
//! Both monotonicity laws hold of `F` as they do of `C`, by the same induction.

use super::RunsError;
use super::column::TileColumns;
use super::control::Control;
use super::finished::FinishedTiles;
use super::free_root::Triangle;
use super::kept::KeptBlocks;
use super::run::{Excess, Run, excess_in};
use super::sweep::Sweep;
use super::tile::{Pieces, Tile};
use rayon::prelude::*;
use std::ops::Range;

/// `F(i, j)` for all ranges that hold the given root, and `C(i, j)` for all that do not.
#[derive(Debug)]
pub(super) struct Rectangle<E> {
    root: usize,
    left: Triangle<E>,
    right: Triangle<E>,
    /// Rows of `F`, `0..=r`: the pieces of the left triangle, the last of which includes `r`.
    rows: Vec<Range<usize>>,
    /// Columns of `F`, `r..n`: the pieces of the right triangle, the first of which includes `r`.
    columns: Vec<Range<usize>>,
    /// Tile `(I, J)` at `I * columns.len() + J`.
    tiles: Vec<Option<Tile<E>>>,
}

impl<E: Excess> Rectangle<E> {
    /// The tables of a problem with a given root, in tiles of this side.
    ///
    /// # Errors
    /// [`RunsError::OutOfMemory`], [`RunsError::Cancelled`].
    pub(super) fn new(
        kept: &KeptBlocks,
        root: usize,
        side: usize,
        control: &Control<'_>,
    ) -> Result<Rectangle<E>, RunsError> {
        let before = Pieces::new(0..root, side);
        let after = Pieces::new(root + 1..kept.blocks(), side);
        let mut rows: Vec<Range<usize>> = (0..before.count()).map(|at| before.piece(at)).collect();
        match rows.last_mut() {
            Some(last) => last.end = root + 1,
            None => rows.push(0..root + 1),
        }
        let mut columns: Vec<Range<usize>> = (0..after.count()).map(|at| after.piece(at)).collect();
        match columns.first_mut() {
            Some(first) => first.start = root,
            None => columns.push(root..root + 1),
        }
        control.plan(
            Triangle::<E>::work(&before) + Triangle::<E>::work(&after) + (root + 1) * columns.len(),
        );
        let (left, right) = rayon::join(
            || Triangle::new(kept, before, control),
            || Triangle::new(kept, after, control),
        );
        let tiles = (0..rows.len() * columns.len()).map(|_| None).collect();
        let mut table = Rectangle { root, left: left?, right: right?, rows, columns, tiles };
        table.sweep(kept, control)?;
        Ok(table)
    }

    /// Fills the rectangle from the root's corner, each anti-diagonal of tiles side by side.
    fn sweep(&mut self, kept: &KeptBlocks, control: &Control<'_>) -> Result<(), RunsError> {
        let mut columns: Vec<TileColumns<E>> =
            self.columns.iter().cloned().map(TileColumns::new).collect();
        let (row_pieces, column_pieces) = (self.rows.len(), self.columns.len());
        for stage in 0..row_pieces + column_pieces - 1 {
            let first = (stage + 1).saturating_sub(row_pieces);
            let last = stage.min(column_pieces - 1);
            let done: Result<Vec<(usize, Tile<E>)>, RunsError> = columns[first..=last]
                .par_iter_mut()
                .enumerate()
                .map(|(offset, columns)| {
                    let column = first + offset;
                    let row = row_pieces - 1 - (stage - column);
                    let source = FixedTile { table: self, first_column: columns.first() };
                    let sweep = Sweep::new(kept, &source, columns, self.rows[row].clone());
                    Ok((row * column_pieces + column, sweep.run(control)?))
                })
                .collect();
            for (at, tile) in done? {
                self.tiles[at] = Some(tile);
            }
        }
        Ok(())
    }

    /// The given root.
    pub(super) fn root(&self) -> usize {
        self.root
    }

    /// The table of the side that block `i`, which is not the root, is on.
    pub(super) fn side(&self, i: usize) -> &Triangle<E> {
        if i < self.root { &self.left } else { &self.right }
    }

    /// The runs of row `i` of `F` in the tile that holds column `j`.
    pub(super) fn row(&self, i: usize, j: usize) -> &[Run<E>] {
        let row = if i == self.root { self.rows.len() - 1 } else { self.left.pieces().index(i) };
        let column = if j == self.root { 0 } else { self.right.pieces().index(j) };
        let tile = self.tiles[row * self.columns.len() + column].as_ref();
        tile.expect("tiles are swept before they are read").row(i)
    }

    /// `F(i, j)`, for `i < j`.
    pub(super) fn time(&self, i: usize, j: usize, kept: &KeptBlocks) -> i64 {
        kept.volume(i, j) + excess_in(self.row(i, j), j, kept)
    }
}

/// Input of the sweep of a tile of `F`: left and right parts without the root are in the triangles.
struct FixedTile<'t, E> {
    table: &'t Rectangle<E>,
    first_column: usize,
}

impl<E: Excess> FinishedTiles<E> for FixedTile<'_, E> {
    #[inline(always)]
    fn left(&self, i: usize, b: usize) -> Option<&[Run<E>]> {
        Some(self.table.left.row(i, b))
    }

    #[inline(always)]
    fn right(&self, a: usize) -> Option<&[Run<E>]> {
        Some(self.table.right.row(a, self.first_column.max(a)))
    }

    fn before(&self, i: usize, b: usize) -> &[Run<E>] {
        self.table.row(i, b)
    }

    fn below(&self, row: usize) -> &[Run<E>] {
        self.table.row(row, self.first_column)
    }

    fn part(&self, a: usize, b: usize) -> Option<&Tile<E>> {
        Some(self.table.left.tile(a, b))
    }

    #[inline(always)]
    fn first_column(&self, i: usize) -> usize {
        if i > self.table.root { usize::MAX } else { self.table.root.max(i + 1) }
    }

    #[inline(always)]
    fn root(&self) -> Option<usize> {
        Some(self.table.root)
    }
}
