//! All ranges of a problem with a given root.

use super::Class;
use super::law::{Law, beyond};
use super::offers::OffersToRight;
use super::row::Span;
use super::side::{Side, receive_from_left, receive_from_right};
use crate::DpError;
use crate::progress::Meter;
use tuwtree_model::{Rank, Scalar};

/// `C` on either side of the root, and `F(i,j)` for the ranges that hold it.
#[derive(Clone, Debug)]
pub(super) struct Rooted<T> {
    pub(super) root: Rank,
    pub(super) before: Side<T>,
    pub(super) after: Side<T>,
    /// `F(i,j)` by `j`: the root's row first, then upwards.
    rows: Vec<Span<T>>,
}

impl<T: Scalar> Rooted<T> {
    /// The table.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`], [`DpError::Cancelled`].
    pub(super) fn fill(
        law: &Law<'_, T>,
        class: Class,
        root: Rank,
        meter: &mut Meter<'_>,
    ) -> Result<Rooted<T>, DpError> {
        let (p, boundaries) = (law.ranks(), &law.boundaries);
        let before = Side::fill(law, class, (0, root), meter)?;
        let after = Side::fill(law, class, (root + 1, p - 1 - root), meter)?;
        let mut table = Rooted { root, before, after, rows: Vec::with_capacity(root + 1) };
        let mut offers = OffersToRight::new();
        for i in (0..=root).rev() {
            let mut row = Span::new(root..p, beyond())?;
            for k in i..root {
                offers.set(law, table.before.row(i), (i, k));
                let clocks = table.row(k + 1);
                // If j = k + 1 = root, the receiver is alone.
                let alone = usize::from(k + 1 == root);
                for offer in offers.to(boundaries.greatest(k + 1, root)) {
                    if alone == 1 {
                        let time = class.after_first_from_left(law.copy(root), offer);
                        row.lower(root, time);
                    }
                    let ranks = root + alone..p;
                    receive_from_left(row.part_mut(ranks.clone()), clocks.part(ranks), offer);
                }
            }
            if i == root {
                row.set(root, T::ZERO);
            }
            for k in root..p - 1 {
                let clock = if i == k { law.copy(root) } else { row.at(k) };
                let level = boundaries.greatest(root + 1, k + 1);
                receive_from_right(&mut row, clock, level, table.after.row(k + 1), k + 1..p);
            }
            table.rows.push(row);
            meter.row_done(p - root)?;
        }
        Ok(table)
    }

    /// `F(i,j)` by `j`.
    pub(super) fn row(&self, first: Rank) -> &Span<T> {
        &self.rows[self.root - first]
    }

    /// The side that ranges from `first` on belong to which do not hold the root.
    pub(super) fn side(&self, first: Rank) -> &Side<T> {
        if first > self.root { &self.after } else { &self.before }
    }
}
