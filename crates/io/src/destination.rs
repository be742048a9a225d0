//! Opened files that are never left half written.

use crate::error::FileError;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Where output goes: a file, or `-` for standard output.
#[derive(Clone, Debug)]
pub enum Destination {
    /// The standard output.
    StandardOutput,
    /// The file with this path.
    File(PathBuf),
}

/// A destination that can be written.
pub enum Opened {
    /// The standard output.
    StandardOutput,
    /// A pipe or a device, which has no content to protect.
    Stream(PathBuf, File),
    /// A new file that is to take the place of the path, or of an existing file there.
    File(PathBuf, NamedTempFile),
}

impl Destination {
    /// The destination that a command-line argument names.
    ///
    /// # Errors
    /// An empty name.
    pub fn parse(argument: &str) -> Result<Destination, String> {
        match argument {
            "" => Err("an empty file name".into()),
            "-" | "/dev/stdout" => Ok(Destination::StandardOutput),
            path => Ok(Destination::File(path.into())),
        }
    }

    /// The destination, ready to be written; an existing file stays as it is until then.
    ///
    /// # Errors
    /// A destination that cannot be written.
    pub fn open(&self) -> Result<Opened, FileError> {
        match self {
            Destination::StandardOutput => Ok(Opened::StandardOutput),
            Destination::File(path) => {
                Opened::for_path(path).map_err(|error| FileError::file(path, error))
            }
        }
    }
}

impl Opened {
    fn for_path(path: &Path) -> io::Result<Opened> {
        let target = link_target(path)?;
        let permissions = match OpenOptions::new().write(true).open(&target) {
            Ok(file) => {
                let metadata = file.metadata()?;
                if !metadata.is_file() {
                    return Ok(Opened::Stream(path.to_owned(), file));
                }
                Some(metadata.permissions())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // For the system's own words, in place of an error about a file that nobody named.
        folder.metadata()?;
        let file = tempfile::Builder::new()
            .prefix(".tuwtree-")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .map_err(|error| io::Error::from(error.kind()))?;
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions)?;
        }
        Ok(Opened::File(target, file))
    }

    /// Writes what `content` writes; a file appears whole or not at all. One whose name ends with
    /// `.gz` is packed.
    ///
    /// # Errors
    /// A failed write; an existing file is then as it was.
    pub fn write(
        self,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), FileError> {
        match self {
            Opened::StandardOutput => {
                let mut output = BufWriter::new(io::stdout().lock());
                content(&mut output)?;
                Ok(output.flush()?)
            }
            Opened::Stream(path, file) => {
                let mut output = BufWriter::new(file);
                let written = content(&mut output).and_then(|()| output.flush());
                written.map_err(|error| FileError::file(&path, error))
            }
            Opened::File(path, file) => {
                let mut output = BufWriter::new(file);
                let written = packed_if_named_so(&path, &mut output, content).and_then(|()| {
                    let file = output.into_inner().map_err(io::IntoInnerError::into_error)?;
                    Ok(file.persist(&path)?)
                });
                written.map(|_| ()).map_err(|error| FileError::file(&path, error))
            }
        }
    }
}

/// Writes what `content` writes, packed with gzip if the file's name ends with `.gz`.
fn packed_if_named_so(
    path: &Path,
    output: &mut dyn Write,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return content(output);
    }
    let mut packed = BufWriter::new(GzEncoder::new(output, Compression::default()));
    content(&mut packed)?;
    packed.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
    Ok(())
}

/// The most links that are followed from one to the next.
const MOST_LINKS: usize = 40;

/// Where a path leads through symbolic links, whether there is something or not.
fn link_target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match target.read_link() {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}
