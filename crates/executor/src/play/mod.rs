//! A part bound to memory, and performed as often as one likes.
//!
//! [`Execution::new`] sets up a persistent request for each message; [`start`](Execution::start) and
//! [`wait`](Execution::wait) or [`test`](Execution::test) then perform the part, again and again. Dependencies are
//! worked out once ([`Mode`]), so that performing is counting and starting requests; nothing runs in the background,
//! except in MPI.
//!
//! ```text
//! start      take_ready: starts messages; copies and combines at once    no step is left: over
//!                |                       ^
//!                | what is under way     | steps that waited only for these (`Progress::end`)
//!                v                       |
//! wait, test take_ended: which messages have ended?   none: `test` says no, `wait` stays here
//! ```
//!
//! # Data
//! Inputs and outputs are elements of any datatype at any place ([`Place`]); segments hold packed bytes. A message from
//! or to one stretch of memory is sent as it is, any other as one element of a derived datatype, as is a message too
//! large for MPI's counts. Segments are sent and received as bytes, whatever the elements: MPI libraries allow that
//! between ranks that represent numbers alike; do not use it on others.
//!
//! # Messages
//! Each message between two ranks has an MPI tag of its own, on which both ends agree without
//! talking: its number among all between the two, by the schedule's tag, then in order.
//!
//! # Failures
//! A message that fails, or has an unexpected size, ends nothing: the rest of the part is performed, so that no rank
//! waits for it, and the first failure is returned at the end. From then on nothing is copied or combined, and sends
//! are empty, so that no rank takes wrong data for right. A missing message is waited for. [`Communicator::agree`]
//! serves to agree beforehand.
//!
//! # Once, or again
//! One-shot operations use nonblocking messages in place of persistent requests. That is the only difference: one
//! interpreter performs one-shot calls, operations that are set up, and replayed schedules.

mod bound;
mod conflicts;
mod error;
mod native;
mod order;
mod setup;

pub(crate) use bound::BoundAction;
pub use error::ExecutionError;
pub use order::Mode;

use order::{Order, Progress};
use std::ffi::c_int;
use std::rc::Rc;
use tuwtree_binding::{
    Communicator, Datatype, Failure, Few, Memory, Move, MpiError, Operator, Place, PlaceError,
    Requests, Reuse, SentContent, Stretches, WaitMode, copy_by_message,
};
use tuwtree_model::Operation;
use tuwtree_schedule::part::{GivenCopy, Part};
use tuwtree_schedule::{Arrival, Buffer, Piece, Role};

/// No larger segments are kept for the next call, in bytes.
const KEPT_SEGMENT: u64 = 1 << 16;

/// A rank's buffers.
#[derive(Debug)]
pub struct Buffers {
    input: Rc<Place>,
    output: Rc<Place>,
    own: Own,
    reduction: Option<Reduction>,
}

/// Place of the root's own data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    /// In a buffer of its own.
    Apart,
    /// All data in place.
    InPlace,
}

/// Datatype and operator of a reduction.
#[derive(Debug)]
pub struct Reduction {
    /// The elements.
    pub datatype: Datatype,
    /// The operator.
    pub operator: Operator,
}

impl Buffers {
    /// An input and an output; [`Place::nothing`] for an absent one.
    pub fn apart(input: impl Into<Rc<Place>>, output: impl Into<Rc<Place>>) -> Buffers {
        let (input, output) = (input.into(), output.into());
        Buffers { input, output, own: Own::Apart, reduction: None }
    }

    /// At the root, its own data in the place of all data (`MPI_IN_PLACE`): a gather's or reduction's
    /// output, where the own input already is, or a scatter's input, where the own output stays.
    ///
    /// # Errors
    /// What MPI says of bytes.
    pub fn in_place(
        operation: Operation,
        all: impl Into<Rc<Place>>,
    ) -> Result<Buffers, PlaceError> {
        Ok(Buffers::in_place_of(operation, all.into(), Rc::new(Place::nothing()?)))
    }

