//! Collective operations.

use crate::ClosedSet;

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Operation {
    /// Collect all blocks at the root in rank order.
    Gather,
    /// Distribute the root's blocks. The dual of gather, with the same completion times.
    Scatter,
    /// Give every rank the root's vector.
    Broadcast,
    /// Combine the vectors of all ranks at the root, in rank order. The dual of broadcast.
    Reduce,
    /// Give every rank all blocks, in rank order.
    Allgather,
    /// Combine the vectors of all ranks, and give each its block of the result. The dual of allgather.
    ReduceScatter,
    /// Combine the vectors of all ranks, and give each the whole result.
    Allreduce,
    /// Give every rank what every other has for it.
    Alltoall,
    /// Give every rank of one group all blocks of the other.
    IntergroupAllgather,
}

/// Kind of data that an operation moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PayloadKind {
    /// A block for each rank.
    Blocks,
    /// One vector, the same size everywhere.
    Vector,
    /// A message from each rank to each.
    Messages,
    /// A block for each rank of two groups.
    Groups,
}

/// Size of a rank's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// No data.
    Nothing,
    /// The rank's own data: its block, its vector, or its messages.
    Own,
    /// All data.
    Total,
    /// All data at the root, and nothing elsewhere.
    TotalAtRoot,
}

/// Properties of an operation.
struct OperationRow {
    summary: &'static str,
    payload: PayloadKind,
    root: RootRole,
    is_reduction: bool,
    /// Sizes of input and output.
    buffers: [Extent; 2],
    /// Names of MPI's blocking functions, without prefix, that for different blocks last.
    functions: &'static [&'static str],
    /// Further names.
    other_names: &'static [&'static str],
}

/// Role of the root.
#[derive(PartialEq, Eq)]
enum RootRole {
    Receives,
    Sends,
    /// No root.
    Absent,
}

impl Operation {
    const fn row(self) -> OperationRow {
        use Extent::{Nothing, Own, Total, TotalAtRoot};
        match self {
            Operation::Gather => OperationRow {
                summary: "collect all blocks at the root",
                payload: PayloadKind::Blocks,
                root: RootRole::Receives,
                is_reduction: false,
                buffers: [Own, TotalAtRoot],
                functions: &["Gather", "Gatherv"],
                other_names: &[],
            },
            Operation::Scatter => OperationRow {
                summary: "distribute the root's blocks",
                payload: PayloadKind::Blocks,
                root: RootRole::Sends,
                is_reduction: false,
                buffers: [TotalAtRoot, Own],
                functions: &["Scatter", "Scatterv"],
                other_names: &[],
            },
            Operation::Broadcast => OperationRow {
                summary: "give every process the root's vector (also: bcast)",
                payload: PayloadKind::Vector,
                root: RootRole::Sends,
                is_reduction: false,
                buffers: [Nothing, Own],
                functions: &["Bcast"],
                other_names: &[],
            },
            Operation::Reduce => OperationRow {
                summary: "combine the vectors of all processes at the root, in rank order",
                payload: PayloadKind::Vector,
                root: RootRole::Receives,
                is_reduction: true,
                buffers: [Own, TotalAtRoot],
                functions: &["Reduce"],
                other_names: &[],
            },
            Operation::Allgather => OperationRow {
                summary: "give every process all blocks (also: allgatherv)",
                payload: PayloadKind::Blocks,
                root: RootRole::Absent,
                is_reduction: false,
                buffers: [Own, Total],
                functions: &["Allgather", "Allgatherv"],
                other_names: &[],
            },
            Operation::ReduceScatter => OperationRow {
                summary: "combine the vectors of all processes, a block of the result for each (also: \
                          reduce_scatter)",
                payload: PayloadKind::Blocks,
                root: RootRole::Absent,
                is_reduction: true,
                buffers: [Total, Total],
                functions: &["Reduce_scatter_block", "Reduce_scatter"],
                other_names: &[],
            },
            Operation::Allreduce => OperationRow {
                summary: "combine the vectors of all processes, the result for all",
                payload: PayloadKind::Vector,
                root: RootRole::Absent,
                is_reduction: true,
                buffers: [Own, Total],
                functions: &["Allreduce"],
                other_names: &[],
            },
            Operation::Alltoall => OperationRow {
                summary: "give every process what every other has for it (also: alltoallv)",
                payload: PayloadKind::Messages,
                root: RootRole::Absent,
                is_reduction: false,
                buffers: [Own, Total],
                functions: &["Alltoall", "Alltoallv"],
                other_names: &[],
            },
            // MPI has the functions of an allgather for it.
            Operation::IntergroupAllgather => OperationRow {
                summary: "give every process of each of two groups all blocks of the other",
                payload: PayloadKind::Groups,
                root: RootRole::Absent,
                is_reduction: false,
                buffers: [Own, Total],
                functions: &[],
                other_names: &[
                    "intergroup-allgatherv",
                    "intergroup_allgather",
                    "intergroup_allgatherv",
                ],
            },
        }
    }

