//! Collective operations for programs: gather, scatter and allgather with MPI's own arguments.
//!
//! [`Collectives`] is what a communicator carries for them: one of the same processes, on which nobody
//! else's messages are, and the [`Settings`]. [`Collectives::run`] performs an operation once;
//! [`Collectives::init`] sets one up that is started many times ([`Persistent`]).
//!
//! # One-shot algorithms
//! Adaptive trees are built anew for each call, in at most `2 ceil(log2 p)` rounds of messages of
//! constant size, without any processor but the root knowing all sizes. A processor whose
//! arguments are invalid takes part nevertheless, as far as its root is known, so that the others
//! need not wait for it.
//!
//! # Source
//! TUW sections 2 and 3.

mod alltoall;
mod along;
mod carried;
mod circulating;
mod collecting;
mod error;
mod exchanging;
#[expect(unsafe_code, reason = "the handles that C programs hold are pointers and MPI's own")]
mod handle;
mod known;
#[expect(unsafe_code, reason = "what is started outlives the call that starts it")]
mod nonblocking;
mod passing;
mod persistent;
mod planned;
mod prices;
mod rootless;
mod rounds;
mod seats;
mod windows;

pub use crate::play::Strictness;
pub use crate::sys::last_text as last_error_text;
pub use error::CollectiveError;
pub use handle::{Standing, collectives_of, guarded, standing_of};
pub use nonblocking::{Nonblocking, OperationQueue};
pub use persistent::Persistent;
pub use prices::chosen_circulation;
pub(crate) use rounds::handed_down;

use crate::play::{Arrangement, Buffers, Execution, Manner, Mode};
use crate::settings::{Algorithm, RootlessAlgorithm, Setting, Settings};
use crate::sys::{
    AlltoallArguments, ArgumentError, Arguments, Communicator, EqualAlltoallArguments, Handles,
    Kept, MpiError, Parsed, Place, PlaceError, ReduceScatterArguments, Reuse, is_inside_strand,
};
use crate::tree::{
    Child, Consent, Construction, Fault, MESSAGE_BYTES, Node, Rule, Transmission, digest,
};
use along::{EmptyMessages, Start, actions_of};
use known::KnownPlans;
use planned::{KeptTree, Plans, Way, state_sizes};
use rootless::RootlessPlans;
use seats::Seat;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::path::PathBuf;
use std::rc::Rc;
use tuwtree_model::{BlockSizes, ClosedSet, Costs, Operation, Rank};
use tuwtree_schedule::{Buffer, Schedule};

/// Tags of the messages on the private communicator. Operations that are performed once follow one
/// another in the same order everywhere, and leave no message behind: they share theirs. Each operation
/// that is set up has tags of its own.
mod tag {
    use std::ffi::c_int;
    /// Building trees.
    pub(super) const CONSTRUCTION: c_int = 0;
    /// Data.
    pub(super) const DATA: c_int = 1;
    /// Data whose size has been said before: the second message of data between two processes.
    pub(super) const OVERFLOW: c_int = 2;
    /// The third, where a block goes straight to a process to which the root has sent two others.
    pub(super) const STRAIGHT: c_int = 3;
    /// What is agreed on and handed out.
    pub(super) const ROUNDS: c_int = 4;
    /// The first that operations have to themselves.
    pub(super) const FIRST_FREE: u32 = 5;
}

/// What whoever sends straight to the root is told beforehand: that all is well.
const YES: u8 = 1;

/// Or that nobody there waits for it.
const NO: u8 = 0;

/// What a communicator carries for collective operations.
///
/// Not more than one thread at a time may use it, as MPI has it for collective operations of one
/// communicator.
#[derive(Debug)]
pub struct Collectives {
    comm: Rc<Communicator>,
    settings: RefCell<Rc<Settings>>,
    /// Where the messages of operations that are set up next are: the same communicator until its tags
    /// are used up.
    operations: RefCell<Rc<Communicator>>,
    /// The first tag there that no operation has; the same at all processors.
    next_tag: Cell<u32>,
    /// What the last one-shot operation was performed by: programs call for the same again.
    once: RefCell<Option<Box<Once>>>,
    /// By what operations that are performed once go, where the algorithm is to be chosen.
    plans: Plans,
    /// The same, for calls of which all processors have said that they know all sizes.
    known: KnownPlans,
    /// By what those go that have no root.
    rootless: RootlessPlans,
    /// At processors that have been the root of a given schedule, the last such, with its file.
    schedule: RefCell<Option<(PathBuf, Rc<Schedule>)>>,
    /// Operations that are started and go on by themselves, or why there are none: known since the first one.
    queue: RefCell<Option<Result<Rc<OperationQueue>, CollectiveError>>>,
}

