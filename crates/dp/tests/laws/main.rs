//! Laws of the dynamic programs: each against a plainer one, and against all trees of a few processors.

mod composed;
mod large;
mod optimal;
mod per_pair;
mod places;
mod runs;
