//! How many blocks a subtree can have collected by a given time.

use super::load::RootLoad;
use std::cmp::Reverse;

/// The least times by which so many blocks can have come together.
///
/// The last message that brings data to a subtree's root cuts its `c` blocks in two. If `s <= c / 2`
/// of them came with it, the message took at least as long as the `s` smallest blocks of all, and the
/// others were together before; if more came, that many were together before at least, and the
/// message was longer. So the time of `c` blocks is at least
///
/// ```text
/// tau(c) = min over 1 <= s <= c/2 of  keep(c - s) + alpha + beta sm(s)
/// ```
///
/// where `sm(s)` is the size of the `s` smallest blocks, `keep(c) = tau(c)`, and `keep(1)` is the
/// time of the smallest block's copy, since a lone receiver copies its own.
pub(super) struct Counts {
    /// `n` entries, never falling: entry `c - 1` is `tau(c)`; `tau(1) = 0`.
    ready: Vec<u128>,
}

impl Counts {
    /// The counts of a load.
    ///
    /// `sm` is convex: once a larger `c - s` is as good as a smaller one, it remains so for greater
    /// `c`. So the scan starts from the best of the count before.
    ///
    /// # Complexity
    /// O(n^2) time, O(n) space.
    pub(super) fn new(load: &RootLoad) -> Counts {
        let n = load.blocks();
        let total = load.volume[n];
        let smallest: Vec<u128> = load.volume.iter().rev().map(|largest| total - largest).collect();
        // keep[c - 1]: as tau, but for a lone block.
        let mut keep = Vec::with_capacity(n);
        if n > 0 {
            keep.push(smallest[1] - load.lead[n - 1]);
        }
        let mut best_kept = 1;
        for c in 2..=n {
            let first = best_kept.max(c - c / 2);
            let together =
                (first..c).map(|kept| (keep[kept - 1].saturating_add(smallest[c - kept]), kept));
            let least = together.min_by_key(|&(time, kept)| (time, Reverse(kept)));
            let (time, kept) = least.expect("one block can always come last");
            best_kept = kept;
            keep.push(time.saturating_add(load.latency));
        }
        if let Some(lone) = keep.first_mut() {
            *lone = 0;
        }
        Counts { ready: keep }
    }

    /// The most blocks of a subtree that is ready by `time`: at least 1.
    pub(super) fn within(&self, time: u128) -> usize {
        self.ready.partition_point(|&ready| ready <= time)
    }
}
