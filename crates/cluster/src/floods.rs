//! Costs of messages by size: floods, ping-pong, and the judge's other parameters of a network.
//!
//! Rank 0 leads: it announces each measurement, in which the others take part or look on. `tuwtree-measure` evaluates
//! the times.

use super::clock::{Span, Starts};
use std::collections::HashMap;
use std::ffi::c_int;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tuwtree_binding::{
    Communicator, Direction, Few, MpiError, Place, PlaceError, Requests, Reuse, SentContent,
    Transfer, WaitMode,
};
use tuwtree_measure::{
    FloodRequest, Found, FoundWindow, Laboratory, LevelCosts, SizeCosts, find_window, floods,
    largest_size, levels_that_meet, median,
};
use tuwtree_model::{Hierarchy, Rank};

/// Scope and duration of the measurement. Equal at all processes.
#[derive(Clone, Debug, PartialEq)]
pub struct FloodsRequest {
    /// The levels on which ranks meet; its costs count for nothing.
    pub shape: Hierarchy,
    /// The largest message in bytes, at least 2 and below 2^31.
    pub largest: u64,
    /// About how long it may take.
    pub seconds: f64,
}

/// Reason for which nothing was measured. Equal at all processes, except for MPI's own errors.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FloodsError {
    /// MPI failed.
    #[error(transparent)]
    Mpi(#[from] MpiError),
    /// No memory for messages.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// Nobody to talk to.
    #[error("there is one process; messages need at least two")]
    Alone,
    /// A level on which no two ranks meet.
    #[error("no two of {ranks} processes meet on the level {level:?}")]
    Level {
        /// The level's name.
        level: String,
        /// Number of processes.
        ranks: usize,
    },
}

/// Measures the machine; rank 0 returns the result, without the local costs `gamma` and `combine_per_byte`; others
/// return `None`. Collective.
///
/// # Errors
/// [`FloodsError`].
pub fn measure_floods(
    communicator: &Rc<Communicator>,
    request: &FloodsRequest,
) -> Result<Option<Found>, FloodsError> {
    let ranks = communicator.size();
    if ranks < 2 {
        return Err(FloodsError::Alone);
    }
    let meet = levels_that_meet(&request.shape, ranks);
    let missing = |level: &usize| !meet.contains(level);
    if let Some(level) = (0..request.shape.levels().len()).find(missing) {
        let level = request.shape.levels()[level].name.clone();
        return Err(FloodsError::Level { level, ranks });
    }
    let mut station = Station::new(communicator, &request.shape)?;
    if communicator.rank() != 0 {
        return station.obey().map(|()| None);
    }
    let found = lead(&mut station, request)?;
    station.tell(Assignment::End)?;
    Ok(Some(found))
}

/// Rank 0's part.
fn lead(station: &mut Station, request: &FloodsRequest) -> Result<Found, FloodsError> {
    /// Share of the time for the levels' floods.
    const FLOODS: f64 = 0.85;
    /// Share of the time for the search of a window.
    const WINDOW: f64 = 0.4;
    /// Up to this size messages are sent at once even where only smaller ones leave before they are received.
    const MOST_INCAST: u64 = 1 << 16;
    let levels = request.shape.levels().len();
    let outermost = levels - 1;
    let eager = largest_size(request.largest, |bytes| station.is_eager(outermost, bytes))?;
    let eager_limit = (eager != Some(request.largest)).then_some(eager.unwrap_or(0));
    let mut sizes: Vec<u64> = ladder(request.largest);
    if let Some(limit) = eager_limit.filter(|&limit| limit > 0) {
        sizes.extend([limit, limit + 1]);
        sizes.sort_unstable();
        sizes.dedup();
    }
    let most = request.largest.min(eager_limit.unwrap_or(0).max(MOST_INCAST));
    let window = station.window(outermost, most, WINDOW * request.seconds)?;
    let left = request.seconds - station.begin.elapsed().as_secs_f64();
    let seconds = FLOODS * left.max(request.seconds / 2.0) / levels as f64;
    let all: Result<Vec<LevelCosts>, FloodsError> = (0..levels)
        .map(|level| {
            let request = FloodRequest { sizes: sizes.clone(), seconds };
            let window = window.map(|window| window.bytes());
            floods(&mut OnLevel { station, level, seat: 0, one: 0.0, window }, &request)
        })
        .collect();
    let levels = all?;
    let large = request.largest.min(1 << 20);
    Ok(Found {
        shape: request.shape.clone(),
        eager_limit,
        send_overhead: station.send_overhead(outermost)?,
        port: station.port(outermost, large)?,
        in_turns: station.in_turns(outermost, &levels[outermost], large)?,
        window,
        levels,
        wire: station.wire(large)?,
        gamma: 0.0,
        combine_per_byte: 0.0,
    })
}

