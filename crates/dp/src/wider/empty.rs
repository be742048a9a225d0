//! Ranks with empty blocks, left out of a problem and hung into its tree for nothing.
//!
//! An empty message is not sent, so an empty rank may be a leaf of any receiver that extends its
//! range over it:
//!
//! ```text
//! kept ranks   0 . . 3 4 .        range [0..0] takes in [3..4]: first 1, then 2, then 3's message;
//!                                 the root takes 5 in the end.
//! ```

use tuwtree_model::{BlockSizes, Rank, Root, Step, Tree};

/// A problem without its empty blocks, except for a given root's.
#[derive(Clone, Debug)]
pub(super) struct WithoutEmpty {
    ranks: usize,
    /// The ranks kept, rising; at least one.
    kept: Vec<Rank>,
    /// The blocks of the ranks kept, in the same order.
    pub(super) sizes: BlockSizes,
    /// The root among those kept.
    pub(super) root: Root,
}

impl WithoutEmpty {
    /// Reduces a problem. O(p).
    pub(super) fn new(sizes: &BlockSizes, root: Root) -> WithoutEmpty {
        let kept = |&rank: &Rank| sizes.block(rank) > 0 || root == Root::Given(rank);
        let mut kept_ranks: Vec<Rank> = (0..sizes.ranks()).filter(kept).collect();
        if kept_ranks.is_empty() {
            kept_ranks.push(0);
        }
        let blocks = kept_ranks.iter().map(|&rank| sizes.block(rank));
        WithoutEmpty {
            ranks: sizes.ranks(),
            sizes: BlockSizes::new(blocks).expect("fewer blocks than before"),
            root: match root {
                Root::Best | Root::None => Root::Best,
                Root::Given(root) => {
                    Root::Given(kept_ranks.binary_search(&root).expect("the root is kept"))
                }
            },
            kept: kept_ranks,
        }
    }

    /// True if only one of several blocks is kept: its copy is all that takes time.
    pub(super) fn is_one_of_several(&self) -> bool {
        self.kept.len() == 1 && self.ranks > 1
    }

    /// The tree over all ranks for a tree over those kept, of the same class and time.
    ///
    /// # Complexity
    /// O(p) time and space.
    pub(super) fn restored(&self, tree: &Tree) -> Tree {
        let mut spans: Vec<(Rank, Rank)> = (0..tree.ranks()).map(|at| (at, at)).collect();
        let order = tree.top_down();
        for &at in order.iter().rev() {
            for child in tree.children(at) {
                let (span, child) = (spans[at], spans[child]);
                spans[at] = (span.0.min(child.0), span.1.max(child.1));
            }
        }
        let mut steps = Vec::with_capacity(2 * self.ranks);
        for at in order {
            let children: Vec<(Rank, (Rank, Rank))> =
                tree.children(at).map(|child| (child, spans[child])).collect();
            self.push_steps(at, &children, at == tree.root(), &mut steps);
        }
        Tree::new(self.ranks, self.kept[tree.root()], &steps).expect("each rank is received once")
    }

    /// The steps of a rank with these children, each with the places of its subtree, in the order in which
    /// they are received.
    pub(super) fn push_steps(
        &self,
        at: Rank,
        children: &[(Rank, (Rank, Rank))],
        is_root: bool,
        steps: &mut Vec<(Rank, Step)>,
    ) {
        if children.is_empty() && (!is_root || self.ranks == 1) {
            return;
        }
        let mut receiver = HolderSteps::new(self, at, steps);
        children.iter().for_each(|&(child, span)| receiver.receive(child, span));
        if is_root {
            receiver.receive_rest();
        }
    }

    /// The rank at a place.
    pub(super) fn rank(&self, place: usize) -> Rank {
        self.kept[place]
    }

    /// The places around a rank: its own twice, or if its empty block is left out, those before and after it, as
    /// far as there are any.
    pub(super) fn around(&self, rank: Rank) -> (Option<usize>, Option<usize>) {
        match self.kept.binary_search(&rank) {
            Ok(place) => (Some(place), Some(place)),
            Err(next) => (next.checked_sub(1), Some(next).filter(|&next| next < self.kept.len())),
        }
    }
}

