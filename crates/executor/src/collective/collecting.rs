//! The root's side of a gather along a kept tree: received messages tell each process's size ([`super::seats`]).
//!
//! A message with sizes and data together is received into memory of our own first, up to the room of the seat, so that
//! nothing is written where nothing arrives. All other data is received in its place.

use super::carried::{ABSENT, Stretch, lengths_at, lengths_of, receive_late, scrap, throw_away};
use super::seats::{Below, Seat};
use super::{CollectiveError, tag};
use crate::play::{ExecutionError, Strictness};
use std::rc::Rc;
use tuwtree_binding::{
    Communicator, Direction, Few, Place, Requests, Reuse, SentContent, WaitMode,
};
use tuwtree_model::{Operation, Rank};
use tuwtree_schedule::Piece;

/// The root of a gather.
#[derive(Debug)]
pub(super) struct Collecting {
    seat: Seat,
    comm: Rc<Communicator>,
    /// Rooms of arriving messages with sizes, back to back.
    rooms: Rc<Place>,
    /// Start of each room.
    starts: Vec<u64>,
    /// Messages under way in this call.
    received: Requests,
    /// Messages that follow their sizes.
    late: Requests,
    /// Memory for unwanted data.
    scrap: Rc<Place>,
}

/// A call's gather.
struct Gathered<'g> {
    root: Rank,
    all: &'g Rc<Place>,
    strictness: Strictness,
    /// The first error.
    failure: Option<CollectiveError>,
    /// For each rank whether it is known how much it has sent.
    is_known: Vec<bool>,
}

impl Collecting {
    /// The root with this seat.
    ///
    /// # Errors
    /// No memory; what MPI returns.
    pub(super) fn new(comm: &Rc<Communicator>, seat: Seat) -> Result<Collecting, CollectiveError> {
        let (mut starts, mut bytes) = (Vec::with_capacity(seat.children.len()), 0);
        for child in &seat.children {
            starts.push(bytes);
            bytes += if child.is_inner { child.message_room() } else { 0 };
        }
        let requests = || Requests::new(Rc::clone(comm), Reuse::Once);
        Ok(Collecting {
            rooms: Rc::new(Place::of_bytes(bytes)?),
            starts,
            received: requests(),
            late: requests(),
            scrap: if seat.children.is_empty() { Rc::new(Place::nothing()?) } else { scrap()? },
            seat,
            comm: Rc::clone(comm),
        })
    }

    /// Gathers all blocks, including its own if that is not in place. `meanwhile` runs while messages are under way.
    /// Invalid arguments make it discard the arriving data, so that no rank waits.
    ///
    /// # Errors
    /// The first block that is not as the strictness allows; what MPI returns.
    pub(super) fn run(
        &mut self,
        blocks: Option<(Option<&Rc<Place>>, &Rc<Place>)>,
        strictness: Strictness,
        meanwhile: impl FnOnce(),
    ) -> Result<(), CollectiveError> {
        let Some((own, all)) = blocks else {
            meanwhile();
            return self.forget();
        };
        let ranks = self.comm.size();
        let is_known = vec![false; ranks];
        let mut gathered =
            Gathered { root: self.seat.own.rank, all, strictness, failure: None, is_known };
        self.received.restart(Reuse::Once);
        self.late.restart(Reuse::Once);
        let done = self.take_all(&mut gathered, own, meanwhile);
        // Until nothing is under way, the program's memory is in use.
        let rest = self.late.wait_for_all(&mut Few::new());
        done?;
        let rank = self.seat.own.rank;
        let rest = rest.map(|failure| ExecutionError::of_message(failure, rank).into());
        let unknown = || {
            let missing = |&from: &Rank| !gathered.is_known[from] && gathered.expected(from) > 0;
            let from = (0..ranks).find(missing)?;
            let expected = gathered.expected(from);
            Some(CollectiveError::Message { from, to: rank, bytes: 0, expected })
        };
        let unknown = unknown();
        gathered.failure.or(rest).or(unknown).map_or(Ok(()), Err)
    }

