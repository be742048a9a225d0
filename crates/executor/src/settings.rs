//! Settings of collective operations on a communicator: algorithms and their parameters.
//!
//! The settings come from the environment of the communicator's first rank, which is the one
//! whose environment and files count, and from what the program says afterwards. They are the
//! same at all ranks.

use crate::play::Mode;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tuwtree_binding::{Communicator, MpiError, library_version};
use tuwtree_io::learned::{self, CallClass, LearnedSeconds, LearnedTimes};
use tuwtree_io::{FileError, Source, machine, schedule};
use tuwtree_model::document::Machine;
use tuwtree_model::quantity::parse_bytes;
use tuwtree_model::{ClosedSet, Operation};
pub use tuwtree_plan::local_choice::{RootlessAlgorithm, RootlessChoice};

/// Algorithm of gathers and scatters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Algorithm {
    /// The adaptive tree that does best where copies cost nothing (TUW Lemma 1), built by the
    /// ranks themselves.
    AdaptiveGatherTime,
    /// The adaptive tree that does best where a copy costs as much as a transmission (TUW Lemma 4).
    AdaptiveDataSize,
    /// The adaptive tree by the completion times that a machine's costs give.
    AdaptiveCompletionTime,
    /// The tree in which each rank that knows all sizes finds its own place; where the root alone knows
    /// them, it finds all places, and hands them out.
    DeadlineOnline,
    /// Every block straight to or from the root.
    Linear,
    /// Whatever the MPI library does.
    Native,
    /// A given schedule.
    Schedule,
    /// Least time by a machine's costs, for the given sizes: the default where a machine is known.
    Auto,
}

impl FromStr for Algorithm {
    type Err = SettingError;

    /// The algorithm of this name; `adaptive` alone is the first one.
    fn from_str(name: &str) -> Result<Algorithm, SettingError> {
        if name == "adaptive" {
            return Ok(Algorithm::AdaptiveGatherTime);
        }
        by_name(name).ok_or_else(|| SettingError::Value {
            setting: Setting::Algorithm,
            value: name.to_owned(),
            allowed: format!("adaptive, {}", Algorithm::names()),
        })
    }
}

/// The mode of this name.
fn mode_from(name: &str) -> Result<Mode, SettingError> {
    by_name(name).ok_or_else(|| SettingError::Value {
        setting: Setting::Mode,
        value: name.to_owned(),
        allowed: Mode::names(),
    })
}

/// The choice that is written so, for the operation of this setting.
fn rootless_from(setting: Setting, text: &str) -> Result<RootlessChoice, SettingError> {
    let (name, number) =
        text.split_once(':').map_or((text, None), |(name, number)| (name, Some(number)));
    let stated: Option<Option<NonZeroU16>> = number.map(str::parse).transpose().ok();
    let is_for = |one: RootlessAlgorithm| match one {
        RootlessAlgorithm::Auto | RootlessAlgorithm::Native => true,
        RootlessAlgorithm::Linear | RootlessAlgorithm::Bruck | RootlessAlgorithm::NodePairs => {
            setting == Setting::Alltoall
        }
        RootlessAlgorithm::Ring => setting == Setting::Allgather,
        RootlessAlgorithm::Circulant
        | RootlessAlgorithm::BruckPostal
        | RootlessAlgorithm::BruckBalanced
        | RootlessAlgorithm::Lanes
        | RootlessAlgorithm::NodeAll
        | RootlessAlgorithm::CirculantPieces
        | RootlessAlgorithm::CirculantBalanced => setting != Setting::Alltoall,
    };
    let is_allowed = |one: RootlessAlgorithm, number: Option<NonZeroU16>| match number {
        None => true,
        Some(number) => one.least_number().is_some_and(|least| number.get() >= least),
    };
    let algorithm = by_name::<RootlessAlgorithm>(name).filter(|&one| is_for(one));
    match algorithm.zip(stated).filter(|&(one, number)| is_allowed(one, number)) {
        Some((algorithm, number)) => Ok(RootlessChoice { algorithm, number }),
        None => Err(SettingError::Value {
            setting,
            value: text.to_owned(),
            allowed: {
                let all = || RootlessAlgorithm::all().filter(|&one| is_for(one));
                let numbered = all().filter(|one| one.least_number().is_some());
                let names = all().map(|one| one.name().to_owned());
                let numbered = numbered.map(|one| format!("{}:N", one.name()));
                names.chain(numbered).collect::<Vec<String>>().join(", ")
            },
        }),
    }
}

