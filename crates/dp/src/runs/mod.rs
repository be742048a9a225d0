//! Run-length dynamic programming.

mod column;
mod events;
mod kept;
mod row;
mod sweep;
mod table;

pub use table::probe;
