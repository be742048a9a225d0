//! Collective operations for programs: gather and scatter with MPI's own arguments.
//!
//! [`Collectives`] is what a communicator carries for them: a duplicate, on which nobody else's
//! messages are, and the [`Settings`]. [`Collectives::run`] performs an operation once;
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

mod along;
mod choice;
mod error;
mod handle;
mod persistent;
mod program;

pub use crate::sys::last_text as last_error_text;
pub use error::CollectiveError;
pub use handle::{collectives_of, guarded};
pub use persistent::Persistent;

use crate::settings::{Algorithm, Setting, Settings};
use crate::sys::{Arguments, Communicator, MpiError, Parsed, Span};
use crate::tree::{Construction, Fault, MESSAGE_BYTES, Node, Rule, Transmission};
use along::{Along, Empty};
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use tuwtree_model::{BlockSizes, Costs, Rank};
use tuwtree_schedule::Schedule;

/// Tags of the messages on the private communicator. Operations that are performed once follow one
/// another in the same order everywhere, and leave no message behind: they share theirs.
mod tag {
    use std::ffi::c_int;
    /// Building trees.
    pub(super) const CONSTRUCTION: c_int = 0;
    /// Data.
    pub(super) const DATA: c_int = 1;
}

/// What a communicator carries for collective operations.
///
/// Not more than one thread at a time may use it, as MPI has it for collective operations of one
/// communicator.
#[derive(Debug)]
pub struct Collectives {
    comm: Rc<Communicator>,
    settings: RefCell<Rc<Settings>>,
    /// At processors that have been the root of a given schedule, the last such, with its file.
    schedule: RefCell<Option<(PathBuf, Rc<Schedule>)>>,
}

impl Collectives {
    /// Collective operations on this communicator, as the environment of its first processor
    /// wants them. Collective.
    ///
    /// # Errors
    /// What MPI returns; settings that make no sense, at all processors.
    pub fn new(comm: Communicator) -> Result<Collectives, CollectiveError> {
        let settings = Settings::of_environment(&comm)?.map_err(CollectiveError::of_settings)?;
        Ok(Collectives {
            comm: Rc::new(comm),
            settings: RefCell::new(Rc::new(settings)),
            schedule: RefCell::new(None),
        })
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
        *self.settings.borrow_mut() = Rc::new(changed.map_err(CollectiveError::of_settings)?);
        Ok(())
    }

    /// Performs an operation, and says by which algorithm. Collective.
    ///
    /// # Errors
    /// [`CollectiveError`]. If sizes differ or arguments are invalid, the root has an error, and
    /// whoever gets no data; processors that have sent theirs, or want none, may have none.
    pub fn run(&self, arguments: &Arguments<'_>) -> Result<Algorithm, CollectiveError> {
        let settings = self.settings();
        let call = Call::new(&self.comm, arguments, &settings);
        if settings.algorithm == Algorithm::Schedule {
            // Whatever is wrong anywhere is agreed on.
            persistent::set_up(self, &call, &self.comm)?.run()?;
            return Ok(Algorithm::Schedule);
        }
        let chosen = match settings.algorithm {
            Algorithm::Auto => choice::agree(&call),
            algorithm => Ok(algorithm),
        };
        let done = chosen.and_then(|algorithm| call.run_by(algorithm).map(|()| algorithm));
        // What is wrong here comes first.
        call.parsed?;
        done
    }

    /// Sets up an operation that is started many times. Collective; messages of several such do not
    /// meet, since each has a duplicate of the communicator to itself.
    ///
    /// # Errors
    /// [`CollectiveError`], at all processors if at any.
    pub fn init<'a>(&self, arguments: &Arguments<'a>) -> Result<Persistent<'a>, CollectiveError> {
        let settings = self.settings();
        let call = Call::new(&self.comm, arguments, &settings);
        let own = Rc::new(self.comm.duplicate_again()?);
        persistent::set_up(self, &call, &own)
    }
}

/// An operation that is performed once, or to be set up.
struct Call<'c, 'a> {
    comm: &'c Communicator,
    arguments: &'c Arguments<'a>,
    settings: &'c Settings,
    parsed: Result<Parsed<'a>, CollectiveError>,
}

