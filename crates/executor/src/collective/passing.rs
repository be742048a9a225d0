//! What a process does in a call that stands between others in a tree that is kept: how much there is to
//! pass on, it learns from what it receives ([`super::seats`]).

use super::seats::{Below, Seat, WORD, notice_bytes};
use super::{CollectiveError, tag};
use crate::play::ExecutionError;
use crate::sys::{
    Communicator, Failure, Few, Move, MpiError, Patience, Place, PlaceError, Requests, Reuse,
    SentContent, Way, copy_by_message, words_of,
};
use std::ffi::c_int;
use std::rc::Rc;
use tuwtree_model::{Operation, Rank};
use tuwtree_schedule::Piece;

/// No larger memory is kept for the next call, in bytes.
const KEPT: u64 = 1 << 16;

/// A process between others, with the receives that all calls have in common.
#[derive(Debug)]
pub(super) struct Passing {
    seat: Seat,
    parent: Rank,
    operation: Operation,
    /// From each child, or from the parent; set up once.
    received: Requests,
    /// Where these messages arrive: one room after the other.
    rooms: Rc<Place>,
    /// Where each room starts.
    starts: Vec<u64>,
    /// What is on its way to others, in this call.
    sent: Requests,
    /// What is put together for the parent.
    assembled: Rc<Place>,
    comm: Rc<Communicator>,
}

/// Some bytes of a place.
#[derive(Clone, Debug)]
struct Stretch {
    place: Rc<Place>,
    piece: Piece,
}

impl Passing {
    /// The process with this seat, which has a parent and children.
    ///
    /// # Errors
    /// No memory; what MPI returns.
    pub(super) fn new(
        comm: &Rc<Communicator>,
        seat: Seat,
        operation: Operation,
    ) -> Result<Passing, CollectiveError> {
        let parent = seat.parent.expect("who passes on has a parent");
        let sources: Vec<(Rank, u64)> = match operation.is_outward() {
            false => seat.children.iter().map(|one| (one.rank, notice_bytes(one.room))).collect(),
            true => vec![(parent, WORD * seat.own.ranks() as u64 + seat.own.room)],
        };
        let rooms = Rc::new(Place::of_bytes(sources.iter().map(|&(_, bytes)| bytes).sum())?);
        let mut received = Requests::new(Rc::clone(comm), Reuse::Again);
        let (mut starts, mut offset) = (Vec::new(), 0);
        for (source, bytes) in sources {
            let room = rooms.stretches(&[Piece { offset, bytes }]).expect("bytes can be cut");
            received.add_room(room.transfer(), (source, tag::DATA))?;
            starts.push(offset);
            offset += bytes;
        }
        Ok(Passing {
            seat,
            parent,
            operation,
            received,
            assembled: Rc::new(Place::nothing()?),
            rooms,
            starts,
            sent: Requests::new(Rc::clone(comm), Reuse::Once),
            comm: Rc::clone(comm),
        })
    }

    /// Takes part in a call with its own block, or without if its arguments are invalid.
    ///
    /// # Errors
    /// What MPI returns; at a scatter, a block of another size than the root's.
    pub(super) fn run(&mut self, own: Option<&Rc<Place>>) -> Result<(), CollectiveError> {
        self.sent.restart(Reuse::Once);
        let done = match self.operation.is_outward() {
            false => self.gather(own),
            true => self.scatter(own),
        };
        if self.assembled.packed_bytes() > KEPT {
            self.sent.clear();
            self.assembled = Rc::new(Place::nothing()?);
        }
        done
    }

