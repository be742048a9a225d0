//! Laws between crates: bounds, constructions, optima and simulations, each judged by the others.

mod bounds;
mod latency_bounds;
mod non_ordered;
mod ports;
mod rivals;
