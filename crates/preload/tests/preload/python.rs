//! Scripts in Python with mpi4py.

use crate::launch::{is_open_mpi, text};
use crate::{run_preloaded, source};
use std::path::PathBuf;
use std::process::Command;

/// A Python whose mpi4py is for this MPI library, if there is one: what `TUWTREE_MPI4PY_PYTHON` names, or Debian's, whose
/// mpi4py is built for Open MPI 4.
pub(crate) fn python_with_mpi4py() -> Option<PathBuf> {
    if let Some(python) = std::env::var_os("TUWTREE_MPI4PY_PYTHON") {
        return Some(python.into());
    }
    let python = PathBuf::from("/usr/bin/python3");
    let has_mpi4py = Command::new(&python).args(["-c", "import mpi4py"]).status();
    if is_open_mpi() && has_mpi4py.is_ok_and(|status| status.success()) {
        return Some(python);
    }
    eprintln!("skipped: no mpi4py for this MPI library");
    None
}

#[test]
fn a_script_with_mpi4py_gathers_along_trees() {
    let Some(python) = python_with_mpi4py() else { return };
    let script = source("unaware.py");
    let environment = [("TUWTREE_ALGORITHM", "adaptive")];
    let output = run_preloaded(4, &python, &[script.to_str().unwrap()], &environment);
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains("gathered 7 numbers with mpi4py"), "{output:?}");
    // mpi4py 4 calls the functions with large counts where there are any.
    let log = text(&output.stderr).replace("_c, call", ", call");
    assert!(log.contains("MPI_Gatherv, call 1: adaptive-gather-time on 4 processes"), "{log}");
    assert!(log.contains("MPI_Scatterv, call 2: adaptive-gather-time on 4 processes"), "{log}");
}

#[test]
#[ignore = "takes mpi4py's tests, whose folder TUWTREE_MPI4PY_TESTS names; ./test --all runs it"]
fn mpi4py_passes_its_own_tests_along_trees() {
    let Some(folder) = std::env::var_os("TUWTREE_MPI4PY_TESTS").map(PathBuf::from) else {
        panic!("TUWTREE_MPI4PY_TESTS is not set");
    };
    let python = python_with_mpi4py().expect("a Python with mpi4py for this MPI library");
    let start = "import os, sys, unittest; os.chdir(sys.argv[1]); sys.path.insert(0, sys.argv[1]); \
                 unittest.main(module=None, argv=['tests', *sys.argv[2:]])";
    let suites = [
        "test_cco_vec",
        "test_cco_vec_inter",
        "test_cco_nb_vec",
        "test_cco_pr_vec",
        "test_request",
        "test_msgspec",
        "test_errhandler",
    ];
    // MPICH 4.0 fails in others of these by itself.
    let (processes, some): (usize, &[&str]) = match is_open_mpi() {
        true => (3, &[]),
        false => (2, &["-k", "atherv", "-k", "catterv", "-k", "Request"]),
    };
    // Persistent collectives came with mpi4py 4.
    let is_there = |suite: &&str| folder.join(format!("{suite}.py")).exists();
    for algorithm in ["native", "adaptive", "linear"] {
        let mut arguments = vec!["-c", start, folder.to_str().unwrap()];
        arguments.extend(suites.into_iter().filter(is_there));
        arguments.extend(some);
        let environment =
            [("TUWTREE_ALGORITHM", algorithm), ("TUWTREE_PERSISTENT", "1"), ("TUWTREE_LOG", "0")];
        let output = run_preloaded(processes, &python, &arguments, &environment);
        assert!(output.status.success(), "{algorithm}: {output:?}");
        let said = text(&output.stderr);
        assert!(said.contains("OK") && !said.contains("FAILED"), "{algorithm}: {said}");
        let ran = said.lines().find(|line| line.starts_with("Ran ")).unwrap_or("nothing was run");
        println!("{algorithm}: {ran}");
    }
}
