//! Schedules in the formats of other programs, one file a format.

pub mod dot;
pub mod goal;
pub mod smpi;
