//! Maps of operations that go along no tree: which algorithm is fastest where.

use super::{MapArgs, Mapped, RowKind, alphas, columns, problems, ranks, rows, short};
use crate::error::CliError;
use crate::output::progress::ProgressLine;
use crate::output::text;
use serde_json::{Map, Value};
use tuwtree_model::{ClosedSet, Construction, GroupSizes, Operation, Payload, PayloadKind, Vector};
use tuwtree_picture::{RegionCell, RegionMap, RegionPanel};
use tuwtree_plan::catalogue;
use tuwtree_plan::{AlgorithmCell, AlgorithmGrid};

/// True if a map of the operation names algorithms, and not kinds of trees.
pub(super) fn is_mapped(operation: Operation) -> bool {
    !operation.is_rooted() || operation.payload_kind() == PayloadKind::Vector
}

/// The map.
///
/// # Errors
/// Options that are for other operations; what cannot be computed.
pub(super) fn mapped(args: &MapArgs) -> Result<Mapped, CliError> {
    let is_vector = args.op.payload_kind() == PayloadKind::Vector;
    if is_vector && (args.rows.is_some() || args.blocks != RowKind::PowerLaw) {
        let message = "--blocks and --rows are for operations with a block of each process";
        return Err(CliError::Usage(message.into()));
    }
    let grid = AlgorithmGrid {
        operation: args.op,
        rows: payloads(args)?,
        alphas: alphas(args),
        gamma: args.gamma_over_beta,
        combine: args.combine_over_beta,
        overhead_share: args.overhead_over_alpha,
    };
    let cells = grid.cells(&ProgressLine::new("map"))?;
    let heading = if is_vector { "processes" } else { args.blocks.heading() };
    let rows = cells.iter().map(|cell| row(args, &grid, heading, cell)).collect();
    Ok(Mapped { picture: picture(args, &grid, heading, &cells), rows })
}

/// The label and the payload of each row.
fn payloads(args: &MapArgs) -> Result<Vec<(String, Payload)>, CliError> {
    if args.op.payload_kind() == PayloadKind::Vector {
        let vector = |p: usize| Vector { ranks: p, bytes: args.mean_block }.into();
        return Ok(counts(ranks(args)).map(|p| (p.to_string(), vector(p))).collect());
    }
    let failure = |error: &dyn ToString| CliError::Usage(error.to_string());
    let rows = rows(args).map_err(|error| failure(&error))?;
    rows.into_iter()
        .map(|row| {
            let payload: Payload = match args.op.payload_kind() {
                PayloadKind::Groups => {
                    let first = row.sizes.ranks().div_ceil(2);
                    GroupSizes::new(row.sizes, first).map_err(|error| failure(&error))?.into()
                }
                _ => {
                    Payload::from(row.sizes).adapted_to(args.op).map_err(|error| failure(&error))?
                }
            };
            Ok((row.label, payload))
        })
        .collect()
}

/// Numbers of processes up to the largest: powers of two, those in the middle between them, and itself.
fn counts(largest: usize) -> impl Iterator<Item = usize> {
    let powers = (1..usize::BITS).map(|power| 1_usize << power);
    let below = powers.flat_map(|power| [power, power / 2 * 3]);
    below.take_while(move |&p| p < largest).chain([largest])
}

fn picture(
    args: &MapArgs,
    grid: &AlgorithmGrid,
    heading: &str,
    cells: &[AlgorithmCell],
) -> RegionMap {
    let algorithms = grid.algorithms();
    let is_vector = args.op.payload_kind() == PayloadKind::Vector;
    let what = if is_vector { "vector" } else { "mean block" };
    let mut lines = vec![match is_vector {
        true => problems(args, what).replace("among", "among up to"),
        false => problems(args, what),
    }];
    if !is_vector {
        lines.push(args.blocks.story(args.seed));
    }
    if args.combine_over_beta > 0.0 {
        lines.push(format!("combining takes {} of beta", args.combine_over_beta));
    }
    lines.push(format!(
        "colour: the first of these that takes at most {} % longer than the fastest",
        args.tolerance
    ));
    lines
        .push("number: how many times as long as that what MPICH takes by itself takes".to_owned());
    RegionMap {
        title: format!("Which algorithm is fastest where: {}", args.op.name()),
        lines,
        choices: algorithms
            .iter()
            .map(|&one| format!("{}: {}", one.name(), catalogue::row(one).summary))
            .collect(),
        columns: columns(args, what),
        rows: (heading.to_owned(), grid.rows.iter().map(|(label, _)| label.clone()).collect()),
        panels: vec![RegionPanel {
            title: args.op.name().to_owned(),
            cells: cells.iter().map(|cell| drawn(args, &algorithms, cell)).collect(),
        }],
    }
}

fn drawn(args: &MapArgs, algorithms: &[Construction], cell: &AlgorithmCell) -> RegionCell {
    let choice = cell.choice(args.tolerance / 100.0);
    let times: Vec<String> = cell
        .times
        .iter()
        .map(|(one, time)| format!("{} {:.6}", one.name(), time.units()))
        .collect();
    let gain = cell.library_over(choice).filter(|gain| *gain >= 1.005);
    RegionCell {
        choice: algorithms.iter().position(|&one| one == choice).expect("one of these"),
        text: gain.map_or_else(String::new, |gain| format!("{gain:.2}")),
        detail: format!(
            "alpha/(beta b) = {}: {}; bound {:.6}",
            short(cell.alpha / args.mean_block as f64),
            times.join(", "),
            cell.bound.units()
        ),
    }
}

/// The row of a cell in the table, with the times of all algorithms; empty for those that were not built.
fn row(args: &MapArgs, grid: &AlgorithmGrid, heading: &str, cell: &AlgorithmCell) -> Value {
    let choice = cell.choice(args.tolerance / 100.0);
    let mut row = Map::new();
    let mut add = |name: &str, value: Value| row.insert(name.to_owned(), value);
    add("operation", args.op.name().into());
    add(heading, grid.rows[cell.row].0.as_str().into());
    add("alpha_over_beta_b", text::json_number(cell.alpha / args.mean_block as f64));
    for one in grid.algorithms() {
        add(one.name(), cell.time(one).map_or(Value::Null, text::json_time));
    }
    add("lower_bound", text::json_time(cell.bound));
    add("choice", choice.name().into());
    add("mpich", cell.library.map_or(Value::Null, |one| one.name().into()));
    add("mpich_over_choice", cell.library_over(choice).map_or(Value::Null, text::json_number));
    Value::Object(row)
}
