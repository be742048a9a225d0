//! `tuwtree-exec bench`: how long collective operations take here, and what follows.

use crate::arguments::{FormatArgs, bytes_within, operation_parser, parse_seconds};
use crate::calibrate::measured_by_floods;
use crate::file::{NewFile, check_different, tell};
use crate::host::{PROGRAM, describe, today, warning};
use crate::recorded;
use crate::stop::Stop;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::rc::Rc;
use tuwtree_binding::Communicator;
use tuwtree_cluster::Host;
use tuwtree_cluster::bench::{BenchError, LateRank, MeasuredData, MeasuredProblem, Protocol};
use tuwtree_cluster::clock::Starts;
use tuwtree_io::{Destination, Format, Source};
use tuwtree_measure::{
    Algorithm, Blocks, ListedBlocks, Measurements, Series, Setting, levels_of_nodes,
    mean_in_elements, verdict,
};
use tuwtree_model::document::Machine;
use tuwtree_model::quantity::parse_bytes;
use tuwtree_model::{
    BlockSizes, ClosedSet, Costs, Distribution, DistributionParameters, GroupSizes, Homogeneous,
    Network, Operation, PayloadKind, Randomness, Rank, StatedCosts, Vector,
};
use tuwtree_plan::catalogue;

/// Measure collective operations: the library's own, padded ones, trees, and schedules.
///
/// Measures the papers' problems: several distributions and mean blocks. Algorithms take turns, all ranks begin at an
/// agreed moment, and the last rank's end counts. Prints the model's prediction beside each time, violations of
/// performance guidelines, and the number of repetitions from which planning pays. `tuwtree report` draws the file of
/// --output.
#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    /// Operation to measure
    #[arg(long, value_name = "NAME", default_value = "gather",
          value_parser = operation_parser())]
    op: Operation,

    /// Block sizes in bytes, a file with one for each rank in order: numbers, CSV or JSON, as `tuwtree
    /// optimize` takes them; may be given several times, `-` is standard input
    #[arg(long, value_name = "FILE", value_parser = Source::parse)]
    sizes: Vec<Source>,

    /// Bytes per element where --sizes counts elements, as `rank,count` does
    #[arg(long, value_name = "BYTES", requires = "sizes", value_parser = bytes_within(1..=1 << 20))]
    element_size: Option<u64>,

    /// Recording of a program's calls by the preloaded library (TUWTREE_RECORD); may be given several times. Measures
    /// each distinct call on this many processes, with its own operation and root: the library's own and `auto`, or the
    /// --algorithm list. `-o` writes them as `.json`, `.csv` or `.txt`
    #[arg(long, value_name = "FILE", num_args = 1.., value_parser = Source::parse,
          conflicts_with_all = ["op", "sizes", "dist", "mean_block", "root", "late"])]
    pub(crate) recording: Vec<Source>,

    /// A distribution of block sizes; may be given several times [default: the eight of the papers'
    /// measurements, if no --sizes are given]
    #[arg(long, value_name = "NAME", value_delimiter = ',',
          value_parser = distribution_parser())]
    dist: Vec<Distribution>,

    /// Mean blocks of distributions in bytes, or sizes of the vectors of a broadcast, reduce or allreduce, whole elements
    /// each, also as 4KiB [default: 1, 10, 100, 1000 and 10000 elements]
    #[arg(short = 'b', long = "block", alias = "mean-block", value_name = "BYTES",
          value_delimiter = ',', value_parser = parse_bytes)]
    mean_block: Vec<u64>,

    /// Bytes per element, also as 1KiB
    #[arg(long, value_name = "BYTES", default_value_t = 4, value_parser = bytes_within(1..=1 << 20))]
    element_bytes: u64,

    /// Rarity and size of spikes; number of processes with skewed data
    #[arg(long, value_name = "N", default_value_t = 5)]
    rho: u64,

    /// Seed of the random numbers (glibc's generator)
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u32,

    /// Number of ranks, the last ones, in the second group of an intergroup allgather [default: half of them, rounded
    /// down]
    #[arg(long, value_name = "N")]
    remote: Option<usize>,

    /// The root, if the operation has one [default: p/2, rounded down, as in the papers]
    #[arg(long, value_name = "RANK")]
    root: Option<Rank>,

    /// Algorithm to time; may be given several times [default: all that suit the problem]
    #[arg(long, value_name = "NAME", value_delimiter = ',',
          value_parser = algorithm_parser())]
    pub(crate) algorithm: Vec<Algorithm>,

    /// Timed repetitions of each algorithm for each problem
    #[arg(long, value_name = "N", default_value_t = 75,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) repetitions: u32,

    /// Calls before that, not timed
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(crate) warm_up: u32,

    /// Most bytes under way to a rank at once in a gather by `auto`, also as 64KiB [default: unlimited]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) window: Option<u64>,

    /// Measures also with one rank, between root and leaves of the first tree, late by these multiples of the median of
    /// the library's own call [without numbers: 0,1,10]
    #[arg(long, value_name = "TIMES", value_delimiter = ',', num_args = 0..=1,
          default_missing_value = "0,1,10", require_equals = true, value_parser = parse_factor)]
    late: Option<Vec<f64>>,

    /// The late rank, not the root
    #[arg(long, value_name = "RANK", requires = "late")]
    late_rank: Option<Rank>,

    /// The machine whose costs trees are planned with: the name of one that is built in, or a file
    /// [default: measure them first]
    #[arg(long, value_name = "MACHINE", value_parser = tuwtree_io::machine::named)]
    pub(crate) machine: Option<Source>,

    /// Approximate duration of measuring these costs, in seconds or with a unit
    #[arg(long, value_name = "S", default_value = "2", conflicts_with = "machine",
          value_parser = parse_seconds)]
    calibration_seconds: f64,

    /// Write the result to this file, or to standard output with `-`: all times (`.json`, or any other name: see
    /// docs/formats.md), minima and medians (`.csv`), or the printed text (`.txt`)
    #[arg(short, long, value_name = "FILE", value_parser = Destination::parse)]
    output: Option<Destination>,

    #[command(flatten)]
    format: FormatArgs,

    /// Write minima and medians to this file, as CSV
    #[arg(long, value_name = "FILE", value_parser = Destination::parse)]
    csv: Option<Destination>,
}

