//! An allgather or a reduce-scatter under way: the messages that a rank works out for itself; rounds are performed one
//! batch after the other.
//!
//! ```text
//!   own data -> work    batch 0: rounds 0 .. k-1    batch 1: rounds k .. 2k-1   ...   work -> result
//! ```
//!
//! Messages use the program's own memory, if that has no gaps, else memory of our own. A batch is bound when its turn
//! comes, so that at most [`PIECES_AT_ONCE`] pieces are in memory; a single batch stays bound for the next call.
//! Receives are posted early, and each send waits for the last one that it needs; combining follows the rounds
//! strictly, or the list of an allgather backwards, so that results have equal bits each time.

use super::CollectiveError;
use crate::play::{
    Arrangement, BoundAction, Buffers, Execution, Manner, Mode, Reduction, Strictness,
};
use smallvec::SmallVec;
use std::ffi::c_int;
use std::rc::Rc;
use tuwtree_binding::{
    Communicator, Datatype, Move, Operator, Place, PlaceError, Reuse, RootlessPlaces,
    copy_by_message,
};
use tuwtree_collective::nodes::NodeMessage;
use tuwtree_collective::{Circulation, Flow, RankRounds, RoundMessages};
use tuwtree_model::{Operation, Rank};
use tuwtree_plan::local_choice::Pattern;
use tuwtree_schedule::{Arrival, Buffer, Piece, Role};

/// Number of pieces, over all ranks' blocks, in memory at once.
const PIECES_AT_ONCE: usize = 1 << 16;

/// Number of receives posted ahead of the first arrival.
const RECEIVES_AHEAD: usize = 32;

/// No larger memory of our own is kept for the next call, in bytes.
const KEPT_WORK: u64 = 1 << 20;

/// Messages of a rank.
#[derive(Debug)]
pub(super) enum RankMessages {
    /// Round by round.
    Rounds(RankRounds),
    /// All of them, the rank's own block, and the bytes of all blocks.
    Listed(Vec<NodeMessage>, Piece, u64),
}

impl RankMessages {
    fn own_block(&self) -> Piece {
        match self {
            RankMessages::Rounds(rounds) => rounds.own_block(),
            RankMessages::Listed(_, own, _) => *own,
        }
    }

    fn all_bytes(&self) -> u64 {
        match self {
            RankMessages::Rounds(rounds) => rounds.all_bytes(),
            RankMessages::Listed(.., bytes) => *bytes,
        }
    }

    /// Direction of these messages.
    fn flow(&self) -> Flow {
        match self {
            RankMessages::Rounds(rounds) => rounds.flow(),
            RankMessages::Listed(..) => Flow::Spread,
        }
    }

    /// Number of batches.
    fn batches(&self, rounds_of_a_batch: usize) -> usize {
        match self {
            RankMessages::Rounds(rounds) => rounds.count().div_ceil(rounds_of_a_batch),
            RankMessages::Listed(..) => 1,
        }
    }
}

/// The messages of a rank, bound to memory.
#[derive(Debug)]
pub(super) struct Circulating {
    messages: RankMessages,
    rank: Rank,
    flow: Flow,
    rounds_of_a_batch: usize,
    manner: Manner,
    execution: Execution,
    /// The program's data.
    places: RootlessPlaces,
    /// Working memory of all blocks: the program's output, or our own memory.
    work: Rc<Place>,
    /// Datatype and operator of a reduce-scatter.
    combining: Option<(Datatype, Operator)>,
    /// The bound batch.
    bound: Option<usize>,
    /// The batch under way.
    batch: Option<usize>,
    failure: Option<CollectiveError>,
}

/// Number of tags of the rounds: the most messages from one rank to another in a batch.
pub(super) const TAGS: u32 = ROUNDS_AT_ONCE as u32;

/// Most rounds bound at once.
const ROUNDS_AT_ONCE: usize = 1024;

