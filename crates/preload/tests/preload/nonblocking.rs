//! Nonblocking gathers and scatters of programs without tuwtree in them: the MPI library's own.

use crate::launch::text;
use crate::{compiled, run_preloaded};

#[test]
fn nonblocking_operations_are_the_librarys_own_and_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_nonblocking.c");
    let recording = directory.path().join("calls.json");
    let environment =
        [("TUWTREE_ALGORITHM", "adaptive"), ("TUWTREE_RECORD", recording.to_str().unwrap())];
    let output = run_preloaded(3, &program, &["single"], &environment);
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains("42 steps, 0 wrong"), "{output:?}");
    let reason = "native: nonblocking operations are the MPI library's";
    assert!(text(&output.stderr).contains(reason), "{output:?}");
    let recorded = std::fs::read_to_string(recording).unwrap();
    assert!(recorded.contains("MPI_Igatherv") && recorded.contains("MPI_Iscatterv"), "{recorded}");
}
