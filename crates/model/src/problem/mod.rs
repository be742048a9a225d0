//! A problem: the operation, its data, the costs, the root, the ports.

mod collective;
mod operation;
mod operator;
mod payload;

use crate::{
    BlockSizes, ClosedSet, CostModel, Costs, CostsError, GroupSizes, MessageSizes, Ports, Rank,
    StatedCosts, Time, TimeError, Tree, TreeError,
};
pub use collective::Collective;
pub use operation::{Extent, Operation, PayloadKind};
pub use operator::{Operator, OperatorError};
pub use payload::{Payload, Vector, WrongPayload};

/// The root, or the request to choose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// This one, as in `MPI_Gatherv`.
    Given(Rank),
    /// One with the least completion time, chosen by the construction.
    Best,
    /// None: the operation has no root.
    None,
}

impl Root {
    /// The root, if it is given.
    pub fn given(self) -> Option<Rank> {
        match self {
            Root::Given(root) => Some(root),
            Root::Best | Root::None => None,
        }
    }
}

/// Parts that are not a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// Data of the wrong kind.
    #[error(transparent)]
    Payload(#[from] WrongPayload),
    /// Costs for another number of ranks.
    #[error(transparent)]
    Costs(#[from] CostsError),
    /// An operator that is not one of the operation.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// A root that is not a rank.
    #[error(transparent)]
    Root(#[from] TreeError),
    /// A root for an operation without one.
    #[error("{} has no root", operation.name())]
    Rootless {
        /// The operation that is performed.
        operation: Operation,
    },
    /// No root for an operation that has one.
    #[error("{} has a root", operation.name())]
    Rooted {
        /// The operation that is performed.
        operation: Operation,
    },
}

/// A problem: the moved data, its costs, its root and the ports. The argument of completion times,
/// bounds and every construction.
///
/// The costs are stated for its number of ranks, and a given root is one of them. The root is
/// open ([`Root::Best`]; [`Root::None`] if the operation has none) and ranks have one port unless
/// [`with_root`](Self::with_root) and [`with_ports`](Self::with_ports) say otherwise. A copy shares block sizes and costs: O(1).
///
/// # Source
/// OPT section 2.
///
/// # Example
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, Root};
/// let sizes = BlockSizes::new([2, 1, 4]).unwrap();
/// let costs = Homogeneous::new(100.0, 1.0, 1.0).unwrap();
/// let problem = Problem::gather(&sizes, costs).unwrap().with_root(Root::Given(1)).unwrap();
/// assert_eq!(problem.ranks(), 3);
/// assert!(problem.with_root(Root::Given(3)).is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    collective: Collective,
    costs: StatedCosts,
    root: Root,
    ports: Ports,
    duplex: bool,
    /// That of a reduction.
    operator: Operator,
}

impl Problem {
    /// The problem of moving this data by this operation at these costs.
    ///
    /// # Errors
    /// [`ProblemError`]: data of the wrong kind, costs for another number of ranks.
    pub fn new(
        operation: Operation,
        payload: impl Into<Payload>,
        costs: impl Into<StatedCosts>,
    ) -> Result<Problem, ProblemError> {
        Problem::of(Collective::new(operation, payload)?, costs)
    }

    /// The problem of this collective operation at these costs.
    ///
    /// # Errors
    /// [`ProblemError::Costs`].
    pub fn of(
        collective: Collective,
        costs: impl Into<StatedCosts>,
    ) -> Result<Problem, ProblemError> {
        let costs = costs.into();
        costs.costs().check_ranks(collective.ranks())?;
        let root = match collective.operation().is_rooted() {
            true => Root::Best,
            false => Root::None,
        };
        let (ports, duplex, operator) = (Ports::ONE, false, Operator::FREE);
        Ok(Problem { collective, costs, root, ports, duplex, operator })
    }

