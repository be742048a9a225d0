//! What is asked: the operation, its root, its data.

use crate::{BlockSizes, Rank};

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

/// An operation with the data that it moves: what a tree is judged on, together with the costs.
///
/// Block sizes alone stand for a gather of them. With the same costs everywhere a scatter takes as
/// long; with costs of its own for each pair of processors it is to be named, since its data goes
/// the other way.
///
/// # Source
/// OPT section 2.2 (gather and scatter), Theorem 4 (broadcast and reduction).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective<'a> {
    /// Every processor's block goes to the root.
    Gather(&'a BlockSizes),
    /// The root's blocks go to their processors.
    Scatter(&'a BlockSizes),
    /// The root's whole vector goes along each edge, and is copied nowhere.
    Broadcast(Vector),
    /// A whole vector goes along each edge, and is copied nowhere. Combining two takes no time.
    Reduce(Vector),
}

/// One vector at each of some processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    /// The number of processors.
    pub processors: usize,
    /// The vector's size in bytes.
    pub bytes: u64,
}

impl Collective<'_> {
    /// The operation.
    pub fn operation(self) -> Operation {
        match self {
            Collective::Gather(_) => Operation::Gather,
            Collective::Scatter(_) => Operation::Scatter,
            Collective::Broadcast(_) => Operation::Broadcast,
            Collective::Reduce(_) => Operation::Reduce,
        }
    }

    /// The number of processors.
    pub fn processors(self) -> usize {
        match self {
            Collective::Gather(sizes) | Collective::Scatter(sizes) => sizes.processors(),
            Collective::Broadcast(vector) | Collective::Reduce(vector) => vector.processors,
        }
    }

    /// The bytes that `rank` copies locally if it is the root or an inner processor.
    pub fn copied(self, rank: Rank) -> u64 {
        match self {
            Collective::Gather(sizes) | Collective::Scatter(sizes) => sizes.block(rank),
            Collective::Broadcast(_) | Collective::Reduce(_) => 0,
        }
    }

    /// The bytes that go to (come from) the parent of a subtree that spans these ranks: their
    /// blocks, or the whole vector.
    pub fn segment(self, first: Rank, last: Rank) -> u64 {
        match self {
            Collective::Gather(sizes) | Collective::Scatter(sizes) => sizes.range(first, last),
            Collective::Broadcast(vector) | Collective::Reduce(vector) => vector.bytes,
        }
    }

    /// Sender and receiver of the transmission along the edge between a child and its parent.
    #[inline]
    pub fn ends(self, child: Rank, parent: Rank) -> (Rank, Rank) {
        match self.operation().is_outward() {
            true => (parent, child),
            false => (child, parent),
        }
    }
}

impl<'a> From<&'a BlockSizes> for Collective<'a> {
    fn from(sizes: &'a BlockSizes) -> Collective<'a> {
        Collective::Gather(sizes)
    }
}

impl<'a> From<&Collective<'a>> for Collective<'a> {
    fn from(collective: &Collective<'a>) -> Collective<'a> {
        *collective
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
