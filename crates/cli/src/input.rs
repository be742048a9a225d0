//! Input of commands, by the arguments that name it.

use crate::args::{CostArgs, PayloadArgs, PortArgs};
use crate::error::CliError;
use tuwtree_bounds::{best_lower_bound, lower_bound_in_pieces};
use tuwtree_io::Source;
use tuwtree_io::schedule::{Document, read};
use tuwtree_model::document::TreeDocument;
use tuwtree_model::{Payload, Ports, Problem, Root, StatedCosts, Time};
use tuwtree_schedule::Schedule;

/// The schedule in a document, or that of the tree in a document on this many ports.
///
/// Which of several ports does what depends on the costs: those given, else those in the file.
///
/// # Errors
/// [`CliError::Failure`] with the source's name, the fault and its place; ports for a schedule or
/// an operation that has its own.
pub(crate) fn read_schedule(
    source: &Source,
    ports: PortArgs,
    costs: Option<&CostArgs>,
) -> Result<Schedule, CliError> {
    let document = match read(source)? {
        Document::Schedule(schedule) => {
            ports.check_not_given(source)?;
            return Ok(ports.on(schedule));
        }
        Document::Tree(document) => document,
    };
    let Some(problem) = document.problem else {
        let reason = "the tree file holds no block sizes; `tuwtree optimize` writes them";
        return Err(source.failure(&reason).into());
    };
    if let Some(costs) = costs {
        costs.check_of_tree()?;
    }
    let problem = problem.with_ports(ports.for_tree(problem.operation())?);
    let problem = match costs {
        Some(costs) if problem.ports() != Ports::ONE => at_costs(&problem, source, costs)?,
        _ => problem,
    };
    Schedule::of_tree(&document.tree, &problem).map_err(|error| source.failure(&error).into())
}

/// The problem at the costs that are given, as far as they are.
fn at_costs(problem: &Problem, source: &Source, costs: &CostArgs) -> Result<Problem, CliError> {
    check_one_standard_input(&[("the tree", Some(source)), ("--machine", costs.machine.as_ref())])?;
    let stated = costs.costs(Some(problem.stated_costs()))?;
    costs.check_ranks(&stated, problem.ranks())?;
    Ok(problem.with_costs(stated).expect("costs for as many ranks"))
}

/// The costs of a schedule: as given on the command line, else as in its file.
///
/// # Errors
/// Arguments out of range, a machine that cannot be read or has another number of processes.
pub(crate) fn stated_costs(
    schedule: &Schedule,
    source: &Source,
    costs: &CostArgs,
) -> Result<StatedCosts, CliError> {
    check_one_standard_input(&[
        ("the schedule", Some(source)),
        ("--machine", costs.machine.as_ref()),
    ])?;
    let stated = costs.costs_of_schedules(schedule.task().costs.as_ref())?;
    costs.check_ranks(&stated, schedule.ranks())?;
    Ok(stated)
}

/// A lower bound on all schedules of the operation with the schedule's root. A port that only sends and one that only
/// receives count as one; messages cost the smaller of a lone one and an exchange's; for gather and scatter, whose
/// ports either send or receive, the sides of duplex ports are separate ports.
///
/// # Errors
/// Times that cannot be stated, in words.
pub(crate) fn bound_on_schedule(schedule: &Schedule, costs: &StatedCosts) -> Result<Time, String> {
    let task = schedule.task();
    let costs = match costs.costs().parameters() {
        Some(costs) => costs.cheapest().into(),
        None => costs.clone(),
    };
    let is_either = task.operation.is_rooted() && task.operation.is_irregular();
    let ports = match () {
        () if task.duplex && is_either => task.ports.saturating_mul(2),
        () if sends_on_one_port(schedule) => 1,
        () => task.ports,
    };
    let problem = Problem::new(task.operation, task.payload.clone(), costs)
        .and_then(|problem| problem.with_operator(task.operator))
        .and_then(|problem| match task.root {
            Some(root) => problem.with_root(Root::Given(root)),
            None => Ok(problem),
        })
        .map_err(|error| error.to_string())?
        .with_ports(Ports::new(ports).ok_or("0 ports")?)
        .with_duplex(task.duplex);
    let bound = match problem.vector() {
        Some(_) if task.root.is_some() => lower_bound_in_pieces(&problem),
        _ => best_lower_bound(&problem),
    };
    bound.map_err(|error| error.to_string())
}

/// True if every rank sends on one port only, and receives on one only.
fn sends_on_one_port(schedule: &Schedule) -> bool {
    let are_one = |ports: &[u16]| ports.windows(2).all(|pair| pair[0] == pair[1]);
    (0..schedule.ranks()).all(|rank| {
        let actions = || schedule.programs().actions(rank);
        let sends = actions().filter(|one| one.send().is_some()).map(|one| one.port);
        let receives = actions().filter(|one| one.receive().is_some()).map(|one| one.port);
        are_one(&sends.collect::<Vec<_>>()) && are_one(&receives.collect::<Vec<_>>())
    })
}

/// Fails with exit code 2 if more than one thing is to come from standard input.
pub(crate) fn check_sources(
    tree: &Source,
    payload: &PayloadArgs,
    costs: &CostArgs,
) -> Result<(), CliError> {
    check_one_standard_input(&[
        ("the tree", Some(tree)),
        ("--sizes", payload.sizes.as_ref()),
        ("--machine", costs.machine.as_ref()),
    ])
}

/// The problem that a tree is to be judged on: as given on the command line, else as in its file.
///
/// # Errors
/// Data for another operation or number of processes, or arguments out of range.
pub(crate) fn problem(
    document: &TreeDocument,
    source: &Source,
    payload: &PayloadArgs,
    costs: &CostArgs,
) -> Result<Option<Problem>, CliError> {
    let own = document.problem.as_ref();
    let stated = costs.costs(own.map(Problem::stated_costs))?;
    let ranks = document.tree.ranks();
    let loaded = match payload.load(ranks)? {
        Some(loaded) => loaded,
        None => match own {
            Some(problem) => problem.payload().clone(),
            None => return Ok(None),
        },
    };
    if loaded.ranks() != ranks {
        let found = match &loaded {
            Payload::Blocks(sizes) => format!("there are {} block sizes", sizes.ranks()),
            Payload::Vector(vector) => format!("the vector is for {}", vector.ranks),
            Payload::Messages(sizes) => format!("the messages are for {}", sizes.ranks()),
            Payload::Groups(sizes) => {
                format!("there are {} block sizes", sizes.blocks().ranks())
            }
        };
        let message = format!("{source}: the tree has {ranks} processes, but {found}");
        return Err(match payload.sizes {
            Some(_) => CliError::Failure(message),
            None => CliError::Usage(format!("-p: {message}")),
        });
    }
    let operation = own.map_or(loaded.first_operation(), Problem::operation);
    costs.check_ranks(&stated, ranks)?;
    Problem::new(operation, loaded, stated)
        .map(Some)
        .map_err(|error| CliError::Usage(format!("{source}: {error}")))
}

/// Fails with exit code 2 if more than one of these is standard input; `names` describes each.
pub(crate) fn check_one_standard_input(
    sources: &[(&str, Option<&Source>)],
) -> Result<(), CliError> {
    let mut named = sources
        .iter()
        .filter(|(_, source)| matches!(source, Some(Source::StandardInput)))
        .map(|(name, _)| name);
    match (named.next(), named.next()) {
        (Some(one), Some(other)) => {
            Err(CliError::Usage(format!("{one} and {other} are both to come from standard input")))
        }
        _ => Ok(()),
    }
}
