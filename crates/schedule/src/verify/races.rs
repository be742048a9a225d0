//! Checks that no two actions can use the same bytes at the same time, one of them writing.
//!
//! Actions of one rank on different ports may run at the same time, unless one waits for the
//! other. Let a be listed before b, on another port. Then b is sure to start after a has ended if
//! and only if the last action at or before b on b's port that waits for earlier receives and copies
//! is listed after the first receive or copy at or behind a on a's port. Hence one number for each
//! action that uses a byte, and its largest over the bytes that b writes, decide. A reading b needs
//! no look: it waits itself.
//!
//! ```text
//! list     3  4  5  6  7  8
//! port 0   a  .  r  .             r: the first receive or copy at or behind a
//! port 1            w  .  b       w: the last action at or before b that waits for earlier ones
//!                                 w is listed after r, so r, and with it a, has ended when b starts
//! ```
//!
//! With duplex ports, read hold for action and side for port: halves of exchanges are like actions on two ports, with
//! two exceptions. A copy is on both sides: actions listed before it on its port end before later ones start. A receive
//! that combines ends after all sends on its port that are listed up to it.
//!
//! Data received on a duplex port may also depend on data sent there, by way of other ranks: then it comes later,
//! wherever it is listed (`precedence`).

use super::fault::combines;
use super::matching::MatchedMessages;
use super::precedence::ended_before_arrival;
use super::{Actions, Fault, NONE, Overlap};
use crate::action::{Action, Buffer, Piece, Region};
use crate::hold::Held;
use tuwtree_model::Rank;

/// Fails where an action meets itself, or one that it can run beside.
///
/// # Errors
/// The first such action in the list of the least rank.
///
/// # Complexity
/// O((p + n) log n) for n pieces of actions; O(n log n) for each that only messages put in order.
pub(super) fn check(actions: &Actions<'_>, messages: &MatchedMessages) -> Result<(), Fault> {
    for index in 0..actions.len() as u32 {
        check_alone(actions, index)?;
    }
    let task = actions.schedule.task();
    match (task.duplex, task.ports) {
        (false, 1) => Ok(()),
        (false, _) => check_together::<2>(actions, messages),
        // Of four kinds of holds, three may be those of one port.
        (true, _) => check_together::<4>(actions, messages),
    }
}

/// Fails where an action meets one that it can run beside; on any port, up to N - 1 kinds of holds are in order.
fn check_together<const N: usize>(
    actions: &Actions<'_>,
    messages: &MatchedMessages,
) -> Result<(), Fault> {
    let mut waiting = Waiting::new(actions);
    let before_on_lanes = actions.before_on_lanes();
    let is_late = |hold: u32, earlier: &[u32]| {
        let ended = ended_before_arrival(actions, messages, &before_on_lanes, hold);
        earlier.iter().all(|earlier| ended.contains(earlier))
    };
    for rank in 0..actions.schedule.ranks() {
        waiting.learn(actions, rank);
        for buffer in [Buffer::Segment, Buffer::Output] {
            check_buffer::<N>(actions, rank, buffer, &waiting, &is_late)?;
        }
        waiting.forget(actions, rank);
    }
    Ok(())
}

fn check_alone(actions: &Actions<'_>, index: u32) -> Result<(), Fault> {
    let action = actions.get(index);
    let Some(writes) = action.writes() else { return Ok(()) };
    let fault = |offset, overlap| {
        Err(Fault::OverlapsItself { at: actions.at(index), buffer: writes.buffer, offset, overlap })
    };
    let mut written: Vec<Piece> = writes.pieces.to_vec();
    written.sort_unstable_by_key(|piece| piece.offset);
    if let Some(pair) = written.windows(2).find(|pair| pair[0].end() > pair[1].offset) {
        return fault(pair[1].offset, Overlap::Writes);
    }
    // What is combined waits until all has been read.
    let reads = action.reads().filter(|reads| reads.buffer == writes.buffer && !combines(&action));
    for piece in reads.iter().flat_map(|reads| reads.pieces) {
        // The first written piece that ends behind the start of this one.
        let next = written.partition_point(|written| written.end() <= piece.offset);
        if let Some(next) = written.get(next).filter(|written| written.offset < piece.end()) {
            return fault(next.offset.max(piece.offset), Overlap::ReadsAndWrites);
        }
    }
    Ok(())
}

