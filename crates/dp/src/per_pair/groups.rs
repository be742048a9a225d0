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
//! They are gathered once for a range and serve all receivers on its other side: O(p^4 h) in all for `h`
//! levels, where asking each sender is O(p^5).

use super::links::Links;
use tuwtree_model::Rank;

/// For each level and each rank the least rank of its group.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    processors: usize,
    /// `p` entries for each level, innermost first.
    first_of_group: Vec<Rank>,
}

impl Groups {
    /// The groups of so many ranks, given the innermost level that two of them share.
    ///
    /// # Complexity
    /// O(p^2 h).
    pub(super) fn new(
        processors: usize,
        levels: usize,
        shared_level: impl Fn(Rank, Rank) -> usize,
    ) -> Groups {
        let mut first_of_group = Vec::with_capacity(levels * processors);
        for level in 0..levels {
            let shares = |rank: Rank, other: Rank| shared_level(rank, other) <= level;
            first_of_group.extend(
                (0..processors)
                    .map(|rank| (0..rank).find(|&other| shares(rank, other)).unwrap_or(rank)),
            );
        }
        Groups { processors, first_of_group }
    }

    /// `h`.
    fn levels(&self) -> usize {
        self.first_of_group.len() / self.processors
    }

    /// The group of a rank on a level, and the one below that holds it: the rank itself on the innermost.
    #[inline(always)]
    fn of(&self, level: usize, rank: Rank) -> (usize, Rank) {
        let at = level * self.processors;
        let part = match level {
            0 => rank,
            _ => self.first_of_group[at - self.processors + rank],
        };
        (at + self.first_of_group[at + rank], part)
    }
}

/// The least times of a group.
#[derive(Clone, Copy, Debug)]
struct Least {
    time: f64,
    /// In which of the groups below it is.
    part: Rank,
    /// The least time of the others.
    elsewhere: f64,
}

const NOBODY: Least = Least { time: f64::INFINITY, part: Rank::MAX, elsewhere: f64::INFINITY };

/// The senders of a range.
pub(super) struct BestSenders<'a> {
    links: &'a Links,
    groups: &'a Groups,
    /// `p` entries for each level, of which those of groups are used.
    least: Vec<Least>,
    range: (Rank, Rank),
}

impl<'a> BestSenders<'a> {
    pub(super) fn new(links: &'a Links, groups: &'a Groups) -> BestSenders<'a> {
        BestSenders {
            links,
            groups,
            least: vec![NOBODY; groups.first_of_group.len()],
            range: (0, 0),
        }
    }

    /// Takes the senders of the range `[a..b]` with these times in place of those before.
    pub(super) fn gather(&mut self, (a, b): (Rank, Rank), times: &[f64]) {
        self.range = (a, b);
        self.least.fill(NOBODY);
        for (sender, &time) in (a..=b).zip(times) {
            for level in 0..self.groups.levels() {
                let (group, part) = self.groups.of(level, sender);
                let least = &mut self.least[group];
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
    }

    /// When a receiver outside the range that is free from `clock` on has what the best of them sends.
    #[inline]
    pub(super) fn least_arrival(&self, clock: f64, receiver: Rank) -> f64 {
        let (a, b) = self.range;
        let mut earliest = f64::INFINITY;
        for (level, &(latency, occupancy)) in self.links.times_of_levels(a, b).iter().enumerate() {
            let (group, part) = self.groups.of(level, receiver);
            let least = self.least[group];
            let time = if least.part == part { least.elsewhere } else { least.time };
            earliest = earliest.min(clock.max(time + latency) + occupancy);
        }
        earliest
    }
}
