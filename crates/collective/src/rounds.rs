//! Schedules in rounds, of messages that are the same at both ends.

use crate::{CollectiveError, Flow};
use tuwtree_model::{BlockSizes, CostModel, Operation, Order, Problem, Rank, Root, Time};
use tuwtree_schedule::{
    Action, Arrival, Buffer, Deed, Piece, Programs, Receive, Region, Schedule, Send, Task,
    TooManyActions,
};

/// Whom a rank sends to, and whom it receives from, in one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meeting {
    pub(crate) to: Option<Rank>,
    pub(crate) from: Option<Rank>,
}

/// Positions of the data of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Offsets that the operation states.
    InPlace,
    /// One piece for each message, at the start: to be simulated, not performed.
    Anywhere,
}

/// Parts of a buffer, in the order in which a message has them.
#[derive(Debug, Default)]
pub(crate) struct MessageData(Vec<Piece>);

impl MessageData {
    /// Nothing as yet, in the room of these pieces.
    pub(crate) fn of(mut room: Vec<Piece>) -> MessageData {
        room.clear();
        MessageData(room)
    }

    /// The pieces.
    pub(crate) fn into_pieces(self) -> Vec<Piece> {
        self.0
    }

    /// End of the last piece.
    pub(crate) fn end(&self) -> u64 {
        self.0.last().map_or(0, |piece| piece.end())
    }

    /// Adds bytes of the output; adjacent pieces are joined.
    pub(crate) fn push(&mut self, offset: u64, bytes: u64) {
        match self.0.last_mut() {
            _ if bytes == 0 => {}
            Some(last) if last.end() == offset => last.bytes += bytes,
            _ => self.0.push(Piece { offset, bytes }),
        }
    }

    /// Adds this many blocks from this one on; after the last comes the first.
    pub(crate) fn push_window(&mut self, sizes: &BlockSizes, first: Rank, count: usize) {
        let end = first + count;
        let (before, p) = (|rank| sizes.before(rank), sizes.ranks());
        self.push(before(first), before(end.min(p)) - before(first));
        if end > p {
            self.push(0, before(end - p));
        }
    }
}

/// A vector cut between elements into pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// Of the whole vector.
    bytes: u64,
    element_bytes: u64,
    pieces: u64,
    /// The elements of each piece, up to the end of the vector.
    share: u64,
    /// Number of pieces, the first ones, with one element more.
    longer: u64,
}

impl Cut {
    /// The vector of a problem, or all its blocks as one, in this many pieces that differ by at most one element.
    pub(crate) fn new(problem: &Problem, pieces: usize) -> Cut {
        let (cut, elements) = Cut::uncut(problem, pieces);
        Cut { share: elements / cut.pieces, longer: elements % cut.pieces, ..cut }
    }

    /// The vector of a problem in pieces of one length, the last of which are short or empty.
    pub(crate) fn of_one_length(problem: &Problem, pieces: usize) -> Cut {
        let (cut, elements) = Cut::uncut(problem, pieces);
        Cut { share: elements.div_ceil(cut.pieces), ..cut }
    }

    /// With empty pieces, and the number of elements.
    fn uncut(problem: &Problem, pieces: usize) -> (Cut, u64) {
        let element_bytes = problem.operator().element_bytes();
        let bytes = problem.payload().total();
        let cut = Cut { bytes, element_bytes, pieces: pieces as u64, share: 0, longer: 0 };
        (cut, bytes / element_bytes)
    }

    /// Offset of a piece; of the piece behind the last one, the end of the vector.
    pub(crate) fn before(self, piece: usize) -> u64 {
        let piece = piece as u64;
        ((piece * self.share + piece.min(self.longer)) * self.element_bytes).min(self.bytes)
    }

    /// Adds pieces from this one on.
    pub(crate) fn push(self, data: &mut MessageData, first: usize, count: usize) {
        let start = self.before(first);
        data.push(start, self.before(first + count) - start);
    }

    /// Adds pieces from this one on; after the last comes the first.
    pub(crate) fn push_window(self, data: &mut MessageData, first: usize, count: usize) {
        let (pieces, end) = (self.pieces as usize, first + count);
        self.push(data, first, end.min(pieces) - first);
        self.push(data, 0, end.saturating_sub(pieces));
    }
}

