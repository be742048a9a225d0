//! Names the shared library, compiles what Fortran calls where the MPI library does not lead it to C, and tells
//! the tests which compiler and which `mpirun` belong to the MPI library of the binding.

use std::env;

/// Its own, so that no program that is linked against another library of ours gets this one.
const SONAME: &str = "libtuwtree_preload.so.0";

fn main() {
    println!("cargo:rustc-link-arg-cdylib=-Wl,-soname,{SONAME}");
    let said = |key: &str| {
        env::var(format!("DEP_TUWTREE_BINDING_{key}")).expect("the binding's build says it")
    };
    for (key, name) in [("MPIRUN", "TUWTREE_MPIRUN"), ("MPICC", "TUWTREE_MPICC")] {
        println!("cargo:rustc-env={name}={}", said(key));
    }
    println!(
        "cargo:rustc-check-cfg=cfg(fortran_calls_pmpi, f08_calls_pmpi, has_large_counts, open_mpi, standard_abi)"
    );
    let traits = said("TRAITS");
    for word in traits.split(',').filter(|word| !word.is_empty()) {
        println!("cargo:rustc-cfg={word}");
    }
    println!("cargo:rerun-if-changed=shim/fortran.c");
    if traits.contains("fortran_calls_pmpi") || traits.contains("f08_calls_pmpi") {
        let mut shim = cc::Build::new();
        shim.compiler(said("MPICC")).file("shim/fortran.c").std("c99").warnings(true);
        shim.compile("tuwtree_preload_shim");
    }
}
