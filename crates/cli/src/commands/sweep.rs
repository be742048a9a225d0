//! `tuwtree sweep`: comparisons over ranges of parameters, as one table.

use crate::args::{
    CostArgs, check_root, distribution_name_parser, operation_parser, parse_element_size,
};
use crate::choice::{AlgorithmChoice, Choice};
use crate::error::CliError;
use crate::output::comparison;
use crate::output::format::{FormatArgs, option_of, write_json, write_objects};
use crate::output::picture;
use crate::output::progress::{ProgressLine, note};
use crate::output::swept::{SweptCell, SweptMap};
use crate::output::text;
use crate::series::{Series, parse_series};
use clap::Args;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::process::ExitCode;
use tuwtree_dp::Progress;
use tuwtree_io::{Destination, Format, Source, sizes};
use tuwtree_model::quantity::{Cost, parse_time};
use tuwtree_model::{
    BlockSizes, ClosedSet, Costs, Distribution, DistributionParameters, Homogeneous, Operation,
    Payload, Problem, Randomness, Root, StatedCosts,
};
use tuwtree_picture::RegionMap;

/// Compare constructions for every combination of parameters, as one table for other programs.
///
/// Each problem is compared as by `optimize`; the table has a row for each construction of each problem, with the
/// problem's parameters in front; or they are a map, which shows which kind of tree pays where. Lists are separated by commas; A..B is every number from A to B, A..B*2 is A, 2A, 4A, …, and A..B+8 is A, A+8, A+16, ….
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_arg("format", option_of(&FORMATS)))]
pub(crate) struct SweepArgs {
    /// The distributions of block sizes
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',',
          required_unless_present = "sizes", value_parser = distribution_name_parser())]
    dist: Vec<Distribution>,

    /// Your own block sizes in place of distributions, from a file as `optimize` reads it; -b scales them to each mean
    #[arg(long, value_name = "FILE", value_parser = Source::parse,
          conflicts_with_all = ["dist", "ranks", "rho", "seed"])]
    sizes: Option<Source>,

    /// Bytes of an element: the numbers in --sizes count elements [default: they are bytes]
    #[arg(long, value_name = "BYTES", requires = "sizes", value_parser = parse_element_size)]
    element_size: Option<u64>,

    /// The numbers of processes
    #[arg(short = 'p', long = "processes", value_name = "P", num_args = 1.., value_delimiter = ',',
          default_value = "16..1024*2", value_parser = parse_series)]
    ranks: Vec<Series>,

    /// The mean block sizes in bytes, also as 64KiB [default: 1000, or as they are with --sizes]
    #[arg(short = 'b', long, value_name = "BYTES", num_args = 1.., value_delimiter = ',',
          value_parser = parse_series)]
    block: Vec<Series>,

    /// Rarity and size of spikes; number of processes with skewed data
    #[arg(long, value_name = "N", num_args = 1.., value_delimiter = ',', default_value = "5",
          value_parser = parse_series)]
    rho: Vec<Series>,

    /// Seeds of the random numbers (glibc's)
    #[arg(long, value_name = "N", num_args = 1.., value_delimiter = ',', default_value = "1")]
    seed: Vec<u32>,

    /// Several start-up latencies, in place of --alpha
    #[arg(long, value_name = "TIME", num_args = 1.., value_delimiter = ',', value_parser = parse_time,
          conflicts_with_all = ["alpha", "machine"])]
    alphas: Vec<Cost>,

    #[command(flatten)]
    costs: CostArgs,

    /// The operation: one with a block for each process
    #[arg(long, help_heading = "Comparison", value_name = "NAME", default_value = "gather",
          value_parser = operation_parser())]
    op: Operation,

    #[command(flatten)]
    choice: Choice,

    #[command(flatten)]
    format: FormatArgs,

    /// Write to this file: `.csv` or `.json` for the table, `.svg`, `.svg.gz`, `.png` or `.pdf` for a map; may be given
    /// several times
    ///
    /// A map has a panel for each distribution, block sizes against numbers of processes. A cell names the simplest kind
    /// of tree within 2 percent of the fastest, and how many times as long the library's own call takes.
    #[arg(help_heading = "Output", short, long, value_name = "FILE", default_value = "-", value_parser = Destination::parse)]
    output: Vec<Destination>,
}

