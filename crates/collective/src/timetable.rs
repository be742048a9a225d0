//! Messages in the order in which a machine performs them soonest.
//!
//! A timetable is a set of messages of an allgather or a reduce-scatter, each with the messages that must have arrived before. Ranks send ready messages,
//! the most urgent first, and receive in the order of arrival. The programs list messages at both ends in the order in which
//! they leave, so that no rank waits for a message that waits for it, even if each message waits for its receiver.

use crate::rounds::{Layout, independent, push_end};
use crate::{CollectiveError, Flow};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::rc::Rc;
use tuwtree_model::{CostModel, Problem, Rank};
use tuwtree_schedule::{Piece, Programs, Schedule};

/// A message of parts of the output.
#[derive(Clone, Debug)]
pub(crate) struct TimedMessage {
    pub(crate) ends: (Rank, Rank),
    /// Not empty.
    pub(crate) pieces: Rc<[Piece]>,
    /// Of several messages that are ready, that of the least number goes first.
    pub(crate) turn: u8,
}

/// Messages of the allgather or reduce-scatter of a problem.
pub(crate) struct Timetable<'a> {
    problem: &'a Problem,
    flow: Flow,
    messages: Vec<TimedMessage>,
    /// For each, the numbers of the messages that its sender needs first.
    after: Vec<Vec<u32>>,
    /// Bytes of each.
    bytes: Vec<u64>,
}

/// Number of the event in which a message leaves, and when its receiver has it.
#[derive(Clone, Copy, Debug, Default)]
struct Passage {
    leaves: u64,
    end: f64,
}

/// An event, in the order in which events of one time happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TimetableEvent {
    /// A message is received.
    Ends(u32),
    /// A message may be received.
    Comes(u32),
    /// The latency of a message has passed.
    Arrives(u32),
    /// A rank may send.
    Wakes(usize),
}

impl<'a> Timetable<'a> {
    /// No messages yet.
    pub(crate) fn new(problem: &'a Problem) -> Timetable<'a> {
        let (messages, after, bytes) = (Vec::new(), Vec::new(), Vec::new());
        Timetable { problem, flow: Flow::Spread, messages, after, bytes }
    }

    /// Adds a message, and returns its number.
    pub(crate) fn push(&mut self, message: TimedMessage) -> u32 {
        self.bytes.push(message.pieces.iter().map(|piece| piece.bytes).sum());
        self.after.push(Vec::new());
        self.messages.push(message);
        self.messages.len() as u32 - 1
    }

    /// Has a message wait for others.
    pub(crate) fn need(&mut self, number: u32, after: Vec<u32>) {
        self.after[number as usize] = after;
    }

    /// The reduce-scatter backwards of this allgather: each message goes back when all have come back that needed it; of several,
    /// the one that left last.
    ///
    /// # Complexity
    /// As [`schedule`](Self::schedule).
    pub(crate) fn reversed(self) -> Result<Timetable<'a>, CollectiveError> {
        let passages = self.passages()?;
        let mut numbers: Vec<usize> = (0..self.messages.len()).collect();
        numbers.sort_unstable_by_key(|&number| Reverse(passages[number].leaves));
        let mut reversed = Timetable { flow: Flow::Combined, ..Timetable::new(self.problem) };
        let mut number_of = vec![0; numbers.len()];
        for number in numbers {
            let TimedMessage { ends: (from, to), pieces, turn } = self.messages[number].clone();
            number_of[number] = reversed.push(TimedMessage { ends: (to, from), pieces, turn });
        }
        for (number, after) in self.after.into_iter().enumerate() {
            for before in after {
                reversed.after[number_of[before as usize] as usize].push(number_of[number]);
            }
        }
        Ok(reversed)
    }

    /// The schedule of all messages.
    ///
    /// # Complexity
    /// O(n log n) for n messages.
    pub(crate) fn schedule(&self, layout: Layout) -> Result<Schedule, CollectiveError> {
        self.listed(&self.passages()?, layout)
    }

