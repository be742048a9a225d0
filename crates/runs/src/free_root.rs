//! The table of free roots: a triangle of tiles.

use super::RunsError;
use super::column::TileColumns;
use super::control::Control;
use super::finished::FinishedTiles;
use super::kept::KeptBlocks;
use super::run::{Excess, Run, excess_in};
use super::sweep::Sweep;
use super::tile::{Pieces, Tile};
use rayon::prelude::*;
use std::ops::Range;

/// `C(i, j)` for all ranges within a range of blocks.
#[derive(Debug)]
pub(super) struct Triangle<E> {
    pieces: Pieces,
    /// The number of pieces.
    count: usize,
    /// Tile `(I, J)` at `I * count + J`; all those with `I <= J` once the table is finished.
    tiles: Vec<Option<Tile<E>>>,
}

impl<E: Excess> Triangle<E> {
    /// The table of a range of blocks: tile `(I, J)` needs those to the left of it and those below
    /// it, so that the tiles of one diagonal are swept side by side.
    ///
    /// # Errors
    /// [`RunsError::OutOfMemory`], [`RunsError::Cancelled`].
    pub(super) fn new(
        kept: &KeptBlocks,
        pieces: Pieces,
        control: &Control<'_>,
    ) -> Result<Triangle<E>, RunsError> {
        let count = pieces.count();
        let tiles = (0..count * count).map(|_| None).collect();
        let mut table = Triangle { pieces, count, tiles };
        let mut columns: Vec<TileColumns<E>> =
            (0..count).map(|piece| TileColumns::new(table.pieces.piece(piece))).collect();
        for distance in 0..count {
            let done: Result<Vec<Tile<E>>, RunsError> = columns[distance..]
                .par_iter_mut()
                .enumerate()
                .map(|(piece, columns)| {
                    let rows = table.pieces.piece(piece);
                    let source = FreeTile {
                        table: &table,
                        first_column: columns.first(),
                        rows: rows.clone(),
                    };
                    Sweep::new(kept, &source, columns, rows).run(control)
                })
                .collect();
            for (piece, tile) in done?.into_iter().enumerate() {
                table.tiles[piece * count + piece + distance] = Some(tile);
            }
        }
        Ok(table)
    }

    /// Number of rows of tiles of a table with these pieces.
    pub(super) fn work(pieces: &Pieces) -> usize {
        let count = pieces.count();
        (0..count).map(|piece| pieces.piece(piece).len() * (count - piece)).sum()
    }

    pub(super) fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// The tile that holds the cell `(i, j)`.
    #[inline(always)]
    pub(super) fn tile(&self, i: usize, j: usize) -> &Tile<E> {
        let at = self.pieces.index(i) * self.count + self.pieces.index(j);
        self.tiles[at].as_ref().expect("tiles are swept before they are read")
    }

    /// The runs of row `i` in the tile that holds column `j`.
    #[inline(always)]
    pub(super) fn row(&self, i: usize, j: usize) -> &[Run<E>] {
        self.tile(i, j).row(i)
    }

    /// `C(i, j)`.
    pub(super) fn time(&self, i: usize, j: usize, kept: &KeptBlocks) -> i64 {
        if i == j { 0 } else { kept.volume(i, j) + excess_in(self.row(i, j), j, kept) }
    }
}

/// Input of a tile's sweep: left and right parts of one table.
struct FreeTile<'t, E> {
    table: &'t Triangle<E>,
    first_column: usize,
    rows: Range<usize>,
}

impl<E: Excess> FinishedTiles<E> for FreeTile<'_, E> {
    #[inline(always)]
    fn left(&self, i: usize, b: usize) -> Option<&[Run<E>]> {
        (b < self.first_column).then(|| self.table.row(i, b))
    }

    #[inline(always)]
    fn right(&self, a: usize) -> Option<&[Run<E>]> {
        (a >= self.rows.end).then(|| self.table.row(a, self.first_column.max(a)))
    }

    fn before(&self, i: usize, b: usize) -> &[Run<E>] {
        self.table.row(i, b)
    }

    fn below(&self, row: usize) -> &[Run<E>] {
        self.table.row(row, self.first_column.max(row))
    }

    fn part(&self, a: usize, b: usize) -> Option<&Tile<E>> {
        let own = self.rows.contains(&a) && b >= self.first_column;
        (!own).then(|| self.table.tile(a, b))
    }

    #[inline(always)]
    fn first_column(&self, i: usize) -> usize {
        i + 1
    }

    #[inline(always)]
    fn root(&self) -> Option<usize> {
        None
    }
}