    /// Starts receives from all children, and handles arrivals.
    fn take_all(
        &mut self,
        gathered: &mut Gathered<'_>,
        own: Option<&Rc<Place>>,
        meanwhile: impl FnOnce(),
    ) -> Result<(), CollectiveError> {
        let mut under_way = Vec::with_capacity(self.seat.children.len());
        for (index, child) in self.seat.children.iter().enumerate() {
            if child.is_silent && (self.seat.is_built || gathered.expected(child.rank) == 0) {
                for rank in child.first..=child.last {
                    gathered.note(rank, 0);
                }
                continue;
            }
            let from = (child.rank, tag::DATA);
            match child.is_inner {
                true => {
                    let (offset, bytes) = (self.starts[index], child.message_room());
                    let room = self.rooms.stretches(&[Piece { offset, bytes }]);
                    let room = room.expect("bytes can be cut");
                    let added = self.received.add_room(room.transfer(), from, 0)?;
                    self.received.start(added, SentContent::Data)?;
                }
                false => {
                    let room = gathered.block(child.rank);
                    room.receive(&mut self.received, from, gathered.strictness)?;
                }
            }
            under_way.push(index);
        }
        let rank = self.seat.own.rank;
        gathered.is_known[rank] = true;
        if let Some(own) = own {
            Stretch::whole(own).copy(&self.comm, &gathered.block(rank))?;
        }
        meanwhile();
        let mut ended = Few::new();
        while self.received.under_way() > 0 {
            ended.clear();
            let failed = self.received.take_ended(WaitMode::Block, &mut ended)?;
            if let Some(failure) = failed {
                gathered.fail(ExecutionError::of_message(failure, rank).into());
            }
            for &request in &ended {
                let index = under_way[request as usize];
                let arrived = self.received.arrived(request);
                match self.seat.children[index].is_inner {
                    true => self.take(index, arrived, gathered)?,
                    // How much it is, has been looked at.
                    false => gathered.is_known[self.seat.children[index].rank] = true,
                }
                self.release(index, gathered)?;
            }
        }
        Ok(())
    }

    /// Handles an arrival from a child that passes on data.
    fn take(
        &mut self,
        index: usize,
        arrived: u64,
        gathered: &mut Gathered<'_>,
    ) -> Result<(), CollectiveError> {
        let (child, start) = (&self.seat.children[index], self.starts[index]);
        let Some((lengths, header)) = lengths_at((&self.rooms, start), arrived, child.ranks())
        else {
            return Ok(());
        };
        let bytes = child.passed_bytes(&lengths);
        let fits = bytes <= child.room;
        let mut are_right = true;
        for (rank, &length) in (child.first..).zip(&lengths) {
            are_right &= gathered.note(rank, length);
        }
        for (rank, &length) in (child.first..).zip(&lengths) {
            if !child.is_straight(length) {
                continue;
            }
            let number = if rank == child.rank { tag::STRAIGHT } else { tag::DATA };
            match gathered.allows(rank, length) {
                true => {
                    let room = gathered.block(rank);
                    room.receive(&mut self.late, (rank, number), Strictness::Loose)?;
                }
                false => throw_away(&mut self.late, length, (rank, number), &self.scrap)?,
            }
        }
        let from = (child.rank, tag::OVERFLOW);
        if !fits && !are_right {
            throw_away(&mut self.late, bytes, from, &self.scrap)?;
            return Ok(());
        }
        let pieces = gathered.pieces(child, &lengths);
        if !fits && let Ok(room) = gathered.all.stretches(&pieces) {
            let added = self.late.add(Direction::In, room.transfer(), from)?;
            self.late.start(added, SentContent::Data)?;
            return Ok(());
        }
        let (place, mut at) = match fits {
            true => (Rc::clone(&self.rooms), start + header),
            // Elements that are not whole, which only MPI can write.
            false => {
                let received = receive_late(&mut self.late, bytes, (child.rank, &self.scrap))?;
                let failure = self.late.wait_for_all(&mut Few::new());
                if let Some(failure) = failure {
                    let to = self.seat.own.rank;
                    gathered.fail(ExecutionError::of_message(failure, to).into());
                }
                match received {
                    Ok(place) => (place, 0),
                    Err(error) => {
                        gathered.fail(error);
                        return Ok(());
                    }
                }
            }
        };
        if let (true, [piece]) = (are_right, pieces.as_slice())
            && gathered.all.stretches(&pieces).is_ok()
        {
            // All at once, as they lie among all blocks.
            let into = Stretch { place: Rc::clone(gathered.all), piece: *piece };
            Stretch::new(&place, at, bytes).copy(&self.comm, &into)?;
            return Ok(());
        }
        for (rank, &length) in (child.first..).zip(&lengths) {
            let passed = child.passed(length);
            if gathered.allows(rank, length) {
                Stretch::new(&place, at, passed).copy(&self.comm, &gathered.block(rank))?;
            }
            at += passed;
        }
        Ok(())
    }

