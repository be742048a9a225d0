//! All ranges with one first rank: when they are complete, and what their roots may send.

use super::boundaries::{Boundaries, Level};
use super::law::{Law, beyond};
use crate::DpError;
use std::ops::Range;
use tuwtree_model::{Rank, Scalar};

/// Levels of the links of the root `q` of a range `[i..j]` to the ranks just outside, on either side; with its time,
/// all that other ranges need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    /// `a`: the greatest of `L[i..=q]`.
    pub(super) left: Level,
    /// `b`: the greatest of `L[q + 1..=j + 1]`.
    pub(super) right: Level,
}

/// The ranges `[i..i]`, `[i..i + 1]`, … of a side.
#[derive(Clone, Debug)]
pub(super) struct RangeRow<T> {
    first: Rank,
    /// Number of levels in use.
    used: usize,
    /// `C(i,j)` of type `(a, b)` at `a * used + b`.
    times: Vec<Span<T>>,
    /// Messages of the roots to their left, from level `L[i]` on.
    offers: Vec<Offers<T>>,
}

/// One value for each last rank of a span.
#[derive(Clone, Debug)]
pub(super) struct Span<T> {
    from: Rank,
    values: Vec<T>,
}

/// Messages of one level to the left, one for each last rank.
#[derive(Clone, Debug)]
pub(super) struct Offers<T> {
    /// Span in which the message of a root that pays exactly this level may occupy a port.
    pub(super) exact: Span<T>,
    /// Span for all roots that pay at most this level to a rank just outside.
    pub(super) up_to: Span<T>,
    /// Time for which it occupies the port.
    pub(super) occupancy: Span<T>,
}

impl<T: Scalar> Span<T> {
    /// # Errors
    /// [`DpError::OutOfMemory`].
    pub(super) fn new(ranks: Range<Rank>, value: T) -> Result<Span<T>, DpError> {
        let mut values = Vec::new();
        let needed = (ranks.len() * size_of::<T>()) as u64;
        values.try_reserve_exact(ranks.len()).map_err(|_| DpError::OutOfMemory { needed })?;
        values.resize(ranks.len(), value);
        Ok(Span { from: ranks.start, values })
    }

    /// The ranks that there are values for.
    #[inline(always)]
    pub(super) fn ranks(&self) -> Range<Rank> {
        self.from..self.from + self.values.len()
    }

    #[inline(always)]
    pub(super) fn get(&self, rank: Rank) -> Option<T> {
        self.values.get(rank.wrapping_sub(self.from)).copied()
    }

    /// The value of one of the ranks.
    #[inline(always)]
    pub(super) fn at(&self, rank: Rank) -> T {
        self.values[rank - self.from]
    }

    #[inline(always)]
    pub(super) fn set(&mut self, rank: Rank, value: T) {
        self.values[rank - self.from] = value;
    }

    /// Puts a value in place of a larger one.
    #[inline(always)]
    pub(super) fn lower(&mut self, rank: Rank, value: T) {
        self.set(rank, self.at(rank).least(value));
    }

    /// The values of some of the ranks.
    #[inline(always)]
    pub(super) fn part(&self, ranks: Range<Rank>) -> &[T] {
        &self.values[ranks.start - self.from..ranks.end - self.from]
    }

    #[inline(always)]
    pub(super) fn part_mut(&mut self, ranks: Range<Rank>) -> &mut [T] {
        &mut self.values[ranks.start - self.from..ranks.end - self.from]
    }
}