fn by_name<T: ClosedSet>(name: &str) -> Option<T> {
    T::all().find(|one| one.name() == name)
}

/// A setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Setting {
    /// The [`Algorithm`].
    Algorithm,
    /// The [`Mode`].
    Mode,
    /// The name of a machine that is built in, or the file of a machine document.
    Machine,
    /// The file of a schedule document.
    Schedule,
    /// Most bytes of others' data that a process passes on.
    MostPassed,
    /// Most bytes under way to a process at once in a gather.
    Window,
    /// Trials of the library's own call by `auto`: yes or no.
    Trial,
    /// The file of times that trials have measured in earlier runs.
    Learn,
    /// The [`RootlessChoice`] for allgathers.
    Allgather,
    /// The [`RootlessChoice`] for reduce-scatters.
    ReduceScatter,
    /// The [`RootlessChoice`] for alltoalls.
    Alltoall,
}

impl Setting {
    /// The environment variable that has its value.
    pub fn variable(self) -> &'static str {
        match self {
            Setting::Algorithm => "TUWTREE_ALGORITHM",
            Setting::Mode => "TUWTREE_MODE",
            Setting::Machine => "TUWTREE_MACHINE",
            Setting::Schedule => "TUWTREE_SCHEDULE",
            Setting::MostPassed => "TUWTREE_MOST_PASSED",
            Setting::Window => "TUWTREE_WINDOW",
            Setting::Trial => "TUWTREE_TRIAL",
            Setting::Learn => "TUWTREE_LEARN",
            Setting::Allgather => "TUWTREE_ALLGATHER",
            Setting::ReduceScatter => "TUWTREE_REDUCE_SCATTER",
            Setting::Alltoall => "TUWTREE_ALLTOALL",
        }
    }

    /// The operation without a root whose algorithm it states, of the same name.
    fn operation(self) -> Option<Operation> {
        self.name().parse().ok()
    }

    /// The settings of operations without a root, with these.
    fn rootless() -> impl Iterator<Item = (Setting, Operation)> {
        Setting::all().filter_map(|one| Some((one, one.operation()?)))
    }
}

impl FromStr for Setting {
    type Err = SettingError;

    fn from_str(name: &str) -> Result<Setting, SettingError> {
        by_name(name)
            .ok_or_else(|| SettingError::Name { name: name.to_owned(), allowed: Setting::names() })
    }
}

/// Reason for which a setting is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// No such setting.
    #[error("there is no setting {name:?}; there are {allowed}")]
    Name {
        /// The name that was given, which is none.
        name: String,
        /// Allowed names.
        allowed: String,
    },
    /// No such value.
    #[error("{} {value:?}: one of {allowed} is allowed", .setting.variable())]
    Value {
        /// The setting.
        setting: Setting,
        /// The value that was given, which it does not take.
        value: String,
        /// Allowed names.
        allowed: String,
    },
    /// No number of bytes.
    #[error("{} {value:?}: {reason}", .setting.variable())]
    Bytes {
        /// The setting.
        setting: Setting,
        /// The value that was given.
        value: String,
        /// Allowed values.
        reason: String,
    },
    /// A file that cannot be read, or is no such document.
    #[error("{} {path:?}: {reason}", .setting.variable())]
    File {
        /// Kind of the file: a machine, a schedule or learned times.
        setting: Setting,
        /// The path that was given.
        path: String,
        /// Reason for which the file cannot be read or used.
        reason: String,
    },
    /// Something else is needed.
    #[error(
        "the algorithm {} needs a {}: set {}", .algorithm.name(), .needed.name(), .needed.variable()
    )]
    Missing {
        /// The algorithm that was asked for.
        algorithm: Algorithm,
        /// The setting without which it cannot plan.
        needed: Setting,
    },
    /// A machine for others.
    #[error("{} is for {machine} processes; the communicator has {ranks}", Setting::Machine.variable())]
    Ranks {
        /// Number of the machine's ranks.
        machine: usize,
        /// Number of the communicator's ranks.
        ranks: usize,
    },
    /// Rank with other settings.
    #[error("processes do not set the same: {name} is {first:?} at rank 0, {own:?} at {rank}")]
    Differ {
        /// The name of the setting that differs.
        name: String,
        /// Its value at rank 0.
        first: String,
        /// A rank that has another value.
        rank: usize,
        /// The value at `rank`.
        own: String,
    },
}

