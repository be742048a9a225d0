//! Order of ranks around the circle along which blocks travel.
//!
//! On a circulant graph any order will do: a rank's place on the circle says whom it meets. Who has a long message is
//! decided by where the large blocks are. In rank order they often stand side by side, and go together in one message, round
//! after round; in a balanced order they are as far apart as can be, and all messages of a round have nearly the same length.
//!
//! ```text
//!   in rank order    9 9 9 9 1 1 1 1     windows of four have between 4 and 36
//!   balanced         9 1 9 1 9 1 9 1     20 each
//! ```

use crate::rounds::{Meeting, MessageData};
use std::borrow::Cow;
use std::cmp::Reverse;
use tuwtree_model::{BlockSizes, Rank};

/// Order of ranks on the circle.
#[derive(Clone, Debug)]
pub(crate) struct Circle<'a> {
    /// The blocks by place.
    sizes: Cow<'a, BlockSizes>,
    /// None where each rank stands in its own place.
    order: Option<Placement>,
}

/// An order that is not that of ranks.
#[derive(Clone, Debug)]
struct Placement {
    /// Rank in each place.
    ranks: Vec<Rank>,
    /// Place of each rank.
    places: Vec<usize>,
    /// Offset of each place's block in rank order.
    starts: Vec<u64>,
}

