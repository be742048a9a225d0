//! Laws that hold of every problem, checked on many.

mod constructed;
mod fuzz;
mod large;
mod optimal;
mod ordered_trees;
pub(crate) mod problems;
pub(crate) mod random_trees;
mod simulation;
mod verification;
