//! Laws that hold of every problem, checked on many.

pub(crate) mod all_trees;
mod bounds;
mod constructed;
mod large;
mod non_ordered;
mod optimal;
mod ordered_trees;
pub(crate) mod problems;
pub(crate) mod random_trees;
mod simulation;
