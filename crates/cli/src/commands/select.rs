//! `tuwtree select`: which algorithm of an MPI library for how many processes and how much data.

mod map;

use crate::args::{CostArgs, named, one_of, operation_parser};
use crate::error::CliError;
use crate::output::format::{FormatArgs, write_json, write_objects};
use crate::output::progress::note;
use crate::output::{picture, tuning};
use clap::Args;
use clap::builder::PossibleValue;
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use tuwtree_io::{Destination, Format, Source, table};
use tuwtree_model::quantity::{Cost, parse_bytes, parse_time_per_byte};
use tuwtree_model::{ClosedSet, Costs, MOST_PROCESSORS, Operation, Order, quantity};
use tuwtree_plan::select::{
    Decision, Factors, Merge, Prices, Regret, Tuning, algorithms, decisions, regret,
};

/// Select which algorithm of an MPI library is fastest for how many processes and how much data.
///
/// The sizes at which the fastest changes are exact in the model, for data that is spread evenly. Sizes mean what
/// libraries choose by: all data of an allgather or reduce-scatter, the vector of a broadcast, reduce or allreduce, one
/// message of an alltoall. Where blocks differ no library can tell: there `optimize` finds schedules.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SelectArgs {
    /// The operations, separated by commas: allgather, broadcast, reduce, allreduce, reduce-scatter, alltoall
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',', required = true,
          value_parser = operation_parser())]
    op: Vec<Operation>,

    /// The numbers of processes: one, or every number from one to another as 2..64
    #[arg(short = 'p', long = "processes", alias = "processors", value_name = "P..P",
          default_value = "2..64", value_parser = parse_processes)]
    processors: (usize, usize),

    /// The sizes: the least and the largest, as 1..8MiB
    #[arg(long, value_name = "BYTES..BYTES", default_value = "1..8MiB", value_parser = parse_sizes)]
    bytes: (u64, u64),

    #[command(flatten)]
    costs: CostArgs,

    /// Time per byte of combining two vectors, as for --beta [default: that of the machine, or 0]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true,
          value_parser = parse_time_per_byte)]
    combine: Option<Cost>,

    /// Choose among the algorithms of this library, and write what it reads [default: all algorithms]
    #[arg(long = "for", value_name = "LIBRARY", value_parser = named(summary))]
    library: Option<Tuning>,

    /// MPICH's own table, which the new one replaces: `generic.json` of its source, or the text in libmpich.so
    #[arg(long, value_name = "FILE", value_parser = Source::parse)]
    base: Option<Source>,

    /// Let numbers of processes share a decision whose sizes are within 10 %
    #[arg(long)]
    coarse: bool,

    /// Say how much longer the own rules of MPICH 4.0 to 4.3 and of Open MPI 4.1.4 to 5.0 (read, not run) take than the
    /// best of their algorithms
    #[arg(long, conflicts_with = "output")]
    regret: bool,

    /// For which operators of reduce, allreduce and reduce-scatter --regret judges [default: any]
    #[arg(long, value_name = "NAME", requires = "regret",
          value_parser = one_of(vec![Order::Any, Order::Ordered], |order| {
              PossibleValue::new(order.name()).help(match order {
                  Order::Ordered => "those that do not commute: operands keep rank order",
                  _ => "those that are built in, and commute",
              })
          }))]
    order: Option<Order>,

    /// Draw which algorithm is fastest where: numbers of processes against sizes, as `.svg`, `.png` or
    /// `.pdf`
    #[arg(long, value_name = "FILE", value_parser = Destination::parse,
          conflicts_with_all = ["output", "regret"])]
    map: Option<Destination>,

    /// Write the tuning to a file, for the library of --for
    #[arg(help_heading = "Output", short, long, value_name = "FILE", value_parser = Destination::parse, requires = "library")]
    output: Option<Destination>,

    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree select --op allgather -p 2..64 --machine cluster.json --for open-mpi -o rules.conf
  tuwtree select --op allgather,broadcast -p 2..1024 --map map.svg";

