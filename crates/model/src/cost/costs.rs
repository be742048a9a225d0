//! Costs of any kind, as machine documents state them.

use super::{CostMatrix, CostModel, Direction, Hierarchy, Homogeneous};
use crate::{Rank, Time, TimeError};

/// The costs of a machine, in whichever form they are given.
#[derive(Clone, Debug, PartialEq)]
pub enum Costs {
    /// The same everywhere.
    Homogeneous(Homogeneous),
    /// For each pair of processors its own.
    Matrix(CostMatrix),
    /// By the levels of a machine.
    Hierarchical(Hierarchy),
}

/// Why costs do not go with a number of processors, or cannot be written as a matrix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CostsError {
    /// Costs for another number of processors.
    #[error("the machine has {machine} processors, but the problem has {problem}")]
    Processors {
        /// How many the costs are for.
        machine: usize,
        /// How many there are.
        problem: usize,
    },
    /// More processors than a machine has room for.
    #[error("the machine has room for {capacity} processors, but the problem has {problem}")]
    Capacity {
        /// The most there may be.
        capacity: usize,
        /// How many there are.
        problem: usize,
    },
    /// Costs that are not linear.
    #[error(
        "the costs of level {level:?} are linear only piece by piece; state the message size at which \
         to linearise them"
    )]
    NotLinear {
        /// The first such level.
        level: String,
    },
    /// More entries than anybody wants.
    #[error("a matrix for {processors} processors; at most {} are allowed", Costs::MOST_EXPANDED)]
    TooLarge {
        /// More than a matrix may have.
        processors: usize,
    },
}

impl Costs {
    /// The most processors for which costs are expanded to a matrix.
    pub const MOST_EXPANDED: usize = 4096;

    /// The name by which users and documents call this kind of costs.
    pub fn name(&self) -> &'static str {
        match self {
            Costs::Homogeneous(_) => "homogeneous",
            Costs::Matrix(_) => "matrix",
            Costs::Hierarchical(_) => "hierarchical",
        }
    }

    /// Fails unless the costs are stated for this many processors.
    ///
    /// # Errors
    /// [`CostsError::Processors`], [`CostsError::Capacity`].
    pub fn check_processors(&self, processors: usize) -> Result<(), CostsError> {
        if let Some(machine) = self.processors().filter(|&machine| machine != processors) {
            return Err(CostsError::Processors { machine, problem: processors });
        }
        match self {
            Costs::Hierarchical(hierarchy) if hierarchy.capacity() < processors => {
                let capacity = hierarchy.capacity();
                Err(CostsError::Capacity { capacity, problem: processors })
            }
            _ => Ok(()),
        }
    }

    /// Whether all costs are integers, and hence all times exact integers.
    pub fn is_integral(&self) -> bool {
        match self {
            Costs::Homogeneous(costs) => costs.is_integral(),
            Costs::Matrix(costs) => costs.is_integral(),
            Costs::Hierarchical(costs) => costs.is_integral(),
        }
    }

    /// Whether some pair of processors has no link.
    ///
    /// # Complexity
    /// O(1), O(p^2) for a matrix.
    pub fn lacks_links(&self) -> bool {
        match self {
            Costs::Homogeneous(_) | Costs::Hierarchical(_) => false,
            Costs::Matrix(matrix) => {
                let ranks = 0..matrix.size();
                let others = |one: Rank| ranks.clone().filter(move |&other| other != one);
                ranks.clone().any(|one| others(one).any(|other| !matrix.is_linked(one, other)))
            }
        }
    }

    /// Fails unless every transmission is linear in the size of its message.
    ///
    /// # Errors
    /// [`CostsError::NotLinear`].
    pub fn check_linear(&self) -> Result<(), CostsError> {
        let levels = match self {
            Costs::Homogeneous(_) | Costs::Matrix(_) => &[],
            Costs::Hierarchical(hierarchy) => hierarchy.levels(),
        };
        match levels.iter().find(|level| level.links.linear().is_none()) {
            Some(level) => Err(CostsError::NotLinear { level: level.name.clone() }),
            None => Ok(()),
        }
    }

    /// Linear costs that agree with these for messages of this size; the same where these are linear.
    #[must_use]
    pub fn linearised_at(&self, bytes: u64) -> Costs {
        match self {
            Costs::Homogeneous(_) | Costs::Matrix(_) => self.clone(),
            Costs::Hierarchical(hierarchy) => Costs::Hierarchical(hierarchy.linearised_at(bytes)),
        }
    }

    /// The homogeneous costs that these are for so many processors, if they are.
    ///
    /// # Complexity
    /// O(1), for a hierarchy about O(p), O(p^2) for a matrix.
    pub fn homogeneous(&self, processors: usize) -> Option<Homogeneous> {
        match self {
            Costs::Homogeneous(costs) => Some(*costs),
            Costs::Matrix(matrix) => homogeneous_matrix(matrix),
            Costs::Hierarchical(hierarchy) => {
                let link = hierarchy.only_law(processors)?.linear()?;
                Homogeneous::new(link.alpha, link.beta, hierarchy.gamma()).ok()
            }
        }
    }

    /// alpha and beta of the link from `sender` to `receiver`, who differ, if its costs are linear.
    ///
    /// # Panics
    /// May panic for ranks that the costs are not stated for.
    pub fn link(&self, sender: Rank, receiver: Rank) -> Option<(f64, f64)> {
        match self {
            Costs::Homogeneous(costs) => Some((costs.alpha(), costs.beta())),
            Costs::Matrix(costs) => {
                Some((costs.alpha(sender, receiver), costs.beta(sender, receiver)))
            }
            Costs::Hierarchical(hierarchy) => {
                let level = &hierarchy.levels()[hierarchy.shared_level(sender, receiver)];
                level.links.linear().map(|piece| (piece.alpha, piece.beta))
            }
        }
    }

    /// The costs for this many processors as a matrix.
    ///
    /// # Errors
    /// [`CostsError`]: another number of processors, too many, or costs that are not linear.
    ///
    /// # Complexity
    /// O(p^2) time and space.
    pub fn matrix(&self, processors: usize) -> Result<CostMatrix, CostsError> {
        self.check_processors(processors)?;
        self.check_linear()?;
        if let Costs::Matrix(matrix) = self {
            return Ok(matrix.clone());
        }
        if processors > Self::MOST_EXPANDED {
            return Err(CostsError::TooLarge { processors });
        }
        let link = |sender, receiver| self.link(sender, receiver).expect("checked above");
        let gamma = |rank: Rank| match self {
            Costs::Homogeneous(costs) => costs.gamma(),
            Costs::Matrix(costs) => costs.gamma(rank),
            Costs::Hierarchical(hierarchy) => hierarchy.gamma(),
        };
        let matrix = CostMatrix::from_fn(
            processors,
            |sender, receiver| link(sender, receiver).0,
            |sender, receiver| link(sender, receiver).1,
            gamma,
        );
        Ok(matrix.expect("all costs were checked before"))
    }
}

