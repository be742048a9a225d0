//! Messages that are set up, started and waited for: once, or again and again.
//!
//! A message that is to be started many times is a persistent request; one that is started once, a
//! nonblocking send or receive. Everything else is the same for both.

use super::datatype::{Counted, Datatype};
use super::raw::{self, MPI_Datatype, MPI_Request, MPI_Status};
use super::words::received;
use super::{Communicator, Few, MpiError, Place, calls, is_running};
use smallvec::SmallVec;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::rc::Rc;
use tuwtree_model::Rank;

/// Data of a message: parts of a place.
#[derive(Clone, Copy, Debug)]
pub struct Transfer<'a> {
    /// The place.
    pub place: &'a Rc<Place>,
    /// Offsets in bytes, and numbers of units.
    pub stretches: &'a [(i64, u64)],
}

impl Transfer<'_> {
    fn bytes(&self) -> u64 {
        self.stretches.iter().map(|&(_, count)| count).sum::<u64>() * self.place.unit().size()
    }

    fn counted(&self) -> Result<Counted<'_>, MpiError> {
        Counted::new(self.place.unit(), self.stretches)
    }
}

/// Blocking or polling completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitMode {
    /// Wait until a request has ended.
    Block,
    /// Return at once.
    Poll,
}

/// One-shot or persistent requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// Nonblocking requests, freed when they end.
    Once,
    /// Persistent requests.
    Again,
}

/// Direction of a message at this rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Sent.
    Out,
    /// Received.
    In,
}

/// Content of a sent message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentContent {
    /// Its data.
    Data,
    /// Zero bytes in place of missing data.
    Nothing,
}

impl SentContent {
    /// Data if it is sound, else nothing.
    pub fn of(is_sound: bool) -> SentContent {
        if is_sound { SentContent::Data } else { SentContent::Nothing }
    }
}

/// Failure of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// An error of MPI.
    Mpi(MpiError),
    /// A message of another size.
    Size {
        /// Its sender.
        from: Rank,
        /// Its size.
        bytes: u64,
        /// The size that this rank expects.
        expected: u64,
    },
}

/// A message as MPI takes it.
#[derive(Debug)]
struct MpiMessage {
    way: Direction,
    peer: Rank,
    tag: c_int,
    /// Has the memory, and the datatype of its units.
    place: Rc<Place>,
    start: i64,
    count: c_int,
    datatype: MPI_Datatype,
    /// The datatype, if it was made for this message.
    made: Option<Box<Datatype>>,
    /// Size of the message, or of the room for it.
    bytes: u64,
    /// Minimal size on arrival.
    least: u64,
    /// Size of the last arrival.
    arrived: u64,
    /// The persistent request, or null.
    request: MPI_Request,
}

impl MpiMessage {
    /// Notes the size of this completed message; returns the failure, if any.
    fn wrong_size(&mut self, status: &MPI_Status) -> Option<Failure> {
        if self.way == Direction::Out {
            return None;
        }
        let (from, expected) = (self.peer, self.bytes);
        let size = received(status);
        self.arrived = *size.as_ref().unwrap_or(&0);
        match size {
            Ok(bytes) if (self.least..=expected).contains(&bytes) => None,
            Ok(bytes) => Some(Failure::Size { from, bytes, expected }),
            Err(error) => Some(Failure::Mpi(error)),
        }
    }
}

/// Messages, by index, with the memory that they use.
///
/// If any is under way when all are dropped, the memory is given up for lost, since MPI may still
/// write to it.
#[derive(Debug)]
pub struct Requests {
    communicator: Rc<Communicator>,
    reuse: Reuse,
    messages: Vec<MpiMessage>,
    /// Started, uncompleted messages: their handles, and their indices.
    active: Few<MPI_Request>,
    indices: Few<u32>,
    /// Room for completions: the places in `active`, and their states.
    ended: Few<c_int>,
    statuses: SmallVec<[MPI_Status; 2]>,
}

impl Requests {
    /// No messages yet.
    pub fn new(communicator: Rc<Communicator>, reuse: Reuse) -> Requests {
        Requests {
            communicator,
            reuse,
            messages: Vec::new(),
            active: Few::new(),
            indices: Few::new(),
            ended: Few::new(),
            statuses: SmallVec::new(),
        }
    }

    /// Forgets all messages, none of which may be under way; later ones are reused as stated.
    pub fn restart(&mut self, reuse: Reuse) {
        self.clear();
        self.reuse = reuse;
    }

    /// Forgets all messages, none of which may be under way.
    pub fn clear(&mut self) {
        debug_assert_eq!(self.under_way(), 0, "MPI may use the memory still");
        self.free();
        self.messages.clear();
    }

