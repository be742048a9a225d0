//! The schedule document: schedules as versioned, self-describing JSON.
//!
//! Written and read as a stream: neither a text nor a tree of JSON values is held in memory beside
//! the schedule. `docs/formats.md` describes the format, `docs/schedule.schema.json` defines it.

use crate::action::{Action, Arrival, Buffer, Deed, Piece, Receive, Region, Send};
use crate::program::Programs;
use crate::schedule::{Schedule, Task};
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeSeq, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Write};
use tuwtree_model::document::{Header, Machine, NumberList, Object, shortened};
use tuwtree_model::{
    BlockSizes, ClosedSet, Costs, GroupSizes, Homogeneous, MOST_PROCESSORS, MessageSizes,
    Operation, Operator, Order, Payload, Rank, StatedCosts, Vector,
};

/// The name of the format.
pub const FORMAT: &str = "tuwtree-schedule";
/// The newest version.
pub const VERSION: u64 = 5;

/// The oldest version that has all that a schedule needs, which is written: 5 for duplex ports, costs of exchanges and
/// copies that combine, 4 for an intergroup allgather, 3 for reductions without a root, for
/// operators that are known, and alltoall; 2 for an allgather, for overheads, and for machines of version 2.
fn version(schedule: &Schedule) -> u64 {
    let task = schedule.task();
    match &task.costs {
        _ if task.duplex || combines_copies(schedule.programs()) => 5,
        Some(costs) if costs.costs().have_exchange_costs() => 5,
        _ if !task.operation.is_rooted() => of_rootless(task.operation),
        _ if task.operator != Operator::FREE => 3,
        Some(StatedCosts::Parameters(costs)) if costs.overlaps() => 2,
        Some(StatedCosts::Machine(machine)) if machine.version() > 1 => 2,
        Some(_) | None => 1,
    }
}

/// Whether some action combines what it copies.
fn combines_copies(programs: &Programs) -> bool {
    let mut actions = (0..programs.len()).map(|index| programs.action(index));
    actions.any(|action| action.receive().is_none() && action.combines().is_some())
}

/// The oldest version with this operation, which has no root.
fn of_rootless(operation: Operation) -> u64 {
    match operation {
        Operation::IntergroupAllgather => 4,
        Operation::Allgather => 2,
        _ => 3,
    }
}

/// Writes a schedule as one JSON object, a line for each processor's actions.
///
/// # Errors
/// Those of `output`.
///
/// # Complexity
/// O(1) for each block, action and piece; no memory to speak of.
pub fn write(schedule: &Schedule, output: &mut dyn Write) -> io::Result<()> {
    let fields = serde_json::to_string(&TaskFields(schedule))?;
    let open = fields.strip_suffix('}').expect("an object ends with a brace");
    write!(output, "{open},\n\"segment_bytes\":")?;
    serde_json::to_writer(&mut *output, &Segments(schedule))?;
    write!(output, ",\n\"actions\":[")?;
    for rank in 0..schedule.processors() {
        output.write_all(if rank == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *output, &ActionList(schedule.programs(), rank))?;
    }
    writeln!(output, "\n]}}")
}

/// The schedule in a JSON text.
///
/// # Errors
/// What is wrong, in a few words, with line and column for what is no JSON or does not have the fields
/// it should.
///
/// # Complexity
/// O(p log p) and O(1) for each action and piece; memory is at most twice the text's.
pub fn read(input: impl Read) -> Result<Schedule, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_reader(input);
    let schedule = deserializer.deserialize_map(DocumentVisitor).map_err(in_few_words)?;
    deserializer.end()?;
    Ok(schedule)
}

/// The error with a message of bounded length; line and column, at its end, stay.
fn in_few_words(error: serde_json::Error) -> serde_json::Error {
    let message = error.to_string();
    match shortened(&message) {
        Cow::Borrowed(_) => error,
        Cow::Owned(short) => serde_json::Error::custom(short),
    }
}

/// Everything but segments and actions.
struct TaskFields<'a>(&'a Schedule);

