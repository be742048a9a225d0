//! Wider classes of ordered trees, under costs in which latency overlaps.

mod class;
mod law;

pub use class::Class;
pub use law::{BySize, Overlapping, Receiving, Scaled};
