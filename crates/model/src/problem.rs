//! What is asked: the operation, its data, the costs, the root, the ports.

use crate::{
    BlockSizes, ClosedSet, CostModel, Costs, CostsError, Direction, GroupSizes, MessageSizes,
    Ports, Rank, StatedCosts, Time, TimeError, Tree, TreeError,
};

/// A collective operation.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    strum::VariantArray,
    strum::IntoStaticStr,
    strum::EnumString,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Operation {
    /// Collect all blocks at the root in rank order.
    Gather,
    /// Distribute the root's blocks. The dual of gather, with the same completion times.
    Scatter,
    /// Give every processor the root's vector.
    Broadcast,
    /// Combine the vectors of all processors at the root, in rank order. The dual of broadcast.
    Reduce,
    /// Give every processor all blocks, in rank order.
    Allgather,
    /// Combine the vectors of all processors, and give each its block of the result. The dual of allgather.
    ReduceScatter,
    /// Combine the vectors of all processors, and give each the whole result.
    Allreduce,
    /// Give every processor what every other has for it.
    Alltoall,
    /// Give every processor of one group all blocks of the other.
    IntergroupAllgather,
}

/// What kind of data an operation moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PayloadKind {
    /// A block for each processor.
    Blocks,
    /// One vector, the same size everywhere.
    Vector,
    /// A message from each processor to each.
    Messages,
    /// A block for each processor of two groups.
    Groups,
}

impl Operation {
    /// The kind of data that the operation moves.
    pub fn payload_kind(self) -> PayloadKind {
        match self {
            Operation::Gather
            | Operation::Scatter
            | Operation::Allgather
            | Operation::ReduceScatter => PayloadKind::Blocks,
            Operation::Broadcast | Operation::Reduce | Operation::Allreduce => PayloadKind::Vector,
            Operation::Alltoall => PayloadKind::Messages,
            Operation::IntergroupAllgather => PayloadKind::Groups,
        }
    }

    /// The operations with a root, which go along trees.
    pub fn rooted() -> impl Iterator<Item = Operation> {
        Operation::all().filter(|operation| operation.is_rooted())
    }

    /// The operations with a root whose block sizes may differ from processor to processor.
    pub fn irregular() -> impl Iterator<Item = Operation> {
        Operation::rooted().filter(|operation| operation.is_irregular())
    }

    /// Other names than [`name`](ClosedSet::name) by which users may call it: those of MPI's blocking functions,
    /// and the same without prefix in small letters.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::Operation;
    /// let names: Vec<String> = Operation::Gather.other_names().collect();
    /// assert_eq!(names, ["MPI_Gather", "MPI_Gatherv", "gatherv"]);
    /// ```
    pub fn other_names(self) -> impl Iterator<Item = String> {
        let functions: &[&str] = match self {
            Operation::Gather => &["Gather", "Gatherv"],
            Operation::Scatter => &["Scatter", "Scatterv"],
            Operation::Broadcast => &["Bcast"],
            Operation::Reduce => &["Reduce"],
            Operation::Allgather => &["Allgather", "Allgatherv"],
            Operation::ReduceScatter => &["Reduce_scatter", "Reduce_scatter_block"],
            Operation::Allreduce => &["Allreduce"],
            Operation::Alltoall => &["Alltoall", "Alltoallv"],
            // MPI has the same functions for them as for an allgather.
            Operation::IntergroupAllgather => &[],
        };
        let of_intergroup: &[&str] = match self {
            Operation::IntergroupAllgather => {
                &["intergroup-allgatherv", "intergroup_allgather", "intergroup_allgatherv"]
            }
            _ => &[],
        };
        let long = functions.iter().map(|function| format!("MPI_{function}"));
        let short = functions.iter().map(|function| function.to_lowercase());
        let more = of_intergroup.iter().map(|&name| name.to_owned());
        long.chain(short.filter(move |name| name != self.name())).chain(more)
    }

    /// Whether data comes from, or goes to, one processor: the root.
    pub fn is_rooted(self) -> bool {
        match self {
            Operation::Gather | Operation::Scatter => true,
            Operation::Broadcast | Operation::Reduce => true,
            Operation::Allgather | Operation::ReduceScatter | Operation::Allreduce => false,
            Operation::Alltoall | Operation::IntergroupAllgather => false,
        }
    }

