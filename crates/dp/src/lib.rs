//! Optimal ordered gather and scatter trees by dynamic programming, homogeneous costs.
//!
//! Given block sizes and alpha, beta, gamma, [`optimal`] returns an ordered tree of least
//! completion time, with a given root or the best one, and [`optimal_binary`] the same among
//! binary trees. Scatter trees are gather trees run backwards and have the same times.
//!
//! # Engines
//! The first two fill the same tables, one time for each range `[i..j]` of processors.
//!
//! | engine | purpose | assumes | time | caveat |
//! |---|---|---|---|---|
//! | [`plain`] | the published recurrences | nothing | O(p^3) | slow beyond some thousand processors |
//! | [`dense`] | the same tables, fast | gamma <= beta | O(p^2) | memory: one value a range |
//! | [`published`] | what the published program reports | nothing | O(p^3) | not the optimum; for reproduction only |
//!
//! [`default_method`] chooses; [`memory_needed`] says beforehand what the tables take.
//!
//! # What an ordered tree is here
//! Every subtree spans consecutive ranks, and each message that a processor receives extends its
//! segment, which holds its own rank, on the left or on the right. Its own block is copied before a
//! first message from the right and after a first message from the left ([OPT](crate#source) eqs. 5 and 6).
//!
//! # What this crate does not do
//! It adds no alpha (the model's `ScaledSizes` does), computes no completion time of a given tree,
//! reads no clock and starts no thread.
//!
//! # Source
//! OPT is Träff, "On Optimal Trees for Irregular Gather and Scatter Collectives".

mod binary_tree;
pub mod dense;
mod error;
mod joins;
mod optimum;
mod ordered;
pub mod plain;
mod progress;
pub mod published;
mod table;

#[cfg(test)]
mod agreement;

pub use error::DpError;
pub use optimum::{
    Method, Optimum, default_method, memory_needed, optimal, optimal_binary, optimal_binary_with,
    optimal_with,
};
pub use progress::Progress;
pub use table::{RootedTable, Triangle};
