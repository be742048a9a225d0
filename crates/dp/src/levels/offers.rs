//! Messages of the roots of one range to their right.

use super::boundaries::Level;
use super::law::{Law, MessageCosts, beyond};
use super::row::RangeRow;
use tuwtree_model::{Rank, Scalar};

/// A message at best: when it may occupy its receiver's port, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer<T> {
    pub(super) arrival: T,
    pub(super) occupancy: T,
}

/// Messages to the right by level, as [`Offers`](super::row::Offers) are to the left.
#[derive(Clone, Debug)]
pub(super) struct OffersToRight<T> {
    /// Of roots that pay exactly this level; `None` if none do.
    exact: Vec<Option<Offer<T>>>,
    /// Of roots that pay at most this level to a rank just outside.
    up_to: Vec<Option<Offer<T>>>,
}

impl<T: Scalar> OffersToRight<T> {
    /// None so far.
    pub(super) fn new() -> OffersToRight<T> {
        OffersToRight { exact: Vec::new(), up_to: Vec::new() }
    }

    /// Messages of the roots of `[i..k]`, given their times. O(h^2).
    pub(super) fn set(&mut self, law: &Law<'_, T>, row: &RangeRow<T>, (i, k): (Rank, Rank)) {
        let levels = law.boundaries.used();
        self.exact.clear();
        self.up_to.clear();
        let mut ready = beyond::<T>();
        for level in 0..levels {
            let own = row.least_to_right(level, k);
            ready = ready.least(own);
            let message = law.message(level, (i, k));
            let offer = |ready: T| {
                let MessageCosts { latency, occupancy } = message;
                (ready < beyond()).then(|| Offer { arrival: ready + latency, occupancy })
            };
            self.exact.push(offer(own));
            self.up_to.push(offer(ready));
        }
    }

    /// Messages to a receiver that pays `level` to a rank just outside its range, without those
    /// that are surely worse.
    #[inline]
    pub(super) fn to(&self, level: Level) -> impl Iterator<Item = Offer<T>> + '_ {
        let near = self.up_to[level];
        let is_worth_it = move |offer: &Offer<T>| {
            near.is_none_or(|near| offer.arrival < near.arrival || offer.occupancy < near.occupancy)
        };
        let far = self.exact[level + 1..].iter().filter_map(|&offer| offer).filter(is_worth_it);
        near.into_iter().chain(far)
    }
}
