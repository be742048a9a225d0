//! Schedules that can be taken apart, changed and put together again.

use tuwtree_model::Rank;
use tuwtree_schedule::{
    Action, Arrival, Buffer, Deed, Piece, Programs, Receive, Region, Schedule, ScheduleError, Send,
    Task,
};

/// A schedule with every part in the open.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Editable {
    pub(crate) task: Task,
    pub(crate) segments: Vec<u64>,
    pub(crate) programs: Vec<Vec<EditableAction>>,
}

/// An action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EditableAction {
    pub(crate) port: u16,
    pub(crate) send: Option<Envelope>,
    pub(crate) receive: Option<Envelope>,
    pub(crate) arrival: Arrival,
    /// What is read, unless it only receives.
    pub(crate) from: Option<EditableRegion>,
    /// What is written, unless it only sends.
    pub(crate) into: Option<EditableRegion>,
}

/// The other end and the tag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Envelope {
    pub(crate) peer: Rank,
    pub(crate) tag: u32,
}

/// A region.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EditableRegion {
    pub(crate) buffer: Buffer,
    pub(crate) pieces: Vec<Piece>,
}

/// One piece of a buffer.
pub(crate) fn place(buffer: Buffer, offset: u64, bytes: u64) -> EditableRegion {
    EditableRegion { buffer, pieces: vec![Piece { offset, bytes }] }
}

impl EditableAction {
    const NOTHING: EditableAction = EditableAction {
        port: 0,
        send: None,
        receive: None,
        arrival: Arrival::Store,
        from: None,
        into: None,
    };

    pub(crate) fn copy(from: EditableRegion, into: EditableRegion) -> EditableAction {
        EditableAction { from: Some(from), into: Some(into), ..EditableAction::NOTHING }
    }

    pub(crate) fn send(peer: Rank, tag: u32, from: EditableRegion) -> EditableAction {
        EditableAction {
            send: Some(Envelope { peer, tag }),
            from: Some(from),
            ..EditableAction::NOTHING
        }
    }

    pub(crate) fn receive(peer: Rank, tag: u32, into: EditableRegion) -> EditableAction {
        EditableAction {
            receive: Some(Envelope { peer, tag }),
            into: Some(into),
            ..EditableAction::NOTHING
        }
    }

    /// A send and a receive at once.
    pub(crate) fn exchange(send: EditableAction, receive: EditableAction) -> EditableAction {
        EditableAction { send: send.send, from: send.from, ..receive }
    }

    pub(crate) fn combining(self, arrival: Arrival) -> EditableAction {
        EditableAction { arrival, ..self }
    }

    pub(crate) fn on_port(self, port: u16) -> EditableAction {
        EditableAction { port, ..self }
    }

    fn deed(&self) -> Option<Deed<'_>> {
        let from = self.from.as_ref().map(EditableRegion::region);
        let into = self.into.as_ref().map(EditableRegion::region);
        let send = |Envelope { peer, tag }, from| Send { to: peer, tag, from };
        let receive = |Envelope { peer, tag }, into| {
            let arrival = self.arrival;
            Receive { from: peer, tag, into, arrival }
        };
        Some(match (self.send, self.receive) {
            (None, None) => Deed::Copy { from: from?, into: into?, arrival: self.arrival },
            (Some(message), None) => Deed::Send(send(message, from?)),
            (None, Some(message)) => Deed::Receive(receive(message, into?)),
            (Some(to), Some(source)) => Deed::Exchange(send(to, from?), receive(source, into?)),
        })
    }
}

impl EditableRegion {
    fn region(&self) -> Region<'_> {
        Region { buffer: self.buffer, pieces: &self.pieces }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }
}

impl From<Region<'_>> for EditableRegion {
    fn from(region: Region<'_>) -> EditableRegion {
        EditableRegion { buffer: region.buffer, pieces: region.pieces.to_vec() }
    }
}

impl From<Action<'_>> for EditableAction {
    fn from(action: Action<'_>) -> EditableAction {
        EditableAction {
            port: action.port,
            send: action.send().map(|send| Envelope { peer: send.to, tag: send.tag }),
            receive: action.receive().map(|from| Envelope { peer: from.from, tag: from.tag }),
            arrival: action.receive().map_or(Arrival::Store, |receive| receive.arrival),
            from: action.reads().map(EditableRegion::from),
            into: action.writes().map(EditableRegion::from),
        }
    }
}

impl From<&Schedule> for Editable {
    fn from(schedule: &Schedule) -> Editable {
        let ranks = 0..schedule.ranks();
        Editable {
            task: schedule.task().clone(),
            segments: ranks
                .clone()
                .map(|rank| schedule.buffer_bytes(rank, Buffer::Segment))
                .collect(),
            programs: ranks
                .map(|rank| schedule.programs().actions(rank).map(EditableAction::from).collect())
                .collect(),
        }
    }
}

impl Editable {
    /// The schedule; `None` if an action has no such form.
    pub(crate) fn schedule(&self) -> Option<Result<Schedule, ScheduleError>> {
        let mut programs = Programs::new();
        for steps in &self.programs {
            for step in steps {
                let action = Action { port: step.port, deed: step.deed()? };
                programs.push(&action).expect("few actions");
            }
            programs.end_rank();
        }
        Some(Schedule::new(self.task.clone(), self.segments.clone(), programs))
    }
}
