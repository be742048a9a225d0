//! One rank's part of a schedule: its role in the operation, and its actions.
//!
//! A rank needs no more than this to perform its part. The root can read a schedule and send each
//! rank its own part ([`Part::to_words`]), or each rank can make its part from its knowledge of a
//! tree ([`Part::new`]).
//!
//! The layout of user memory is no part of it: regions address packed bytes, the root's blocks one after the other in
//! rank order, and the executor binds them to memory.

use crate::action::{Action, Arrival, Buffer, Deed, Piece, Receive, Region, Send};
use crate::program::{Programs, TooManyActions};
use crate::role::Role;
use crate::schedule::{ActionFault, Schedule, ScheduleError, check_root};
use std::collections::BTreeSet;
use tuwtree_model::{ClosedSet, Operation, Payload, Rank};

/// One rank's role and actions.
///
/// # Invariants
/// The role is one that there is, and every action is possible by itself ([`Role::check`]). Whether
/// the parts of all ranks fit together is for [`verify()`](crate::verify()) to find out, of
/// their schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    role: Role,
    /// Data in place before the first action.
    given: Vec<GivenCopy>,
    /// Programs of one rank.
    programs: Programs,
}

/// Bytes of a rank's input that another of its buffers holds from the start ([`Role::buffer_bytes`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenCopy {
    /// The bytes of the input, at least one.
    pub from: Piece,
    /// The buffer that holds them, too: a segment or an output.
    pub buffer: Buffer,
    /// Its offset in the buffer.
    pub offset: u64,
}

/// A part that cannot exist.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PartError {
    /// The root is out of range, missing, or superfluous.
    #[error(transparent)]
    Root(#[from] ScheduleError),
    /// A rank that is not below the number of ranks.
    #[error("rank {rank} is outside 0..{ranks} ({ranks} processes)")]
    RankOutOfRange {
        /// The rank given, not below `ranks`.
        rank: Rank,
        /// The number of ranks in the operation.
        ranks: usize,
    },
    /// A rank that can do nothing.
    #[error("0 ports; a rank has at least 1")]
    NoPorts,
    /// Duplex ports that cannot be performed as twice as many that are not.
    #[error(
        "duplex ports with copies or with data that is combined behind a send, or more than 32767 of them, which no rank performs"
    )]
    Duplex,
    /// Programs of none or of several ranks.
    #[error("there are programs of {programs} processes; a part is one rank's")]
    ProgramCount {
        /// The number of ranks given; not 1.
        programs: usize,
    },
    /// A buffer that no program can address.
    #[error("a buffer of {bytes} bytes; 2^63 - 1 is the most that MPI can address")]
    BufferTooLarge {
        /// The size of the buffer, above 2^63 - 1.
        bytes: u64,
    },
    /// An action that is wrong by itself.
    #[error("rank {rank}, action {action}: {fault}")]
    Action {
        /// The rank whose action cannot be performed.
        rank: Rank,
        /// The index of the action.
        action: usize,
        /// The fault of the action alone.
        fault: ActionFault,
    },
    /// Data that cannot be in a buffer from the start.
    #[error("rank {rank}, copy {copy} of what it has from the start: {fault}")]
    Given {
        /// The rank whose copy is not possible.
        rank: Rank,
        /// The index of the copy.
        copy: usize,
        /// The fault.
        fault: ActionFault,
    },
    /// Too many actions.
    #[error(transparent)]
    Size(#[from] TooManyActions),
    /// Words that are no part.
    #[error("the message with a rank's part is damaged at word {word} of {words}")]
    Damaged {
        /// The first word that makes no sense.
        word: usize,
        /// Number of words.
        words: usize,
    },
}

/// The word for no root.
const NO_ROOT: u64 = u64::MAX;

