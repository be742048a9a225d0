//! Ranges of some consecutive ranks without the given root.

use super::Class;
use super::boundaries::Level;
use super::law::Law;
use super::offers::{Offer, OffersToRight};
use super::row::{RangeRow, Span, Type};
use crate::DpError;
use crate::progress::Meter;
use std::ops::Range;
use tuwtree_model::{Rank, Scalar};

/// `C(i,j)` of each type for all ranges of a side.
#[derive(Clone, Debug)]
pub(super) struct Side<T> {
    end: Rank,
    /// The last rank's row first.
    rows: Vec<RangeRow<T>>,
}

impl<T: Scalar> Side<T> {
    /// The table of `first..first + width`.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`], [`DpError::Cancelled`].
    pub(super) fn fill(
        law: &Law<'_, T>,
        class: Class,
        (first, width): (Rank, usize),
        meter: &mut Meter<'_>,
    ) -> Result<Side<T>, DpError> {
        let end = first + width;
        let mut side = Side { end, rows: Vec::with_capacity(width) };
        let mut offers = OffersToRight::new();
        for i in (first..end).rev() {
            let mut row = RangeRow::new(&law.boundaries, (i, end))?;
            // All splits of [i..k] have been tried when its turn comes.
            for k in i..end - 1 {
                let right = side.row(k + 1);
                left_receives(law, (i, k), &mut row, right);
                offers.set(law, &row, (i, k));
                right_receives(law, class, (i, k), &mut row, right, &offers);
            }
            row.add_offers(law, end)?;
            side.rows.push(row);
            meter.row_done(end - i)?;
        }
        Ok(side)
    }

    /// The ranges that begin with a rank.
    #[inline(always)]
    pub(super) fn row(&self, first: Rank) -> &RangeRow<T> {
        &self.rows[self.end - 1 - first]
    }
}

/// The roots of `[i..k]` receive `[k+1..j]`, for all `j`.
fn left_receives<T: Scalar>(
    law: &Law<'_, T>,
    (i, k): (Rank, Rank),
    row: &mut RangeRow<T>,
    senders: &RangeRow<T>,
) {
    let boundaries = &law.boundaries;
    for receiver in Type::all(boundaries.used()) {
        let Some(time) = row.time(receiver, k) else { continue };
        let clock = if k == i { law.copy(i) } else { time };
        // The greatest of b and L[k+2..=j+1] rises with j.
        for right in receiver.right..boundaries.used() {
            let from = match right == receiver.right {
                true => k + 1,
                false => boundaries.turn(k + 2, right) - 1,
            };
            let to = boundaries.turn(k + 2, right + 1) - 1;
            let results = row.times_mut(Type { left: receiver.left, right });
            receive_from_right(results, clock, receiver.right, senders, from..to);
        }
    }
}

/// Lowers results by what a receiver has that is free at `clock` and pays `level` to a rank on its
/// right, after one message of `senders`: for each of their last ranks that is among `ranks`.
#[inline]
pub(super) fn receive_from_right<T: Scalar>(
    results: &mut Span<T>,
    clock: T,
    level: Level,
    senders: &RangeRow<T>,
    ranks: Range<Rank>,
) {
    for (nearer, offers) in senders.offers_from(level) {
        let arrivals = if nearer { &offers.up_to } else { &offers.exact };
        let from = ranks.start.max(arrivals.ranks().start);
        let to = ranks.end.min(arrivals.ranks().end);
        if from >= to {
            continue;
        }
        let messages = arrivals.part(from..to).iter().zip(offers.occupancy.part(from..to));
        for (result, (&arrival, &occupancy)) in results.part_mut(from..to).iter_mut().zip(messages)
        {
            // The recurrence, if the left part receives.
            *result = result.least(clock.most(arrival) + occupancy);
        }
    }
}

/// The roots of `[k+1..j]` receive `[i..k]`, for all `j`.
fn right_receives<T: Scalar>(
    law: &Law<'_, T>,
    class: Class,
    (i, k): (Rank, Rank),
    row: &mut RangeRow<T>,
    receivers: &RangeRow<T>,
    offers: &OffersToRight<T>,
) {
    let between = law.boundaries.greatest(i, k + 1);
    // For j = k + 1 the receiver is alone.
    let own = Type::own(&law.boundaries, k + 1);
    for offer in offers.to(own.left) {
        let time = class.after_first_from_left(law.copy(k + 1), offer);
        row.times_mut(own.after_left(between)).lower(k + 1, time);
    }
    for (receiver, clocks) in receivers.spans() {
        let ranks = clocks.ranks();
        let ranks = ranks.start.max(k + 2)..ranks.end;
        if ranks.is_empty() {
            continue;
        }
        let results = row.times_mut(receiver.after_left(between)).part_mut(ranks.clone());
        for offer in offers.to(receiver.left) {
            receive_from_left(results, clocks.part(ranks.clone()), offer);
        }
    }
}

/// Lowers results by what receivers free at `clocks` have after one message from the left.
#[inline]
pub(super) fn receive_from_left<T: Scalar>(
    results: &mut [T],
    clocks: &[T],
    Offer { arrival, occupancy }: Offer<T>,
) {
    for (result, &clock) in results.iter_mut().zip(clocks) {
        // The recurrence, if the right part receives.
        *result = result.least(clock.most(arrival) + occupancy);
    }
}
