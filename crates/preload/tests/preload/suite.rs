//! The cases of MPICH's own tests, natively and along trees.

use crate::launch::text;
use crate::{compiled, run_preloaded};

/// What the log says of a call along a tree, by the settings.
type Expected<'a> = (&'a [(&'a str, &'a str)], usize, &'a [&'a str]);

#[test]
fn the_cases_of_mpichs_own_tests_pass_natively_and_along_trees() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_suite.c");
    let (adaptive, linear) = (("TUWTREE_ALGORITHM", "adaptive"), ("TUWTREE_ALGORITHM", "linear"));
    let persistent = ("TUWTREE_PERSISTENT", "1");
    let settings: [Expected<'_>; 4] = [
        (&[], 4, &[]),
        (&[adaptive], 5, &["adaptive-gather-time on 5 processes", "on 2 processes"]),
        (&[linear], 4, &["linear on 4 processes"]),
        (&[adaptive, persistent], 4, &["on 4 processes", "set up on 4 processes"]),
    ];
    for (environment, processes, expected) in settings {
        let output = run_preloaded(processes, &program, &[], environment);
        assert!(output.status.success(), "{environment:?}: {output:?}");
        let said = text(&output.stdout);
        println!("{processes} processes, {environment:?}: {said}");
        assert!(said.ends_with(" cases, 0 wrong\n"), "{environment:?}: {said}");
        let log = text(&output.stderr);
        for line in expected {
            assert!(log.contains(line), "{environment:?}: no {line}");
        }
    }
}
