//! What becomes of a schedule, found out in the plainest way: every byte by itself, one action after
//! the other wherever one can go on, in an order drawn at random.

use super::editable::{Editable, EditableAction, EditableRegion};
use std::collections::{BTreeMap, BTreeSet};
use tuwtree_model::{Operation, Rank};
use tuwtree_schedule::{Arrival, Buffer, Order, Payload};

/// What one byte of a buffer is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Byte {
    Nothing,
    /// A byte of the blocks or of the vector.
    Data(u64),
    /// In a reduction: which byte of the vector, and whose contributions, as operands from left to
    /// right.
    Sum(u64, Vec<Rank>),
}

/// An action: rank and index.
type At = (Rank, usize);

/// The strictest order that is kept, if the schedule is right.
pub(crate) fn judge(schedule: &Editable, seed: u64) -> Result<Order, String> {
    let partner = partners(schedule)?;
    for (rank, steps) in schedule.programs.iter().enumerate() {
        check_alone(steps).map_err(|fault| format!("rank {rank}: {fault}"))?;
        check_races(steps, schedule.task.duplex).or_else(|fault| match schedule.task.duplex {
            true => check_arrivals(schedule, &partner, rank),
            false => Err(format!("rank {rank}: {fault}")),
        })?;
    }
    let mut machine = OracleMachine::new(schedule);
    machine.run(&partner, seed)?;
    machine.check_outputs()?;
    let kept = match schedule.task.operation {
        Operation::Gather | Operation::Scatter => order_of_holdings(schedule, &machine),
        Operation::Broadcast | Operation::Reduce => machine.order,
        Operation::Allgather | Operation::Alltoall | Operation::IntergroupAllgather => {
            machine.order
        }
        Operation::ReduceScatter | Operation::Allreduce => machine.order_of_results(),
    };
    match kept <= schedule.task.order {
        true => Ok(kept),
        false => Err(format!("the order is only {kept:?}")),
    }
}

/// The sends and the receives of messages with one sender, receiver and tag.
type Ends = (Vec<At>, Vec<At>);

/// For each send the receive that belongs to it.
fn partners(schedule: &Editable) -> Result<BTreeMap<At, At>, String> {
    let mut queues: BTreeMap<(Rank, Rank, u32), Ends> = BTreeMap::new();
    for (rank, steps) in schedule.programs.iter().enumerate() {
        for (index, step) in steps.iter().enumerate() {
            if let Some(send) = step.send {
                queues.entry((rank, send.peer, send.tag)).or_default().0.push((rank, index));
            }
            if let Some(receive) = step.receive {
                queues.entry((receive.peer, rank, receive.tag)).or_default().1.push((rank, index));
            }
        }
    }
    let mut partner = BTreeMap::new();
    for (sends, receives) in queues.into_values() {
        if sends.len() != receives.len() {
            return Err("a message has one end".into());
        }
        for (send, receive) in sends.into_iter().zip(receives) {
            let bytes = |place: &Option<EditableRegion>| place.as_ref().unwrap().bytes();
            let (sent, expected) =
                (&schedule.programs[send.0][send.1], &schedule.programs[receive.0][receive.1]);
            if bytes(&sent.from) != bytes(&expected.into) {
                return Err("a message has two sizes".into());
            }
            partner.insert(send, receive);
        }
    }
    Ok(partner)
}

/// The bytes of a place, one by one.
fn bytes_of(place: &EditableRegion) -> impl Iterator<Item = (Buffer, u64)> + '_ {
    let bytes = |piece: &tuwtree_schedule::Piece| piece.offset..piece.offset + piece.bytes;
    place.pieces.iter().flat_map(bytes).map(|offset| (place.buffer, offset))
}

fn read_by(step: &EditableAction) -> BTreeSet<(Buffer, u64)> {
    step.from.iter().flat_map(bytes_of).collect()
}

