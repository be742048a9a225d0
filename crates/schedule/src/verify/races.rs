//! Whether two actions can use the same bytes at the same time, one of them writing.
//!
//! Actions of one processor on different ports may run at the same time, unless one waits for the
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

use super::fault::combines;
use super::{Actions, Fault, NONE, Overlap};
use crate::action::{Buffer, Piece, Region};
use tuwtree_model::Rank;

/// Fails where an action meets itself, or one that it can run beside.
///
/// # Errors
/// The first such action in the list of the least rank.
///
/// # Complexity
/// O((p + n) log n) for n pieces of actions.
pub(super) fn check(actions: &Actions<'_>) -> Result<(), Fault> {
    for index in 0..actions.len() as u32 {
        check_alone(actions, index)?;
    }
    if actions.schedule.task().ports == 1 {
        return Ok(());
    }
    let mut waiting = Waiting::new(actions);
    for rank in 0..actions.schedule.processors() {
        waiting.learn(actions, rank);
        for buffer in [Buffer::Segment, Buffer::Output] {
            check_buffer(actions, rank, buffer, &waiting)?;
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

/// What an action of the processor in question waits for, and what waits for it.
struct Waiting {
    /// For each action 1 + the last at or before it on its port that waits for receives and copies;
    /// 0 if there is none.
    waits: Vec<u32>,
    /// For each action the first receive or copy at or behind it on its port, or [`NONE`].
    ended_with: Vec<u32>,
    /// Such an action for each port, so far.
    on_port: Vec<u32>,
}

impl Waiting {
    fn new(actions: &Actions<'_>) -> Waiting {
        Waiting {
            waits: vec![0; actions.len()],
            ended_with: vec![NONE; actions.len()],
            on_port: vec![0; actions.schedule.task().ports as usize],
        }
    }

    fn learn(&mut self, actions: &Actions<'_>, rank: Rank) {
        let range = actions.schedule.programs().range(rank);
        for index in range.clone() {
            let port = &mut self.on_port[actions.get(index as u32).port as usize];
            if actions.waits(index as u32) {
                *port = index as u32 + 1;
            }
            self.waits[index] = *port;
        }
        for index in range.clone() {
            self.on_port[actions.get(index as u32).port as usize] = NONE;
        }
        for index in range.rev() {
            let port = &mut self.on_port[actions.get(index as u32).port as usize];
            if actions.writes(index as u32) {
                *port = index as u32;
            }
            self.ended_with[index] = *port;
        }
    }

    fn forget(&mut self, actions: &Actions<'_>, rank: Rank) {
        for index in actions.schedule.programs().range(rank) {
            self.on_port[actions.get(index as u32).port as usize] = 0;
        }
    }
}

fn check_buffer(
    actions: &Actions<'_>,
    rank: Rank,
    buffer: Buffer,
    waiting: &Waiting,
) -> Result<(), Fault> {
    let range = actions.schedule.programs().range(rank);
    let mut bounds = Vec::new();
    for index in range.clone() {
        let action = actions.get(index as u32);
        for piece in pieces(action.reads(), buffer).chain(pieces(action.writes(), buffer)) {
            bounds.extend([piece.offset, piece.end()]);
        }
    }
    bounds.sort_unstable();
    bounds.dedup();
    let mut uses = Uses::new(bounds);
    for index in range {
        let action = actions.get(index as u32);
        for piece in pieces(action.writes(), buffer) {
            let other = uses.latest(piece).not_on(action.port);
            if let Some(other) = other.filter(|other| waiting.waits[index] <= other.ended_with) {
                return Err(race(actions, buffer, (other.action, index as u32), piece));
            }
        }
        let ended_with = waiting.ended_with[index];
        let this = Use { ended_with, action: index as u32, port: action.port };
        for piece in pieces(action.reads(), buffer).chain(pieces(action.writes(), buffer)) {
            uses.add(piece, this);
        }
    }
    Ok(())
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
    let earlier = actions.get(first);
    let used = [earlier.reads(), earlier.writes()].into_iter().flatten();
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
        first_port: earlier.port,
        second: actions.at(second),
        second_doing: actions.doing(second),
        second_port: actions.get(second).port,
        buffer,
        offset,
    }
}

/// An action that uses bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    /// The first receive or copy at or behind it on its port, or [`NONE`].
    ended_with: u32,
    action: u32,
    port: u16,
}

/// The greatest of some uses, and the greatest of those on other ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Latest {
    greatest: Option<Use>,
    elsewhere: Option<Use>,
}

impl Latest {
    fn with(mut self, new: Use) -> Latest {
        let same_port = |old: Option<Use>| old.is_some_and(|old| old.port == new.port);
        if same_port(self.greatest) {
            self.greatest = self.greatest.max(Some(new));
        } else if self.greatest < Some(new) {
            self.elsewhere = self.greatest;
            self.greatest = Some(new);
        } else {
            self.elsewhere = self.elsewhere.max(Some(new));
        }
        self
    }

    fn and(self, other: Latest) -> Latest {
        [other.greatest, other.elsewhere].into_iter().flatten().fold(self, Latest::with)
    }

    fn not_on(self, port: u16) -> Option<Use> {
        self.greatest.filter(|used| used.port != port).or(self.elsewhere)
    }
}

/// The latest uses of all bytes of a buffer: a segment tree over the places where pieces start and
/// end.
struct Uses {
    /// In order; element `i` of the tree is the bytes from place `i` to the next.
    bounds: Vec<u64>,
    /// For each node what uses all of its bytes. The children of node `i` are `2 i` and `2 i + 1`.
    whole: Vec<Latest>,
    /// And what uses any of them.
    any: Vec<Latest>,
}

impl Uses {
    fn new(bounds: Vec<u64>) -> Uses {
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

    fn latest(&self, piece: &Piece) -> Latest {
        let (first, end) = self.leaves(piece);
        let below = Self::parts((first, end)).map(|node| self.any[node]);
        let above = [first, end - 1].into_iter().flat_map(Self::ancestors);
        let above = above.map(|node| self.whole[node]);
        below.chain(above).fold(Latest::default(), Latest::and)
    }
}
