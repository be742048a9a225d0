//! Nonblocking gathers and scatters of programs that know nothing of tuwtree.

use crate::launch::{is_open_mpi, text};
use crate::{compiled, run_preloaded, slow_machine};

#[test]
fn nonblocking_operations_go_along_trees_in_order_and_end_in_any() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_nonblocking.c");
    let machine = slow_machine(directory.path());
    let stated = ("TUWTREE_NONBLOCKING", "1");
    for (settings, done) in [
        ([("TUWTREE_ALGORITHM", "adaptive"), stated], "adaptive-gather-time"),
        ([("TUWTREE_ALGORITHM", "linear"), stated], "linear"),
        ([("TUWTREE_MACHINE", machine.as_str()), stated], "auto"),
    ] {
        for processors in [1, 2, 5] {
            let output = run_preloaded(processors, &program, &["trees"], &settings);
            assert!(output.status.success(), "{settings:?}: {output:?}");
            assert!(text(&output.stdout).contains("42 steps, 0 wrong"), "{output:?}");
            let log = text(&output.stderr);
            let along = format!(": {done} on {processors} processes");
            let is_along = |line: &&str| line.contains("MPI_I") && line.ends_with(&along);
            // With auto, the first call with a root is the library's, and so are all where no tree is better.
            let least = if done == "auto" { if processors > 2 { 80 } else { 0 } } else { 200 };
            assert!(log.lines().filter(is_along).count() >= least, "{settings:?}: {log}");
        }
    }
}

#[test]
fn nonblocking_operations_with_large_counts_go_along_trees() {
    if is_open_mpi() {
        eprintln!("skipped: Open MPI 4 has no calls with large counts");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_large_nonblocking.c");
    let machine = slow_machine(directory.path());
    for (setting, done) in [
        (("TUWTREE_ALGORITHM", "adaptive"), "adaptive-gather-time"),
        (("TUWTREE_ALGORITHM", "linear"), "linear"),
        (("TUWTREE_MACHINE", machine.as_str()), "auto"),
    ] {
        for processors in [3, 5] {
            let settings = [setting, ("TUWTREE_NONBLOCKING", "1")];
            let output = run_preloaded(processors, &program, &[], &settings);
            assert!(output.status.success(), "{settings:?}: {output:?}");
            assert!(text(&output.stdout).contains("40 rounds, 0 wrong"), "{output:?}");
            let log = text(&output.stderr);
            for name in ["MPI_Igatherv_c", "MPI_Iscatterv_c"] {
                let along = format!(": {done} on {processors} processes");
                let is_along = |line: &&str| line.contains(name) && line.contains(&along);
                // With auto, no tree is better for three, and a call with a new root goes without.
                let least = match (done, processors) {
                    ("auto", 3) => 0,
                    ("auto", _) => 70,
                    _ => 80,
                };
                assert!(log.lines().filter(is_along).count() >= least, "{settings:?}: {log}");
            }
        }
    }
}

#[test]
fn nonblocking_operations_are_the_librarys_unless_they_are_asked_for_or_threads_are_many() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_nonblocking.c");
    let adaptive = ("TUWTREE_ALGORITHM", "adaptive");
    for (argument, value, reason) in [
        (
            "single",
            "0",
            "nonblocking operations are the MPI library's unless TUWTREE_NONBLOCKING=1",
        ),
        ("multiple", "1", "rank 0: MPI_THREAD_MULTIPLE"),
    ] {
        let environment = [adaptive, ("TUWTREE_NONBLOCKING", value)];
        let output = run_preloaded(3, &program, &[argument], &environment);
        assert!(output.status.success(), "{output:?}");
        let said = text(&output.stdout);
        assert!(said.contains("42 steps, 0 wrong"), "{output:?}");
        let log = text(&output.stderr);
        let has_threads = argument == "single" || said.starts_with("threads");
        assert!(log.contains(&format!("native: {reason}")) || !has_threads, "{log}");
    }
}