    /// The problem of gathering these blocks.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn gather(
        sizes: &BlockSizes,
        costs: impl Into<StatedCosts>,
    ) -> Result<Problem, ProblemError> {
        Problem::of(Collective::gather(sizes), costs)
    }

    /// The problem of scattering these blocks.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn scatter(
        sizes: &BlockSizes,
        costs: impl Into<StatedCosts>,
    ) -> Result<Problem, ProblemError> {
        Problem::of(Collective::scatter(sizes), costs)
    }

    /// The problem of giving these blocks to all.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn allgather(
        sizes: &BlockSizes,
        costs: impl Into<StatedCosts>,
    ) -> Result<Problem, ProblemError> {
        Problem::of(Collective::allgather(sizes), costs)
    }

    /// The problem of combining vectors, a block of these sizes of the result for each rank.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn reduce_scatter(
        sizes: &BlockSizes,
        costs: impl Into<StatedCosts>,
    ) -> Result<Problem, ProblemError> {
        Problem::of(Collective::reduce_scatter(sizes), costs)
    }

    /// The problem of an alltoall with these messages.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn alltoall(
        sizes: &MessageSizes,
        costs: impl Into<StatedCosts>,
    ) -> Result<Problem, ProblemError> {
        Problem::of(Collective::alltoall(sizes), costs)
    }

    /// This problem with another root.
    ///
    /// # Errors
    /// A given root out of range ([`ProblemError::Root`]), a root, given or open, for an operation
    /// without one ([`ProblemError::Rootless`]), none for one that has ([`ProblemError::Rooted`]).
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{BlockSizes, Homogeneous, Problem, Root};
    /// let sizes = BlockSizes::new([2, 1, 4]).unwrap();
    /// let costs = Homogeneous::new(100.0, 1.0, 1.0).unwrap();
    /// let allgather = Problem::allgather(&sizes, costs).unwrap();
    /// assert_eq!(allgather.root(), Root::None);
    /// assert_eq!(allgather.with_root(Root::Given(1)).unwrap_err().to_string(), "allgather has no root");
    /// ```
    pub fn with_root(&self, root: Root) -> Result<Problem, ProblemError> {
        let operation = self.operation();
        match (root, operation.is_rooted()) {
            (Root::Given(_) | Root::Best, false) => Err(ProblemError::Rootless { operation }),
            (Root::None, true) => Err(ProblemError::Rooted { operation }),
            (Root::Given(root), true) => {
                Tree::check_root(self.ranks(), root)?;
                Ok(Problem { root: Root::Given(root), ..self.clone() })
            }
            (Root::Best, true) | (Root::None, false) => Ok(Problem { root, ..self.clone() }),
        }
    }

    /// This problem with this many ports at every rank.
    #[must_use]
    pub fn with_ports(&self, ports: Ports) -> Problem {
        Problem { ports, ..self.clone() }
    }

    /// This problem with duplex ports, each of which sends and receives independently, or with others. Trees do not
    /// depend on it.
    #[must_use]
    pub fn with_duplex(&self, duplex: bool) -> Problem {
        Problem { duplex, ..self.clone() }
    }

    /// This problem with another operator.
    ///
    /// # Errors
    /// [`ProblemError::Operator`]: the operation has none, or data that is not made of whole elements.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{Homogeneous, Operation, Operator, Problem, Vector};
    /// let costs = Homogeneous::new(100.0, 1.0, 1.0).unwrap();
    /// let vector = Vector { ranks: 3, bytes: 24 };
    /// let problem = Problem::new(Operation::Allreduce, vector, costs).unwrap();
    /// assert!(problem.with_operator(Operator::new(8, 0.5).unwrap()).is_ok());
    /// assert!(problem.with_operator(Operator::new(5, 0.5).unwrap()).is_err());
    /// ```
    pub fn with_operator(&self, operator: Operator) -> Result<Problem, ProblemError> {
        operator.check(self.operation(), self.payload())?;
        Ok(Problem { operator, ..self.clone() })
    }

    /// This problem at other costs.
    ///
    /// # Errors
    /// [`ProblemError::Costs`].
    pub fn with_costs(&self, costs: impl Into<StatedCosts>) -> Result<Problem, ProblemError> {
        let Problem { root, ports, duplex, operator, .. } = *self;
        let other = Problem::of(self.collective.clone(), costs)?;
        Ok(Problem { root, ports, duplex, operator, ..other })
    }

    /// The operation with its data.
    pub fn collective(&self) -> &Collective {
        &self.collective
    }

    /// The costs that trees are timed with.
    pub fn costs(&self) -> &Costs {
        self.costs.costs()
    }

    /// The costs as they were stated, with their machine if there is one.
    pub fn stated_costs(&self) -> &StatedCosts {
        &self.costs
    }

    /// The root, or the request to choose it.
    pub fn root(&self) -> Root {
        self.root
    }

    /// Number of ports of every rank.
    pub fn ports(&self) -> Ports {
        self.ports
    }

    /// True if each port has an independent side for sending and one for receiving.
    pub fn duplex(&self) -> bool {
        self.duplex
    }

    /// The operator of a reduction; [`Operator::FREE`] in other operations.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The operation that is performed.
    pub fn operation(&self) -> Operation {
        self.collective.operation()
    }

    /// The data: blocks, or the vector of a broadcast or reduction.
    pub fn payload(&self) -> &Payload {
        self.collective.payload()
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.collective.ranks()
    }

    /// The block sizes, where blocks are moved.
    pub fn blocks(&self) -> Option<&BlockSizes> {
        self.collective.blocks()
    }

    /// The blocks of both groups of an intergroup allgather.
    pub fn groups(&self) -> Option<&GroupSizes> {
        self.collective.groups()
    }

    /// The vector of a broadcast or reduction.
    pub fn vector(&self) -> Option<Vector> {
        self.collective.vector()
    }

    /// The messages of an alltoall.
    pub fn messages(&self) -> Option<&MessageSizes> {
        self.collective.messages()
    }

    /// Time that `bytes` along the edge between a child and its parent, in the operation's direction, occupy the
    /// parent's port.
    ///
    /// # Errors
    /// [`TimeError`] if there is no such link, or the time cannot be stated.
    #[inline]
    pub fn edge(&self, child: Rank, parent: Rank, bytes: u64) -> Result<Time, TimeError> {
        let (from, to) = self.collective.ends(child, parent);
        self.costs().transmission_between(from, to, bytes)
    }

    /// Earliest time at which `bytes` along that edge may occupy the parent's port, if the child is ready at this time:
    /// the overlapping latency later.
    ///
    /// # Errors
    /// As [`edge`](Self::edge).
    #[inline]
    pub fn arrival(
        &self,
        child: Rank,
        parent: Rank,
        bytes: u64,
        ready: Time,
    ) -> Result<Time, TimeError> {
        let (from, to) = self.collective.ends(child, parent);
        self.costs().sum(ready, self.costs().latency_between(from, to, bytes)?)
    }

    /// Time of `bytes` along that edge if nothing else happens: latency and occupancy.
    ///
    /// # Errors
    /// As [`edge`](Self::edge).
    #[inline]
    pub fn message(&self, child: Rank, parent: Rank, bytes: u64) -> Result<Time, TimeError> {
        let occupancy = self.edge(child, parent, bytes)?;
        self.arrival(child, parent, bytes, occupancy)
    }

    /// The time of the copy of a rank's own block; 0 where a vector is moved.
    ///
    /// # Errors
    /// [`TimeError`] if it cannot be stated.
    #[inline]
    pub fn copy(&self, rank: Rank) -> Result<Time, TimeError> {
        self.costs().copy_at(rank, self.collective.copied(rank))
    }
}
