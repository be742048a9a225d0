//! Arguments that several commands share, and their meaning.

use crate::error::CliError;
use crate::output::progress::note;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use tuwtree_io::{Source, machine, sizes};
use tuwtree_model::document::Machine;
use tuwtree_model::quantity::{Cost, Unit, parse_bytes, parse_time, parse_time_per_byte};
use tuwtree_model::{
    BlockSizes, ClosedSet, CostError, CostModel, Costs, Distribution, DistributionParameters,
    ExchangeError, GroupSizes, Homogeneous, MOST_RANKS, Operation, Operator, Payload, Ports,
    Randomness, Rank, Root, StatedCosts, Vector,
};
use tuwtree_schedule::Schedule;

/// Data to move: blocks, generated or read, or a vector.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Data")]
pub(crate) struct PayloadArgs {
    /// Generate block sizes of this distribution
    ///
    /// `tuwtree generate --help` has the formulas.
    #[arg(long, value_name = "NAME", value_parser = distribution_name_parser(), conflicts_with_all = ["sizes", "vector"])]
    pub(crate) dist: Option<Distribution>,

    /// Blocks of this size at each of -p processes: as --dist same -b BYTES
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, conflicts_with_all = ["dist", "sizes", "vector"])]
    bytes: Option<u64>,

    /// Read block sizes from a file (text, CSV, JSON, .npy); `-`: standard input
    #[arg(long, value_name = "FILE", value_parser = Source::parse)]
    pub(crate) sizes: Option<Source>,

    /// Read block sizes of the second group of an intergroup allgather from a file
    #[arg(long, hide_short_help = true, value_name = "FILE", value_parser = Source::parse, requires = "sizes")]
    pub(crate) sizes_remote: Option<Source>,

    /// Broadcast, reduce or allreduce a vector of this size, over -p processes
    #[arg(long, value_name = "BYTES", conflicts_with = "sizes",
          value_parser = parse_bytes)]
    vector: Option<u64>,

    /// Read the messages of an alltoall from a file: p rows of p sizes; row = sender
    ///
    /// Text, CSV without a heading, a JSON list of rows, NumPy's .npy or UCC's .ptini.
    #[arg(long, value_name = "FILE", value_parser = Source::parse,
          conflicts_with_all = ["dist", "bytes", "sizes", "vector"])]
    pub(crate) matrix: Option<Source>,

    /// Bytes of an element that --sizes, --sizes-remote and --matrix count [default: 1]
    #[arg(long, hide_short_help = true, value_name = "BYTES", value_parser = parse_element_size, conflicts_with_all = ["dist", "bytes", "vector"])]
    pub(crate) element_size: Option<u64>,

    #[command(flatten)]
    pub(crate) scale: ScaleArgs,
}

/// Value of `-p`, also as 1e6 or 1_000.
///
/// # Errors
/// The allowed values.
pub(crate) fn parse_processes(argument: &str) -> Result<usize, String> {
    let has_unit = argument.contains(|one: char| one.is_alphabetic() && !"eE".contains(one));
    let number = parse_bytes(argument).ok().filter(|_| !has_unit);
    let number = number.and_then(|number| usize::try_from(number).ok());
    number.filter(|&number| number <= MOST_RANKS).ok_or_else(|| {
        format!("a number of processes of at most {MOST_RANKS} is needed, such as 64 or 1e6")
    })
}

/// Value of `--element-size`: at least a byte.
pub(crate) fn parse_element_size(argument: &str) -> Result<u64, String> {
    match parse_bytes(argument)? {
        0 => Err("an element has at least one byte".into()),
        bytes => Ok(bytes),
    }
}

/// The parameters of a distribution.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Data")]
pub(crate) struct ScaleArgs {
    /// Number of processes [default: 2000, or the file's]
    #[arg(short = 'p', long = "processes", alias = "processors", value_name = "P", value_parser = parse_processes)]
    ranks: Option<usize>,

    /// Mean block size in bytes, also as 64KiB or 8MB [default: 1000]
    #[arg(short = 'b', long, value_name = "BYTES", value_parser = parse_bytes)]
    block: Option<u64>,

