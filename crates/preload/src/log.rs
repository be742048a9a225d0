//! Messages on standard error: a line when ranks agree, mistakes, with `TUWTREE_LOG=1` a summary in `MPI_Finalize`, with
//! `TUWTREE_LOG=2` a line per call.

use crate::record;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Instant;
use tuwtree_binding::raw::{self, MPI_Comm};
use tuwtree_binding::{is_running, rank_in};
use tuwtree_executor::ClosedSet;
use tuwtree_executor::collective::{EARLY_CALLS, Standing, saved_seconds, write_learned};
use tuwtree_executor::quantity::seconds;
use tuwtree_executor::settings::{Setting, Settings};

/// Level of detail. (The variable is read at the first call.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loudness {
    /// `TUWTREE_LOG=0`: mistakes.
    Mistakes,
    /// Unset: mistakes, and one line when ranks agree.
    Once,
    /// `TUWTREE_LOG=1`: and a summary in `MPI_Finalize`.
    Summary,
    /// Anything else: and a line per call.
    Calls,
}

static LOUDNESS: LazyLock<Loudness> = LazyLock::new(|| match std::env::var_os("TUWTREE_LOG") {
    None => Loudness::Once,
    Some(value) if value.is_empty() => Loudness::Once,
    Some(value) if value == "0" => Loudness::Mistakes,
    Some(value) if value == "1" => Loudness::Summary,
    Some(_) => Loudness::Calls,
});

/// Number of calls.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// Sums of calls, by function and algorithm.
static SUMS: Mutex<BTreeMap<[&str; 2], CallSum>> = Mutex::new(BTreeMap::new());

/// Number of calls, and seconds in them.
#[derive(Default)]
struct CallSum {
    calls: u64,
    seconds: f64,
}

/// True after that line.
static IS_ANNOUNCED: AtomicBool = AtomicBool::new(false);

/// Variables besides those of [`Setting`].
const OTHERS: [&str; 6] = [
    "TUWTREE_DEVICE",
    "TUWTREE_INTERFACE",
    "TUWTREE_LOG",
    "TUWTREE_PERSISTENT",
    "TUWTREE_RECORD",
    "TUWTREE_STOOD_ASIDE",
];

/// The log of a call, for the first rank of its communicator.
///
/// # Safety
/// `comm` is a handle that MPI has given out, or `MPI_COMM_NULL`.
pub(crate) unsafe fn of_call(
    name: &'static str,
    comm: MPI_Comm,
) -> impl Fn(&dyn Display) + 'static {
    let call = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
    // SAFETY: a communicator by the caller's promise, or null, which is not asked. Whoever is in none
    // speaks, too.
    let speaks = *LOUDNESS == Loudness::Calls
        && unsafe { comm == raw::RSMPI_COMM_NULL || rank_in(comm).is_ok_and(|own| own == 0) };
    move |what| {
        if speaks {
            say(&format!("{name}, call {call}: {what}"));
        }
    }
}

/// Start of a call, if there is to be a summary.
pub(crate) fn began() -> Option<Instant> {
    (*LOUDNESS == Loudness::Summary).then(Instant::now)
}

/// Counts a call that has ended for the summary.
pub(crate) fn ended(began: Option<Instant>, function: &'static str, algorithm: &'static str) {
    let Some(began) = began else { return };
    let mut sums = SUMS.lock().unwrap_or_else(PoisonError::into_inner);
    let sum = sums.entry([function, algorithm]).or_default();
    sum.calls += 1;
    sum.seconds += began.elapsed().as_secs_f64();
}

/// Prints the treatment of calls if ranks have not agreed on it, and the calls of the job's first rank by function and
/// algorithm if there is to be a summary.
pub(crate) fn summarize() {
    let is_first = is_first_of_job();
    if is_first && CALLS.load(Ordering::Relaxed) > 0 {
        // SAFETY: the world's handle.
        unsafe { announce(raw::RSMPI_COMM_WORLD, &Standing::Early(Cell::new(0))) };
    }
    if *LOUDNESS != Loudness::Summary || !is_first {
        return;
    }
    let sums = SUMS.lock().unwrap_or_else(PoisonError::into_inner);
    if sums.is_empty() {
        say("rank 0 made no call that is intercepted");
    }
    for ([function, algorithm], sum) in &*sums {
        let word = if sum.calls == 1 { "call" } else { "calls" };
        let [time, each] = [sum.seconds, sum.seconds / sum.calls as f64].map(seconds);
        say(&format!(
            "rank 0: {function} by {algorithm}: {} {word}, {time}, {each} each",
            sum.calls
        ));
    }
    for (operation, calls, saved) in saved_seconds() {
        let less = if saved < 0.0 { "more" } else { "less" };
        say(&format!(
            "{}: {calls} planned calls took about {} {less} than the MPI library's would have, by calls of both",
            operation.name(),
            seconds(saved.abs())
        ));
    }
}

