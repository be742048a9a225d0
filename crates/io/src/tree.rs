//! Tree documents from JSON.

use crate::error::FileError;
use crate::source::Source;
use tuwtree_model::document::{Header, Object, TreeDocument};

/// The tree document in a file or on standard input.
///
/// # Errors
/// [`FileError::Content`] with the source's name and what is wrong where.
pub fn read(source: &Source) -> Result<TreeDocument, FileError> {
    let text = source.read()?;
    parse(&text).map_err(|error| source.failure(&error))
}

/// The tree document in a text.
///
/// # Errors
/// What is wrong where.
pub fn parse(text: &str) -> Result<TreeDocument, String> {
    let Object(header): Object<Header> =
        serde_json::from_str(text).map_err(|error| format!("not a tree document: {error}"))?;
    header.check(TreeDocument::FORMAT, TreeDocument::VERSION).map_err(|error| error.to_string())?;
    let Object(document) = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(document)
}
