//! Collective operations.

use crate::ClosedSet;

/// A collective operation.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    strum::VariantArray,
    strum::IntoStaticStr,
    strum::EnumString,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Operation {
    /// Collect all blocks at the root in rank order.
    Gather,
    /// Distribute the root's blocks. The dual of gather, with the same completion times.
    Scatter,
    /// Give every processor the root's vector.
    Broadcast,
    /// Combine the vectors of all processors at the root, in rank order. The dual of broadcast.
    Reduce,
    /// Give every processor all blocks, in rank order.
    Allgather,
    /// Combine the vectors of all processors, and give each its block of the result. The dual of allgather.
    ReduceScatter,
    /// Combine the vectors of all processors, and give each the whole result.
    Allreduce,
    /// Give every processor what every other has for it.
    Alltoall,
    /// Give every processor of one group all blocks of the other.
    IntergroupAllgather,
}

/// What kind of data an operation moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PayloadKind {
    /// A block for each processor.
    Blocks,
    /// One vector, the same size everywhere.
    Vector,
    /// A message from each processor to each.
    Messages,
    /// A block for each processor of two groups.
    Groups,
}

impl Operation {
    /// The kind of data that the operation moves.
    pub fn payload_kind(self) -> PayloadKind {
        match self {
            Operation::Gather
            | Operation::Scatter
            | Operation::Allgather
            | Operation::ReduceScatter => PayloadKind::Blocks,
            Operation::Broadcast | Operation::Reduce | Operation::Allreduce => PayloadKind::Vector,
            Operation::Alltoall => PayloadKind::Messages,
            Operation::IntergroupAllgather => PayloadKind::Groups,
        }
    }

    /// The operations with a root, which go along trees.
    pub fn rooted() -> impl Iterator<Item = Operation> {
        Operation::all().filter(|operation| operation.is_rooted())
    }

    /// The operations with a root whose block sizes may differ from processor to processor.
    pub fn irregular() -> impl Iterator<Item = Operation> {
        Operation::rooted().filter(|operation| operation.is_irregular())
    }

    /// Other names than [`name`](ClosedSet::name) by which users may call it: those of MPI's blocking functions,
    /// and the same without prefix in small letters.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::Operation;
    /// let names: Vec<String> = Operation::Gather.other_names().collect();
    /// assert_eq!(names, ["MPI_Gather", "MPI_Gatherv", "gatherv"]);
    /// ```
    pub fn other_names(self) -> impl Iterator<Item = String> {
        let functions: &[&str] = match self {
            Operation::Gather => &["Gather", "Gatherv"],
            Operation::Scatter => &["Scatter", "Scatterv"],
            Operation::Broadcast => &["Bcast"],
            Operation::Reduce => &["Reduce"],
            Operation::Allgather => &["Allgather", "Allgatherv"],
            Operation::ReduceScatter => &["Reduce_scatter", "Reduce_scatter_block"],
            Operation::Allreduce => &["Allreduce"],
            Operation::Alltoall => &["Alltoall", "Alltoallv"],
            // MPI has the same functions for them as for an allgather.
            Operation::IntergroupAllgather => &[],
        };
        let of_intergroup: &[&str] = match self {
            Operation::IntergroupAllgather => {
                &["intergroup-allgatherv", "intergroup_allgather", "intergroup_allgatherv"]
            }
            _ => &[],
        };
        let long = functions.iter().map(|function| format!("MPI_{function}"));
        let short = functions.iter().map(|function| function.to_lowercase());
        let more = of_intergroup.iter().map(|&name| name.to_owned());
        long.chain(short.filter(move |name| name != self.name())).chain(more)
    }

    /// Whether data comes from, or goes to, one processor: the root.
    pub fn is_rooted(self) -> bool {
        match self {
            Operation::Gather | Operation::Scatter => true,
            Operation::Broadcast | Operation::Reduce => true,
            Operation::Allgather | Operation::ReduceScatter | Operation::Allreduce => false,
            Operation::Alltoall | Operation::IntergroupAllgather => false,
        }
    }

    /// Whether data of several processors is combined to a result.
    pub fn is_reduction(self) -> bool {
        match self {
            Operation::Reduce | Operation::ReduceScatter | Operation::Allreduce => true,
            Operation::Gather | Operation::Scatter => false,
            Operation::Broadcast | Operation::Allgather => false,
            Operation::Alltoall | Operation::IntergroupAllgather => false,
        }
    }

    /// Whether block sizes may differ from processor to processor.
    pub fn is_irregular(self) -> bool {
        self.payload_kind() == PayloadKind::Blocks
    }

    /// Whether each byte is wanted in one place only, and so goes there once: gather and scatter.
    pub fn passes_on_once(self) -> bool {
        matches!(self, Operation::Gather | Operation::Scatter)
    }

    /// Whether data flows from the root outwards: a tree's steps are then performed backwards, with
    /// sends in place of receives.
    pub fn is_outward(self) -> bool {
        match self {
            Operation::Scatter | Operation::Broadcast => true,
            Operation::Gather | Operation::Reduce => false,
            Operation::Allgather | Operation::ReduceScatter | Operation::Allreduce => false,
            Operation::Alltoall | Operation::IntergroupAllgather => false,
        }
    }
}
