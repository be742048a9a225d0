//! Laws that hold of every problem, checked on many.

mod constructed;
mod optimal;
mod ordered_trees;
pub(crate) mod problems;
