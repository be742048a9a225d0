//! The finished tables of a problem, free or given root, as the search for a tree reads them.

use super::RunsError;
use super::control::Control;
use super::fixed_root::Rectangle;
use super::free_root::Triangle;
use super::kept::KeptBlocks;
use super::run::{Excess, Run};
use super::tile::Pieces;

/// The tables that a root asks for.
#[derive(Debug)]
pub(super) enum Tables<E> {
    /// Of the best root.
    Free(Triangle<E>),
    /// Of a given root.
    Fixed(Rectangle<E>),
}

impl<E: Excess> Tables<E> {
    /// The tables of two or more blocks, in tiles of this side.
    ///
    /// # Errors
    /// [`RunsError::OutOfMemory`], [`RunsError::Cancelled`].
    pub(super) fn new(
        kept: &KeptBlocks,
        side: usize,
        control: &Control<'_>,
    ) -> Result<Tables<E>, RunsError> {
        if let Some(root) = kept.root() {
            return Ok(Tables::Fixed(Rectangle::new(kept, root, side, control)?));
        }
        let pieces = Pieces::new(0..kept.blocks(), side);
        control.plan(Triangle::<E>::work(&pieces));
        Ok(Tables::Free(Triangle::new(kept, pieces, control)?))
    }

    /// The table of free roots that block `i`, which is not the given root, is in.
    fn triangle(&self, i: usize) -> &Triangle<E> {
        match self {
            Tables::Free(table) => table,
            Tables::Fixed(table) => table.side(i),
        }
    }

    /// The table of ranges with the given root, if `[i..j]` holds it.
    fn rectangle(&self, i: usize, j: usize) -> Option<&Rectangle<E>> {
        match self {
            Tables::Fixed(table) if i <= table.root() && table.root() <= j => Some(table),
            _ => None,
        }
    }

    /// The given root, if `[i..j]` holds it.
    pub(super) fn root_in(&self, i: usize, j: usize) -> Option<usize> {
        self.rectangle(i, j).map(Rectangle::root)
    }

    /// The time of `[i..j]`, which does not hold the given root; 0 if `i = j`.
    pub(super) fn part(&self, i: usize, j: usize, kept: &KeptBlocks) -> i64 {
        self.triangle(i).time(i, j, kept)
    }

    /// The time of `[i..j]`, `i < j`, with the given root if the range holds it.
    pub(super) fn whole(&self, i: usize, j: usize, kept: &KeptBlocks) -> i64 {
        match self.rectangle(i, j) {
            Some(table) => table.time(i, j, kept),
            None => self.part(i, j, kept),
        }
    }

    /// The runs of [`whole`](Self::whole) in row `i` and the tile that holds column `j`.
    pub(super) fn whole_row(&self, i: usize, j: usize) -> &[Run<E>] {
        match self.rectangle(i, j) {
            Some(table) => table.row(i, j),
            None => self.triangle(i).row(i, j),
        }
    }

    /// The time of `[i..t]` without trailing empty blocks, if it was of use; 0 if `i = t`.
    pub(super) fn shadow(&self, i: usize, t: usize, kept: &KeptBlocks) -> Option<i64> {
        if i == t {
            return Some(0);
        }
        let excess = self.triangle(i).tile(i, t).shadow(i, t)?;
        Some(kept.volume(i, t) + excess)
    }
}
