//! The tables of one problem: tiles, and the order in which they are swept.

use super::column::Columns;
use super::kept::Kept;
use super::row::{Excess, Run, Tile, excess_in};
use super::sweep::{Source, Sweep};
use rayon::prelude::*;
use std::ops::Range;

/// A range of blocks cut into pieces of equal length, the last one possibly shorter.
#[derive(Clone, Debug)]
struct Pieces {
    range: Range<usize>,
    /// The binary logarithm of the length.
    shift: u32,
}

impl Pieces {
    fn count(&self) -> usize {
        self.range.len().div_ceil(1 << self.shift)
    }

    fn index(&self, block: usize) -> usize {
        (block - self.range.start) >> self.shift
    }

    fn piece(&self, index: usize) -> Range<usize> {
        let start = self.range.start + (index << self.shift);
        start..(start + (1 << self.shift)).min(self.range.end)
    }
}

/// `C(i, j)` for all ranges within a range of blocks.
#[derive(Debug)]
pub(super) struct Triangle<E> {
    pieces: Pieces,
    /// The number of pieces.
    count: usize,
    /// Tile `(I, J)` at `I * count + J`.
    tiles: Vec<Option<Tile<E>>>,
}

impl<E: Excess> Triangle<E> {
    /// Sweeps the triangle.
    pub(super) fn new(kept: &Kept, range: Range<usize>, side: usize) -> Triangle<E> {
        let pieces = Pieces { range, shift: side.ilog2() };
        let count = pieces.count();
        let mut table = Triangle { pieces, count, tiles: (0..count * count).map(|_| None).collect() };
        let mut columns: Vec<Columns<E>> =
            (0..count).map(|piece| Columns::new(table.pieces.piece(piece))).collect();
        for distance in 0..count {
            let done: Vec<Tile<E>> = columns[distance..]
                .par_iter_mut()
                .enumerate()
                .map(|(piece, columns)| {
                    let rows = table.pieces.piece(piece);
                    let source = FreeTile {
                        table: &table,
                        first_column: columns.first(),
                        rows: rows.clone(),
                    };
                    Sweep::new(kept, &source, columns, rows).run()
                })
                .collect();
            for (piece, tile) in done.into_iter().enumerate() {
                table.tiles[piece * count + piece + distance] = Some(tile);
            }
        }
        table
    }

    /// The tile that holds the cell `(i, j)`.
    #[inline(always)]
    fn tile(&self, i: usize, j: usize) -> &Tile<E> {
        let at = self.pieces.index(i) * self.count + self.pieces.index(j);
        self.tiles[at].as_ref().expect("tiles are swept in order")
    }

    /// The runs of row `i` in the tile that holds column `j`.
    #[inline(always)]
    pub(super) fn row(&self, i: usize, j: usize) -> &[Run<E>] {
        self.tile(i, j).row(i)
    }

    /// `C(i, j)`.
    pub(super) fn time(&self, i: usize, j: usize, kept: &Kept) -> i64 {
        if i == j { 0 } else { kept.volume(i, j) + excess_in(self.row(i, j), j, kept) }
    }

    pub(super) fn runs(&self) -> usize {
        self.tiles.iter().flatten().map(Tile::runs).sum()
    }
}

struct FreeTile<'t, E> {
    table: &'t Triangle<E>,
    first_column: usize,
    rows: Range<usize>,
}

impl<E: Excess> Source<E> for FreeTile<'_, E> {
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

/// `F(i, j)` for all ranges that hold a given root, with the free tables on both sides of it.
#[derive(Debug)]
pub(super) struct Rectangle<E> {
    root: usize,
    blocks: usize,
    left: Triangle<E>,
    right: Triangle<E>,
    tiles: Vec<Option<Tile<E>>>,
}

impl<E: Excess> Rectangle<E> {
    /// Sweeps both triangles and the rectangle.
    pub(super) fn new(kept: &Kept, root: usize, side: usize) -> Rectangle<E> {
        let n = kept.blocks();
        let (left, right) = rayon::join(
            || Triangle::new(kept, 0..root, side),
            || Triangle::new(kept, root + 1..n, side),
        );
        let mut table = Rectangle { root, blocks: n, left, right, tiles: Vec::new() };
        let (rows, cols) = (table.row_pieces(), table.column_pieces());
        table.tiles = (0..rows * cols).map(|_| None).collect();
        let mut columns: Vec<Columns<E>> =
            (0..cols).map(|piece| Columns::new(table.columns(piece))).collect();
        for stage in 0..rows + cols - 1 {
            let first = stage.saturating_sub(rows - 1);
            let last = stage.min(cols - 1);
            let done: Vec<(usize, Tile<E>)> = columns[first..=last]
                .par_iter_mut()
                .enumerate()
                .map(|(offset, columns)| {
                    let column = first + offset;
                    let row = rows - 1 - (stage - column);
                    let source = FixedTile { table: &table, columns: columns.first()..columns.end() };
                    let rows = table.rows(row);
                    (row * cols + column, Sweep::new(kept, &source, columns, rows).run())
                })
                .collect();
            for (at, tile) in done {
                table.tiles[at] = Some(tile);
            }
        }
        table
    }

    fn row_pieces(&self) -> usize {
        self.left.pieces.count().max(1)
    }

    fn column_pieces(&self) -> usize {
        self.right.pieces.count().max(1)
    }

