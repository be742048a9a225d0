//! Alltoalls: each rank knows its own messages, sent and received, and none between others.
//!
//! Large messages go straight: the limit follows from the machine's costs alone, and both ends of a message know its
//! size, so that they decide alike. Small ones go in bundles (`tuwtree_collective::BundleRounds`), by the digits of distances
//! or by pairs of nodes. Intermediate ranks do not know the sizes, so each bundle begins with them: no exchange of sizes precedes
//! the data.
//!
//! ```text
//!   bundle of equal messages:   their size in 4 bytes, then their data
//!   of others:                  2^32 - 1, a size in 4 bytes for each, then their data
//! ```
//!
//! Whether that pays is not known to one rank. With `auto` the ranks tell each other some numbers in calls 1, 2, 4, 8, ...
//! and go by the last comparison.
//!
//! # Source
//! J. Bruck et al., IEEE TPDS 8(11), 1997; K. Fan et al., arXiv:2411.02581 (radix, sizes beside data).

mod prices;

use self::prices::{AlltoallPrices, Findings, Told, most_passed_on};
use super::circulating::copy_pieces;
use super::trial::Way;
use super::{CollectiveError, Collectives, rounds};
use crate::play::Strictness;
use crate::settings::{RootlessAlgorithm, Settings};
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::c_int;
use std::num::NonZeroU16;
use std::rc::Rc;
use tuwtree_binding::{
    ArgumentError, Arguments, Block, Communicator, Datatype, Direction, Failure, Few, Function,
    Handles, Kept, Memory, MpiError, Place, Requests, Reuse, RootlessPlaces, SentContent,
    library_version,
};
use tuwtree_collective::{Bundle, BundleRounds, Passing};
use tuwtree_model::{Operation, Rank};
use tuwtree_plan::Library;
use tuwtree_plan::local_choice::KnownRule;
use tuwtree_schedule::Piece;

/// Parameters of the bundles; equal at all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bundling {
    pub(super) passing: Passing,
    /// Messages up to this many bytes go in bundles; larger ones straight.
    pub(super) most: u64,
}

impl Bundling {
    fn algorithm(self) -> RootlessAlgorithm {
        match (self.most, self.passing) {
            (0, _) => RootlessAlgorithm::Linear,
            (_, Passing::Digits(_)) => RootlessAlgorithm::Bruck,
            (_, Passing::NodePairs) => RootlessAlgorithm::NodePairs,
        }
    }
}

/// All messages go straight.
const STRAIGHT: Bundling = Bundling { passing: Passing::Digits(2), most: 0 };

/// A communicator's state for alltoalls.
#[derive(Debug, Default)]
pub(super) struct AlltoallChecks {
    /// Number of calls subject to comparison.
    calls: Cell<u64>,
    last: Cell<Option<Findings>>,
}

impl AlltoallChecks {
    /// Forgets the findings, after a change of settings.
    pub(super) fn clear(&self) {
        self.last.set(None);
    }
}

