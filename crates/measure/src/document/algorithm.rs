//! Which algorithms are measured.

use std::borrow::Cow;
use tuwtree_model::{ClosedSet, Construction, Operation};

/// What can be timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// The library's regular operation, all blocks padded to the largest, which everybody knows.
    Regular,
    /// The same after an allreduce of the largest size: what an application does that does not know
    /// it. The right-hand side of guideline GL2.
    Padded,
    /// The library's irregular operation.
    Native,
    /// The library's persistent irregular operation: start and wait.
    NativePersistent,
    /// The adaptive tree, constructed anew in each call by all processes together.
    Distributed,
    /// The adaptive tree, set up once through the interface of the libraries, the first operation on its
    /// communicator: with a private one, and agreement on all arguments.
    DistributedPersistent,
    /// What takes least by the machine's costs, the library's own call or a tree that calls before have
    /// planned: calls of the libraries by themselves, once a machine is known.
    Auto,
    /// A tree in which each process finds its own place in the first call, since all give all counts.
    Online,
    /// The same tree, set up once through the interface of the libraries, the first operation on its communicator:
    /// sizes are gathered by all.
    OnlinePersistent,
    /// A tree, or a schedule of all ranks, planned beforehand, with persistent requests: start and wait.
    Planned(Construction, Pace),
}

/// When a rank's messages may start.
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
)]
#[strum(serialize_all = "kebab-case")]
pub enum Pace {
    /// One after the other, as the cost model has it.
    Strict,
    /// As soon as they can.
    Eager,
}

impl Algorithm {
    /// All of them, the library's own first.
    pub fn all() -> impl Iterator<Item = Algorithm> {
        let planned = Construction::all().flat_map(|construction| {
            Pace::all().map(move |pace| Algorithm::Planned(construction, pace))
        });
        [
            Algorithm::Regular,
            Algorithm::Padded,
            Algorithm::Native,
            Algorithm::NativePersistent,
            Algorithm::Distributed,
            Algorithm::DistributedPersistent,
            Algorithm::Auto,
            Algorithm::Online,
            Algorithm::OnlinePersistent,
        ]
        .into_iter()
        .chain(planned)
    }

    /// The name by which users and documents call the algorithm.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Algorithm::Regular => "regular".into(),
            Algorithm::Padded => "padded".into(),
            Algorithm::Native => "native".into(),
            Algorithm::NativePersistent => "native-persistent".into(),
            Algorithm::Distributed => "distributed".into(),
            Algorithm::DistributedPersistent => "distributed-persistent".into(),
            Algorithm::Auto => "auto".into(),
            Algorithm::Online => "online".into(),
            Algorithm::OnlinePersistent => "online-persistent".into(),
            Algorithm::Planned(construction, pace) => {
                format!("{}-{}", construction.name(), pace.name()).into()
            }
        }
    }

    /// The algorithm with this name.
    pub fn named(name: &str) -> Option<Algorithm> {
        Algorithm::all().find(|one| one.name() == name)
    }

    /// Whether it can perform the operation.
    pub fn is_for(self, operation: Operation) -> bool {
        match self {
            Algorithm::Native => true,
            Algorithm::Planned(construction, _) => construction.performs(operation),
            Algorithm::NativePersistent | Algorithm::Auto => {
                operation.is_irregular() || operation == Operation::Alltoall
            }
            Algorithm::Regular
            | Algorithm::Padded
            | Algorithm::Distributed
            | Algorithm::DistributedPersistent
            | Algorithm::Online
            | Algorithm::OnlinePersistent => operation.passes_on_once(),
        }
    }

    /// What it is, in words, for help texts and tables.
    pub fn summary(self, operation: Operation) -> &'static str {
        match (self, operation) {
            (Algorithm::Regular, Operation::Scatter) => "MPI_Scatter of padded blocks",
            (Algorithm::Regular, _) => "MPI_Gather of padded blocks",
            (Algorithm::Padded, Operation::Scatter) => "MPI_Allreduce, then padded MPI_Scatter",
            (Algorithm::Padded, _) => "MPI_Allreduce, then padded MPI_Gather",
            (Algorithm::Native, Operation::Broadcast) => "MPI_Bcast",
            (Algorithm::Native, Operation::Reduce) => "MPI_Reduce",
            (Algorithm::Native, Operation::Allreduce) => "MPI_Allreduce",
            (Algorithm::Native, Operation::IntergroupAllgather) => {
                "MPI_Allgatherv between two groups"
            }
            (Algorithm::Native, Operation::Allgather) => "MPI_Allgatherv",
            (Algorithm::NativePersistent, Operation::Allgather) => "MPI_Allgatherv_init, started",
            (Algorithm::Native, Operation::ReduceScatter) => "MPI_Reduce_scatter",
            (Algorithm::NativePersistent, Operation::ReduceScatter) => {
                "MPI_Reduce_scatter_init, started"
            }
            (Algorithm::Native, Operation::Alltoall) => "MPI_Alltoallv",
            (Algorithm::NativePersistent, Operation::Alltoall) => "MPI_Alltoallv_init, started",
            (Algorithm::Auto, Operation::Alltoall) => "what is best, as earlier calls have found",
            (Algorithm::Auto, Operation::Allgather | Operation::ReduceScatter) => {
                "what is best, as each rank plans it"
            }
            (Algorithm::Native, Operation::Scatter) => "MPI_Scatterv",
            (Algorithm::Native, _) => "MPI_Gatherv",
            (Algorithm::NativePersistent, Operation::Scatter) => "MPI_Scatterv_init, started",
            (Algorithm::NativePersistent, _) => "MPI_Gatherv_init, started",
            (Algorithm::Distributed, _) => "adaptive tree, constructed in each call",
            (Algorithm::DistributedPersistent, _) => "adaptive tree, all of its set-up counted",
            (Algorithm::Auto, _) => "what is best, as earlier calls have planned it",
            (Algorithm::Online, _) => "each rank finds its place in a tree, given all counts",
            (Algorithm::OnlinePersistent, _) => "the same, all of its set-up counted",
            (Algorithm::Planned(one, pace), _) => match (one.builds_trees(), pace) {
                (true, Pace::Strict) => "tree planned once, one message at a time",
                (true, Pace::Eager) => "tree planned once, messages at once",
                (false, Pace::Strict) => "schedule planned once, one message at a time",
                (false, Pace::Eager) => "schedule planned once, messages at once",
            },
        }
    }

    /// Whether it moves blocks of different sizes as they are.
    pub fn is_irregular(self) -> bool {
        !matches!(self, Algorithm::Regular | Algorithm::Padded)
    }
}
