//! The document that holds measured times of a gather or scatter, every repetition of them, so that
//! whoever doubts a verdict can judge anew.
//!
//! A reader first checks [`Header`], then reads [`Measurements`], which refuses unknown fields.
//! `docs/formats.md` describes the format, `docs/measurements.schema.json` defines it.

use crate::blocks::{Blocks, ListedBlocks};
use crate::break_even::Repeated;
use crate::prediction::Prediction;
use crate::statistics::median;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use tuwtree_model::document::{Header, Machine, NumberList, Object, ShortList};
use tuwtree_model::{
    BlockSizes, ClosedSet, Construction, Distribution, DistributionParameters, Operation,
    Randomness, Rank,
};

/// The most repetitions of a series that are read: sixteen times as many as `bench` makes.
const MOST_REPETITIONS: usize = 1 << 24;

/// Times of one operation on one communicator: many problems, many algorithms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Measurements {
    setting: Setting,
    series: Vec<Series>,
}

/// What all times of a document have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// What was timed: [`Operation::Gather`], [`Operation::Scatter`] or [`Operation::Allgather`].
    pub operation: Operation,
    /// The program that measured, with its version.
    pub program: String,
    /// The MPI library, as it calls itself.
    pub library: String,
    /// The number of ranks, `p >= 1`.
    pub processors: usize,
    /// The root, below `p`; 0 where there is none.
    pub root: Rank,
    /// How many nodes there were, at least one.
    pub nodes: usize,
    /// Whether some node had more processes than cores to run them. Times then tell how an operating
    /// system shares cores, and nothing about a machine.
    pub oversubscribed: bool,
    /// How many bytes an element has, in which mean blocks are counted.
    pub element_bytes: u64,
    /// The parameter `rho` of the distributions.
    pub rho: u64,
    /// The seed of their random numbers (those of glibc).
    pub seed: u32,
    /// Calls before the first that was timed, of each algorithm for each problem.
    pub warm_up: usize,
    /// The costs that trees were planned with, if any were.
    pub machine: Option<Machine>,
    /// The block sizes that are drawn from no distribution, each under a name of its own.
    pub listed: Vec<ListedBlocks>,
}

/// The times of one algorithm for one problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Where the block sizes come from.
    pub blocks: Blocks,
    /// The mean block of the distribution, `b`, in elements; of listed blocks to the nearest element, at
    /// least 1.
    pub mean_block: u64,
    /// The sum of all blocks.
    pub total_bytes: u64,
    /// The largest block, up to which blocks are padded.
    pub largest_block_bytes: u64,
    /// The implementation that was timed.
    pub algorithm: Algorithm,
    /// What had to be done once, before the first call: planning and setting up requests.
    pub planning_seconds: f64,
    /// What the model says that it takes, if that is known.
    pub predicted: Option<Prediction>,
    /// How many repetitions began late at some rank, where starts were synchronized.
    pub late: Option<usize>,
    /// For each repetition, in order, the time until the last rank was done; above 0, at least one.
    pub seconds: Vec<f64>,
    /// The same while one rank begins late, by one time after the other; empty if that was not measured.
    pub delayed: Vec<Delayed>,
}

/// The times of an algorithm while one rank, which computes meanwhile, begins late.
#[derive(Clone, Debug, PartialEq)]
pub struct Delayed {
    /// Who begins late, not the root.
    pub rank: Rank,
    /// By how much, at least 0.
    pub delay_seconds: f64,
    /// For each repetition the time from the start of all others until the last rank was done; above 0, at
    /// least one.
    pub seconds: Vec<f64>,
    /// For each of these, how long the other ranks but the root were in the call, on average; at least 0.
    pub others_seconds: Vec<f64>,
}

/// What can be timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// The library's regular operation, all blocks padded to the largest, which everybody knows.
    Regular,
    /// The same after an allreduce of the largest size: what an application does that does not know
    /// it. The right-hand side of guideline GL2.
    Padded,
    /// The library's irregular operation.
    Native,
    /// The library's persistent irregular operation: start and wait.
    NativePersistent,
    /// The adaptive tree, constructed anew in each call by all processes together.
    Distributed,
    /// The adaptive tree, set up once through the interface of the libraries, the first operation on its
    /// communicator: with a private one, and agreement on all arguments.
    DistributedPersistent,
    /// What takes least by the machine's costs, the library's own call or a tree that calls before have
    /// planned: calls of the libraries by themselves, once a machine is known.
    Auto,
    /// A tree in which each process finds its own place in the first call, since all give all counts.
    Online,
    /// The same tree, set up once through the interface of the libraries, the first operation on its communicator:
    /// sizes are gathered by all.
    OnlinePersistent,
    /// A tree planned beforehand, with persistent requests: start and wait.
    Tree(Construction, Pace),
}