impl Collectives {
    /// Performs an alltoall and returns its algorithm: the library's, each message straight, or small ones in bundles.
    /// `None` only without strictness: the library has to, as sent and expected sizes differ. Collective.
    ///
    /// # Errors
    /// [`CollectiveError`].
    ///
    /// # Complexity
    /// With `auto` and messages of different sizes, `ceil(log2 p)` messages follow one another beforehand in calls 1, 2,
    /// 4, ..., of 32 bytes for each process at most.
    pub(super) fn run_alltoall(
        &self,
        arguments: &Arguments<'_>,
        strictness: Strictness,
    ) -> Result<Option<RootlessAlgorithm>, CollectiveError> {
        let (settings, operation) = (self.settings(), arguments.operation());
        let is_for_library = arguments.are_for_library(self.comm.size());
        let choice = settings.rootless(operation);
        if is_for_library && self.is_native(operation) {
            self.comm.native(arguments)?;
            return Ok(Some(RootlessAlgorithm::Native));
        }
        let (rank, ranks) = (self.comm.rank(), self.comm.size());
        let parsed = arguments.parse_rootless(ranks, Handles::Lent, Kept::default());
        let parsed = parsed.map_err(|error| CollectiveError::Argument { rank, error });
        let is_lenient = strictness == Strictness::Loose;
        let is_compared = is_lenient || choice.algorithm == RootlessAlgorithm::Auto;
        let found = match arguments.function() {
            Function::Alltoall => Some(self.known_of_equal(parsed.as_ref(), &settings)?),
            _ if is_compared => Some(self.compared_alltoall(&parsed, &settings)?),
            _ => None,
        };
        let parsed = match found {
            Some(Findings { is_loose: true, .. }) if is_lenient => return Ok(None),
            Some(Findings { is_loose: true, .. }) => {
                parsed?;
                return Err(CollectiveError::GivenUp { rank });
            }
            _ => parsed?,
        };
        let Some(bundling) = self.bundling((&settings, operation), found, is_for_library) else {
            self.comm.native(arguments)?;
            return Ok(Some(RootlessAlgorithm::Native));
        };
        // Sizes of different messages are not known to all.
        let class = match arguments.function() {
            Function::Alltoall => parsed.result.block_bytes(rank).checked_ilog2().unwrap_or(0),
            _ => u32::MAX,
        };
        let (way, done) = self.by_turns((operation, class), is_for_library, |way| match way {
            Way::Ours => self.perform_alltoall(parsed, bundling),
            Way::Library => {
                drop(parsed);
                Ok(self.comm.native(arguments)?)
            }
        })?;
        done?;
        Ok(Some(match way {
            Way::Ours => bundling.algorithm(),
            Way::Library => RootlessAlgorithm::Native,
        }))
    }

    /// Findings for messages of one size; equal at all ranks. Collective where nodes matter for the first time, else without a
    /// message.
    ///
    /// # Errors
    /// Invalid arguments.
    pub(super) fn known_of_equal(
        &self,
        parsed: Result<&RootlessPlaces, &CollectiveError>,
        settings: &Settings,
    ) -> Result<Findings, CollectiveError> {
        let (prices, nodes) = (self.prices(), self.priced_nodes()?);
        let bytes = parsed.map_err(Clone::clone)?.result.block_bytes(self.comm.rank());
        let known = AlltoallPrices::new(&prices, self.comm.size(), &nodes, settings.most_passed);
        let library = library_version().ok().and_then(|name| Library::named(&name));
        Ok(Findings { is_loose: false, best: known.best_of_equal(bytes, KnownRule::of(library)) })
    }

    /// The ranks of each node, if bundles are passed on between these; else none. Collective for the first time.
    pub(super) fn nodes_for(&self, passing: Passing) -> Result<Rc<Vec<Vec<Rank>>>, MpiError> {
        match passing {
            Passing::NodePairs => self.nodes(),
            Passing::Digits(_) => Ok(Rc::default()),
        }
    }

    /// The ranks of each node where the machine has nodes; else none. Collective for the first time.
    fn priced_nodes(&self) -> Result<Rc<Vec<Vec<Rank>>>, MpiError> {
        match self.prices().nodes {
            Some(_) => self.nodes(),
            None => Ok(Rc::default()),
        }
    }

    /// Result of the last comparison, or of one that is due. Collective.
    fn compared_alltoall(
        &self,
        parsed: &Result<RootlessPlaces, CollectiveError>,
        settings: &Settings,
    ) -> Result<Findings, CollectiveError> {
        let AlltoallChecks { calls, last } = &self.rootless.alltoalls;
        calls.set(calls.get() + 1);
        if let Some(known) = last.get().filter(|_| !calls.get().is_power_of_two()) {
            return Ok(known);
        }
        let found = self.compare_alltoall(parsed, settings)?;
        last.set(Some(found));
        Ok(found)
    }

