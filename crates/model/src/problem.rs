//! What is asked: the operation, its root, its blocks.

use crate::Rank;

/// A rooted irregular collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Collect all blocks at the root in rank order.
    Gather,
    /// Distribute the root's blocks. The dual of gather, with the same completion times.
    Scatter,
}

impl Operation {
    /// All operations.
    pub const ALL: [Operation; 2] = [Operation::Gather, Operation::Scatter];

    /// The name by which users and documents call the operation.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Gather => "gather",
            Operation::Scatter => "scatter",
        }
    }
}

/// Which processor is to be the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// This one, as in `MPI_Gatherv`.
    Given(Rank),
    /// One with the least completion time, chosen by the construction.
    Best,
}