    fn gather(&mut self, own: Option<&Rc<Place>>) -> Result<(), CollectiveError> {
        let (mut failure, parts) = self.children_parts()?;
        let blocks = own.map(|own| {
            let piece = Piece { offset: 0, bytes: own.packed_bytes() };
            (self.seat.own.rank, Stretch { place: Rc::clone(own), piece })
        });
        let firsts = self.seat.children.iter().map(|child| child.first);
        let mut blocks: Vec<(Rank, Stretch)> =
            blocks.into_iter().chain(firsts.zip(parts)).collect();
        blocks.sort_by_key(|&(first, _)| first);
        let bytes: u64 = blocks.iter().map(|(_, part)| part.piece.bytes).sum();
        if self.assembled.packed_bytes() < bytes {
            self.assembled = Rc::new(Place::of_bytes(bytes)?);
        }
        let mut offset = 0;
        for (_, part) in &blocks {
            self.copy(part, (&self.assembled, offset))?;
            offset += part.piece.bytes;
        }
        let whole =
            Stretch { place: Rc::clone(&self.assembled), piece: Piece { offset: 0, bytes } };
        let to = self.parent;
        match failure {
            None if self.seat.is_noticed(bytes) => {
                let length = notice_bytes(self.seat.own.room);
                let notice = Rc::new(Place::of_bytes(length)?);
                notice.memory().write(0, &bytes.to_ne_bytes());
                let notice = Stretch { place: notice, piece: Piece { offset: 0, bytes: length } };
                self.send(&notice, (to, tag::DATA))?;
                self.send(&whole, (to, tag::OVERFLOW))?;
            }
            None => self.send(&whole, (to, tag::DATA))?,
            // So that nobody takes wrong data for right.
            Some(_) => self.send_nothing(to)?,
        }
        failure = failure.or(self.sent.wait_for_all(&mut Few::new()));
        failure.map_or(Ok(()), |failure| Err(self.error(failure)))
    }

    /// What comes from each child, and what went wrong first.
    fn children_parts(&mut self) -> Result<(Option<Failure>, Vec<Stretch>), CollectiveError> {
        let Passing { seat, received, rooms, starts, comm, .. } = self;
        let count = seat.children.len();
        for index in 0..count as u32 {
            received.start(index, SentContent::Data)?;
        }
        let part = |place, offset, bytes| Stretch { place, piece: Piece { offset, bytes } };
        let mut parts = vec![part(Rc::clone(rooms), 0, 0); count];
        // Those whose size is known by now, since they did not fit.
        let mut late = Requests::new(Rc::clone(comm), Reuse::Once);
        let (mut failure, mut ended) = (None, Few::new());
        while received.under_way() > 0 {
            ended.clear();
            let failed = received.take_ended(Patience::Stay, &mut ended)?;
            failure = failure.or(failed);
            for index in ended.iter().map(|&index| index as usize) {
                let (child, start) = (&seat.children[index], starts[index]);
                let bytes = received.arrived(index as u32);
                parts[index] = if bytes <= child.room {
                    part(Rc::clone(rooms), start, bytes)
                } else {
                    let mut notice = [0; WORD as usize];
                    rooms.memory().read(start, &mut notice);
                    let bytes = u64::from_ne_bytes(notice);
                    let place = Rc::new(Place::of_bytes(bytes)?);
                    receive_late(&mut late, &place, bytes, child.rank)?;
                    part(place, 0, bytes)
                };
            }
        }
        ended.clear();
        Ok((failure.or(late.wait_for_all(&mut ended)), parts))
    }

