//! Agreements of all processes of a communicator, each in `ceil(log2 p)` rounds of messages.
//!
//! They are messages of our own rather than the MPI library's collectives, so that it is known how many
//! follow one another, whatever the library and the number of processes.
//!
//! ```text
//!   least, all_words    round d: everybody hears from one at distance 2^d, and tells another
//!   handed_down         0 ---------------> 4      half of the lists, then a quarter, ...
//!                       0 -----> 2         4 -----> 6
//!                       0 -> 1   2 -> 3    4 -> 5   6 -> 7
//! ```

use tuwtree_binding::{Communicator, MpiError, bytes_of, words_of};
use tuwtree_model::Rank;

/// One of several processes, each of which can send to every other.
pub(crate) trait Peer {
    /// Error of a message.
    type Error;

    /// This process's rank, below [`size`](Self::size).
    fn rank(&self) -> Rank;

    /// Number of processes, at least one.
    fn size(&self) -> usize;

    /// Sends a message to one process, and receives meanwhile one that fills `into` from another.
    fn swap(&self, sent: (&[u8], Rank), into: (&mut [u8], Rank)) -> Result<(), Self::Error>;

    /// Sends a message.
    fn send(&self, message: &[u8], to: Rank) -> Result<(), Self::Error>;

    /// Receives a message of whatever size.
    fn receive(&self, from: Rank) -> Result<Vec<u8>, Self::Error>;
}

impl Peer for Communicator {
    type Error = MpiError;

    fn rank(&self) -> Rank {
        Communicator::rank(self)
    }

    fn size(&self) -> usize {
        Communicator::size(self)
    }

    fn swap(&self, sent: (&[u8], Rank), into: (&mut [u8], Rank)) -> Result<(), MpiError> {
        Communicator::swap(self, sent, into, super::tag::ROUNDS)
    }

    fn send(&self, message: &[u8], to: Rank) -> Result<(), MpiError> {
        Communicator::send(self, message, to, super::tag::ROUNDS)
    }

    fn receive(&self, from: Rank) -> Result<Vec<u8>, MpiError> {
        self.receive_any(from, super::tag::ROUNDS)
    }
}

/// The least of the numbers that the processes give. Collective.
///
/// # Complexity
/// `ceil(log2 p)` rounds.
pub(super) fn least<P: Peer>(peer: &P, number: u64) -> Result<u64, P::Error> {
    let (rank, size) = (peer.rank(), peer.size());
    let mut least = number;
    for distance in distances(size) {
        let mut heard = [0; 8];
        let (to, from) = ((rank + distance) % size, (rank + size - distance) % size);
        peer.swap((&least.to_ne_bytes(), to), (&mut heard, from))?;
        least = least.min(u64::from_ne_bytes(heard));
    }
    Ok(least)
}

/// Words of each process, in rank order. Collective.
///
/// # Complexity
/// `ceil(log2 p)` rounds, `8 N (p - 1)` bytes sent by each process.
///
/// # Source
/// Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all communications in
/// multiport message-passing systems", 1997.
pub(super) fn all_words<P: Peer, const N: usize>(
    peer: &P,
    own: [u64; N],
) -> Result<Vec<[u64; N]>, P::Error> {
    let (rank, size) = (peer.rank(), peer.size());
    // Those of this process and the ranks after it.
    let mut known = own.to_vec();
    for distance in distances(size) {
        let count = distance.min(size - distance);
        let mut heard = vec![0; 8 * N * count];
        let (to, from) = ((rank + size - distance) % size, (rank + distance) % size);
        peer.swap((&bytes_of(&known[..N * count]), to), (&mut heard, from))?;
        known.extend(words_of(&heard));
    }
    let mut all: Vec<[u64; N]> =
        known.chunks_exact(N).map(|words| words.try_into().expect("chunks of N")).collect();
    all.rotate_right(rank);
    Ok(all)
}

/// The list that `root` has for this rank; `lists` is the root's, for all ranks. Collective.
///
/// # Errors
/// An error of MPI.
///
/// # Complexity
/// `ceil(log2 p)` messages follow one another; the root sends all lists but its own once.
pub fn scatter_lists(
    communicator: &Communicator,
    root: Rank,
    lists: Option<Vec<Vec<u64>>>,
) -> Result<Vec<u64>, MpiError> {
    handed_down(communicator, root, lists)
}

/// Like [`scatter_lists`], among peers of any kind.
pub(super) fn handed_down<P: Peer>(
    peer: &P,
    root: Rank,
    lists: Option<Vec<Vec<u64>>>,
) -> Result<Vec<u64>, P::Error> {
    let (rank, size) = (peer.rank(), peer.size());
    let place = (rank + size - root) % size;
    let rank_of = |place: usize| (place + root) % size;
    // The places from the own one on that hear of this process.
    let reach = match place {
        0 => size.next_power_of_two(),
        place => 1 << place.trailing_zeros(),
    };
    // Each list after its length, in the order of places.
    let mut bundle = match lists.filter(|_| place == 0) {
        Some(lists) => {
            let mut bundle = Vec::new();
            for place in 0..size {
                let list = &lists[rank_of(place)];
                bundle.push(list.len() as u64);
                bundle.extend(list);
            }
            bundle
        }
        None => words_of(&peer.receive(rank_of(place - reach))?),
    };
    let mut starts = vec![0];
    while let Some(&length) = bundle.get(starts[starts.len() - 1]) {
        starts.push(starts[starts.len() - 1] + 1 + length as usize);
    }
    let mut width = reach / 2;
    while width > 0 {
        if place + width < size {
            let end = (2 * width).min(size - place);
            peer.send(&bytes_of(&bundle[starts[width]..starts[end]]), rank_of(place + width))?;
        }
        width /= 2;
    }
    bundle.truncate(starts[1]);
    bundle.remove(0);
    Ok(bundle)
}

