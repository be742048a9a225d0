//! Gather and scatter trees: who sends to whom, and in which order each rank receives.

use crate::{MOST_RANKS, Rank};

/// A step of an inner rank of a gather tree.
///
/// A scatter tree runs the same steps backwards, with sends in place of receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Copy the own block into the segment: the singleton subtree of OPT Definition 2.
    Copy,
    /// Receive the whole segment of this child.
    Receive(Rank),
}

/// A rooted tree over ranks `0..p`, the steps of each inner rank in order.
///
/// Every rank but the root has one parent, every inner rank copies its own block exactly
/// once, and every rank is reached from the root. A leaf has no steps: it sends straight from
/// its own buffer.
///
/// # Source
/// OPT Definitions 1 and 2. The tree need not be ordered (Definition 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    root: u32,
    /// `p` entries; the root is its own parent.
    parent: Vec<u32>,
    /// `p + 1` entries: rank `i`'s steps are `steps[first_step[i]..first_step[i + 1]]`.
    first_step: Vec<u32>,
    /// The rank received from; a rank's own rank stands for the copy.
    steps: Vec<u32>,
}

/// A list of steps that is not a tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// A tree has at least one rank.
    #[error("a tree has at least one process")]
    NoRanks,
    /// More ranks than ranks.
    #[error("{ranks} processes; at most {MOST_RANKS} are allowed")]
    TooManyRanks {
        /// The requested number.
        ranks: usize,
    },
    /// The root is not a rank.
    #[error("root {root} is outside 0..{ranks} ({ranks} processes)")]
    RootOutOfRange {
        /// Not below `ranks`.
        root: Rank,
        /// The number of ranks in the tree.
        ranks: usize,
    },
    /// A step names a rank that is not below the number of ranks.
    #[error("rank {rank} receives from {child}, which is outside 0..{ranks} ({ranks} processes)")]
    RankOutOfRange {
        /// The receiver (itself out of range if `child == rank`).
        rank: Rank,
        /// Not below `ranks`.
        child: Rank,
        /// The number of ranks in the tree.
        ranks: usize,
    },
    /// Somebody receives from the root.
    #[error("rank {rank} receives from {root}, which is the root and sends to nobody")]
    RootHasParent {
        /// The one that would receive from the root.
        rank: Rank,
        /// The root of the tree, which has no parent.
        root: Rank,
    },
    /// Two ranks receive from the same child, or one twice.
    #[error("rank {child} sends to both {first} and {second}; in a tree it sends once")]
    TwoParents {
        /// The one that would send twice.
        child: Rank,
        /// The rank whose steps are read first.
        first: Rank,
        /// Rank whose steps are read later; equal to `first` if that rank receives twice.
        second: Rank,
    },
    /// An inner rank without exactly one copy, or a leaf with one.
    #[error("rank {rank} has {children} children and copies its own block {copies} times; {}", if *children == 0 { "a leaf has no copy" } else { "an inner rank copies it once" })]
    WrongCopies {
        /// The rank whose steps have the wrong number of copies.
        rank: Rank,
        /// Number of its children.
        children: usize,
        /// Number of its copy steps.
        copies: usize,
    },
    /// Nobody receives from this rank.
    #[error("rank {rank} sends to nobody, but the root is {root}")]
    NoParent {
        /// The rank without a receiver.
        rank: Rank,
        /// The only rank that may be without one.
        root: Rank,
    },
    /// A cycle that the root is not part of.
    #[error("rank {rank} is on or below a cycle and never reaches root {root}")]
    Cycle {
        /// The rank of least rank that does not reach the root.
        rank: Rank,
        /// The root, which all others must reach.
        root: Rank,
    },
}

