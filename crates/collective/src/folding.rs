//! Ranks whose number is no power of two: some let others act for them.
//!
//! ```text
//! p = 6: P = 4, r = 2        rank  0 1 2 3 4 5      even ranks of the first 2 r rest:
//!                             new   - 0 - 1 2 3      0 gives its vector to 1, 2 to 3
//! ```

use crate::rounds::Meeting;
use tuwtree_model::Rank;

/// Resting ranks among the first `2 r`, which other ranks act for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resting {
    Even,
    Odd,
}

/// `p` ranks as `P = 2^l` new ones, `r = p - P`: of ranks `2 i` and `2 i + 1`, `i < r`, one rests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folding {
    ranks: usize,
    /// `P`.
    pub(crate) active: usize,
    resting: Resting,
}

impl Folding {
    pub(crate) fn new(ranks: usize, resting: Resting) -> Folding {
        Folding { ranks, active: 1 << ranks.ilog2(), resting }
    }

    /// `r`.
    pub(crate) fn pairs(self) -> usize {
        self.ranks - self.active
    }

    /// The new rank; `None` for a resting rank.
    pub(crate) fn new_rank(self, rank: Rank) -> Option<Rank> {
        let (pairs, rests) = (self.pairs(), self.rests(rank));
        match rank < 2 * pairs {
            true => (!rests).then_some(rank / 2),
            false => Some(rank - pairs),
        }
    }

    /// The rank that has this new rank.
    pub(crate) fn rank(self, new: Rank) -> Rank {
        match (new < self.pairs(), self.resting) {
            (true, Resting::Even) => 2 * new + 1,
            (true, Resting::Odd) => 2 * new,
            (false, _) => new + self.pairs(),
        }
    }

    /// The first rank for which a new rank acts, and for the new rank behind the last, `p`.
    pub(crate) fn first_rank(self, new: Rank) -> Rank {
        if new < self.pairs() { 2 * new } else { new + self.pairs() }
    }

    fn rests(self, rank: Rank) -> bool {
        let odd = rank % 2 == 1;
        rank < 2 * self.pairs() && odd == (self.resting == Resting::Odd)
    }

    /// The partner in a pair.
    pub(crate) fn other(self, rank: Rank) -> Option<Rank> {
        (rank < 2 * self.pairs()).then_some(rank ^ 1)
    }

    /// Resting ranks send to the ranks that act for them.
    pub(crate) fn into_active(self, rank: Rank) -> Meeting {
        match (self.other(rank), self.rests(rank)) {
            (other, true) => Meeting { to: other, from: None },
            (other, false) => Meeting { to: None, from: other },
        }
    }

    /// Resting ranks receive.
    pub(crate) fn out_of_active(self, rank: Rank) -> Meeting {
        let Meeting { to, from } = self.into_active(rank);
        Meeting { to: from, from: to }
    }

    /// New ranks at this distance, a power of two, exchange.
    pub(crate) fn exchange(self, rank: Rank, mask: usize) -> Meeting {
        let partner = self.new_rank(rank).map(|new| self.rank(new ^ mask));
        Meeting { to: partner, from: partner }
    }
}
