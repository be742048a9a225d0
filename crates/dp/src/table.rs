//! Tables over the ranges of consecutive ranks.

use crate::DpError;
use tuwtree_model::{Rank, Scalar};

/// One value for each range `[i..j]` with `first <= i <= j <= last`.
///
/// Row by row, so that the ranges with the same start are neighbours. Ranges of one rank are
/// kept too: they are 0 in every table here.
#[derive(Clone, Debug, PartialEq)]
pub struct Triangle<T> {
    first: Rank,
    /// Ranks spanned; 0 for the table of an empty range.
    width: usize,
    /// `width (width + 1) / 2` values.
    cells: Vec<T>,
}

impl<T: Scalar> Triangle<T> {
    /// The table of ranks `first..first + width`, all 0.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    pub(crate) fn new(first: Rank, width: usize) -> Result<Triangle<T>, DpError> {
        Ok(Triangle { first, width, cells: zeros(triangle_cells(width))? })
    }

    /// The value of range `[i..j]`.
    ///
    /// # Panics
    /// If the table does not span the range.
    #[inline(always)]
    pub fn get(&self, i: Rank, j: Rank) -> T {
        self.cells[self.index(i, j)]
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, i: Rank, j: Rank, value: T) {
        let index = self.index(i, j);
        self.cells[index] = value;
    }

    /// The values of `[i..i]`, `[i..i+1]`, …, `[i..last]`.
    pub(crate) fn row(&self, i: Rank) -> &[T] {
        let start = self.index(i, i);
        &self.cells[start..start + self.width - (i - self.first)]
    }

    #[inline(always)]
    fn index(&self, i: Rank, j: Rank) -> usize {
        let row = i - self.first;
        debug_assert!(i <= j && j - self.first < self.width, "[{i}..{j}] is not in the table");
        row * (2 * self.width - 1 - row) / 2 + (j - self.first)
    }
}

/// A triangle stored column by column: ranges with one end are neighbours.
///
/// The plain recurrences keep it beside the [`Triangle`], so that their inner loops read two runs
/// of consecutive values.
#[derive(Clone, Debug)]
pub(crate) struct TransposedTriangle<T> {
    first: Rank,
    cells: Vec<T>,
}

impl<T: Scalar> TransposedTriangle<T> {
    /// See [`Triangle::new`].
    pub(crate) fn new(first: Rank, width: usize) -> Result<TransposedTriangle<T>, DpError> {
        Ok(TransposedTriangle { first, cells: zeros(triangle_cells(width))? })
    }

    pub(crate) fn set(&mut self, i: Rank, j: Rank, value: T) {
        let column = j - self.first;
        self.cells[column * (column + 1) / 2 + (i - self.first)] = value;
    }

    /// The values of `[from..j]`, …, `[to-1..j]`.
    pub(crate) fn part(&self, from: Rank, to: Rank, j: Rank) -> &[T] {
        let column = j - self.first;
        let start = column * (column + 1) / 2;
        &self.cells[start + (from - self.first)..start + (to - self.first)]
    }
}

/// Ranges of a fixed-root problem: `F(i,j)` for ranges with the root, `C(i,j)` for ranges on either
/// side of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RootedTable<T> {
    root: Rank,
    ranks: usize,
    /// `C` on `[0..root-1]`.
    pub(crate) before: Triangle<T>,
    /// `C` on `[root+1..p-1]`.
    pub(crate) after: Triangle<T>,
    /// `F(i,j)` for `i` in `0..=root` and `j` in `root..p`, row by row.
    cells: Vec<T>,
}

impl<T: Scalar> RootedTable<T> {
    /// A table around two finished ones, with every `F` being 0.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    pub(crate) fn new(
        root: Rank,
        ranks: usize,
        before: Triangle<T>,
        after: Triangle<T>,
    ) -> Result<RootedTable<T>, DpError> {
        let cells = zeros(cells_with_root(ranks, root))?;
        Ok(RootedTable { root, ranks, before, after, cells })
    }

    /// The given root, which all ranges of `F` hold.
    pub fn root(&self) -> Rank {
        self.root
    }

    /// `F(i,j)` if the range holds the root, otherwise `C(i,j)`.
    #[inline]
    pub fn get(&self, i: Rank, j: Rank) -> T {
        if j < self.root {
            self.before.get(i, j)
        } else if i > self.root {
            self.after.get(i, j)
        } else {
            self.rooted(i, j)
        }
    }

    /// `F(i,j)` for `i <= root <= j`.
    #[inline(always)]
    pub(crate) fn rooted(&self, i: Rank, j: Rank) -> T {
        self.cells[self.index(i, j)]
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, i: Rank, j: Rank, value: T) {
        let index = self.index(i, j);
        self.cells[index] = value;
    }

    /// `F(i,root)`, …, `F(i,p-1)`.
    pub(crate) fn row(&self, i: Rank) -> &[T] {
        let width = self.ranks - self.root;
        &self.cells[i * width..(i + 1) * width]
    }

    #[inline(always)]
    fn index(&self, i: Rank, j: Rank) -> usize {
        debug_assert!(i <= self.root && self.root <= j, "[{i}..{j}] does not hold the root");
        i * (self.ranks - self.root) + (j - self.root)
    }
}

/// The number of ranges within `width` consecutive ranks.
pub(crate) fn triangle_cells(width: usize) -> usize {
    width * (width + 1) / 2
}

/// The number of ranges that hold `root`.
pub(crate) fn cells_with_root(ranks: usize, root: Rank) -> usize {
    (root + 1) * (ranks - root)
}

/// `length` zeros.
///
/// # Errors
/// [`DpError::OutOfMemory`] instead of the end of the process.
pub(crate) fn zeros<T: Scalar>(length: usize) -> Result<Vec<T>, DpError> {
    let mut cells = Vec::new();
    cells.try_reserve_exact(length).map_err(|_| DpError::OutOfMemory {
        needed: length.saturating_mul(size_of::<T>()) as u64,
    })?;
    cells.resize(length, T::ZERO);
    Ok(cells)
}
