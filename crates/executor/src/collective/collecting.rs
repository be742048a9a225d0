//! What the root of a gather does in a call along a tree that is kept: it finds out from what it receives how much each
//! process has sent ([`super::seats`]).
//!
//! What comes in one message with the sizes of its blocks is received into memory of our own first, up to the room of the
//! seat: so nothing is written where nothing comes. All else is received where it belongs.

use super::carried::{ABSENT, Stretch, lengths_at, lengths_of, receive_late, scrap, throw_away};
use super::seats::{Below, Seat};
use super::{CollectiveError, tag};
use crate::play::{ExecutionError, Strictness};
use crate::sys::{Communicator, Few, Patience, Place, Requests, Reuse, SentContent, Way};
use std::rc::Rc;
use tuwtree_model::{Operation, Rank};
use tuwtree_schedule::Piece;

/// The root of a gather.
#[derive(Debug)]
pub(super) struct Collecting {
    seat: Seat,
    comm: Rc<Communicator>,
    /// Where messages with sizes arrive: one room after the other.
    rooms: Rc<Place>,
    /// Where each room starts.
    starts: Vec<u64>,
    /// What is on its way, in this call.
    received: Requests,
    /// What comes after its size.
    late: Requests,
    /// Where data ends that nobody wants.
    scrap: Rc<Place>,
}

/// What a call gathers.
struct Gathered<'g> {
    root: Rank,
    all: &'g Rc<Place>,
    strictness: Strictness,
    /// What first was found wrong.
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

    /// Gathers all blocks, its own among them if that is not in its place. `meanwhile` is done when messages are under
    /// way. Without valid arguments it takes what comes, and forgets it, so that nobody waits.
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

    /// Starts to receive from all children, and takes what comes.
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
            let failed = self.received.take_ended(Patience::Stay, &mut ended)?;
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

    /// Takes what has arrived from a child that passes on data.
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
            let added = self.late.add(Way::In, room.transfer(), from)?;
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

    /// Tells those to send that wait for this child, all of whose data has then arrived.
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

/// Takes part at the top of a tree in which something is wrong: what comes is forgotten, and messages without data are
/// sent, so that nobody waits.
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

    /// Where a rank's block belongs.
    fn block(&self, rank: Rank) -> Stretch {
        Stretch::new(self.all, self.all.block_start(rank), self.expected(rank))
    }

    /// Whether a rank may send so many bytes.
    fn allows(&self, rank: Rank, bytes: u64) -> bool {
        let expected = self.expected(rank);
        (self.strictness.least(expected)..=expected).contains(&bytes)
    }

    /// Notes that a rank sends so many bytes, if it does: whether it may.
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

    /// Where those blocks of a child lie among all that it sends: as few pieces as they are.
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