    /// Like [`in_place`](Self::in_place), with a place without data.
    pub(crate) fn in_place_of(operation: Operation, all: Rc<Place>, nothing: Rc<Place>) -> Buffers {
        let (input, output) = match operation.is_outward() {
            true => (all, nothing),
            false => (nothing, all),
        };
        Buffers { input, output, own: Own::InPlace, reduction: None }
    }

    /// Memory of our own, of the sizes that this role needs: for data that nobody looks at.
    ///
    /// # Errors
    /// No memory.
    pub(crate) fn unseen(role: &Role) -> Result<Buffers, PlaceError> {
        let place = |buffer| Place::of_bytes(role.buffer_bytes(buffer));
        Ok(Buffers::apart(place(Buffer::Input)?, place(Buffer::Output)?))
    }

    /// Makes them buffers of a reduction.
    pub fn reducing(self, reduction: Reduction) -> Buffers {
        Buffers { reduction: Some(reduction), ..self }
    }
}

/// Manner of performing a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) mode: Mode,
    pub(crate) reuse: Reuse,
    /// The tag of the first message between two ranks; the others follow.
    pub(crate) first_tag: c_int,
    pub(crate) strictness: Strictness,
}

/// Treatment of receives with more room than is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// It may not: that is an error.
    Exact,
    /// It may: the rest of its memory stays as it is. But some data has to come where there is room for some, since
    /// messages without data say that something is wrong. (MPI libraries wait for ever there.)
    Loose,
}

impl Strictness {
    /// Minimal size of a message for this room.
    pub(crate) fn least(self, room: u64) -> u64 {
        match self {
            Strictness::Exact => room,
            Strictness::Loose => room.min(1),
        }
    }
}

impl Manner {
    /// Once, by messages that have this tag and those after it.
    pub(crate) fn once(mode: Mode, first_tag: c_int) -> Manner {
        Manner { mode, reuse: Reuse::Once, first_tag, strictness: Strictness::Exact }
    }

    /// Again and again, by messages that have the communicator to themselves.
    fn again(mode: Mode) -> Manner {
        Manner { mode, reuse: Reuse::Again, first_tag: 0, strictness: Strictness::Exact }
    }

    /// Sets the strictness.
    pub(crate) fn with_strictness(self, strictness: Strictness) -> Manner {
        Manner { strictness, ..self }
    }
}

/// Relation of the actions to those bound before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrangement {
    /// Unknown: dependencies are to be found.
    New,
    /// Equal actions on other data: dependencies are kept.
    Alike,
}

/// A part bound to memory: messages that are set up once and started many times.
///
/// Of those with the same tags, one may be under way at a time on a communicator.
#[derive(Debug)]
pub struct Execution {
    // Before the memory that they use, so that they are freed first.
    requests: Requests,
    role: Role,
    order: Order,
    progress: Progress,
    /// Work of each step.
    deeds: Vec<StepDeed>,
    /// For each request its step.
    steps: Few<u32>,
    /// Room for the requests that have ended.
    ended: Few<u32>,
    places: Places,
    /// Place of the own data.
    own: Own,
    /// A place without data.
    nothing: Rc<Place>,
    /// True if a part is bound.
    is_bound: bool,
    beginning: Vec<Move>,
    reduction: Option<Reduction>,
    reuse: Reuse,
    state: State,
    /// The first failure since the start.
    failure: Option<ExecutionError>,
    communicator: Rc<Communicator>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Rests,
    Runs,
    Failed,
}

#[derive(Debug)]
struct Places {
    input: Rc<Place>,
    segment: Rc<Place>,
    output: Rc<Place>,
}

impl Places {
    /// One place for all buffers.
    fn all(place: &Rc<Place>) -> Places {
        let [input, segment, output] = [(); 3].map(|()| Rc::clone(place));
        Places { input, segment, output }
    }

    fn get(&self, buffer: Buffer) -> &Rc<Place> {
        match buffer {
            Buffer::Input => &self.input,
            Buffer::Segment => &self.segment,
            Buffer::Output => &self.output,
        }
    }
}

