//! Block sizes as text, CSV or JSON; which one is read, the text itself tells.

use crate::error::FileError;
use crate::source::Source;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use tuwtree_model::document::{Header, Object};
use tuwtree_model::{BlockSizes, MOST_PROCESSORS};

/// The name of the JSON format.
pub const FORMAT: &str = "tuwtree-sizes";
/// Its newest version, which is the one that is written.
pub const VERSION: u64 = 1;

/// A sizes document.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SizesDocument {
    format: String,
    version: u64,
    /// The blocks in rank order.
    block_sizes_bytes: Vec<u64>,
}

/// A format for block sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizesFormat {
    /// One size a line.
    Text,
    /// Columns rank,size_bytes.
    Csv,
    /// A versioned document; see docs/formats.md.
    Json,
}

impl SizesFormat {
    /// All of them.
    pub const ALL: [SizesFormat; 3] = [SizesFormat::Text, SizesFormat::Csv, SizesFormat::Json];

    /// The name by which users call the format.
    pub fn name(self) -> &'static str {
        match self {
            SizesFormat::Text => "text",
            SizesFormat::Csv => "csv",
            SizesFormat::Json => "json",
        }
    }

    /// What the format looks like, in a line.
    pub fn summary(self) -> &'static str {
        match self {
            SizesFormat::Text => "one size a line",
            SizesFormat::Csv => "columns rank,size_bytes",
            SizesFormat::Json => "a versioned document; see docs/formats.md",
        }
    }

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
                let document = SizesDocument {
                    format: FORMAT.into(),
                    version: VERSION,
                    block_sizes_bytes: sizes.iter().collect(),
                };
                serde_json::to_writer(&mut *output, &document)?;
                writeln!(output)?;
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
    let text = source.read()?;
    parse(&text).map_err(|error| source.failure(&error))
}

/// The displacements in a file or on standard input, in bytes: a JSON list, or text as for sizes.
///
/// # Errors
/// [`FileError::Content`] with the source's name, the line and the value.
pub fn read_displacements(source: &Source) -> Result<Vec<u64>, FileError> {
    let text = source.read()?;
    let list = match text.trim_start().starts_with('[') {
        true => serde_json::from_str(&text).map_err(|error| error.to_string()),
        false => parse_text(&text),
    };
    list.map_err(|error| source.failure(&error))
}

fn parse(text: &str) -> Result<BlockSizes, String> {
    let sizes = match text.trim_start().chars().next() {
        Some('{') => parse_document(text)?,
        Some('[') => serde_json::from_str(text).map_err(|error| error.to_string())?,
        _ if is_csv(text) => parse_csv(text)?,
        _ => parse_text(text)?,
    };
    BlockSizes::new(sizes).map_err(|error| error.to_string())
}

fn parse_document(text: &str) -> Result<Vec<u64>, String> {
    let Object(header): Object<Header> =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    header.check(FORMAT, VERSION).map_err(|error| error.to_string())?;
    let Object(document): Object<SizesDocument> =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(document.block_sizes_bytes)
}

/// Whether the first line that is no comment is a heading.
fn is_csv(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.trim_start_matches('"').to_lowercase().starts_with("rank"))
}

fn parse_csv(text: &str) -> Result<Vec<u64>, String> {
    if text.matches('"').count() % 2 == 1 {
        return Err("a quotation mark without a second one".to_owned());
    }
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let columns = reader.headers().map_err(|error| error.to_string())?;
    if columns.iter().map(str::to_lowercase).ne(["rank", "size_bytes"]) {
        let found: Vec<&str> = columns.iter().collect();
        return Err(format!("line 1: columns {}; rank,size_bytes are expected", found.join(",")));
    }
    let mut sizes = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        if record[0].parse() != Ok(sizes.len()) {
            let expected = sizes.len();
            return Err(format!("line {line}: rank {:?}; {expected} is expected", &record[0]));
        }
        push_size(&mut sizes, &record[1], line)?;
    }
    Ok(sizes)
}

fn parse_text(text: &str) -> Result<Vec<u64>, String> {
    let mut sizes = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.split('#').next().unwrap_or_default().trim();
        // A comma may end a line, but two in a row, or one at its start, leave a size out.
        let content = content.strip_suffix(',').unwrap_or(content);
        if content.is_empty() {
            continue;
        }
        for field in content.split(',') {
            if field.trim().is_empty() {
                return Err(format!("line {line}: an empty value between commas"));
            }
            for value in field.split_whitespace() {
                push_size(&mut sizes, value, line)?;
            }
        }
    }
    Ok(sizes)
}

/// Appends one size, or says what is wrong with it.
fn push_size(sizes: &mut Vec<u64>, value: &str, line: u64) -> Result<(), String> {
    if sizes.len() == MOST_PROCESSORS {
        return Err(format!("line {line}: more than {MOST_PROCESSORS} block sizes"));
    }
    let digits = value.strip_prefix('+').unwrap_or(value);
    let size = digits.parse().ok().filter(|_| digits.starts_with(|c: char| c.is_ascii_digit()));
    sizes.push(size.ok_or_else(|| {
        format!(
            "line {line}: {value:?} is not a block size, a whole number of bytes from 0 to 2^64 - 1"
        )
    })?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> Result<Vec<u64>, String> {
        parse(text).map(|sizes| sizes.iter().collect())
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