    /// Rarity and size of spikes; number of processes with skewed data [default: 5]
    #[arg(long, value_name = "N")]
    rho: Option<u64>,

    /// Exponent of a power law, or of Zipf's law [default: 1]
    #[arg(long, hide_short_help = true, value_name = "S", allow_negative_numbers = true)]
    exponent: Option<f64>,

    /// Standard deviation of the logarithms of log-normal blocks [default: 1]
    #[arg(long, hide_short_help = true, value_name = "S", allow_negative_numbers = true)]
    sigma: Option<f64>,

    /// Seed of the random numbers; 1 with glibc gives the published problems [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Generator of the random numbers [default: glibc]
    #[arg(long, hide_short_help = true, value_name = "NAME")]
    rng: Option<Generator>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Generator {
    /// `rand()` of the GNU C library, as in the papers
    Glibc,
    /// xoshiro256++
    Xoshiro,
}

impl PayloadArgs {
    /// The data that the arguments describe, or `None` if they describe none; `ranks` is what
    /// the number of processes defaults to.
    ///
    /// # Errors
    /// Parameters out of range (usage), a file that cannot be read (failure).
    pub(crate) fn load(&self, ranks: usize) -> Result<Option<Payload>, CliError> {
        if let Some(source) = &self.matrix {
            if self.scale.is_given() {
                return Err(ScaleArgs::not_of_files());
            }
            return Ok(Some(sizes::read_matrix(source, self.element_size)?.into()));
        }
        if let Some(bytes) = self.bytes {
            return self.scale.equal(bytes, ranks).map(|sizes| Some(sizes.into()));
        }
        match (self.dist, &self.sizes, self.vector) {
            (Some(distribution), _, _) => {
                self.scale.generate(distribution, ranks).map(|sizes| Some(sizes.into()))
            }
            (None, _, Some(bytes)) => {
                self.scale.vector(bytes, ranks).map(|vector| Some(vector.into()))
            }
            (None, _, None) if self.scale.is_given() => Err(ScaleArgs::not_of_files()),
            (None, Some(source), None) => {
                let sizes = sizes::read_elements(source, self.element_size)?;
                let Some(remote) = &self.sizes_remote else { return Ok(Some(sizes.into())) };
                let remote = sizes::read_elements(remote, self.element_size)?;
                GroupSizes::of_groups(&sizes, &remote)
                    .map(|sizes| Some(sizes.into()))
                    .map_err(|error| CliError::Usage(format!("--sizes-remote: {error}")))
            }
            (None, None, None) => Ok(None),
        }
    }

    /// The data to move, and its source, in words.
    pub(crate) fn source(&self) -> (&'static str, String) {
        if let Some(source) = &self.matrix {
            return ("Messages", source.to_string());
        }
        if let Some(bytes) = self.bytes {
            return ("Blocks", format!("of {bytes} bytes"));
        }
        match (self.dist, &self.sizes, self.vector) {
            (Some(distribution), _, _) => {
                ("Blocks", format!("{}, {}", distribution.name(), distribution.formula()))
            }
            (None, _, Some(bytes)) => ("Vector", format!("{bytes} bytes")),
            (None, Some(source), None) => match &self.sizes_remote {
                Some(remote) => ("Blocks", format!("{source} and {remote}")),
                None => ("Blocks", source.to_string()),
            },
            (None, None, None) => ("Blocks", "none".to_owned()),
        }
    }
}

impl ScaleArgs {
    /// Error for options of generated sizes beside a file of sizes.
    fn not_of_files() -> CliError {
        CliError::Usage(
            "-p, -b, --rho, --exponent, --sigma, --seed and --rng describe a distribution; name it with --dist \
             (-p also goes with --bytes and --vector)"
                .into(),
        )
    }

    /// The block sizes of a distribution with these parameters.
    ///
    /// # Errors
    /// [`CliError::Usage`] for parameters out of range.
    pub(crate) fn generate(
        &self,
        distribution: Distribution,
        ranks: usize,
    ) -> Result<BlockSizes, CliError> {
        let ranks = self.ranks.unwrap_or(ranks);
        let default = DistributionParameters::new(ranks, self.block.unwrap_or(1000));
        let parameters = DistributionParameters {
            rho: self.rho.unwrap_or(default.rho),
            exponent: self.exponent.unwrap_or(default.exponent),
            sigma: self.sigma.unwrap_or(default.sigma),
            ..default
        };
        distribution
            .sizes(parameters, self.randomness()?)
            .map_err(|error| CliError::Usage(format!("--dist {}: {error}", distribution.name())))
    }

