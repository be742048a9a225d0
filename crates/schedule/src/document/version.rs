//! Versions of the format: fields that a version does not have are refused in it.

use super::fields::ScheduleFields;
use crate::program::Programs;
use tuwtree_model::document::Object;
use tuwtree_model::{ClosedSet, Operation};

/// The version that is written; older ones are read, newer ones are refused. Version 2 added allgathers, overheads and
/// machines of version 2; version 3 reductions without a root, operators and alltoalls; version 4 intergroup allgathers;
/// version 5 duplex ports, costs of exchanges, and copies that combine; version 6 has `ranks` in place of `processors`.
pub const VERSION: u64 = 6;

/// True if some action combines copied data.
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

impl ScheduleFields {
    /// Fails on what this version of the format does not have.
    pub(super) fn check_version(&self, version: u64) -> Result<(), String> {
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
}