impl Collectives {
    /// Collective operations on this communicator, as the environment of its first processor
    /// wants them. Collective.
    ///
    /// # Errors
    /// What MPI returns; settings that make no sense, at all processors.
    pub fn new(comm: Communicator) -> Result<Collectives, CollectiveError> {
        let settings = Settings::of_environment(&comm)?.map_err(CollectiveError::of_settings)?;
        Ok(Collectives::with(comm, settings))
    }

    /// Collective operations on this communicator with these settings, the same at all processors.
    pub fn with(comm: Communicator, settings: Settings) -> Collectives {
        let comm = Rc::new(comm);
        Collectives {
            operations: RefCell::new(Rc::clone(&comm)),
            next_tag: Cell::new(tag::FIRST_FREE),
            comm,
            settings: RefCell::new(Rc::new(settings)),
            once: RefCell::new(None),
            plans: Plans::default(),
            known: KnownPlans::default(),
            rootless: RootlessPlans::default(),
            schedule: RefCell::new(None),
            queue: RefCell::new(None),
        }
    }

    /// The private communicator.
    pub fn communicator(&self) -> &Communicator {
        &self.comm
    }

    /// How operations are performed.
    pub fn settings(&self) -> Rc<Settings> {
        Rc::clone(&self.settings.borrow())
    }

    /// Changes a setting, for operations that are called or set up from now on. Collective: all
    /// processors set the same; the first one reads the file, if it is one.
    ///
    /// # Errors
    /// As [`new`](Self::new). The settings then stay as they are.
    pub fn set(&self, setting: Setting, value: &str) -> Result<(), CollectiveError> {
        let settings = self.settings().as_ref().clone();
        let changed = settings.with(&self.comm, setting, value)?;
        self.take_settings(Rc::new(changed.map_err(CollectiveError::of_settings)?));
        if let Some(Ok(queue)) = &*self.queue.borrow() {
            queue.take_settings(self);
        }
        Ok(())
    }

    fn take_settings(&self, settings: Rc<Settings>) {
        *self.settings.borrow_mut() = settings;
        self.plans.clear();
        self.known.clear();
        self.rootless.clear();
    }

    /// Performs an operation, and says by which algorithm: by the library's own call or along a kept tree,
    /// where it is to be chosen. Operations without a root go by algorithms of their own, which
    /// [`run_allgather`](Self::run_allgather) says; here they all count as chosen. Collective.
    ///
    /// # Errors
    /// [`CollectiveError`]. If sizes differ or arguments are invalid, the root has an error, and
    /// whoever gets no data; processors that have sent theirs, or want none, may have none.
    pub fn run(&self, arguments: &Arguments<'_>) -> Result<Algorithm, CollectiveError> {
        self.run_with(arguments, Strictness::Exact)
    }

    /// As [`run`](Self::run) for a program that does not know of us: whoever receives may have room for more than is
    /// sent, as MPI libraries allow it. Sizes travel with the data, so that this is right in every call.
    ///
    /// # Errors
    /// As [`run`](Self::run). Where some is expected and nothing is sent, that is an error; MPI libraries wait for ever.
    pub fn run_leniently(&self, arguments: &Arguments<'_>) -> Result<Algorithm, CollectiveError> {
        self.run_with(arguments, Strictness::Loose)
    }

    /// As [`run`](Self::run), with this strictness of sizes.
    fn run_with(
        &self,
        arguments: &Arguments<'_>,
        strictness: Strictness,
    ) -> Result<Algorithm, CollectiveError> {
        if !arguments.operation().is_rooted() {
            let done = self.run_allgather(arguments)?;
            let is_native = done == RootlessAlgorithm::Native;
            return Ok(if is_native { Algorithm::Native } else { Algorithm::Auto });
        }
        let settings = self.settings();
        let algorithm = settings.algorithm();
        if matches!(algorithm, Algorithm::Auto | Algorithm::DeadlineOnline) {
            return self.run_planned(arguments, &settings, strictness);
        }
        if algorithm == Algorithm::Schedule {
            // Whatever is wrong anywhere is agreed on.
            let call = Call::new(self, arguments, &settings, (Handles::Lent, Room::new(self)));
            persistent::set_up(&call, Reuse::Once)?.run()?;
            return Ok(Algorithm::Schedule);
        }
        let call = Call::new(self, arguments, &settings, (Handles::Lent, Room::taken_from(self)));
        let call = call.with(strictness);
        let wrong = call.parsed.as_ref().err().cloned();
        let done = call.run_by(algorithm).map(|()| algorithm);
        // What is wrong here comes first.
        wrong.map_or(done, Err)
    }

