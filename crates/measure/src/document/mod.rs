//! The document of measured times of an operation, every repetition of them, so that readers can
//! judge anew.
//!
//! A reader first checks [`Header`](tuwtree_model::document::Header), then reads [`Measurements`], which refuses unknown fields.
//! `docs/formats.md` describes the format, `docs/measurements.schema.json` defines it.

mod algorithm;
mod fields;
#[cfg(test)]
pub(crate) mod tests;

use crate::blocks::{Blocks, ListedBlocks};
use crate::break_even::Repeated;
use crate::prediction::Prediction;
use crate::repetitions::{LateStarts, Repetitions};
use fields::Fields;
pub(crate) use fields::{named_algorithm, one_of};
use serde::{Deserialize, Serialize};
use tuwtree_model::document::Machine;
use tuwtree_model::{
    BlockSizes, ClosedSet, Distribution, DistributionParameters, Operation, PayloadKind,
    Randomness, Rank,
};

pub use algorithm::{Algorithm, Pace};

/// Times of one operation on one communicator: many problems, many algorithms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Measurements {
    setting: Setting,
    series: Vec<Series>,
}

/// Common properties of all times of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The timed operation. In an alltoall each rank has its block for each rank; an operation on a
    /// vector has one block, the vector, under [`Distribution::Same`](tuwtree_model::Distribution::Same).
    pub operation: Operation,
    /// The program that measured, with its version.
    pub program: String,
    /// The MPI library, as it calls itself.
    pub library: String,
    /// The number of ranks, `p >= 1`.
    pub ranks: usize,
    /// The root, below `p`; 0 for rootless operations.
    pub root: Rank,
    /// Of an intergroup allgather, how many of the ranks are the second group, the last ones, fewer than `p` and at least
    /// one; else 0.
    pub remote_ranks: usize,
    /// Number of nodes, at least one.
    pub nodes: usize,
    /// True if some node had more processes than cores. Times then tell how an operating system shares cores, and
    /// nothing about a machine.
    pub oversubscribed: bool,
    /// Bytes of an element, the unit of mean blocks.
    pub element_bytes: u64,
    /// The parameter `rho` of the distributions.
    pub rho: u64,
    /// The seed of their random numbers (glibc's).
    pub seed: u32,
    /// Calls before the first that was timed, of each algorithm for each problem.
    pub warm_up: usize,
    /// The costs that trees were planned with, if any were.
    pub machine: Option<Machine>,
    /// The block sizes that are drawn from no distribution, each under a name of its own.
    pub listed: Vec<ListedBlocks>,
}

impl Setting {
    /// The root or the groups behind the operation's name: `, root 3`; nothing where there are none.
    pub fn root_phrase(&self) -> String {
        match (self.operation.is_rooted(), self.remote_ranks) {
            (true, _) => format!(", root {}", self.root),
            (false, 0) => String::new(),
            (false, remote) => format!(", groups of {} and {remote}", self.ranks - remote),
        }
    }
}

/// The times of one algorithm for one problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Source of the block sizes.
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
    /// Seconds before the first call: planning and setting up requests.
    pub planning_seconds: f64,
    /// Time predicted by the model, if known.
    pub predicted: Option<Prediction>,
    /// The times of the repetitions.
    pub times: Repetitions,
    /// Times while one rank begins late, one delay after the other; empty if not measured.
    pub delayed: Vec<Delayed>,
}

/// The times of an algorithm while one rank, which computes meanwhile, begins late.
#[derive(Clone, Debug, PartialEq)]
pub struct Delayed {
    /// The late rank, not the root.
    pub rank: Rank,
    /// By how much, at least 0.
    pub delay_seconds: f64,
    /// For each repetition the time from the start of all others until the last rank was done; above 0, at
    /// least one.
    pub seconds: Vec<f64>,
    /// For each of these, how long the other ranks but the root were in the call, on average; at least 0.
    pub others_seconds: Vec<f64>,
}

