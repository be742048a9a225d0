//! Measuring on MPI: what messages cost, and how long collectives take.
//!
//! What the times say is the business of the crate `tuwtree-measure`, which knows no MPI.

pub mod bench;
pub mod calibrate;
pub mod clock;
pub mod floods;
mod host;
mod library;

pub use host::Host;
pub use library::{CallLayout, LibraryCall};