    /// Performs an operation by the library's own call; or where it has none that is right, block by block. Says which.
    fn by_library(
        &self,
        arguments: &Arguments<'_>,
        settings: &Settings,
        strictness: Strictness,
    ) -> Result<Algorithm, CollectiveError> {
        // Open MPI 4.1.4's nonblocking ones read and write beyond the root's own block where that is shorter than there
        // is room for; they and MPICH's go block by block, too.
        let is_right = strictness == Strictness::Exact || !is_inside_strand();
        if arguments.are_for_library() && is_right {
            self.comm.native(arguments)?;
            return Ok(Algorithm::Native);
        }
        let call = Call::new(self, arguments, settings, (Handles::Lent, Room::new(self)));
        call.with(strictness).linear().map(|()| Algorithm::Linear)
    }

    /// Sets up an operation that is started many times. Collective; messages of several such do not
    /// meet, since each has tags to itself.
    ///
    /// # Errors
    /// [`CollectiveError`], at all processors if at any.
    pub fn init<'a>(&self, arguments: &Arguments<'a>) -> Result<Persistent<'a>, CollectiveError> {
        if !arguments.operation().is_rooted() {
            return persistent::set_up_rootless(self, arguments);
        }
        let settings = self.settings();
        let call = Call::new(self, arguments, &settings, (Handles::Copied, Room::new(self)));
        persistent::set_up(&call, Reuse::Again)
    }

    /// Sets up a reduce-scatter that is started many times, in the same way.
    ///
    /// # Errors
    /// As [`init`](Self::init).
    pub fn init_reduce_scatter<'a>(
        &self,
        arguments: &ReduceScatterArguments<'a>,
    ) -> Result<Persistent<'a>, CollectiveError> {
        persistent::set_up_reduce_scatter(self, arguments)
    }

    /// What has built the tree along which the last call with a root went, if that was chosen by costs; the same at
    /// all processes that took part.
    pub fn last_tree(&self) -> Option<&'static str> {
        self.plans.last().map(ClosedSet::name)
    }

    /// Sets up an alltoall that is started many times, in the same way: what all send and expect is compared.
    ///
    /// # Errors
    /// As [`init`](Self::init).
    pub fn init_alltoall<'a>(
        &self,
        arguments: &AlltoallArguments<'a>,
    ) -> Result<Persistent<'a>, CollectiveError> {
        persistent::set_up_alltoall(self, arguments, false)
    }

    /// Sets up an alltoall of messages of one size, in the same way.
    ///
    /// # Errors
    /// As [`init`](Self::init).
    pub fn init_equal_alltoall<'a>(
        &self,
        arguments: &EqualAlltoallArguments<'a>,
    ) -> Result<Persistent<'a>, CollectiveError> {
        persistent::set_up_equal_alltoall(self, arguments)
    }

    /// The same as [`init_alltoall`](Self::init_alltoall) for a program that does not know of us: where two ranks do
    /// not say the same of a message, its library does it.
    ///
    /// # Errors
    /// As [`init`](Self::init).
    pub fn init_alltoall_leniently<'a>(
        &self,
        arguments: &AlltoallArguments<'a>,
    ) -> Result<Persistent<'a>, CollectiveError> {
        persistent::set_up_alltoall(self, arguments, true)
    }

    /// A communicator and the first of so many tags on it that no other operation has, or if this one is
    /// performed at once, has as yet. Collective.
    ///
    /// # Errors
    /// What MPI returns, where the tags of a communicator are used up and it has no other.
    fn tags(&self, count: u32, reuse: Reuse) -> Result<(Rc<Communicator>, c_int), CollectiveError> {
        let mut first = self.next_tag.get();
        if !fits(first, count, self.comm.largest_tag()) {
            self.operations.replace(Rc::new(self.comm.duplicate_again()?));
            first = 0;
        }
        self.next_tag.set(match reuse {
            Reuse::Once => first,
            Reuse::Again => first.saturating_add(count),
        });
        Ok((Rc::clone(&self.operations.borrow()), first as c_int))
    }
}

