//! Costs of any kind, as machine documents state them.

use super::{
    CostMatrix, CostModel, Cut, Description, Direction, Hierarchy, Homogeneous, LeastCosts, Link,
};
use crate::{Problem, Rank, Time, TimeError};
use std::ops::RangeInclusive;

/// The costs of a machine, in whichever form they are given.
#[derive(Clone, Debug, PartialEq)]
pub enum Costs {
    /// Equal costs everywhere.
    Homogeneous(Homogeneous),
    /// For each pair of ranks its own.
    Matrix(CostMatrix),
    /// By the levels of a machine.
    Hierarchical(Hierarchy),
}

/// Costs that do not fit a number of ranks, or cannot be written as a matrix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CostsError {
    /// Costs for another number of ranks.
    #[error("the machine is for {machine} processes, but the problem has {problem}")]
    Ranks {
        /// Number of ranks of the costs.
        machine: usize,
        /// Number of ranks of the problem.
        problem: usize,
    },
    /// More ranks than a machine has room for.
    #[error("the machine has room for {capacity} processes, but the problem has {problem}")]
    Capacity {
        /// The most there may be.
        capacity: usize,
        /// Number of ranks of the problem.
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
    #[error("a matrix for {ranks} processes; at most {} are allowed", Costs::MOST_EXPANDED)]
    TooLarge {
        /// More than a matrix may have.
        ranks: usize,
    },
}

/// Abilities of a kind of costs besides judging messages and copies. One implementation a kind, in its own file: a new
/// kind of costs needs this, a variant of [`Costs`], its arm in [`Costs::kind`], and a form in machine documents.
pub trait CostKind: CostModel + std::fmt::Debug {
    /// The name of this kind of costs in options and documents.
    fn name(&self) -> &'static str;

    /// The most ranks that there is room for, if that is limited though the number is open.
    fn room(&self) -> Option<usize> {
        None
    }

    /// True if all costs are integers, and hence all times exact integers.
    fn is_integral(&self) -> bool;

    /// Fails unless every transmission is linear in the size of its message.
    ///
    /// # Errors
    /// [`CostsError::NotLinear`].
    fn check_linear(&self) -> Result<(), CostsError> {
        Ok(())
    }

    /// Linear costs that agree with these for messages of this size; `None` if these are linear.
    fn linearised_at(&self, _bytes: u64) -> Option<Costs> {
        None
    }

    /// The homogeneous costs that these amount to for this many ranks, if any.
    fn homogeneous(&self, ranks: usize) -> Option<Homogeneous>;

    /// True if part of the latency of some message overlaps with other work.
    fn overlaps(&self) -> bool;

    /// Lower bounds on all messages of this many bytes, at least 1, between any two of this many ranks.
    fn least_costs(&self, ranks: usize, bytes: RangeInclusive<u64>) -> LeastCosts;

    /// The costs of these ranks among each other, who are numbered in this order; see
    /// [`Costs::among`].
    fn among(&self, ranks: &[Rank]) -> Costs;

    /// The link from `sender` to `receiver`, who differ, if its costs are linear.
    fn link(&self, sender: Rank, receiver: Rank) -> Option<Link>;

    /// gamma of a rank.
    fn gamma_at(&self, rank: Rank) -> f64;

    /// The levels of the machine, if costs are stated by such.
    fn hierarchy(&self) -> Option<&Hierarchy> {
        None
    }

    /// True if some pair of ranks has no link.
    fn lacks_links(&self) -> bool {
        false
    }

    /// Fails if no tree moves the problem's data, for lack of links.
    ///
    /// # Errors
    /// [`Cut`].
    fn check_links(&self, _problem: &Problem) -> Result<(), Cut> {
        Ok(())
    }

    /// alpha, beta and gamma, if these three numbers are all: what documents state without a machine.
    fn parameters(&self) -> Option<&Homogeneous> {
        None
    }

    /// These costs for people, in seconds.
    fn description(&self) -> Description;
}

impl Costs {
    /// The most ranks for which costs are expanded to a matrix.
    pub const MOST_EXPANDED: usize = 4096;

    /// The costs, whichever kind they are of.
    #[inline]
    pub fn kind(&self) -> &dyn CostKind {
        match self {
            Costs::Homogeneous(costs) => costs,
            Costs::Matrix(costs) => costs,
            Costs::Hierarchical(costs) => costs,
        }
    }

    /// The name of this kind of costs in options and documents.
    pub fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// Number of ranks that the costs are stated for, or have room for; `None` for any number.
    pub fn room(&self) -> Option<usize> {
        self.ranks().or_else(|| self.kind().room())
    }

    /// Fails unless the costs are stated for this many ranks.
    ///
    /// # Errors
    /// [`CostsError::Ranks`], [`CostsError::Capacity`].
    pub fn check_ranks(&self, ranks: usize) -> Result<(), CostsError> {
        if let Some(machine) = self.ranks().filter(|&machine| machine != ranks) {
            return Err(CostsError::Ranks { machine, problem: ranks });
        }
        match self.kind().room() {
            Some(capacity) if capacity < ranks => {
                Err(CostsError::Capacity { capacity, problem: ranks })
            }
            _ => Ok(()),
        }
    }

    /// True if all costs are integers, and hence all times exact integers.
    pub fn is_integral(&self) -> bool {
        self.kind().is_integral()
    }

    /// True if some pair of ranks has no link.
    ///
    /// # Complexity
    /// O(1), O(p^2) for a matrix.
    pub fn lacks_links(&self) -> bool {
        self.kind().lacks_links()
    }

    /// Fails unless every transmission is linear in the size of its message.
    ///
    /// # Errors
    /// [`CostsError::NotLinear`].
    pub fn check_linear(&self) -> Result<(), CostsError> {
        self.kind().check_linear()
    }

