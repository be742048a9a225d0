//! How long gathers, scatters, allgathers, reduce-scatters and alltoalls take: the library's own, padded ones, trees, and what is chosen.
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

use super::clock::{Span, Starts};
use crate::collective::{CollectiveError, Collectives};
use crate::planning::{judged_library, measured_tree, problem, suits};
use crate::play::{Buffers, Execution, ExecutionError, Mode};
use crate::settings;
use crate::sys::{
    AlltoallArguments, ByteLayout, Communicator, MpiError, NativeRequest, Place, PlaceError,
    ReduceScatterArguments, library_version,
};
use performer::Performer;
use std::rc::Rc;
use tuwtree_measure::{Algorithm, Delayed, Pace, Prediction, median};
use tuwtree_model::document::{Machine, TreeDocument};
use tuwtree_model::{
    BlockSizes, ClosedSet, Construction, Handling, MessageSizes, Operation, Payload, Problem, Rank,
    Service, StatedCosts, Tree, completion_time, judged_time_as,
};
use tuwtree_schedule::part::{Part, PartError};
use tuwtree_schedule::{OfTreeError, Schedule};

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

/// What is to be gathered, scattered or combined, and from where, if there is a root. The same at all processors.
#[derive(Clone, Debug)]
pub struct MeasuredProblem {
    operation: Operation,
    sizes: BlockSizes,
    root: Rank,
    layout: ByteLayout,
    padded: ByteLayout,
    /// By which trees are planned.
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
    /// A gather, scatter, allgather or reduce-scatter of such blocks, or an alltoall in which each rank sends its block to each, for
    /// whose trees messages have these costs; `None` if all blocks, padded to the largest, have 2^31 bytes or more, so that MPI's
    /// counts do not reach.
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
        costs: &StatedCosts,
    ) -> Result<Option<MeasuredProblem>, String> {
        let payload = || match operation {
            Operation::Alltoall => MessageSizes::of_senders(&sizes).map(Payload::from),
            _ => Ok(Payload::from(sizes.clone())),
        };
        let problem = match operation.is_rooted() {
            true => problem(operation.is_outward(), &sizes, root, costs.clone())?,
            false => {
                let payload = payload().map_err(|error| error.to_string())?;
                Problem::new(operation, payload, costs.clone())
                    .map_err(|error| error.to_string())?
            }
        };
        let largest = sizes.iter().max().unwrap_or(0);
        let layouts =
            (ByteLayout::new(sizes.iter()), ByteLayout::new(sizes.iter().map(|_| largest)));
        let (Some(layout), Some(padded)) = layouts else { return Ok(None) };
        let window = None;
        Ok(Some(MeasuredProblem { operation, sizes, root, layout, padded, problem, window }))
    }

    /// The same with a window, where calls choose their trees.
    pub fn with_window(self, window: Option<u64>) -> MeasuredProblem {
        MeasuredProblem { window, ..self }
    }

    /// Whether an algorithm is for this problem: the library's own always are, trees where the
    /// catalogue says so.
    pub fn admits(&self, algorithm: Algorithm) -> bool {
        match algorithm {
            other if !other.is_for(self.operation) => false,
            Algorithm::Tree(construction, _) => suits(construction, &self.problem),
            Algorithm::Regular
            | Algorithm::Padded
            | Algorithm::Native
            | Algorithm::NativePersistent
            | Algorithm::Distributed
            | Algorithm::DistributedPersistent => true,
            Algorithm::Auto => self.machine().is_some(),
            Algorithm::Online | Algorithm::OnlinePersistent => {
                let costs = self.machine().map(|machine| &machine.costs);
                let processors = self.sizes.processors();
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

    /// The sum of all blocks.
    pub fn total_bytes(&self) -> u64 {
        self.layout.total() as u64
    }

    /// The largest block.
    pub fn largest_block_bytes(&self) -> u64 {
        self.padded.block(0) as u64
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
        // Trees share the memory that they move; everything else has its own.
        let (input, output) = self.buffers(&self.layout, rank);
        let place = |bytes: &[u8]| Place::of_bytes(bytes.len() as u64).map(Rc::new);
        let shared = Shared { input: place(&input)?, output: place(&output)? };
        let memory = |one: &Algorithm| match one {
            Algorithm::Tree(..) => (Vec::new(), Vec::new()),
            one => self.buffers(self.layout_of(*one), rank),
        };
        let row = self.row(rank);
        let mut memories: Vec<(Vec<u8>, Vec<u8>)> = algorithms.iter().map(memory).collect();
        let (mut contestants, mut inner) = (Vec::new(), None);
        for (&algorithm, (input, output)) in algorithms.iter().zip(&mut memories) {
            let mut set_up = None;
            let span = starts.timed(0.0, || -> Result<(), BenchError> {
                set_up = self.set_up(algorithm, (&row, input, output), &shared, communicator)?;
                Ok(())
            })?;
            let Some((performer, tree)) = set_up else { continue };
            inner = inner.or_else(|| inner_rank(tree.as_ref()?));
            let predicted = self.predicted(algorithm, tree.as_ref());
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
        shared.input.memory().write(0, &input);
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
        let processors = self.sizes.processors();
        if let Some(late) = late.filter(|_| processors > 1) {
            let neighbour = (self.root + 1) % processors;
            let rank = late.rank.or(inner).unwrap_or(neighbour);
            let who = (rank, &late.factors[..], protocol.repetitions);
            self.delay(&mut contestants, who, communicator, starts)?;
        }
        let mut all = Vec::new();
        for Contestant { timed, mut performer, .. } in contestants {
            if matches!(timed.algorithm, Algorithm::Tree(..)) {
                let mut output = vec![0; output.len()];
                shared.output.memory().write(0, &output);
                performer.perform(self, communicator)?;
                shared.output.memory().read(0, &mut output);
                self.check(timed.algorithm, &self.layout, &output, rank)?;
            }
            all.push(timed);
        }
        for (&algorithm, (_, output)) in algorithms.iter().zip(&memories) {
            if !matches!(algorithm, Algorithm::Tree(..)) {
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
        let others: Vec<Rank> = (0..self.sizes.processors())
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

    /// Whatever has to be done before the first call, with the tree that was planned, if one was; `None` if
    /// there is no such tree. Collective.
    fn set_up<'a>(
        &'a self,
        algorithm: Algorithm,
        (row, input, output): (&'a ByteLayout, &'a [u8], &'a mut [u8]),
        shared: &Shared,
        communicator: &Rc<Communicator>,
    ) -> Result<Option<(Performer<'a>, Option<Tree>)>, BenchError> {
        let rank = communicator.rank();
        if self.operation == Operation::ReduceScatter {
            let arguments = self.layout.exclusive_or(input, output, rank);
            let performer = self.combining(algorithm, arguments, communicator)?;
            return Ok(Some((performer, None)));
        }
        if self.operation == Operation::Alltoall {
            let arguments = self.layout.exchange((row, input), output);
            let performer = self.exchanging(algorithm, arguments, communicator)?;
            return Ok(Some((performer, None)));
        }
        let place = (rank, self.root);
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
        Ok(Some(match algorithm {
            Algorithm::Regular => (Performer::Regular(input, output), None),
            Algorithm::Padded => (Performer::Padded(input, output), None),
            Algorithm::Native => (Performer::Native(arguments(output)), None),
            Algorithm::NativePersistent => {
                let request = NativeRequest::new(&arguments(output), communicator)?;
                (Performer::NativePersistent(request), None)
            }
            // The adaptive tree of TUW Lemma 1, as TUW measures it.
            Algorithm::Distributed => {
                (Performer::Distributed(collectives()?, arguments(output)), None)
            }
            // All that a program waits for that sets up its first operation on a communicator.
            Algorithm::DistributedPersistent => {
                let (collectives, arguments) = (collectives()?, arguments(output));
                let persistent = collectives.init(&arguments)?;
                (Performer::DistributedPersistent(persistent, collectives, arguments), None)
            }
            Algorithm::Auto => (Performer::Distributed(by_machine(None)?, arguments(output)), None),
            Algorithm::Online => (Performer::Online(by_machine(online)?, arguments(output)), None),
            Algorithm::OnlinePersistent => {
                let (collectives, arguments) = (by_machine(online)?, arguments(output));
                let persistent = collectives.init(&arguments)?;
                (Performer::DistributedPersistent(persistent, collectives, arguments), None)
            }
            Algorithm::Tree(construction, pace) => {
                let Some(tree) = self.agreed_tree(construction, communicator)? else {
                    return Ok(None);
                };
                let execution = self.execution(&tree, pace, shared, communicator)?;
                (Performer::Tree(Box::new(execution)), Some(tree))
            }
        }))
    }

    /// What performs a reduce-scatter: the library, or what is chosen. Collective.
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
            Algorithm::Auto => {
                Performer::Combining(Some(self.by_machine(None, communicator)?), arguments)
            }
            _ => Performer::Combining(None, arguments),
        })
    }

    /// What performs an alltoall: the library, or what is chosen. Collective.
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
            Algorithm::Auto => {
                Performer::Exchanging(Some(self.by_machine(None, communicator)?), arguments)
            }
            _ => Performer::Exchanging(None, arguments),
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

    /// What planner and judge say of a tree all of whose messages are posted at once, and the judge of the
    /// library's own calls.
    fn predicted(&self, algorithm: Algorithm, tree: Option<&Tree>) -> Option<Prediction> {
        match (algorithm, tree) {
            (Algorithm::Native | Algorithm::NativePersistent, _) => {
                let judged_seconds = judged_library(&self.problem, &library_version().ok()?)?;
                Some(Prediction { planned_seconds: None, judged_seconds })
            }
            // One message after the other is not judged where latency overlaps.
            (Algorithm::Tree(_, Pace::Strict), _) if self.problem.costs().overlaps() => None,
            (_, Some(tree)) => Some(Prediction {
                planned_seconds: Some(completion_time(tree, &self.problem).ok()?.units()),
                judged_seconds: judged_time_as(tree, &self.problem, AT_ONCE).ok()?.units(),
            }),
            _ => None,
        }
    }

    /// This processor's part in the tree, with its requests set up.
    fn execution(
        &self,
        tree: &Tree,
        pace: Pace,
        shared: &Shared,
        communicator: &Rc<Communicator>,
    ) -> Result<Execution, BenchError> {
        let schedule = Schedule::without_costs(tree, self.problem.collective())?;
        let part = Part::of_schedule(&schedule, communicator.rank())?;
        let buffers = Buffers::apart(Rc::clone(&shared.input), Rc::clone(&shared.output));
        let mode = match pace {
            Pace::Strict => Mode::Strict,
            Pace::Eager => Mode::Eager,
        };
        Ok(Execution::new(&part, buffers, communicator, mode)?)
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
}

/// The rank between root and leaves with most ranks below it, the first of these; `None` if there is none.
fn inner_rank(tree: &Tree) -> Option<Rank> {
    let mut below = vec![0_usize; tree.processors()];
    for rank in tree.top_down().into_iter().rev() {
        if let Some(parent) = tree.parent(rank) {
            below[parent] += below[rank] + 1;
        }
    }
    let inner = (0..below.len()).filter(|&rank| rank != tree.root() && below[rank] > 0);
    inner.rev().max_by_key(|&rank| below[rank])
}

/// The memory that trees share.
struct Shared {
    input: Rc<Place>,
    output: Rc<Place>,
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::Step;

    #[test]
    fn who_is_late_has_most_ranks_below_it_and_is_not_the_root() {
        let tree = |links: &[(Rank, Rank)]| {
            let mut steps: Vec<(Rank, Step)> = Vec::new();
            let inner = [0, 3, 4, 1];
            for at in inner.into_iter().filter(|at| links.iter().any(|(parent, _)| parent == at)) {
                steps.push((at, Step::Copy));
                let children = links.iter().filter(|(parent, _)| *parent == at);
                steps.extend(children.map(|&(_, child)| (at, Step::Receive(child))));
            }
            Tree::new(6, 0, &steps).unwrap()
        };
        // 0 <- (1 <- 2), 0 <- (3 <- (4 <- 5)).
        assert_eq!(inner_rank(&tree(&[(0, 1), (1, 2), (0, 3), (3, 4), (4, 5)])), Some(3));
        // Two with as many.
        assert_eq!(inner_rank(&tree(&[(0, 1), (1, 2), (0, 3), (3, 4), (0, 5)])), Some(1));
        assert_eq!(inner_rank(&tree(&[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)])), None);
    }
}
