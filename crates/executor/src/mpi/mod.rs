//! MPI's C interface, as far as it is needed: what rsmpi leaves out (persistent requests, error
//! codes, derived datatypes by byte, error handlers), made safe to call.
//!
//! Calls go to the `PMPI_` names where a preloaded library may have replaced the `MPI_` ones, so that
//! it does not call itself.

mod blocking;
mod communicator;
mod error;
mod native;
pub mod raw;

pub use blocking::{abort, library_version, processor_name};
pub use communicator::Communicator;
pub use error::{MpiError, check};
pub use native::{Layout, Persistent};
