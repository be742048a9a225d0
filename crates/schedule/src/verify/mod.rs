//! Schedule verification by symbolic execution.
//!
//! Nothing here knows how schedules are made: trees do not occur. [`verify`] asks, in this order:
//!
//! 1. Has each send its receive, with the same peers, tag, place in the order, and size? (`matching`)
//!    In a reduction, is every piece made of whole elements? (`elements`)
//! 2. Does no action overwrite what it reads itself, or what an action on another port may still
//!    use? (`races`; on duplex ports, `precedence`)
//! 3. Does every action end if a send waits for its receive? (`progress`)
//! 4. Where does every byte come from that is sent and written, and is it there in time?
//!    (`contents`, `flow`; for reductions `contributions`)
//! 5. Does everything that belongs into an output reach it, and is nothing there overwritten?
//! 6. Is what a rank holds always consecutive, if the schedule says so? (`holdings`)
//!
//! Since no two actions race, what the data is does not depend on the times at which actions happen:
//! one order that respects all waiting stands for all of them.
//!
//! # What must hold, beyond the meaning of a [`Schedule`]
//! - Where ports are duplex, the halves of an exchange start and end each by itself, and are to others like actions
//!   on two ports; what is combined is combined when all has been sent on its port that is listed up to it.
//! - An exchange has ended when both of its messages have. A receive that combines reads what it
//!   combines with, and therefore waits for earlier receives and copies; of an exchange, it combines when
//!   both messages have ended, so that what is sent may be what it combines with.
//! - In gather and scatter, a byte of an output is written once. In broadcast, allgather and alltoall the same
//!   byte may come again, and is counted; another may not.
//! - Consecutive: what a rank has received (in a gather, also what it has copied from its
//!   input; in a scatter the root's input from the start) and not yet sent on (in a scatter, nor
//!   delivered into its output) is one range of bytes, all blocks being packed in rank order; after
//!   every action in the order of the list, of an exchange the send being first. Every message is
//!   such a range. For reductions, operands have the contributions of neighbouring ranges of ranks.
//! - In a reduction, what is stored may replace partial results, and contributions count at the end: each
//!   rank's is in each byte of a result once. A result that comes to where it is already is counted.

mod contents;
mod contributions;
mod elements;
mod fault;
mod flow;
mod holdings;
mod matching;
mod precedence;
mod progress;
mod races;

pub use fault::{
    At, Contributors, Datum, Doing, Fault, IfEager, MessageEnd, Overlap, PackedRange, Stuck,
};

use crate::action::{Buffer, Deed};
use crate::hold::Holds;
use crate::schedule::Schedule;
use crate::simulate::Sends;
use matching::MatchedMessages;
use tuwtree_model::{Order, Payload, Rank};

/// Properties of a correct schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Number of messages.
    pub messages: usize,
    /// The sum of their sizes.
    pub bytes_sent: u128,
    /// Number of copies, including those that combine.
    pub copies: usize,
    /// The sum of their sizes.
    pub bytes_copied: u128,
    /// Number of bytes that came to outputs with equal bytes; in a reduction, of results with every rank's
    /// contribution.
    pub redundant_bytes: u128,
    /// The most messages in sequence, each of which waits for the one before.
    pub rounds: u32,
    /// `p` entries: how far each rank's segment is used.
    pub segment_bytes: Vec<u64>,
    /// The strictest order that is kept, whatever is promised. In a broadcast and an allgather, the
    /// strictest.
    pub order: Order,
    /// In an allreduce, whether each byte of the result is combined at all ranks in the same order and with the same
    /// brackets, so that all have the same bits even if rounding depends on these.
    pub same_bracketing: Option<bool>,
}

impl Verified {
    /// The rank of least rank that uses most of a segment, and how many bytes.
    pub fn largest_segment(&self) -> (Rank, u64) {
        let mut largest = (0, 0);
        for (rank, &bytes) in self.segment_bytes.iter().enumerate() {
            if bytes > largest.1 {
                largest = (rank, bytes);
            }
        }
        largest
    }
}