/// Settings of collective operations on a communicator.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Stated algorithm, for trees or the library.
    pub stated: Option<Algorithm>,
    /// Concurrent or successive messages to several children.
    pub mode: Mode,
    /// The machine, for algorithms that need costs.
    pub machine: Option<Machine>,
    /// The file of the schedule, which the root reads.
    pub schedule: Option<PathBuf>,
    /// Most bytes of others' data at a process other than the root.
    pub most_passed: u64,
    /// Most bytes under way to a process at once in a gather with a chosen tree, for switches with small buffers;
    /// `None` for the machine's own ([`Settings::window`]).
    pub window: Option<u64>,
    /// True if `auto` gives some calls to the library, and all of them if that is faster.
    pub is_trying: bool,
    /// Times in earlier runs, of this MPI library and as many ranks.
    pub learned: LearnedTimes,
    /// Stated algorithms of operations without a root.
    pub stated_rootless: BTreeMap<Operation, RootlessChoice>,
}

/// A tree saves latency and overhead, which are negligible for this much data.
const MOST_PASSED: u64 = 1 << 26;

impl Default for Settings {
    /// No algorithm is stated, and as much goes at once as can.
    fn default() -> Settings {
        Settings {
            stated: None,
            mode: Mode::Eager,
            machine: None,
            schedule: None,
            most_passed: MOST_PASSED,
            window: None,
            is_trying: true,
            learned: LearnedTimes::new(),
            stated_rootless: BTreeMap::new(),
        }
    }
}

/// Settings on their way to the other ranks.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Stated {
    algorithm: Option<String>,
    mode: Option<String>,
    /// The machine's file, and its contents.
    machine: Option<(String, Machine)>,
    schedule: Option<String>,
    most_passed: Option<u64>,
    window: Option<u64>,
    is_trying: Option<bool>,
    learned: Vec<(CallClass, LearnedSeconds)>,
    rootless: BTreeMap<Operation, String>,
}

/// The number of bytes that a setting states.
fn bytes(setting: Setting, value: String) -> Result<u64, SettingError> {
    parse_bytes(&value).map_err(|reason| SettingError::Bytes { setting, value, reason })
}

/// The answer that a setting states.
fn yes_or_no(setting: Setting, value: String) -> Result<bool, SettingError> {
    match value.as_str() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(SettingError::Value { setting, value, allowed: "yes, no".to_owned() }),
    }
}

impl Stated {
    fn state(&mut self, setting: Setting, value: &str) -> Result<(), SettingError> {
        let value = value.to_owned();
        match setting {
            Setting::Algorithm => self.algorithm = Some(value),
            Setting::Mode => self.mode = Some(value),
            Setting::Machine => {
                let source = match machine::named(&value) {
                    // A job has no standard input that is the first process's alone.
                    Ok(Source::StandardInput) | Err(_) => Source::File(PathBuf::from(&value)),
                    Ok(source) => source,
                };
                let machine = machine::read(&source).map_err(|error| SettingError::File {
                    setting,
                    path: value.clone(),
                    reason: reason_of(error),
                })?;
                self.machine = Some((value, machine));
            }
            // What else may be wrong with it, the root sees that reads it.
            Setting::Schedule if schedule::is_tree_file(Path::new(&value)) => {
                let reason = format!(
                    "a tree, and no schedule; tuwtree export {value} --format json --output schedule.json \
                     makes one of it"
                );
                return Err(SettingError::File { setting, path: value, reason });
            }
            Setting::Schedule => self.schedule = Some(value),
            Setting::MostPassed => self.most_passed = Some(bytes(setting, value)?),
            Setting::Window => self.window = Some(bytes(setting, value)?),
            Setting::Trial => self.is_trying = Some(yes_or_no(setting, value)?),
            Setting::Learn => {
                let learned = learned::read(Path::new(&value)).map_err(|error| {
                    let reason = reason_of(error);
                    SettingError::File { setting, path: value.clone(), reason }
                })?;
                self.learned = learned.into_iter().collect();
            }
            Setting::Allgather | Setting::ReduceScatter | Setting::Alltoall => {
                self.rootless.extend(setting.operation().zip(Some(value)));
            }
        }
        Ok(())
    }

    fn of_environment() -> Result<Stated, SettingError> {
        let mut stated = Stated::default();
        for setting in Setting::all() {
            match std::env::var(setting.variable()) {
                Ok(value) if !value.is_empty() => stated.state(setting, &value)?,
                _ => {}
            }
        }
        Ok(stated)
    }

