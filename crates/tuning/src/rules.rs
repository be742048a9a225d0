//! Rules of MPI libraries: their MPI functions, their sizes, and the operators for which their choices are correct.

use super::{Decision, LibraryAlgorithm, SizeRange, Tuning};
use tuwtree_model::{ClosedSet, Operation, Order};

/// A function of MPI with several algorithms in libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Function {
    /// `MPI_Allgather`.
    Allgather,
    /// `MPI_Allgatherv`.
    Allgatherv,
    /// `MPI_Bcast`.
    Bcast,
    /// `MPI_Allreduce`.
    Allreduce,
    /// `MPI_Reduce`.
    Reduce,
    /// `MPI_Reduce_scatter`.
    ReduceScatter,
    /// `MPI_Reduce_scatter_block`.
    ReduceScatterBlock,
    /// `MPI_Alltoall`.
    Alltoall,
    /// `MPI_Alltoallv`.
    Alltoallv,
}

impl Function {
    /// Functions that move data as an operation does; none if libraries do not choose by size.
    pub fn of(operation: Operation) -> Vec<Function> {
        let is_its = |one: &Function| {
            operation.functions().iter().any(|name| name.eq_ignore_ascii_case(one.name()))
        };
        Function::all().filter(is_its).collect()
    }
}

/// The rules of a library for one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    library: Tuning,
    function: Function,
}

impl Rules {
    /// `None` if the library does not choose by size there, if it has one of our algorithms alone, or if it is not known
    /// what the size means.
    ///
    /// # Source
    /// Open MPI's `coll_tuned_decision_dynamic.c`: an alltoallv by the number of ranks only. UCC's `ucc_coll_utils.c`: the
    /// same, and `MPI_Reduce_scatter` is its `reduce_scatterv`, with a ring as allgatherv.
    pub fn new(library: Tuning, function: Function) -> Option<Rules> {
        let has_none = matches!(
            (library, function),
            (_, Function::Alltoallv)
                | (Tuning::Ucc, Function::Allgatherv | Function::ReduceScatter)
                | (Tuning::Intel, Function::Allgatherv | Function::ReduceScatterBlock)
        );
        (!has_none).then_some(Rules { library, function })
    }

    /// The function.
    pub fn function(self) -> Function {
        self.function
    }

    /// True if an algorithm is compared: the library has it for the function, or for one that moves data alike and has
    /// rules of its own, whose choice is left to the library if that is the fastest.
    pub(super) fn compare(self, algorithm: &LibraryAlgorithm) -> bool {
        match self.function {
            Function::Allgatherv => self.name(algorithm).is_some(),
            _ => algorithm.is_in(self.library),
        }
    }

    /// Open MPI's number and name for an algorithm; `None` if its rules for the function have it not.
    pub fn open_mpi(self, algorithm: &LibraryAlgorithm) -> Option<(u8, &'static str)> {
        match (self.function, algorithm.name) {
            (Function::Allgatherv, "bruck") => Some((2, "bruck")),
            (Function::Allgatherv, "ring") => Some((3, "ring")),
            (Function::ReduceScatterBlock, "halving") => Some((3, "recursive_halving")),
            (Function::Allgatherv | Function::ReduceScatterBlock, _) => None,
            _ => algorithm.open_mpi,
        }
    }

    /// The library's name for an algorithm, a word or a number; `None` if it lacks the algorithm.
    pub fn name(self, algorithm: &LibraryAlgorithm) -> Option<String> {
        match self.library {
            Tuning::Mpich => algorithm.mpich.map(str::to_owned),
            Tuning::OpenMpi => self.open_mpi(algorithm).map(|(number, _)| number.to_string()),
            Tuning::OpenMpiJson => self.open_mpi(algorithm).map(|(_, name)| name.to_owned()),
            Tuning::Ucc => algorithm.ucc.map(str::to_owned),
            Tuning::Intel => algorithm.intel.map(|number| number.to_string()),
        }
    }

    /// True if results of an algorithm in the rules are wrong, or not known to be right, with operators that do not
    /// commute.
    ///
    /// # Source
    /// Open MPI 4.1.4, run with every algorithm on 5 and 8 processes: it checks for commuting operators in
    /// Rabenseifner's algorithms and in all of `MPI_Reduce_scatter_block`, and recursive doubling keeps the order.
    /// MPICH's file asks. UCC has no user operators. Intel MPI: by MPICH's algorithms, from which it was made; not run.
    pub fn needs_commuting(self, algorithm: &LibraryAlgorithm) -> bool {
        match (self.library, self.function, algorithm.name) {
            (Tuning::Mpich | Tuning::Ucc, ..) => false,
            (Tuning::OpenMpi | Tuning::OpenMpiJson, Function::Allreduce, name) => name == "ring",
            (Tuning::OpenMpi | Tuning::OpenMpiJson, Function::Reduce, name) => name == "binomial",
            (Tuning::Intel, Function::Allreduce, name) => name != "recursive-doubling",
            (Tuning::Intel, Function::Reduce, name) => name != "binomial",
            (_, Function::ReduceScatter, _) => true,
            _ => false,
        }
    }

    /// True if the rules name the algorithm, for operators that keep this order: any if they commute. Otherwise the
    /// library's own choice stands.
    pub fn names(self, algorithm: &LibraryAlgorithm, order: Order) -> bool {
        let is_right = order == Order::Any || !self.needs_commuting(algorithm);
        is_right && self.name(algorithm).is_some()
    }

    /// The library's size, from that of [`LinearTime`](super::LinearTime): in an alltoall of Open MPI and UCC all
    /// messages of a rank, in Open MPI's allgatherv the mean block, rounded up.
    pub fn size(self, bytes: u64, ranks: usize) -> u64 {
        let ranks = ranks as u64;
        match (self.library, self.function) {
            (Tuning::OpenMpi | Tuning::OpenMpiJson | Tuning::Ucc, Function::Alltoall) => {
                bytes.saturating_mul(ranks)
            }
            (Tuning::OpenMpi | Tuning::OpenMpiJson, Function::Allgatherv) => bytes.div_ceil(ranks),
            _ => bytes,
        }
    }

    /// From which of the library's sizes on which algorithm is named, ascending from 0; `None` for the library's own choice.
    pub fn ranges(
        self,
        decision: &Decision,
        order: Order,
    ) -> Vec<(u64, Option<&'static LibraryAlgorithm>)> {
        let mut all: Vec<(u64, Option<&'static LibraryAlgorithm>)> = Vec::new();
        for (index, SizeRange { from_bytes, algorithm }) in decision.ranges.iter().enumerate() {
            let from = match index {
                0 => 0,
                _ => self.size(*from_bytes, decision.ranks.0),
            };
            let named = Some(*algorithm).filter(|one| self.names(one, order));
            // Of sizes that are one to the library, the largest counts.
            if all.last().is_some_and(|before| before.0 == from) {
                all.pop();
            }
            if all.last().is_none_or(|(_, before)| before.is_some() || named.is_some()) {
                all.push((from, named));
            }
        }
        all
    }
}
