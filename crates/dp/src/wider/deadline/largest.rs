//! The largest block of any range in constant time and linear space.
//!
//! Blocks are grouped by 32. Within a group, bit `k` of place `i`'s mask is set iff no block of
//! places `k+1..=i` is larger than that of `k`: the lowest bit from `first` on is then the largest
//! block of `first..=i`, and the leftmost of several. Whole groups are compared two by two, in
//! stretches whose lengths are powers of two.

use tuwtree_model::Rank;

const GROUP: usize = 32;

/// Largest blocks of ranges.
pub(super) struct Largest {
    blocks: Vec<f64>,
    /// For each rank, as bits: the places of its group up to it whose block none behind it, up to
    /// the rank, exceeds.
    masks: Vec<u32>,
    /// Entry `n` has, for each group, the largest block of `2^n` groups from there on.
    stretches: Vec<Vec<u32>>,
}

impl Largest {
    /// O(p) time and space.
    pub(super) fn new(blocks: Vec<f64>) -> Largest {
        let mut masks = Vec::with_capacity(blocks.len());
        for group in blocks.chunks(GROUP) {
            let mut mask = 0_u32;
            for (place, &block) in group.iter().enumerate() {
                while mask != 0 && group[mask.ilog2() as usize] < block {
                    mask ^= 1 << mask.ilog2();
                }
                mask |= 1 << place;
                masks.push(mask);
            }
        }
        let mut largest = Largest { blocks, masks, stretches: Vec::new() };
        let groups = largest.blocks.len().div_ceil(GROUP);
        let end = |group: usize| ((group + 1) * GROUP).min(largest.blocks.len()) - 1;
        let whole = |group| largest.in_group(group * GROUP, end(group)) as u32;
        let mut stretch: Vec<u32> = (0..groups).map(whole).collect();
        for half in (0..).map(|power| 1 << power).take_while(|half| 2 * half <= groups) {
            let two = |at| largest.larger(stretch[at] as Rank, stretch[at + half] as Rank) as u32;
            let longer = (0..=groups - 2 * half).map(two).collect();
            largest.stretches.push(std::mem::replace(&mut stretch, longer));
        }
        largest.stretches.push(stretch);
        largest
    }

    /// The rank of the largest block of `first..=last`, of several the least.
    pub(super) fn of(&self, first: Rank, last: Rank) -> Rank {
        let (from, to) = (first / GROUP, last / GROUP);
        if from == to {
            return self.in_group(first, last);
        }
        let mut best = self.in_group(first, from * GROUP + GROUP - 1);
        if from + 1 < to {
            let power = (to - from - 1).ilog2() as usize;
            let stretch = &self.stretches[power];
            best = self.larger(best, stretch[from + 1] as Rank);
            best = self.larger(best, stretch[to - (1 << power)] as Rank);
        }
        self.larger(best, self.in_group(to * GROUP, last))
    }

    fn in_group(&self, first: Rank, last: Rank) -> Rank {
        let from = self.masks[last] >> (first % GROUP);
        first + from.trailing_zeros() as usize
    }

    /// The one of two ranks that has the larger block; the first if they are equal.
    fn larger(&self, first: Rank, second: Rank) -> Rank {
        if self.blocks[second] > self.blocks[first] { second } else { first }
    }
}

#[test]
fn the_leftmost_largest_block_of_every_range() {
    for p in [1, 2, 31, 32, 33, 64, 100, 230] {
        let blocks: Vec<f64> = (0..p).map(|rank| (rank * rank * 7919 % 101 % 17) as f64).collect();
        let largest = Largest::new(blocks.clone());
        for first in 0..p {
            let mut best = first;
            for last in first..p {
                if blocks[last] > blocks[best] {
                    best = last;
                }
                assert_eq!(largest.of(first, last), best, "{first}..={last} of {p}");
            }
        }
    }
}