/// 1, 16, 64, then four times as many each time, and the largest.
fn ladder(largest: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(16), |size: &u64| size.checked_mul(4));
    let mut sizes = vec![1];
    sizes.extend(powers.take_while(|&size| size < largest));
    sizes.push(largest);
    sizes
}

/// A measurement that all perform at once. `seat` selects the ranks, where several may take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Assignment {
    /// Round trips of a message between two ranks.
    PingPong { level: usize, bytes: u64, times: usize, seat: usize },
    /// Messages to one rank that has posted all receives, from `senders` of the possible senders. The first time of
    /// these and the following may take `quiet` microseconds.
    Flood { level: usize, bytes: u64, messages: usize, seat: usize, senders: usize, quiet: u64 },
    /// A message whose receiver is `delay` microseconds late.
    Late { level: usize, bytes: u64, delay: u64 },
    /// Messages of a byte from one rank to others: until it is free.
    Burst { level: usize, messages: usize, quiet: u64 },
    /// Messages from one rank to others: the first and the last of them to arrive.
    Port { level: usize, bytes: u64, messages: usize, quiet: u64 },
    /// A message to or from each of some ranks of one node, each from or to another node.
    Node { bytes: u64, ranks: usize, is_outward: bool, quiet: u64 },
    /// It is over.
    End,
}

/// Words of an order.
const WORDS: usize = 7;

impl Assignment {
    fn words(self) -> [u64; WORDS] {
        match self {
            Assignment::End => [0; WORDS],
            Assignment::PingPong { level, bytes, times, seat } => {
                [1, level as u64, bytes, times as u64, seat as u64, 0, 0]
            }
            Assignment::Flood { level, bytes, messages, seat, senders, quiet } => {
                let words = [2, level, bytes as usize, messages, seat];
                let [kind, level, bytes, messages, seat] = words.map(|word| word as u64);
                [kind, level, bytes, messages, seat, quiet, senders as u64]
            }
            Assignment::Late { level, bytes, delay } => [3, level as u64, bytes, delay, 0, 0, 0],
            Assignment::Burst { level, messages, quiet } => {
                [4, level as u64, 0, messages as u64, 0, quiet, 0]
            }
            Assignment::Port { level, bytes, messages, quiet } => {
                [5, level as u64, bytes, messages as u64, 0, quiet, 0]
            }
            Assignment::Node { bytes, ranks, is_outward, quiet } => {
                [6, 0, bytes, ranks as u64, u64::from(is_outward), quiet, 0]
            }
        }
    }

    fn of_words([kind, level, bytes, count, seat, quiet, senders]: [u64; WORDS]) -> Assignment {
        let (level, messages) = (level as usize, count as usize);
        match kind {
            1 => Assignment::PingPong { level, bytes, times: messages, seat: seat as usize },
            2 => {
                let (seat, senders) = (seat as usize, senders as usize);
                Assignment::Flood { level, bytes, messages, seat, senders, quiet }
            }
            3 => Assignment::Late { level, bytes, delay: count },
            4 => Assignment::Burst { level, messages, quiet },
            5 => Assignment::Port { level, bytes, messages, quiet },
            6 => Assignment::Node { bytes, ranks: messages, is_outward: seat != 0, quiet },
            _ => Assignment::End,
        }
    }
}

/// A message of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Pair {
    from: Rank,
    to: Rank,
}

