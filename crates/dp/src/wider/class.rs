//! Two classes of ordered trees, and how to tell whether a tree is of them.

use tuwtree_model::{NotOrdered, Rank, Tree};

/// A class of trees in which every subtree spans consecutive ranks. Each is part of the next.
///
/// Neither asks when a rank copies its own block; its place is known, and it is best copied
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// A rank's held range, its own block from the start, is contiguous at every moment.
    CopyFirst,
    /// A rank's *received* range is contiguous at every moment; its own block counts when that
    /// range reaches it. A rank may therefore begin with ranks away from its own.
    Consecutive,
}

impl Class {
    /// All classes, the narrower first.
    pub const ALL: [Class; 2] = [Class::CopyFirst, Class::Consecutive];

    /// Name of the class in the command line and in documents.
    pub fn name(self) -> &'static str {
        match self {
            Class::CopyFirst => "copy-first",
            Class::Consecutive => "consecutive",
        }
    }

    /// Fails unless the tree is of this class.
    ///
    /// # Errors
    /// [`NotOrdered`] names a rank and the ranks at fault. A rank whose own block is out of reach
    /// in the end has `taken` its own rank.
    ///
    /// # Complexity
    /// O(p) time and space.
    ///
    /// # Example
    /// Rank 0 receives block 2 before block 1, which lies between.
    /// ```
    /// use tuwtree_dp::wider::Class;
    /// use tuwtree_model::{Step, Tree};
    /// let steps = [(0, Step::Copy), (0, Step::Receive(2)), (0, Step::Receive(1))];
    /// let tree = Tree::new(3, 0, &steps).unwrap();
    /// assert!(Class::CopyFirst.check(&tree).is_err());
    /// assert!(Class::Consecutive.check(&tree).is_ok());
    /// ```
    pub fn check(self, tree: &Tree) -> Result<(), NotOrdered> {
        let mut span: Vec<(Rank, Rank)> = (0..tree.ranks()).map(|rank| (rank, rank)).collect();
        for rank in tree.top_down().into_iter().rev() {
            let mut held = Held::default();
            for child in tree.children(rank) {
                if self == Class::CopyFirst {
                    held.reach_own(rank);
                }
                held.take(rank, span[child])?;
            }
            span[rank] = held.range(rank)?;
        }
        Ok(())
    }
}

/// A rank's received range, with its own block once part of it.
#[derive(Clone, Copy, Debug, Default)]
struct Held(Option<(Rank, Rank)>);

impl Held {
    /// Counts the own block now, if nothing has been received yet.
    fn reach_own(&mut self, own: Rank) {
        self.0 = self.0.or(Some((own, own)));
    }

    /// Takes in a range, and the own block if that is next to the result.
    fn take(&mut self, own: Rank, taken: (Rank, Rank)) -> Result<(), NotOrdered> {
        let (first, last) = match self.0 {
            None => taken,
            Some(held) => joined(own, held, taken)?,
        };
        let reached = (last + 1 == own) || (own + 1 == first);
        self.0 = Some(if reached { (first.min(own), last.max(own)) } else { (first, last) });
        Ok(())
    }

    /// The whole range, with the own block.
    fn range(self, own: Rank) -> Result<(Rank, Rank), NotOrdered> {
        match self.0 {
            None => Ok((own, own)),
            Some((first, last)) if (first..=last).contains(&own) => Ok((first, last)),
            Some(held) => Err(NotOrdered { rank: own, held, taken: (own, own) }),
        }
    }
}

/// The range that two adjacent ones make up.
fn joined(rank: Rank, held: (Rank, Rank), taken: (Rank, Rank)) -> Result<(Rank, Rank), NotOrdered> {
    if held.1 + 1 == taken.0 {
        Ok((held.0, taken.1))
    } else if taken.1 + 1 == held.0 {
        Ok((taken.0, held.1))
    } else {
        Err(NotOrdered { rank, held, taken })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::Step::{self, Copy, Receive};

    fn classes(ranks: usize, root: Rank, steps: &[(Rank, Step)]) -> Vec<Class> {
        let tree = Tree::new(ranks, root, steps).unwrap();
        Class::ALL.into_iter().filter(|class| class.check(&tree).is_ok()).collect()
    }

    #[test]
    fn a_receiver_may_start_away_from_its_own_rank_in_consecutive_trees_only() {
        let outer_first = [(2, Receive(0)), (2, Receive(1)), (2, Copy)];
        assert_eq!(classes(3, 2, &outer_first), [Class::Consecutive]);
        let inner_first = [(2, Receive(1)), (2, Receive(0)), (2, Copy)];
        assert_eq!(classes(3, 2, &inner_first), Class::ALL);
    }

    #[test]
    fn ranges_with_gaps_are_of_neither_class() {
        // 0 and 2 around 1, which comes last; and a subtree of 1 and 3.
        let gap = [(3, Copy), (3, Receive(0)), (3, Receive(2)), (3, Receive(1))];
        assert_eq!(classes(4, 3, &gap), []);
        let subtree = [(0, Copy), (0, Receive(1)), (0, Receive(2)), (1, Copy), (1, Receive(3))];
        assert_eq!(classes(4, 0, &subtree), []);
        // Subtree 1 holds 0 and 1, subtree 3 has 3 alone, and nobody brings 2 but itself.
        let both_sides = [(2, Copy), (2, Receive(1)), (2, Receive(3)), (1, Copy), (1, Receive(0))];
        assert_eq!(classes(4, 2, &both_sides), Class::ALL);
    }

    #[test]
    fn a_subtree_that_never_reaches_its_own_rank_is_of_neither_class() {
        let steps = [(1, Copy), (1, Receive(0)), (1, Receive(2)), (0, Copy), (0, Receive(3))];
        let tree = Tree::new(4, 1, &steps).unwrap();
        let fault = NotOrdered { rank: 0, held: (3, 3), taken: (0, 0) };
        assert_eq!(Class::Consecutive.check(&tree), Err(fault));
    }
}
