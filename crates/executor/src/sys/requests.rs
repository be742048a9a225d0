//! Messages that are set up, started and waited for: once, or again and again.
//!
//! A message that is to be started many times is a persistent request; one that is started once, a
//! nonblocking send or receive. Everything else is the same for both.

use super::datatype::{Counted, Datatype};
use super::raw::{self, MPI_Datatype, MPI_Request, MPI_Status};
use super::words::received;
use super::{Communicator, Few, MpiError, Place, calls, is_running, patient};
use smallvec::SmallVec;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::rc::Rc;
use tuwtree_model::Rank;

/// What a message carries: some of the data of a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer<'a> {
    pub(crate) place: &'a Rc<Place>,
    /// Offsets in bytes, and numbers of units.
    pub(crate) stretches: &'a [(i64, u64)],
}

impl Transfer<'_> {
    fn bytes(&self) -> u64 {
        self.stretches.iter().map(|&(_, count)| count).sum::<u64>() * self.place.unit().size()
    }

    fn counted(&self) -> Result<Counted<'_>, MpiError> {
        Counted::new(self.place.unit(), self.stretches)
    }
}

/// Whether to wait for something to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Wait until something has.
    Stay,
    /// Look, and go on.
    Leave,
}

/// How often messages are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reuse {
    Once,
    Again,
}

/// Which way a message goes, seen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Out,
    In,
}

/// Whether a message that is sent has its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SentContent {
    Data,
    /// Nothing, in place of data that there is not.
    Nothing,
}

impl SentContent {
    /// Data, if what is sent is sound.
    pub(crate) fn of(is_sound: bool) -> SentContent {
        if is_sound { SentContent::Data } else { SentContent::Nothing }
    }
}

/// Why a message that has ended is not what it should be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure {
    /// What MPI says.
    Mpi(MpiError),
    /// A message of another size.
    Size { from: Rank, bytes: u64, expected: u64 },
}

/// A message as MPI takes it.
#[derive(Debug)]
struct MpiMessage {
    way: Way,
    peer: Rank,
    tag: c_int,
    /// Has the memory, and the datatype of its units.
    place: Rc<Place>,
    start: i64,
    count: c_int,
    datatype: MPI_Datatype,
    /// The datatype, if it was made for this message.
    made: Option<Box<Datatype>>,
    /// How many bytes it carries, or has room for.
    bytes: u64,
    /// How many bytes have to come at least.
    least: u64,
    /// How many have come last.
    arrived: u64,
    /// The persistent request, or null.
    request: MPI_Request,
}

