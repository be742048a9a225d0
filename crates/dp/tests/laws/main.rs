//! Laws of the dynamic programs: each against a plainer one, and against all trees of a few ranks.

mod composed;
mod large;
mod optimal;
mod per_pair;
mod places;