impl Part {
    /// The part of a rank with this role; `programs` has its actions, and nobody else's.
    ///
    /// # Errors
    /// [`PartError`] for an invalid role, copies that are not possible, or an action that is wrong by itself.
    ///
    /// # Complexity
    /// O(1) for each piece of each action.
    pub fn new(role: Role, given: Vec<GivenCopy>, programs: Programs) -> Result<Part, PartError> {
        let ranks = role.ranks;
        check_root(role.operation, ranks, role.root)?;
        if role.rank >= ranks {
            return Err(PartError::RankOutOfRange { rank: role.rank, ranks });
        }
        if role.ports == 0 {
            return Err(PartError::NoPorts);
        }
        if programs.ranks() != 1 {
            return Err(PartError::ProgramCount { programs: programs.ranks() });
        }
        for bytes in Buffer::all().map(|buffer| role.buffer_bytes(buffer)) {
            if bytes > i64::MAX as u64 {
                return Err(PartError::BufferTooLarge { bytes });
            }
        }
        for (copy, one) in given.iter().enumerate() {
            one.check(&role).map_err(|fault| PartError::Given { rank: role.rank, copy, fault })?;
        }
        for (index, action) in programs.actions(0).enumerate() {
            role.check(&action).map_err(|fault| PartError::Action {
                rank: role.rank,
                action: index,
                fault,
            })?;
        }
        Ok(Part { role, given, programs })
    }

    /// The part of rank `rank` in a schedule. Each duplex port becomes two, one that sends and one that receives.
    ///
    /// A lone rank's gather or scatter gets the copy that schedules leave out, since there the
    /// data is where it belongs.
    ///
    /// # Errors
    /// A rank out of range, copies on duplex ports or combining behind a send there, or more bytes than MPI can address.
    ///
    /// # Complexity
    /// O(1) for each piece of each of the rank's actions.
    pub fn of_schedule(schedule: &Schedule, rank: Rank) -> Result<Part, PartError> {
        let ranks = schedule.ranks();
        if rank >= ranks {
            return Err(PartError::RankOutOfRange { rank, ranks });
        }
        let mut role = schedule.role(rank);
        let mut programs = Programs::new();
        if schedule.task().duplex {
            role.ports = role.ports.checked_mul(2).ok_or(PartError::Duplex)?;
        }
        let mut senders = BTreeSet::new();
        for action in schedule.programs().actions(rank) {
            match schedule.task().duplex {
                true => push_halves(&mut programs, &action, &mut senders)?,
                false => programs.push(&action)?,
            }
        }
        let is_copied = role.operation.is_irregular() && role.operation.is_rooted();
        if ranks == 1 && is_copied && role.own_bytes > 0 && programs.is_empty() {
            let own = [Piece { offset: 0, bytes: role.own_bytes }];
            let from = Region { buffer: Buffer::Input, pieces: &own };
            let into = Region { buffer: Buffer::Output, pieces: &own };
            let arrival = Arrival::Store;
            programs.push(&Action { port: 0, deed: Deed::Copy { from, into, arrival } })?;
        }
        programs.end_rank();
        Part::new(role, schedule.given(rank), programs)
    }

    /// The rank, its root, and the sizes of its buffers.
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// Parts of the input that buffers hold from the start, except for the vector of a reduction: all buffers with room
    /// hold that.
    pub fn given(&self) -> &[GivenCopy] {
        &self.given
    }

    /// The actions in order.
    pub fn actions(&self) -> impl DoubleEndedIterator<Item = Action<'_>> + ExactSizeIterator + '_ {
        self.programs.actions(0)
    }

    /// The part as numbers, to be sent to the rank.
    pub fn to_words(&self) -> Vec<u64> {
        let Role { operation, ranks, root, rank, ports, own_bytes, total_bytes, segment_bytes } =
            self.role;
        let mut words = vec![
            place_of(&operation, Operation::ALL),
            ranks as u64,
            root.map_or(NO_ROOT, |root| root as u64),
            rank as u64,
            u64::from(ports),
            own_bytes,
            total_bytes,
            segment_bytes,
            self.given.len() as u64,
        ];
        for GivenCopy { from, buffer, offset } in &self.given {
            words.extend([from.offset, from.bytes, place_of(buffer, Buffer::ALL), *offset]);
        }
        words.push(self.actions().len() as u64);
        for action in self.actions() {
            push_action(&action, &mut words);
        }
        words
    }

