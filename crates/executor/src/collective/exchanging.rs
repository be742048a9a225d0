//! Alltoalls that are set up once and started many times.
//!
//! Messages go straight or in bundles as in calls (`alltoall.rs`). Each rank passes on equal sizes at every start:
//! sizes in bundles are exchanged once, along the ways of the bundles, and determine all messages and copies here. The
//! operation uses persistent requests, and bundles carry data only.
//!
//! ```text
//!   input --- large messages, straight ------------------------------> output
//!     +-- small ones --> segment --- bundles, round after round --> segment --> output
//! ```
//!
//! Every bundle has a place of its own in the segment, so that all receives are posted at the start, and a bundle
//! leaves as soon as its contents have arrived.

use super::alltoall::Bundling;
use super::{CollectiveError, Collectives};
use crate::play::{BoundAction, Buffers, Execution, Manner, Mode, Strictness};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::ffi::c_int;
use std::rc::Rc;
use tuwtree_binding::{
    Arguments, Communicator, Function, Handles, Kept, Place, Reuse, RootlessPlaces,
};
use tuwtree_collective::{Bundle, BundleRounds};
use tuwtree_model::{Operation, Rank};
use tuwtree_schedule::{Arrival, Buffer, Piece, Role};

/// Between two ranks go a message straight and a bundle at most.
const TAGS: u32 = 2;

/// First tag; messages between two ranks are numbered from it.
const STRAIGHT_TAG: u32 = 0;
const BUNDLE_TAG: u32 = 1;

impl Collectives {
    /// Sets up an alltoall that is started many times: what performs it, or `None` if the library does, which it also does,
    /// leniently, where two ranks do not say the same of a message. Collective.
    ///
    /// # Errors
    /// [`CollectiveError`], here or elsewhere: all ranks agree.
    pub(super) fn set_up_alltoall(
        &self,
        arguments: &Arguments<'_>,
        strictness: Strictness,
    ) -> Result<Option<Execution>, CollectiveError> {
        let settings = self.settings();
        let is_for_library = arguments.are_for_library(self.comm.size());
        if is_for_library && self.is_native(arguments.operation()) {
            return Ok(None);
        }
        let rank = self.comm.rank();
        let parsed = arguments.parse_rootless(self.comm.size(), Handles::Copied, Kept::default());
        let parsed = parsed.map_err(|error| CollectiveError::Argument { rank, error });
        let found = self.compare_alltoall(&parsed, &settings)?;
        let parsed = parsed?;
        match found.is_loose {
            true if strictness == Strictness::Loose && is_for_library => return Ok(None),
            true => return Err(CollectiveError::GivenUp { rank }),
            false => {}
        }
        let found = match arguments.function() {
            Function::Alltoall => self.known_of_equal(Ok(&parsed), &settings)?,
            _ => found,
        };
        let choice = (&*settings, arguments.operation());
        let bundling = self.bundling(choice, Some(found), is_for_library);
        bundling.map(|bundling| self.exchanging(parsed, bundling)).transpose()
    }

    /// Performer of a repeated alltoall. Collective.
    fn exchanging(
        &self,
        RootlessPlaces { given, result }: RootlessPlaces,
        bundling: Bundling,
    ) -> Result<Execution, CollectiveError> {
        let (comm, first_tag) = self.tags(TAGS, Reuse::Again)?;
        let mut plan = ExchangePlan::new((&comm, bundling), given.as_ref(), &result);
        plan.go_straight();
        if bundling.most > 0 {
            let nodes = self.nodes_for(bundling.passing)?;
            let ends = (comm.rank(), comm.size());
            plan.go_in_bundles(&BundleRounds::new(ends, bundling.passing, &nodes), first_tag)?;
        }
        let ExchangePlan { actions, segment_bytes, .. } = plan;
        let input = match given {
            Some(given) => given,
            None => Rc::new(Place::nothing()?),
        };
        let role = Role {
            // The input is what is given, and the output what comes.
            operation: Operation::Allgather,
            ranks: comm.size(),
            root: None,
            rank: comm.rank(),
            ports: 1,
            own_bytes: input.packed_bytes(),
            total_bytes: result.packed_bytes(),
            segment_bytes,
        };
        let strictness = Strictness::Exact;
        let manner = Manner { mode: Mode::Eager, reuse: Reuse::Again, first_tag, strictness };
        let buffers = Buffers::apart(input, result);
        Ok(Execution::of_actions((role, actions), buffers, &comm, manner)?)
    }
}

