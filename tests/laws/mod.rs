//! Laws that hold of every problem, checked on many.

pub(crate) mod all_trees;
mod bounds;
mod constructed;
mod fuzz;
mod large;
pub(crate) mod machines;
mod model_based;
mod non_ordered;
mod optimal;
mod order;
mod ordered_trees;
mod per_pair;
mod ports;
pub(crate) mod problems;
pub(crate) mod random_trees;
mod simulation;
mod verification;