const EXAMPLES: &str = "\
Examples:
  tuwtree sweep --dist spikes,skewed -p 64..2048*2 -b 8,1000 --root 0 -o sweep.csv
  tuwtree sweep --dist same --machine vsc3 -p 32..1024*2 --algorithm linear,adaptive,leaders
  tuwtree sweep --dist same,spikes --machine vsc3 -p 16..128*2 -b 8..64KiB*8 --root 0 -o map.svg
  tuwtree sweep --sizes counts.txt -b 8..64KiB*2 --machine griffon --root 0 -o mine.svg
  tuwtree sweep --dist spikes -p 48 --alphas 1us,10us,100us --beta 1ns --gamma 0.1ns";

/// Formats of sweeps.
const FORMATS: [Format; 5] = [Format::Csv, Format::Json, Format::Svg, Format::Png, Format::Pdf];

/// The most problems of a sweep.
const MOST_PROBLEMS: usize = 100_000;

/// The mean block of distributions, unless one is given.
const MEAN: u64 = 1000;

/// A problem's parameters.
#[derive(Clone, Copy)]
struct Parameters {
    /// `None`: the user's own sizes.
    distribution: Option<Distribution>,
    ranks: u64,
    block: u64,
    rho: u64,
    seed: u32,
    alpha: Option<Cost>,
}

