//! How long operations take: the library's own, padded ones, trees, schedules, and what is chosen.
//!
//! The protocol: everything is set up first, and timed. Then come some rounds that are not timed, and
//! repetitions; in each round every algorithm has its turn, so that what disturbs a machine for a while
//! disturbs all of them. All ranks begin at a moment on which they agree ([`super::clock`]), and a
//! repetition lasts until the last of them is done. Where somebody began late the repetition is done
//! again, up to a quarter of all; then late ones count, too, and are counted. At last
//! what has arrived is compared with what was sent: an algorithm that is fast and wrong fails.
//!
//! # Source
//! TUW section 5: 10 calls to warm up, 75 repetitions, time of the slowest processor; padded operations
//! without copying to and from padded buffers. TUW has a barrier before each, whose exits are further apart
//! than some of these operations take.

mod contents;
mod performer;
mod plans;

use super::clock::{Span, Starts};
use super::library::{CallLayout, LibraryCall};
use crate::collective::{CollectiveError, Collectives};
use crate::planning::{judged_library, suits};
use crate::play::ExecutionError;
use crate::settings;
use crate::sys::{
    AlltoallArguments, ByteLayout, Communicator, Intercommunicator, MpiError, NativeRequest,
    PlaceError, ReduceScatterArguments, library_version,
};
use performer::Performer;
use plans::{Foreseen, Shared};
use std::rc::Rc;
use tuwtree_measure::{Algorithm, Delayed, Prediction, median};
use tuwtree_model::document::Machine;
use tuwtree_model::{
    BlockSizes, ClosedSet, GroupSizes, Handling, MessageSizes, Operation, Payload, Problem, Rank,
    Root, Service, StatedCosts, Vector,
};
use tuwtree_schedule::part::PartError;
use tuwtree_schedule::{Buffer, OfTreeError};

/// Trees by name keep to no window.
const AT_ONCE: Handling =
    Handling { service: Service::AllPosted, sends_empty: false, ignores_window: true };

/// How often each algorithm is called.
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
    /// Who it is; by default the rank, of the first tree among the algorithms that has some between the root
    /// and leaves, with most ranks below it. The same for all algorithms.
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

/// What is to be moved or combined, and from where, if there is a root. The same at all processors.
#[derive(Clone, Debug)]
pub struct MeasuredProblem {
    operation: Operation,
    data: MeasuredData,
    root: Rank,
    /// The blocks; a vector is one.
    layout: ByteLayout,
    padded: ByteLayout,
    /// By which trees and schedules are planned.
    problem: Problem,
    /// How many bytes may be under way to a process at once where calls choose their trees.
    window: Option<u64>,
}

