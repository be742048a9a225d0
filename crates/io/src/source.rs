//! Sources of documents: files or standard input, packed with gzip or not.

use crate::ending::ending;
use crate::error::FileError;
use crate::limits::MOST_BLANKS;
use flate2::bufread::MultiGzDecoder;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use tuwtree_model::document::shortened;

/// A source of text: a file, `-` for standard input, or the program itself.
#[derive(Clone, Debug)]
pub enum Source {
    /// The standard input.
    StandardInput,
    /// The file with this path.
    File(PathBuf),
    /// A document that is built in.
    BuiltIn(&'static BuiltIn),
}

/// A document that is built in, whose name stands for it on the command line.
#[derive(Debug)]
pub struct BuiltIn {
    /// The name, which no path with a folder or an ending can be.
    pub name: &'static str,
    /// The file that it was.
    pub(crate) file: &'static str,
    pub(crate) text: &'static str,
}

impl Source {
    /// The source that a command-line argument names.
    ///
    /// # Errors
    /// An empty name.
    pub fn parse(argument: &str) -> Result<Source, String> {
        match argument {
            "" => Err("an empty file name".into()),
            "-" => Ok(Source::StandardInput),
            path => Ok(Source::File(path.into())),
        }
    }

    /// The text as a stream of at most `limit` bytes, without the byte-order mark that some editors put in front of it.
    ///
    /// # Errors
    /// A file that cannot be opened or read; reading fails beyond the limit.
    pub(crate) fn stream(&self, limit: u64) -> Result<impl BufRead + use<>, FileError> {
        self.open(limit).map_err(|error| self.failure(&error))
    }

    /// Ending of the file's name, in lower case, before a `.gz`; `None` for standard input.
    pub(crate) fn ending(&self) -> Option<String> {
        match self {
            Source::StandardInput => None,
            Source::File(path) => ending(path),
            Source::BuiltIn(sample) => ending(Path::new(sample.file)),
        }
    }

    /// The whole text of a stream that this source has opened.
    ///
    /// # Errors
    /// A stream that cannot be read, is too large, or is not UTF-8.
    pub(crate) fn text_of(&self, mut stream: impl BufRead) -> Result<String, FileError> {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).map_err(|error| self.failure(&error))?;
        String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = 1 + error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count();
            self.failure(&format!("line {line} is not UTF-8 text"))
        })
    }

    /// A failure to do with this source, which the reason may quote.
    pub fn failure(&self, reason: &dyn fmt::Display) -> FileError {
        FileError::Content {
            place: self.to_string(),
            reason: shortened(&in_words(&reason.to_string())).into_owned(),
        }
    }

    /// The bytes of a file that is no text, at most `limit`.
    ///
    /// # Errors
    /// A file that cannot be opened or read, or is larger.
    pub(crate) fn bytes(&self, limit: u64) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        let read = self.unpacked().and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
        read.map_err(|error| self.failure(&error))?;
        match bytes.len() as u64 > limit {
            true => Err(self.failure(&format!("more than {limit} bytes"))),
            false => Ok(bytes),
        }
    }

    fn open(&self, limit: u64) -> io::Result<impl BufRead + use<>> {
        let plain = self.unpacked()?;
        let mut text = BufReader::new(Limited { input: plain, limit, left: limit, blanks: 0 });
        let mark = "\u{feff}".as_bytes();
        if text.fill_buf()?.starts_with(mark) {
            text.consume(mark.len());
        }
        Ok(text)
    }

    /// The content, unpacked.
    fn unpacked(&self) -> io::Result<Box<dyn Read>> {
        let mut raw: Box<dyn BufRead> = match self {
            Source::StandardInput => Box::new(BufReader::new(io::stdin())),
            Source::File(path) => Box::new(BufReader::new(File::open(path)?)),
            Source::BuiltIn(sample) => Box::new(sample.text.as_bytes()),
        };
        let is_packed = raw.fill_buf()?.first() == Some(&GZIP);
        Ok(if is_packed { Box::new(MultiGzDecoder::new(raw)) } else { Box::new(raw) })
    }
}

/// A parser's message with Rust's type names replaced by the allowed values.
fn in_words(message: &str) -> String {
    let types = [
        ("u8", "an integer from 0 to 255"),
        ("u16", "an integer from 0 to 65535"),
        ("u32", "an integer from 0 to 2^32 - 1"),
        ("u64", "an integer from 0 to 2^64 - 1"),
        ("usize", "an integer from 0 to 2^64 - 1"),
        ("f64", "a number"),
    ];
    // The type's name may end the message.
    let message = types.iter().fold(format!("{message} "), |text, (name, words)| {
        text.replace(&format!("expected {name} "), &format!("expected {words} "))
    });
    message.trim_end().to_owned()
}

/// The first byte of all that gzip has packed, and of no text.
const GZIP: u8 = 0x1f;

/// A text that is refused where it goes on for too long, or is none.
struct Limited<R> {
    input: R,
    limit: u64,
    left: u64,
    /// Number of blank bytes at the end, counted by whole reads.
    blanks: u64,
}

impl<R> Limited<R> {
    fn check(&mut self, read: &[u8]) -> Result<(), String> {
        let left = self.left.checked_sub(read.len() as u64);
        self.left = left.ok_or_else(|| format!("more than {} bytes", self.limit))?;
        if read.contains(&0) {
            return Err("it has bytes that are 0, and so is no UTF-8 text".to_owned());
        }
        match read.iter().all(u8::is_ascii_whitespace) {
            true => self.blanks += read.len() as u64,
            false => self.blanks = 0,
        }
        match self.blanks > MOST_BLANKS {
            true => Err(format!("more than {MOST_BLANKS} blanks in a row")),
            false => Ok(()),
        }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.check(&buffer[..count]).map_err(io::Error::other)?;
        Ok(count)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::StandardInput => formatter.write_str("standard input"),
            Source::File(path) => path.display().fmt(formatter),
            Source::BuiltIn(sample) => formatter.write_str(sample.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn file(content: &[u8]) -> (tempfile::TempDir, Source) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.json");
        std::fs::write(&path, content).unwrap();
        (folder, Source::File(path))
    }

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(content).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn what_unpacks_to_more_than_the_limit_is_refused() {
        let text = vec![b'1'; 1 << 20];
        let archive = packed(&text);
        assert!(archive.len() < 4096);
        let (_folder, source) = file(&archive);
        let read = |limit| source.stream(limit).and_then(|stream| source.text_of(stream));
        assert_eq!(read(1 << 20).unwrap().len(), 1 << 20);
        let error = read((1 << 20) - 1).unwrap_err().to_string();
        assert!(error.ends_with("file.json: more than 1048575 bytes"), "{error}");
    }

    #[test]
    fn the_ending_counts_before_gz() {
        let ending = |name: &str| Source::File(name.into()).ending();
        assert_eq!(ending("a/b.toml").as_deref(), Some("toml"));
        assert_eq!(ending("b.JSON.gz").as_deref(), Some("json"));
        assert_eq!((ending("b"), Source::StandardInput.ending()), (None, None));
    }
}