    /// Whether data of several processors is combined to a result.
    pub fn is_reduction(self) -> bool {
        match self {
            Operation::Reduce | Operation::ReduceScatter | Operation::Allreduce => true,
            Operation::Gather | Operation::Scatter => false,
            Operation::Broadcast | Operation::Allgather => false,
            Operation::Alltoall | Operation::IntergroupAllgather => false,
        }
    }

    /// Whether block sizes may differ from processor to processor.
    pub fn is_irregular(self) -> bool {
        self.payload_kind() == PayloadKind::Blocks
    }

    /// Whether each byte is wanted in one place only, and so goes there once: gather and scatter.
    pub fn passes_on_once(self) -> bool {
        matches!(self, Operation::Gather | Operation::Scatter)
    }

    /// Whether data flows from the root outwards: a tree's steps are then performed backwards, with
    /// sends in place of receives.
    pub fn is_outward(self) -> bool {
        match self {
            Operation::Scatter | Operation::Broadcast => true,
            Operation::Gather | Operation::Reduce => false,
            Operation::Allgather | Operation::ReduceScatter | Operation::Allreduce => false,
            Operation::Alltoall | Operation::IntergroupAllgather => false,
        }
    }
}

/// One vector at each of some processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    /// The number of processors.
    pub processors: usize,
    /// The vector's size in bytes.
    pub bytes: u64,
}

/// The data that an operation moves: without the operation, and hence without a direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Gather, scatter, allgather and reduce-scatter: a block for each processor.
    Blocks(BlockSizes),
    /// Broadcast, reduction and allreduce: one vector of as many bytes for each of the processors.
    Vector(Vector),
    /// Alltoall: a message from each processor to each.
    Messages(MessageSizes),
    /// Intergroup allgather: a block for each processor of two groups.
    Groups(GroupSizes),
}

/// Blocks for a broadcast or reduction, or one vector for a gather or scatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} needs {}", operation.name(), match operation.payload_kind() { PayloadKind::Blocks => "block sizes, not one vector size", PayloadKind::Vector => "one vector size, not block sizes", PayloadKind::Messages => "the size of each message", PayloadKind::Groups => "the block sizes of two groups" })]
pub struct WrongPayload {
    /// The operation that is performed.
    pub operation: Operation,
}

impl Payload {
    /// What kind of data it is.
    pub fn kind(&self) -> PayloadKind {
        match self {
            Payload::Blocks(_) => PayloadKind::Blocks,
            Payload::Vector(_) => PayloadKind::Vector,
            Payload::Messages(_) => PayloadKind::Messages,
            Payload::Groups(_) => PayloadKind::Groups,
        }
    }

    /// The number of processors.
    pub fn processors(&self) -> usize {
        match self {
            Payload::Blocks(sizes) => sizes.processors(),
            Payload::Vector(vector) => vector.processors,
            Payload::Messages(sizes) => sizes.processors(),
            Payload::Groups(sizes) => sizes.blocks().processors(),
        }
    }

    /// All bytes that there are: the sum of the blocks or messages, or the vector.
    pub fn total(&self) -> u64 {
        match self {
            Payload::Blocks(sizes) => sizes.total(),
            Payload::Vector(vector) => vector.bytes,
            Payload::Messages(sizes) => sizes.total(),
            Payload::Groups(sizes) => sizes.blocks().total(),
        }
    }

    /// The size of a processor's own data: its block, the vector, or the messages that it has.
    pub fn own(&self, rank: Rank) -> u64 {
        match self {
            Payload::Blocks(sizes) => sizes.block(rank),
            Payload::Vector(vector) => vector.bytes,
            Payload::Messages(sizes) => sizes.row(rank),
            Payload::Groups(sizes) => sizes.blocks().block(rank),
        }
    }
}

impl From<BlockSizes> for Payload {
    fn from(sizes: BlockSizes) -> Payload {
        Payload::Blocks(sizes)
    }
}

impl From<MessageSizes> for Payload {
    fn from(sizes: MessageSizes) -> Payload {
        Payload::Messages(sizes)
    }
}

impl From<GroupSizes> for Payload {
    fn from(sizes: GroupSizes) -> Payload {
        Payload::Groups(sizes)
    }
}

impl From<Vector> for Payload {
    fn from(vector: Vector) -> Payload {
        Payload::Vector(vector)
    }
}