    /// Blocks of this many bytes, one for each process.
    ///
    /// # Errors
    /// [`CliError::Usage`] for a number of processes out of range, more bytes in all than can be counted, or parameters
    /// of a distribution.
    fn equal(&self, bytes: u64, ranks: usize) -> Result<BlockSizes, CliError> {
        let ranks = self.processes_alone("--bytes are equal blocks", ranks)?;
        BlockSizes::new(vec![bytes; ranks])
            .map_err(|error| CliError::Usage(format!("--bytes {bytes}: {error}")))
    }

    /// A vector of this many bytes at each process.
    ///
    /// # Errors
    /// [`CliError::Usage`] for a number of processes out of range, or parameters of a distribution.
    fn vector(&self, bytes: u64, ranks: usize) -> Result<Vector, CliError> {
        let ranks = self.processes_alone("--vector has none", ranks)?;
        Ok(Vector { ranks, bytes })
    }

    /// The number of processes, where there are no parameters of a distribution beside it, since `reason`.
    fn processes_alone(&self, reason: &str, ranks: usize) -> Result<usize, CliError> {
        if self.describes_blocks() {
            return Err(CliError::Usage(format!(
                "-b, --rho, --exponent, --sigma, --seed and --rng describe block sizes, and {reason}"
            )));
        }
        let ranks = self.ranks.unwrap_or(ranks);
        match (1..=MOST_RANKS).contains(&ranks) {
            true => Ok(ranks),
            false => {
                Err(CliError::Usage(format!("-p: {ranks} processes are outside 1..={MOST_RANKS}")))
            }
        }
    }

    fn is_given(&self) -> bool {
        self.ranks.is_some() || self.describes_blocks()
    }

    fn describes_blocks(&self) -> bool {
        self.block.is_some()
            || self.rho.is_some()
            || self.exponent.is_some()
            || self.sigma.is_some()
            || self.seed.is_some()
            || self.rng.is_some()
    }

    fn randomness(&self) -> Result<Randomness, CliError> {
        let seed = self.seed.unwrap_or(1);
        match self.rng.unwrap_or(Generator::Glibc) {
            Generator::Xoshiro => Ok(Randomness::Xoshiro { seed }),
            Generator::Glibc => match seed.try_into() {
                Ok(seed) => Ok(Randomness::Glibc { seed }),
                Err(_) => Err(CliError::Usage(format!(
                    "--seed {seed}: seeds of glibc are 0 to {}; --rng xoshiro takes larger ones",
                    u32::MAX
                ))),
            },
        }
    }
}

/// The costs: some numbers, unset ones with a default that depends on the command, or a machine.
#[derive(Args, Clone, Debug)]
#[command(
    next_help_heading = "Costs (plain numbers in any time unit, the same for all, or units with all)"
)]
pub(crate) struct CostArgs {
    /// Latency of a message, as 100 or 2us [default: 100, or the file's]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = parse_time)]
    alpha: Option<Cost>,

    /// Part of alpha that occupies ports; the rest overlaps [default: all of alpha]
    ///
    /// See docs/overlapping-latency.md. With a tree file, the default is as in the file.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = parse_time)]
    overhead: Option<Cost>,

