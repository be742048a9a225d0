//! What can go wrong, who tells it, and the exit code that says so.

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;
use tuwtree_mpi::mpi::{Communicator, MpiError};

/// Why a command did not do what it was asked to.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What clap says, help and version included: the same at all processors.
    CommandLine(clap::Error),
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
        Failure::CommandLine(error) => {
            if communicator.rank() == 0 {
                // If even this cannot be written, the exit code still tells.
                let _ = error.print();
                let _ = std::io::stdout().flush();
            }
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
        Failure::Usage(message) => {
            tell(&message);
            ExitCode::from(2)
        }
        Failure::Shared(message) => {
            tell(&message);
            ExitCode::FAILURE
        }
        Failure::Mine(message) => abort(&format!("processor {}: {message}", communicator.rank())),
    }
}

/// Tells what is wrong and stops all processors.
pub(crate) fn abort(error: &dyn Display) -> ! {
    eprintln!("error: {error}");
    tuwtree_mpi::mpi::abort(1)
}