/// An operation with the data that it moves.
///
/// With the same costs everywhere a scatter takes as long as a gather; with costs of its own for each
/// pair of processors its data goes the other way.
///
/// A copy shares the block sizes: O(1).
///
/// # Source
/// OPT section 2.2 (gather and scatter), Theorem 4 (broadcast and reduction).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    operation: Operation,
    /// Of the kind that the operation moves.
    payload: Payload,
}

impl Collective {
    /// This operation with this data.
    ///
    /// # Errors
    /// [`WrongPayload`].
    pub fn new(
        operation: Operation,
        payload: impl Into<Payload>,
    ) -> Result<Collective, WrongPayload> {
        let payload = payload.into();
        match operation.payload_kind() == payload.kind() {
            true => Ok(Collective { operation, payload }),
            false => Err(WrongPayload { operation }),
        }
    }

    /// Every processor's block goes to the root.
    pub fn gather(sizes: &BlockSizes) -> Collective {
        Collective { operation: Operation::Gather, payload: sizes.clone().into() }
    }

    /// The root's blocks go to their processors.
    pub fn scatter(sizes: &BlockSizes) -> Collective {
        Collective { operation: Operation::Scatter, payload: sizes.clone().into() }
    }

    /// Every processor's block goes to all processors.
    pub fn allgather(sizes: &BlockSizes) -> Collective {
        Collective { operation: Operation::Allgather, payload: sizes.clone().into() }
    }

    /// The root's whole vector goes along each edge, and is copied nowhere.
    pub fn broadcast(vector: Vector) -> Collective {
        Collective { operation: Operation::Broadcast, payload: vector.into() }
    }

    /// A whole vector goes along each edge, and is copied nowhere. Combining two takes no time.
    pub fn reduce(vector: Vector) -> Collective {
        Collective { operation: Operation::Reduce, payload: vector.into() }
    }

    /// The operation that is performed.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// What is moved: a block for each rank, or one vector.
    pub fn payload(&self) -> &Payload {
        &self.payload
    }

    /// The number of processors.
    pub fn processors(&self) -> usize {
        self.payload.processors()
    }

    /// The block sizes, where blocks are moved.
    pub fn blocks(&self) -> Option<&BlockSizes> {
        match &self.payload {
            Payload::Blocks(sizes) => Some(sizes),
            Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => None,
        }
    }

    /// The messages of an alltoall.
    pub fn messages(&self) -> Option<&MessageSizes> {
        match &self.payload {
            Payload::Messages(sizes) => Some(sizes),
            Payload::Blocks(_) | Payload::Vector(_) | Payload::Groups(_) => None,
        }
    }

    /// The blocks of both groups of an intergroup allgather.
    pub fn groups(&self) -> Option<&GroupSizes> {
        match &self.payload {
            Payload::Groups(sizes) => Some(sizes),
            Payload::Blocks(_) | Payload::Vector(_) | Payload::Messages(_) => None,
        }
    }

    /// The vector of a broadcast or reduction.
    pub fn vector(&self) -> Option<Vector> {
        match self.payload {
            Payload::Blocks(_) | Payload::Messages(_) | Payload::Groups(_) => None,
            Payload::Vector(vector) => Some(vector),
        }
    }

    /// The bytes that `rank` copies locally if it is the root or an inner processor.
    pub fn copied(&self, rank: Rank) -> u64 {
        match &self.payload {
            Payload::Blocks(sizes) => sizes.block(rank),
            Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => 0,
        }
    }

    /// The bytes that go to (come from) the parent of a subtree that spans these ranks: their
    /// blocks, or the whole vector; of an alltoall, which has no subtrees, all that these ranks have.
    pub fn segment(&self, first: Rank, last: Rank) -> u64 {
        match &self.payload {
            Payload::Blocks(sizes) => sizes.range(first, last),
            Payload::Vector(vector) => vector.bytes,
            Payload::Messages(sizes) => sizes.before(last + 1, 0) - sizes.before(first, 0),
            Payload::Groups(sizes) => sizes.blocks().range(first, last),
        }
    }

    /// Sender and receiver of the transmission along the edge between a child and its parent.
    #[inline]
    pub fn ends(&self, child: Rank, parent: Rank) -> (Rank, Rank) {
        match self.operation.is_outward() {
            true => (parent, child),
            false => (child, parent),
        }
    }