/// A rank that takes part.
struct Station {
    communicator: Rc<Communicator>,
    starts: Starts,
    /// Receiving ranks of each level, each with its senders.
    seats: Vec<Vec<(Rank, Vec<Rank>)>>,
    shape: Hierarchy,
    /// Memory of messages, grown on demand.
    room: Rc<Place>,
    /// Times of concurrent messages, by their number, their bytes, and the first of them.
    known: HashMap<(usize, u64, Pair), f64>,
    begin: Instant,
}

/// Number of ranks that take turns at receiving.
const SEATS: usize = 3;
/// No flood has more messages.
const MOST_MESSAGES: usize = 64;
/// The tag of all messages here; nobody else's meet them.
const TAG: c_int = 1;

impl Station {
    fn new(communicator: &Rc<Communicator>, shape: &Hierarchy) -> Result<Station, FloodsError> {
        let ranks = communicator.size();
        let seats = (0..shape.levels().len()).map(|level| seats(shape, ranks, level));
        Ok(Station {
            communicator: Rc::clone(communicator),
            starts: Starts::new(communicator)?,
            seats: seats.collect(),
            shape: shape.clone(),
            room: Rc::new(Place::of_bytes(0)?),
            known: HashMap::new(),
            begin: Instant::now(),
        })
    }

    /// All others' part: does what rank 0 says until it is over.
    fn obey(&mut self) -> Result<(), FloodsError> {
        loop {
            let mut bytes = [0; 8 * WORDS];
            self.communicator.broadcast(&mut bytes, 0)?;
            let word = |index: usize| {
                let word = bytes[8 * index..][..8].try_into().expect("8 bytes");
                u64::from_ne_bytes(word)
            };
            match Assignment::of_words(std::array::from_fn(word)) {
                Assignment::End => return Ok(()),
                order => self.perform(order)?,
            };
        }
    }

    /// Announces an assignment to all ranks.
    fn tell(&mut self, order: Assignment) -> Result<(), MpiError> {
        let mut bytes: Vec<u8> = order.words().iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.communicator.broadcast(&mut bytes, 0)
    }

    /// Rank 0 has all do something: the times that come of it.
    fn order(&mut self, order: Assignment) -> Result<Vec<f64>, FloodsError> {
        self.tell(order)?;
        self.perform(order)
    }

    /// Performs an assignment; returns its times at all ranks. Collective.
    fn perform(&mut self, order: Assignment) -> Result<Vec<f64>, FloodsError> {
        match order {
            Assignment::PingPong { level, bytes, times, seat } => {
                let (to, from) = self.seat(level, seat);
                self.ping_pong(Pair { from: from[0], to }, bytes, times)
            }
            Assignment::Flood { level, bytes, messages, seat, senders, quiet } => {
                let (to, from) = self.seat(level, seat);
                let pairs = from.iter().take(senders).cycle().take(messages);
                let pairs: Vec<Pair> = pairs.map(|&from| Pair { from, to }).collect();
                Ok(vec![self.together(&pairs, bytes, quiet)?.span.seconds])
            }
            Assignment::Late { level, bytes, delay } => {
                let (to, from) = self.seat(level, 0);
                self.late(Pair { from: from[0], to }, bytes, delay)
            }
            Assignment::Burst { level, messages, quiet } => {
                let pairs = self.outward(level, messages);
                Ok(vec![self.together(&pairs, 1, quiet)?.begun])
            }
            Assignment::Port { level, bytes, messages, quiet } => {
                let pairs = self.outward(level, messages);
                let times = self.together(&pairs, bytes, quiet)?;
                Ok(vec![times.first, times.span.seconds])
            }
            Assignment::Node { bytes, ranks, is_outward, quiet } => {
                let pairs = self.of_node(ranks, is_outward);
                Ok(vec![self.together(&pairs, bytes, quiet)?.span.seconds])
            }
            Assignment::End => Ok(Vec::new()),
        }
    }

    /// A receiver on a level and its senders.
    fn seat(&self, level: usize, seat: usize) -> (Rank, &[Rank]) {
        let seats = &self.seats[level];
        let (to, from) = &seats[seat % seats.len()];
        (*to, from)
    }