    /// The rows of a piece: the root's row belongs to the last.
    fn rows(&self, piece: usize) -> Range<usize> {
        if piece + 1 == self.row_pieces() {
            let start = if self.root == 0 { 0 } else { self.left.pieces.piece(piece).start };
            start..self.root + 1
        } else {
            self.left.pieces.piece(piece)
        }
    }

    /// The columns of a piece: the root's column belongs to the first.
    fn columns(&self, piece: usize) -> Range<usize> {
        if piece == 0 {
            let end = if self.root + 1 == self.blocks {
                self.blocks
            } else {
                self.right.pieces.piece(0).end
            };
            self.root..end
        } else {
            self.right.pieces.piece(piece)
        }
    }

    fn tile(&self, i: usize, j: usize) -> &Tile<E> {
        let row = if i == self.root { self.row_pieces() - 1 } else { self.left.pieces.index(i) };
        let column = if j == self.root { 0 } else { self.right.pieces.index(j) };
        self.tiles[row * self.column_pieces() + column].as_ref().expect("tiles are swept in order")
    }

    pub(super) fn row(&self, i: usize, j: usize) -> &[Run<E>] {
        self.tile(i, j).row(i)
    }

    /// `F(i, j)`, which is 0 for the root alone.
    pub(super) fn time(&self, i: usize, j: usize, kept: &Kept) -> i64 {
        if i == j { 0 } else { kept.volume(i, j) + excess_in(self.row(i, j), j, kept) }
    }

    pub(super) fn runs(&self) -> usize {
        let own: usize = self.tiles.iter().flatten().map(Tile::runs).sum();
        own + self.left.runs() + self.right.runs()
    }
}

struct FixedTile<'t, E> {
    table: &'t Rectangle<E>,
    columns: Range<usize>,
}

impl<E: Excess> Source<E> for FixedTile<'_, E> {
    #[inline(always)]
    fn left(&self, i: usize, b: usize) -> Option<&[Run<E>]> {
        Some(self.table.left.row(i, b))
    }

    #[inline(always)]
    fn right(&self, a: usize) -> Option<&[Run<E>]> {
        Some(self.table.right.row(a, self.columns.start.max(a)))
    }

    fn before(&self, i: usize, b: usize) -> &[Run<E>] {
        self.table.row(i, b)
    }

    fn below(&self, row: usize) -> &[Run<E>] {
        self.table.row(row, self.columns.start)
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

/// The tables that a root asks for.
#[derive(Debug)]
pub(super) enum Tables<E> {
    /// Of the best root.
    Free(Triangle<E>),
    /// Of a given root.
    Fixed(Rectangle<E>),
}

impl<E: Excess> Tables<E> {
    /// Fills the tables.
    pub(super) fn new(kept: &Kept, side: usize) -> Tables<E> {
        match kept.root() {
            None => Tables::Free(Triangle::new(kept, 0..kept.blocks(), side)),
            Some(root) => Tables::Fixed(Rectangle::new(kept, root, side)),
        }
    }

    /// The given root.
    pub(super) fn root(&self) -> Option<usize> {
        match self {
            Tables::Free(_) => None,
            Tables::Fixed(table) => Some(table.root),
        }
    }

    fn triangle(&self, i: usize) -> &Triangle<E> {
        match self {
            Tables::Free(table) => table,
            Tables::Fixed(table) if i < table.root => &table.left,
            Tables::Fixed(table) => &table.right,
        }
    }

    /// The table of the ranges `[i..j]` whose trees are looked for: with the given root if they
    /// hold it.
    fn rectangle(&self, i: usize, j: usize) -> Option<&Rectangle<E>> {
        match self {
            Tables::Fixed(table) if i <= table.root && table.root <= j => Some(table),
            _ => None,
        }
    }

    /// The time of `[i..j]` with its root of choice; 0 if `i = j`.
    pub(super) fn part(&self, i: usize, j: usize, kept: &Kept) -> i64 {
        self.triangle(i).time(i, j, kept)
    }

    /// The time of `[i..j]` with the given root if the range holds it.
    pub(super) fn whole(&self, i: usize, j: usize, kept: &Kept) -> i64 {
        match self.rectangle(i, j) {
            Some(table) => table.time(i, j, kept),
            None => self.part(i, j, kept),
        }
    }

    /// The time of `[i..t]` without trailing empty blocks, if it was needed; 0 if `i = t`.
    pub(super) fn shadow_part(&self, i: usize, t: usize, kept: &Kept) -> Option<i64> {
        if i == t {
            return Some(0);
        }
        let excess = self.triangle(i).tile(i, t).find_shadow(i, t)?;
        Some(kept.volume(i, t) + excess)
    }

    /// The first column of the row of [`whole`](Self::whole) that holds column `j`.
    pub(super) fn first_column(&self, i: usize, j: usize) -> usize {
        match self.rectangle(i, j) {
            Some(table) => table.root.max(i + 1),
            None => i + 1,
        }
    }

    /// The runs of [`whole`](Self::whole) in row `i` and the tile that holds column `j`.
    pub(super) fn whole_row(&self, i: usize, j: usize) -> &[Run<E>] {
        match self.rectangle(i, j) {
            Some(table) => table.row(i, j),
            None => self.triangle(i).row(i, j),
        }
    }

    pub(super) fn runs(&self) -> usize {
        match self {
            Tables::Free(table) => table.runs(),
            Tables::Fixed(table) => table.runs(),
        }
    }
}