impl Serialize for TaskFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let task = self.0.task();
        let mut fields = serializer.serialize_struct("Schedule", 15)?;
        fields.serialize_field("format", FORMAT)?;
        fields.serialize_field("version", &version(self.0))?;
        fields.serialize_field("operation", &task.operation)?;
        fields.serialize_field("processors", &task.processors())?;
        match task.root {
            Some(root) => fields.serialize_field("root", &root)?,
            None => fields.skip_field("root")?,
        }
        fields.serialize_field("order", &task.order)?;
        fields.serialize_field("ports", &task.ports)?;
        match task.duplex {
            true => fields.serialize_field("duplex", &true)?,
            false => fields.skip_field("duplex")?,
        }
        match &task.costs {
            Some(StatedCosts::Parameters(Costs::Homogeneous(costs))) => {
                fields.serialize_field("costs", &CostFields::from(costs))?;
            }
            Some(StatedCosts::Parameters(costs)) => {
                let kind = costs.name();
                let message = format!("costs of kind \"{kind}\" need a machine to be written");
                return Err(serde::ser::Error::custom(message));
            }
            Some(StatedCosts::Machine(machine)) => fields.serialize_field("machine", &**machine)?,
            None => {}
        }
        match &task.payload {
            Payload::Blocks(sizes) => {
                fields.serialize_field("block_sizes_bytes", &BlockList(sizes))?;
            }
            Payload::Vector(vector) => fields.serialize_field("vector_bytes", &vector.bytes)?,
            Payload::Groups(sizes) => {
                fields.serialize_field("groups", &sizes.ranks())?;
                fields.serialize_field("block_sizes_bytes", &BlockList(sizes.blocks()))?;
            }
            Payload::Messages(sizes) => {
                fields.serialize_field("block_matrix_bytes", &MessageRows(sizes))?;
            }
        }
        if let Some(displacements) = &task.displacements {
            fields.serialize_field("displacements_bytes", displacements)?;
        }
        match task.operator.element_bytes() {
            1 => fields.skip_field("element_bytes")?,
            bytes => fields.serialize_field("element_bytes", &bytes)?,
        }
        match task.operator.combine_per_byte() {
            0.0 => fields.skip_field("combine_per_byte")?,
            time => fields.serialize_field("combine_per_byte", &time)?,
        }
        fields.end()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CostFields {
    alpha: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    overhead: Option<f64>,
    beta_per_byte: f64,
    gamma_per_byte: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    exchange_alpha: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exchange_beta_per_byte: Option<f64>,
}

impl From<&Homogeneous> for CostFields {
    fn from(costs: &Homogeneous) -> CostFields {
        let has_exchange_costs = costs.has_exchange_costs();
        CostFields {
            alpha: costs.alpha(),
            overhead: costs.overlaps().then_some(costs.overhead()),
            beta_per_byte: costs.beta(),
            gamma_per_byte: costs.gamma(),
            exchange_alpha: has_exchange_costs.then_some(costs.exchange_alpha()),
            exchange_beta_per_byte: has_exchange_costs.then_some(costs.exchange_beta()),
        }
    }
}

impl CostFields {
    fn has_exchange_costs(&self) -> bool {
        self.exchange_alpha.is_some() || self.exchange_beta_per_byte.is_some()
    }

    fn costs(self) -> Result<Homogeneous, String> {
        let CostFields { alpha, overhead, beta_per_byte, gamma_per_byte, .. } = self;
        let costs = Homogeneous::new(alpha, beta_per_byte, gamma_per_byte)
            .map_err(|error| error.to_string())?
            .with_overhead(overhead.unwrap_or(alpha))
            .map_err(|error| error.to_string())?;
        let exchange_alpha = self.exchange_alpha.unwrap_or(alpha);
        let exchange_beta = self.exchange_beta_per_byte.unwrap_or(beta_per_byte);
        costs.with_exchange(exchange_alpha, exchange_beta).map_err(|error| error.to_string())
    }
}

struct BlockList<'a>(&'a BlockSizes);

impl Serialize for BlockList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

/// A row for each sender.
struct MessageRows<'a>(&'a MessageSizes);

impl Serialize for MessageRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let MessageRows(sizes) = self;
        let ranks = 0..sizes.processors();
        serializer.collect_seq(
            ranks
                .clone()
                .map(|from| ranks.clone().map(|to| sizes.message(from, to)).collect::<Vec<u64>>()),
        )
    }
}

struct Segments<'a>(&'a Schedule);

