//! Schedules as C: a source file and a header that need nothing but an MPI library.
//!
//! ```text
//!  template (c/source.c)           name.c
//!  $WORD                      ->   the word's text                     `words`
//!  @if X / @else / @end       ->   the lines of one side               `holds`
//!  $PROGRAM, $BEGINNINGS, ... ->   tables of numbers                   `program`, `beginnings`
//!
//!  program[]     segment bytes, actions, action, action, ...  segment bytes, actions, ...  0
//!                ^ beginnings[0]                              ^ beginnings[1]
//!
//!  an action     KIND(port) [PEER(to, tag)] [region read] [PEER(from, tag)] [region written]
//!  a region      BUFFER(pieces)  offset, bytes  offset, bytes  ...
//! ```
//!
//! The files hold every processor's actions as a table of numbers, and an engine that performs them
//! with persistent requests: `init`, `start`, `wait` or `test`, `free`. The engine is the same for
//! all schedules, but for parts that an operation does not need; it lies beside this file as
//! templates, in which `$WORD` is replaced and `@if`, `@else`, `@end` choose lines.
//!
//! Strict order performs the schedule as [`Schedule`] defines it. The eager variant posts all
//! receives at the start and sends what is there: ports are then as many as the network has, and the
//! model's times do not hold. In both, messages between two processors have tags of their own, so
//! that nothing depends on the order in which requests are started.
//!
//! What this deliberately does not do: elements other than bytes (a reduction is told its datatype
//! when it is prepared), `MPI_IN_PLACE`, any MPI call newer than version 3.

mod guards;

use super::numbering::Numbering;
use crate::action::{Action, Arrival, Buffer, Deed, Piece, Region};
use crate::schedule::{BothSides, Schedule};
use crate::simulate::{Handover, Posts, Sends, SimulationError, simulate};
use guards::Touched;
use std::borrow::Cow;
use std::io::{self, Write};
use tuwtree_model::{
    ClosedSet, Costs, Homogeneous, Operation, Order, Payload, Rank, StatedCosts, Time,
};

const SOURCE: &str = include_str!("c/source.c");
const HEADER: &str = include_str!("c/header.h");

/// The largest tag that every MPI library has.
const LARGEST_TAG: usize = 32767;

/// The longest prefix of the names.
const LONGEST_NAME: usize = 64;

/// Why a schedule cannot be written as C.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CError {
    /// The name is no prefix of C names.
    #[error(
        "{name:?} cannot begin the names of C functions; that takes a letter, then letters, digits or underscores, at most {LONGEST_NAME} characters, not beginning with \"mpi_\", \"mpix_\" or \"pmpi_\""
    )]
    Name {
        /// The name asked for.
        name: String,
    },
    /// The schedule cannot be performed.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A duplex port of which an action holds both sides.
    #[error("{0}: what is performed in C holds one; export the schedule without duplex ports")]
    BothSides(#[from] BothSides),
    /// More messages from one processor to another than there are tags.
    #[error(
        "rank {sender} sends {messages} messages to rank {receiver}; MPI has tags for {}", LARGEST_TAG + 1
    )]
    TooManyMessages {
        /// The rank of the sender.
        sender: Rank,
        /// The rank of the receiver.
        receiver: Rank,
        /// The number of messages between these two, above 32768.
        messages: usize,
    },
    /// A buffer that no C program has.
    #[error("a buffer of {bytes} bytes; 2^63 - 1 is the most that MPI can address")]
    BufferTooLarge {
        /// The size of the buffer, above 2^63 - 1.
        bytes: u64,
    },
}

/// A schedule that can be written as C.
#[derive(Clone, Debug)]
pub struct CFiles<'a> {
    /// Where ports are duplex, with a port for each side.
    schedule: Cow<'a, Schedule>,
    name: &'a str,
    /// An entry for each action: the MPI tags of what it sends and receives; 0 if it does not.
    tags: Vec<(u16, u16)>,
    largest_buffer: u64,
    /// In the model, if the schedule has costs and the time can be stated.
    completion_time: Option<Time>,
}

