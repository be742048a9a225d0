//! Block sizes in two columns: ranks, in any order, and their counts.

use super::Counted;
use crate::limits::LONGEST_VALUE;
use crate::text::whole;
use std::io::{self, Read};
use tuwtree_model::{MOST_RANKS, Rank};

/// Format of the columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct CsvColumns {
    separator: u8,
    has_heading: bool,
    pub(super) counted: Counted,
}

/// The names of a second column, and its unit.
const NAMES: [(&str, Counted); 4] = [
    ("size_bytes", Counted::Bytes),
    ("bytes", Counted::Bytes),
    ("count", Counted::Elements(None)),
    ("counts", Counted::Elements(None)),
];

/// The columns of a text that begins so, if it has any: with a heading that starts with `rank`, or ranks 0 and 1
/// at the start of its first two lines of two values.
///
/// # Errors
/// A heading of other columns.
pub(super) fn columns(beginning: &[u8]) -> Result<Option<CsvColumns>, String> {
    let lines = beginning.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let Some(first) = lines.next() else { return Ok(None) };
    let separator = *first.iter().find(|byte| b",;\t".contains(byte)).unwrap_or(&b',');
    let values = |line: &[u8]| -> Vec<String> {
        let values = line.split(|&byte| byte == separator);
        values
            .map(|value| {
                String::from_utf8_lossy(value).trim().trim_matches('"').trim().to_lowercase()
            })
            .collect()
    };
    let heading = values(first);
    if heading[0].starts_with("rank") {
        let counted = match heading.as_slice() {
            [rank, second] if rank == "rank" => NAMES.iter().find(|(name, _)| name == second),
            _ => None,
        };
        let Some((_, counted)) = counted else {
            let heading = heading.join(",");
            return Err(format!(
                "line 1: columns {heading}; rank and size_bytes, or rank and count, are expected"
            ));
        };
        return Ok(Some(CsvColumns { separator, has_heading: true, counted: *counted }));
    }
    let starts_with = |values: &[String], rank: &str| values.len() == 2 && values[0] == rank;
    let is_ranked = starts_with(&heading, "0")
        && lines.next().is_some_and(|second| starts_with(&values(second), "1"));
    Ok(is_ranked.then_some(CsvColumns { separator, has_heading: false, counted: Counted::Unsaid }))
}

/// The second column by the first one, which has every rank once.
///
/// # Errors
/// Values that are no numbers, ranks that are there twice or not at all, with their lines.
pub(super) fn ranked(text: impl Read, columns: CsvColumns) -> Result<Vec<u64>, String> {
    let reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .delimiter(columns.separator)
        .has_headers(columns.has_heading)
        .from_reader(Quoted { input: text, is_open: false, line: 0 });
    let mut numbers: Vec<u64> = Vec::new();
    let mut later: Vec<(Rank, u64, u64)> = Vec::new();
    for record in reader.into_records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let [rank, number] = [record.get(0), record.get(1)].map(Option::unwrap_or_default);
        let rank: Rank = rank.parse().ok().filter(|rank| *rank < MOST_RANKS).ok_or_else(|| {
            format!("line {line}: {rank:?} is not a rank, from 0 to {}", MOST_RANKS - 1)
        })?;
        let number = whole(number, line)?;
        match later.is_empty() && rank == numbers.len() {
            true => numbers.push(number),
            false => later.push((rank, line, number)),
        }
    }
    later.sort_unstable();
    for (rank, line, number) in later {
        match rank.cmp(&numbers.len()) {
            std::cmp::Ordering::Equal => numbers.push(number),
            std::cmp::Ordering::Less => {
                return Err(format!("line {line}: rank {rank} a second time"));
            }
            std::cmp::Ordering::Greater => {
                return Err(format!(
                    "there is no rank {}, but rank {rank} in line {line}",
                    numbers.len()
                ));
            }
        }
    }
    Ok(numbers)
}

/// A text in which quotation marks are closed in the line where they are opened: one that is not would
/// swallow all the rest. Lines are not endless either.
struct Quoted<R> {
    input: R,
    is_open: bool,
    /// Number of bytes of this line that were read.
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
