//! All constructions that users can ask for, by name: what there is here; how trees are built, what
//! that may take, and what proves an optimum is told next door.

mod certificate;
mod effort;
mod search;
mod task;
mod two_level;

pub(crate) use certificate::Certificate;
pub(crate) use effort::Effort;
pub(crate) use search::{Plan, Search};
pub(crate) use task::{BuildError, Built, Searched, Task};

use tuwtree_model::Costs;
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
}
impl Construction {
    /// All constructions.
    pub(crate) const ALL: [Construction; 10] = [
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
    ];

    /// Those of the published tables.
    pub(crate) const PUBLISHED: [Construction; 5] = [
        Construction::Linear,
        Construction::Oblivious,
        Construction::Adaptive,
        Construction::Binary,
        Construction::Optimal,
    ];

    /// Whether a comparison of all constructions shows it: those made for costs that differ are
    /// shown where they do.
    pub(crate) fn is_compared(self, task: &Task<'_>) -> bool {
        let differ = !matches!(task.searched, Searched::Homogeneous(_));
        match self {
            Construction::TwoLevel => differ && matches!(task.costs, Costs::Hierarchical(_)),
            _ => differ || Construction::PUBLISHED.contains(&self),
        }
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
        }
    }
}