    /// Messages from the first seat of a level to its senders.
    fn outward(&self, level: usize, messages: usize) -> Vec<Pair> {
        let (from, to) = self.seat(level, 0);
        to.iter().cycle().take(messages).map(|&to| Pair { from, to }).collect()
    }

    /// A message to or from each of the first ranks of node 0, each from or to another node.
    fn of_node(&self, ranks: usize, is_outward: bool) -> Vec<Pair> {
        let all = 0..self.communicator.size();
        let on = |node: usize| all.clone().filter(move |&rank| self.shape.node(rank) == node);
        let others = (1..self.shape.nodes()).filter_map(|node| on(node).next());
        on(0)
            .take(ranks)
            .zip(others)
            .map(|(one, other)| match is_outward {
                true => Pair { from: one, to: other },
                false => Pair { from: other, to: one },
            })
            .collect()
    }

    /// Touched memory of this many bytes.
    fn make_room(&mut self, bytes: u64) -> Result<(), FloodsError> {
        if self.room.packed_bytes() < bytes {
            let room = Place::of_bytes(bytes)?;
            room.memory().write(0, &vec![1; bytes as usize]);
            self.room = Rc::new(room);
        }
        Ok(())
    }

    fn ping_pong(&mut self, pair: Pair, bytes: u64, times: usize) -> Result<Vec<f64>, FloodsError> {
        let rank = self.communicator.rank();
        let mut trips = vec![0.0; times];
        if rank == pair.from || rank == pair.to {
            let mut message = vec![1_u8; bytes as usize];
            // The first trip waits for the other rank to know of it.
            for turn in 0..=times {
                let start = Instant::now();
                if rank == pair.from {
                    self.communicator.send(&message, pair.to, TAG)?;
                    self.communicator.receive(&mut message, pair.to, TAG)?;
                    if turn > 0 {
                        trips[turn - 1] = (start.elapsed().as_secs_f64() / 2.0).max(1e-9);
                    }
                } else {
                    self.communicator.receive(&mut message, pair.from, TAG)?;
                    self.communicator.send(&message, pair.from, TAG)?;
                }
            }
        }
        // Nobody else sends before it is over.
        let mut told: Vec<u8> = trips.iter().flat_map(|seconds| seconds.to_ne_bytes()).collect();
        self.communicator.broadcast(&mut told, pair.from)?;
        let seconds = told.chunks_exact(8).map(|word| word.try_into().expect("8 bytes"));
        Ok(seconds.map(f64::from_ne_bytes).collect())
    }

    /// Time that a message with a late receiver occupies its sender.
    fn late(&mut self, pair: Pair, bytes: u64, delay: u64) -> Result<Vec<f64>, FloodsError> {
        let (rank, communicator) = (self.communicator.rank(), Rc::clone(&self.communicator));
        let mut message = vec![1_u8; bytes as usize];
        let mut occupied = 0.0;
        self.starts.timed(2e-6 * delay as f64, || {
            if rank == pair.from {
                let start = Instant::now();
                communicator.send(&message, pair.to, TAG)?;
                occupied = start.elapsed().as_secs_f64();
            }
            if rank == pair.to {
                std::thread::sleep(Duration::from_micros(delay));
                communicator.receive(&mut message, pair.from, TAG)?;
            }
            Ok::<(), MpiError>(())
        })?;
        Ok(self.communicator.greatest(&[occupied])?)
    }

    /// Like [`at_once`](Self::at_once), repeated after a late start, up to three times.
    fn together(
        &mut self,
        pairs: &[Pair],
        bytes: u64,
        quiet: u64,
    ) -> Result<Together, FloodsError> {
        let mut best = self.at_once(pairs, bytes, quiet)?;
        for _ in 0..2 {
            if !best.span.is_late() {
                break;
            }
            let again = self.at_once(pairs, bytes, quiet)?;
            if again.span.late < best.span.late {
                best = again;
            }
        }
        Ok(best)
    }