/// When a rank's messages may start.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    strum::VariantArray,
    strum::IntoStaticStr,
    strum::EnumString,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Pace {
    /// One after the other, as the cost model has it.
    Strict,
    /// As soon as they can.
    Eager,
}

impl Algorithm {
    /// All of them, the library's own first.
    pub fn all() -> impl Iterator<Item = Algorithm> {
        let trees = Construction::all().filter(|one| one.builds_trees());
        let trees = trees.flat_map(|construction| {
            Pace::all().map(move |pace| Algorithm::Tree(construction, pace))
        });
        [
            Algorithm::Regular,
            Algorithm::Padded,
            Algorithm::Native,
            Algorithm::NativePersistent,
            Algorithm::Distributed,
            Algorithm::DistributedPersistent,
            Algorithm::Auto,
            Algorithm::Online,
            Algorithm::OnlinePersistent,
        ]
        .into_iter()
        .chain(trees)
    }

    /// The name by which users and documents call the algorithm.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Algorithm::Regular => "regular".into(),
            Algorithm::Padded => "padded".into(),
            Algorithm::Native => "native".into(),
            Algorithm::NativePersistent => "native-persistent".into(),
            Algorithm::Distributed => "distributed".into(),
            Algorithm::DistributedPersistent => "distributed-persistent".into(),
            Algorithm::Auto => "auto".into(),
            Algorithm::Online => "online".into(),
            Algorithm::OnlinePersistent => "online-persistent".into(),
            Algorithm::Tree(construction, pace) => {
                format!("{}-{}", construction.name(), pace.name()).into()
            }
        }
    }

    /// The algorithm with this name.
    pub fn named(name: &str) -> Option<Algorithm> {
        Algorithm::all().find(|one| one.name() == name)
    }

    /// Whether it can perform the operation: trees and padded blocks are for gathers and scatters.
    pub fn is_for(self, operation: Operation) -> bool {
        operation.is_rooted()
            || matches!(self, Algorithm::Native | Algorithm::NativePersistent | Algorithm::Auto)
    }

    /// What it is, in words, for help texts and tables; `operation` is gather, scatter or allgather.
    pub fn summary(self, operation: Operation) -> &'static str {
        match (self, operation) {
            (Algorithm::Regular, Operation::Scatter) => "MPI_Scatter of padded blocks",
            (Algorithm::Regular, _) => "MPI_Gather of padded blocks",
            (Algorithm::Padded, Operation::Scatter) => "MPI_Allreduce, then padded MPI_Scatter",
            (Algorithm::Padded, _) => "MPI_Allreduce, then padded MPI_Gather",
            (Algorithm::Native, Operation::Allgather) => "MPI_Allgatherv",
            (Algorithm::NativePersistent, Operation::Allgather) => "MPI_Allgatherv_init, started",
            (Algorithm::Auto, Operation::Allgather) => "what is best, as each rank plans it",
            (Algorithm::Native, Operation::Scatter) => "MPI_Scatterv",
            (Algorithm::Native, _) => "MPI_Gatherv",
            (Algorithm::NativePersistent, Operation::Scatter) => "MPI_Scatterv_init, started",
            (Algorithm::NativePersistent, _) => "MPI_Gatherv_init, started",
            (Algorithm::Distributed, _) => "adaptive tree, constructed in each call",
            (Algorithm::DistributedPersistent, _) => "adaptive tree, all of its set-up counted",
            (Algorithm::Auto, _) => "what is best, as earlier calls have planned it",
            (Algorithm::Online, _) => "each rank finds its place in a tree, given all counts",
            (Algorithm::OnlinePersistent, _) => "the same, all of its set-up counted",
            (Algorithm::Tree(_, Pace::Strict), _) => "tree planned once, one message at a time",
            (Algorithm::Tree(_, Pace::Eager), _) => "tree planned once, messages at once",
        }
    }

    /// Whether it moves blocks of different sizes as they are.
    pub fn is_irregular(self) -> bool {
        !matches!(self, Algorithm::Regular | Algorithm::Padded)
    }
}

