//! Windows of blocks that double in each round, or grow more slowly where messages of several rounds are under way.

use crate::circle::Circle;
use crate::error::{allgathered, spread_or_combined};
use crate::rank_rounds::needed_window;
use crate::rounds::{
    Layout, Meeting, MessageData, copy, deed, finished, gathering, independent, push_end,
};
use crate::{CollectiveError, Flow};
use tuwtree_model::{BlockSizes, Order, Problem, Rank};
use tuwtree_schedule::{Action, Arrival, Buffer, Piece, Programs, Receive, Region, Schedule, Send};

/// Number of blocks at a rank before each step of Bruck's allgather in the postal model, `A_0 = 1, ..., A_T = p`, where
/// sent data has come `delay` steps later: `A_(t+1) = A_t + min(A_(t - delay + 1), p - A_t)`, with `A_t = 1` before the
/// first step. With a delay of 1 they double.
///
/// # Panics
/// For no delay.
///
/// # Source
/// A. Bar-Noy, S. Kipnis, Designing broadcasting algorithms in the postal model for message-passing systems, Mathematical
/// Systems Theory 27, 1994: the generalised Fibonacci numbers.
pub(crate) fn postal_windows(ranks: usize, delay: usize) -> Vec<usize> {
    assert!(delay > 0, "what is sent comes in a later step");
    let mut had = vec![1];
    while let Some(&last) = had.last().filter(|&&last| last < ranks) {
        let window = had[had.len().saturating_sub(delay)];
        had.push(last + window.min(ranks - last));
    }
    had
}

/// The allgather of Bruck et al.: in round `k`, with `w = 2^k`, rank `i` sends its blocks `i`, `i + 1`, ...,
/// which are `min(w, p - w)`, to `i - w`.
///
/// Blocks of `c` bytes each take `ceil(lg p) alpha + (p - 1) c beta` for every `p`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log p).
///
/// # Source
/// J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, IEEE TPDS 8(11), 1997. Differs: data goes to its
/// place at once, so that nothing is rotated at the end.
pub fn bruck(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = allgathered(problem)?;
    let p = sizes.ranks();
    let rounds = p.next_power_of_two().ilog2() as usize;
    let meet = |round: usize, rank| {
        let distance = 1 << round;
        Meeting { to: Some((rank + p - distance) % p), from: Some((rank + distance) % p) }
    };
    gathering(problem, rounds, meet, |round, (from, _), data| {
        let distance = 1 << round;
        data.push_window(sizes, from, distance.min(p - distance));
    })
}

/// The allgather of [`bruck`] with messages of one piece each: blocks come together in a segment in the order in which
/// they are received, the own one first, and are copied from there to the output at the end.
///
/// Blocks of `c` bytes each take `ceil(lg p) alpha + (p - 1) c beta + p c gamma` for every `p`: each rank copies all of them
/// once.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log p).
///
/// # Source
/// J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, IEEE TPDS 8(11), 1997; R. Thakur, R. Rabenseifner, W. Gropp,
/// IJHPCA 19(1), 2005, section 4.1.
///
/// # Example
/// Three blocks of 5 bytes: each rank copies its own until 5, two rounds of 5 bytes take 30, and copying the others 10.
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem};
/// use tuwtree_schedule::{Sends, simulate};
/// let costs = Homogeneous::new(10.0, 1.0, 1.0).unwrap();
/// let problem = Problem::allgather(&BlockSizes::new([5, 5, 5]).unwrap(), costs).unwrap();
/// let schedule = tuwtree_collective::bruck_contiguous(&problem).unwrap();
/// let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
/// assert_eq!(timeline.completion_time().units(), 5.0 + 30.0 + 10.0);
/// ```
pub fn bruck_contiguous(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = allgathered(problem)?;
    let p = sizes.ranks();
    let rounds = p.next_power_of_two().ilog2();
    let window = |first: usize, count: usize| sizes.window(first, count);
    let mut programs = Programs::new();
    for rank in 0..p {
        let own = sizes.block(rank);
        let segment = |offset, bytes| Piece { offset, bytes };
        if own > 0 && p > 1 {
            let all = [segment(0, own)];
            programs.push(&copy((Buffer::Input, &all), (Buffer::Segment, &all)))?;
        }
        for round in 0..rounds {
            let distance = 1 << round;
            let count = distance.min(p - distance);
            let (to, from) = ((rank + p - distance) % p, (rank + distance) % p);
            let sent = [segment(0, window(rank, count))];
            let received = [segment(window(rank, distance), window(from, count))];
            let [there, here] =
                [&sent, &received].map(|pieces| Region { buffer: Buffer::Segment, pieces });
            let send = (there.bytes() > 0).then_some(Send { to, tag: 0, from: there });
            let arrival = Arrival::Store;
            let receive =
                (here.bytes() > 0).then_some(Receive { from, tag: 0, into: here, arrival });
            if let Some(deed) = deed(send, receive) {
                programs.push(&Action { port: 0, deed })?;
            }
        }
        let others = sizes.total() - own;
        if others > 0 {
            let mut places = MessageData::default();
            places.push_window(sizes, (rank + 1) % p, p - 1);
            let (from, into) = ([segment(own, others)], places.into_pieces());
            programs.push(&copy((Buffer::Segment, &from), (Buffer::Output, &into)))?;
        }
        programs.end_rank();
    }
    let room = if p == 1 { 0 } else { sizes.total() };
    finished(problem, (Order::Ordered, problem.ports().get()), vec![room; p], programs)
}

