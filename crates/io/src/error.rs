//! Failures of files.

use std::io;
use std::path::{Path, PathBuf};

/// Failure to read or write.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The content is invalid, or cannot be read.
    #[error("{place}: {reason}")]
    Content {
        /// The file's name, or `standard input`.
        place: String,
        /// The fault, in a few words.
        reason: String,
    },
    /// A file could not be written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The path as it was given.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Standard output could not be written.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

impl FileError {
    /// A failure to write this file.
    pub fn file(path: &Path, source: io::Error) -> FileError {
        FileError::File { path: path.to_owned(), source }
    }

    /// True if the reader of our output has gone away, as in `tuwtree show … | head`.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, FileError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
