//! Tiles: the table cut into squares, each the runs of some rows in some columns.

use super::run::{Excess, Run};
use std::collections::BTreeMap;
use std::ops::Range;

/// The side of the tiles of a table of `blocks` rows and columns: a power of two.
///
/// Small tiles keep the columns' state near the rank and all threads busy; each row costs a
/// little in every tile, so that there are at most 32 tiles a row. (At p = 2000, tiles of 512 were
/// a tenth faster than of 256 or 1024.)
pub(super) fn side(blocks: usize) -> usize {
    (blocks / 16).next_power_of_two().clamp(1 << 9, 1 << 16).max((blocks / 32).next_power_of_two())
}

/// A range of blocks cut into pieces of equal length, the last one possibly shorter.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    range: Range<usize>,
    /// The binary logarithm of the length.
    shift: u32,
}

impl Pieces {
    /// The pieces of a range; `side` is a power of two.
    pub(super) fn new(range: Range<usize>, side: usize) -> Pieces {
        Pieces { range, shift: side.ilog2() }
    }

    /// The number of pieces.
    pub(super) fn count(&self) -> usize {
        self.range.len().div_ceil(1 << self.shift)
    }

    /// The piece that a block of the range is in.
    #[inline(always)]
    pub(super) fn index(&self, block: usize) -> usize {
        (block - self.range.start) >> self.shift
    }

    /// The blocks of a piece.
    pub(super) fn piece(&self, index: usize) -> Range<usize> {
        let start = self.range.start + (index << self.shift);
        start..(start + (1 << self.shift)).min(self.range.end)
    }
}

/// The least and the greatest number of runs in a chunk of storage, unless a row has more.
const CHUNK: (usize, usize) = (1 << 8, 1 << 19);

/// The finished rows of one tile, which are added from the last one up.
#[derive(Debug)]
pub(super) struct Tile<E> {
    last_row: usize,
    /// Entry `d` is where row `last_row - d` is stored.
    rows: Vec<ChunkSpan>,
    /// Never reallocated, so that no run is ever moved and no space is spare.
    chunks: Vec<Vec<Run<E>>>,
    /// For each shadowed column the last row that has a shadow cell, and the excesses from there
    /// up: see [`zeros`](super::zeros).
    shadows: BTreeMap<usize, (usize, Vec<i64>)>,
    /// The bytes allocated for chunks since they were last asked for.
    fresh_bytes: usize,
}

/// Position of a row's runs.
#[derive(Clone, Copy, Debug)]
struct ChunkSpan {
    chunk: u32,
    offset: u32,
    length: u32,
}

impl<E: Excess> Tile<E> {
    /// A tile without rows, the first of which will be `last_row`.
    pub(super) fn new(last_row: usize) -> Tile<E> {
        Tile {
            last_row,
            rows: Vec::new(),
            chunks: Vec::new(),
            shadows: BTreeMap::new(),
            fresh_bytes: 0,
        }
    }

    /// Adds the row above those present.
    pub(super) fn push(&mut self, runs: &[Run<E>]) {
        let last = self.chunks.last();
        if last.is_none_or(|chunk| chunk.capacity() - chunk.len() < runs.len()) {
            let (least, most) = CHUNK;
            let double = last.map_or(least, |chunk| (2 * chunk.capacity()).min(most));
            let capacity = double.max(runs.len());
            self.fresh_bytes += capacity * size_of::<Run<E>>();
            self.chunks.push(Vec::with_capacity(capacity));
        }
        let chunk = self.chunks.len() - 1;
        let offset = self.chunks[chunk].len();
        self.chunks[chunk].extend_from_slice(runs);
        self.fresh_bytes += size_of::<ChunkSpan>();
        self.rows.push(ChunkSpan {
            chunk: chunk as u32,
            offset: offset as u32,
            length: runs.len() as u32,
        });
    }

    /// The runs of row `i`.
    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> &[Run<E>] {
        let span = self.rows[self.last_row - i];
        &self.chunks[span.chunk as usize][span.offset as usize..][..span.length as usize]
    }

    /// Adds the shadow cell of row `i` and column `j`: the row above the last one added.
    pub(super) fn push_shadow(&mut self, i: usize, j: usize, excess: i64) {
        let (last_row, excesses) = self.shadows.entry(j).or_insert_with(|| (i, Vec::new()));
        debug_assert_eq!(*last_row - excesses.len(), i);
        excesses.push(excess);
        self.fresh_bytes += size_of::<i64>();
    }

    /// The excess of the shadow cell of row `i` and column `j`, if there is one.
    pub(super) fn shadow(&self, i: usize, j: usize) -> Option<i64> {
        let (last_row, excesses) = self.shadows.get(&j)?;
        excesses.get(last_row.checked_sub(i)?).copied()
    }

    /// The bytes allocated since the last call.
    pub(super) fn take_fresh_bytes(&mut self) -> usize {
        std::mem::take(&mut self.fresh_bytes)
    }
}