    /// Sends messages of one size at the same time, all receives posted.
    fn at_once(&mut self, pairs: &[Pair], bytes: u64, quiet: u64) -> Result<Together, FloodsError> {
        let rank = self.communicator.rank();
        let key = (pairs.len(), bytes, pairs[0]);
        let expected = self.known.get(&key).map_or(quiet as f64 * 1e-6, |seconds| 1.3 * seconds);
        let incoming = pairs.iter().filter(|pair| pair.to == rank).count();
        let is_sender = pairs.iter().any(|pair| pair.from == rank);
        self.make_room(bytes * (incoming.max(usize::from(is_sender)) as u64))?;
        let mut requests = Requests::new(Rc::clone(&self.communicator), Reuse::Once);
        let mut sends = Vec::new();
        let mut at = 0;
        for pair in pairs.iter().filter(|pair| pair.to == rank) {
            let stretches = [(at, bytes)];
            let transfer = Transfer { place: &self.room, stretches: &stretches };
            let receive = requests.add(Direction::In, transfer, (pair.from, TAG))?;
            requests.start(receive, SentContent::Data)?;
            at += bytes as i64;
        }
        for pair in pairs.iter().filter(|pair| pair.from == rank) {
            let transfer = Transfer { place: &self.room, stretches: &[(0, bytes)] };
            sends.push(requests.add(Direction::Out, transfer, (pair.to, TAG))?);
        }
        let mut begin = None;
        let (mut begun, mut first) = (0.0_f64, f64::INFINITY);
        let span = self.starts.timed(expected, || {
            let start = *begin.get_or_insert_with(Instant::now);
            for &send in &sends {
                requests.start(send, SentContent::Data)?;
            }
            if is_sender {
                begun = start.elapsed().as_secs_f64();
            }
            let mut ended = Few::new();
            while requests.under_way() > 0 {
                requests.take_ended(WaitMode::Block, &mut ended)?;
                let has_received = ended.iter().any(|index| !sends.contains(index));
                if has_received && first.is_infinite() {
                    first = start.elapsed().as_secs_f64();
                }
            }
            Ok::<(), MpiError>(())
        })?;
        self.known.insert(key, span.seconds);
        let greatest = self.communicator.greatest(&[begun, -first])?;
        Ok(Together { span, begun: greatest[0], first: -greatest[1] })
    }

    /// True if a sender is free long before its receiver arrives: two of at most three tries agree.
    fn is_eager(&mut self, level: usize, bytes: u64) -> Result<bool, FloodsError> {
        let one = self.order(Assignment::PingPong { level, bytes, times: 1, seat: 0 })?[0];
        let delay = (4.0 * one).max(2e-3);
        let mut votes = [0, 0];
        while votes.iter().all(|&votes| votes < 2) {
            let order = Assignment::Late { level, bytes, delay: (delay * 1e6) as u64 };
            let occupied = self.order(order)?[0];
            votes[usize::from(occupied < delay / 2.0)] += 1;
        }
        Ok(votes[1] == 2)
    }

    /// About how many microseconds messages take that are sent at once.
    fn expected(&mut self, level: usize, bytes: u64, messages: usize) -> Result<u64, FloodsError> {
        let one = self.order(Assignment::PingPong { level, bytes, times: 1, seat: 0 })?[0];
        Ok((1e6 * one * (1 + messages) as f64) as u64)
    }

    /// Sender's cost of a message of one byte.
    fn send_overhead(&mut self, level: usize) -> Result<f64, FloodsError> {
        let mut slopes = Vec::new();
        let mut burst = |messages| -> Result<f64, FloodsError> {
            let quiet = self.expected(level, 1, messages)?;
            Ok(self.order(Assignment::Burst { level, messages, quiet })?[0])
        };
        for _ in 0..7 {
            let (one, many) = (burst(1)?, burst(MOST_MESSAGES)?);
            slopes.push((many - one).max(0.0) / (MOST_MESSAGES - 1) as f64);
        }
        Ok(median(&slopes).expect("there are rounds"))
    }

