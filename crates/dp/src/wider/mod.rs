//! Optimal trees of wider classes, where latency overlaps.

mod class;
mod deadline;
pub mod dense;
mod empty;
mod lanes;
mod law;
mod optimum;
pub mod plain;
mod table;
mod tree;

#[cfg(test)]
mod exhaustive;
#[cfg(test)]
mod tests;

pub use class::Class;
pub use deadline::{Effort, deadline_tree};
pub use law::{BySize, Overlapping, Receiving, Scaled};
pub use optimum::{Engine, Solution, memory_needed, optimal};
pub use table::Table;
pub use tree::{completion, tree};
