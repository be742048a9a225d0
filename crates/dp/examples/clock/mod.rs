//! Clock and CPU time for the examples.

use std::time::Instant;

/// Time on the ranks, of all threads, where the system tells it (Linux), else time that passed.
pub(crate) struct Clock {
    started: Instant,
    on_rank: Option<f64>,
}

impl Clock {
    /// A clock that starts now.
    pub(crate) fn now() -> Clock {
        Clock { started: Instant::now(), on_rank: on_rank() }
    }

    /// Seconds since it started.
    pub(crate) fn seconds(&self) -> f64 {
        match (self.on_rank, on_rank()) {
            (Some(before), Some(now)) => now - before,
            _ => self.started.elapsed().as_secs_f64(),
        }
    }
}

/// CPU time of all threads of this process, including those of a pool.
fn on_rank() -> Option<f64> {
    let mut nanoseconds = 0.0;
    for thread in std::fs::read_dir("/proc/self/task").ok()? {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += text.split_whitespace().next()?.parse::<f64>().ok()?;
    }
    Some(nanoseconds * 1e-9)
}
