//! MPI's C interface, as far as it is needed: what rsmpi leaves out (persistent requests, error
//! codes, derived datatypes by byte, error handlers), made safe to call.
//!
//! Calls go to the `PMPI_` names where a preloaded library may have replaced the `MPI_` ones, so that
//! it does not call itself.

mod blocking;
mod communicator;
mod datatype;
mod error;
mod memory;
mod library;
mod operator;
pub mod raw;
mod requests;

pub use blocking::{abort, library_version, processor_name};
pub use communicator::{Communicator, Refused};
pub use datatype::{Datatype, Element, LARGEST_COUNT};
pub use error::{MpiError, check};
pub use memory::{Memory, OutOfMemory};
pub use library::{Layout, Persistent};
pub use operator::{Operator, compose};
pub(crate) use requests::{Patience, Requests, Transfer, copy_by_message};
