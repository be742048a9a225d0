//! Errors of the optimizers.

use crate::Method;
use tuwtree_model::{ClosedSet, CostsError, Cut, Operation, Rank, Root};

/// Reason for which an optimal tree was not computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DpError {
    /// The method relies on monotonicity, which fails for gamma > beta.
    #[error("gamma = {gamma} exceeds beta = {beta}; only the plain recurrence admits that")]
    GammaExceedsBeta {
        /// The copy cost per byte.
        gamma: f64,
        /// The transmission cost per byte.
        beta: f64,
    },
    /// No number type holds every intermediate time: exactly if the costs are integers, finitely
    /// otherwise.
    #[error("times over {total} bytes may be too large to compute with; scale sizes or costs down")]
    TooLarge {
        /// The sum of all blocks, in bytes.
        total: u64,
    },
    /// The method is for trees of any degree only.
    #[error("the {} method finds no binary trees", method.name())]
    NotForBinaryTrees {
        /// The method asked for.
        method: Method,
    },
    /// The tables do not fit into memory.
    #[error("{needed} bytes of memory were asked for in vain")]
    OutOfMemory {
        /// The bytes that could not be had.
        needed: u64,
    },
    /// The tables grew larger than allowed.
    #[error("the tables need more than the {allowed} bytes that are allowed")]
    MemoryExhausted {
        /// The bytes that were allowed.
        allowed: u64,
    },
    /// The tables are known beforehand not to fit into the memory allowed.
    #[error(
        "the tables for {ranks} processes need {needed} bytes, and {allowed} are allowed; {most} processes would fit"
    )]
    DoesNotFit {
        /// Number of ranks of the problem.
        ranks: usize,
        /// The bytes of the tables.
        needed: u64,
        /// The bytes that were allowed.
        allowed: u64,
        /// The most ranks whose tables fit.
        most: usize,
    },
    /// There are no blocks to find a tree for.
    #[error(
        "such trees are for the blocks of a gather or scatter, and a {} has none",
        operation.name()
    )]
    NeedsBlocks {
        /// The operation asked for, which has no such tree.
        operation: Operation,
    },
    /// The operation has no root, and goes along no tree.
    #[error("{} has no root, and goes along no tree", operation.name())]
    Rootless {
        /// The operation asked for.
        operation: Operation,
    },
    /// There is no vector to find a tree for.
    #[error(
        "such trees are for the vector of a broadcast or reduction, and a {} has none",
        operation.name()
    )]
    NeedsVector {
        /// The operation asked for, which has no such tree.
        operation: Operation,
    },
    /// The root is not a rank.
    #[error("root {root} is outside 0..{ranks} ({ranks} processes)")]
    RootOutOfRange {
        /// The root asked for.
        root: Rank,
        /// The number of ranks; the root is to be below it.
        ranks: usize,
    },
    /// The costs differ from pair to pair.
    #[error("only costs that are the same for all pairs of processes will do")]
    NotHomogeneous,
    /// The costs are not those of a machine with levels.
    #[error("only the costs of a machine with levels will do")]
    NotHierarchical,
    /// A group of a machine does not consist of adjacent ranks.
    #[error(
        "ranks {one} and {other} share a group of level {level:?}, but not with all ranks between; this \
         method is for groups of adjacent ranks"
    )]
    NotContiguous {
        /// The innermost such level.
        level: String,
        /// A rank of the group, after which others come,
        one: Rank,
        /// and the next one of it.
        other: Rank,
    },
    /// The costs are not those of the one-port model.
    #[error("latency overlaps with other work; this method is for an overhead of all alpha")]
    Overlaps,
    /// The costs are not linear, or there are too many ranks to write them as a matrix.
    #[error(transparent)]
    Costs(#[from] CostsError),
    /// Links are missing without which no tree, ordered or not, moves all data.
    #[error(transparent)]
    NoTree(#[from] Cut),
    /// Links are missing without which no ordered tree moves all data, though others may.
    #[error("{}", no_ordered_tree(*operation, *root, *first, *last))]
    NoOrderedTree {
        /// Direction of the data.
        operation: Operation,
        /// The root asked for.
        root: Root,
        /// A shortest range within which no ordered tree has the links that it needs: its first rank,
        first: Rank,
        /// and its last.
        last: Rank,
    },
    /// The watcher broke off.
    #[error("cancelled")]
    Cancelled,
}

fn no_ordered_tree(operation: Operation, root: Root, first: Rank, last: Rank) -> String {
    let name = operation.name();
    let root = match root {
        Root::Given(root) => format!(" with root {root}"),
        Root::Best | Root::None => String::new(),
    };
    format!(
        "no ordered tree has the links for this {name}{root}: ranks {first}..={last} cannot be joined in rank order"
    )
}
