//! Costs for people, as `tuwtree machine` prints them.

use super::Piece;
use crate::quantity::{per_byte, seconds};

/// Costs in seconds, described in words and a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// How many processes they are for, and where those are.
    pub processes: String,
    /// Labels of one word, and what is to be said of each.
    pub facts: Vec<(&'static str, String)>,
    /// The table's headings, one for each column.
    pub headings: Vec<String>,
    /// Rows of as many cells; none if there is too much for a table.
    pub rows: Vec<Vec<String>>,
}

/// The headings of a line of costs.
pub(super) const COSTS: [&str; 4] = ["alpha", "beta", "1 KiB", "1 MiB"];

/// The cells of a piece that holds for messages of less than `until` bytes.
pub(super) fn cells(Piece { from_bytes, alpha, beta }: Piece, until: u64) -> [String; 4] {
    let message = |bytes: u32| match (from_bytes..until).contains(&u64::from(bytes)) {
        true => seconds(alpha + beta * f64::from(bytes)),
        false => "-".to_owned(),
    };
    [seconds(alpha), per_byte(beta), message(1 << 10), message(1 << 20)]
}

/// Some words, each in a string of its own.
pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
