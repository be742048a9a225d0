//! `tuwtree machine`: a machine, from a document or from what other programs print, shown, checked or converted.

use crate::args::parse_processes;
use crate::error::CliError;
use crate::input::check_one_standard_input;
use crate::output::format::{FormatArgs, option_of};
use crate::output::machine::{c_header, describe};
use crate::output::text;
use clap::Args;
use tuwtree_io::{Destination, Format, Source, machine, with_levels};

use std::process::ExitCode;
use tuwtree_model::document::Machine;
use tuwtree_model::quantity::parse_bytes;
use tuwtree_model::{Costs, CostsError, MOST_RANKS};

/// Show and check a machine file, or convert it: JSON to TOML and back, levels to a full matrix.
///
/// A machine file holds the costs of messages and copies on a machine, for `optimize --machine` and `evaluate
/// --machine`. Output of the OSU micro-benchmarks, the Intel MPI Benchmarks or ReproMPI, platforms of SimGrid,
/// hostfiles and hwloc's XML are read likewise. Without a machine, the built-in ones are listed.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_arg("format", option_of(&FORMATS)))]
pub(crate) struct MachineArgs {
    /// The name of a machine that is built in, or a file (JSON, TOML, what OSU, IMB or ReproMPI
    /// printed, a platform of SimGrid, a hostfile or hwloc's XML), or `-` for standard input
    #[arg(value_name = "MACHINE", value_parser = machine::named)]
    machine: Option<Source>,

    #[command(flatten)]
    format: FormatArgs,

    /// Write the costs of all pairs of processes in full
    #[arg(long)]
    matrix: bool,

    /// The number of processes of the matrix [default: as many as the machine has room for]
    #[arg(
        short = 'p',
        long = "processes",
        alias = "processors",
        value_name = "P",
        requires = "matrix",
        value_parser = parse_processes
    )]
    ranks: Option<usize>,

    /// Replace costs that are linear piece by piece by the linear ones of messages of this size
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    linearise_at: Option<u64>,

    /// Give a level the costs of another machine, such as network=osu.txt for a measurement between two nodes; may be
    /// given several times
    #[arg(long, value_name = "NAME=MACHINE", value_parser = parse_level, requires = "machine")]
    level: Vec<LevelCosts>,

    /// Write to this file: `.json` or `.toml` for a machine file, `.h` for costs in C, `.txt` for a description
    #[arg(help_heading = "Output", short, long, value_name = "FILE", default_value = "-", value_parser = Destination::parse)]
    output: Destination,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree machine                            those that are built in
  tuwtree machine vsc3                       what it costs
  tuwtree machine cluster.json -o m.toml     convert it
  tuwtree machine osu.txt -o m.json          make one of what osu_latency and osu_bw printed
  tuwtree machine infiniband -o costs.h      costs for programs that plan by tuwtree.h
  tuwtree machine hostfile --level network=osu.txt --level node=inside.txt -o m.json
                                             the shape of a hostfile, the costs of two measurements";

/// A level's name, and the machine that has its costs.
#[derive(Clone, Debug)]
struct LevelCosts {
    name: String,
    machine: Source,
}

/// Value of `--level`.
fn parse_level(argument: &str) -> Result<LevelCosts, String> {
    let (name, machine) =
        argument.split_once('=').ok_or("NAME=MACHINE is needed, such as network=osu.txt")?;
    Ok(LevelCosts { name: name.to_owned(), machine: machine::named(machine)? })
}

/// Formats of machines.
const FORMATS: [Format; 4] = [Format::Text, Format::Json, Format::Toml, Format::H];

/// Runs the command.
///
/// # Errors
/// A file that is not a valid machine; a matrix that is too large, or of costs that are not linear;
/// an output that cannot be written.
pub(crate) fn run(args: &MachineArgs) -> Result<ExitCode, CliError> {
    let format = args.format.written(&FORMATS, &args.output)?;
    let Some(source) = &args.machine else { return list(args, format) };
    let levels = args.level.iter().map(|level| Some(&level.machine));
    let sources = std::iter::once(args.machine.as_ref()).chain(levels);
    check_one_standard_input(&sources.map(|source| ("a machine", source)).collect::<Vec<_>>())?;
    let mut machine = machine::read(source)?;
    if !args.level.is_empty() {
        let read = |level: &LevelCosts| Ok((level.name.clone(), machine::read(&level.machine)?));
        let levels: Vec<_> = args.level.iter().map(read).collect::<Result<_, CliError>>()?;
        machine = with_levels(machine, &levels).map_err(|error| source.failure(&error))?;
    }
    if let Some(bytes) = args.linearise_at {
        machine.costs = machine.costs.linearised_at(bytes);
    }
    if args.matrix {
        machine.costs = expanded(args, source, &machine)?;
    }
    let text = match format {
        Format::Json => format!("{}\n", failing(serde_json::to_string_pretty(&machine))?),
        Format::Toml => failing(toml::to_string(&machine))?,
        Format::H => c_header(&machine).map_err(|error| source.failure(&error))?,
        _ => describe(&machine),
    };
    args.output.open()?.write(|output| output.write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// Lists the machines that are built in.
fn list(args: &MachineArgs, format: Format) -> Result<ExitCode, CliError> {
    if format != Format::Text || args.matrix || args.linearise_at.is_some() {
        let message = "name a machine to convert: without one, those that are built in are listed";
        return Err(CliError::Usage(message.into()));
    }
    let mut table = text::table(&["name", "what it is", "processes", "costs"]);
    for sample in &machine::SAMPLES {
        let machine = machine::read(&Source::BuiltIn(sample))?;
        let room = machine.costs.room().map_or("any".to_owned(), |room| room.to_string());
        table.add_row([sample.name, &machine.name, &room, machine.costs.name()]);
    }
    args.output.open()?.write(|output| writeln!(output, "{}", table.trim_fmt()))?;
    Ok(ExitCode::SUCCESS)
}

/// The costs as a matrix.
fn expanded(args: &MachineArgs, source: &Source, machine: &Machine) -> Result<Costs, CliError> {
    let ranks = match (args.ranks, machine.costs.room()) {
        (Some(ranks), _) if !(1..=MOST_RANKS).contains(&ranks) => {
            return Err(CliError::Usage(format!(
                "-p: {ranks} processes; 1 to {MOST_RANKS} are allowed"
            )));
        }
        (Some(ranks), _) | (None, Some(ranks)) => ranks,
        (None, None) => {
            let message = "-p: these costs hold for any number of processes; say for how many";
            return Err(CliError::Usage(message.into()));
        }
    };
    if machine.costs.have_exchange_costs() {
        return Err(CliError::Failure(format!(
            "{source}: exchanges have costs of their own, which a matrix of each pair does not have"
        )));
    }
    let matrix = machine.costs.matrix(ranks);
    matrix.map(Costs::Matrix).map_err(|error| {
        let remedy = match &error {
            CostsError::NotLinear { .. } => " with --linearise-at",
            CostsError::TooLarge { .. } => "; -p takes fewer",
            _ => "",
        };
        CliError::Failure(format!("{source}: {error}{remedy}"))
    })
}

fn failing<T>(result: Result<T, impl std::fmt::Display>) -> Result<T, CliError> {
    result.map_err(|error| CliError::Failure(error.to_string()))
}
