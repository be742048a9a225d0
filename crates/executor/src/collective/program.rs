//! The actions of a processor that knows its place in a tree.

use crate::tree::Node;
use tuwtree_model::{BlockSizes, Operation, Rank};
use tuwtree_schedule::part::{Part, PartError};
use tuwtree_schedule::{
    Action, Arrival, Buffer, Deed, Piece, Programs, Receive, Region, Role, Send, TooManyActions,
};

/// The part of the processor with this place in a tree; `sizes` are the root's.
///
/// The same as that of the tree's schedule, but that none but the root knows the total.
///
/// # Errors
/// [`PartError`], for sizes that MPI cannot address.
pub(super) fn part_of(
    node: &Node,
    operation: Operation,
    (root, processors): (Rank, usize),
    sizes: Option<&BlockSizes>,
) -> Result<Part, PartError> {
    let is_inner = node.parent.is_some() && !node.children.is_empty();
    let role = Role {
        operation,
        processors,
        root,
        rank: node.rank,
        ports: 1,
        own_bytes: node.block,
        total_bytes: sizes.map_or(0, BlockSizes::total),
        segment_bytes: if is_inner { node.bytes } else { 0 },
    };
    let mut actions = Actions { node, operation, sizes, programs: Programs::new() };
    match operation.is_outward() {
        false => actions.push_gather()?,
        true => actions.push_scatter()?,
    }
    actions.programs.end_processor();
    Part::new(role, actions.programs)
}

struct Actions<'a> {
    node: &'a Node,
    operation: Operation,
    sizes: Option<&'a BlockSizes>,
    programs: Programs,
}

impl Actions<'_> {
    fn push_gather(&mut self) -> Result<(), TooManyActions> {
        let Node { ref children, received_before_copy, .. } = *self.node;
        for child in &children[..received_before_copy] {
            self.push_child(child.rank, child.first, child.bytes)?;
        }
        self.push_copy()?;
        for child in &children[received_before_copy..] {
            self.push_child(child.rank, child.first, child.bytes)?;
        }
        self.push_parent()
    }

    fn push_scatter(&mut self) -> Result<(), TooManyActions> {
        let Node { ref children, received_before_copy, .. } = *self.node;
        self.push_parent()?;
        for child in children[received_before_copy..].iter().rev() {
            self.push_child(child.rank, child.first, child.bytes)?;
        }
        self.push_copy()?;
        for child in children[..received_before_copy].iter().rev() {
            self.push_child(child.rank, child.first, child.bytes)?;
        }
        Ok(())
    }

    /// What holds the data of the whole subtree: the root's buffer, or the segment.
    fn held(&self) -> Buffer {
        match (self.node.parent, self.operation.is_outward()) {
            (Some(_), _) => Buffer::Segment,
            (None, false) => Buffer::Output,
            (None, true) => Buffer::Input,
        }
    }

    /// What holds the own block.
    fn own(&self) -> Buffer {
        if self.operation.is_outward() { Buffer::Output } else { Buffer::Input }
    }

    /// Where the blocks from `first` on lie in what is held.
    fn offset(&self, first: Rank) -> u64 {
        let Node { rank, block, ref children, .. } = *self.node;
        if let Some(sizes) = self.sizes {
            return sizes.before(first);
        }
        let own = if rank < first { block } else { 0 };
        let before = children.iter().filter(|child| child.first < first);
        own + before.map(|child| child.bytes).sum::<u64>()
    }

    fn push_copy(&mut self) -> Result<(), TooManyActions> {
        let Node { rank, parent, block, ref children, .. } = *self.node;
        if block == 0 || (parent.is_some() && children.is_empty()) {
            return Ok(());
        }
        let (alone, among) = ([piece(0, block)], [piece(self.offset(rank), block)]);
        let own = Region { buffer: self.own(), pieces: &alone };
        let held = Region { buffer: self.held(), pieces: &among };
        let (from, into) = if self.operation.is_outward() { (held, own) } else { (own, held) };
        self.push(Deed::Copy { from, into })
    }

    fn push_child(&mut self, child: Rank, first: Rank, bytes: u64) -> Result<(), TooManyActions> {
        let pieces = [piece(self.offset(first), bytes)];
        let region = Region { buffer: self.held(), pieces: &pieces };
        match self.operation.is_outward() {
            _ if bytes == 0 => Ok(()),
            false => self.push(receive(child, region)),
            true => self.push(send(child, region)),
        }
    }

    fn push_parent(&mut self) -> Result<(), TooManyActions> {
        let Node { parent, bytes, ref children, .. } = *self.node;
        let Some(parent) = parent.filter(|_| bytes > 0) else { return Ok(()) };
        let pieces = [piece(0, bytes)];
        let buffer = if children.is_empty() { self.own() } else { Buffer::Segment };
        let region = Region { buffer, pieces: &pieces };
        match self.operation.is_outward() {
            false => self.push(send(parent, region)),
            true => self.push(receive(parent, region)),
        }
    }

    fn push(&mut self, deed: Deed<'_>) -> Result<(), TooManyActions> {
        self.programs.push(&Action { port: 0, deed })
    }
}

