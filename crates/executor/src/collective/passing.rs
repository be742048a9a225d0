//! A process that passes on data in a kept tree, or whose block goes through others: received messages tell the sizes
//! ([`super::seats`]).

use super::carried::{ABSENT, Stretch, header_of, lengths_at, receive_late, scrap, throw_away};
use super::seats::{Below, Seat};
use super::{CollectiveError, tag};
use crate::play::{ExecutionError, Strictness};
use crate::tree::Node;
use std::rc::Rc;
use tuwtree_binding::{
    Communicator, Failure, Few, MpiError, Place, Requests, Reuse, SentContent, WaitMode,
};
use tuwtree_model::{Operation, Rank};
use tuwtree_schedule::Piece;

/// No larger memory is kept for the next call, in bytes.
const KEPT: u64 = 1 << 16;

/// A process that is not next to the root alone, with the receives that all calls have in common.
#[derive(Debug)]
pub(super) struct Passing {
    seat: Seat,
    parent: Rank,
    root: Rank,
    operation: Operation,
    /// From each child, or from the parent; set up once.
    received: Requests,
    /// Rooms of arriving messages, back to back.
    rooms: Rc<Place>,
    /// Start of each room.
    starts: Vec<u64>,
    /// Messages sent in this call.
    sent: Requests,
    /// Message for the parent, assembled.
    assembled: Rc<Place>,
    /// Memory for data for which the system has none.
    scrap: Rc<Place>,
    comm: Rc<Communicator>,
}

