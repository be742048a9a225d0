//! Schedules made harder: messages in pieces, on several ports, with all kinds of tags.

use super::dice::Dice;
use tuwtree_model::Rank;
use tuwtree_schedule::{
    Action, Buffer, Deed, Order, Piece, Programs, Receive, Region, Schedule, Send, Task, verify,
};

/// An equivalent schedule with more messages: each cut at whole units into up to three pieces, on
/// random ports, and some sends and receives joined to one exchange. Unchanged if it cannot be
/// broken.
pub(super) fn shattered(schedule: &Schedule, unit: u64, seed: u64) -> Schedule {
    let broken = Shatter { schedule, unit, seed }.schedule();
    broken.filter(|broken| verify(broken).is_ok()).unwrap_or_else(|| schedule.clone())
}

struct Shatter<'a> {
    schedule: &'a Schedule,
    unit: u64,
    seed: u64,
}

/// An action with regions of its own.
type Owned = (Option<MessageSide>, Option<MessageSide>);

/// Another rank and a tag, or none for a copy, and a region.
#[derive(Clone)]
struct MessageSide {
    peer: Option<(Rank, u32)>,
    buffer: Buffer,
    pieces: Vec<Piece>,
}

impl Shatter<'_> {
    fn schedule(&self) -> Option<Schedule> {
        let mut dice = Dice::new(self.seed, &[0]);
        let task = self.schedule.task();
        let ports = 1 + dice.below(3) as u16;
        let mut programs = Programs::new();
        for rank in 0..self.schedule.ranks() {
            let mut actions: Vec<Owned> = Vec::new();
            for action in self.schedule.programs().actions(rank) {
                self.push_pieces(rank, &action, &mut actions);
            }
            exchange(&mut actions, &mut dice);
            for action in &actions {
                push(action, dice.below(u64::from(ports)) as u16, &mut programs);
            }
            programs.end_rank();
        }
        let sizes = 0..self.schedule.ranks();
        let segments = sizes.map(|rank| self.schedule.buffer_bytes(rank, Buffer::Segment));
        let task = Task { ports, order: Order::Any, ..task.clone() };
        Schedule::new(task, segments.collect(), programs).ok()
    }

    /// The pieces of one action; both ends of a message break it alike.
    fn push_pieces(&self, rank: Rank, action: &Action<'_>, actions: &mut Vec<Owned>) {
        let half = |peer, region: Region<'_>| {
            Some(MessageSide { peer, buffer: region.buffer, pieces: region.pieces.to_vec() })
        };
        match action.deed {
            Deed::Copy { from, into, .. } => actions.push((half(None, from), half(None, into))),
            Deed::Send(Send { to, from, .. }) => {
                for (tag, pieces) in self.broken(rank, to, from.pieces) {
                    let region = Region { buffer: from.buffer, pieces: &pieces };
                    actions.push((half(Some((to, tag)), region), None));
                }
            }
            Deed::Receive(Receive { from, into, .. }) => {
                for (tag, pieces) in self.broken(from, rank, into.pieces) {
                    let region = Region { buffer: into.buffer, pieces: &pieces };
                    actions.push((None, half(Some((from, tag)), region)));
                }
            }
            Deed::Exchange(..) => unreachable!("trees have no exchanges"),
        }
    }

    /// The pieces of the message between these two, with their tags.
    fn broken(&self, from: Rank, to: Rank, pieces: &[Piece]) -> Vec<(u32, Vec<Piece>)> {
        let mut dice = Dice::new(self.seed, &[1, from as u64, to as u64]);
        let bytes: u64 = pieces.iter().map(|piece| piece.bytes).sum();
        let mut cuts: Vec<u64> = (0..dice.below(3))
            .map(|_| dice.below(bytes / self.unit + 1) * self.unit)
            .chain([0, bytes])
            .collect();
        cuts.sort_unstable();
        cuts.dedup();
        let parts = cuts.windows(2).map(|cut| between(pieces, cut[0], cut[1]));
        parts.map(|part| (dice.one_of(&[0, 7, u32::MAX]), part)).collect()
    }
}

/// The bytes `from..to` of a region.
fn between(pieces: &[Piece], from: u64, to: u64) -> Vec<Piece> {
    let mut part = Vec::new();
    let mut before = 0;
    for piece in pieces {
        let start = from.saturating_sub(before).min(piece.bytes);
        let end = to.saturating_sub(before).min(piece.bytes);
        if end > start {
            part.push(Piece { offset: piece.offset + start, bytes: end - start });
        }
        before += piece.bytes;
    }
    part
}

/// Makes one exchange of a send and a receive that are neighbours, now and then.
fn exchange(actions: &mut Vec<Owned>, dice: &mut Dice) {
    let is_message =
        |half: &Option<MessageSide>| half.as_ref().is_some_and(|half| half.peer.is_some());
    let mut index = 1;
    while index < actions.len() {
        let (one, other) = (&actions[index - 1], &actions[index]);
        let joined = match (one, other) {
            ((send, None), (None, receive)) if is_message(send) && is_message(receive) => {
                (send.clone(), receive.clone())
            }
            ((None, receive), (send, None)) if is_message(send) && is_message(receive) => {
                (send.clone(), receive.clone())
            }
            _ => (None, None),
        };
        if joined.0.is_some() && dice.once_in(3) {
            actions[index - 1] = joined;
            actions.remove(index);
        }
        index += 1;
    }
}

fn push((reads, writes): &Owned, port: u16, programs: &mut Programs) {
    let region = |half: &MessageSide| half.buffer;
    let send = reads.as_ref().and_then(|half| {
        let (to, tag) = half.peer?;
        Some(Send { to, tag, from: Region { buffer: region(half), pieces: &half.pieces } })
    });
    let receive = writes.as_ref().and_then(|half| {
        let (from, tag) = half.peer?;
        let into = Region { buffer: region(half), pieces: &half.pieces };
        Some(Receive { from, tag, into, arrival: Default::default() })
    });
    let deed = match (send, receive, reads, writes) {
        (Some(send), Some(receive), ..) => Deed::Exchange(send, receive),
        (Some(send), None, ..) => Deed::Send(send),
        (None, Some(receive), ..) => Deed::Receive(receive),
        (None, None, Some(from), Some(into)) => Deed::Copy {
            from: Region { buffer: from.buffer, pieces: &from.pieces },
            into: Region { buffer: into.buffer, pieces: &into.pieces },
            arrival: Default::default(),
        },
        (None, None, ..) => unreachable!("an action reads or writes"),
    };
    programs.push(&Action { port, deed }).expect("some thousand actions");
}