/// Holds that a hold of this rank waits for, and holds that wait for it.
struct Waiting {
    /// For each hold, 1 + the last hold at or before it on its lanes that waits for receives and
    /// copies; 0 if there is none.
    waits: Vec<u32>,
    /// For each hold the first receive or copy at or behind it on its lanes, or [`NONE`]; of a send on a duplex port
    /// also the first receive there that combines.
    ended_with: Vec<u32>,
    /// For each hold a number below which all on the other side of its port have ended.
    past: Vec<u32>,
    /// Such a hold for each lane, so far.
    on_lane: Vec<u32>,
    past_on_lane: Vec<u32>,
}

impl Waiting {
    fn new(actions: &Actions<'_>) -> Waiting {
        let (holds, lanes) = (actions.holds.len(), actions.schedule.task().lanes() as usize);
        Waiting {
            waits: vec![0; holds],
            ended_with: vec![NONE; holds],
            past: vec![0; holds],
            on_lane: vec![0; lanes],
            past_on_lane: vec![0; lanes],
        }
    }

    fn learn(&mut self, actions: &Actions<'_>, rank: Rank) {
        let range = actions.holds_of(rank);
        for hold in range.clone() {
            let number = hold as u32;
            let lanes = || actions.lanes(number);
            let before = lanes().map(|lane| self.on_lane[lane]).max();
            let waits = if actions.waits(number) { Some(number + 1) } else { before };
            self.waits[hold] = waits.unwrap_or(0);
            let ends_both = match actions.holds.held(hold) {
                Held::Port => true,
                Held::SendSide => false,
                Held::ReceiveSide => combines(&actions.of_hold(number)),
            };
            for lane in lanes() {
                self.on_lane[lane] = self.waits[hold];
                if ends_both {
                    self.past_on_lane[lane] = number;
                }
                self.past[hold] = self.past_on_lane[lane];
            }
        }
        for hold in range.clone() {
            actions.lanes(hold as u32).for_each(|lane| self.on_lane[lane] = NONE);
        }
        for hold in range.rev() {
            let number = hold as u32;
            for lane in actions.lanes(number) {
                if actions.writes(number) {
                    self.on_lane[lane] = number;
                }
                self.ended_with[hold] = self.on_lane[lane];
                let is_half = actions.holds.held(hold) == Held::ReceiveSide;
                if is_half && combines(&actions.of_hold(number)) {
                    // The lane on which the port sends.
                    self.on_lane[lane - 1] = number;
                }
            }
        }
    }

    fn forget(&mut self, actions: &Actions<'_>, rank: Rank) {
        for hold in actions.holds_of(rank) {
            for lane in actions.lanes(hold as u32) {
                (self.on_lane[lane], self.past_on_lane[lane]) = (0, 0);
            }
        }
    }
}

/// `is_late` says of a hold that receives and of earlier ones whether these are sure to have ended when it does.
fn check_buffer<const N: usize>(
    actions: &Actions<'_>,
    rank: Rank,
    buffer: Buffer,
    waiting: &Waiting,
    is_late: &dyn Fn(u32, &[u32]) -> bool,
) -> Result<(), Fault> {
    let range = actions.holds_of(rank);
    let mut bounds = Vec::new();
    for hold in range.clone() {
        let (reads, writes) = uses_of(actions, hold as u32);
        for piece in pieces(reads, buffer).chain(pieces(writes, buffer)) {
            bounds.extend([piece.offset, piece.end()]);
        }
    }
    bounds.sort_unstable();
    bounds.dedup();
    let mut uses = Uses::<N>::new(bounds);
    for hold in range {
        let action = actions.of_hold(hold as u32);
        let (reads, writes) = uses_of(actions, hold as u32);
        let ended_with = waiting.ended_with[hold];
        let held = actions.holds.held(hold);
        let this = Use { ended_with, hold: hold as u32, port: action.port, held };
        for piece in pieces(writes, buffer) {
            let other = uses.latest(piece).beside(&this, waiting.past[hold]);
            let other = other.filter(|other| waiting.waits[hold] <= other.ended_with);
            if let Some(other) = other
                && !(held == Held::ReceiveSide
                    && is_late(hold as u32, &in_use(actions, rank, &this, waiting)))
            {
                return Err(race(actions, buffer, (other.hold, hold as u32), piece));
            }
        }
        for piece in pieces(reads, buffer).chain(pieces(writes, buffer)) {
            uses.add(piece, this);
        }
    }
    Ok(())
}

