//! Names the shared library, and tells the tests which compiler and which `mpirun` belong to the MPI
//! library of the executor.

use std::env;

/// Its own, so that no program that is linked against another library of ours gets this one.
const SONAME: &str = "libtuwtree_preload.so.0";

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
