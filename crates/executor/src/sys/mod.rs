//! MPI's C interface, as far as it is needed: what rsmpi leaves out (persistent requests, error
//! codes, derived datatypes by byte, error handlers), made safe to call.
//!
//! Calls go to the `PMPI_` names where a preloaded library may have replaced the `MPI_` ones, so that
//! it does not call itself.

mod arguments;
mod attributes;
mod blocking;
mod blocks;
mod communicator;
mod datatype;
mod error;
mod library;
mod memory;
mod messages;
pub(crate) mod native;
mod operator;
mod persistent;
mod raise;
pub mod raw;
mod requests;

pub use arguments::{ArgumentError, Arguments, Parsed, Partition, PartitionMut};
pub(crate) use attributes::{give, value_of};
pub use blocking::{library_version, processor_name};
pub use blocks::{Blocks, BlocksError, Span};
pub use communicator::{Communicator, Refused, abort_all};
pub use datatype::{Datatype, Element, LARGEST_COUNT};
pub use error::{MpiError, check};
pub use library::{Layout, Persistent};
pub use memory::{Memory, OutOfMemory};
pub use messages::Pending;
pub use operator::{Operator, compose};
pub use persistent::NativeRequest;
pub use raise::last_text;
pub(crate) use raise::{Speaker, raise};
pub(crate) use requests::{Patience, Requests, Transfer, copy_by_message};
