//! Reasons for giving up, the rank that prints them, and the exit code.

use crate::job::Job;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;
use tuwtree_binding::{MpiError, abort_all};
use tuwtree_executor::play::ExecutionError;

/// Reason for giving up.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A request that cannot be, the same at all processes: the first tells it, exit code 2.
    Usage(String),
    /// A failure that all processes know: the first tells it, exit code 1.
    Shared(String),
    /// A failure that all processes know of; one of them prints the text, exit code 1.
    Together {
        /// Printed text, at that rank.
        message: Option<String>,
    },
    /// Only this rank knows: it tells, and takes the others, who may wait for it, with it.
    Alone(String),
}

impl From<ExecutionError> for Stop {
    fn from(error: ExecutionError) -> Stop {
        Stop::alone(&error)
    }
}

impl From<MpiError> for Stop {
    fn from(error: MpiError) -> Stop {
        Stop::alone(&error)
    }
}

impl Stop {
    /// A failure unknown to the other processes.
    pub(crate) fn alone(reason: &dyn Display) -> Stop {
        Stop::Alone(reason.to_string())
    }

    /// Tells why, and returns the exit code that says so, or stops all processes.
    pub(crate) fn exit_code(self, job: &Job) -> ExitCode {
        let told_by_first = |message: String| job.is_first().then_some(message);
        let (message, code) = match self {
            Stop::Usage(message) => (told_by_first(message), ExitCode::from(2)),
            Stop::Shared(message) => (told_by_first(message), ExitCode::FAILURE),
            Stop::Together { message } => (message, ExitCode::FAILURE),
            Stop::Alone(message) => {
                complain(&format!("rank {}: {message}", job.rank()));
                abort_all(1)
            }
        };
        if let Some(message) = message {
            complain(&message);
        }
        code
    }
}

/// Prints an error.
pub(crate) fn complain(message: &str) {
    // If even this cannot be written, the exit code still tells.
    let _ = writeln!(std::io::stderr(), "error: {message}");
}