/// The distributions of TUW section 5.
const MEASURED: [Distribution; 8] = [
    Distribution::Same,
    Distribution::Random,
    Distribution::Bucket,
    Distribution::Spikes,
    Distribution::Increasing,
    Distribution::Decreasing,
    Distribution::Alternating,
    Distribution::TwoBlocks,
];

/// Parses by how many times an operation's duration a rank is late.
fn parse_factor(text: &str) -> Result<f64, String> {
    let factor: Option<f64> = text.parse().ok().filter(|&factor| (0.0..=1e6).contains(&factor));
    factor.ok_or_else(|| "a number from 0 to 1e6 is needed".to_owned())
}

/// Parses the name of an algorithm.
fn algorithm_parser() -> impl TypedValueParser<Value = Algorithm> {
    let value = |one: Algorithm| {
        let what = match one {
            Algorithm::Planned(construction, _) => catalogue::row(construction).summary.into(),
            library => library.summary(Operation::Gather),
        };
        PossibleValue::new(one.name()).help(what)
    };
    PossibleValuesParser::new(Algorithm::all().map(value))
        .map(|text| Algorithm::named(&text).expect("clap lets only known names pass"))
}

/// Parses the name of a distribution.
fn distribution_parser() -> impl TypedValueParser<Value = Distribution> {
    let value = |one: Distribution| PossibleValue::new(one.name()).help(one.formula());
    PossibleValuesParser::new(Distribution::all().map(value))
        .map(|text| text.parse::<Distribution>().expect("clap lets only known names pass"))
}

/// A problem and its name.
struct Named {
    blocks: Blocks,
    mean_block: u64,
    problem: MeasuredProblem,
}

impl From<BenchError> for Stop {
    fn from(error: BenchError) -> Stop {
        Stop::Alone(error.to_string())
    }
}