impl Tree {
    /// The tree over `ranks` ranks with this root and these steps, each with the rank that performs
    /// it; one rank's steps in the order in which it performs them, different ranks' steps in any
    /// order.
    ///
    /// # Errors
    /// [`TreeError`] where the steps are not a tree.
    ///
    /// # Complexity
    /// O(p) time and space.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{Step, Tree};
    /// // 1 <- 0, then its own block, then 1 <- 2.
    /// let steps = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
    /// let tree = Tree::new(3, 1, &steps).unwrap();
    /// assert_eq!(tree.parent(2), Some(1));
    /// assert_eq!(tree.children(1).collect::<Vec<_>>(), [0, 2]);
    /// ```
    pub fn new(ranks: usize, root: Rank, steps: &[(Rank, Step)]) -> Result<Tree, TreeError> {
        Self::check_root(ranks, root)?;
        let parent = parents(ranks, root, steps)?;
        let mut first_step = vec![0_u32; ranks + 1];
        for &(rank, _) in steps {
            first_step[rank + 1] += 1;
        }
        for rank in 0..ranks {
            first_step[rank + 1] += first_step[rank];
        }
        let mut next = first_step.clone();
        let mut ordered = vec![0_u32; steps.len()];
        for &(rank, step) in steps {
            let subtree = match step {
                Step::Copy => rank,
                Step::Receive(child) => child,
            };
            ordered[next[rank] as usize] = subtree as u32;
            next[rank] += 1;
        }
        let tree = Tree { root: root as u32, parent, first_step, steps: ordered };
        tree.check_copies()?;
        tree.check_reachable()?;
        Ok(tree)
    }

    /// The number of ranks, `p >= 1`.
    pub fn ranks(&self) -> usize {
        self.parent.len()
    }

    /// The root.
    pub fn root(&self) -> Rank {
        self.root as Rank
    }

    /// The rank to which `rank` sends in a gather; `None` for the root.
    pub fn parent(&self, rank: Rank) -> Option<Rank> {
        (self.root() != rank).then(|| self.parent[rank] as Rank)
    }

    /// The steps of `rank` in order; none for a leaf.
    pub fn steps(
        &self,
        rank: Rank,
    ) -> impl DoubleEndedIterator<Item = Step> + ExactSizeIterator + '_ {
        let range = self.first_step[rank] as usize..self.first_step[rank + 1] as usize;
        self.steps[range].iter().map(move |&subtree| match subtree as Rank {
            own if own == rank => Step::Copy,
            child => Step::Receive(child),
        })
    }

    /// The children of `rank` in receive order.
    pub fn children(&self, rank: Rank) -> impl DoubleEndedIterator<Item = Rank> + '_ {
        self.steps(rank).filter_map(|step| match step {
            Step::Copy => None,
            Step::Receive(child) => Some(child),
        })
    }

    /// Number of children of `rank`.
    pub fn degree(&self, rank: Rank) -> usize {
        self.steps(rank).len().saturating_sub(1)
    }

    /// All ranks, each before its children (reversed: each after them). O(p).
    pub fn top_down(&self) -> Vec<Rank> {
        let mut order = Vec::with_capacity(self.ranks());
        let mut pending = vec![self.root()];
        while let Some(rank) = pending.pop() {
            order.push(rank);
            pending.extend(self.children(rank).rev());
        }
        order
    }

    /// The number of edges on the longest path from the root to a leaf. O(p).
    pub fn depth(&self) -> usize {
        let mut depth = vec![0_u32; self.ranks()];
        let mut deepest = 0;
        for rank in self.top_down() {
            if let Some(parent) = self.parent(rank) {
                depth[rank] = depth[parent] + 1;
                deepest = deepest.max(depth[rank]);
            }
        }
        deepest as usize
    }

    /// Fails unless `root` is one of `ranks` ranks.
    ///
    /// # Errors
    /// No ranks, too many, or a root out of range.
    pub fn check_root(ranks: usize, root: Rank) -> Result<(), TreeError> {
        match ranks {
            0 => Err(TreeError::NoRanks),
            _ if ranks > MOST_RANKS => Err(TreeError::TooManyRanks { ranks }),
            _ if root >= ranks => Err(TreeError::RootOutOfRange { root, ranks }),
            _ => Ok(()),
        }
    }

    fn check_copies(&self) -> Result<(), TreeError> {
        for rank in 0..self.ranks() {
            let children = self.children(rank).count();
            let copies = self.steps(rank).len() - children;
            if copies != usize::from(children > 0) {
                return Err(TreeError::WrongCopies { rank, children, copies });
            }
        }
        Ok(())
    }

    fn check_reachable(&self) -> Result<(), TreeError> {
        let mut reached = vec![false; self.ranks()];
        for rank in self.top_down() {
            reached[rank] = true;
        }
        match reached.iter().position(|&reached| !reached) {
            Some(rank) => Err(TreeError::Cycle { rank, root: self.root() }),
            None => Ok(()),
        }
    }
}