/// Treatment of a received message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrives {
    /// Replaces the data there.
    Stored,
    /// Combined with the data there; the lower rank's is the left operand.
    Combined,
}

impl Arrives {
    pub(crate) fn arrival(self, from: Rank, to: Rank) -> Arrival {
        match self {
            Arrives::Stored => Arrival::Store,
            Arrives::Combined if from < to => Arrival::CombineLeft,
            Arrives::Combined => Arrival::CombineRight,
        }
    }
}

/// Rounds that are not alike: what happens in each.
pub(crate) struct Rounds<A> {
    /// Number of rounds.
    pub(crate) count: usize,
    /// Treatment of received data in a round.
    pub(crate) arrives: A,
    /// The buffer that is sent from: the input, or where the rank works.
    pub(crate) source: Buffer,
    /// Promised order of operands.
    pub(crate) order: Order,
}

/// The schedule of an allgather in this many rounds, as [`in_rounds`] makes it.
pub(crate) fn gathering(
    problem: &Problem,
    count: usize,
    meet: impl Fn(usize, Rank) -> Meeting,
    fill: impl Fn(usize, (Rank, Rank), &mut MessageData),
) -> Result<Schedule, CollectiveError> {
    let arrives = |_| Arrives::Stored;
    let rounds = Rounds { count, arrives, source: Buffer::Output, order: Order::Ordered };
    in_rounds(problem, &rounds, meet, fill)
}

/// Work buffer of a rank: its output; in a reduction, only the root has one.
fn work_buffer(problem: &Problem, rank: Rank) -> Buffer {
    match problem.operation() {
        Operation::Reduce if root(problem) != Some(rank) => Buffer::Segment,
        _ => Buffer::Output,
    }
}

/// The root of an operation that has one: 0 where any will do.
pub(crate) fn root(problem: &Problem) -> Option<Rank> {
    problem.operation().is_rooted().then_some(match problem.root() {
        Root::Given(root) => root,
        Root::Best | Root::None => 0,
    })
}

/// The schedule for a problem in rounds. `meet` returns the meetings of a round, consistent at both ends; `fill` the
/// data that the first rank sends the second in a round, at equal offsets at both ends.
///
/// # Complexity
/// That of `fill` for each message, twice.
pub(crate) fn in_rounds(
    problem: &Problem,
    rounds: &Rounds<impl Fn(usize) -> Arrives>,
    meet: impl Fn(usize, Rank) -> Meeting,
    fill: impl Fn(usize, (Rank, Rank), &mut MessageData),
) -> Result<Schedule, CollectiveError> {
    let room = |rank| match work_buffer(problem, rank) {
        Buffer::Segment => problem.payload().total(),
        Buffer::Input | Buffer::Output => 0,
    };
    let segments = (0..problem.ranks()).map(room).collect();
    in_rounds_with_room(problem, rounds, segments, meet, |round, _, ends, data| {
        fill(round, ends, data);
    })
}

/// Like [`in_rounds`], with segments of these sizes, where sent data lies at different offsets at each end: `fill` is
/// told the rank.
pub(crate) fn in_rounds_with_room(
    problem: &Problem,
    rounds: &Rounds<impl Fn(usize) -> Arrives>,
    segments: Vec<u64>,
    meet: impl Fn(usize, Rank) -> Meeting,
    fill: impl Fn(usize, Rank, (Rank, Rank), &mut MessageData),
) -> Result<Schedule, CollectiveError> {
    let ranks = problem.ranks();
    let mut programs = Programs::new();
    let (mut sent, mut received) = (MessageData::default(), MessageData::default());
    for rank in 0..ranks {
        let work = work_buffer(problem, rank);
        let source = if rounds.source == Buffer::Input { Buffer::Input } else { work };
        for round in 0..rounds.count {
            let Meeting { to, from } = meet(round, rank);
            sent.0.clear();
            received.0.clear();
            if let Some(to) = to {
                fill(round, rank, (rank, to), &mut sent);
            }
            if let Some(from) = from {
                fill(round, rank, (from, rank), &mut received);
            }
            let send = to.filter(|_| !sent.0.is_empty()).map(|to| {
                let from = Region { buffer: source, pieces: &sent.0 };
                Send { to, tag: 0, from }
            });
            let receive = from.filter(|_| !received.0.is_empty()).map(|from| {
                let into = Region { buffer: work, pieces: &received.0 };
                let arrival = (rounds.arrives)(round).arrival(from, rank);
                Receive { from, tag: 0, into, arrival }
            });
            if let Some(deed) = deed(send, receive) {
                programs.push(&Action { port: 0, deed })?;
            }
        }
        programs.end_rank();
    }
    finished(problem, (rounds.order, problem.ports().get()), segments, programs)
}

