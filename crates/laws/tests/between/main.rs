//! Laws between crates: bounds, constructions, optima, simulations and the judge, each held against the
//! others.

mod bounds;
mod judge;
mod judged_bounds;
mod latency_bounds;
mod level_bounds;
mod non_ordered;
mod overlapping;
mod ports;
mod rearranged;
mod rivals;