    /// Linear costs that agree with these for messages of this size; the same where these are linear.
    #[must_use]
    pub fn linearised_at(&self, bytes: u64) -> Costs {
        self.kind().linearised_at(bytes).unwrap_or_else(|| self.clone())
    }

    /// The costs of some ranks among each other, who are numbered in this order: each takes its links
    /// and its copies along.
    ///
    /// # Panics
    /// For an empty list, a rank listed twice, or one that the costs are not stated for.
    ///
    /// # Complexity
    /// O(1) if they are the same everywhere, for `n` ranks on levels O(n log n), for a matrix O(n^2).
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{CostMatrix, CostModel, Costs};
    /// let alpha = |sender, receiver| (10 * sender + receiver) as f64;
    /// let costs = CostMatrix::from_fn(4, alpha, |_, _| 0.0, |rank| rank as f64).unwrap();
    /// let among = Costs::Matrix(costs).among(&[3, 1]);
    /// assert_eq!(among.transmission_between(0, 1, 5).unwrap().units(), 31.0);
    /// assert_eq!(among.copy_at(0, 5).unwrap().units(), 15.0);
    /// ```
    #[must_use]
    pub fn among(&self, ranks: &[Rank]) -> Costs {
        self.kind().among(ranks)
    }

    /// The homogeneous costs that these amount to for this many ranks, if any.
    ///
    /// # Complexity
    /// O(1), for a hierarchy about O(p), O(p^2) for a matrix.
    pub fn homogeneous(&self, ranks: usize) -> Option<Homogeneous> {
        self.kind().homogeneous(ranks)
    }

    /// True if part of the latency of some message overlaps with other work; never in the one-port model of the papers.
    ///
    /// # Complexity
    /// O(1), O(p^2) for a matrix.
    pub fn overlaps(&self) -> bool {
        self.kind().overlaps()
    }

    /// True if messages of exchanges have costs of their own: of [`Homogeneous`] costs only.
    pub fn have_exchange_costs(&self) -> bool {
        self.parameters().is_some_and(Homogeneous::has_exchange_costs)
    }

    /// The link from `sender` to `receiver`, who differ, if its costs are linear.
    ///
    /// # Panics
    /// May panic for ranks that the costs are not stated for.
    pub fn link(&self, sender: Rank, receiver: Rank) -> Option<Link> {
        self.kind().link(sender, receiver)
    }

    /// The levels of the machine, if costs are stated by such.
    pub fn hierarchy(&self) -> Option<&Hierarchy> {
        self.kind().hierarchy()
    }

    /// alpha, beta and gamma, if these three numbers are all: what documents state without a machine.
    pub fn parameters(&self) -> Option<&Homogeneous> {
        self.kind().parameters()
    }

    /// The costs for this many ranks as a matrix; costs of exchanges have no place there.
    ///
    /// # Errors
    /// [`CostsError`]: another number of ranks, too many, or costs that are not linear.
    ///
    /// # Complexity
    /// O(p^2) time and space.
    pub fn matrix(&self, ranks: usize) -> Result<CostMatrix, CostsError> {
        self.check_ranks(ranks)?;
        self.check_linear()?;
        if let Costs::Matrix(matrix) = self {
            return Ok(matrix.clone());
        }
        if ranks > Self::MOST_EXPANDED {
            return Err(CostsError::TooLarge { ranks });
        }
        let kind = self.kind();
        let link = |sender, receiver| kind.link(sender, receiver).expect("checked above");
        let matrix = CostMatrix::from_fn(
            ranks,
            |sender, receiver| link(sender, receiver).alpha,
            |sender, receiver| link(sender, receiver).beta,
            |rank| kind.gamma_at(rank),
        );
        let matrix = matrix.expect("all costs were checked before");
        if !self.overlaps() {
            return Ok(matrix);
        }
        let overhead = |sender, receiver| match sender == receiver {
            true => 0.0,
            false => link(sender, receiver).overhead,
        };
        let row = |sender| (0..ranks).map(|receiver| overhead(sender, receiver)).collect();
        let overheads: Vec<Vec<f64>> = (0..ranks).map(row).collect();
        Ok(matrix.with_overheads(&overheads).expect("all costs were checked before"))
    }
}

impl From<Homogeneous> for Costs {
    fn from(costs: Homogeneous) -> Costs {
        Costs::Homogeneous(costs)
    }
}

impl CostModel for Costs {
    fn ranks(&self) -> Option<usize> {
        self.kind().ranks()
    }

    #[inline]
    fn transmission_between(
        &self,
        sender: Rank,
        receiver: Rank,
        bytes: u64,
    ) -> Result<Time, TimeError> {
        self.kind().transmission_between(sender, receiver, bytes)
    }

    #[inline]
    fn exchange_between(
        &self,
        sender: Rank,
        receiver: Rank,
        bytes: u64,
    ) -> Result<Time, TimeError> {
        self.kind().exchange_between(sender, receiver, bytes)
    }

    #[inline]
    fn latency_between(&self, sender: Rank, receiver: Rank, bytes: u64) -> Result<Time, TimeError> {
        self.kind().latency_between(sender, receiver, bytes)
    }

    #[inline]
    fn copy_at(&self, rank: Rank, bytes: u64) -> Result<Time, TimeError> {
        self.kind().copy_at(rank, bytes)
    }

    #[inline]
    fn sum(&self, start: Time, cost: Time) -> Result<Time, TimeError> {
        self.kind().sum(start, cost)
    }

    fn least_busy(
        &self,
        direction: Direction,
        rank: Rank,
        ranks: usize,
        bytes: u64,
    ) -> Result<Time, TimeError> {
        self.kind().least_busy(direction, rank, ranks, bytes)
    }
}
