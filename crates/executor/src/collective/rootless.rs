//! Operations without a root: every rank has all sizes, and works out the same plan by itself, without a message.
//!
//! With `auto` a [`Trial`] gives some calls of each class of sizes to the library, and all of them if that is faster. The first
//! two of an allgather are the library's, without a plan or a communicator of our own.
//!
//! Plans are kept: calls with equal counts reuse the plan of the first, and with equal layouts also its messages. Ranks
//! compare their arguments in calls 1, 2, 4, 8, ... only, and only for unchanged programs.

use super::alltoall::AlltoallChecks;
use super::circulating::{Circulating, RankMessages, TAGS, rounds_of_a_batch};
use super::trial::{Trial, Way};
use super::{CollectiveError, Collectives, learned, rounds};
use crate::play::Strictness;
use crate::settings::{RootlessAlgorithm, RootlessChoice};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_int;
use std::rc::Rc;
use std::time::Instant;
use tuwtree_binding::{
    ArgumentError, Arguments, Communicator, Datatype, Handles, Kept, MpiError, Operator,
    ParsedReduction, Place, Reuse, RootlessPlaces, library_version, processor_name,
};
use tuwtree_collective::nodes::rank_messages;
use tuwtree_collective::{Circulation, Flow, RankRounds};
use tuwtree_model::{BlockSizes, Operation, Rank};
use tuwtree_plan::Library;
use tuwtree_plan::local_choice::{KnownRule, Pattern, Prices, pattern};
use tuwtree_schedule::Piece;

/// No more plans are kept on a communicator.
const MOST_KEPT: usize = 8;

/// Nothing can be gained against the library's own call on fewer processes.
const LEAST_PROCESSES: usize = 3;

/// A communicator's state for operations without a root.
#[derive(Debug, Default)]
pub(super) struct RootlessPlans {
    /// The last first.
    kept: RefCell<Vec<RootlessPlan>>,
    prices: RefCell<Option<Rc<Prices>>>,
    /// The ranks of each node.
    nodes: RefCell<Option<Rc<Vec<Vec<Rank>>>>>,
    /// The communicator and the first of the tags of calls.
    tags: RefCell<Option<(Rc<Communicator>, c_int)>>,
    /// Of allgathers and reduce-scatters of programs that do not know of us.
    checks: [Checks; 2],
    /// Our calls against the library's own, by operation and class of sizes.
    trials: RefCell<HashMap<(Operation, u32), Trial>>,
    /// State of alltoalls.
    pub(super) alltoalls: AlltoallChecks,
}

/// Schedule of comparisons.
#[derive(Debug, Default)]
struct Checks {
    /// Number of calls.
    calls: Cell<u64>,
    /// True if arguments disagreed at the last comparison.
    is_loose: Cell<bool>,
}

impl RootlessPlans {
    /// Forgets all plans: settings have changed.
    pub(super) fn clear(&self) {
        self.kept.borrow_mut().clear();
        self.prices.replace(None);
        self.trials.borrow_mut().clear();
        self.alltoalls.clear();
    }
}

impl RootlessPlans {
    /// The places of the last allgather of this kind that can be performed again.
    fn places(&self, is_wanted: impl Fn(&RootlessPlan) -> bool) -> Option<RootlessPlaces> {
        let kept = self.kept.borrow();
        let plan = kept.iter().find(|one| !one.operation.is_reduction() && is_wanted(one))?;
        plan.performer.as_ref().map(|performer| performer.places().clone())
    }
}

/// Plan for an operation with certain counts.
#[derive(Debug)]
struct RootlessPlan {
    operation: Operation,
    sizes: BlockSizes,
    element_bytes: u64,
    /// None for the library's own call.
    pattern: Option<Pattern>,
    /// The last performer, if reusable.
    performer: Option<Box<Circulating>>,
}

/// Meaning of a call's arguments.
struct RootlessCall {
    operation: Operation,
    places: RootlessPlaces,
    sizes: BlockSizes,
    /// Alignment of cuts in bytes.
    element_bytes: u64,
    /// Datatype and operator of a reduce-scatter.
    combining: Option<(Datatype, Operator)>,
    /// True if the library has such a call.
    is_for_library: bool,
    /// Fault in the own block, which does not stop the other ranks.
    fault: Option<ArgumentError>,
}