    /// Parameters by the settings and joint findings; `None` for the library's own call.
    pub(super) fn bundling(
        &self,
        (settings, operation): (&Settings, Operation),
        found: Option<Findings>,
        is_for_library: bool,
    ) -> Option<Bundling> {
        let choice = settings.rootless(operation);
        let passed = |passing| Bundling {
            passing,
            most: most_passed_on(&self.prices(), passing, self.comm.size(), settings.most_passed),
        };
        let bundling = match choice.algorithm {
            RootlessAlgorithm::Auto => found.and_then(|found| found.best),
            RootlessAlgorithm::Bruck => {
                Some(passed(Passing::Digits(choice.number.map_or(2, NonZeroU16::get).into())))
            }
            RootlessAlgorithm::NodePairs => Some(passed(Passing::NodePairs)),
            _ => Some(STRAIGHT),
        };
        bundling.or((!is_for_library).then_some(STRAIGHT))
    }

    /// Compares all sent and expected sizes. Collective.
    pub(super) fn compare_alltoall(
        &self,
        parsed: &Result<RootlessPlaces, CollectiveError>,
        settings: &Settings,
    ) -> Result<Findings, CollectiveError> {
        let (prices, nodes) = (self.prices(), self.priced_nodes()?);
        let known = AlltoallPrices::new(&prices, self.comm.size(), &nodes, settings.most_passed);
        let own = match parsed {
            Ok(parsed) => known.told(parsed, self.comm.rank()),
            Err(_) => Told::INVALID,
        };
        Ok(known.findings(&rounds::all_words(&*self.comm, own.words())?))
    }

    fn perform_alltoall(
        &self,
        RootlessPlaces { given, result }: RootlessPlaces,
        Bundling { passing, most }: Bundling,
    ) -> Result<(), CollectiveError> {
        let (comm, first_tag) = self.shared_tags()?;
        let (rank, p) = (comm.rank(), comm.size());
        let given = match given {
            Some(given) => given,
            None => taken_out(&comm, &result)?,
        };
        let further = |distance: usize| (rank + distance) % p;
        let before = |distance: usize| (rank + p - distance) % p;
        let own = |place: &Place| place.block(rank).expect("a block for each rank");
        let (from, into) = (own(&given), own(&result));
        let bytes = from.bytes.min(into.bytes);
        let cut = |piece: Piece| Piece { bytes, ..piece };
        copy_pieces(&comm, (&given, &[cut(from)]), (&result, &[cut(into)]))?;
        let mut straight = Requests::new(Rc::clone(&comm), Reuse::Once);
        let mut add = |way, place: &Rc<Place>, peer: Rank| -> Result<(), CollectiveError> {
            let piece = place.block(peer).expect("a block for each rank");
            if piece.bytes <= most {
                return Ok(());
            }
            let refused =
                |error: tuwtree_binding::CutElement| CollectiveError::Refused(error.to_string());
            let stretches = place.stretches(&[piece]).map_err(refused)?;
            let index =
                straight.add(way, stretches.transfer(), (peer, first_tag + STRAIGHT_TAG))?;
            Ok(straight.start(index, SentContent::Data)?)
        };
        for distance in 1..p {
            add(Direction::In, &result, before(distance))?;
        }
        for distance in 1..p {
            add(Direction::Out, &given, further(distance))?;
        }
        let mut fault = match from.bytes == into.bytes {
            true => Ok(()),
            false => {
                let error = ArgumentError::OwnBlock { own: from.bytes, counted: into.bytes };
                Err(CollectiveError::Argument { rank, error })
            }
        };
        if most > 0 && p > 1 {
            let nodes = self.nodes_for(passing)?;
            let bundles = Bundles {
                comm: &comm,
                rounds: BundleRounds::new((rank, p), passing, &nodes),
                most,
                tag: first_tag + BUNDLE_TAG,
            };
            fault = fault.and(bundles.carry(&given, &result)?);
        }
        let failure = straight.wait_for_all(&mut Few::new());
        match failure {
            Some(Failure::Mpi(error)) => Err(error.into()),
            Some(Failure::Size { from, bytes, expected }) => {
                fault.and(Err(CollectiveError::Message { from, to: rank, bytes, expected }))
            }
            None => fault,
        }
    }
}

