//! Binding of a part to memory: the work of each step, and the requests of messages.

use super::bound::{BoundAction, BoundRegion, message_numbers};
use super::order::{Doing, Mode, Order};
use super::{
    Arrangement, Buffers, Execution, ExecutionError, Manner, Own, Places, Reduction, StepDeed,
};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::rc::Rc;
use tuwtree_binding::{CutElement, Direction, Few, Move, Place, Requests, Stretches};
use tuwtree_model::{Operation, Rank};
use tuwtree_schedule::{Buffer, Piece, Role};

/// Binds the actions to these buffers, in the room that the execution has.
///
/// # Errors
/// [`ExecutionError`].
pub(super) fn bind(
    execution: &mut Execution,
    (role, actions): (Role, Vec<BoundAction>),
    buffers: Buffers,
    (manner, arrangement): (Manner, Arrangement),
) -> Result<(), ExecutionError> {
    let communicator = &execution.communicator;
    let own = (communicator.rank(), communicator.size());
    if own != (role.rank, role.ranks) {
        let part = (role.rank, role.ranks);
        return Err(ExecutionError::OtherCommunicator { part, communicator: own });
    }
    check_sizes(&role, &buffers)?;
    let actions = placed(&role, actions, &buffers)?;
    if role.operation.is_reduction() {
        check_elements(&role, &buffers, &actions)?;
    }
    let Execution { requests, order, deeds, steps, beginning, .. } = execution;
    beginning.clear();
    execution.places = lay_out(&role, &buffers, (&actions, &execution.nothing), beginning)?;
    // Whether data is in place, arguments say, whatever the actions are like.
    if arrangement == Arrangement::New || execution.own != buffers.own {
        order.arrange(&actions, manner.mode);
    }
    debug_assert!(order.is_of(&actions, manner.mode), "actions like those before");
    requests.restart(manner.reuse);
    steps.clear();
    deeds.clear();
    let mut setup = StepSetup {
        role: &role,
        manner,
        actions: &actions,
        places: &execution.places,
        largest_tag: communicator.largest_tag(),
        requests,
        steps,
        stages: BTreeMap::new(),
    };
    setup.push_deeds(order, deeds)?;
    (execution.role, execution.reuse) = (role, manner.reuse);
    (execution.own, execution.reduction) = (buffers.own, buffers.reduction);
    Ok(())
}

/// Checks that the buffers are large enough for the part.
pub(super) fn check_sizes(role: &Role, buffers: &Buffers) -> Result<(), ExecutionError> {
    let (rank, operation) = (role.rank, role.operation);
    if buffers.reduction.is_some() != operation.is_reduction() {
        return Err(ExecutionError::Reduction { operation });
    }
    let mut needed = [Buffer::Input, Buffer::Output].map(|buffer| role.buffer_bytes(buffer));
    if buffers.own == Own::InPlace {
        let (all, own) = match role.operation {
            Operation::Scatter => (&buffers.input, &mut needed[1]),
            _ => (&buffers.output, &mut needed[0]),
        };
        let own_bytes = std::mem::take(own);
        let has_place = match role.operation {
            Operation::Gather | Operation::Scatter => {
                all.blocks() == role.ranks
                    && all.block(rank).is_some_and(|block| block.bytes == own_bytes)
            }
            other => other == Operation::Reduce,
        };
        if !role.is_root() || !has_place {
            return Err(ExecutionError::NoPlace { rank, own_bytes });
        }
    }
    let given = [(Buffer::Input, &buffers.input), (Buffer::Output, &buffers.output)];
    for ((buffer, place), needed) in given.into_iter().zip(needed) {
        let bytes = place.packed_bytes();
        if bytes != needed {
            return Err(ExecutionError::BufferSize { rank, buffer, bytes, needed });
        }
    }
    Ok(())
}