/// Whether there are so many tags from `first` on.
fn fits(first: u32, count: u32, largest: u32) -> bool {
    u64::from(first) + u64::from(count) <= u64::from(largest) + 1
}

/// What a one-shot operation is performed by, and which one it was.
#[derive(Debug)]
struct Once {
    execution: Execution,
    /// The last operation, if it was performed without an error.
    last: Option<Performed>,
}

/// What a one-shot operation is performed by, if there is anything yet. The communicator gets it back
/// for the next one, when it has let go of the user's memory.
#[derive(Debug)]
struct Room<'c> {
    home: &'c RefCell<Option<Box<Once>>>,
    once: Option<Box<Once>>,
}

impl<'c> Room<'c> {
    fn new(collectives: &'c Collectives) -> Room<'c> {
        Room { home: &collectives.once, once: None }
    }

    /// What performed the last one.
    fn taken_from(collectives: &'c Collectives) -> Room<'c> {
        Room { home: &collectives.once, once: collectives.once.take() }
    }

    /// What performs an operation on this communicator.
    ///
    /// # Errors
    /// What MPI says of bytes.
    fn once_on(&mut self, comm: &Rc<Communicator>) -> Result<&mut Once, PlaceError> {
        match &mut self.once {
            Some(once) => Ok(once),
            none => {
                let execution = Execution::of_nothing(comm)?;
                Ok(none.insert(Box::new(Once { execution, last: None })))
            }
        }
    }

    /// The places that an operation like the last one can take.
    fn kept(&self, operation: Operation) -> Kept<'_> {
        let Some(once) = &self.once else { return Kept::default() };
        let [input, output] = once.execution.ends().map(Some);
        match operation.is_outward() {
            true => Kept { own: output, all: input },
            false => Kept { own: input, all: output },
        }
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        if let Some(mut once) = self.once.take()
            && once.execution.let_go()
        {
            self.home.replace(Some(once));
        }
    }
}

/// What a processor's actions in a one-shot operation depend on, besides where blocks start.
#[derive(Debug, PartialEq, Eq)]
struct Performed {
    operation: Operation,
    root: Rank,
    mode: Mode,
    empty: EmptyMessages,
    strictness: Strictness,
    node: Node,
    /// Its seat, in a tree that is kept.
    seat: Option<Rc<Seat>>,
}

impl Performed {
    /// Whether the actions of both are the same, but for the sizes of their data.
    fn is_like(&self, other: &Performed) -> bool {
        (self.operation, self.root, self.mode, self.empty, self.strictness)
            == (other.operation, other.root, other.mode, other.empty, other.strictness)
            && self.node.is_like(&other.node)
            // Whether sizes are said in advance depends on them.
            && (&self.seat, &other.seat) == (&None, &None)
    }
}

/// An operation that is performed once, or to be set up.
struct Call<'c, 'a> {
    collectives: &'c Collectives,
    comm: &'c Rc<Communicator>,
    arguments: &'c Arguments<'a>,
    settings: &'c Settings,
    parsed: Result<Parsed<'a>, CollectiveError>,
    strictness: Strictness,
    room: Room<'c>,
}

impl<'c, 'a> Call<'c, 'a> {
    fn new(
        collectives: &'c Collectives,
        arguments: &'c Arguments<'a>,
        settings: &'c Settings,
        (handles, room): (Handles, Room<'c>),
    ) -> Call<'c, 'a> {
        let comm = &collectives.comm;
        let rank = comm.rank();
        let kept = room.kept(arguments.operation());
        let parsed = arguments.parse((rank, comm.size()), handles, kept);
        let parsed = parsed.map_err(|error| CollectiveError::Argument { rank, error });
        let strictness = Strictness::Exact;
        Call { collectives, comm, arguments, settings, parsed, strictness, room }
    }

    /// The same with this strictness.
    fn with(self, strictness: Strictness) -> Call<'c, 'a> {
        let rank = self.comm.rank();
        let parsed = match (strictness, self.parsed) {
            (
                Strictness::Loose,
                Err(CollectiveError::Argument { error: ArgumentError::RootBlock { .. }, .. }),
            ) => {
                let parsed = self.arguments.parse_loosely((rank, self.comm.size()));
                parsed.map_err(|error| CollectiveError::Argument { rank, error })
            }
            (_, parsed) => parsed,
        };
        Call { parsed, strictness, ..self }
    }

    /// The root, if the argument is a processor, whatever the others are.
    fn root(&self) -> Option<Rank> {
        self.arguments.root(self.comm.size())
    }

    /// All blocks, at the root, if its arguments are valid.
    fn all(&self) -> Option<&Place> {
        self.parsed.as_ref().ok()?.all.as_deref()
    }

    /// All sizes, at the root, if its arguments are valid.
    fn sizes(&self) -> Option<BlockSizes> {
        let all = self.all()?;
        let sizes = (0..all.blocks()).map(|rank| all.block_bytes(rank));
        Some(BlockSizes::new(sizes).expect("the total was found to fit"))
    }

    /// The size of the own block, if the arguments are valid.
    fn own_bytes(&self) -> Option<u64> {
        let parsed = self.parsed.as_ref().ok()?;
        let at_root = || parsed.all.as_ref().map(|all| all.block_bytes(parsed.root));
        parsed.own.as_ref().map(|own| own.packed_bytes()).or_else(at_root)
    }

    /// Where the data is; `nothing` where there is none.
    fn buffers(&self, nothing: &Rc<Place>) -> Result<Buffers, CollectiveError> {
        let operation = self.arguments.operation();
        let Parsed { own, all, .. } = self.parsed.as_ref().map_err(Clone::clone)?;
        let (own, all) = (own.clone(), all.clone());
        let Some(own) = own else {
            let all = all.expect("only the root has its block in place");
            return Ok(Buffers::in_place_of(operation, all, Rc::clone(nothing)));
        };
        let all = all.unwrap_or_else(|| Rc::clone(nothing));
        Ok(match operation.is_outward() {
            true => Buffers::apart(all, own),
            false => Buffers::apart(own, all),
        })
    }

    fn run_by(self, algorithm: Algorithm) -> Result<(), CollectiveError> {
        match algorithm {
            Algorithm::Linear => self.linear(),
            Algorithm::Native => {
                let Call { collectives, arguments, settings, strictness, .. } = self;
                collectives.by_library(arguments, settings, strictness).map(drop)
            }
            Algorithm::AdaptiveGatherTime => self.adaptive(Rule::GatherTime),
            Algorithm::AdaptiveDataSize => self.adaptive(Rule::DataSize),
            Algorithm::AdaptiveCompletionTime => {
                let costs = self.costs()?;
                let operation = self.arguments.operation();
                self.adaptive(Rule::CompletionTime(operation, costs))
            }
            Algorithm::Schedule | Algorithm::Auto | Algorithm::DeadlineOnline => {
                unreachable!("a schedule is set up, and other trees have their plans")
            }
        }
    }

    /// The costs that the settings have.
    fn costs(&self) -> Result<&'c Costs, CollectiveError> {
        let machine = self.settings.machine.as_ref();
        machine
            .map(|machine| &machine.costs)
            .ok_or_else(|| CollectiveError::Refused("there is no machine".to_owned()))
    }

