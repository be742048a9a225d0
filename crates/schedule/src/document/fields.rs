//! The fields of a document except for actions: the task, its costs and data, and the segments.

use super::FORMAT;
use super::actions::ActionLists;
use super::version::VERSION;
use crate::action::Buffer;
use crate::schedule::{Schedule, Task};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use tuwtree_model::document::{Machine, NumberList, Object};
use tuwtree_model::{
    BlockSizes, Costs, GroupSizes, Homogeneous, MessageSizes, Operation, Operator, Order, Payload,
    Rank, StatedCosts, Vector,
};

/// Everything but segments and actions.
pub(super) struct TaskFields<'a>(pub(super) &'a Schedule);

impl Serialize for TaskFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let task = self.0.task();
        let mut fields = serializer.serialize_struct("Schedule", 15)?;
        fields.serialize_field("format", FORMAT)?;
        fields.serialize_field("version", &VERSION)?;
        fields.serialize_field("operation", &task.operation)?;
        fields.serialize_field("ranks", &task.ranks())?;
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
pub(super) struct CostFields {
    alpha: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) overhead: Option<f64>,
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
    pub(super) fn has_exchange_costs(&self) -> bool {
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
        let ranks = 0..sizes.ranks();
        serializer.collect_seq(
            ranks
                .clone()
                .map(|from| ranks.clone().map(|to| sizes.message(from, to)).collect::<Vec<u64>>()),
        )
    }
}

pub(super) struct Segments<'a>(pub(super) &'a Schedule);

impl Serialize for Segments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Segments(schedule) = self;
        let sizes = 0..schedule.ranks();
        serializer.collect_seq(sizes.map(|rank| schedule.buffer_bytes(rank, Buffer::Segment)))
    }
}

/// The document as it stands in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScheduleFields {
    pub(super) operation: Operation,
    #[serde(alias = "processors")]
    ranks: usize,
    root: Option<Rank>,
    order: Order,
    ports: u16,
    pub(super) duplex: Option<bool>,
    pub(super) costs: Option<Object<CostFields>>,
    pub(super) machine: Option<Object<Machine>>,
    block_sizes_bytes: Option<NumberList>,
    vector_bytes: Option<u64>,
    pub(super) groups: Option<[usize; 2]>,
    block_matrix_bytes: Option<Vec<NumberList>>,
    displacements_bytes: Option<NumberList>,
    pub(super) element_bytes: Option<u64>,
    pub(super) combine_per_byte: Option<f64>,
    segment_bytes: NumberList,
    pub(super) actions: ActionLists,
}

impl ScheduleFields {
    /// The document's schedule.
    pub(super) fn schedule(self) -> Result<Schedule, String> {
        if self.root.is_none() && self.operation.is_rooted() {
            return Err("missing field `root`".into());
        }
        let payload = payload(
            self.ranks,
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
                let fits = machine.costs.check_ranks(self.ranks);
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

/// The blocks of two groups of these sizes.
fn in_groups(payload: Payload, groups: [usize; 2]) -> Result<Payload, String> {
    let [first, second] = groups;
    match payload {
        Payload::Blocks(sizes) if first.checked_add(second) == Some(sizes.ranks()) => {
            GroupSizes::new(sizes, first).map(Payload::Groups).map_err(|error| error.to_string())
        }
        _ => Err(format!("\"groups\" are {first} and {second} processes, which have a block each")),
    }
}

/// The data that a document states, of exactly one kind.
fn payload(
    ranks: usize,
    (blocks, vector, block_matrix): (Option<NumberList>, Option<u64>, Option<Vec<NumberList>>),
) -> Result<Payload, String> {
    if let Some(rows) = block_matrix {
        if blocks.is_some() || vector.is_some() {
            return Err("\"block_matrix_bytes\" is given beside other sizes".into());
        }
        let wrong = rows.iter().position(|NumberList(row)| row.len() != ranks);
        if wrong.is_some() || rows.len() != ranks {
            return Err("\"block_matrix_bytes\" is not \"ranks\" rows of as many".into());
        }
        let sizes = rows.into_iter().flat_map(|NumberList(row)| row);
        let sizes = MessageSizes::new(sizes).map_err(|error| error.to_string())?;
        return Ok(Payload::Messages(sizes));
    }
    match (blocks, vector) {
        (Some(NumberList(sizes)), None) if sizes.len() != ranks => Err(format!(
            "\"block_sizes_bytes\" has {} entries, but \"ranks\" is {ranks}",
            sizes.len()
        )),
        (Some(NumberList(sizes)), None) => {
            BlockSizes::new(sizes).map(Payload::Blocks).map_err(|error| error.to_string())
        }
        (None, Some(bytes)) => Ok(Payload::Vector(Vector { ranks, bytes })),
        (None, None) | (Some(_), Some(_)) => {
            Err("one of \"block_sizes_bytes\" and \"vector_bytes\" is given".into())
        }
    }
}