    /// Time per byte sent, as 1, 0.08ns or 12.5GB/s [default: 1, or the file's]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true,
          value_parser = parse_time_per_byte)]
    beta: Option<Cost>,

    /// Time per byte of a local copy [default: 1 or 10GB/s, or the file's]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true,
          value_parser = parse_time_per_byte)]
    gamma: Option<Cost>,

    /// Start-up latency of a message one of whose ends both sends and receives, in schedules without trees [default: as
    /// --alpha, or as in the schedule]
    ///
    /// Like MPI_Sendrecv; see docs/collectives.md.
    #[arg(long, hide_short_help = true, value_name = "TIME", allow_negative_numbers = true,
          value_parser = parse_time)]
    exchange_alpha: Option<Cost>,

    /// Time per byte of such a message, as for --beta [default: as --beta, or as in the schedule]
    #[arg(long, hide_short_help = true, value_name = "TIME", allow_negative_numbers = true,
          value_parser = parse_time_per_byte)]
    exchange_beta: Option<Cost>,

    /// Costs of a machine, built in (`tuwtree machine` lists them) or in a file; in seconds
    ///
    /// JSON, TOML, output of OSU, IMB or ReproMPI, a hostfile, SimGrid's or hwloc's XML.
    #[arg(long, value_name = "NAME|FILE", value_parser = machine::named,
          conflicts_with_all = ["alpha", "overhead", "beta", "gamma", "exchange_alpha", "exchange_beta"])]
    pub(crate) machine: Option<Source>,
}

/// Cost of combining, for judged schedules.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Operator (reductions)")]
pub(crate) struct CombineArgs {
    /// Time per byte of combining two vectors, as for --beta [default: as in the schedule, none along a tree]
    #[arg(long, hide_short_help = true, value_name = "TIME", allow_negative_numbers = true,
          value_parser = parse_time_per_byte)]
    combine: Option<Cost>,
}

impl CombineArgs {
    /// The schedule with this operator, at these costs.
    ///
    /// # Errors
    /// [`CliError::Usage`]: an operation without one, times out of range or in another unit than the costs.
    pub(crate) fn on(
        self,
        schedule: Schedule,
        costs: &CostArgs,
        stated: &StatedCosts,
    ) -> Result<Schedule, CliError> {
        let Some(combine) = self.combine else { return Ok(schedule) };
        let element_bytes = schedule.task().operator.element_bytes();
        let usage = |error: &dyn std::fmt::Display| CliError::Usage(format!("--combine: {error}"));
        let operator = Operator::new(element_bytes, costs.combine_time(combine, stated)?);
        let operator = operator.map_err(|error| usage(&error))?;
        schedule.with_operator(operator).map_err(|error| usage(&error))
    }

    /// Fails with exit code 2 if it is given for a tree, along which nothing of it is counted.
    ///
    /// # Errors
    /// [`CliError::Usage`].
    pub(crate) fn check_not_of_tree(self, source: &Source) -> Result<(), CliError> {
        match self.combine {
            None => Ok(()),
            Some(_) => Err(CliError::Usage(format!(
                "{source}: times of trees are those of operators that take none; --combine is for schedules"
            ))),
        }
    }
}

/// Seconds per byte of a copy where costs have units, and none is given for copies.
const COPIES: f64 = 1e-10;

impl CostArgs {
    /// Cost of combining a byte beside these costs, in their unit.
    ///
    /// # Errors
    /// [`CliError::Usage`] for another unit.
    pub(crate) fn combine_time(
        &self,
        combine: Cost,
        stated: &StatedCosts,
    ) -> Result<f64, CliError> {
        let in_seconds = stated.unit() == Unit::Seconds;
        match combine {
            Cost::Plain(0.0) => Ok(0.0),
            Cost::Seconds(time) if in_seconds => Ok(time),
            Cost::Plain(time) if !in_seconds => Ok(time),
            _ => Err(CliError::Usage(
                "--combine has a unit where the other costs have one, and none where they have none"
                    .into(),
            )),
        }
    }

    /// The costs of a tree's messages, with `default` for those not given.
    ///
    /// # Errors
    /// [`CliError::Usage`] for costs of exchanges, which no tree has; as for
    /// [`costs_of_schedules`](Self::costs_of_schedules).
    pub(crate) fn costs(&self, default: Option<&StatedCosts>) -> Result<StatedCosts, CliError> {
        self.check_of_tree()?;
        self.costs_of_schedules(default)
    }

    /// Fails with exit code 2 for costs that trees do not have.
    pub(crate) fn check_of_tree(&self) -> Result<(), CliError> {
        let of_exchanges =
            [("--exchange-alpha", self.exchange_alpha), ("--exchange-beta", self.exchange_beta)];
        match of_exchanges.into_iter().find(|(_, cost)| cost.is_some()) {
            Some((option, _)) => Err(CliError::Usage(format!(
                "{option}: along a tree no process sends and receives at once; schedules, and what `optimize` and `compare` \
                 find for operations without a root and with --cut, may have costs of exchanges"
            ))),
            None => Ok(()),
        }
    }

