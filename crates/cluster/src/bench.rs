//! Times of operations: the library's own, padded ones, trees, schedules, and the recommended
//! algorithm.
//!
//! The protocol: setting up comes first, and is timed. Untimed rounds follow, then repetitions; in each round every
//! algorithm has its turn, so that a disturbance of the machine affects all of them. All ranks begin at an agreed
//! moment ([`super::clock`]), and a repetition lasts until the last rank is done. A repetition with a late start is
//! repeated, up to as many as there are repetitions; further late ones are kept and listed, and enter no verdict. Finally the received data is compared with
//! the sent data: an algorithm that is fast and wrong fails.
//!
//! # Source
//! TUW section 5: 10 calls to warm up, 75 repetitions, time of the slowest rank; padded operations
//! without copying to and from padded buffers. TUW has a barrier before each, whose exits are further apart
//! than some of these operations take.

mod contents;
mod performer;
mod plans;

use super::clock::{Span, Starts};
use super::library::{CallLayout, LibraryCall};
use performer::Performer;
use plans::suits;
use plans::{Foreseen, Shared};
use std::rc::Rc;
use tuwtree_binding::{
    Arguments, ByteLayout, Communicator, Intercommunicator, MpiError, NativeRequest, PlaceError,
    library_version,
};
use tuwtree_executor::collective::{CollectiveError, Collectives};
use tuwtree_executor::play::ExecutionError;
use tuwtree_executor::settings;
use tuwtree_measure::{Algorithm, Delayed, LateStarts, Prediction, Repetitions};
use tuwtree_model::document::Machine;
use tuwtree_model::{
    BlockSizes, ClosedSet, GroupSizes, Handling, Operation, Payload, PayloadKind, Problem, Rank,
    Root, Service, StatedCosts, Vector,
};
use tuwtree_plan::judged_library;
use tuwtree_schedule::part::PartError;
use tuwtree_schedule::{Buffer, OfTreeError};

/// Trees by name keep to no window.
const AT_ONCE: Handling =
    Handling { service: Service::AllPosted, sends_empty: false, ignores_window: true };

/// Number of calls of each algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Calls that are not timed.
    pub warm_up: usize,
    /// Calls that are timed, at least one.
    pub repetitions: usize,
}

/// A rank that begins late, after all has been timed without.
#[derive(Clone, Debug, PartialEq)]
pub struct LateRank {
    /// The late rank; by default, in the first tree among the algorithms with a rank between the root and leaves, the
    /// rank there with most ranks below it. Equal for all algorithms.
    pub rank: Option<Rank>,
    /// By how many times the median of the library's own call it begins late.
    pub factors: Vec<f64>,
}

/// The data of a measured operation.
#[derive(Clone, Debug)]
pub enum MeasuredData {
    /// A block for each rank; in an alltoall the message that it sends to each.
    Blocks(BlockSizes),
    /// A vector of a broadcast, a reduction or an allreduce.
    Vector(Vector),
    /// The blocks of two groups.
    Groups(GroupSizes),
}

impl From<BlockSizes> for MeasuredData {
    fn from(sizes: BlockSizes) -> MeasuredData {
        MeasuredData::Blocks(sizes)
    }
}

/// Operation and data; equal at all ranks.
#[derive(Clone, Debug)]
pub struct MeasuredProblem {
    operation: Operation,
    data: MeasuredData,
    root: Rank,
    /// The blocks; a vector is one.
    layout: ByteLayout,
    padded: ByteLayout,
    /// Basis of trees and schedules.
    problem: Problem,
    /// Most bytes under way to a process at once, where calls choose their trees; unlimited if
    /// `None`.
    window: Option<u64>,
}

/// The times of an algorithm. The same at all ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// The timed algorithm.
    pub algorithm: Algorithm,
    /// Time of planning and setting up, until the last rank was done; 0 without a plan.
    pub planning_seconds: f64,
    /// Median time of setting up once more on a communicator that keeps shared parts; `None` if nothing is shared.
    pub further_seconds: Option<f64>,
    /// Times of the first calls, where these plan for later ones.
    pub first_seconds: Vec<f64>,
    /// The model's prediction; `None` without one.
    pub predicted: Option<Prediction>,
    /// The times of the repetitions, with a list of late starts.
    pub times: Repetitions,
    /// Times with one rank late.
    pub delayed: Vec<Delayed>,
}