    fn adaptive(self, rule: Rule<'_>) -> Result<(), CollectiveError> {
        if self.strictness == Strictness::Loose {
            return self.adaptive_loosely(rule);
        }
        let (mut node, fault, consent) = self.construct(rule, self.settings.most_passed)?;
        let mut checked = match node.parent {
            Some(_) => Ok(()),
            None => self.check_sizes(&node, fault),
        };
        let agrees = match consent.from {
            Some(from) => self.comm.receive_any(from, tag::CONSTRUCTION)? == [YES],
            None => checked.is_ok(),
        };
        for to in consent.to {
            self.comm.send(&[if agrees { YES } else { NO }], to, tag::CONSTRUCTION)?;
        }
        if consent.is_straight && !agrees {
            node.parent = None;
            checked = Err(CollectiveError::GivenUp { rank: node.rank });
        }
        if checked.is_ok() {
            node = self.with_straight(node, rule);
        }
        self.along((node, checked), EmptyMessages::Skipped, None)
    }

    /// Along an adaptive tree in which sizes travel with the data, since the root may have room for more: nobody but the
    /// root holds more than the limit, because large blocks go straight.
    fn adaptive_loosely(self, rule: Rule<'_>) -> Result<(), CollectiveError> {
        let (comm, operation) = (self.comm, self.arguments.operation());
        let (node, fault, _) = self.construct(rule, u64::MAX)?;
        // At the top of a tree with a fault it may be another processor than the root.
        let root = self.root().filter(|_| node.parent.is_some()).unwrap_or(node.rank);
        let seat = Seat::of_node(&node, (root, comm.size()), self.settings.most_passed);
        if let (None, Some(fault)) = (node.parent, fault) {
            collecting::give_up(comm, seat, operation)?;
            return Err(fault.into());
        }
        Way::in_seat(seat, comm, (operation, root))?.perform(self, None)
    }