/// The allgather of [`bruck`] in the postal model, where sent data has come `delay` steps later: in step `t`, rank `i`
/// sends its first `w_t` blocks to `i - A_t`, where `A_0 = 1`, `w_t = min(A_(t - delay + 1), p - A_t)`, `A_(t + 1) =
/// A_t + w_t`. Ranks have a duplex port, and each send is listed behind the last receive that it needs. A reduce-scatter, of
/// operators that commute, is that backwards.
///
/// Blocks of `c` bytes each take `T O + (p - 1) c beta + lambda` in `T` steps for every `p`, where messages occupy ports for
/// `O` and their bytes, and are under way for `lambda <= (delay - 1) (O + c beta)` more.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For no delay.
///
/// # Complexity
/// O(p T delay).
///
/// # Source
/// A. Bar-Noy, S. Kipnis, Mathematical Systems Theory 27, 1994 (the postal model), with the windows of [`bruck`].
pub fn bruck_postal(problem: &Problem, delay: usize) -> Result<Schedule, CollectiveError> {
    postal(problem, false, (delay, Layout::InPlace))
}

/// [`bruck_postal`] with ranks in another order: large blocks far apart, as in
/// [`circulant_balanced`](crate::circulant_balanced()). Of equal blocks it is the same.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For no delay.
///
/// # Complexity
/// O(p T delay + p^2).
pub fn bruck_balanced(problem: &Problem, delay: usize) -> Result<Schedule, CollectiveError> {
    postal(problem, true, (delay, Layout::InPlace))
}

/// The schedule of [`bruck_postal`] or, if `is_balanced`, of [`bruck_balanced`] with each message as one piece that lies
/// anywhere: to be simulated, not performed.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For no delay.
///
/// # Complexity
/// O(p T delay).
pub fn sketch_of_postal(
    problem: &Problem,
    delay: usize,
    is_balanced: bool,
) -> Result<Schedule, CollectiveError> {
    postal(problem, is_balanced, (delay, Layout::Anywhere))
}

/// Order of ranks in postal allgathers.
fn postal_circle(sizes: &BlockSizes, is_balanced: bool) -> Circle<'_> {
    match is_balanced {
        true => Circle::balanced(sizes, |index| index),
        false => Circle::in_rank_order(sizes),
    }
}

/// Sender, receiver and bytes of each message of [`bruck_postal`] with this delay or, if `is_balanced`, of
/// [`bruck_balanced`], empty ones included.
///
/// # Panics
/// For no delay.
///
/// # Complexity
/// O(p T), and O(p log p) for the order of ranks.
pub fn postal_messages(
    sizes: &BlockSizes,
    delay: usize,
    is_balanced: bool,
) -> impl Iterator<Item = (Rank, Rank, u64)> {
    let circle = postal_circle(sizes, is_balanced);
    let p = sizes.ranks();
    let had = postal_windows(p, delay);
    (0..had.len() - 1).flat_map(move |step| (0..p).map(move |place| (step, place))).map(
        move |(step, place)| {
            let bytes = circle.sizes().window(place, had[step + 1] - had[step]);
            (circle.rank(place), circle.rank((place + p - had[step]) % p), bytes)
        },
    )
}

fn postal(
    problem: &Problem,
    is_balanced: bool,
    (delay, layout): (usize, Layout),
) -> Result<Schedule, CollectiveError> {
    let (sizes, flow) = spread_or_combined(problem)?;
    let circle = postal_circle(sizes, is_balanced);
    let p = problem.ranks();
    let had = postal_windows(p, delay);
    let steps = had.len() - 1;
    let window = |step: usize, from: usize| {
        let (mut data, count) = (MessageData::default(), had[step + 1] - had[step]);
        match layout {
            Layout::InPlace => circle.push_window(from, count, &mut data),
            Layout::Anywhere => data.push(0, circle.sizes().window(from, count)),
        }
        data.into_pieces()
    };
    let mut programs = Programs::new();
    for place in (0..p).map(|rank| circle.place(rank)) {
        // Ends of messages, in the order of the allgather: true for those that are sent.
        let mut ends: Vec<(bool, Rank, Vec<Piece>)> = Vec::new();
        let mut received = 0;
        for step in 0..=steps {
            // At the end all that no send has needed.
            let needed = match step == steps {
                true => steps,
                false => {
                    needed_window(circle.sizes(), &had, step, place).map_or(0, |last| last + 1)
                }
            };
            for (earlier, distance) in had.iter().enumerate().take(needed).skip(received) {
                let from = (place + distance) % p;
                ends.push((false, circle.rank(from), window(earlier, from)));
            }
            received = received.max(needed);
            if step < steps {
                ends.push((true, circle.rank((place + p - had[step]) % p), window(step, place)));
            }
        }
        if flow == Flow::Combined {
            ends.reverse();
        }
        for (is_sent, peer, pieces) in ends.into_iter().filter(|(.., pieces)| !pieces.is_empty()) {
            let is_sent = is_sent == (flow == Flow::Spread);
            push_end(&mut programs, flow, (is_sent, peer), &pieces)?;
        }
        programs.end_rank();
    }
    independent(problem, flow, programs)
}