impl<T: Scalar> RangeRow<T> {
    /// The row from `first` until before `end`, where only the range of one rank is complete.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    pub(super) fn new(
        boundaries: &Boundaries,
        (first, end): (Rank, Rank),
    ) -> Result<RangeRow<T>, DpError> {
        let used = boundaries.used();
        let span = |of: Type| Span::new(of.ranks(boundaries, (first, end)), beyond());
        let times = Type::all(used).map(span).collect::<Result<_, _>>()?;
        let mut row = RangeRow { first, used, times, offers: Vec::new() };
        row.times_mut(Type::own(boundaries, first)).set(first, T::ZERO);
        Ok(row)
    }

    /// Adds what the roots may send to their left, once all times are known.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    pub(super) fn add_offers(&mut self, law: &Law<'_, T>, end: Rank) -> Result<(), DpError> {
        let (first, boundaries) = (self.first, &law.boundaries);
        let all = first..end;
        let mut ready: Span<T> = Span::new(all.clone(), beyond())?;
        for level in boundaries.at(first)..self.used {
            let roots = boundaries.turn(first, level)..boundaries.turn(first, level + 1);
            let from = if roots.is_empty() { end } else { roots.start.min(end) };
            let mut offers = Offers {
                exact: Span::new(from..end, beyond())?,
                up_to: Span::new(all.clone(), beyond())?,
                occupancy: Span::new(all.clone(), T::ZERO)?,
            };
            for last in all.clone() {
                let message = law.message(level, (first, last));
                if last >= from {
                    let own = self.least_to_left(level, last);
                    ready.set(last, ready.at(last).least(own));
                    offers.exact.set(last, own + message.latency);
                }
                offers.up_to.set(last, ready.at(last) + message.latency);
                offers.occupancy.set(last, message.occupancy);
            }
            self.offers.push(offers);
        }
        Ok(())
    }

    /// Messages of roots to their left to a rank that pays `level`, at least `L[i]`, to one just outside: on that
    /// level, which is marked, and on greater ones.
    #[inline(always)]
    pub(super) fn offers_from(&self, level: Level) -> impl Iterator<Item = (bool, &Offers<T>)> {
        let lowest = self.used - self.offers.len();
        (0..).map(|above| above == 0).zip(&self.offers[level - lowest..])
    }

    /// `C(i,last)` of this type, if there is such a root.
    #[inline(always)]
    pub(super) fn time(&self, of: Type, last: Rank) -> Option<T> {
        self.times[of.left * self.used + of.right].get(last).filter(|&time| time < beyond())
    }

    #[inline(always)]
    pub(super) fn times_mut(&mut self, of: Type) -> &mut Span<T> {
        &mut self.times[of.left * self.used + of.right]
    }

    /// The types of `[i..last]` and their times, by left and then by right level.
    #[inline]
    pub(super) fn types(&self, last: Rank) -> impl Iterator<Item = (Type, T)> + '_ {
        Type::all(self.used).filter_map(move |of| Some((of, self.time(of, last)?)))
    }

    /// Every type that there is in the row, with its times.
    #[inline]
    pub(super) fn spans(&self) -> impl Iterator<Item = (Type, &Span<T>)> + '_ {
        Type::all(self.used).zip(&self.times).filter(|(_, span)| !span.values.is_empty())
    }

    /// The least time of a root of `[i..last]` that pays this level, and none less, to its left.
    #[inline]
    pub(super) fn least_to_left(&self, level: Level, last: Rank) -> T {
        let of_level = &self.times[level * self.used..(level + 1) * self.used];
        of_level.iter().filter_map(|span| span.get(last)).fold(beyond(), T::least)
    }

    /// Least time of a message to the right.
    #[inline]
    pub(super) fn least_to_right(&self, level: Level, last: Rank) -> T {
        let of_level = self.times.iter().skip(level).step_by(self.used);
        of_level.filter_map(|span| span.get(last)).fold(beyond(), T::least)
    }
}

impl Type {
    /// That of a rank alone.
    #[inline(always)]
    pub(super) fn own(boundaries: &Boundaries, rank: Rank) -> Type {
        Type { left: boundaries.at(rank), right: boundaries.at(rank + 1) }
    }

    /// The type once a range on the left has been received: `between` is the greatest level from the
    /// boundary before that range to the one behind it.
    #[inline(always)]
    pub(super) fn after_left(self, between: Level) -> Type {
        Type { left: self.left.max(between), ..self }
    }

    /// Type after receiving on the right.
    #[inline(always)]
    pub(super) fn after_right(self, between: Level) -> Type {
        Type { right: self.right.max(between), ..self }
    }

    /// All types of this many levels, by left and then by right level.
    #[inline(always)]
    pub(super) fn all(used: usize) -> impl Iterator<Item = Type> {
        (0..used).flat_map(move |left| (0..used).map(move |right| Type { left, right }))
    }

    /// The last ranks of ranges from `first` on that may have a root of this type: all that do, and
    /// some between.
    fn ranks(self, boundaries: &Boundaries, (first, end): (Rank, Rank)) -> Range<Rank> {
        let Type { left, right } = self;
        // Roots q with the greatest of L[first..=q] being left.
        let roots = boundaries.turn(first, left)..boundaries.turn(first, left + 1);
        let (from, to) = match roots.is_empty() {
            true => (end, end),
            // No boundary above left is behind them.
            false if right <= left => (roots.start, roots.end - 1),
            // The greatest of L[first..=last + 1], too, is right.
            false => (boundaries.turn(first, right) - 1, boundaries.turn(first, right + 1) - 1),
        };
        from.min(end)..to.min(end).max(from.min(end))
    }
}