/// Why times are not a document.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeasurementsError {
    /// An operation other than gather, scatter and allgather.
    #[error("operation {operation:?} is not measured; gather, scatter and allgather are")]
    Operation {
        /// The name of the operation.
        operation: &'static str,
    },
    /// An algorithm that is not for the operation.
    #[error("{algorithm} is not for {operation}")]
    OtherAlgorithm {
        /// The name of the operation.
        operation: &'static str,
        /// The name of the algorithm.
        algorithm: String,
    },
    /// No processes, nodes or elements.
    #[error("\"{field}\" is 0; it is at least 1")]
    Zero {
        /// The name of the field in the document.
        field: &'static str,
    },
    /// A root that is no rank.
    #[error("root {root} is outside 0..{processors} ({processors} processes)")]
    Root {
        /// Not below the number of processes.
        root: Rank,
        /// How many processes there are.
        processors: usize,
    },
    /// Listed block sizes for another number of processes, or under a name that is there already.
    #[error("the block sizes listed as {name:?}: {reason}")]
    Listed {
        /// Their name.
        name: String,
        /// The fault, in words.
        reason: String,
    },
    /// Two series of the same problem and algorithm.
    #[error("series {series} is of the same problem and algorithm as one before it")]
    Twice {
        /// The second one, counted from 0.
        series: usize,
    },
    /// No times, or no positive ones.
    #[error("series {series}: {reason}")]
    Times {
        /// The series, counted from 0.
        series: usize,
        /// The fault of its times, in words.
        reason: String,
    },
}

impl Measurements {
    /// The name of the format.
    pub const FORMAT: &'static str = "tuwtree-measurements";
    /// The newest version.
    pub const VERSION: u64 = 5;

    /// The least version that can carry the times, which is the one that is written: 2 with predicted times
    /// or synchronized starts, 3 with block sizes that are listed, 4 with a rank that begins late, 5 with trees in
    /// which processes find their places.
    pub fn version(&self) -> u64 {
        let is_online =
            |one: &Series| matches!(one.algorithm, Algorithm::Online | Algorithm::OnlinePersistent);
        if self.setting.operation == Operation::Allgather || self.series.iter().any(is_online) {
            return 5;
        }
        if self.series.iter().any(|one| !one.delayed.is_empty()) {
            return 4;
        }
        if !self.setting.listed.is_empty() {
            return 3;
        }
        let is_newer = |one: &Series| {
            let algorithm =
                matches!(one.algorithm, Algorithm::DistributedPersistent | Algorithm::Auto);
            algorithm || one.predicted.is_some() || one.late.is_some()
        };
        if self.series.iter().any(is_newer) { 2 } else { 1 }
    }

    /// These times.
    ///
    /// # Errors
    /// [`MeasurementsError`].
    pub fn new(setting: Setting, series: Vec<Series>) -> Result<Measurements, MeasurementsError> {
        let operation = setting.operation.name();
        if !matches!(
            setting.operation,
            Operation::Gather | Operation::Scatter | Operation::Allgather
        ) {
            return Err(MeasurementsError::Operation { operation });
        }
        let other = series.iter().find(|one| !one.algorithm.is_for(setting.operation));
        if let Some(other) = other {
            let algorithm = other.algorithm.name().into_owned();
            return Err(MeasurementsError::OtherAlgorithm { operation, algorithm });
        }
        for (field, value) in [
            ("processors", setting.processors as u64),
            ("nodes", setting.nodes as u64),
            ("element_bytes", setting.element_bytes),
        ] {
            if value == 0 {
                return Err(MeasurementsError::Zero { field });
            }
        }
        let (root, processors) = (setting.root, setting.processors);
        if root >= processors {
            return Err(MeasurementsError::Root { root, processors });
        }
        setting.check_listed()?;
        for (index, one) in series.iter().enumerate() {
            one.check(&setting)
                .map_err(|reason| MeasurementsError::Times { series: index, reason })?;
            let is_same =
                |other: &Series| other.is_of(one.problem()) && other.algorithm == one.algorithm;
            if series[..index].iter().any(is_same) {
                return Err(MeasurementsError::Twice { series: index });
            }
        }
        Ok(Measurements { setting, series })
    }

    /// What all times have in common.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The times, in the order in which they were taken.
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    /// The times of an algorithm for a problem, if it was measured.
    pub fn of(&self, problem: (&Blocks, u64), algorithm: Algorithm) -> Option<&Series> {
        self.series.iter().find(|one| one.is_of(problem) && one.algorithm == algorithm)
    }

    /// Where block sizes come from, in the order of their first series.
    pub fn blocks(&self) -> Vec<&Blocks> {
        self.distinct(|one| &one.blocks)
    }