/// Completion time of this many rounds in which every rank sends this many bytes at a time of this buffer and receives
/// accordingly: the result of simulating their schedule on the problem's ports, with all receives posted in advance.
/// Rounds are asked for in order.
///
/// # Complexity
/// That of `bytes` for each message.
pub(crate) fn time_of_rounds(
    problem: &Problem,
    (rounds, source): (usize, Buffer),
    meet: impl Fn(usize, Rank) -> Meeting,
    bytes: impl Fn(usize, Rank) -> u64,
) -> Result<Time, CollectiveError> {
    let (costs, combines) = (problem.costs(), problem.operation().is_reduction());
    // When the side of a rank's port that sends, and that which receives, are free; both at once where it is not duplex.
    let mut sides = vec![[Time::ZERO; 2]; problem.ranks()];
    let mut done = sides.clone();
    // To whom each rank sends how many bytes, if any, and how many it receives.
    let (mut messages, mut came) = (vec![None; sides.len()], vec![0; sides.len()]);
    for round in 0..rounds {
        done.copy_from_slice(&sides);
        came.fill(0);
        for (from, message) in messages.iter_mut().enumerate() {
            let to = meet(round, from).to;
            *message = to.map(|to| (to, bytes(round, from))).filter(|&(_, bytes)| bytes > 0);
            if let Some((to, bytes)) = *message {
                came[to] = bytes;
            }
        }
        let exchanges = |rank: Rank| messages[rank].is_some() && came[rank] > 0;
        for from in 0..sides.len() {
            let Some((to, bytes)) = messages[from] else { continue };
            let [sending, received] = sides[from];
            // What is sent of the input need not wait for what has come.
            let ready = if source == Buffer::Input { sending } else { sending.later(received) };
            let arrival = costs.sum(ready, costs.latency_between(from, to, bytes)?)?;
            let start = arrival.later(sides[to][1]);
            let duration = match exchanges(from) || exchanges(to) {
                true => costs.exchange_between(from, to, bytes)?,
                false => costs.transmission_between(from, to, bytes)?,
            };
            let end = costs.sum(start, duration)?;
            done[from][0] = done[from][0].later(end);
            done[to][1] = done[to][1].later(end);
        }
        for (done, &came) in done.iter_mut().zip(&came) {
            let last = done[0].later(done[1]);
            // What comes is combined when all is sent.
            if combines && came > 0 {
                done[1] = costs.sum(last, problem.operator().combine(came)?)?;
            }
            if !problem.duplex() {
                *done = [last.later(done[1]); 2];
            }
        }
        std::mem::swap(&mut sides, &mut done);
    }
    Ok(sides.into_iter().flatten().fold(Time::ZERO, Time::later))
}

/// Figures of a schedule of `p^2` messages, known without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Completion time: exactly the simulation's.
    pub time: Time,
    /// The most actions of a rank.
    pub most_actions: usize,
    /// The most bytes that a rank sends.
    pub most_bytes_sent: u64,
}

/// Figures of the schedule of `p - 1` rounds in which every rank sends of this buffer what `bytes` says of the round, its
/// sender and its receiver.
///
/// # Complexity
/// O(p^2), O(p) space.
pub(crate) fn outline_of_rounds(
    problem: &Problem,
    source: Buffer,
    meet: impl Fn(usize, Rank) -> Meeting,
    bytes: impl Fn(usize, Rank, Rank) -> u64,
) -> Result<Outline, CollectiveError> {
    let (p, rounds) = (problem.ranks(), 0..problem.ranks() - 1);
    let sent = |round, rank| meet(round, rank).to.map_or(0, |to| bytes(round, rank, to));
    let came = |round, rank| meet(round, rank).from.map_or(0, |from| bytes(round, from, rank));
    let acts = |round, rank| sent(round, rank) > 0 || came(round, rank) > 0;
    let actions = (0..p).map(|rank| rounds.clone().filter(|&round| acts(round, rank)).count());
    let all_sent = (0..p).map(|rank| rounds.clone().map(|round| sent(round, rank)).sum());
    Ok(Outline {
        time: time_of_rounds(problem, (p - 1, source), &meet, sent)?,
        most_actions: actions.max().unwrap_or(0),
        most_bytes_sent: all_sent.max().unwrap_or(0),
    })
}

