//! Costs for people, as `tuwtree machine` prints them.

use super::Link;
use crate::quantity::{per_byte, seconds};
use std::ops::Range;

/// Costs in seconds, described in words and a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Number of processes, and their placement.
    pub processes: String,
    /// Labels of one word, each with its description.
    pub facts: Vec<(&'static str, String)>,
    /// The table's headings, one for each column.
    pub headings: Vec<String>,
    /// Rows of as many cells; none if there is too much for a table.
    pub rows: Vec<Vec<String>>,
}

/// The headings of a line of costs. Times of messages are half a ping-pong: an undisturbed message.
pub(super) fn costs(overlaps: bool) -> &'static [&'static str] {
    match overlaps {
        false => &["alpha", "beta", "1 KiB", "1 MiB"],
        true => &["alpha", "overhead", "beta", "1 KiB", "1 MiB"],
    }
}

/// The cells of a line that holds for messages of these sizes.
pub(super) fn cells(link: Link, sizes: Range<u64>, overlaps: bool) -> Vec<String> {
    let Link { alpha, overhead, beta } = link;
    let message = |bytes: u32| match sizes.contains(&u64::from(bytes)) {
        true => seconds(alpha + beta * f64::from(bytes)),
        false => "-".to_owned(),
    };
    let mut cells = vec![seconds(alpha)];
    if overlaps {
        cells.push(seconds(overhead));
    }
    cells.extend([per_byte(beta), message(1 << 10), message(1 << 20)]);
    cells
}

/// Some words, each in a string of its own.
pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
