//! Endings of file names.

use std::path::Path;

/// Ending of the file's name, in lower case; before a `.gz`, which marks a packed file.
pub fn ending(path: &Path) -> Option<String> {
    let of = |path: &Path| Some(path.extension()?.to_str()?.to_lowercase());
    match of(path)?.as_str() {
        "gz" => of(Path::new(path.file_stem()?)),
        other => Some(other.to_owned()),
    }
}