/// The actions, own data being where it is; without copies to where the data is.
fn placed(
    role: &Role,
    actions: Vec<BoundAction>,
    buffers: &Buffers,
) -> Result<Vec<BoundAction>, ExecutionError> {
    let Role { operation, rank, .. } = *role;
    if buffers.own != Own::InPlace {
        return Ok(actions);
    }
    let start = |all: &Place| all.block(rank).map_or(0, |block| block.offset);
    let mut placed = Vec::with_capacity(actions.len());
    for (index, mut action) in actions.into_iter().enumerate() {
        match operation {
            Operation::Gather => {
                action.relocate(Buffer::Input, Buffer::Output, start(&buffers.output));
            }
            Operation::Scatter => {
                action.relocate(Buffer::Output, Buffer::Input, start(&buffers.input));
            }
            // The vector is in its place, or there is no place.
            _ => {}
        }
        if action.copies_nothing() {
            continue;
        }
        if action.writes.as_ref().is_some_and(|(buffer, _)| *buffer == Buffer::Input) {
            return Err(ExecutionError::WritesInPlace { rank, action: index });
        }
        placed.push(action);
    }
    Ok(placed)
}

/// Checks that a reduction's elements are packed, and none is cut.
fn check_elements(
    role: &Role,
    buffers: &Buffers,
    actions: &[BoundAction],
) -> Result<(), ExecutionError> {
    let rank = role.rank;
    let Some(Reduction { datatype, .. }) = &buffers.reduction else { return Ok(()) };
    let packed = |place: &Place| place.is_packed() || place.packed_bytes() == 0;
    if !datatype.is_packed() || !packed(&buffers.input) || !packed(&buffers.output) {
        return Err(ExecutionError::NotPacked { rank });
    }
    let element = datatype.size();
    for (index, action) in actions.iter().enumerate().filter(|(_, action)| action.combines()) {
        for piece in action.writes.iter().flat_map(|(_, pieces)| pieces) {
            let Piece { offset, bytes } = *piece;
            if !offset.is_multiple_of(element) || !bytes.is_multiple_of(element) {
                let fault = CutElement { offset, bytes, element };
                return Err(ExecutionError::Cut { rank, action: index, fault });
            }
        }
    }
    Ok(())
}

/// Places of all buffers; adds the initial copies: in a reduction, segments and outputs hold the own vector, as far as
/// they have room.
fn lay_out(
    role: &Role,
    buffers: &Buffers,
    (actions, nothing): (&[BoundAction], &Rc<Place>),
    beginning: &mut Vec<Move>,
) -> Result<Places, ExecutionError> {
    let own = buffers.own;
    let [mut input, output] = [&buffers.input, &buffers.output].map(Rc::clone);
    let segment = match role.segment_bytes {
        0 => Rc::clone(nothing),
        bytes => Rc::new(Place::of_bytes(bytes)?),
    };
    let first = |place: &Rc<Place>, bytes| {
        place.stretches(&[Piece { offset: 0, bytes }]).expect("a reduction's data is packed")
    };
    let mut copy = |from: &Rc<Place>, into: &Rc<Place>| {
        let bytes = from.packed_bytes().min(into.packed_bytes());
        if bytes > 0 {
            beginning.push(Move::new(&first(from, bytes), &first(into, bytes)));
        }
    };
    let is_reduction = role.operation.is_reduction();
    let reads_input = |action: &BoundAction| {
        action.reads.as_ref().is_some_and(|(buffer, _)| *buffer == Buffer::Input)
    };
    if is_reduction && own == Own::InPlace {
        // What is sent of the input stays what it was, whatever is combined with it.
        if actions.iter().any(reads_input) {
            input = Rc::new(Place::of_bytes(role.own_bytes)?);
        }
    }
    if is_reduction {
        match own {
            Own::InPlace => {
                copy(&output, &input);
                copy(&output, &segment);
            }
            Own::Apart => {
                copy(&input, &output);
                copy(&input, &segment);
            }
        }
    }
    Ok(Places { input, segment, output })
}

struct StepSetup<'a> {
    role: &'a Role,
    manner: Manner,
    actions: &'a [BoundAction],
    places: &'a Places,
    largest_tag: u32,
    requests: &'a mut Requests,
    steps: &'a mut Few<u32>,
    /// Staging memory of data to combine: per port in strict order, per action otherwise.
    stages: BTreeMap<u32, Rc<Place>>,
}

