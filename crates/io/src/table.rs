//! Tables by which MPICH chooses algorithms, as JSON.

use crate::error::FileError;
use crate::json;
use crate::limits::LARGEST_TABLE;
use crate::source::Source;
use serde_json::Value;

/// The table in a file or on standard input, its conditions in their order.
///
/// # Errors
/// [`FileError::Content`] with the source's name, the fault and its place.
pub fn read(source: &Source) -> Result<Value, FileError> {
    let stream = source.stream(LARGEST_TABLE)?;
    json::value(stream).map_err(|error| source.failure(&error))
}