fn written_by(step: &EditableAction) -> BTreeSet<(Buffer, u64)> {
    step.into.iter().flat_map(bytes_of).collect()
}

fn check_alone(steps: &[EditableAction]) -> Result<(), String> {
    for step in steps {
        let written = written_by(step);
        let number = step.into.iter().flat_map(bytes_of).count();
        let combines = step.receive.is_some() && step.arrival != Arrival::Store;
        if written.len() != number || !combines && !written.is_disjoint(&read_by(step)) {
            return Err("an action overlaps itself".into());
        }
    }
    Ok(())
}

/// What of a port something is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OracleSide {
    Both,
    Sends,
    Receives,
}

/// What an action is on a port: itself, or on a duplex port, its halves.
fn sides(step: &EditableAction, duplex: bool) -> Vec<OracleSide> {
    let messages =
        [(step.send.is_some(), OracleSide::Sends), (step.receive.is_some(), OracleSide::Receives)];
    match duplex && (step.send.is_some() || step.receive.is_some()) {
        true => messages.iter().filter(|(is_there, _)| *is_there).map(|&(_, side)| side).collect(),
        false => vec![OracleSide::Both],
    }
}

/// Whether both cannot go on at once.
fn share(
    (one, side): (&EditableAction, OracleSide),
    (other, its_side): (&EditableAction, OracleSide),
) -> bool {
    let sides = [side, its_side];
    one.port == other.port && (side == its_side || sides.contains(&OracleSide::Both))
}

/// Whether this side of an action waits for all receives and copies before it.
fn waits(step: &EditableAction, side: OracleSide) -> bool {
    let reads = step.from.as_ref().is_some_and(|from| from.buffer != Buffer::Input);
    let combines = step.arrival != Arrival::Store;
    (reads && side != OracleSide::Receives) || (combines && side != OracleSide::Sends)
}

/// Whether this side of an action writes.
fn writes(step: &EditableAction, side: OracleSide) -> bool {
    side != OracleSide::Sends && step.into.is_some()
}

/// Something on a port: the index of its action, the action, and the side.
type OnPort<'a> = (usize, &'a EditableAction, OracleSide);

fn on_ports(steps: &[EditableAction], duplex: bool) -> Vec<OnPort<'_>> {
    let of_step = |(index, step)| {
        sides(step, duplex).into_iter().map(move |side| (index, step, side)).collect::<Vec<_>>()
    };
    steps.iter().enumerate().flat_map(of_step).collect()
}

/// Whether the first of two, listed earlier, has ended when the other starts, or writes what it combines.
fn precedes((first, one, side): OnPort<'_>, (second, other, its_side): OnPort<'_>) -> bool {
    match first == second {
        // What is combined waits until the other half has sent.
        true => other.arrival != Arrival::Store,
        false => {
            let is_combined_after = [side, its_side] == [OracleSide::Sends, OracleSide::Receives]
                && one.port == other.port
                && other.arrival != Arrival::Store;
            share((one, side), (other, its_side))
                || (waits(other, its_side) && writes(one, side))
                || is_combined_after
        }
    }
}

fn conflict(first: OnPort<'_>, second: OnPort<'_>) -> bool {
    let read = |(_, step, side): OnPort<'_>| match side {
        OracleSide::Receives => BTreeSet::new(),
        OracleSide::Both | OracleSide::Sends => read_by(step),
    };
    let written = |(_, step, side): OnPort<'_>| match side {
        OracleSide::Sends => BTreeSet::new(),
        OracleSide::Both | OracleSide::Receives => written_by(step),
    };
    !written(first).is_disjoint(&written(second))
        || !written(first).is_disjoint(&read(second))
        || !read(first).is_disjoint(&written(second))
}