fn summary(tuning: Tuning) -> &'static str {
    match tuning {
        Tuning::Mpich => "a JSON file for MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE; needs --base",
        Tuning::OpenMpi => "a file for coll_tuned_dynamic_rules_filename",
        Tuning::OpenMpiJson => "the same as JSON, from Open MPI 6.0 on; not loaded in our tests",
        Tuning::Ucc => "a line for UCC_TL_UCP_TUNE; not loaded in our tests",
        Tuning::Intel => "environment variables I_MPI_ADJUST_...; not loaded in our tests",
    }
}

/// What `-p` means.
fn parse_processes(argument: &str) -> Result<(usize, usize), String> {
    let number = |text: &str| text.parse::<usize>().ok();
    let range = match argument.split_once("..") {
        Some((first, last)) => number(first).zip(number(last)),
        None => number(argument).map(|one| (one, one)),
    };
    range
        .filter(|&(first, last)| 2 <= first && first <= last && last <= MOST_PROCESSORS)
        .ok_or_else(|| {
            format!("numbers of processes from 2 to {MOST_PROCESSORS}, as 2..64, which is each from 2 to 64")
        })
}

/// What `--bytes` means.
fn parse_sizes(argument: &str) -> Result<(u64, u64), String> {
    let (least, largest) = argument.split_once("..").ok_or("two sizes, as 1..8MiB")?;
    let (least, largest) = (parse_bytes(least)?, parse_bytes(largest)?);
    match least <= largest && largest <= MOST_BYTES {
        true => Ok((least, largest)),
        false => Err(format!("sizes up to {MOST_BYTES}, the smaller one first")),
    }
}

/// What tuning files can say of all libraries: integers of 31 bits.
const MOST_BYTES: u64 = (1 << 31) - 1;