    /// The costs of schedules, which may have exchanges, with `default` for those not given.
    ///
    /// # Errors
    /// [`CliError::Usage`] for NaN, infinite or negative costs, an overhead above alpha, costs of exchanges beside an
    /// overhead, or too few numbers in place of a machine; a machine file that cannot be read.
    pub(crate) fn costs_of_schedules(
        &self,
        default: Option<&StatedCosts>,
    ) -> Result<StatedCosts, CliError> {
        if let Some(source) = &self.machine {
            return Ok(machine::read(source)?.into());
        }
        self.check_units()?;
        let given = [self.alpha, self.beta, self.gamma].into_iter().flatten().count()
            + usize::from(self.have_units() && self.gamma.is_none());
        let default = match default {
            Some(machine @ StatedCosts::Machine(_)) if !self.are_given() => {
                return Ok(machine.clone());
            }
            Some(StatedCosts::Machine(_)) if given < 3 => {
                return Err(CliError::Usage(
                    "the costs of the tree file are in seconds; in their place give all of --alpha, --beta and \
                     --gamma, or --machine"
                        .into(),
                ));
            }
            Some(StatedCosts::Parameters(Costs::Homogeneous(costs))) => *costs,
            Some(_) | None => Homogeneous::new(100.0, 1.0, 1.0).expect("costs"),
        };
        let costs = Homogeneous::new(
            self.alpha.map_or(default.alpha(), Cost::value),
            self.beta.map_or(default.beta(), Cost::value),
            self.gamma
                .map_or(if self.have_units() { COPIES } else { default.gamma() }, Cost::value),
        )
        .map_err(|error| CliError::Usage(format!("--{}: {error}", error.parameter)))?;
        // Who states alpha anew states all of it.
        let overhead = match (self.overhead, self.alpha) {
            (Some(overhead), _) => overhead.value(),
            (None, Some(_)) => costs.alpha(),
            (None, None) => default.overhead(),
        };
        let costs = costs
            .with_overhead(overhead)
            .map_err(|error| CliError::Usage(format!("--overhead: {error}")))?;
        // As the overhead: who states a cost anew states it of exchanges, too.
        let of_exchange = |exchange: Option<Cost>, lone: Option<Cost>, stated: f64, own: f64| match (
            exchange,
            lone,
            default.has_exchange_costs(),
        ) {
            (Some(exchange), _, _) => exchange.value(),
            (None, None, true) => stated,
            (None, _, _) => own,
        };
        let alpha =
            of_exchange(self.exchange_alpha, self.alpha, default.exchange_alpha(), costs.alpha());
        let beta =
            of_exchange(self.exchange_beta, self.beta, default.exchange_beta(), costs.beta());
        let stated = |costs: Homogeneous| match self.have_units() {
            true => Machine::stated(costs).into(),
            false => StatedCosts::from(costs),
        };
        costs.with_exchange(alpha, beta).map(stated).map_err(|error| {
            CliError::Usage(match error {
                ExchangeError::Cost(CostError { parameter: "exchange alpha", .. }) => {
                    format!("--exchange-alpha: {error}")
                }
                ExchangeError::Cost(_) => format!("--exchange-beta: {error}"),
                ExchangeError::Overlaps { .. } => format!("--overhead: {error}"),
            })
        })
    }

    /// Says what the provenance of a machine that is given warns of, such as costs that are assumed, and the cost of copies
    /// that is assumed beside costs with units.
    pub(crate) fn note_warnings(&self, costs: &StatedCosts) {
        if self.have_units() && self.gamma.is_none() {
            note("--gamma is not given: copies at 10 GB/s are assumed");
        }
        let machine = costs.machine().filter(|_| self.machine.is_some());
        let warnings = machine.map(|machine| tuwtree_io::warnings(&machine.provenance));
        for warning in warnings.into_iter().flatten() {
            let name = &machine.expect("it has warnings").name;
            note(&format!("machine {name}: {warning}"));
        }
    }

