//! A hint during long waits: all ranks of a communicator need this library, and a launcher may have given it to some
//! only.

use crate::log;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time that all ranks may take to make their first call before the hint.
const PATIENCE: Duration = Duration::from_secs(10);

/// True after this process first agreed with others.
static HAS_AGREED: AtomicBool = AtomicBool::new(false);

/// Runs `work`, in which all ranks agree for the first time; if it takes long, prints the likely reason meanwhile.
///
/// A thread waits, which calls nothing of MPI; where it cannot be had, nothing is said.
pub(crate) fn hinting<T>(work: impl FnOnce() -> T) -> T {
    if HAS_AGREED.swap(true, Ordering::Relaxed) {
        return work();
    }
    let (over, waits) = channel::<()>();
    let waiting = move || {
        if waits.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            log::hint(&format!(
                "has waited for {} s for all ranks to make the same call. If some run without this library \
                 or its variables, they never will: give them to all (Open MPI passes variables to other nodes with \
                 mpirun -x LD_PRELOAD -x TUWTREE_... only)",
                PATIENCE.as_secs()
            ));
        }
    };
    // Whoever is not waited for any more ends by itself.
    let _ = thread::Builder::new().name("tuwtree-hint".to_owned()).spawn(waiting);
    let result = work();
    drop(over);
    result
}