impl Serialize for Segments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Segments(schedule) = self;
        let sizes = 0..schedule.processors();
        serializer.collect_seq(sizes.map(|rank| schedule.buffer_bytes(rank, Buffer::Segment)))
    }
}

struct ActionList<'a>(&'a Programs, Rank);

impl Serialize for ActionList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ActionList(programs, rank) = *self;
        let actions = programs.actions(rank);
        let mut list = serializer.serialize_seq(Some(actions.len()))?;
        for action in actions {
            list.serialize_element(&ActionFields::from(&action))?;
        }
        list.end()
    }
}

/// An action as it stands in a file: a message with `send`, `receive` or both, a copy with neither.
/// Fields that are 0 may be left out.
#[derive(Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct ActionFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    send: Option<u32>,
    #[serde(skip_serializing_if = "is_zero")]
    send_tag: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<RegionFields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receive: Option<u32>,
    #[serde(skip_serializing_if = "is_zero")]
    receive_tag: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    into: Option<RegionFields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    combine: Option<OperandSide>,
    #[serde(skip_serializing_if = "is_zero")]
    port: u16,
}

/// On which side of what is there the operand stands that is received or copied.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OperandSide {
    Left,
    Right,
}

/// A region: a list of the buffer's name, then offset and bytes of each piece.
struct RegionFields {
    buffer: Buffer,
    pieces: Vec<Piece>,
}

fn is_zero<T: PartialEq + Default>(value: &T) -> bool {
    *value == T::default()
}

impl RegionFields {
    fn region(&self) -> Region<'_> {
        Region { buffer: self.buffer, pieces: &self.pieces }
    }
}

impl From<Region<'_>> for RegionFields {
    fn from(region: Region<'_>) -> RegionFields {
        RegionFields { buffer: region.buffer, pieces: region.pieces.to_vec() }
    }
}

impl Serialize for RegionFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(1 + 2 * self.pieces.len()))?;
        list.serialize_element(&self.buffer)?;
        for piece in &self.pieces {
            list.serialize_element(&piece.offset)?;
            list.serialize_element(&piece.bytes)?;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for RegionFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RegionFields, D::Error> {
        struct PlaceVisitor;

        impl<'de> Visitor<'de> for PlaceVisitor {
            type Value = RegionFields;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of a buffer, then offset and bytes of each piece")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<RegionFields, A::Error> {
                let buffer =
                    list.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
                let mut pieces = Vec::with_capacity(1);
                while let Some(offset) = list.next_element()? {
                    let count = 2 * pieces.len() + 2;
                    let bytes = list
                        .next_element()?
                        .ok_or_else(|| A::Error::invalid_length(count, &self))?;
                    pieces.push(Piece { offset, bytes });
                }
                Ok(RegionFields { buffer, pieces })
            }
        }

        deserializer.deserialize_seq(PlaceVisitor)
    }
}

impl From<&Action<'_>> for ActionFields {
    fn from(action: &Action<'_>) -> ActionFields {
        ActionFields {
            send: action.send().map(|send| send.to as u32),
            send_tag: action.send().map_or(0, |send| send.tag),
            from: action.reads().map(RegionFields::from),
            receive: action.receive().map(|receive| receive.from as u32),
            receive_tag: action.receive().map_or(0, |receive| receive.tag),
            into: action.writes().map(RegionFields::from),
            combine: match action.arrival() {
                Arrival::Store => None,
                Arrival::CombineLeft => Some(OperandSide::Left),
                Arrival::CombineRight => Some(OperandSide::Right),
            },
            port: action.port,
        }
    }
}

/// Fields that belong to a message, in an action without such a message, and the like.
const SHAPES: &str = "an action has \"send\" and \"from\", or \"receive\" and \"into\", or all four, \
                      or to copy, \"from\" and \"into\" only; \"send_tag\" goes with \"send\", \
                      \"receive_tag\" with \"receive\", \"combine\" with \"into\"";

