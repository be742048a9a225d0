//! A table over all ranges and roots, one level for each number of ranks in the range.

use super::links::{Links, LinksTo};
use crate::DpError;
use crate::progress::Meter;
use crate::table::zeros;
use rayon::prelude::*;
use tuwtree_model::{Rank, Root};

/// Number of senders compared side by side.
const LANES: usize = 8;

/// One time for each range `[i..j]` of the ranks `first..first + width` and each root in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Levels {
    first: Rank,
    width: usize,
    /// Level `w - 1` holds the ranges of `w` ranks by their first one, `w` roots each.
    levels: Vec<Vec<f64>>,
}

impl Levels {
    /// The table whose entries for ranges of one rank are 0 and whose others are what
    /// `time(shorter, (i, j, r))` says, given all shorter ranges.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`], [`DpError::Cancelled`].
    pub(crate) fn fill(
        (first, width): (Rank, usize),
        meter: &mut Meter<'_>,
        time: impl Fn(&Levels, (Rank, Rank, Rank)) -> f64 + Sync,
    ) -> Result<Levels, DpError> {
        let mut table = Levels::empty((first, width));
        while !table.is_full() {
            table.extend(meter, |shorter, (i, j), times| {
                for (root, entry) in (i..).zip(times) {
                    *entry = time(shorter, (i, j, root));
                }
            })?;
        }
        Ok(table)
    }

    /// The table of these ranks that has no ranges yet.
    pub(crate) fn empty((first, width): (Rank, usize)) -> Levels {
        Levels { first, width, levels: Vec::with_capacity(width) }
    }

    /// True if it has all ranges.
    pub(crate) fn is_full(&self) -> bool {
        self.levels.len() == self.width
    }

    /// Adds the ranges of one rank more than those before: `times(shorter, (i, j), entries)` sets the times
    /// of one, which are 0, by root from `i` to `j`.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    pub(crate) fn extend(
        &mut self,
        meter: &mut Meter<'_>,
        times: impl Fn(&Levels, (Rank, Rank), &mut [f64]) + Sync,
    ) -> Result<(), DpError> {
        let roots = self.levels.len() + 1;
        let mut level = zeros::<f64>((self.width + 1 - roots) * roots)?;
        if roots > 1 {
            level.par_chunks_mut(roots).enumerate().for_each(|(start, entries)| {
                let i = self.first + start;
                times(self, (i, i + roots - 1), entries);
            });
        }
        meter.row_done(level.len())?;
        self.levels.push(level);
        Ok(())
    }

    /// True if a range lies within the ranks of the table.
    pub(crate) fn spans(&self, i: Rank, j: Rank) -> bool {
        self.first <= i && j < self.first + self.width
    }

    /// The times of a range by root, from `i` to `j`.
    #[inline(always)]
    pub(crate) fn roots(&self, i: Rank, j: Rank) -> &[f64] {
        debug_assert!(i <= j && self.spans(i, j));
        let roots = j + 1 - i;
        let start = (i - self.first) * roots;
        &self.levels[roots - 1][start..start + roots]
    }

    /// The time of a range with this root.
    #[inline(always)]
    pub(crate) fn get(&self, i: Rank, j: Rank, root: Rank) -> f64 {
        self.roots(i, j)[root - i]
    }
}

/// The number of entries of [`Levels`] over `width` ranks.
pub(crate) fn level_cells(width: usize) -> u128 {
    let width = width as u128;
    width * (width + 1) * (width + 2) / 6
}

/// The widths of the tables for the best root: one; or of those on either side of a given root.
pub(crate) fn widths(ranks: usize, root: Root) -> impl Iterator<Item = usize> {
    spans(ranks, root).map(|(_, width)| width)
}

/// The first ranks and widths of these tables.
pub(crate) fn spans(ranks: usize, root: Root) -> impl Iterator<Item = (Rank, usize)> {
    let (one, other) = match root {
        Root::Best | Root::None => ((0, ranks), None),
        Root::Given(root) => ((0, root), Some((root + 1, ranks - 1 - root))),
    };
    std::iter::once(one).chain(other)
}

/// The least of `max(clock, C(a,b,q) + lambda_qr(S(a,b))) + comm_qr(S(a,b))` over the roots `q` of `[a..b]`:
/// when the receiver `r`, free from `clock` on, has what the best of them sends.
#[inline]
pub(crate) fn least_arrival(
    links: &Links,
    clock: f64,
    times: &[f64],
    (a, b, receiver): (Rank, Rank, Rank),
) -> f64 {
    let bytes = links.bytes(a, b);
    if bytes == 0.0 {
        return times.iter().fold(f64::INFINITY, |least, &time| least.min(time)).max(clock);
    }
    match links.to(receiver) {
        Some(LinksTo { overhead, rate, latency: None }) => {
            least_without_latency(clock, times, (&overhead[a..=b], &rate[a..=b]), bytes)
        }
        Some(LinksTo { overhead, rate, latency: Some(latency) }) => {
            let lines = overhead[a..=b].iter().zip(&rate[a..=b]).zip(&latency[a..=b]);
            let arrival = |(&time, ((overhead, rate), latency)): (&f64, ((&f64, &f64), &f64))| {
                latest(clock, time + latency) + (overhead + rate * bytes)
            };
            times.iter().zip(lines).map(arrival).fold(f64::INFINITY, earliest)
        }
        None => {
            let law = links.of_level((a, b, receiver));
            let arrival = |(&time, sender): (&f64, Rank)| {
                let (latency, occupancy) = law(sender);
                latest(clock, time + latency) + occupancy
            };
            times.iter().zip(a..=b).map(arrival).fold(f64::INFINITY, earliest)
        }
    }
}

/// Least entries if all of alpha occupies ports.
#[inline]
fn least_without_latency(
    clock: f64,
    times: &[f64],
    (overhead, rate): (&[f64], &[f64]),
    bytes: f64,
) -> f64 {
    let (times, times_rest) = times.as_chunks::<LANES>();
    let (overhead, overhead_rest) = overhead.as_chunks::<LANES>();
    let (rate, rate_rest) = rate.as_chunks::<LANES>();
    let arrival =
        |time: f64, overhead: f64, rate: f64| latest(clock, time) + (overhead + rate * bytes);
    let mut least = [f64::INFINITY; LANES];
    for ((times, overhead), rate) in times.iter().zip(overhead).zip(rate) {
        for lane in 0..LANES {
            least[lane] = earliest(least[lane], arrival(times[lane], overhead[lane], rate[lane]));
        }
    }
    for ((&time, &overhead), &rate) in times_rest.iter().zip(overhead_rest).zip(rate_rest) {
        least[0] = earliest(least[0], arrival(time, overhead, rate));
    }
    least.into_iter().fold(f64::INFINITY, earliest)
}

#[inline(always)]
fn earliest(one: f64, other: f64) -> f64 {
    if other < one { other } else { one }
}

#[inline(always)]
fn latest(one: f64, other: f64) -> f64 {
    if other > one { other } else { one }
}
