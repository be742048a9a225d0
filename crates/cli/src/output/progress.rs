//! Progress of long work: a bar after the first second, on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tuwtree_plan::Watch;

/// The first signal that asked the program to end, or 0; long work looks at it.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Number of long computations that observe it now.
static WATCHERS: AtomicUsize = AtomicUsize::new(0);

/// True if only results and errors are printed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Says whether only results and errors are to be printed.
pub(crate) fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Prints a note beside the result, unless there are to be none.
pub(crate) fn note(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        // Nobody is worse off if this cannot be written.
        let _ = writeln!(anstream::stderr(), "note: {text}");
    }
}

/// Time before a bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// Takes note of a signal; true if the program is to end at once: no long work looks at it, or it is the second.
#[cfg(unix)]
pub(super) fn ends_at(signal: i32) -> bool {
    let first = SIGNAL.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
    first.is_err() || WATCHERS.load(Ordering::Relaxed) == 0
}

/// The exit code of a program that a signal ended: 128 and the signal's number.
pub(crate) fn exit_code() -> u8 {
    let signal = SIGNAL.load(Ordering::Relaxed);
    u8::try_from(128 + signal).expect("signals that are caught have small numbers")
}

/// A piece of long work.
pub(crate) struct ProgressLine {
    bar: ProgressBar,
    started: Instant,
    shown: AtomicBool,
}

impl ProgressLine {
    /// Work that is called `what`.
    pub(crate) fn new(what: &str) -> ProgressLine {
        WATCHERS.fetch_add(1, Ordering::Relaxed);
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{prefix} {wide_bar} {percent:>3} %, {eta} left")
            .expect("a valid template");
        bar.set_style(style);
        bar.set_prefix(what.to_owned());
        ProgressLine { bar, started: Instant::now(), shown: AtomicBool::new(false) }
    }
}

impl tuwtree_dp::Progress for ProgressLine {
    /// Notes that `done` of `total` equal pieces are done; breaks after Ctrl-C.
    fn advance(&self, done: u64, total: u64) -> ControlFlow<()> {
        let is_due = self.started.elapsed() > PATIENCE && !QUIET.load(Ordering::Relaxed);
        if is_due && !self.shown.swap(true, Ordering::Relaxed) {
            // The standard error stream hides the bar by itself where it is no terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        if self.shown.load(Ordering::Relaxed) {
            self.bar.set_length(total);
            self.bar.set_position(done);
        }
        match SIGNAL.load(Ordering::Relaxed) {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        WATCHERS.fetch_sub(1, Ordering::Relaxed);
        self.bar.finish_and_clear();
    }
}

/// Shows the planner's long work, and its expense, at the terminal.
pub(crate) struct Terminal;

impl Watch for Terminal {
    fn begin(&self, what: &str) -> Box<dyn tuwtree_dp::Progress + '_> {
        Box::new(ProgressLine::new(what))
    }

    fn announce(&self, estimate: &str) {
        if io::stderr().is_terminal() {
            note(&format!("{estimate} (Ctrl-C ends it)"));
        }
    }
}