/// Runs the command. Collective.
///
/// # Errors
/// Problems out of range, a machine that cannot be read, a file that cannot be written, a wrong
/// result; what MPI returns.
pub(crate) fn run(args: &BenchArgs, communicator: &Rc<Communicator>) -> Result<(), Stop> {
    if !args.recording.is_empty() {
        return recorded::run(args, communicator);
    }
    let root = match (args.op.is_rooted(), args.root) {
        (true, given) => given.unwrap_or(communicator.size() / 2),
        (false, None) => 0,
        (false, Some(_)) => {
            return Err(Stop::Usage(format!("--root: {} has none", args.op.name())));
        }
    };
    if let Some(other) = args.algorithm.iter().find(|one| !one.is_for(args.op)) {
        let (other, operation) = (other.name(), args.op.name());
        return Err(Stop::Usage(format!("--algorithm: {other} is not for {operation}")));
    }
    let remote = remote(args, communicator.size())?;
    check_data(args)?;
    // Before anything is measured, so that wrong requests fail at once.
    if let Some(late) = args.late_rank
        && (late >= communicator.size() || late == root)
    {
        let ranks = communicator.size();
        return Err(Stop::Usage(format!(
            "--late-rank: rank {late} cannot begin late; those of 0..{ranks} can, but the root, {root}"
        )));
    }
    let listed = listed(args, communicator)?;
    let groups = (communicator.size(), remote);
    let posed = |costs: &StatedCosts| problems(args, &listed, groups, root, costs);
    posed(&any_costs().into())?;
    let (outputs, is_taken) = opened_outputs(args, communicator)?;
    let host = Host::of(communicator)?;
    let machine = machine(args, &host, communicator)?;
    let costs = StatedCosts::from(machine.clone());
    let problems = posed(&costs)?;
    let is_first = communicator.rank() == 0;
    if is_first {
        let plan = planned_with(&machine);
        let window = args.window.map(|bytes| format!("auto: a window of {bytes} bytes\n"));
        let window = window.unwrap_or_default();
        let at = if args.op.is_rooted() { format!(", root {root}") } else { String::new() };
        let begin = format!("{}{at}\n{plan}\n{window}{}", describe(&host), warning(&host));
        tell(&begin, is_taken);
    }
    let mut starts = Starts::new(communicator)?;
    let (series, set_ups) = measured(args, &problems, communicator, &mut starts)?;
    let surprise = starts.surprise()?;
    if !is_first {
        return Ok(());
    }
    let setting = Setting {
        operation: args.op,
        program: PROGRAM.to_owned(),
        library: host.library.clone(),
        ranks: communicator.size(),
        root,
        remote_ranks: remote,
        nodes: host.node_count(),
        oversubscribed: host.is_oversubscribed(),
        element_bytes: args.element_bytes,
        rho: args.rho,
        seed: args.seed,
        warm_up: args.warm_up as usize,
        machine: Some(machine),
        listed,
    };
    let measurements =
        Measurements::new(setting, series).map_err(|error| Stop::Alone(error.to_string()))?;
    let clocks = format!(
        "clocks were off by up to {:.2} us when they were last compared, after 2 s or more",
        surprise * 1e6
    );
    let late = measurements.late_table();
    let late = if late.is_empty() { late } else { format!("{late}\n") };
    let verdict: String =
        verdict(&measurements.contests()).into_iter().map(|line| line + "\n").collect();
    let text = format!("{}\n{late}{}\n{verdict}", measurements.table(), measurements.verdicts());
    for (file, format) in outputs {
        file.write(|output| match format {
            Format::Csv => output.write_all(measurements.csv().as_bytes()),
            Format::Text => output.write_all(text.as_bytes()),
            _ => {
                serde_json::to_writer(&mut *output, &measurements)?;
                writeln!(output)
            }
        })?;
    }
    tell(&format!("\n{text}{set_ups}{clocks}\n{}", warning(&host)), is_taken);
    Ok(())
}

/// Size of the second group; 0 without groups.
fn remote(args: &BenchArgs, ranks: usize) -> Result<usize, Stop> {
    let has_groups = args.op == Operation::IntergroupAllgather;
    match args.remote {
        Some(_) if !has_groups => {
            Err(Stop::Usage(format!("--remote: {} has no groups", args.op.name())))
        }
        None if !has_groups => Ok(0),
        given => match given.unwrap_or(ranks / 2) {
            remote if (1..ranks).contains(&remote) => Ok(remote),
            remote => Err(Stop::Usage(format!(
                "--remote: {remote} of {ranks} processes as second group; each group has at least one"
            ))),
        },
    }
}

