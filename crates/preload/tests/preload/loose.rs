//! Programs that state larger counts than what is sent: what they have room for.

use super::{compiled, run_preloaded, slow_machine, text};

#[test]
fn counts_larger_than_what_is_sent_work_along_trees_as_without_them() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_loose.c");
    let machine = slow_machine(directory.path());
    for ranks in [2, 5] {
        for (algorithm, performed) in [
            ("adaptive", "adaptive-gather-time"),
            ("linear", "linear"),
            ("auto", if ranks == 2 { "native" } else { "auto" }),
        ] {
            let settings = [("TUWTREE_ALGORITHM", algorithm), ("TUWTREE_MACHINE", &machine)];
            let output = run_preloaded(ranks, &program, &[], &settings);
            assert!(output.status.success(), "{algorithm}: {output:?}");
            assert!(text(&output.stdout).contains("20 rounds, 0 wrong"), "{algorithm}: {output:?}");
            let log = text(&output.stderr);
            for (call, name) in [(39, "MPI_Gatherv"), (40, "MPI_Scatterv")] {
                let by = format!("{name}, call {call}: {performed} on {ranks} processes");
                assert!(log.contains(&by), "{algorithm}: {log}");
            }
        }
    }
}

/// Random calls that have room for more than is sent, as `unaware_loose_random.c` has them, with these settings.
fn assert_as_the_library(ranks: usize, arguments: &[&str], settings: &[(&str, &str)]) {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_loose_random.c");
    let mut environment = settings.to_vec();
    environment.push(("TUWTREE_LOG", "0"));
    let output = run_preloaded(ranks, &program, arguments, &environment);
    let expected = format!("{} calls, 0 wrong", arguments[0]);
    let is_right = output.status.success() && text(&output.stdout).contains(&expected);
    assert!(is_right, "{ranks} processes, {arguments:?}, {settings:?}: {output:?}");
}

#[test]
fn random_calls_with_more_room_than_is_sent_are_the_librarys_byte_for_byte() {
    let directory = tempfile::tempdir().unwrap();
    let machine = slow_machine(directory.path());
    for ranks in [2, 3, 4, 5, 6, 7, 8] {
        let seed = ranks.to_string();
        for settings in [
            [("TUWTREE_ALGORITHM", "adaptive"), ("TUWTREE_MOST_PASSED", "1MiB")],
            [("TUWTREE_ALGORITHM", "linear"), ("TUWTREE_MODE", "strict")],
            [("TUWTREE_MACHINE", &machine), ("TUWTREE_ALGORITHM", "auto")],
            [("TUWTREE_MACHINE", &machine), ("TUWTREE_ALGORITHM", "deadline-online")],
        ] {
            assert_as_the_library(ranks, &["100", &seed], &settings);
        }
    }
}

#[test]
fn blocks_too_large_to_pass_on_go_straight_whatever_room_there_is() {
    let directory = tempfile::tempdir().unwrap();
    let machine = slow_machine(directory.path());
    for (ranks, limit) in [(3, "0"), (5, "100"), (6, "2KiB"), (8, "20KiB")] {
        for algorithm in ["adaptive", "auto"] {
            let settings = [
                ("TUWTREE_ALGORITHM", algorithm),
                ("TUWTREE_MACHINE", &machine),
                ("TUWTREE_MOST_PASSED", limit),
            ];
            assert_as_the_library(ranks, &["100", "9"], &settings);
        }
    }
}

#[test]
fn gathers_with_a_window_are_right_whatever_room_there_is() {
    let directory = tempfile::tempdir().unwrap();
    let machine = slow_machine(directory.path());
    for ranks in [4, 7] {
        let settings = [
            ("TUWTREE_ALGORITHM", "auto"),
            ("TUWTREE_MACHINE", machine.as_str()),
            ("TUWTREE_WINDOW", "100"),
        ];
        assert_as_the_library(ranks, &["100", "5"], &settings);
    }
}

#[test]
fn less_room_than_is_sent_is_an_error_and_nothing_is_written_behind_it() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_truncated.c");
    let machine = slow_machine(directory.path());
    // With auto no tree is better for less than five, and the libraries write what there is no room for, or wait.
    for (ranks, algorithms) in
        [(2, ["adaptive", "linear"]), (3, ["adaptive", "linear"]), (6, ["adaptive", "auto"])]
    {
        for algorithm in algorithms {
            let settings = [("TUWTREE_ALGORITHM", algorithm), ("TUWTREE_MACHINE", &machine)];
            let output = run_preloaded(ranks, &program, &[], &settings);
            let expected = format!("{} calls, 0 wrong", 6 * ranks);
            let is_right = output.status.success() && text(&output.stdout).contains(&expected);
            assert!(is_right, "{algorithm}: {output:?}");
        }
    }
}

#[test]
fn ranks_may_send_less_to_an_allgather_than_their_counts_say() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_loose_allgather.c");
    for algorithm in [
        "native",
        "ring",
        "circulant",
        "circulant-pieces:3",
        "circulant-balanced:2",
        "bruck-postal:2",
        "bruck-balanced:2",
        "lanes",
        "node-all",
    ] {
        let setting = ("TUWTREE_ALLGATHER", algorithm);
        let output = run_preloaded(5, &program, &[], &[setting]);
        assert!(output.status.success(), "{setting:?}: {output:?}");
        assert!(text(&output.stdout).contains("20 rounds, 0 wrong"), "{setting:?}: {output:?}");
        let log = text(&output.stderr);
        let (name, _) = algorithm.split_once(':').unwrap_or((algorithm, ""));
        let by = match name {
            "native" => "MPI_Allgatherv, call 2: native: one of the first".to_owned(),
            _ => format!("MPI_Allgatherv, call 19: {name} on 5 processes"),
        };
        assert!(log.contains(&by), "{setting:?}: {log}");
    }
}