    /// This place in an adaptive tree without a fault; if it is the root's, with those as further children who
    /// send straight.
    fn with_straight(&self, node: Node, rule: Rule<'_>) -> Node {
        match self.all() {
            Some(all) if node.parent.is_none() => {
                let limits = (self.comm.size(), rule, self.settings.most_passed);
                node.with_straight(&|rank| all.block_bytes(rank), limits)
            }
            _ => node,
        }
    }

    /// Builds an adaptive tree with the others.
    fn construct(
        &self,
        rule: Rule<'_>,
        most_passed: u64,
    ) -> Result<(Node, Option<Fault>, Consent), MpiError> {
        let place = (self.comm.rank(), self.comm.size());
        let construction = Construction::new(place, self.own_bytes(), self.root(), rule);
        let mut construction = construction.with_limit(most_passed);
        while let Some(next) = construction.transmission() {
            let received = match next {
                Transmission::Exchange { with, message } => {
                    Some(self.comm.exchange(message, with, tag::CONSTRUCTION)?)
                }
                Transmission::Send { to, message } => {
                    self.comm.send(&message, to, tag::CONSTRUCTION)?;
                    None
                }
                Transmission::Receive { from } => {
                    let mut message = [0; MESSAGE_BYTES];
                    self.comm.receive(&mut message, from, tag::CONSTRUCTION)?;
                    Some(message)
                }
            };
            construction.done(received.as_ref());
        }
        Ok(construction.finish())
    }

    /// Fails if the tree has a fault, or at the root, if its counts are not what others state.
    fn check_sizes(&self, node: &Node, fault: Option<Fault>) -> Result<(), CollectiveError> {
        if let Some(fault) = fault {
            return Err(fault.into());
        }
        let Some(all) = self.all() else { return Ok(()) };
        for &Child { first, last, bytes, straight, digest: stated, .. } in &node.children {
            let expected: u64 = (first..=last).map(|rank| all.block_bytes(rank)).sum();
            let digests = (first..=last).map(|rank| digest(rank, all.block_bytes(rank)));
            let all_bytes = bytes + straight;
            if (all_bytes, stated) != (expected, digests.fold(0, u64::wrapping_add)) {
                return Err(CollectiveError::Sizes { first, last, stated: all_bytes, expected });
            }
        }
        Ok(())
    }

    fn linear(self) -> Result<(), CollectiveError> {
        let Some(root) = self.root() else { return Ok(()) };
        let (rank, size) = (self.comm.rank(), self.comm.size());
        let own = self.own_bytes().unwrap_or(0);
        let node = if rank == root {
            // With invalid arguments it takes all messages, or sends empty ones, so that nobody waits.
            let bytes = |rank| self.all().map_or(0, |all| all.block_bytes(rank));
            Node::centre_of_star(root, own, (0..size).map(bytes))
        } else {
            Node::in_star(rank, root, own)
        };
        self.along((node, Ok(())), EmptyMessages::Sent, None)
    }