impl Collectives {
    /// Performs an allgather and returns its algorithm. Collective.
    ///
    /// # Errors
    /// [`CollectiveError`].
    pub(super) fn run_allgather(
        &self,
        arguments: &Arguments<'_>,
    ) -> Result<RootlessAlgorithm, CollectiveError> {
        self.allgather(arguments, Strictness::Exact)
    }

    /// Performs an allgather; strictness bounds the size of a rank's own block from below.
    fn allgather(
        &self,
        arguments: &Arguments<'_>,
        strictness: Strictness,
    ) -> Result<RootlessAlgorithm, CollectiveError> {
        let is_for_library = arguments.are_for_library(self.comm.size());
        if is_for_library && self.is_native(arguments.operation()) {
            self.comm.native(arguments)?;
            return Ok(RootlessAlgorithm::Native);
        }
        let kept = self.rootless.places(|_| true);
        let mut call = self.parsed_allgather(arguments, Handles::Lent, kept.as_ref())?;
        let is_of = |plan: &RootlessPlan| plan.sizes == call.sizes;
        if !self.rootless.kept.borrow().first().is_some_and(is_of)
            && let Some(kept) = self.rootless.places(is_of)
        {
            call = self.parsed_allgather(arguments, Handles::Lent, Some(&kept))?;
        }
        let may_be_less = strictness == Strictness::Loose;
        let is_allowed = |fault: &ArgumentError| matches!(fault, ArgumentError::OwnBlock { own, counted } if may_be_less && own < counted);
        call.fault = call.fault.filter(|fault| !is_allowed(fault));
        self.run_rootless(call, || self.comm.native(arguments))
    }

    /// Performs a reduce-scatter and returns its algorithm. Operators that do not commute are the library's, and
    /// elements with gaps. Collective.
    ///
    /// # Errors
    /// [`CollectiveError`].
    pub(super) fn run_reduce_scatter(
        &self,
        arguments: &Arguments<'_>,
    ) -> Result<RootlessAlgorithm, CollectiveError> {
        let native = || self.comm.native(arguments);
        let is_for_library = arguments.are_for_library(self.comm.size());
        if is_for_library && self.is_native(arguments.operation()) {
            native()?;
            return Ok(RootlessAlgorithm::Native);
        }
        match self.parsed_reduce_scatter(arguments, Handles::Lent)? {
            Some(call) => self.run_rootless(call, native),
            None => {
                native()?;
                Ok(RootlessAlgorithm::Native)
            }
        }
    }

    /// True if the operation is the library's for all sizes.
    pub(super) fn is_native(&self, operation: Operation) -> bool {
        match self.settings().rootless(operation).algorithm {
            RootlessAlgorithm::Native => true,
            RootlessAlgorithm::Auto => self.comm.size() < LEAST_PROCESSES,
            _ => false,
        }
    }

    /// Performs an operation by its plan, or by the library's own call.
    fn run_rootless(
        &self,
        mut call: RootlessCall,
        native: impl FnOnce() -> Result<(), MpiError>,
    ) -> Result<RootlessAlgorithm, CollectiveError> {
        let total = call.sizes.total();
        let key = (call.operation, learned::log2_bytes(total));
        let is_tried = self.is_tried(call.operation, call.is_for_library);
        if is_tried && self.rootless.trials.borrow().get(&key).is_none_or(Trial::begins_early) {
            let early = |_| {
                call.let_go();
                Ok(native()?)
            };
            let (_, done) = self.by_turns(key, call.is_for_library, early)?;
            return done.map(|()| RootlessAlgorithm::Native);
        }
        let mut plan = self.plan_for(&call)?;
        let Some(pattern) = plan.pattern else {
            self.keep(plan);
            call.let_go();
            native()?;
            return Ok(RootlessAlgorithm::Native);
        };
        let (fault, rank) = (call.fault.take(), self.comm.rank());
        let (way, done) = self.by_turns(key, call.is_for_library, |way| match way {
            Way::Ours => self.perform(&mut plan, pattern, call),
            Way::Library => {
                call.let_go();
                Ok(native()?)
            }
        })?;
        self.keep(plan);
        let algorithm = match way {
            Way::Library => RootlessAlgorithm::Native,
            Way::Ours => pattern.algorithm(),
        };
        match fault {
            Some(error) => Err(CollectiveError::Argument { rank, error }),
            None => done.map(|()| algorithm),
        }
    }