    /// The algorithms, in the order of their first series.
    pub fn algorithms(&self) -> Vec<Algorithm> {
        self.distinct(|one| one.algorithm)
    }

    /// The problems, each some blocks and their mean, in the order of their first series.
    pub fn problems(&self) -> Vec<(&Blocks, u64)> {
        self.distinct(Series::problem)
    }

    fn distinct<'a, T: PartialEq>(&'a self, of: impl Fn(&'a Series) -> T) -> Vec<T> {
        let mut found = Vec::new();
        for value in self.series.iter().map(of) {
            if !found.contains(&value) {
                found.push(value);
            }
        }
        found
    }

    /// What a reader must know before believing the times; `None` if there is nothing.
    pub fn warning(&self) -> Option<&'static str> {
        self.setting.oversubscribed.then_some(Setting::OVERSUBSCRIBED)
    }
}

impl Setting {
    /// What times are worth where processes share cores.
    pub const OVERSUBSCRIBED: &'static str = "more processes than cores on a node: these times tell \
        how an operating system shares cores, and nothing about a cluster";
}

impl Setting {
    fn check_listed(&self) -> Result<(), MeasurementsError> {
        for (index, ListedBlocks { name, sizes }) in self.listed.iter().enumerate() {
            let fault = |reason| MeasurementsError::Listed { name: name.clone(), reason };
            if sizes.processors() != self.processors {
                let (found, needed) = (sizes.processors(), self.processors);
                return Err(fault(format!("{found} blocks for {needed} processes")));
            }
            if self.listed[..index].iter().any(|other| other.name == *name) {
                return Err(fault("listed twice".into()));
            }
        }
        Ok(())
    }

    /// The block sizes listed under this name.
    fn listed(&self, name: &str) -> Option<&BlockSizes> {
        self.listed.iter().find(|one| one.name == name).map(|one| &one.sizes)
    }
}

impl Series {
    /// The problem: its blocks and their mean.
    pub fn problem(&self) -> (&Blocks, u64) {
        (&self.blocks, self.mean_block)
    }

    /// Whether it is of this problem.
    pub fn is_of(&self, problem: (&Blocks, u64)) -> bool {
        self.problem() == problem
    }

    fn check(&self, setting: &Setting) -> Result<(), String> {
        if let Blocks::Listed(name) = &self.blocks
            && setting.listed(name).is_none()
        {
            return Err(format!("no block sizes are listed as {name:?}"));
        }
        let is_time = |seconds: f64| seconds.is_finite() && seconds > 0.0;
        if self.mean_block == 0 {
            return Err("\"mean_block\" is 0; it is at least 1".into());
        }
        if !(self.planning_seconds.is_finite() && self.planning_seconds >= 0.0) {
            let seconds = self.planning_seconds;
            return Err(format!("\"planning_seconds\" is {seconds}; it is at least 0"));
        }
        let is_prediction = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
        if let Some(Prediction { planned_seconds, judged_seconds }) = self.predicted
            && !(is_prediction(judged_seconds) && planned_seconds.is_none_or(is_prediction))
        {
            return Err("a predicted time is negative, or no number".into());
        }
        if self.late.is_some_and(|late| late > self.seconds.len()) {
            return Err("more late starts than repetitions".into());
        }
        for one in &self.delayed {
            one.check(setting)?;
        }
        match self.seconds.iter().position(|&seconds| !is_time(seconds)) {
            Some(at) => {
                Err(format!("repetition {at} took {} s; times are above 0", self.seconds[at]))
            }
            None if self.seconds.is_empty() => Err("there are no times".into()),
            None => Ok(()),
        }
    }

    /// The blocks of the problem in bytes, as they are listed or drawn anew from the distribution; `None` if
    /// these are not the ones that were measured.
    pub fn block_sizes(&self, setting: &Setting) -> Option<BlockSizes> {
        let sizes = match &self.blocks {
            Blocks::Drawn(distribution) => self.drawn(*distribution, setting)?,
            Blocks::Listed(name) => setting.listed(name)?.clone(),
        };
        let measured = (self.total_bytes, self.largest_block_bytes);
        ((sizes.total(), sizes.iter().max()?) == measured).then_some(sizes)
    }

    fn drawn(&self, distribution: Distribution, setting: &Setting) -> Option<BlockSizes> {
        let scale = DistributionParameters::new(setting.processors, self.mean_block);
        let parameters = DistributionParameters { rho: setting.rho, ..scale };
        let random = Randomness::Glibc { seed: setting.seed };
        let elements = distribution.sizes(parameters, random).ok()?;
        let bytes = elements.iter().map(|elements| elements.checked_mul(setting.element_bytes));
        BlockSizes::new(bytes.collect::<Option<Vec<u64>>>()?).ok()
    }

