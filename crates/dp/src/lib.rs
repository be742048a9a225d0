//! Optimal ordered gather and scatter trees by dynamic programming.
//!
//! Given a [`Problem`](tuwtree_model::Problem) with blocks and alpha, beta, gamma, [`optimal`] returns
//! an ordered tree of least completion time, with a given root or the best one, and
//! [`optimal_binary`] the same among binary trees. Scatter trees are gather trees run backwards and
//! have the same times.
//!
//! # Engines
//! All but the last find the same times. The first two fill a table, one time for each range
//! `[i..j]` of ranks; the third keeps only where the table changes.
//!
//! | engine | purpose | assumes | time | caveat |
//! |---|---|---|---|---|
//! | [`plain`] | the published recurrences | nothing | O(p^3) | slow beyond some thousands |
//! | [`dense`] | the same tables, fast | gamma <= beta | O(p^2) | memory: one value a range |
//! | [`runs`](tuwtree_runs) | a million processes | gamma <= beta; not for binary trees | nearly linear, observed | slower where latency is far above the mean block |
//! | [`published`] | what the published program reports | nothing | O(p^3) | not the optimum |
//!
//! [`non_ordered`] uses them for trees that need not be ordered, and finds the best of all trees of small
//! problems.
//!
//! [`default_method`] chooses; [`memory_needed`] says beforehand what the tables take.
//!
//! Where each pair of ranks has costs of its own, [`optimal_per_pair`] and
//! [`optimal_binary_per_pair`] find such trees for gather, scatter, broadcast and reduction:
//!
//! | engine | purpose | assumes | time | caveat |
//! |---|---|---|---|---|
//! | [`PairMethod::Plain`] | the published recurrence for any costs | nothing | O(p^5) | slow beyond a hundred |
//! | [`PairMethod::Hinges`] | the same table, fast | nothing | O(p^4 log p), as a rule O(p^4) | memory: O(p^3) |
//!
//! On machines with levels whose groups are adjacent ranks, [`levels::optimal`] finds the same trees in
//! O(p^3), also where laws are not linear or latency overlaps; [`composed`] has near-optimal ones for any
//! number of ranks, wherever these are. [`wider`] has wider classes of trees, and
//! latency that overlaps where all pairs share one law. The engines in the tables are for the papers'
//! one-port model.
//!
//! [`optimal_broadcast`] needs no table: with homogeneous costs the optimum is known.
//!
//! Ordered trees are found for one port, however many the problem has; [`non_ordered::exact()`] alone
//! knows several.
//!
//! # What an ordered tree is here
//! Every subtree spans consecutive ranks, and each message that a rank receives extends its
//! segment, which holds its own rank, on the left or on the right. Its own block is copied before a
//! first message from the right and after a first message from the left (OPT eqs. 5
//! and 6).
//!
//! This is the class that Proposition 3 optimises over; it is named `adjacent` ([`optimal_adjacent`]). [`optimal`] finds
//! trees of the widest class, consecutive ones ([`wider`]), which contain it. It is neither part of the strongly ordered
//! trees of Definition 3 nor the other way round: there, subtrees on the left of a root are
//! received outermost first, and that can be faster. Sizes 3, 3, 1, 4 with alpha = 2, beta = 1,
//! gamma = 0 take 12 here and 11 in a binary tree: root 3 receives 0 (2 + 3) while 1 receives 2,
//! and then what 1 has (2 + 4). So [`optimal_binary`] may beat [`optimal_adjacent`].
//!
//! # What this crate does not do
//! Except for [`wider`], it adds no alpha (the model's `ScaledSizes` does) and computes no completion time of a given
//! tree. It reads no clock. [`runs`](tuwtree_runs) and the engines for pairs work in parallel; their results do not depend on the
//! number of threads.
//!
//! # Source
//! OPT is Träff, "On Optimal Trees for Irregular Gather and Scatter Collectives".

mod binary_tree;
mod blocks;
mod broadcast;
pub mod composed;
pub mod dense;
mod error;
mod joins;
pub mod levels;
mod nest;
pub mod non_ordered;
mod optimum;
mod ordered;
mod per_pair;
pub mod plain;
pub mod polish;
mod progress;
pub mod published;
pub mod rotated;

mod table;
#[cfg(test)]
mod tests;
pub mod wider;

pub use broadcast::optimal_broadcast;
pub use error::DpError;
pub use optimum::{
    Method, Optimum, SETTLING_CELLS, default_binary_method, default_method, memory_needed, optimal,
    optimal_adjacent, optimal_binary,
};
pub use per_pair::{
    PairMethod, PairTrees, default_pair_method, memory_needed_per_pair, most_ranks_per_pair,
    optimal_binary_per_pair, optimal_per_pair,
};
pub use progress::Progress;
pub use table::{RootedTable, Triangle};
