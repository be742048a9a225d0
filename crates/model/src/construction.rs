//! The names of all ways to make a plan.

use crate::Operation;

/// A construction of trees, or of schedules without a tree, by name; its description and its code are in the crates
/// that build it. In the order of the published tables' columns, but with the cheaper ones first: among equally fast
/// trees, the first is recommended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
#[expect(missing_docs, reason = "the catalogue of constructions says what each is")]
pub enum Construction {
    Linear,
    Oblivious,
    Adaptive,
    Chunked,
    MinimumFirst,
    MaximumFirst,
    Graceful,
    ModelGraceful,
    Paths,
    TwoLevel,
    Leaders,
    Deadline,
    Grids,
    Binary,
    Optimal,
    Adjacent,
    CopyFirst,
    Polished,
    Rotated,
    Relays,
    Direct,
    TwoBlock,
    Doubling,
    Greedy,
    Sorted,
    Searched,
    Knomial,
    Hybrid,
    Exact,
    Given,
    DeadlineOnline,
    Pairwise,
    Binomial,
    BinomialForwarded,
    Ring,
    RingChunks,
    ScatterRing,
    ScatterDoubling,
    RecursiveDoubling,
    Halving,
    Butterfly,
    RabenseifnerHalf,
    RabenseifnerFull,
    BinaryBlocks,
    Bruck,
    BruckRadix,
    BruckPostal,
    Circulant,
    CirculantPieces,
    BruckBalanced,
    CirculantBalanced,
    NodeAll,
    NodePairs,
    ColumnTrees,
    Lanes,
    OpenShop,
    Paired,
    Shares,
    RootBest,
    RootMpich,
    RootMpichV,
    NonOverlapping,
    BruckContiguous,
}

impl Construction {
    /// True for constructions of trees; others make schedules, of rootless operations and of broadcasts and reductions
    /// whose vector may be cut.
    pub fn builds_trees(self) -> bool {
        self.performs(Operation::Gather)
    }

    /// True if it performs this operation.
    pub fn performs(self, operation: Operation) -> bool {
        match self {
            Construction::Linear => {
                let without = [Operation::Alltoall, Operation::Allgather, Operation::ReduceScatter];
                operation.is_rooted() || without.contains(&operation)
            }
            Construction::Oblivious
            | Construction::Adaptive
            | Construction::Chunked
            | Construction::DeadlineOnline
            | Construction::MinimumFirst
            | Construction::MaximumFirst
            | Construction::Graceful
            | Construction::ModelGraceful
            | Construction::Paths
            | Construction::TwoLevel
            | Construction::Leaders
            | Construction::Rotated
            | Construction::Relays
            | Construction::Deadline
            | Construction::Grids
            | Construction::Binary
            | Construction::Optimal
            | Construction::Adjacent
            | Construction::CopyFirst
            | Construction::Polished
            | Construction::Direct
            | Construction::TwoBlock
            | Construction::Doubling
            | Construction::Greedy
            | Construction::Sorted
            | Construction::Searched
            | Construction::Knomial
            | Construction::Hybrid
            | Construction::Exact
            | Construction::Given => operation.is_rooted(),
            Construction::Pairwise => {
                matches!(operation, Operation::ReduceScatter | Operation::Alltoall)
            }
            Construction::NonOverlapping | Construction::Halving | Construction::Butterfly => {
                operation == Operation::ReduceScatter
            }
            Construction::Binomial => {
                matches!(operation, Operation::Broadcast | Operation::Reduce | Operation::Allreduce)
            }
            Construction::BinomialForwarded => operation == Operation::Reduce,
            Construction::RingChunks => operation == Operation::Allgather,
            Construction::BruckPostal
            | Construction::BruckBalanced
            | Construction::CirculantBalanced
            | Construction::Lanes
            | Construction::NodeAll => {
                matches!(operation, Operation::Allgather | Operation::ReduceScatter)
            }
            Construction::ScatterRing | Construction::ScatterDoubling => {
                operation == Operation::Broadcast
            }
            Construction::Ring => {
                matches!(operation, Operation::Allgather | Operation::Allreduce | Operation::Reduce)
            }
            Construction::RecursiveDoubling | Construction::Circulant => {
                matches!(
                    operation,
                    Operation::Allgather | Operation::ReduceScatter | Operation::Allreduce
                )
            }
            Construction::RabenseifnerHalf
            | Construction::RabenseifnerFull
            | Construction::BinaryBlocks => {
                matches!(operation, Operation::Allreduce | Operation::Reduce)
            }
            Construction::Bruck | Construction::BruckContiguous => {
                matches!(operation, Operation::Allgather | Operation::Alltoall)
            }
            Construction::BruckRadix
            | Construction::NodePairs
            | Construction::ColumnTrees
            | Construction::OpenShop => operation == Operation::Alltoall,
            Construction::Paired
            | Construction::Shares
            | Construction::RootBest
            | Construction::RootMpich
            | Construction::RootMpichV => operation == Operation::IntergroupAllgather,
            Construction::CirculantPieces => !matches!(
                operation,
                Operation::Gather
                    | Operation::Scatter
                    | Operation::Allreduce
                    | Operation::Alltoall
                    | Operation::IntergroupAllgather
            ),
        }
    }
}