    /// The median of all repetitions, in seconds.
    pub fn median(&self) -> f64 {
        median(&self.seconds).expect("a series has times")
    }

    /// The least of all repetitions, in seconds.
    pub fn minimum(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// What planning and each repetition take.
    pub fn plan(&self) -> Repeated {
        Repeated { planning_seconds: self.planning_seconds, repetition_seconds: self.median() }
    }
}

impl Delayed {
    fn check(&self, setting: &Setting) -> Result<(), String> {
        let (rank, root) = (self.rank, setting.root);
        if rank >= setting.processors || rank == root {
            return Err(format!("rank {rank} cannot begin late; any but the root, {root}, can"));
        }
        let is_at_least_0 = |seconds: &f64| seconds.is_finite() && *seconds >= 0.0;
        let are_times = self.seconds.iter().all(|&one| is_at_least_0(&one) && one > 0.0)
            && self.others_seconds.iter().chain([&self.delay_seconds]).all(is_at_least_0);
        let are_as_many = self.seconds.len() == self.others_seconds.len();
        match are_times && are_as_many && !self.seconds.is_empty() {
            true => Ok(()),
            false => Err("the times with a late rank are not as many positive numbers".into()),
        }
    }
}

/// The document as it stands in a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    format: String,
    version: u64,
    operation: String,
    program: String,
    library: String,
    processors: usize,
    root: Rank,
    nodes: usize,
    oversubscribed: bool,
    element_bytes: u64,
    rho: u64,
    seed: u32,
    warm_up: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine: Option<Object<Machine>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    listed: Vec<Object<ListedFields>>,
    series: Vec<Object<SeriesFields>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedFields {
    name: String,
    block_sizes_bytes: NumberList,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeriesFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    listed: Option<String>,
    mean_block: u64,
    total_bytes: u64,
    largest_block_bytes: u64,
    algorithm: String,
    planning_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    planned_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    judged_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    late_starts: Option<usize>,
    seconds: ShortList<f64, MOST_REPETITIONS>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    late_rank: Vec<Object<DelayedFields>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DelayedFields {
    rank: Rank,
    late_seconds: f64,
    seconds: ShortList<f64, MOST_REPETITIONS>,
    others_seconds: ShortList<f64, MOST_REPETITIONS>,
}

impl TryFrom<Fields> for Measurements {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Measurements, String> {
        let header = Header { format: fields.format, version: fields.version };
        header.check(Self::FORMAT, Self::VERSION).map_err(|error| error.to_string())?;
        let operation = one_of("operation", &fields.operation)?;
        let series: Result<Vec<Series>, String> = fields
            .series
            .into_iter()
            .enumerate()
            .map(|(index, Object(one))| {
                Series::try_from(one).map_err(|error| format!("series {index}: {error}"))
            })
            .collect();
        let setting = Setting {
            operation,
            program: fields.program,
            library: fields.library,
            processors: fields.processors,
            root: fields.root,
            nodes: fields.nodes,
            oversubscribed: fields.oversubscribed,
            element_bytes: fields.element_bytes,
            rho: fields.rho,
            seed: fields.seed,
            warm_up: fields.warm_up,
            machine: fields.machine.map(|Object(machine)| machine),
            listed: fields.listed.into_iter().map(listed).collect::<Result<_, _>>()?,
        };
        let read = Measurements::new(setting, series?).map_err(|error| error.to_string())?;
        match (read.version() > fields.version, read.version()) {
            (true, 5) => Err(format!(
                "version {} has no allgathers, and no \"online\" and \"online-persistent\"; they need version 5",
                fields.version
            )),
            (true, 4) => {
                Err(format!("version {} has no \"late_rank\"; it needs version 4", fields.version))
            }
            (true, 3) => Err(format!(
                "version {} has no \"listed\" block sizes; they need version 3",
                fields.version
            )),
            (true, _) => Err(
                "version 1 has no predicted times, late starts, \"distributed-persistent\" and \
                         \"auto\"; they need version 2"
                    .into(),
            ),
            (false, _) => Ok(read),
        }
    }
}

fn listed(Object(fields): Object<ListedFields>) -> Result<ListedBlocks, String> {
    let ListedFields { name, block_sizes_bytes: NumberList(sizes) } = fields;
    let sizes = BlockSizes::new(sizes)
        .map_err(|error| format!("the block sizes listed as {name:?}: {error}"))?;
    Ok(ListedBlocks { name, sizes })
}

impl TryFrom<SeriesFields> for Series {
    type Error = String;

    fn try_from(fields: SeriesFields) -> Result<Series, String> {
        Ok(Series {
            blocks: match (fields.distribution, fields.listed) {
                (Some(name), None) => Blocks::Drawn(one_of::<Distribution>("distribution", &name)?),
                (None, Some(name)) => Blocks::Listed(name),
                _ => return Err("either \"distribution\" or \"listed\" is needed".into()),
            },
            mean_block: fields.mean_block,
            total_bytes: fields.total_bytes,
            largest_block_bytes: fields.largest_block_bytes,
            algorithm: Algorithm::named(&fields.algorithm)
                .ok_or_else(|| unknown("algorithm", &fields.algorithm, &algorithm_names()))?,
            planning_seconds: fields.planning_seconds,
            predicted: match (fields.planned_seconds, fields.judged_seconds) {
                (planned_seconds, Some(judged_seconds)) => {
                    Some(Prediction { planned_seconds, judged_seconds })
                }
                (None, None) => None,
                (Some(_), None) => {
                    return Err("\"planned_seconds\" goes with \"judged_seconds\" only".into());
                }
            },
            late: fields.late_starts,
            seconds: fields.seconds.0,
            delayed: fields.late_rank.into_iter().map(|Object(one)| one.into()).collect(),
        })
    }
}

/// The one of a closed set with this name.
fn one_of<T: ClosedSet>(field: &str, name: &str) -> Result<T, String> {
    name.parse().map_err(|_| unknown(field, name, &T::names()))
}

fn unknown(field: &str, name: &str, names: &str) -> String {
    format!("\"{field}\" is {name:?}; one of {names} is needed")
}

/// The names of all algorithms, for messages.
fn algorithm_names() -> String {
    let names: Vec<_> = Algorithm::all().map(Algorithm::name).collect();
    names.join(", ")
}

impl From<Measurements> for Fields {
    fn from(measurements: Measurements) -> Fields {
        let version = measurements.version();
        let Measurements { setting, series } = measurements;
        Fields {
            format: Measurements::FORMAT.into(),
            version,
            operation: setting.operation.name().into(),
            program: setting.program,
            library: setting.library,
            processors: setting.processors,
            root: setting.root,
            nodes: setting.nodes,
            oversubscribed: setting.oversubscribed,
            element_bytes: setting.element_bytes,
            rho: setting.rho,
            seed: setting.seed,
            warm_up: setting.warm_up,
            machine: setting.machine.map(Object),
            listed: setting.listed.into_iter().map(|one| Object(one.into())).collect(),
            series: series.into_iter().map(|one| Object(one.into())).collect(),
        }
    }
}

impl From<ListedBlocks> for ListedFields {
    fn from(ListedBlocks { name, sizes }: ListedBlocks) -> ListedFields {
        ListedFields { name, block_sizes_bytes: NumberList(sizes.iter().collect()) }
    }
}

impl From<Series> for SeriesFields {
    fn from(series: Series) -> SeriesFields {
        let (distribution, listed) = match series.blocks {
            Blocks::Drawn(distribution) => (Some(distribution.name().to_owned()), None),
            Blocks::Listed(name) => (None, Some(name)),
        };
        SeriesFields {
            distribution,
            listed,
            mean_block: series.mean_block,
            total_bytes: series.total_bytes,
            largest_block_bytes: series.largest_block_bytes,
            algorithm: series.algorithm.name().into(),
            planning_seconds: series.planning_seconds,
            planned_seconds: series.predicted.and_then(|one| one.planned_seconds),
            judged_seconds: series.predicted.map(|one| one.judged_seconds),
            late_starts: series.late,
            seconds: ShortList(series.seconds),
            late_rank: series.delayed.into_iter().map(|one| Object(one.into())).collect(),
        }
    }
}

impl From<DelayedFields> for Delayed {
    fn from(fields: DelayedFields) -> Delayed {
        let DelayedFields { rank, late_seconds, seconds, others_seconds } = fields;
        let (seconds, others_seconds) = (seconds.0, others_seconds.0);
        Delayed { rank, delay_seconds: late_seconds, seconds, others_seconds }
    }
}

impl From<Delayed> for DelayedFields {
    fn from(delayed: Delayed) -> DelayedFields {
        let Delayed { rank, delay_seconds, seconds, others_seconds } = delayed;
        let [seconds, others_seconds] = [seconds, others_seconds].map(ShortList);
        DelayedFields { rank, late_seconds: delay_seconds, seconds, others_seconds }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn setting() -> Setting {
        Setting {
            operation: Operation::Gather,
            program: "a program 1.0".into(),
            library: "a library 4.0".into(),
            processors: 4,
            root: 2,
            nodes: 1,
            oversubscribed: true,
            element_bytes: 4,
            rho: 5,
            seed: 1,
            warm_up: 10,
            machine: None,
            listed: Vec::new(),
        }
    }

    pub(crate) fn series(algorithm: Algorithm, seconds: &[f64]) -> Series {
        Series {
            blocks: Distribution::Same.into(),
            mean_block: 10,
            total_bytes: 160,
            largest_block_bytes: 40,
            algorithm,
            planning_seconds: 0.0,
            predicted: None,
            late: None,
            seconds: seconds.into(),
            delayed: Vec::new(),
        }
    }

    #[test]
    fn a_document_reads_as_it_was_written() {
        let all: Vec<Series> =
            Algorithm::all().map(|algorithm| series(algorithm, &[0.5, 0.25])).collect();
        let document = Measurements::new(setting(), all).unwrap();
        let text = serde_json::to_string(&document).unwrap();
        assert!(text.starts_with(r#"{"format":"tuwtree-measurements","version":2,"operation":"#));
        assert_eq!(serde_json::from_str::<Measurements>(&text).unwrap(), document);
        assert_eq!(document.algorithms(), Algorithm::all().collect::<Vec<_>>());
        let problem = (&Blocks::Drawn(Distribution::Same), 10);
        assert_eq!(document.problems(), [problem]);
        let native = document.of(problem, Algorithm::Native).unwrap();
        assert_eq!((native.minimum(), native.median()), (0.25, 0.375));
    }

    #[test]
    fn trees_in_which_processes_find_their_places_take_version_five() {
        for algorithm in [Algorithm::Online, Algorithm::OnlinePersistent] {
            let document =
                Measurements::new(setting(), vec![series(algorithm, &[0.5, 0.25])]).unwrap();
            assert_eq!(document.version(), 5);
            let text = serde_json::to_string(&document).unwrap();
            assert_eq!(serde_json::from_str::<Measurements>(&text).unwrap(), document);
            let error = text.replace("\"version\":5", "\"version\":4");
            let error = serde_json::from_str::<Measurements>(&error).unwrap_err().to_string();
            assert!(error.contains("version 4 has no \"online\""), "{error}");
        }
    }

    #[test]
    fn predicted_times_and_late_starts_take_version_two() {
        let old = series(Algorithm::Native, &[0.5, 0.25]);
        let predicted = Prediction { planned_seconds: Some(0.5), judged_seconds: 0.25 };
        let new = Series { predicted: Some(predicted), late: Some(1), ..old.clone() };
        for (one, version) in [(old, 1), (new, 2)] {
            let document = Measurements::new(setting(), vec![one]).unwrap();
            assert_eq!(document.version(), version);
            let text = serde_json::to_string(&document).unwrap();
            assert_eq!(serde_json::from_str::<Measurements>(&text).unwrap(), document);
            let claimed = text.replace("\"version\":2", "\"version\":1");
            assert_eq!(serde_json::from_str::<Measurements>(&claimed).is_ok(), version == 1);
        }
    }

    #[test]
    fn blocks_are_made_anew_if_they_are_those_that_were_measured() {
        let one = series(Algorithm::Native, &[0.5]);
        let sizes = one.block_sizes(&setting()).unwrap();
        assert_eq!(sizes.iter().collect::<Vec<_>>(), [40; 4]);
        assert_eq!(Series { total_bytes: 161, ..one }.block_sizes(&setting()), None);
    }

    #[test]
    fn listed_blocks_are_kept_and_take_version_three() {
        let sizes = BlockSizes::new([1, 0, 7, 2]).unwrap();
        let one = Series {
            blocks: Blocks::Listed("counts.txt".into()),
            mean_block: crate::mean_in_elements(&sizes, 4),
            total_bytes: 10,
            largest_block_bytes: 7,
            ..series(Algorithm::Native, &[0.5])
        };
        let listed = vec![ListedBlocks { name: "counts.txt".into(), sizes: sizes.clone() }];
        let setting = Setting { listed, ..setting() };
        let document = Measurements::new(setting, vec![one]).unwrap();
        let text = serde_json::to_string(&document).unwrap();
        assert!(text.contains(r#""version":3"#) && text.contains(r#""listed":"counts.txt""#));
        assert_eq!(serde_json::from_str::<Measurements>(&text).unwrap(), document);
        assert_eq!(document.series()[0].block_sizes(document.setting()), Some(sizes));
        assert_eq!(document.series()[0].mean_block, 1);
        for (from, to, message) in [
            ("\"version\":3", "\"version\":2", "version 2 has no \"listed\" block sizes"),
            ("[1,0,7,2]", "[1,0,7]", "3 blocks for 4 processes"),
            (
                "\"listed\":[",
                "\"listed\":[{\"name\":\"counts.txt\",\"block_sizes_bytes\":[0,0,0,0]},",
                "listed twice",
            ),
        ] {
            let bad = text.replace(from, to);
            assert_ne!(bad, text);
            let error = serde_json::from_str::<Measurements>(&bad).unwrap_err().to_string();
            assert!(error.contains(message), "{bad}: {error}");
        }
    }

    #[test]
    fn times_with_a_late_rank_are_kept_and_take_version_four() {
        let delayed = Delayed {
            rank: 1,
            delay_seconds: 0.25,
            seconds: vec![0.75],
            others_seconds: vec![0.125],
        };
        let one = Series { delayed: vec![delayed], ..series(Algorithm::Native, &[0.5]) };
        let document = Measurements::new(setting(), vec![one]).unwrap();
        let text = serde_json::to_string(&document).unwrap();
        assert!(text.contains(r#""version":4"#) && text.contains(r#""late_rank":[{"rank":1,"#));
        assert_eq!(serde_json::from_str::<Measurements>(&text).unwrap(), document);
        for (from, to, message) in [
            ("\"version\":4", "\"version\":3", "version 3 has no \"late_rank\""),
            ("\"rank\":1", "\"rank\":2", "rank 2 cannot begin late; any but the root, 2, can"),
            ("\"rank\":1", "\"rank\":4", "rank 4 cannot begin late"),
            ("[0.125]", "[]", "not as many positive numbers"),
            ("[0.75]", "[0]", "not as many positive numbers"),
        ] {
            let bad = text.replace(from, to);
            assert_ne!(bad, text);
            let error = serde_json::from_str::<Measurements>(&bad).unwrap_err().to_string();
            assert!(error.contains(message), "{bad}: {error}");
        }
    }

    #[test]
    fn what_is_no_document_is_refused_by_name() {
        let one = series(Algorithm::Native, &[0.5]);
        let good = Measurements::new(setting(), vec![one]).unwrap();
        let good = serde_json::to_string(&good).unwrap();
        for (from, to, message) in [
            ("\"version\":1", "\"version\":6", "version 6 of format"),
            ("\"distribution\":\"same\",", "", "either \"distribution\" or \"listed\" is needed"),
            ("\"distribution\":\"same\"", "\"listed\":\"a\"", "no block sizes are listed as \"a\""),
            ("\"root\":2", "\"root\":4", "root 4 is outside 0..4"),
            ("\"nodes\":1", "\"nodes\":0", "\"nodes\" is 0"),
            ("\"nodes\":1", "\"nodes\":1,\"colour\":1", "unknown field `colour`"),
            ("\"gather\"", "\"reduce\"", "operation \"reduce\" is not measured"),
            ("\"gather\"", "\"allgather\"", "version 1 has no allgathers"),
            ("\"gather\"", "\"sort\"", "\"operation\" is \"sort\"; one of gather, scatter"),
            ("\"native\"", "\"magic\"", "series 0: \"algorithm\" is \"magic\"; one of regular"),
            ("\"same\"", "\"other\"", "series 0: \"distribution\" is \"other\""),
            ("[0.5]", "[0.5,0]", "series 0: repetition 1 took 0 s"),
            ("[0.5]", "[]", "series 0: there are no times"),
            ("\"mean_block\":10", "\"mean_block\":0", "\"mean_block\" is 0"),
            ("\"planning_seconds\":0.0", "\"planning_seconds\":-1", "\"planning_seconds\" is -1"),
        ] {
            let bad = good.replace(from, to);
            assert_ne!(bad, good);
            let error = serde_json::from_str::<Measurements>(&bad).unwrap_err().to_string();
            assert!(error.contains(message), "{bad}: {error}");
        }
        let twice = vec![series(Algorithm::Native, &[0.5]), series(Algorithm::Native, &[0.7])];
        let error = Measurements::new(setting(), twice).unwrap_err();
        assert_eq!(error, MeasurementsError::Twice { series: 1 });
    }
}