/// Place in the segment of small messages that a rank holds, by sender and receiver.
type HeldPieces = HashMap<(Rank, Rank), Piece>;

/// A rank's actions in an alltoall, under construction.
struct ExchangePlan<'p> {
    comm: &'p Rc<Communicator>,
    bundling: Bundling,
    /// The rank's messages for all: buffer, and pieces by receiver.
    given: (Buffer, Vec<Piece>),
    result: &'p Place,
    actions: Vec<BoundAction>,
    segment_bytes: u64,
}

impl<'p> ExchangePlan<'p> {
    /// A plan with the own message only. Data at places of results is copied to the segment first.
    fn new(
        (comm, bundling): (&'p Rc<Communicator>, Bundling),
        given: Option<&Rc<Place>>,
        result: &'p Place,
    ) -> ExchangePlan<'p> {
        let pieces = |place: &Place| -> Vec<Piece> {
            (0..comm.size()).map(|peer| place.block(peer).expect("a block for each rank")).collect()
        };
        let mut plan = ExchangePlan {
            comm,
            bundling,
            given: (Buffer::Output, pieces(given.map_or(result, |given| given))),
            result,
            actions: Vec::new(),
            segment_bytes: 0,
        };
        match given {
            Some(_) => {
                plan.given.0 = Buffer::Input;
                let own = plan.given.1[comm.rank()];
                let into = plan.place_of(comm.rank());
                plan.copy((Buffer::Input, &[own]), (Buffer::Output, &[into]));
            }
            None => {
                let all: Vec<Piece> = plan.given.1.clone();
                let taken = plan.take_room(all.iter().map(|piece| piece.bytes));
                plan.copy((Buffer::Output, &all), (Buffer::Segment, &taken));
                plan.given = (Buffer::Segment, taken);
            }
        }
        plan
    }

    /// Place of the message from a rank.
    fn place_of(&self, from: Rank) -> Piece {
        self.result.block(from).expect("a block for each rank")
    }

    /// Reserves places of these sizes in the segment.
    fn take_room(&mut self, bytes: impl Iterator<Item = u64>) -> Vec<Piece> {
        let places = bytes.map(|bytes| {
            let piece = Piece { offset: self.segment_bytes, bytes };
            self.segment_bytes += bytes;
            piece
        });
        places.collect()
    }

    /// Adds an action on these pieces; nothing for empty ones, which both ends of a message know.
    fn add(
        &mut self,
        [reads, writes]: [Option<(Buffer, &[Piece])>; 2],
        send: Option<(Rank, u32)>,
        receive: Option<(Rank, u32)>,
    ) {
        let region = |(buffer, pieces): (Buffer, &[Piece])| {
            let pieces: SmallVec<[Piece; 1]> =
                pieces.iter().copied().filter(|piece| piece.bytes > 0).collect();
            (!pieces.is_empty()).then_some((buffer, pieces))
        };
        let (reads, writes) = (reads.and_then(region), writes.and_then(region));
        if reads.is_some() || writes.is_some() {
            self.actions.push(BoundAction {
                port: 0,
                needs_written: false,
                reads,
                writes,
                send,
                receive,
                arrival: Arrival::Store,
                after: None,
            });
        }
    }

    fn copy(&mut self, from: (Buffer, &[Piece]), into: (Buffer, &[Piece])) {
        self.add([Some(from), Some(into)], None, None);
    }

    fn send(&mut self, from: (Buffer, &[Piece]), to: (Rank, u32)) {
        self.add([Some(from), None], Some(to), None);
    }

    fn receive(&mut self, into: (Buffer, &[Piece]), from: (Rank, u32)) {
        self.add([None, Some(into)], None, Some(from));
    }

    /// Large messages.
    fn go_straight(&mut self) {
        let (rank, p) = (self.comm.rank(), self.comm.size());
        let is_large = |piece: &Piece| piece.bytes > self.bundling.most;
        let others = || 1..p;
        let received: Vec<Rank> = others().map(|distance| (rank + p - distance) % p).collect();
        let sent: Vec<Rank> = others().map(|distance| (rank + distance) % p).collect();
        let received: Vec<(Rank, Piece)> = received
            .into_iter()
            .map(|from| (from, self.place_of(from)))
            .filter(|(_, piece)| is_large(piece))
            .collect();
        let sent: Vec<(Rank, Piece)> = sent
            .into_iter()
            .map(|to| (to, self.given.1[to]))
            .filter(|(_, piece)| is_large(piece))
            .collect();
        for (from, piece) in received {
            self.receive((Buffer::Output, &[piece]), (from, STRAIGHT_TAG));
        }
        for (to, piece) in sent {
            self.send((self.given.0, &[piece]), (to, STRAIGHT_TAG));
        }
    }

