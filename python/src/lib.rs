//! The compiled part of the package `tuwtree` for Python, `tuwtree._native`.
//!
//! It turns objects of Python into problems, machines and trees of the crates and back, and nothing else: what
//! people call, with its defaults, types and help, is written in Python beside it (`python/tuwtree`). Results go as
//! the JSON documents that the program prints. Long work leaves the interpreter to other threads, and ends at Ctrl-C.

mod comparison;
mod error;
mod machine;
mod problem;
mod schedule;
mod watch;

use pyo3::prelude::*;
use std::ffi::OsString;
use std::process::ExitCode;
use tuwtree::{ClosedSet, Construction, Distribution, Operation};

/// The compiled part of tuwtree.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::comparison::{Comparison, compare};
    #[pymodule_export]
    use super::machine::{Machine, machines};
    #[pymodule_export]
    use super::problem::{Problem, block_sizes, read_sizes};
    #[pymodule_export]
    use super::schedule::{Schedule, Simulation, Tree, read, simulate};
    #[pymodule_export]
    use super::{names, program, published_tables, version};
}

/// The exit code of the program `tuwtree` with these arguments, the first of which is its name.
#[pyfunction]
fn program(arguments: Vec<OsString>) -> u8 {
    let code = tuwtree_cli::program(arguments);
    let number = (0..=u8::MAX).find(|&number| ExitCode::from(number) == code);
    number.expect("exit codes are made of numbers")
}

/// The published tables in CSV.
#[pyfunction]
fn published_tables() -> &'static str {
    tuwtree_cli::PUBLISHED_TABLES
}

/// The version of the package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The names of a closed set: of operations, distributions or constructions.
#[pyfunction]
fn names(set: &str) -> PyResult<Vec<&'static str>> {
    match set {
        "operations" => Ok(Operation::all().map(Operation::name).collect()),
        "distributions" => Ok(Distribution::all().map(Distribution::name).collect()),
        "constructions" => Ok(Construction::all().map(Construction::name).collect()),
        _ => Err(error::invalid("names", set, "operations, distributions or constructions")),
    }
}