    /// Changes the settings as stated.
    fn apply(&self, settings: &mut Settings, ranks: usize) -> Result<(), SettingError> {
        if let Some(name) = &self.algorithm {
            settings.stated = Some(name.parse()?);
        }
        if let Some(name) = &self.mode {
            settings.mode = mode_from(name)?;
        }
        if let Some((path, machine)) = &self.machine {
            machine.costs.check_ranks(ranks).map_err(|error| {
                let reason = error.to_string();
                SettingError::File { setting: Setting::Machine, path: path.clone(), reason }
            })?;
            settings.machine = Some(machine.clone());
        }
        if let Some(path) = &self.schedule {
            settings.schedule = Some(PathBuf::from(path));
        }
        settings.most_passed = self.most_passed.unwrap_or(settings.most_passed);
        settings.window = self.window.or(settings.window);
        settings.is_trying = self.is_trying.unwrap_or(settings.is_trying);
        let library = library_version().unwrap_or_default();
        let own = self
            .learned
            .iter()
            .filter(|(class, _)| class.processes == ranks && class.mpi_library == library);
        settings.learned.extend(own.cloned());
        for (setting, operation) in Setting::rootless() {
            if let Some(choice) = self.rootless.get(&operation) {
                let choice = rootless_from(setting, choice)?;
                settings.stated_rootless.insert(operation, choice);
            }
        }
        settings.check_complete()
    }
}

impl Settings {
    /// The settings that the environment of the communicator's first rank states. Collective;
    /// an error is one at all ranks.
    ///
    /// # Errors
    /// The inner result: [`SettingError`] as a text. The outer: what MPI returns.
    pub fn of_environment(comm: &Communicator) -> Result<Result<Settings, String>, MpiError> {
        let stated = match comm.rank() {
            0 => Stated::of_environment(),
            _ => Ok(Stated::default()),
        };
        Settings::default().changed(comm, &stated)
    }

    /// True if this process's environment states an algorithm.
    pub(crate) fn are_stated() -> bool {
        let algorithms =
            [Setting::Algorithm].into_iter().chain(Setting::rootless().map(|(one, _)| one));
        let values = algorithms.filter_map(|setting| std::env::var_os(setting.variable()));
        values.into_iter().any(|value| !value.is_empty() && value != "native")
    }

    /// These settings with one changed. Collective: all ranks set the same.
    ///
    /// # Errors
    /// As [`of_environment`](Self::of_environment).
    pub fn with(
        self,
        comm: &Communicator,
        setting: Setting,
        value: &str,
    ) -> Result<Result<Settings, String>, MpiError> {
        let own = format!("{}={value}", setting.name());
        let first = comm.told(&own, 0)?;
        let rank = comm.rank();
        if comm.least(u64::from(own == first))? == 0 {
            let name = setting.name().to_owned();
            let own = value.to_owned();
            return Ok(Err(SettingError::Differ { name, first, rank, own }.to_string()));
        }
        let mut stated = Stated::default();
        let stated = match rank {
            0 => stated.state(setting, value).map(|()| stated),
            _ => Ok(stated),
        };
        self.changed(comm, &stated)
    }

    /// These settings changed as the first rank states, or its error.
    fn changed(
        mut self,
        comm: &Communicator,
        stated: &Result<Stated, SettingError>,
    ) -> Result<Result<Settings, String>, MpiError> {
        let said: Result<&Stated, String> = stated.as_ref().map_err(ToString::to_string);
        let text = serde_json::to_string(&said).expect("strings are JSON");
        let text = comm.told(&text, 0)?;
        let heard: Result<Stated, String> =
            serde_json::from_str(&text).unwrap_or_else(|error| Err(error.to_string()));
        Ok(heard.and_then(|stated| {
            stated.apply(&mut self, comm.size()).map_err(|error| error.to_string())?;
            Ok(self)
        }))
    }

    /// Algorithm of operations with a root: the stated one, else by a machine's costs, else the library itself.
    pub fn algorithm(&self) -> Algorithm {
        let by_itself = if self.machine.is_some() { Algorithm::Auto } else { Algorithm::Native };
        self.stated.unwrap_or(by_itself)
    }

    /// Most bytes under way to a process at once in a gather with a chosen tree: as set, or the machine's; unlimited if
    /// `None`.
    pub fn window(&self) -> Option<u64> {
        self.window.or(self.machine.as_ref().and_then(|machine| machine.network.window))
    }

    /// The machine that predicts gathers and scatters, with the window of the settings.
    pub(crate) fn judged_machine(&self) -> Option<Machine> {
        let mut machine = self.machine.clone()?;
        machine.network.window = self.window();
        Some(machine)
    }