    /// The operation in a line.
    pub fn summary(self) -> &'static str {
        self.row().summary
    }

    /// The kind of data that the operation moves.
    pub fn payload_kind(self) -> PayloadKind {
        self.row().payload
    }

    /// The size of a rank's input.
    pub fn input(self) -> Extent {
        self.row().buffers[0]
    }

    /// The size of a rank's output. An operation that moves messages has room for passing them on behind.
    pub fn output(self) -> Extent {
        self.row().buffers[1]
    }

    /// Names of MPI's blocking functions, without prefix; none of an intergroup allgather, which shares an allgather's.
    pub fn functions(self) -> &'static [&'static str] {
        self.row().functions
    }

    /// MPI's blocking function for blocks of different sizes, or the only one.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::Operation;
    /// assert_eq!(Operation::Gather.function(), "MPI_Gatherv");
    /// assert_eq!(Operation::Broadcast.function(), "MPI_Bcast");
    /// ```
    pub fn function(self) -> String {
        format!("MPI_{}", self.functions().last().unwrap_or(&"Allgatherv"))
    }

    /// MPI's blocking function for blocks of one size, where there is another for different sizes.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::Operation;
    /// assert_eq!(Operation::Gather.regular_function().as_deref(), Some("MPI_Gather"));
    /// assert_eq!(Operation::Broadcast.regular_function(), None);
    /// ```
    pub fn regular_function(self) -> Option<String> {
        self.functions().split_last()?.1.first().map(|name| format!("MPI_{name}"))
    }

    /// The operations with a root, which go along trees.
    pub fn rooted() -> impl Iterator<Item = Operation> {
        Operation::all().filter(|operation| operation.is_rooted())
    }

    /// The operations with a root whose block sizes may differ from rank to rank.
    pub fn irregular() -> impl Iterator<Item = Operation> {
        Operation::rooted().filter(|operation| operation.is_irregular())
    }

    /// Other names than [`name`](ClosedSet::name): those of MPI's blocking functions, also without prefix in small
    /// letters.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::Operation;
    /// let names: Vec<String> = Operation::Gather.other_names().collect();
    /// assert_eq!(names, ["MPI_Gather", "MPI_Gatherv", "gatherv"]);
    /// ```
    pub fn other_names(self) -> impl Iterator<Item = String> {
        let OperationRow { functions, other_names, .. } = self.row();
        let long = functions.iter().map(|function| format!("MPI_{function}"));
        let short = functions.iter().map(|function| function.to_lowercase());
        let more = other_names.iter().map(|&name| name.to_owned());
        long.chain(short.filter(move |name| name != self.name())).chain(more)
    }

    /// True if data comes from, or goes to, one rank: the root.
    pub fn is_rooted(self) -> bool {
        self.row().root != RootRole::Absent
    }

    /// True if data of several ranks is combined to a result.
    pub fn is_reduction(self) -> bool {
        self.row().is_reduction
    }

    /// True if block sizes may differ from rank to rank.
    pub fn is_irregular(self) -> bool {
        self.payload_kind() == PayloadKind::Blocks
    }

    /// True if a block for each rank describes its data: irregular operations, and alltoalls in which each rank has one
    /// size of message for all.
    pub fn takes_blocks(self) -> bool {
        matches!(self.payload_kind(), PayloadKind::Blocks | PayloadKind::Messages)
    }

    /// True if each byte has one destination only: gather and scatter.
    pub fn passes_on_once(self) -> bool {
        self.is_rooted() && self.is_irregular()
    }

    /// True if data flows from the root outwards: a tree's steps are then performed backwards, with
    /// sends in place of receives.
    pub fn is_outward(self) -> bool {
        self.row().root == RootRole::Sends
    }
}
