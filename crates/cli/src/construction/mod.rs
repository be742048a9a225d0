//! All constructions that users can ask for, by name: what there is here; how trees are built, what
//! that may take, and what proves an optimum is told next door.

mod certificate;
mod effort;
mod non_ordered;
mod search;
mod task;
mod two_level;

pub(crate) use certificate::Certificate;
pub(crate) use effort::Effort;
pub(crate) use non_ordered::LocalSearch;
pub(crate) use search::{Plan, Search};
pub(crate) use task::{BuildError, Built, Searched, Task};

use non_ordered::has_two_sizes;
use tuwtree_model::{Costs, Order, Ports};
use tuwtree_treegen::Filling;

/// A way to build a tree. In the order of the published tables' columns, but with the cheaper ones
/// first: of equally fast trees, the first is recommended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Construction {
    Linear,
    Oblivious,
    Adaptive,
    MinimumFirst,
    MaximumFirst,
    Graceful,
    ModelGraceful,
    TwoLevel,
    Binary,
    Optimal,
    Direct,
    TwoBlock,
    Doubling,
    Greedy,
    Sorted,
    Searched,
    Knomial,
    Hybrid,
    Exact,
}

impl Construction {
    /// All constructions.
    pub(crate) const ALL: [Construction; 19] = [
        Construction::Linear,
        Construction::Oblivious,
        Construction::Adaptive,
        Construction::MinimumFirst,
        Construction::MaximumFirst,
        Construction::Graceful,
        Construction::ModelGraceful,
        Construction::TwoLevel,
        Construction::Binary,
        Construction::Optimal,
        Construction::Direct,
        Construction::TwoBlock,
        Construction::Doubling,
        Construction::Greedy,
        Construction::Sorted,
        Construction::Searched,
        Construction::Knomial,
        Construction::Hybrid,
        Construction::Exact,
    ];

    /// Those of the published tables.
    pub(crate) const PUBLISHED: [Construction; 5] = [
        Construction::Linear,
        Construction::Oblivious,
        Construction::Adaptive,
        Construction::Binary,
        Construction::Optimal,
    ];

    /// Whether a comparison of all trees of this order shows it: those made for costs that differ are
    /// shown where they do, those for few block sizes where there are few, those for several ports where
    /// there are several.
    pub(crate) fn is_compared(self, task: &Task<'_>, order: Order) -> bool {
        let differ = !matches!(task.searched, Searched::Homogeneous(_));
        let has_blocks = task.problem.blocks().is_some();
        let has_ports = task.ports != Ports::ONE;
        match self {
            Construction::TwoLevel => differ && matches!(task.costs, Costs::Hierarchical(_)),
            Construction::Knomial => has_ports,
            Construction::Hybrid => has_ports && order == Order::Any,
            Construction::Direct => has_blocks && order >= Order::Direct,
            Construction::TwoBlock => {
                order == Order::Any && task.problem.blocks().is_some_and(has_two_sizes)
            }
            Construction::Doubling
            | Construction::Greedy
            | Construction::Sorted
            | Construction::Searched
            | Construction::Exact => has_blocks && order == Order::Any,
            _ => differ || Construction::PUBLISHED.contains(&self),
        }
    }

    /// Whether it is made for gamma <= beta, though it has a tree for any costs.
    pub(crate) fn is_for_cheap_copies(self) -> bool {
        matches!(
            self,
            Construction::TwoBlock
                | Construction::Doubling
                | Construction::Greedy
                | Construction::Sorted
                | Construction::Searched
        )
    }

    /// Whether it looks for the best of some trees for processors with one port, though its tree is one for
    /// any number of ports.
    pub(crate) fn is_for_one_port(self) -> bool {
        matches!(
            self,
            Construction::Adaptive
                | Construction::Binary
                | Construction::Optimal
                | Construction::Direct
                | Construction::Doubling
                | Construction::Greedy
                | Construction::Sorted
                | Construction::Searched
        )
    }

    /// The name by which users, documents and tests call the construction.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Construction::Linear => "linear",
            Construction::Oblivious => "oblivious",
            Construction::Adaptive => "adaptive",
            Construction::MinimumFirst => Filling::MinimumFirst.name(),
            Construction::MaximumFirst => Filling::MaximumFirst.name(),
            Construction::Graceful => "graceful",
            Construction::ModelGraceful => "model-graceful",
            Construction::TwoLevel => "two-level",
            Construction::Binary => "binary",
            Construction::Optimal => "optimal",
            Construction::Direct => "direct",
            Construction::TwoBlock => "two-block",
            Construction::Doubling => "doubling",
            Construction::Greedy => "greedy",
            Construction::Sorted => "sorted",
            Construction::Searched => "searched",
            Construction::Knomial => "knomial",
            Construction::Hybrid => "hybrid",
            Construction::Exact => "exact",
        }
    }

    /// The construction in a line.
    pub(crate) fn summary(self) -> &'static str {
        match self {
            Construction::Linear => "star: the root receives from all others, as MPI libraries do",
            Construction::Oblivious => "rank-ordered binomial tree, whatever the blocks",
            Construction::Adaptive => "binomial tree in which the larger side receives",
            Construction::MinimumFirst => {
                "binomial tree, places filled with the nearest first; not in rank order"
            }
            Construction::MaximumFirst => {
                "binomial tree, places filled with the farthest first; not in rank order"
            }
            Construction::Graceful => {
                "sets of growing weight, largest block first (Träff 2004); not in rank order"
            }
            Construction::ModelGraceful => {
                "sets of growing message times, slowest first; not in rank order"
            }
            Construction::TwoLevel => {
                "optimal trees within the nodes of a hierarchical machine and among their leaders"
            }
            Construction::Binary => "best tree with at most two children everywhere, in rank order",
            Construction::Optimal => "best tree of all that join adjacent ranges",
            Construction::Direct => {
                "best ordered tree for the rest after at most 8 of the largest blocks went to the root"
            }
            Construction::TwoBlock => {
                "small and large blocks apart, for at most two block sizes; not in rank order"
            }
            Construction::Doubling => {
                "the largest blocks, 1, 1, 2, 4, ... at a time, no search; not in rank order"
            }
            Construction::Greedy => {
                "the largest blocks, as many at a time as are ready; not in rank order"
            }
            Construction::Sorted => {
                "optimal ordered tree for six other orders of the blocks; not in rank order"
            }
            Construction::Searched => {
                "the same for orders improved step by step (--search-steps); not in rank order"
            }
            Construction::Knomial => {
                "(k + 1)-nomial tree for --ports k, in which the last to be ready or the largest receives"
            }
            Construction::Hybrid => {
                "large blocks alone, the others in growing groups, for several --ports; not in rank order"
            }
            Construction::Exact => "best tree of all, for few processors or few sizes",
        }
    }
}