impl<'a> CFiles<'a> {
    /// The files for a schedule, `name.c` and `name.h`; `name` begins the names of all that they
    /// declare.
    ///
    /// # Errors
    /// [`CError`]: a name that C or MPI does not allow; messages with one end, or processors that
    /// wait for each other, which would never end; copies, and exchanges that combine, on duplex ports; more
    /// than MPI can count.
    ///
    /// # Complexity
    /// O(n log n) time, O(n) space for n actions.
    pub fn new(schedule: &'a Schedule, name: &'a str) -> Result<CFiles<'a>, CError> {
        if !is_name(name) {
            return Err(CError::Name { name: name.to_owned() });
        }
        let schedule = schedule.sides_as_ports()?;
        let free = Homogeneous::new(0.0, 0.0, 0.0).expect("costs of nothing");
        simulate(&schedule, &free, Sends::Synchronous)?;
        // What the files perform in strict order, receives included.
        let in_order = Handover { posts: Posts::Strict, ..Handover::default() };
        let timed = schedule
            .task()
            .costs
            .as_ref()
            .and_then(|stated| simulate(&schedule, stated.costs(), in_order).ok());
        Ok(CFiles {
            tags: tags(&schedule)?,
            largest_buffer: largest_buffer(&schedule)?,
            schedule,
            name,
            completion_time: timed.map(|timeline| timeline.completion_time()),
        })
    }

    /// Writes the header, `name.h`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn header(&self, out: &mut dyn Write) -> io::Result<()> {
        self.fill(HEADER, out)
    }

    /// Writes the source, `name.c`.
    ///
    /// # Errors
    /// Those of `out`.
    ///
    /// # Complexity
    /// O(1) for each piece of each action, each block, and each processor.
    pub fn source(&self, out: &mut dyn Write) -> io::Result<()> {
        self.fill(SOURCE, out)
    }

    /// Writes a template with its lines chosen, its words replaced and its tables filled.
    fn fill(&self, template: &str, out: &mut dyn Write) -> io::Result<()> {
        let words = self.words();
        let mut chosen = vec![true];
        for line in template.lines() {
            let is_chosen = chosen.last().copied().unwrap_or(true);
            if let Some(condition) = line.strip_prefix("@if ") {
                chosen.push(is_chosen && self.holds(condition));
            } else if line == "@else" {
                chosen.pop();
                let outer = chosen.last().copied().unwrap_or(true);
                chosen.push(outer && !is_chosen);
            } else if line == "@end" {
                chosen.pop();
            } else if is_chosen {
                match line {
                    "$PROGRAM" => self.program(out)?,
                    "$BEGINNINGS" => numbers(self.beginnings(), out)?,
                    "$BLOCKS" => numbers(self.blocks(), out)?,
                    "$OWN" => self.own(out)?,
                    "$DISPLACEMENTS" => {
                        let displacements = self.schedule.task().displacements.iter().flatten();
                        numbers(displacements.copied(), out)?;
                    }
                    _ => writeln!(out, "{}", replaced(line, &words))?,
                }
            }
        }
        Ok(())
    }

    fn holds(&self, condition: &str) -> bool {
        let task = self.schedule.task();
        match condition {
            "blocks" => task.operation.is_irregular() && !task.operation.is_reduction(),
            "reduction" => task.operation.is_reduction(),
            "rooted" => task.operation.is_rooted(),
            "displaced" => task.displacements.is_some(),
            _ => condition == task.operation.name(),
        }
    }

    fn words(&self) -> Vec<(&'static str, String)> {
        let task = self.schedule.task();
        vec![
            ("$TITLE", self.title()),
            ("$VERSION", env!("CARGO_PKG_VERSION").to_owned()),
            ("$PROBLEM", self.problem()),
            ("$ARGUMENT_NOTES", argument_notes(&self.schedule)),
            ("$PORT_NOTE", port_note(task.ports).to_owned()),
            ("$PROCESSORS", task.processors().to_string()),
            ("$ROOT", task.root.unwrap_or_default().to_string()),
            ("$PORTS", task.ports.to_string()),
            ("$LARGEST", self.largest_buffer.to_string()),
            ("$VECTOR", task.total().to_string()),
            ("$PARAMETERS", parameters(task.operation).to_owned()),
            ("$PASSED", passed(task.operation).to_owned()),
            ("$BLOCK_BUFFER", block_buffer(task.operation).to_owned()),
            ("$UPPER", self.name.to_ascii_uppercase()),
            ("$NAME", self.name.to_owned()),
        ]
    }

    fn title(&self) -> String {
        let task = self.schedule.task();
        let (p, bytes) = (task.processors(), task.total());
        let root = task.root.unwrap_or_default();
        match task.operation {
            Operation::Gather => {
                format!("Gather of the blocks of {p} processes to process {root}, {bytes} bytes.")
            }
            Operation::Scatter => {
                format!(
                    "Scatter of the blocks of {p} processes from process {root}, {bytes} bytes."
                )
            }
            Operation::Broadcast => {
                format!("Broadcast of {bytes} bytes from process {root} to {p} processes.")
            }
            Operation::Reduce => {
                format!("Reduction of {bytes} bytes of each of {p} processes to process {root}.")
            }
            Operation::Allgather => {
                format!("Allgather of the blocks of {p} processes, {bytes} bytes.")
            }
            Operation::ReduceScatter => {
                format!("Reduction of {bytes} bytes of each of {p} processes, to a block for each.")
            }
            Operation::Allreduce => {
                format!("Reduction of {bytes} bytes of each of {p} processes, to all of them.")
            }
            Operation::Alltoall => {
                format!("Alltoall of the messages of {p} processes, {bytes} bytes.")
            }
            Operation::IntergroupAllgather => {
                format!("Allgather of the blocks of {p} processes in two groups, {bytes} bytes.")
            }
        }
    }

    /// The problem in the lines of a comment.
    fn problem(&self) -> String {
        let task = self.schedule.task();
        let mut text = format!(
            " * {} actions; the data is kept in order: {}; ports: {}.",
            self.schedule.programs().len(),
            task.order.name(),
            task.ports
        );
        match &task.costs {
            Some(StatedCosts::Parameters(Costs::Homogeneous(costs))) => {
                let (alpha, beta, gamma) = (costs.alpha(), costs.beta(), costs.gamma());
                let overhead = match costs.overlaps() {
                    true => format!(" with overhead {}", costs.overhead()),
                    false => String::new(),
                };
                text += &format!(
                    "\n * Made for alpha {alpha}{overhead} and, per byte, beta {beta} and gamma {gamma}."
                );
            }
            Some(StatedCosts::Parameters(costs)) => {
                text += &format!("\n * Made for costs of kind {}.", costs.name());
            }
            Some(StatedCosts::Machine(machine)) => {
                text += &format!("\n * Made for the machine {}.", in_comment(&machine.name));
            }
            None => {}
        }
        if let Some(time) = self.completion_time {
            text += &format!("\n * Completion time in the model, in strict order: {time}.");
        }
        text
    }

    /// The actions of a processor; where there is but one, the copy that a schedule leaves out.
    fn for_each_action(
        &self,
        rank: Rank,
        mut each: impl FnMut(&Action<'_>, (u16, u16)) -> io::Result<()>,
    ) -> io::Result<()> {
        let programs = self.schedule.programs();
        for index in programs.range(rank) {
            each(&programs.action(index), self.tags[index])?;
        }
        if self.is_lone_copy() {
            let own = [Piece { offset: 0, bytes: self.schedule.task().total() }];
            let from = Region { buffer: Buffer::Input, pieces: &own };
            let into = Region { buffer: Buffer::Output, pieces: &own };
            let arrival = Arrival::Store;
            each(&Action { port: 0, deed: Deed::Copy { from, into, arrival } }, (0, 0))?;
        }
        Ok(())
    }

    fn is_lone_copy(&self) -> bool {
        let task = self.schedule.task();
        task.processors() == 1
            && task.total() > 0
            && task.operation.is_irregular()
            && task.operation.is_rooted()
            && self.schedule.programs().is_empty()
    }

    fn count_actions(&self, rank: Rank) -> usize {
        self.schedule.programs().range(rank).len() + usize::from(self.is_lone_copy())
    }

    fn program(&self, out: &mut dyn Write) -> io::Result<()> {
        for rank in 0..self.schedule.processors() {
            let segment = self.schedule.buffer_bytes(rank, Buffer::Segment);
            writeln!(out, "    /* {rank} */ {segment}, {},", self.count_actions(rank))?;
            let mut touched = Touched::default();
            self.for_each_action(rank, |action, tags| {
                write_action(action, tags, touched.guards(action), out)
            })?;
        }
        // No table of C is empty.
        writeln!(out, "    0")
    }

    /// Where each processor's part of the program begins.
    fn beginnings(&self) -> Vec<u64> {
        let mut beginnings = Vec::with_capacity(self.schedule.processors());
        let mut end = 0;
        for rank in 0..self.schedule.processors() {
            beginnings.push(end);
            end += 2;
            self.for_each_action(rank, |action, _| {
                let messages = [action.send().is_some(), action.receive().is_some()];
                end += 1 + messages.into_iter().map(u64::from).sum::<u64>();
                let regions = [action.reads(), action.writes()];
                end +=
                    regions.iter().flatten().map(|at| 1 + 2 * at.pieces.len() as u64).sum::<u64>();
                Ok(())
            })
            .expect("counting does no output");
        }
        beginnings
    }

    /// A row for each process: what it has of its own in an alltoall or an intergroup allgather.
    fn own(&self, out: &mut dyn Write) -> io::Result<()> {
        for rank in 0..self.schedule.processors() {
            let row: Vec<String> = match &self.schedule.task().payload {
                Payload::Messages(sizes) => {
                    let to_itself = sizes.before(rank, rank) - sizes.before(rank, 0);
                    let place = sizes.place(rank, rank);
                    let (got, given) = (sizes.column(rank), sizes.row(rank));
                    let memory = self.memory_for_messages(rank, got);
                    let bytes = sizes.message(rank, rank);
                    [got, given, to_itself, place, bytes, memory]
                        .iter()
                        .map(u64::to_string)
                        .collect()
                }
                Payload::Groups(sizes) => {
                    let at = sizes.blocks().before(rank) - sizes.own_group(rank).start;
                    let room = self.schedule.buffer_bytes(rank, Buffer::Segment);
                    let bytes = sizes.blocks().block(rank).min(room.saturating_sub(at));
                    vec![at.to_string(), bytes.to_string()]
                }
                Payload::Blocks(_) | Payload::Vector(_) => Vec::new(),
            };
            let comma = if rank + 1 < self.schedule.processors() { "," } else { "" };
            writeln!(out, "    {{ {} }}{comma}", row.join(", "))?;
        }
        Ok(())
    }

    /// The bytes of memory in which the messages of an alltoall come together at a rank; 0 if all that it
    /// writes is what it gets, and all that it sends lies in its input.
    fn memory_for_messages(&self, rank: Rank, got: u64) -> u64 {
        let programs = self.schedule.programs();
        let regions = programs.actions(rank).flat_map(|action| [action.reads(), action.writes()]);
        let in_output = |region: &Region<'_>| region.buffer == Buffer::Output;
        let mut outputs = regions.flatten().filter(in_output);
        match outputs.any(|region| region.pieces.iter().any(|piece| piece.end() > got)) {
            true => self.schedule.buffer_bytes(rank, Buffer::Output),
            false => 0,
        }
    }

    /// Where each block begins, and where the last one ends.
    fn blocks(&self) -> Vec<u64> {
        match &self.schedule.task().payload {
            Payload::Blocks(sizes) => {
                (0..=sizes.processors()).map(|rank| sizes.before(rank)).collect()
            }
            Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => Vec::new(),
        }
    }
}