    /// True if datatypes were made for messages.
    pub fn have_datatypes(&self) -> bool {
        self.messages.iter().any(|message| message.made.is_some())
    }

    /// Frees persistent requests.
    fn free(&mut self) {
        if self.reuse == Reuse::Again && !self.messages.is_empty() && is_running() {
            for message in &mut self.messages {
                // SAFETY: `add` has made the request, and it is freed only here; one under way MPI
                // keeps until it ends. Failures have nobody to hear of them.
                let _ = unsafe { calls::request_free(&mut message.request) };
            }
        }
    }

    /// Adds a message to or from a rank; returns its index.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn add(
        &mut self,
        way: Direction,
        transfer: Transfer<'_>,
        (peer, tag): (Rank, c_int),
    ) -> Result<u32, MpiError> {
        let Counted { start, count, datatype } = transfer.counted()?;
        // SAFETY: the null request, a constant handle; it stands here until the request is made.
        let null = unsafe { raw::RSMPI_REQUEST_NULL };
        let mut message = MpiMessage {
            way,
            peer,
            tag,
            place: Rc::clone(transfer.place),
            start,
            count,
            datatype: datatype.raw(),
            made: datatype.into_made().map(Box::new),
            bytes: transfer.bytes(),
            least: transfer.bytes(),
            arrived: 0,
            request: null,
        };
        if self.reuse == Reuse::Again {
            let at = message.place.memory().at(start);
            let (datatype, peer, comm) = (message.datatype, peer as c_int, self.communicator.raw());
            let request = &mut message.request;
            // SAFETY: the elements lie in the memory, which is kept as long as the request.
            unsafe {
                match way {
                    Direction::Out => {
                        calls::send_init(at, count, datatype, peer, tag, comm, request)?;
                    }
                    Direction::In => {
                        calls::recv_init(at, count, datatype, peer, tag, comm, request)?;
                    }
                }
            }
        }
        self.messages.push(message);
        Ok(self.messages.len() as u32 - 1)
    }

    /// Adds a message from a rank, between `least` and the room's bytes long; returns its index.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn add_room(
        &mut self,
        room: Transfer<'_>,
        from: (Rank, c_int),
        least: u64,
    ) -> Result<u32, MpiError> {
        let index = self.add(Direction::In, room, from)?;
        self.messages[index as usize].least = least;
        Ok(index)
    }

    /// Size in bytes of the last arrival of a message.
    pub fn arrived(&self, index: u32) -> u64 {
        self.messages[index as usize].arrived
    }

    /// Starts a message that is not under way; one that is sent, with this content.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn start(&mut self, index: u32, content: SentContent) -> Result<(), MpiError> {
        let message = &mut self.messages[index as usize];
        let is_empty = message.way == Direction::Out && content == SentContent::Nothing;
        let request = if self.reuse == Reuse::Again && !is_empty {
            // SAFETY: a persistent request's handle, which MPI does not change.
            unsafe { calls::start(&mut message.request)? };
            message.request
        } else {
            let &mut MpiMessage { way, peer, tag, count, datatype, .. } = message;
            let count = if is_empty { 0 } else { count };
            let (at, comm) = (message.place.memory().at(message.start), self.communicator.raw());
            let (peer, mut request) = (peer as c_int, message.request);
            // SAFETY: the elements lie in the memory, which is kept until the message has ended.
            unsafe {
                match way {
                    Direction::Out => {
                        calls::isend(at, count, datatype, peer, tag, comm, &mut request)?;
                    }
                    Direction::In => {
                        calls::irecv(at, count, datatype, peer, tag, comm, &mut request)?;
                    }
                }
            }
            request
        };
        self.active.push(request);
        self.indices.push(index);
        Ok(())
    }

    /// Starts a message that is performed once, and waits for it; returns the failure, if any.
    ///
    /// # Errors
    /// What MPI returns for a message that is sent.
    pub fn perform(
        &mut self,
        index: u32,
        content: SentContent,
    ) -> Result<Option<Failure>, MpiError> {
        let message = &mut self.messages[index as usize];
        let &mut MpiMessage { way, peer, tag, count, datatype, .. } = message;
        let (at, comm) = (message.place.memory().at(message.start), self.communicator.raw());
        let to = peer as c_int;
        if way == Direction::Out {
            let count = if content == SentContent::Nothing { 0 } else { count };
            // SAFETY: the elements lie in the memory, which lives.
            return unsafe { calls::send(at, count, datatype, to, tag, comm) }.map(|()| None);
        }
        let mut status = MaybeUninit::uninit();
        // SAFETY: the elements lie in the memory, which lives; MPI_Recv fills the status.
        let ended = unsafe {
            let filled = status.as_mut_ptr();
            calls::recv(at, count, datatype, to, tag, comm, filled).map(|()| status.assume_init())
        };
        Ok(match ended {
            Ok(status) => message.wrong_size(&status),
            Err(error) => Some(Failure::Mpi(error)),
        })
    }

    /// Number of messages under way.
    pub fn under_way(&self) -> usize {
        self.active.len()
    }

    /// Appends the indices of completed messages to the list; returns the first failure.
    ///
    /// # Errors
    /// What MPI returns for the call.
    pub fn take_ended(
        &mut self,
        mode: WaitMode,
        list: &mut Few<u32>,
    ) -> Result<Option<Failure>, MpiError> {
        let under_way = self.active.len();
        if under_way == 0 {
            return Ok(None);
        }
        self.ended.resize(under_way, 0);
        // SAFETY: a status is numbers, for which all zeros will do.
        self.statuses.resize(under_way, unsafe { std::mem::zeroed() });
        let (active, mut count) = (self.active.as_mut_ptr(), 0);
        let (ended, statuses) = (self.ended.as_mut_ptr(), self.statuses.as_mut_ptr());
        // SAFETY: all lists have as many entries as messages are under way.
        let taken = unsafe {
            let room = under_way as c_int;
            match mode {
                WaitMode::Block => calls::waitsome(room, active, &mut count, ended, statuses),
                WaitMode::Poll => calls::testsome(room, active, &mut count, ended, statuses),
            }
        };
        let in_status = match taken {
            Ok(()) => None,
            Err(error) if error.class() == raw::MPI_ERR_IN_STATUS as c_int => Some(error.call),
            Err(error) => return Err(error),
        };
        let count = count.max(0) as usize;
        let failure = self.first_failure(count, in_status);
        let ended = &mut self.ended[..count];
        // From behind, so that what takes an ended one's place has not ended itself.
        ended.sort_unstable_by(|one, other| other.cmp(one));
        for &mut place in ended {
            self.active.swap_remove(place as usize);
            list.push(self.indices.swap_remove(place as usize));
        }
        Ok(failure)
    }

    /// Waits for all messages under way, appends their indices to the list; returns the first failure.
    pub fn wait_for_all(&mut self, list: &mut Few<u32>) -> Option<Failure> {
        let mut failure = None;
        for (mut request, index) in self.active.drain(..).zip(self.indices.drain(..)) {
            let mut status = MaybeUninit::uninit();
            // SAFETY: the request is ours, and under way; MPI_Wait fills the status.
            let ended = unsafe {
                let filled = status.as_mut_ptr();
                calls::wait(&mut request, filled).map(|()| status.assume_init())
            };
            let found = match ended {
                Ok(status) => self.messages[index as usize].wrong_size(&status),
                Err(error) => Some(Failure::Mpi(error)),
            };
            failure = failure.or(found);
            list.push(index);
        }
        failure
    }

    /// First failure among the messages just completed; `in_status` names the call that reports
    /// per-message states.
    fn first_failure(&mut self, count: usize, in_status: Option<&'static str>) -> Option<Failure> {
        let mut failure = None;
        for (&place, status) in self.ended[..count].iter().zip(&self.statuses) {
            let message = &mut self.messages[self.indices[place as usize] as usize];
            let found = match in_status {
                Some(call) if status.MPI_ERROR != raw::MPI_SUCCESS as c_int => {
                    Some(Failure::Mpi(MpiError::new(call, status.MPI_ERROR)))
                }
                _ => message.wrong_size(status),
            };
            failure = failure.or(found);
        }
        failure
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        self.free();
        if self.under_way() > 0 {
            std::mem::forget(std::mem::take(&mut self.messages));
        }
    }
}

/// Copies elements from some places to others through a message to oneself, for datatypes that only
/// MPI can read. No other messages to oneself are on the communicator.
///
/// # Errors
/// What MPI returns.
pub fn copy_by_message(
    communicator: &Communicator,
    from: Transfer<'_>,
    into: Transfer<'_>,
) -> Result<(), MpiError> {
    let (sent, room) = (from.counted()?, into.counted()?);
    let sender = (from.place.memory().at(sent.start).cast_const(), sent.count, sent.datatype.raw());
    let receiver = (into.place.memory().at(room.start), room.count, room.datatype.raw());
    let oneself = (communicator.rank() as c_int, 0);
    // SAFETY: both transfers lie in their memories, apart from each other.
    unsafe { communicator.send_and_receive((sender, oneself), (receiver, oneself)) }
}
