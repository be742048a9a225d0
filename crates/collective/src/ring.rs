//! Around a ring: everybody passes on the block, or the chunk of one, that it got last.

use crate::CollectiveError;
use crate::error::allgathered;
use crate::rounds::{
    Meeting, Outline, deed, finished, gathering, outline_of_rounds, time_of_rounds,
};
use std::cell::Cell;
use tuwtree_model::{BlockSizes, Order, Problem, Rank, Time};
use tuwtree_schedule::{Action, Arrival, Buffer, Piece, Programs, Receive, Region, Schedule, Send};

/// The allgather around the ring of all ranks: in round `t`, rank `i` sends block `i - t` to `i + 1`.
///
/// Blocks of `c` bytes each take `(p - 1)(alpha + c beta)`. A block goes through all ranks, and so a
/// single one of `M` bytes takes `(p - 1)(alpha + M beta)`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.1.
///
/// # Example
/// Round 0: 0 sends 4 bytes to 1 until 14, 2 sends 2 to 0 until 12. Round 1, from 14 on: 0 sends block 2 to 1
/// until 26, and 1 block 0 to 2 until 28.
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem};
/// use tuwtree_schedule::{Sends, simulate};
/// let sizes = BlockSizes::new([4, 0, 2]).unwrap();
/// let costs = Homogeneous::new(10.0, 1.0, 1.0).unwrap();
/// let schedule = tuwtree_collective::ring(&Problem::allgather(&sizes, costs).unwrap()).unwrap();
/// let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
/// assert_eq!(timeline.completion_time().units(), 28.0);
/// ```
pub fn ring(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = allgathered(problem)?;
    let p = sizes.ranks();
    gathering(
        problem,
        p - 1,
        |_, rank| meeting(rank, p),
        |round, (from, _), data| {
            data.push_window(sizes, (from + p - round) % p, 1);
        },
    )
}

/// The allgather around the ring in chunks: larger blocks go in chunks of this many bytes, one after the other, so that
/// a large block is under way on many links at once.
///
/// A rank sends and receives a chunk in each step, while it has any to send or to receive; an empty block counts
/// as a chunk. Then a single block of `M` bytes in `k` chunks takes `(p - 2 + k)(alpha + M/k beta)`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For chunks of no bytes.
///
/// # Complexity
/// O(p) for each chunk of a block.
///
/// # Source
/// MPICH's `allgatherv_intra_ring.c`.
pub fn ring_in_chunks(problem: &Problem, chunk_bytes: u64) -> Result<Schedule, CollectiveError> {
    assert!(chunk_bytes > 0, "chunks have bytes");
    let sizes = allgathered(problem)?;
    let p = sizes.ranks();
    let mut programs = Programs::new();
    for rank in 0..p {
        let (to, from) = ((rank + 1) % p, (rank + p - 1) % p);
        let mut sent = chunks(sizes, rank, chunk_bytes);
        let mut received = chunks(sizes, from, chunk_bytes);
        loop {
            let (out, into) = match (sent.next(), received.next()) {
                (None, None) => break,
                (out, into) => (out.unwrap_or(NOTHING), into.unwrap_or(NOTHING)),
            };
            let region =
                |piece| Region { buffer: Buffer::Output, pieces: std::slice::from_ref(piece) };
            let send = (out.bytes > 0).then(|| Send { to, tag: 0, from: region(&out) });
            let receive = (into.bytes > 0).then(|| Receive {
                from,
                tag: 0,
                into: region(&into),
                arrival: Arrival::Store,
            });
            if let Some(deed) = deed(send, receive) {
                programs.push(&Action { port: 0, deed })?;
            }
        }
        programs.end_rank();
    }
    finished(problem, (Order::Ordered, 1), vec![0; p], programs)
}

/// Meeting of a rank in each round.
fn meeting(rank: Rank, p: usize) -> Meeting {
    Meeting { to: Some((rank + 1) % p), from: Some((rank + p - 1) % p) }
}

/// Figures of [`ring`], where a node's wire, if its ranks share one, carries messages to one rank and from one rank, as in
/// block placement. On duplex ports whose latency overlaps, no block may be empty.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2), O(p) space.
pub fn ring_outline(problem: &Problem) -> Result<Outline, CollectiveError> {
    let sizes = allgathered(problem)?;
    let p = sizes.ranks();
    let bytes = |round, from, _| sizes.block((from + p - round) % p);
    outline_of_rounds(problem, Buffer::Output, |_, rank| meeting(rank, p), bytes)
}

/// Completion time of [`ring_in_chunks`], without its schedule: exactly the simulation's.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For chunks of no bytes.
///
/// # Complexity
/// O(p) for each chunk of a block, O(p) space.
pub fn ring_in_chunks_time(problem: &Problem, chunk_bytes: u64) -> Result<Time, CollectiveError> {
    assert!(chunk_bytes > 0, "chunks have bytes");
    let sizes = allgathered(problem)?;
    let p = sizes.ranks();
    // How many chunks come before each block, the last block first, twice around.
    let mut before = vec![0];
    for place in 0..2 * p {
        let bytes = sizes.block(p - 1 - place % p);
        before.push(before[place] + bytes.div_ceil(chunk_bytes).max(1));
    }
    // The block that each rank sent last: rounds come one after the other.
    let last: Vec<Cell<usize>> = (0..p).map(|from| Cell::new(p - 1 - from)).collect();
    let sent = |round: usize, from: Rank| {
        let first = p - 1 - from;
        let step = before[first] + round as u64;
        // Everything but the block of the receiver.
        if step >= before[first + p - 1] {
            return 0;
        }
        let mut place = last[from].get();
        while before[place + 1] <= step {
            place += 1;
        }
        last[from].set(place);
        let bytes = sizes.block(p - 1 - place % p);
        chunk_bytes.min(bytes - (step - before[place]) * chunk_bytes)
    };
    let rounds = (0..p).map(|first| before[first + p - 1] - before[first]).max().unwrap_or(0);
    time_of_rounds(problem, (rounds as usize, Buffer::Output), |_, rank| meeting(rank, p), sent)
}

/// No data.
const NOTHING: Piece = Piece { offset: 0, bytes: 0 };

/// A rank's block in chunks of at most this many bytes; an empty block is one empty chunk.
fn chunks(sizes: &BlockSizes, rank: Rank, chunk_bytes: u64) -> impl Iterator<Item = Piece> {
    let p = sizes.ranks();
    (0..p - 1).flat_map(move |round| {
        let block = (rank + p - round) % p;
        let (start, bytes) = (sizes.before(block), sizes.block(block));
        (0..bytes.div_ceil(chunk_bytes).max(1)).map(move |chunk| {
            let done = chunk * chunk_bytes;
            Piece { offset: start + done, bytes: chunk_bytes.min(bytes - done) }
        })
    })
}
