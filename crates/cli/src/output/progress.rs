//! Progress of long work: a bar after the first second, on a terminal only, and a clean end on
//! Ctrl-C.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Set by the first Ctrl-C; long work looks at it.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// How many pieces of long work look at it now.
static WATCHERS: AtomicUsize = AtomicUsize::new(0);

/// How long work may take before a bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// Makes Ctrl-C end long work cleanly; without such work, or the second time, it ends the program
/// at once.
pub(crate) fn catch_interrupts() {
    // Without a handler Ctrl-C ends the program the ordinary way, which is no worse.
    let _ = ctrlc::set_handler(|| {
        let again = INTERRUPTED.swap(true, Ordering::Relaxed);
        if again || WATCHERS.load(Ordering::Relaxed) == 0 {
            std::process::exit(130);
        }
    });
}

/// A piece of long work.
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    shown: AtomicBool,
}

impl Progress {
    /// Work that is called `what`.
    pub(crate) fn new(what: &str) -> Progress {
        WATCHERS.fetch_add(1, Ordering::Relaxed);
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{prefix} {wide_bar} {percent:>3} %, {eta} left")
            .expect("a valid template");
        bar.set_style(style);
        bar.set_prefix(what.to_owned());
        Progress { bar, started: Instant::now(), shown: AtomicBool::new(false) }
    }

    /// Notes that `done` of `total` equal pieces are done; breaks after Ctrl-C.
    pub(crate) fn advance(&self, done: u64, total: u64) -> ControlFlow<()> {
        if self.started.elapsed() > PATIENCE && !self.shown.swap(true, Ordering::Relaxed) {
            // The standard error stream hides the bar by itself where it is no terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        if self.shown.load(Ordering::Relaxed) {
            self.bar.set_length(total);
            self.bar.set_position(done);
        }
        match INTERRUPTED.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        WATCHERS.fetch_sub(1, Ordering::Relaxed);
        self.bar.finish_and_clear();
    }
}
