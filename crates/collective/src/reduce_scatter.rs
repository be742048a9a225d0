//! Reduce-scatter: everybody's vectors are combined, and each rank gets its block of the result.
//!
//! Each rank works in its output, which holds its own vector in the beginning and its block of the result in
//! the end. All but [`butterfly`], [`recursive_doubling`] and [`non_overlapping`] are for operators that commute.

use crate::CollectiveError;
use crate::broadcast::binomial_meeting;
use crate::circulant::skips;
use crate::doubling::{self, DoublingRound};
use crate::error::scattered;
use crate::folding::{Folding, Resting};
use crate::pieces::Broadcasts;
use crate::rounds::{
    Arrives, Meeting, MessageData, Outline, Rounds, deed, finished, in_rounds, outline_of_rounds,
    shifted_meeting, time_of_rounds,
};
use tuwtree_model::{BlockSizes, Order, Problem, Rank, Time};
use tuwtree_schedule::{
    Action, Arrival, Buffer, Deed, Piece, Programs, Receive, Region, Schedule, Send,
};

/// Rounds in which all that comes is combined, in any order.
fn combining(count: usize, source: Buffer) -> Rounds<impl Fn(usize) -> Arrives> {
    Rounds { count, arrives: |_| Arrives::Combined, source, order: Order::Any }
}

/// The reduce-scatter in which each rank sends each other its block: in round `t`, rank `i` block `i + t` of its
/// own vector.
///
/// Blocks of `c` bytes each take `(p - 1)(alpha + c (beta + kappa))`. The owner of a large block is busy with it
/// `p - 1` times.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.4.
///
/// # Example
/// Blocks 4, 0, 2, and kappa = 1: rank 0 combines two messages of 4 bytes, each in 10 + 4 + 4.
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Operator, Problem};
/// use tuwtree_schedule::{Sends, simulate};
/// let costs = Homogeneous::new(10.0, 1.0, 1.0).unwrap();
/// let sizes = BlockSizes::new([4, 0, 2]).unwrap();
/// let problem = Problem::reduce_scatter(&sizes, costs).unwrap();
/// let problem = problem.with_operator(Operator::new(1, 1.0).unwrap()).unwrap();
/// let schedule = tuwtree_collective::reduce_scatter::pairwise(&problem).unwrap();
/// let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
/// assert_eq!(timeline.completion_time().units(), 36.0);
/// ```
pub fn pairwise(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = scattered(problem)?;
    let p = sizes.ranks();
    let meet = |round, rank| shifted_meeting(round + 1, rank, p);
    in_rounds(problem, &combining(p - 1, Buffer::Input), meet, |_, (_, to), data| {
        data.push_window(sizes, to, 1);
    })
}

/// Figures of [`pairwise`], where no latency overlaps with other work.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2), O(p) space.
pub fn pairwise_outline(problem: &Problem) -> Result<Outline, CollectiveError> {
    let sizes = scattered(problem)?;
    let meet = |round, rank| shifted_meeting(round + 1, rank, sizes.ranks());
    outline_of_rounds(problem, Buffer::Input, meet, |_, _, to| sizes.block(to))
}

/// The reduce-scatter as a reduction along the binomial tree to rank 0, which then sends each other rank its block. In rank
/// order.
///
/// `n` bytes in nonempty blocks take `ceil(lg p) (alpha + n (beta + kappa)) + (p - 1) alpha + (n - m_0) beta`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log p).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.4: the algorithm that MPICH had before; Open MPI's
/// `non-overlapping`.
pub fn non_overlapping(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = scattered(problem)?;
    let p = sizes.ranks();
    let reducing = p.next_power_of_two().ilog2() as usize;
    let kind = Rounds {
        count: reducing + p - 1,
        arrives: |round| if round < reducing { Arrives::Combined } else { Arrives::Stored },
        source: Buffer::Output,
        order: Order::Ordered,
    };
    let meet = |round: usize, rank: Rank| match round.checked_sub(reducing) {
        None => {
            let Meeting { to, from } = binomial_meeting(rank, 1 << round, p);
            Meeting { to: from, from: to }
        }
        Some(before) => {
            let owner = before + 1;
            Meeting { to: (rank == 0).then_some(owner), from: (rank == owner).then_some(0) }
        }
    };
    in_rounds(problem, &kind, meet, |round, (_, to), data| match round < reducing {
        true => data.push(0, sizes.total()),
        false => data.push_window(sizes, to, 1),
    })
}

