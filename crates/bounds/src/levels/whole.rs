//! Blocks travel whole: who passes a large one on to the root has had to receive all of it before.
//!
//! The other bounds let parts of a block come over many ports at the same time. Here each block of at least `m`
//! bytes from outside the root's group either comes to the root straight from there, at the rate of that
//! network; or it enters the group elsewhere first, and is there no earlier than such a message takes. If `y`
//! bytes come straight, of `M` in such blocks, the root takes at least
//!
//! ```text
//! by all that it does            c + B y + b (M - y)
//! after the first is passed on   rho(m) + b (M - y)
//! ```
//!
//! where `B` is the least rate from outside, `b` the least of all, and `c` what the root does beside these. The
//! larger of both is least where they are equal.

use super::system::{Cost, Receivers};
use super::{Roots, least_of};
use std::ops::Range;

/// Work of a level.
struct WholeBlocks<'a> {
    costs: &'a [Option<Cost>],
    /// The first level whose messages the root's port, or its node's wire, receives.
    first: usize,
}

/// A lower bound on the time of every tree with the given root, in time units; 0 if the root is open. `copy` is
/// for how long the port copies.
///
/// # Complexity
/// O(p h log p).
pub(super) fn bound(
    roots: Roots<'_>,
    costs: &[Option<Cost>],
    receivers: Receivers,
    copy: f64,
) -> f64 {
    let Some(root) = roots.root.given() else { return 0.0 };
    let first = receivers.first();
    let whole = WholeBlocks { costs, first };
    let machine = roots.machine;
    let lacks = machine.total - machine.inside(first, root, roots.sizes).bytes;
    let bound_of = |level: usize| {
        let group = |rank| roots.hierarchy.group(rank, level - 1);
        let ranks = (0..roots.sizes.ranks()).filter(|&rank| group(rank) != group(root));
        let blocks = ranks.map(|rank| roots.block(rank));
        let mut outside: Vec<f64> = blocks.filter(|&bytes| bytes > 0.0).collect();
        outside.sort_by(|one, other| other.total_cmp(one));
        whole.bound(level, (copy, lacks), &outside)
    };
    (first + 1..costs.len()).map(bound_of).fold(0.0, f64::max)
}

impl WholeBlocks<'_> {
    /// The bound by blocks from outside the root's group inside a level, the largest first; for a root that lacks this
    /// many bytes in all.
    fn bound(&self, level: usize, (copy, lacks): (f64, f64), outside: &[f64]) -> f64 {
        let rate = |levels: Range<usize>| {
            least_of(&self.costs[..levels.end], |cost| cost.per_byte, levels.start)
        };
        let (inward, any) = (rate(level..self.costs.len()), rate(self.first..self.costs.len()));
        // Nobody is outside, or all messages are as cheap.
        if !inward.is_finite() || inward <= any {
            return 0.0;
        }
        let enters = |bytes: f64| {
            let by = |cost: &Cost| cost.earliest + cost.overhead + cost.per_byte * bytes;
            least_of(self.costs, by, level)
        };
        let passed_on = |cost: &Cost| cost.latency + cost.overhead;
        // Infinite, if nobody else is in the group.
        let passed_on = least_of(&self.costs[..level], passed_on, self.first);
        let mut sum = 0.0;
        let bounds = outside.iter().map(|&bytes| {
            sum += bytes;
            let others = copy + any * (lacks - sum).max(0.0);
            let straight = ((enters(bytes) + passed_on - others) / inward).clamp(0.0, sum);
            copy + any * lacks + (inward - any) * straight
        });
        bounds.fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(latency: f64, per_byte: f64) -> Option<Cost> {
        Some(Cost { earliest: latency, latency, overhead: 0.0, per_byte })
    }

    #[test]
    fn one_block_comes_straight_while_the_others_come_to_mates() {
        let costs = [cost(1.0, 1.0), cost(5.0, 10.0)];
        let whole = WholeBlocks { costs: &costs, first: 0 };
        // Entered by 5 + 1000, passed on 1 later: 500 bytes in 5 blocks, 100.6 of them straight.
        let bound = whole.bound(1, (0.0, 500.0), &[100.0; 5]);
        assert!((bound - (500.0 + 9.0 * 100.6)).abs() < 1e-9, "{bound}");
        // A lone one comes straight.
        assert_eq!(whole.bound(1, (0.0, 100.0), &[100.0]), 1000.0);
        // Nobody else is in the group.
        let costs = [None, costs[1], cost(5.0, 5.0)];
        let whole = WholeBlocks { costs: &costs, first: 0 };
        assert_eq!(whole.bound(1, (0.0, 500.0), &[100.0; 5]), 0.0);
    }
}
