//! MPI's C interface, as far as it is needed, made safe to call.
//!
//! [`calls`] has each call once; the other modules build safe objects on it: memory and blocks,
//! datatypes, requests, communicators, and the arguments of a program's own calls.

mod arguments;
mod attributes;
pub mod calls;
mod communicator;
mod datatype;
mod error;
mod functions;
mod intergroup;
mod layout;
mod memory;
mod names;
mod native;
mod operator;
mod place;
mod raise;
pub mod raw;
mod requests;
mod words;

pub use arguments::{ArgumentError, Arguments, Buffer, Partition, PartitionMut, Side};
pub use arguments::{Kept, Parsed, ParsedReduction, RootlessPlaces};
pub use attributes::{give, value_of};
pub use communicator::{Communicator, Refused, abort_all, is_inter, is_running, rank_in, size_of};
pub use datatype::{Datatype, Element, Handles, LARGEST_COUNT};
pub use error::{MpiError, check, code_of};
pub use functions::{CountType, Function};
pub use intergroup::Intercommunicator;
pub use layout::ByteLayout;
pub use memory::{Memory, OutOfMemory};
pub use names::{library_version, processor_name};
pub use native::NativeRequest;
pub use operator::{Operator, compose};
pub use place::{Block, CutElement, Place, PlaceError};
pub use place::{Move, Stretches};
pub use raise::last_text;
pub use raise::{Speaker, raise};
pub use requests::{
    Direction, Failure, Requests, Reuse, SentContent, Transfer, WaitMode, copy_by_message,
};
pub use words::Number;
pub use words::{address, address_mut, bytes_of, int, words_of};

/// A list of small things that is short as a rule: a place in a tree has few neighbours.
pub type Few<T> = smallvec::SmallVec<[T; 4]>;
