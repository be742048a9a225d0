//! Files that rank 0 writes, whole or not at all.

use crate::stop::Stop;
use std::io::{self, Write};
use tuwtree_binding::Communicator;
use tuwtree_io::{Destination, Opened};

/// Tells people something: on standard output, unless a result for programs goes there.
pub(crate) fn tell(text: &str, is_taken: bool) {
    match is_taken {
        true => eprint!("{text}"),
        false => print!("{text}"),
    }
}

/// Fails if two of these are the same place, as rank 0 sees it. Collective.
///
/// # Errors
/// [`Stop::Usage`] with the name; what MPI returns.
pub(crate) fn check_different<'a>(
    all: impl IntoIterator<Item = &'a Destination>,
    communicator: &Communicator,
) -> Result<(), Stop> {
    let checked = match communicator.rank() {
        0 => Destination::check_different(all),
        _ => Ok(()),
    };
    let message = checked.map_or_else(|error| format!("--output: {error}"), |()| String::new());
    match communicator.told(&message, 0)? {
        message if message.is_empty() => Ok(()),
        message => Err(Stop::Usage(message)),
    }
}

/// A new file that is to take the place of another, or standard output; at rank 0 only.
pub(crate) struct NewFile {
    file: Option<Opened>,
}

impl NewFile {
    /// A file for this destination, opened before the work, so that it is not done in vain. Collective.
    ///
    /// # Errors
    /// A folder that cannot be written, known to all processes.
    pub(crate) fn open(
        destination: &Destination,
        communicator: &Communicator,
    ) -> Result<NewFile, Stop> {
        let opened = match communicator.rank() {
            0 => destination.open().map(Some),
            _ => Ok(None),
        };
        let message = opened.as_ref().err().map_or_else(String::new, ToString::to_string);
        match communicator.told(&message, 0)? {
            message if message.is_empty() => Ok(NewFile { file: opened.ok().flatten() }),
            message => Err(Stop::Shared(message)),
        }
    }

    /// Puts what `content` writes there; at other processes than 0 nothing.
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