/// A text that ends no comment and no line.
fn in_comment(text: &str) -> String {
    let printable = |c: char| if c.is_control() || c == '*' || c == '\\' { ' ' } else { c };
    text.chars().map(printable).collect()
}

fn is_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    name.len() <= LONGEST_NAME
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|next| next.is_ascii_alphanumeric() || next == '_')
        && ["mpi", "mpix", "pmpi"].iter().all(|&of_mpi| {
            lower != of_mpi && !lower.strip_prefix(of_mpi).is_some_and(|rest| rest.starts_with('_'))
        })
}

/// For each action, the MPI tags of what it sends and receives.
fn tags(schedule: &Schedule) -> Result<Vec<(u16, u16)>, CError> {
    let Numbering { of_actions, most } = Numbering::new(schedule);
    match most {
        Some((sender, receiver, messages)) if messages > LARGEST_TAG + 1 => {
            Err(CError::TooManyMessages { sender, receiver, messages })
        }
        _ => Ok(of_actions.into_iter().map(|(sent, got)| (sent as u16, got as u16)).collect()),
    }
}

fn largest_buffer(schedule: &Schedule) -> Result<u64, CError> {
    let segments =
        (0..schedule.processors()).map(|rank| schedule.buffer_bytes(rank, Buffer::Segment));
    let bytes = segments.fold(schedule.task().total(), u64::max);
    if bytes > i64::MAX as u64 { Err(CError::BufferTooLarge { bytes }) } else { Ok(bytes) }
}