/// Times that are not a document.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeasurementsError {
    /// Groups of no intergroup allgather.
    #[error("{operation} over {ranks} processes with {remote} of them in a second group")]
    Groups {
        /// The name of the operation.
        operation: &'static str,
        /// Number of processes.
        ranks: usize,
        /// Number of processes in the second group.
        remote: usize,
    },
    /// A vector with other blocks than the vector.
    #[error(
        "series {series}: a vector is one block, \"same\", with \"total_bytes\" as \"largest_block_bytes\""
    )]
    Vector {
        /// The series, counted from 0.
        series: usize,
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
    #[error("root {root} is outside 0..{ranks} ({ranks} processes)")]
    Root {
        /// Not below the number of processes.
        root: Rank,
        /// Number of processes.
        ranks: usize,
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
    /// The version that is written; older ones are read, newer ones are refused.
    pub const VERSION: u64 = 9;

    /// The least version with all that the times need: 2 with predicted times
    /// or synchronized starts, 3 with block sizes that are listed, 4 with a rank that begins late, 5 with trees in
    /// which processes find their places, 6 of an alltoall, 7 of a broadcast, a reduction, an allreduce and an intergroup
    /// allgather, or with schedules of an operation without a root, 9 with a list of late repetitions.
    pub(super) fn oldest_version(&self) -> u64 {
        if self.series.iter().any(|one| matches!(one.times.late, LateStarts::Listed(_))) {
            return 9;
        }
        let is_online =
            |one: &Series| matches!(one.algorithm, Algorithm::Online | Algorithm::OnlinePersistent);
        let operation = self.setting.operation;
        let is_old = operation.takes_blocks();
        let is_planned = |one: &Series| matches!(one.algorithm, Algorithm::Planned(..));
        if !is_old || !operation.is_rooted() && self.series.iter().any(is_planned) {
            return 7;
        }
        if operation.payload_kind() == PayloadKind::Messages {
            return 6;
        }
        if !operation.is_rooted() || self.series.iter().any(is_online) {
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
            algorithm || one.predicted.is_some() || one.times.late != LateStarts::Unknown
        };
        if self.series.iter().any(is_newer) { 2 } else { 1 }
    }

    /// These times.
    ///
    /// # Errors
    /// [`MeasurementsError`].
    pub fn new(setting: Setting, series: Vec<Series>) -> Result<Measurements, MeasurementsError> {
        let operation = setting.operation.name();
        let other = series.iter().find(|one| !one.algorithm.is_for(setting.operation));
        if let Some(other) = other {
            let algorithm = other.algorithm.name().into_owned();
            return Err(MeasurementsError::OtherAlgorithm { operation, algorithm });
        }
        for (field, value) in [
            ("ranks", setting.ranks as u64),
            ("nodes", setting.nodes as u64),
            ("element_bytes", setting.element_bytes),
        ] {
            if value == 0 {
                return Err(MeasurementsError::Zero { field });
            }
        }
        let (root, ranks) = (setting.root, setting.ranks);
        if root >= ranks {
            return Err(MeasurementsError::Root { root, ranks });
        }
        let remote = setting.remote_ranks;
        let has_groups = setting.operation == Operation::IntergroupAllgather;
        if has_groups != (1..ranks).contains(&remote) || !has_groups && remote > 0 {
            return Err(MeasurementsError::Groups { operation, ranks, remote });
        }
        setting.check_listed()?;
        let is_of_vector = setting.operation.payload_kind() == PayloadKind::Vector;
        let is_vector = |one: &Series| {
            one.blocks == Blocks::Drawn(Distribution::Same)
                && one.total_bytes == one.largest_block_bytes
        };
        if let Some(series) = series.iter().position(|one| is_of_vector && !is_vector(one)) {
            return Err(MeasurementsError::Vector { series });
        }
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

    /// Common properties of all times.
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

    /// Sources of block sizes, in the order of their first series.
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

    /// A warning for readers of the times; `None` if there is none.
    pub fn warning(&self) -> Option<&'static str> {
        self.setting.oversubscribed.then_some(Setting::OVERSUBSCRIBED)
    }
}

impl Setting {
    /// Warning about times of processes that share cores.
    pub const OVERSUBSCRIBED: &'static str = "more processes than cores on a node: these times tell \
        how an operating system shares cores, and nothing about a cluster";
}

impl Setting {
    fn check_listed(&self) -> Result<(), MeasurementsError> {
        for (index, ListedBlocks { name, sizes }) in self.listed.iter().enumerate() {
            let fault = |reason| MeasurementsError::Listed { name: name.clone(), reason };
            if sizes.ranks() != self.ranks {
                let (found, needed) = (sizes.ranks(), self.ranks);
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

    /// True if it is of this problem.
    pub fn is_of(&self, problem: (&Blocks, u64)) -> bool {
        self.problem() == problem
    }

    fn check(&self, setting: &Setting) -> Result<(), String> {
        if let Blocks::Listed(name) = &self.blocks
            && setting.listed(name).is_none()
        {
            return Err(format!("no block sizes are listed as {name:?}"));
        }
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
        for one in &self.delayed {
            one.check(setting)?;
        }
        self.times.check()
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
        let scale = DistributionParameters::new(setting.ranks, self.mean_block);
        let parameters = DistributionParameters { rho: setting.rho, ..scale };
        let random = Randomness::Glibc { seed: setting.seed };
        let elements = distribution.sizes(parameters, random).ok()?;
        let bytes = elements.iter().map(|elements| elements.checked_mul(setting.element_bytes));
        BlockSizes::new(bytes.collect::<Option<Vec<u64>>>()?).ok()
    }

    /// Planning time, and time of each repetition.
    pub fn plan(&self) -> Repeated {
        Repeated {
            planning_seconds: self.planning_seconds,
            repetition_seconds: self.times.median(),
        }
    }
}

impl Delayed {
    fn check(&self, setting: &Setting) -> Result<(), String> {
        let (rank, root) = (self.rank, setting.root);
        if rank >= setting.ranks || rank == root {
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
