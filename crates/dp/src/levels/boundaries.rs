//! Boundaries at which messages between neighbouring ranks change their level.

use crate::DpError;
use std::collections::HashMap;
use tuwtree_model::{Hierarchy, Rank};

/// A level used by some pair of ranks, counted from 0 at the innermost.
pub(super) type Level = usize;

/// `L`: the level of messages between neighbours. It says all about the others, since groups are
/// ranges: two ranks pay for the greatest level of the boundaries between them.
#[derive(Clone, Debug)]
pub(super) struct Boundaries {
    /// `p + 1` entries, the level between `x - 1` and `x`; at both ends, where nobody is, the
    /// greatest in use.
    levels: Vec<Level>,
    /// For each level in use a boundary `x` of that level: `x - 1` and `x` stand for all such pairs.
    examples: Vec<Rank>,
    /// `used + 1` entries for each boundary: see [`turn`](Self::turn).
    turns: Vec<Rank>,
}

impl Boundaries {
    /// The boundaries between the first `ranks` ranks of a machine.
    ///
    /// # Errors
    /// [`DpError::NotContiguous`].
    ///
    /// # Complexity
    /// O(p h) time and space.
    pub(super) fn new(machine: &Hierarchy, ranks: usize) -> Result<Boundaries, DpError> {
        check_contiguous(machine, ranks)?;
        let between: Vec<usize> = (1..ranks).map(|x| machine.shared_level(x - 1, x)).collect();
        let in_use = |level: &usize| between.contains(level);
        let in_use: Vec<usize> = (0..machine.levels().len()).filter(in_use).collect();
        let used = in_use.len();
        let outermost = used.saturating_sub(1);
        let mut levels = vec![outermost; ranks + 1];
        let mut examples = vec![0; used];
        for (x, level) in (1..).zip(&between) {
            levels[x] = in_use.binary_search(level).expect("it is in use");
            examples[levels[x]] = x;
        }
        let mut turns = vec![ranks + 1; (ranks + 1) * (used + 1)];
        for x in (0..=ranks).rev() {
            for level in 0..used {
                turns[x * (used + 1) + level] = match levels[x] >= level {
                    true => x,
                    false => turns[(x + 1) * (used + 1) + level],
                };
            }
        }
        Ok(Boundaries { levels, examples, turns })
    }

    /// `h`: how many levels are in use; 0 for a lone rank only.
    #[inline(always)]
    pub(super) fn used(&self) -> usize {
        self.examples.len()
    }

    /// `L[x]`.
    #[inline(always)]
    pub(super) fn at(&self, x: Rank) -> Level {
        self.levels[x]
    }

    /// Two ranks that pay for this level.
    pub(super) fn example(&self, level: Level) -> (Rank, Rank) {
        (self.examples[level] - 1, self.examples[level])
    }

    /// First boundary from `x` on of at least this level, `p + 1` if none exists: the greatest of `L[x..=y]` is `l` for
    /// `y` from `turn(x, l)` until before `turn(x, l + 1)`.
    #[inline(always)]
    pub(super) fn turn(&self, x: Rank, level: Level) -> Rank {
        self.turns[x * (self.used() + 1) + level]
    }

    /// The greatest of `L[first..=last]`. O(h).
    #[inline(always)]
    pub(super) fn greatest(&self, first: Rank, last: Rank) -> Level {
        let mut level = self.at(first);
        while self.turn(first, level + 1) <= last {
            level += 1;
        }
        level
    }
}

/// Fails unless each group of each level consists of adjacent ranks.
fn check_contiguous(machine: &Hierarchy, ranks: usize) -> Result<(), DpError> {
    let mut nodes_in_group = 1;
    for (index, level) in machine.levels().iter().enumerate() {
        nodes_in_group *= if index == 0 { 1 } else { level.members };
        // The last rank of each group so far.
        let mut last_of: HashMap<usize, Rank> = HashMap::new();
        for rank in 0..ranks {
            match last_of.insert(machine.node(rank) / nodes_in_group, rank) {
                Some(before) if before + 1 < rank => {
                    return Err(DpError::NotContiguous {
                        level: level.name.clone(),
                        one: before,
                        other: rank,
                    });
                }
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{Level, Piece, PiecewiseLinear, Placement};

    /// Nodes of two, switches of two nodes, two switches.
    fn machine(placement: Placement) -> Hierarchy {
        let level = |name: &str| Level {
            name: name.to_owned(),
            members: 2,
            links: PiecewiseLinear::new(vec![Piece::one_port(0, 1.0, 1.0)]).unwrap().into(),
        };
        Hierarchy::new(["node", "switch", "all"].map(level).into(), placement, 0.0).unwrap()
    }

    #[test]
    fn the_greatest_boundary_between_two_ranks_is_the_level_they_share() {
        let listed = Placement::Listed(vec![2, 2, 3, 0, 1, 1]);
        for (placement, ranks) in [(Placement::Block, 8), (Placement::Block, 3), (listed, 6)] {
            let machine = machine(placement);
            let boundaries = Boundaries::new(&machine, ranks).unwrap();
            for one in 0..ranks {
                for other in one + 1..ranks {
                    let level = boundaries.greatest(one + 1, other);
                    let (x, y) = boundaries.example(level);
                    assert_eq!(machine.shared_level(x, y), machine.shared_level(one, other));
                }
            }
        }
    }

    #[test]
    fn levels_that_no_pair_pays_for_are_left_out() {
        let used = |nodes: &[usize]| {
            let machine = machine(Placement::Listed(nodes.to_vec()));
            Boundaries::new(&machine, nodes.len()).unwrap().used()
        };
        assert_eq!([used(&[1]), used(&[1, 1]), used(&[0, 2]), used(&[0, 0, 3])], [0, 1, 1, 2]);
    }

    #[test]
    fn groups_of_ranks_apart_are_named() {
        let error =
            |placement, ranks| Boundaries::new(&machine(placement), ranks).unwrap_err().to_string();
        let listed = error(Placement::Listed(vec![0, 2, 1]), 3);
        assert_eq!(
            listed,
            "ranks 0 and 2 share a group of level \"switch\", but not with all ranks between; this \
             method is for groups of adjacent ranks"
        );
        assert!(
            error(Placement::RoundRobin, 5)
                .contains("ranks 0 and 4 share a group of level \"node\"")
        );
        assert!(Boundaries::new(&machine(Placement::RoundRobin), 1).is_ok());
    }
}