    /// The part that [`to_words`](Self::to_words) has made numbers of.
    ///
    /// # Errors
    /// [`PartError`], whatever the words are.
    pub fn from_words(words: &[u64]) -> Result<Part, PartError> {
        let mut reader = Words { words, next: 0 };
        let role = Role {
            operation: reader.one_of(Operation::ALL)?,
            ranks: reader.number()?,
            root: reader.root()?,
            rank: reader.number()?,
            ports: reader.number()?,
            own_bytes: reader.number()?,
            total_bytes: reader.number()?,
            segment_bytes: reader.number()?,
        };
        let mut given = Vec::new();
        for _ in 0..reader.number::<u64>()? {
            let from = Piece { offset: reader.number()?, bytes: reader.number()? };
            let buffer = reader.one_of(Buffer::ALL)?;
            given.push(GivenCopy { from, buffer, offset: reader.number()? });
        }
        let mut programs = Programs::new();
        for _ in 0..reader.number::<u64>()? {
            reader.read_action(&mut programs)?;
        }
        programs.end_rank();
        if reader.next != words.len() {
            return Err(reader.damaged(reader.next));
        }
        Part::new(role, given, programs)
    }
}

/// Adds an action on each side of a duplex port; `senders` are the ports that have sent. (A copy holds both sides, and
/// combining waits for a send listed up to it, which two ports cannot express.)
fn push_halves(
    programs: &mut Programs,
    action: &Action<'_>,
    senders: &mut BTreeSet<u16>,
) -> Result<(), PartError> {
    let sides = (2 * action.port, 2 * action.port + 1);
    if action.send().is_some() {
        senders.insert(action.port);
    }
    let waits = action.combines().is_some() && senders.contains(&action.port);
    if matches!(action.deed, Deed::Copy { .. }) || waits {
        return Err(PartError::Duplex);
    }
    if let Some(send) = action.send() {
        programs.push(&Action { port: sides.0, deed: Deed::Send(send) })?;
    }
    if let Some(receive) = action.receive() {
        programs.push(&Action { port: sides.1, deed: Deed::Receive(receive) })?;
    }
    Ok(())
}

impl GivenCopy {
    /// Fails unless input and buffer have these bytes.
    fn check(&self, role: &Role) -> Result<(), ActionFault> {
        let into = [Piece { offset: self.offset, bytes: self.from.bytes }];
        role.check_region(&Region { buffer: Buffer::Input, pieces: &[self.from] })?;
        role.check_region(&Region { buffer: self.buffer, pieces: &into })?;
        match self.buffer {
            Buffer::Input => Err(ActionFault::WritesInput),
            Buffer::Segment | Buffer::Output => Ok(()),
        }
    }
}

impl Schedule {
    /// Parts of its input that a rank's segment and output hold from the start: the own block of an allgather and an
    /// intergroup allgather; in an alltoall the message to itself and, behind the room for all messages, its input.
    /// (The verifier assumes them.)
    fn given(&self, rank: Rank) -> Vec<GivenCopy> {
        let task = self.task();
        let copy = |from: u64, bytes: u64, buffer: Buffer, offset: u64| {
            let room = self.buffer_bytes(rank, buffer).saturating_sub(offset);
            GivenCopy { from: Piece { offset: from, bytes: bytes.min(room) }, buffer, offset }
        };
        let own = task.own(rank);
        let copies = match (task.operation, &task.payload) {
            (Operation::Allgather, Payload::Blocks(sizes)) => {
                vec![copy(0, own, Buffer::Output, sizes.before(rank))]
            }
            (_, Payload::Messages(sizes)) => {
                let to_itself = sizes.before(rank, rank) - sizes.before(rank, 0);
                let place = sizes.place(rank, rank);
                vec![
                    copy(to_itself, sizes.message(rank, rank), Buffer::Output, place),
                    copy(0, sizes.row(rank), Buffer::Output, sizes.column(rank)),
                ]
            }
            (_, Payload::Groups(sizes)) => {
                let before = sizes.blocks().before(rank) - sizes.own_group(rank).start;
                vec![copy(0, own, Buffer::Segment, before)]
            }
            _ => Vec::new(),
        };
        copies.into_iter().filter(|copy| copy.from.bytes > 0).collect()
    }
}

/// Kind of an action, in the word that starts it.
#[derive(Clone, Copy, PartialEq)]
enum DeedKind {
    Copy,
    Send,
    Receive,
    Exchange,
}

const DEED_KINDS: [DeedKind; 4] =
    [DeedKind::Copy, DeedKind::Send, DeedKind::Receive, DeedKind::Exchange];
