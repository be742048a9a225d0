//! Compiles what only C can tell of an MPI library, names the shared library, and tells the tests
//! which `mpirun` belongs to the library.

use std::env;

/// The shared library's interface version: raised when the C interface changes incompatibly.
const SONAME: &str = "libtuwtree_mpi.so.0";

fn main() {
    println!("cargo:rerun-if-changed=shim/shim.c");
    println!("cargo:rerun-if-env-changed=MPICC");
    let library = match build_probe_mpi::probe() {
        Ok(library) => library,
        Err(reasons) => {
            for reason in reasons {
                println!("cargo:warning={reason}");
            }
            panic!("no MPI library found: name its compiler, as in MPICC=mpicc.openmpi");
        }
    };
    let mut shim = cc::Build::new();
    shim.file("shim/shim.c").std("c99").warnings(true);
    match &library.mpicc {
        Some(mpicc) => {
            shim.compiler(mpicc);
        }
        None => {
            shim.includes(&library.include_paths);
        }
    }
    shim.compile("tuwtree_shim");
    for path in &library.lib_paths {
        println!("cargo:rustc-link-search=native={}", path.display());
    }
    for name in &library.libs {
        println!("cargo:rustc-link-lib={name}");
    }
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{SONAME}");
    println!("cargo:rustc-env=TUWTREE_MPIRUN={}", mpirun(env::var("MPICC").ok().as_deref()));
    println!("cargo:rustc-env=TUWTREE_MPICC={}", env::var("MPICC").unwrap_or("mpicc".into()));
}

/// The `mpirun` beside a compiler: `mpicc.mpich` has `mpirun.mpich`, `/opt/x/bin/mpicc` has
/// `/opt/x/bin/mpirun`.
fn mpirun(mpicc: Option<&str>) -> String {
    let mpicc = mpicc.unwrap_or("mpicc");
    match mpicc.rsplit_once("mpicc") {
        Some((before, after)) => format!("{before}mpirun{after}"),
        None => "mpirun".to_owned(),
    }
}