/// Number of rounds bound at once; equal at all ranks.
pub(super) fn rounds_of_a_batch(pattern: Pattern, ranks: usize) -> usize {
    match pattern {
        Pattern::Rounds(Circulation::Pieces(_) | Circulation::BalancedPieces(_)) => {
            (PIECES_AT_ONCE / ranks).clamp(1, ROUNDS_AT_ONCE)
        }
        _ => ROUNDS_AT_ONCE,
    }
}

impl Circulating {
    /// The messages, with places as they are: of a reduce-scatter, if something combines.
    ///
    /// # Errors
    /// What MPI says of bytes; no memory.
    pub(super) fn new(
        (messages, rank): (RankMessages, Rank),
        (places, combining): (RootlessPlaces, Option<(Datatype, Operator)>),
        (comm, first_tag, reuse): (&Rc<Communicator>, c_int, Reuse),
        rounds_of_a_batch: usize,
    ) -> Result<Circulating, CollectiveError> {
        let work = match places.result.is_packed() && combining.is_none() {
            true => Rc::clone(&places.result),
            false => Rc::new(Place::of_bytes(messages.all_bytes())?),
        };
        let flow = if combining.is_some() { Flow::Combined } else { Flow::Spread };
        // Backwards, each send waits for what is combined of its bytes, in the order of the list.
        let mode = if messages.flow() == flow { Mode::Strict } else { Mode::Eager };
        Ok(Circulating {
            messages,
            rank,
            flow,
            rounds_of_a_batch,
            manner: Manner { mode, reuse, first_tag, strictness: Strictness::Exact },
            execution: Execution::of_nothing(comm)?,
            places,
            work,
            combining,
            bound: None,
            batch: None,
            failure: None,
        })
    }

    /// Takes other places for the same messages, and elements that are combined so. It rests.
    ///
    /// # Errors
    /// No memory.
    pub(super) fn take(
        &mut self,
        places: RootlessPlaces,
        combining: Option<(Datatype, Operator)>,
    ) -> Result<(), PlaceError> {
        let is_own_work = !Rc::ptr_eq(&self.work, &self.places.result);
        let work = match (places.result.is_packed() && combining.is_none(), is_own_work) {
            (true, _) => Rc::clone(&places.result),
            (false, true) => Rc::clone(&self.work),
            (false, false) => Rc::new(Place::of_bytes(self.messages.all_bytes())?),
        };
        // What combines is bound with the rounds.
        if !Rc::ptr_eq(&work, &self.work) || combining.is_some() {
            self.bound = None;
        }
        (self.work, self.places, self.combining) = (work, places, combining);
        Ok(())
    }

    /// True for a reduce-scatter by the messages of an allgather.
    fn goes_back(&self) -> bool {
        self.messages.flow() != self.flow
    }

    /// The places that the program's data had last.
    pub(super) fn places(&self) -> &RootlessPlaces {
        &self.places
    }

    /// Lets go of the program's memory, after the operation has ended: whether all else can stay for the next call.
    pub(super) fn let_go(&mut self) -> bool {
        let RootlessPlaces { given, result } = &self.places;
        given.iter().chain([result]).for_each(|place| place.memory().let_go());
        let is_own_work = !Rc::ptr_eq(&self.work, result);
        self.batch.is_none()
            && result.is_packed()
            && given.as_ref().is_none_or(|given| given.is_packed())
            && !(is_own_work && self.work.packed_bytes() > KEPT_WORK)
    }

    /// True from the start until completion was seen.
    pub(super) fn is_under_way(&self) -> bool {
        self.batch.is_some()
    }

    /// Starts: own data is in its place, and the first messages are under way, when this returns.
    ///
    /// # Errors
    /// What MPI returns.
    pub(super) fn start(&mut self) -> Result<(), CollectiveError> {
        self.failure = None;
        self.begin()?;
        self.batch = Some(0);
        self.start_batch()
    }

