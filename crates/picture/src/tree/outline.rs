//! Outline of a tree: processes one by one if space permits, else whole subtrees and runs of
//! siblings.
//!
//! The root is shown, then, as long as the rows suffice, the children of whichever rank moves
//! the most data. Of many children the largest are shown, and those in between as runs.

use crate::messages::ParentMessage;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;
use tuwtree_model::{Rank, Tree};

/// Content of an item of the picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OutlineNode {
    /// One process; ranks below it are the item's children.
    Rank(Rank),
    /// A rank with everything below it.
    Subtree(Rank),
    /// Several children of one process, one after the other in its order, with everything below
    /// them.
    Run(Vec<Rank>),
}

/// A part of the tree that has a place of its own in the picture.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) node: OutlineNode,
    /// The items below, from top to bottom; each comes after this one in the list of all.
    pub(super) children: Vec<usize>,
    pub(super) parent: Option<usize>,
    /// The distance from the root.
    pub(super) depth: usize,
    /// Number of processes of the item.
    pub(super) ranks: usize,
}

/// Available space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// The most rows; at least [`LEAST_ROWS`].
    pub(super) rows: usize,
    /// The largest distance from the root at which processes are shown one by one.
    pub(super) depth: usize,
}

/// With fewer rows than these not even the root's children can be told apart.
pub(super) const LEAST_ROWS: usize = 8;

/// A tree, the sizes of its subtrees, and which order their roots are drawn in.
pub(super) struct TreeOutline<'a> {
    tree: &'a Tree,
    messages: &'a [Option<ParentMessage>],
    outward: bool,
    /// `p` entries: the number of processes in each subtree.
    ranks: Vec<usize>,
}

impl<'a> TreeOutline<'a> {
    /// `messages` has an entry for each rank, or none at all; `outward` trees have their
    /// children drawn in the order of a scatter.
    pub(super) fn new(
        tree: &'a Tree,
        messages: &'a [Option<ParentMessage>],
        outward: bool,
    ) -> TreeOutline<'a> {
        let mut ranks = vec![1; tree.ranks()];
        for rank in tree.top_down().into_iter().rev() {
            if let Some(parent) = tree.parent(rank) {
                ranks[parent] += ranks[rank];
            }
        }
        TreeOutline { tree, messages, outward, ranks }
    }

    /// The number of processes in a subtree.
    pub(super) fn ranks(&self, rank: Rank) -> usize {
        self.ranks[rank]
    }

    /// The items of the picture, each before its children, the root's first.
    ///
    /// # Complexity
    /// O(p log p).
    pub(super) fn items(&self, room: Room) -> Vec<Item> {
        let expanded = self.expanded(room);
        let mut items = Vec::new();
        let mut pending = vec![(OutlineNode::Rank(self.tree.root()), None, 0)];
        while let Some((node, parent, depth)) = pending.pop() {
            let index = items.len();
            if let Some(parent) = parent {
                let parent: &mut Item = &mut items[parent];
                parent.children.push(index);
            }
            let ranks = match &node {
                OutlineNode::Rank(rank) => match expanded.get(rank) {
                    Some(shown) => {
                        let below = shown.iter().rev().cloned();
                        pending.extend(below.map(|node| (node, Some(index), depth + 1)));
                        1
                    }
                    None => self.ranks[*rank],
                },
                OutlineNode::Subtree(rank) => self.ranks[*rank],
                OutlineNode::Run(run) => run.iter().map(|&rank| self.ranks[rank]).sum(),
            };
            let node = match node {
                OutlineNode::Rank(rank) if ranks > 1 => OutlineNode::Subtree(rank),
                node => node,
            };
            items.push(Item { node, children: Vec::new(), parent, depth, ranks });
        }
        items
    }

    /// The processes whose children are shown, and how these are.
    fn expanded(&self, room: Room) -> HashMap<Rank, Vec<OutlineNode>> {
        let mut expanded = HashMap::new();
        let mut rows = 1;
        let candidate = |rank, depth| (self.weight(rank), Reverse(rank), depth);
        let mut candidates = BinaryHeap::from([candidate(self.tree.root(), 0)]);
        while let Some((_, Reverse(rank), depth)) = candidates.pop() {
            if depth == room.depth || self.tree.degree(rank) == 0 {
                continue;
            }
            let shown = self.shown(rank, rows, room);
            if rows + shown.len() - 1 > room.rows {
                continue;
            }
            rows += shown.len() - 1;
            for node in &shown {
                if let OutlineNode::Rank(child) = node {
                    candidates.push(candidate(*child, depth + 1));
                }
            }
            expanded.insert(rank, shown);
        }
        expanded
    }

    /// A rank's children as they are shown: all of them, or the largest ones and runs.
    fn shown(&self, rank: Rank, rows: usize, room: Room) -> Vec<OutlineNode> {
        let mut children: Vec<Rank> = self.tree.children(rank).collect();
        if self.outward {
            children.reverse();
        }
        let few = (room.rows / 5).max(3);
        let all_fit = self.tree.ranks() <= room.rows;
        if all_fit || children.len() <= few.max((room.rows - rows) / 2) {
            return children.into_iter().map(OutlineNode::Rank).collect();
        }
        let mut by_weight: Vec<usize> = (0..children.len()).collect();
        let from_an_end = |index: usize| index.min(children.len() - 1 - index);
        by_weight.sort_by_key(|&index| {
            (Reverse(self.weight(children[index])), from_an_end(index), index)
        });
        let mut kept = by_weight[..few].to_vec();
        kept.sort_unstable();
        let mut nodes = Vec::with_capacity(2 * few + 1);
        let mut next = 0;
        for index in kept {
            nodes.extend(run(&children, next..index));
            nodes.push(OutlineNode::Rank(children[index]));
            next = index + 1;
        }
        nodes.extend(run(&children, next..children.len()));
        nodes
    }

    /// Priority of a subtree: the data that it moves, then its processes.
    fn weight(&self, rank: Rank) -> (u64, usize) {
        let message = self.messages.get(rank).copied().flatten();
        match rank == self.tree.root() {
            true => (u64::MAX, usize::MAX),
            false => (message.map_or(0, |message| message.bytes), self.ranks[rank]),
        }
    }
}

