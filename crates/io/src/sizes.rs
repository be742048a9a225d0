//! Block sizes as text, CSV or JSON; which one is read, the text itself tells.

use crate::error::FileError;
use crate::json::{self, DocumentKind};
use crate::limits::{LARGEST_SIZES, LONGEST_VALUE};
use crate::source::Source;
use crate::text::{Numbers, whole};
use serde::Deserialize;
use std::io::{self, BufRead, Read, Write};
use tuwtree_model::document::NumberList;
use tuwtree_model::{BlockSizes, BlockSizesError, MOST_PROCESSORS, MessageSizes};

/// The name of the JSON format.
pub const FORMAT: &str = "tuwtree-sizes";
/// Its newest version, which is the one that is written.
pub const VERSION: u64 = 1;

const KIND: DocumentKind =
    DocumentKind { name: "a document of block sizes", format: FORMAT, version: VERSION };

/// A sizes document as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SizesDocument {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "version")]
    _version: u64,
    /// The blocks in rank order.
    block_sizes_bytes: NumberList,
}

/// A format for block sizes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString,
)]
#[strum(serialize_all = "kebab-case")]
pub enum SizesFormat {
    /// One size a line.
    Text,
    /// Columns rank,size_bytes.
    Csv,
    /// A versioned document; see docs/formats.md.
    Json,
}

impl SizesFormat {
    /// Writes the sizes in this format.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn write(self, sizes: &BlockSizes, output: &mut dyn Write) -> io::Result<()> {
        match self {
            SizesFormat::Text => {
                for size in sizes.iter() {
                    writeln!(output, "{size}")?;
                }
            }
            SizesFormat::Csv => {
                writeln!(output, "rank,size_bytes")?;
                for (rank, size) in sizes.iter().enumerate() {
                    writeln!(output, "{rank},{size}")?;
                }
            }
            SizesFormat::Json => {
                // One by one: nothing is held twice, and no memory refused in the middle of a file.
                write!(output, "{{\"format\":\"{FORMAT}\",\"version\":{VERSION},")?;
                write!(output, "\"block_sizes_bytes\":[")?;
                for (rank, size) in sizes.iter().enumerate() {
                    write!(output, "{}{size}", if rank == 0 { "" } else { "," })?;
                }
                writeln!(output, "]}}")?;
            }
        }
        Ok(())
    }
}

/// The block sizes in a file or on standard input.
///
/// JSON starts with `{` (a sizes document) or `[` (a bare list); CSV starts with the line
/// `rank,size_bytes`; anything else is text: numbers between white space or commas, where `#` starts
/// a comment.
///
/// # Errors
/// [`FileError::Content`] with the source's name, the line and the value.
pub fn read(source: &Source) -> Result<BlockSizes, FileError> {
    parse(source.stream(LARGEST_SIZES)?).map_err(|error| source.failure(&error))
}

/// The messages of an alltoall in a file or on standard input, row after row, row = sender: a JSON list of
/// rows, or numbers between white space or commas, where `#` starts a comment.
///
/// # Errors
/// [`FileError::Content`] with the source's name, the line and the value.
pub fn read_matrix(source: &Source) -> Result<MessageSizes, FileError> {
    let mut stream = source.stream(LARGEST_SIZES)?;
    let start = stream.fill_buf().map_err(|error| source.failure(&error))?;
    let list = match start.trim_ascii_start().starts_with(b"[") {
        true => json::value::<Vec<NumberList>>(stream)
            .map(|rows| rows.into_iter().flat_map(|NumberList(row)| row).collect()),
        false => Numbers::new(stream).take(MOST_PROCESSORS + 1).collect::<Result<Vec<u64>, _>>(),
    };
    let list = list.map_err(|error| source.failure(&error))?;
    MessageSizes::new(list).map_err(|error| source.failure(&error))
}

/// The displacements in a file or on standard input, in bytes: a JSON list, or text as for sizes.
///
/// # Errors
/// [`FileError::Content`] with the source's name, the line and the value.
pub fn read_displacements(source: &Source) -> Result<Vec<u64>, FileError> {
    let mut stream = source.stream(LARGEST_SIZES)?;
    let start = stream.fill_buf().map_err(|error| source.failure(&error))?;
    let list = match start.trim_ascii_start().starts_with(b"[") {
        true => json::value(stream).map(|NumberList(list)| list),
        false => Numbers::new(stream).take(MOST_PROCESSORS + 1).collect(),
    };
    list.map_err(|error| source.failure(&error))
}

/// How block sizes are written in a text.
enum Form {
    Document,
    List,
    Csv,
    Text,
}

/// How much of a text is looked at to tell CSV from plain numbers: a heading behind more comments than
/// that is not found.
const BEGINNING: u64 = 1 << 16;

fn parse(mut stream: impl BufRead) -> Result<BlockSizes, String> {
    let mut beginning = Vec::new();
    let read = stream.by_ref().take(BEGINNING).read_to_end(&mut beginning);
    read.map_err(|error| error.to_string())?;
    let form = form(&beginning);
    let text = beginning.as_slice().chain(stream);
    let sizes = match form {
        Form::Document => json::document(KIND, text)
            .map(|SizesDocument { block_sizes_bytes, .. }| BlockSizes::new(block_sizes_bytes.0))?,
        Form::List => BlockSizes::new(json::value::<NumberList>(text)?.0),
        Form::Csv => sizes_of(ranked(text)?)?,
        Form::Text => sizes_of(Numbers::new(text))?,
    };
    sizes.map_err(|error| error.to_string())
}