/// Whom a rank meets in round `k` from 1 on: `i` sends to `i + k` and receives from `i - k`.
pub(crate) fn shifted_meeting(round: usize, rank: Rank, p: usize) -> Meeting {
    Meeting { to: Some((rank + round) % p), from: Some((rank + p - round) % p) }
}

/// The most bytes that one of `p` ranks has for all others.
pub(crate) fn most_bytes_sent(p: usize, bytes: impl Fn(Rank, Rank) -> u64) -> u64 {
    let of_rank = |rank: Rank| (0..p).filter(|&to| to != rank).map(|to| bytes(rank, to)).sum();
    (0..p).map(of_rank).max().unwrap_or(0)
}

/// Action of a rank in a round with this send and this receive.
pub(crate) fn deed<'a>(send: Option<Send<'a>>, receive: Option<Receive<'a>>) -> Option<Deed<'a>> {
    match (send, receive) {
        (Some(send), Some(receive)) => Some(Deed::Exchange(send, receive)),
        (Some(send), None) => Some(Deed::Send(send)),
        (None, receive) => receive.map(Deed::Receive),
    }
}

/// The copy of these pieces of a buffer to pieces of another, equally long in sum.
pub(crate) fn copy<'a>(from: (Buffer, &'a [Piece]), into: (Buffer, &'a [Piece])) -> Action<'a> {
    let [from, into] = [from, into].map(|(buffer, pieces)| Region { buffer, pieces });
    Action { port: 0, deed: Deed::Copy { from, into, arrival: Arrival::Store } }
}

/// Adds one end of a message of an operation whose ranks send and receive independently: parts of the output, which a receiver
/// of a reduce-scatter combines on a port of its own, as combining waits for all sends on its port.
pub(crate) fn push_end(
    programs: &mut Programs,
    flow: Flow,
    (is_sent, peer): (bool, Rank),
    pieces: &[Piece],
) -> Result<(), TooManyActions> {
    let region = Region { buffer: Buffer::Output, pieces };
    let (port, arrival) = match flow {
        Flow::Spread => (0, Arrival::Store),
        Flow::Combined => (1, Arrival::CombineLeft),
    };
    programs.push(&match is_sent {
        true => Action { port: 0, deed: Deed::Send(Send { to: peer, tag: 0, from: region }) },
        false => {
            let receive = Receive { from: peer, tag: 0, into: region, arrival };
            Action { port, deed: Deed::Receive(receive) }
        }
    })
}

/// The schedule of these programs, made by [`push_end`].
pub(crate) fn independent(
    problem: &Problem,
    flow: Flow,
    programs: Programs,
) -> Result<Schedule, CollectiveError> {
    let promises = match flow {
        Flow::Spread => (Order::Ordered, 1),
        Flow::Combined => (Order::Any, 2),
    };
    let segments = vec![0; problem.ranks()];
    Ok(finished(problem, promises, segments, programs)?.with_duplex(true))
}

/// The schedule of these programs for a problem, with its promises and its number of ports: duplex ones, if the problem
/// has them.
pub(crate) fn finished(
    problem: &Problem,
    (order, ports): (Order, u16),
    segments: Vec<u64>,
    programs: Programs,
) -> Result<Schedule, CollectiveError> {
    let task = Task {
        duplex: problem.duplex(),
        operation: problem.operation(),
        root: root(problem),
        payload: problem.payload().clone(),
        displacements: None,
        order,
        ports,
        costs: Some(problem.stated_costs().clone()),
        operator: problem.operator(),
    };
    Ok(Schedule::new(task, segments, programs)?)
}
