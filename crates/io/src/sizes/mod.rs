//! Block sizes as text, CSV, JSON, NumPy's arrays or UCC's patterns; which one is read, the file itself tells.

mod csv;
mod npy;
mod pattern;

use crate::error::FileError;
use crate::json::{self, DocumentKind};
use crate::limits::{LARGEST_PATTERN, LARGEST_SIZES};
use crate::source::Source;
use crate::text::Numbers;
use serde::Deserialize;
use std::io::{self, BufRead, Read, Write};
use tuwtree_model::document::NumberList;
use tuwtree_model::{BlockSizes, MOST_RANKS, MessageSizes};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum SizesFormat {
    /// One size a line.
    Text,
    /// CsvColumns rank,size_bytes.
    Csv,
    /// A versioned document; see docs/formats.md.
    Json,
}

impl SizesFormat {
    /// Writes the sizes in this format.
    ///
    /// # Errors
    /// Errors of `output`.
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

/// Unit of the numbers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// Bytes, as the file says.
    Bytes,
    /// Elements, as the file says, with their size if the file has it.
    Elements(Option<u64>),
    /// The file does not say.
    Unsaid,
}

impl Counted {
    /// Bytes of one unit, if the user's elements have this size.
    fn bytes(self, element: Option<u64>) -> Result<u64, String> {
        match (self, element) {
            (Counted::Bytes, None) | (Counted::Unsaid, None) => Ok(1),
            (Counted::Elements(Some(own)), None) => Ok(own),
            (Counted::Elements(None), None) => {
                Err("it counts elements: say with --element-size how many bytes one has".into())
            }
            (Counted::Elements(_) | Counted::Unsaid, Some(bytes)) => Ok(bytes),
            (Counted::Bytes, Some(_)) => {
                Err("its sizes are in bytes; --element-size is for numbers of elements".into())
            }
        }
    }
}

/// The block sizes in a file or on standard input, in bytes.
///
/// JSON starts with `{` (a sizes document) or `[` (a bare list); CSV starts with a heading such as
/// `rank,size_bytes` or `rank;count`, or with the ranks 0 and 1; an array of NumPy is in a file `.npy`;
/// anything else is text: numbers between white space or commas, where `#` starts a comment.
///
/// # Errors
/// [`FileError::Content`] with the source's name, the line and the value.
pub fn read(source: &Source) -> Result<BlockSizes, FileError> {
    read_elements(source, None)
}

/// The block sizes in a file whose numbers count elements of this many bytes, unless it is `None`.
///
/// # Errors
/// As for [`read`]; sizes in bytes with an element size, counts of elements without one.
pub fn read_elements(source: &Source, element: Option<u64>) -> Result<BlockSizes, FileError> {
    let sizes = match source.ending().as_deref() {
        Some("npy") => npy::list(&source.bytes(LARGEST_SIZES)?).map(|list| (list, Counted::Unsaid)),
        _ => {
            return parse(source.stream(LARGEST_SIZES)?, element)
                .map_err(|error| source.failure(&error));
        }
    };
    sizes
        .and_then(|(list, counted)| in_bytes(list.into_iter().map(Ok), counted.bytes(element)?))
        .map_err(|error| source.failure(&error))
}

/// The messages of an alltoall in a file or on standard input, row after row, row = sender: a JSON list of rows, an
/// array of NumPy (`.npy`), a pattern of UCC (`.ptini`), or numbers between white space or commas, where `#` starts a
/// comment. The numbers count elements of this many bytes, unless that is `None`.
///
/// # Errors
/// [`FileError::Content`] with the source's name, the line and the value.
pub fn read_matrix(source: &Source, element: Option<u64>) -> Result<MessageSizes, FileError> {
    let read = match source.ending().as_deref() {
        Some("npy") => {
            npy::square(&source.bytes(LARGEST_SIZES)?).map(|list| (list, Counted::Unsaid))
        }
        Some("ptini") => pattern::first(&source.text_of(source.stream(LARGEST_PATTERN)?)?),
        _ => rows(source)?.map(|list| (list, Counted::Unsaid)),
    };
    read.and_then(|(list, counted)| {
        let bytes = counted.bytes(element)?;
        let list = list.into_iter().map(|number| times(number, bytes));
        MessageSizes::new(list.collect::<Result<Vec<u64>, _>>()?).map_err(|error| error.to_string())
    })
    .map_err(|error| source.failure(&error))
}

/// The rows of a matrix in a text, one after the other.
fn rows(source: &Source) -> Result<Result<Vec<u64>, String>, FileError> {
    let mut stream = source.stream(LARGEST_SIZES)?;
    let start = stream.fill_buf().map_err(|error| source.failure(&error))?;
    Ok(match start.trim_ascii_start().starts_with(b"[") {
        true => json::value::<Vec<NumberList>>(stream)
            .map(|rows| rows.into_iter().flat_map(|NumberList(row)| row).collect()),
        false => Numbers::new(stream).take(MOST_RANKS + 1).collect::<Result<Vec<u64>, _>>(),
    })
}

