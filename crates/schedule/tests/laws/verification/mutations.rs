//! Small changes to schedules, drawn at random.

use super::editable::{Editable, EditableAction, EditableRegion, Envelope};
use proptest::prelude::*;
use proptest::sample::Index;
use tuwtree_model::{ClosedSet, Rank};
use tuwtree_schedule::{Arrival, Buffer, Order, Piece};

/// A change; numbers stand for whatever they are taken modulo of.
#[derive(Clone, Debug)]
pub(crate) enum Mutation {
    Drop(Index),
    Swap(Index, Index),
    Duplicate(Index),
    /// From one rank's list to another's.
    Move(Index, Index),
    Peer(Index, Rank),
    Tag(Index, u32),
    Port(Index, u16),
    Buffer(Index, Buffer),
    Offset(Index, i64),
    Bytes(Index, i64),
    /// One piece becomes two.
    Split(Index, u64),
    ReversePieces(Index),
    Arrival(Index, Arrival),
    /// A send and a receive after each other become an exchange, or an exchange becomes two.
    Exchange(Index),
    /// Both ends of a message.
    Message(Index, Both),
    Order(Order),
    SegmentBytes(Index, i64),
    Ports(u16),
    Duplex(bool),
}

/// A change to both ends of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Both {
    Drop,
    Duplicate,
    /// With another tag.
    Retag,
    /// Without its last byte.
    Shorten,
    /// The receiver's end as late as can be.
    Delay,
}

pub(crate) fn mutations() -> impl Strategy<Value = Mutation> {
    use Mutation as M;
    let at = any::<Index>;
    prop_oneof![
        2 => at().prop_map(M::Drop),
        4 => (at(), at()).prop_map(|(a, b)| M::Swap(a, b)),
        2 => at().prop_map(M::Duplicate),
        1 => (at(), at()).prop_map(|(a, b)| M::Move(a, b)),
        2 => (at(), 0..6_usize).prop_map(|(a, b)| M::Peer(a, b)),
        3 => (at(), 0..3_u32).prop_map(|(a, b)| M::Tag(a, b)),
        4 => (at(), 0..3_u16).prop_map(|(a, b)| M::Port(a, b)),
        2 => (at(), prop::sample::select(Buffer::ALL)).prop_map(|(a, b)| M::Buffer(a, b)),
        3 => (at(), -3..4_i64).prop_map(|(a, b)| M::Offset(a, b)),
        2 => (at(), -2..3_i64).prop_map(|(a, b)| M::Bytes(a, b)),
        3 => (at(), 1..4_u64).prop_map(|(a, b)| M::Split(a, b)),
        2 => at().prop_map(M::ReversePieces),
        2 => (at(), prop::sample::select(
            &[Arrival::Store, Arrival::CombineLeft, Arrival::CombineRight][..],
        )).prop_map(|(a, b)| M::Arrival(a, b)),
        3 => at().prop_map(M::Exchange),
        9 => (at(), prop::sample::select(
            &[Both::Drop, Both::Duplicate, Both::Retag, Both::Shorten, Both::Delay][..],
        )).prop_map(|(a, b)| M::Message(a, b)),
        2 => prop::sample::select(Order::ALL).prop_map(M::Order),
        1 => (at(), -2..3_i64).prop_map(|(a, b)| M::SegmentBytes(a, b)),
        3 => (1..4_u16).prop_map(M::Ports),
        9 => any::<bool>().prop_map(M::Duplex),
    ]
}

impl Mutation {
    /// Changes the schedule, if it has what is to be changed.
    pub(crate) fn apply(&self, schedule: &mut Editable) {
        use Mutation as M;
        match self {
            M::Order(order) => schedule.task.order = *order,
            M::Ports(ports) => schedule.task.ports = *ports,
            M::Duplex(duplex) => schedule.task.duplex = *duplex,
            M::SegmentBytes(at, by) => {
                let index = at.index(schedule.segments.len());
                let segment = &mut schedule.segments[index];
                *segment = segment.saturating_add_signed(*by);
            }
            M::Message(at, both) => {
                if let Some((rank, index)) = find(schedule, *at)
                    && let Some(receive) = partner(schedule, rank, index)
                {
                    both.apply(schedule, (rank, index), receive);
                }
            }
            M::Drop(at) | M::Swap(at, _) | M::Duplicate(at) | M::Move(at, _) | M::Exchange(at) => {
                if let Some((rank, index)) = find(schedule, *at) {
                    self.rearrange(schedule, rank, index);
                }
            }
            _ => {
                let (M::Peer(at, _)
                | M::Tag(at, _)
                | M::Port(at, _)
                | M::Buffer(at, _)
                | M::Offset(at, _)
                | M::Bytes(at, _)
                | M::Split(at, _)
                | M::ReversePieces(at)
                | M::Arrival(at, _)) = self
                else {
                    return;
                };
                if let Some((rank, index)) = find(schedule, *at) {
                    self.alter(&mut schedule.programs[rank][index], at.index(2) == 0);
                }
            }
        }
    }