/// A rank and its held range, by places among the kept ranks.
struct HolderSteps<'a> {
    kept: &'a WithoutEmpty,
    own: Rank,
    /// The places received, and its own once they reach it.
    held: Option<(Rank, Rank)>,
    steps: &'a mut Vec<(Rank, Step)>,
}

impl<'a> HolderSteps<'a> {
    fn new(kept: &'a WithoutEmpty, own: Rank, steps: &'a mut Vec<(Rank, Step)>) -> HolderSteps<'a> {
        steps.push((kept.kept[own], Step::Copy));
        HolderSteps { kept, own, held: None, steps }
    }

    /// Receives a child's places, and first the empty blocks in between.
    fn receive(&mut self, child: Rank, taken: (Rank, Rank)) {
        let own = self.own;
        let starts_at_own = taken.1 + 1 == own || own + 1 == taken.0;
        let held = self.held.or(starts_at_own.then_some((own, own)));
        let mut held = match held {
            None => {
                self.message(child);
                taken
            }
            Some(held) if held.1 + 1 == taken.0 => {
                self.gap_upwards(held.1);
                self.message(child);
                (held.0, taken.1)
            }
            Some(held) => {
                self.gap_downwards(held.0);
                self.message(child);
                (taken.0, held.1)
            }
        };
        // The own block is reached.
        if held.1 + 1 == own {
            self.gap_upwards(held.1);
            held.1 = own;
        } else if own + 1 == held.0 {
            self.gap_downwards(held.0);
            held.0 = own;
        }
        self.held = Some(held);
    }

    /// Receives the empty blocks at both ends.
    fn receive_rest(&mut self) {
        let (first, last) = self.held.unwrap_or((self.own, self.own));
        self.gap_downwards(first);
        self.gap_upwards(last);
    }

    fn message(&mut self, child: Rank) {
        self.leaf(self.kept.kept[child]);
    }

    /// The empty blocks behind a place.
    fn gap_upwards(&mut self, place: Rank) {
        let end = self.kept.kept.get(place + 1).copied().unwrap_or(self.kept.ranks);
        (self.kept.kept[place] + 1..end).for_each(|rank| self.leaf(rank));
    }

    /// The empty blocks before a place, the nearest first.
    fn gap_downwards(&mut self, place: Rank) {
        let first = place.checked_sub(1).map_or(0, |before| self.kept.kept[before] + 1);
        (first..self.kept.kept[place]).rev().for_each(|rank| self.leaf(rank));
    }

    fn leaf(&mut self, rank: Rank) {
        self.steps.push((self.kept.kept[self.own], Step::Receive(rank)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_blocks_are_taken_on_the_way() {
        let sizes = BlockSizes::new([4, 0, 0, 5, 6, 0]).unwrap();
        let kept = WithoutEmpty::new(&sizes, Root::Best);
        assert_eq!(kept.sizes.iter().collect::<Vec<_>>(), [4, 5, 6]);
        let steps =
            [(0, Step::Copy), (0, Step::Receive(1)), (1, Step::Copy), (1, Step::Receive(2))];
        let tree = kept.restored(&Tree::new(3, 0, &steps).unwrap());
        assert_eq!(tree.children(0).collect::<Vec<_>>(), [1, 2, 3, 5]);
        assert_eq!(tree.children(3).collect::<Vec<_>>(), [4]);
    }

    #[test]
    fn nobody_but_the_root_is_left_where_there_is_no_data() {
        let sizes = BlockSizes::new([0, 0, 0]).unwrap();
        for (root, rank) in [(Root::Best, 0), (Root::Given(2), 2)] {
            let kept = WithoutEmpty::new(&sizes, root);
            let tree = kept.restored(&Tree::new(1, 0, &[]).unwrap());
            assert_eq!((tree.root(), tree.degree(rank)), (rank, 2));
        }
        let lone = WithoutEmpty::new(&BlockSizes::new([7]).unwrap(), Root::Best);
        assert_eq!(lone.restored(&Tree::new(1, 0, &[]).unwrap()).degree(0), 0);
    }
}