/// Work of a step.
#[derive(Debug)]
enum StepDeed {
    /// Starts this message.
    Message(u32),
    /// Copies packed data.
    Copy(Move),
    /// Copies other data.
    CopyByMessage(Box<(Stretches, Stretches)>),
    /// Combines received data with existing data.
    Combine { stage: Rc<Place>, into: Stretches, arrival: Arrival },
}

impl Execution {
    /// The part, ready to be started. Not collective.
    ///
    /// # Errors
    /// [`ExecutionError`]: the communicator or the buffers are not those of the part; an action
    /// cannot be performed with such elements; an MPI call fails.
    ///
    /// # Complexity
    /// O(n log n) for n pieces of actions and blocks that they meet.
    pub fn new(
        part: &Part,
        buffers: Buffers,
        communicator: &Rc<Communicator>,
        mode: Mode,
    ) -> Result<Execution, ExecutionError> {
        let actions = part.actions().map(|action| BoundAction::new(&action)).collect();
        let bound = (*part.role(), actions);
        let mut execution =
            Execution::of_actions(bound, buffers, communicator, Manner::again(mode))?;
        execution.give(part.given())?;
        Ok(execution)
    }

    /// Has these copies made whenever the part starts.
    fn give(&mut self, given: &[GivenCopy]) -> Result<(), ExecutionError> {
        let stretches = |buffer, piece| {
            let stretches = self.places.get(buffer).stretches(&[piece]);
            let packed = stretches.ok().filter(Stretches::is_packed);
            packed.ok_or(ExecutionError::NotPacked { rank: self.role.rank })
        };
        for &GivenCopy { from, buffer, offset } in given {
            let into = Piece { offset, bytes: from.bytes };
            let copied = Move::new(&stretches(Buffer::Input, from)?, &stretches(buffer, into)?);
            self.beginning.push(copied);
        }
        Ok(())
    }