    /// What the root is busy with: it receives in a gather or reduction, and sends otherwise.
    pub fn root_direction(&self) -> Direction {
        match self.operation.is_outward() {
            true => Direction::Send,
            false => Direction::Receive,
        }
    }
}

/// What is known of the operator of a reduction.
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 3; what is gamma there is kappa here, as
/// gamma is what a copy takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operator {
    /// At least 1.
    element_bytes: u64,
    /// kappa, finite, at least 0.
    combine_per_byte: f64,
}

/// Why there is no such operator.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum OperatorError {
    /// Elements of no bytes.
    #[error("elements of 0 bytes; they have at least 1")]
    NoElement,
    /// Not a cost.
    #[error("combining a byte takes {value}; costs are finite numbers of at least 0")]
    Combine {
        /// Negative, infinite or NaN.
        value: f64,
    },
    /// An operator where nothing is combined.
    #[error("{} has no operator with elements and a time; reductions have", operation.name())]
    Unused {
        /// The operation that is performed.
        operation: Operation,
    },
    /// Data that is not made of whole elements.
    #[error("{bytes} bytes are no whole number of elements of {element_bytes}")]
    PartOfElement {
        /// The size of a block or of the vector.
        bytes: u64,
        /// The size of an element.
        element_bytes: u64,
    },
}

impl Operator {
    /// Of single bytes, and of no time.
    pub const FREE: Operator = Operator { element_bytes: 1, combine_per_byte: 0.0 };

    /// The operator that combines elements of so many bytes, in so much time a byte of the result. Vectors are
    /// cut between elements only.
    ///
    /// # Errors
    /// [`OperatorError::NoElement`], [`OperatorError::Combine`].
    pub fn new(element_bytes: u64, combine_per_byte: f64) -> Result<Operator, OperatorError> {
        match Time::new(combine_per_byte) {
            _ if element_bytes == 0 => Err(OperatorError::NoElement),
            None => Err(OperatorError::Combine { value: combine_per_byte }),
            Some(_) => Ok(Operator { element_bytes, combine_per_byte }),
        }
    }

    /// The size of an element in bytes, at least 1.
    pub fn element_bytes(&self) -> u64 {
        self.element_bytes
    }

    /// kappa: the time per byte of combining two vectors.
    pub fn combine_per_byte(&self) -> f64 {
        self.combine_per_byte
    }

    /// The time of combining so many bytes with as many others.
    ///
    /// # Errors
    /// [`TimeError::NotFinite`].
    pub fn combine(&self, bytes: u64) -> Result<Time, TimeError> {
        Time::new(self.combine_per_byte * bytes as f64).ok_or(TimeError::NotFinite)
    }

    /// Fails unless an operation has such an operator, and its data whole elements.
    ///
    /// # Errors
    /// [`OperatorError::Unused`], [`OperatorError::PartOfElement`].
    pub fn check(&self, operation: Operation, payload: &Payload) -> Result<(), OperatorError> {
        if *self == Operator::FREE {
            return Ok(());
        }
        if !operation.is_reduction() {
            return Err(OperatorError::Unused { operation });
        }
        let element_bytes = self.element_bytes;
        let is_cut = |bytes: &u64| !bytes.is_multiple_of(element_bytes);
        let cut = match payload {
            Payload::Blocks(sizes) => sizes.iter().find(is_cut),
            Payload::Vector(vector) => Some(vector.bytes).filter(is_cut),
            Payload::Messages(sizes) => sizes.iter().find(is_cut),
            Payload::Groups(sizes) => sizes.blocks().iter().find(is_cut),
        };
        match cut {
            Some(bytes) => Err(OperatorError::PartOfElement { bytes, element_bytes }),
            None => Ok(()),
        }
    }
}

impl Default for Operator {
    fn default() -> Operator {
        Operator::FREE
    }
}

/// Which processor is to be the root.
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