/// Reason for which no times exist.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// MPI failed.
    #[error(transparent)]
    Mpi(#[from] MpiError),
    /// A gather or scatter failed that constructs its tree.
    #[error(transparent)]
    Collective(#[from] CollectiveError),
    /// A plan could not be performed.
    #[error(transparent)]
    Execution(#[from] ExecutionError),
    /// A part that is none of these ranks.
    #[error(transparent)]
    Part(#[from] PartError),
    /// No memory for the blocks.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// A tree that has no schedule.
    #[error(transparent)]
    Schedule(#[from] OfTreeError),
    /// A tree that could not be constructed: which, and why.
    #[error("{0}")]
    Construction(String),
    /// A wrong result.
    #[error("{algorithm}: byte {at} of the data of rank {rank} is wrong")]
    Wrong {
        /// The failed algorithm.
        algorithm: String,
        /// The rank that has the wrong data.
        rank: Rank,
        /// The position of the first wrong byte in its data.
        at: usize,
    },
}

impl MeasuredProblem {
    /// The operation on such data, for whose plans messages have these costs; `None` if all blocks, padded to the largest,
    /// have 2^31 bytes or more, so that MPI's counts do not reach.
    ///
    /// # Errors
    /// A root out of range, data of another operation, costs for another number of ranks.
    pub fn new(
        operation: Operation,
        data: impl Into<MeasuredData>,
        root: Rank,
        costs: &StatedCosts,
    ) -> Result<Option<MeasuredProblem>, String> {
        let data = data.into();
        let payload = match &data {
            MeasuredData::Blocks(sizes) => {
                let blocks = Payload::from(sizes.clone());
                blocks.adapted_to(operation).map_err(|error| error.to_string())?
            }
            MeasuredData::Vector(vector) => Payload::from(*vector),
            MeasuredData::Groups(sizes) => Payload::from(sizes.clone()),
        };
        let problem = Problem::new(operation, payload, costs.clone());
        let problem = match operation.is_rooted() {
            true => problem.and_then(|problem| problem.with_root(Root::Given(root))),
            false => problem,
        };
        let problem = problem.map_err(|error| error.to_string())?;
        let (layout, padded) = match &data {
            MeasuredData::Blocks(sizes) => {
                let largest = sizes.iter().max().unwrap_or(0);
                let padded = ByteLayout::new(sizes.iter().map(|_| largest));
                (ByteLayout::new(sizes.iter()), padded)
            }
            MeasuredData::Vector(vector) => {
                let layout = ByteLayout::new([vector.bytes]);
                (layout.clone(), layout)
            }
            MeasuredData::Groups(sizes) => {
                let layout = ByteLayout::new(sizes.blocks().iter());
                (layout.clone(), layout)
            }
        };
        let (Some(layout), Some(padded)) = (layout, padded) else { return Ok(None) };
        let window = None;
        Ok(Some(MeasuredProblem { operation, data, root, layout, padded, problem, window }))
    }

    /// Sets the window, where calls choose their trees.
    pub fn with_window(self, window: Option<u64>) -> MeasuredProblem {
        MeasuredProblem { window, ..self }
    }

    /// True if an algorithm performs this problem: the library's own always do, trees and schedules according to the
    /// catalogue.
    pub fn admits(&self, algorithm: Algorithm) -> bool {
        match algorithm {
            other if !other.is_for(self.operation) => false,
            Algorithm::Planned(construction, _) => suits(construction, &self.problem),
            Algorithm::Regular
            | Algorithm::Padded
            | Algorithm::Native
            | Algorithm::NativePersistent
            | Algorithm::Distributed
            | Algorithm::DistributedPersistent => true,
            Algorithm::Auto => self.machine().is_some(),
            Algorithm::Online | Algorithm::OnlinePersistent => {
                let costs = self.machine().map(|machine| &machine.costs);
                let ranks = self.problem.ranks();
                costs.is_some_and(|costs| {
                    costs.hierarchy().is_some() || costs.homogeneous(ranks).is_some()
                })
            }
        }
    }

    /// The machine whose costs trees are planned with, if these are a machine's.
    fn machine(&self) -> Option<&Machine> {
        match self.problem.stated_costs() {
            StatedCosts::Machine(machine) => Some(machine),
            StatedCosts::Parameters(_) => None,
        }
    }

    /// The sum of all blocks, or the vector.
    pub fn total_bytes(&self) -> u64 {
        self.layout.total() as u64
    }

    /// The largest block.
    pub fn largest_block_bytes(&self) -> u64 {
        self.layout.largest() as u64
    }

    /// The times of these algorithms, those left out that this library does not have, or that have no
    /// tree for the problem; at last, if that is wanted, while a rank begins late. Collective.
    ///
    /// # Errors
    /// [`BenchError`], not at all ranks alike: others may wait.
    pub fn timed(
        &self,
        algorithms: &[Algorithm],
        (protocol, late): (Protocol, Option<&LateRank>),
        communicator: &Rc<Communicator>,
        starts: &mut Starts,
    ) -> Result<Vec<Timed>, BenchError> {
        let rank = communicator.rank();
        let has =
            |one: &Algorithm| *one != Algorithm::NativePersistent || Communicator::has_persistent();
        let algorithms: Vec<Algorithm> = algorithms.iter().copied().filter(has).collect();
        // What is planned shares the memory that it moves; everything else has its own.
        let (input, output) = self.buffers(&self.layout, rank);
        let mut shared = Shared::new(&input)?;
        let memory = |one: &Algorithm| match one {
            Algorithm::Planned(..) => (Vec::new(), Vec::new()),
            one => self.buffers(self.layout_of(*one), rank),
        };
        let call = self.library_call(communicator)?;
        let row = self.row(rank);
        let mut memories: Vec<(Vec<u8>, Vec<u8>)> = algorithms.iter().map(memory).collect();
        let (mut contestants, mut inner) = (Vec::new(), None);
        for (&algorithm, (input, output)) in algorithms.iter().zip(&mut memories) {
            let mut set_up = None;
            let span = starts.timed(0.0, || -> Result<(), BenchError> {
                let memory = (&row, &call, input.as_slice(), output.as_mut_slice());
                set_up = self.set_up(algorithm, memory, &mut shared, communicator)?;
                Ok(())
            })?;
            let Some((performer, foreseen)) = set_up else { continue };
            inner = inner.or(foreseen.inner);
            let predicted = foreseen.prediction;
            let planning_seconds = if performer.is_planned() { span.seconds } else { 0.0 };
            let timed = Timed {
                algorithm,
                planning_seconds,
                further_seconds: performer.further_seconds(starts)?,
                first_seconds: Vec::new(),
                predicted,
                times: Repetitions { seconds: Vec::new(), late: LateStarts::Listed(Vec::new()) },
                delayed: Vec::new(),
            };
            contestants.push(Contestant {
                timed,
                performer,
                last: 0.0,
                spare: protocol.repetitions,
            });
        }
        shared.hold(&output);
        for _ in 0..protocol.warm_up {
            for one in &mut contestants {
                let span = one.play(self, communicator, starts)?;
                if matches!(one.timed.algorithm, Algorithm::Auto | Algorithm::Online) {
                    one.timed.first_seconds.push(span.seconds);
                }
            }
        }
        while contestants.iter().any(|one| one.timed.times.seconds.len() < protocol.repetitions) {
            for one in &mut contestants {
                if one.timed.times.seconds.len() < protocol.repetitions {
                    let span = one.play(self, communicator, starts)?;
                    one.note(span);
                }
            }
        }
        let ranks = self.problem.ranks();
        if let Some(late) = late.filter(|_| ranks > 1) {
            let neighbour = (self.root + 1) % ranks;
            let rank = late.rank.or(inner).unwrap_or(neighbour);
            let who = (rank, &late.factors[..], protocol.repetitions);
            self.delay(&mut contestants, who, communicator, starts)?;
        }
        let mut all = Vec::new();
        for Contestant { timed, mut performer, .. } in contestants {
            if let Performer::Planned(_, place) = &performer {
                let place = Rc::clone(place);
                let mut found = vec![0; place.packed_bytes() as usize];
                found[..output.len()].copy_from_slice(&output);
                place.memory().write(0, &found);
                performer.perform(self, communicator)?;
                place.memory().read(0, &mut found);
                let result = &found[self.result(rank, found.len())];
                self.check(timed.algorithm, &self.layout, result, rank)?;
            }
            all.push(timed);
        }
        for (&algorithm, (_, output)) in algorithms.iter().zip(&memories) {
            if !matches!(algorithm, Algorithm::Planned(..)) {
                self.check(algorithm, self.layout_of(algorithm), output, rank)?;
            }
        }
        Ok(all)
    }

    /// Times all once more while a rank begins late, by these times the median of the library's own call.
    fn delay(
        &self,
        contestants: &mut [Contestant<'_>],
        (late, factors, repetitions): (Rank, &[f64], usize),
        communicator: &Communicator,
        starts: &mut Starts,
    ) -> Result<(), BenchError> {
        let native = contestants.iter().find(|one| one.timed.algorithm == Algorithm::Native);
        let unit = native.or(contestants.first()).map_or(0.0, |one| one.timed.times.median());
        let none = |&factor: &f64| Delayed {
            rank: late,
            delay_seconds: factor * unit,
            seconds: Vec::new(),
            others_seconds: Vec::new(),
        };
        for one in contestants.iter_mut() {
            one.timed.delayed = factors.iter().map(none).collect();
        }
        let others: Vec<Rank> =
            (0..self.problem.ranks()).filter(|&rank| rank != late && rank != self.root).collect();
        for _ in 0..repetitions {
            for one in contestants.iter_mut() {
                for index in 0..factors.len() {
                    let delay = one.timed.delayed[index].delay_seconds;
                    let own = if communicator.rank() == late { delay } else { 0.0 };
                    let expected = delay + 1.25 * one.last;
                    let performer = &mut one.performer;
                    let (span, spent) = starts
                        .timed_late(expected, own, || performer.perform(self, communicator))?;
                    let spent = communicator.all_numbers(spent.max(0.0).to_bits())?;
                    let spent = others.iter().map(|&rank| f64::from_bits(spent[rank]));
                    let delayed = &mut one.timed.delayed[index];
                    delayed.seconds.push(span.seconds);
                    delayed.others_seconds.push(spent.sum::<f64>() / others.len().max(1) as f64);
                }
            }
        }
        Ok(())
    }

    /// Layout of an algorithm's blocks.
    fn layout_of(&self, algorithm: Algorithm) -> &ByteLayout {
        if algorithm.is_irregular() { &self.layout } else { &self.padded }
    }

    /// The library's own call for the operation. Collective.
    fn library_call(&self, communicator: &Communicator) -> Result<LibraryCall, BenchError> {
        let rank = communicator.rank();
        let layout = match &self.data {
            MeasuredData::Blocks(_) if self.operation.payload_kind() == PayloadKind::Messages => {
                CallLayout::Messages(self.row(rank), self.layout.clone())
            }
            MeasuredData::Blocks(_) => CallLayout::Blocks(self.layout.clone()),
            MeasuredData::Vector(_) => CallLayout::Vector,
            MeasuredData::Groups(sizes) => {
                let [first, _] = sizes.ranks();
                let others = self.others(rank).map(|rank| self.layout.block(rank) as u64);
                let layout = ByteLayout::new(others).expect("less than all blocks");
                CallLayout::Groups(layout, Intercommunicator::between(first, communicator)?)
            }
        };
        Ok(LibraryCall::new(self.operation, (rank, self.root), layout))
    }

    /// Prepares the first call, and predicts it; `None` without a plan. Collective.
    fn set_up<'a>(
        &'a self,
        algorithm: Algorithm,
        (row, call, input, output): CallMemory<'a>,
        shared: &mut Shared,
        communicator: &Rc<Communicator>,
    ) -> Result<Option<(Performer<'a>, Foreseen)>, BenchError> {
        let performer = match algorithm {
            Algorithm::Native => Performer::Native(call, input, output),
            Algorithm::Planned(construction, pace) => {
                let Some((part, foreseen)) = self.part((construction, pace), communicator)? else {
                    return Ok(None);
                };
                let place = shared.output(part.role().buffer_bytes(Buffer::Output))?;
                let execution = self.execution(&part, pace, (shared, &place), communicator)?;
                return Ok(Some((Performer::Planned(Box::new(execution), place), foreseen)));
            }
            _ if self.operation.is_reduction() => {
                let arguments = self.layout.exclusive_or(input, output, communicator.rank());
                self.rootless(algorithm, arguments, communicator)?
            }
            _ if self.operation.payload_kind() == PayloadKind::Messages => {
                let arguments = self.layout.exchange((row, input), output);
                self.rootless(algorithm, arguments, communicator)?
            }
            _ => self.moving(algorithm, (input, output), communicator)?,
        };
        let prediction = self.predicted_of_library(algorithm);
        Ok(Some((performer, Foreseen { inner: None, prediction })))
    }

    /// Performer of a gather, a scatter or an allgather without a plan. Collective.
    fn moving<'a>(
        &'a self,
        algorithm: Algorithm,
        (input, output): (&'a [u8], &'a mut [u8]),
        communicator: &Rc<Communicator>,
    ) -> Result<Performer<'a>, BenchError> {
        let place = (communicator.rank(), self.root);
        let arguments = |output| self.layout.arguments(self.operation, input, output, place);
        let collectives = || -> Result<Collectives, BenchError> {
            let collectives = Collectives::new(communicator.duplicate_again()?)?;
            // Whatever the environment wants.
            let rule = settings::Algorithm::AdaptiveGatherTime;
            collectives.set(settings::Setting::Algorithm, rule.name())?;
            Ok(collectives)
        };
        let by_machine = |stated| self.by_machine(stated, communicator);
        let online = Some(settings::Algorithm::DeadlineOnline);
        Ok(match algorithm {
            Algorithm::Regular => Performer::Regular(input, output),
            Algorithm::Padded => Performer::Padded(input, output),
            Algorithm::NativePersistent => {
                Performer::NativePersistent(NativeRequest::new(&arguments(output), communicator)?)
            }
            // The adaptive tree of TUW Lemma 1, as TUW measures it.
            Algorithm::Distributed => Performer::Distributed(collectives()?, arguments(output)),
            // All that a program waits for that sets up its first operation on a communicator.
            Algorithm::DistributedPersistent => {
                let (collectives, arguments) = (collectives()?, arguments(output));
                let persistent = collectives.init(&arguments)?;
                Performer::DistributedPersistent(persistent, collectives, arguments)
            }
            Algorithm::Online => Performer::Online(by_machine(online)?, arguments(output)),
            Algorithm::OnlinePersistent => {
                let (collectives, arguments) = (by_machine(online)?, arguments(output));
                let persistent = collectives.init(&arguments)?;
                Performer::DistributedPersistent(persistent, collectives, arguments)
            }
            Algorithm::Auto | Algorithm::Native | Algorithm::Planned(..) => {
                Performer::Distributed(by_machine(None)?, arguments(output))
            }
        })
    }

    /// Performer of a reduce-scatter or an alltoall without a plan. Collective.
    fn rootless<'a>(
        &self,
        algorithm: Algorithm,
        arguments: Arguments<'a>,
        communicator: &Rc<Communicator>,
    ) -> Result<Performer<'a>, BenchError> {
        Ok(match algorithm {
            Algorithm::NativePersistent => {
                Performer::NativePersistent(NativeRequest::new(&arguments, communicator)?)
            }
            _ => Performer::Distributed(self.by_machine(None, communicator)?, arguments),
        })
    }

    /// Collective operations by the machine's costs. Collective.
    fn by_machine(
        &self,
        stated: Option<settings::Algorithm>,
        communicator: &Communicator,
    ) -> Result<Collectives, BenchError> {
        let settings = settings::Settings {
            stated,
            machine: self.machine().cloned(),
            window: self.window,
            // The library's own call is timed beside it.
            is_trying: false,
            ..Default::default()
        };
        Ok(Collectives::with(communicator.duplicate_again()?, settings))
    }

    /// The judge's prediction of the library's own calls.
    fn predicted_of_library(&self, algorithm: Algorithm) -> Option<Prediction> {
        if !matches!(algorithm, Algorithm::Native | Algorithm::NativePersistent) {
            return None;
        }
        let judged_seconds = judged_library(&self.problem, &library_version().ok()?)?;
        Some(Prediction { planned_seconds: None, judged_seconds })
    }
}

/// A row of an alltoall, the library's call, an input and an output.
type CallMemory<'a> = (&'a ByteLayout, &'a LibraryCall, &'a [u8], &'a mut [u8]);

/// One of the algorithms that take turns.
struct Contestant<'a> {
    timed: Timed,
    performer: Performer<'a>,
    /// Time of the last call.
    last: f64,
    /// Late repetitions that may still be repeated.
    spare: usize,
}

impl Contestant<'_> {
    fn play(
        &mut self,
        problem: &MeasuredProblem,
        communicator: &Communicator,
        starts: &mut Starts,
    ) -> Result<Span, BenchError> {
        let performer = &mut self.performer;
        let span = starts.timed(1.25 * self.last, || performer.perform(problem, communicator))?;
        self.last = span.seconds;
        Ok(span)
    }

    /// Notes a repetition, unless it began late and may be done again.
    fn note(&mut self, span: Span) {
        if span.is_late() && self.spare > 0 {
            self.spare -= 1;
            return;
        }
        let Repetitions { seconds, late } = &mut self.timed.times;
        if let LateStarts::Listed(late) = late
            && span.is_late()
        {
            late.push(seconds.len());
        }
        seconds.push(span.seconds);
    }
}
