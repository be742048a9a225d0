//! Schedules as C: a source file and a header that need only an MPI library.
//!
//! ```text
//!  template (c/source.c)           name.c
//!  $WORD                      ->   the word's text                     `words.rs`
//!  @if X / @else / @end       ->   the lines of one side               `holds`
//!  $PROGRAM, $BEGINNINGS, ... ->   tables of numbers                   `tables.rs`
//!
//!  program[]     segment bytes, actions, action, action, ...  segment bytes, actions, ...  0
//!                ^ beginnings[0]                              ^ beginnings[1]
//!
//!  an action     KIND(port) [PEER(to, tag)] [region read] [PEER(from, tag)] [region written]
//!  a region      BUFFER(pieces)  offset, bytes  offset, bytes  ...
//! ```
//!
//! The files hold every rank's actions as a table of numbers, and an engine that performs them with
//! persistent requests: `init`, `start`, `wait` or `test`, `free`. The engine is equal for all
//! schedules, except for parts that an operation does not need; it lies beside this file as
//! templates, in which `$WORD` is replaced and `@if`, `@else`, `@end` choose lines.
//!
//! Strict order performs the schedule as [`Schedule`] defines it. The eager variant posts all receives at the start and
//! sends data as soon as it is there: the network's ports are used, and the model's times do not hold. In both,
//! messages between two ranks have tags of their own, so that the order in which requests are started does not matter.
//!
//! What this deliberately does not do: elements other than bytes (a reduction is told its datatype
//! when it is prepared), `MPI_IN_PLACE`, any MPI call newer than version 3.

mod guards;
mod tables;
mod words;

use super::numbering::Numbering;
use crate::action::Buffer;
use crate::schedule::{BothSides, Schedule};
use crate::simulate::{Handover, Posts, Sends, SimulationError, simulate};
use std::borrow::Cow;
use std::io::{self, Write};
use tables::numbers;
use tuwtree_model::{ClosedSet, Homogeneous, Rank, Time};

const SOURCE: &str = include_str!("c/source.c");
const HEADER: &str = include_str!("c/header.h");

/// The largest tag that every MPI library has.
const LARGEST_TAG: usize = 32767;

/// The longest prefix of the names.
const LONGEST_NAME: usize = 64;

/// A schedule that cannot be written as C.
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
    /// An action holds both sides of a duplex port.
    #[error("{0}: what is performed in C holds one; export the schedule without duplex ports")]
    BothSides(#[from] BothSides),
    /// More messages from one rank to another than there are tags.
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
    /// With duplex ports, a schedule with a port for each side.
    schedule: Cow<'a, Schedule>,
    name: &'a str,
    /// An entry for each action: the MPI tags of its send and its receive; 0 for none.
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
    /// [`CError`]: a name that C or MPI does not allow; messages with one end, or ranks that
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
            .and_then(|stated| simulate(&schedule, stated, in_order).ok());
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
    /// Errors of `out`.
    pub fn header(&self, out: &mut dyn Write) -> io::Result<()> {
        self.fill(HEADER, out)
    }

    /// Writes the source, `name.c`.
    ///
    /// # Errors
    /// Errors of `out`.
    ///
    /// # Complexity
    /// O(1) for each piece of each action, each block, and each rank.
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

/// For each action, the MPI tags of its send and its receive.
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
    let segments = (0..schedule.ranks()).map(|rank| schedule.buffer_bytes(rank, Buffer::Segment));
    let bytes = segments.fold(schedule.task().total(), u64::max);
    if bytes > i64::MAX as u64 { Err(CError::BufferTooLarge { bytes }) } else { Ok(bytes) }
}

fn replaced(line: &str, words: &[(&str, String)]) -> String {
    if !line.contains('$') {
        return line.to_owned();
    }
    words.iter().fold(line.to_owned(), |line, (word, text)| line.replace(word, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;
    use tuwtree_model::{BlockSizes, Collective, Operation, Payload, Problem, Step, Tree, Vector};

    fn of_tree(operation: Operation) -> Schedule {
        let steps = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
        let tree = Tree::new(3, 1, &steps).unwrap();
        let payload = match operation.is_irregular() {
            true => Payload::Blocks(BlockSizes::new([2, 1, 4]).unwrap()),
            false => Payload::Vector(Vector { ranks: 3, bytes: 8 }),
        };
        let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
        Schedule::of_tree(&tree, &Problem::new(operation, payload, costs).unwrap()).unwrap()
    }

    /// A broadcast between two ranks with these actions.
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
    fn a_lone_rank_copies_its_block() {
        let tree = Tree::new(1, 0, &[]).unwrap();
        let payload = Payload::Blocks(BlockSizes::new([5]).unwrap());
        let schedule =
            Schedule::without_costs(&tree, &Collective::new(Operation::Gather, payload).unwrap())
                .unwrap();
        let text = source(&schedule);
        assert!(text.contains("/* 0 */ 0, 1,\n    COPY(0), INPUT(1), 0, 5, OUTPUT(1), 0, 5,\n"));
    }

    #[test]
    fn messages_between_two_ranks_have_tags_of_their_own() {
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
