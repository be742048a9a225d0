//! Files that are being written, under hidden names until they are whole.
//!
//! A program ended by a signal runs no destructors: unfinished files are listed here, so that
//! [`abandon`] finds them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

/// The hidden names of all files that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all files that are half written, and lets nobody write or finish another: for a program
/// that is about to end.
pub fn abandon() {
    let unfinished = unfinished();
    for path in &*unfinished {
        // One that is gone already is as good.
        let _ = fs::remove_file(path);
    }
    // Whoever writes waits from now on.
    std::mem::forget(unfinished);
}

/// A file under a hidden name, removed unless it is finished.
pub(crate) struct Unfinished(Option<NamedTempFile>);

impl Unfinished {
    /// A new file in the folder of this path, on the same file system.
    ///
    /// # Errors
    /// A folder that is not there, or takes no file.
    pub(crate) fn beside(path: &Path) -> io::Result<Unfinished> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // For the system's own words, in place of an error about a file that nobody named.
        folder.metadata()?;
        let mut unfinished = unfinished();
        let mut builder = tempfile::Builder::new();
        builder.prefix(".tuwtree-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder).map_err(|error| io::Error::from(error.kind()))?;
        unfinished.push(file.path().to_owned());
        Ok(Unfinished(Some(file)))
    }

    /// The file. Its own errors name no path; a [`NamedTempFile`]'s name the hidden one.
    pub(crate) fn file(&self) -> &File {
        self.0.as_ref().expect("there until it is finished").as_file()
    }

    /// Puts the file in the place of this path.
    ///
    /// # Errors
    /// A path that cannot be replaced; it is then as it was.
    pub(crate) fn persist(mut self, path: &Path) -> io::Result<()> {
        let mut unfinished = unfinished();
        let file = self.0.take().expect("there until it is finished");
        unfinished.retain(|one| one != file.path());
        file.persist(path)?;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(file) = self.0.take() {
            unfinished().retain(|one| one != file.path());
        }
    }
}
