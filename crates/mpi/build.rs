//! Names the shared library, and tells the tests which compiler and which `mpirun` belong to the MPI
//! library of the executor.

use std::env;

/// The interface's version: raised when it changes incompatibly.
const SONAME: &str = "libtuwtree_mpi.so.0";

fn main() {
    println!("cargo:rustc-link-arg-cdylib=-Wl,-soname,{SONAME}");
    for (key, name) in [
        ("DEP_TUWTREE_EXECUTOR_MPIRUN", "TUWTREE_MPIRUN"),
        ("DEP_TUWTREE_EXECUTOR_MPICC", "TUWTREE_MPICC"),
    ] {
        let value = env::var(key).expect("the executor's build says it");
        println!("cargo:rustc-env={name}={value}");
    }
}
