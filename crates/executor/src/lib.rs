//! Schedules of irregular gather and scatter, run on MPI.
//!
//! - [`collective`]: gather and scatter with MPI's own arguments, once or persistent.
//! - [`settings`]: by which algorithm, with what.
//! - [`tree`]: adaptive trees, built by the processes themselves.
//! - [`play`]: a part ([`tuwtree_schedule::part`]) bound to memory, started and waited for as often
//!   as one likes.
//! - [`measure`]: what messages cost here, and how long collectives take.
//! - [`sys`]: the little of MPI's C interface that is needed, made safe: the only place, beside
//!   [`collective::guarded`] and its kin, with `unsafe` code.
//!
//! The library builds against one MPI library, the one that `MPICC` names. It knows communicators,
//! and nothing of terminals. The library for C is the crate `tuwtree-mpi`.

pub mod collective;
pub mod measure;
mod planning;
pub mod play;
pub mod settings;
#[expect(unsafe_code, reason = "this is where MPI is called; each block states why it is sound")]
pub mod sys;
pub mod tree;

/// Members and names of closed sets, such as [`settings::Algorithm`], and operations.
pub use tuwtree_model::{ClosedSet, Operation};
