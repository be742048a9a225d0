//! Source of every byte: performs copies and messages with symbols for data.
//!
//! ```text
//! gather, rank 1 the root     rank 0: input      rank 1: input     rank 1: output
//! at first                    0.0 0.1            1.0               ?   ?   ?
//! event: message 0 -> 1       0.0 0.1 --read-- data --write------> 0.0 0.1 ?
//! event: copy                                    1.0 --------->    0.0 0.1 1.0
//! at the end                                                       is what belongs there
//!
//! Faults: ? is read; an output's byte is overwritten; an operand is out of order; a byte is another.
//! ```

use super::contents::{ByteRun, ByteSource, Contents, Wanted};
use super::contributions::{ScatteredValue, Values, Wrong};
use super::matching::{MatchedMessage, MatchedMessages};
use super::progress::Event;
use super::{Actions, Fault};
use crate::action::{Arrival, Buffer, Deed, Receive, Region};
use std::collections::{BTreeMap, BTreeSet};
use tuwtree_model::{Operation, Order, Payload, PayloadKind, Rank};

/// Result of the check.
pub(super) struct Flow {
    /// Gather and scatter: moved data, for the check of held data.
    pub(super) moved: Option<Moved>,
    /// Otherwise: the strictest order that is kept.
    pub(super) order: Order,
    /// Number of bytes that came to outputs which had them.
    pub(super) redundant_bytes: u128,
    /// In an allreduce, whether all outputs have the same values.
    pub(super) same_bracketing: Option<bool>,
}

/// The data that actions move: for each message or copy its run, where it is one.
pub(super) struct Moved {
    /// The data of each message, by its number; `None` where it is no single run.
    pub(super) by_message: Vec<Option<ByteRun>>,
    /// For each action that is a copy.
    pub(super) by_copy: Vec<Option<ByteRun>>,
}

/// Performs all events and checks all outputs.
///
/// # Errors
/// Data used before it is there, written twice, misplaced, missing; wrong reductions.
pub(super) fn run(
    actions: &Actions<'_>,
    messages: &MatchedMessages,
    events: &[Event],
) -> Result<Flow, Fault> {
    let mut state = FlowState::new(actions);
    let mut moved =
        Moved { by_message: vec![None; messages.list.len()], by_copy: vec![None; actions.len()] };
    for &event in events {
        match event {
            Event::Copy(index) => {
                let Deed::Copy { from, into, arrival } = actions.get(index).deed else { continue };
                let data = state.read(index, from)?;
                moved.by_copy[index as usize] = data.as_run();
                state.write(index, into, arrival, data)?;
            }
            Event::Message(number) => {
                let MatchedMessage { send, receive } = messages.list[number as usize];
                let (sending, receiving) =
                    (actions.get(send).send(), actions.get(receive).receive());
                let (Some(sending), Some(receiving)) = (sending, receiving) else { continue };
                let data = state.read(send, sending.from)?;
                moved.by_message[number as usize] = data.as_run();
                state.receive(receive, receiving, data)?;
                state.combine_what_waits(send)?;
            }
        }
    }
    let same_bracketing = state.check_outputs()?;
    let operation = actions.schedule.task().operation;
    let passes_on_once = operation.passes_on_once();
    let FlowState { order, redundant_bytes, .. } = state;
    Ok(Flow { moved: passes_on_once.then_some(moved), order, redundant_bytes, same_bracketing })
}

struct FlowState<'a> {
    actions: &'a Actions<'a>,
    segments: Vec<Contents>,
    outputs: Vec<Contents>,
    values: Values,
    /// The strictest order that all combinations so far keep.
    order: Order,
    /// By action: its received data, which is combined when an awaited send has ended.
    received: BTreeMap<u32, Contents>,
    /// The actions whose sends other actions may await.
    sent: BTreeSet<u32>,
    redundant_bytes: u128,
}

