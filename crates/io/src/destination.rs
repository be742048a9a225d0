//! Destinations of output: files that appear whole or not at all.

use crate::error::FileError;
use crate::unfinished::Unfinished;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A destination of output: a file, or `-` for standard output.
#[derive(Clone, Debug)]
pub enum Destination {
    /// The standard output.
    StandardOutput,
    /// The file with this path.
    File(PathBuf),
}

/// Several outputs that would go to the same place, in words for the user: wrong usage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is written twice")]
pub struct WrittenTwice(String);

/// A destination that can be written.
pub struct Opened(Writing);

/// Way of writing to a destination.
enum Writing {
    StandardOutput,
    /// A pipe or a device, which has no content to protect.
    Stream(PathBuf, File),
    /// A new file that is to take the place of the target, or of an existing file there with these
    /// permissions.
    File {
        target: PathBuf,
        permissions: Option<Permissions>,
    },
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

    /// Fails if two of these are the same place: standard output, or one file, also by way of links.
    ///
    /// # Errors
    /// [`WrittenTwice`] with the name of the later one.
    pub fn check_different<'a>(
        all: impl IntoIterator<Item = &'a Destination>,
    ) -> Result<(), WrittenTwice> {
        let mut places = Vec::new();
        for one in all {
            let place = one.place();
            if places.contains(&place) {
                return Err(WrittenTwice(one.to_string()));
            }
            places.push(place);
        }
        Ok(())
    }

    /// The file that is written, by whatever name it goes; `None` for standard output.
    fn place(&self) -> Option<PathBuf> {
        let Destination::File(path) = self else { return None };
        let target = link_target(path).unwrap_or_else(|_| path.clone());
        // A file that is not there yet has a folder that is, or cannot be written anyway.
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        match (folder.canonicalize(), target.file_name()) {
            (Ok(folder), Some(name)) => Some(folder.join(name)),
            _ => Some(target),
        }
    }

    /// The destination, ready to be written; an existing file stays as it is until then, and no other
    /// is made.
    ///
    /// # Errors
    /// A destination that cannot be written.
    pub fn open(&self) -> Result<Opened, FileError> {
        match self {
            Destination::StandardOutput => Ok(Opened(Writing::StandardOutput)),
            Destination::File(path) => {
                way_to(path).map(Opened).map_err(|error| FileError::file(path, error))
            }
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Destination::StandardOutput => formatter.write_str("standard output"),
            Destination::File(path) => path.display().fmt(formatter),
        }
    }
}

fn way_to(path: &Path) -> io::Result<Writing> {
    let target = link_target(path)?;
    let permissions = match OpenOptions::new().write(true).open(&target) {
        Ok(file) => {
            let metadata = file.metadata()?;
            if !metadata.is_file() {
                return Ok(Writing::Stream(path.to_owned(), file));
            }
            Some(metadata.permissions())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // Tells now, and not after long work, that the folder takes no file.
    drop(Unfinished::beside(&target)?);
    Ok(Writing::File { target, permissions })
}

impl Opened {
    /// Writes what `content` writes; a file appears whole or not at all. One whose name ends with
    /// `.gz` is packed.
    ///
    /// # Errors
    /// A failed write; an existing file is then as it was.
    pub fn write(
        self,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), FileError> {
        match self.0 {
            Writing::StandardOutput => {
                let mut output = BufWriter::new(io::stdout().lock());
                content(&mut output)?;
                Ok(output.flush()?)
            }
            Writing::Stream(path, file) => {
                let mut output = BufWriter::new(file);
                let written = content(&mut output).and_then(|()| output.flush());
                written.map_err(|error| FileError::file(&path, error))
            }
            Writing::File { target, permissions } => write_whole(&target, permissions, content)
                .map_err(|error| FileError::file(&target, error)),
        }
    }
}

fn write_whole(
    target: &Path,
    permissions: Option<Permissions>,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let unfinished = Unfinished::beside(target)?;
    if let Some(permissions) = permissions {
        unfinished.file().set_permissions(permissions)?;
    }
    let mut output = BufWriter::new(unfinished.file());
    packed_if_named_so(target, &mut output, content)?;
    output.flush()?;
    drop(output);
    unfinished.persist(target)
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

/// Target of a path through symbolic links, existing or not.
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
