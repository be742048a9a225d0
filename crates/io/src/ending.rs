//! What the names of files end with.

use std::path::Path;

/// What the file's name ends with, in lower case; before a `.gz`, which says that it is packed.
pub fn ending(path: &Path) -> Option<String> {
    let of = |path: &Path| Some(path.extension()?.to_str()?.to_lowercase());
    match of(path)?.as_str() {
        "gz" => of(Path::new(path.file_stem()?)),
        other => Some(other.to_owned()),
    }
}
