//! Alltoalls: each rank knows its own messages, sent and received, and none between others.
//!
//! Large messages go straight: the limit follows from the machine's costs alone, and both ends of a message know its
//! size, so that they decide alike. Small ones go together, by Bruck's algorithm: a message for the rank `d` further on
//! takes a hop of `z R^x` for each digit `z` of `d` at position `x` in radix `R`. Intermediate ranks do not know the
//! sizes, so each bundle begins with them: no exchange of sizes precedes the data.
//!
//! ```text
//!   radix 2, 8 ranks:  round 0: +1 with what has d = 1, 3, 5, 7    round 1: +2, d = 2, 3, 6, 7    round 2: +4, d = 4..7
//!   bundle:            a size in 4 bytes for each d of the round, then their data
//! ```
//!
//! Whether that pays is not known to one rank. With `auto` the ranks tell each other four numbers in calls 1, 2, 4, 8, ...
//! and go by the last comparison.
//!
//! # Source
//! J. Bruck et al., IEEE TPDS 8(11), 1997; K. Fan et al., arXiv:2411.02581 (radix, sizes beside data).

use super::circulating::copy_pieces;
use super::prices::{KnownRule, Prices};
use super::trial::Way;
use super::{CollectiveError, Collectives, rounds};
use crate::play::Strictness;
use crate::settings::{RootlessAlgorithm, Settings};
use std::cell::Cell;
use std::ffi::c_int;
use std::num::NonZeroU16;
use std::rc::Rc;
use tuwtree_binding::{
    ArgumentError, Arguments, Block, Communicator, Datatype, Direction, Failure, Few, Function,
    Handles, Kept, Memory, Place, Requests, Reuse, RootlessPlaces, SentContent, library_version,
};
use tuwtree_model::{Operation, Rank};
use tuwtree_plan::Library;
use tuwtree_schedule::Piece;

/// Parameters of the bundles; equal at all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bundling {
    /// The radix of distances, at least 2.
    pub(super) radix: usize,
    /// Messages up to this many bytes go in bundles; larger ones straight.
    pub(super) most: u64,
}

impl Bundling {
    fn algorithm(self) -> RootlessAlgorithm {
        match self.most {
            0 => RootlessAlgorithm::Linear,
            _ => RootlessAlgorithm::Bruck,
        }
    }
}

/// All messages go straight.
const STRAIGHT: Bundling = Bundling { radix: 2, most: 0 };

/// No larger messages are passed on, whatever the costs are.
const MOST_BUNDLED: u64 = 1 << 16;

/// No bundle has more bytes: MPI counts to `2^31 - 1`.
const MOST_AT_ONCE: u64 = 1 << 30;

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

