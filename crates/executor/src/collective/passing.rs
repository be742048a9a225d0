//! What a process does in a call that stands between others in a tree that is kept: how much there is to
//! pass on, it learns from what it receives ([`super::seats`]).

use super::seats::{Below, Seat, WORD, notice_bytes};
use super::{CollectiveError, tag};
use crate::play::ExecutionError;
use crate::sys::{
    Communicator, Failure, Few, Move, MpiError, Patience, Place, PlaceError, Requests, Reuse,
    SentContent, Transfer, Way, copy_by_message, words_of,
};
use crate::tree::Node;
use std::ffi::c_int;
use std::rc::Rc;
use tuwtree_model::{Operation, Rank};
use tuwtree_schedule::Piece;

/// No larger memory is kept for the next call, in bytes.
const KEPT: u64 = 1 << 16;

/// Data for which there is no memory is thrown away in pieces of so many bytes.
const SCRAP: u64 = 1 << 14;

/// A process between others, with the receives that all calls have in common.
#[derive(Debug)]
pub(super) struct Passing {
    seat: Seat,
    parent: Rank,
    root: Rank,
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
    /// Where data ends for which the system gives no memory.
    scrap: Rc<Place>,
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
        (operation, root): (Operation, Rank),
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
            root,
            operation,
            received,
            assembled: Rc::new(Place::nothing()?),
            scrap: Rc::new(Place::of_bytes(SCRAP)?),
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
        let own = own.map(|own| (Rc::clone(own), own.packed_bytes()));
        let own = own.map(|(place, bytes)| Stretch { place, piece: Piece { offset: 0, bytes } });
        let is_straight = |own: &Stretch| self.seat.own.is_straight(own.piece.bytes);
        let straight = own.as_ref().filter(|own| is_straight(own)).cloned();
        let blocks = own.filter(|_| straight.is_none()).map(|own| (self.seat.own.rank, own));
        if let Some(own) = &straight {
            let number = if self.seat.is_under_root { tag::OVERFLOW } else { tag::DATA };
            self.send(own, (self.root, number))?;
        }
        let (mut failure, parts) = self.children_parts()?;
        let firsts = self.seat.children.iter().map(|child| child.first);
        let mut blocks: Vec<(Rank, Stretch)> =
            blocks.into_iter().chain(firsts.zip(parts)).collect();
        blocks.sort_by_key(|&(first, _)| first);
        let bytes: u64 = blocks.iter().map(|(_, part)| part.piece.bytes).sum();
        if self.assembled.packed_bytes() < bytes && failure.is_none() {
            match Place::of_bytes(bytes) {
                Ok(place) => self.assembled = Rc::new(place),
                Err(error) => failure = Some(error.into()),
            }
        }
        let mut offset = 0;
        for (_, part) in blocks.iter().filter(|_| failure.is_none()) {
            self.copy(part, (&self.assembled, offset))?;
            offset += part.piece.bytes;
        }
        let whole =
            Stretch { place: Rc::clone(&self.assembled), piece: Piece { offset: 0, bytes } };
        let to = self.parent;
        if self.seat.own.waits_for.is_some() {
            self.comm.receive_any(to, tag::DATA)?;
        }
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
        let sent = self.sent.wait_for_all(&mut Few::new()).map(|failure| self.error(failure));
        failure.or(sent).map_or(Ok(()), Err)
    }

    /// What comes from each child, and what went wrong first.
    fn children_parts(
        &mut self,
    ) -> Result<(Option<CollectiveError>, Vec<Stretch>), CollectiveError> {
        let Passing { seat, received, rooms, starts, comm, scrap, .. } = self;
        let count = seat.children.len();
        for index in 0..count as u32 {
            received.start(index, SentContent::Data)?;
        }
        let part = |place, offset, bytes| Stretch { place, piece: Piece { offset, bytes } };
        let mut parts = vec![part(Rc::clone(rooms), 0, 0); count];
        // Those whose size is known by now, since they did not fit.
        let mut late = Requests::new(Rc::clone(comm), Reuse::Once);
        let (mut failure, mut refused, mut ended) = (None, None, Few::new());
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
                    match receive_late(&mut late, bytes, (child.rank, scrap))? {
                        Ok(place) => part(place, 0, bytes),
                        Err(error) => {
                            refused = refused.or(Some(error.into()));
                            part(Rc::clone(rooms), start, 0)
                        }
                    }
                };
                let mut waiting =
                    seat.children.iter().filter(|one| one.waits_for == Some(index)).peekable();
                if waiting.peek().is_some() {
                    failure = failure.or(late.wait_for_all(&mut Few::new()));
                }
                for one in waiting {
                    comm.send(&[], one.rank, tag::DATA)?;
                }
            }
        }
        ended.clear();
        let failure = failure.or(late.wait_for_all(&mut ended)).map(|failure| self.error(failure));
        Ok((refused.or(failure), parts))
    }

    fn scatter(&mut self, own: Option<&Rc<Place>>) -> Result<(), CollectiveError> {
        let rank = self.seat.own.rank;
        self.received.start(0, SentContent::Data)?;
        let failure = self.received.wait_for_all(&mut Few::new());
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
        let fits = total <= self.seat.own.room;
        // The own block, if it comes straight, arrives while the others are passed on.
        let straight = own.filter(|own| self.seat.own.is_straight(own.packed_bytes()));
        let mut straight_receive = Requests::new(Rc::clone(&self.comm), Reuse::Once);
        if let Some(own) = straight {
            let number = match (self.seat.is_under_root, fits) {
                (false, _) => tag::DATA,
                (true, true) => tag::OVERFLOW,
                (true, false) => tag::STRAIGHT,
            };
            receive_all(&mut straight_receive, own, (self.root, number))?;
        }
        let (mut failure, mut place, mut at) = (None, Rc::clone(&self.rooms), header);
        if !fits {
            let mut late = Requests::new(Rc::clone(&self.comm), Reuse::Once);
            match receive_late(&mut late, total, (self.parent, &self.scrap))? {
                Ok(whole) => (place, at) = (whole, 0),
                Err(error) => failure = Some(error.into()),
            }
            let wrong = late.wait_for_all(&mut Few::new());
            failure = failure.or(wrong.map(|failure| self.error(failure)));
        }
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
        let expected = own.map_or(stated, |own| self.seat.own.passed(own.packed_bytes()));
        if let (Some(own), None, None, true) = (own, straight, &failure, stated == expected) {
            let piece = Piece { offset: at + starts[rank - first], bytes: stated };
            self.copy(&Stretch { place: Rc::clone(&place), piece }, (own, 0))?;
        }
        let sent = self.sent.wait_for_all(&mut Few::new());
        let rest = sent.or(straight_receive.wait_for_all(&mut Few::new()));
        match failure.or(rest.map(|failure| self.error(failure))) {
            Some(failure) => Err(failure),
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

/// Starts to receive what did not fit, now that its size is known: where, or why there is no memory for it. It
/// is received nevertheless, one piece over the other, so that nobody waits in vain. (A receive that is too
/// short for a large message has Open MPI 4.1.4 write beyond it.)
fn receive_late(
    late: &mut Requests,
    bytes: u64,
    (from, scrap): (Rank, &Rc<Place>),
) -> Result<Result<Rc<Place>, PlaceError>, MpiError> {
    let from = (from, tag::OVERFLOW);
    match Place::of_bytes(bytes) {
        Ok(place) => {
            let place = Rc::new(place);
            receive_all(late, &place, from)?;
            Ok(Ok(place))
        }
        Err(error) => {
            throw_away(late, bytes, from, scrap)?;
            Ok(Err(error))
        }
    }
}

/// Starts to receive data for which there is no memory: one piece over the other.
fn throw_away(
    requests: &mut Requests,
    bytes: u64,
    from: (Rank, c_int),
    scrap: &Rc<Place>,
) -> Result<(), MpiError> {
    let mut stretches = vec![(0, SCRAP); (bytes / SCRAP) as usize];
    stretches.push((0, bytes % SCRAP));
    let over = Transfer { place: scrap, stretches: &stretches };
    let index = requests.add(Way::In, over, from)?;
    requests.start(index, SentContent::Data)
}

/// Takes part at this place between others without memory for their data: it is thrown away, and empty messages go in
/// its place, so that nobody waits in vain. Where there is no data, no message comes.
///
/// # Errors
/// What MPI returns; no memory for anything at all.
pub(super) fn pass_nothing(
    comm: &Rc<Communicator>,
    node: &Node,
    operation: Operation,
) -> Result<(), CollectiveError> {
    let parent = node.parent.map(|parent| (parent, node.bytes));
    let children = node.children.iter().map(|child| (child.rank, child.bytes));
    let (sources, sinks): (Vec<_>, Vec<_>) = match operation.is_outward() {
        false => (children.collect(), parent.into_iter().collect()),
        true => (parent.into_iter().collect(), children.collect()),
    };
    let scrap = Rc::new(Place::of_bytes(SCRAP)?);
    let mut received = Requests::new(Rc::clone(comm), Reuse::Once);
    for (from, bytes) in sources.into_iter().filter(|&(_, bytes)| bytes > 0) {
        throw_away(&mut received, bytes, (from, tag::DATA), &scrap)?;
    }
    received.wait_for_all(&mut Few::new());
    for (to, _) in sinks.into_iter().filter(|&(_, bytes)| bytes > 0) {
        comm.send(&[], to, tag::DATA)?;
    }
    Ok(())
}

/// Starts to receive a message that has all data of a place.
fn receive_all(
    requests: &mut Requests,
    place: &Rc<Place>,
    from: (Rank, c_int),
) -> Result<(), MpiError> {
    let pieces = [Piece { offset: 0, bytes: place.packed_bytes() }];
    let whole = place.stretches(&pieces).expect("a whole block, or bytes");
    let index = requests.add(Way::In, whole.transfer(), from)?;
    requests.start(index, SentContent::Data)
}
