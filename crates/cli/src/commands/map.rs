//! `tuwtree map`: which kind of tree pays where, or which algorithm, over a grid of problems.

mod algorithms;

use crate::args::{named, operation_parser};
use crate::choice::check_cut;
use crate::error::CliError;
use crate::output::format::{FormatArgs, option_of, write_json, write_objects};
use crate::output::picture;
use crate::output::progress::ProgressLine;
use crate::output::text;
use clap::Args;
use serde_json::{Map, Value, json};
use std::process::ExitCode;
use tuwtree_io::{Destination, Format};
use tuwtree_model::quantity::parse_bytes;
use tuwtree_model::{
    ClosedSet, Distribution, DistributionError, DistributionParameters, Operation, Randomness,
};
use tuwtree_picture::{RegionCell, RegionMap, RegionPanel};
use tuwtree_plan::{Cell, Grid, GridRow, RootPlace, TreeClass};

/// Map which kind of tree pays where: latency against skew, for four places of the root. With --op, map which
/// algorithm is fastest where.
///
/// Each cell is a gather among -p processes. Columns are alpha over beta times the mean block, rows
/// are blocks: the k-th largest in proportion to k^-s, at random ranks, where s = 0 makes all equal
/// and s = 1 is Zipf's law; or one of the papers' distributions. The cell names the simplest kind
/// of tree within --tolerance percent of the best of all. From simple to complex: linear (a star), adaptive (built online), ordered (optimal, built offline), direct (ordered, but
/// large blocks go straight to the root) and any (no order kept). The number in the cell is the
/// time of the better of linear and adaptive, divided by the time of that kind. All times are
/// computed as by `optimize`.
///
/// For operations without a root, and for broadcast and reduce, the cell names the first algorithm of the catalogue
/// within --tolerance percent of the fastest, and the number is the time of what MPICH takes by itself, divided by that
/// algorithm's. In an alltoall each process sends its block to every other, an intergroup allgather has two halves
/// of the processes as groups. Where there is one vector, of the size of -b, rows are numbers of processes up to -p.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_arg("format", option_of(&FORMATS)))]
pub(crate) struct MapArgs {
    /// The operation
    #[arg(long, value_name = "NAME", default_value = "gather", value_parser = operation_parser())]
    op: Operation,

    /// Vectors of broadcast and reduce may be cut into pieces: so they are compared in a map, with or without this
    #[arg(long)]
    cut: bool,

    /// Meaning of the rows
    #[arg(long, value_name = "NAME", default_value = "power-law",
          value_parser = named(RowKind::summary))]
    blocks: RowKind,

    /// The number of processes, 2 to 5000 [default: 200, or 32 where there are no trees]
    #[arg(short = 'p', long = "processes", alias = "processors", value_name = "P",
          value_parser = clap::value_parser!(u32).range(2..=5000))]
    ranks: Option<u32>,

    /// The mean block size in bytes, also as 64KiB or 8MB; at most 1 GB
    #[arg(short = 'b', long = "block", alias = "mean-block", value_name = "BYTES",
          default_value_t = 1000, value_parser = parse_mean_block)]
    mean_block: u64,

    /// Time to copy a byte divided by the time to send it, at most 1
    #[arg(long, value_name = "RATIO", default_value_t = 1.0, allow_hyphen_values = true)]
    gamma_over_beta: f64,

    /// The overhead as a share of alpha, from 0 to 1: the rest of alpha overlaps with other work, and times
    /// are the judge's
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, allow_hyphen_values = true)]
    overhead_over_alpha: f64,

    /// Time to combine a byte divided by the time to send it, for reductions
    #[arg(long, value_name = "RATIO", default_value_t = 0.0, allow_hyphen_values = true)]
    combine_over_beta: f64,

    /// Percentage by which a simpler kind of tree, or an earlier algorithm, may be slower than the best
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0, allow_hyphen_values = true)]
    tolerance: f64,

    /// The seed of random ranks and sizes
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u32,

    /// Columns for each power of ten of the latency, 1 to 8
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u8).range(1..=8))]
    columns: u8,

    /// Rows for each unit of the exponent s, 1 to 16 [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    rows: Option<u8>,

    /// Write to this file: `.svg`, `.svg.gz`, `.png` or `.pdf` for the map, `.json` for all times, anything else, also `-`,
    /// for a table of them as CSV; may be given several times
    #[arg(short, long, value_name = "FILE", default_value = "-", value_parser = Destination::parse)]
    output: Vec<Destination>,

    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree map -p 48 -o map.svg
  tuwtree map --op allgather -p 48 -b 100000 -o allgather.svg
  tuwtree map --op allreduce -p 64 -b 32KiB --combine-over-beta 0.1 -o allreduce.csv";