/// Some of the children in one item, if there are any; a single one is not worth hiding.
fn run(children: &[Rank], range: Range<usize>) -> Option<OutlineNode> {
    match &children[range] {
        [] => None,
        [one] => Some(OutlineNode::Rank(*one)),
        several => Some(OutlineNode::Run(several.to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::Step;

    fn star(ranks: usize) -> Tree {
        let steps: Vec<_> = std::iter::once((0, Step::Copy))
            .chain((1..ranks).map(|child| (0, Step::Receive(child))))
            .collect();
        Tree::new(ranks, 0, &steps).unwrap()
    }

    fn chain(ranks: usize) -> Tree {
        let steps: Vec<_> = (0..ranks - 1)
            .flat_map(|rank| [(rank, Step::Copy), (rank, Step::Receive(rank + 1))])
            .collect();
        Tree::new(ranks, 0, &steps).unwrap()
    }

    fn nodes(tree: &Tree, rows: usize, depth: usize) -> Vec<OutlineNode> {
        let items = TreeOutline::new(tree, &[], false).items(Room { rows, depth });
        assert_eq!(items.iter().map(|item| item.ranks).sum::<usize>(), tree.ranks());
        items.into_iter().map(|item| item.node).collect()
    }

    #[test]
    fn a_small_tree_is_shown_in_full() {
        let expected: Vec<OutlineNode> = (0..8).map(OutlineNode::Rank).collect();
        assert_eq!(nodes(&star(8), 8, 3), expected);
        assert_eq!(nodes(&chain(8), 8, 10), expected);
        let alone = Tree::new(1, 0, &[]).unwrap();
        assert_eq!(nodes(&alone, 8, 3), [OutlineNode::Rank(0)]);
    }

    #[test]
    fn like_children_of_a_star_become_a_run() {
        let shown = nodes(&star(2000), 8, 3);
        let run = OutlineNode::Run((3..1999).collect());
        let expected = [0, 1, 2].map(OutlineNode::Rank);
        assert_eq!(shown[..3], expected);
        assert_eq!(shown[3..], [run, OutlineNode::Rank(1999)]);
    }

    #[test]
    fn what_is_too_deep_is_one_subtree() {
        let shown = nodes(&chain(1000), 8, 2);
        assert_eq!(shown, [OutlineNode::Rank(0), OutlineNode::Rank(1), OutlineNode::Subtree(2)]);
    }
}