impl ActionFields {
    /// Adds the action to the programs.
    fn push_to(&self, programs: &mut Programs) -> Result<(), String> {
        let stray_tag = (self.send.is_none() && self.send_tag > 0)
            || (self.receive.is_none() && self.receive_tag > 0)
            || (self.into.is_none() && self.combine.is_some());
        if stray_tag {
            return Err(SHAPES.into());
        }
        let send = |to: u32, from| Send { to: to as Rank, tag: self.send_tag, from };
        let arrival = match self.combine {
            None => Arrival::Store,
            Some(OperandSide::Left) => Arrival::CombineLeft,
            Some(OperandSide::Right) => Arrival::CombineRight,
        };
        let receive =
            |from: u32, into| Receive { from: from as Rank, tag: self.receive_tag, into, arrival };
        let from = self.from.as_ref().map(RegionFields::region);
        let into = self.into.as_ref().map(RegionFields::region);
        let deed = match (self.send, from, self.receive, into) {
            (None, Some(from), None, Some(into)) => Deed::Copy { from, into, arrival },
            (Some(to), Some(from), None, None) => Deed::Send(send(to, from)),
            (None, None, Some(from), Some(into)) => Deed::Receive(receive(from, into)),
            (Some(to), Some(from), Some(source), Some(into)) => {
                Deed::Exchange(send(to, from), receive(source, into))
            }
            _ => return Err(SHAPES.into()),
        };
        programs.push(&Action { port: self.port, deed }).map_err(|error| error.to_string())
    }
}

/// All processors' actions, read into programs one by one.
struct ActionLists(Programs);

impl<'de> Deserialize<'de> for ActionLists {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ActionLists, D::Error> {
        struct ListsVisitor;

        impl<'de> Visitor<'de> for ListsVisitor {
            type Value = ActionLists;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of actions for each rank")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut lists: A) -> Result<ActionLists, A::Error> {
                let mut programs = Programs::new();
                while lists.next_element_seed(OneProcessor(&mut programs))?.is_some() {
                    if programs.processors() > MOST_PROCESSORS {
                        return Err(A::Error::custom(format!(
                            "actions for more than {MOST_PROCESSORS} processes"
                        )));
                    }
                }
                Ok(ActionLists(programs))
            }
        }

        deserializer.deserialize_seq(ListsVisitor)
    }
}

/// Reads the actions of the processor that comes next.
struct OneProcessor<'a>(&'a mut Programs);

impl<'de> DeserializeSeed<'de> for OneProcessor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for OneProcessor<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of the actions of rank {}", self.0.processors())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut actions: A) -> Result<(), A::Error> {
        let OneProcessor(programs) = self;
        let mut index = 0;
        while let Some(Object(fields)) = actions.next_element::<Object<ActionFields>>()? {
            fields.push_to(programs).map_err(|fault| {
                let processor = programs.processors();
                A::Error::custom(format!("rank {processor}, action {index}: {fault}"))
            })?;
            index += 1;
        }
        programs.end_processor();
        Ok(())
    }
}

/// The document as it stands in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScheduleFields {
    operation: Operation,
    processors: usize,
    root: Option<Rank>,
    order: Order,
    ports: u16,
    duplex: Option<bool>,
    costs: Option<Object<CostFields>>,
    machine: Option<Object<Machine>>,
    block_sizes_bytes: Option<NumberList>,
    vector_bytes: Option<u64>,
    groups: Option<[usize; 2]>,
    block_matrix_bytes: Option<Vec<NumberList>>,
    displacements_bytes: Option<NumberList>,
    element_bytes: Option<u64>,
    combine_per_byte: Option<f64>,
    segment_bytes: NumberList,
    actions: ActionLists,
}

impl ScheduleFields {
    /// Fails on what this version of the format does not have.
    fn check_version(&self, version: u64) -> Result<(), String> {
        let has_overhead = matches!(&self.costs, Some(Object(costs)) if costs.overhead.is_some());
        let has_exchange_costs =
            matches!(&self.costs, Some(Object(costs)) if costs.has_exchange_costs());
        let of_machine = self.machine.as_ref();
        let machine = of_machine.map(|Object(machine)| machine.version());
        let (what, needed) = match (has_overhead, machine) {
            _ if self.duplex.is_some() => ("\"duplex\"", 5),
            _ if has_exchange_costs => ("\"exchange_alpha\" or \"exchange_beta_per_byte\"", 5),
            _ if of_machine.is_some_and(|Object(machine)| machine.costs.have_exchange_costs()) => {
                ("a machine with costs of exchanges", 5)
            }
            _ if combines_copies(&self.actions.0) => ("\"combine\" in a copy", 5),
            _ if self.groups.is_some() => ("\"groups\"", 4),
            _ if self.element_bytes.is_some() => ("\"element_bytes\"", 3),
            _ if self.combine_per_byte.is_some() => ("\"combine_per_byte\"", 3),
            _ if !self.operation.is_rooted() => {
                (self.operation.name(), of_rootless(self.operation))
            }
            (true, _) => ("\"overhead\"", 2),
            (false, Some(2..)) => ("a machine of version 2", 2),
            (false, _) => return Ok(()),
        };
        match version < needed {
            true => {
                Err(format!("{what} in a document of version {version}; it needs version {needed}"))
            }
            false => Ok(()),
        }
    }