/// The parent of each rank, the root being its own.
fn parents(ranks: usize, root: Rank, steps: &[(Rank, Step)]) -> Result<Vec<u32>, TreeError> {
    const NOBODY: u32 = u32::MAX;
    let mut parent = vec![NOBODY; ranks];
    for &(rank, step) in steps {
        let child = match step {
            Step::Copy => rank,
            Step::Receive(child) => child,
        };
        if rank >= ranks || child >= ranks {
            return Err(TreeError::RankOutOfRange { rank, child, ranks });
        }
        if step == Step::Copy {
            continue;
        }
        if child == root {
            return Err(TreeError::RootHasParent { rank, root });
        }
        if parent[child] != NOBODY {
            let first = parent[child] as Rank;
            return Err(TreeError::TwoParents { child, first, second: rank });
        }
        parent[child] = rank as u32;
    }
    parent[root] = root as u32;
    match parent.iter().position(|&parent| parent == NOBODY) {
        Some(rank) => Err(TreeError::NoParent { rank, root }),
        None => Ok(parent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Step::{Copy, Receive};

    #[test]
    fn a_lone_rank_is_a_tree() {
        let tree = Tree::new(1, 0, &[]).unwrap();
        assert_eq!((tree.root(), tree.parent(0), tree.depth()), (0, None, 0));
    }

    #[test]
    fn steps_keep_their_order_per_rank() {
        let steps = [(2, Copy), (1, Receive(0)), (2, Receive(1)), (1, Copy), (2, Receive(3))];
        let tree = Tree::new(4, 2, &steps).unwrap();
        assert_eq!(tree.steps(2).collect::<Vec<_>>(), [Copy, Receive(1), Receive(3)]);
        assert_eq!(tree.steps(1).collect::<Vec<_>>(), [Receive(0), Copy]);
        assert_eq!(tree.top_down(), [2, 1, 0, 3]);
        assert_eq!((tree.degree(2), tree.degree(0), tree.depth()), (2, 0, 2));
    }

    #[test]
    fn what_is_not_a_tree_is_refused_by_name() {
        let error = |root, steps: &[(Rank, Step)]| Tree::new(3, root, steps).unwrap_err();
        assert_eq!(error(3, &[]), TreeError::RootOutOfRange { root: 3, ranks: 3 });
        assert_eq!(
            error(0, &[(0, Copy), (0, Receive(1))]),
            TreeError::NoParent { rank: 2, root: 0 }
        );
        assert_eq!(
            error(0, &[(1, Copy), (1, Receive(2)), (2, Copy), (2, Receive(1))]),
            TreeError::Cycle { rank: 1, root: 0 }
        );
        assert_eq!(
            error(0, &[(0, Copy), (0, Receive(1)), (0, Receive(2)), (2, Copy), (2, Receive(1))]),
            TreeError::TwoParents { child: 1, first: 0, second: 2 }
        );
        assert_eq!(
            error(0, &[(0, Receive(1)), (0, Receive(2))]),
            TreeError::WrongCopies { rank: 0, children: 2, copies: 0 }
        );
        assert_eq!(error(0, &[(1, Receive(0))]), TreeError::RootHasParent { rank: 1, root: 0 });
        assert_eq!(
            error(0, &[(0, Copy), (0, Receive(7))]),
            TreeError::RankOutOfRange { rank: 0, child: 7, ranks: 3 }
        );
        assert_eq!(
            error(0, &[(0, Copy), (0, Receive(1)), (0, Receive(2)), (1, Copy)]),
            TreeError::WrongCopies { rank: 1, children: 0, copies: 1 }
        );
    }
}
