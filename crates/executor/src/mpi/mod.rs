//! MPI's C interface, as far as it is needed: what rsmpi leaves out (persistent requests, error
//! codes, derived datatypes by byte, error handlers), made safe to call.
//!
//! Calls go to the `PMPI_` names where a preloaded library may have replaced the `MPI_` ones, so that
//! it does not call itself.

mod arguments;
mod attributes;
mod blocks;
mod communicator;
mod error;
mod messages;
mod raise;
pub mod raw;

pub use arguments::{ArgumentError, Arguments, Parsed};
pub(crate) use attributes::{give, value_of};
pub use blocks::{Blocks, BlocksError, Span};
pub use communicator::Communicator;
pub use error::{MpiError, check};
pub use messages::Pending;
pub(crate) use raise::raise;
