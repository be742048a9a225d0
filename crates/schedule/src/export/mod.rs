//! Schedules in the formats of other programs, one file a format.

pub mod c;
pub mod dot;
pub mod goal;
pub mod smpi;
pub mod trace;
