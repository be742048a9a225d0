//! What can go wrong, who tells it, and the exit code that says so.

use std::process::ExitCode;
use tuwtree_mpi::mpi::{Communicator, MpiError, abort_all};

/// Why a command did not do what it was asked to.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A request that cannot be, the same at all processors: exit code 2.
    Usage(String),
    /// A failure that all processors know of: exit code 1.
    Shared(String),
    /// A failure of this processor, while others may wait for it: all are stopped.
    Mine(String),
}

impl From<MpiError> for Failure {
    fn from(error: MpiError) -> Failure {
        Failure::Mine(error.to_string())
    }
}

/// The exit code of a result. Processor 0 tells what all know; what only one knows it tells itself,
/// and stops all.
pub(crate) fn exit_code(result: Result<(), Failure>, communicator: &Communicator) -> ExitCode {
    let Err(failure) = result else { return ExitCode::SUCCESS };
    let tell = |message: &str| {
        if communicator.rank() == 0 {
            eprintln!("error: {message}");
        }
    };
    match failure {
        Failure::Usage(message) => {
            tell(&message);
            ExitCode::from(2)
        }
        Failure::Shared(message) => {
            tell(&message);
            ExitCode::FAILURE
        }
        Failure::Mine(message) => {
            eprintln!("error: processor {}: {message}", communicator.rank());
            abort_all(1)
        }
    }
}
