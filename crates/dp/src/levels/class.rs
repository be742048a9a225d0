//! Time at which a receiver copies its own block.

use super::offers::Offer;
use tuwtree_model::Scalar;

/// A class of ordered trees: every subtree spans consecutive ranks, and what a rank holds, its own block
/// from the start, is one range at every moment. The classes differ in when a rank copies its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Before a first message from the right, and after a first message from the left: the trees of OPT
    /// Proposition 3.
    Adjacent,
    /// Before the first message: never slower, and faster where latency overlaps with the copy.
    CopyFirst,
}

impl Class {
    /// All classes.
    pub const ALL: [Class; 2] = [Class::Adjacent, Class::CopyFirst];

    /// Name of the class in the command line and in documents.
    pub fn name(self) -> &'static str {
        match self {
            Class::Adjacent => "adjacent",
            Class::CopyFirst => "copy-first",
        }
    }

    /// The clock of a rank that was alone, after a first message from its left.
    #[inline(always)]
    pub(super) fn after_first_from_left<T: Scalar>(self, copy: T, message: Offer<T>) -> T {
        let Offer { arrival, occupancy } = message;
        match self {
            Class::Adjacent => arrival + occupancy + copy,
            Class::CopyFirst => copy.most(arrival) + occupancy,
        }
    }
}