/// The reduce-scatter by recursive halving: with distances that halve, each rank sends the half of its blocks
/// that its partner keeps. Where `p` is no power of two, one of two ranks acts for both at first.
///
/// Blocks of `c` bytes each take `lg p alpha + (p - 1) c (beta + kappa)` if `p` is a power of two; for other `p`,
/// with `l = floor(lg p)`, `P = 2^l`, `r = p - P` and `H` the sum of `h + min(h, r)` for `h = P/2, P/4, ..., 1`, it
/// is `(l + 2) alpha + (p + H + 1) c beta + (p + H) c kappa`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log p).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.4; the exact time for other `p` is ours.
pub fn halving(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = scattered(problem)?;
    let folding = Folding::new(sizes.ranks(), Resting::Even);
    let distance = |step| folding.active >> (step + 1);
    folded(problem, (folding, Order::Any), distance, |step, receiver, data| {
        let first = receiver - receiver % distance(step);
        let [start, end] = [first, first + distance(step)].map(|new| folding.first_rank(new));
        data.push_window(sizes, start, end - start);
    })
}

/// The reduce-scatter on a butterfly, which combines in rank order: with distances 1, 2, 4, ... each rank sends the
/// blocks of those ranks whose numbers end in binary as its partner's does; that half the partner keeps. Where `p`
/// is no power of two, one of two neighbours acts for both at first, as in [`halving`].
///
/// Blocks of `c` bytes each take `lg p alpha + (p - 1) c (beta + kappa)` if `p` is a power of two; for other `p`,
/// with `l = floor(lg p)`, `P = 2^l`, `r = p - P` and `G` the sum of `P/d + ceil(r/d)` for `d = 2, 4, ..., P`, it is
/// `(l + 2) alpha + (p + G + 1) c beta + (p + G) c kappa`, which is never more than that of [`halving`]. A message has
/// up to `P/2` pieces.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2).
///
/// # Source
/// J. L. Träff, EuroPVM/MPI 2005. As MPICH's `reduce_scatter_intra_noncommutative.c` for powers of two, which needs equal
/// blocks since its messages have one piece; other `p` fold as in Open MPI's `butterfly`, which moves each block once
/// more at the end.
pub fn butterfly(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = scattered(problem)?;
    let folding = Folding::new(sizes.ranks(), Resting::Even);
    let distance = |step| 1_usize << step;
    folded(problem, (folding, Order::Ordered), distance, |step, receiver, data| {
        let apart = 2 * distance(step);
        for kept in (receiver % apart..folding.active).step_by(apart) {
            let [start, end] = [kept, kept + 1].map(|new| folding.first_rank(new));
            data.push_window(sizes, start, end - start);
        }
    })
}

/// A reduce-scatter in which resting ranks give their vectors away; then new ranks at the distance of each step
/// exchange the data that the receiver, a new rank, keeps; and resting ranks get their blocks.
fn folded(
    problem: &Problem,
    (folding, order): (Folding, Order),
    distance: impl Fn(usize) -> usize,
    keep: impl Fn(usize, usize, &mut MessageData),
) -> Result<Schedule, CollectiveError> {
    let sizes = scattered(problem)?;
    let steps = folding.active.ilog2() as usize;
    let folds = usize::from(folding.pairs() > 0);
    let rounds = Rounds {
        count: steps + 2 * folds,
        arrives: |round| match round == folds + steps {
            true => Arrives::Stored,
            false => Arrives::Combined,
        },
        source: Buffer::Output,
        order,
    };
    let meet = |round, rank| match round {
        _ if round < folds => folding.into_active(rank),
        _ if round == folds + steps => folding.out_of_active(rank),
        _ => folding.exchange(rank, distance(round - folds)),
    };
    in_rounds(problem, &rounds, meet, |round, (_, to), data| match folding.new_rank(to) {
        _ if round < folds => data.push_window(sizes, 0, sizes.ranks()),
        Some(receiver) if round < folds + steps => keep(round - folds, receiver, data),
        _ => data.push_window(sizes, to, 1),
    })
}