    /// Order in which all messages leave, and when they end.
    fn passages(&self) -> Result<Vec<Passage>, CollectiveError> {
        let costs = self.problem.stated_costs();
        let ranks = self.problem.ranks();
        let mut waiting: Vec<usize> = self.after.iter().map(Vec::len).collect();
        let mut needing = vec![Vec::new(); self.messages.len()];
        let mut ready = vec![BinaryHeap::new(); ranks];
        for ((number, message), after) in (0..).zip(&self.messages).zip(&self.after) {
            for &before in after {
                needing[before as usize].push(number);
            }
            if after.is_empty() {
                ready[message.ends.0].push(Reverse((message.turn, number)));
            }
        }
        let mut passages = vec![Passage::default(); self.messages.len()];
        let [mut sends, mut receives] = [vec![0.0_f64; ranks], vec![0.0_f64; ranks]];
        let mut wires: BTreeMap<usize, [f64; 2]> = BTreeMap::new();
        // Times are not negative, so that their bits are in their order.
        let mut events: BinaryHeap<Reverse<(u64, TimetableEvent)>> =
            (0..ranks).map(|rank| Reverse((0, TimetableEvent::Wakes(rank)))).collect();
        let mut count = 0;
        while let Some(Reverse((now, event))) = events.pop() {
            count += 1;
            let now = f64::from_bits(now);
            let mut happen = |time: f64, event| events.push(Reverse((time.to_bits(), event)));
            let costs_of =
                |number: u32| (self.messages[number as usize].ends, self.bytes[number as usize]);
            match event {
                TimetableEvent::Wakes(rank) if sends[rank] <= now => {
                    let Some(Reverse((_, number))) = ready[rank].pop() else { continue };
                    let ((from, to), bytes) = costs_of(number);
                    passages[number as usize].leaves = count;
                    sends[rank] = now + costs.transmission_between(from, to, bytes)?.units();
                    happen(sends[rank], TimetableEvent::Wakes(rank));
                    let latency = costs.latency_between(from, to, bytes)?.units();
                    happen(now + latency, TimetableEvent::Arrives(number));
                }
                TimetableEvent::Wakes(_) => {}
                TimetableEvent::Arrives(number) => {
                    let ((from, to), bytes) = costs_of(number);
                    let mut entered = now;
                    if let Some(shared) = costs.shared_wires(from, to, bytes)? {
                        for (side, node) in [shared.nodes.0, shared.nodes.1].into_iter().enumerate()
                        {
                            let free = &mut wires.entry(node).or_default()[side];
                            entered = free.max(entered);
                            *free = entered + shared.time.units();
                        }
                    }
                    happen(entered, TimetableEvent::Comes(number));
                }
                TimetableEvent::Comes(number) => {
                    let ((from, to), bytes) = costs_of(number);
                    let combine = match self.flow {
                        Flow::Spread => 0.0,
                        Flow::Combined => self.problem.operator().combine(bytes)?.units(),
                    };
                    let duration = costs.transmission_between(from, to, bytes)?.units() + combine;
                    receives[to] = receives[to].max(now) + duration;
                    happen(receives[to], TimetableEvent::Ends(number));
                }
                TimetableEvent::Ends(number) => {
                    passages[number as usize].end = now;
                    for &next in &needing[number as usize] {
                        waiting[next as usize] -= 1;
                        if waiting[next as usize] == 0 {
                            let message = &self.messages[next as usize];
                            ready[message.ends.0].push(Reverse((message.turn, next)));
                            happen(now, TimetableEvent::Wakes(message.ends.0));
                        }
                    }
                }
            }
        }
        Ok(passages)
    }

    /// The schedule that lists sends, and received messages, of each rank in the order in which they leave: each send behind
    /// the last message that it needs.
    fn listed(&self, passages: &[Passage], layout: Layout) -> Result<Schedule, CollectiveError> {
        let ranks = self.problem.ranks();
        let mut numbers: Vec<u32> = (0..self.messages.len() as u32).collect();
        let leaves = |number: u32| passages[number as usize].leaves;
        numbers.sort_unstable_by_key(|&number| leaves(number));
        let (mut sent, mut received) = (vec![Vec::new(); ranks], vec![Vec::new(); ranks]);
        for number in numbers {
            let (from, to) = self.messages[number as usize].ends;
            sent[from].push(number);
            received[to].push(number);
        }
        let mut programs = Programs::new();
        let push = |number: u32, is_sent: bool, programs: &mut Programs| {
            let TimedMessage { ends: (from, to), pieces, .. } = &self.messages[number as usize];
            let anywhere = self.anywhere(number);
            let pieces = if layout == Layout::Anywhere { &anywhere } else { &**pieces };
            push_end(programs, self.flow, (is_sent, if is_sent { *to } else { *from }), pieces)
        };
        for (sent, received) in sent.into_iter().zip(received) {
            let mut received = received.into_iter().peekable();
            for number in sent {
                let needed = self.after[number as usize].iter().map(|&before| leaves(before)).max();
                while let Some(before) = received.next_if(|&one| Some(leaves(one)) <= needed) {
                    push(before, false, &mut programs)?;
                }
                push(number, true, &mut programs)?;
            }
            for number in received {
                push(number, false, &mut programs)?;
            }
            programs.end_rank();
        }
        independent(self.problem, self.flow, programs)
    }

    /// The bytes of a message in one piece.
    fn anywhere(&self, number: u32) -> [Piece; 1] {
        [Piece { offset: 0, bytes: self.bytes[number as usize] }]
    }
}