/// Properties of the schedule if it is correct: every byte reaches its place, nothing is overwritten, no deadlock
/// occurs even if sends are synchronous, no races occur, and the promised order is kept.
///
/// # Errors
/// The first [`Fault`] found.
///
/// # Complexity
/// O((p + n) log n) time and space for n pieces of actions; in reductions, one more step for each meeting of parts with
/// different contributors (in other operations, of parts with data in the buffer), bounded by 64 n and some millions
/// ([`Fault::TooIntricate`]); on duplex ports, O(n log n) more for each action that writes into a region which only
/// messages prove unused. Independent of sizes in bytes.
///
/// # Example
/// ```
/// use tuwtree_model::{BlockSizes, Collective, Operation, Step, Tree};
/// use tuwtree_schedule::{Order, Payload, Schedule, verify};
/// let steps = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
/// let tree = Tree::new(3, 1, &steps).unwrap();
/// let payload = Payload::Blocks(BlockSizes::new([2, 1, 4]).unwrap());
/// let schedule = Schedule::without_costs(&tree, &Collective::new(Operation::Gather, payload).unwrap()).unwrap();
/// let verified = verify(&schedule).unwrap();
/// assert_eq!((verified.messages, verified.rounds, verified.order), (2, 2, Order::Ordered));
/// ```
pub fn verify(schedule: &Schedule) -> Result<Verified, Fault> {
    let actions = Actions::new(schedule);
    let messages = MatchedMessages::matched(&actions)?;
    elements::check(&actions)?;
    races::check(&actions, &messages)?;
    let progress = progress::run(&actions, &messages, Sends::Synchronous).map_err(|cycle| {
        let if_eager = match progress::run(&actions, &messages, Sends::Eager) {
            Ok(_) => IfEager::Passes,
            Err(_) => IfEager::Deadlocks,
        };
        Fault::Deadlock { cycle, if_eager }
    })?;
    let flow = flow::run(&actions, &messages, &progress.events)?;
    let order = match flow.moved {
        Some(moved) => holdings::check(&actions, &messages, &moved)?,
        None => flow.order,
    };
    let (redundant_bytes, same_bracketing) = (flow.redundant_bytes, flow.same_bracketing);
    let rounds = progress.rounds;
    Ok(Verified { rounds, order, redundant_bytes, same_bracketing, ..facts(&actions, &messages) })
}

/// Counts of actions; other checks fill in the rest.
fn facts(actions: &Actions<'_>, messages: &MatchedMessages) -> Verified {
    let schedule = actions.schedule;
    let mut verified = Verified {
        messages: messages.list.len(),
        bytes_sent: 0,
        copies: 0,
        bytes_copied: 0,
        redundant_bytes: 0,
        rounds: 0,
        segment_bytes: vec![0; schedule.ranks()],
        order: Order::Ordered,
        same_bracketing: None,
    };
    for (rank, segment) in verified.segment_bytes.iter_mut().enumerate() {
        for action in schedule.programs().actions(rank) {
            if let Some(send) = action.send() {
                verified.bytes_sent += u128::from(send.from.bytes());
            }
            if let Deed::Copy { from, .. } = action.deed {
                verified.copies += 1;
                verified.bytes_copied += u128::from(from.bytes());
            }
            for region in [action.reads(), action.writes()].into_iter().flatten() {
                if region.buffer == Buffer::Segment {
                    let ends = region.pieces.iter().map(|piece| piece.end());
                    *segment = ends.fold(*segment, u64::max);
                }
            }
        }
    }
    verified
}

/// All actions by their index among all, with the ranks that perform them, and what holds ports.
struct Actions<'a> {
    schedule: &'a Schedule,
    /// For each action the rank.
    rank: Vec<u32>,
    holds: Holds,
}

/// No action, or no message.
const NONE: u32 = u32::MAX;

impl<'a> Actions<'a> {
    fn new(schedule: &'a Schedule) -> Actions<'a> {
        let mut owners = Vec::with_capacity(schedule.programs().len());
        for rank in 0..schedule.ranks() {
            owners.extend(schedule.programs().range(rank).map(|_| rank as u32));
        }
        let holds = Holds::new(schedule.programs(), schedule.task().duplex);
        Actions { schedule, rank: owners, holds }
    }

    fn len(&self) -> usize {
        self.rank.len()
    }

    fn get(&self, index: u32) -> crate::Action<'a> {
        self.schedule.programs().action(index as usize)
    }

    fn rank(&self, index: u32) -> Rank {
        self.rank[index as usize] as Rank
    }

    /// The action as messages name it.
    fn at(&self, index: u32) -> At {
        let rank = self.rank(index);
        let action = index as usize - self.schedule.programs().range(rank).start;
        At { rank, action }
    }

    fn doing(&self, index: u32) -> Doing {
        Doing::from(&self.get(index))
    }

