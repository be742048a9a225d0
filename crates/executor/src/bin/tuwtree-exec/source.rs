//! Schedules from files or standard input, packed with gzip or not.

use flate2::bufread::MultiGzDecoder;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use tuwtree_model::document::{Object, TreeDocument, shortened};
use tuwtree_schedule::{Schedule, document};

/// Where a schedule comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    StandardInput,
    File(PathBuf),
}

/// The first byte of all that gzip has packed, and of no text.
const GZIP: u8 = 0x1f;

impl Source {
    /// The source that a command-line argument names.
    pub(crate) fn parse(argument: &str) -> Result<Source, String> {
        match argument {
            "" => Err("an empty file name".into()),
            "-" => Ok(Source::StandardInput),
            path => Ok(Source::File(path.into())),
        }
    }

    /// The schedule in a schedule document, or that of the tree in a tree document.
    ///
    /// # Errors
    /// The source's name and what is wrong.
    pub(crate) fn schedule(&self) -> Result<Schedule, String> {
        self.read().map_err(|reason| format!("{self}: {}", shortened(&reason)))
    }

    fn read(&self) -> Result<Schedule, String> {
        let mut stream = self.open().map_err(|error| error.to_string())?;
        let start = stream.fill_buf().map_err(|error| error.to_string())?;
        let format = format!("\"{}\"", TreeDocument::FORMAT);
        let start = &start[..start.len().min(256)];
        if !start.windows(format.len()).any(|window| window == format.as_bytes()) {
            return document::read(stream).map_err(|error| error.to_string());
        }
        let Object(tree): Object<TreeDocument> =
            serde_json::from_reader(stream).map_err(|error| error.to_string())?;
        let problem = tree.problem.ok_or("the tree file holds no block sizes")?;
        let (operation, payload, costs) = problem.into_parts();
        Schedule::of_tree(&tree.tree, operation, payload, Some(costs))
            .map_err(|error| error.to_string())
    }

    fn open(&self) -> io::Result<impl BufRead + use<>> {
        let mut raw: Box<dyn BufRead> = match self {
            Source::StandardInput => Box::new(BufReader::new(io::stdin())),
            Source::File(path) => Box::new(BufReader::new(File::open(path)?)),
        };
        let is_packed = raw.fill_buf()?.first() == Some(&GZIP);
        let plain: Box<dyn Read> =
            if is_packed { Box::new(MultiGzDecoder::new(raw)) } else { Box::new(raw) };
        Ok(BufReader::new(plain))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::StandardInput => formatter.write_str("standard input"),
            Source::File(path) => path.display().fmt(formatter),
        }
    }
}
