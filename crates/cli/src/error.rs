//! Errors of commands, and their exit codes.

use crate::output::progress;
use serde_json::json;
use std::io;
use std::process::ExitCode;
use tuwtree_io::{FileError, WrittenTwice, WrongFormat};
use tuwtree_model::TimeError;
use tuwtree_plan::{PlanError, Treeless};

/// Failure of a command.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The command line asks for what cannot be: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The work itself failed: exit code 1.
    #[error("{0}")]
    Failure(String),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The user, or a signal, stopped the program.
    #[error("interrupted")]
    Interrupted,
    /// A completion time cannot be stated.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// Standard output could not be written.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

impl From<WrongFormat> for CliError {
    fn from(error: WrongFormat) -> CliError {
        CliError::Usage(error.to_string())
    }
}

impl From<WrittenTwice> for CliError {
    fn from(error: WrittenTwice) -> CliError {
        CliError::Usage(format!("--output: {error}"))
    }
}

impl From<PlanError> for CliError {
    fn from(error: PlanError) -> CliError {
        match error {
            PlanError::Misused(message) => CliError::Usage(message),
            PlanError::Failed(message) => CliError::Failure(message),
            PlanError::Interrupted => CliError::Interrupted,
        }
    }
}

impl From<Treeless> for CliError {
    fn from(error: Treeless) -> CliError {
        PlanError::from(error).into()
    }
}

impl CliError {
    /// True if the reader of our output has gone away, as in `tuwtree show … | head`.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        match self {
            CliError::Output(error) => error.kind() == io::ErrorKind::BrokenPipe,
            CliError::File(error) => error.is_closed_pipe(),
            _ => false,
        }
    }

    /// The error as a document in one line, for programs that asked for JSON.
    pub(crate) fn document(&self) -> serde_json::Value {
        json!({
            "format": "tuwtree-error",
            "version": 1,
            "message": self.to_string(),
            "is_usage": matches!(self, CliError::Usage(_)),
        })
    }

    /// The exit code: 2 for usage, 130 after an interrupt (143, 129: SIGTERM, SIGHUP), 1 for all other failures.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            CliError::Usage(_) => 2,
            CliError::Interrupted => progress::exit_code(),
            CliError::Failure(_) | CliError::File(_) | CliError::Time(_) | CliError::Output(_) => 1,
        })
    }
}