    /// Waits until it has ended; returns at once if it has not been started.
    ///
    /// # Errors
    /// A message of another size; what MPI returns.
    pub(super) fn wait(&mut self) -> Result<(), CollectiveError> {
        while let Some(batch) = self.batch {
            let waited = self.execution.wait().map_err(CollectiveError::from);
            self.note(waited)?;
            self.end_batch(batch)?;
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Progresses without waiting; true at completion.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub(super) fn test(&mut self) -> Result<bool, CollectiveError> {
        while let Some(batch) = self.batch {
            match self.execution.test() {
                Ok(false) => return Ok(false),
                Ok(true) => {}
                Err(error) => self.note(Err(error.into()))?,
            }
            self.end_batch(batch)?;
        }
        self.failure.take().map_or(Ok(true), Err)
    }

    /// Starts and waits.
    ///
    /// # Errors
    /// As those two.
    pub(super) fn run(&mut self) -> Result<(), CollectiveError> {
        self.start()?;
        self.wait()
    }

    /// Notes a message of another size, and goes on, so that nobody waits.
    fn note(&mut self, done: Result<(), CollectiveError>) -> Result<(), CollectiveError> {
        match done {
            Err(error @ CollectiveError::Message { .. }) => {
                self.failure.get_or_insert(error);
                Ok(())
            }
            Err(error) => {
                self.batch = None;
                Err(error)
            }
            Ok(()) => Ok(()),
        }
    }

    fn end_batch(&mut self, batch: usize) -> Result<(), CollectiveError> {
        if batch + 1 < self.messages.batches(self.rounds_of_a_batch) {
            self.batch = Some(batch + 1);
            return self.start_batch();
        }
        self.batch = None;
        self.end()
    }

    fn start_batch(&mut self) -> Result<(), CollectiveError> {
        let started = self.bind_batch().and_then(|()| Ok(self.execution.start()?));
        if started.is_err() {
            self.batch = None;
        }
        started
    }

    /// Binds the batch that is under way, unless it is bound.
    fn bind_batch(&mut self) -> Result<(), CollectiveError> {
        if self.bound == self.batch {
            return Ok(());
        }
        self.bound = None;
        let batch = self.batch.unwrap_or(0);
        let turn = match self.goes_back() {
            true => self.messages.batches(self.rounds_of_a_batch) - 1 - batch,
            false => batch,
        };
        let first = turn * self.rounds_of_a_batch;
        let actions = match &self.messages {
            RankMessages::Listed(list, ..) => listed(list),
            RankMessages::Rounds(rounds) => {
                let batch = first..rounds.count().min(first + self.rounds_of_a_batch);
                match rounds.flow() {
                    Flow::Spread => spreading(rounds, batch),
                    Flow::Combined => combining(rounds, batch),
                }
            }
        };
        let actions = if self.goes_back() { backwards(actions) } else { actions };
        let role = Role {
            // The input is nothing, and the output what is worked on.
            operation: match self.flow {
                Flow::Spread => Operation::Allgather,
                Flow::Combined => Operation::Allreduce,
            },
            ranks: self.execution.role().ranks,
            root: None,
            rank: self.rank,
            ports: 1,
            own_bytes: 0,
            total_bytes: self.work.packed_bytes(),
            segment_bytes: 0,
        };
        let buffers = Buffers::apart(Rc::clone(self.execution.nothing()), Rc::clone(&self.work));
        let buffers = match &self.combining {
            None => buffers,
            Some((datatype, operator)) => {
                let (datatype, operator) = (datatype.again(), operator.again());
                buffers.reducing(Reduction { datatype, operator })
            }
        };
        let manner = (self.manner, Arrangement::New);
        self.execution.bind((role, actions), buffers, manner)?;
        self.bound = self.batch;
        Ok(())
    }

    /// Puts what the program gives where it is worked on.
    fn begin(&self) -> Result<(), CollectiveError> {
        let RootlessPlaces { given, result } = &self.places;
        let is_own_work = !Rc::ptr_eq(&self.work, result);
        let own = self.own_block();
        match (given, self.flow) {
            (Some(given), Flow::Spread) => self.copy((given, None), (&self.work, Some(own))),
            (None, Flow::Spread) if is_own_work => {
                self.copy((result, Some(own)), (&self.work, Some(own)))
            }
            (None, Flow::Spread) => Ok(()),
            (given, Flow::Combined) => {
                self.copy((given.as_ref().unwrap_or(result), None), (&self.work, None))
            }
        }
    }

    /// Puts the result where the program wants it.
    fn end(&self) -> Result<(), CollectiveError> {
        let result = &self.places.result;
        match self.flow {
            Flow::Spread if Rc::ptr_eq(&self.work, result) => Ok(()),
            Flow::Spread => self.copy((&self.work, None), (result, None)),
            Flow::Combined => self.copy((&self.work, Some(self.own_block())), (result, None)),
        }
    }

    fn own_block(&self) -> Piece {
        self.messages.own_block()
    }

    /// Copies the piece, or all, to a piece, or all, of another place: as much as both have.
    fn copy(
        &self,
        (from, taken): (&Rc<Place>, Option<Piece>),
        (into, put): (&Rc<Place>, Option<Piece>),
    ) -> Result<(), CollectiveError> {
        let whole = |place: &Place| Piece { offset: 0, bytes: place.packed_bytes() };
        let (taken, put) = (taken.unwrap_or(whole(from)), put.unwrap_or(whole(into)));
        let bytes = taken.bytes.min(put.bytes);
        let comm = self.execution.communicator();
        copy_pieces(comm, (from, &[Piece { bytes, ..taken }]), (into, &[Piece { bytes, ..put }]))
    }
}

/// Copies pieces of one place, one after the other, to pieces of another, which have as many bytes.
///
/// # Errors
/// Pieces that cut elements; what MPI returns.
pub(super) fn copy_pieces(
    comm: &Communicator,
    (from, taken): (&Rc<Place>, &[Piece]),
    (into, put): (&Rc<Place>, &[Piece]),
) -> Result<(), CollectiveError> {
    let cut = |error: tuwtree_binding::CutElement| CollectiveError::Refused(error.to_string());
    if taken.iter().all(|piece| piece.bytes == 0) {
        return Ok(());
    }
    let from = from.stretches(taken).map_err(cut)?;
    let into = into.stretches(put).map_err(cut)?;
    match from.is_packed() && into.is_packed() {
        true => Move::new(&from, &into).perform(),
        false => copy_by_message(comm, from.transfer(), into.transfer())?,
    }
    Ok(())
}

/// A send, behind everything that was received before it in the list.
fn sending(port: u16, to: Rank, pieces: &[Piece]) -> BoundAction {
    BoundAction {
        port,
        needs_written: true,
        reads: Some((Buffer::Output, SmallVec::from_slice(pieces))),
        writes: None,
        send: Some((to, 0)),
        receive: None,
        arrival: Arrival::Store,
        after: None,
    }
}

/// A receive.
fn receiving(port: u16, from: Rank, pieces: &[Piece]) -> BoundAction {
    BoundAction {
        port,
        needs_written: false,
        reads: None,
        writes: Some((Buffer::Output, SmallVec::from_slice(pieces))),
        send: None,
        receive: Some((from, 0)),
        arrival: Arrival::Store,
        after: None,
    }
}

/// The actions of these messages: each receive on a port of its own, sends to other nodes one after the other, and those
/// inside the node.
fn listed(messages: &[NodeMessage]) -> Vec<BoundAction> {
    let of = |(index, message): (usize, &NodeMessage)| match message {
        NodeMessage::Send { to, pieces, is_inside } => sending((*is_inside).into(), *to, pieces),
        NodeMessage::Receive { from, pieces } => receiving(2 + index as u16, *from, pieces),
    };
    messages.iter().enumerate().map(of).collect()
}

/// The actions of a reduce-scatter that is an allgather backwards: partial results go where blocks came from.
fn backwards(spreading: Vec<BoundAction>) -> Vec<BoundAction> {
    let back = |action: BoundAction| BoundAction {
        needs_written: action.receive.is_some(),
        reads: action.writes,
        writes: action.reads,
        send: action.receive,
        receive: action.send,
        arrival: Arrival::CombineLeft,
        ..action
    };
    spreading.into_iter().rev().map(back).collect()
}

/// The actions of these rounds: receives in their order, each on a port of its own as far as there are enough, and
/// sends, one after the other, each listed behind the last receive that it needs.
fn spreading(rounds: &RankRounds, batch: std::ops::Range<usize>) -> Vec<BoundAction> {
    let mut messages = RoundMessages::default();
    let mut receives: Vec<(usize, BoundAction)> = Vec::new();
    let mut sends: Vec<(Option<usize>, BoundAction)> = Vec::new();
    let mut needed = None;
    for round in batch {
        rounds.fill(round, &mut messages);
        if let Some(to) = messages.to {
            needed = needed.max(messages.needs);
            sends.push((needed, sending(0, to, &messages.sent)));
        }
        if let Some(from) = messages.from {
            let port = (1 + receives.len() % RECEIVES_AHEAD) as u16;
            receives.push((round, receiving(port, from, &messages.received)));
        }
    }
    let mut actions = Vec::with_capacity(receives.len() + sends.len());
    let mut sends = sends.into_iter().peekable();
    for (round, receive) in receives {
        // Those that need nothing of this round or later ones.
        while let Some((_, send)) =
            sends.next_if(|(needed, _)| needed.is_none_or(|one| one < round))
        {
            actions.push(send);
        }
        actions.push(receive);
    }
    actions.extend(sends.map(|(_, send)| send));
    actions
}

/// The actions of these rounds: each sends, receives and combines before the next.
fn combining(rounds: &RankRounds, batch: std::ops::Range<usize>) -> Vec<BoundAction> {
    let mut messages = RoundMessages::default();
    let mut actions = Vec::with_capacity(batch.len());
    for round in batch {
        rounds.fill(round, &mut messages);
        let RoundMessages { to, from, ref sent, ref received, .. } = messages;
        if to.is_none() && from.is_none() {
            continue;
        }
        actions.push(BoundAction {
            port: 0,
            needs_written: true,
            reads: to.map(|_| (Buffer::Output, SmallVec::from_slice(sent))),
            writes: from.map(|_| (Buffer::Output, SmallVec::from_slice(received))),
            send: to.map(|to| (to, 0)),
            receive: from.map(|from| (from, 0)),
            // The operator commutes: so nothing need be copied back.
            arrival: from.map_or(Arrival::Store, |_| Arrival::CombineLeft),
            after: None,
        });
    }
    actions
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::BlockSizes;

    #[test]
    fn sends_of_the_postal_model_wait_for_what_came_a_delay_ago_and_for_no_later_round() {
        let sizes = BlockSizes::new([8; 32]).unwrap();
        for delay in [1, 2, 6] {
            let circulation = Circulation::Postal(delay);
            let rounds = RankRounds::new(&sizes, 1, 5, Flow::Spread, circulation);
            let actions = spreading(&rounds, 0..rounds.count());
            let (mut sent, mut received) = (0, 0);
            for action in &actions {
                if action.send.is_some() {
                    // All that came up to the round that is a delay ago, but in the last round, which may send less.
                    let needed = (sent + 1_usize).saturating_sub(delay);
                    let is_last = sent + 1 == rounds.count();
                    assert!(received == needed || is_last && received < needed, "{delay} {sent}");
                    assert!(action.needs_written && action.port == 0);
                    sent += 1;
                } else {
                    received += 1;
                    assert_eq!(usize::from(action.port), received, "all are posted at once");
                }
            }
            assert_eq!((sent, received), (rounds.count(), rounds.count()));
        }
    }
}