    /// Algorithm of operations without a root: the stated one, else the choice by costs where that applies to others,
    /// else the library itself.
    pub fn rootless(&self, operation: Operation) -> RootlessChoice {
        let stated = self.stated_rootless.get(&operation).copied();
        stated.unwrap_or(RootlessChoice::from(match self.algorithm() {
            Algorithm::Auto => RootlessAlgorithm::Auto,
            _ => RootlessAlgorithm::Native,
        }))
    }

    /// The operations without a root that have settings, with their algorithms.
    pub fn rootless_choices(&self) -> impl Iterator<Item = (Operation, RootlessChoice)> {
        Setting::rootless().map(|(_, operation)| (operation, self.rootless(operation)))
    }

    /// Times of such calls in earlier runs.
    pub(crate) fn learned(&self, operation: Operation, log2_bytes: u32) -> Option<LearnedSeconds> {
        let mut learned = self.learned.iter();
        let found = learned
            .find(|(class, _)| class.operation == operation && class.log2_bytes == log2_bytes);
        found.map(|(_, seconds)| *seconds)
    }

    /// True if all operations are the library's own.
    pub fn are_native(&self) -> bool {
        self.algorithm() == Algorithm::Native
            && self.rootless_choices().all(|(_, one)| one.algorithm == RootlessAlgorithm::Native)
    }

    fn check_complete(&self) -> Result<(), SettingError> {
        let machine = |algorithm| {
            let needs = matches!(
                algorithm,
                Algorithm::Auto | Algorithm::DeadlineOnline | Algorithm::AdaptiveCompletionTime
            );
            (needs && self.machine.is_none()).then_some((algorithm, Setting::Machine))
        };
        let algorithm = self.algorithm();
        let is_auto =
            self.rootless_choices().any(|(_, one)| one.algorithm == RootlessAlgorithm::Auto);
        let lacks_schedule = algorithm == Algorithm::Schedule && self.schedule.is_none();
        let lacking = machine(algorithm)
            .or(lacks_schedule.then_some((algorithm, Setting::Schedule)))
            .or(is_auto.then(|| machine(Algorithm::Auto)).flatten());
        match lacking {
            Some((algorithm, needed)) => Err(SettingError::Missing { algorithm, needed }),
            None => Ok(()),
        }
    }

    /// The file of the schedule.
    pub fn schedule(&self) -> Option<&Path> {
        self.schedule.as_deref()
    }
}