    /// Performs a call in the way whose turn it is; in ours without a choice. Collective; `key` is equal at all ranks.
    ///
    /// # Errors
    /// What MPI returns in a decision; the call's own error is in the result.
    pub(super) fn by_turns<T>(
        &self,
        key: (Operation, u32),
        is_for_library: bool,
        perform: impl FnOnce(Way) -> Result<T, CollectiveError>,
    ) -> Result<(Way, Result<T, CollectiveError>), CollectiveError> {
        if !self.is_tried(key.0, is_for_library) {
            return Ok((Way::Ours, perform(Way::Ours)));
        }
        let known = self.rootless.trials.borrow_mut().remove(&key);
        let mut trial = known.unwrap_or_else(|| self.new_trial(key));
        let way = trial.begin(trial.calls() + 1);
        let begin = Instant::now();
        let done = perform(way);
        trial.note(way, begin.elapsed());
        let decided = trial.due().map_or(Ok(()), |times| trial.decide(times, &self.comm));
        learned::note((key.0, self.comm.size(), key.1), &trial, way);
        self.rootless.trials.borrow_mut().insert(key, trial);
        decided?;
        Ok((way, done))
    }

    /// A trial of calls of this operation and binary logarithm of all bytes, which may have times of earlier runs.
    fn new_trial(&self, (operation, log2_bytes): (Operation, u32)) -> Trial {
        let mut trial = Trial::default();
        if let Some(seconds) = self.settings().learned(operation, log2_bytes) {
            trial.learn(seconds);
        }
        trial
    }

    /// True if some calls are the library's for comparison. A library may combine in another order, so that the bits of results
    /// would change from call to call.
    fn is_tried(&self, operation: Operation, is_for_library: bool) -> bool {
        let settings = self.settings();
        let is_auto = settings.rootless(operation).algorithm == RootlessAlgorithm::Auto;
        is_for_library && is_auto && settings.is_trying && !operation.is_reduction()
    }

    /// Performs an allgather of an unchanged program and returns its algorithm; `None` if the library has to, since
    /// ranks state different amounts. Collective.
    ///
    /// A rank may send less than its block's room, as libraries allow. The rest of its block is then undefined.
    ///
    /// # Errors
    /// As [`run_allgather`](Self::run_allgather).
    ///
    /// # Complexity
    /// In calls 1, 2, 4, ... `ceil(log2 p)` messages follow one another beforehand, of 16 bytes for each process
    /// at most.
    pub(super) fn run_allgather_leniently(
        &self,
        arguments: &Arguments<'_>,
    ) -> Result<Option<RootlessAlgorithm>, CollectiveError> {
        let stated = || match &self.parsed_allgather(arguments, Handles::Lent, None) {
            Ok(call @ RootlessCall { fault: None, .. }) => Some(hash_of(call.sizes.iter())),
            _ => None,
        };
        match self.are_unlike(Operation::Allgather, stated)? {
            true => Ok(None),
            false => self.allgather(arguments, Strictness::Loose).map(Some),
        }
    }

    /// Performs a reduce-scatter in the same way.
    ///
    /// # Errors
    /// As [`run_reduce_scatter`](Self::run_reduce_scatter).
    ///
    /// # Complexity
    /// As [`run_allgather_leniently`](Self::run_allgather_leniently).
    pub(super) fn run_reduce_scatter_leniently(
        &self,
        arguments: &Arguments<'_>,
    ) -> Result<Option<RootlessAlgorithm>, CollectiveError> {
        let stated = || {
            let call = self.parsed_reduce_scatter(arguments, Handles::Lent).ok()??;
            Some(hash_of(call.sizes.iter()).wrapping_mul(call.element_bytes | 1) >> 1)
        };
        match self.are_unlike(arguments.operation(), stated)? {
            true => Ok(None),
            false => self.run_reduce_scatter(arguments).map(Some),
        }
    }