const ARRIVALS: [Arrival; 3] = [Arrival::Store, Arrival::CombineLeft, Arrival::CombineRight];

fn place_of<T: PartialEq>(value: &T, all: &[T]) -> u64 {
    all.iter().position(|one| one == value).expect("the list has all values") as u64
}

fn push_action(action: &Action<'_>, words: &mut Vec<u64>) {
    let kind = match action.deed {
        Deed::Copy { .. } => DeedKind::Copy,
        Deed::Send(_) => DeedKind::Send,
        Deed::Receive(_) => DeedKind::Receive,
        Deed::Exchange(..) => DeedKind::Exchange,
    };
    words.extend([place_of(&kind, &DEED_KINDS), u64::from(action.port)]);
    if let Some(Send { to, tag, .. }) = action.send() {
        words.extend([to as u64, u64::from(tag)]);
    }
    if let Some(Receive { from, tag, .. }) = action.receive() {
        words.extend([from as u64, u64::from(tag)]);
    }
    if action.writes().is_some() {
        words.push(place_of(&action.arrival(), &ARRIVALS));
    }
    for region in [action.reads(), action.writes()].into_iter().flatten() {
        words.extend([place_of(&region.buffer, Buffer::ALL), region.pieces.len() as u64]);
        words.extend(region.pieces.iter().flat_map(|piece| [piece.offset, piece.bytes]));
    }
}

/// Words that are read one after the other.
struct Words<'a> {
    words: &'a [u64],
    next: usize,
}

