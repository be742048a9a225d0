//! Tells the tests which compiler and which `mpirun` belong to the MPI library of the executor.

use std::env;

fn main() {
    for (key, name) in
        [("DEP_TUWTREE_MPI_MPIRUN", "TUWTREE_MPIRUN"), ("DEP_TUWTREE_MPI_MPICC", "TUWTREE_MPICC")]
    {
        let value = env::var(key).expect("the executor's build says it");
        println!("cargo:rustc-env={name}={value}");
    }
}
