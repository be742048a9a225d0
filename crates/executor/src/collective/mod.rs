//! Collective operations for programs: gather, scatter and allgather with MPI's own arguments.
//!
//! [`Collectives`] is what a communicator carries for them: one of the same processes, on which nobody
//! else's messages are, and the [`Settings`]. [`Collectives::run`] performs an operation once;
//! [`Collectives::init`] sets one up that is started many times ([`Persistent`]).
//!
//! # One-shot algorithms
//! Adaptive trees are built anew for each call, in at most `2 ceil(log2 p)` rounds of messages of
//! constant size, without any rank but the root knowing all sizes. A rank whose
//! arguments are invalid takes part nevertheless, as far as its root is known, so that the others
//! need not wait for it.
//!
//! # Source
//! TUW sections 2 and 3.

mod alltoall;
mod along;
mod call;
mod carried;
mod circulating;
mod collecting;
mod error;
mod exchanging;
#[expect(unsafe_code, reason = "the handles that C programs hold are pointers and MPI's own")]
mod handle;
mod known;
mod learned;
mod passing;
mod persistent;
mod planned;
mod rootless;
mod rounds;
mod seats;
mod trial;
mod windows;

pub use crate::play::Strictness;
pub use error::CollectiveError;
pub use handle::{EARLY_CALLS, Standing, agree, collectives_of, guarded, standing_of};
pub use learned::{saved_seconds, write_learned};
pub use persistent::Persistent;
pub use rounds::scatter_lists;
pub use tuwtree_binding::last_text as last_error_text;

use crate::settings::{Algorithm, RootlessAlgorithm, Setting, Settings};
use call::{Call, Once, Room};
use known::KnownPlans;
use planned::Plans;
use rootless::RootlessPlans;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::path::PathBuf;
use std::rc::Rc;
use tuwtree_binding::{Arguments, Communicator, Function, Handles, Reuse};
use tuwtree_model::ClosedSet;
use tuwtree_schedule::Schedule;

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
    /// Tag of agreement and distribution.
    pub(super) const ROUNDS: c_int = 4;
    /// The first that operations have to themselves.
    pub(super) const FIRST_FREE: u32 = 5;
}

/// Algorithm of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerformedBy {
    /// Of an operation with a root.
    Rooted(Algorithm),
    /// Of an operation without a root.
    Rootless(RootlessAlgorithm),
}

impl PerformedBy {
    /// The algorithm's name in settings.
    pub fn name(self) -> &'static str {
        match self {
            PerformedBy::Rooted(algorithm) => algorithm.name(),
            PerformedBy::Rootless(algorithm) => algorithm.name(),
        }
    }

    /// True for the MPI library's own call.
    pub fn is_native(self) -> bool {
        self == PerformedBy::Rooted(Algorithm::Native)
            || self == PerformedBy::Rootless(RootlessAlgorithm::Native)
    }
}

/// State that a communicator carries for collective operations.
///
/// Not more than one thread at a time may use it, as MPI has it for collective operations of one
/// communicator.
#[derive(Debug)]
pub struct Collectives {
    comm: Rc<Communicator>,
    settings: RefCell<Rc<Settings>>,
    /// Communicator of the messages of operations set up next, until its tags are used up.
    operations: RefCell<Rc<Communicator>>,
    /// The first tag there that no operation has; the same at all ranks.
    next_tag: Cell<u32>,
    /// Performer of the last one-shot operation, for repeated calls.
    once: RefCell<Option<Box<Once>>>,
    /// Plans of one-shot operations with a chosen algorithm.
    plans: Plans,
    /// Plans of calls whose sizes all ranks know.
    known: KnownPlans,
    /// Plans of operations without a root.
    rootless: RootlessPlans,
    /// At ranks that have been the root of a given schedule, the last such, with its file.
    schedule: RefCell<Option<(PathBuf, Rc<Schedule>)>>,
}

impl Collectives {
    /// Collective operations on this communicator, as the environment of its first rank
    /// wants them. Collective.
    ///
    /// # Errors
    /// What MPI returns; settings that make no sense, at all ranks.
    pub fn new(comm: Communicator) -> Result<Collectives, CollectiveError> {
        let settings = Settings::of_environment(&comm)?.map_err(CollectiveError::of_settings)?;
        Ok(Collectives::with(comm, settings))
    }