    /// True if, at the last comparison or one that is due, ranks disagreed, or one had no valid arguments. Collective.
    fn are_unlike(
        &self,
        operation: Operation,
        stated: impl FnOnce() -> Option<u64>,
    ) -> Result<bool, CollectiveError> {
        const NOTHING: u64 = u64::MAX;
        let place = usize::from(operation.is_reduction());
        let Checks { calls, is_loose } = &self.rootless.checks[place];
        if self.is_native(operation) {
            return Ok(false);
        }
        calls.set(calls.get() + 1);
        if calls.get().is_power_of_two() {
            let own = stated().unwrap_or(NOTHING);
            let all = rounds::all_words(&*self.comm, [own])?;
            is_loose.set(own == NOTHING || all.iter().any(|one| *one != [own]));
        }
        Ok(is_loose.get())
    }

    /// Sets up an allgather that is started many times: what performs it, or `None` if the library does. Collective.
    ///
    /// # Errors
    /// [`CollectiveError`], here or elsewhere: all ranks agree.
    pub(super) fn set_up_allgather(
        &self,
        arguments: &Arguments<'_>,
    ) -> Result<Option<Circulating>, CollectiveError> {
        if arguments.are_for_library(self.comm.size()) && self.is_native(arguments.operation()) {
            return Ok(None);
        }
        let parsed = self.parsed_allgather(arguments, Handles::Copied, None);
        let fits = match &parsed {
            Ok(RootlessCall { fault: None, sizes, .. }) => [0, hash_of(sizes.iter())],
            _ => [1, 0],
        };
        let stated = rounds::all_words(&*self.comm, fits)?;
        let rank = self.comm.rank();
        let call = parsed?;
        if let Some(error) = call.fault {
            return Err(CollectiveError::Argument { rank, error });
        }
        if stated.iter().any(|one| *one != fits) {
            return Err(CollectiveError::GivenUp { rank });
        }
        self.set_up(call)
    }

    /// Sets up a reduce-scatter. Collective.
    ///
    /// # Errors
    /// As [`set_up_allgather`](Self::set_up_allgather).
    pub(super) fn set_up_reduce_scatter(
        &self,
        arguments: &Arguments<'_>,
    ) -> Result<Option<Circulating>, CollectiveError> {
        let is_for_library = arguments.are_for_library(self.comm.size());
        if is_for_library && self.is_native(arguments.operation()) {
            return Ok(None);
        }
        let parsed = self.parsed_reduce_scatter(arguments, Handles::Copied);
        let fits = match &parsed {
            Ok(Some(call)) => [0, hash_of(call.sizes.iter()) ^ call.element_bytes],
            Ok(None) => [1, 0],
            Err(_) => [2, 0],
        };
        let stated = rounds::all_words(&*self.comm, fits)?;
        let call = parsed?;
        if stated.iter().any(|one| *one != fits) {
            return Err(CollectiveError::GivenUp { rank: self.comm.rank() });
        }
        call.map_or(Ok(None), |call| self.set_up(call))
    }

    /// Performer of a repeated operation, or `None` for the library's. Collective.
    fn set_up(&self, call: RootlessCall) -> Result<Option<Circulating>, CollectiveError> {
        let plan = self.plan_for(&call)?;
        let pattern = plan.pattern;
        self.keep(plan);
        pattern.map(|pattern| self.circulating(pattern, call, Reuse::Again)).transpose()
    }

    /// Meaning of the arguments here; places of an earlier call are reused for equal layouts.
    fn parsed_allgather(
        &self,
        arguments: &Arguments<'_>,
        handles: Handles,
        kept: Option<&RootlessPlaces>,
    ) -> Result<RootlessCall, CollectiveError> {
        let (rank, size) = (self.comm.rank(), self.comm.size());
        let kept = Kept {
            own: kept.and_then(|places| places.given.as_ref()),
            all: kept.map(|places| &places.result),
        };
        let parsed = arguments.parse_rootless(size, handles, kept);
        let places = parsed.map_err(|error| CollectiveError::Argument { rank, error })?;
        let RootlessPlaces { given, result } = &places;
        let sizes = BlockSizes::new((0..size).map(|rank| result.block_bytes(rank)));
        let sizes = sizes.expect("the total was found to fit");
        let (counted, own) = (sizes.block(rank), given.as_ref().map(|own| own.packed_bytes()));
        let fault = own.filter(|&own| own != counted);
        let fault = fault.map(|own| ArgumentError::OwnBlock { own, counted });
        Ok(RootlessCall {
            operation: arguments.operation(),
            element_bytes: grain(&sizes),
            places,
            sizes,
            combining: None,
            is_for_library: arguments.are_for_library(self.comm.size()),
            fault,
        })
    }