/// The reduce-scatter by recursive doubling, which combines in rank order: with mask 1, 2, 4, ... ranks at that
/// distance exchange all blocks except their own subtrees'. If the partner's subtree is not complete, received data
/// waits in the segment, is passed on from there as in [`crate::recursive_doubling`], and combined then.
///
/// Blocks of `c` bytes each take `lg p alpha + (p lg p - (p - 1)) c (beta + kappa)` if `p` is a power of two; other `p`
/// at most twice as many rounds.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log^2 p).
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4.4. For `p` that are no powers of two
/// the rule of MPICH's `reduce_scatter_intra_recursive_doubling.c`.
///
/// # Example
/// Five blocks of a byte: 4 + 3 of them among ranks 0 to 3, then 4 from rank 4 to 0, from there to 2, and to 1 and 3.
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem};
/// use tuwtree_schedule::{Sends, simulate};
/// let costs = Homogeneous::new(100.0, 1.0, 0.0).unwrap();
/// let sizes = BlockSizes::new([1; 5]).unwrap();
/// let problem = Problem::reduce_scatter(&sizes, costs).unwrap();
/// let schedule = tuwtree_collective::reduce_scatter::recursive_doubling(&problem).unwrap();
/// let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
/// assert_eq!(timeline.completion_time().units(), 519.0);
/// ```
pub fn recursive_doubling(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = scattered(problem)?;
    let p = sizes.ranks();
    let rounds = doubling::rounds(p);
    let (mut programs, mut segments) = (Programs::new(), vec![0; p]);
    for (rank, segment) in segments.iter_mut().enumerate() {
        for step in rounds.chunk_by(|_, next| matches!(next, DoublingRound::HandOn { .. })) {
            let hands_on = step[1..].iter().any(|round| round.meeting(rank, p).to.is_some());
            let mut waiting = Vec::new();
            for round in step {
                let Meeting { to, from } = round.meeting(rank, p);
                let (source, arrives_from) = match round {
                    DoublingRound::Exchange { .. } => (Buffer::Output, from),
                    // Whoever hands it on: it is of ranks behind those of the subtree.
                    DoublingRound::HandOn { .. } => (Buffer::Segment, from.map(|_| p)),
                };
                let (into, arrives) = match hands_on {
                    true => (Buffer::Segment, Arrives::Stored),
                    false => (Buffer::Output, Arrives::Combined),
                };
                let sent = to.map_or(Vec::new(), |_| all_but(sizes, round.window(rank, p)));
                let received =
                    from.map_or(Vec::new(), |from| all_but(sizes, round.window(from, p)));
                let send = to.filter(|_| !sent.is_empty()).map(|to| Send {
                    to,
                    tag: 0,
                    from: Region { buffer: source, pieces: &sent },
                });
                let receive =
                    from.zip(arrives_from).filter(|_| !received.is_empty()).map(|(from, first)| {
                        Receive {
                            from,
                            tag: 0,
                            into: Region { buffer: into, pieces: &received },
                            arrival: arrives.arrival(first, rank),
                        }
                    });
                if let Some(deed) = deed(send, receive) {
                    programs.push(&Action { port: 0, deed })?;
                }
                if hands_on && from.is_some() {
                    waiting = received;
                }
            }
            if !waiting.is_empty() {
                let [from, into] = [Buffer::Segment, Buffer::Output]
                    .map(|buffer| Region { buffer, pieces: &waiting });
                let deed = Deed::Copy { from, into, arrival: Arrival::CombineRight };
                programs.push(&Action { port: 0, deed })?;
                *segment = waiting.iter().map(|piece| piece.end()).fold(*segment, u64::max);
            }
        }
        programs.end_rank();
    }
    finished(problem, (Order::Ordered, problem.ports().get()), segments, programs)
}

/// Positions of all blocks except `count` from this one on.
fn all_but(sizes: &BlockSizes, (first, count): (Rank, usize)) -> Vec<Piece> {
    let p = sizes.ranks();
    let mut data = MessageData::default();
    data.push_window(sizes, (first + count) % p, p - count);
    data.into_pieces()
}

