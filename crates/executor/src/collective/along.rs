//! A rank's actions at its place in a tree.
//!
//! ```text
//!   gather                                     scatter: the same backwards, the copy the other way
//!   children[..early] --> |                    parent ---------> segment, or output at a leaf
//!   own block  --copy-->  | segment, or at     segment, or at the --> children[early..], last first
//!   children[early..] --> | the root, output   root, input        --copy--> own block
//!   segment, or input at a leaf --> parent                        --> children[..early], last first
//! ```
//!
//! The segment holds the packed data of the subtree in rank order. A leaf has none, and sends from, or
//! receives into, the user's memory.

use crate::play::BoundAction;
use crate::tree::{Child, Node};
use tuwtree_model::{Operation, Rank};
use tuwtree_schedule::{Action, Arrival, Buffer, Deed, Piece, Receive, Region, Role, Send};

/// Treatment of messages without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EmptyMessages {
    /// They are not: both sides know that there is nothing.
    Skipped,
    /// They are, since only the sender knows.
    Sent,
}

/// Offset of the blocks from a rank on, among all.
pub(super) type Start<'a> = &'a dyn Fn(Rank) -> u64;

/// The role and the actions of the rank with this place in a tree; the root knows where blocks
/// start.
///
/// They equal those of the tree's schedule, but only the root knows the total.
pub(super) fn actions_of(
    node: &Node,
    operation: Operation,
    (root, ranks): (Rank, usize),
    start: Option<Start<'_>>,
    empty: EmptyMessages,
) -> (Role, Vec<BoundAction>) {
    let is_inner = node.parent.is_some() && !node.children.is_empty();
    let role = Role {
        operation,
        ranks,
        root: Some(root),
        rank: node.rank,
        ports: 1,
        own_bytes: node.block,
        total_bytes: if node.parent.is_none() { node.bytes } else { 0 },
        segment_bytes: if is_inner { node.bytes } else { 0 },
    };
    let mut actions = Actions {
        node,
        operation,
        start,
        empty,
        done: Vec::with_capacity(node.children.len() + 2),
    };
    match operation.is_outward() {
        false => actions.push_gather(),
        true => actions.push_scatter(),
    }
    (role, actions.done)
}

struct Actions<'a> {
    node: &'a Node,
    operation: Operation,
    start: Option<Start<'a>>,
    empty: EmptyMessages,
    done: Vec<BoundAction>,
}

impl Actions<'_> {
    fn push_gather(&mut self) {
        let (early, late) = self.node.children.split_at(self.node.received_before_copy);
        early.iter().for_each(|child| self.push_child(child));
        self.push_copy();
        late.iter().for_each(|child| self.push_child(child));
        self.push_parent();
    }

    fn push_scatter(&mut self) {
        let (early, late) = self.node.children.split_at(self.node.received_before_copy);
        self.push_parent();
        late.iter().rev().for_each(|child| self.push_child(child));
        self.push_copy();
        early.iter().rev().for_each(|child| self.push_child(child));
    }

    /// Buffer of the whole subtree's data: the root's buffer, or the segment.
    fn held(&self) -> Buffer {
        match (self.node.parent, self.operation.is_outward()) {
            (Some(_), _) => Buffer::Segment,
            (None, false) => Buffer::Output,
            (None, true) => Buffer::Input,
        }
    }

    /// Buffer of the own block.
    fn own(&self) -> Buffer {
        if self.operation.is_outward() { Buffer::Output } else { Buffer::Input }
    }

    /// Offset of the blocks from `first` on in the held data.
    fn offset(&self, first: Rank) -> u64 {
        let Node { rank, block, ref children, .. } = *self.node;
        if let Some(start) = self.start {
            return start(first);
        }
        let own = if rank < first { block } else { 0 };
        let before = children.iter().filter(|child| child.first < first);
        own + before.map(|child| child.bytes).sum::<u64>()
    }

    fn push_copy(&mut self) {
        let Node { rank, parent, block, ref children, .. } = *self.node;
        if block == 0 || (parent.is_some() && children.is_empty()) {
            return;
        }
        let (alone, among) = ([piece(0, block)], [piece(self.offset(rank), block)]);
        let own = Region { buffer: self.own(), pieces: &alone };
        let held = Region { buffer: self.held(), pieces: &among };
        let (from, into) = if self.operation.is_outward() { (held, own) } else { (own, held) };
        self.push(Deed::Copy { from, into, arrival: Arrival::Store });
    }

    fn push_child(&mut self, child: &Child) {
        let pieces = self.pieces_of(child);
        match self.operation.is_outward() {
            false => self.push_receive(child.rank, self.held(), &pieces),
            true => self.push_send(child.rank, self.held(), &pieces),
        }
    }

    /// Pieces of a child's data in the held data.
    fn pieces_of(&self, child: &Child) -> Vec<Piece> {
        match self.start {
            Some(start) if !child.runs.is_empty() => {
                let runs = child.runs.iter().filter(|run| run.bytes > 0);
                runs.map(|run| piece(start(run.first), run.bytes)).collect()
            }
            _ => vec![piece(self.offset(child.first), child.bytes)],
        }
    }

    fn push_parent(&mut self) {
        let Node { parent, bytes, ref children, .. } = *self.node;
        let Some(parent) = parent else { return };
        let buffer = if children.is_empty() { self.own() } else { Buffer::Segment };
        match self.operation.is_outward() {
            false => self.push_send(parent, buffer, &[piece(0, bytes)]),
            true => self.push_receive(parent, buffer, &[piece(0, bytes)]),
        }
    }

    fn push_send(&mut self, to: Rank, buffer: Buffer, pieces: &[Piece]) {
        let bytes = pieces.iter().map(|piece| piece.bytes).sum();
        if self.moves(bytes) {
            let from = Region { buffer, pieces: if bytes > 0 { pieces } else { &[] } };
            self.push(Deed::Send(Send { to, tag: 0, from }));
        }
    }

    fn push_receive(&mut self, from: Rank, buffer: Buffer, pieces: &[Piece]) {
        let bytes = pieces.iter().map(|piece| piece.bytes).sum();
        if self.moves(bytes) {
            let into = Region { buffer, pieces: if bytes > 0 { pieces } else { &[] } };
            self.push(Deed::Receive(Receive { from, tag: 0, into, arrival: Arrival::Store }));
        }
    }

    /// True if a message of this many bytes is sent.
    fn moves(&self, bytes: u64) -> bool {
        bytes > 0 || self.empty == EmptyMessages::Sent
    }

    fn push(&mut self, deed: Deed<'_>) {
        self.done.push(BoundAction::new(&Action { port: 0, deed }));
    }
}

