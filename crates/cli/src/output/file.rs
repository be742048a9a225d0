//! Output files that are never left half written.

use crate::error::CliError;
use std::fs::{OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where output goes: a file, or `-` for standard output.
#[derive(Clone, Debug)]
pub(crate) enum Destination {
    StandardOutput,
    File(PathBuf),
}

impl Destination {
    /// The destination that a command-line argument names.
    pub(crate) fn parse(argument: &str) -> Result<Destination, String> {
        match argument {
            "" => Err("an empty file name".into()),
            "-" => Ok(Destination::StandardOutput),
            path => Ok(Destination::File(path.into())),
        }
    }

    /// Writes what `content` writes: to a new file that takes the old one's place only when it is
    /// complete, or to standard output.
    ///
    /// # Errors
    /// A destination that cannot be written; an existing file is then as it was.
    pub(crate) fn write(
        &self,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), CliError> {
        match self {
            Destination::StandardOutput => {
                let mut output = BufWriter::new(io::stdout().lock());
                content(&mut output)?;
                Ok(output.flush()?)
            }
            Destination::File(path) => {
                // A pipe or a device has no content to protect.
                let written = match path.metadata() {
                    Ok(metadata) if !metadata.is_file() => write_in_place(path, content),
                    _ => replace(path, content),
                };
                written.map_err(|error| CliError::file(path, error))
            }
        }
    }
}

fn write_in_place(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut output = BufWriter::new(OpenOptions::new().write(true).open(path)?);
    content(&mut output)?;
    output.flush()
}

fn replace(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // Through a link, the file that it points to is replaced, not the link.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let permissions = match path.metadata() {
        Ok(metadata) => metadata.permissions(),
        Err(_) => Permissions::from_mode(0o666),
    };
    let mut output = BufWriter::new(
        tempfile::Builder::new()
            .prefix(".tuwtree-")
            .permissions(permissions)
            .tempfile_in(folder)?,
    );
    content(&mut output)?;
    let file = output.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.persist(&path)?;
    Ok(())
}
