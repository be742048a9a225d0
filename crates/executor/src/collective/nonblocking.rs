//! Gather and scatter that are started, and go on while the program does something else.
//!
//! Each is the operation as it is performed at once, on a stack of its own ([`crate::sys::strand`]): where that would
//! wait for a message, it stops, and goes on when somebody tests or waits for an operation in this thread. So sizes, limits,
//! plans and errors are those of calls that wait.
//!
//! ```text
//!   start      operations of a communicator are performed one after the other, in the order of their starts
//!     |        the first one begins at once, if no other is under way
//!   test, wait the first goes on as far as it can; when it has ended, the next one begins
//! ```
//!
//! They have a communicator of their own, so that calls which wait may come in between. It is made with the first
//! operation on a communicator, which therefore waits for all processes; later ones do not.

use super::{CollectiveError, Collectives, rounds};
use crate::play::Strictness;
use crate::settings::Algorithm;
use crate::sys::strand::{self, Advance, Strand};
use crate::sys::{Arguments, is_running};
use corosensei::stack::DefaultStack;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::rc::{Rc, Weak};
use std::thread;
use tuwtree_model::ClosedSet;

/// How an operation has ended: by which algorithm.
type Outcome = Result<Algorithm, CollectiveError>;

/// The nonblocking operations of a communicator, in the order of their starts.
pub struct OperationQueue {
    /// A communicator of their own, with plans of their own.
    collectives: Collectives,
    /// Those that have not ended, the first one under way.
    waiting: RefCell<VecDeque<Waiting>>,
    /// Whether one of them runs now, further down on the stack.
    is_running: Cell<bool>,
    /// A stack that nobody needs now.
    stack: RefCell<Option<DefaultStack>>,
}

/// An operation that has not ended.
struct Waiting {
    state: WorkState,
    outcome: Rc<RefCell<Option<Outcome>>>,
}

enum WorkState {
    New(Box<dyn FnOnce() -> Outcome>),
    Begun(Strand<Outcome>),
    /// It runs now.
    Taken,
}

impl Debug for OperationQueue {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let waiting = self.waiting.borrow().len();
        formatter.debug_struct("OperationQueue").field("waiting", &waiting).finish_non_exhaustive()
    }
}

thread_local! {
    /// Queues in which something is under way that this thread has started. (Not dropped with the thread, since others
    /// may use them then.)
    static QUEUES: ManuallyDrop<RefCell<Vec<Weak<OperationQueue>>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Lets all operations go on that this thread has started.
fn all_go_on() {
    let queues: Vec<_> =
        QUEUES.with(|queues| queues.borrow().iter().filter_map(Weak::upgrade).collect());
    queues.iter().for_each(OperationQueue::go_on);
    QUEUES.with(|queues| {
        let mut queues = queues.borrow_mut();
        queues.retain(|one| one.upgrade().is_some_and(|one| !one.is_empty()));
        if queues.is_empty() {
            strand::set_meanwhile(None);
        }
    });
}

/// A gather or scatter that has been started. Dropped before it has ended, it is waited for.
#[derive(Debug)]
pub struct Nonblocking<'a> {
    queue: Rc<OperationQueue>,
    outcome: Rc<RefCell<Option<Outcome>>>,
    buffers: PhantomData<&'a mut [u8]>,
}

impl Collectives {
    /// The nonblocking operations of this communicator. Collective where it is first asked for; then all
    /// processors find out whether one has an obstacle, or there is no communicator to be had.
    ///
    /// # Errors
    /// [`CollectiveError::Agreed`] where that is so, at all processors; what MPI returns.
    pub fn queue(
        &self,
        obstacle: impl FnOnce() -> Option<&'static str>,
    ) -> Result<Rc<OperationQueue>, CollectiveError> {
        if let Some(known) = &*self.queue.borrow() {
            return known.clone();
        }
        let made = self.agreed_queue(obstacle())?;
        *self.queue.borrow_mut() = Some(made.clone());
        made
    }

    fn agreed_queue(
        &self,
        obstacle: Option<&'static str>,
    ) -> Result<Result<Rc<OperationQueue>, CollectiveError>, CollectiveError> {
        let (comm, size) = (&self.comm, self.comm.size());
        let mine = |has_failed: bool| if has_failed { comm.rank() } else { size } as u64;
        let first = rounds::least(&**comm, mine(obstacle.is_some()))? as usize;
        let agreed = |first, text| CollectiveError::Agreed { first, class: 0, text };
        if first < size {
            let text = comm.told(obstacle.unwrap_or_default(), first)?;
            return Ok(Err(agreed(first, format!("rank {first}: {text}"))));
        }
        let made = comm.duplicate_again();
        let first = rounds::least(&**comm, mine(made.is_err()))? as usize;
        Ok(match made {
            Ok(made) if first == size => Ok(Rc::new(OperationQueue {
                collectives: Collectives::with(made, self.settings().as_ref().clone()),
                waiting: RefCell::default(),
                is_running: Cell::new(false),
                stack: RefCell::default(),
            })),
            _ => Err(agreed(first, "there is no other communicator to be had".to_owned())),
        })
    }

