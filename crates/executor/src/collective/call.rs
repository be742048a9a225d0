//! A call of an operation with a root: its arguments, what performs it, and how it goes along a tree that is built for it
//! or kept.

use super::along::{EmptyMessages, Start, actions_of};
use super::planned::{KeptTree, TreePart, state_sizes};
use super::seats::Seat;
use super::{CollectiveError, Collectives, collecting, passing, tag};
use crate::play::{Arrangement, Buffers, Execution, Manner, Mode, Strictness};
use crate::settings::{Algorithm, Settings};
use crate::tree::{
    Child, Consent, Construction, Fault, MESSAGE_BYTES, Node, Rule, Transmission, digest,
};
use std::cell::RefCell;
use std::rc::Rc;
use tuwtree_binding::{
    ArgumentError, Arguments, Communicator, Handles, Kept, MpiError, Parsed, Place, PlaceError,
};
use tuwtree_model::{BlockSizes, Costs, Operation, Rank};
use tuwtree_schedule::Buffer;

/// Permission to send straight to the root: all is well.
const YES: u8 = 1;

/// Or that nobody there waits for it.
const NO: u8 = 0;

/// Performer of a one-shot operation, and its identity.
#[derive(Debug)]
pub(super) struct Once {
    execution: Execution,
    /// The last operation, if it was performed without an error.
    last: Option<Performed>,
}

/// Performer of one-shot operations, if made. The communicator gets it back for the next one, when it has let go of the
/// user's memory.
#[derive(Debug)]
pub(super) struct Room<'c> {
    pub(super) home: &'c RefCell<Option<Box<Once>>>,
    pub(super) once: Option<Box<Once>>,
}

impl<'c> Room<'c> {
    pub(super) fn new(collectives: &'c Collectives) -> Room<'c> {
        Room { home: &collectives.once, once: None }
    }

    /// Takes the performer of the last operation.
    pub(super) fn taken_from(collectives: &'c Collectives) -> Room<'c> {
        Room { home: &collectives.once, once: collectives.once.take() }
    }

    /// Performer of an operation on this communicator.
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

/// Parameters of a rank's actions in a one-shot operation, except for the starts of blocks.
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
    /// True if both have equal actions, up to the sizes of their data.
    fn is_like(&self, other: &Performed) -> bool {
        (self.operation, self.root, self.mode, self.empty, self.strictness)
            == (other.operation, other.root, other.mode, other.empty, other.strictness)
            && self.node.is_like(&other.node)
            // Whether sizes are said in advance depends on them.
            && (&self.seat, &other.seat) == (&None, &None)
    }
}

/// An operation that is performed once, or to be set up.
pub(super) struct Call<'c, 'a> {
    pub(super) collectives: &'c Collectives,
    pub(super) comm: &'c Rc<Communicator>,
    pub(super) arguments: &'c Arguments<'a>,
    pub(super) settings: &'c Settings,
    pub(super) parsed: Result<Parsed<'a>, CollectiveError>,
    pub(super) strictness: Strictness,
    room: Room<'c>,
}

impl<'c, 'a> Call<'c, 'a> {
    pub(super) fn new(
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

    /// Sets the strictness.
    pub(super) fn with(self, strictness: Strictness) -> Call<'c, 'a> {
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

    /// True if the MPI library has a call for the arguments.
    pub(super) fn are_for_library(&self) -> bool {
        self.arguments.are_for_library(self.comm.size())
    }

    /// The root, if the argument is a rank, whatever the others are.
    pub(super) fn root(&self) -> Option<Rank> {
        self.arguments.root(self.comm.size())
    }

    /// All blocks, at the root, if its arguments are valid.
    pub(super) fn all(&self) -> Option<&Place> {
        self.parsed.as_ref().ok()?.all.as_deref()
    }

    /// All sizes, at the root, if its arguments are valid.
    pub(super) fn sizes(&self) -> Option<BlockSizes> {
        let all = self.all()?;
        let sizes = (0..all.blocks()).map(|rank| all.block_bytes(rank));
        Some(BlockSizes::new(sizes).expect("the total was found to fit"))
    }

    /// The size of the own block, if the arguments are valid.
    pub(super) fn own_bytes(&self) -> Option<u64> {
        let parsed = self.parsed.as_ref().ok()?;
        let at_root = || parsed.all.as_ref().map(|all| all.block_bytes(parsed.root));
        parsed.own.as_ref().map(|own| own.packed_bytes()).or_else(at_root)
    }

    /// Buffers of the call; `nothing` stands for absent ones.
    pub(super) fn buffers(&self, nothing: &Rc<Place>) -> Result<Buffers, CollectiveError> {
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

    pub(super) fn run_by(self, algorithm: Algorithm) -> Result<(), CollectiveError> {
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
    pub(super) fn costs(&self) -> Result<&'c Costs, CollectiveError> {
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
        // At the top of a tree with a fault it may be another rank than the root.
        let root = self.root().filter(|_| node.parent.is_some()).unwrap_or(node.rank);
        let seat = Seat::of_node(&node, (root, comm.size()), self.settings.most_passed);
        if let (None, Some(fault)) = (node.parent, fault) {
            collecting::give_up(comm, seat, operation)?;
            return Err(fault.into());
        }
        TreePart::in_seat(seat, comm, (operation, root))?.perform(self, None)
    }

    /// This place in an adaptive tree without a fault; if it is the root's, with those as further children who
    /// send straight.
    pub(super) fn with_straight(&self, node: Node, rule: Rule<'_>) -> Node {
        match self.all() {
            Some(all) if node.parent.is_none() => {
                let limits = (self.comm.size(), rule, self.settings.most_passed);
                node.with_straight(&|rank| all.block_bytes(rank), limits)
            }
            _ => node,
        }
    }

    /// Builds an adaptive tree with the others.
    pub(super) fn construct(
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

    /// Checks the tree for a fault, and the root's counts against the stated sizes.
    pub(super) fn check_sizes(
        &self,
        node: &Node,
        fault: Option<Fault>,
    ) -> Result<(), CollectiveError> {
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

    pub(super) fn linear(self) -> Result<(), CollectiveError> {
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

    /// Performs the operation along the tree, at this rank's place, or seat in a kept tree. A rank with invalid
    /// arguments, or at the top of a tree that differs from its checks, takes part without data.
    pub(super) fn along(
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
        // At the top of a tree with a fault it may be another rank than the root.
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