fn write_action(
    action: &Action<'_>,
    tags: (u16, u16),
    guarded: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let kind = match action.deed {
        Deed::Copy { .. } => "COPY",
        Deed::Send(_) => "SEND",
        Deed::Receive(_) => "RECEIVE",
        Deed::Exchange(..) => "EXCHANGE",
    };
    let guard = if guarded { " | GUARDED" } else { "" };
    let side = match action.arrival() {
        Arrival::Store => "",
        Arrival::CombineLeft => " | LEFT",
        Arrival::CombineRight => " | RIGHT",
    };
    write!(out, "    {kind}({}){guard}{side},", action.port)?;
    if let Some(send) = action.send() {
        write!(out, " PEER({}, {}),", send.to, tags.0)?;
    }
    if let Some(region) = action.reads() {
        write_region(region, out)?;
    }
    if let Some(receive) = action.receive() {
        write!(out, " PEER({}, {}),", receive.from, tags.1)?;
    }
    if let Some(region) = action.writes() {
        write_region(region, out)?;
    }
    writeln!(out)
}

fn write_region(region: Region<'_>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, " {}({}),", region.buffer.name().to_ascii_uppercase(), region.pieces.len())?;
    for (index, piece) in region.pieces.iter().enumerate() {
        if index > 0 && index % 8 == 0 {
            write!(out, "\n       ")?;
        }
        write!(out, " {}, {},", piece.offset, piece.bytes)?;
    }
    Ok(())
}

