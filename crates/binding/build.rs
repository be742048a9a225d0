//! Compiles what only C can tell of an MPI library, and tells tests which `mpirun` belongs to it.

use std::env;

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
    shim.std("c99").warnings(true);
    match &library.mpicc {
        Some(mpicc) => {
            shim.compiler(mpicc);
        }
        None => {
            shim.includes(&library.include_paths);
        }
    }
    println!("cargo:rerun-if-changed=shim/library.c");
    let traits = traits(shim.clone());
    // For crates that replace MPI's own functions.
    println!("cargo:traits={}", traits.join(","));
    shim.file("shim/shim.c").compile("tuwtree_shim");
    for path in &library.lib_paths {
        println!("cargo:rustc-link-search=native={}", path.display());
    }
    for name in &library.libs {
        println!("cargo:rustc-link-lib={name}");
    }
    let mpicc = env::var("MPICC").unwrap_or("mpicc".into());
    // For the tests of crates that depend on this one.
    println!("cargo:mpirun={}\ncargo:mpicc={mpicc}", mpirun(&mpicc));
}

/// Traits of the installed library, learned before anything is compiled: the words in
/// `shim/library.c` that its header leaves standing.
fn traits(mut compiler: cc::Build) -> Vec<&'static str> {
    const ALL: [&str; 5] =
        ["fortran_calls_pmpi", "f08_calls_pmpi", "has_large_counts", "open_mpi", "standard_abi"];
    let expanded = compiler.file("shim/library.c").expand();
    let text = String::from_utf8_lossy(&expanded);
    let stands = |word: &&str| text.lines().any(|line| line.trim() == format!("tuwtree_{word}"));
    ALL.into_iter().filter(stands).collect()
}

/// The `mpirun` beside a compiler: `mpicc.mpich` has `mpirun.mpich`, `/opt/x/bin/mpicc` has
/// `/opt/x/bin/mpirun`, and `/opt/x/bin/mpicc_abi` too: one launcher serves both interfaces of a library.
fn mpirun(mpicc: &str) -> String {
    match mpicc.rsplit_once("mpicc") {
        Some((before, after)) => format!("{before}mpirun{}", after.trim_start_matches("_abi")),
        None => "mpirun".to_owned(),
    }
}