impl<'c, 'a> Call<'c, 'a> {
    fn new(
        comm: &'c Communicator,
        arguments: &'c Arguments<'a>,
        settings: &'c Settings,
    ) -> Call<'c, 'a> {
        let rank = comm.rank();
        let parsed = arguments.parse(rank, comm.size());
        let parsed = parsed.map_err(|error| CollectiveError::Argument { rank, error });
        Call { comm, arguments, settings, parsed }
    }

    /// The root, if the argument is a processor, whatever the others are.
    fn root(&self) -> Option<Rank> {
        self.arguments.root(self.comm.size())
    }

    /// All sizes, at the root, if its arguments are valid.
    fn sizes(&self) -> Option<BlockSizes> {
        let all = self.parsed.as_ref().ok()?.all.as_ref()?;
        Some(BlockSizes::new(all.sizes()).expect("the total was found to fit"))
    }

    /// The size of the own block, if the arguments are valid.
    fn own_bytes(&self) -> Option<u64> {
        let parsed = self.parsed.as_ref().ok()?;
        let at_root = || parsed.all.as_ref().map(|all| all.bytes(parsed.root));
        parsed.own.as_ref().map(|own| own.bytes(0)).or_else(at_root)
    }

    fn run_by(&self, algorithm: Algorithm) -> Result<(), CollectiveError> {
        match algorithm {
            Algorithm::Linear => self.linear(),
            Algorithm::Native => Ok(self.comm.native(self.arguments)?),
            Algorithm::AdaptiveGatherTime => self.adaptive(Rule::GatherTime),
            Algorithm::AdaptiveDataSize => self.adaptive(Rule::DataSize),
            Algorithm::AdaptiveCompletionTime => {
                self.adaptive(Rule::CompletionTime(self.arguments.operation(), self.costs()?))
            }
            Algorithm::Schedule | Algorithm::Auto => {
                unreachable!("a schedule is set up, and a choice is one of the others")
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

    fn adaptive(&self, rule: Rule<'_>) -> Result<(), CollectiveError> {
        let (node, fault) = self.construct(rule)?;
        self.along(&node, fault, Empty::Skipped)
    }

    /// Builds an adaptive tree with the others.
    fn construct(&self, rule: Rule<'_>) -> Result<(Node, Option<Fault>), MpiError> {
        let place = (self.comm.rank(), self.comm.size());
        let mut construction = Construction::new(place, self.own_bytes(), self.root(), rule);
        while let Some(next) = construction.transmission() {
            let received = match next {
                Transmission::Exchange { with, message } => {
                    Some(self.comm.exchange(message, with, tag::CONSTRUCTION)?)
                }
                Transmission::Send { to, mut message } => {
                    self.comm.send(Span::of(&mut message), to, tag::CONSTRUCTION)?;
                    None
                }
                Transmission::Receive { from } => {
                    let mut message = [0; MESSAGE_BYTES];
                    self.comm.receive(Span::of(&mut message), from, tag::CONSTRUCTION)?;
                    Some(message)
                }
            };
            construction.done(received.as_ref());
        }
        Ok(construction.finish())
    }

    fn linear(&self) -> Result<(), CollectiveError> {
        let Some(root) = self.root() else { return Ok(()) };
        let rank = self.comm.rank();
        if rank == root && self.parsed.is_err() {
            return self.turn_away();
        }
        let sizes = self.sizes();
        let own = self.own_bytes().unwrap_or(0);
        self.along(&Node::of_star(rank, root, own, sizes.as_ref()), None, Empty::Sent)
    }

    /// Takes from all others what they send, or sends them nothing: at a root with invalid
    /// arguments.
    fn turn_away(&self) -> Result<(), CollectiveError> {
        for other in (0..self.comm.size()).filter(|&other| other != self.comm.rank()) {
            match self.arguments.operation().is_outward() {
                true => self.comm.send(Span::NONE, other, tag::DATA)?,
                false => drop(self.comm.receive_and_forget(other, tag::DATA)?),
            }
        }
        Ok(())
    }

    fn along(
        &self,
        node: &Node,
        fault: Option<Fault>,
        empty: Empty,
    ) -> Result<(), CollectiveError> {
        let parsed = self.parsed.as_ref().ok();
        let (comm, mode) = (self.comm, self.settings.mode);
        let along = Along { comm, tag: tag::DATA, mode, empty, node, fault, parsed };
        match self.arguments.operation().is_outward() {
            true => along.scatter(),
            false => along.gather(),
        }
    }
}
