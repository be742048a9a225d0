//! Programs of another MPI library than the one that the preloaded library was built for.

use crate::launch::{is_open_mpi, library_directory, open_mpi_version, run_by, text};
use crate::{compiled_by, lines, numbers, source};
use std::path::Path;
use std::process::{Command, Output};

/// The name of the other library, whose compiler and launcher both are there.
pub(crate) fn other() -> Option<&'static str> {
    if open_mpi_version() == Some(5) {
        eprintln!(
            "skipped: Open MPI 5 of PyPI has a UCX that MPICH's of Debian cannot be loaded with"
        );
        return None;
    }
    let other = if is_open_mpi() { "mpich" } else { "openmpi" };
    let answers = |program: &str| {
        let output = Command::new(format!("{program}.{other}")).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    if ["mpicc", "mpirun"].into_iter().all(answers) {
        return Some(other);
    }
    eprintln!("skipped: no mpicc.{other} or mpirun.{other}");
    None
}

/// Runs a program by the launcher of another library, with ours loaded before all others.
fn run_with_another(
    other: &str,
    ranks: usize,
    program: &Path,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> Output {
    let library = library_directory().join("libtuwtree_preload.so");
    let others = std::env::var("LD_PRELOAD").unwrap_or_default();
    let mut environment: Vec<(&str, String)> =
        environment.iter().map(|&(name, value)| (name, value.to_owned())).collect();
    environment.push(("LD_PRELOAD", format!("{}:{others}", library.display())));
    let launcher = format!("mpirun.{other}");
    run_by(&launcher, ranks, program, arguments, &environment)
}

#[test]
fn programs_of_another_library_run_as_without_it_and_one_line_says_that_it_stands_aside() {
    let Some(other) = other() else { return };
    let directory = tempfile::tempdir().unwrap();
    let compiler = format!("mpicc.{other}");
    let program = compiled_by(&compiler, directory.path(), "unaware.c");
    let named = if other == "mpich" { "MPICH" } else { "Open MPI" };
    for (loudness, expected) in [("", 1), ("1", 1), ("0", 0)] {
        let environment = [("TUWTREE_LOG", loudness), ("TUWTREE_ALGORITHM", "adaptive")];
        let output = run_with_another(other, 3, &program, &[], &environment);
        assert!(output.status.success(), "{output:?}");
        let gathered = format!("gathered {} numbers", numbers(3));
        assert!(text(&output.stdout).contains(&gathered), "{output:?}");
        let said = lines(&output);
        assert_eq!(said.len(), expected, "{said:?}");
        for line in said {
            assert!(line.starts_with("tuwtree: stands aside: built for "), "{line}");
            assert!(line.contains(&format!("but the program runs on {named}")), "{line}");
        }
    }
}

#[test]
fn every_kind_of_call_of_another_library_is_passed_straight_on() {
    let Some(other) = other() else { return };
    let directory = tempfile::tempdir().unwrap();
    let compiler = format!("mpicc.{other}");
    let count = if other == "openmpi" { 7 } else { 3 };
    let everywhere = compiled_by(&compiler, directory.path(), "unaware_everywhere.c");
    let output = run_with_another(other, count, &everywhere, &[], &[]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text(&output.stdout), "all right\n");
    if other == "mpich" {
        // MPICH 4.0 stumbles over lists of persistent collectives by itself.
        return;
    }
    let persistent = compiled_by(&compiler, directory.path(), "unaware_persistent.c");
    let output = run_with_another(other, 3, &persistent, &[], &[("TUWTREE_PERSISTENT", "1")]);
    assert!(output.status.success() && lines(&output).len() == 1, "{output:?}");
}

#[test]
fn fortran_programs_of_another_library_run_as_without_it() {
    let Some(other) = other() else { return };
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program");
    let mut compiler = Command::new(format!("mpifort.{other}"));
    compiler.args(["-fallow-argument-mismatch", "-w", "-DMPI_F08"]);
    if other == "openmpi" {
        compiler.arg("-DOPEN_MPI_4");
    }
    let Ok(output) = compiler.arg(source("unaware.F90")).arg("-o").arg(&program).output() else {
        eprintln!("skipped: no mpifort.{other}");
        return;
    };
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = run_with_another(other, 4, &program, &[], &[("TUWTREE_ALGORITHM", "adaptive")]);
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains("numbers, 0 wrong"), "{output:?}");
    assert_eq!(lines(&output).len(), 1, "{output:?}");
}

#[test]
fn that_a_script_loads_another_library_is_said_before_it_fails() {
    // Debian's mpi4py is built for Open MPI, and for its own Python.
    let python = Path::new("/usr/bin/python3");
    let has_mpi4py = Command::new(python).args(["-c", "import mpi4py"]).status();
    if is_open_mpi() || other().is_none() || !has_mpi4py.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no mpi4py for another MPI library");
        return;
    }
    let script = source("unaware.py");
    let output = run_with_another("openmpi", 1, python, &[script.to_str().unwrap()], &[]);
    assert!(!output.status.success(), "{output:?}");
    let said = lines(&output);
    assert!(said.len() == 1 && said[0].contains("but the program has loaded"), "{output:?}");
}

#[test]
fn functions_are_exported_where_each_can_stand_aside_and_nowhere_else() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let exports = std::fs::read_to_string(&path).unwrap().contains("no_mangle");
        assert_eq!(exports, ["exported.rs", "fortran.rs"].contains(&name), "{name}");
    }
}
