//! Run-length dynamic programming.

mod column;
mod events;
mod kept;
mod row;
mod sweep;
mod table;
mod zeros;

pub use table::probe;

use tuwtree_model::Rank;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunsError {
    /// `gamma > beta`.
    #[error("copying block {rank} takes longer than sending its volume; this method needs gamma <= beta")]
    CopyingIsSlower {
        /// A processor whose block shows it.
        rank: Rank,
    },
}
