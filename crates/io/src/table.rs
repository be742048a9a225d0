//! MPICH's tables of algorithms: JSON, in a file or in the library itself.

use crate::error::FileError;
use crate::json;
use crate::limits::LARGEST_TABLE;
use crate::source::Source;
use serde_json::Value;

/// The table in a file, in `libmpich.so` or on standard input, its conditions in their order.
///
/// # Errors
/// [`FileError::Content`] with the source's name, the fault and its place.
pub fn read(source: &Source) -> Result<Value, FileError> {
    let bytes = source.bytes(LARGEST_TABLE)?;
    let text = match bytes.starts_with(b"\x7fELF") {
        true => in_library(&bytes)
            .ok_or_else(|| source.failure(&"no table of algorithms of MPICH is in this library"))?,
        false => &bytes,
    };
    json::value(text).map_err(|error| source.failure(&error))
}

/// The text of the table of MPI's own algorithms in MPICH's library, which holds others, too.
fn in_library(bytes: &[u8]) -> Option<&[u8]> {
    let names = |text: &[u8], word: &[u8]| text.windows(word.len()).any(|part| part == word);
    bytes
        .split(|&byte| byte == 0)
        .find(|text| text.starts_with(b"{\"collective=") && names(text, b"\"algorithm=MPIR_"))
}
