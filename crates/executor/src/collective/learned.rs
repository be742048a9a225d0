//! Times that trials have measured in this process, for later runs (`TUWTREE_LEARN`) and for a summary.

use super::trial::{Trial, Way};
use crate::settings::Setting;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use tuwtree_binding::library_version;
use tuwtree_io::FileError;
use tuwtree_io::learned::{self, CallClass, LearnedSeconds, LearnedTimes};
use tuwtree_model::Operation;

/// An operation, the number of ranks, and the binary logarithm of all bytes.
pub(super) type ClassKey = (Operation, usize, u32);

static MEASURED: Mutex<BTreeMap<ClassKey, TrialTimes>> = Mutex::new(BTreeMap::new());

/// Calls of a class.
#[derive(Default)]
struct TrialTimes {
    /// Times by the last decision.
    seconds: Option<LearnedSeconds>,
    /// Number of calls that went our way.
    planned_calls: u64,
}

/// The binary logarithm of this many bytes, rounded down; 0 without any.
pub(super) fn log2_bytes(bytes: u64) -> u32 {
    bytes.checked_ilog2().unwrap_or(0)
}

/// Notes a call that went this way, and the times that its trial knows by now.
pub(super) fn note(class: ClassKey, trial: &Trial, way: Way) {
    let mut measured = MEASURED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = measured.entry(class).or_default();
    known.seconds = trial.measured().or(known.seconds);
    known.planned_calls += u64::from(way == Way::Ours);
}

/// Number of planned calls by operation, and seconds that they have saved against the library's calls: each for the times
/// of the last decision.
pub fn saved_seconds() -> Vec<(Operation, u64, f64)> {
    let measured = MEASURED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut saved: BTreeMap<Operation, (u64, f64)> = BTreeMap::new();
    for ((operation, ..), TrialTimes { seconds, planned_calls }) in &*measured {
        let Some(seconds) = seconds else { continue };
        let (calls, sum) = saved.entry(*operation).or_default();
        *calls += planned_calls;
        *sum += *planned_calls as f64 * (seconds.native - seconds.planned);
    }
    saved.into_iter().map(|(operation, (calls, sum))| (operation, calls, sum)).collect()
}

/// Adds the times of this process to the file of `TUWTREE_LEARN`, if it is set and there are any.
///
/// # Errors
/// As [`learned::add`].
pub fn write_learned() -> Result<(), FileError> {
    let Some(path) = std::env::var_os(Setting::Learn.variable()).filter(|path| !path.is_empty())
    else {
        return Ok(());
    };
    let measured = MEASURED.lock().unwrap_or_else(PoisonError::into_inner);
    let mpi_library = library_version().unwrap_or_default();
    let entry = |(&(operation, processes, log2_bytes), measured): (&ClassKey, &TrialTimes)| {
        let class =
            CallClass { mpi_library: mpi_library.clone(), operation, processes, log2_bytes };
        Some((class, measured.seconds?))
    };
    let times: LearnedTimes = measured.iter().filter_map(entry).collect();
    if times.is_empty() { Ok(()) } else { learned::add(Path::new(&path), times) }
}
