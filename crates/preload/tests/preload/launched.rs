//! `tuwtree-exec run`: unchanged programs whose calls are recorded, planned and summed up.

use crate::launch::{finished, is_open_mpi, job, launcher, library_directory, text};
use crate::{compiled, lines, slow_machine};
use std::path::{Path, PathBuf};
use std::process::Output;

/// The program `tuwtree-exec`, beside the tests' folder.
fn executor() -> PathBuf {
    let program = library_directory().parent().unwrap().join("tuwtree-exec");
    assert!(program.is_file(), "{}: build tuwtree-cluster first", program.display());
    program
}

/// The output of `tuwtree-exec run OPTIONS -- mpirun -n 3 PROGRAM`, with variables of the environment.
fn run(options: &[&str], program: &Path, environment: &[(&str, &str)]) -> Output {
    let library = library_directory().join("libtuwtree_preload.so");
    let mut command = job(&executor());
    command.envs(environment.iter().copied());
    command.args(["run", "--library"]).arg(library).args(options);
    command.args(["--", &launcher(), "-n", "3"]).arg(program);
    finished(&mut command)
}

#[test]
fn run_records_plans_and_sums_up_the_calls_of_an_unchanged_program() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware.c");
    let calls = directory.path().join("calls.json");
    let options = [
        "--record",
        calls.to_str().unwrap(),
        "--machine",
        &slow_machine(directory.path()),
        "--summary",
    ];
    // The algorithm goes along in the environment.
    let output = run(&options, &program, &[("TUWTREE_ALGORITHM", "adaptive")]);
    assert!(output.status.success(), "{output:?}");
    let recorded = std::fs::read_to_string(&calls).unwrap();
    assert!(
        recorded.starts_with("{\"format\":\"tuwtree-recording\"")
            && recorded.contains("MPI_Gatherv")
    );
    let said = lines(&output);
    assert!(
        said[0].contains("algorithm adaptive") && said[0].contains("Calls are recorded"),
        "{said:?}"
    );
    let sum = "tuwtree: rank 0: MPI_Gatherv by adaptive-gather-time: 1 call, ";
    assert!(said.iter().any(|line| line.starts_with(sum)), "{said:?}");
}

#[test]
fn run_prints_its_command_which_a_shell_runs_as_well() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware.c");
    let output = run(&["--summary", "--print"], &program, &[]);
    let printed = text(&output.stdout);
    let way = if is_open_mpi() { " -x TUWTREE_LOG=1 -n 3 " } else { " -genv TUWTREE_LOG 1 -n 3 " };
    assert!(output.status.success() && printed.contains(way), "{output:?}");
    let output = finished(job("/bin/sh".as_ref()).args(["-c", printed.trim()]));
    assert!(
        lines(&output).iter().any(|line| line.contains("rank 0: MPI_Gatherv by native: ")),
        "{output:?}"
    );
}

#[test]
fn run_refuses_what_could_not_work() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware.c");
    let fails = |options: &[&str], code: i32, expected: &str| {
        let output = run(options, &program, &[]);
        let said = text(&output.stderr);
        assert!(
            output.status.code() == Some(code) && said.contains(expected),
            "{options:?}: {output:?}"
        );
    };
    fails(&[], 2, "give --record FILE");
    fails(&["--summary", "--library", "none.so"], 2, "--library");
    for option in ["--record", "--learn"] {
        fails(&[option, "no/folder/calls.json"], 1, &format!("{option}: there is no folder"));
    }
    fails(&["--machine", "vsc4"], 1, "built in are");
    let strange = directory.path().join("mpirun");
    std::os::unix::fs::symlink("/bin/echo", &strange).unwrap();
    let library = library_directory().join("libtuwtree_preload.so");
    let mut command = job(&executor());
    command
        .args(["run", "--summary", "--library"])
        .arg(library)
        .arg("--")
        .arg(&strange)
        .arg(&program);
    let output = finished(&mut command);
    assert!(output.status.code() == Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("--version names none of Open MPI"), "{output:?}");
    let Some(other) = crate::aside::other() else { return };
    let mut command = job(&executor());
    let library = library_directory().join("libtuwtree_preload.so");
    command.args(["run", "--summary", "--library"]).arg(library);
    let output =
        finished(command.args(["--", &format!("mpirun.{other}"), "-n", "2"]).arg(&program));
    assert!(text(&output.stderr).contains("take the tuwtree-exec built for it"), "{output:?}");
}

/// A Slurm of one node, with MPICH, which Debian's Slurm starts by PMI 2.
#[test]
#[ignore = "takes Slurm and root; run by name"]
fn under_slurm_run_plans_calls_whatever_else_is_preloaded() {
    if is_open_mpi() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware.c");
    let machine = slow_machine(directory.path());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slurm.sh");
    let library = library_directory().join("libtuwtree_preload.so");
    let mut command = job(&script);
    command.env("TUWTREE_ALGORITHM", "adaptive").env("LD_PRELOAD", "libm.so.6");
    command.arg(executor()).args(["run", "--summary"]);
    command.arg("--library").arg(library).args(["--machine", &machine, "--"]);
    command.args(["srun", "-n", "3", "--overcommit", "--mpi=pmi2"]).arg(program);
    let output = finished(&mut command);
    if output.status.code() == Some(77) {
        println!("SKIPPED: Slurm's daemons do not come up: {}", text(&output.stderr));
        return;
    }
    assert!(output.status.success(), "{output:?}");
    let sum = "tuwtree: rank 0: MPI_Gatherv by adaptive-gather-time: 1 call, ";
    assert!(lines(&output).iter().any(|line| line.contains(sum)), "{output:?}");
}
