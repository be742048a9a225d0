//! Machine documents from JSON or TOML; which one, the text itself tells.

use crate::error::FileError;
use crate::source::Source;
use serde::de::DeserializeOwned;
use tuwtree_model::document::{Header, Machine, Object};

/// The machine in a file or on standard input. JSON starts with `{`; anything else is TOML.
///
/// # Errors
/// [`FileError::Content`] with the source's name and what is wrong where.
pub fn read(source: &Source) -> Result<Machine, FileError> {
    let text = source.read()?;
    parse(&text).map_err(|error| source.failure(&error))
}

fn parse(text: &str) -> Result<Machine, String> {
    let header: Header =
        object(text).map_err(|error| format!("not a machine document: {error}"))?;
    header.check(Machine::FORMAT, Machine::VERSION).map_err(|error| error.to_string())?;
    object(text)
}

fn object<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let read = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(|error| error.to_string()),
        false => toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned()),
    };
    read.map(|Object(value)| value)
}