/// Writes a table of numbers, a dozen a line.
fn numbers(table: impl IntoIterator<Item = u64>, out: &mut dyn Write) -> io::Result<()> {
    for (index, number) in table.into_iter().enumerate() {
        let before = match index % 12 {
            _ if index == 0 => "    ",
            0 => ",\n    ",
            _ => ", ",
        };
        write!(out, "{before}{number}")?;
    }
    writeln!(out)
}

fn replaced(line: &str, words: &[(&str, String)]) -> String {
    if !line.contains('$') {
        return line.to_owned();
    }
    words.iter().fold(line.to_owned(), |line, (word, text)| line.replace(word, text))
}

fn parameters(operation: Operation) -> &'static str {
    match operation {
        Operation::Gather | Operation::Scatter | Operation::Allgather => {
            "const void *input, void *output, const MPI_Aint *displacements"
        }
        Operation::Alltoall | Operation::IntergroupAllgather => "const void *input, void *output",
        Operation::Broadcast => "void *vector",
        Operation::Reduce | Operation::ReduceScatter | Operation::Allreduce => {
            "const void *input, void *output, MPI_Datatype type, MPI_Op op"
        }
    }
}

fn passed(operation: Operation) -> &'static str {
    match operation {
        Operation::Gather | Operation::Scatter | Operation::Allgather => {
            "input, output, displacements"
        }
        Operation::Alltoall | Operation::IntergroupAllgather => "input, output",
        Operation::Broadcast => "vector",
        Operation::Reduce | Operation::ReduceScatter | Operation::Allreduce => {
            "input, output, type, op"
        }
    }
}

/// The buffer in which all blocks lie.
fn block_buffer(operation: Operation) -> &'static str {
    if operation == Operation::Scatter { "INPUT" } else { "OUTPUT" }
}

fn port_note(ports: u16) -> &'static str {
    match ports {
        1 => "In strict order, one action is under way at a time.",
        _ => {
            "In strict order, one action of each port is under way at\n \
             * a time; what reads from the segment or the output waits for all receives and copies\n \
             * that are listed before it."
        }
    }
}

