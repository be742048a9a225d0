//! The groups of a machine with levels, one within the other, and the order in which they follow.

use std::collections::HashMap;
use std::ops::Range;
use tuwtree_model::{Hierarchy, Rank};

/// All ranks in an order in which the members of each group of each level are adjacent.
///
/// Groups follow each other as their first ranks do. So it is rank order, if that keeps groups together.
pub(crate) struct Nest {
    /// `p` entries: which rank is at each place.
    pub(crate) order: Vec<Rank>,
    /// `p` entries: at which place each rank is.
    place: Vec<usize>,
    /// For each level, innermost first, the places at which groups begin, and `p`.
    begins: Vec<Vec<usize>>,
}

impl Nest {
    /// The groups of the first `ranks` ranks.
    ///
    /// # Complexity
    /// O(p h log p) time, O(p h) space.
    pub(crate) fn new(machine: &Hierarchy, ranks: usize) -> Nest {
        let levels = machine.levels().len();
        // For each level and group its first rank.
        let mut first: Vec<HashMap<usize, Rank>> = vec![HashMap::new(); levels];
        for rank in 0..ranks {
            for (level, first) in first.iter_mut().enumerate() {
                first.entry(machine.group(rank, level)).or_insert(rank);
            }
        }
        let key = |rank: Rank| -> Vec<Rank> {
            let outermost_first = (0..levels).rev();
            outermost_first.map(|level| first[level][&machine.group(rank, level)]).collect()
        };
        let mut order: Vec<Rank> = (0..ranks).collect();
        order.sort_by_cached_key(|&rank| (key(rank), rank));
        let mut place = vec![0; ranks];
        for (at, &rank) in order.iter().enumerate() {
            place[rank] = at;
        }
        let of_level = |level: usize| {
            let group = |at: usize| machine.group(order[at], level);
            let is_begin = |&at: &usize| at == 0 || group(at) != group(at - 1);
            (0..ranks).filter(is_begin).chain([ranks]).collect()
        };
        Nest { begins: (0..levels).map(of_level).collect(), place, order }
    }

    /// Number of levels.
    pub(crate) fn levels(&self) -> usize {
        self.begins.len()
    }

    /// All places.
    pub(crate) fn all(&self) -> Range<usize> {
        0..self.order.len()
    }

    pub(crate) fn place(&self, rank: Rank) -> usize {
        self.place[rank]
    }

    /// The places of the group of a level that holds this place.
    pub(crate) fn group(&self, level: usize, at: usize) -> Range<usize> {
        let begins = &self.begins[level];
        let next = begins.partition_point(|&begin| begin <= at);
        begins[next - 1]..begins[next]
    }

    /// The groups of a level within such places, which are whole groups.
    pub(crate) fn groups(&self, level: usize, within: &Range<usize>) -> Vec<Range<usize>> {
        let begins = &self.begins[level];
        let from = begins.partition_point(|&begin| begin < within.start);
        let to = begins.partition_point(|&begin| begin < within.end);
        begins[from..=to].windows(2).map(|pair| pair[0]..pair[1]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{Level, Piece, PiecewiseLinear, Placement};

    fn nest(placement: Placement, ranks: usize) -> Nest {
        let level = |name: &str| Level {
            name: name.to_owned(),
            members: 2,
            links: PiecewiseLinear::new(vec![Piece::one_port(0, 1.0, 1.0)]).unwrap().into(),
        };
        let levels = ["node", "switch", "all"].map(level).into();
        Nest::new(&Hierarchy::new(levels, placement, 0.0).unwrap(), ranks)
    }

    #[test]
    fn rank_order_stays_where_it_keeps_groups_together() {
        assert_eq!(nest(Placement::Block, 7).order, [0, 1, 2, 3, 4, 5, 6]);
        let listed = nest(Placement::Listed(vec![2, 2, 3, 0, 1, 1]), 6);
        assert_eq!(listed.order, [0, 1, 2, 3, 4, 5]);
        assert_eq!(listed.groups(0, &listed.all()), [0..2, 2..3, 3..4, 4..6]);
        assert_eq!((listed.group(1, 2), listed.group(1, 5)), (0..3, 3..6));
    }

    #[test]
    fn groups_that_are_spread_are_brought_together() {
        let round = nest(Placement::RoundRobin, 7);
        assert_eq!(round.order, [0, 4, 1, 5, 2, 6, 3]);
        assert_eq!(round.groups(1, &round.all()), [0..4, 4..7]);
        assert_eq!(round.groups(0, &(4..7)), [4..6, 6..7]);
    }
}
