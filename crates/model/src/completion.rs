//! Completion time of a tree, straight from its definition and independent of every construction.

use crate::ports::Deal;
use crate::{Payload, Problem, Step, Time, TimeError, Tree};

/// Completion times of all subtrees of an inward operation (gather, reduction), their send times
/// and sizes.
///
/// An outward operation (scatter, broadcast) runs the same steps backwards in time, so that its
/// times are these, counted back from the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// `p` entries: when each rank's subtree is complete; 0 for a leaf.
    pub ready: Vec<Time>,
    /// `p` entries: from when to when the transmission to the parent occupies the parent's port; for the
    /// root, twice its clock.
    pub sent: Vec<(Time, Time)>,
    /// `p` entries: the bytes on the edge to each rank's parent: the blocks of its subtree, or the
    /// whole vector.
    pub segment: Vec<u64>,
    /// `p` entries: the port of its parent through which each rank's segment comes; 0 for the
    /// root.
    pub port: Vec<u16>,
    /// `p` entries: the port that each rank's copy of its own block holds; 0 for a leaf.
    pub copy_port: Vec<u16>,
}

/// Completion times of every subtree of a tree, its size, and the ports of its messages.
///
/// Each step, in the order of the tree, goes to the port that is free first, of several to the one of
/// lowest number. The port then waits for the child if need be: until its message may occupy the port,
/// the latency after the child is ready. A rank sends when all its ports are done. An outward
/// operation mirrors this in time, port by port.
///
/// The tree's own root counts, whichever the problem asks for.
///
/// # Errors
/// [`TimeError`] where there is no link for an edge of the tree that data goes along, and where
/// integer times would have to be rounded, or are not finite.
///
/// # Panics
/// If tree and problem have different numbers of ranks.
///
/// # Complexity
/// O(p log k) time for k ports, O(p) space; no recursion, so that chains of any length do.
///
/// # Source
/// OPT Definition 2, eqs. 1 and 2: a child's segment goes to its parent at the costs of that pair, in a scatter at the
/// costs of the opposite direction (section 2.5). Broadcast and reduction: Theorem 4. Ports: section 2.6, "greedily",
/// after Definition 3; `docs/ports.md`. Latency apart from occupancy: `docs/overlapping-latency.md`.
///
/// # Example
/// Sizes 2, 1, 4 and costs 1, 1, 1: rank 1 receives from 0, copies, receives from 2:
/// (1 + 2) + 1 + (1 + 4) = 9. With two ports it copies meanwhile, and then receives from 2.
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Ports, Problem, Step, Tree, completion};
/// let steps = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
/// let tree = Tree::new(3, 1, &steps).unwrap();
/// let sizes = BlockSizes::new([2, 1, 4]).unwrap();
/// let problem = Problem::gather(&sizes, Homogeneous::new(1.0, 1.0, 1.0).unwrap()).unwrap();
/// assert_eq!(completion(&tree, &problem).unwrap().ready[1].units(), 9.0);
/// let done = completion(&tree, &problem.with_ports(Ports::new(2).unwrap())).unwrap();
/// assert_eq!((done.ready[1].units(), done.port), (6.0, vec![0, 0, 1]));
/// ```
pub fn completion(tree: &Tree, problem: &Problem) -> Result<Completion, TimeError> {
    assert_eq!(tree.ranks(), problem.ranks(), "tree and data of one problem");
    let costs = problem.costs().kind();
    let ranks = tree.ranks();
    let collective = problem.collective();
    let mut done = Completion {
        ready: vec![Time::ZERO; ranks],
        sent: vec![(Time::ZERO, Time::ZERO); ranks],
        segment: (0..ranks).map(|rank| problem.payload().own(rank)).collect(),
        port: vec![0; ranks],
        copy_port: vec![0; ranks],
    };
    let mut deal = Deal::new(problem.ports());
    let grows = match problem.payload() {
        Payload::Blocks(_) => true,
        Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => false,
    };
    for rank in tree.top_down().into_iter().rev() {
        deal.restart();
        for step in tree.steps(rank) {
            let (free, port) = deal.take();
            let end = match step {
                Step::Copy => {
                    done.copy_port[rank] = port;
                    costs.sum(free, costs.copy_at(rank, collective.copied(rank))?)?
                }
                Step::Receive(child) => {
                    if grows {
                        done.segment[rank] += done.segment[child];
                    }
                    let (from, to) = collective.ends(child, rank);
                    let bytes = done.segment[child];
                    let latency = costs.latency_between(from, to, bytes)?;
                    let start = free.later(costs.sum(done.ready[child], latency)?);
                    let time = costs.transmission_between(from, to, bytes)?;
                    let end = costs.sum(start, time)?;
                    done.port[child] = port;
                    done.sent[child] = (start, end);
                    end
                }
            };
            deal.give(port, end);
        }
        done.ready[rank] = deal.end();
    }
    done.sent[tree.root()] = (done.ready[tree.root()], done.ready[tree.root()]);
    Ok(done)
}

/// The completion time of a tree.
///
/// # Errors, panics, complexity, source
/// As [`completion`].
///
/// # Example
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, Step, Tree, completion_time};
/// let sizes = BlockSizes::new([2, 1, 4]).unwrap();
/// let problem = Problem::gather(&sizes, Homogeneous::new(100.0, 1.0, 1.0).unwrap()).unwrap();
/// let star = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
/// let tree = Tree::new(3, 1, &star).unwrap();
/// // (100 + 2) + 1 + (100 + 4)
/// assert_eq!(completion_time(&tree, &problem).unwrap().units(), 207.0);
/// ```
pub fn completion_time(tree: &Tree, problem: &Problem) -> Result<Time, TimeError> {
    Ok(completion(tree, problem)?.ready[tree.root()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockSizes, Collective, CostMatrix, Vector};

    fn chain() -> Tree {
        let steps =
            [(1, Step::Receive(2)), (1, Step::Copy), (0, Step::Receive(1)), (0, Step::Copy)];
        Tree::new(3, 0, &steps).unwrap()
    }

    #[test]
    fn a_scatter_pays_the_opposite_direction_of_a_gather() {
        let sizes = BlockSizes::new([5, 3, 4]).unwrap();
        let time = |collective| {
            let problem = Problem::of(collective, &CostMatrix::lopsided()).unwrap();
            completion_time(&chain(), &problem).unwrap().units()
        };
        // 2 -> 1: 100, copy of 3 bytes at gamma 1, 1 -> 0: 10 + 2 * 7, copy at gamma 0.
        assert_eq!(time(Collective::gather(&sizes)), 127.0);
        assert_eq!(time(Collective::scatter(&sizes)), 111.0);
    }

    #[test]
    fn a_whole_vector_goes_along_each_edge_and_is_not_copied() {
        let vector = Vector { ranks: 3, bytes: 6 };
        let of = |collective| Problem::of(collective, &CostMatrix::lopsided()).unwrap();
        let done = completion(&chain(), &of(Collective::reduce(vector))).unwrap();
        assert_eq!(done.ready[0].units(), 122.0);
        assert_eq!(done.segment, [6, 6, 6]);
        let time = completion_time(&chain(), &of(Collective::broadcast(vector)));
        assert_eq!(time.unwrap().units(), 107.0);
    }
}
