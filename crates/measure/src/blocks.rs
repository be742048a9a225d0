//! Block sizes of a measured problem.

use tuwtree_model::{BlockSizes, ClosedSet, Distribution};

/// Source of the block sizes of a measured problem.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Blocks {
    /// Drawn from a distribution.
    Drawn(Distribution),
    /// Listed by the user, under the name of the file.
    Listed(String),
}

impl Blocks {
    /// The name of the distribution or of the file.
    pub fn name(&self) -> &str {
        match self {
            Blocks::Drawn(distribution) => distribution.name(),
            Blocks::Listed(name) => name,
        }
    }
}

impl From<Distribution> for Blocks {
    fn from(distribution: Distribution) -> Blocks {
        Blocks::Drawn(distribution)
    }
}

/// The mean of blocks that a user lists, in elements: to the nearest, at least 1.
pub fn mean_in_elements(sizes: &BlockSizes, element_bytes: u64) -> u64 {
    let bytes = sizes.total() as f64 / sizes.ranks() as f64;
    ((bytes / element_bytes as f64).round() as u64).max(1)
}

/// Block sizes that a user lists, in bytes, with the name of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedBlocks {
    /// The name of the file.
    pub name: String,
    /// The size of each rank's block, in bytes.
    pub sizes: BlockSizes,
}