    /// The action of a hold.
    fn of_hold(&self, hold: u32) -> crate::Action<'a> {
        self.get(self.holds.action(hold as usize) as u32)
    }

    /// The numbers of a rank's holds.
    fn holds_of(&self, rank: Rank) -> std::ops::Range<usize> {
        self.holds.of_rank(self.schedule.programs(), rank)
    }

    /// The lanes of a hold: a port, or a side of one, or both sides.
    fn lanes(&self, hold: u32) -> impl Iterator<Item = usize> + use<> {
        let (first, second) = self.holds.lanes(hold as usize, self.of_hold(hold).port);
        [Some(first), second].into_iter().flatten()
    }

    /// True if the hold waits for all earlier receives and copies of its rank.
    fn waits(&self, hold: u32) -> bool {
        self.holds.needs_written(hold as usize, &self.of_hold(hold))
    }

    /// True if later holds wait for this one: it is a receive or a copy.
    fn writes(&self, hold: u32) -> bool {
        self.holds.writes(hold as usize, &self.of_hold(hold))
    }

    /// For each hold those before it on its lanes, or [`NONE`].
    fn before_on_lanes(&self) -> Vec<[u32; 2]> {
        let mut before = Vec::with_capacity(self.holds.len());
        let mut last = vec![NONE; self.schedule.task().lanes() as usize];
        for rank in 0..self.schedule.ranks() {
            let range = self.holds_of(rank);
            for hold in range.clone() {
                let mut of_hold = [NONE; 2];
                for (before, lane) in of_hold.iter_mut().zip(self.lanes(hold as u32)) {
                    *before = std::mem::replace(&mut last[lane], hold as u32);
                }
                before.push(of_hold);
            }
            for hold in range {
                self.lanes(hold as u32).for_each(|lane| last[lane] = NONE);
            }
        }
        before
    }

    /// Offset of a rank's block, all blocks packed in rank order; 0 without blocks.
    fn block_start(&self, rank: Rank) -> u64 {
        match &self.schedule.task().payload {
            Payload::Blocks(sizes) => sizes.before(rank),
            Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => 0,
        }
    }

    /// The byte of the operation's data with this number, all blocks packed in rank order.
    fn datum(&self, offset: u64) -> Datum {
        match &self.schedule.task().payload {
            Payload::Vector(_) => Datum::OfVector { byte: offset },
            Payload::Messages(sizes) => {
                let (from, to, byte) = sizes.message_of(offset);
                Datum::OfMessage { from, to, byte }
            }
            Payload::Blocks(_) | Payload::Groups(_) => {
                let sizes = match &self.schedule.task().payload {
                    Payload::Groups(sizes) => sizes.blocks(),
                    Payload::Blocks(sizes) => sizes,
                    _ => unreachable!("of these two"),
                };
                // The last block that starts at or before the byte: empty ones come first.
                let (mut block, mut end) = (0, sizes.ranks());
                while end - block > 1 {
                    let middle = block + (end - block) / 2;
                    if sizes.before(middle) <= offset {
                        block = middle;
                    } else {
                        end = middle;
                    }
                }
                Datum::OfBlock { block, byte: offset - sizes.before(block) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;

    /// What is found in an allreduce of four bytes over these lists of actions.
    fn verified(programs: &[&str]) -> Verified {
        let (ranks, actions) = (programs.len(), programs.join("],["));
        let segments = vec!["0"; ranks].join(",");
        let text = format!(
            r#"{{"format":"tuwtree-schedule","version":3,"operation":"allreduce","processors":{ranks},
            "order":"any","ports":1,"vector_bytes":4,"segment_bytes":[{segments}],"actions":[[{actions}]]}}"#
        );
        verify(&document::read(text.as_bytes()).unwrap()).unwrap()
    }

    const REDUCED: &str = r#"{"receive":1,"into":["output",0,4],"combine":"right"}"#;
    const GIVEN: &str = r#"{"send":0,"from":["output",0,4]}"#;
    const SPREAD: &str = r#"{"send":1,"from":["output",0,4]}"#;
    const TAKEN: &str = r#"{"receive":0,"into":["output",0,4]}"#;

    #[test]
    fn results_that_come_again_are_redundant_and_partial_ones_that_are_replaced_are_not() {
        let once = [[REDUCED, SPREAD].join(","), [GIVEN, TAKEN].join(",")];
        assert_eq!(verified(&[&once[0], &once[1]]).redundant_bytes, 0);
        let half =
            (r#"{"send":1,"from":["output",2,2]}"#, r#"{"receive":0,"into":["output",2,2]}"#);
        let twice = [[REDUCED, SPREAD, half.0].join(","), [GIVEN, TAKEN, half.1].join(",")];
        assert_eq!(verified(&[&twice[0], &twice[1]]).redundant_bytes, 2);
    }

    #[test]
    fn brackets_are_the_same_where_all_ranks_combine_the_same_in_the_same_order() {
        let exchanged = |peer: usize, side: &str| {
            format!(
                r#"{{"send":{peer},"from":["output",0,4],"receive":{peer},"into":["output",0,4],"combine":"{side}"}}"#
            )
        };
        let same = |programs: [String; 2]| {
            verified(&[programs[0].as_str(), programs[1].as_str()]).same_bracketing
        };
        assert_eq!(same([exchanged(1, "right"), exchanged(0, "left")]), Some(true));
        // 0 + 1 at rank 0, but 1 + 0 at rank 1.
        assert_eq!(same([exchanged(1, "right"), exchanged(0, "right")]), Some(false));
        assert_eq!(same([[REDUCED, SPREAD].join(","), [GIVEN, TAKEN].join(",")]), Some(true));
    }
}
