//! Costs of messages and copies in floating point.

use crate::levels::boundaries::{Boundaries, Level};
use tuwtree_model::{BlockSizes, Hierarchy, LinkLaw, Rank};

/// A problem's blocks and costs, by levels in use.
#[derive(Clone, Debug)]
pub(super) struct Costs<'a> {
    sizes: &'a BlockSizes,
    gamma: f64,
    laws: Vec<LevelLaw<'a>>,
    /// True if only leaders exchange data of several nodes with other nodes.
    pub(super) leaders_only: bool,
}

/// The law of a level.
#[derive(Clone, Debug)]
enum LevelLaw<'a> {
    /// One line.
    Line { latency: f64, overhead: f64, beta: f64 },
    /// Any.
    Other(&'a LinkLaw),
}

impl<'a> Costs<'a> {
    pub(super) fn new(
        machine: &'a Hierarchy,
        sizes: &'a BlockSizes,
        boundaries: &Boundaries,
        leaders_only: bool,
    ) -> Costs<'a> {
        let law = |level: Level| {
            let (one, other) = boundaries.example(level);
            let links = &machine.levels()[machine.shared_level(one, other)].links;
            match links.linear() {
                Some(link) => LevelLaw::Line {
                    latency: link.latency(),
                    overhead: link.overhead,
                    beta: link.beta,
                },
                None => LevelLaw::Other(links),
            }
        };
        let laws = (0..boundaries.used()).map(law).collect();
        Costs { sizes, gamma: machine.gamma(), laws, leaders_only }
    }

    pub(super) fn ranks(&self) -> usize {
        self.sizes.ranks()
    }

    /// The bytes of the ranks from `first` until before `end`.
    #[inline(always)]
    pub(super) fn bytes(&self, first: Rank, end: Rank) -> u64 {
        self.sizes.before(end) - self.sizes.before(first)
    }

    /// Time of a rank's copy of its block.
    #[inline(always)]
    pub(super) fn copy(&self, rank: Rank) -> f64 {
        self.gamma * self.sizes.block(rank) as f64
    }

    /// Latency and occupancy of a message.
    #[inline(always)]
    pub(super) fn message(&self, level: Level, bytes: u64) -> (f64, f64) {
        match self.laws[level] {
            _ if bytes == 0 => (0.0, 0.0),
            LevelLaw::Line { latency, overhead, beta } => (latency, overhead + beta * bytes as f64),
            LevelLaw::Other(links) => links.times(bytes),
        }
    }
}
