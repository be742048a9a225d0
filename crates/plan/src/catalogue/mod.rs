//! The catalogue: a row for each construction.
//!
//! A new construction is a new file here with its row, its name in
//! [`Construction`], and its line in [`row`], which the compiler demands.

mod built;
mod bundled;
mod composed;
mod gridded;
mod groups;
mod non_ordered;
mod online;
mod optimal;
mod ordered;
mod overlapping;
mod rootless;
mod two_level;

pub use non_ordered::LocalSearch;
pub use online::{Found, found_online};
pub(crate) use overlapping::shares_one_law;
pub(crate) use rootless::keeps_operands_in_order;

use crate::error::NoTree;
use crate::request::{Built, Request, Search, Wanted};
use tuwtree_model::{Construction, Order};

/// What is known of a construction.
pub struct CatalogueRow {
    /// The construction in a line.
    pub summary: &'static str,
    /// Whether processors can build the tree by themselves, from little more than their own blocks.
    pub is_online: bool,
    /// Whether it was made for gamma <= beta, though it has a tree for any costs.
    pub is_for_cheap_copies: bool,
    /// Whether it looks for the best of some trees for processors with one port, though its tree is one
    /// for any number of ports.
    pub is_for_one_port: bool,
    /// Whether it searches much longer than for an optimal ordered tree.
    pub is_long: bool,
    /// Whether a comparison of all trees of this order shows it: those made for costs that differ are
    /// shown where they do, those for few block sizes where there are few, those for several ports
    /// where there are several.
    pub(crate) suits: fn(&Request<'_>, Order) -> bool,
    /// The fastest method, if it searches.
    pub(crate) search: fn(&Request<'_>) -> Option<Search>,
    /// Builds the tree, or says why there is none for the request.
    pub(crate) build: fn(&Request<'_>, Wanted) -> Result<Built, NoTree>,
}

impl CatalogueRow {
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
            suits,
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
        Construction::Direct => &non_ordered::DIRECT,
        Construction::TwoBlock => &built::TWO_BLOCK,
        Construction::Doubling => &built::DOUBLING,
        Construction::Greedy => &built::GREEDY,
        Construction::Sorted => &non_ordered::SORTED,
        Construction::Searched => &non_ordered::SEARCHED,
        Construction::Knomial => &built::KNOMIAL,
        Construction::Hybrid => &built::HYBRID,
        Construction::Exact => &non_ordered::EXACT,
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
    }
}
