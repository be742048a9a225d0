//! Costs of messages and copies, by level and range.

use super::boundaries::{Boundaries, Level};
use tuwtree_model::{
    BlockSizes, CostModel, Hierarchy, LARGEST_EXACT, Rank, Scalar, Time, TimeError,
};

/// A problem's blocks and costs, in time.
#[derive(Clone, Debug)]
pub(super) struct Law<'a, T> {
    machine: &'a Hierarchy,
    sizes: &'a BlockSizes,
    pub(super) boundaries: Boundaries,
    /// `p` entries: the time of each copy.
    copies: Vec<T>,
}

/// Costs of a message: lambda, and its occupation of a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageCosts<T> {
    pub(super) latency: T,
    pub(super) occupancy: T,
}

/// A time beyond all that can be stated: of impossible or too long acts.
#[inline(always)]
pub(super) fn beyond<T: Scalar>() -> T {
    T::from_units(T::LIMIT)
}

/// A time of costs; one that is too large is so large that no tree is stated that has it, and so small
/// that a few of them add up.
fn stated<T: Scalar>(time: Result<Time, TimeError>) -> T {
    T::from_units(time.map_or(T::LIMIT / 4.0, |time| time.units().min(T::LIMIT / 4.0)))
}

impl<'a, T: Scalar> Law<'a, T> {
    /// # Complexity
    /// O(p).
    pub(super) fn new(
        machine: &'a Hierarchy,
        sizes: &'a BlockSizes,
        boundaries: Boundaries,
    ) -> Law<'a, T> {
        let copy = |(rank, bytes)| stated(machine.copy_at(rank, bytes));
        let copies = sizes.iter().enumerate().map(copy).collect();
        Law { machine, sizes, boundaries, copies }
    }

    /// Makes a rank busy until a given time, instead of its copy only.
    pub(super) fn with_busy_rank(mut self, busy: Option<(Rank, f64)>) -> Law<'a, T> {
        if let Some((rank, until)) = busy {
            self.copies[rank] = T::from_units(until.min(T::LIMIT / 4.0));
        }
        self
    }

    /// `p`.
    pub(super) fn ranks(&self) -> usize {
        self.copies.len()
    }

    /// All bytes that there are.
    pub(super) fn total(&self) -> u64 {
        self.sizes.total()
    }

    /// `g_rank`.
    #[inline(always)]
    pub(super) fn copy(&self, rank: Rank) -> T {
        self.copies[rank]
    }

    /// A message of the blocks of these ranks to a rank with which the sender shares this level.
    pub(super) fn message(&self, level: Level, (first, last): (Rank, Rank)) -> MessageCosts<T> {
        let bytes = self.sizes.range(first, last);
        let (one, other) = self.boundaries.example(level);
        MessageCosts {
            latency: stated(self.machine.latency_between(one, other, bytes)),
            occupancy: stated(self.machine.transmission_between(one, other, bytes)),
        }
    }

    /// A finished value in time units; `None` if it cannot be stated.
    pub(super) fn units(&self, value: T) -> Option<f64> {
        let limit = match self.machine.is_integral() {
            true => LARGEST_EXACT as f64,
            false => T::LIMIT / 8.0,
        };
        // Compared before it is turned into an f64, which might round it to the limit.
        (value <= T::from_units(limit)).then(|| value.units())
    }
}