impl<'a> FlowState<'a> {
    fn new(actions: &'a Actions<'a>) -> FlowState<'a> {
        let ranks = actions.schedule.ranks();
        let mut state = FlowState {
            actions,
            segments: Vec::with_capacity(ranks),
            outputs: Vec::with_capacity(ranks),
            values: Values::new(ranks, actions.len()),
            order: Order::Ordered,
            received: BTreeMap::new(),
            sent: BTreeSet::new(),
            redundant_bytes: 0,
        };
        for rank in 0..ranks {
            state.segments.push(state.at_first(rank, Buffer::Segment));
            state.outputs.push(state.at_first(rank, Buffer::Output));
        }
        state
    }

    /// Initial contents of a buffer.
    fn at_first(&self, rank: Rank, buffer: Buffer) -> Contents {
        let schedule = self.actions.schedule;
        let (task, bytes) = (schedule.task(), schedule.buffer_bytes(rank, buffer));
        let start = self.place(rank, buffer);
        let data = Contents::of(ByteRun { source: ByteSource::Data, start, bytes });
        match (task.operation, buffer) {
            (operation, _) if operation.is_reduction() => {
                let own = bytes.min(task.total());
                let vector =
                    ByteRun { source: ByteSource::Value(rank as u32), start: 0, bytes: own };
                Contents::of(vector).then(Contents::nothing(bytes - own))
            }
            (_, Buffer::Input) => data,
            (Operation::Allgather, Buffer::Output) => {
                let (before, own) = (self.place(rank, Buffer::Input), task.own(rank));
                let source = ByteSource::Data;
                let block = Contents::of(ByteRun { source, start: before, bytes: own });
                let behind = Contents::nothing(bytes - before - own);
                Contents::nothing(before).then(block).then(behind)
            }
            (operation, Buffer::Output) if operation.payload_kind() == PayloadKind::Messages => {
                self.work_room(rank, bytes)
            }
            (Operation::IntergroupAllgather, Buffer::Segment) => self.group_room(rank, bytes),
            (Operation::Broadcast, Buffer::Output) if task.root == Some(rank) => data,
            (_, Buffer::Output) if schedule.ranks() == 1 => data,
            (_, Buffer::Output | Buffer::Segment) => Contents::nothing(bytes),
        }
    }

    /// Initial contents of an alltoall's output: the message to oneself in its place, and behind the room for all
    /// messages the rank's input.
    fn work_room(&self, rank: Rank, bytes: u64) -> Contents {
        let task = self.actions.schedule.task();
        let Payload::Messages(sizes) = &task.payload else { return Contents::nothing(bytes) };
        let given = |start, bytes| {
            Contents::of(ByteRun {
                source: ByteSource::Data,
                start: sizes.before(rank, start),
                bytes,
            })
        };
        let (column, row, place) = (sizes.column(rank), sizes.row(rank), sizes.place(rank, rank));
        let own = sizes.message(rank, rank);
        Contents::nothing(place)
            .then(given(rank, own))
            .then(Contents::nothing(column - place - own))
            .then(given(0, row))
            .then(Contents::nothing(bytes - column - row))
    }

    /// Initial contents of an intergroup allgather's segment: the own block in its place among the group's, as far as
    /// there is room.
    fn group_room(&self, rank: Rank, bytes: u64) -> Contents {
        let task = self.actions.schedule.task();
        let Payload::Groups(sizes) = &task.payload else { return Contents::nothing(bytes) };
        let start = sizes.blocks().before(rank);
        let before = (start - sizes.own_group(rank).start).min(bytes);
        let own = task.own(rank).min(bytes - before);
        let block = Contents::of(ByteRun { source: ByteSource::Data, start, bytes: own });
        let behind = Contents::nothing(bytes - before - own);
        Contents::nothing(before).then(block).then(behind)
    }

    /// The number, among the operation's data, of the byte that belongs at this offset of an output; `None`
    /// where none does.
    fn belongs(&self, rank: Rank, offset: u64) -> Option<u64> {
        match &self.actions.schedule.task().payload {
            Payload::Messages(sizes) => {
                (offset < sizes.column(rank)).then(|| sizes.at_place(rank, offset))
            }
            Payload::Blocks(_) | Payload::Vector(_) | Payload::Groups(_) => {
                Some(self.place(rank, Buffer::Output) + offset)
            }
        }
    }

    /// Byte of the operation's data with which an input or output begins.
    fn place(&self, rank: Rank, buffer: Buffer) -> u64 {
        let task = self.actions.schedule.task();
        match (&task.payload, task.operation, buffer) {
            (Payload::Blocks(sizes), Operation::Gather | Operation::Allgather, Buffer::Input)
            | (Payload::Blocks(sizes), Operation::Scatter, Buffer::Output) => sizes.before(rank),
            (Payload::Messages(sizes), _, Buffer::Input) => sizes.before(rank, 0),
            (Payload::Groups(sizes), _, Buffer::Input) => sizes.blocks().before(rank),
            (Payload::Groups(sizes), _, Buffer::Output) => sizes.other_group(rank).start,
            _ => 0,
        }
    }

    fn read(&self, index: u32, region: Region<'_>) -> Result<Contents, Fault> {
        let rank = self.actions.rank(index);
        let input;
        let buffer = match region.buffer {
            Buffer::Input => {
                input = self.at_first(rank, Buffer::Input);
                &input
            }
            Buffer::Segment => &self.segments[rank],
            Buffer::Output => &self.outputs[rank],
        };
        let mut data = Contents::default();
        for piece in region.pieces {
            let part = buffer.part(piece.offset, piece.bytes);
            if let Some(offset) = part.find(Wanted::NotWritten) {
                return Err(Fault::ReadBeforeWritten {
                    at: self.actions.at(index),
                    doing: self.actions.doing(index),
                    buffer: region.buffer,
                    offset: piece.offset + offset,
                });
            }
            data = data.then(part);
        }
        Ok(data)
    }

    /// The action that must have sent before what this one receives is combined: itself, if it is an exchange; on a
    /// duplex port the last that sends.
    fn awaited(&self, index: u32) -> Option<u32> {
        let action = self.actions.get(index);
        let holds = &self.actions.holds;
        match holds.are_actions() {
            true => action.send().and(action.combines()).map(|_| index),
            false => {
                let send = holds.awaited_send(holds.receiving(index as usize))?;
                Some(holds.action(send) as u32)
            }
        }
    }

    /// Writes a message that has come; combined data waits for the awaited send.
    fn receive(&mut self, index: u32, receiving: Receive<'_>, data: Contents) -> Result<(), Fault> {
        if self.awaited(index).is_some_and(|send| !self.sent.contains(&send)) {
            self.received.insert(index, data);
            return Ok(());
        }
        self.write(index, receiving.into, receiving.arrival, data)
    }

    /// Combines received data that awaited this action's send.
    fn combine_what_waits(&mut self, index: u32) -> Result<(), Fault> {
        let actions = self.actions;
        let holds = &actions.holds;
        let awaiting: Vec<u32> = match holds.are_actions() {
            true => self.awaited(index).into_iter().collect(),
            false => {
                let receives = holds.awaiting(holds.sending(index as usize));
                receives.map(|hold| holds.action(hold) as u32).collect()
            }
        };
        if !awaiting.is_empty() {
            self.sent.insert(index);
        }
        for receive in awaiting {
            if let Some(data) = self.received.remove(&receive)
                && let Some(receiving) = actions.get(receive).receive()
            {
                self.write(receive, receiving.into, receiving.arrival, data)?;
            }
        }
        Ok(())
    }

    fn write(
        &mut self,
        index: u32,
        region: Region<'_>,
        arrival: Arrival,
        data: Contents,
    ) -> Result<(), Fault> {
        let rank = self.actions.rank(index);
        let mut rest = data;
        for piece in region.pieces {
            let (mut part, tail) = rest.split(piece.bytes);
            rest = tail;
            let there = self.buffer(rank, region.buffer).part(piece.offset, piece.bytes);
            if arrival != Arrival::Store {
                part =
                    self.combine(index, arrival, &part, &there, (region.buffer, piece.offset))?;
            } else if region.buffer == Buffer::Output {
                self.check_not_overwritten(index, &part, &there, piece.offset)?;
            }
            let buffer = self.buffer(rank, region.buffer);
            *buffer = buffer.with(piece.offset, piece.bytes, part);
        }
        Ok(())
    }

    fn buffer(&mut self, rank: Rank, buffer: Buffer) -> &mut Contents {
        match buffer {
            Buffer::Segment => &mut self.segments[rank],
            Buffer::Input | Buffer::Output => &mut self.outputs[rank],
        }
    }

    /// Fails if other data is overwritten in an output; equal data may arrive.
    fn check_not_overwritten(
        &mut self,
        index: u32,
        part: &Contents,
        there: &Contents,
        at: u64,
    ) -> Result<(), Fault> {
        if self.actions.schedule.task().operation.is_reduction() {
            return self.count_results_again(part, there);
        }
        let Some(written) = there.find(Wanted::Written) else { return Ok(()) };
        let rank = self.actions.rank(index);
        if self.belongs(rank, at + written).is_none() {
            return Ok(());
        }
        let Some(offset) = self.first_overwritten(part, there)? else { return Ok(()) };
        let offset = at + offset;
        let Some(place) = self.belongs(rank, offset) else { return Ok(()) };
        Err(Fault::WrittenTwice {
            at: self.actions.at(index),
            offset,
            place: self.actions.datum(place),
            before: self.writer(rank, offset, Some(index)),
        })
    }

    /// The first byte in the buffer that differs from the arriving one; counts equal bytes.
    fn first_overwritten(
        &mut self,
        part: &Contents,
        there: &Contents,
    ) -> Result<Option<u64>, Fault> {
        let once = self.actions.schedule.task().operation.passes_on_once();
        let (mut coming, mut present) = (part.runs(), there.runs());
        let (mut new, mut old) = (coming.next(), present.next());
        let mut done = 0;
        while let (Some(next), Some(held)) = (new, old) {
            self.values.step()?;
            let bytes = next.bytes.min(held.bytes);
            if held.source != ByteSource::Nothing {
                if once || next.start != held.start {
                    return Ok(Some(done));
                }
                self.redundant_bytes += u128::from(bytes);
            }
            done += bytes;
            new = if next.bytes > bytes { Some(next.from(bytes)) } else { coming.next() };
            old = if held.bytes > bytes { Some(held.from(bytes)) } else { present.next() };
        }
        Ok(None)
    }

    /// Counts the bytes of complete results that come to where they are.
    fn count_results_again(&mut self, part: &Contents, there: &Contents) -> Result<(), Fault> {
        let (mut coming, mut present) = (part.runs(), there.runs());
        let (mut new, mut old) = (coming.next(), present.next());
        while let (Some(next), Some(held)) = (new, old) {
            self.values.step()?;
            let bytes = next.bytes.min(held.bytes);
            if let ByteSource::Value(value) = next.source
                && (next.source, next.start) == (held.source, held.start)
                && self.values.is_complete(value)?
            {
                self.redundant_bytes += u128::from(bytes);
            }
            new = if next.bytes > bytes { Some(next.from(bytes)) } else { coming.next() };
            old = if held.bytes > bytes { Some(held.from(bytes)) } else { present.next() };
        }
        Ok(())
    }

    /// The last action in the list, but this one, that writes a byte of a rank's output.
    fn writer(&self, rank: Rank, offset: u64, but: Option<u32>) -> Option<usize> {
        let writes = |region: Region<'_>| {
            let has_it = |piece: &crate::Piece| (piece.offset..piece.end()).contains(&offset);
            region.buffer == Buffer::Output && region.pieces.iter().any(has_it)
        };
        let range = self.actions.schedule.programs().range(rank);
        let others = range.clone().rev().filter(|&index| Some(index as u32) != but);
        let mut writers =
            others.filter(|&index| self.actions.get(index as u32).writes().is_some_and(writes));
        writers.next().map(|index| index - range.start)
    }

    /// The combination of arriving data with data in the buffer, byte by byte.
    fn combine(
        &mut self,
        index: u32,
        arrival: Arrival,
        part: &Contents,
        there: &Contents,
        (buffer, offset): (Buffer, u64),
    ) -> Result<Contents, Fault> {
        let at = self.actions.at(index);
        if let Some(missing) = there.find(Wanted::NotWritten) {
            let doing = self.actions.doing(index);
            return Err(Fault::ReadBeforeWritten { at, doing, buffer, offset: offset + missing });
        }
        let (mut arriving, mut held) = (part.runs(), there.runs());
        let (mut new, mut old) = (arriving.next(), held.next());
        let mut result = Contents::default();
        let (mut done, mut last) = (0, None);
        while let (Some(received), Some(present)) = (new, old) {
            self.values.step()?;
            if received.start != present.start {
                let offset = offset + done;
                let (received, held) = (received.start, present.start);
                return Err(Fault::Misaligned { at, buffer, offset, received, held });
            }
            let pair = (received.source, present.source);
            let value = match last {
                Some((before, value)) if before == pair => value,
                _ => self.combine_values(index, arrival, pair)?,
            };
            last = Some((pair, value));
            let bytes = received.bytes.min(present.bytes);
            let run = ByteRun { source: ByteSource::Value(value), start: received.start, bytes };
            result = result.then(Contents::of(run));
            done += bytes;
            new = if received.bytes > bytes { Some(received.from(bytes)) } else { arriving.next() };
            old = if present.bytes > bytes { Some(present.from(bytes)) } else { held.next() };
        }
        Ok(result)
    }

    fn combine_values(
        &mut self,
        index: u32,
        arrival: Arrival,
        pair: (ByteSource, ByteSource),
    ) -> Result<u32, Fault> {
        let (ByteSource::Value(received), ByteSource::Value(held)) = pair else {
            unreachable!("in a reduction, all that is written are values")
        };
        let (left, right) = match arrival {
            Arrival::CombineLeft => (received, held),
            Arrival::Store | Arrival::CombineRight => (held, received),
        };
        let value = self.values.combine(left, right, index);
        // Without a root, what does not get into a result may be anything.
        if self.actions.schedule.task().operation.is_rooted() {
            let scattered = self.values.scattered(value);
            self.check_adjacent(scattered.map(|found| ScatteredValue { action: index, ..found }))?;
        }
        Ok(value)
    }

    /// Notes the order that is kept by a combination, if it is one of contributions that are not neighbours
    /// in order, and fails if that is less than promised.
    fn check_adjacent(&mut self, scattered: Option<ScatteredValue>) -> Result<(), Fault> {
        let Some(scattered) = scattered else { return Ok(()) };
        let task = self.actions.schedule.task();
        let at_root = task.root == Some(self.actions.rank(scattered.action));
        let kept = if at_root { Order::Direct } else { Order::Any };
        if kept > task.order {
            return Err(Fault::NotAdjacent {
                at: self.actions.at(scattered.action),
                left: scattered.left,
                right: scattered.right,
                order: task.order,
            });
        }
        self.order = self.order.max(kept);
        Ok(())
    }

    /// Fails unless all outputs have what belongs there; in an allreduce, whether they have the same values.
    fn check_outputs(&mut self) -> Result<Option<bool>, Fault> {
        let outputs = std::mem::take(&mut self.outputs);
        let task = self.actions.schedule.task();
        for (rank, output) in outputs.iter().enumerate() {
            if task.operation.is_reduction() {
                let start = match &task.payload {
                    Payload::Blocks(_) => self.actions.block_start(rank),
                    _ => 0,
                };
                if task.root.is_none_or(|root| root == rank) {
                    self.check_result(rank, &output.part(start, task.own(rank)), start)?;
                }
                continue;
            }
            if matches!(task.payload, Payload::Messages(_)) {
                self.check_messages(rank, output)?;
                continue;
            }
            self.check_run(rank, output, 0, self.place(rank, Buffer::Output))?;
            if let (Some(first), None) = (output.first(), output.as_run()) {
                let offset = first.bytes;
                let rest = output.split(offset).1;
                let place = self.place(rank, Buffer::Output) + offset;
                self.check_run(rank, &rest, offset, place)?;
            }
        }
        // Runs are never longer or shorter than they have to be.
        let are_same = || outputs.windows(2).all(|pair| pair[0].runs().eq(pair[1].runs()));
        Ok((task.operation == Operation::Allreduce).then(are_same))
    }

    /// Fails unless an output begins with all messages to the rank.
    fn check_messages(&self, rank: Rank, output: &Contents) -> Result<(), Fault> {
        let Payload::Messages(sizes) = &self.actions.schedule.task().payload else { return Ok(()) };
        for sender in 0..sizes.ranks() {
            let (start, number) = (sizes.place(sender, rank), sizes.before(sender, rank));
            let message = output.part(start, sizes.message(sender, rank));
            let mut offset = 0;
            for run in message.runs() {
                let there = Contents::of(run);
                self.check_run(rank, &there, start + offset, number + offset)?;
                offset += run.bytes;
            }
        }
        Ok(())
    }

    /// Fails if the output does not go on, from this offset, with the byte that belongs there. Where
    /// the first run is right and there is a second, that is wrong: else both were one.
    fn check_run(&self, rank: Rank, rest: &Contents, offset: u64, place: u64) -> Result<(), Fault> {
        let Some(run) = rest.first() else { return Ok(()) };
        let belongs = self.actions.datum(place);
        match run.source {
            ByteSource::Nothing => Err(Fault::Missing { rank, offset, place: belongs }),
            _ if run.start == place => Ok(()),
            _ => Err(Fault::Misplaced {
                rank,
                offset,
                place: belongs,
                found: self.actions.datum(run.start),
                written: self.writer(rank, offset, None),
            }),
        }
    }

    /// Fails unless that part of an output, from this offset on, is the result.
    fn check_result(&mut self, rank: Rank, part: &Contents, start: u64) -> Result<(), Fault> {
        let mut offset = start;
        let mut right = None;
        for run in part.runs() {
            self.values.step()?;
            self.check_run(rank, &Contents::of(run), offset, offset)?;
            if right != Some(run.source)
                && let ByteSource::Value(value) = run.source
            {
                self.check_adjacent(self.values.scattered_within(value))?;
                self.values.check_complete(value).map_err(|wrong| match wrong {
                    Wrong::Lacks(rank) => Fault::NoContribution { rank, offset },
                    Wrong::Twice(rank, action) => {
                        Fault::ContributionTwice { rank, offset, at: self.actions.at(action) }
                    }
                    Wrong::TooIntricate(fault) => fault,
                })?;
            }
            right = Some(run.source);
            offset += run.bytes;
        }
        Ok(())
    }
}
