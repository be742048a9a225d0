//! `t(i, j, m)`: what a message between a child and its parent takes, as the model-based
//! constructions see it.

use tuwtree_model::{Collective, CostModel, Rank, Step, Time, TimeError, Tree};

/// The predicted time of `bytes` between `child` and `parent`, in the operation's direction.
pub(crate) fn predicted(
    problem: Collective<'_>,
    costs: &impl CostModel,
    (child, parent): (Rank, Rank),
    bytes: u64,
) -> Result<Time, TimeError> {
    let (from, to) = problem.ends(child, parent);
    costs.transmission_between(from, to, bytes)
}

/// The bytes of each processor alone.
pub(crate) fn own(problem: Collective<'_>, rank: Rank) -> u64 {
    problem.segment(rank, rank)
}

/// The tree in which each processor copies its own block first, while its children gather, and
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
    tree.expect("every processor but the root was given one parent, reached from the root")
}