    /// Small messages, in rounds of bundles, whose sizes are told on the way. Collective.
    fn go_in_bundles(
        &mut self,
        rounds: &BundleRounds<'_>,
        first_tag: c_int,
    ) -> Result<(), CollectiveError> {
        let mut held = self.taken();
        for round in 0..rounds.count() {
            let (sent, received) = (rounds.sent(round), rounds.received(round));
            let sizes =
                self.told_sizes(&held, (&sent, &received), first_tag + BUNDLE_TAG as c_int)?;
            for Bundle { peer, messages } in &sent {
                let pieces: Vec<Piece> = messages.iter().map(|one| held[one]).collect();
                self.send((Buffer::Segment, &pieces), (*peer, BUNDLE_TAG));
            }
            for (Bundle { peer, messages }, sizes) in received.iter().zip(sizes) {
                let pieces = self.take_room(sizes.into_iter());
                self.receive((Buffer::Segment, &pieces), (*peer, BUNDLE_TAG));
                held.extend(messages.iter().copied().zip(pieces));
            }
        }
        self.put(&held)
    }

    /// The small messages in the segment.
    fn taken(&mut self) -> HeldPieces {
        let (rank, p, most) = (self.comm.rank(), self.comm.size(), self.bundling.most);
        let small = |to: Rank, piece: Piece| match to != rank && piece.bytes <= most {
            true => piece,
            false => Piece { bytes: 0, ..piece },
        };
        let given: Vec<Piece> = (0..p).map(|to| small(to, self.given.1[to])).collect();
        let taken = match self.given.0 {
            Buffer::Segment => given,
            buffer => {
                let taken = self.take_room(given.iter().map(|piece| piece.bytes));
                self.copy((buffer, &given), (Buffer::Segment, &taken));
                taken
            }
        };
        taken.into_iter().enumerate().map(|(to, piece)| ((rank, to), piece)).collect()
    }

    /// Receives the sizes of the messages in each received bundle; sends others theirs. Collective.
    fn told_sizes(
        &self,
        held: &HeldPieces,
        (sent, received): (&[Bundle], &[Bundle]),
        tag: c_int,
    ) -> Result<Vec<Vec<u64>>, CollectiveError> {
        let told = |bundle: &Bundle| {
            let sizes = bundle.messages.iter().flat_map(|one| held[one].bytes.to_le_bytes());
            (bundle.peer, sizes.collect())
        };
        let messages: Vec<(Rank, Vec<u8>)> = sent.iter().map(told).collect();
        self.comm.sending(&messages, tag, || {
            let heard = |bundle: &Bundle| -> Result<Vec<u64>, CollectiveError> {
                let mut sizes = vec![0; 8 * bundle.messages.len()];
                self.comm.receive(&mut sizes, bundle.peer, tag)?;
                let words = sizes.chunks_exact(8);
                let size = |word: &[u8]| u64::from_le_bytes(word.try_into().expect("8 bytes"));
                Ok(words.map(size).collect())
            };
            received.iter().map(heard).collect()
        })
    }

    /// Copies arrived pieces to their results.
    fn put(&mut self, held: &HeldPieces) -> Result<(), CollectiveError> {
        let (rank, p) = (self.comm.rank(), self.comm.size());
        let (mut from_pieces, mut into_pieces) = (Vec::new(), Vec::new());
        for from in (0..p).filter(|&from| from != rank) {
            let piece = held[&(from, rank)];
            let place = self.place_of(from);
            if piece.bytes == place.bytes {
                from_pieces.push(piece);
                into_pieces.push(place);
            } else if piece.bytes != 0 || place.bytes <= self.bundling.most {
                let (bytes, expected) = (piece.bytes, place.bytes);
                return Err(CollectiveError::Message { from, to: rank, bytes, expected });
            }
        }
        self.copy((Buffer::Segment, &from_pieces), (Buffer::Output, &into_pieces));
        Ok(())
    }
}