impl StepSetup<'_> {
    /// Adds the work of each step.
    fn push_deeds(
        &mut self,
        order: &Order,
        deeds: &mut Vec<StepDeed>,
    ) -> Result<(), ExecutionError> {
        self.make_stages()?;
        let numbers = message_numbers(self.actions);
        deeds.reserve(order.steps.len());
        for (number, step) in (0..).zip(&order.steps) {
            let (index, doing) = (step.action as usize, step.doing);
            let deed = match doing {
                Doing::Copy => self.copy(index)?,
                Doing::Send => {
                    self.steps.push(number);
                    self.send(index, numbers[index].0)?
                }
                Doing::Receive => {
                    self.steps.push(number);
                    self.receive(index, numbers[index].1)?
                }
                Doing::Combine => self.combine(index)?,
            };
            deeds.push(deed);
        }
        Ok(())
    }

    fn stage_key(&self, index: usize) -> u32 {
        match self.manner.mode {
            Mode::Strict => u32::from(self.actions[index].port),
            Mode::Eager => index as u32,
        }
    }

    fn make_stages(&mut self) -> Result<(), ExecutionError> {
        if !self.actions.iter().any(BoundAction::combines) {
            return Ok(());
        }
        let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
        for (index, action) in self.actions.iter().enumerate().filter(|(_, one)| one.combines()) {
            let size = sizes.entry(self.stage_key(index)).or_default();
            *size = (*size).max(bytes_of(action.writes.as_ref()));
        }
        for (key, bytes) in sizes {
            self.stages.insert(key, Rc::new(Place::of_bytes(bytes)?));
        }
        Ok(())
    }

    fn stretches(
        &self,
        index: usize,
        region: Option<&BoundRegion>,
    ) -> Result<Stretches, ExecutionError> {
        let (buffer, pieces) = region.expect("the step has this region");
        let stretches = self.places.get(*buffer).stretches(pieces);
        stretches.map_err(|fault| ExecutionError::Cut {
            rank: self.role.rank,
            action: index,
            fault,
        })
    }

    fn copy(&self, index: usize) -> Result<StepDeed, ExecutionError> {
        let action = &self.actions[index];
        let from = self.stretches(index, action.reads.as_ref())?;
        let into = self.room(index)?;
        Ok(match from.is_packed() && into.is_packed() {
            true => StepDeed::Copy(Move::new(&from, &into)),
            false => StepDeed::CopyByMessage(Box::new((from, into))),
        })
    }

    fn send(&mut self, index: usize, number: u32) -> Result<StepDeed, ExecutionError> {
        let action = &self.actions[index];
        let (peer, _) = action.send.expect("the step sends");
        let data = self.stretches(index, action.reads.as_ref())?;
        let to = (peer, self.tag(peer, number)?);
        Ok(StepDeed::Message(self.requests.add(Direction::Out, data.transfer(), to)?))
    }

    fn receive(&mut self, index: usize, number: u32) -> Result<StepDeed, ExecutionError> {
        let action = &self.actions[index];
        let (peer, _) = action.receive.expect("the step receives");
        let room = self.room(index)?;
        let from = (peer, self.tag(peer, number)?);
        let least = self.manner.strictness.least(bytes_of(action.writes.as_ref()));
        Ok(StepDeed::Message(self.requests.add_room(room.transfer(), from, least)?))
    }

    /// First place of an action's received or copied data: its stage if combined, else its destination.
    fn room(&self, index: usize) -> Result<Stretches, ExecutionError> {
        let action = &self.actions[index];
        if !action.combines() {
            return self.stretches(index, action.writes.as_ref());
        }
        let bytes = bytes_of(action.writes.as_ref());
        let stage = &self.stages[&self.stage_key(index)];
        Ok(stage.stretches(&[Piece { offset: 0, bytes }]).expect("stages are packed"))
    }

    fn combine(&self, index: usize) -> Result<StepDeed, ExecutionError> {
        let action = &self.actions[index];
        let into = self.stretches(index, action.writes.as_ref())?;
        let stage = Rc::clone(&self.stages[&self.stage_key(index)]);
        Ok(StepDeed::Combine { stage, into, arrival: action.arrival })
    }

    fn tag(&self, peer: Rank, number: u32) -> Result<c_int, ExecutionError> {
        let tag = u64::from(number) + self.manner.first_tag as u64;
        match c_int::try_from(tag) {
            Ok(known) if tag <= u64::from(self.largest_tag) => Ok(known),
            _ => Err(ExecutionError::TooManyMessages {
                rank: self.role.rank,
                peer,
                messages: u64::from(number) + 1,
                tags: u64::from(self.largest_tag) + 1,
            }),
        }
    }
}

fn bytes_of(region: Option<&BoundRegion>) -> u64 {
    region.iter().flat_map(|(_, pieces)| pieces).map(|piece| piece.bytes).sum()
}
