//! The table of one problem: tiles, and the order in which they are swept.

use super::column::Columns;
use super::kept::Kept;
use super::row::{Excess, Run, Tile, excess_in};
use super::sweep::{Source, Sweep};
use rayon::prelude::*;

/// The table of free roots.
pub(super) struct Triangle<E> {
    side: usize,
    blocks: usize,
    /// Tile `(I, J)` at `I * blocks + J`.
    tiles: Vec<Option<Tile<E>>>,
}

impl<E: Excess> Triangle<E> {
    fn row(&self, i: usize, b: usize) -> &[Run<E>] {
        let tile = self.tiles[i / self.side * self.blocks + b / self.side].as_ref();
        tile.expect("tiles are swept in order").row(i)
    }

    pub(super) fn time(&self, i: usize, j: usize, kept: &Kept) -> i64 {
        if i == j { 0 } else { kept.volume(i, j) + excess_in(self.row(i, j), j, kept) }
    }
}

struct FreeTile<'t, E> {
    table: &'t Triangle<E>,
    first_column: usize,
    rows_end: usize,
}

impl<E: Excess> Source<E> for FreeTile<'_, E> {
    #[inline(always)]
    fn left(&self, i: usize, b: usize) -> Option<&[Run<E>]> {
        (b < self.first_column).then(|| self.table.row(i, b))
    }
    #[inline(always)]
    fn right(&self, a: usize) -> Option<&[Run<E>]> {
        (a >= self.rows_end).then(|| self.table.row(a, self.first_column.max(a)))
    }
    fn before(&self, i: usize, b: usize) -> &[Run<E>] {
        self.table.row(i, b)
    }
    fn below(&self, row: usize) -> &[Run<E>] {
        self.table.row(row, self.first_column.max(row))
    }
    #[inline(always)]
    fn first_column(&self, i: usize) -> usize {
        i + 1
    }
}

pub(super) fn triangle<E: Excess>(kept: &Kept, side: usize) -> Triangle<E> {
    let n = kept.blocks();
    let blocks = n.div_ceil(side);
    let mut table = Triangle { side, blocks, tiles: (0..blocks * blocks).map(|_| None).collect() };
    let mut columns: Vec<Columns<E>> =
        (0..blocks).map(|b| Columns::new(b * side, ((b + 1) * side).min(n))).collect();
    for distance in 0..blocks {
        let done: Vec<Tile<E>> = columns[distance..]
            .par_iter_mut()
            .enumerate()
            .map(|(row, columns)| {
                let rows = row * side..((row + 1) * side).min(n);
                let source = FreeTile {
                    table: &table,
                    first_column: columns.first(),
                    rows_end: rows.end,
                };
                Sweep::new(kept, &source, columns, rows).run()
            })
            .collect();
        for (row, tile) in done.into_iter().enumerate() {
            table.tiles[row * blocks + row + distance] = Some(tile);
        }
    }
    table
}

/// Times and run counts.
pub fn probe(alpha: i64, beta: i64, gamma: i64, sizes: &[i64], side: usize) -> (Vec<i64>, usize) {
    let mut prefix = vec![0];
    for size in sizes {
        prefix.push(prefix[prefix.len() - 1] + beta * size);
    }
    let kept = Kept {
        latency: alpha,
        prefix,
        lead: sizes.iter().map(|m| (beta - gamma) * m).collect(),
        flat: flat(sizes.iter().map(|m| (beta - gamma) * m).collect()),
        gap: vec![0; sizes.len()],
        rank: (0..sizes.len() as u32).collect(),
    };
    let table = triangle::<i32>(&kept, side);
    let runs = table.tiles.iter().flatten().map(Tile::runs).sum();
    let n = sizes.len();
    if n > 64 {
        return (vec![table.time(0, n - 1, &kept)], runs);
    }
    let mut times = Vec::new();
    for i in 0..n {
        for j in i..n {
            times.push(table.time(i, j, &kept));
        }
    }
    (times, runs)
}

fn flat(lead: Vec<i64>) -> Vec<u32> {
    let n = lead.len();
    let mut flat = vec![n as u32; n];
    for j in (0..n - 1).rev() {
        flat[j] = if lead[j] == lead[j + 1] { flat[j + 1] } else { j as u32 + 1 };
    }
    flat
}
