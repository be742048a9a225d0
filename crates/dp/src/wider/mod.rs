//! Optimal trees of two wider classes, where part of the latency overlaps with other work.
//!
//! # Costs
//! [`Overlapping`]: a message of `s > 0` bytes that is ready at `t` occupies the receiver's port,
//! free from `F` on, from `max(F, t + lambda)`, for `o + beta s`. `lambda = 0` is the one-port
//! model of the rest of this crate.
//!
//! # Trees
//! In all of them each subtree spans consecutive ranks. They differ in the freedom of one receiver:
//!
//! ```text
//! receiver x           x holds          it may receive next
//! adjacent             [x]              a neighbouring range; and it copies its block only before a first
//!                                       message from the right, or after one from the left
//! copy-first           [x]              a neighbouring range; it copies first
//! consecutive          nothing          any range; then those next to what it received; its own block
//!                                       counts when they reach it
//! ```
//!
//! *Adjacent* is the class of OPT Proposition 3, which [`crate::optimal_adjacent`] searches. Each class is
//! part of the next: copying first never harms, since a copy delays only its own rank's clock,
//! and `max(g, t) + x <= max(0, t) + x + g`. Consecutive trees are those that
//! [`check_ordered`](tuwtree_model::check_ordered) admits. They contain the
//! strongly ordered trees of OPT Definition 3 as well (left subtrees outermost first), which
//! Proposition 3 does not: so [`optimal_binary`](crate::optimal_binary) beats [`crate::optimal_adjacent`] at
//! times, but never these.
//!
//! # Recurrences
//! `R(i,k)` is when the root of `[i..k]` may go on receiving: `g_i` if it is alone, else its
//! completion.
//!
//! ```text
//! C(i,j)   = least over i <= k < j of       R(i,k), then [k+1..j]       left part receives
//!                                           R(k+1,j), then [i..k]       right part receives
//!            and, consecutive only,         U_gj(i,j-1), U_gi(i+1,j)    the root comes last
//! U_g(a,b) = least of                       g, then [a..b]              all in one message
//!            over a <= k < b of             U_g(a,k), then [k+1..b]
//!                                           U_g(k+1,b), then [a..k]
//! F(i,j)   = as C, the part with the given root receives; U only where the root is at an end
//!
//! where "c, then [u..w]" is max(c, C(u,w) + lambda) + o + beta S(u,w), or c if blocks u to w are empty
//! ```
//!
//! `U_g(a,b)` is the time at which a rank that is free from `g` on has received exactly `[a..b]`,
//! which it is not part of. *Exact:* before its own rank is reached, only a receiver's range and
//! its clock matter, and a sooner clock is no worse; likewise afterwards; children are independent.
//! The clock before the first message is the copy's time, for any receiver: hence one table for
//! each distinct copy.
//!
//! # Engines
//! | engine | for | assumes | time |
//! |---|---|---|---|
//! | [`plain`] | any law ([`Receiving`]): tables by size, dear copies, empty blocks | nothing | O(p^3), consecutive O(p^3 G) |
//! | [`dense`] | [`Overlapping`] costs | copies take no longer than their messages | O(p^2), consecutive O(p^2 G) |
//! | [`optimal_within`] | consecutive trees | nothing | as the others, with so many cells of tables; exact, or with a bound |
//! | [`optimal_on_links`] | tables by size | nothing | as [`dense`], times the pieces of the law; exact where it rises with size, else with a bound |
//! | [`deadline_tree`] | trees of any size | nothing | nearly O(p), not optimal |
//! | [`deadline_place`] | the place of one process in such a tree, which others find alike | all sizes are known | a path of splits |
//! | [`optimal_binary_by_size`] | at most two children | nothing | O(p^3) |
//!
//! `G` is the number of distinct `max(lambda, copy)`; 1 wherever copies fit into one latency. Where
//! it is large, [`Engine::Dense`] rounds and says how much better a tree might be
//! ([`BoundedTree::at_least`]).
//!
//! # What this module does not do
//! Limits: one port, one level and no run lengths. `docs/consecutive-trees.md` has measured times
//! and tests.

mod binary;
mod class;
mod deadline;
pub mod dense;
mod empty;
mod lanes;
mod law;
mod on_links;
mod optimum;
mod piece_lanes;
mod pieces;
pub mod plain;
mod table;
mod tabulated;
mod tree;
mod within;

#[cfg(test)]
mod tests;

pub use binary::{binary_memory_needed, optimal_binary_by_size};
pub use class::Class;
pub use deadline::{
    ChildRange, Effort, OwnPlace, TickLaw, deadline_place, deadline_tree, deadline_tree_by_size,
    deadline_tree_in_ticks,
};
pub use law::{BySize, LawBySize, Overlapping, Receiving, Scaled};
pub use on_links::{optimal_on_links, outlay_on_links};
pub(crate) use optimum::optimal_by_size_with_busy_root;
pub use optimum::{
    BoundedTree, Engine, clocks_within, memory_needed, memory_needed_by_size, optimal,
    optimal_among, optimal_by_size,
};
pub use table::Table;
pub use tree::{completion, tree};
pub use within::{Outlay, optimal_within, outlay};
pub(crate) use within::{optimal_copy_first_with_busy_root, optimal_with_busy_root};
