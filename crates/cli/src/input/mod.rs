//! Reading what users give: block sizes, tree and machine documents, from files or standard input.

pub(crate) mod machine;
pub(crate) mod sizes;
pub(crate) mod tree;

use crate::error::CliError;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// Where a text comes from: a file, or `-` for standard input.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    StandardInput,
    File(PathBuf),
}

/// The largest input that is read, in bytes: a tree document over 10^8 processors, or as many block
/// sizes.
const LARGEST_INPUT: u64 = 8_000_000_000;

impl Source {
    /// The source that a command-line argument names.
    pub(crate) fn parse(argument: &str) -> Result<Source, String> {
        match argument {
            "" => Err("an empty file name".into()),
            "-" => Ok(Source::StandardInput),
            path => Ok(Source::File(path.into())),
        }
    }

    /// The whole text.
    ///
    /// # Errors
    /// A file that cannot be read, is too large, or is not UTF-8.
    pub(crate) fn read(&self) -> Result<String, CliError> {
        let mut bytes = Vec::new();
        let limit = LARGEST_INPUT + 1;
        match self {
            Source::StandardInput => io::stdin().lock().take(limit).read_to_end(&mut bytes),
            Source::File(path) => {
                File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
            }
        }
        .map_err(|error| CliError::Failure(format!("{self}: {error}")))?;
        if bytes.len() as u64 > LARGEST_INPUT {
            let message = format!("{self}: more than {LARGEST_INPUT} bytes");
            return Err(CliError::Failure(message));
        }
        // Some editors put a byte-order mark in front of a text.
        if bytes.starts_with("\u{feff}".as_bytes()) {
            bytes.drain(..'\u{feff}'.len_utf8());
        }
        String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = 1 + error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count();
            CliError::Failure(format!("{self}: line {line} is not UTF-8 text"))
        })
    }
}

/// Fails with exit code 2 if more than one of these is standard input; `names` says what each is.
pub(crate) fn check_one_standard_input(
    sources: &[(&str, Option<&Source>)],
) -> Result<(), CliError> {
    let mut named = sources
        .iter()
        .filter(|(_, source)| matches!(source, Some(Source::StandardInput)))
        .map(|(name, _)| name);
    match (named.next(), named.next()) {
        (Some(one), Some(other)) => {
            Err(CliError::Usage(format!("{one} and {other} are both to come from standard input")))
        }
        _ => Ok(()),
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::StandardInput => formatter.write_str("standard input"),
            Source::File(path) => path.display().fmt(formatter),
        }
    }
}
