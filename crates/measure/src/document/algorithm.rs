//! Algorithms that are measured.

use std::borrow::Cow;
use tuwtree_model::{ClosedSet, Construction, Operation, PayloadKind};

/// Algorithm that can be timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// The library's regular operation, all blocks padded to the largest, which everybody knows.
    Regular,
    /// A regular call after an allreduce of the largest size, for applications that do not know it.
    /// The right-hand side of guideline GL2.
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
    /// The cheaper of the library's call and a cached plan, by the machine's costs: the libraries' own default, once a
    /// machine is known.
    Auto,
    /// A tree in which each process finds its own place in the first call, since all give all counts.
    Online,
    /// The tree of [`Online`](Self::Online), set up once through the interface of the libraries, the first operation on
    /// its communicator: sizes are gathered by all.
    OnlinePersistent,
    /// A tree, or a schedule of all ranks, planned beforehand, with persistent requests: start and wait.
    Planned(Construction, Pace),
}

/// Start of a rank's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Pace {
    /// One after the other, as the cost model has it.
    Strict,
    /// As soon as possible.
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

    /// The algorithm's name in options and documents.
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

    /// True if it can perform the operation.
    pub fn is_for(self, operation: Operation) -> bool {
        match self {
            Algorithm::Native => true,
            Algorithm::Planned(construction, _) => construction.performs(operation),
            Algorithm::NativePersistent | Algorithm::Auto => operation.takes_blocks(),
            Algorithm::Regular
            | Algorithm::Padded
            | Algorithm::Distributed
            | Algorithm::DistributedPersistent
            | Algorithm::Online
            | Algorithm::OnlinePersistent => operation.passes_on_once(),
        }
    }

    /// Its description, for help texts and tables.
    pub fn summary(self, operation: Operation) -> Cow<'static, str> {
        let regular = || operation.regular_function().unwrap_or_default();
        match self {
            Algorithm::Regular => format!("{} of padded blocks", regular()).into(),
            Algorithm::Padded => format!("MPI_Allreduce, then padded {}", regular()).into(),
            Algorithm::Native if operation.payload_kind() == PayloadKind::Groups => {
                format!("{} between two groups", operation.function()).into()
            }
            Algorithm::Native => operation.function().into(),
            Algorithm::NativePersistent => format!("{}_init, started", operation.function()).into(),
            Algorithm::Distributed => "adaptive tree, constructed in each call".into(),
            Algorithm::DistributedPersistent => "adaptive tree, all of its set-up counted".into(),
            Algorithm::Auto if operation.is_rooted() => {
                "what is best, as earlier calls have planned it".into()
            }
            Algorithm::Auto if operation.payload_kind() == PayloadKind::Messages => {
                "what is best, as earlier calls have found".into()
            }
            Algorithm::Auto => "what is best, as each rank plans it".into(),
            Algorithm::Online => "each rank finds its place in a tree, given all counts".into(),
            Algorithm::OnlinePersistent => "the same, all of its set-up counted".into(),
            Algorithm::Planned(one, pace) => {
                let plan = if one.builds_trees() { "tree" } else { "schedule" };
                let messages = match pace {
                    Pace::Strict => "one message at a time",
                    Pace::Eager => "messages at once",
                };
                format!("{plan} planned once, {messages}").into()
            }
        }
    }

    /// True if it moves blocks of different sizes as they are.
    pub fn is_irregular(self) -> bool {
        !matches!(self, Algorithm::Regular | Algorithm::Padded)
    }
}