/// Two actions that nobody puts in order, of which one writes what the other uses.
fn check_races(steps: &[EditableAction], duplex: bool) -> Result<(), String> {
    let all = on_ports(steps, duplex);
    let number = all.len();
    let mut before = vec![vec![false; number]; number];
    for late in 0..number {
        for early in 0..late {
            before[early][late] = precedes(all[early], all[late]);
        }
    }
    for middle in 0..number {
        for early in 0..number {
            for late in 0..number {
                before[early][late] |= before[early][middle] && before[middle][late];
            }
        }
    }
    for late in 0..number {
        for early in 0..late {
            if conflict(all[early], all[late]) && !before[early][late] {
                return Err(format!("actions {} and {} race", all[early].0, all[late].0));
            }
        }
    }
    Ok(())
}

/// The same for a rank on duplex ports, where what is received may also come too late to race, since it depends
/// on what is sent: by the waiting of all ranks.
fn check_arrivals(
    schedule: &Editable,
    partner: &BTreeMap<At, At>,
    suspect: Rank,
) -> Result<(), String> {
    let programs = schedule.programs.iter().enumerate();
    let all: Vec<(Rank, OnPort<'_>)> = programs
        .flat_map(|(rank, steps)| on_ports(steps, true).into_iter().map(move |on| (rank, on)))
        .collect();
    let number = all.len();
    let place = |at: At, side: OracleSide| {
        all.iter().position(|&(rank, (index, _, its))| (rank, index, its) == (at.0, at.1, side))
    };
    let messages: Vec<(usize, usize)> = partner
        .iter()
        .map(|(&send, &receive)| {
            (place(send, OracleSide::Sends).unwrap(), place(receive, OracleSide::Receives).unwrap())
        })
        .collect();
    // Whether the one has ended when the other starts.
    let mut before = vec![vec![false; number]; number];
    for late in 0..number {
        for early in 0..late {
            before[early][late] =
                all[early].0 == all[late].0 && precedes(all[early].1, all[late].1);
        }
    }
    loop {
        let old = before.clone();
        for middle in 0..number {
            for early in 0..number {
                for late in 0..number {
                    before[early][late] |= before[early][middle] && before[middle][late];
                }
            }
        }
        for &(send, receive) in &messages {
            for late in 0..number {
                // What has come has left, and what had ended before it left has ended.
                before[send][late] |= before[receive][late];
                for early in 0..number {
                    before[early][late] |= before[early][send] && before[receive][late];
                }
            }
        }
        if old == before {
            break;
        }
    }
    for late in 0..number {
        let sender = messages.iter().find(|&&(_, receive)| receive == late).map(|&(send, _)| send);
        for early in 0..late {
            let is_suspect = all[early].0 == suspect && all[late].0 == suspect;
            let is_late = before[early][late] || sender.is_some_and(|send| before[early][send]);
            if is_suspect && conflict(all[early].1, all[late].1) && !is_late {
                return Err(format!("rank {suspect}: actions on a duplex port race"));
            }
        }
    }
    Ok(())
}

struct OracleMachine<'a> {
    schedule: &'a Editable,
    /// For each rank and buffer.
    memory: BTreeMap<(Rank, Buffer), Vec<Byte>>,
    /// What each action has sent, received, copied.
    moved: BTreeMap<(At, Half), Vec<Byte>>,
    order: Order,
    /// Which actions have sent.
    sent: BTreeSet<At>,
    /// What exchanges have received that have not sent yet, and combine then.
    waiting: BTreeMap<At, Vec<Byte>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Half {
    Send,
    Receive,
    Copy,
}

impl<'a> OracleMachine<'a> {
    fn new(schedule: &'a Editable) -> OracleMachine<'a> {
        let task = &schedule.task;
        let mut memory = BTreeMap::new();
        for rank in 0..task.ranks() {
            let is_root = task.root == Some(rank);
            let nothing = |bytes: u64| vec![Byte::Nothing; bytes as usize];
            let own: Vec<Byte> = own_data(schedule, rank).map(Byte::Data).collect();
            let all: Vec<Byte> = (0..task.total()).map(Byte::Data).collect();
            let sum = |at| Byte::Sum(at, vec![rank]);
            let vector: Vec<Byte> = (0..task.total()).map(sum).collect();
            let segment = nothing(schedule.segments[rank]);
            let (input, segment, output) = match task.operation {
                Operation::Gather => {
                    (own, segment, nothing(if is_root { task.total() } else { 0 }))
                }
                Operation::Scatter => {
                    (if is_root { all } else { Vec::new() }, segment, nothing(own.len() as u64))
                }
                Operation::Broadcast => {
                    (Vec::new(), segment, if is_root { all } else { nothing(task.total()) })
                }
                Operation::Allgather => {
                    let mut output = nothing(task.total());
                    let place = own_data(schedule, rank);
                    output[place.start as usize..place.end as usize].clone_from_slice(&own);
                    (own, segment, output)
                }
                Operation::Alltoall => {
                    let Payload::Messages(sizes) = &task.payload else { unreachable!() };
                    let mut output = nothing(sizes.column(rank));
                    let place = sizes.place(rank, rank) as usize;
                    let itself = sizes.before(rank, rank) - sizes.before(rank, 0);
                    for at in 0..sizes.message(rank, rank) as usize {
                        output[place + at] = own[itself as usize + at].clone();
                    }
                    output.extend(own.iter().cloned());
                    output.extend(segment.iter().cloned());
                    (own, segment, output)
                }
                Operation::IntergroupAllgather => {
                    let Payload::Groups(sizes) = &task.payload else { unreachable!() };
                    let mut segment = segment;
                    let start = own_data(schedule, rank).start - sizes.own_group(rank).start;
                    let places = segment.iter_mut().skip(start as usize);
                    places.zip(&own).for_each(|(place, byte)| place.clone_from(byte));
                    (own, segment, nothing(sizes.other_group(rank).bytes))
                }
                Operation::ReduceScatter | Operation::Allreduce => {
                    let held = (0..segment.len() as u64)
                        .map(|at| if at < task.total() { sum(at) } else { Byte::Nothing });
                    (vector.clone(), held.collect(), vector)
                }
                Operation::Reduce => {
                    let held = (0..segment.len() as u64)
                        .map(|at| if at < task.total() { sum(at) } else { Byte::Nothing });
                    let held = held.collect();
                    (vector.clone(), held, if is_root { vector } else { Vec::new() })
                }
            };
            memory.insert((rank, Buffer::Input), input);
            memory.insert((rank, Buffer::Segment), segment);
            memory.insert((rank, Buffer::Output), output);
        }
        let is_lone = task.ranks() == 1 && task.operation != Operation::Alltoall;
        if is_lone && !task.operation.is_reduction() {
            memory.insert((0, Buffer::Output), (0..task.total()).map(Byte::Data).collect());
        }
        let (moved, order) = (BTreeMap::new(), Order::Ordered);
        let (sent, waiting) = (BTreeSet::new(), BTreeMap::new());
        OracleMachine { schedule, memory, moved, order, sent, waiting }
    }

    /// Performs everything that can be performed, in an order drawn at random.
    fn run(&mut self, partner: &BTreeMap<At, At>, seed: u64) -> Result<(), String> {
        let mut sent = BTreeSet::new();
        let mut received = BTreeSet::new();
        let mut copied = BTreeSet::new();
        let all: Vec<At> = self
            .schedule
            .programs
            .iter()
            .enumerate()
            .flat_map(|(rank, steps)| (0..steps.len()).map(move |index| (rank, index)))
            .collect();
        let mut draw = seed;
        loop {
            let duplex = self.schedule.task.duplex;
            let ended = |at: At, side: OracleSide| {
                let step = &self.schedule.programs[at.0][at.1];
                let has_sent = step.send.is_none() || sent.contains(&at);
                let has_received = step.receive.is_none() || received.contains(&at);
                let awaited = self.awaited(at).iter().all(|send| sent.contains(send));
                match (side, step.send, step.receive) {
                    (_, None, None) => copied.contains(&at),
                    (OracleSide::Both, ..) => has_sent && has_received,
                    (OracleSide::Sends, ..) => has_sent,
                    (OracleSide::Receives, ..) => {
                        has_received && (step.arrival == Arrival::Store || awaited)
                    }
                }
            };
            let started = |at: At, half: OracleSide| {
                let steps = &self.schedule.programs[at.0];
                let side = if duplex { half } else { OracleSide::Both };
                let step = &steps[at.1];
                (0..at.1).all(|early| {
                    sides(&steps[early], duplex).into_iter().all(|its_side| {
                        let is_awaited = share((&steps[early], its_side), (step, side))
                            || (waits(step, side) && writes(&steps[early], its_side));
                        !is_awaited || ended((at.0, early), its_side)
                    })
                })
            };
            let sides_of = |at: At| sides(&self.schedule.programs[at.0][at.1], duplex);
            if all.iter().all(|&at| sides_of(at).into_iter().all(|side| ended(at, side))) {
                return Ok(());
            }
            let can: Vec<(At, At)> = all
                .iter()
                .filter_map(|&at| match partner.get(&at) {
                    Some(&receive) if !sent.contains(&at) => {
                        let can = started(at, OracleSide::Sends)
                            && started(receive, OracleSide::Receives);
                        can.then_some((at, receive))
                    }
                    _ => {
                        let step = &self.schedule.programs[at.0][at.1];
                        let is_copy = step.send.is_none() && step.receive.is_none();
                        let can = is_copy && !copied.contains(&at) && started(at, OracleSide::Both);
                        can.then_some((at, at))
                    }
                })
                .collect();
            if can.is_empty() {
                return Err("deadlock".into());
            }
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (from, into) = can[(draw >> 33) as usize % can.len()];
            self.transfer(from, into)?;
            if from == into {
                copied.insert(from);
            } else {
                sent.insert(from);
                received.insert(into);
            }
        }
    }

    /// What must have been sent before an action combines: by itself, and on a duplex port by all before it there.
    fn awaited(&self, at: At) -> Vec<At> {
        let steps = &self.schedule.programs[at.0];
        let sends = |index: &usize| {
            let is_before = self.schedule.task.duplex && steps[*index].port == steps[at.1].port;
            steps[*index].send.is_some() && (*index == at.1 || is_before)
        };
        (0..=at.1).filter(sends).map(|index| (at.0, index)).collect()
    }

    fn transfer(&mut self, from: At, into: At) -> Result<(), String> {
        let source = self.schedule.programs[from.0][from.1].from.as_ref().unwrap();
        let data: Vec<Byte> = bytes_of(source)
            .map(|(buffer, offset)| self.memory[&(from.0, buffer)][offset as usize].clone())
            .collect();
        if data.contains(&Byte::Nothing) {
            return Err("something is read before it is there".into());
        }
        if from == into {
            return self.keep(into, data);
        }
        self.sent.insert(from);
        let combines = self.schedule.programs[into.0][into.1].arrival != Arrival::Store;
        // Combined when all has been sent that is to be sent before.
        self.waiting.insert(into, data.clone());
        let is_due = |at: &At| self.awaited(*at).iter().all(|send| self.sent.contains(send));
        let due: Vec<At> = match combines {
            true => self.waiting.keys().copied().filter(is_due).collect(),
            false => {
                let others = self.waiting.keys().copied().filter(|&at| at != into);
                std::iter::once(into).chain(others.filter(is_due)).collect()
            }
        };
        for at in due {
            let waiting = self.waiting.remove(&at).expect("it is one of them");
            self.keep(at, waiting)?;
        }
        self.moved.insert((from, Half::Send), data);
        Ok(())
    }

    /// Puts data into its place.
    fn keep(&mut self, into: At, data: Vec<Byte>) -> Result<(), String> {
        let step = &self.schedule.programs[into.0][into.1];
        // Where the output ends of which nothing is overwritten.
        let once = self.schedule.task.operation.passes_on_once();
        let end = match &self.schedule.task.payload {
            Payload::Messages(sizes) => sizes.column(into.0),
            Payload::Blocks(_) | Payload::Vector(_) | Payload::Groups(_) => u64::MAX,
        };
        for ((buffer, offset), byte) in bytes_of(step.into.as_ref().unwrap()).zip(&data) {
            let there = &mut self.memory.get_mut(&(into.0, buffer)).unwrap()[offset as usize];
            let new = match (step.arrival, &*there, byte) {
                (Arrival::Store, Byte::Data(_), byte)
                    if buffer == Buffer::Output && offset < end && (once || byte != there) =>
                {
                    return Err("an output is written twice".into());
                }
                (Arrival::Store, _, byte) => byte.clone(),
                (arrival, Byte::Sum(here, held), Byte::Sum(at, come)) if here == at => {
                    let (left, right) = match arrival {
                        Arrival::CombineLeft => (come, held),
                        Arrival::Store | Arrival::CombineRight => (held, come),
                    };
                    let sum: Vec<Rank> = left.iter().chain(right).copied().collect();
                    if sum.windows(2).any(|pair| pair[0] + 1 != pair[1]) {
                        let at_root = self.schedule.task.root == Some(into.0);
                        self.order =
                            self.order.max(if at_root { Order::Direct } else { Order::Any });
                    }
                    Byte::Sum(*at, sum)
                }
                _ => return Err("what is combined does not belong together".into()),
            };
            *there = new;
        }
        let half = if step.receive.is_some() { Half::Receive } else { Half::Copy };
        self.moved.insert((into, half), data);
        Ok(())
    }

    /// The order in which the results of all ranks were combined.
    fn order_of_results(&self) -> Order {
        let is_in_order = |byte: &Byte| match byte {
            Byte::Sum(_, ranks) => ranks.windows(2).all(|pair| pair[0] + 1 == pair[1]),
            Byte::Nothing | Byte::Data(_) => true,
        };
        let keeps = |rank| self.result(rank).iter().all(is_in_order);
        match (0..self.schedule.task.ranks()).all(keeps) {
            true => Order::Ordered,
            false => Order::Any,
        }
    }

    /// The part of a rank's output that is its result.
    fn result(&self, rank: Rank) -> &[Byte] {
        let part = own_data(self.schedule, rank);
        &self.memory[&(rank, Buffer::Output)][part.start as usize..part.end as usize]
    }

    fn check_outputs(&self) -> Result<(), String> {
        let task = &self.schedule.task;
        for rank in 0..task.ranks() {
            let output = &self.memory[&(rank, Buffer::Output)];
            let is_right = match task.operation {
                Operation::Gather => {
                    output.iter().cloned().eq((0..output.len() as u64).map(Byte::Data))
                }
                Operation::Broadcast | Operation::Allgather => {
                    output.iter().cloned().eq((0..task.total()).map(Byte::Data))
                }
                Operation::IntergroupAllgather => {
                    let Payload::Groups(sizes) = &task.payload else { unreachable!() };
                    let other = sizes.other_group(rank);
                    output
                        .iter()
                        .cloned()
                        .eq((other.start..other.start + other.bytes).map(Byte::Data))
                }
                Operation::Scatter => {
                    output.iter().cloned().eq(own_data(self.schedule, rank).map(Byte::Data))
                }
                Operation::Alltoall => {
                    let Payload::Messages(sizes) = &task.payload else { unreachable!() };
                    let wanted = (0..task.ranks()).flat_map(|sender| {
                        let start = sizes.before(sender, rank);
                        (start..start + sizes.message(sender, rank)).map(Byte::Data)
                    });
                    output[..sizes.column(rank) as usize].iter().cloned().eq(wanted)
                }
                Operation::Reduce => (0..).zip(output).all(|at| self.is_result(at)),
                Operation::ReduceScatter | Operation::Allreduce => {
                    let start = own_data(self.schedule, rank).start;
                    (start..).zip(self.result(rank)).all(|at| self.is_result(at))
                }
            };
            if !is_right {
                return Err(format!("the output of rank {rank} is wrong"));
            }
        }
        Ok(())
    }
}

impl OracleMachine<'_> {
    /// Whether it is the sum of everybody's byte with this number.
    fn is_result(&self, (offset, byte): (u64, &Byte)) -> bool {
        let Byte::Sum(at, ranks) = byte else { return false };
        let mut ranks = ranks.clone();
        ranks.sort_unstable();
        *at == offset && ranks.into_iter().eq(0..self.schedule.task.ranks())
    }
}

/// The bytes of a rank's own block or of the vector.
fn own_data(schedule: &Editable, rank: Rank) -> std::ops::Range<u64> {
    match &schedule.task.payload {
        Payload::Blocks(sizes) => sizes.before(rank)..sizes.before(rank) + sizes.block(rank),
        Payload::Vector(vector) => 0..vector.bytes,
        Payload::Messages(sizes) => sizes.before(rank, 0)..sizes.before(rank + 1, 0),
        Payload::Groups(sizes) => sizes.blocks().before(rank)..sizes.blocks().before(rank + 1),
    }
}

/// Whether bytes are one range, or two of which one is of the own block.
fn is_one_range_but_for(own: std::ops::Range<u64>, held: &BTreeSet<u64>) -> bool {
    let bytes: Vec<u64> = held.iter().copied().collect();
    match *bytes.chunk_by(|one, next| one + 1 == *next).collect::<Vec<_>>() {
        [] | [_] => true,
        [one, other] => [one, other].iter().any(|part| part.iter().all(|byte| own.contains(byte))),
        _ => false,
    }
}

/// The strictest order that every rank's holdings keep.
fn order_of_holdings(schedule: &Editable, machine: &OracleMachine<'_>) -> Order {
    let mut kept = Order::Ordered;
    let gathers = schedule.task.operation == Operation::Gather;
    for (rank, steps) in schedule.programs.iter().enumerate() {
        let at_root = if schedule.task.root == Some(rank) { Order::Direct } else { Order::Any };
        let mut held: BTreeSet<u64> = BTreeSet::new();
        if !gathers && schedule.task.root == Some(rank) {
            held.extend(0..schedule.task.total());
        }
        for (index, step) in steps.iter().enumerate() {
            let moved = |half| {
                let bytes = machine.moved.get(&((rank, index), half)).into_iter().flatten();
                let offsets = bytes.map(|byte| match byte {
                    Byte::Data(at) => *at,
                    Byte::Nothing | Byte::Sum(..) => unreachable!("gather and scatter move data"),
                });
                offsets.collect::<Vec<u64>>()
            };
            for half in [Half::Send, Half::Receive, Half::Copy] {
                let data = moved(half);
                let reads_input = step.from.as_ref().is_some_and(|p| p.buffer == Buffer::Input);
                let delivers = step.into.as_ref().is_some_and(|p| p.buffer == Buffer::Output);
                if data.windows(2).any(|pair| pair[0] + 1 != pair[1]) {
                    kept = kept.max(if half == Half::Copy { at_root } else { Order::Any });
                }
                let (goes, comes) = match half {
                    Half::Send => (!gathers || !reads_input, false),
                    Half::Receive => (false, gathers || !delivers),
                    Half::Copy => (!gathers && delivers, gathers && reads_input),
                };
                if goes {
                    held.retain(|byte| !data.contains(byte));
                }
                if comes {
                    held.extend(data);
                }
                if !is_one_range_but_for(own_data(schedule, rank), &held) {
                    kept = kept.max(at_root);
                }
            }
        }
    }
    kept
}
