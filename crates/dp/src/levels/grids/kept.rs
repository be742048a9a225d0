//! Boundaries between ranks that each scale keeps.

use super::costs::Costs;
use crate::levels::boundaries::{Boundaries, Level};
use tuwtree_model::Rank;

/// The nested sets of boundaries `B_0` (all), `B_1`, …, by the last scale at which each boundary is kept.
#[derive(Clone, Debug)]
pub(super) struct KeptBoundaries {
    /// `p + 1` entries.
    until: Vec<usize>,
    /// Greatest weight of cells of each scale, except single ranks: the least weight of a rank, doubled from scale to
    /// scale, which is exact.
    cells: Vec<f64>,
    /// `p + 1` entries: the weight of the first ranks.
    before: Vec<f64>,
    /// Ratio of a range's greatest weight to that of its scale's cells.
    reach: f64,
}

/// Number of finer scales whose boundaries are also kept.
const DEEPEST: usize = 3;
/// Number of them on each side.
const NEIGHBOURS: usize = 2;

/// Number of ranks beside a possible root within reach at every scale.
const BESIDE: usize = 32;

impl KeptBoundaries {
    /// Boundaries by a tree of cells: a range is split at its boundaries of the highest level, there nearest to half of
    /// its weight, down to ranks; scale `s` keeps the splits of cells above `2^s` units of weight.
    ///
    /// # Complexity
    /// O(p log p).
    pub(super) fn new(costs: &Costs<'_>, boundaries: &Boundaries, reach: f64) -> KeptBoundaries {
        let weights = weights(costs, boundaries.used());
        let unit = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let mut sum = 0.0;
        let sums = weights.iter().map(|weight| {
            sum += weight;
            sum
        });
        let before: Vec<f64> = std::iter::once(0.0).chain(sums).collect();
        let ranks = weights.len();
        let (mut cells, mut cell) = (vec![unit], unit);
        while reach * cell < before[ranks] {
            cell *= 2.0;
            cells.push(cell);
        }
        let scales = cells.len();
        let mut kept = KeptBoundaries { until: vec![scales - 1; ranks + 1], cells, before, reach };
        let of_level =
            |level: Level| (1..ranks).filter(|&x| boundaries.at(x) >= level).collect::<Vec<_>>();
        let of_level: Vec<Vec<Rank>> = (0..boundaries.used()).map(of_level).collect();
        let mut ranges = vec![(0, ranks)];
        while let Some((first, end)) = ranges.pop() {
            if end - first == 1 {
                continue;
            }
            let level = boundaries.greatest(first + 1, end - 1);
            let split = kept.halving(&of_level[level], (first, end));
            let weight = kept.weight(first, end);
            kept.until[split] = (0..scales).rev().find(|&s| weight > kept.cells[s]).unwrap_or(0);
            ranges.extend([(first, split), (split, end)]);
        }
        kept
    }

    /// The boundary within a range nearest to half of its weight.
    fn halving(&self, boundaries: &[Rank], (first, end): (Rank, Rank)) -> Rank {
        let half = 0.5 * (self.before[first] + self.before[end]);
        let from = boundaries.partition_point(|&x| x <= first);
        let to = boundaries.partition_point(|&x| x < end);
        let inside = &boundaries[from..to];
        let next = inside.partition_point(|&x| self.before[x] < half);
        let off = |x: Rank| (self.before[x] - half).abs();
        let near = inside[next.saturating_sub(1)..inside.len().min(next + 1)].iter().copied();
        near.min_by(|&one, &other| off(one).total_cmp(&off(other)))
            .expect("a boundary of the level")
    }

    /// Number of scales.
    pub(super) fn scales(&self) -> usize {
        self.cells.len()
    }

    /// The boundaries of a scale, both ends among them.
    pub(super) fn of_scale(&self, scale: usize) -> Vec<Rank> {
        (0..self.until.len()).filter(|&x| self.until[x] >= scale).collect()
    }

    /// Weight of a range.
    #[inline(always)]
    pub(super) fn weight(&self, first: Rank, end: Rank) -> f64 {
        self.before[end] - self.before[first]
    }

    /// The most that a range of a scale may weigh.
    pub(super) fn most(&self, scale: usize) -> f64 {
        if scale + 1 == self.scales() { f64::INFINITY } else { self.reach * self.cells[scale] }
    }

    /// Keeps all boundaries within a rank's group of level 0, up to some ranks away, at every scale: without
    /// them nobody beside a root could collect for it.
    pub(super) fn pin(&mut self, boundaries: &Boundaries, rank: Rank) {
        let ranks = self.until.len() - 1;
        let within = |&x: &Rank| boundaries.at(x) == 0;
        let to_left = (rank.saturating_sub(BESIDE)..=rank).rev();
        let to_right = rank + 1..=(rank + 1 + BESIDE).min(ranks);
        // The node's own ends, too.
        let ends = [to_left.clone().find(|x| !within(x)), to_right.clone().find(|x| !within(x))];
        let inner = to_left.take_while(within).chain(to_right.take_while(within));
        for x in inner.chain(ends.into_iter().flatten()).chain([rank, rank + 1]) {
            self.until[x] = self.scales() - 1;
        }
    }

    /// The rank in the middle of all weight.
    pub(super) fn middle(&self) -> Rank {
        let ranks = self.until.len() - 1;
        let half = 0.5 * self.before[ranks];
        (self.before.partition_point(|&before| before <= half) - 1).min(ranks - 1)
    }

    /// For boundaries that a tree used at some scales, keeps the nearest of finer scales at those, too; `kept`
    /// are the boundaries of each scale.
    pub(super) fn refine(&mut self, used: &[(Rank, usize)], kept: &[Vec<Rank>]) {
        for &(x, scale) in used {
            for all in &kept[scale.saturating_sub(DEEPEST)..scale] {
                let at = all.partition_point(|&other| other < x);
                for &x in &all[at.saturating_sub(NEIGHBOURS)..all.len().min(at + 1 + NEIGHBOURS)] {
                    self.until[x] = self.until[x].max(scale);
                }
            }
        }
    }
}

/// Weight of each rank: the least time of its own message; positive.
fn weights(costs: &Costs<'_>, levels: usize) -> Vec<f64> {
    let own = |rank: Rank| {
        let all = (0..levels).map(|level| costs.message(level, costs.bytes(rank, rank + 1).max(1)));
        all.map(|(latency, occupancy)| latency + occupancy).fold(f64::INFINITY, f64::min)
    };
    let mut weights: Vec<f64> = (0..costs.ranks()).map(own).collect();
    let greatest = weights.iter().copied().fold(0.0, f64::max);
    let least = if greatest > 0.0 { 1e-9 * greatest } else { 1.0 };
    weights.iter_mut().for_each(|weight| *weight = weight.max(least));
    weights
}
