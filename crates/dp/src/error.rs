//! Why there is no optimal tree.

use crate::Method;
use tuwtree_model::Rank;

/// Why an optimal tree was not computed.
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
        /// The problem's size.
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
    /// The root is not a processor.
    #[error("root {root} is outside 0..{processors} ({processors} processors)")]
    RootOutOfRange {
        /// The root given.
        root: Rank,
        /// `p`.
        processors: usize,
    },
    /// The watcher broke off.
    #[error("cancelled")]
    Cancelled,
}
