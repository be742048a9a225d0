//! Laws that hold of every problem, checked on many.

mod optimal;
mod ordered_trees;
