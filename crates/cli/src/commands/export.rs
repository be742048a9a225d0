//! `tuwtree export`: a tree or schedule in the format of another program.

use crate::args::{CostArgs, PortArgs, named};
use crate::error::CliError;
use crate::input::{check_one_standard_input, read_schedule, stated_costs};
use crate::output::progress::note;
use clap::Args;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use tuwtree_io::Destination;
use tuwtree_io::{FileError, Source, ending, sizes};
use tuwtree_model::quantity::Unit;
use tuwtree_model::{ClosedSet, Costs, StatedCosts};
use tuwtree_picture::{Performance, TimelinePicture, TreePicture};
use tuwtree_schedule::export::{ExchangedMessages, c, chakra::ChakraTraces, dot, goal, smpi};
use tuwtree_schedule::{Schedule, document, perform, tree_of};

/// Export a tree or schedule for other programs: as JSON, for simulators, or as a picture.
///
/// Tuning files of MPI libraries are not among the formats: neither Open MPI's dynamic rules nor
/// MPICH's selection files can carry a tree, and neither library has another MPI_Gatherv than the
/// linear one to select (except for Open MPI's two-level HAN).
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArgs {
    /// The schedule, or a tree file whose schedule is meant, or `-` for standard input
    #[arg(value_name = "SCHEDULE", value_parser = Source::parse)]
    schedule: Source,

    /// The format [default: what the output file's name ends with]
    #[arg(short, long, value_name = "NAME",
          value_parser = named(ExportFormat::summary))]
    format: Option<ExportFormat>,

    #[command(flatten)]
    costs: CostArgs,

    #[command(flatten)]
    ports: PortArgs,

    /// Read where the root's blocks start in its memory, in bytes, one displacement for each
    /// process [default: as in the file, or one block after the other]
    #[arg(long, value_name = "FILE", value_parser = Source::parse)]
    displacements: Option<Source>,

    /// Prefix of names in exported C [default: the output file's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Write to this file, or for `smpi` and `chakra` into this folder [default: standard output]
    ///
    /// A JSON file whose name ends with `.gz` is compressed.
    #[arg(help_heading = "Output", short, long, value_name = "FILE", value_parser = Destination::parse,
          default_value = "-")]
    output: Destination,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree export tree.json --format c -o gather.c            a program with persistent requests
  tuwtree export tree.json --format json -o schedule.json.gz
  tuwtree export plan.json --format chakra -o traces         traces/schedule.0.et and so on";

/// Export formats of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
enum ExportFormat {
    Json,
    C,
    Goal,
    Smpi,
    Chakra,
    Dot,
    Svg,
}

impl ExportFormat {
    fn summary(self) -> &'static str {
        match self {
            ExportFormat::Json => "the schedule itself, for programs",
            ExportFormat::C => "a C file, and beside it a header, with persistent requests of MPI",
            ExportFormat::Goal => "GOAL text for LogGOPSim and ATLAHS",
            ExportFormat::Smpi => {
                "a folder with trace, platform, host file and command for SimGrid's SMPI"
            }
            ExportFormat::Chakra => {
                "a folder with a Chakra execution trace of each rank, for ASTRA-sim"
            }
            ExportFormat::Dot => "Graphviz: who sends how much to whom",
            ExportFormat::Svg => {
                "a picture of the tree, or else of the timeline; `draw` has more of them"
            }
        }
    }
}