/// An error for blocks of an operation that moves a vector.
fn check_data(args: &BenchArgs) -> Result<(), Stop> {
    if args.op.payload_kind() != PayloadKind::Vector {
        return Ok(());
    }
    let no_blocks = |option: &str| {
        let operation = args.op.name();
        Err(Stop::Usage(format!("{option}: {operation} moves a vector, whose size is given by -b")))
    };
    match args.dist.iter().find(|&&one| one != Distribution::Same) {
        _ if !args.sizes.is_empty() => no_blocks("--sizes"),
        Some(other) => no_blocks(&format!("--dist {}", other.name())),
        None => Ok(()),
    }
}

/// The files of the result, and whether one of them is standard output. Collective.
pub(crate) fn opened_outputs(
    args: &BenchArgs,
    communicator: &Communicator,
) -> Result<(Vec<(NewFile, Format)>, bool), Stop> {
    let outputs = outputs(args)?;
    check_different(outputs.iter().map(|(output, _)| output), communicator)?;
    let is_taken = outputs.iter().any(|(output, _)| matches!(output, Destination::StandardOutput));
    let opened: Result<Vec<(NewFile, Format)>, Stop> = outputs
        .iter()
        .map(|(output, format)| Ok((NewFile::open(output, communicator)?, *format)))
        .collect();
    Ok((opened?, is_taken))
}

/// Destinations and formats of the result; empty if it is only printed.
fn outputs(args: &BenchArgs) -> Result<Vec<(Destination, Format)>, Stop> {
    let (destination, all) = match &args.output {
        Some(destination) => (destination.clone(), [Format::Json, Format::Csv, Format::Text]),
        None => (Destination::StandardOutput, Format::RESULT),
    };
    let format = args.format.written(&all, &destination)?;
    let is_written = args.output.is_some() || format != Format::Text;
    Format::Csv.check_name("--csv", args.csv.as_ref())?;
    let csv = args.csv.iter().map(|csv| (csv.clone(), Format::Csv));
    Ok(is_written.then_some((destination, format)).into_iter().chain(csv).collect())
}

/// The costs that trees are planned with, in a line.
pub(crate) fn planned_with(machine: &Machine) -> String {
    match &machine.costs {
        Costs::Homogeneous(costs) => format!(
            "trees planned with latency {:.3} us, {:.4} ns per byte, copies {:.4} ns per byte",
            costs.alpha() * 1e6,
            costs.beta() * 1e9,
            costs.gamma() * 1e9
        ),
        costs => format!("trees planned with the {} costs of {}", costs.name(), machine.name),
    }
}

/// Costs for which problems can be stated before the machine's are known.
fn any_costs() -> Costs {
    Homogeneous::new(1.0, 1.0, 1.0).expect("positive numbers").into()
}

/// The block sizes in files, with their names; the same at all processes. Collective.
fn listed(args: &BenchArgs, communicator: &Communicator) -> Result<Vec<ListedBlocks>, Stop> {
    let read = || -> Result<Vec<(String, Vec<u64>)>, String> {
        let mut found: Vec<(String, Vec<u64>)> = Vec::new();
        for source in &args.sizes {
            let name = source.to_string();
            if found.iter().all(|(other, _)| *other != name) {
                let sizes = tuwtree_io::sizes::read_elements(source, args.element_size)
                    .map_err(|error| error.to_string())?;
                found.push((name, sizes.iter().collect()));
            }
        }
        Ok(found)
    };
    let found: Vec<(String, Vec<u64>)> = told_by_first(communicator, read)?;
    let listed = found.into_iter().map(|(name, sizes)| match sizes.len() == communicator.size() {
        true => {
            let sizes = BlockSizes::new(sizes).map_err(|error| Stop::Alone(error.to_string()))?;
            Ok(ListedBlocks { name, sizes })
        }
        false => Err(Stop::Shared(format!(
            "--sizes: {name} has {} blocks for {} processes",
            sizes.len(),
            communicator.size()
        ))),
    });
    listed.collect()
}

/// Value made by rank 0, at all processes, or rank 0's error. Collective.
pub(crate) fn told_by_first<T: Serialize + DeserializeOwned>(
    communicator: &Communicator,
    make: impl FnOnce() -> Result<T, String>,
) -> Result<T, Stop> {
    let told: Result<String, String> = match communicator.rank() {
        0 => {
            make().and_then(|made| serde_json::to_string(&made).map_err(|error| error.to_string()))
        }
        _ => Ok(String::new()),
    };
    // A value, or an error behind a mark that no JSON starts with.
    let told = communicator.told(&told.unwrap_or_else(|error| format!("!{error}")), 0)?;
    match told.strip_prefix('!') {
        Some(error) => Err(Stop::Shared(error.to_owned())),
        None => serde_json::from_str(&told).map_err(|error| Stop::Alone(error.to_string())),
    }
}

