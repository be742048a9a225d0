//! Long work, without the interpreter, until Ctrl-C.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use tuwtree::plan::Watch;
use tuwtree_dp::Progress;

/// How often signals are looked for.
const PATIENCE: Duration = Duration::from_millis(50);

/// The stack of the thread that works, as large as that of most main threads.
const STACK_BYTES: usize = 8 << 20;

/// Whoever pressed Ctrl-C.
struct Interruption<'a>(&'a AtomicBool);

impl Progress for Interruption<'_> {
    fn advance(&self, _: u64, _: u64) -> ControlFlow<()> {
        match self.0.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl Watch for Interruption<'_> {
    fn begin(&self, _: &str) -> Box<dyn Progress + '_> {
        Box::new(Interruption(self.0))
    }

    fn announce(&self, _: &str) {}
}

/// What the work yields, done on a thread of its own; meanwhile other threads of Python run.
///
/// # Errors
/// What a handler of a signal raises, `KeyboardInterrupt` as a rule; a broken invariant of ours as a `RuntimeError`.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&dyn Watch) -> T + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    let mut raised = None;
    let done = py.detach(|| {
        thread::scope(|scope| {
            let (ended, end) = channel::<()>();
            let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || {
                // Dropped when the work has ended, however that was.
                let _ended = ended;
                work(&Interruption(&stop))
            });
            let worker = worker.map_err(|error| error.to_string())?;
            while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(PATIENCE) {
                if raised.is_none()
                    && let Err(error) = Python::attach(|py| py.check_signals())
                {
                    raised = Some(error);
                    stop.store(true, Ordering::Relaxed);
                }
            }
            worker.join().map_err(|_| "a broken invariant; please report it".to_owned())
        })
    });
    match (raised, done) {
        (Some(error), _) => Err(error),
        (None, Ok(result)) => Ok(result),
        (None, Err(message)) => Err(PyRuntimeError::new_err(message)),
    }
}