/// What the arguments are, in the lines of a comment.
fn argument_notes(schedule: &Schedule) -> String {
    let task = schedule.task();
    let (root, bytes) = (task.root.unwrap_or_default(), task.total());
    let default = match task.displacements {
        Some(_) => "those exported",
        None => "one after the other",
    };
    let read_at = match task.root {
        Some(root) => format!("read at process {root} only, and copied"),
        None => "copied".to_owned(),
    };
    let displacements = format!(
        " * displacements   where each block begins in there, in bytes from its address; NULL: {default};\n \
         *                 {read_at}"
    );
    match task.operation {
        Operation::Gather => format!(
            " * input           the block of the process\n \
             * output          at process {root}, all blocks; not used elsewhere\n{displacements}"
        ),
        Operation::Scatter => format!(
            " * input           at process {root}, all blocks; not used elsewhere\n \
             * output          the block of the process\n{displacements}"
        ),
        Operation::Allgather => format!(
            " * input           the block of the process\n \
             * output          all blocks\n{displacements}"
        ),
        Operation::Broadcast => {
            format!(" * vector          {bytes} bytes, read at process {root}, written elsewhere")
        }
        Operation::Reduce => format!(
            " * input           {bytes} bytes\n \
             * output          at process {root}, {bytes} bytes; not used elsewhere\n{}",
            operator_notes(task.order)
        ),
        Operation::ReduceScatter => format!(
            " * input           {bytes} bytes\n \
             * output          {bytes} bytes; in the end, the block of the process in its place there is\n \
             *                 its part of the result, and what is beside it of no meaning\n{}",
            operator_notes(task.order)
        ),
        Operation::Alltoall => " * input           the messages to all processes, by receiver, one after the \
             other\n * output          the messages from all processes, by sender, one after the other"
            .to_owned(),
        Operation::IntergroupAllgather => {
            let (first, second) = group_ranks(schedule);
            format!(
                " * input           the block of the process\n \
                 * output          all blocks of the other group, one after the other\n \
                 *\n \
                 * The first group are processes {first}, the second are processes {second}."
            )
        }
        Operation::Allreduce => format!(
            " * input           {bytes} bytes\n \
             * output          {bytes} bytes\n{}",
            operator_notes(task.order)
        ),
    }
}

/// The ranks of both groups of an intergroup allgather, in words.
fn group_ranks(schedule: &Schedule) -> (String, String) {
    let Payload::Groups(groups) = &schedule.task().payload else {
        unreachable!("an intergroup allgather has groups")
    };
    let (first, all) = (groups.ranks()[0], schedule.processors());
    (format!("0 to {}", first - 1), format!("{first} to {}", all - 1))
}