    /// Tells the ranks that wait for this child to send, as all its data has arrived.
    fn release(
        &mut self,
        index: usize,
        gathered: &mut Gathered<'_>,
    ) -> Result<(), CollectiveError> {
        let mut waiting =
            self.seat.children.iter().filter(|one| one.waits_for == Some(index)).peekable();
        if waiting.peek().is_some()
            && let Some(failure) = self.late.wait_for_all(&mut Few::new())
        {
            let rank = self.seat.own.rank;
            gathered.fail(ExecutionError::of_message(failure, rank).into());
        }
        for one in waiting {
            self.comm.send(&[], one.rank, tag::DATA)?;
        }
        Ok(())
    }

    /// Takes what the children send, and forgets it.
    pub(super) fn forget(&mut self) -> Result<(), CollectiveError> {
        for child in self.seat.children.iter().filter(|child| child.waits_for.is_some()) {
            self.comm.send(&[], child.rank, tag::DATA)?;
        }
        self.late.restart(Reuse::Once);
        for child in self.seat.children.iter().filter(|child| !child.is_silent) {
            let message = self.comm.receive_any(child.rank, tag::DATA)?;
            let stated = lengths_of(&message, child.ranks());
            let Some((lengths, _)) = stated.filter(|_| child.is_inner) else { continue };
            let bytes = child.passed_bytes(&lengths);
            if bytes > child.room {
                throw_away(&mut self.late, bytes, (child.rank, tag::OVERFLOW), &self.scrap)?;
            }
            for (rank, &length) in (child.first..).zip(&lengths) {
                if child.is_straight(length) {
                    let number = if rank == child.rank { tag::STRAIGHT } else { tag::DATA };
                    throw_away(&mut self.late, length, (rank, number), &self.scrap)?;
                }
            }
        }
        let rank = self.seat.own.rank;
        let failure = self.late.wait_for_all(&mut Few::new());
        failure.map_or(Ok(()), |failure| Err(ExecutionError::of_message(failure, rank).into()))
    }
}

/// Takes part at the top of an invalid tree: arriving data is discarded, and messages without data are sent, so that no
/// rank waits.
///
/// # Errors
/// No memory; what MPI returns.
pub(super) fn give_up(
    comm: &Rc<Communicator>,
    seat: Seat,
    operation: Operation,
) -> Result<(), CollectiveError> {
    if !operation.is_outward() {
        return Collecting::new(comm, seat)?.forget();
    }
    for child in seat.children.iter().filter(|child| !child.is_silent) {
        comm.send(&[], child.rank, tag::DATA)?;
    }
    Ok(())
}

impl Gathered<'_> {
    /// For how many bytes of a rank there is room.
    fn expected(&self, rank: Rank) -> u64 {
        self.all.block_bytes(rank)
    }

    /// Place of a rank's block.
    fn block(&self, rank: Rank) -> Stretch {
        Stretch::new(self.all, self.all.block_start(rank), self.expected(rank))
    }

    /// True if a rank may send this many bytes.
    fn allows(&self, rank: Rank, bytes: u64) -> bool {
        let expected = self.expected(rank);
        (self.strictness.least(expected)..=expected).contains(&bytes)
    }

    /// Notes the bytes of a rank; true if allowed.
    fn note(&mut self, rank: Rank, bytes: u64) -> bool {
        if bytes == ABSENT {
            return self.expected(rank) == 0;
        }
        self.is_known[rank] = true;
        let is_right = self.allows(rank, bytes);
        if !is_right {
            let (to, expected) = (self.root, self.expected(rank));
            self.fail(CollectiveError::Message { from: rank, to, bytes, expected });
        }
        is_right
    }

    fn fail(&mut self, failure: CollectiveError) {
        self.failure.get_or_insert(failure);
    }

    /// Positions of a child's blocks among all that it sends, in as few pieces as possible.
    fn pieces(&self, child: &Below, lengths: &[u64]) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        for (rank, &length) in (child.first..).zip(lengths) {
            let (offset, bytes) = (self.all.block_start(rank), child.passed(length));
            match pieces.last_mut() {
                _ if bytes == 0 => {}
                Some(last) if last.end() == offset => last.bytes += bytes,
                _ => pieces.push(Piece { offset, bytes }),
            }
        }
        pieces
    }
}
