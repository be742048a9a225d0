//! Schedules of irregular gather and scatter, run on MPI.
//!
//! - [`collective`]: gather and scatter with MPI's own arguments, once or persistent.
//! - [`settings`]: by which algorithm, with what.
//! - [`tree`]: adaptive trees, built by the processes themselves.
//! - [`play`]: a part ([`tuwtree_schedule::part`]) bound to memory, started and waited for as often
//!   as one likes.
//!
//! MPI itself is the crate `tuwtree-binding`, which builds against the MPI library that `MPICC` names. `unsafe` code
//! here is in [`collective::guarded`] and its kin only. The library for C is the crate `tuwtree-mpi`; the program
//! that measures is `tuwtree-cluster`.

pub mod collective;
mod planning;
pub mod play;
pub mod settings;
pub mod tree;

/// Members and names of closed sets, such as [`settings::Algorithm`], and operations.
pub use tuwtree_model::{ClosedSet, Operation, quantity};