/// A number of elements in bytes.
fn times(number: u64, bytes: u64) -> Result<u64, String> {
    number
        .checked_mul(bytes)
        .ok_or_else(|| format!("{number} elements of {bytes} bytes are more than 2^64 - 1 bytes"))
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
        false => Numbers::new(stream).take(MOST_RANKS + 1).collect(),
    };
    list.map_err(|error| source.failure(&error))
}

/// Form of block sizes in a text.
enum Form {
    Document,
    List,
    Csv(csv::CsvColumns),
    Text,
}

/// Bytes of a text that are examined to tell CSV from plain numbers: a heading behind more comments is not found.
const BEGINNING: u64 = 1 << 16;

fn parse(mut stream: impl BufRead, element: Option<u64>) -> Result<BlockSizes, String> {
    let mut beginning = Vec::new();
    let read = stream.by_ref().take(BEGINNING).read_to_end(&mut beginning);
    read.map_err(|error| error.to_string())?;
    let form = form(&beginning)?;
    let text = beginning.as_slice().chain(stream);
    match form {
        Form::Document => {
            let SizesDocument { block_sizes_bytes, .. } = json::document(KIND, text)?;
            in_bytes(block_sizes_bytes.0.into_iter().map(Ok), Counted::Bytes.bytes(element)?)
        }
        Form::List => {
            let list = json::value::<NumberList>(text)?.0;
            in_bytes(list.into_iter().map(Ok), Counted::Unsaid.bytes(element)?)
        }
        Form::Csv(columns) => {
            let bytes = columns.counted.bytes(element)?;
            in_bytes(csv::ranked(text, columns)?.into_iter().map(Ok), bytes)
        }
        Form::Text => in_bytes(Numbers::new(text), Counted::Unsaid.bytes(element)?),
    }
}

/// The form of a text that begins so.
fn form(beginning: &[u8]) -> Result<Form, String> {
    Ok(match beginning.trim_ascii_start().first() {
        Some(b'{') => Form::Document,
        Some(b'[') => Form::List,
        _ => csv::columns(beginning)?.map_or(Form::Text, Form::Csv),
    })
}

/// The block sizes in an iterator of numbers in units of this many bytes, or the first fault.
fn in_bytes(
    numbers: impl Iterator<Item = Result<u64, String>>,
    bytes: u64,
) -> Result<BlockSizes, String> {
    let mut fault = None;
    let sizes = numbers.map_while(|number| {
        number.and_then(|number| times(number, bytes)).map_err(|error| fault = Some(error)).ok()
    });
    let sizes = BlockSizes::new(sizes);
    match fault {
        Some(error) => Err(error),
        None => sizes.map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> Result<Vec<u64>, String> {
        parse(text.as_bytes(), None).map(|sizes| sizes.iter().collect())
    }

    #[test]
    fn every_format_gives_the_same_sizes() {
        for text in [
            "1 20 0\n",
            "1,20,0",
            "1, 20,\n0 # the last\n",
            "# three\n\n1\n20\r\n0",
            "rank,size_bytes\n0,1\n1,20\n2,0\n",
            "rank;bytes\n2;0\n0;1\n1;20\n",
            "rank\tsize_bytes\n0\t1\n1\t20\n2\t0\n",
            "0;1\n1;20\n2;0\n",
            "0,1\n1,20\n2,0\n",
            "# from R\n\"Rank\",\"size_bytes\"\r\n0,1\r\n1,20\r\n2,0\r\n",
            "[1, 20, 0]",
            r#"{"format":"tuwtree-sizes","version":1,"block_sizes_bytes":[1,20,0]}"#,
        ] {
            assert_eq!(sizes(text), Ok(vec![1, 20, 0]), "{text:?}");
        }
    }

    #[test]
    fn numbers_of_elements_become_bytes() {
        for text in ["1 20 0", "[1, 20, 0]", "rank,count\n1,20\n2,0\n0,1\n", "0,1\n1,20\n2,0"] {
            let sizes = parse(text.as_bytes(), Some(8)).unwrap();
            assert_eq!(sizes.iter().collect::<Vec<_>>(), [8, 160, 0], "{text:?}");
        }
        for (text, element, message) in [
            ("rank,size_bytes\n0,1", 8, "its sizes are in bytes"),
            (r#"{"format":"tuwtree-sizes","version":1,"block_sizes_bytes":[1]}"#, 8, "in bytes"),
            ("5", u64::MAX, "5 elements of 18446744073709551615 bytes are more than"),
        ] {
            let error = parse(text.as_bytes(), Some(element)).unwrap_err();
            assert!(error.contains(message), "{text:?}: {error}");
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
            ("rank,weight\n0,1", "line 1: columns rank,weight"),
            ("rank,size_bytes\n1,1", "there is no rank 0, but rank 1"),
            ("rank,size_bytes\n0,1\n1,2\n0,3", "line 4: rank 0 a second time"),
            ("rank,size_bytes\n0,1\nx,2", "line 3: \"x\" is not a rank"),
            ("rank,count\n0,1", "--element-size"),
            ("0,5\n1,6\n7", "line: 3"),
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
