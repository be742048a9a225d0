//! Names the shared library, and tells the tests which compiler and which `mpirun` belong to the MPI
//! library of the binding.

use std::env;

/// The interface's version: raised when it changes incompatibly.
const SONAME: &str = "libtuwtree_mpi.so.0";

fn main() {
    println!("cargo:rustc-link-arg-cdylib=-Wl,-soname,{SONAME}");
    for (key, name) in [
        ("DEP_TUWTREE_BINDING_MPIRUN", "TUWTREE_MPIRUN"),
        ("DEP_TUWTREE_BINDING_MPICC", "TUWTREE_MPICC"),
    ] {
        let value = env::var(key).expect("the binding's build says it");
        println!("cargo:rustc-env={name}={value}");
    }
}
