//! Progress of long work: a bar after the first second, on a terminal only, and a clean end on
//! Ctrl-C and the like.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
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

/// Makes Ctrl-C, and what batch systems and closed terminals send, end long work cleanly; without such
/// work, or the second time, they end the program at once. No file is left half written.
pub(crate) fn catch_signals() {
    // Without a handler signals end the program the ordinary way, which is no worse.
    let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM].into_iter().chain(hang_up)) else {
        return;
    };
    std::thread::spawn(move || {
        for signal in &mut signals {
            let first = SIGNAL.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
            if first.is_err() || WATCHERS.load(Ordering::Relaxed) == 0 {
                tuwtree_io::abandon();
                std::process::exit(exit_code().into());
            }
        }
    });
}

/// Makes a refused allocation end the program with exit code 1: the runtime says how much was refused,
/// and aborts.
pub(crate) fn catch_refused_memory() {
    let always = Arc::new(AtomicBool::new(true));
    // Without this, the exit code is that of an abort.
    let _ = signal_hook::flag::register_conditional_shutdown(SIGABRT, 1, always);
}

/// The exit code of a program that a signal ended: 128 and the signal's number.
pub(crate) fn exit_code() -> u8 {
    let signal = SIGNAL.load(Ordering::Relaxed);
    u8::try_from(128 + signal).expect("signals that are caught have small numbers")
}

/// True if the program was started with this signal ignored, as by `nohup`.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
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
