//! The roots of finished ranges in the order in which they are ready.

use super::hinge::{Sender, Senders};
use super::receiver::HingeReceiver;
use crate::DpError;
use crate::table::zeros;
use rayon::prelude::*;
use tuwtree_model::Rank;

/// For each finished range within `first..first + width`: its roots, earliest first.
#[derive(Clone, Debug)]
pub(crate) struct SortedSenders {
    first: Rank,
    width: usize,
    /// Level `w - 1` holds the ranges of `w` ranks by their first one, `w` roots each.
    levels: Vec<RangesOfWidth>,
    /// `width * width` entries: the first root of each range, grouped by the start of the range,
    /// shorter ones first.
    earliest_by_start: Vec<Sender>,
    /// Likewise, grouped by the end of the range.
    earliest_by_end: Vec<Sender>,
}

#[derive(Clone, Debug)]
struct RangesOfWidth {
    ready: Vec<f64>,
    rank: Vec<u16>,
}

impl SortedSenders {
    /// The ranges of one rank, ready at once.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    pub(crate) fn new((first, width): (Rank, usize)) -> Result<SortedSenders, DpError> {
        let rank = (first..first + width).map(|rank| rank as u16).collect();
        let level = RangesOfWidth { ready: zeros(width)?, rank };
        let nobody = vec![Sender { ready: f64::INFINITY, rank: 0 }; width * width];
        let mut senders = SortedSenders {
            first,
            width,
            levels: vec![level],
            earliest_by_start: nobody.clone(),
            earliest_by_end: nobody,
        };
        senders.note_earliest(1);
        Ok(senders)
    }

    /// Adds the ranges of `length + 1` ranks, if there are any.
    ///
    /// # Shapes
    /// `receivers` are all ranks, by rank.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    pub(crate) fn extend(
        &mut self,
        receivers: &[HingeReceiver],
        length: usize,
    ) -> Result<(), DpError> {
        if length >= self.width {
            return Ok(());
        }
        let roots = length + 1;
        let cells = (self.width - length) * roots;
        let mut ready = zeros::<f64>(cells)?;
        let mut rank = vec![0_u16; cells];
        let ranges = ready.par_chunks_mut(roots).zip(rank.par_chunks_mut(roots));
        ranges.enumerate().for_each(|(start, (ready, rank))| {
            let i = self.first + start;
            let mut order: Vec<(f64, u16)> =
                (i..=i + length).map(|q| (receivers[q].get(i, i + length), q as u16)).collect();
            order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (n, (time, root)) in order.into_iter().enumerate() {
                ready[n] = time;
                rank[n] = root;
            }
        });
        self.levels.push(RangesOfWidth { ready, rank });
        self.note_earliest(roots);
        Ok(())
    }

    /// Copies the first root of each range of this many ranks to where it is found fast.
    fn note_earliest(&mut self, roots: usize) {
        let RangesOfWidth { ready, rank } = &self.levels[roots - 1];
        let firsts = ready.iter().step_by(roots).zip(rank.iter().step_by(roots));
        for (start, (&ready, &rank)) in firsts.enumerate() {
            let (end, sender) = (start + roots - 1, Sender { ready, rank });
            self.earliest_by_start[start * self.width + roots - 1] = sender;
            self.earliest_by_end[end * self.width + roots - 1] = sender;
        }
    }

    /// The first root of `[a..a]`, `[a..a+1]`, …
    pub(crate) fn earliest_from(&self, a: Rank) -> &[Sender] {
        &self.earliest_by_start[(a - self.first) * self.width..][..self.width]
    }

    /// The first root of `[b..b]`, `[b-1..b]`, …
    pub(crate) fn earliest_to(&self, b: Rank) -> &[Sender] {
        &self.earliest_by_end[(b - self.first) * self.width..][..self.width]
    }

    /// The roots of `[a..b]`.
    #[inline(always)]
    pub(crate) fn of(&self, a: Rank, b: Rank) -> Senders<'_> {
        let roots = b + 1 - a;
        let start = (a - self.first) * roots;
        let level = &self.levels[roots - 1];
        Senders {
            ready: &level.ready[start..start + roots],
            rank: &level.rank[start..start + roots],
        }
    }
}