    /// Starts an operation, and returns as soon as it would wait. Collective, in the order of starts.
    ///
    /// # Errors
    /// As [`queue`](Self::queue). Whatever is wrong with the operation is said when it has ended.
    pub fn start<'a>(&self, arguments: &Arguments<'a>) -> Result<Nonblocking<'a>, CollectiveError> {
        self.queue(|| None)?.start(arguments, Strictness::Exact)
    }
}

impl OperationQueue {
    /// Starts an operation with a root, and returns as soon as it would wait.
    ///
    /// # Errors
    /// An operation without a root.
    pub fn start<'a>(
        self: &Rc<Self>,
        arguments: &Arguments<'a>,
        strictness: Strictness,
    ) -> Result<Nonblocking<'a>, CollectiveError> {
        if !arguments.operation().is_rooted() {
            let name = arguments.operation().name();
            return Err(CollectiveError::Refused(format!("{name} has no nonblocking form")));
        }
        // SAFETY: `Nonblocking` waits for the end before its lifetime ends; whoever forgets it keeps to the promise that
        // was made of the arguments until then.
        let mut arguments: Arguments<'static> = unsafe { arguments.prolonged() };
        let comm = self.collectives.communicator();
        let lists = arguments.own_lists(comm.rank(), comm.size());
        let datatypes = arguments.own_datatypes(comm.rank());
        let queue = Rc::clone(self);
        let work = move || {
            // Kept until the end.
            let _kept = (lists, datatypes);
            queue.perform(&arguments, strictness)
        };
        let outcome = Rc::new(RefCell::new(None));
        let state = WorkState::New(Box::new(work));
        self.waiting.borrow_mut().push_back(Waiting { state, outcome: Rc::clone(&outcome) });
        QUEUES.with(|queues| queues.borrow_mut().push(Rc::downgrade(self)));
        strand::set_meanwhile(Some(all_go_on));
        self.go_on();
        Ok(Nonblocking { queue: Rc::clone(self), outcome, buffers: PhantomData })
    }

    fn perform(&self, arguments: &Arguments<'_>, strictness: Strictness) -> Outcome {
        let collectives = &self.collectives;
        match (strictness, collectives.run_with(arguments, strictness)) {
            // A given schedule is not for the call, as all have found.
            (Strictness::Loose, Err(CollectiveError::Agreed { .. })) => {
                collectives.by_library(arguments, &collectives.settings(), strictness)
            }
            (_, done) => done,
        }
    }

    /// Whether nothing is under way.
    fn is_empty(&self) -> bool {
        self.waiting.borrow().is_empty()
    }

    /// Lets operations go on, one after the other, until one waits.
    fn go_on(self: &Rc<Self>) {
        if self.is_running.replace(true) {
            return;
        }
        loop {
            let mut waiting = self.waiting.borrow_mut();
            let Some(first) = waiting.front_mut() else { break };
            let state = std::mem::replace(&mut first.state, WorkState::Taken);
            drop(waiting);
            let advance = match state {
                WorkState::Begun(strand) => strand.advance(),
                WorkState::New(work) => {
                    match self.stack.take().map_or_else(strand::new_stack, Ok) {
                        Ok(stack) => Strand::new(stack, work).advance(),
                        Err(error) => {
                            let error = CollectiveError::Refused(format!("no stack: {error}"));
                            self.end_first(Err(error));
                            continue;
                        }
                    }
                }
                WorkState::Taken => unreachable!("only one runs at a time"),
            };
            match advance {
                Advance::Waits(strand) => {
                    let mut waiting = self.waiting.borrow_mut();
                    let first = waiting.front_mut().expect("it has not ended");
                    first.state = WorkState::Begun(strand);
                    break;
                }
                Advance::Ended(outcome, stack) => {
                    self.stack.replace(Some(stack));
                    let defect = |_| {
                        let text = "a defect of the library: it panicked".to_owned();
                        Err(CollectiveError::Refused(text))
                    };
                    self.end_first(outcome.unwrap_or_else(defect));
                }
            }
        }
        self.is_running.set(false);
    }

    fn end_first(&self, outcome: Outcome) {
        let ended = self.waiting.borrow_mut().pop_front().expect("it was under way");
        ended.outcome.replace(Some(outcome));
    }

    /// Waits for all operations.
    fn settle(self: &Rc<Self>) {
        while !self.is_empty() {
            all_go_on();
            self.go_on();
            thread::yield_now();
        }
    }

    /// Has operations that are started from now on performed otherwise. Collective.
    pub(super) fn take_settings(self: &Rc<Self>, collectives: &Collectives) {
        self.settle();
        self.collectives.take_settings(collectives.settings());
    }
}

impl Nonblocking<'_> {
    /// How the operation has ended here, if it has: by which algorithm. Lets operations go on.
    pub fn test(&mut self) -> Option<Result<Algorithm, CollectiveError>> {
        self.queue.go_on();
        all_go_on();
        self.outcome.borrow().clone()
    }

    /// Waits until the operation has ended here: by which algorithm.
    ///
    /// # Errors
    /// As [`Collectives::run`].
    pub fn wait(mut self) -> Result<Algorithm, CollectiveError> {
        loop {
            if let Some(outcome) = self.test() {
                return outcome;
            }
            thread::yield_now();
        }
    }
}

impl Drop for Nonblocking<'_> {
    fn drop(&mut self) {
        while self.outcome.borrow().is_none() && is_running() {
            if self.test().is_none() {
                thread::yield_now();
            }
        }
    }
}
