//! How much time and memory a tree may take.

use super::{BuildError, Plan, Searched, Task};
use crate::error::CliError;
use crate::output::progress::Progress;
use crate::output::text;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use tuwtree_model::TimeError;

/// How much may be spent on a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effort {
    /// Whatever it takes.
    Any,
    /// What nobody waits for: constructions that were not asked for by name.
    Moderate,
}

impl Effort {
    /// What it means that memory or time do not suffice.
    pub(super) fn refused(self, reason: String) -> BuildError {
        match self {
            Effort::Moderate => BuildError::Skipped(reason),
            Effort::Any => BuildError::Failed(CliError::Failure(reason)),
        }
    }

    /// What it means that a tree has no completion time: without a link, there may be other trees.
    pub(crate) fn unlinked(self, error: TimeError) -> BuildError {
        match error {
            TimeError::NoLink { .. } | TimeError::Isolated { .. } => {
                self.refused(error.to_string())
            }
            TimeError::NotExact | TimeError::NotFinite => BuildError::failed(error),
        }
    }
}

/// What a tree takes that is searched for.
pub(super) struct Expense {
    /// What takes it, as a sentence begins.
    pub(super) what: String,
    /// The bytes of its tables.
    pub(super) bytes: u64,
    /// About how long.
    pub(super) seconds: f64,
    /// How long it may take if it was not asked for by name.
    pub(super) patience: f64,
}

impl Expense {
    /// Fails if there is not enough memory, or more time is needed than the effort allows. `advice`
    /// says what to do about too little memory, given how much there is.
    pub(super) fn check(
        &self,
        effort: Effort,
        advice: impl FnOnce(u64) -> String,
    ) -> Result<(), BuildError> {
        let needed = self.bytes;
        if let Some(available) = available_memory().filter(|&available| needed > available) {
            return Err(effort.refused(format!(
                "needs {}, {} available{}",
                text::memory(needed),
                text::memory(available),
                advice(available)
            )));
        }
        let estimate = format!("{} takes about {:.0} s", self.what, self.seconds);
        if effort == Effort::Moderate && self.seconds > self.patience {
            let advice = "name it with --algorithm to wait for it";
            return Err(effort.refused(format!("{estimate}; {advice}")));
        }
        if self.seconds > ANNOUNCED_SECONDS && io::stderr().is_terminal() {
            // Nobody is worse off if this cannot be written.
            let _ = writeln!(anstream::stderr(), "note: {estimate} (Ctrl-C ends it)");
        }
        Ok(())
    }
}

impl Task<'_> {
    /// What the tables of a plan's search take, which have so many bytes.
    pub(super) fn expense(&self, bytes: u64, plan: Plan) -> Expense {
        let search = plan.search.expect("only what is searched for takes effort");
        Expense {
            what: format!("the {} method", search.name()),
            bytes,
            seconds: search.estimated_seconds(self.problem.processors()),
            patience: match (&self.searched, self.problem.vector()) {
                (Searched::Homogeneous(_), Some(_)) => PATIENCE_WITH_WHAT_IS_KNOWN_SECONDS,
                _ => PATIENCE_SECONDS,
            },
        }
    }
}

/// The longest that a construction may take that was not asked for by name.
pub(super) const PATIENCE_SECONDS: f64 = 35.0;

/// The same where an optimal tree is known without search.
const PATIENCE_WITH_WHAT_IS_KNOWN_SECONDS: f64 = 1.0;

/// From how long on the time is announced before it begins, on a terminal.
const ANNOUNCED_SECONDS: f64 = 10.0;
/// A progress bar that a dynamic program moves.
pub(super) struct Watched(pub(super) Progress);

impl tuwtree_dp::Progress for Watched {
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
pub(super) fn available_memory() -> Option<u64> {
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