/// The earlier holds of the rank that use what this one writes, and that no waiting of the rank itself puts in order.
fn in_use(actions: &Actions<'_>, rank: Rank, this: &Use, waiting: &Waiting) -> Vec<u32> {
    let (_, writes) = uses_of(actions, this.hold);
    let Some(writes) = writes else { return Vec::new() };
    let meets = |region: Region<'_>| {
        let meets = |piece: &Piece| {
            let mut written = writes.pieces.iter();
            written.any(|other| piece.offset < other.end() && other.offset < piece.end())
        };
        region.buffer == writes.buffer && region.pieces.iter().any(meets)
    };
    let first = actions.holds_of(rank).start as u32;
    let is_in_use = |&hold: &u32| {
        let (port, held) = (actions.of_hold(hold).port, actions.holds.held(hold as usize));
        let ended_with = waiting.ended_with[hold as usize];
        let used = Use { ended_with, hold, port, held };
        let (reads, written) = uses_of(actions, hold);
        let place = this.hold as usize;
        waiting.waits[place] <= ended_with
            && !used.is_before(this, waiting.past[place])
            && reads.into_iter().chain(written).any(meets)
    };
    (first..this.hold).filter(is_in_use).collect()
}

/// Regions that a hold reads and writes.
fn uses_of<'a>(actions: &Actions<'a>, hold: u32) -> (Option<Region<'a>>, Option<Region<'a>>) {
    let action: Action<'a> = actions.of_hold(hold);
    match actions.holds.held(hold as usize) {
        Held::Port => (action.reads(), action.writes()),
        Held::SendSide => (action.reads(), None),
        Held::ReceiveSide => (None, action.writes()),
    }
}

/// The pieces of the region, if it is of this buffer.
fn pieces<'a>(region: Option<Region<'a>>, buffer: Buffer) -> impl Iterator<Item = &'a Piece> {
    region.filter(|region| region.buffer == buffer).into_iter().flat_map(|region| region.pieces)
}

fn race(
    actions: &Actions<'_>,
    buffer: Buffer,
    (first, second): (u32, u32),
    piece: &Piece,
) -> Fault {
    let (reads, writes) = uses_of(actions, first);
    let used = [reads, writes].into_iter().flatten();
    let [first, second] = [first, second].map(|hold| actions.holds.action(hold as usize) as u32);
    let offset = used
        .filter(|region| region.buffer == buffer)
        .flat_map(|region| region.pieces)
        .filter(|other| other.offset < piece.end() && piece.offset < other.end())
        .map(|other| other.offset.max(piece.offset))
        .min()
        .unwrap_or(piece.offset);
    Fault::Race {
        first: actions.at(first),
        first_doing: actions.doing(first),
        first_port: actions.get(first).port,
        second: actions.at(second),
        second_doing: actions.doing(second),
        second_port: actions.get(second).port,
        buffer,
        offset,
    }
}

/// A hold that uses bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    /// The first receive or copy at or behind it on its lanes, or [`NONE`].
    ended_with: u32,
    hold: u32,
    port: u16,
    held: Held,
}

impl Use {
    /// True if two holds are on equal lanes, and so one after the other.
    fn is_like(&self, other: &Use) -> bool {
        (self.port, self.held) == (other.port, other.held)
    }

