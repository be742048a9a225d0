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
mod call;
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

use crate::settings::{Algorithm, RootlessAlgorithm, Setting, Settings};
use crate::sys::{
    AlltoallArguments, Arguments, Communicator, EqualAlltoallArguments, Handles,
    ReduceScatterArguments, Reuse, is_inside_strand,
};
use call::{Call, Once, Room};
use known::KnownPlans;
use planned::Plans;
use rootless::RootlessPlans;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::path::PathBuf;
use std::rc::Rc;
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
    /// What is agreed on and handed out.
    pub(super) const ROUNDS: c_int = 4;
    /// The first that operations have to themselves.
    pub(super) const FIRST_FREE: u32 = 5;
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_tag_is_used_and_none_beyond() {
        assert!(fits(3, 5, 7) && fits(8, 0, 7) && fits(0, u32::MAX, u32::MAX));
        assert!(!fits(4, 5, 7) && !fits(u32::MAX, 1, u32::MAX - 1));
    }
}
