//! Schedules of irregular gather and scatter, run on MPI.
//!
//! - [`construct`]: adaptive trees, built by the processors themselves.
//! - [`mpi`]: the little of MPI's C interface that is needed, made safe: the only place, beside the
//!   interface for C, with `unsafe` code.
//!
//! The library builds against one MPI library, the one that `MPICC` names. It knows communicators,
//! and nothing of terminals.

pub mod c_api;
pub mod collective;
pub mod construct;
pub mod mpi;
pub mod settings;