/// Problems of the arguments: listed blocks, then distributions.
fn problems(
    args: &BenchArgs,
    listed: &[ListedBlocks],
    (ranks, remote): (usize, usize),
    root: Rank,
    costs: &StatedCosts,
) -> Result<Vec<Named>, Stop> {
    if root >= ranks {
        return Err(Stop::Usage(format!(
            "--root: root {root} is outside 0..{ranks} ({ranks} processes)"
        )));
    }
    let is_vector = args.op.payload_kind() == PayloadKind::Vector;
    let distributions = match (args.dist.is_empty(), listed.is_empty()) {
        _ if is_vector => &[Distribution::Same][..],
        (true, true) => &MEASURED[..],
        _ => &args.dist,
    };
    let mean_blocks = mean_blocks(args)?;
    let posed = |what: String, sizes: BlockSizes| {
        let data = match args.op.payload_kind() {
            PayloadKind::Vector => MeasuredData::Vector(Vector { ranks, bytes: sizes.block(0) }),
            PayloadKind::Groups => GroupSizes::new(sizes, ranks - remote)
                .map(MeasuredData::Groups)
                .map_err(|error| Stop::Shared(error.to_string()))?,
            PayloadKind::Blocks | PayloadKind::Messages => MeasuredData::Blocks(sizes),
        };
        let problem = MeasuredProblem::new(args.op, data, root, costs).map_err(Stop::Shared)?;
        problem.map(|problem| problem.with_window(args.window)).ok_or_else(|| {
            Stop::Usage(format!(
                "{what}: the blocks, padded to the largest, have more than 2^31 - 1 bytes in all, \
                 the most that MPI's counts reach"
            ))
        })
    };
    let mut problems: Vec<Named> = Vec::new();
    for ListedBlocks { name, sizes } in listed {
        problems.push(Named {
            blocks: Blocks::Listed(name.clone()),
            mean_block: mean_in_elements(sizes, args.element_bytes),
            problem: posed(name.clone(), sizes.clone())?,
        });
    }
    for &distribution in distributions {
        for &mean_block in &mean_blocks {
            let blocks = Blocks::Drawn(distribution);
            let is_there = |one: &Named| (&one.blocks, one.mean_block) == (&blocks, mean_block);
            if problems.iter().any(is_there) {
                continue;
            }
            let what = format!("{}, b = {mean_block}", distribution.name());
            let sizes = block_sizes(args, ranks, distribution, mean_block)
                .map_err(|error| Stop::Usage(format!("{what}: {error}")))?;
            problems.push(Named { blocks, mean_block, problem: posed(what, sizes)? });
        }
    }
    Ok(problems)
}

/// The mean blocks, in elements.
fn mean_blocks(args: &BenchArgs) -> Result<Vec<u64>, Stop> {
    if args.mean_block.is_empty() {
        return Ok(vec![1, 10, 100, 1000, 10_000]);
    }
    let elements = |&bytes: &u64| match bytes % args.element_bytes {
        0 => Ok(bytes / args.element_bytes),
        _ => Err(Stop::Usage(format!(
            "-b {bytes}: no whole elements; one has {} bytes (--element-bytes)",
            args.element_bytes
        ))),
    };
    args.mean_block.iter().map(elements).collect()
}

/// The block sizes in bytes.
fn block_sizes(
    args: &BenchArgs,
    ranks: usize,
    distribution: Distribution,
    mean_block: u64,
) -> Result<BlockSizes, String> {
    let default = DistributionParameters::new(ranks, mean_block);
    let parameters = DistributionParameters { rho: args.rho, ..default };
    let elements = distribution
        .sizes(parameters, Randomness::Glibc { seed: args.seed })
        .map_err(|error| error.to_string())?;
    let bytes = |elements: u64| elements.checked_mul(args.element_bytes);
    let bytes: Option<Vec<u64>> = elements.iter().map(bytes).collect();
    let too_large = || "a block has 2^64 bytes or more".to_owned();
    BlockSizes::new(bytes.ok_or_else(too_large)?).map_err(|error| error.to_string())
}

