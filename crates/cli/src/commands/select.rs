//! `tuwtree select`: which algorithm of an MPI library for how many processes and how much data.

mod map;

use crate::args::{CostArgs, named, one_of, operation_value};
use crate::error::CliError;
use crate::output::format::{FormatArgs, write_json, write_objects};
use crate::output::progress::note;
use crate::output::{picture, tuning};
use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use tuwtree_io::{Destination, Format, Source, table};
use tuwtree_model::quantity::{Cost, parse_bytes, parse_time_per_byte};
use tuwtree_model::{ClosedSet, Costs, MOST_RANKS, Operation, Order, quantity};
use tuwtree_tuning::{
    Decision, Factors, Function, Merge, OwnRules, Prices, Regret, Rules, Tuning, algorithms,
    decisions, regret,
};

/// Select which algorithm of an MPI library is fastest for how many processes and how much data.
///
/// The sizes at which the fastest changes are exact in the model, for data that is spread evenly. Sizes mean what
/// libraries choose by: all data of an allgather (of both groups) or reduce-scatter, the vector of a broadcast, reduce or allreduce, one
/// message of an alltoall. Where blocks differ no library can tell: there `optimize` finds schedules.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SelectArgs {
    /// The operations, separated by commas: allgather, broadcast, reduce, allreduce, reduce-scatter, alltoall,
    /// intergroup-allgather
    ///
    /// Files for libraries have rules for all of MPI's functions that move data so and are chosen by size, or for the one
    /// that is named: `MPI_Allgatherv`, `reduce_scatter_block`. An intergroup allgather is between two groups of half of
    /// the processes each, and is listed for even numbers of them.
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',', required = true,
          value_parser = named_operation_parser())]
    op: Vec<NamedFunction>,

    /// The numbers of processes: one, or every number from one to another as 2..64
    #[arg(short = 'p', long = "processes", alias = "processors", value_name = "P..P",
          default_value = "2..64", value_parser = parse_processes)]
    ranks: (usize, usize),

    /// The sizes: the least and the largest, as 1..8MiB
    #[arg(long, value_name = "BYTES..BYTES", default_value = "1..8MiB", value_parser = parse_sizes)]
    bytes: (u64, u64),

    #[command(flatten)]
    costs: CostArgs,

    /// Time per byte of combining two vectors, as for --beta [default: that of the machine, or 0]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true,
          value_parser = parse_time_per_byte)]
    combine: Option<Cost>,

    /// Choose among the algorithms of this library, and write its tuning file [default: all algorithms]
    #[arg(long = "for", value_name = "LIBRARY", value_parser = named(summary))]
    library: Option<Tuning>,

    /// MPICH's own table, which the new one replaces: `libmpich.so`, or `generic.json` of its source
    #[arg(long, value_name = "FILE", value_parser = Source::parse)]
    base: Option<Source>,

    /// Let numbers of processes share a decision whose sizes are within 10 %
    #[arg(long)]
    coarse: bool,

    /// Say how much longer the own rules of MPICH in 2005 (the paper's), of MPICH 4.0 to 4.3 and of Open MPI 4.1.4 to 5.0
    /// (read, not run) take than the best of their algorithms
    #[arg(long, conflicts_with = "output")]
    regret: bool,

    /// Operators of reduce, allreduce and reduce-scatter for which a file for a library is right, or --regret judges
    /// [default: ordered for files, any for --regret]
    #[arg(long, value_name = "NAME",
          value_parser = one_of(vec![Order::Any, Order::Ordered], |order| {
              PossibleValue::new(order.name()).help(match order {
                  Order::Ordered => {
                      "those that do not commute: operands keep rank order; in files, also all others"
                  }
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

/// An operation, or one of MPI's functions for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NamedFunction {
    operation: Operation,
    function: Option<Function>,
}

/// Parses our name of an operation, or that of one of MPI's functions.
fn named_operation_parser() -> impl TypedValueParser<Value = NamedFunction> {
    let all = Operation::all().flat_map(|operation| {
        let functions = Function::of(operation).into_iter().map(Some);
        std::iter::once(None)
            .chain(functions)
            .map(move |function| NamedFunction { operation, function })
    });
    one_of(all.collect(), |NamedFunction { operation, function }| match function {
        Some(function) => {
            let own = operation.other_names().find(|name| {
                name.strip_prefix("MPI_").is_some_and(|name| name.to_lowercase() == function.name())
            });
            let own = own.expect("a name of MPI's");
            PossibleValue::new(own).alias(function.name()).hide(true)
        }
        None if Function::of(operation).is_empty() => {
            operation_value(operation).aliases(operation.other_names())
        }
        None => operation_value(operation),
    })
}

/// Value of `-p`.
fn parse_processes(argument: &str) -> Result<(usize, usize), String> {
    let number = |text: &str| text.parse::<usize>().ok();
    let range = match argument.split_once("..") {
        Some((first, last)) => number(first).zip(number(last)),
        None => number(argument).map(|one| (one, one)),
    };
    range.filter(|&(first, last)| 2 <= first && first <= last && last <= MOST_RANKS).ok_or_else(
        || {
            format!(
                "numbers of processes from 2 to {MOST_RANKS}, as 2..64, which is each from 2 to 64"
            )
        },
    )
}

/// Value of `--bytes`.
fn parse_sizes(argument: &str) -> Result<(u64, u64), String> {
    let (least, largest) = argument.split_once("..").ok_or("two sizes, as 1..8MiB")?;
    let (least, largest) = (parse_bytes(least)?, parse_bytes(largest)?);
    match least <= largest && largest <= MOST_BYTES {
        true => Ok((least, largest)),
        false => Err(format!("sizes up to {MOST_BYTES}, the smaller one first")),
    }
}

/// Largest number in the tuning files of all libraries: integers of 31 bits.
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
    args.check_order()?;
    if let Some(other) = args.operations().into_iter().find(|&one| algorithms(one).is_empty()) {
        let known = Operation::all().filter(|&one| !algorithms(one).is_empty());
        let known: Vec<&str> = known.map(Operation::name).collect();
        let (name, known) = (other.name(), known.join(", "));
        let message = format!("--op: nothing is chosen by size for {name}; it is for {known}");
        return Err(CliError::Usage(message));
    }
    args.costs.note_assumed();
    if let Some(destination) = &args.map {
        return write_map(args, &prices, destination);
    }
    if args.regret {
        return regrets(args, &prices, format, output);
    }
    let merge = if args.coarse { Merge::Coarse } else { Merge::Equal };
    let find =
        |operation, rules| decisions(operation, args.ranks, args.bytes, &prices, (rules, merge));
    let of_rules = |rules: Rules| {
        let operation = Operation::all().find(|&one| Function::of(one).contains(&rules.function()));
        (rules, find(operation.expect("a function of an operation"), Some(rules)))
    };
    if let (Some(file), Some(library)) = (&args.output, args.library) {
        let file = file.open()?;
        let mut rules: Vec<Rules> = Vec::new();
        for one in args.rules(library)?.into_iter().flatten() {
            if !rules.contains(&one) {
                rules.push(one);
            }
        }
        let chosen: Vec<(Rules, Vec<Decision>)> = rules.into_iter().map(of_rules).collect();
        let text = tuning_text(args, library, &chosen)?;
        file.write(|output| output.write_all(text.as_bytes()))?;
        if library == Tuning::OpenMpiJson {
            note(tuning::OPEN_MPI_JSON_NOTE);
        }
        note_order(args, library, &chosen);
        return Ok(ExitCode::SUCCESS);
    }
    let listed: Vec<Listed> = match args.library {
        None => {
            let operations = args.operations().into_iter();
            let of_one =
                |operation| Listed { operation, rules: None, found: find(operation, None) };
            operations.map(of_one).collect()
        }
        Some(library) => {
            let rules = args.rules(library)?;
            let chosen: Vec<(Rules, Vec<Decision>)> =
                rules.iter().map(|all| of_rules(all[0])).collect();
            note_order(args, library, &chosen);
            let operations = args.named().into_iter().map(|named| named.operation);
            let all = operations.zip(chosen);
            all.map(|(operation, (rules, found))| Listed { operation, rules: Some(rules), found })
                .collect()
        }
    };
    match format {
        Format::Json => write_json(&document(args, &listed), output)?,
        Format::Csv => write_objects(&rows(args, &listed), output)?,
        _ => write_text(&listed, output)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Best algorithms for an operation, by the rules of a library or among all algorithms.
struct Listed {
    operation: Operation,
    rules: Option<Rules>,
    found: Vec<Decision>,
}

impl SelectArgs {
    /// The operations, each once.
    fn operations(&self) -> Vec<Operation> {
        let mut all = Vec::new();
        for named in &self.op {
            if !all.contains(&named.operation) {
                all.push(named.operation);
            }
        }
        all
    }

    /// A library's rules for each operation or function that is named.
    ///
    /// # Errors
    /// One without any.
    fn rules(&self, library: Tuning) -> Result<Vec<Vec<Rules>>, CliError> {
        let of_one = |named: &NamedFunction| {
            let functions: Vec<Function> = match named.function {
                Some(function) => vec![function],
                None => Function::of(named.operation),
            };
            let rules = functions.iter().filter_map(|&function| Rules::new(library, function));
            let rules: Vec<Rules> = rules.collect();
            match rules.is_empty() {
                false => Ok(rules),
                true => Err(CliError::Usage(format!(
                    "--op: {} has no rules by size for {}, or what they mean is not known",
                    title(library),
                    functions.first().map_or(named.operation.name(), |function| function.name())
                ))),
            }
        };
        self.named().iter().map(of_one).collect()
    }

    /// The named operations, each once.
    fn named(&self) -> Vec<NamedFunction> {
        let mut all = Vec::new();
        for &named in &self.op {
            if !all.contains(&named) {
                all.push(named);
            }
        }
        all
    }

    /// Fails with exit code 2 if --order has nothing to do.
    fn check_order(&self) -> Result<(), CliError> {
        let is_used = self.regret || self.library.is_some() && self.map.is_none();
        match self.order {
            Some(_) if !is_used => {
                Err(CliError::Usage("--order: it is for --for and for --regret".into()))
            }
            _ => Ok(()),
        }
    }

    /// Operators for which a file is right.
    fn order_of_file(&self) -> Order {
        self.order.unwrap_or(Order::Ordered)
    }
}

/// Name of a library.
fn title(library: Tuning) -> &'static str {
    match library {
        Tuning::Mpich => "MPICH",
        Tuning::OpenMpi | Tuning::OpenMpiJson => "Open MPI",
        Tuning::Ucc => "UCC",
        Tuning::Intel => "Intel MPI",
    }
}

/// Says where operators that do not commute count.
fn note_order(args: &SelectArgs, library: Tuning, chosen: &tuning::Chosen) {
    let wrong = tuning::for_commuting(chosen);
    if wrong.is_empty() {
        return;
    }
    let (title, wrong) = (title(library), wrong.join(", "));
    note(&match args.order_of_file() {
        Order::Any => format!(
            "with the file, results by operators that do not commute may be wrong: {title} does not look whether they do in \
             {wrong}"
        ),
        _ => format!(
            "where {wrong} would be the fastest, {title}'s own choice stands: its rules do not look whether operators \
             commute. --order any names them, for programs whose operators all do"
        ),
    });
}

/// Draws which algorithm is fastest where.
fn write_map(
    args: &SelectArgs,
    prices: &Prices,
    destination: &Destination,
) -> Result<ExitCode, CliError> {
    args.format.written(&picture::FORMATS, destination)?;
    let format = picture::format_of("--map", destination)?;
    let bytes = picture::bytes(format, map::map(args, prices)?.svg(), "write SVG")?;
    destination.open()?.write(|file| file.write_all(&bytes))?;
    Ok(ExitCode::SUCCESS)
}

/// Text of the library's tuning file.
fn tuning_text(
    args: &SelectArgs,
    library: Tuning,
    chosen: &tuning::Chosen,
) -> Result<String, CliError> {
    let order = args.order_of_file();
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
        (Tuning::OpenMpi, _) => Ok(tuning::open_mpi(chosen, order)),
        (Tuning::OpenMpiJson, _) => Ok(format!("{:#}\n", tuning::open_mpi_json(chosen, order))),
        (Tuning::Ucc, _) => Ok(tuning::ucc(chosen, order)),
        (Tuning::Intel, _) => Ok(tuning::intel(chosen, order)),
    }
}

/// Costs of messages, equal for all pairs.
fn prices(args: &SelectArgs) -> Result<Prices, CliError> {
    let stated = args.costs.costs_of_schedules(None)?;
    let combine = match args.combine {
        None => stated.machine().map_or(0.0, |machine| machine.combine_per_byte),
        Some(combine) => args.costs.combine_time(combine, &stated)?,
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
    let costs = stated.costs().homogeneous(args.ranks.1);
    if let Some(costs) = costs.filter(|_| stated.costs().overlaps()) {
        let reason = "part of the latency passes beside other work, and the sizes at which another algorithm is the \
                      fastest are computed for latency that does not. `tuwtree optimize` compares algorithms for one size";
        return Err(match &args.costs.machine {
            Some(source) => CliError::Failure(format!(
                "--machine {source}: {reason}; for rounds that wait for all of it: --alpha {:e}s --beta {:e}s --gamma {:e}s",
                costs.alpha(),
                costs.beta(),
                costs.gamma()
            )),
            None => CliError::Usage(format!(
                "--overhead: {reason}; without --overhead, rounds wait for all of it"
            )),
        });
    }
    costs.map(|costs| Prices { costs, combine }).ok_or_else(|| unpriced(args, stated.costs()))
}

/// Error for a machine without such costs, with a remedy.
fn unpriced(args: &SelectArgs, costs: &Costs) -> CliError {
    let source = args.costs.machine.as_ref().map_or(String::new(), ToString::to_string);
    if costs.room().is_some_and(|room| room < args.ranks.1) {
        let room = costs.room().unwrap_or(0);
        let most = args.ranks.1;
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
        args.op[0].operation.name()
    ))
}

/// A row for each range of sizes of each decision; with a library, also by the library's name for the algorithm, or null
/// where its own choice stands.
fn rows(args: &SelectArgs, listed: &[Listed]) -> Vec<Value> {
    let mut rows = Vec::new();
    for Listed { operation, rules, found } in listed {
        for Decision { ranks: (first, last), ranges } in found {
            for range in ranges {
                let mut row = json!({
                    "operation": operation.name(),
                    "first_ranks": first,
                    "last_ranks": last,
                    "from_bytes": range.from_bytes,
                    "algorithm": range.algorithm.name,
                });
                if let Some(rules) = rules {
                    let is_named = rules.names(range.algorithm, args.order_of_file());
                    let name = rules.name(range.algorithm).filter(|_| is_named);
                    row["library_algorithm"] = name.into();
                }
                rows.push(row);
            }
        }
    }
    rows
}

fn document(args: &SelectArgs, listed: &[Listed]) -> Value {
    let mut document = json!({ "format": "tuwtree-selection", "version": 2 });
    if let Some(library) = args.library {
        document["library"] = library.name().into();
    }
    document["ranges"] = rows(args, listed).into();
    document
}

fn write_text(listed: &[Listed], output: &mut dyn Write) -> Result<(), CliError> {
    for Listed { operation, found, .. } in listed {
        writeln!(output, "{}", operation.name())?;
        for Decision { ranks: (first, last), ranges } in found {
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

/// Ratio of a rule to the best of some algorithms, in words.
fn times_of(algorithms: &str, Factors { worst, at: (ranks, bytes), mean }: Factors) -> String {
    format!(
        "{mean:.3} times the best of {algorithms} in the mean, at most {worst:.3} times ({ranks} processes, {})",
        quantity::bytes(bytes)
    )
}

/// Losses of the rules of MPICH, in 2005 and today, and of Open MPI, for each operation with known rules.
fn regrets(
    args: &SelectArgs,
    prices: &Prices,
    format: Format,
    output: &mut dyn Write,
) -> Result<ExitCode, CliError> {
    let order = args.order.unwrap_or(Order::Any);
    let is_ordered = order == Order::Ordered;
    let operations = args.operations();
    if let Some(other) = operations.iter().find(|one| is_ordered && !one.is_reduction()) {
        let message = format!(
            "--order ordered: {} combines nothing; it is for reduce, reduce-scatter, allreduce",
            other.name()
        );
        return Err(CliError::Usage(message));
    }
    let mut rows = Vec::new();
    let all = operations.iter().flat_map(|&one| OwnRules::all().map(move |rules| (one, rules)));
    for (operation, rules) in all {
        let reduction = (operation, order);
        let found = regret(rules, reduction, args.ranks, args.bytes, prices);
        let Some(Regret { own, any_library }) = found else { continue };
        if format == Format::Text {
            let name = operation.name();
            let own = times_of("its algorithms", own);
            writeln!(output, "{name}: {}'s own rule takes {own}", rules.title())?;
            let others = match operation {
                Operation::IntergroupAllgather => Some("all algorithms here"),
                _ => is_ordered.then_some("all libraries' that keep rank order"),
            };
            if let Some(others) = others {
                writeln!(output, "  and {}", times_of(others, any_library))?;
            }
        }
        let mut row = json!({
            "operation": operation.name(),
            "library": rules.name(),
            "mean": own.mean,
            "worst": own.worst,
            "ranks": own.at.0,
            "bytes": own.at.1,
        });
        if is_ordered {
            row["order"] = order.name().into();
            row["any_library_mean"] = any_library.mean.into();
            row["any_library_worst"] = any_library.worst.into();
            row["any_library_ranks"] = any_library.at.0.into();
            row["any_library_bytes"] = any_library.at.1.into();
        }
        rows.push(row);
    }
    match format {
        Format::Json => write_json(
            &json!({ "format": "tuwtree-regret", "version": 2, "operations": rows }),
            output,
        )?,
        Format::Csv => write_objects(&rows, output)?,
        _ => {}
    }
    Ok(ExitCode::SUCCESS)
}