fn piece(offset: u64, bytes: u64) -> Piece {
    Piece { offset, bytes }
}

fn send(to: Rank, from: Region<'_>) -> Deed<'_> {
    Deed::Send(Send { to, tag: 0, from })
}

fn receive(from: Rank, into: Region<'_>) -> Deed<'_> {
    Deed::Receive(Receive { from, tag: 0, into, arrival: Arrival::Store })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Child;
    use tuwtree_model::{Homogeneous, Payload, Randomness, Root, Tree};
    use tuwtree_schedule::Schedule;
    use tuwtree_treegen::{AdaptiveRule, adaptive, linear};

    /// The place of each processor in a tree whose subtrees are consecutive.
    fn nodes(tree: &Tree, sizes: &BlockSizes) -> Vec<Node> {
        let mut nodes: Vec<Node> = (0..tree.processors())
            .map(|rank| Node {
                parent: tree.parent(rank),
                ..Node::of_star(rank, rank, sizes.block(rank), None)
            })
            .collect();
        for rank in tree.top_down().into_iter().rev() {
            let children: Vec<Child> = tree
                .children(rank)
                .map(|child| {
                    let Node { first, last, bytes, .. } = nodes[child];
                    Child { rank: child, first, last, bytes, digest: 0 }
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
    fn the_part_of_a_place_is_that_of_the_schedule_of_the_tree() {
        let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
        for processors in 1..20 {
            let numbers = Randomness::Xoshiro { seed: processors as u64 }.numbers(processors);
            let sizes = BlockSizes::new(numbers.iter().map(|number| number % 5)).unwrap();
            for root in 0..processors {
                let rule = AdaptiveRule::DataSize;
                let tree = adaptive(&sizes, &costs, Root::Given(root), rule).unwrap();
                for tree in [tree, linear(processors, root).unwrap()] {
                    for operation in Operation::IRREGULAR {
                        let payload = Payload::Blocks(sizes.clone());
                        let schedule = Schedule::of_tree(&tree, operation, payload, None).unwrap();
                        for node in nodes(&tree, &sizes) {
                            let expected = Part::of_schedule(&schedule, node.rank).unwrap();
                            let known = Some(&sizes).filter(|_| node.rank == root);
                            let part =
                                part_of(&node, operation, (root, processors), known).unwrap();
                            let actions =
                                |part: &Part| format!("{:?}", part.actions().collect::<Vec<_>>());
                            assert_eq!(
                                actions(&part),
                                actions(&expected),
                                "{operation:?} {node:?}"
                            );
                            assert_eq!(part.role().segment_bytes, expected.role().segment_bytes);
                        }
                    }
                }
            }
        }
    }
}
