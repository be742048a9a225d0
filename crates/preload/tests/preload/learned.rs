//! Times that trials have measured, kept from one run to the next.

use crate::{compiled, lines, run_preloaded, slow_machine};
use std::fs;
use std::path::Path;

/// The lines of ours where `gathers.c` runs on five ranks under `auto` with this file of learned times and this log.
fn said(folder: &Path, learned: &Path, log: &str) -> Vec<String> {
    let program = compiled(folder, "gathers.c");
    let machine = slow_machine(folder);
    let environment = [
        ("TUWTREE_ALGORITHM", "auto"),
        ("TUWTREE_MACHINE", machine.as_str()),
        ("TUWTREE_TRIAL", "yes"),
        ("TUWTREE_LEARN", learned.to_str().unwrap()),
        ("TUWTREE_LOG", log),
    ];
    let output = run_preloaded(5, &program, &[], &environment);
    assert!(output.status.success(), "{output:?}");
    lines(&output)
}

/// The gathers among these that are the MPI library's, and all lines of ours.
fn native_gathers(folder: &Path, learned: &Path) -> (Vec<usize>, Vec<String>) {
    let said = said(folder, learned, "2");
    let of = |call: usize| {
        let name = format!("MPI_Gatherv, call {call}: ");
        said.iter().find(|line| line.contains(&name)).unwrap_or_else(|| panic!("{said:?}"))
    };
    ((1..=24).filter(|&call| of(call).contains("native")).collect(), said)
}

#[test]
fn a_later_run_knows_at_once_which_way_was_faster() {
    let folder = tempfile::tempdir().unwrap();
    let learned = folder.path().join("learned.json");
    let (native, _) = native_gathers(folder.path(), &learned);
    assert_eq!(native[..4], [1, 2, 5, 6]);
    let mut document: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&learned).unwrap()).unwrap();
    // 20 bytes.
    let calls = document["calls"].as_array().unwrap();
    let known =
        (calls.len(), &calls[0]["operation"], &calls[0]["processes"], &calls[0]["log2_bytes"]);
    assert_eq!(known, (1, &"gather".into(), &5.into(), &4.into()));
    for (planned, expected) in [(1.0, vec![1, 2]), (4.0, (1..=24).collect())] {
        document["calls"][0]["seconds"] = serde_json::json!({ "planned": planned, "native": 2.0 });
        fs::write(&learned, document.to_string()).unwrap();
        assert_eq!(native_gathers(folder.path(), &learned).0, expected, "{planned}");
        // Nothing was measured anew.
        let kept: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&learned).unwrap()).unwrap();
        assert_eq!(kept, document);
    }
    document["calls"][0]["mpi_library"] = "another".into();
    fs::write(&learned, document.to_string()).unwrap();
    assert_eq!(native_gathers(folder.path(), &learned).0[..4], [1, 2, 5, 6]);
    let kept: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&learned).unwrap()).unwrap();
    assert_eq!(kept["calls"].as_array().unwrap().len(), 2);
}

#[test]
fn the_summary_says_how_much_less_planned_calls_took() {
    let folder = tempfile::tempdir().unwrap();
    let said = said(folder.path(), &folder.path().join("learned.json"), "1");
    let gain = said.iter().find(|line| line.starts_with("tuwtree: gather: ")).expect("a gain");
    assert!(gain.contains(" planned calls took about ") && gain.ends_with(", by calls of both"));
}

#[test]
fn a_wrong_file_of_learned_times_leaves_calls_to_the_library_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let learned = folder.path().join("learned.json");
    fs::write(&learned, "{\"format\":\"tuwtree-learned\",\"version\":7}").unwrap();
    let (native, said) = native_gathers(folder.path(), &learned);
    assert_eq!(native.len(), 24);
    assert!(said.iter().any(|line| line.contains("TUWTREE_LEARN") && line.contains("version 7")));
    assert!(fs::read_to_string(&learned).unwrap().contains("\"version\":7"));
}
