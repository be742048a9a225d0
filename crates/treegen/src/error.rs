//! Why there is no tree.

use tuwtree_model::{TimeError, TreeError};

/// Why a construction that looks at the costs has no tree.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConstructionError {
    /// The root is not a processor.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A transmission that the construction considers has no link or no time.
    #[error(transparent)]
    Time(#[from] TimeError),
}
