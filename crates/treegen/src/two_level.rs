//! Two-level trees: within each node to a leader, and among the leaders.
//!
//! The usual way to spare a network: no node sends more than once. How the trees within the nodes and
//! among the leaders are found is left to the caller, so that they may be optimal ones.
//!
//! # Source
//! The hierarchical trees of OPT section 2.1 and TUW section 6; node leaders are what MPI libraries
//! call them. A leader takes part in the tree among leaders only after its node's data is there,
//! which the trees among leaders are not told.

use tuwtree_model::{Rank, Root, Step, Tree};

/// The tree that collects the blocks of each node at its leader by `inside`, and the nodes' data at
/// the root by `among`. The leaders are the roots of the nodes' trees.
///
/// `inside` is called for each node, with the position of the root within it if it is given and there; `among` with the
/// leaders of all nodes, and the position of the node that holds a given root. Both return trees over the positions in
/// their arguments.
///
/// # Shapes
/// `nodes` lists the ranks of each node: every rank is on one, and none is empty.
///
/// # Errors
/// Errors of `inside` and `among`.
///
/// # Panics
/// If `nodes` is not such a list, a given root is on none of them, or a tree is not over its positions.
///
/// # Complexity
/// O(p) beside the two.
pub fn two_level<E>(
    nodes: &[Vec<Rank>],
    root: Root,
    mut inside: impl FnMut(&[Rank], Root) -> Result<Tree, E>,
    among: impl FnOnce(&[Rank], Root) -> Result<Tree, E>,
) -> Result<Tree, E> {
    let ranks = nodes.iter().map(Vec::len).sum();
    let mut steps = Vec::with_capacity(2 * ranks);
    let mut leaders = Vec::with_capacity(nodes.len());
    let mut root_node = Root::Best;
    for (node, members) in nodes.iter().enumerate() {
        let here = match root {
            Root::Given(root) => members.iter().position(|&rank| rank == root),
            Root::Best | Root::None => None,
        };
        if here.is_some() {
            root_node = Root::Given(node);
        }
        let tree = inside(members, here.map_or(Root::Best, Root::Given))?;
        assert_eq!(tree.ranks(), members.len(), "a tree over the node's processes");
        leaders.push(members[tree.root()]);
        for position in 0..members.len() {
            steps.extend(tree.steps(position).map(|step| translated(members, position, step)));
        }
    }
    assert!(root == Root::Best || root_node != Root::Best, "the root is on a node");
    let tree = among(&leaders, root_node)?;
    assert_eq!(tree.ranks(), leaders.len(), "a tree over the leaders");
    for (position, members) in nodes.iter().enumerate() {
        // The leader of several has copied its own block already.
        let copied = members.len() > 1;
        let left = tree.steps(position).filter(|&step| step != Step::Copy || !copied);
        steps.extend(left.map(|step| translated(&leaders, position, step)));
    }
    let tree = Tree::new(ranks, leaders[tree.root()], &steps);
    Ok(tree.expect("trees of nodes, joined by a tree of their roots"))
}

/// A step of a tree over positions as one over ranks.
fn translated(ranks: &[Rank], position: usize, step: Step) -> (Rank, Step) {
    let step = match step {
        Step::Copy => Step::Copy,
        Step::Receive(child) => Step::Receive(ranks[child]),
    };
    (ranks[position], step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConstructionError, linear};
    use tuwtree_model::{BlockSizes, Homogeneous, Problem};

    fn star(ranks: &[Rank], root: Root) -> Result<Tree, ConstructionError> {
        let sizes = BlockSizes::new(vec![1; ranks.len()]).unwrap();
        let problem = Problem::gather(&sizes, Homogeneous::new(1.0, 1.0, 1.0).unwrap()).unwrap();
        linear(&problem.with_root(root).unwrap())
    }

    #[test]
    fn leaders_collect_their_nodes_first() {
        let nodes = [vec![0, 3, 4], vec![1], vec![2, 5]];
        let tree = two_level(&nodes, Root::Given(5), star, star).unwrap();
        assert_eq!(tree.root(), 5);
        let steps = |rank| tree.steps(rank).collect::<Vec<_>>();
        assert_eq!(steps(0), [Step::Copy, Step::Receive(3), Step::Receive(4)]);
        assert_eq!(steps(1), []);
        let expected = [Step::Receive(2), Step::Copy, Step::Receive(0), Step::Receive(1)];
        assert_eq!(steps(5), expected);
        let tree = two_level(&nodes, Root::Given(1), star, star).unwrap();
        assert_eq!(
            tree.steps(1).collect::<Vec<_>>(),
            [Step::Receive(0), Step::Copy, Step::Receive(2)]
        );
        assert_eq!(two_level(&[vec![0]], Root::Best, star, star).unwrap().ranks(), 1);
    }
}
