//! A laboratory for costs as networks have them: clusters in SimGrid's SMPI that are measured from
//! outside, and trees performed on them.
//!
//! All processes of a run start at one moment, and the last one's end counts.

mod experiment;
mod floods;
mod long;
mod platform;
pub(super) mod problems;
mod quick;
mod runs;
