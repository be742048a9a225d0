//! Schedules in the formats of other programs, one file a format.

pub mod c;
pub mod chakra;
pub mod dot;
mod exchanges;
pub mod goal;
mod nodes;
mod numbering;
pub mod smpi;
pub mod trace;

pub use exchanges::ExchangedMessages;
