//! Programs under the component for Open MPI, which opens the library in place of preloading it.

use crate::launch::{library_directory, open_mpi_version, run, text};
use crate::{compiled, lines, source};
use std::path::Path;
use std::process::{Command, Output};

/// Whether the compiler finds Open MPI's internal headers, which the wheel of Open MPI 5 lacks.
fn has_internal_headers() -> bool {
    let output = Command::new(env!("TUWTREE_MPICC")).arg("-showme:incdirs").output().unwrap();
    text(&output.stdout)
        .split_whitespace()
        .any(|folder| Path::new(folder).join("ompi_config.h").exists())
}

/// A home with the component and the library in Open MPI's folder for components, if this is Open MPI 4 or 5.
fn home() -> Option<tempfile::TempDir> {
    match open_mpi_version() {
        Some(4) => {}
        Some(5) if has_internal_headers() => {}
        _ => return None,
    }
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".openmpi/components");
    let build = Path::new(env!("CARGO_MANIFEST_DIR")).join("component/build");
    let mut command = Command::new(build);
    let output = command.arg(&folder).env("MPICC", env!("TUWTREE_MPICC")).output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
    let library = library_directory().join("libtuwtree_preload.so");
    std::os::unix::fs::symlink(library, folder.join("libtuwtree_preload.so")).unwrap();
    Some(home)
}

/// Runs a program with this home, and no other variable for the component, but the folder's name where `mpirun` of Open MPI 5
/// hands on that of PMIx.
fn run_at_home(home: &Path, ranks: usize, program: &Path, environment: &[(&str, &str)]) -> Output {
    let own = |&(name, value): &(&'static str, &str)| (name, value.to_owned());
    let given = [
        ("TUWTREE_ALGORITHM", "adaptive"),
        ("TUWTREE_ALLGATHER", "circulant"),
        ("TUWTREE_REDUCE_SCATTER", "circulant"),
    ];
    let mut all: Vec<(&str, String)> = given.iter().map(own).collect();
    all.extend([("TUWTREE_LOG", "2".to_owned()), ("HOME", home.display().to_string())]);
    if open_mpi_version() == Some(5) {
        let folder = home.join(".openmpi/components").display().to_string();
        all.push(("OMPI_MCA_mca_base_component_path", folder));
    }
    all.extend(environment.iter().map(|&(name, value)| (name, value.to_owned())));
    run(ranks, program, &[], &all)
}

#[test]
fn the_component_performs_the_calls_of_a_program_and_a_tool_counts_them() {
    let Some(home) = home() else { return };
    let program = compiled(home.path(), "unaware.c");
    let tool = home.path().join("libtool.so");
    let mut compiler = Command::new(env!("TUWTREE_MPICC"));
    compiler.args(["-shared", "-fPIC"]).arg(source("tool.c")).arg("-o").arg(&tool);
    assert!(compiler.status().unwrap().success());
    let others = std::env::var("LD_PRELOAD").unwrap_or_default();
    let list = format!("{}:{others}", tool.display());
    let recording = home.path().join("calls.json");
    let environment =
        [("LD_PRELOAD", list.as_str()), ("TUWTREE_RECORD", recording.to_str().unwrap())];
    let output = run_at_home(home.path(), 5, &program, &environment);
    assert!(output.status.success(), "{output:?}");
    let said = text(&output.stdout);
    assert!(said.contains("gathered 6 numbers, last 25"), "{said}");
    assert!(said.contains("the tool saw 2 gathers and 1 scatters"), "{said}");
    let calls = lines(&output);
    let along =
        |name: &str| calls.iter().any(|line| line.contains(name) && line.contains("adaptive"));
    assert!(along("MPI_Gatherv, call") && along("MPI_Scatterv, call"), "{calls:?}");
    let recorded = std::fs::read_to_string(&recording).unwrap();
    assert!(recorded.contains("MPI_Gatherv"), "{recorded}");
}

#[test]
fn programs_have_right_results_under_the_component() {
    let Some(home) = home() else { return };
    for (name, said) in [
        ("unaware_everywhere.c", "all right"),
        ("unaware_suite.c", " 0 wrong"),
        ("unaware_threads.c", "0 wrong"),
        ("unaware_many.c", " 0 wrong"),
        ("unaware_loose.c", " 0 wrong"),
        ("unaware_nonblocking.c", " 0 wrong"),
    ] {
        let program = compiled(home.path(), name);
        let output = run_at_home(home.path(), 4, &program, &[]);
        assert!(output.status.success() && text(&output.stdout).contains(said), "{output:?}");
        let calls = lines(&output);
        assert!(!calls.iter().any(|line| line.contains("error")), "{calls:?}");
        assert!(calls.iter().any(|line| line.contains(" on 4 processes")), "{calls:?}");
        let is_rootless =
            |line: &String| line.contains("MPI_Allgatherv, call") && line.contains("circulant");
        assert!(name != "unaware_everywhere.c" || calls.iter().any(is_rootless), "{calls:?}");
    }
}

#[test]
fn the_component_that_is_not_wanted_or_has_no_library_leaves_calls_to_open_mpi() {
    let Some(home) = home() else { return };
    let program = compiled(home.path(), "unaware.c");
    for (variable, value, said) in [
        ("OMPI_MCA_coll_tuwtree_priority", "-1", ""),
        ("OMPI_MCA_coll_tuwtree_library", "/nowhere.so", "coll/tuwtree: not used: /nowhere.so"),
    ] {
        let output = run_at_home(home.path(), 3, &program, &[(variable, value)]);
        assert!(output.status.success(), "{output:?}");
        assert!(text(&output.stdout).contains("gathered 3 numbers"), "{output:?}");
        assert!(text(&output.stderr).contains(said) && lines(&output).is_empty(), "{output:?}");
    }
}