/// Among the tags of operations that are performed once: of messages that go straight.
const STRAIGHT_TAG: c_int = 0;

/// Tag of bundles.
const BUNDLE_TAG: c_int = 1;

/// A copy of all blocks, one after the other.
fn taken_out(comm: &Communicator, place: &Rc<Place>) -> Result<Rc<Place>, CollectiveError> {
    let pieces: Vec<Piece> = (0..place.blocks()).filter_map(|block| place.block(block)).collect();
    let blocks = pieces.iter().map(|one| Block { at: one.offset as i64, elements: one.bytes });
    let memory = Memory::zeroed(place.packed_bytes())?;
    let copied = Rc::new(Place::new(memory, Datatype::byte(), blocks)?);
    copy_pieces(comm, (place, &pieces), (&copied, &pieces))?;
    Ok(copied)
}

/// Small messages on their way.
struct Bundles<'c> {
    comm: &'c Rc<Communicator>,
    rounds: BundleRounds<'c>,
    most: u64,
    tag: c_int,
}

/// Small messages that a rank holds, by sender and receiver.
type HeldMessages = HashMap<(Rank, Rank), Vec<u8>>;

impl Bundles<'_> {
    /// Sends and receives the messages of at most `most` bytes. The inner error is one of another size than expected.
    fn carry(
        &self,
        given: &Rc<Place>,
        result: &Rc<Place>,
    ) -> Result<Result<(), CollectiveError>, CollectiveError> {
        let rank = self.comm.rank();
        let mut held = self.taken(given)?;
        for round in 0..self.rounds.count() {
            let sent = self.rounds.sent(round).into_iter();
            let bundles: Vec<(Rank, Vec<u8>)> =
                sent.map(|one| (one.peer, bundle(&mut held, &one.messages))).collect();
            let received = self.rounds.received(round);
            self.comm.sending(&bundles, self.tag, || {
                for Bundle { peer, messages } in &received {
                    let message = self.comm.receive_any(*peer, self.tag)?;
                    unbundle(&message, messages, &mut held).ok_or_else(|| {
                        let text = format!("rank {peer} sent rank {rank} what is no bundle");
                        CollectiveError::Refused(text)
                    })?;
                }
                Ok::<(), CollectiveError>(())
            })?;
        }
        self.put(&held, result)
    }

    /// The small messages; nothing where one is large.
    fn taken(&self, given: &Rc<Place>) -> Result<HeldMessages, CollectiveError> {
        let (rank, p) = (self.comm.rank(), self.comm.size());
        let small = |to: Rank| given.block(to).filter(|one| to != rank && one.bytes <= self.most);
        let pieces: Vec<Piece> = (0..p).filter_map(small).collect();
        let together = Rc::new(Place::of_bytes(pieces.iter().map(|one| one.bytes).sum())?);
        let all = Piece { offset: 0, bytes: together.packed_bytes() };
        copy_pieces(self.comm, (given, &pieces), (&together, &[all]))?;
        let mut at = 0;
        let taken = (0..p).map(|to| {
            let mut message = vec![0; small(to).map_or(0, |one| one.bytes as usize)];
            if !message.is_empty() {
                together.memory().read(at, &mut message);
            }
            at += message.len() as u64;
            ((rank, to), message)
        });
        Ok(taken.collect())
    }

    /// Puts the small messages where the program wants them. The inner error is one of another size than expected.
    fn put(
        &self,
        held: &HeldMessages,
        result: &Rc<Place>,
    ) -> Result<Result<(), CollectiveError>, CollectiveError> {
        let (rank, p) = (self.comm.rank(), self.comm.size());
        let (mut pieces, mut data, mut fault) = (Vec::new(), Vec::new(), Ok(()));
        for from in (0..p).filter(|&from| from != rank) {
            let message = held.get(&(from, rank)).expect("all bundles have come");
            let piece = result.block(from).expect("a block for each rank");
            let (bytes, expected) = (message.len() as u64, piece.bytes);
            let is_expected = bytes == expected || (bytes == 0 && expected > self.most);
            if !is_expected {
                let error = CollectiveError::Message { from, to: rank, bytes, expected };
                fault = fault.and(Err(error));
            } else if bytes > 0 {
                pieces.push(piece);
                data.extend_from_slice(message);
            }
        }
        let together = Rc::new(Place::of_bytes(data.len() as u64)?);
        if !data.is_empty() {
            together.memory().write(0, &data);
        }
        let all = Piece { offset: 0, bytes: data.len() as u64 };
        copy_pieces(self.comm, (&together, &[all]), (result, &pieces))?;
        Ok(fault)
    }
}

