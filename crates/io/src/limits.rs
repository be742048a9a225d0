//! Limits on the unpacked size of each kind of document.
//!
//! A packed file of a few megabytes can stand for gigabytes. Each limit is the need of the largest document of its
//! kind, so that no honest one is refused; memory is spent only on kept data.

use tuwtree_model::{Costs, MOST_RANKS};

/// The most bytes of a list of block sizes: 20 digits, a separator and a rank for each process.
pub const LARGEST_SIZES: u64 = 32 * MOST_RANKS as u64;

/// The most bytes of a tree: for each process its rank, its list's brackets, its block, and blanks.
pub const LARGEST_TREE: u64 = 48 * MOST_RANKS as u64;

/// The most bytes of a schedule: 80 for each process of the largest problem.
pub const LARGEST_SCHEDULE: u64 = 80 * MOST_RANKS as u64;

/// The most bytes of a machine: 32 for each of two costs of every pair, of as many processes as costs
/// are expanded for, and as many for each process. That is a line of eight blanks, 17 digits with point
/// and exponent, and a comma, as `machine --matrix --format json` prints it.
pub const LARGEST_MACHINE: u64 = 64 * (Costs::MOST_EXPANDED * (Costs::MOST_EXPANDED + 1)) as u64;

/// The most bytes of a machine in XML, which is held as a tree of elements: SimGrid's platform
/// of all of Grid'5000 has less than a million.
pub const LARGEST_XML: u64 = 1 << 24;

/// The most bytes of measured times: some forty million repetitions.
pub const LARGEST_MEASUREMENTS: u64 = 1 << 30;

/// The most bytes of a pattern of UCC, which is read as a whole: some fifty million counts.
pub const LARGEST_PATTERN: u64 = 1 << 28;

/// The most bytes of a table of algorithms, or of the library that has it: Debian's `libmpich.so` has 41 million.
pub const LARGEST_TABLE: u64 = 1 << 28;

/// The most bytes of a recording of calls: 20 digits and a separator for each block of the four million that
/// are recorded at most, and the rest of the document.
pub const LARGEST_RECORDING: u64 = 1 << 28;

/// The most bytes of a document of learned times: some ten thousand classes of calls.
pub const LARGEST_LEARNED: u64 = 1 << 22;

/// The most blanks in a row, in bytes: no document has as many, but what a device or a packed file
/// yields without end may be nothing else.
pub const MOST_BLANKS: u64 = 1 << 24;

/// The most bytes of one name, text or number in a JSON document, and of a line of CSV: a parser holds as
/// much in memory.
pub const LONGEST_VALUE: usize = 1 << 20;

/// The most bytes of one block size or displacement in a text.
pub const LONGEST_NUMBER: usize = 1 << 12;