impl ExportFormat {
    /// The format that is asked for, by name or by the output file's ending.
    ///
    /// # Errors
    /// [`CliError::Usage`] for neither, or an ending that is another format's.
    fn of(args: &ExportArgs) -> Result<ExportFormat, CliError> {
        let told = match &args.output {
            Destination::StandardOutput => None,
            Destination::File(path) => ending(path)
                .and_then(|ending| ending.parse::<ExportFormat>().ok())
                .map(|format| (path.display(), format)),
        };
        match (args.format, told) {
            (Some(asked), Some((name, told))) if asked != told => Err(CliError::Usage(format!(
                "--output {name}: the name ends with .{}, but --format is {}",
                told.name(),
                asked.name()
            ))),
            (Some(format), _) | (None, Some((_, format))) => Ok(format),
            (None, None) => Err(CliError::Usage(format!(
                "--format is needed, or an --output that ends with one: {}",
                ExportFormat::names()
            ))),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A file that is not a valid schedule, a format that cannot express it, an unwritable output.
pub(crate) fn run(args: &ExportArgs) -> Result<ExitCode, CliError> {
    let format = ExportFormat::of(args)?;
    if args.name.is_some() && format != ExportFormat::C {
        return Err(CliError::Usage("--name is for --format c".into()));
    }
    check_one_standard_input(&[
        ("the schedule", Some(&args.schedule)),
        ("--displacements", args.displacements.as_ref()),
        ("--machine", args.costs.machine.as_ref()),
    ])?;
    let mut schedule = read_schedule(&args.schedule, args.ports, Some(&args.costs))?;
    if let Some(source) = &args.displacements {
        schedule = displaced(schedule, source)?;
    }
    let stated = stated_costs(&schedule, &args.schedule, &args.costs)?;
    let costs = stated.costs();
    // Without a machine or units, a time unit is taken as a nanosecond.
    let is_in_seconds = stated.unit() == Unit::Seconds;
    let nanoseconds = if is_in_seconds { 1e9 } else { 1.0 };
    if matches!(format, ExportFormat::Goal | ExportFormat::Chakra) {
        note_exchange_costs(&schedule, costs, format, &args.schedule)?;
    }
    match format {
        ExportFormat::Json => args.output.open()?.write(|file| document::write(&schedule, file))?,
        ExportFormat::C => write_c(&schedule, args)?,
        ExportFormat::Goal => {
            args.output.open()?.write(|file| goal::write(&schedule, costs, nanoseconds, file))?;
        }
        ExportFormat::Dot => args.output.open()?.write(|file| dot::write(&schedule, file))?,
        ExportFormat::Smpi => write_replay(&schedule, costs, &args.output)?,
        ExportFormat::Chakra => {
            // Its times are counted in microseconds.
            let seconds = if is_in_seconds { 1.0 } else { 1e-6 };
            write_traces(&schedule, costs, seconds, &args.output)?;
        }
        ExportFormat::Svg => {
            let svg = picture(&schedule, &stated, &args.schedule)?;
            args.output.open()?.write(|file| file.write_all(svg.as_bytes()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the loss of costs of exchanges in a format that leaves costs to the simulator.
///
/// # Errors
/// A message with one end only.
fn note_exchange_costs(
    schedule: &Schedule,
    costs: &Costs,
    format: ExportFormat,
    source: &Source,
) -> Result<(), CliError> {
    let Some(costs) = costs.parameters().filter(|costs| costs.has_exchange_costs()) else {
        return Ok(());
    };
    let messages = ExchangedMessages::new(schedule).map_err(|error| source.failure(&error))?;
    let ExchangedMessages { exchanged, all, .. } = messages;
    let name = format.name();
    let of_exchange =
        format!("alpha {} and beta {}", costs.exchange_alpha(), costs.exchange_beta());
    match exchanged {
        0 => {}
        _ if exchanged == all => note(&format!(
            "--format {name} does not say what messages cost: tell the simulator {of_exchange}, since all are of \
             exchanges"
        )),
        _ => note(&format!(
            "--format {name} does not say what messages cost, and its simulators take one alpha and one beta for all: \
             {exchanged} of {all} messages are of exchanges and cost {of_exchange}; --format smpi has both"
        )),
    }
    Ok(())
}

fn displaced(schedule: Schedule, source: &Source) -> Result<Schedule, CliError> {
    let displacements = sizes::read_displacements(source)?;
    schedule.with_displacements(displacements).map_err(|error| source.failure(&error).into())
}

/// The tree of the schedule; if there is none, its timeline.
fn picture(schedule: &Schedule, costs: &StatedCosts, source: &Source) -> Result<String, CliError> {
    let timeline = perform(schedule, costs).map_err(|error| source.failure(&error))?;
    let performance = Performance { schedule, timeline: &timeline, costs };
    Ok(match tree_of(schedule) {
        Some(tree) => TreePicture::new(&tree, Some(performance)).svg(),
        None => TimelinePicture::new(performance).svg(),
    })
}

/// Writes the C source and, if it goes into a file, the header beside it.
fn write_c(schedule: &Schedule, args: &ExportArgs) -> Result<(), CliError> {
    let name = match (&args.name, &args.output) {
        (Some(name), _) => name.clone(),
        (None, Destination::StandardOutput) => schedule.task().operation.name().replace('-', "_"),
        (None, Destination::File(path)) => {
            let stem = path.file_stem().unwrap_or_default();
            stem.to_string_lossy().replace(['-', '.', ' '], "_")
        }
    };
    let files = c::CFiles::new(schedule, &name).map_err(|error| match error {
        c::CError::Name { .. } if args.name.is_some() => {
            CliError::Usage(format!("--name: {error}"))
        }
        c::CError::Name { .. } => {
            CliError::Usage(format!("--output: {error}; --name says what begins them instead"))
        }
        other => args.schedule.failure(&other).into(),
    })?;
    let Destination::File(path) = &args.output else {
        return Ok(args.output.open()?.write(|file| files.source(file))?);
    };
    // The source includes the header by this name.
    let header = path.with_file_name(format!("{name}.h"));
    if header == *path {
        let path = path.display();
        return Err(CliError::Usage(format!("--output {path}: the header has this name")));
    }
    let header = Destination::File(header).open()?;
    args.output.open()?.write(|file| files.source(file))?;
    Ok(header.write(|file| files.header(file))?)
}

/// The folder that is named for a format of several files.
fn folder(destination: &Destination, format: ExportFormat) -> Result<&Path, CliError> {
    let Destination::File(folder) = destination else {
        let name = format.name();
        let message = format!("--format {name} writes several files; name a folder with --output");
        return Err(CliError::Usage(message));
    };
    Ok(folder)
}

/// Makes the folder if it is not there.
fn make_folder(folder: &Path) -> Result<(), FileError> {
    fs::create_dir_all(folder).map_err(|error| FileError::file(folder, error))
}

/// Writes the trace of each rank into a folder, by the names that ASTRA-sim looks for.
fn write_traces(
    schedule: &Schedule,
    costs: &Costs,
    seconds: f64,
    destination: &Destination,
) -> Result<(), CliError> {
    let folder = folder(destination, ExportFormat::Chakra)?;
    make_folder(folder)?;
    let traces = ChakraTraces::new(schedule, costs, seconds);
    for rank in 0..schedule.ranks() {
        let file = Destination::File(folder.join(format!("schedule.{rank}.et")));
        file.open()?.write(|output| traces.write(rank, output))?;
    }
    Ok(())
}

/// Writes the files of an SMPI replay into a folder.
fn write_replay(
    schedule: &Schedule,
    costs: &Costs,
    destination: &Destination,
) -> Result<(), CliError> {
    let folder = folder(destination, ExportFormat::Smpi)?;
    let replay = smpi::Replay::new(schedule, costs)
        .map_err(|error| CliError::Failure(format!("--format smpi: {error}")))?;
    make_folder(folder)?;
    let write = |name: &str, content: &dyn Fn(&mut dyn Write) -> std::io::Result<()>| {
        Destination::File(folder.join(name)).open()?.write(|output| content(output))
    };
    write("trace.txt", &|output| replay.write_trace(output))?;
    write("platform.xml", &|output| replay.write_platform(output))?;
    write("hosts.txt", &|output| replay.write_hosts(output))?;
    write("run.sh", &|output| replay.write_script(output))?;
    let script = folder.join("run.sh");
    make_executable(&script).map_err(|error| FileError::file(&script, error).into())
}

/// Lets those run a file who can read it, where files have such permissions.
fn make_executable(path: &Path) -> std::io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there is nothing to set"))]
    let mut permissions = fs::metadata(path)?.permissions();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = permissions.mode();
        permissions.set_mode(mode | (mode & 0o444) >> 2);
    }
    fs::set_permissions(path, permissions)
}
