//! The best senders of a range on a machine of levels: all that share a level with a receiver pay the same,
//! so that of these only the one counts that is ready first.
//!
//! ```text
//!  groups of level 1   |  . . . q . .  |  . . .  |     the least time of each group, from which of the
//!  groups of level 0   |  . . | q . .  |  . . .  |     groups below, and the least of its other ones:
//!  receiver r                   r                      what r's own group of level 0 has does not count
//!                                                      among those who share level 1 with it
//! ```
//!
//! They are gathered once for each range and serve all receivers outside it: O(p^4 h) in all for `h` levels,
//! where asking each sender is O(p^5).

use super::levels::Levels;
use super::links::Links;
use crate::table::triangle_cells;
use rayon::prelude::*;
use tuwtree_model::Rank;

/// The groups of a machine's levels that have several ranks, numbered.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    ranks: usize,
    /// Number of groups on all levels.
    count: usize,
    /// `p` entries for each level, innermost first: the group of each rank, [`ALONE`] for none.
    groups: Vec<u32>,
    /// Parts of each group: the least rank of the group on the level below, the rank itself on the
    /// innermost.
    parts: Vec<u32>,
}

/// The number of a group of one rank, which sends nothing to itself.
const ALONE: u32 = u32::MAX;

impl Groups {
    /// Groups of the ranks, given the innermost level that two of them share.
    ///
    /// # Complexity
    /// O(p^2 h).
    pub(super) fn new(
        ranks: usize,
        levels: usize,
        shared_level: impl Fn(Rank, Rank) -> usize,
    ) -> Groups {
        let cells = levels * ranks;
        let mut all = Groups {
            ranks,
            count: 0,
            groups: Vec::with_capacity(cells),
            parts: Vec::with_capacity(cells),
        };
        let mut parts: Vec<u32> = (0..ranks as u32).collect();
        for level in 0..levels {
            let shares = |rank: Rank, other: Rank| shared_level(rank, other) <= level;
            let first = |rank: Rank| (0..rank).find(|&other| shares(rank, other)).unwrap_or(rank);
            let firsts: Vec<Rank> = (0..ranks).map(first).collect();
            let mut numbers = vec![ALONE; ranks];
            for (rank, &first) in firsts.iter().enumerate() {
                if first < rank && numbers[first] == ALONE {
                    numbers[first] = all.count as u32;
                    all.count += 1;
                }
            }
            all.groups.extend(firsts.iter().map(|&first| numbers[first]));
            all.parts.append(&mut parts);
            parts.extend(firsts.iter().map(|&first| first as u32));
        }
        all
    }

    /// The group of a rank on a level, if others are in it, and the part of it that is the rank's group below.
    #[inline(always)]
    fn of(&self, level: usize, rank: Rank) -> Option<(usize, u32)> {
        let at = level * self.ranks + rank;
        let group = self.groups[at];
        (group != ALONE).then(|| (group as usize, self.parts[at]))
    }

    /// `h`.
    fn levels(&self) -> usize {
        self.groups.len() / self.ranks
    }

    /// The bytes of a [`BestSenders`] of all ranges.
    pub(super) fn memory(&self) -> u64 {
        let cells = triangle_cells(self.ranks) as u64 * self.count as u64;
        cells.saturating_mul(size_of::<Least>() as u64)
    }
}

/// The least times of a group.
#[derive(Clone, Copy, Debug)]
struct Least {
    time: f64,
    /// The least time outside the part that this one is from.
    elsewhere: f64,
    part: u32,
}

const NOBODY: Least = Least { time: f64::INFINITY, elsewhere: f64::INFINITY, part: ALONE };

/// The least times of all groups among the senders of each range.
pub(super) struct BestSenders<'a> {
    links: &'a Links,
    groups: &'a Groups,
    /// Least entries by width, those of a range for all groups together, ranges by their first
    /// rank.
    levels: Vec<Vec<Least>>,
}

impl<'a> BestSenders<'a> {
    /// An empty table.
    pub(super) fn new(links: &'a Links, groups: &'a Groups) -> BestSenders<'a> {
        BestSenders { links, groups, levels: Vec::new() }
    }

    /// Adds the ranges of one rank more than those before.
    pub(super) fn extend(&mut self, times: &Levels) {
        let (width, count) = (self.levels.len() + 1, self.groups.count);
        let mut level = vec![NOBODY; (self.groups.ranks + 1 - width) * count];
        if count > 0 {
            level.par_chunks_mut(count).enumerate().for_each(|(first, least)| {
                let senders = first..first + width;
                for (sender, &time) in senders.zip(times.roots(first, first + width - 1)) {
                    self.add(least, (sender, time));
                }
            });
        }
        self.levels.push(level);
    }

    fn add(&self, least: &mut [Least], (sender, time): (Rank, f64)) {
        for level in 0..self.groups.levels() {
            let Some((group, part)) = self.groups.of(level, sender) else { continue };
            let least = &mut least[group];
            if time < least.time {
                if least.part != part {
                    least.elsewhere = least.time;
                }
                (least.time, least.part) = (time, part);
            } else if least.part != part && time < least.elsewhere {
                least.elsewhere = time;
            }
        }
    }

    /// Of the range `[a..b]`: when a receiver outside it that is free from a clock on has what the best sender
    /// sends.
    #[inline]
    pub(super) fn of_range(&self, (a, b): (Rank, Rank)) -> impl Fn(f64, Rank) -> f64 {
        let count = self.groups.count;
        let least = &self.levels[b - a][a * count..][..count];
        let times = self.links.times_of_levels(a, b);
        move |clock, receiver| {
            let mut earliest = f64::INFINITY;
            for (level, &(latency, occupancy)) in times.iter().enumerate() {
                if let Some((group, part)) = self.groups.of(level, receiver) {
                    let Least { time, elsewhere, part: from } = least[group];
                    let time = if from == part { elsewhere } else { time };
                    earliest = earliest.min(clock.max(time + latency) + occupancy);
                }
            }
            earliest
        }
    }
}
