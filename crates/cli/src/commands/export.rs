//! `tuwtree export`: a tree or schedule in the format of another program.

use crate::args::{CostArgs, named};
use crate::commands::simulate::stated_costs;
use crate::error::CliError;
use crate::input::{Source, schedule, sizes};
use crate::output::file::Destination;
use clap::Args;
use std::fs;
use std::io::Write;
use std::process::ExitCode;
use tuwtree_model::Costs;
use tuwtree_schedule::export::{dot, goal, smpi};
use tuwtree_schedule::{Schedule, document};

/// Export a tree or schedule for other programs: as JSON, for simulators, or as a picture.
///
/// Tuning files of MPI libraries are not among the formats: neither Open MPI's dynamic rules nor
/// MPICH's selection files can carry a tree, and neither library has another MPI_Gatherv than the
/// linear one to select (but for Open MPI's two-level HAN).
#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    /// The schedule, or a tree file whose schedule is meant, or `-` for standard input
    #[arg(value_name = "SCHEDULE", value_parser = Source::parse)]
    schedule: Source,

    /// The format
    #[arg(short, long, value_name = "NAME",
          value_parser = named(Format::ALL, Format::name, Format::summary))]
    format: Format,

    #[command(flatten)]
    costs: CostArgs,

    /// Read where the root's blocks start in its memory, in bytes, one displacement for each
    /// processor [default: as in the file, or one block after the other]
    #[arg(long, value_name = "FILE", value_parser = Source::parse)]
    displacements: Option<Source>,

    /// Write to this file, or for `smpi` into this folder [default: standard output]
    ///
    /// A JSON file whose name ends with `.gz` is packed.
    #[arg(short, long, value_name = "FILE", value_parser = Destination::parse,
          default_value = "-")]
    output: Destination,
}

/// What a schedule can be exported to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Json,
    Goal,
    Smpi,
    Dot,
}

impl Format {
    const ALL: [Format; 4] = [Format::Json, Format::Goal, Format::Smpi, Format::Dot];

    fn name(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Goal => "goal",
            Format::Smpi => "smpi",
            Format::Dot => "dot",
        }
    }

    fn summary(self) -> &'static str {
        match self {
            Format::Json => "the schedule itself, for programs and the executor",
            Format::Goal => "GOAL text for LogGOPSim and ATLAHS",
            Format::Smpi => {
                "a folder with trace, platform, host file and command for SimGrid's SMPI"
            }
            Format::Dot => "Graphviz: who sends how much to whom",
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A file that is not a valid schedule, a format that cannot express it, an unwritable output.
pub(crate) fn run(args: &ExportArgs) -> Result<ExitCode, CliError> {
    let mut schedule = schedule::read(&args.schedule)?;
    if let Some(source) = &args.displacements {
        schedule = displaced(schedule, source)?;
    }
    let stated = stated_costs(&schedule, &args.schedule, &args.costs)?;
    let costs = &*stated.costs();
    // Without a machine, a time unit is taken as a nanosecond.
    let nanoseconds = if stated.machine().is_some() { 1e9 } else { 1.0 };
    match args.format {
        Format::Json => args.output.open()?.write(|file| document::write(&schedule, file))?,
        Format::Goal => {
            args.output.open()?.write(|file| goal::write(&schedule, costs, nanoseconds, file))?;
        }
        Format::Dot => args.output.open()?.write(|file| dot::write(&schedule, file))?,
        Format::Smpi => write_replay(&schedule, costs, &args.output)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn displaced(schedule: Schedule, source: &Source) -> Result<Schedule, CliError> {
    let displacements = sizes::read_displacements(source)?;
    schedule.with_displacements(displacements).map_err(|error| source.failure(&error))
}

/// Writes the files of an SMPI replay into a folder.
fn write_replay(
    schedule: &Schedule,
    costs: &Costs,
    destination: &Destination,
) -> Result<(), CliError> {
    let Destination::File(folder) = destination else {
        let message = "--format smpi writes several files; name a folder with --output";
        return Err(CliError::Usage(message.into()));
    };
    let replay = smpi::Replay::new(schedule, costs)
        .map_err(|error| CliError::Failure(format!("--format smpi: {error}")))?;
    fs::create_dir_all(folder).map_err(|error| CliError::file(folder, error))?;
    let write = |name: &str, content: &dyn Fn(&mut dyn Write) -> std::io::Result<()>| {
        Destination::File(folder.join(name)).open()?.write(|output| content(output))
    };
    write("trace.txt", &|output| replay.write_trace(output))?;
    write("platform.xml", &|output| replay.write_platform(output))?;
    write("hosts.txt", &|output| replay.write_hosts(output))?;
    write("run.sh", &|output| replay.write_script(output))
}
