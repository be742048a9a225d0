//! Rows of the table as runs, and the tiles that hold them.

use super::kept::Kept;
use std::collections::BTreeMap;

/// An integer type in which excesses are stored.
pub(super) trait Excess: Copy + PartialEq + Send + Sync + std::fmt::Debug + 'static {
    /// `value` in this type.
    ///
    /// # Panics
    /// If it does not fit: the storage type is chosen so that every excess does.
    fn pack(value: i64) -> Self;

    /// The stored value.
    fn value(self) -> i64;
}

impl Excess for i32 {
    #[inline(always)]
    fn pack(value: i64) -> i32 {
        i32::try_from(value).expect("every excess fits the storage type chosen for it")
    }

    #[inline(always)]
    fn value(self) -> i64 {
        i64::from(self)
    }
}

impl Excess for i64 {
    #[inline(always)]
    fn pack(value: i64) -> i64 {
        value
    }

    #[inline(always)]
    fn value(self) -> i64 {
        self
    }
}

/// How the excess behaves along a stretch of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Law {
    /// The excess is this.
    Level(i64),
    /// The excess of column `j` is this less `w_j`, and `w` does not fall along the stretch.
    Falling(i64),
}

impl Law {
    /// The excess of column `j`.
    #[inline(always)]
    pub(super) fn at(self, j: usize, kept: &Kept) -> i64 {
        match self {
            Law::Level(value) => value,
            Law::Falling(base) => base - kept.lead(j),
        }
    }
}

/// A maximal stretch of a row's columns in which the excess follows one law.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<E> {
    /// The first column; the highest bit says that the law is [`Law::Falling`].
    start: u32,
    base: E,
}

const FALLING: u32 = 1 << 31;

impl<E: Excess> Run<E> {
    pub(super) fn new(start: usize, law: Law) -> Run<E> {
        match law {
            Law::Level(value) => Run { start: start as u32, base: E::pack(value) },
            Law::Falling(base) => Run { start: start as u32 | FALLING, base: E::pack(base) },
        }
    }

    #[inline(always)]
    pub(super) fn start(self) -> usize {
        (self.start & !FALLING) as usize
    }

    #[inline(always)]
    pub(super) fn law(self) -> Law {
        if self.start & FALLING == 0 {
            Law::Level(self.base.value())
        } else {
            Law::Falling(self.base.value())
        }
    }
}

/// The position of the run that holds column `j`, which is not before the first run.
#[inline]
pub(super) fn run_of<E: Excess>(runs: &[Run<E>], j: usize) -> usize {
    runs.partition_point(|run| run.start() <= j) - 1
}

/// The excess of column `j` in a row given by its runs.
#[inline]
pub(super) fn excess_in<E: Excess>(runs: &[Run<E>], j: usize, kept: &Kept) -> i64 {
    runs[run_of(runs, j)].law().at(j, kept)
}

/// How many runs a chunk of a tile's storage holds, unless a single row has more.
const CHUNK: usize = 1 << 20;

/// The finished rows of one tile of the table: rows from the last one up, columns of one range.
#[derive(Debug)]
pub(super) struct Tile<E> {
    last_row: usize,
    /// Entry `d` is row `last_row - d`.
    rows: Vec<Span>,
    chunks: Vec<Vec<Run<E>>>,
    /// For each shadowed column the last row that has a cell, and the excesses from there up.
    shadows: BTreeMap<usize, (usize, Vec<i64>)>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    chunk: u32,
    offset: u32,
    length: u32,
}

impl<E: Excess> Tile<E> {
    /// A tile without rows, the first of which will be `last_row`.
    pub(super) fn new(last_row: usize) -> Tile<E> {
        Tile { last_row, rows: Vec::new(), chunks: Vec::new(), shadows: BTreeMap::new() }
    }

    /// Adds the row before those present.
    pub(super) fn push(&mut self, runs: &[Run<E>]) {
        let fits = self.chunks.last().is_some_and(|c| c.capacity() - c.len() >= runs.len());
        if !fits {
            self.chunks.push(Vec::with_capacity(runs.len().max(CHUNK)));
        }
        let chunk = self.chunks.len() - 1;
        let offset = self.chunks[chunk].len();
        self.chunks[chunk].extend_from_slice(runs);
        self.rows.push(Span {
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
    }

    /// The excess of the shadow cell of row `i` and column `j`, if there is one.
    pub(super) fn find_shadow(&self, i: usize, j: usize) -> Option<i64> {
        let (last_row, excesses) = self.shadows.get(&j)?;
        excesses.get(last_row.checked_sub(i)?).copied()
    }

    /// The excess of the shadow cell of row `i` and column `j`, which is needed and hence there.
    pub(super) fn shadow(&self, i: usize, j: usize) -> i64 {
        self.find_shadow(i, j).expect("shadow cells are found before they are needed")
    }

    /// The number of runs.
    pub(super) fn runs(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }
}