/// Meaning of the rows of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
enum RowKind {
    PowerLaw,
    Distributions,
}

impl RowKind {
    fn summary(self) -> &'static str {
        match self {
            RowKind::PowerLaw => "blocks that fall like k^-s, for s from 0 to 3",
            RowKind::Distributions => "the papers' eleven distributions",
        }
    }

    /// Heading of a row's label.
    fn heading(self) -> &'static str {
        match self {
            RowKind::PowerLaw => "exponent",
            RowKind::Distributions => "distribution",
        }
    }

    /// The blocks, in words.
    fn story(self, seed: u32) -> String {
        match self {
            RowKind::PowerLaw => format!(
                "the k-th largest block is in proportion to k^-s, s being the exponent, at random \
                 ranks (seed {seed})"
            ),
            RowKind::Distributions => format!("the papers' distributions (seed {seed})"),
        }
    }
}

/// The powers of ten of alpha over beta b.
const LATENCIES: std::ops::RangeInclusive<i32> = -3..=4;
/// The greatest exponent.
const STEEPEST: u32 = 3;
/// Formats of maps.
const FORMATS: [Format; 5] = [Format::Csv, Format::Json, Format::Svg, Format::Png, Format::Pdf];

/// Runs the command.
///
/// # Errors
/// Parameters out of range; outputs that cannot be written.
pub(crate) fn run(args: &MapArgs) -> Result<ExitCode, CliError> {
    check(args)?;
    check_cut(args.cut, args.op)?;
    let outputs = picture::opened(args.format, &FORMATS, &args.output)?;
    let Mapped { picture, rows } = match algorithms::is_mapped(args.op) {
        true => algorithms::mapped(args)?,
        false => {
            let grid = grid(args)?;
            let cells = grid.cells(&ProgressLine::new("map"))?;
            Mapped { picture: map(args, &grid, &cells), rows: table(args, &grid, &cells) }
        }
    };
    for (format, output) in outputs {
        match format {
            Format::Svg | Format::Png | Format::Pdf => {
                let bytes = picture::bytes(format, picture.svg(), "write SVG")?;
                output.write(|file| file.write_all(&bytes))?;
            }
            Format::Json => {
                let map = json!({ "format": "tuwtree-map", "version": 1, "cells": rows });
                output.write(|file| write_json(&map, file))?;
            }
            _ => output.write(|file| write_objects(&rows, file))?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A map as a picture, and a row for each cell.
struct Mapped {
    picture: RegionMap,
    rows: Vec<Value>,
}

/// A mean block for which a map is drawn.
fn parse_mean_block(text: &str) -> Result<u64, String> {
    const LARGEST: u64 = 1_000_000_000;
    parse_bytes(text)
        .ok()
        .filter(|bytes| (1..=LARGEST).contains(bytes))
        .ok_or_else(|| format!("a number of bytes from 1 to {LARGEST} is needed, such as 64KiB"))
}

fn check(args: &MapArgs) -> Result<(), CliError> {
    if args.gamma_over_beta > 1.0 {
        return Err(CliError::Usage(format!(
            "--gamma-over-beta {}: at most 1; trees without order are for gamma <= beta",
            args.gamma_over_beta
        )));
    }
    if args.rows.is_some() && args.blocks == RowKind::Distributions {
        return Err(CliError::Usage("--rows is for --blocks power-law".into()));
    }
    if !(args.gamma_over_beta.is_finite() && args.gamma_over_beta >= 0.0) {
        return Err(CliError::Usage(format!(
            "--gamma-over-beta {}: a finite number from 0 to 1",
            args.gamma_over_beta
        )));
    }
    if !(0.0..=1.0).contains(&args.overhead_over_alpha) {
        return Err(CliError::Usage(format!(
            "--overhead-over-alpha {}: a number from 0 to 1",
            args.overhead_over_alpha
        )));
    }
    if !(args.combine_over_beta.is_finite() && args.combine_over_beta >= 0.0) {
        return Err(CliError::Usage(format!(
            "--combine-over-beta {}: a finite number of at least 0",
            args.combine_over_beta
        )));
    }
    if args.combine_over_beta > 0.0 && !(args.op.is_reduction()) {
        return Err(CliError::Usage("--combine-over-beta is for reductions".into()));
    }
    match args.tolerance.is_finite() && args.tolerance >= 0.0 {
        true => Ok(()),
        false => Err(CliError::Usage(format!(
            "--tolerance {}: a finite number of at least 0 percent",
            args.tolerance
        ))),
    }
}

/// The latencies of the columns.
fn alphas(args: &MapArgs) -> Vec<f64> {
    let columns = i32::from(args.columns);
    let steps = LATENCIES.start() * columns..=LATENCIES.end() * columns;
    steps.map(|step| alpha(f64::from(step) / f64::from(columns), args.mean_block)).collect()
}

/// Number of processes.
fn ranks(args: &MapArgs) -> usize {
    let default = if algorithms::is_mapped(args.op) { 32 } else { 200 };
    args.ranks.unwrap_or(default) as usize
}

/// Description of a map's problems.
fn problems(args: &MapArgs, what: &str) -> String {
    format!(
        "{} among {} processes, {what} {} bytes, beta = 1, gamma = {}{}",
        args.op.name(),
        ranks(args),
        args.mean_block,
        args.gamma_over_beta,
        match args.overhead_over_alpha {
            1.0 => String::new(),
            share => format!(", overhead = {share} alpha, times by the judge"),
        }
    )
}

/// Description of the columns, and the label of each.
fn columns(args: &MapArgs, what: &str) -> (String, Vec<String>) {
    let bytes = args.mean_block as f64;
    let labels = alphas(args).iter().map(|alpha| short(alpha / bytes)).collect();
    (format!("alpha / (beta * {what})"), labels)
}

fn grid(args: &MapArgs) -> Result<Grid, CliError> {
    Ok(Grid {
        operation: args.op,
        rows: rows(args).map_err(|error| CliError::Usage(error.to_string()))?,
        alphas: alphas(args),
        gamma: args.gamma_over_beta,
        overhead_share: args.overhead_over_alpha,
    })
}

fn rows(args: &MapArgs) -> Result<Vec<GridRow>, DistributionError> {
    let (ranks, mean_block) = (ranks(args), args.mean_block);
    match args.blocks {
        RowKind::PowerLaw => {
            let steps = u32::from(args.rows.unwrap_or(4));
            (0..=STEEPEST * steps)
                .map(|step| {
                    let exponent = f64::from(step) / f64::from(steps);
                    let parameters = DistributionParameters {
                        exponent,
                        ..DistributionParameters::new(ranks, mean_block)
                    };
                    let randomness = Randomness::Xoshiro { seed: args.seed.into() };
                    let sizes = Distribution::PowerLaw.sizes(parameters, randomness)?;
                    Ok(GridRow { label: exponent.to_string(), sizes })
                })
                .collect()
        }
        RowKind::Distributions => Distribution::published()
            .map(|distribution| {
                let parameters = DistributionParameters::new(ranks, mean_block);
                let sizes =
                    distribution.sizes(parameters, Randomness::Glibc { seed: args.seed })?;
                Ok(GridRow { label: distribution.name().to_owned(), sizes })
            })
            .collect(),
    }
}

/// About this power of ten times the mean block: an integer, with which times are exact, where it is
/// at least 1.
fn alpha(power: f64, mean_block: u64) -> f64 {
    match 10_f64.powf(power) * mean_block as f64 {
        alpha if alpha >= 1.0 => alpha.round(),
        alpha => alpha,
    }
}

fn map(args: &MapArgs, grid: &Grid, cells: &[Cell]) -> RegionMap {
    let panels = RootPlace::all().map(|place| RegionPanel {
        title: place.summary().to_owned(),
        cells: cells
            .iter()
            .filter(|cell| cell.place == place)
            .map(|one| drawn(one, args))
            .collect(),
    });
    RegionMap {
        title: "Which kind of tree pays where".to_owned(),
        lines: vec![
            format!("{}; {}", problems(args, "mean block"), args.blocks.story(args.seed)),
            format!(
                "colour: the first of these that takes at most {} % longer than the best of all; \
                 number: how many times as long as that the better of linear and adaptive takes",
                args.tolerance
            ),
        ],
        choices: TreeClass::all()
            .map(|class| format!("{}: {}", class.name(), class.summary()))
            .collect(),
        columns: columns(args, "mean block"),
        rows: (
            args.blocks.heading().to_owned(),
            grid.rows.iter().map(|row| row.label.clone()).collect(),
        ),
        panels: panels.collect(),
    }
}

/// A number with two significant digits, for a label.
fn short(value: f64) -> String {
    match value {
        _ if value >= 10.0 => format!("{value:.0}"),
        _ if value >= 1.0 => format!("{value:.1}"),
        _ if value >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.0e}"),
    }
}

fn drawn(cell: &Cell, args: &MapArgs) -> RegionCell {
    let tolerance = args.tolerance / 100.0;
    let choice = cell.classes.choice(tolerance);
    let gain = cell
        .classes
        .gain(choice, TreeClass::Linear)
        .min(cell.classes.gain(choice, TreeClass::Adaptive));
    let times: Vec<String> = TreeClass::all()
        .map(|class| format!("{} {:.6}", class.name(), cell.classes.time(class).units()))
        .collect();
    RegionCell {
        choice: choice as usize,
        text: if gain < 1.005 { String::new() } else { format!("{gain:.2}") },
        detail: format!(
            "alpha/(beta b) = {}: {}; bound {:.6}",
            short(cell.alpha / args.mean_block as f64),
            times.join(", "),
            cell.classes.bound.units()
        ),
    }
}

/// A row for each cell, with the times of all classes of trees.
fn table(args: &MapArgs, grid: &Grid, cells: &[Cell]) -> Vec<Value> {
    let row = |cell: &Cell| {
        let choice = cell.classes.choice(args.tolerance / 100.0);
        let mut row = Map::new();
        let mut add = |name: &str, value: Value| row.insert(name.to_owned(), value);
        add("root", cell.place.name().into());
        add(args.blocks.heading(), grid.rows[cell.row].label.as_str().into());
        add("alpha_over_beta_b", text::json_number(cell.alpha / args.mean_block as f64));
        for class in TreeClass::all() {
            add(class.name(), text::json_time(cell.classes.time(class)));
        }
        add("lower_bound", text::json_time(cell.classes.bound));
        add("choice", choice.name().into());
        for (name, over) in [
            ("linear_over_choice", TreeClass::Linear),
            ("adaptive_over_choice", TreeClass::Adaptive),
        ] {
            add(name, text::json_number(cell.classes.gain(choice, over)));
        }
        Value::Object(row)
    };
    cells.iter().map(row).collect()
}