/// The form of a text that begins so.
fn form(beginning: &[u8]) -> Form {
    match beginning.trim_ascii_start().first() {
        Some(b'{') => Form::Document,
        Some(b'[') => Form::List,
        _ if has_heading(beginning) => Form::Csv,
        _ => Form::Text,
    }
}

/// Whether the first line that is no comment is a heading.
fn has_heading(beginning: &[u8]) -> bool {
    let mut lines = beginning.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#")).unwrap_or_default();
    let first = first.iter().position(|&byte| byte != b'"').map_or(first, |at| &first[at..]);
    first.len() >= 4 && first[..4].eq_ignore_ascii_case(b"rank")
}

/// The block sizes in an iterator, or its first fault.
fn sizes_of(
    sizes: impl Iterator<Item = Result<u64, String>>,
) -> Result<Result<BlockSizes, BlockSizesError>, String> {
    let mut fault = None;
    let sizes = sizes.map_while(|size| size.map_err(|error| fault = Some(error)).ok());
    let sizes = BlockSizes::new(sizes);
    match fault {
        Some(error) => Err(error),
        None => Ok(sizes),
    }
}

/// The second column of a CSV text whose first one counts from 0.
fn ranked(text: impl Read) -> Result<impl Iterator<Item = Result<u64, String>>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(Quoted { input: text, is_open: false, line: 0 });
    let columns = reader.headers().map_err(|error| error.to_string())?;
    if columns.iter().map(str::to_lowercase).ne(["rank", "size_bytes"]) {
        let found: Vec<&str> = columns.iter().collect();
        return Err(format!("line 1: columns {}; rank,size_bytes are expected", found.join(",")));
    }
    let records = reader.into_records().zip(0_usize..);
    Ok(records.map(|(record, rank)| {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        match record[0].parse() == Ok(rank) {
            true => whole(&record[1], line),
            false => Err(format!("line {line}: rank {:?}; {rank} is expected", &record[0])),
        }
    }))
}

/// A text in which quotation marks are closed in the line where they are opened: one that is not would
/// swallow all the rest. Lines are not endless either.
struct Quoted<R> {
    input: R,
    is_open: bool,
    /// How many bytes of this line were read.
    line: usize,
}

impl<R: Read> Read for Quoted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        let is_end = count == 0 && !buffer.is_empty();
        for byte in &buffer[..count] {
            self.line = if *byte == b'\n' { 0 } else { self.line + 1 };
            match byte {
                b'"' => self.is_open = !self.is_open,
                b'\n' if self.is_open => return Err(unpaired()),
                _ => {}
            }
        }
        if self.line > LONGEST_VALUE {
            return Err(io::Error::other(format!("a line of more than {LONGEST_VALUE} bytes")));
        }
        match is_end && self.is_open {
            true => Err(unpaired()),
            false => Ok(count),
        }
    }
}

fn unpaired() -> io::Error {
    io::Error::other("a quotation mark without a second one")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> Result<Vec<u64>, String> {
        parse(text.as_bytes()).map(|sizes| sizes.iter().collect())
    }

    #[test]
    fn every_format_gives_the_same_sizes() {
        for text in [
            "1 20 0\n",
            "1,20,0",
            "1, 20,\n0 # the last\n",
            "# three\n\n1\n20\r\n0",
            "rank,size_bytes\n0,1\n1,20\n2,0\n",
            "# from R\n\"Rank\",\"size_bytes\"\r\n0,1\r\n1,20\r\n2,0\r\n",
            "[1, 20, 0]",
            r#"{"format":"tuwtree-sizes","version":1,"block_sizes_bytes":[1,20,0]}"#,
        ] {
            assert_eq!(sizes(text), Ok(vec![1, 20, 0]), "{text:?}");
        }
    }

    #[test]
    fn faults_are_named_with_line_and_value() {
        for (text, message) in [
            ("", "there are no block sizes"),
            ("1\n2 x", "line 2: \"x\" is not a block size"),
            ("1 -3", "line 1: \"-3\""),
            ("1\n\n2.5", "line 3: \"2.5\""),
            ("NaN", "line 1: \"NaN\""),
            ("1,,2", "line 1: an empty value"),
            ("99999999999999999999", "line 1: \"99999999999999999999\""),
            ("18446744073709551615 1", "add up to more than 2^64 - 1 bytes (block 1 is 1)"),
            ("rank,bytes\n0,1", "line 1: columns rank,bytes"),
            ("rank,size_bytes\n1,1", "line 2: rank \"1\"; 0 is expected"),
            ("rank,size_bytes\n0,1,2", "line: 2"),
            ("rank,size_bytes\n0,\"3\n", "a quotation mark"),
            ("[1, -2]", "invalid value: integer `-2`"),
            ("[1, 2", "EOF"),
            (r#"{"format":"tuwtree-sizes","version":2}"#, "version 2"),
            (r#"{"format":"x","version":1}"#, "format is \"x\""),
            (
                r#"{"format":"tuwtree-sizes","version":1,"block_sizes_bytes":[],"x":1}"#,
                "unknown field `x`",
            ),
        ] {
            let error = sizes(text).unwrap_err();
            assert!(error.contains(message), "{text:?}: {error}");
        }
    }
}