impl MpiMessage {
    /// Notes the size of this message, which has ended: what is wrong with it.
    fn wrong_size(&mut self, status: &MPI_Status) -> Option<Failure> {
        if self.way == Way::Out {
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
pub(crate) struct Requests {
    communicator: Rc<Communicator>,
    reuse: Reuse,
    messages: Vec<MpiMessage>,
    /// Those that have been started and not ended: their handles, and their indices.
    active: Few<MPI_Request>,
    indices: Few<u32>,
    /// Room for what has ended: the places in `active`, and how.
    ended: Few<c_int>,
    statuses: SmallVec<[MPI_Status; 2]>,
}

impl Requests {
    /// No messages yet.
    pub(crate) fn new(communicator: Rc<Communicator>, reuse: Reuse) -> Requests {
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

    /// Forgets all messages, none of which is under way; those that follow are started so often.
    pub(crate) fn restart(&mut self, reuse: Reuse) {
        self.clear();
        self.reuse = reuse;
    }

    /// Forgets all messages, none of which is under way.
    pub(crate) fn clear(&mut self) {
        debug_assert_eq!(self.under_way(), 0, "MPI may use the memory still");
        self.free();
        self.messages.clear();
    }

    /// Whether datatypes were made for messages.
    pub(crate) fn have_datatypes(&self) -> bool {
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

    /// Adds a message to or from a processor; returns its index.
    ///
    /// # Errors
    /// What MPI returns.
    pub(crate) fn add(
        &mut self,
        way: Way,
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
                    Way::Out => calls::send_init(at, count, datatype, peer, tag, comm, request)?,
                    Way::In => calls::recv_init(at, count, datatype, peer, tag, comm, request)?,
                }
            }
        }
        self.messages.push(message);
        Ok(self.messages.len() as u32 - 1)
    }

    /// Adds a message from a processor that may be shorter than what it has room for, down to so many bytes;
    /// returns its index.
    ///
    /// # Errors
    /// What MPI returns.
    pub(crate) fn add_room(
        &mut self,
        room: Transfer<'_>,
        from: (Rank, c_int),
        least: u64,
    ) -> Result<u32, MpiError> {
        let index = self.add(Way::In, room, from)?;
        self.messages[index as usize].least = least;
        Ok(index)
    }

    /// How many bytes a received message had when it ended last.
    pub(crate) fn arrived(&self, index: u32) -> u64 {
        self.messages[index as usize].arrived
    }

    /// Starts a message that is not under way; one that is sent, with this content.
    ///
    /// # Errors
    /// What MPI returns.
    pub(crate) fn start(&mut self, index: u32, content: SentContent) -> Result<(), MpiError> {
        let message = &mut self.messages[index as usize];
        let is_empty = message.way == Way::Out && content == SentContent::Nothing;
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
                    Way::Out => calls::isend(at, count, datatype, peer, tag, comm, &mut request)?,
                    Way::In => calls::irecv(at, count, datatype, peer, tag, comm, &mut request)?,
                }
            }
            request
        };
        self.active.push(request);
        self.indices.push(index);
        Ok(())
    }

    /// Starts a message that is started once, and waits for it: what is wrong with it, if anything is.
    ///
    /// # Errors
    /// What MPI returns for a message that is sent.
    pub(crate) fn perform(
        &mut self,
        index: u32,
        content: SentContent,
    ) -> Result<Option<Failure>, MpiError> {
        let message = &mut self.messages[index as usize];
        let &mut MpiMessage { way, peer, tag, count, datatype, .. } = message;
        let (at, comm) = (message.place.memory().at(message.start), self.communicator.raw());
        let to = peer as c_int;
        if way == Way::Out {
            let count = if content == SentContent::Nothing { 0 } else { count };
            // SAFETY: the elements lie in the memory, which lives.
            return unsafe { patient::send(at, count, datatype, to, tag, comm) }.map(|()| None);
        }
        let mut status = MaybeUninit::uninit();
        // SAFETY: the elements lie in the memory, which lives; MPI_Recv fills the status.
        let ended = unsafe {
            let filled = status.as_mut_ptr();
            patient::recv(at, count, datatype, to, tag, comm, filled).map(|()| status.assume_init())
        };
        Ok(match ended {
            Ok(status) => message.wrong_size(&status),
            Err(error) => Some(Failure::Mpi(error)),
        })
    }

    /// How many messages are under way.
    pub(crate) fn under_way(&self) -> usize {
        self.active.len()
    }

    /// Adds the indices of messages that have ended to the list, and says what is wrong with the
    /// first of them that is not as it should be.
    ///
    /// # Errors
    /// What MPI returns for the call.
    pub(crate) fn take_ended(
        &mut self,
        patience: Patience,
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
            match patience {
                Patience::Stay => patient::waitsome(room, active, &mut count, ended, statuses),
                Patience::Leave => calls::testsome(room, active, &mut count, ended, statuses),
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

    /// Waits for all that are under way, adds their indices to the list, and says what is wrong with
    /// the first of them that is not as it should be.
    pub(crate) fn wait_for_all(&mut self, list: &mut Few<u32>) -> Option<Failure> {
        let mut failure = None;
        for (mut request, index) in self.active.drain(..).zip(self.indices.drain(..)) {
            let mut status = MaybeUninit::uninit();
            // SAFETY: the request is ours, and under way; MPI_Wait fills the status.
            let ended = unsafe {
                let filled = status.as_mut_ptr();
                patient::wait(&mut request, filled).map(|()| status.assume_init())
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

    /// What is wrong with the first of the messages that have just ended; `in_status` is the call
    /// that says so of some.
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
pub(crate) fn copy_by_message(
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