impl<'a> Circle<'a> {
    /// Each rank in its own place.
    pub(crate) fn in_rank_order(sizes: &'a BlockSizes) -> Circle<'a> {
        Circle { sizes: Cow::Borrowed(sizes), order: None }
    }

    /// Large blocks far apart: the largest block stands in the first of these places, the next one in the middle of
    /// them, the next two in the middles between those, and so on, so that for every `k` the `k` largest ones are
    /// spread evenly. Equal blocks stand in rank order. Places are in the order in which a block comes to them, by
    /// index: neighbouring places in it share a message.
    ///
    /// The `k`-th largest block (of equal ones, the lowest rank's first) has the index of `k`, its bits reversed, among
    /// `0, ..., p - 1` with bits reversed: the points of van der Corput's sequence.
    ///
    /// # Complexity
    /// O(p log p).
    pub(crate) fn balanced(sizes: &'a BlockSizes, place_at: impl Fn(usize) -> usize) -> Circle<'a> {
        let p = sizes.ranks();
        if sizes.iter().all(|bytes| bytes == sizes.block(0)) {
            return Circle::in_rank_order(sizes);
        }
        let mut by_size: Vec<Rank> = (0..p).collect();
        by_size.sort_by_key(|&rank| Reverse(sizes.block(rank)));
        let mut points: Vec<usize> = (0..p).collect();
        points.sort_by_key(|point| point.reverse_bits());
        let (mut ranks, mut places) = (vec![0; p], vec![0; p]);
        for (index, point) in points.into_iter().enumerate() {
            let (rank, place) = (by_size[point], place_at(index));
            ranks[place] = rank;
            places[rank] = place;
        }
        let starts = ranks.iter().map(|&rank| sizes.before(rank)).collect();
        let by_place = BlockSizes::new(ranks.iter().map(|&rank| sizes.block(rank)));
        let by_place = by_place.expect("as many blocks, of the same sum");
        Circle { sizes: Cow::Owned(by_place), order: Some(Placement { ranks, places, starts }) }
    }

    /// This circle with blocks of its own.
    pub(crate) fn into_owned(self) -> Circle<'static> {
        Circle { sizes: Cow::Owned(self.sizes.into_owned()), order: self.order }
    }

    /// The blocks by place.
    pub(crate) fn sizes(&self) -> &BlockSizes {
        &self.sizes
    }

    /// Rank in a place.
    pub(crate) fn rank(&self, place: usize) -> Rank {
        self.order.as_ref().map_or(place, |order| order.ranks[place])
    }

    /// Place of a rank.
    pub(crate) fn place(&self, rank: Rank) -> usize {
        self.order.as_ref().map_or(rank, |order| order.places[rank])
    }

    /// Ranks in these places.
    pub(crate) fn ranks(&self, meeting: Meeting) -> Meeting {
        let Meeting { to, from } = meeting;
        Meeting { to: to.map(|to| self.rank(to)), from: from.map(|from| self.rank(from)) }
    }

    /// Offset of a place's block, in rank order.
    pub(crate) fn start(&self, place: usize) -> u64 {
        self.order.as_ref().map_or_else(|| self.sizes.before(place), |order| order.starts[place])
    }

    /// Adds the blocks of `count` places from this one on; after the last comes the first.
    ///
    /// # Complexity
    /// O(1) in rank order, else O(count).
    pub(crate) fn push_window(&self, first: usize, count: usize, data: &mut MessageData) {
        if self.order.is_none() {
            return data.push_window(&self.sizes, first, count);
        }
        let p = self.sizes.ranks();
        for place in (first..first + count).map(|place| place % p) {
            data.push(self.start(place), self.sizes.block(place));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(sizes: &[u64]) -> Vec<Rank> {
        let sizes = BlockSizes::new(sizes.iter().copied()).unwrap();
        let circle = Circle::balanced(&sizes, |index| index);
        for rank in 0..sizes.ranks() {
            let place = circle.place(rank);
            assert_eq!(circle.rank(place), rank);
            assert_eq!(circle.sizes().block(place), sizes.block(rank));
            assert_eq!(circle.start(place), sizes.before(rank));
        }
        (0..sizes.ranks()).map(|place| circle.rank(place)).collect()
    }

    #[test]
    fn large_blocks_stand_far_apart() {
        assert_eq!(circle(&[9, 9, 9, 9, 1, 1, 1, 1]), [0, 4, 2, 6, 1, 5, 3, 7]);
        // Of the five places those of 0 and 1 are the first and the fourth.
        assert_eq!(circle(&[1, 2, 8, 4, 3]), [2, 0, 4, 3, 1]);
        assert_eq!(circle(&[7, 7, 7]), [0, 1, 2]);
        assert_eq!(circle(&[5]), [0]);
        assert_eq!(circle(&[0, 5]), [1, 0]);
        // Along the places 0, 2, 1, 3.
        let sizes = BlockSizes::new([9, 9, 1, 1]).unwrap();
        let circle = Circle::balanced(&sizes, |index| [0, 2, 1, 3][index]);
        assert_eq!([0, 1, 2, 3].map(|place| circle.rank(place)), [0, 1, 2, 3]);
    }

    /// The longest messages of the rounds in which windows of blocks double, one after the other.
    fn longest_windows(sizes: &BlockSizes) -> f64 {
        let (p, mut sum, mut skip) = (sizes.ranks(), 0, sizes.ranks());
        while skip > 1 {
            let shorter = skip.div_ceil(2);
            let longest = (0..p).map(|first| sizes.window(first, skip - shorter)).max();
            sum += longest.expect("there are ranks");
            skip = shorter;
        }
        sum as f64
    }

    #[test]
    fn a_balanced_order_is_about_as_good_as_the_best_of_a_hundred_random_ones() {
        let mut state = 5_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let (mut in_rank_order, mut balanced, mut problems) = (0.0, 0.0, 0.0);
        for p in [8, 13, 24, 32, 48] {
            for kind in 0..3 {
                for _ in 0..10 {
                    let mut sizes: Vec<u64> = match kind {
                        // Some are large, zipf, and between.
                        0 => (0..p).map(|_| if draw(5) == 0 { 1000 } else { 1 }).collect(),
                        1 => (1..=p).map(|rank| 5000 / rank).collect(),
                        _ => (0..p).map(|_| draw(1000)).collect(),
                    };
                    let blocks = BlockSizes::new(sizes.iter().copied()).unwrap();
                    let circle = Circle::balanced(&blocks, |index| index);
                    let mut best = f64::INFINITY;
                    for _ in 0..100 {
                        for index in (1..sizes.len()).rev() {
                            sizes.swap(index, draw(index as u64 + 1) as usize);
                        }
                        let shuffled = BlockSizes::new(sizes.iter().copied()).unwrap();
                        best = best.min(longest_windows(&shuffled).max(1.0));
                    }
                    in_rank_order += longest_windows(&blocks) / best;
                    balanced += longest_windows(circle.sizes()) / best;
                    problems += 1.0;
                }
            }
        }
        let (in_rank_order, balanced) = (in_rank_order / problems, balanced / problems);
        println!("{balanced:.3} balanced, {in_rank_order:.3} in rank order, of the best random");
        assert!(balanced < 1.0, "{balanced}");
        assert!(in_rank_order > 1.2, "{in_rank_order}");
    }

    #[test]
    fn windows_of_a_balanced_circle_hold_about_as_much() {
        // Powers of two at powers of two: no two of the k largest share one of k equal parts of the circle.
        for (p, large) in [(32_usize, 2_usize), (32, 4), (64, 8), (128, 16)] {
            let block = |rank| if rank < large { 100 } else { 1 };
            let sizes = BlockSizes::new((0..p).map(block)).unwrap();
            let circle = Circle::balanced(&sizes, |index| index);
            let part = p / large;
            for first in 0..p {
                assert_eq!(
                    circle.sizes().window(first, part),
                    100 + part as u64 - 1,
                    "{p} {first}"
                );
            }
        }
    }
}
