//! A machine's levels with the costs of other machines: the shape of a hostfile, say, with what a benchmark has measured
//! between two nodes.

use tuwtree_model::document::Machine;
use tuwtree_model::{Costs, Hierarchy, Level, LinkLaw, Piece, PiecewiseLinear};

/// A machine whose levels of these names cost what messages cost on other machines; where it is the outermost level, the
/// network is the other machine's, where it is the innermost, copies are, and combining if its cost is known there.
///
/// # Errors
/// A machine without levels, or without one of that name; another machine that has several levels and none of that
/// name, or costs of each pair.
pub fn with_levels(
    mut machine: Machine,
    replaced: &[(String, Machine)],
) -> Result<Machine, String> {
    let Some(hierarchy) = machine.costs.hierarchy() else {
        return Err("it has no levels whose costs others could replace".into());
    };
    let mut levels = hierarchy.levels().to_vec();
    let mut gamma = hierarchy.gamma();
    let (placement, outermost) = (hierarchy.placement().clone(), levels.len() - 1);
    let mut kept: Vec<String> = levels.iter().map(|level| level.name.clone()).collect();
    let mut provenance = format!("Shape: {}", machine.name);
    for (name, other) in replaced {
        let Some(at) = levels.iter().position(|level| level.name == *name) else {
            return Err(format!("it has no level {name}; its levels are {}", names(&levels)));
        };
        levels[at].links = law(name, other)?;
        if at == 0 {
            gamma = copies(other).unwrap_or(gamma);
            if other.combine_per_byte > 0.0 {
                machine.combine_per_byte = other.combine_per_byte;
            }
        }
        if at == outermost {
            machine.network = other.network.clone();
        }
        machine.date = other.date;
        kept.retain(|one| one != name);
        let origin = other.provenance.trim().trim_end_matches('.');
        provenance += &format!(". Level {name}: {}, {origin}", other.name);
    }
    if !kept.is_empty() {
        provenance += &format!(". Level {}: {}", kept.join(", "), machine.provenance);
    }
    machine.provenance = provenance;
    let costs = Hierarchy::new(levels, placement, gamma).map_err(|error| error.to_string())?;
    machine.costs = Costs::Hierarchical(costs);
    Ok(machine)
}

/// Costs of a level's messages on a machine.
fn law(name: &str, machine: &Machine) -> Result<LinkLaw, String> {
    let fault =
        |reason: String| format!("the costs of level {name} from {}: {reason}", machine.name);
    if let Some(costs) = machine.costs.homogeneous(2) {
        let piece =
            Piece { overhead: costs.overhead(), ..Piece::one_port(0, costs.alpha(), costs.beta()) };
        let line = PiecewiseLinear::new(vec![piece]);
        return line.map(LinkLaw::Pieces).map_err(|error| fault(error.to_string()));
    }
    let Some(hierarchy) = machine.costs.hierarchy() else {
        return Err(fault("they differ from pair to pair".into()));
    };
    let levels = hierarchy.levels();
    let level = levels.iter().find(|level| level.name == name);
    let only = || if let [only] = levels { Some(only) } else { None };
    match level.or_else(only) {
        Some(level) => Ok(level.links.clone()),
        None => {
            Err(fault(format!("it has several levels, {}, and none of that name", names(levels))))
        }
    }
}

/// The time per byte of copies, if it is one for all ranks.
fn copies(machine: &Machine) -> Option<f64> {
    let shared = machine.costs.homogeneous(2).map(|costs| costs.gamma());
    shared.or(machine.costs.hierarchy().map(Hierarchy::gamma))
}

fn names(levels: &[Level]) -> String {
    let names: Vec<&str> = levels.iter().map(|level| level.name.as_str()).collect();
    names.join(", ")
}