    /// These costs with this alpha, if there is one.
    pub(crate) fn with_alpha(&self, alpha: Option<Cost>) -> CostArgs {
        CostArgs { alpha: alpha.or(self.alpha), ..self.clone() }
    }

    /// Prints the assumption where no costs are given.
    pub(crate) fn note_assumed(&self) {
        if !self.are_given() {
            note(
                "no costs are given: those of the papers are assumed, alpha = 100, beta = gamma = 1 (a message \
                 costs as much as 100 bytes). What is best depends on them: give --machine, or --alpha, --beta \
                 and --gamma",
            );
        }
    }

    /// True if any cost is given, by itself or by a machine.
    pub(crate) fn are_given(&self) -> bool {
        self.machine.is_some() || self.numbers().iter().any(Option::is_some)
    }

    /// True if the costs are given with units: times are then in seconds.
    fn have_units(&self) -> bool {
        self.numbers().iter().any(|cost| matches!(cost, Some(Cost::Seconds(_))))
    }

    fn numbers(&self) -> [Option<Cost>; 6] {
        let CostArgs { alpha, overhead, beta, gamma, exchange_alpha, exchange_beta, .. } = *self;
        [alpha, overhead, beta, gamma, exchange_alpha, exchange_beta]
    }

    /// Fails with exit code 2 where some costs have a unit and others do not; 0 is 0 in any unit.
    fn check_units(&self) -> Result<(), CliError> {
        let mut costs = vec![("--alpha", self.alpha)];
        let optional = [
            ("--overhead", self.overhead),
            ("--exchange-alpha", self.exchange_alpha),
            ("--exchange-beta", self.exchange_beta),
        ];
        costs.extend(optional.into_iter().filter(|(_, cost)| cost.is_some()));
        costs.push(("--beta", self.beta));
        costs.extend(self.gamma.is_some().then_some(("--gamma", self.gamma)));
        let with = costs.iter().find(|(_, cost)| matches!(cost, Some(Cost::Seconds(_))));
        let without = costs.iter().find(|(_, cost)| match cost {
            Some(Cost::Plain(value)) => *value != 0.0,
            Some(Cost::Seconds(_)) => false,
            None => true,
        });
        match (with, without) {
            (Some((with, _)), Some((without, _))) => Err(CliError::Usage(format!(
                "{with} has a unit, and {without} has none: state --alpha, --beta, and --gamma if it is \
                 given, with units, or none"
            ))),
            _ => Ok(()),
        }
    }

    /// Fails unless the costs are stated for this many processes.
    ///
    /// # Errors
    /// [`CliError::Failure`] with the machine's name.
    pub(crate) fn check_ranks(&self, costs: &StatedCosts, ranks: usize) -> Result<(), CliError> {
        costs.costs().check_ranks(ranks).map_err(|error| {
            CliError::Failure(match (&self.machine, costs.machine()) {
                (Some(source), _) => format!("{source}: {error}"),
                (None, Some(machine)) => format!("{}: {error}", machine.name),
                (None, None) => error.to_string(),
            })
        })
    }
}

/// Number of ports of every rank.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct PortArgs {
    /// Ports of each process: messages and copies performed at once [default: 1]
    ///
    /// For gather and scatter trees; see docs/ports.md.
    #[arg(long = "ports", value_name = "K", value_parser = ports_parser())]
    given: Option<Ports>,

    /// Let ports send and receive at once, in schedules without trees (see docs/collectives.md)
    #[arg(long, hide_short_help = true)]
    duplex: bool,
}

impl PortArgs {
    /// The number of ports.
    pub(crate) fn ports(self) -> Ports {
        self.given.unwrap_or_default()
    }

    /// The number of ports for a tree of this operation.
    ///
    /// # Errors
    /// [`CliError::Usage`] for several ports and an operation that moves one vector, and for duplex ones.
    pub(crate) fn for_tree(self, operation: Operation) -> Result<Ports, CliError> {
        if self.duplex && operation.is_rooted() {
            return Err(CliError::Usage(format!(
                "--duplex: along a tree, a port of {} sends or receives; schedules, operations without a root, and \
                 broadcast and reduce with --cut may have duplex ports",
                operation.name()
            )));
        }
        self.for_operation(operation)
    }