/// The times of an algorithm. The same at all processors.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// Whose times they are.
    pub algorithm: Algorithm,
    /// What planning and setting up took until the last processor was done; 0 where there is nothing
    /// to plan.
    pub planning_seconds: f64,
    /// What it takes to set up the same once more where the first has left what they share: the median of
    /// some; none for what shares nothing.
    pub further_seconds: Option<f64>,
    /// What the first calls took, where these plan for those that follow.
    pub first_seconds: Vec<f64>,
    /// What the model says that it takes; none where it says nothing.
    pub predicted: Option<Prediction>,
    /// For each repetition the time until the last processor was done.
    pub seconds: Vec<f64>,
    /// How many of these began late at some processor.
    pub late: usize,
    /// The same while one rank begins late.
    pub delayed: Vec<Delayed>,
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
    /// A plan could not be performed.
    #[error(transparent)]
    Execution(#[from] ExecutionError),
    /// A part that is none of these processors.
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
        /// Whose result it is.
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
    /// A root out of range, data of another operation, costs for another number of processors.
    pub fn new(
        operation: Operation,
        data: impl Into<MeasuredData>,
        root: Rank,
        costs: &StatedCosts,
    ) -> Result<Option<MeasuredProblem>, String> {
        let data = data.into();
        let payload = match (&data, operation) {
            (MeasuredData::Blocks(sizes), Operation::Alltoall) => {
                MessageSizes::of_senders(sizes).map_err(|error| error.to_string())?.into()
            }
            (MeasuredData::Blocks(sizes), _) => Payload::from(sizes.clone()),
            (MeasuredData::Vector(vector), _) => Payload::from(*vector),
            (MeasuredData::Groups(sizes), _) => Payload::from(sizes.clone()),
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

    /// The same with a window, where calls choose their trees.
    pub fn with_window(self, window: Option<u64>) -> MeasuredProblem {
        MeasuredProblem { window, ..self }
    }

    /// Whether an algorithm is for this problem: the library's own always are, trees and schedules where the
    /// catalogue says so.
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
                let processors = self.problem.processors();
                costs.is_some_and(|costs| {
                    costs.hierarchy().is_some() || costs.homogeneous(processors).is_some()
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
    /// [`BenchError`], not at all processors alike: others may wait.
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
                seconds: Vec::new(),
                late: 0,
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
        while contestants.iter().any(|one| one.timed.seconds.len() < protocol.repetitions) {
            for one in &mut contestants {
                if one.timed.seconds.len() < protocol.repetitions {
                    let span = one.play(self, communicator, starts)?;
                    one.note(span);
                }
            }
        }
        let processors = self.problem.processors();
        if let Some(late) = late.filter(|_| processors > 1) {
            let neighbour = (self.root + 1) % processors;
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
        let unit = native.or(contestants.first()).and_then(|one| median(&one.timed.seconds));
        let unit = unit.unwrap_or(0.0);
        let none = |&factor: &f64| Delayed {
            rank: late,
            delay_seconds: factor * unit,
            seconds: Vec::new(),
            others_seconds: Vec::new(),
        };
        for one in contestants.iter_mut() {
            one.timed.delayed = factors.iter().map(none).collect();
        }
        let others: Vec<Rank> = (0..self.problem.processors())
            .filter(|&rank| rank != late && rank != self.root)
            .collect();
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

    /// Where an algorithm's blocks lie.
    fn layout_of(&self, algorithm: Algorithm) -> &ByteLayout {
        if algorithm.is_irregular() { &self.layout } else { &self.padded }
    }

    /// How the library itself performs the operation. Collective.
    fn library_call(&self, communicator: &Communicator) -> Result<LibraryCall, BenchError> {
        let rank = communicator.rank();
        let layout = match (&self.data, self.operation) {
            (MeasuredData::Blocks(_), Operation::Alltoall) => {
                CallLayout::Messages(self.row(rank), self.layout.clone())
            }
            (MeasuredData::Blocks(_), _) => CallLayout::Blocks(self.layout.clone()),
            (MeasuredData::Vector(_), _) => CallLayout::Vector,
            (MeasuredData::Groups(sizes), _) => {
                let [first, _] = sizes.ranks();
                let others = self.others(rank).map(|rank| self.layout.block(rank) as u64);
                let layout = ByteLayout::new(others).expect("less than all blocks");
                CallLayout::Groups(layout, Intercommunicator::between(first, communicator)?)
            }
        };
        Ok(LibraryCall::new(self.operation, (rank, self.root), layout))
    }

    /// Whatever has to be done before the first call, with what is foreseen of it; `None` if there is no such plan.
    /// Collective.
    fn set_up<'a>(
        &'a self,
        algorithm: Algorithm,
        (row, call, input, output): CallMemory<'a>,
        shared: &mut Shared,
        communicator: &Rc<Communicator>,
    ) -> Result<Option<(Performer<'a>, Foreseen)>, BenchError> {
        let performer = match (algorithm, self.operation) {
            (Algorithm::Native, _) => Performer::Native(call, input, output),
            (Algorithm::Planned(construction, pace), _) => {
                let Some((part, foreseen)) = self.part((construction, pace), communicator)? else {
                    return Ok(None);
                };
                let place = shared.output(part.role().buffer_bytes(Buffer::Output))?;
                let execution = self.execution(&part, pace, (shared, &place), communicator)?;
                return Ok(Some((Performer::Planned(Box::new(execution), place), foreseen)));
            }
            (_, Operation::ReduceScatter) => {
                let arguments = self.layout.exclusive_or(input, output, communicator.rank());
                self.combining(algorithm, arguments, communicator)?
            }
            (_, Operation::Alltoall) => {
                let arguments = self.layout.exchange((row, input), output);
                self.exchanging(algorithm, arguments, communicator)?
            }
            _ => self.moving(algorithm, (input, output), communicator)?,
        };
        let prediction = self.predicted_of_library(algorithm);
        Ok(Some((performer, Foreseen { inner: None, prediction })))
    }

    /// What performs a gather, a scatter or an allgather but by a plan or the library's own call. Collective.
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

    /// What performs a reduce-scatter but by a plan or the library's own call. Collective.
    fn combining<'a>(
        &self,
        algorithm: Algorithm,
        arguments: ReduceScatterArguments<'a>,
        communicator: &Rc<Communicator>,
    ) -> Result<Performer<'a>, BenchError> {
        Ok(match algorithm {
            Algorithm::NativePersistent => {
                Performer::NativePersistent(NativeRequest::new(&arguments, communicator)?)
            }
            _ => Performer::Combining(self.by_machine(None, communicator)?, arguments),
        })
    }

    /// What performs an alltoall but by a plan or the library's own call. Collective.
    fn exchanging<'a>(
        &self,
        algorithm: Algorithm,
        arguments: AlltoallArguments<'a>,
        communicator: &Rc<Communicator>,
    ) -> Result<Performer<'a>, BenchError> {
        Ok(match algorithm {
            Algorithm::NativePersistent => {
                Performer::NativePersistent(NativeRequest::new(&arguments, communicator)?)
            }
            _ => Performer::Exchanging(self.by_machine(None, communicator)?, arguments),
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
            ..Default::default()
        };
        Ok(Collectives::with(communicator.duplicate_again()?, settings))
    }

    /// What the judge says of the library's own calls.
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

/// An algorithm among those that take turns.
struct Contestant<'a> {
    timed: Timed,
    performer: Performer<'a>,
    /// How long the last call took.
    last: f64,
    /// How many late repetitions may still be done again.
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
        self.timed.late += usize::from(span.is_late());
        self.timed.seconds.push(span.seconds);
    }
}