/// 1, 2, 4, ..., below the number of processes.
fn distances(size: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1_usize), |distance| distance.checked_mul(2))
        .take_while(move |&distance| distance < size)
}

#[cfg(test)]
pub(super) mod threads {
    //! Processes that are threads, and count the messages that follow one another.

    use super::*;
    use std::cell::Cell;
    use std::convert::Infallible;
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// A message, and how many it follows.
    type Stamped = (u64, Vec<u8>);

    /// A process among threads.
    pub(crate) struct Thread {
        rank: Rank,
        to: Vec<Sender<Stamped>>,
        from: Vec<Receiver<Stamped>>,
        /// Length of the chain of messages so far.
        pub(crate) clock: Cell<u64>,
    }

    impl Peer for Thread {
        type Error = Infallible;

        fn rank(&self) -> Rank {
            self.rank
        }

        fn size(&self) -> usize {
            self.to.len()
        }

        fn swap(&self, sent: (&[u8], Rank), into: (&mut [u8], Rank)) -> Result<(), Infallible> {
            let start = self.clock.get();
            self.to[sent.1].send((start, sent.0.to_vec())).unwrap();
            let (stamp, message) = self.from[into.1].recv().unwrap();
            into.0.copy_from_slice(&message);
            self.clock.set(start.max(stamp) + 1);
            Ok(())
        }

        fn send(&self, message: &[u8], to: Rank) -> Result<(), Infallible> {
            self.to[to].send((self.clock.get(), message.to_vec())).unwrap();
            self.clock.set(self.clock.get() + 1);
            Ok(())
        }

        fn receive(&self, from: Rank) -> Result<Vec<u8>, Infallible> {
            let (stamp, message) = self.from[from].recv().unwrap();
            self.clock.set(self.clock.get().max(stamp + 1));
            Ok(message)
        }
    }

    /// Result of each process, and the length of the longest chain of messages.
    pub(crate) fn run<T: Send>(size: usize, work: impl Fn(&Thread) -> T + Sync) -> (Vec<T>, u64) {
        let mut all: Vec<Thread> = (0..size)
            .map(|rank| Thread { rank, to: Vec::new(), from: Vec::new(), clock: Cell::new(0) })
            .collect();
        for from in 0..size {
            for to in 0..size {
                let (sender, receiver) = channel();
                all[from].to.push(sender);
                all[to].from.push(receiver);
            }
        }
        std::thread::scope(|scope| {
            let work = &work;
            let started: Vec<_> = all
                .into_iter()
                .map(|one| scope.spawn(move || (work(&one), one.clock.get())))
                .collect();
            let ended = started.into_iter().map(|one| one.join().unwrap());
            let (results, clocks): (Vec<T>, Vec<u64>) = ended.unzip();
            (results, clocks.into_iter().max().unwrap())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [usize; 11] = [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 33];

    fn rounds(size: usize) -> u64 {
        size.next_power_of_two().ilog2().into()
    }

    #[test]
    fn everybody_knows_the_least_after_log_p_messages() {
        for size in SIZES {
            for first in 0..size {
                let number = |rank: Rank| ((rank + size - first) % size) as u64 + 5;
                let (all, clock) =
                    threads::run(size, |peer| least(peer, number(peer.rank())).unwrap());
                assert_eq!((all, clock), (vec![5; size], rounds(size)));
            }
        }
    }

    #[test]
    fn everybody_knows_all_words_after_log_p_messages() {
        for size in SIZES {
            let own = |rank: Rank| [rank as u64, 100 - rank as u64];
            let (all, clock) =
                threads::run(size, |peer| all_words(peer, own(peer.rank())).unwrap());
            let expected: Vec<_> = (0..size).map(own).collect();
            assert_eq!((all, clock), (vec![expected; size], rounds(size)));
        }
    }

    #[test]
    fn everybody_has_the_roots_list_after_log_p_messages() {
        for size in SIZES {
            for root in [0, size / 2, size - 1] {
                let lists: Vec<Vec<u64>> = (0..size as u64)
                    .map(|rank| (0..rank % 4).map(|at| 9 * rank + at).collect())
                    .collect();
                let (all, clock) = threads::run(size, |peer| {
                    let own = (peer.rank() == root).then(|| lists.clone());
                    handed_down(peer, root, own).unwrap()
                });
                assert_eq!((all, clock), (lists, rounds(size)));
            }
        }
    }
}