    /// True if it must have ended when a later one on its port starts to write; that one starts when all below this
    /// number have ended on the other side.
    fn is_before(&self, later: &Use, past: u32) -> bool {
        let is_ordered = self.held == later.held
            || [self.held, later.held].contains(&Held::Port)
            || self.hold < past;
        self.port == later.port && is_ordered
    }
}

/// The greatest of some uses, of each kind of holds one: as many as are needed to find one that is not on the port
/// of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Latest<const N: usize>([Option<Use>; N]);

impl<const N: usize> Default for Latest<N> {
    fn default() -> Latest<N> {
        Latest([None; N])
    }
}

impl<const N: usize> Latest<N> {
    fn with(self, new: Use) -> Latest<N> {
        let Latest(mut greatest) = self;
        // What comes behind its place moves on, up to where one of the same kind is dropped.
        let mut moved = Some(new);
        for place in &mut greatest {
            let Some(one) = moved else { break };
            match *place {
                Some(there) if there >= one => {
                    if there.is_like(&one) {
                        return Latest(greatest);
                    }
                }
                there => {
                    *place = moved;
                    moved = there.filter(|there| !there.is_like(&new));
                }
            }
        }
        Latest(greatest)
    }

    fn and(self, other: Latest<N>) -> Latest<N> {
        other.0.into_iter().flatten().fold(self, Latest::with)
    }

    /// The greatest that may go on when a later hold starts.
    fn beside(self, later: &Use, past: u32) -> Option<Use> {
        self.0.into_iter().flatten().find(|used| !used.is_before(later, past))
    }
}

/// The latest uses of all bytes of a buffer: a segment tree over the places where pieces start and
/// end.
struct Uses<const N: usize> {
    /// In order; element `i` of the tree is the bytes from place `i` to the next.
    bounds: Vec<u64>,
    /// For each node what uses all of its bytes. The children of node `i` are `2 i` and `2 i + 1`.
    whole: Vec<Latest<N>>,
    /// And what uses any of them.
    any: Vec<Latest<N>>,
}

impl<const N: usize> Uses<N> {
    fn new(bounds: Vec<u64>) -> Uses<N> {
        let nodes = 2 * bounds.len().next_power_of_two();
        Uses { bounds, whole: vec![Latest::default(); nodes], any: vec![Latest::default(); nodes] }
    }

    /// The leaf of the first byte and that behind the last.
    fn leaves(&self, piece: &Piece) -> (usize, usize) {
        let leaf = |offset| self.any.len() / 2 + self.bounds.partition_point(|&at| at < offset);
        (leaf(piece.offset), leaf(piece.end()))
    }

    /// The nodes that make up the leaves from the first to before the second.
    fn parts((mut first, mut end): (usize, usize)) -> impl Iterator<Item = usize> {
        let mut parts = Vec::new();
        while first < end {
            if first % 2 == 1 {
                parts.push(first);
                first += 1;
            }
            if end % 2 == 1 {
                end -= 1;
                parts.push(end);
            }
            (first, end) = (first / 2, end / 2);
        }
        parts.into_iter()
    }

    fn ancestors(node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(node / 2), |&node| Some(node / 2)).take_while(|&node| node > 0)
    }

    fn add(&mut self, piece: &Piece, new: Use) {
        for node in Self::parts(self.leaves(piece)) {
            self.whole[node] = self.whole[node].with(new);
            self.any[node] = self.any[node].with(new);
            for above in Self::ancestors(node) {
                self.any[above] = self.any[above].with(new);
            }
        }
    }

    fn latest(&self, piece: &Piece) -> Latest<N> {
        let (first, end) = self.leaves(piece);
        let below = Self::parts((first, end)).map(|node| self.any[node]);
        let above = [first, end - 1].into_iter().flat_map(Self::ancestors);
        let above = above.map(|node| self.whole[node]);
        below.chain(above).fold(Latest::default(), Latest::and)
    }
}
