//! How long gathers and scatters take: the library's own, padded ones, and trees.
//!
//! The protocol: for each algorithm some calls that are not timed, then repetitions, before each of
//! which all processors meet in a barrier. A repetition takes as long as its slowest processor. What
//! has arrived is compared with what was sent after the last repetition: an algorithm that is fast
//! and wrong fails.
//!
//! # Source
//! TUW section 5: 10 calls to warm up, 75 repetitions, `MPI_Barrier` before each, time of the slowest
//! processor; padded operations without copying to and from padded buffers.

use crate::collective::{CollectiveError, Collectives};
use crate::planning::{measured_tree, problem, suits};
use crate::play::{Buffers, Execution, ExecutionError, Mode};
use crate::settings;
use crate::sys::{ByteLayout, Communicator, MpiError, NativeRequest, Place, PlaceError};
use std::ops::Range;
use std::rc::Rc;
use std::time::Instant;
use tuwtree_measure::{Algorithm, Pace};
use tuwtree_model::document::TreeDocument;
use tuwtree_model::{BlockSizes, ClosedSet, Construction, Costs, Operation, Problem, Rank, Tree};
use tuwtree_schedule::part::{Part, PartError};
use tuwtree_schedule::{Buffer, OfTreeError, Schedule};

/// How often each algorithm is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Calls that are not timed.
    pub warm_up: usize,
    /// Calls that are timed, at least one.
    pub repetitions: usize,
}

/// What is to be gathered or scattered. The same at all processors.
#[derive(Clone, Debug)]
pub struct MeasuredProblem {
    operation: Operation,
    sizes: BlockSizes,
    root: Rank,
    layout: ByteLayout,
    padded: ByteLayout,
    /// By which trees are planned.
    problem: Problem,
}

/// The times of an algorithm. The same at all processors.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// What planning and setting up took, at the slowest processor; 0 where there is nothing to plan.
    pub planning_seconds: f64,
    /// For each repetition the time of the slowest processor.
    pub seconds: Vec<f64>,
}