/// The reduce-scatter on a circulant graph, in one pass: with skips `s_k` that halve `p`, the largest first, rank `v`
/// sends its parts of blocks `v + s_k`, ..., `v + s_(k+1) - 1` to `v + s_k`. The allgather on that graph backwards.
///
/// Blocks of `c` bytes each take `ceil(lg p) alpha + (p - 1) c (beta + kappa)` for every `p`.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log p).
///
/// # Source
/// J. L. Träff, arXiv:2410.14234 (2024).
pub fn circulant(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let sizes = scattered(problem)?;
    let skips = skips(sizes.ranks());
    let rounds = combining(skips.len() - 1, Buffer::Output);
    let last = skips.len().saturating_sub(2);
    let meet = |round, rank| circulant_meeting(&skips, last - round, rank);
    in_rounds(problem, &rounds, meet, |round, (_, to), data| {
        data.push_window(sizes, to, circulant_window(&skips, last - round));
    })
}

/// Whom a rank meets where partial results go along this skip.
pub(crate) fn circulant_meeting(skips: &[usize], index: usize, rank: Rank) -> Meeting {
    let (p, skip) = (skips[skips.len() - 1], skips[index]);
    Meeting { to: Some((rank + skip) % p), from: Some((rank + p - skip) % p) }
}

/// Number of blocks along this skip.
pub(crate) fn circulant_window(skips: &[usize], index: usize) -> usize {
    skips[index + 1] - skips[index]
}

/// The reduce-scatter on a circulant graph with every block in `pieces` pieces: the allgather in as many pieces
/// backwards, in `pieces - 1 + ceil(lg p)` rounds.
///
/// A round takes at most `alpha + (beta + kappa)(m_0 / n + m_1 / n + ...)`, each share rounded up to elements,
/// whatever the sizes of the blocks.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For no pieces.
///
/// # Complexity
/// O(p^2 (pieces + log p)).
///
/// # Source
/// J. L. Träff, arXiv:2205.10072, 2407.18004.
pub fn circulant_in_pieces(problem: &Problem, pieces: usize) -> Result<Schedule, CollectiveError> {
    let element_bytes = problem.operator().element_bytes();
    in_pieces(problem, &Broadcasts::in_rank_order(scattered(problem)?, pieces, element_bytes))
}

/// The reduce-scatter of [`circulant_in_pieces`] with ranks in another order on the circulant graph: large blocks far apart,
/// as in [`circulant_balanced`](crate::circulant_balanced()). Of equal blocks it is the same.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For no pieces.
///
/// # Complexity
/// O(p^2 (pieces + log p)).
pub fn circulant_balanced(problem: &Problem, pieces: usize) -> Result<Schedule, CollectiveError> {
    let element_bytes = problem.operator().element_bytes();
    in_pieces(problem, &Broadcasts::balanced(scattered(problem)?, pieces, element_bytes))
}

fn in_pieces(problem: &Problem, broadcasts: &Broadcasts<'_>) -> Result<Schedule, CollectiveError> {
    let rounds = combining(broadcasts.phases.rounds(), Buffer::Output);
    let meet = |round, rank| broadcasts.meeting_backwards(round, rank);
    in_rounds(problem, &rounds, meet, |round, (from, to), data: &mut MessageData| {
        broadcasts.fill(broadcasts.phases.backwards(round), (to, from), data);
    })
}

/// Completion time of [`circulant_in_pieces`], without its schedule: exactly the simulation's.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For no pieces.
///
/// # Complexity
/// O(p^2 (pieces + log p)) additions, O(p log p) space.
pub fn time_in_pieces(problem: &Problem, pieces: usize) -> Result<Time, CollectiveError> {
    let element_bytes = problem.operator().element_bytes();
    time_of(problem, &Broadcasts::in_rank_order(scattered(problem)?, pieces, element_bytes))
}

/// Completion time of [`circulant_balanced`], likewise.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For no pieces.
///
/// # Complexity
/// As [`time_in_pieces`].
pub fn balanced_time(problem: &Problem, pieces: usize) -> Result<Time, CollectiveError> {
    let element_bytes = problem.operator().element_bytes();
    time_of(problem, &Broadcasts::balanced(scattered(problem)?, pieces, element_bytes))
}

fn time_of(problem: &Problem, broadcasts: &Broadcasts<'_>) -> Result<Time, CollectiveError> {
    let messages = broadcasts.messages();
    let meet = |round, rank| broadcasts.meeting_backwards(round, rank);
    let rounds = (broadcasts.phases.rounds(), Buffer::Output);
    time_of_rounds(problem, rounds, meet, |round, from| {
        let to = meet(round, from).to.expect("every rank sends in each round");
        messages.bytes(broadcasts.phases.backwards(round), to)
    })
}
