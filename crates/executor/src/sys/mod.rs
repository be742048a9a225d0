//! MPI's C interface, as far as it is needed, made safe to call.
//!
//! [`calls`] has each call once; the other modules make of them what is safe: memory and the blocks
//! in it, datatypes, requests, communicators, the arguments of a program's own calls.

mod alltoall;
mod arguments;
mod attributes;
pub mod calls;
mod communicator;
mod datatype;
mod equal_alltoall;
mod error;
mod intergroup;
mod layout;
mod memory;
mod names;
mod native;
mod operator;
mod patient;
mod place;
mod raise;
pub mod raw;
mod reduce_scatter;
mod requests;
pub(crate) mod strand;
mod words;

pub use alltoall::AlltoallArguments;
pub(crate) use alltoall::ParsedAlltoall;
pub use arguments::{ArgumentError, Arguments, Partition, PartitionMut, RootCounts};
pub(crate) use arguments::{Kept, Parsed};
pub(crate) use attributes::{give, value_of};
pub use communicator::{Communicator, Refused, abort_all, is_inter, is_running, rank_in, size_of};
pub use datatype::{Datatype, Element, Handles, LARGEST_COUNT};
pub use equal_alltoall::EqualAlltoallArguments;
pub use error::{MpiError, check, code_of};
pub use intergroup::Intercommunicator;
pub use layout::ByteLayout;
pub use memory::{Memory, OutOfMemory};
pub use names::{library_version, processor_name};
pub use native::{NativeCall, NativeRequest};
pub use operator::{Operator, compose};
pub use place::{Block, CutElement, Place, PlaceError};
pub(crate) use place::{Move, Stretches};
pub use raise::last_text;
pub(crate) use raise::{Speaker, raise};
pub(crate) use reduce_scatter::ParsedReduction;
pub use reduce_scatter::ReduceScatterArguments;
pub(crate) use requests::{
    Failure, Patience, Requests, Reuse, SentContent, Transfer, Way, copy_by_message,
};
pub(crate) use strand::is_inside as is_inside_strand;
pub use words::Number;
pub(crate) use words::{address, address_mut, bytes_of, int, words_of};

/// A list of small things that is short as a rule: a place in a tree has few neighbours.
pub(crate) type Few<T> = smallvec::SmallVec<[T; 4]>;