    fn rearrange(&self, schedule: &mut Editable, rank: Rank, index: usize) {
        let ranks = schedule.programs.len();
        let steps = &mut schedule.programs[rank];
        match self {
            Mutation::Drop(_) => {
                steps.remove(index);
            }
            Mutation::Swap(_, other) => {
                let other = other.index(steps.len());
                steps.swap(index, other);
            }
            Mutation::Duplicate(_) => steps.insert(index, steps[index].clone()),
            Mutation::Move(_, to) => {
                let step = steps.remove(index);
                schedule.programs[to.index(ranks)].push(step);
            }
            Mutation::Exchange(_) => exchange(steps, index),
            _ => {}
        }
    }

    fn alter(&self, step: &mut EditableAction, first: bool) {
        if let Mutation::Port(_, port) = self {
            step.port = *port;
        }
        if let Mutation::Arrival(_, arrival) = self
            && step.into.is_some()
        {
            step.arrival = *arrival;
        }
        // An action with two ends has one of them changed.
        let message = match (&mut step.send, &mut step.receive) {
            (Some(send), receive) if first || receive.is_none() => Some(send),
            (_, receive) => receive.as_mut(),
        };
        let place = match (&mut step.from, &mut step.into) {
            (Some(from), into) if first || into.is_none() => Some(from),
            (_, into) => into.as_mut(),
        };
        if let Some(message) = message {
            self.alter_message(message);
        }
        if let Some(place) = place {
            self.alter_place(place);
        }
    }

    fn alter_message(&self, message: &mut Envelope) {
        match self {
            Mutation::Peer(_, peer) => message.peer = *peer,
            Mutation::Tag(_, tag) => message.tag = *tag,
            _ => {}
        }
    }

    fn alter_place(&self, place: &mut EditableRegion) {
        let last = place.pieces.len() - 1;
        let piece = &mut place.pieces[last];
        match self {
            Mutation::Buffer(_, buffer) => place.buffer = *buffer,
            Mutation::Offset(_, by) => piece.offset = piece.offset.saturating_add_signed(*by),
            Mutation::Bytes(_, by) => piece.bytes = piece.bytes.saturating_add_signed(*by),
            Mutation::Split(_, at) if *at < piece.bytes => {
                let rest = Piece { offset: piece.offset + at, bytes: piece.bytes - at };
                piece.bytes = *at;
                place.pieces.push(rest);
            }
            Mutation::ReversePieces(_) => place.pieces.reverse(),
            _ => {}
        }
    }
}

/// An action: any of them, as long as there are some.
fn find(schedule: &Editable, at: Index) -> Option<(Rank, usize)> {
    let number = schedule.programs.iter().map(Vec::len).sum();
    let mut index = if number > 0 { at.index(number) } else { return None };
    for (rank, steps) in schedule.programs.iter().enumerate() {
        if index < steps.len() {
            return Some((rank, index));
        }
        index -= steps.len();
    }
    None
}

/// The receive that belongs to this action, if that is a send.
fn partner(schedule: &Editable, rank: Rank, index: usize) -> Option<(Rank, usize)> {
    let send = schedule.programs[rank][index].send?;
    let earlier = schedule.programs[rank][..index].iter().filter(|step| step.send == Some(send));
    let wanted = Some(Envelope { peer: rank, tag: send.tag });
    let steps = schedule.programs.get(send.peer)?.iter().enumerate();
    let mut receives = steps.filter(|(_, step)| step.receive == wanted);
    receives.nth(earlier.count()).map(|(index, _)| (send.peer, index))
}

impl Both {
    fn apply(self, schedule: &mut Editable, send: (Rank, usize), receive: (Rank, usize)) {
        // Both may be of one rank, after other changes: the later one first, so that the other stays where it is.
        let ends: std::collections::BTreeSet<(Rank, usize)> = [send, receive].into();
        for (rank, index) in ends.into_iter().rev() {
            let steps = &mut schedule.programs[rank];
            let step = &mut steps[index];
            match self {
                Both::Drop => {
                    steps.remove(index);
                }
                Both::Duplicate => steps.insert(index, steps[index].clone()),
                Both::Delay if (rank, index) == receive => {
                    let step = steps.remove(index);
                    steps.push(step);
                }
                Both::Delay => {}
                Both::Retag if (rank, index) == send => step.send.as_mut().unwrap().tag += 1,
                Both::Retag => step.receive.as_mut().unwrap().tag += 1,
                Both::Shorten => {
                    let place = if (rank, index) == send { &mut step.from } else { &mut step.into };
                    let last = place.as_mut().unwrap().pieces.last_mut().unwrap();
                    last.bytes = last.bytes.saturating_sub(1);
                }
            }
        }
    }
}

fn exchange(steps: &mut Vec<EditableAction>, index: usize) {
    let step = steps[index].clone();
    if step.send.is_some() && step.receive.is_some() {
        let send =
            EditableAction { receive: None, into: None, arrival: Arrival::Store, ..step.clone() };
        steps[index] = EditableAction { send: None, from: None, ..step };
        steps.insert(index, send);
        return;
    }
    let Some(next) = steps.get(index + 1).cloned() else { return };
    match (&step, &next) {
        (
            EditableAction { send: Some(_), .. },
            EditableAction { send: None, receive: Some(_), .. },
        ) => {
            steps[index] = EditableAction::exchange(step, next);
        }
        (
            EditableAction { receive: Some(_), .. },
            EditableAction { send: Some(_), receive: None, .. },
        ) => {
            steps[index] = EditableAction::exchange(next, step);
        }
        _ => return,
    }
    steps.remove(index + 1);
}