/// Runs the command.
///
/// # Errors
/// Parameters out of range; a construction asked for by name that cannot be built; an output that cannot
/// be written.
pub(crate) fn run(args: &SweepArgs) -> Result<ExitCode, CliError> {
    let is_map = |format: &Format| picture::FORMATS.contains(format);
    let formats = args.output.iter().map(|one| args.format.written(&FORMATS, one));
    let formats = formats.collect::<Result<Vec<Format>, CliError>>()?;
    let has_map = formats.iter().any(is_map);
    if has_map && !matches!(args.op, Operation::Gather | Operation::Scatter) {
        return Err(CliError::Usage(format!(
            "--op {}: maps are of gather and scatter; write .csv or .json",
            args.op.name()
        )));
    }
    let own = args.own_sizes()?;
    let all = args.parameters(own.as_ref())?;
    args.costs.note_warnings(&args.costs_at(args.alphas.first().copied())?);
    let outputs = picture::opened(args.format, &FORMATS, &args.output)?;
    let progress = ProgressLine::new("sweep");
    let mut rows = Vec::new();
    let mut cells = Vec::new();
    let mut skipped: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for (done, parameters) in all.iter().enumerate() {
        if progress.advance(done as u64, all.len() as u64).is_break() {
            return Err(CliError::Interrupted);
        }
        let problem = args.problem(parameters, own.as_ref())?;
        let comparison = args.choice.compare_leniently(&problem)?;
        if !args.choice.algorithm.contains(&AlgorithmChoice::All) {
            for one in &comparison.skipped {
                *skipped.entry((one.construction.name(), one.reason.clone())).or_default() += 1;
            }
        }
        if has_map {
            let cell = SweptCell::of(&comparison);
            cells.push((*parameters, cell.ok_or_else(|| not_compared(&problem))?));
        }
        let front = front(&args.name(parameters), parameters, problem.stated_costs());
        rows.extend(comparison::rows(&comparison).into_iter().map(|row| {
            let Value::Object(row) = row else { unreachable!("rows are objects") };
            Value::Object(front.clone().into_iter().chain(row).collect())
        }));
    }
    drop(progress);
    for ((name, reason), problems) in skipped {
        let problems = text::counted(problems, "problem", "problems");
        note(&format!("{name} is left out of {problems}: {reason}"));
    }
    let map = has_map.then(|| args.map(cells)).transpose()?;
    for (format, output) in outputs {
        match (&map, format) {
            (_, Format::Json) => {
                let sweep = json!({ "format": "tuwtree-sweep", "version": 1, "rows": rows });
                output.write(|file| write_json(&sweep, file))?;
            }
            (Some(map), format) if is_map(&format) => {
                let bytes = picture::bytes(format, map.svg(), "write SVG")?;
                output.write(|file| file.write_all(&bytes))?;
            }
            _ => output.write(|file| write_objects(&rows, file))?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl SweepArgs {
    /// The costs with this start-up latency, if one is given; costs of exchanges where there may be any.
    fn costs_at(&self, alpha: Option<Cost>) -> Result<StatedCosts, CliError> {
        let costs = self.costs.with_alpha(alpha);
        if self.op.is_rooted() { costs.costs(None) } else { costs.costs_of_schedules(None) }
    }

    /// The user's own sizes.
    fn own_sizes(&self) -> Result<Option<BlockSizes>, CliError> {
        let Some(source) = &self.sizes else { return Ok(None) };
        if self.alphas.is_empty() {
            self.costs.note_assumed();
        }
        Ok(Some(sizes::read_elements(source, self.element_size)?))
    }

    /// All combinations, the last parameter fastest.
    fn parameters(&self, own: Option<&BlockSizes>) -> Result<Vec<Parameters>, CliError> {
        let series = |all: &[Series]| -> Vec<u64> {
            all.iter().flat_map(|Series(numbers)| numbers.iter().copied()).collect()
        };
        let (ranks, blocks, distributions) = match own {
            Some(own) => {
                let p = own.ranks() as u64;
                (vec![p], vec![own.total() / p], vec![None])
            }
            None => {
                (series(&self.ranks), vec![MEAN], self.dist.iter().copied().map(Some).collect())
            }
        };
        let blocks = if self.block.is_empty() { blocks } else { series(&self.block) };
        let rhos = series(&self.rho);
        let alphas: Vec<Option<Cost>> = match self.alphas.is_empty() {
            true => vec![None],
            false => self.alphas.iter().copied().map(Some).collect(),
        };
        let lengths = [
            distributions.len(),
            ranks.len(),
            blocks.len(),
            rhos.len(),
            self.seed.len(),
            alphas.len(),
        ];
        let problems = lengths.iter().try_fold(1_usize, |all, one| all.checked_mul(*one));
        let problems = problems.filter(|problems| *problems <= MOST_PROBLEMS);
        let Some(problems) = problems else {
            return Err(CliError::Usage(format!(
                "more than {MOST_PROBLEMS} problems: give fewer values of some parameters"
            )));
        };
        let mut all = Vec::with_capacity(problems);
        for at in 0..problems {
            let mut rest = at;
            let mut place = lengths;
            for (place, length) in place.iter_mut().zip(lengths).rev() {
                (*place, rest) = (rest % length, rest / length);
            }
            let [distribution, p, block, rho, seed, alpha] = place;
            all.push(Parameters {
                distribution: distributions[distribution],
                ranks: ranks[p],
                block: blocks[block],
                rho: rhos[rho],
                seed: self.seed[seed],
                alpha: alphas[alpha],
            });
        }
        Ok(all)
    }

    /// The map of these cells: a panel for all cells with equal parameters other than processes and block.
    fn map(&self, mut cells: Vec<(Parameters, SweptCell)>) -> Result<RegionMap, CliError> {
        let mut panels: Vec<String> = Vec::new();
        for (parameters, _) in &cells {
            let title = self.panel(parameters);
            if !panels.contains(&title) {
                panels.push(title);
            }
        }
        let place = |parameters: &Parameters| {
            let panel = panels.iter().position(|title| *title == self.panel(parameters));
            (panel, parameters.block, parameters.ranks)
        };
        cells.sort_by_key(|(parameters, _)| place(parameters));
        cells.dedup_by_key(|(parameters, _)| place(parameters));
        let different = |of: fn(&Parameters) -> u64| {
            let mut all: Vec<u64> = cells.iter().map(|(parameters, _)| of(parameters)).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let (ranks, blocks) = (different(|one| one.ranks), different(|one| one.block));
        let stated = self.costs_at(None)?;
        let root = match self.choice.root {
            Some(Root::Given(root)) => format!("root {root}"),
            _ => "best root".to_owned(),
        };
        let map = SweptMap {
            lines: vec![format!("{}, {root}; {stated}", self.op.name())],
            ranks,
            blocks,
            panels,
            cells: cells.into_iter().map(|(_, cell)| cell).collect(),
        };
        Ok(map.drawn(self.choice.library_for(&stated)))
    }

    /// Label of a problem's panel: its distribution, and every parameter with several values.
    fn panel(&self, parameters: &Parameters) -> String {
        let Parameters { rho, seed, alpha, .. } = parameters;
        let mut title = self.name(parameters);
        let has_several =
            |all: &[Series]| all.iter().map(|Series(one)| one.len()).sum::<usize>() > 1;
        if has_several(&self.rho) {
            title += &format!(", rho {rho}");
        }
        if self.seed.len() > 1 {
            title += &format!(", seed {seed}");
        }
        match alpha {
            Some(Cost::Seconds(alpha)) => title += &format!(", alpha {} us", alpha * 1e6),
            Some(Cost::Plain(alpha)) => title += &format!(", alpha {alpha}"),
            None => {}
        }
        title
    }

    /// Name of the sizes: their distribution, or their source.
    fn name(&self, parameters: &Parameters) -> String {
        match (parameters.distribution, &self.sizes) {
            (Some(distribution), _) => distribution.name().to_owned(),
            (None, Some(source)) => source.to_string(),
            (None, None) => unreachable!("one of these is asked for"),
        }
    }

    fn problem(
        &self,
        parameters: &Parameters,
        own: Option<&BlockSizes>,
    ) -> Result<Problem, CliError> {
        let Parameters { distribution, ranks, block, rho, seed, alpha } = *parameters;
        let usage = |option: &str, error: &dyn std::fmt::Display| {
            CliError::Usage(format!("{option}: {error}"))
        };
        let ranks = usize::try_from(ranks).map_err(|error| usage("-p", &error))?;
        let shape = DistributionParameters { rho, ..DistributionParameters::new(ranks, block) };
        let sizes = match (distribution, own) {
            (Some(distribution), _) => distribution
                .sizes(shape, Randomness::Glibc { seed })
                .map_err(|error| usage(&format!("--dist {}", distribution.name()), &error))?,
            (None, Some(own)) if self.block.is_empty() => own.clone(),
            (None, Some(own)) => scaled(own, block).map_err(|error| usage("-b", &error))?,
            (None, None) => unreachable!("one of these is asked for"),
        };
        let costs = self.costs_at(alpha)?;
        self.costs.check_ranks(&costs, ranks)?;
        if let Some(root) = self.choice.root {
            check_root(root, ranks)?;
        }
        let payload = Payload::from(sizes);
        let payload = payload.adapted_to(self.op).map_err(|error| usage("--op", &error))?;
        let problem =
            Problem::new(self.op, payload, costs).map_err(|error| usage("--op", &error))?;
        let ports = self.choice.ports.for_tree(self.op)?;
        let problem = match self.choice.root {
            Some(root) => problem.with_root(root).map_err(|error| usage("--root", &error))?,
            None => problem,
        };
        Ok(problem.with_ports(ports).with_duplex(self.choice.ports.duplex()))
    }
}

/// The sizes in proportion, with this mean up to rounding of each.
///
/// # Errors
/// All are 0, or the sum is too large.
fn scaled(sizes: &BlockSizes, mean: u64) -> Result<BlockSizes, String> {
    let total = u128::from(sizes.total());
    if total == 0 {
        return Err("all blocks are empty: they have no proportion".to_owned());
    }
    let wanted = u128::from(mean) * sizes.ranks() as u128;
    let scaled = sizes.iter().map(|size| {
        let size = u128::from(size)
            .checked_mul(wanted)
            .and_then(|size| u64::try_from((size + total / 2) / total).ok());
        size.ok_or_else(|| format!("blocks of {mean} bytes on average do not fit 64 bits"))
    });
    BlockSizes::new(scaled.collect::<Result<Vec<u64>, String>>()?)
        .map_err(|error| error.to_string())
}

/// Error for a problem without a place on a map.
fn not_compared(problem: &Problem) -> CliError {
    CliError::Failure(format!(
        "no library's time is known for {} on {} ports: write .csv or .json",
        problem.operation().name(),
        problem.ports()
    ))
}

/// The first columns: what the problem is.
fn front(name: &str, parameters: &Parameters, costs: &StatedCosts) -> Map<String, Value> {
    let machine = costs.machine_name();
    let latency = |of: fn(&Homogeneous) -> f64| match costs.costs() {
        Costs::Homogeneous(costs) => text::json_number(of(costs)),
        _ => Value::Null,
    };
    let generated = |value: Value| parameters.distribution.map_or(Value::Null, |_| value);
    let columns = [
        ("distribution", name.into()),
        ("processes", parameters.ranks.into()),
        ("mean_block_bytes", parameters.block.into()),
        ("rho", generated(parameters.rho.into())),
        ("seed", generated(parameters.seed.into())),
        ("machine", machine.into()),
        ("alpha", latency(Homogeneous::alpha)),
        ("overhead", latency(Homogeneous::overhead)),
    ];
    let of_exchanges = [
        ("exchange_alpha", latency(Homogeneous::exchange_alpha)),
        ("exchange_beta_per_byte", latency(Homogeneous::exchange_beta)),
    ];
    let of_exchanges = of_exchanges.into_iter().filter(|_| costs.costs().have_exchange_costs());
    let all = columns.into_iter().chain(of_exchanges);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}
