//! Costs as given by a user: bare numbers, or a machine.

use super::{CostMatrix, Costs, Hierarchy, Homogeneous};
use crate::Network;
use crate::document::Machine;
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