    fn scatter(&mut self, own: Option<&Rc<Place>>) -> Result<(), CollectiveError> {
        let rank = self.seat.own.rank;
        self.received.start(0, SentContent::Data)?;
        let mut failure = self.received.wait_for_all(&mut Few::new());
        let header = WORD * self.seat.own.ranks() as u64;
        if failure.is_some() || self.received.arrived(0) < header {
            for index in (0..self.seat.children.len()).rev() {
                self.send_nothing(self.seat.children[index].rank)?;
            }
            let _ = self.sent.wait_for_all(&mut Few::new());
            let given_up = CollectiveError::GivenUp { rank };
            return Err(failure.map_or(given_up, |failure| self.error(failure)));
        }
        let mut lengths = vec![0; header as usize];
        self.rooms.memory().read(0, &mut lengths);
        let lengths = words_of(&lengths);
        // Where the blocks of the ranks of the subtree start, and where the last one ends.
        let mut starts = vec![0];
        starts.extend(lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        let total = starts[lengths.len()];
        let (place, at) = match total <= self.seat.own.room {
            true => (Rc::clone(&self.rooms), header),
            false => {
                let place = Rc::new(Place::of_bytes(total)?);
                let mut late = Requests::new(Rc::clone(&self.comm), Reuse::Once);
                receive_late(&mut late, &place, total, self.parent)?;
                failure = late.wait_for_all(&mut Few::new());
                (place, 0)
            }
        };
        let first = self.seat.own.first;
        let part = |one: &Below| {
            let (start, end) = (starts[one.first - first], starts[one.last + 1 - first]);
            let piece = Piece { offset: at + start, bytes: end - start };
            Stretch { place: Rc::clone(&place), piece }
        };
        for index in (0..self.seat.children.len()).rev() {
            let child = self.seat.children[index].clone();
            match (&failure, child.is_inner) {
                (Some(_), _) => self.send_nothing(child.rank)?,
                (None, false) => self.send(&part(&child), (child.rank, tag::DATA))?,
                (None, true) => {
                    let lengths = &lengths[child.first - first..=child.last - first];
                    self.send_on(&child, lengths, &part(&child))?;
                }
            }
        }
        let stated = lengths[rank - first];
        let expected = own.map_or(stated, |own| own.packed_bytes());
        if let (Some(own), None, true) = (own, &failure, stated == expected) {
            let piece = Piece { offset: at + starts[rank - first], bytes: stated };
            self.copy(&Stretch { place: Rc::clone(&place), piece }, (own, 0))?;
        }
        failure = failure.or(self.sent.wait_for_all(&mut Few::new()));
        match failure {
            Some(failure) => Err(self.error(failure)),
            None if stated != expected => {
                let from = self.parent;
                Err(CollectiveError::Message { from, to: rank, bytes: stated, expected })
            }
            None => Ok(()),
        }
    }

    /// Sends a subtree's data to a child that passes it on.
    fn send_on(
        &mut self,
        child: &Below,
        lengths: &[u64],
        part: &Stretch,
    ) -> Result<(), CollectiveError> {
        let (header, bytes) = (WORD * lengths.len() as u64, part.piece.bytes);
        let fits = bytes <= child.room;
        let length = header + if fits { bytes } else { 0 };
        let message = Rc::new(Place::of_bytes(length)?);
        message.memory().write(0, &crate::sys::bytes_of(lengths));
        if fits {
            self.copy(part, (&message, header))?;
        }
        let message = Stretch { place: message, piece: Piece { offset: 0, bytes: length } };
        self.send(&message, (child.rank, tag::DATA))?;
        if !fits {
            self.send(part, (child.rank, tag::OVERFLOW))?;
        }
        Ok(())
    }

    /// Starts a message.
    fn send(&mut self, part: &Stretch, to: (Rank, c_int)) -> Result<(), MpiError> {
        let pieces = [part.piece];
        let data = part.place.stretches(&pieces[..usize::from(part.piece.bytes > 0)]);
        let data = data.expect("bytes can be cut");
        let index = self.sent.add(Way::Out, data.transfer(), to)?;
        self.sent.start(index, SentContent::Data)
    }

    /// Starts a message without data.
    fn send_nothing(&mut self, to: Rank) -> Result<(), MpiError> {
        let nothing =
            Stretch { place: Rc::clone(&self.rooms), piece: Piece { offset: 0, bytes: 0 } };
        self.send(&nothing, (to, tag::DATA))
    }

    /// Copies bytes to an offset of another place.
    fn copy(&self, from: &Stretch, (into, offset): (&Rc<Place>, u64)) -> Result<(), MpiError> {
        let bytes = from.piece.bytes;
        if bytes == 0 {
            return Ok(());
        }
        let from = from.place.stretches(&[from.piece]).expect("a whole block, or bytes");
        let into = into.stretches(&[Piece { offset, bytes }]).expect("a whole block, or bytes");
        if from.is_packed() && into.is_packed() {
            Move::new(&from, &into).perform();
            return Ok(());
        }
        copy_by_message(&self.comm, from.transfer(), into.transfer())
    }

    fn error(&self, failure: Failure) -> CollectiveError {
        ExecutionError::of_message(failure, self.seat.own.rank).into()
    }
}

/// Receives what did not fit, now that its size is known.
fn receive_late(
    late: &mut Requests,
    place: &Rc<Place>,
    bytes: u64,
    from: Rank,
) -> Result<(), PlaceError> {
    let whole = place.stretches(&[Piece { offset: 0, bytes }]).expect("bytes can be cut");
    let index = late.add(Way::In, whole.transfer(), (from, tag::OVERFLOW))?;
    Ok(late.start(index, SentContent::Data)?)
}
