//! Laws that hold of every problem, checked on many.

mod constructed;
mod problems;
