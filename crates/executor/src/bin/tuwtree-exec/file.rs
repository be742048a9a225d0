//! Files that processor 0 writes, whole or not at all.

use crate::stop::Stop;
use std::io::{self, Write};
use std::path::Path;
use tuwtree_executor::sys::Communicator;
use tuwtree_io::{Destination, Opened};

/// A new file that is to take the place of a path; at processor 0 only.
pub(crate) struct NewFile {
    file: Option<Opened>,
}

impl NewFile {
    /// A file for this path, opened before the work, so that it is not done in vain. Collective.
    ///
    /// # Errors
    /// A folder that cannot be written, known to all processors.
    pub(crate) fn open(path: &Path, communicator: &Communicator) -> Result<NewFile, Stop> {
        let opened = match communicator.rank() {
            0 => Destination::File(path.to_owned()).open().map(Some),
            _ => Ok(None),
        };
        let message = opened.as_ref().err().map_or_else(String::new, ToString::to_string);
        match communicator.told(&message, 0)? {
            message if message.is_empty() => Ok(NewFile { file: opened.ok().flatten() }),
            message => Err(Stop::Shared(message)),
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
        file.write(content).map_err(|error| Stop::alone(&error))
    }
}
