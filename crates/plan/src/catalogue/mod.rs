//! The catalogue: a row for each construction.
//!
//! A new construction is a new file here with its row, its name in
//! [`Construction`], and its line in [`row`], which the compiler demands.

mod built;
mod bundled;
mod composed;
mod delays;
mod few;
mod gridded;
mod groups;
mod nodes;
mod non_ordered;
mod online;
mod optimal;
mod ordered;
mod overlapping;
mod pieces;
mod polished;
mod rootless;
mod two_level;

pub(crate) use rootless::MANY;

pub use non_ordered::LocalSearch;
pub use online::{OnlinePart, found_online};
pub(crate) use overlapping::shares_one_law;

use crate::error::NoTree;
use crate::request::{Built, Request, Search, Wanted};
use tuwtree_model::{Construction, Operation, Order, PayloadKind, Problem, Root, Time};

/// Properties of a construction.
pub struct CatalogueRow {
    /// The construction in a line.
    pub summary: &'static str,
    /// True if ranks can build the tree by themselves, from little more than their own blocks.
    pub is_online: bool,
    /// True if it was made for gamma <= beta, though it has a tree for any costs.
    pub is_for_cheap_copies: bool,
    /// True if it searches among trees for ranks with one port, though its tree is valid for any
    /// number of ports.
    pub is_for_one_port: bool,
    /// True if it searches much longer than for an optimal ordered tree.
    pub is_long: bool,
    /// True if it takes seconds for messages of many ranks, and is left out where another is near the bound.
    pub yields_near_bound: bool,
    /// True if it searches for the best of a class of trees, given time and memory.
    pub is_best_of_class: bool,
    /// True if its schedules cut a vector into pieces; trees do not.
    pub(crate) cuts_vectors: bool,
    /// The order in which it combines operands, in a reduction along no tree.
    pub(crate) operands: OperandOrder,
    /// Number of costs by which it plans at most, beside the problem's own, where the judge is not the planner.
    pub(crate) plans: usize,
    /// True if it pays only where latency overlaps.
    pub(crate) is_for_overlap: bool,
    /// True if it takes a machine with nodes.
    pub(crate) is_for_nodes: bool,
    /// True if a comparison of operators that commute never shows it, with root 0: it is built by name.
    pub(crate) is_special: bool,
    /// True if a comparison of all trees of this order shows it: a construction made for different costs is shown where
    /// costs differ, one for few block sizes where there are few, one for several ports where there are several.
    pub(crate) suits: fn(&Request<'_>, Order) -> bool,
    /// Lower bound on its time that is known before it is built; `None` where building is cheap.
    pub(crate) floor: fn(&Problem) -> Option<Time>,
    /// The fastest method, if it searches.
    pub(crate) search: fn(&Request<'_>) -> Option<Search>,
    /// Builds the tree, or gives the reason for having none.
    pub(crate) build: fn(&Request<'_>, Wanted) -> Result<Built, NoTree>,
}

/// Order in which operands are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperandOrder {
    /// Any: for operators that commute.
    Any,
    /// That of ranks counted from the root: rank order where the root is rank 0.
    FromRoot,
    /// Rank order.
    Ranks,
}

impl CatalogueRow {
    /// True if its schedules of an operation cut the operation's vector.
    pub fn cuts_vector(&self, operation: Operation) -> bool {
        self.cuts_vectors && operation.payload_kind() == PayloadKind::Vector
    }

    /// True if it combines operands in rank order, as operators that do not commute need it, with the root of the
    /// problem.
    pub(crate) fn keeps_operands_in_order(&self, problem: &Problem) -> bool {
        !problem.operation().is_reduction()
            || match self.operands {
                OperandOrder::Any => false,
                OperandOrder::FromRoot => !matches!(problem.root(), Root::Given(1..)),
                OperandOrder::Ranks => true,
            }
    }

    /// A construction without search, to which none of the rest applies.
    const fn plain(
        summary: &'static str,
        suits: fn(&Request<'_>, Order) -> bool,
        build: fn(&Request<'_>, Wanted) -> Result<Built, NoTree>,
    ) -> CatalogueRow {
        CatalogueRow {
            summary,
            is_online: false,
            is_for_cheap_copies: false,
            is_for_one_port: false,
            is_long: false,
            yields_near_bound: false,
            is_best_of_class: false,
            cuts_vectors: false,
            operands: OperandOrder::Any,
            plans: 0,
            is_for_overlap: false,
            is_for_nodes: false,
            is_special: false,
            suits,
            floor: |_| None,
            search: |_| None,
            build,
        }
    }
}

/// The row of a construction.
pub fn row(construction: Construction) -> &'static CatalogueRow {
    match construction {
        Construction::Linear => &built::LINEAR,
        Construction::Oblivious => &built::OBLIVIOUS,
        Construction::Adaptive => &built::ADAPTIVE,
        Construction::Chunked => &composed::CHUNKED,
        Construction::DeadlineOnline => &online::DEADLINE_ONLINE,
        Construction::MinimumFirst => &built::MINIMUM_FIRST,
        Construction::MaximumFirst => &built::MAXIMUM_FIRST,
        Construction::Graceful => &built::GRACEFUL,
        Construction::ModelGraceful => &built::MODEL_GRACEFUL,
        Construction::Paths => &built::PATHS,
        Construction::TwoLevel => &two_level::ROW,
        Construction::Leaders => &composed::LEADERS,
        Construction::Rotated => &gridded::ROTATED,
        Construction::Relays => &composed::RELAYS,
        Construction::Deadline => &overlapping::DEADLINE,
        Construction::Grids => &gridded::GRIDS,
        Construction::Binary => &optimal::BINARY,
        Construction::Optimal => &ordered::OPTIMAL,
        Construction::Adjacent => &optimal::ADJACENT,
        Construction::CopyFirst => &ordered::COPY_FIRST,
        Construction::Polished => &polished::ROW,
        Construction::Direct => &non_ordered::DIRECT,
        Construction::TwoBlock => &built::TWO_BLOCK,
        Construction::Doubling => &built::DOUBLING,
        Construction::Greedy => &built::GREEDY,
        Construction::Sorted => &non_ordered::SORTED,
        Construction::Searched => &non_ordered::SEARCHED,
        Construction::Knomial => &built::KNOMIAL,
        Construction::Hybrid => &built::HYBRID,
        Construction::Exact => &non_ordered::EXACT,
        Construction::Given => &built::GIVEN,
        Construction::Pairwise => &rootless::PAIRWISE,
        Construction::Binomial => &rootless::BINOMIAL,
        Construction::BinomialForwarded => &rootless::BINOMIAL_FORWARDED,
        Construction::Ring => &rootless::RING,
        Construction::RingChunks => &rootless::RING_CHUNKS,
        Construction::ScatterRing => &rootless::SCATTER_RING,
        Construction::ScatterDoubling => &rootless::SCATTER_DOUBLING,
        Construction::RecursiveDoubling => &rootless::RECURSIVE_DOUBLING,
        Construction::NonOverlapping => &rootless::NON_OVERLAPPING,
        Construction::Halving => &rootless::HALVING,
        Construction::Butterfly => &rootless::BUTTERFLY,
        Construction::RabenseifnerHalf => &rootless::RABENSEIFNER_HALF,
        Construction::RabenseifnerFull => &rootless::RABENSEIFNER_FULL,
        Construction::BinaryBlocks => &rootless::BINARY_BLOCKS,
        Construction::Bruck => &rootless::BRUCK,
        Construction::BruckContiguous => &rootless::BRUCK_CONTIGUOUS,
        Construction::BruckRadix => &rootless::BRUCK_RADIX,
        Construction::BruckPostal => &rootless::BRUCK_POSTAL,
        Construction::OpenShop => &rootless::OPEN_SHOP,
        Construction::Paired => &groups::PAIRED,
        Construction::Shares => &groups::SHARES,
        Construction::RootBest => &groups::ROOT_BEST,
        Construction::RootMpich => &groups::ROOT_MPICH,
        Construction::RootMpichV => &groups::ROOT_MPICH_V,
        Construction::Circulant => &rootless::CIRCULANT,
        Construction::CirculantPieces => &rootless::CIRCULANT_PIECES,
        Construction::BruckBalanced => &rootless::BRUCK_BALANCED,
        Construction::CirculantBalanced => &rootless::CIRCULANT_BALANCED,
        Construction::Lanes => &nodes::LANES,
        Construction::NodeAll => &nodes::NODE_ALL,
        Construction::NodePairs => &nodes::NODE_PAIRS,
        Construction::ColumnTrees => &few::COLUMN_TREES,
    }
}
