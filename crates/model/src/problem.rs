//! What is asked: the operation, its root, its blocks.

use crate::Rank;

/// A rooted collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Collect all blocks at the root in rank order.
    Gather,
    /// Distribute the root's blocks. The dual of gather, with the same completion times.
    Scatter,
    /// Give every processor the root's vector.
    Broadcast,
    /// Combine the vectors of all processors at the root, in rank order. The dual of broadcast.
    Reduce,
}

impl Operation {
    /// All operations.
    pub const ALL: [Operation; 4] =
        [Operation::Gather, Operation::Scatter, Operation::Broadcast, Operation::Reduce];

    /// The irregular operations, with a block for each processor; the others have one vector.
    pub const IRREGULAR: [Operation; 2] = [Operation::Gather, Operation::Scatter];

    /// The name by which users and documents call the operation.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Gather => "gather",
            Operation::Scatter => "scatter",
            Operation::Broadcast => "broadcast",
            Operation::Reduce => "reduce",
        }
    }

    /// Whether data flows from the root outwards: a tree's steps are then performed backwards, with
    /// sends in place of receives.
    pub fn is_outward(self) -> bool {
        matches!(self, Operation::Scatter | Operation::Broadcast)
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