    /// The actions of a rank with this role, as [`new`](Self::new), in whatever manner.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn of_actions(
        (role, actions): (Role, Vec<BoundAction>),
        buffers: Buffers,
        communicator: &Rc<Communicator>,
        manner: Manner,
    ) -> Result<Execution, ExecutionError> {
        let mut execution = Execution::of_nothing(communicator)?;
        execution.bind((role, actions), buffers, (manner, Arrangement::New))?;
        Ok(execution)
    }

    /// An execution without a part, with room for parts bound later, one after the other.
    ///
    /// # Errors
    /// What MPI says of bytes.
    pub(crate) fn of_nothing(communicator: &Rc<Communicator>) -> Result<Execution, PlaceError> {
        let nothing = Rc::new(Place::nothing()?);
        Ok(Execution {
            requests: Requests::new(Rc::clone(communicator), Reuse::Once),
            role: Role {
                operation: Operation::Gather,
                ranks: communicator.size(),
                root: Some(0),
                rank: communicator.rank(),
                ports: 1,
                own_bytes: 0,
                total_bytes: 0,
                segment_bytes: 0,
            },
            order: Order::default(),
            progress: Progress::default(),
            deeds: Vec::new(),
            steps: Few::new(),
            ended: Few::new(),
            places: Places::all(&nothing),
            own: Own::Apart,
            nothing,
            is_bound: false,
            beginning: Vec::new(),
            reduction: None,
            reuse: Reuse::Once,
            state: State::Rests,
            failure: None,
            communicator: Rc::clone(communicator),
        })
    }

    /// Replaces its actions and buffers, in the same memory. After an error it has no part.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`ExecutionError::UnderWay`].
    pub(crate) fn bind(
        &mut self,
        (role, actions): (Role, Vec<BoundAction>),
        buffers: Buffers,
        (manner, arrangement): (Manner, Arrangement),
    ) -> Result<(), ExecutionError> {
        self.check_rests()?;
        let was_bound = std::mem::take(&mut self.is_bound);
        let arrangement = if was_bound { arrangement } else { Arrangement::New };
        setup::bind(self, (role, actions), buffers, (manner, arrangement))?;
        self.is_bound = true;
        Ok(())
    }

    /// True if the bound part can be performed again with these buffers: they are its own.
    pub(crate) fn is_of(&self, buffers: &Buffers) -> bool {
        self.state == State::Rests
            && self.reduction.is_none()
            && buffers.reduction.is_none()
            && self.is_bound
            && self.own == buffers.own
            && Rc::ptr_eq(&self.places.input, &buffers.input)
            && Rc::ptr_eq(&self.places.output, &buffers.output)
    }

    /// The places of the input and of the output.
    pub(crate) fn ends(&self) -> [&Rc<Place>; 2] {
        [&self.places.input, &self.places.output]
    }

    /// Lets go of the user's memory after a part has been performed; what else there is stays, for
    /// the next part, or this one once more. `false` if messages may be under way.
    pub(crate) fn let_go(&mut self) -> bool {
        if self.state != State::Rests {
            return false;
        }
        for place in [&self.places.input, &self.places.output] {
            place.memory().let_go();
        }
        if self.places.segment.packed_bytes() > KEPT_SEGMENT || self.requests.have_datatypes() {
            self.forget();
        }
        true
    }

    /// Forgets the part, which rests, and the memory of our own that it has.
    fn forget(&mut self) {
        self.is_bound = false;
        self.requests.clear();
        self.deeds.clear();
        self.beginning.clear();
        self.places = Places::all(&self.nothing);
    }

    /// Communicator of its messages.
    pub(crate) fn communicator(&self) -> &Communicator {
        &self.communicator
    }

    /// A place without data.
    pub(crate) fn nothing(&self) -> &Rc<Place> {
        &self.nothing
    }

    /// Role in the part.
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// Starts: available work is done, and messages are under way when this returns.
    ///
    /// # Errors
    /// [`ExecutionError::UnderWay`], if it has not ended; what MPI returns.
    pub fn start(&mut self) -> Result<(), ExecutionError> {
        self.check_rests()?;
        self.progress.restart(&self.order);
        self.beginning.iter().for_each(Move::perform);
        self.state = State::Runs;
        self.failure = None;
        let taken = self.take_ready();
        self.noting_failure(taken)
    }

    /// Waits until the part has been performed. Returns at once if it has not been started.
    ///
    /// # Errors
    /// [`ExecutionError::Message`]; what MPI returns.
    pub fn wait(&mut self) -> Result<(), ExecutionError> {
        self.go_on(WaitMode::Block).map(drop)
    }

    /// Progresses without waiting; true at completion, or if not started.
    ///
    /// # Errors
    /// [`ExecutionError::Message`]; what MPI returns.
    pub fn test(&mut self) -> Result<bool, ExecutionError> {
        self.go_on(WaitMode::Poll)
    }

    /// Starts and waits.
    ///
    /// # Errors
    /// As those two.
    pub fn run(&mut self) -> Result<(), ExecutionError> {
        self.start()?;
        self.wait()
    }

    /// True from the start until completion was seen.
    pub fn is_under_way(&self) -> bool {
        self.state == State::Runs
    }

    /// Copies bytes into the memory of a buffer, gaps included.
    ///
    /// # Errors
    /// [`ExecutionError::UnderWay`]; [`ExecutionError::NotOurs`].
    pub fn write(
        &mut self,
        buffer: Buffer,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), ExecutionError> {
        self.check_rests()?;
        self.memory(buffer, offset, bytes.len() as u64)?.write(offset, bytes);
        Ok(())
    }

    /// Copies bytes from the memory of a buffer, gaps included.
    ///
    /// # Errors
    /// [`ExecutionError::UnderWay`]; [`ExecutionError::NotOurs`].
    pub fn read(
        &self,
        buffer: Buffer,
        offset: u64,
        bytes: &mut [u8],
    ) -> Result<(), ExecutionError> {
        self.check_rests()?;
        self.memory(buffer, offset, bytes.len() as u64)?.read(offset, bytes);
        Ok(())
    }

    /// The memory of a buffer, if it is ours and has these bytes.
    fn memory(&self, buffer: Buffer, offset: u64, bytes: u64) -> Result<&Memory, ExecutionError> {
        let memory = self.places.get(buffer).own(offset, bytes);
        memory.ok_or(ExecutionError::NotOurs { buffer, offset, bytes })
    }

    fn check_rests(&self) -> Result<(), ExecutionError> {
        match self.state {
            State::Rests => Ok(()),
            State::Runs => Err(ExecutionError::UnderWay),
            State::Failed => Err(ExecutionError::Failed),
        }
    }

    /// Notes that a call failed that leaves messages as they are: nothing can go on.
    fn noting_failure<T>(&mut self, result: Result<T, MpiError>) -> Result<T, ExecutionError> {
        if result.is_err() {
            self.state = State::Failed;
        }
        Ok(result?)
    }

    fn go_on(&mut self, mode: WaitMode) -> Result<bool, ExecutionError> {
        if self.state != State::Runs {
            return Ok(true);
        }
        loop {
            let taken = self.take_ready();
            self.noting_failure(taken)?;
            let left = self.progress.left();
            if left == 0 {
                self.state = State::Rests;
                return self.failure.take().map_or(Ok(true), Err);
            }
            let under_way = self.requests.under_way();
            assert!(under_way > 0, "steps wait for earlier ones only");
            self.ended.clear();
            // Where it does not matter which ends first, one wait after the other takes least.
            let is_all = under_way == 1 || under_way == left;
            let ended = match mode {
                WaitMode::Block if is_all => Ok(self.requests.wait_for_all(&mut self.ended)),
                _ => self.requests.take_ended(mode, &mut self.ended),
            };
            if let Some(failure) = self.noting_failure(ended)? {
                self.note(failure);
            }
            if self.ended.is_empty() {
                return Ok(false);
            }
            for &request in &self.ended {
                self.progress.end(&self.order, self.steps[request as usize]);
            }
        }
    }

    fn note(&mut self, failure: Failure) {
        let rank = self.role.rank;
        self.failure.get_or_insert_with(|| ExecutionError::of_message(failure, rank));
    }

    /// Takes all steps that can be taken now.
    fn take_ready(&mut self) -> Result<(), MpiError> {
        while let Some(step) = self.progress.next() {
            let is_sound = self.failure.is_none();
            match &self.deeds[step as usize] {
                StepDeed::Message(request) => {
                    let (request, content) = (*request, SentContent::of(is_sound));
                    let is_alone = self.progress.is_waiting() && self.requests.under_way() == 0;
                    if self.reuse == Reuse::Again || !is_alone {
                        self.requests.start(request, content)?;
                        continue;
                    }
                    // Nothing else can be done meanwhile, and whoever starts once, waits.
                    if let Some(failure) = self.requests.perform(request, content)? {
                        self.note(failure);
                    }
                }
                _ if !is_sound => {}
                StepDeed::Copy(bytes) => bytes.perform(),
                StepDeed::CopyByMessage(places) => {
                    let (from, into) = &**places;
                    copy_by_message(&self.communicator, from.transfer(), into.transfer())?;
                }
                StepDeed::Combine { stage, into, arrival } => {
                    let reduction = self.reduction.as_ref().expect("checked at the beginning");
                    combine(reduction, stage, into, *arrival)?;
                }
            }
            self.progress.end(&self.order, step);
        }
        Ok(())
    }
}

/// Joins received data with that which is there, and puts the result there.
fn combine(
    reduction: &Reduction,
    stage: &Place,
    into: &Stretches,
    arrival: Arrival,
) -> Result<(), MpiError> {
    let Reduction { operator, datatype } = reduction;
    let (memory, stretches) = into.in_memory();
    let mut at = 0;
    for &(place, bytes) in stretches {
        let received = (stage.memory(), at);
        let held = (memory, place);
        match arrival {
            Arrival::CombineLeft => {
                Memory::combine(operator, datatype, received, held, bytes)?;
            }
            Arrival::CombineRight => {
                Memory::combine(operator, datatype, held, received, bytes)?;
                Memory::copy(received, held, bytes);
            }
            Arrival::Store => Memory::copy(received, held, bytes),
        }
        at += bytes as i64;
    }
    Ok(())
}
