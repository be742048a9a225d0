//! Algorithms of operations without a root that ranks perform, by name and with parameters.

use std::num::NonZeroU16;
use tuwtree_collective::Circulation;
use tuwtree_collective::nodes::OnNodes;

/// Algorithm of operations without a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum RootlessAlgorithm {
    /// Least time by a machine's costs, for the given sizes.
    Auto,
    /// Whatever the MPI library does.
    Native,
    /// Block after block around a ring.
    Ring,
    /// Windows of blocks on a circulant graph, in `ceil(lg p)` rounds.
    Circulant,
    /// All blocks at once, in pieces, on that graph.
    CirculantPieces,
    /// Bruck's windows of blocks where messages of several steps are under way at once.
    BruckPostal,
    /// Like [`CirculantPieces`](RootlessAlgorithm::CirculantPieces), with ranks in an order that separates large
    /// blocks.
    CirculantBalanced,
    /// Like [`BruckPostal`](RootlessAlgorithm::BruckPostal), with ranks in that order.
    BruckBalanced,
    /// Shares of the data of each node, gathered lane by lane between nodes, and passed on inside; or that backwards.
    Lanes,
    /// The data of each node, gathered inside and sent straight to all other nodes; or that backwards.
    NodeAll,
    /// Each message of an alltoall straight to its receiver.
    Linear,
    /// Small messages of an alltoall together, along the digits of distances; large ones straight.
    Bruck,
    /// Small messages of an alltoall in one bundle for each pair of nodes; large ones straight.
    NodePairs,
}

/// An algorithm for operations without a root, and its number, if that is stated: `circulant-pieces:12`, `bruck-postal:6`,
/// `bruck:4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RootlessChoice {
    /// The algorithm.
    pub algorithm: RootlessAlgorithm,
    /// Number of pieces of each block in [`RootlessAlgorithm::CirculantPieces`] and
    /// [`RootlessAlgorithm::CirculantBalanced`], number of steps until a sent message has arrived in
    /// [`RootlessAlgorithm::BruckPostal`] and [`RootlessAlgorithm::BruckBalanced`], or the radix of
    /// [`RootlessAlgorithm::Bruck`]; `None` for the best one by the costs.
    pub number: Option<NonZeroU16>,
}

impl From<RootlessAlgorithm> for RootlessChoice {
    fn from(algorithm: RootlessAlgorithm) -> RootlessChoice {
        RootlessChoice { algorithm, number: None }
    }
}

impl RootlessAlgorithm {
    /// The least number that may be stated, if any may.
    pub fn least_number(self) -> Option<u16> {
        match self {
            RootlessAlgorithm::CirculantPieces
            | RootlessAlgorithm::CirculantBalanced
            | RootlessAlgorithm::BruckPostal
            | RootlessAlgorithm::BruckBalanced => Some(1),
            RootlessAlgorithm::Bruck => Some(2),
            _ => None,
        }
    }
}

/// Algorithm of an allgather or a reduce-scatter, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// In rounds.
    Rounds(Circulation),
    /// By nodes.
    OnNodes(OnNodes),
}

impl Pattern {
    /// The algorithm without its parameters.
    pub fn algorithm(self) -> RootlessAlgorithm {
        match self {
            Pattern::Rounds(Circulation::Ring) => RootlessAlgorithm::Ring,
            Pattern::Rounds(Circulation::Windows) => RootlessAlgorithm::Circulant,
            Pattern::Rounds(Circulation::Postal(_)) => RootlessAlgorithm::BruckPostal,
            Pattern::Rounds(Circulation::Pieces(_)) => RootlessAlgorithm::CirculantPieces,
            Pattern::Rounds(Circulation::BalancedPostal(_)) => RootlessAlgorithm::BruckBalanced,
            Pattern::Rounds(Circulation::BalancedPieces(_)) => RootlessAlgorithm::CirculantBalanced,
            Pattern::OnNodes(OnNodes::Lanes(_)) => RootlessAlgorithm::Lanes,
            Pattern::OnNodes(OnNodes::NodeAll) => RootlessAlgorithm::NodeAll,
        }
    }
}