/// What the arguments are that only reductions have.
fn operator_notes(order: Order) -> String {
    format!(
        " * type            of the elements; consecutive bytes without gaps\n \
         * op              associative; {}",
        match order {
            Order::Ordered => "need not be commutative, since vectors are combined in rank order",
            Order::Direct | Order::Any =>
                "commutative, too, since vectors are combined in any order",
        }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;
    use tuwtree_model::{BlockSizes, Collective, Problem, Step, Tree, Vector};

    fn of_tree(operation: Operation) -> Schedule {
        let steps = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
        let tree = Tree::new(3, 1, &steps).unwrap();
        let payload = match operation.is_irregular() {
            true => Payload::Blocks(BlockSizes::new([2, 1, 4]).unwrap()),
            false => Payload::Vector(Vector { processors: 3, bytes: 8 }),
        };
        let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
        Schedule::of_tree(&tree, &Problem::new(operation, payload, costs).unwrap()).unwrap()
    }

    /// A broadcast between two processors with these actions.
    fn by_hand(actions: &str) -> Schedule {
        let text = format!(
            r#"{{"format":"tuwtree-schedule","version":1,"operation":"broadcast","order":"any",
            "processors":2,"root":0,"ports":1,"vector_bytes":9,"segment_bytes":[0,0],
            "actions":{actions}}}"#
        );
        document::read(text.as_bytes()).unwrap()
    }

    fn source(schedule: &Schedule) -> String {
        let mut text = Vec::new();
        CFiles::new(schedule, "my_name").unwrap().source(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn every_word_and_condition_of_the_templates_is_filled_in() {
        for operation in Operation::rooted() {
            let schedule = of_tree(operation);
            let mut header = Vec::new();
            CFiles::new(&schedule, "my_name").unwrap().header(&mut header).unwrap();
            for text in [source(&schedule), String::from_utf8(header).unwrap()] {
                assert!(!text.contains('$') && !text.contains('@'), "{text}");
                assert!(text.contains("my_name_init_eager("), "{text}");
                assert!(text.is_ascii());
            }
        }
    }

    #[test]
    fn the_program_says_who_sends_what_to_whom() {
        let text = source(&of_tree(Operation::Gather));
        let program = "    /* 0 */ 0, 1,\n    SEND(0), PEER(1, 0), INPUT(1), 0, 2,\n    \
                       /* 1 */ 0, 3,\n    RECEIVE(0), PEER(0, 0), OUTPUT(1), 0, 2,\n    \
                       COPY(0), INPUT(1), 0, 1, OUTPUT(1), 2, 1,\n    \
                       RECEIVE(0), PEER(2, 0), OUTPUT(1), 3, 4,\n    \
                       /* 2 */ 0, 1,\n    SEND(0), PEER(1, 0), INPUT(1), 0, 4,\n    0\n";
        assert!(text.contains(program), "{text}");
        assert!(text.contains("beginnings[PROCESSES] = {\n    0, 7, 26\n};"), "{text}");
        assert!(text.contains("blocks[PROCESSES + 1] = {\n    0, 2, 3, 7\n};"), "{text}");
        assert!(text.contains("Completion time in the model, in strict order: 9."), "{text}");
    }

    #[test]
    fn a_lone_processor_copies_its_block() {
        let tree = Tree::new(1, 0, &[]).unwrap();
        let payload = Payload::Blocks(BlockSizes::new([5]).unwrap());
        let schedule =
            Schedule::without_costs(&tree, &Collective::new(Operation::Gather, payload).unwrap())
                .unwrap();
        let text = source(&schedule);
        assert!(text.contains("/* 0 */ 0, 1,\n    COPY(0), INPUT(1), 0, 5, OUTPUT(1), 0, 5,\n"));
    }

    #[test]
    fn messages_between_two_processors_have_tags_of_their_own() {
        let schedule = by_hand(
            r#"[[{"send":1,"send_tag":70000,"from":["output",0,4]},{"send":1,"from":["output",4,5]}],
            [{"receive":0,"receive_tag":70000,"into":["output",0,4]},{"receive":0,"into":["output",4,5]}]]"#,
        );
        let tags = CFiles::new(&schedule, "a").unwrap().tags;
        assert_eq!(tags, [(1, 0), (0, 0), (0, 1), (0, 0)]);
    }

    #[test]
    fn what_would_never_end_is_refused() {
        let schedule = by_hand(r#"[[{"send":1,"from":["output",0,9]}],[]]"#);
        let error = CFiles::new(&schedule, "a").unwrap_err().to_string();
        assert!(error.contains("rank 0 sends message 0"), "{error}");
    }

    #[test]
    fn more_messages_than_tags_are_refused() {
        let many = |action: &str| vec![action; LARGEST_TAG + 2].join(",");
        let schedule = by_hand(&format!(
            "[[{}],[{}]]",
            many(r#"{"send":1,"from":["output",0,9]}"#),
            many(r#"{"receive":0,"into":["output",0,9]}"#)
        ));
        let error = CFiles::new(&schedule, "a").unwrap_err();
        assert_eq!(error, CError::TooManyMessages { sender: 0, receiver: 1, messages: 32769 });
    }

    #[test]
    fn names_are_those_that_c_and_mpi_allow() {
        let schedule = of_tree(Operation::Gather);
        for name in ["a", "Gather_16", "mpi2", "x".repeat(64).as_str()] {
            assert!(CFiles::new(&schedule, name).is_ok(), "{name}");
        }
        for name in ["", "_a", "1a", "a-b", "ä", "MPI_Gather", "mpi", "mpix_a", "PMPI_x", "a$"] {
            let error = CFiles::new(&schedule, name).unwrap_err();
            assert_eq!(error, CError::Name { name: name.to_owned() });
        }
        assert!(CFiles::new(&schedule, &"x".repeat(65)).is_err());
    }
}