/// Runs the command.
///
/// # Errors
/// Costs that differ from pair to pair, an operation whose algorithms libraries do not choose by size, a file that
/// cannot be read or written.
pub(crate) fn run(args: &SelectArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    let format = args.format.printed(&Format::RESULT)?;
    args.format.check_alone("--output", args.output.as_ref())?;
    let prices = prices(args)?;
    if let Some(&other) = args.op.iter().find(|&&one| algorithms(one).is_empty()) {
        let known = Operation::all().filter(|&one| !algorithms(one).is_empty());
        let known: Vec<&str> = known.map(Operation::name).collect();
        let (name, known) = (other.name(), known.join(", "));
        let message = format!("--op: nothing is chosen by size for {name}; it is for {known}");
        return Err(CliError::Usage(message));
    }
    if let Some(destination) = &args.map {
        return write_map(args, &prices, destination);
    }
    if args.regret {
        return regrets(args, &prices, format, output);
    }
    let merge = if args.coarse { Merge::Coarse } else { Merge::Equal };
    let mut chosen = Vec::new();
    for &operation in &args.op {
        let found =
            decisions(operation, args.processors, args.bytes, &prices, (args.library, merge));
        chosen.push((operation, found));
    }
    if let (Some(file), Some(library)) = (&args.output, args.library) {
        let file = file.open()?;
        let text = tuning_text(args, library, &chosen)?;
        file.write(|output| output.write_all(text.as_bytes()))?;
        if library == Tuning::OpenMpiJson {
            note(tuning::OPEN_MPI_JSON_NOTE);
        }
        let wrong = tuning::wrong_without_commuting(&chosen);
        if matches!(library, Tuning::OpenMpi | Tuning::OpenMpiJson) && !wrong.is_empty() {
            note(&format!(
                "with the file, Open MPI gets results of {} wrong by operators that do not commute: it does not look \
                 whether they do",
                wrong.join(", ")
            ));
        }
        return Ok(ExitCode::SUCCESS);
    }
    match format {
        Format::Json => write_json(&document(args.library, &chosen), output)?,
        Format::Csv => write_objects(&rows(args.library, &chosen), output)?,
        _ => write_text(&chosen, output)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Draws which algorithm is fastest where.
fn write_map(
    args: &SelectArgs,
    prices: &Prices,
    destination: &Destination,
) -> Result<ExitCode, CliError> {
    let format = args.format.written(&picture::FORMATS, destination)?;
    picture::check_available(format)?;
    let bytes = picture::bytes(format, map::map(args, prices)?.svg(), "write SVG")?;
    destination.open()?.write(|file| file.write_all(&bytes))?;
    Ok(ExitCode::SUCCESS)
}

/// What the library reads.
fn tuning_text(
    args: &SelectArgs,
    library: Tuning,
    chosen: &[(Operation, Vec<Decision>)],
) -> Result<String, CliError> {
    match (library, &args.base) {
        (Tuning::Mpich, Some(base)) => {
            let tuned =
                tuning::mpich(table::read(base)?, chosen).map_err(|error| base.failure(&error))?;
            Ok(format!("{tuned:#}\n"))
        }
        (Tuning::Mpich, None) => {
            let message = "--for mpich needs --base: its file replaces MPICH's whole table, without which \
                           programs abort";
            Err(CliError::Usage(message.into()))
        }
        (Tuning::OpenMpi, _) => Ok(tuning::open_mpi(chosen)),
        (Tuning::OpenMpiJson, _) => Ok(format!("{:#}\n", tuning::open_mpi_json(chosen))),
        (Tuning::Ucc, _) => Ok(tuning::ucc(chosen)),
        (Tuning::Intel, _) => Ok(tuning::intel(chosen)),
    }
}

/// What messages cost, the same for all pairs.
fn prices(args: &SelectArgs) -> Result<Prices, CliError> {
    let stated = args.costs.costs_of_schedules(None)?;
    let in_seconds = stated.machine().is_some() || args.costs.have_units();
    let combine = match args.combine {
        None => stated.machine().map_or(0.0, |machine| machine.combine_per_byte),
        Some(Cost::Plain(0.0)) => 0.0,
        Some(Cost::Seconds(time)) if in_seconds => time,
        Some(Cost::Plain(time)) if !in_seconds => time,
        Some(_) => {
            let message = "--combine has a unit where the other costs have one, and none where they have none";
            return Err(CliError::Usage(message.into()));
        }
    };
    if combine < 0.0 {
        return Err(CliError::Usage("--combine: costs are at least 0".into()));
    }
    if stated.costs().have_exchange_costs() {
        let given = match &args.costs.machine {
            Some(source) => format!("--machine {source}"),
            None => "--exchange-alpha, --exchange-beta".to_owned(),
        };
        return Err(CliError::Usage(format!(
            "{given}: exchanges have costs of their own, and the sizes at which another algorithm is the fastest \
             are computed for costs that all messages share"
        )));
    }
    let costs = stated.costs().homogeneous(args.processors.1);
    costs.map(|costs| Prices { costs, combine }).ok_or_else(|| unpriced(args, stated.costs()))
}

/// Why there are no prices for a machine, and what to do.
fn unpriced(args: &SelectArgs, costs: &Costs) -> CliError {
    let source = args.costs.machine.as_ref().map_or(String::new(), ToString::to_string);
    if costs.room().is_some_and(|room| room < args.processors.1) {
        let room = costs.room().unwrap_or(0);
        let most = args.processors.1;
        return CliError::Usage(format!(
            "-p: {source} has room for {room} processes, and not for {most}"
        ));
    }
    let reason = match costs.check_linear() {
        Err(_) => "its costs are not linear in the size of a message",
        Ok(()) => "its messages cost more between some processes than between others",
    };
    let outermost = costs.hierarchy().and_then(|machine| Some((machine, machine.levels().last()?)));
    let linear =
        outermost.and_then(|(machine, level)| Some((machine, level, level.links.linear()?)));
    if costs.check_linear().is_err() && costs.linearised_at(1 << 16).homogeneous(2).is_some() {
        return CliError::Usage(format!(
            "--machine {source}: {reason}. `tuwtree machine {source} --linearise-at 64KiB -o linear.json` makes a machine of \
             linear ones, those of messages of 64 KiB"
        ));
    }
    let instead = linear.map_or(String::new(), |(machine, level, link)| {
        format!(
            "; for messages of its level {} alone: --alpha {:e}s --beta {:e}s --gamma {:e}s",
            level.name,
            link.alpha,
            link.beta,
            machine.gamma()
        )
    });
    CliError::Usage(format!(
        "--machine {source}: {reason}, and the sizes at which another algorithm is the fastest are computed for costs that \
         all pairs share. `tuwtree optimize --op {} --machine {source}` compares algorithms for one size{instead}",
        args.op[0].name()
    ))
}

/// A row for each range of sizes of each decision; with a library, also by the library's name for the algorithm.
fn rows(library: Option<Tuning>, chosen: &[(Operation, Vec<Decision>)]) -> Vec<Value> {
    let mut rows = Vec::new();
    for (operation, found) in chosen {
        for Decision { processors: (first, last), ranges } in found {
            for range in ranges {
                let mut row = json!({
                    "operation": operation.name(),
                    "first_processors": first,
                    "last_processors": last,
                    "from_bytes": range.from_bytes,
                    "algorithm": range.algorithm.name,
                });
                if let Some(library) = library {
                    row["library_algorithm"] = range.algorithm.name_in(library).into();
                }
                rows.push(row);
            }
        }
    }
    rows
}

fn document(library: Option<Tuning>, chosen: &[(Operation, Vec<Decision>)]) -> Value {
    let mut document = json!({ "format": "tuwtree-selection", "version": 1 });
    if let Some(library) = library {
        document["library"] = library.name().into();
    }
    document["ranges"] = rows(library, chosen).into();
    document
}

fn write_text(
    chosen: &[(Operation, Vec<Decision>)],
    output: &mut dyn Write,
) -> Result<(), CliError> {
    for (operation, found) in chosen {
        writeln!(output, "{}", operation.name())?;
        for Decision { processors: (first, last), ranges } in found {
            let processes = match first == last {
                true => first.to_string(),
                false => format!("{first}..{last}"),
            };
            let ranges: Vec<String> = ranges
                .iter()
                .map(|range| {
                    let from = quantity::bytes(range.from_bytes);
                    format!("{} from {from}", range.algorithm.name)
                })
                .collect();
            writeln!(output, "  {processes:<9} {}", ranges.join(", "))?;
        }
    }
    Ok(())
}

/// How many times the best of some algorithms a rule takes, in words.
fn times_of(algorithms: &str, Factors { worst, at: (processors, bytes), mean }: Factors) -> String {
    format!(
        "{mean:.3} times the best of {algorithms} in the mean, at most {worst:.3} times ({processors} processes, {})",
        quantity::bytes(bytes)
    )
}

/// What the rules of MPICH and Open MPI lose, for each operation of which they are known.
fn regrets(
    args: &SelectArgs,
    prices: &Prices,
    format: Format,
    output: &mut dyn Write,
) -> Result<ExitCode, CliError> {
    let order = args.order.unwrap_or(Order::Any);
    let is_ordered = order == Order::Ordered;
    if let Some(other) = args.op.iter().find(|one| is_ordered && !one.is_reduction()) {
        let message = format!(
            "--order ordered: {} combines nothing; it is for reduce, reduce-scatter, allreduce",
            other.name()
        );
        return Err(CliError::Usage(message));
    }
    let mut rows = Vec::new();
    let libraries = [(Tuning::Mpich, "MPICH"), (Tuning::OpenMpi, "Open MPI")];
    let all = args.op.iter().flat_map(|&operation| libraries.map(|library| (operation, library)));
    for (operation, (library, title)) in all {
        let reduction = (operation, order);
        let found = regret(library, reduction, args.processors, args.bytes, prices);
        let Some(Regret { own, any_library }) = found else { continue };
        if format == Format::Text {
            let name = operation.name();
            let own = times_of("its algorithms", own);
            writeln!(output, "{name}: {title}'s own rule takes {own}")?;
            if is_ordered {
                let best = times_of("all libraries' that keep rank order", any_library);
                writeln!(output, "  and {best}")?;
            }
        }
        let mut row = json!({
            "operation": operation.name(),
            "library": library.name(),
            "mean": own.mean,
            "worst": own.worst,
            "processors": own.at.0,
            "bytes": own.at.1,
        });
        if is_ordered {
            row["order"] = order.name().into();
            row["any_library_mean"] = any_library.mean.into();
            row["any_library_worst"] = any_library.worst.into();
            row["any_library_processors"] = any_library.at.0.into();
            row["any_library_bytes"] = any_library.at.1.into();
        }
        rows.push(row);
    }
    match format {
        Format::Json => write_json(
            &json!({ "format": "tuwtree-regret", "version": 1, "operations": rows }),
            output,
        )?,
        Format::Csv => write_objects(&rows, output)?,
        _ => {}
    }
    Ok(ExitCode::SUCCESS)
}