/// Why there are no times.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// MPI failed.
    #[error(transparent)]
    Mpi(#[from] MpiError),
    /// A gather or scatter failed that constructs its tree.
    #[error(transparent)]
    Collective(#[from] CollectiveError),
    /// A tree could not be performed.
    #[error(transparent)]
    Execution(#[from] ExecutionError),
    /// A tree that is none of these processors.
    #[error(transparent)]
    Part(#[from] PartError),
    /// No memory for the blocks.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// A tree that has no schedule.
    #[error(transparent)]
    Schedule(#[from] OfTreeError),
    /// A message that is no tree.
    #[error("the tree of rank 0 cannot be read: {0}")]
    Tree(String),
    /// A tree that could not be constructed: which, and why.
    #[error("{0}")]
    Construction(String),
    /// A wrong result.
    #[error("{algorithm}: byte {at} of the data of rank {rank} is wrong")]
    Wrong {
        /// Whose result it is.
        algorithm: String,
        /// The rank that has the wrong data.
        rank: Rank,
        /// The position of the first wrong byte in its data.
        at: usize,
    },
}

impl MeasuredProblem {
    /// A gather or scatter of such blocks, for whose trees messages have these costs; `None` if all
    /// blocks, padded to the largest, have 2^31 bytes or more, so that MPI's counts do not reach.
    ///
    /// # Errors
    /// A root out of range, costs for another number of processors.
    ///
    /// # Panics
    /// For other operations.
    pub fn new(
        operation: Operation,
        sizes: BlockSizes,
        root: Rank,
        costs: &Costs,
    ) -> Result<Option<MeasuredProblem>, String> {
        assert!(operation.is_irregular(), "a gather or scatter");
        let problem = problem(operation.is_outward(), &sizes, root, costs)?;
        let largest = sizes.iter().max().unwrap_or(0);
        let layouts =
            (ByteLayout::new(sizes.iter()), ByteLayout::new(sizes.iter().map(|_| largest)));
        let (Some(layout), Some(padded)) = layouts else { return Ok(None) };
        Ok(Some(MeasuredProblem { operation, sizes, root, layout, padded, problem }))
    }

    /// Whether an algorithm is for this problem: the library's own always are, trees where the
    /// catalogue says so.
    pub fn admits(&self, algorithm: Algorithm) -> bool {
        match algorithm {
            Algorithm::Tree(construction, _) => suits(construction, &self.problem),
            Algorithm::Regular
            | Algorithm::Padded
            | Algorithm::Native
            | Algorithm::NativePersistent
            | Algorithm::Distributed => true,
        }
    }

    /// The sum of all blocks.
    pub fn total_bytes(&self) -> u64 {
        self.layout.total() as u64
    }

    /// The largest block.
    pub fn largest_block_bytes(&self) -> u64 {
        self.padded.block(0) as u64
    }

    /// The times of this algorithm; `None` if there is none for this library, or here. Collective.
    ///
    /// # Errors
    /// [`BenchError`], not at all processors alike: others may wait.
    pub fn timed(
        &self,
        algorithm: Algorithm,
        protocol: Protocol,
        communicator: &Rc<Communicator>,
    ) -> Result<Option<Timed>, BenchError> {
        match algorithm {
            Algorithm::Regular | Algorithm::Padded => {
                self.regular(algorithm, protocol, communicator).map(Some)
            }
            Algorithm::Native => self.native(protocol, communicator).map(Some),
            Algorithm::NativePersistent if Communicator::has_persistent() => {
                self.persistent(protocol, communicator).map(Some)
            }
            Algorithm::NativePersistent => Ok(None),
            Algorithm::Distributed => self.distributed(protocol, communicator).map(Some),
            Algorithm::Tree(construction, pace) => {
                self.tree(construction, pace, protocol, communicator)
            }
        }
    }

    fn regular(
        &self,
        algorithm: Algorithm,
        protocol: Protocol,
        communicator: &Communicator,
    ) -> Result<Timed, BenchError> {
        let own = self.layout.block(communicator.rank()) as u64;
        let (input, mut output) = self.buffers(&self.padded, communicator.rank());
        let seconds = timed_calls(protocol, communicator, || {
            if algorithm == Algorithm::Padded {
                communicator.greatest(&[own])?;
            }
            Ok(match self.operation {
                Operation::Scatter => communicator.scatter_equal(&input, &mut output, self.root),
                _ => communicator.gather_equal(&input, &mut output, self.root),
            }?)
        })?;
        self.check(algorithm, &self.padded, &output, communicator.rank())?;
        Ok(Timed { planning_seconds: 0.0, seconds })
    }

    fn native(&self, protocol: Protocol, communicator: &Communicator) -> Result<Timed, BenchError> {
        let rank = communicator.rank();
        let (input, mut output) = self.buffers(&self.layout, rank);
        let place = (rank, self.root);
        let arguments = self.layout.arguments(self.operation, &input, &mut output, place);
        let seconds = timed_calls(protocol, communicator, || Ok(communicator.native(&arguments)?))?;
        self.check(Algorithm::Native, &self.layout, &output, rank)?;
        Ok(Timed { planning_seconds: 0.0, seconds })
    }

    fn persistent(
        &self,
        protocol: Protocol,
        communicator: &Rc<Communicator>,
    ) -> Result<Timed, BenchError> {
        let rank = communicator.rank();
        let (input, mut output) = self.buffers(&self.layout, rank);
        let place = (rank, self.root);
        let arguments = self.layout.arguments(self.operation, &input, &mut output, place);
        communicator.barrier()?;
        let start = Instant::now();
        let mut request = NativeRequest::new(&arguments, communicator)?;
        let planning_seconds = slowest(communicator, start)?;
        let seconds = timed_calls(protocol, communicator, || {
            request.start()?;
            Ok(request.wait()?)
        })?;
        drop(request);
        self.check(Algorithm::NativePersistent, &self.layout, &output, rank)?;
        Ok(Timed { planning_seconds, seconds })
    }

    /// The adaptive tree of TUW Lemma 1, as TUW measures it, constructed in each call.
    fn distributed(
        &self,
        protocol: Protocol,
        communicator: &Communicator,
    ) -> Result<Timed, BenchError> {
        let rank = communicator.rank();
        let (input, mut output) = self.buffers(&self.layout, rank);
        let collectives = Collectives::new(communicator.duplicate_again()?)?;
        // Whatever the environment wants.
        let rule = settings::Algorithm::AdaptiveGatherTime;
        collectives.set(settings::Setting::Algorithm, rule.name())?;
        let place = (rank, self.root);
        let arguments = self.layout.arguments(self.operation, &input, &mut output, place);
        let seconds = timed_calls(protocol, communicator, || {
            collectives.run(&arguments)?;
            Ok(())
        })?;
        self.check(Algorithm::Distributed, &self.layout, &output, rank)?;
        Ok(Timed { planning_seconds: 0.0, seconds })
    }

    /// Planning is all that is needed to have requests that can be started: processor 0 constructs
    /// the tree and tells it to all, who find their parts in it and set up their requests.
    fn tree(
        &self,
        construction: Construction,
        pace: Pace,
        protocol: Protocol,
        communicator: &Rc<Communicator>,
    ) -> Result<Option<Timed>, BenchError> {
        let rank = communicator.rank();
        let (input, mut output) = self.buffers(&self.layout, rank);
        communicator.barrier()?;
        let start = Instant::now();
        let Some(tree) = self.agreed_tree(construction, communicator)? else { return Ok(None) };
        let schedule = Schedule::without_costs(&tree, self.problem.collective())?;
        let part = Part::of_schedule(&schedule, rank)?;
        let place = |bytes: &[u8]| Place::of_bytes(bytes.len() as u64);
        let buffers = Buffers::apart(place(&input)?, place(&output)?);
        let mode = match pace {
            Pace::Strict => Mode::Strict,
            Pace::Eager => Mode::Eager,
        };
        let mut execution = Execution::new(&part, buffers, communicator, mode)?;
        let planning_seconds = slowest(communicator, start)?;
        execution.write(Buffer::Input, 0, &input)?;
        let seconds = timed_calls(protocol, communicator, || Ok(execution.run()?))?;
        execution.read(Buffer::Output, 0, &mut output)?;
        self.check(Algorithm::Tree(construction, pace), &self.layout, &output, rank)?;
        Ok(Some(Timed { planning_seconds, seconds }))
    }

    /// The tree that processor 0 constructs, if there is one.
    fn agreed_tree(
        &self,
        construction: Construction,
        communicator: &Communicator,
    ) -> Result<Option<Tree>, BenchError> {
        let text = match communicator.rank() {
            0 => {
                let tree =
                    measured_tree(construction, &self.problem).map_err(BenchError::Construction)?;
                let document = tree.map(|tree| TreeDocument { tree, problem: None });
                serde_json::to_string(&document)
                    .map_err(|error| BenchError::Tree(error.to_string()))?
            }
            _ => String::new(),
        };
        let document: Result<Option<TreeDocument>, _> =
            serde_json::from_str(&communicator.told(&text, 0)?);
        let document = document.map_err(|error| BenchError::Tree(error.to_string()))?;
        Ok(document.map(|document| document.tree))
    }

    /// A processor's input, filled, and its output.
    fn buffers(&self, layout: &ByteLayout, rank: Rank) -> (Vec<u8>, Vec<u8>) {
        let all = || (0..self.sizes.processors()).flat_map(|rank| self.data(layout, rank));
        let all_bytes = if rank == self.root { layout.total() } else { 0 };
        match self.operation {
            Operation::Scatter if rank == self.root => {
                (all().collect(), vec![0; layout.block(rank)])
            }
            Operation::Scatter => (Vec::new(), vec![0; layout.block(rank)]),
            _ => (self.data(layout, rank).collect(), vec![0; all_bytes]),
        }
    }

    /// What a processor contributes or is to have, different at each.
    fn data(&self, layout: &ByteLayout, rank: Rank) -> impl Iterator<Item = u8> + use<> {
        let seed = (rank as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..layout.block(rank) as u64)
            .map(move |at| (seed.wrapping_add(at.wrapping_mul(0xd134_2543_de82_ef95)) >> 56) as u8)
    }

    /// Fails unless the output is what belongs there.
    fn check(
        &self,
        algorithm: Algorithm,
        layout: &ByteLayout,
        output: &[u8],
        rank: Rank,
    ) -> Result<(), BenchError> {
        let check = |of: Rank, range: Range<usize>| {
            let mut pairs = self.data(layout, of).zip(&output[range]);
            match pairs.position(|(expected, &found)| expected != found) {
                Some(at) => {
                    let algorithm = algorithm.name().into_owned();
                    Err(BenchError::Wrong { algorithm, rank: of, at })
                }
                None => Ok(()),
            }
        };
        match self.operation {
            Operation::Scatter => check(rank, 0..output.len()),
            _ if rank != self.root => Ok(()),
            _ => (0..self.sizes.processors()).try_for_each(|of| check(of, layout.range(of))),
        }
    }
}

/// For each repetition the time of the slowest processor. Collective.
fn timed_calls(
    protocol: Protocol,
    communicator: &Communicator,
    mut call: impl FnMut() -> Result<(), BenchError>,
) -> Result<Vec<f64>, BenchError> {
    for _ in 0..protocol.warm_up {
        communicator.barrier()?;
        call()?;
    }
    let mut mine = Vec::with_capacity(protocol.repetitions);
    for _ in 0..protocol.repetitions {
        communicator.barrier()?;
        let start = Instant::now();
        call()?;
        mine.push(start.elapsed().as_secs_f64().max(1e-9));
    }
    Ok(communicator.greatest(&mine)?)
}

/// The time since this start at the processor where it is longest. Collective.
fn slowest(communicator: &Communicator, start: Instant) -> Result<f64, BenchError> {
    Ok(communicator.greatest(&[start.elapsed().as_secs_f64()])?[0])
}
