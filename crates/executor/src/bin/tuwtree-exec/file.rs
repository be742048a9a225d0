//! Files that processor 0 writes, whole or not at all.

use crate::stop::Stop;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use tuwtree_executor::sys::Communicator;

/// A new file that is to take the place of a path; at processor 0 only.
pub(crate) struct NewFile {
    path: PathBuf,
    file: Option<NamedTempFile>,
}

impl NewFile {
    /// A file for this path, opened before the work, so that it is not done in vain. Collective.
    ///
    /// # Errors
    /// A folder that cannot be written, known to all processors.
    pub(crate) fn open(path: &Path, communicator: &Communicator) -> Result<NewFile, Stop> {
        let opened = match communicator.rank() {
            0 => temporary_beside(path).map(Some),
            _ => Ok(None),
        };
        let message = opened.as_ref().err().map_or_else(String::new, ToString::to_string);
        match communicator.told(&message, 0)? {
            message if message.is_empty() => {
                Ok(NewFile { path: path.to_owned(), file: opened.ok().flatten() })
            }
            message => Err(Stop::Shared(format!("{}: {message}", path.display()))),
        }
    }

    /// Puts what `content` writes in the place of the path; at other processors than 0 nothing.
    ///
    /// # Errors
    /// A failed write; an existing file is then as it was.
    pub(crate) fn write(
        self,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Stop> {
        let Some(file) = self.file else { return Ok(()) };
        let mut output = BufWriter::new(file);
        let written = content(&mut output).and_then(|()| {
            let file = output.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.persist(&self.path)?;
            Ok(())
        });
        written.map_err(|error| Stop::Alone(format!("{}: {error}", self.path.display())))
    }
}

fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    if path.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // For the system's own words, in place of an error about a file that nobody named.
    folder.metadata()?;
    tempfile::Builder::new()
        .prefix(".tuwtree-")
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(|error| io::Error::from(error.kind()))
}