/// The machine that is given, or else measured: the same at all processes.
pub(crate) fn machine(
    args: &BenchArgs,
    host: &Host,
    communicator: &Rc<Communicator>,
) -> Result<Machine, Stop> {
    match &args.machine {
        Some(source) => told_by_first(communicator, || {
            tuwtree_io::machine::read(source).map_err(|error| error.to_string())
        }),
        None => {
            let made = measured_machine(args, host, communicator)?;
            told_by_first(communicator, || made)
        }
    }
}

/// Costs, quickly measured; at rank 0, and an error without a message at others.
fn measured_machine(
    args: &BenchArgs,
    host: &Host,
    communicator: &Rc<Communicator>,
) -> Result<Result<Machine, String>, Stop> {
    if communicator.size() == 1 {
        return Ok(Ok(lone_machine(host)));
    }
    let (shape, seconds) = (levels_of_nodes(&host.nodes), args.calibration_seconds);
    let found = measured_by_floods(shape, 1 << 18, seconds, communicator)?;
    let machine = found.map(|(found, _)| Machine {
        name: host.name.clone(),
        date: today(),
        provenance: format!("Measured by {PROGRAM} bench, briefly: {}", describe(host)),
        costs: Costs::Hierarchical(found.costs()),
        network: found.network(),
        combine_per_byte: found.combine_per_byte,
    });
    Ok(machine.ok_or_else(String::new))
}

/// The machine of a rank that has nobody to send to.
fn lone_machine(host: &Host) -> Machine {
    let costs = Homogeneous::new(0.0, 0.0, 0.0).expect("zeros are costs");
    Machine {
        name: host.name.clone(),
        date: today(),
        provenance: "One process sends no messages.".to_owned(),
        costs: costs.into(),
        network: Network::default(),
        combine_per_byte: 0.0,
    }
}

/// The times of all algorithms that are asked for, problem after problem; and in words, what setting up
/// takes where later operations share what the first has set up.
fn measured(
    args: &BenchArgs,
    problems: &[Named],
    communicator: &Rc<Communicator>,
    starts: &mut Starts,
) -> Result<(Vec<Series>, String), Stop> {
    let mut all: Vec<Algorithm> = match args.algorithm.is_empty() {
        true => Algorithm::all().collect(),
        // The library's own call is always beside them.
        false => std::iter::once(Algorithm::Native).chain(args.algorithm.iter().copied()).collect(),
    };
    let mut seen = Vec::new();
    all.retain(|&one| {
        let is_new = !seen.contains(&one);
        seen.push(one);
        is_new
    });
    let is_wanted =
        |problem: &MeasuredProblem, one| !args.algorithm.is_empty() || problem.admits(one);
    let protocol =
        Protocol { warm_up: args.warm_up as usize, repetitions: args.repetitions as usize };
    let late = args.late.clone().map(|factors| LateRank { rank: args.late_rank, factors });
    let (mut series, mut set_ups) = (Vec::new(), String::new());
    for Named { blocks, mean_block, problem } in problems {
        let wanted: Vec<Algorithm> =
            all.iter().copied().filter(|&one| is_wanted(problem, one)).collect();
        for timed in problem.timed(&wanted, (protocol, late.as_ref()), communicator, starts)? {
            let what = format!("{}, {} {mean_block}", timed.algorithm.name(), blocks.name());
            if let Some(further) = timed.further_seconds {
                set_ups += &format!(
                    "{what}: set up in {:.1} us at first, in {:.1} us after that\n",
                    timed.planning_seconds * 1e6,
                    further * 1e6
                );
            }
            if !timed.first_seconds.is_empty() {
                let first =
                    timed.first_seconds.iter().map(|seconds| format!("{:.1}", seconds * 1e6));
                let first: Vec<String> = first.collect();
                set_ups += &format!("{what}: the first calls took {} us\n", first.join(", "));
            }
            series.push(Series {
                blocks: blocks.clone(),
                mean_block: *mean_block,
                total_bytes: problem.total_bytes(),
                largest_block_bytes: problem.largest_block_bytes(),
                algorithm: timed.algorithm,
                planning_seconds: timed.planning_seconds,
                predicted: timed.predicted,
                times: timed.times,
                delayed: timed.delayed,
            });
        }
    }
    Ok((series, set_ups))
}
