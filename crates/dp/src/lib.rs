//! x

pub mod runs;
