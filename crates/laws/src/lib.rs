//! What the laws of the other crates are checked on: random problems, machines and trees for
//! properties, and all trees over a few ranks for exhaustive search. For tests only.
//!
//! A crate's laws are in its `tests/laws`. Those that set several crates against each other, such as
//! "no construction beats the optimum", are here in `tests/between`: `dp` and `treegen` do not see
//! each other, not even in their tests.

pub mod all_trees;
pub mod machines;
pub mod ordered_trees;
pub mod pairs;
pub mod problems;
pub mod random_trees;