/// Joint findings of all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Findings {
    /// True if some receiver expects other sizes than are sent, or a rank has wrong arguments.
    pub(super) is_loose: bool,
    /// Best parameters by the costs; `None` for the library's own call.
    best: Option<Bundling>,
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

    /// Findings without a message, for messages of one size; equal at all ranks.
    ///
    /// # Errors
    /// Invalid arguments.
    pub(super) fn known_of_equal(
        &self,
        parsed: Result<&RootlessPlaces, &CollectiveError>,
        settings: &Settings,
    ) -> Result<Findings, CollectiveError> {
        let bytes = parsed.map_err(Clone::clone)?.result.block_bytes(self.comm.rank());
        Ok(Findings { is_loose: false, best: self.best_of_equal(bytes, settings) })
    }

    /// Parameters certainly faster than the library's own call with messages of one size; `None` for that call.
    fn best_of_equal(&self, bytes: u64, settings: &Settings) -> Option<Bundling> {
        let library = library_version().ok().and_then(|name| Library::named(&name));
        let (prices, ranks) = (self.prices(), self.comm.size());
        if has_bundles(KnownRule::of(library), ranks, bytes) {
            return None;
        }
        let most = most_bundled(&prices, ranks, settings.most_passed);
        // Every rank sends and receives all the time.
        let all = (ranks as u128 - 1) * prices.exchanged.occupancy(bytes);
        let all = u64::try_from(all).unwrap_or(INVALID - 1);
        best(&prices, (ranks, most), if bytes > most { [0, all, all] } else { [bytes, 0, all] })
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
        let bundling = match choice.algorithm {
            RootlessAlgorithm::Auto => found.and_then(|found| found.best),
            RootlessAlgorithm::Bruck => Some(Bundling {
                radix: choice.number.map_or(2, NonZeroU16::get).into(),
                most: most_bundled(&self.prices(), self.comm.size(), settings.most_passed),
            }),
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
        let (prices, ranks) = (self.prices(), self.comm.size());
        let most = most_bundled(&prices, ranks, settings.most_passed);
        let own = match parsed {
            Ok(parsed) => told(parsed, (self.comm.rank(), ranks), most, &prices),
            Err(_) => [1, 0, 0, INVALID],
        };
        let all = rounds::all_words(&*self.comm, own)?;
        let sum = all.iter().fold(0_u64, |sum, one| sum.wrapping_add(one[0]));
        let greatest = |at: usize| all.iter().map(|one| one[at]).max().unwrap_or(0);
        Ok(Findings {
            is_loose: sum != 0 || greatest(3) == INVALID,
            best: best(&prices, (ranks, most), [1, 2, 3].map(greatest)),
        })
    }

    fn perform_alltoall(
        &self,
        RootlessPlaces { given, result }: RootlessPlaces,
        Bundling { radix, most }: Bundling,
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
            let bundles = Bundles { comm: &comm, radix, most, tag: first_tag + BUNDLE_TAG };
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

/// Time that a rank with wrong arguments states.
const INVALID: u64 = u64::MAX;

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
    radix: usize,
    most: u64,
    tag: c_int,
}

impl Bundles<'_> {
    /// Sends and receives the messages of at most `most` bytes. The inner error is one of another size than expected.
    fn carry(
        &self,
        given: &Rc<Place>,
        result: &Rc<Place>,
    ) -> Result<Result<(), CollectiveError>, CollectiveError> {
        let (rank, p) = (self.comm.rank(), self.comm.size());
        let mut held = self.taken(given)?;
        let mut width = 1;
        while width < p {
            let distances: Vec<usize> = distances(p, self.radix, width).collect();
            let bundle = |&distance: &usize| {
                let to = (rank + distance) % p;
                (to, bundle(&held, slots(p, self.radix, (width, distance))))
            };
            let bundles: Vec<(Rank, Vec<u8>)> = distances.iter().map(bundle).collect();
            self.comm.sending(&bundles, self.tag, || {
                for &distance in &distances {
                    let from = (rank + p - distance) % p;
                    let message = self.comm.receive_any(from, self.tag)?;
                    let taken =
                        unbundle(&message, slots(p, self.radix, (width, distance)), &mut held);
                    taken.ok_or_else(|| {
                        let text = format!("rank {from} sent rank {rank} what is no bundle");
                        CollectiveError::Refused(text)
                    })?;
                }
                Ok::<(), CollectiveError>(())
            })?;
            width *= self.radix;
        }
        self.put(&held, result)
    }

    /// The small messages by their distance, each in its place; nothing where one is large.
    fn taken(&self, given: &Rc<Place>) -> Result<Vec<Vec<u8>>, CollectiveError> {
        let (rank, p) = (self.comm.rank(), self.comm.size());
        let small = |distance: usize| {
            given.block((rank + distance) % p).filter(|one| distance > 0 && one.bytes <= self.most)
        };
        let pieces: Vec<Piece> = (0..p).filter_map(small).collect();
        let together = Rc::new(Place::of_bytes(pieces.iter().map(|one| one.bytes).sum())?);
        let all = Piece { offset: 0, bytes: together.packed_bytes() };
        copy_pieces(self.comm, (given, &pieces), (&together, &[all]))?;
        let mut at = 0;
        let taken = (0..p).map(|distance| {
            let mut message = vec![0; small(distance).map_or(0, |one| one.bytes as usize)];
            if !message.is_empty() {
                together.memory().read(at, &mut message);
            }
            at += message.len() as u64;
            message
        });
        Ok(taken.collect())
    }

    /// Puts the small messages where the program wants them. The inner error is one of another size than expected.
    fn put(
        &self,
        held: &[Vec<u8>],
        result: &Rc<Place>,
    ) -> Result<Result<(), CollectiveError>, CollectiveError> {
        let (rank, p) = (self.comm.rank(), self.comm.size());
        let (mut pieces, mut data, mut fault) = (Vec::new(), Vec::new(), Ok(()));
        for (distance, message) in held.iter().enumerate().skip(1) {
            let from = (rank + p - distance) % p;
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

/// Distances of bundles in the round of this width.
pub(super) fn distances(p: usize, radix: usize, width: usize) -> impl Iterator<Item = usize> {
    (1..radix).map(move |digit| digit * width).take_while(move |&one| one < p)
}

/// Distances of the messages in a bundle that goes this far in the round of this width.
pub(super) fn slots(
    p: usize,
    radix: usize,
    (width, distance): (usize, usize),
) -> impl Iterator<Item = usize> + Clone {
    (distance..p).filter(move |one| one / width % radix == distance / width)
}

/// The sizes of these messages, each in 4 bytes, and their data.
fn bundle(held: &[Vec<u8>], slots: impl Iterator<Item = usize> + Clone) -> Vec<u8> {
    let bytes: usize = slots.clone().map(|slot| 4 + held[slot].len()).sum();
    let mut bundle = Vec::with_capacity(bytes);
    for slot in slots.clone() {
        bundle.extend_from_slice(&(held[slot].len() as u32).to_le_bytes());
    }
    for slot in slots {
        bundle.extend_from_slice(&held[slot]);
    }
    bundle
}

/// Takes the messages out of a bundle; `None` if it is none of these.
fn unbundle(
    bundle: &[u8],
    slots: impl Iterator<Item = usize> + Clone,
    held: &mut [Vec<u8>],
) -> Option<()> {
    let (sizes, mut data) = bundle.split_at_checked(4 * slots.clone().count())?;
    for (slot, size) in slots.zip(sizes.chunks_exact(4)) {
        let size = u32::from_le_bytes(size.try_into().expect("chunks of 4"));
        let message;
        (message, data) = data.split_at_checked(size as usize)?;
        held[slot].clear();
        held[slot].extend_from_slice(message);
    }
    data.is_empty().then_some(())
}

/// True if the library itself sends messages of one size in bundles.
///
/// # Source
/// MPICH 4.0 to 4.3: `maint/tuning/coll/mpir/generic.json`. Open MPI 4.1 and 5.0: `coll_tuned_decision_fixed.c`. Of others that is
/// not known.
fn has_bundles(rule: KnownRule, ranks: usize, bytes: u64) -> bool {
    match rule {
        KnownRule::Mpich => bytes <= 256,
        KnownRule::OpenMpi => {
            let beyond = match ranks {
                ..16 => 0,
                16..64 | 512..2048 => 512,
                64..512 | 2048..4096 => 1024,
                _ => 2048,
            };
            bytes < beyond
        }
        KnownRule::Unknown => true,
    }
}

/// A rank's summary: a number whose sum over all ranks is 0 if both ends of all messages state equal sizes, the largest
/// size that can be passed on, and the time of its port with the larger ones, at most, and with all, at least.
fn told(
    RootlessPlaces { given, result }: &RootlessPlaces,
    (rank, p): (Rank, usize),
    most: u64,
    prices: &Prices,
) -> [u64; 4] {
    let given = given.as_ref().unwrap_or(result);
    let (mut balance, mut small) = (0_u64, 0);
    let mut busy = [[0_u128; 2]; 2];
    for peer in (0..p).filter(|&peer| peer != rank) {
        let (sent, received) = (given.block_bytes(peer), result.block_bytes(peer));
        balance = balance.wrapping_add(mark(rank, peer, sent));
        balance = balance.wrapping_sub(mark(peer, rank, received));
        for (bytes, [large, all]) in [sent, received].into_iter().zip(&mut busy) {
            *all += prices.least.occupancy(bytes);
            match bytes > most {
                true => *large += prices.most.occupancy(bytes),
                false => small = small.max(bytes),
            }
        }
    }
    let longer = |at: usize| u64::try_from(busy[0][at].max(busy[1][at])).unwrap_or(INVALID - 1);
    [balance, small, longer(0), longer(1).min(INVALID - 1)]
}

/// A number that stands for a message.
fn mark(from: Rank, to: Rank, bytes: u64) -> u64 {
    let mut mark = 0_u64;
    for word in [from as u64, to as u64, bytes] {
        mark = (mark ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mark = (mark ^ (mark >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mark = (mark ^ (mark >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mark ^= mark >> 31;
    }
    mark
}

/// The largest messages, by a power of two, that are not longer under way in bundles than a message of their own occupies
/// ports: they take `ceil(log2 p) / 2` hops. No rank holds more than `most_passed` bytes.
fn most_bundled(prices: &Prices, ranks: usize, most_passed: u64) -> u64 {
    let hops = u128::from(ranks.next_power_of_two().ilog2().div_ceil(2));
    let own = prices.exchanged.occupancy(1);
    let more = |bytes: u64| prices.exchanged.occupancy(bytes) - own;
    let pays = |bytes: u64| hops.saturating_sub(1) * more(bytes) <= own;
    let powers = std::iter::successors(Some(MOST_BUNDLED), |one| Some(one / 2));
    let most = powers.take_while(|&one| one > 0).find(|&one| pays(one)).unwrap_or(0);
    most.min(most_passed.min(MOST_AT_ONCE) / ranks as u64)
}

/// Parameters certainly faster than the library's own call, by all summaries; `None` for that call.
fn best(
    prices: &Prices,
    (ranks, most): (usize, u64),
    [small, large_time, all_time]: [u64; 3],
) -> Option<Bundling> {
    // Whatever the library does, it sends each message straight.
    let latency = prices.least.message(1) - prices.least.occupancy(1);
    let library = prices.worth(u128::from(all_time) + latency);
    let radices = std::iter::successors(Some(2_usize), |one| Some(2 * one));
    let ours = |radix| u128::from(large_time) + bundled_at_most(prices, (ranks, radix), small);
    let timed = radices.take_while(|&one| one < 2 * ranks).map(|radix| (ours(radix), radix));
    let (time, radix) = timed.min()?;
    (most > 0 && time < library).then_some(Bundling { radix, most })
}

/// Upper bound on the time of bundles with messages up to `small` bytes: those of a round go at once.
fn bundled_at_most(prices: &Prices, (p, radix): (usize, usize), small: u64) -> u128 {
    let (mut time, mut width) = (0, 1);
    while width < p {
        let mut latency = 0;
        for distance in distances(p, radix, width) {
            let bytes = (4 + small) * slots_count(p, radix, (width, distance));
            time += prices.most.occupancy(bytes);
            latency = latency.max(prices.most.message(bytes) - prices.most.occupancy(bytes));
        }
        time += latency;
        width *= radix;
    }
    time
}

/// Number of [`slots`], in closed form.
fn slots_count(p: usize, radix: usize, (width, distance): (usize, usize)) -> u64 {
    let period = width * radix;
    let rest = p % period;
    (p / period * width + rest.saturating_sub(distance).min(width)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_bundled_comes_out_as_it_was() {
        let held = vec![vec![9], vec![1, 2], vec![], vec![3], vec![4, 5, 6], vec![7]];
        let odd = slots(6, 2, (1, 1));
        assert_eq!(odd.clone().collect::<Vec<_>>(), [1, 3, 5]);
        let sent = bundle(&held, odd.clone());
        assert_eq!(sent.len(), 3 * 4 + 4);
        let mut other = vec![vec![0; 3]; 6];
        unbundle(&sent, odd.clone(), &mut other).unwrap();
        assert_eq!((&other[1], &other[3], &other[5]), (&held[1], &held[3], &held[5]));
        assert_eq!(other[2], [0; 3]);
        assert_eq!(unbundle(&sent[..15], odd.clone(), &mut other), None);
        assert_eq!(unbundle(&sent, slots(6, 2, (2, 2)), &mut other), None);
    }

    #[test]
    fn every_message_takes_the_hops_of_its_distance_and_each_once() {
        for p in 1..70 {
            for radix in [2, 3, 4, 8, 64] {
                let mut travelled = vec![0; p];
                let mut width = 1;
                while width < p {
                    for distance in distances(p, radix, width) {
                        let all: Vec<usize> = slots(p, radix, (width, distance)).collect();
                        assert_eq!(all.len() as u64, slots_count(p, radix, (width, distance)));
                        all.iter().for_each(|&slot| travelled[slot] += distance);
                    }
                    width *= radix;
                }
                assert_eq!(travelled, (0..p).collect::<Vec<_>>(), "{p} {radix}");
            }
        }
    }

    #[test]
    fn small_messages_are_bundled_where_that_is_faster_beyond_doubt() {
        let prices = Prices::linear(10_000_000, 1000);
        let most = most_bundled(&prices, 64, 1 << 26);
        assert_eq!(most, 4096);
        let straight = |bytes| 63 * prices.least.occupancy(bytes) as u64;
        let chosen = |bytes| best(&prices, (64, most), [bytes, 0, straight(bytes)]);
        assert!(chosen(8).is_some_and(|one| one.radix <= 4), "{:?}", chosen(8));
        // Larger ones in a larger radix, in which data takes fewer hops.
        assert_eq!(chosen(4096), Some(Bundling { radix: 8, most }));
        // Start-ups of 10 bytes.
        let cheap = Prices::linear(10_000, 1000);
        let most_cheap = most_bundled(&cheap, 64, 1 << 26);
        assert_eq!(most_cheap, 4);
        let straight_cheap = 63 * cheap.least.occupancy(4) as u64;
        assert_eq!(best(&cheap, (64, most_cheap), [4, 0, straight_cheap]), None);
        // Large ones beside small ones take as long either way.
        let large = prices.most.occupancy(1_000_000) as u64;
        let beside = best(&prices, (64, most), [8, large, straight(8) + large]);
        assert!(beside.is_some());
        assert_eq!(best(&prices, (64, 0), [0, large, large]), None);
    }

    #[test]
    fn messages_of_one_size_stay_the_librarys_where_it_has_bundles() {
        let open_mpi = |ranks, bytes| has_bundles(KnownRule::OpenMpi, ranks, bytes);
        assert_eq!([8, 32, 64, 5000].map(|p| open_mpi(p, 511)), [false, true, true, true]);
        assert_eq!([8, 32, 64, 5000].map(|p| open_mpi(p, 1000)), [false, false, true, true]);
        assert!(has_bundles(KnownRule::Mpich, 32, 256) && !has_bundles(KnownRule::Mpich, 32, 257));
        assert!(has_bundles(KnownRule::Unknown, 32, 100_000));
    }

    #[test]
    fn what_is_passed_on_stays_within_the_limit() {
        let prices = Prices::linear(10_000_000, 1000);
        assert_eq!(most_bundled(&prices, 64, 64 * 100), 100);
        assert_eq!(most_bundled(&prices, 64, 0), 0);
        assert_eq!(most_bundled(&prices, 2, 1 << 40), 65_536);
    }

    #[test]
    fn both_ends_of_a_message_say_the_same_of_it() {
        assert_eq!(mark(1, 2, 30), mark(1, 2, 30));
        assert_ne!(mark(1, 2, 30), mark(2, 1, 30));
        assert_ne!(mark(1, 2, 30), mark(1, 2, 31));
    }
}
