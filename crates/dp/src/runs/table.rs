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
    side: usize,
}

impl Pieces {
    fn count(&self) -> usize {
        self.range.len().div_ceil(self.side)
    }

    fn index(&self, block: usize) -> usize {
        (block - self.range.start) / self.side
    }

    fn piece(&self, index: usize) -> Range<usize> {
        let start = self.range.start + index * self.side;
        start..(start + self.side).min(self.range.end)
    }
}

/// `C(i, j)` for all ranges within a range of blocks.
#[derive(Debug)]
pub(super) struct Triangle<E> {
    pieces: Pieces,
    /// Tile `(I, J)` at `I * count + J`.
    tiles: Vec<Option<Tile<E>>>,
}

impl<E: Excess> Triangle<E> {
    /// Sweeps the triangle.
    pub(super) fn new(kept: &Kept, range: Range<usize>, side: usize) -> Triangle<E> {
        let pieces = Pieces { range, side };
        let count = pieces.count();
        let mut table = Triangle { pieces, tiles: (0..count * count).map(|_| None).collect() };
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
        let at = self.pieces.index(i) * self.pieces.count() + self.pieces.index(j);
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

/// Times and run counts.
pub fn probe(
    costs: &tuwtree_model::Homogeneous,
    sizes: &[u64],
    root: tuwtree_model::Root,
    side: usize,
) -> (i64, usize) {
    let sizes = tuwtree_model::BlockSizes::new(sizes.iter().copied()).unwrap();
    let scaled = tuwtree_model::ScaledSizes::<i64>::new(costs, &sizes).unwrap();
    let kept = Kept::new(&scaled, root).unwrap();
    let n = kept.blocks();
    if n <= 1 {
        let lone = n == 0 || sizes.processors() == 1;
        return (if lone { 0 } else { kept.copy(0) }, 0);
    }
    match kept.root() {
        None => {
            let table = Triangle::<i32>::new(&kept, 0..n, side);
            (table.time(0, n - 1, &kept), table.runs())
        }
        Some(root) => {
            let table = Rectangle::<i32>::new(&kept, root, side);
            (table.time(0, n - 1, &kept), table.runs())
        }
    }
}