fn piece(offset: u64, bytes: u64) -> Piece {
    Piece { offset, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{BlockSizes, Collective, Homogeneous, Problem, Randomness, Root, Tree};
    use tuwtree_schedule::Schedule;
    use tuwtree_schedule::part::Part;
    use tuwtree_treegen::{AdaptiveRule, adaptive, linear};

    /// The place of each rank in a tree whose subtrees are consecutive.
    fn nodes(tree: &Tree, sizes: &BlockSizes) -> Vec<Node> {
        let mut nodes: Vec<Node> = (0..tree.ranks())
            .map(|rank| Node {
                parent: tree.parent(rank),
                ..Node::in_star(rank, rank, sizes.block(rank))
            })
            .collect();
        for rank in tree.top_down().into_iter().rev() {
            let children: Vec<Child> = tree
                .children(rank)
                .map(|child| {
                    let Node { first, last, bytes, .. } = nodes[child];
                    Child::of_range((child, first, last), bytes, 0)
                })
                .collect();
            let steps = tree.steps(rank);
            let copy = steps.into_iter().position(|step| step == tuwtree_model::Step::Copy);
            let node = &mut nodes[rank];
            node.received_before_copy = copy.unwrap_or(0);
            for child in &children {
                node.first = node.first.min(child.first);
                node.last = node.last.max(child.last);
                node.bytes += child.bytes;
            }
            node.children = children;
        }
        nodes
    }

    #[test]
    fn the_actions_of_a_place_are_those_of_the_schedule_of_the_tree() {
        let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
        for ranks in 1..20 {
            let numbers = Randomness::Xoshiro { seed: ranks as u64 }.numbers(ranks);
            let sizes = BlockSizes::new(numbers.iter().map(|number| number % 5)).unwrap();
            for root in 0..ranks {
                let problem = Problem::gather(&sizes, costs).unwrap();
                let problem = problem.with_root(Root::Given(root)).unwrap();
                let tree = adaptive(&problem, AdaptiveRule::DataSize).unwrap();
                for tree in [tree, linear(&problem).unwrap()] {
                    for operation in Operation::irregular() {
                        let collective = Collective::new(operation, sizes.clone()).unwrap();
                        let schedule = Schedule::without_costs(&tree, &collective).unwrap();
                        for node in nodes(&tree, &sizes) {
                            let part = Part::of_schedule(&schedule, node.rank).unwrap();
                            let expected: Vec<BoundAction> =
                                part.actions().map(|action| BoundAction::new(&action)).collect();
                            let start = |rank| sizes.before(rank);
                            let known = Some(&start as Start<'_>).filter(|_| node.rank == root);
                            let skipped = EmptyMessages::Skipped;
                            let place = (root, ranks);
                            let (role, actions) =
                                actions_of(&node, operation, place, known, skipped);
                            assert_eq!(actions, expected, "{operation:?} {node:?}");
                            assert_eq!(role.segment_bytes, part.role().segment_bytes);
                        }
                    }
                }
            }
        }
    }
}
