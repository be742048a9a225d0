//! Order of a rank's steps, shared by the constructions by predicted times.

use tuwtree_model::{Rank, Step, Tree};

/// The tree in which each rank copies its own block first, while its children gather, and
/// then receives from these in order.
pub(crate) fn copy_first(root: Rank, children: &[Vec<Rank>]) -> Tree {
    let steps: Vec<(Rank, Step)> = children
        .iter()
        .enumerate()
        .filter(|(_, children)| !children.is_empty())
        .flat_map(|(rank, children)| {
            let receives = children.iter().map(move |&child| (rank, Step::Receive(child)));
            std::iter::once((rank, Step::Copy)).chain(receives)
        })
        .collect();
    let tree = Tree::new(children.len(), root, &steps);
    tree.expect("every rank but the root was given one parent, reached from the root")
}
