//! What programs call, recorded.

use crate::launch::{is_open_mpi, text};
use crate::{
    compiled,
    fortran::{FORTRAN, fortran_program},
    run_preloaded,
};
use std::path::{Path, PathBuf};

#[test]
fn what_a_program_calls_is_recorded_by_the_roots_from_c_and_fortran() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("calls.json");
    let recorded = |program: &Path, name: PathBuf, algorithm: &str| {
        let environment = [
            ("TUWTREE_RECORD", file.to_str().unwrap()),
            ("TUWTREE_ALGORITHM", algorithm),
            ("TUWTREE_LOG", "0"),
        ];
        let output = run_preloaded(5, program, &[], &environment);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(text(&output.stderr), "", "{output:?}");
        let read = std::fs::read_to_string(name).unwrap();
        serde_json::from_str::<serde_json::Value>(&read).unwrap()
    };
    let again = compiled(directory.path(), "unaware_again.c");
    for algorithm in ["", "adaptive"] {
        // Its root is rank 2.
        let document = recorded(&again, directory.path().join("calls.json.2"), algorithm);
        assert_eq!(document["format"], "tuwtree-recording");
        assert_eq!((&document["processes"], &document["rank"]), (&5.into(), &2.into()));
        let entries = document["entries"].as_array().unwrap();
        assert_eq!(entries.len(), 2, "{document}");
        for (entry, function) in entries.iter().zip(["MPI_Gatherv", "MPI_Scatterv"]) {
            assert_eq!(entry["function"], function);
            assert_eq!(entry["block_sizes_bytes"], serde_json::json!([4, 8, 12, 4, 8]));
            assert_eq!((&entry["root"], &entry["calls"]), (&2.into(), &5.into()));
            assert!(entry["seconds"].as_f64() >= entry["greatest_seconds"].as_f64());
        }
        // The first rank was no root.
        let first = std::fs::read_to_string(&file).unwrap();
        assert!(first.contains("\"entries\":[]"), "{first}");
    }
    for interface in FORTRAN {
        let Some(program) = fortran_program(directory.path(), "unaware.F90", interface) else {
            return;
        };
        let document = recorded(&program, directory.path().join("calls.json.2"), "");
        let functions: Vec<&str> = document["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["function"].as_str().unwrap())
            .collect();
        let init = if is_open_mpi() {
            ["MPIX_Gatherv_init", "MPIX_Scatterv_init"]
        } else {
            ["MPI_Gatherv_init", "MPI_Scatterv_init"]
        };
        let expected = ["MPI_Gatherv", "MPI_Scatterv", "MPI_Igatherv", "MPI_Iscatterv"];
        assert_eq!(functions[..4], expected, "{interface}");
        assert!(functions.len() == 6 && functions[4].ends_with(&init[0][5..]), "{functions:?}");
    }
}

#[test]
#[ignore = "takes time on a machine that is alone; run by name"]
fn recording_takes_a_microsecond_and_a_nanosecond_for_each_count() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_short.c");
    let file = directory.path().join("calls.json");
    let seconds = |environment: &[(&str, &str)]| -> f64 {
        let mut all = vec![("TUWTREE_LOG", "0")];
        all.extend(environment);
        let least = |_| -> f64 {
            let output = run_preloaded(1, &program, &[], &all);
            assert!(output.status.success(), "{output:?}");
            text(&output.stdout).trim().parse().unwrap()
        };
        (0..5).map(least).fold(f64::INFINITY, f64::min)
    };
    let (without, with) = (seconds(&[]), seconds(&[("TUWTREE_RECORD", file.to_str().unwrap())]));
    println!("{:.0} ns a call without, {:.0} ns with a recording", without * 1e9, with * 1e9);
    assert!(with - without < 1e-6, "{with} {without}");
}

#[test]
fn calls_without_a_root_are_recorded_by_the_first_rank_and_alltoalls_by_each() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_everywhere.c");
    let file = directory.path().join("calls.json");
    for stated in ["", "circulant"] {
        let environment = [
            ("TUWTREE_RECORD", file.to_str().unwrap()),
            ("TUWTREE_REDUCE_SCATTER", stated),
            ("TUWTREE_LOG", "0"),
        ];
        let output = run_preloaded(3, &program, &[], &environment);
        assert!(output.status.success(), "{output:?}");
        let read = |name: &str| {
            let text = std::fs::read_to_string(directory.path().join(name)).unwrap();
            serde_json::from_str::<serde_json::Value>(&text).unwrap()
        };
        let (first, second) = (read("calls.json"), read("calls.json.1"));
        assert_eq!(first["version"], 2);
        let of = |document: &serde_json::Value, function: &str| {
            let entries = document["entries"].as_array().unwrap().clone();
            let mut found = entries.into_iter().filter(|one| one["function"] == function);
            let one = found.next()?;
            Some((one["operation"].clone(), one["block_sizes_bytes"].clone(), one["calls"].clone()))
        };
        let entry = |operation: &str, bytes: [u64; 3], calls: u64| {
            Some((operation.into(), serde_json::json!(bytes), calls.into()))
        };
        assert_eq!(of(&first, "MPI_Allgatherv"), entry("allgather", [0, 20_000, 8], 9));
        assert_eq!(of(&first, "MPI_Reduce_scatter"), entry("reduce-scatter", [0, 20_000, 8], 5));
        assert_eq!(of(&first, "MPI_Reduce_scatter_block"), entry("reduce-scatter", [12; 3], 5));
        assert_eq!(of(&first, "MPI_Alltoallv"), entry("alltoall", [0, 8, 0], 9));
        assert_eq!(of(&second, "MPI_Alltoallv"), entry("alltoall", [4, 12, 4], 9));
        assert_eq!(of(&second, "MPI_Alltoall"), entry("alltoall", [12; 3], 2));
        assert_eq!(of(&second, "MPI_Alltoallv_init"), entry("alltoall", [4, 12, 4], 2));
        assert_eq!(second["entries"].as_array().unwrap().len(), 3, "{second}");
    }
}

#[test]
fn recordings_of_an_earlier_run_in_the_same_files_are_not_left_behind() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_again.c");
    let file = |name: &str| directory.path().join(name);
    let earlier = "{\"format\":\"tuwtree-recording\",\"version\":1}";
    for stale in ["calls.json.1", "calls.json.4", "calls.json.17"] {
        std::fs::write(file(stale), earlier).unwrap();
    }
    std::fs::write(file("calls.json.18"), "notes").unwrap();
    let name = file("calls.json");
    let environment = [("TUWTREE_RECORD", name.to_str().unwrap()), ("TUWTREE_LOG", "")];
    let output = run_preloaded(5, &program, &[], &environment);
    assert!(output.status.success(), "{output:?}");
    // The first line says that calls are recorded, and where to.
    let said = format!("Calls are recorded to {} ", name.display());
    assert!(text(&output.stderr).contains(&said), "{output:?}");
    let mut left: Vec<String> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("calls.json"))
        .collect();
    left.sort();
    assert_eq!(left, ["calls.json", "calls.json.18", "calls.json.2"]);
}