/// True at the job's first rank.
fn is_first_of_job() -> bool {
    // SAFETY: MPI is initialized, or the call fails; the world's handle is MPI's own.
    unsafe { rank_in(raw::RSMPI_COMM_WORLD).is_ok_and(|rank| rank == 0) }
}

/// Writes the times that trials have measured where they are to be kept: rank 0's.
pub(crate) fn write_learned_times() {
    let written = if is_first_of_job() { write_learned() } else { Ok(()) };
    if let Err(error) = written {
        say(&format!("error: TUWTREE_LEARN: {error}"));
    }
}

/// Prints once the treatment of this job's calls, and unknown `TUWTREE_` variables: when ranks have agreed, or the job ends.
///
/// # Safety
/// As [`of_call`], and not null.
pub(crate) unsafe fn announce(comm: MPI_Comm, standing: &Standing) {
    if IS_ANNOUNCED.swap(true, Ordering::Relaxed) {
        return;
    }
    // SAFETY: the world's handle, where there is a world, or the caller's promise.
    let speaks = unsafe {
        let all = if is_running() { raw::RSMPI_COMM_WORLD } else { comm };
        rank_in(all).is_ok_and(|own| own == 0)
    };
    if !speaks {
        return;
    }
    for name in unknown_variables(std::env::vars_os().map(|(name, _)| name)) {
        let known: Vec<&str> = Setting::all().map(Setting::variable).chain(OTHERS).collect();
        say(&format!("error: there is no setting {name}; there are {}", known.join(", ")));
    }
    let recorded = record::file().map_or(String::new(), |file| {
        format!(" Calls are recorded to {} (and .RANK of other roots).", file.display())
    });
    match standing {
        Standing::Library { reason, is_mistake: true } => {
            say(&format!("error: {reason}; calls stay the MPI library's"));
        }
        _ if *LOUDNESS == Loudness::Mistakes => {}
        Standing::Early(_) => say(&format!(
            "no communicator had more than {EARLY_CALLS} of the intercepted calls; the first {EARLY_CALLS} are the MPI \
             library's own.{recorded} \
             {HOW_TO_SEE}"
        )),
        Standing::Library { reason, .. } => say(&format!(
            "intercepts MPI_Gatherv, MPI_Scatterv, MPI_Allgatherv, MPI_Reduce_scatter and MPI_Alltoallv, which stay the MPI \
             library's: {reason}.{recorded} {HOW_TO}"
        )),
        Standing::Trees(collectives) => {
            let settings = collectives.settings();
            let algorithm = settings.algorithm().name();
            let rootless = settings.rootless_choices().map(|(operation, choice)| {
                format!("{}: {}", operation.function(), choice.algorithm.name())
            });
            let rootless = rootless.collect::<Vec<String>>().join("; ");
            say(&format!(
                "intercepts MPI_Gatherv and MPI_Scatterv: algorithm {algorithm}; {rootless}.{}{recorded} {HOW_TO_SEE}",
                uncertainty(&settings)
            ));
        }
    }
}

/// A sentence about a machine whose times are uncertain; empty without one.
fn uncertainty(settings: &Settings) -> String {
    let Some(machine) = &settings.machine else { return String::new() };
    machine.network.uncertainty.map_or_else(String::new, |factor| {
        format!(
            " Times of machine {} are known within a factor of {factor:.1}, as its file says: calls that would not gain \
             more stay the MPI library's.",
            machine.name
        )
    })
}

const HOW_TO: &str = "To use trees where they are faster: mpirun ... tuwtree-exec calibrate --output \
                      machine.toml, then tuwtree-exec run --machine machine.toml -- mpirun ... (TUWTREE_LOG=0: not this line)";

const HOW_TO_SEE: &str =
    "(TUWTREE_LOG=1: a summary at the end, 2: a line for each call, 0: not this line)";

/// Variables that begin as ours do, and are none.
fn unknown_variables(names: impl Iterator<Item = std::ffi::OsString>) -> Vec<String> {
    let is_known = |name: &String| {
        OTHERS.contains(&name.as_str()) || Setting::all().any(|setting| setting.variable() == name)
    };
    let ours = names.filter_map(|name| name.into_string().ok());
    let mut unknown: Vec<String> =
        ours.filter(|name| name.starts_with("TUWTREE_") && !is_known(name)).collect();
    unknown.sort_unstable();
    unknown
}

/// Prints a possible mistake, unless only errors are printed.
pub(crate) fn hint(what: &str) {
    if *LOUDNESS != Loudness::Mistakes {
        say(what);
    }
}

fn say(what: &str) {
    // In one piece, since others write there, too; whoever does not listen is not told.
    let _ = std::io::stderr().write_all(format!("tuwtree: {what}\n").as_bytes());
}
