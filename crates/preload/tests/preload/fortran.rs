//! Programs in Fortran, alone and beside C.

use crate::launch::{open_mpi_version, text};
use crate::{compiled, run_preloaded, source};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The interfaces that MPI has in Fortran, by the macros that choose them.
pub(crate) const FORTRAN: [&str; 3] = ["MPIF_H", "MPI_MODULE", "MPI_F08"];

/// The program in Fortran with this interface, if there is a compiler.
pub(crate) fn fortran_program(directory: &Path, name: &str, interface: &str) -> Option<PathBuf> {
    let compiler = env!("TUWTREE_MPICC").replace("mpicc", "mpifort");
    let version = Command::new(&compiler).arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no {compiler}");
        return None;
    }
    let program = directory.join(interface);
    let mut command = Command::new(&compiler);
    // Buffers of several types go to one function, which has no interface in mpif.h.
    command.args(["-fallow-argument-mismatch", "-w"]).arg(format!("-D{interface}"));
    if open_mpi_version() == Some(4) {
        command.arg("-DOPEN_MPI_4");
    }
    let output = command.arg(source(name)).arg("-o").arg(&program).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    Some(program)
}

#[test]
fn fortran_programs_go_along_trees_by_mpif_h_mpi_and_mpi_f08() {
    let directory = tempfile::tempdir().unwrap();
    for interface in FORTRAN {
        let Some(program) = fortran_program(directory.path(), "unaware.F90", interface) else {
            return;
        };
        for (ranks, persistent) in [(1, "1"), (4, "1"), (5, "0")] {
            let environment =
                [("TUWTREE_ALGORITHM", "adaptive"), ("TUWTREE_PERSISTENT", persistent)];
            let output = run_preloaded(ranks, &program, &[], &environment);
            assert!(output.status.success(), "{interface}: {output:?}");
            assert!(text(&output.stdout).contains("numbers, 0 wrong"), "{interface}: {output:?}");
            let log = text(&output.stderr);
            let persistent = match persistent {
                "1" => format!("set up on {ranks} processes"),
                _ => "native: persistent operations are the MPI library's unless".to_owned(),
            };
            let along = format!("adaptive-gather-time on {ranks} processes");
            let nonblocking = "native: nonblocking operations are the MPI library's".to_owned();
            for (call, name, what) in [
                (1, "MPI_Gatherv", &along),
                (2, "MPI_Scatterv", &along),
                (3, "MPI_Igatherv", &nonblocking),
                (4, "MPI_Iscatterv", &nonblocking),
                (5, "MPI_Gatherv_init", &persistent),
                (6, "MPI_Scatterv_init", &persistent),
            ] {
                assert!(
                    log.contains(&format!("{name}, call {call}: {what}")),
                    "{interface}: {log}"
                );
            }
        }
    }
}

#[test]
fn fortran_programs_have_operations_without_a_root_in_pieces_and_bundles() {
    let directory = tempfile::tempdir().unwrap();
    for interface in FORTRAN {
        let name = "unaware_everywhere.F90";
        let Some(program) = fortran_program(directory.path(), name, interface) else { return };
        let environment = [
            ("TUWTREE_ALLGATHER", "circulant"),
            ("TUWTREE_REDUCE_SCATTER", "circulant-pieces:2"),
            ("TUWTREE_ALLTOALL", "bruck"),
            ("TUWTREE_PERSISTENT", "1"),
        ];
        for environment in [&environment[..], &[]] {
            let output = run_preloaded(5, &program, &[], environment);
            assert!(output.status.success(), "{interface}: {output:?}");
            assert!(text(&output.stdout).contains("everywhere 0 wrong"), "{interface}: {output:?}");
            let log = text(&output.stderr);
            for (name, what) in [
                ("MPI_Allgatherv, call 1", "circulant on 5 processes"),
                ("MPI_Reduce_scatter, call 2", "circulant-pieces on 5 processes"),
                ("MPI_Reduce_scatter_block, call 3", "circulant-pieces on 5 processes"),
                ("MPI_Alltoallv, call 4", "bruck on 5 processes"),
                ("MPI_Alltoallv, call 5", "bruck on 5 processes"),
                ("MPI_Alltoall, call 6", "bruck on 5 processes"),
                ("MPI_Alltoallv_init, call 7", "set up on 5 processes"),
                ("MPI_Reduce_scatter_init, call 8", "set up on 5 processes"),
                ("MPI_Reduce_scatter_block_init, call 9", "set up on 5 processes"),
            ] {
                let what = if environment.is_empty() { "native: " } else { what };
                assert!(log.contains(&format!("{name}: {what}")), "{interface}: {log}");
            }
        }
    }
}

#[test]
fn c_and_fortran_ranks_meet_in_one_call_along_a_tree() {
    let directory = tempfile::tempdir().unwrap();
    let peer = compiled(directory.path(), "unaware_peer.c");
    for interface in FORTRAN {
        let Some(program) = fortran_program(directory.path(), "unaware.F90", interface) else {
            return;
        };
        let environment = [("TUWTREE_ALGORITHM", "adaptive"), ("TUWTREE_PERSISTENT", "1")];
        let c = peer.to_str().unwrap();
        let output = run_preloaded(2, &program, &[":", "-n", "3", c], &environment);
        assert!(output.status.success(), "{interface}: {output:?}");
        assert!(text(&output.stdout).contains("numbers, 0 wrong"), "{interface}: {output:?}");
        let log = text(&output.stderr);
        assert!(log.contains("call 1: adaptive-gather-time on 5 processes"), "{interface}: {log}");
    }
}

#[test]
fn without_settings_fortran_programs_are_the_librarys() {
    let directory = tempfile::tempdir().unwrap();
    for interface in FORTRAN {
        let Some(program) = fortran_program(directory.path(), "unaware.F90", interface) else {
            return;
        };
        let output = run_preloaded(3, &program, &[], &[]);
        assert!(output.status.success(), "{interface}: {output:?}");
        assert!(text(&output.stdout).contains("numbers, 0 wrong"), "{interface}: {output:?}");
    }
}