    fn schedule(self) -> Result<Schedule, String> {
        if self.root.is_none() && self.operation.is_rooted() {
            return Err("missing field `root`".into());
        }
        let payload = payload(
            self.processors,
            (self.block_sizes_bytes, self.vector_bytes, self.block_matrix_bytes),
        )?;
        let payload = match self.groups {
            Some(groups) => in_groups(payload, groups)?,
            None => payload,
        };
        let costs = match (self.costs, self.machine) {
            (Some(_), Some(_)) => return Err("both \"costs\" and \"machine\" are given".into()),
            (Some(Object(costs)), None) => Some(costs.costs()?.into()),
            (None, Some(Object(machine))) => {
                let fits = machine.costs.check_processors(self.processors);
                fits.map_err(|error| error.to_string())?;
                Some(machine.into())
            }
            (None, None) => None,
        };
        let operator =
            Operator::new(self.element_bytes.unwrap_or(1), self.combine_per_byte.unwrap_or(0.0))
                .map_err(|error| error.to_string())?;
        let task = Task {
            operation: self.operation,
            root: self.root,
            payload,
            displacements: self.displacements_bytes.map(|NumberList(list)| list),
            order: self.order,
            ports: self.ports,
            duplex: self.duplex.unwrap_or(false),
            costs,
            operator,
        };
        Schedule::new(task, self.segment_bytes.0, self.actions.0).map_err(|error| error.to_string())
    }
}

/// The blocks of two groups of so many ranks.
fn in_groups(payload: Payload, groups: [usize; 2]) -> Result<Payload, String> {
    let [first, second] = groups;
    match payload {
        Payload::Blocks(sizes) if first.checked_add(second) == Some(sizes.processors()) => {
            GroupSizes::new(sizes, first).map(Payload::Groups).map_err(|error| error.to_string())
        }
        _ => Err(format!("\"groups\" are {first} and {second} processes, which have a block each")),
    }
}

/// The data that a document states, of which one kind is given.
fn payload(
    processors: usize,
    (blocks, vector, block_matrix): (Option<NumberList>, Option<u64>, Option<Vec<NumberList>>),
) -> Result<Payload, String> {
    if let Some(rows) = block_matrix {
        if blocks.is_some() || vector.is_some() {
            return Err("\"block_matrix_bytes\" is given beside other sizes".into());
        }
        let wrong = rows.iter().position(|NumberList(row)| row.len() != processors);
        if wrong.is_some() || rows.len() != processors {
            return Err("\"block_matrix_bytes\" is not \"processors\" rows of as many".into());
        }
        let sizes = rows.into_iter().flat_map(|NumberList(row)| row);
        let sizes = MessageSizes::new(sizes).map_err(|error| error.to_string())?;
        return Ok(Payload::Messages(sizes));
    }
    match (blocks, vector) {
        (Some(NumberList(sizes)), None) if sizes.len() != processors => Err(format!(
            "\"block_sizes_bytes\" has {} entries, but \"processors\" is {processors}",
            sizes.len()
        )),
        (Some(NumberList(sizes)), None) => {
            BlockSizes::new(sizes).map(Payload::Blocks).map_err(|error| error.to_string())
        }
        (None, Some(bytes)) => Ok(Payload::Vector(Vector { processors, bytes })),
        (None, None) | (Some(_), Some(_)) => {
            Err("one of \"block_sizes_bytes\" and \"vector_bytes\" is given".into())
        }
    }
}

