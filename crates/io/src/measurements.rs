//! Measured times, as `tuwtree-exec bench` writes them.

use crate::error::FileError;
use crate::source::Source;
use tuwtree_measure::Measurements;
use tuwtree_model::document::{Header, Object};

/// The times in a file or on standard input.
///
/// # Errors
/// [`FileError::Content`] with the source's name and what is wrong where.
pub fn read(source: &Source) -> Result<Measurements, FileError> {
    let text = source.read()?;
    parse(&text).map_err(|error| source.failure(&error))
}

fn parse(text: &str) -> Result<Measurements, String> {
    let Object(header): Object<Header> = serde_json::from_str(text)
        .map_err(|error| format!("not a document of measured times: {error}"))?;
    header.check(Measurements::FORMAT, Measurements::VERSION).map_err(|error| error.to_string())?;
    let Object(measurements) = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(measurements)
}
