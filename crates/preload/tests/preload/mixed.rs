//! Programs whose calls are of two kinds: with a machine, `auto` performs one along trees, and leaves the other to the MPI
//! library.

use crate::fortran::{FORTRAN, fortran_program};
use crate::launch::{is_open_mpi, text};
use crate::python::python_with_mpi4py;
use crate::{compiled, lines, run_preloaded, slow_machine, source};
use std::path::Path;
use std::process::{Command, Output};

#[test]
fn calls_5_and_6_try_the_library_unless_that_is_not_wanted() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "gathers.c");
    let machine = slow_machine(directory.path());
    // There is no plan yet in the first two.
    for (trial, librarys) in [("yes", &[1, 2, 5, 6][..]), ("no", &[1, 2])] {
        let environment = [
            ("TUWTREE_ALGORITHM", "auto"),
            ("TUWTREE_MACHINE", machine.as_str()),
            ("TUWTREE_TRIAL", trial),
        ];
        let output = run_preloaded(5, &program, &[], &environment);
        assert!(output.status.success(), "{output:?}");
        let said = lines(&output);
        let of = |call: u64| {
            let name = format!("MPI_Gatherv, call {call}: ");
            said.iter().find(|line| line.contains(&name)).unwrap_or_else(|| panic!("{said:?}"))
        };
        let native: Vec<u64> = (1..=6).filter(|&call| of(call).contains("native")).collect();
        assert_eq!(native, librarys, "{said:?}");
    }
}

/// Runs a program unchanged under `auto`.
fn run_with_auto(ranks: usize, program: &Path, arguments: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let machine = slow_machine(directory.path());
    let environment = [("TUWTREE_ALGORITHM", "auto"), ("TUWTREE_MACHINE", machine.as_str())];
    let output = run_preloaded(ranks, program, arguments, &environment);
    assert!(output.status.success(), "{output:?}");
    output
}

/// Fails unless the log of `unaware_mixed` in some language is that of trees for small blocks of all ranks, and of the
/// library's own calls for data of one rank, for which there is no better tree than the star.
fn chooses_for_each_kind(program: &Path, arguments: &[&str]) {
    let output = run_with_auto(5, program, arguments);
    assert!(text(&output.stdout).contains("10 rounds, 0 wrong"), "{output:?}");
    let said = lines(&output);
    assert!(said[0].contains("MPI_Gatherv and MPI_Scatterv: algorithm auto;"), "{said:?}");
    // A gather and a scatter of each kind in each round.
    for call in 1..=40 {
        let function = if call % 2 == 1 { "MPI_Gatherv" } else { "MPI_Scatterv" };
        // The first two calls of each kind are the library's own, since there is no plan yet.
        let is_along = call > 8 && (call - 1) % 4 < 2;
        let by = if is_along { "auto on 5 processes, tree " } else { "native on 5 processes" };
        // mpi4py 4 calls the functions with large counts where there are any.
        let is_expected = |line: &String| {
            line.replace("_c, call", ", call")
                .starts_with(&format!("tuwtree: {function}, call {call}: {by}"))
        };
        assert!(said.iter().any(is_expected), "call {call}: {by}: {said:?}");
    }
}

#[test]
fn auto_chooses_trees_for_some_calls_of_a_c_program_and_the_library_for_others() {
    let directory = tempfile::tempdir().unwrap();
    chooses_for_each_kind(&compiled(directory.path(), "unaware_mixed.c"), &[]);
}

#[test]
fn auto_chooses_trees_for_some_calls_of_fortran_programs_and_the_library_for_others() {
    let directory = tempfile::tempdir().unwrap();
    for interface in FORTRAN {
        let name = "unaware_mixed.F90";
        let Some(program) = fortran_program(directory.path(), name, interface) else { return };
        chooses_for_each_kind(&program, &[]);
    }
}

#[test]
fn auto_chooses_trees_for_some_calls_of_a_script_with_mpi4py_and_the_library_for_others() {
    let Some(python) = python_with_mpi4py() else { return };
    chooses_for_each_kind(&python, &[source("unaware_mixed.py").to_str().unwrap()]);
}

#[test]
#[ignore = "takes PETSc for this MPI library (libpetsc-real3.18-dev); ./test --all runs it where it is"]
fn the_nonblocking_calls_of_a_program_of_petsc_are_the_librarys() {
    let directory = tempfile::tempdir().unwrap();
    let output = run_with_auto(6, &petsc_program(directory.path()), &[]);
    assert!(text(&output.stdout).contains("twice 10 rounds, 0 wrong"), "{output:?}");
    // PETSc starts a gather and a scatter in each of ten rounds with the one vector, and then with the other.
    let is_native = |line: &&String| line.contains("native: nonblocking operations");
    assert_eq!(lines(&output).iter().filter(is_native).count(), 40, "{output:?}");
}

/// The program of PETSc's.
fn petsc_program(directory: &Path) -> std::path::PathBuf {
    let flags = Command::new("pkg-config").args(["--cflags", "--libs", "petsc"]).output().unwrap();
    assert!(flags.status.success() && is_open_mpi(), "Debian's PETSc is for Open MPI: {flags:?}");
    let program = directory.join("unaware_petsc");
    let mut compiler = Command::new(env!("TUWTREE_MPICC"));
    compiler.arg(source("unaware_petsc.c")).arg("-o").arg(&program);
    compiler.args(text(&flags.stdout).split_whitespace());
    assert!(compiler.status().unwrap().success());
    program
}