/// The fault of a file that a setting's error names already.
fn reason_of(error: FileError) -> String {
    match error {
        FileError::Content { reason, .. } => reason,
        FileError::File { source, .. } | FileError::Output(source) => source.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for algorithm in Algorithm::all() {
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
        }
        for mode in Mode::all() {
            assert_eq!(mode_from(mode.name()), Ok(mode));
        }
        for setting in Setting::all() {
            assert_eq!(setting.name().parse(), Ok(setting));
        }
        assert_eq!("adaptive".parse(), Ok(Algorithm::AdaptiveGatherTime));
    }

    #[test]
    fn numbers_may_be_stated_and_a_ring_combines_nothing() {
        let stated = |setting, text| rootless_from(setting, text);
        let pieces = stated(Setting::ReduceScatter, "circulant-pieces:12").unwrap();
        assert_eq!(pieces.number.map(NonZeroU16::get), Some(12));
        let delay = stated(Setting::Allgather, "bruck-postal:6").unwrap();
        assert_eq!(delay.number.map(NonZeroU16::get), Some(6));
        let radix = stated(Setting::Alltoall, "bruck:4").unwrap();
        assert_eq!(radix.number.map(NonZeroU16::get), Some(4));
        let ring = RootlessAlgorithm::Ring;
        assert_eq!(stated(Setting::Allgather, "ring"), Ok(ring.into()));
        for (setting, wrong) in [
            (Setting::ReduceScatter, "ring"),
            (Setting::ReduceScatter, "bruck-postal:0"),
            (Setting::Alltoall, "bruck-postal:2"),
            (Setting::Allgather, "bruck-postal:0"),
            (Setting::Allgather, "bruck-postal:x"),
            (Setting::Allgather, "circulant:3"),
            (Setting::Allgather, "circulant-pieces:0"),
            (Setting::Allgather, "rings"),
            (Setting::Allgather, "linear"),
            (Setting::Alltoall, "circulant"),
            (Setting::Alltoall, "bruck:1"),
            (Setting::Alltoall, "linear:2"),
        ] {
            let error = stated(setting, wrong).unwrap_err().to_string();
            assert!(error.starts_with(setting.variable()) && error.contains("native"), "{error}");
        }
    }

    #[test]
    fn without_an_algorithm_a_machine_decides_and_without_one_the_library() {
        let machine = "{\"format\":\"tuwtree-machine\",\"version\":1,\"name\":\"a\",\
                       \"date\":\"2026-01-02\",\"provenance\":\"stated\",\"homogeneous\":\
                       {\"alpha_seconds\":1e-6,\"beta_seconds_per_byte\":1e-9,\
                       \"gamma_seconds_per_byte\":1e-9}}";
        let mut settings = Settings::default();
        assert_eq!(settings.algorithm(), Algorithm::Native);
        let machine = ("a".to_owned(), serde_json::from_str(machine).unwrap());
        let known = Stated { machine: Some(machine), ..Stated::default() };
        known.apply(&mut settings, 2).unwrap();
        assert_eq!(settings.algorithm(), Algorithm::Auto);
        assert_eq!(settings.window(), None);
        settings.machine.as_mut().unwrap().network.window = Some(1000);
        assert_eq!(settings.window(), Some(1000));
        let set = Stated { window: Some(500), ..Stated::default() };
        set.apply(&mut settings, 2).unwrap();
        assert_eq!(settings.window(), Some(500));
        let linear = Stated { algorithm: Some("linear".into()), ..Stated::default() };
        linear.apply(&mut settings, 2).unwrap();
        assert_eq!(settings.algorithm(), Algorithm::Linear);
    }

    #[test]
    fn a_wrong_value_is_told_what_is_allowed() {
        let error = "fast".parse::<Algorithm>().unwrap_err().to_string();
        assert!(error.starts_with("TUWTREE_ALGORITHM \"fast\": one of adaptive, adaptive-gather-"));
    }

    #[test]
    fn a_limit_is_bytes_with_a_unit_or_without() {
        let stated = |value: &str| {
            let mut stated = Stated::default();
            stated.state(Setting::MostPassed, value).map(|()| {
                let mut settings = Settings::default();
                stated.apply(&mut settings, 2).unwrap();
                settings.most_passed
            })
        };
        assert_eq!((stated("0"), stated("64KiB")), (Ok(0), Ok(65536)));
        let error = stated("much").unwrap_err().to_string();
        assert!(error.starts_with("TUWTREE_MOST_PASSED \"much\": a whole number of bytes"));
        assert_eq!(Settings::default().most_passed, 1 << 26);
    }

    #[test]
    fn what_an_algorithm_needs_has_to_be_set() {
        let auto = Stated { algorithm: Some("auto".into()), ..Stated::default() };
        let error = auto.apply(&mut Settings::default(), 2).unwrap_err().to_string();
        assert_eq!(error, "the algorithm auto needs a machine: set TUWTREE_MACHINE");
    }

    #[test]
    fn machines_are_read_from_json_and_toml() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let mut stated = Stated::default();
            let read = stated.state(Setting::Machine, path.to_str().unwrap());
            read.map(|()| stated.machine.unwrap().1).map_err(|error| error.to_string())
        };
        let short = "format = \"tuwtree-machine\"\nversion = 1\nname = \"a\"\n\
                     date = \"2026-01-02\"\nprovenance = \"stated\"\n[homogeneous]\n\
                     alpha_seconds = 1e-6\n";
        let whole =
            format!("{short}beta_seconds_per_byte = 1e-9\ngamma_seconds_per_byte = 1e-10\n");
        let machine = read("m.toml", &whole).unwrap();
        let json = serde_json::to_string(&machine).unwrap();
        assert_eq!(read("m.json", &json).as_ref(), Ok(&machine));
        assert!(read("empty.json", "{}").is_err());
        let error = read("short.toml", short).unwrap_err();
        assert!(error.contains("missing field") && error.matches("short.toml").count() == 1);
    }

    #[test]
    fn machines_that_are_built_in_go_by_their_names() {
        let read = |name: &str| {
            let mut stated = Stated::default();
            let read = stated.state(Setting::Machine, name);
            read.map(|()| stated.machine.unwrap().1.name).map_err(|error| error.to_string())
        };
        assert_eq!(read("vsc3").as_deref(), Ok("VSC-3"));
        assert!(read("vsc4").unwrap_err().contains("no such file; built in are asymmetric, "));
        assert!(read("-").unwrap_err().contains("no such file"));
    }
}
