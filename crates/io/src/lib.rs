//! Files, for all programs of tuwtree alike.
//!
//! - [`Source`]: what is read: a file or standard input, packed with gzip or not.
//! - [`sizes`], [`tree`], [`schedule`], [`machine`], [`measurements`], [`recording`], [`learned`]: a reader for each
//!   kind of document.
//! - [`Format`]: the forms of results, and the rule that chooses.
//! - [`Destination`]: where output goes; a file appears whole or not at all;
//!   [`abandon`] removes what a signal leaves half written.
//!
//! Documents themselves are defined where their content is: in `tuwtree-model`, `tuwtree-schedule` and
//! `tuwtree-measure`, which know no files.

mod assumed;
mod destination;
mod ending;
mod error;
mod format;
mod json;
pub mod learned;
mod levels;
pub mod limits;
mod listing;
pub mod machine;
pub mod measurements;
mod platform;
pub mod recording;
pub mod schedule;
mod shape;
pub mod sizes;
mod source;
pub mod table;
mod text;
pub mod tree;
mod unfinished;

pub use assumed::warnings;
pub use destination::{Destination, Opened, WrittenTwice};
pub use ending::ending;
pub use error::FileError;
pub use format::{Format, WrongFormat};
pub use levels::with_levels;
pub use source::{BuiltIn, Source};
pub use unfinished::abandon;