    /// Number of bytes sent concurrently by many processes to one at which messages are lost, if found in the given
    /// seconds.
    fn window(
        &mut self,
        level: usize,
        most: u64,
        seconds: f64,
    ) -> Result<Option<FoundWindow>, FloodsError> {
        const LEAST: u64 = 512;
        let senders = self.seat(level, 0).1.len();
        if senders < 3 || most <= LEAST {
            return Ok(None);
        }
        let (begin, mut expected) = (Instant::now(), (0, 0));
        find_window(senders, (LEAST, most), |bytes| {
            if begin.elapsed().as_secs_f64() > seconds {
                return Ok(None);
            }
            if expected.0 != bytes {
                expected = (bytes, self.expected(level, bytes, senders)?);
            }
            let (messages, seat, (_, quiet)) = (senders, 0, expected);
            let flood = Assignment::Flood { level, bytes, messages, seat, senders, quiet };
            Ok(Some(self.order(flood)?[0]))
        })
    }

    /// Median arrivals of the first and the last of several messages from one rank.
    fn port(&mut self, level: usize, bytes: u64) -> Result<Option<(f64, f64)>, FloodsError> {
        let messages = self.seat(level, 0).1.len().min(8);
        if messages < 3 {
            return Ok(None);
        }
        let (mut firsts, mut lasts) = (Vec::new(), Vec::new());
        let quiet = self.expected(level, bytes, messages)?;
        for _ in 0..3 {
            let times = self.order(Assignment::Port { level, bytes, messages, quiet })?;
            firsts.push(times[0]);
            lasts.push(times[1]);
        }
        Ok(median(&firsts).zip(median(&lasts)))
    }

    /// Largest measured size, up to `large`, at which several messages from one rank take turns: the first and the last
    /// arrival are apart by at least half the time that all but one occupy.
    fn in_turns(
        &mut self,
        level: usize,
        costs: &LevelCosts,
        large: u64,
    ) -> Result<Option<u64>, FloodsError> {
        let others = self.seat(level, 0).1.len().min(8).saturating_sub(1) as f64;
        let sizes: Vec<&SizeCosts> = costs.sizes.iter().filter(|one| one.bytes <= large).collect();
        let (mut takes_turns, mut shares) = (None, sizes.len());
        while takes_turns.map_or(0, |index| index + 1) < shares {
            let middle = usize::midpoint(takes_turns.map_or(0, |index| index + 1), shares - 1);
            let SizeCosts { bytes, occupancy, .. } = *sizes[middle];
            let Some((first, last)) = self.port(level, bytes)? else { return Ok(None) };
            match last - first > 0.5 * others * occupancy {
                true => takes_turns = Some(middle),
                false => shares = middle,
            }
        }
        Ok(takes_turns.map(|index| sizes[index].bytes))
    }

    /// Times of one rank of a node and of two at once, receiving and sending.
    fn wire(&mut self, bytes: u64) -> Result<Option<[(f64, f64); 2]>, FloodsError> {
        if self.shape.levels().len() < 2 || self.of_node(2, false).len() < 2 {
            return Ok(None);
        }
        let mut ways = [(0.0, 0.0); 2];
        let quiet = self.expected(self.shape.levels().len() - 1, bytes, 2)?;
        for (way, is_outward) in ways.iter_mut().zip([false, true]) {
            let mut middle = |ranks| -> Result<f64, FloodsError> {
                let mut times = Vec::new();
                for _ in 0..3 {
                    times.extend(self.order(Assignment::Node {
                        bytes,
                        ranks,
                        is_outward,
                        quiet,
                    })?);
                }
                Ok(median(&times).expect("three times"))
            };
            *way = (middle(1)?, middle(2)?);
        }
        Ok(Some(ways))
    }
}

/// Times of concurrent messages, in seconds.
#[derive(Clone, Copy, Debug)]
struct Together {
    /// Until all were there and all senders free.
    span: Span,
    /// Until the slowest sender had begun to send all of its own.
    begun: f64,
    /// Until the first of them was there.
    first: f64,
}