/// Reads format and version, which come first, before it believes the rest.
struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Schedule;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a schedule document, which is an object with named fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Schedule, A::Error> {
        let format = named(&mut fields, "format")?;
        let version = named(&mut fields, "version")?;
        Header { format, version }.check(FORMAT, VERSION).map_err(A::Error::custom)?;
        let rest = serde::de::value::MapAccessDeserializer::new(fields);
        let fields = ScheduleFields::deserialize(rest)?;
        fields.check_version(version).map_err(A::Error::custom)?;
        fields.schedule().map_err(A::Error::custom)
    }
}

/// The value of the field that comes next and has this name.
fn named<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
    fields: &mut A,
    name: &'static str,
) -> Result<T, A::Error> {
    match fields.next_key::<String>()? {
        Some(key) if key == name => fields.next_value(),
        _ => Err(A::Error::custom(
            "not a schedule document: its fields begin with \"format\" and \"version\"",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{Problem, Step, Tree};

    const GOOD: &str = r#"{"format":"tuwtree-schedule","version":1,"operation":"gather","processors":3,"root":1,"order":"ordered","ports":1,"costs":{"alpha":100.0,"beta_per_byte":1.0,"gamma_per_byte":0.5},"block_sizes_bytes":[2,1,4],
"segment_bytes":[0,0,0],
"actions":[
[{"send":1,"from":["input",0,2]}],
[{"receive":0,"into":["output",0,2]},{"from":["input",0,1],"into":["output",2,1]},{"receive":2,"into":["output",3,4]}],
[{"send":1,"from":["input",0,4]}]
]}
"#;

    fn schedule() -> Schedule {
        let steps = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
        let tree = Tree::new(3, 1, &steps).unwrap();
        let sizes = BlockSizes::new([2, 1, 4]).unwrap();
        let costs = Homogeneous::new(100.0, 1.0, 0.5).unwrap();
        Schedule::of_tree(&tree, &Problem::gather(&sizes, costs).unwrap()).unwrap()
    }

    #[test]
    fn a_schedule_reads_as_it_was_written() {
        let mut text = Vec::new();
        write(&schedule(), &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), GOOD);
        assert_eq!(read(GOOD.as_bytes()).unwrap(), schedule());
    }

    #[test]
    fn a_segment_larger_than_any_memory_is_refused() {
        let text = |bytes: &str| GOOD.replace("[0,0,0]", &format!("[0,0,{bytes}]"));
        assert!(read(text("9223372036854775807").as_bytes()).is_ok());
        let error = read(text("9223372036854775808").as_bytes()).unwrap_err().to_string();
        assert!(error.contains("rank 2 has a segment of 9223372036854775808 bytes"), "{error}");
    }

    #[test]
    fn an_overhead_is_written_in_version_2_and_only_where_it_is_not_all_of_alpha() {
        let text = GOOD
            .replace("\"version\":1", "\"version\":2")
            .replace("\"alpha\":100.0", "\"alpha\":100.0,\"overhead\":40.0");
        let schedule = read(text.as_bytes()).unwrap();
        let mut written = Vec::new();
        write(&schedule, &mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), text);
        for (overhead, message) in [
            ("101.0", "the overhead is 101; it is part of alpha, so that 0 to 100 is allowed"),
            ("-1.0", "the overhead is -1"),
            ("1e999", "number out of range"),
        ] {
            let bad = text.replace("\"overhead\":40.0", &format!("\"overhead\":{overhead}"));
            let error = read(bad.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn costs_of_exchanges_are_written_in_version_5_and_only_where_they_differ() {
        let costs = "\"gamma_per_byte\":0.5";
        let stated = |exchange: &str| GOOD.replace(costs, &format!("{costs},{exchange}"));
        let newest = |exchange: &str| stated(exchange).replace("\"version\":1", "\"version\":5");
        let written = |text: &str| {
            let mut written = Vec::new();
            write(&read(text.as_bytes()).unwrap(), &mut written).unwrap();
            String::from_utf8(written).unwrap()
        };
        let both = newest("\"exchange_alpha\":150.0,\"exchange_beta_per_byte\":1.5");
        assert_eq!(written(&both), both);
        let alpha = newest("\"exchange_alpha\":150.0");
        let full = newest("\"exchange_alpha\":150.0,\"exchange_beta_per_byte\":1.0");
        assert_eq!(written(&alpha), full);
        assert_eq!(written(&newest("\"exchange_alpha\":100,\"exchange_beta_per_byte\":1")), GOOD);
        for (text, message) in [
            (
                stated("\"exchange_beta_per_byte\":1.5").replace("\"version\":1", "\"version\":4"),
                "\"exchange_alpha\" or \"exchange_beta_per_byte\" in a document of version 4; it needs version 5",
            ),
            (
                newest("\"exchange_alpha\":-1.0"),
                "exchange alpha is -1; costs are finite numbers of at least 0",
            ),
            (
                newest("\"exchange_alpha\":150.0")
                    .replace("\"alpha\":100.0", "\"alpha\":100.0,\"overhead\":40.0"),
                "costs of exchanges go with an overhead that is all of alpha, 100, and not 40",
            ),
        ] {
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn duplex_ports_are_written_in_version_5_and_only_where_they_are_duplex() {
        let text = GOOD
            .replace("\"version\":1", "\"version\":5")
            .replace("\"ports\":1", "\"ports\":1,\"duplex\":true");
        let schedule = read(text.as_bytes()).unwrap();
        assert!(schedule.task().duplex);
        let mut written = Vec::new();
        write(&schedule, &mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), text);
        let schedule = read(text.replace("true", "false").as_bytes()).unwrap();
        let mut written = Vec::new();
        write(&schedule, &mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), GOOD);
    }

    #[test]
    fn what_is_no_schedule_is_refused_by_name() {
        for (from, to, message) in [
            ("\"version\":1", "\"version\":6", "version 6 of format \"tuwtree-schedule\""),
            (
                "\"version\":1,\"operation\":\"gather\"",
                "\"version\":2,\"operation\":\"allreduce\"",
                "allreduce in a document of version 2; it needs version 3",
            ),
            (
                "\"root\":1",
                "\"root\":1,\"combine_per_byte\":0.5",
                "\"combine_per_byte\" in a document of version 1; it needs version 3",
            ),
            (
                "\"gather\"",
                "\"allgather\"",
                "allgather in a document of version 1; it needs version 2",
            ),
            ("\"root\":1,", "", "missing field `root`"),
            (
                "\"alpha\":100.0",
                "\"alpha\":100.0,\"overhead\":100.0",
                "\"overhead\" in a document of version 1; it needs version 2",
            ),
            (
                "\"version\":1,",
                "\"version\":4,\"duplex\":true,",
                "\"duplex\" in a document of version 4; it needs version 5",
            ),
            ("tuwtree-schedule", "tuwtree-tree", "the document's format is \"tuwtree-tree\""),
            ("\"root\":1", "\"root\":3", "root 3 is outside 0..3"),
            ("\"root\":1", "\"root\":1,\"colour\":2", "unknown field `colour`"),
            ("\"ports\":1", "\"ports\":0", "0 ports"),
            ("[2,1,4]", "[2,1]", "\"block_sizes_bytes\" has 2 entries"),
            ("[0,0,0]", "[0,0]", "segments for 2 of 3"),
            ("\"send\":1", "\"send\":0", "rank 0, action 0: a message to oneself"),
            ("\"send\":1", "\"send\":9", "rank 0, action 0: the peer 9 is outside 0..3"),
            ("\"input\",0,4", "\"input\",1,4", "4 bytes at offset 1 reach beyond the input of 4"),
            ("\"input\",0,4", "\"input\",0", "invalid length 2"),
            ("\"input\",0,4", "\"input\"", "rank 2, action 0: a piece of 0 bytes"),
            ("\"input\",0,4", "\"input\",0,-4", "invalid value: integer `-4`"),
            ("\"send\":1,", "\"combine\":\"left\",\"send\":1,", "\"combine\" with \"into\""),
            (
                "\"input\",0,1]",
                "\"input\",0,1],\"combine\":\"left\"",
                "\"combine\" in a copy in a document of version 1; it needs version 5",
            ),
            ("\"send\":1,", "\"port\":1,\"send\":1,", "port 1 is outside 0..1"),
            ("]}\n", "]}\n x", "trailing characters at line 8"),
        ] {
            let bad = GOOD.replacen(from, to, 1);
            assert_ne!(bad, GOOD, "{from} is not in the document");
            let error = read(bad.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(message), "{bad}: {error}");
        }
    }
}