    /// Performs the operation along the tree in which this processor has this place, or if the tree is
    /// kept, this seat. Whoever has invalid arguments, or stands at the top of a tree in which something is not as it
    /// was checked to be, takes part without data.
    fn along(
        mut self,
        (node, checked): (Node, Result<(), CollectiveError>),
        empty: EmptyMessages,
        kept: Option<KeptTree<'_>>,
    ) -> Result<(), CollectiveError> {
        let (comm, mode, operation) = (self.comm, self.settings.mode, self.arguments.operation());
        let is_top = node.parent.is_none();
        let has_data = checked.is_ok() && self.parsed.is_ok() && (!is_top || self.all().is_some());
        if !has_data && empty == EmptyMessages::Sent && is_top != operation.is_outward() {
            // Of whatever size. (Open MPI complains of large messages that are received into nothing.)
            let sources = node.children.iter().map(|child| child.rank).chain(node.parent);
            for source in sources {
                comm.receive_any(source, tag::DATA)?;
            }
            return checked;
        }
        let (node, empty) = match (has_data, is_top) {
            (false, true) => without_data(node, operation.is_outward(), empty),
            _ => (node, empty),
        };
        // At the top of a tree with a fault it may be another processor than the root.
        let root = if is_top { node.rank } else { self.root().unwrap_or(node.rank) };
        let mut room = Room { home: self.room.home, once: self.room.once.take() };
        let Once { execution, last } = room.once_on(comm)?;
        let (seat, meanwhile) = kept.map(|kept| (Rc::clone(kept.seat), kept.meanwhile)).unzip();
        let strictness = self.strictness;
        let performed = Performed { operation, root, mode, empty, strictness, node, seat };
        let last_one = last.take();
        let is_same = last_one.as_ref() == Some(&performed) && has_data;
        let buffers = has_data.then(|| self.buffers(execution.nothing())).transpose()?;
        let is_bound = is_same && buffers.as_ref().is_some_and(|one| execution.is_of(one));
        let bound = match is_bound {
            true => Ok(()),
            false => {
                let start = self.all().filter(|_| has_data);
                let start = start.map(|all| |rank| all.block_start(rank));
                let start = start.as_ref().map(|start| start as Start<'_>);
                let place = (root, comm.size());
                let mut actions = actions_of(&performed.node, operation, place, start, empty);
                let block = |rank| self.all().map_or(0, |all| all.block_bytes(rank));
                let seat = performed.seat.as_deref().filter(|_| has_data);
                let is_stated = |_: &&Seat| is_top && operation.is_outward();
                let stated = seat.filter(is_stated);
                let stated = stated.map(|seat| state_sizes(&mut actions, seat, &block));
                let buffers = buffers.map_or_else(|| Buffers::unseen(&actions.0), Ok)?;
                let arrangement = match last_one {
                    Some(before) if has_data && before.is_like(&performed) => Arrangement::Alike,
                    _ => Arrangement::New,
                };
                let manner = Manner::once(mode, tag::DATA).with_strictness(strictness);
                let bound = execution.bind(actions, buffers, (manner, arrangement));
                bound.and_then(|()| {
                    let mut stated = stated.unwrap_or_default().into_iter();
                    stated.try_for_each(|(at, sizes)| execution.write(Buffer::Segment, at, &sizes))
                })
            }
        };
        let bound = bound.map_err(CollectiveError::from);
        let node = &performed.node;
        if let Err(CollectiveError::Memory(_)) = bound
            && node.parent.is_some()
            && !node.children.is_empty()
        {
            passing::pass_nothing(comm, node, operation)?;
            return bound;
        }
        let started = bound.and_then(|()| Ok(execution.start()?));
        // In strict order not all is under way yet, and others might wait for it.
        if let Some(work) = meanwhile.flatten().filter(|_| mode == Mode::Eager) {
            work();
        }
        let done = started.and_then(|()| Ok(execution.wait()?));
        *last = (has_data && done.is_ok()).then_some(performed);
        checked?;
        match done {
            Err(CollectiveError::Message { to, bytes: 0, .. })
                if operation.is_outward() && empty == EmptyMessages::Skipped =>
            {
                Err(CollectiveError::GivenUp { rank: to })
            }
            done => done,
        }
    }
}

/// The top of a tree without data of its own: it takes what its children send, and forgets it, or
/// sends them empty messages in place of theirs.
fn without_data(node: Node, is_outward: bool, empty: EmptyMessages) -> (Node, EmptyMessages) {
    let mut node = Node { block: 0, bytes: node.bytes - node.block, ..node };
    if !is_outward {
        return (node, empty);
    }
    // Early children are counted: those that are left out are not among them.
    let sent = |child: &Child| child.bytes > 0 || empty == EmptyMessages::Sent;
    let early = node.children[..node.received_before_copy].iter().filter(|&child| sent(child));
    node.received_before_copy = early.count();
    node.children.retain(sent);
    node.children.iter_mut().for_each(|child| child.bytes = 0);
    node.bytes = 0;
    (node, EmptyMessages::Sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_tag_is_used_and_none_beyond() {
        assert!(fits(3, 5, 7) && fits(8, 0, 7) && fits(0, u32::MAX, u32::MAX));
        assert!(!fits(4, 5, 7) && !fits(u32::MAX, 1, u32::MAX - 1));
    }
}