    /// The number of ports of this operation, along a tree or not.
    ///
    /// # Errors
    /// [`CliError::Usage`] for several ports and an operation that moves one vector.
    pub(crate) fn for_operation(self, operation: Operation) -> Result<Ports, CliError> {
        let ports = self.ports();
        match operation.is_irregular() && operation.is_rooted() || ports == Ports::ONE {
            true => Ok(ports),
            false => Err(CliError::Usage(format!(
                "--ports {ports}: {} has one port; gather and scatter may have several",
                operation.name()
            ))),
        }
    }

    /// True for duplex ports.
    pub(crate) fn duplex(self) -> bool {
        self.duplex
    }

    /// The schedule on duplex ports, if it is to be.
    pub(crate) fn on(self, schedule: Schedule) -> Schedule {
        if self.duplex { schedule.with_duplex(true) } else { schedule }
    }

    /// Fails with exit code 2 if ports are given for a schedule, whose actions name theirs.
    pub(crate) fn check_not_given(self, source: &Source) -> Result<(), CliError> {
        match self.given {
            None => Ok(()),
            Some(_) => Err(CliError::Usage(format!(
                "{source}: a schedule says which port does what; --ports is for trees"
            ))),
        }
    }
}

/// Parses a number of ports.
fn ports_parser() -> impl TypedValueParser<Value = Ports> {
    let numbers = clap::value_parser!(u16).range(1..);
    numbers.map(|number| Ports::new(number).expect("clap lets only 1 and more pass"))
}

/// Default number of processes: the machine's, but at most 2000 if any number will do.
pub(crate) fn default_ranks(costs: &Costs) -> usize {
    const MOST: usize = 2000;
    costs.ranks().unwrap_or_else(|| costs.room().map_or(MOST, |room| room.min(MOST)))
}

/// Value of `--root`: a rank or `best`.
pub(crate) fn parse_root(argument: &str) -> Result<Root, String> {
    match argument {
        "best" => Ok(Root::Best),
        rank => rank
            .parse::<Rank>()
            .map(Root::Given)
            .map_err(|_| format!("a rank from 0 to {}, or `best`", MOST_RANKS - 1)),
    }
}

/// Fails with exit code 2 unless the root is one of the processes.
pub(crate) fn check_root(root: Root, ranks: usize) -> Result<(), CliError> {
    match root {
        Root::Given(root) if root >= ranks => Err(CliError::Usage(format!(
            "--root: root {root} is outside 0..{ranks} ({ranks} processes)"
        ))),
        _ => Ok(()),
    }
}

/// Parses the name of a distribution; help lists all.
pub(crate) fn distribution_name_parser() -> impl TypedValueParser<Value = Distribution> {
    one_of(Distribution::ALL.to_vec(), |one| PossibleValue::new(one.name()))
}

/// Parses the name of a distribution; help lists all with their formulas.
pub(crate) fn distribution_parser() -> impl TypedValueParser<Value = Distribution> {
    named(Distribution::formula)
}

/// Parses the name of an operation, ours or one of MPI's.
pub(crate) fn operation_parser() -> impl TypedValueParser<Value = Operation> {
    one_of(Operation::ALL.to_vec(), |operation| {
        operation_value(operation).aliases(operation.other_names())
    })
}

/// Our name for an operation, with help.
pub(crate) fn operation_value(operation: Operation) -> PossibleValue {
    PossibleValue::new(operation.name()).help(operation.summary())
}

/// Parses one of a closed set by its name, each with a line of help.
pub(crate) fn named<T>(help: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: ClosedSet + Send + Sync,
{
    one_of(T::ALL.to_vec(), move |value| PossibleValue::new(value.name()).help(help(value)))
}

/// Parses one of a closed set by one of the names that it has as a value of clap.
pub(crate) fn one_of<T>(
    all: Vec<T>,
    value: impl Fn(T) -> PossibleValue + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.iter().copied().map(&value)).map(move |text| {
        let known = all.iter().copied().find(|&one| value(one).matches(&text, false));
        known.expect("clap lets only known names pass")
    })
}
