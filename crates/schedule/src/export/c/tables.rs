//! The tables of numbers: the program, where each process's part of it begins, blocks, and what a process has of its
//! own.

use super::CFiles;
use super::guards::Touched;
use crate::action::{Action, Arrival, Buffer, Deed, Piece, Region};
use std::io::{self, Write};
use tuwtree_model::{ClosedSet, Payload, Rank};

impl CFiles<'_> {
    /// The actions of a rank; where there is but one, the copy that a schedule leaves out.
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
        task.ranks() == 1
            && task.total() > 0
            && task.operation.is_irregular()
            && task.operation.is_rooted()
            && self.schedule.programs().is_empty()
    }

    fn count_actions(&self, rank: Rank) -> usize {
        self.schedule.programs().range(rank).len() + usize::from(self.is_lone_copy())
    }

    /// Writes every process's segment bytes and actions.
    pub(super) fn program(&self, out: &mut dyn Write) -> io::Result<()> {
        for rank in 0..self.schedule.ranks() {
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

    /// Start of each rank's part of the program.
    pub(super) fn beginnings(&self) -> Vec<u64> {
        let mut beginnings = Vec::with_capacity(self.schedule.ranks());
        let mut end = 0;
        for rank in 0..self.schedule.ranks() {
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

    /// A row for each process: its own data in an alltoall or an intergroup allgather.
    pub(super) fn own(&self, out: &mut dyn Write) -> io::Result<()> {
        for rank in 0..self.schedule.ranks() {
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
            let comma = if rank + 1 < self.schedule.ranks() { "," } else { "" };
            writeln!(out, "    {{ {} }}{comma}", row.join(", "))?;
        }
        Ok(())
    }

    /// The bytes of memory in which the messages of an alltoall come together at a rank; 0 if it writes only its
    /// result, and sends only from its input.
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

    /// Start of each block, and end of the last one.
    pub(super) fn blocks(&self) -> Vec<u64> {
        match &self.schedule.task().payload {
            Payload::Blocks(sizes) => (0..=sizes.ranks()).map(|rank| sizes.before(rank)).collect(),
            Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => Vec::new(),
        }
    }
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
pub(super) fn numbers(table: impl IntoIterator<Item = u64>, out: &mut dyn Write) -> io::Result<()> {
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