/// Up to [`SEATS`] ranks to whom others send on this level, each with up to [`MOST_MESSAGES`] of those:
/// one of each group first, then a second of each.
fn seats(shape: &Hierarchy, ranks: usize, level: usize) -> Vec<(Rank, Vec<Rank>)> {
    let first_of_group = |rank: Rank| {
        (0..rank).find(|&other| shape.shared_level(rank, other) < level).unwrap_or(rank)
    };
    let mut seats = Vec::new();
    for to in (0..SEATS).map(|seat| seat * ranks / SEATS).chain(0..ranks) {
        let is_taken = seats.iter().any(|(taken, _)| *taken == to);
        if is_taken || seats.len() == SEATS {
            continue;
        }
        let meets = |&other: &Rank| other != to && shape.shared_level(to, other) == level;
        let mut senders: Vec<(usize, Rank)> = Vec::new();
        let mut of_group = HashMap::new();
        for other in (0..ranks).filter(meets) {
            let place: &mut usize = of_group.entry(first_of_group(other)).or_default();
            senders.push((*place, other));
            *place += 1;
        }
        senders.sort_unstable();
        senders.truncate(MOST_MESSAGES);
        if !senders.is_empty() {
            seats.push((to, senders.into_iter().map(|(_, rank)| rank).collect()));
        }
    }
    seats
}

/// Messages of one level, measured at seats that take turns.
struct OnLevel<'a> {
    station: &'a mut Station,
    level: usize,
    seat: usize,
    /// Last time of one message of the current size.
    one: f64,
    /// Most bytes under way to one process; unlimited if `None`.
    window: Option<u64>,
}

impl Laboratory for OnLevel<'_> {
    type Error = FloodsError;

    fn one_way(&mut self, bytes: u64, times: usize) -> Result<Vec<f64>, FloodsError> {
        self.seat += 1;
        let &mut OnLevel { level, seat, .. } = self;
        let trips = self.station.order(Assignment::PingPong { level, bytes, times, seat })?;
        self.one = trips.iter().copied().fold(f64::INFINITY, f64::min);
        Ok(trips)
    }

    fn flood(&mut self, bytes: u64, messages: usize) -> Result<f64, FloodsError> {
        let &mut OnLevel { level, seat, one, window, .. } = self;
        let quiet = (1e6 * one * (1 + messages) as f64) as u64;
        // From one process alone, much does not meet in a switch either.
        let is_much = window.is_some_and(|window| bytes.saturating_mul(messages as u64) > window);
        let senders = if is_much { 1 } else { MOST_MESSAGES };
        let flood = Assignment::Flood { level, bytes, messages, seat, senders, quiet };
        Ok(self.station.order(flood)?[0])
    }

    fn now(&self) -> f64 {
        self.station.begin.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_measure::levels_of_nodes;

    #[test]
    fn orders_are_told_as_words() {
        for order in [
            Assignment::PingPong { level: 1, bytes: 7, times: 3, seat: 2 },
            Assignment::Flood {
                level: 1,
                bytes: 7,
                messages: 16,
                seat: 2,
                senders: 64,
                quiet: 900,
            },
            Assignment::Late { level: 0, bytes: 9, delay: 5000 },
            Assignment::Burst { level: 2, messages: 64, quiet: 5 },
            Assignment::Port { level: 1, bytes: 8, messages: 8, quiet: 6 },
            Assignment::Node { bytes: 8, ranks: 2, is_outward: true, quiet: 7 },
            Assignment::End,
        ] {
            assert_eq!(Assignment::of_words(order.words()), order);
        }
    }

    #[test]
    fn senders_are_of_many_groups_and_of_the_level() {
        let shape = levels_of_nodes(&[0, 0, 0, 1, 1, 1, 2, 2, 2]);
        assert_eq!(seats(&shape, 9, 1)[0], (0, vec![3, 6, 4, 7, 5, 8]));
        assert_eq!(seats(&shape, 9, 0)[1], (3, vec![4, 5]));
        let flat = levels_of_nodes(&[0, 1]);
        assert_eq!(seats(&flat, 2, 0), [(0, vec![1]), (1, vec![0])]);
    }

    #[test]
    fn sizes_end_with_the_largest() {
        assert_eq!(ladder(1 << 10), [1, 16, 64, 256, 1024]);
        assert_eq!(ladder(100), [1, 16, 64, 100]);
        assert_eq!(ladder(4), [1, 4]);
    }
}