    /// Meaning of a reduce-scatter's arguments; `None` if its elements must not be reordered, or cannot be cut.
    fn parsed_reduce_scatter(
        &self,
        arguments: &Arguments<'_>,
        handles: Handles,
    ) -> Result<Option<RootlessCall>, CollectiveError> {
        let (rank, size) = (self.comm.rank(), self.comm.size());
        let parsed = arguments.parse_reduction((rank, size), handles);
        let parsed = parsed.map_err(|error| CollectiveError::Argument { rank, error })?;
        let ParsedReduction { places, sizes, combining, may_be_reordered } = parsed;
        if !may_be_reordered {
            return Ok(None);
        }
        Ok(Some(RootlessCall {
            operation: arguments.operation(),
            places,
            sizes: BlockSizes::new(sizes).expect("the total was found to fit"),
            element_bytes: combining.0.size(),
            combining: Some(combining),
            is_for_library: arguments.are_for_library(size),
            fault: None,
        }))
    }

    /// The plan for a call: one that is kept, or a new one. Collective where nodes matter for the first time.
    fn plan_for(&self, call: &RootlessCall) -> Result<RootlessPlan, MpiError> {
        let RootlessCall { operation, ref sizes, element_bytes, is_for_library, .. } = *call;
        let mut kept = self.rootless.kept.borrow_mut();
        let is_known = |one: &RootlessPlan| {
            (one.operation, one.element_bytes) == (operation, element_bytes) && one.sizes == *sizes
        };
        if let Some(index) = kept.iter().position(is_known) {
            return Ok(kept.remove(index));
        }
        drop(kept);
        let choice = match (self.settings().rootless(operation), is_for_library) {
            // It has to be done without the library.
            (RootlessChoice { algorithm: RootlessAlgorithm::Native, .. }, false) => {
                RootlessChoice::from(RootlessAlgorithm::Circulant)
            }
            (choice, _) => choice,
        };
        let library = library_version().ok().and_then(|name| Library::named(&name));
        let prices = self.prices();
        let nodes = match (operation, choice.algorithm) {
            (_, RootlessAlgorithm::Lanes | RootlessAlgorithm::NodeAll) => self.nodes()?,
            (_, RootlessAlgorithm::Auto) if prices.nodes.is_some() => self.nodes()?,
            _ => Rc::default(),
        };
        let known = (&*prices, KnownRule::of(library));
        let found = pattern(operation, (sizes, element_bytes), &nodes, choice, known);
        let windows = Pattern::Rounds(Circulation::Windows);
        let pattern = found.or((!is_for_library).then_some(windows));
        let sizes = sizes.clone();
        Ok(RootlessPlan { operation, sizes, element_bytes, pattern, performer: None })
    }