impl Passing {
    /// The process with this seat, which has a parent, for one call or for many.
    ///
    /// # Errors
    /// No memory; what MPI returns.
    pub(super) fn new(
        comm: &Rc<Communicator>,
        seat: Seat,
        (operation, root): (Operation, Rank),
        reuse: Reuse,
    ) -> Result<Passing, CollectiveError> {
        let parent = seat.parent.expect("who passes on has a parent");
        let sources: Vec<(Rank, u64)> = match operation.is_outward() {
            false => seat.children.iter().map(|one| (one.rank, one.message_room())).collect(),
            true => vec![(parent, seat.own.message_room())],
        };
        let rooms = Rc::new(Place::of_bytes(sources.iter().map(|&(_, bytes)| bytes).sum())?);
        let mut received = Requests::new(Rc::clone(comm), reuse);
        let (mut starts, mut offset) = (Vec::new(), 0);
        for (source, bytes) in sources {
            let room = rooms.stretches(&[Piece { offset, bytes }]).expect("bytes can be cut");
            received.add_room(room.transfer(), (source, tag::DATA), 0)?;
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
            scrap: scrap()?,
            rooms,
            starts,
            sent: Requests::new(Rc::clone(comm), Reuse::Once),
            comm: Rc::clone(comm),
        })
    }

    /// Takes part in a call with its own block, or without if its arguments are invalid.
    ///
    /// # Errors
    /// What MPI returns; at a scatter, a block that the strictness does not allow.
    pub(super) fn run(
        &mut self,
        own: Option<&Rc<Place>>,
        strictness: Strictness,
    ) -> Result<(), CollectiveError> {
        if self.seat.own.is_silent {
            return Ok(());
        }
        self.sent.restart(Reuse::Once);
        let done = match self.operation.is_outward() {
            false => self.gather(own),
            true => self.scatter(own, strictness),
        };
        if self.assembled.packed_bytes() > KEPT {
            self.sent.clear();
            self.assembled = Rc::new(Place::nothing()?);
        }
        done
    }

    fn gather(&mut self, own: Option<&Rc<Place>>) -> Result<(), CollectiveError> {
        let Seat { own: place, is_under_root, .. } = &self.seat;
        let mut lengths = vec![ABSENT; place.ranks()];
        let mut blocks = Vec::with_capacity(1 + self.seat.children.len());
        if let Some(own) = own.map(Stretch::whole) {
            let bytes = own.piece.bytes;
            lengths[place.rank - place.first] = bytes;
            if place.is_straight(bytes) {
                let number = if *is_under_root { tag::STRAIGHT } else { tag::DATA };
                own.send(&mut self.sent, (self.root, number))?;
            } else {
                blocks.push((place.rank, own));
            }
        }
        let (mut failure, parts) = self.children_parts(&mut lengths)?;
        let firsts = self.seat.children.iter().map(|child| child.first);
        blocks.extend(firsts.zip(parts));
        blocks.retain(|(_, part)| part.piece.bytes > 0);
        blocks.sort_by_key(|&(first, _)| first);
        let bytes: u64 = blocks.iter().map(|(_, part)| part.piece.bytes).sum();
        let fits = bytes <= self.seat.own.room;
        // What is large and of one place goes from there.
        let is_put_together = fits || blocks.len() > 1;
        let header = header_of(&lengths).len() as u64;
        let needed = header + if is_put_together { bytes } else { 0 };
        if self.assembled.packed_bytes() < needed {
            let place = Place::of_bytes(needed).or_else(|error| {
                failure = failure.take().or(Some(error.into()));
                Place::of_bytes(header)
            })?;
            self.assembled = Rc::new(place);
        }
        if failure.is_some() {
            // So that nobody takes wrong data for right, and everybody knows what comes straight.
            let own = &self.seat.own;
            let passed = lengths.iter_mut().filter(|length| !own.is_straight(**length));
            passed.for_each(|length| *length = ABSENT);
            blocks.clear();
        }
        // The header of other lengths may be shorter, and its data is elsewhere.
        let written = header_of(&lengths);
        let header = written.len() as u64;
        self.assembled.memory().write(0, &written);
        let mut data = Stretch::new(&self.assembled, header, 0);
        for (_, part) in blocks.iter().filter(|_| is_put_together) {
            let into = Stretch::new(&self.assembled, header + data.piece.bytes, part.piece.bytes);
            part.copy(&self.comm, &into)?;
            data.piece.bytes += part.piece.bytes;
        }
        if let (false, [(_, part)]) = (is_put_together, blocks.as_slice()) {
            data = part.clone();
        }
        let to = self.parent;
        if self.seat.own.waits_for.is_some() {
            self.comm.receive_any(to, tag::DATA)?;
        }
        let behind = if fits { data.piece.bytes } else { 0 };
        let first = Stretch::new(&self.assembled, 0, header + behind);
        first.send(&mut self.sent, (to, tag::DATA))?;
        if !fits && failure.is_none() {
            data.send(&mut self.sent, (to, tag::OVERFLOW))?;
        }
        let sent = self.sent.wait_for_all(&mut Few::new()).map(|failure| self.error(failure));
        failure.or(sent).map_or(Ok(()), Err)
    }

    /// Receives from each child, and notes the sizes of all their blocks; returns the first error.
    fn children_parts(
        &mut self,
        lengths: &mut [u64],
    ) -> Result<(Option<CollectiveError>, Vec<Stretch>), CollectiveError> {
        let Passing { seat, received, rooms, starts, comm, scrap, .. } = self;
        for (index, child) in (0..).zip(&seat.children) {
            match child.is_silent {
                true => lengths[child.first - seat.own.first..=child.last - seat.own.first].fill(0),
                false => received.start(index, SentContent::Data)?,
            }
        }
        let mut parts = vec![Stretch::new(rooms, 0, 0); seat.children.len()];
        // Those whose size is known by now, since they did not fit.
        let mut late = Requests::new(Rc::clone(comm), Reuse::Once);
        let (mut failure, mut refused, mut ended) = (None, None, Few::new());
        while received.under_way() > 0 {
            ended.clear();
            let failed = received.take_ended(WaitMode::Block, &mut ended)?;
            failure = failure.or(failed);
            for index in ended.iter().map(|&index| index as usize) {
                let (child, start) = (&seat.children[index], starts[index]);
                let arrived = received.arrived(index as u32);
                if let Some((stated, header)) = lengths_at((rooms, start), arrived, child.ranks()) {
                    let bytes = child.passed_bytes(&stated);
                    let first = child.first - seat.own.first;
                    lengths[first..first + stated.len()].copy_from_slice(&stated);
                    parts[index] = if bytes <= child.room {
                        Stretch::new(rooms, start + header, bytes)
                    } else {
                        match receive_late(&mut late, bytes, (child.rank, scrap))? {
                            Ok(place) => Stretch::whole(&place),
                            Err(error) => {
                                refused = refused.or(Some(error));
                                Stretch::new(rooms, 0, 0)
                            }
                        }
                    };
                }
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

    fn scatter(
        &mut self,
        own: Option<&Rc<Place>>,
        strictness: Strictness,
    ) -> Result<(), CollectiveError> {
        let Below { rank, first, .. } = self.seat.own;
        self.received.start(0, SentContent::Data)?;
        let failure = self.received.wait_for_all(&mut Few::new());
        let arrived = self.received.arrived(0);
        let stated = lengths_at((&self.rooms, 0), arrived, self.seat.own.ranks());
        let (None, Some((lengths, header))) = (&failure, stated) else {
            for index in (0..self.seat.children.len()).rev() {
                self.send_nothing(index)?;
            }
            let _ = self.sent.wait_for_all(&mut Few::new());
            let given_up = CollectiveError::GivenUp { rank };
            return Err(failure.map_or(given_up, |failure| self.error(failure)));
        };
        // Where the blocks of the ranks of the subtree start, and where the last one ends.
        let mut starts = vec![0];
        starts.extend(lengths.iter().scan(0, |end, &length| {
            *end += self.seat.own.passed(length);
            Some(*end)
        }));
        let total = starts[lengths.len()];
        let fits = total <= self.seat.own.room;
        let stated = lengths[rank - first];
        let is_straight = self.seat.own.is_straight(stated);
        let room = own.map(|own| own.packed_bytes());
        let is_right = room.is_some_and(|room| (strictness.least(room)..=room).contains(&stated));
        // The own block, if it comes straight, arrives while the others are passed on.
        let mut straight_receive = Requests::new(Rc::clone(&self.comm), Reuse::Once);
        if is_straight {
            let number = match (self.seat.is_under_root, fits) {
                (false, _) => tag::DATA,
                (true, true) => tag::OVERFLOW,
                (true, false) => tag::STRAIGHT,
            };
            let from = (self.root, number);
            match own.filter(|_| is_right) {
                Some(own) => {
                    Stretch::whole(own).receive(&mut straight_receive, from, strictness)?;
                }
                None => throw_away(&mut straight_receive, stated, from, &self.scrap)?,
            }
        }
        let (mut failure, mut place, mut at) = (None, Rc::clone(&self.rooms), header);
        if !fits {
            let mut late = Requests::new(Rc::clone(&self.comm), Reuse::Once);
            match receive_late(&mut late, total, (self.parent, &self.scrap))? {
                Ok(whole) => (place, at) = (whole, 0),
                Err(error) => failure = Some(error),
            }
            let wrong = late.wait_for_all(&mut Few::new());
            failure = failure.or(wrong.map(|failure| self.error(failure)));
        }
        for index in (0..self.seat.children.len()).rev() {
            let child = self.seat.children[index].clone();
            let (start, end) = (starts[child.first - first], starts[child.last + 1 - first]);
            let part = Stretch::new(&place, at + start, end - start);
            let lengths = &lengths[child.first - first..=child.last - first];
            match failure {
                Some(_) => self.send_nothing(index)?,
                None => self.send_on(&child, lengths, &part)?,
            }
        }
        if let (Some(own), true, false, None) = (own, is_right, is_straight, &failure) {
            let part = Stretch::new(&place, at + starts[rank - first], stated);
            part.copy(&self.comm, &Stretch::whole(own))?;
        }
        let sent = self.sent.wait_for_all(&mut Few::new());
        let rest = sent.or(straight_receive.wait_for_all(&mut Few::new()));
        match (failure.or(rest.map(|failure| self.error(failure))), room) {
            (Some(failure), _) => Err(failure),
            (None, Some(expected)) if !is_right => {
                let from = self.parent;
                Err(CollectiveError::Message { from, to: rank, bytes: stated, expected })
            }
            (None, _) => Ok(()),
        }
    }

    /// Sends a subtree's data to a child, with the sizes of its blocks.
    fn send_on(
        &mut self,
        child: &Below,
        lengths: &[u64],
        part: &Stretch,
    ) -> Result<(), CollectiveError> {
        if child.is_silent {
            return Ok(());
        }
        let (header, bytes) = (header_of(lengths), part.piece.bytes);
        let fits = bytes <= child.room;
        let behind = header.len() as u64;
        let message = Rc::new(Place::of_bytes(behind + if fits { bytes } else { 0 })?);
        message.memory().write(0, &header);
        if fits {
            part.copy(&self.comm, &Stretch::new(&message, behind, bytes))?;
        }
        Stretch::whole(&message).send(&mut self.sent, (child.rank, tag::DATA))?;
        if !fits {
            part.send(&mut self.sent, (child.rank, tag::OVERFLOW))?;
        }
        Ok(())
    }

    /// Starts a message without data to a child.
    fn send_nothing(&mut self, child: usize) -> Result<(), MpiError> {
        let child = &self.seat.children[child];
        match child.is_silent {
            true => Ok(()),
            false => {
                let nothing = Stretch::new(&self.rooms, 0, 0);
                nothing.send(&mut self.sent, (child.rank, tag::DATA))
            }
        }
    }

    fn error(&self, failure: Failure) -> CollectiveError {
        ExecutionError::of_message(failure, self.seat.own.rank).into()
    }
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
    let scrap = scrap()?;
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
