//! Costs as given by a user: bare numbers, or a machine.

use super::{CostMatrix, CostModel, Costs, Direction, Hierarchy, Homogeneous, SharedWires};
use crate::document::Machine;
use crate::quantity::{Unit, parameters};
use crate::{JudgedMessage, Network, Rank, Time, TimeError, WireOwner};
use std::fmt;
use std::sync::Arc;

/// Costs and their provenance. A copy is O(1).
#[derive(Clone, Debug, PartialEq)]
pub enum StatedCosts {
    /// Costs in some time unit.
    Parameters(Costs),
    /// A machine, whose times are in seconds.
    Machine(Arc<Machine>),
}

impl StatedCosts {
    /// The costs, of whichever kind.
    #[inline]
    pub fn costs(&self) -> &Costs {
        match self {
            StatedCosts::Parameters(costs) => costs,
            StatedCosts::Machine(machine) => &machine.costs,
        }
    }

    /// Service of messages by the network: the machine's, or the default.
    pub fn network(&self) -> Network {
        self.machine().map(|machine| machine.network.clone()).unwrap_or_default()
    }

    /// The machine, if there is one: times are then in seconds.
    pub fn machine(&self) -> Option<&Machine> {
        match self {
            StatedCosts::Parameters(_) => None,
            StatedCosts::Machine(machine) => Some(machine),
        }
    }

    /// Name of the machine; `None` for costs that a user stated.
    pub fn machine_name(&self) -> Option<&str> {
        Some(&*self.machine().filter(|machine| !machine.is_stated())?.name)
    }

    /// Unit of the times that follow from the costs.
    pub fn unit(&self) -> Unit {
        match self {
            StatedCosts::Parameters(_) => Unit::Alpha,
            StatedCosts::Machine(_) => Unit::Seconds,
        }
    }
}

/// A line such as `machine InfiniBand: alpha = 3.5 µs, beta = 23 GB/s, gamma = 10 GB/s`.
impl fmt::Display for StatedCosts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = self.costs().parameters().map(|costs| parameters(costs, self.unit()));
        match (self.machine_name(), parameters) {
            (None, Some(parameters)) => formatter.write_str(&parameters),
            (None, None) => write!(formatter, "costs of kind {}", self.costs().name()),
            (Some(name), Some(parameters)) => write!(formatter, "machine {name}: {parameters}"),
            (Some(name), None) => write!(formatter, "machine {name} ({})", self.costs().name()),
        }
    }
}

/// The costs, and the wires that nodes share where latency overlaps.
impl CostModel for StatedCosts {
    fn ranks(&self) -> Option<usize> {
        self.costs().ranks()
    }

    fn transmission_between(
        &self,
        sender: Rank,
        receiver: Rank,
        bytes: u64,
    ) -> Result<Time, TimeError> {
        self.costs().transmission_between(sender, receiver, bytes)
    }

    fn exchange_between(
        &self,
        sender: Rank,
        receiver: Rank,
        bytes: u64,
    ) -> Result<Time, TimeError> {
        self.costs().exchange_between(sender, receiver, bytes)
    }

    fn latency_between(&self, sender: Rank, receiver: Rank, bytes: u64) -> Result<Time, TimeError> {
        self.costs().latency_between(sender, receiver, bytes)
    }

    fn shared_wires(
        &self,
        sender: Rank,
        receiver: Rank,
        bytes: u64,
    ) -> Result<Option<SharedWires>, TimeError> {
        let network = match self.machine() {
            Some(machine) if machine.costs.overlaps() => &machine.network,
            _ => return Ok(None),
        };
        let shares = network.wire == WireOwner::Node && bytes > 0;
        let Some(machine) = self.costs().hierarchy().filter(|_| shares) else { return Ok(None) };
        let nodes = (machine.node(sender), machine.node(receiver));
        if nodes.0 == nodes.1 {
            return Ok(None);
        }
        let message = JudgedMessage::new(network, false, bytes, |bytes| {
            let latency = self.latency_between(sender, receiver, bytes)?.units();
            Ok((latency, self.transmission_between(sender, receiver, bytes)?.units()))
        })?;
        let time = Time::new(message.on_wire).ok_or(TimeError::NotFinite)?;
        Ok(Some(SharedWires { nodes, time }))
    }

    fn copy_at(&self, rank: Rank, bytes: u64) -> Result<Time, TimeError> {
        self.costs().copy_at(rank, bytes)
    }

    fn sum(&self, start: Time, cost: Time) -> Result<Time, TimeError> {
        self.costs().sum(start, cost)
    }

    fn least_busy(
        &self,
        direction: Direction,
        rank: Rank,
        ranks: usize,
        bytes: u64,
    ) -> Result<Time, TimeError> {
        self.costs().least_busy(direction, rank, ranks, bytes)
    }
}

impl From<Machine> for StatedCosts {
    fn from(machine: Machine) -> StatedCosts {
        StatedCosts::Machine(Arc::new(machine))
    }
}

impl From<Costs> for StatedCosts {
    fn from(costs: Costs) -> StatedCosts {
        StatedCosts::Parameters(costs)
    }
}

impl From<&Costs> for StatedCosts {
    fn from(costs: &Costs) -> StatedCosts {
        costs.clone().into()
    }
}

impl From<Homogeneous> for StatedCosts {
    fn from(costs: Homogeneous) -> StatedCosts {
        Costs::Homogeneous(costs).into()
    }
}

impl From<&Homogeneous> for StatedCosts {
    fn from(costs: &Homogeneous) -> StatedCosts {
        (*costs).into()
    }
}

impl From<&CostMatrix> for StatedCosts {
    fn from(costs: &CostMatrix) -> StatedCosts {
        Costs::Matrix(costs.clone()).into()
    }
}

impl From<&Hierarchy> for StatedCosts {
    fn from(costs: &Hierarchy) -> StatedCosts {
        Costs::Hierarchical(costs.clone()).into()
    }
}
