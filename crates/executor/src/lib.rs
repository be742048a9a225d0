//! Schedules of irregular gather and scatter, run on MPI.
//!
//! - [`collective`]: gather and scatter with MPI's own arguments, once or persistent.
//! - [`c_api`]: the same for C.
//! - [`construct`]: adaptive trees, built by the processors themselves.
//! - [`settings`]: by which algorithm, with what.
//! - [`engine`]: a part ([`tuwtree_schedule::part`]) bound to memory, started and waited for as often as one likes.
//! - [`measure`]: what messages cost here, and how long collectives take.
//! - [`mpi`]: the little of MPI's C interface that is needed, made safe: the only place, beside the
//!   interface for C, with `unsafe` code.
//!
//! The library builds against one MPI library, the one that `MPICC` names. It knows communicators,
//! and nothing of terminals.

// C calls it: every function of it is `unsafe`.
#[allow(unsafe_code)]
pub mod c_api;
pub mod collective;
pub mod construct;
pub mod engine;
pub mod measure;
pub mod mpi;
pub mod settings;
