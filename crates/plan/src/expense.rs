//! Time and memory allowed for a tree: the one rule of affordability.

use crate::error::NoTree;
use crate::request::Watch;
use std::fs;
use std::ops::ControlFlow;
use tuwtree_dp::Progress;
use tuwtree_model::quantity::memory;

/// Effort allowed for a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// No limit.
    Any,
    /// A short wait: half a minute.
    Moderate,
    /// A negligible wait, for each of hundreds of problems: no search beyond optimal ordered trees.
    Quick,
}

/// Expense of a tree's search.
pub(crate) struct Expense {
    /// Its cause, as the beginning of a sentence.
    pub(crate) what: String,
    /// The bytes of its tables.
    pub(crate) bytes: u64,
    /// An estimate of the time, in seconds.
    pub(crate) seconds: f64,
    /// The most that `seconds` may be if it was not asked for by name.
    pub(crate) limit_seconds: f64,
}

impl Expense {
    /// Fails if there is not enough memory, or more time is needed than the effort allows. `advice`
    /// suggests a remedy for too little memory, given the available amount.
    pub(crate) fn check(
        &self,
        effort: Effort,
        watch: &dyn Watch,
        advice: impl FnOnce(u64) -> String,
    ) -> Result<(), NoTree> {
        let needed = self.bytes;
        if let Some(available) = available_memory().filter(|&available| needed > available) {
            return Err(effort.refused(format!(
                "needs {}, {} available{}",
                memory(needed),
                memory(available),
                advice(available)
            )));
        }
        let estimate = format!("{} takes about {:.0} s", self.what, self.seconds);
        if effort != Effort::Any && self.seconds > self.limit_seconds {
            return Err(effort.refused(format!("{estimate}; name it to wait for it")));
        }
        if self.seconds > ANNOUNCED_SECONDS {
            watch.announce(&estimate);
        }
        Ok(())
    }
}

/// The time limit of a construction that was not asked for by name.
pub(crate) const LIMIT_SECONDS: f64 = 35.0;

/// Limit where a tree that is at least as good is found at once.
pub(crate) const LIMIT_BESIDE_BETTER_SECONDS: f64 = 1.0;

/// Limit for consecutive trees: where they take longer, adjacent and deadline trees are found at once.
pub(crate) const LIMIT_OF_CONSECUTIVE_SECONDS: f64 = 6.0;

/// Limits of the plain and the dense method where latency overlaps: a moment, by estimates that are too low and too high.
pub(crate) const LIMITS_WHERE_LATENCY_OVERLAPS_SECONDS: [f64; 2] = [0.2, 2.5];

/// The table cells that may be filled for a consecutive tree where receivers start with many different
/// clocks: below it, the search goes on until the tree is optimal for sure.
pub(crate) fn most_cells(effort: Effort) -> u64 {
    match effort {
        Effort::Any => 100_000_000,
        Effort::Moderate => 6_000_000,
        Effort::Quick => 600_000,
    }
}

/// Approximate seconds of this many cells.
pub(crate) fn seconds_of_cells(cells: u64) -> f64 {
    cells as f64 * 6e-8
}

/// From how long on the time is announced before it begins.
const ANNOUNCED_SECONDS: f64 = 10.0;

/// Work that is watched, and may use most of the memory that there is.
pub(crate) struct Watched<'a>(pub(crate) Box<dyn Progress + 'a>);

impl Progress for Watched<'_> {
    fn advance(&self, done: u64, total: u64) -> ControlFlow<()> {
        self.0.advance(done, total)
    }

    fn memory_allowed(&self) -> u64 {
        // The rest is for the tree, and for everybody else.
        available_memory().map_or(u64::MAX, |available| available / 10 * 9)
    }
}

/// The memory in bytes that can be used without swapping, where the system tells: what the machine
/// has left, or the control group's limit if that is less.
fn available_memory() -> Option<u64> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let available = 1024 * number(line.trim_end_matches("kB"))?;
    let group = |name: &str| fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok();
    let limit = group("memory.max").and_then(|text| number(&text));
    let used = group("memory.current").and_then(|text| number(&text));
    match (limit, used) {
        (Some(limit), Some(used)) => Some(available.min(limit.saturating_sub(used))),
        _ => Some(available),
    }
}