    /// The ranks of each node, by the hosts' names, the nodes in the order of their first ranks. Collective where they are first
    /// asked for.
    ///
    /// # Complexity
    /// Then `ceil(log2 p)` messages follow one another, of 8 bytes for each rank at most, and O(p N) for `N` nodes.
    pub(super) fn nodes(&self) -> Result<Rc<Vec<Vec<Rank>>>, MpiError> {
        let mut known = self.rootless.nodes.borrow_mut();
        if known.is_none() {
            // A communicator of each node takes several times as long.
            let own = hash_of(processor_name()?.bytes().map(u64::from));
            let mut nodes: Vec<(u64, Vec<Rank>)> = Vec::new();
            for (rank, [name]) in rounds::all_words(&*self.comm, [own])?.into_iter().enumerate() {
                match nodes.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, ranks)) => ranks.push(rank),
                    None => nodes.push((name, vec![rank])),
                }
            }
            *known = Some(Rc::new(nodes.into_iter().map(|(_, ranks)| ranks).collect()));
        }
        Ok(Rc::clone(known.as_ref().expect("they were just found")))
    }

    /// Costs of messages here; equal at all ranks.
    pub(super) fn prices(&self) -> Rc<Prices> {
        let mut known = self.rootless.prices.borrow_mut();
        let make = || match &self.settings().machine {
            Some(machine) => Rc::new(Prices::of(machine, self.comm.size())),
            None => Rc::new(Prices::usual()),
        };
        Rc::clone(known.get_or_insert_with(make))
    }

    /// Puts a plan before all others that are kept.
    fn keep(&self, plan: RootlessPlan) {
        let mut kept = self.rootless.kept.borrow_mut();
        kept.truncate(MOST_KEPT - 1);
        kept.insert(0, plan);
    }

    fn perform(
        &self,
        plan: &mut RootlessPlan,
        pattern: Pattern,
        call: RootlessCall,
    ) -> Result<(), CollectiveError> {
        let mut performer = match plan.performer.take() {
            Some(mut known) => {
                known.take(call.places, call.combining)?;
                known
            }
            None => Box::new(self.circulating(pattern, call, Reuse::Once)?),
        };
        let done = performer.run();
        let can_stay = performer.let_go() && done.is_ok();
        plan.performer = can_stay.then_some(performer);
        done
    }

    /// The tags that all operations share that are performed once, which follow one another in the same order
    /// everywhere. Collective where they are first asked for.
    pub(super) fn shared_tags(&self) -> Result<(Rc<Communicator>, c_int), CollectiveError> {
        let mut shared = self.rootless.tags.borrow_mut();
        if shared.is_none() {
            *shared = Some(self.tags(TAGS, Reuse::Again)?);
        }
        let (comm, first) = shared.as_ref().expect("they were just reserved");
        Ok((Rc::clone(comm), *first))
    }

    /// Performer of an operation. Collective.
    fn circulating(
        &self,
        pattern: Pattern,
        call: RootlessCall,
        reuse: Reuse,
    ) -> Result<Circulating, CollectiveError> {
        let rank = self.comm.rank();
        let RootlessCall { places, sizes, element_bytes, combining, .. } = call;
        let flow = if combining.is_some() { Flow::Combined } else { Flow::Spread };
        let own = match pattern {
            Pattern::Rounds(circulation) => {
                // Windows of the postal model combine on the way back.
                let flow = match circulation {
                    Circulation::Postal(_) | Circulation::BalancedPostal(_) => Flow::Spread,
                    _ => flow,
                };
                let rounds = RankRounds::new(&sizes, element_bytes, rank, flow, circulation);
                RankMessages::Rounds(rounds)
            }
            Pattern::OnNodes(how) => {
                let list = rank_messages((&sizes, element_bytes), &self.nodes()?, how, rank);
                let own = Piece { offset: sizes.before(rank), bytes: sizes.block(rank) };
                RankMessages::Listed(list, own, sizes.total())
            }
        };
        let batch = rounds_of_a_batch(pattern, self.comm.size());
        let (comm, first_tag) = match reuse {
            Reuse::Once => self.shared_tags()?,
            Reuse::Again => self.tags(TAGS, Reuse::Again)?,
        };
        let messages = (&comm, first_tag, reuse);
        Circulating::new((own, rank), (places, combining), messages, batch)
    }
}

impl RootlessCall {
    /// Lets go of the program's memory.
    fn let_go(&self) {
        let RootlessPlaces { given, result } = &self.places;
        given.iter().chain([result]).for_each(|place: &Rc<Place>| place.memory().let_go());
    }
}

/// Alignment of cuts: the largest power of two up to a cache line that divides all sizes. Datatypes may differ between
/// ranks, so that only sizes in bytes are common.
fn grain(sizes: &BlockSizes) -> u64 {
    let bits = sizes.iter().fold(64, |bits, bytes| bits | bytes);
    1 << bits.trailing_zeros()
}

/// A number that stands for all numbers.
fn hash_of(numbers: impl Iterator<Item = u64>) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    numbers.fold(1, |hash: u64, one| (hash.rotate_left(23) ^ one).wrapping_mul(FACTOR)) >> 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_cut_between_the_largest_elements_that_all_have() {
        let grain_of = |sizes: &[u64]| grain(&BlockSizes::new(sizes.iter().copied()).unwrap());
        assert_eq!(grain_of(&[8, 24, 0, 4096]), 8);
        assert_eq!(grain_of(&[64_000, 128]), 64);
        assert_eq!(grain_of(&[64_000, 128, 3]), 1);
        assert_eq!(grain_of(&[0, 0]), 64);
    }
}