impl Words<'_> {
    fn damaged(&self, word: usize) -> PartError {
        PartError::Damaged { word, words: self.words.len() }
    }

    fn number<T: TryFrom<u64>>(&mut self) -> Result<T, PartError> {
        let word = self.words.get(self.next).copied();
        let number = word.and_then(|word| T::try_from(word).ok());
        self.next += 1;
        number.ok_or_else(|| self.damaged(self.next - 1))
    }

    /// A root, or none.
    fn root(&mut self) -> Result<Option<Rank>, PartError> {
        match self.number()? {
            NO_ROOT => Ok(None),
            root => Rank::try_from(root).map(Some).map_err(|_| self.damaged(self.next - 1)),
        }
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> Result<T, PartError> {
        let place: usize = self.number()?;
        all.get(place).copied().ok_or_else(|| self.damaged(self.next - 1))
    }

    fn read_action(&mut self, programs: &mut Programs) -> Result<(), PartError> {
        let kind = self.one_of(&DEED_KINDS)?;
        let port = self.number()?;
        let (mut to, mut from, mut arrival) = ((0, 0), (0, 0), Arrival::Store);
        if matches!(kind, DeedKind::Send | DeedKind::Exchange) {
            to = (self.number()?, self.number()?);
        }
        if matches!(kind, DeedKind::Receive | DeedKind::Exchange) {
            from = (self.number()?, self.number()?);
        }
        if kind != DeedKind::Send {
            arrival = self.one_of(&ARRIVALS)?;
        }
        let first = self.read_region()?;
        let second = match kind {
            DeedKind::Copy | DeedKind::Exchange => Some(self.read_region()?),
            DeedKind::Send | DeedKind::Receive => None,
        };
        let read = Region { buffer: first.0, pieces: &first.1 };
        let written = match &second {
            Some((buffer, pieces)) => Region { buffer: *buffer, pieces },
            None => read,
        };
        let send = Send { to: to.0, tag: to.1, from: read };
        let receive = Receive { from: from.0, tag: from.1, arrival, into: written };
        let deed = match kind {
            DeedKind::Copy => Deed::Copy { from: read, into: written, arrival },
            DeedKind::Send => Deed::Send(send),
            DeedKind::Receive => Deed::Receive(receive),
            DeedKind::Exchange => Deed::Exchange(send, receive),
        };
        Ok(programs.push(&Action { port, deed })?)
    }

    fn read_region(&mut self) -> Result<(Buffer, Vec<Piece>), PartError> {
        let buffer = self.one_of(Buffer::ALL)?;
        let count: usize = self.number()?;
        // No more room than there are words, whatever the count says.
        let left = self.words.len().saturating_sub(self.next) / 2;
        if count > left {
            return Err(self.damaged(self.next - 1));
        }
        let mut pieces = Vec::with_capacity(count);
        for _ in 0..count {
            pieces.push(Piece { offset: self.number()?, bytes: self.number()? });
        }
        Ok((buffer, pieces))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{BlockSizes, Collective, Payload, Step, Tree, Vector};

    fn schedule(operation: Operation) -> Schedule {
        let steps = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
        let tree = Tree::new(3, 1, &steps).unwrap();
        let payload = match operation.is_irregular() {
            true => Payload::Blocks(BlockSizes::new([2, 1, 4]).unwrap()),
            false => Payload::Vector(Vector { ranks: 3, bytes: 8 }),
        };
        Schedule::without_costs(&tree, &Collective::new(operation, payload).unwrap()).unwrap()
    }

    #[test]
    fn a_part_has_the_actions_of_its_rank() {
        let schedule = schedule(Operation::Gather);
        for rank in 0..3 {
            let part = Part::of_schedule(&schedule, rank).unwrap();
            assert!(part.actions().eq(schedule.programs().actions(rank)));
            assert_eq!(*part.role(), schedule.role(rank));
        }
        let error = Part::of_schedule(&schedule, 3).unwrap_err();
        assert_eq!(error.to_string(), "rank 3 is outside 0..3 (3 processes)");
    }

    #[test]
    fn a_lone_rank_copies_its_block() {
        let tree = Tree::new(1, 0, &[]).unwrap();
        let scatter = Collective::scatter(&BlockSizes::new([5]).unwrap());
        let schedule = Schedule::without_costs(&tree, &scatter).unwrap();
        let part = Part::of_schedule(&schedule, 0).unwrap();
        let deeds: Vec<_> = part.actions().map(|action| action.deed).collect();
        assert!(matches!(deeds[..], [Deed::Copy { from, .. }] if from.bytes() == 5));
    }

    #[test]
    fn words_give_the_part_back() {
        for operation in Operation::rooted() {
            let schedule = schedule(operation);
            for rank in 0..3 {
                let part = Part::of_schedule(&schedule, rank).unwrap();
                assert_eq!(Part::from_words(&part.to_words()), Ok(part));
            }
        }
    }

    #[test]
    fn what_is_there_from_the_start_lies_where_the_verifier_takes_it_to_be() {
        let read = |text: &str| {
            let head = r#"{"format":"tuwtree-schedule","version":5,"order":"any","ports":1,"#;
            crate::document::read(format!("{head}{text}}}").as_bytes()).unwrap()
        };
        let given = |schedule: &Schedule, rank| -> Vec<(u64, u64, Buffer, u64)> {
            let part = Part::of_schedule(schedule, rank).unwrap();
            assert_eq!(Part::from_words(&part.to_words()), Ok(part.clone()));
            let copies = part.given().iter();
            copies.map(|one| (one.from.offset, one.from.bytes, one.buffer, one.offset)).collect()
        };
        let allgather = read(
            r#""operation":"allgather","processors":2,"block_sizes_bytes":[3,4],"segment_bytes":[0,0],"actions":[[],[]]"#,
        );
        assert_eq!(given(&allgather, 0), [(0, 3, Buffer::Output, 0)]);
        assert_eq!(given(&allgather, 1), [(0, 4, Buffer::Output, 3)]);
        // Rank 1 gets 2 + 4 bytes, and gives 3 + 4.
        let alltoall = read(
            r#""operation":"alltoall","processors":2,"block_matrix_bytes":[[1,2],[3,4]],"segment_bytes":[0,0],"actions":[[],[]]"#,
        );
        assert_eq!(given(&alltoall, 1), [(3, 4, Buffer::Output, 2), (0, 7, Buffer::Output, 6)]);
    }

    #[test]
    fn a_duplex_port_is_performed_as_one_that_sends_and_one_that_receives() {
        let text = |more: &str| {
            format!(
                r#"{{"format":"tuwtree-schedule","version":5,"operation":"allgather","processors":2,"order":"ordered",
                "ports":1,"duplex":true,"block_sizes_bytes":[3,4],"segment_bytes":[0,4],"actions":[
                [{{"send":1,"from":["input",0,3],"receive":1,"into":["output",3,4]}}],
                [{{"send":0,"from":["input",0,4],"receive":0,"into":["output",0,3]}}{more}]]}}"#
            )
        };
        let schedule = crate::document::read(text("").as_bytes()).unwrap();
        let part = Part::of_schedule(&schedule, 1).unwrap();
        assert_eq!(part.role().ports, 2);
        let halves: Vec<(u16, bool)> =
            part.actions().map(|action| (action.port, action.send().is_some())).collect();
        assert_eq!(halves, [(0, true), (1, false)]);
        let copied = text(r#",{"from":["input",0,4],"into":["segment",0,4]}"#);
        let schedule = crate::document::read(copied.as_bytes()).unwrap();
        assert_eq!(Part::of_schedule(&schedule, 1), Err(PartError::Duplex));
    }

    #[test]
    fn what_is_there_from_the_start_comes_from_the_input_and_fits() {
        let gather = Part::of_schedule(&schedule(Operation::Gather), 1).unwrap();
        let with = |from: u64, buffer, offset| {
            let from = Piece { offset: from, bytes: 1 };
            let given = vec![GivenCopy { from, buffer, offset }];
            Part::new(gather.role, given, gather.programs.clone())
        };
        assert!(with(0, Buffer::Output, 6).is_ok());
        for (from, buffer, offset) in
            [(0, Buffer::Output, 7), (1, Buffer::Output, 0), (0, Buffer::Input, 0)]
        {
            let error = with(from, buffer, offset).unwrap_err().to_string();
            assert!(error.starts_with("rank 1, copy 0 of what it has from the start: "), "{error}");
        }
    }

    #[test]
    fn words_say_whether_a_copy_combines() {
        let text = r#"{"format":"tuwtree-schedule","version":5,"operation":"allreduce","processors":2,"order":"any",
            "ports":1,"vector_bytes":4,"segment_bytes":[4,0],
            "actions":[[{"receive":1,"into":["segment",0,4]},
                {"from":["segment",0,4],"into":["output",0,4],"combine":"right"}],
                [{"send":0,"from":["input",0,4]}]]}"#;
        let schedule = crate::document::read(text.as_bytes()).unwrap();
        let part = Part::of_schedule(&schedule, 0).unwrap();
        let again = Part::from_words(&part.to_words()).unwrap();
        assert_eq!(again, part);
        let arrivals: Vec<Arrival> = again.actions().map(|action| action.arrival()).collect();
        assert_eq!(arrivals, [Arrival::Store, Arrival::CombineRight]);
    }

    #[test]
    fn damaged_words_are_refused() {
        let part = Part::of_schedule(&schedule(Operation::Gather), 1).unwrap();
        let words = part.to_words();
        for end in 0..words.len() {
            assert!(Part::from_words(&words[..end]).is_err(), "{end} words");
        }
        for place in 0..words.len() {
            let mut damaged = words.clone();
            damaged[place] = u64::MAX;
            let error = Part::from_words(&damaged);
            assert!(error.is_err(), "word {place} is damaged");
        }
        let longer = [words, vec![0]].concat();
        assert!(matches!(Part::from_words(&longer), Err(PartError::Damaged { .. })));
    }

    #[test]
    fn a_role_that_there_is_not_is_refused() {
        let part = Part::of_schedule(&schedule(Operation::Gather), 1).unwrap();
        let part_with = |change: &dyn Fn(&mut Role)| {
            let mut role = *part.role();
            change(&mut role);
            Part::new(role, part.given.clone(), part.programs.clone())
                .map_err(|error| error.to_string())
        };
        for (change, message) in [
            (
                &(|role: &mut Role| role.root = Some(3)) as &dyn Fn(&mut Role),
                "root 3 is outside 0..3",
            ),
            (&|role| role.rank = 7, "rank 7 is outside 0..3"),
            (&|role| role.ports = 0, "0 ports"),
            (&|role| role.total_bytes = u64::MAX, "2^63 - 1"),
            (&|role| role.total_bytes = 6, "rank 1, action 2: 4 bytes at offset 3"),
            (&|role| role.rank = 0, "rank 0, action 0: a message to oneself"),
        ] {
            let error = part_with(change).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
        assert!(part_with(&|_| {}).is_ok());
    }
}