/// The costs that all pairs of processors share, if they do.
fn homogeneous_matrix(matrix: &CostMatrix) -> Option<Homogeneous> {
    let processors = matrix.size();
    let gamma = matrix.gamma(0);
    if processors == 1 {
        return Homogeneous::new(0.0, 0.0, gamma).ok();
    }
    let (alpha, beta) = (matrix.alpha(0, 1), matrix.beta(0, 1));
    let same = (0..processors).all(|sender| {
        let pair = |receiver| {
            sender == receiver
                || (matrix.alpha(sender, receiver), matrix.beta(sender, receiver)) == (alpha, beta)
        };
        matrix.gamma(sender) == gamma && (0..processors).all(pair)
    });
    if same { Homogeneous::new(alpha, beta, gamma).ok() } else { None }
}

impl From<Homogeneous> for Costs {
    fn from(costs: Homogeneous) -> Costs {
        Costs::Homogeneous(costs)
    }
}

impl CostModel for Costs {
    fn processors(&self) -> Option<usize> {
        match self {
            Costs::Homogeneous(costs) => CostModel::processors(costs),
            Costs::Matrix(costs) => costs.processors(),
            Costs::Hierarchical(costs) => costs.processors(),
        }
    }

    #[inline]
    fn transmission_between(
        &self,
        sender: Rank,
        receiver: Rank,
        bytes: u64,
    ) -> Result<Time, TimeError> {
        match self {
            Costs::Homogeneous(costs) => costs.transmission(bytes),
            Costs::Matrix(costs) => costs.transmission_between(sender, receiver, bytes),
            Costs::Hierarchical(costs) => costs.transmission_between(sender, receiver, bytes),
        }
    }

    #[inline]
    fn copy_at(&self, rank: Rank, bytes: u64) -> Result<Time, TimeError> {
        match self {
            Costs::Homogeneous(costs) => costs.copy(bytes),
            Costs::Matrix(costs) => costs.copy_at(rank, bytes),
            Costs::Hierarchical(costs) => costs.copy_at(rank, bytes),
        }
    }

    #[inline]
    fn sum(&self, start: Time, cost: Time) -> Result<Time, TimeError> {
        match self {
            Costs::Homogeneous(costs) => costs.plus(start, cost),
            Costs::Matrix(costs) => costs.sum(start, cost),
            Costs::Hierarchical(costs) => costs.sum(start, cost),
        }
    }

    fn least_busy(
        &self,
        direction: Direction,
        rank: Rank,
        processors: usize,
        bytes: u64,
    ) -> Result<Time, TimeError> {
        match self {
            Costs::Homogeneous(costs) => costs.least_busy(direction, rank, processors, bytes),
            Costs::Matrix(costs) => costs.least_busy(direction, rank, processors, bytes),
            Costs::Hierarchical(costs) => costs.least_busy(direction, rank, processors, bytes),
        }
    }
}