    /// Collective operations on this communicator with these settings, the same at all ranks.
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
        }
    }

    /// The private communicator.
    pub fn communicator(&self) -> &Communicator {
        &self.comm
    }

    /// Current settings.
    pub fn settings(&self) -> Rc<Settings> {
        Rc::clone(&self.settings.borrow())
    }

    /// Changes a setting, for operations that are called or set up from now on. Collective: all
    /// ranks set the same; the first one reads the file, if it is one.
    ///
    /// # Errors
    /// As [`new`](Self::new). The settings then stay as they are.
    pub fn set(&self, setting: Setting, value: &str) -> Result<(), CollectiveError> {
        let settings = self.settings().as_ref().clone();
        let changed = settings.with(&self.comm, setting, value)?;
        self.take_settings(Rc::new(changed.map_err(CollectiveError::of_settings)?));
        Ok(())
    }

    fn take_settings(&self, settings: Rc<Settings>) {
        *self.settings.borrow_mut() = settings;
        self.plans.clear();
        self.known.clear();
        self.rootless.clear();
    }

    /// Performs an operation, and returns its algorithm: the library's own call, a cached plan, a tree. Collective.
    ///
    /// # Errors
    /// [`CollectiveError`]. If sizes differ or arguments are invalid, the root has an error, and ranks that get no
    /// data; ranks that have sent theirs, or want none, may have none.
    ///
    /// # Complexity
    /// Alltoalls with `auto`: in calls 1, 2, 4, ... `ceil(log2 p)` messages follow one another beforehand, of at most
    /// 32 bytes for each process.
    pub fn run(&self, arguments: &Arguments<'_>) -> Result<PerformedBy, CollectiveError> {
        Ok(match arguments.function() {
            Function::Gatherv | Function::Scatterv => {
                PerformedBy::Rooted(self.run_with(arguments, Strictness::Exact)?)
            }
            Function::Allgatherv => PerformedBy::Rootless(self.run_allgather(arguments)?),
            Function::ReduceScatter | Function::ReduceScatterBlock => {
                PerformedBy::Rootless(self.run_reduce_scatter(arguments)?)
            }
            Function::Alltoall | Function::Alltoallv => {
                let done = self.run_alltoall(arguments, Strictness::Exact)?;
                PerformedBy::Rootless(done.expect("it is declined leniently only"))
            }
        })
    }

    /// Like [`run`](Self::run), for an unchanged program: receivers may have room for more than is sent, as MPI
    /// libraries allow. `None` if the program's library has to perform a rootless operation, since ranks state
    /// different sizes; compared in calls 1, 2, 4, ....
    ///
    /// Sizes travel with the data of rooted operations. A rank may send less to an allgather than its block has room
    /// for; the rest of the block then has no meaning.
    ///
    /// # Errors
    /// As [`run`](Self::run). Where some data is expected and nothing is sent, that is an error; MPI libraries wait for
    /// ever.
    ///
    /// # Complexity
    /// Rootless: in calls 1, 2, 4, ... `ceil(log2 p)` messages follow one another beforehand, of at most 32 bytes for
    /// each process.
    pub fn run_leniently(
        &self,
        arguments: &Arguments<'_>,
    ) -> Result<Option<PerformedBy>, CollectiveError> {
        let rootless = match arguments.function() {
            Function::Gatherv | Function::Scatterv => {
                let algorithm = self.run_with(arguments, Strictness::Loose)?;
                return Ok(Some(PerformedBy::Rooted(algorithm)));
            }
            Function::Allgatherv => self.run_allgather_leniently(arguments)?,
            Function::ReduceScatter | Function::ReduceScatterBlock => {
                self.run_reduce_scatter_leniently(arguments)?
            }
            Function::Alltoall | Function::Alltoallv => {
                self.run_alltoall(arguments, Strictness::Loose)?
            }
        };
        Ok(rootless.map(PerformedBy::Rootless))
    }

    /// Performs an operation with a root, with this strictness of sizes.
    fn run_with(
        &self,
        arguments: &Arguments<'_>,
        strictness: Strictness,
    ) -> Result<Algorithm, CollectiveError> {
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
        if arguments.are_for_library(self.comm.size()) {
            self.comm.native(arguments)?;
            return Ok(Algorithm::Native);
        }
        let call = Call::new(self, arguments, settings, (Handles::Lent, Room::new(self)));
        call.with(strictness).linear().map(|()| Algorithm::Linear)
    }

    /// Sets up an operation that is started many times. Collective; each has tags of its own.
    ///
    /// # Errors
    /// [`CollectiveError`], at all ranks if at any.
    pub fn init<'a>(&self, arguments: &Arguments<'a>) -> Result<Persistent<'a>, CollectiveError> {
        self.init_with(arguments, Strictness::Exact)
    }

    /// Like [`init`](Self::init), for an unchanged program: an alltoall with different stated sizes of a message is the
    /// library's.
    ///
    /// # Errors
    /// As [`init`](Self::init).
    pub fn init_leniently<'a>(
        &self,
        arguments: &Arguments<'a>,
    ) -> Result<Persistent<'a>, CollectiveError> {
        self.init_with(arguments, Strictness::Loose)
    }

    fn init_with<'a>(
        &self,
        arguments: &Arguments<'a>,
        strictness: Strictness,
    ) -> Result<Persistent<'a>, CollectiveError> {
        if !arguments.operation().is_rooted() {
            return persistent::set_up_rootless(self, arguments, strictness);
        }
        let settings = self.settings();
        let call = Call::new(self, arguments, &settings, (Handles::Copied, Room::new(self)));
        persistent::set_up(&call, Reuse::Again)
    }

    /// The construction of the tree of the last call with a root, if costs chose it; the same at all its ranks.
    pub fn last_tree(&self) -> Option<&'static str> {
        self.plans.last().map(ClosedSet::name)
    }

    /// A communicator and the first of `count` free tags on it; for one-shot operations, free at the moment.
    /// Collective.
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

/// True if the tags `first..first + count` exist.
fn fits(first: u32, count: u32, largest: u32) -> bool {
    u64::from(first) + u64::from(count) <= u64::from(largest) + 1
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