/// In the place of a bundle's only size: the messages have different ones. No bundle has messages of as many bytes.
const SIZES_DIFFER: u32 = u32::MAX;

/// The sizes of these messages, and their data, which is not held any longer.
fn bundle(held: &mut HeldMessages, messages: &[(Rank, Rank)]) -> Vec<u8> {
    let all: Vec<Vec<u8>> = messages.iter().filter_map(|one| held.remove(one)).collect();
    assert_eq!(all.len(), messages.len(), "a bundle is of messages that have come");
    let size = |message: &Vec<u8>| message.len() as u32;
    let first = all.first().map_or(0, size);
    let are_equal = all.iter().all(|message| size(message) == first);
    let bytes: usize = all.iter().map(|message| 4 + message.len()).sum();
    let mut bundle = Vec::with_capacity(4 + bytes);
    let mut say = |number: u32| bundle.extend_from_slice(&number.to_le_bytes());
    say(if are_equal { first } else { SIZES_DIFFER });
    if !are_equal {
        all.iter().map(size).for_each(say);
    }
    all.iter().for_each(|message| bundle.extend_from_slice(message));
    bundle
}

/// Takes these messages out of a bundle; `None` if it is of others.
fn unbundle(bundle: &[u8], messages: &[(Rank, Rank)], held: &mut HeldMessages) -> Option<()> {
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("4 bytes"));
    let (first, rest) = bundle.split_at_checked(4)?;
    let (sizes, mut data) = match number(first) {
        SIZES_DIFFER => {
            let (sizes, data) = rest.split_at_checked(4 * messages.len())?;
            (sizes.chunks_exact(4).map(number).collect(), data)
        }
        all => (vec![all; messages.len()], rest),
    };
    for (&one, size) in messages.iter().zip(sizes) {
        let message;
        (message, data) = data.split_at_checked(size as usize)?;
        held.insert(one, message.to_vec());
    }
    data.is_empty().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_messages_come_out_as_they_were() {
        let held: HeldMessages = [(1, vec![1, 2]), (3, vec![3]), (5, vec![])]
            .into_iter()
            .map(|(from, message)| ((from, 0), message))
            .collect();
        for (messages, header) in
            [(vec![(1, 0), (3, 0), (5, 0)], 16), (vec![(1, 0)], 4), (vec![], 4)]
        {
            let sent = bundle(&mut held.clone(), &messages);
            let mut other = HeldMessages::new();
            unbundle(&sent, &messages, &mut other).unwrap();
            let expected: HeldMessages =
                messages.iter().map(|&one| (one, held[&one].clone())).collect();
            assert_eq!(other, expected);
            assert_eq!(sent.len(), header + expected.values().map(Vec::len).sum::<usize>());
            let wrong = [&sent[..sent.len() - 1], &[&sent[..], &[0]].concat()];
            assert!(wrong.iter().all(|text| unbundle(text, &messages, &mut other).is_none()));
        }
    }
}