/// Why parts are not a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// Data of the wrong kind.
    #[error(transparent)]
    Payload(#[from] WrongPayload),
    /// Costs for another number of processors.
    #[error(transparent)]
    Costs(#[from] CostsError),
    /// An operator that is not one of the operation.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// A root that is not a processor.
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

/// A problem: what is moved, at which costs, from or to which root, through how many ports. The
/// argument of completion times, bounds and every construction.
///
/// The costs are stated for its number of processors, and a given root is one of them. The root is
/// open ([`Root::Best`]; [`Root::None`] if the operation has none) and processors have one port unless
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
/// assert_eq!(problem.processors(), 3);
/// assert!(problem.with_root(Root::Given(3)).is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    collective: Collective,
    costs: StatedCosts,
    root: Root,
    ports: Ports,
    /// That of a reduction.
    operator: Operator,
}

impl Problem {
    /// The problem of moving this data by this operation at these costs.
    ///
    /// # Errors
    /// [`ProblemError`]: data of the wrong kind, costs for another number of processors.
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
        costs.costs().check_processors(collective.processors())?;
        let root = match collective.operation.is_rooted() {
            true => Root::Best,
            false => Root::None,
        };
        Ok(Problem { collective, costs, root, ports: Ports::ONE, operator: Operator::FREE })
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

    /// The same problem with this root.
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
                Tree::check_root(self.processors(), root)?;
                Ok(Problem { root: Root::Given(root), ..self.clone() })
            }
            (Root::Best, true) | (Root::None, false) => Ok(Problem { root, ..self.clone() }),
        }
    }

    /// The same problem where every processor has so many ports.
    #[must_use]
    pub fn with_ports(&self, ports: Ports) -> Problem {
        Problem { ports, ..self.clone() }
    }

    /// The same problem with this operator.
    ///
    /// # Errors
    /// [`ProblemError::Operator`]: the operation has none, or data that is not made of whole elements.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{Homogeneous, Operation, Operator, Problem, Vector};
    /// let costs = Homogeneous::new(100.0, 1.0, 1.0).unwrap();
    /// let vector = Vector { processors: 3, bytes: 24 };
    /// let problem = Problem::new(Operation::Allreduce, vector, costs).unwrap();
    /// assert!(problem.with_operator(Operator::new(8, 0.5).unwrap()).is_ok());
    /// assert!(problem.with_operator(Operator::new(5, 0.5).unwrap()).is_err());
    /// ```
    pub fn with_operator(&self, operator: Operator) -> Result<Problem, ProblemError> {
        operator.check(self.operation(), self.payload())?;
        Ok(Problem { operator, ..self.clone() })
    }

    /// The same problem at other costs.
    ///
    /// # Errors
    /// [`ProblemError::Costs`].
    pub fn with_costs(&self, costs: impl Into<StatedCosts>) -> Result<Problem, ProblemError> {
        let Problem { root, ports, operator, .. } = *self;
        let other = Problem::of(self.collective.clone(), costs)?;
        Ok(Problem { root, ports, operator, ..other })
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

    /// Which processor is to be the root.
    pub fn root(&self) -> Root {
        self.root
    }

    /// How many ports every processor has.
    pub fn ports(&self) -> Ports {
        self.ports
    }

    /// The operator of a reduction; [`Operator::FREE`] in other operations.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The operation that is performed.
    pub fn operation(&self) -> Operation {
        self.collective.operation
    }

    /// The data: blocks, or the vector of a broadcast or reduction.
    pub fn payload(&self) -> &Payload {
        &self.collective.payload
    }

    /// The number of processors.
    pub fn processors(&self) -> usize {
        self.collective.processors()
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

    /// How long `bytes` along the edge between a child and its parent, in the operation's direction,
    /// occupy the parent's port.
    ///
    /// # Errors
    /// [`TimeError`] if there is no such link, or the time cannot be stated.
    #[inline]
    pub fn edge(&self, child: Rank, parent: Rank, bytes: u64) -> Result<Time, TimeError> {
        let (from, to) = self.collective.ends(child, parent);
        self.costs().transmission_between(from, to, bytes)
    }

    /// When `bytes` along that edge may occupy the parent's port at the earliest, if the child is ready
    /// at this time: the latency that overlaps with other work later.
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

    /// How long `bytes` along that edge take if nothing else happens: latency and occupancy.
    ///
    /// # Errors
    /// As [`edge`](Self::edge).
    #[inline]
    pub fn message(&self, child: Rank, parent: Rank, bytes: u64) -> Result<Time, TimeError> {
        let occupancy = self.edge(child, parent, bytes)?;
        self.arrival(child, parent, bytes, occupancy)
    }

    /// The time of the copy of a processor's own block; 0 where a vector is moved.
    ///
    /// # Errors
    /// [`TimeError`] if it cannot be stated.
    #[inline]
    pub fn copy(&self, rank: Rank) -> Result<Time, TimeError> {
        self.costs().copy_at(rank, self.collective.copied(rank))
    }
}
