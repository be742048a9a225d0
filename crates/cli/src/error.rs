//! What can go wrong, and the exit code that says so.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tuwtree_model::TimeError;

/// Why a command did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The command line asks for what cannot be: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The work itself failed: exit code 1.
    #[error("{0}")]
    Failure(String),
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The user stopped the program.
    #[error("interrupted")]
    Interrupted,
    /// A completion time cannot be stated.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// Standard output could not be written.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

impl CliError {
    /// A failure to do with this file.
    pub(crate) fn file(path: &Path, source: io::Error) -> CliError {
        CliError::File { path: path.to_owned(), source }
    }

    /// Whether the reader of our output has gone away, as in `tuwtree show … | head`.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, CliError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The exit code: 2 for usage, 130 after an interrupt, 1 for all other failures.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            CliError::Usage(_) => 2,
            CliError::Interrupted => 130,
            CliError::Failure(_)
            | CliError::File { .. }
            | CliError::Time(_)
            | CliError::Output(_) => 1,
        })
    }
}
