//! Programs that know nothing of tuwtree, with and without it.

#[path = "../../mpi/tests/programs/launch.rs"]
#[expect(dead_code, reason = "the tests of the library for C use the rest")]
mod launch;

#[path = "preload/aside.rs"]
mod aside;
#[path = "preload/suite.rs"]
mod suite;

use launch::{is_open_mpi, library_directory, run, soname, text};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Runs a program with the library loaded before all others.
fn run_preloaded(
    processors: usize,
    program: &Path,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> Output {
    let library = library_directory().join("libtuwtree_preload.so");
    let mut environment: Vec<(&str, String)> =
        environment.iter().map(|&(name, value)| (name, value.to_owned())).collect();
    // Behind it, what the tests themselves may have: ranks that take turns while they wait.
    let others = std::env::var("LD_PRELOAD").unwrap_or_default();
    environment.push(("LD_PRELOAD", format!("{}:{others}", library.display())));
    if environment.iter().all(|&(name, _)| name != "TUWTREE_LOG") {
        environment.push(("TUWTREE_LOG", "1".to_owned()));
    }
    run(processors, program, arguments, &environment)
}

/// The lines of ours in what was said.
fn lines(output: &Output) -> Vec<String> {
    let said = text(&output.stderr);
    said.lines().filter(|line| line.starts_with("tuwtree:")).map(str::to_owned).collect()
}

fn compiled(directory: &Path, name: &str) -> PathBuf {
    compiled_by(env!("TUWTREE_MPICC"), directory, name)
}

fn compiled_by(compiler: &str, directory: &Path, name: &str) -> PathBuf {
    let program = directory.join(name).with_extension("");
    let output = Command::new(compiler)
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror"])
        .arg(source(name))
        .arg("-pthread")
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    program
}

fn numbers(processors: usize) -> usize {
    (0..processors).map(|rank| rank % 4).sum()
}

/// The file of a machine whose messages take so long that trees pay.
fn slow_machine(directory: &Path) -> String {
    let path = directory.join("slow.toml");
    let text = "format = \"tuwtree-machine\"\nversion = 1\nname = \"slow\"\ndate = \"2026-11-22\"\n\
                provenance = \"stated\"\n[homogeneous]\nalpha_seconds = 1e-3\n\
                beta_seconds_per_byte = 1e-9\ngamma_seconds_per_byte = 1e-9\n";
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_preloaded_library_has_its_own_name_and_exports_mpi_functions_only() {
    let library = library_directory().join("libtuwtree_preload.so");
    assert_eq!(soname(&library), "libtuwtree_preload.so.0");
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(&library).output().unwrap();
    let symbols = text(&output.stdout);
    let names: Vec<&str> = symbols.lines().filter_map(|line| line.split(" T ").nth(1)).collect();
    assert!(names.contains(&"MPI_Gatherv"), "{symbols}");
    let is_mpi = |name: &&str| name.starts_with("MPI") || name.starts_with("mpi");
    assert!(names.iter().all(is_mpi), "{names:?}");
}

#[test]
fn one_line_at_the_first_call_says_what_is_intercepted_unless_it_is_not_wanted() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware.c");
    let said = |environment: &[(&str, &str)]| {
        let output = run_preloaded(3, &program, &[], environment);
        assert!(output.status.success(), "{output:?}");
        lines(&output)
    };
    let untold = said(&[("TUWTREE_LOG", "")]);
    assert_eq!(untold.len(), 1, "{untold:?}");
    let stays = "tuwtree: intercepts MPI_Gatherv, MPI_Scatterv, MPI_Allgatherv, MPI_Reduce_scatter and MPI_Alltoallv, which stay the MPI library's: no algorithm \
                 or machine is set. To use trees where they are faster: mpirun ... tuwtree-exec calibrate";
    assert!(untold[0].starts_with(stays), "{untold:?}");
    let told = said(&[("TUWTREE_LOG", ""), ("TUWTREE_ALGORITHM", "adaptive")]);
    let along = "tuwtree: intercepts MPI_Gatherv and MPI_Scatterv: algorithm adaptive-gather-time; MPI_Allgatherv: native; MPI_Reduce_scatter: native; MPI_Alltoallv: native. (TUWTREE_LOG=1";
    assert!(told.len() == 1 && told[0].starts_with(along), "{told:?}");
    for algorithm in ["adaptive", ""] {
        let silent = said(&[("TUWTREE_LOG", "0"), ("TUWTREE_ALGORITHM", algorithm)]);
        assert!(silent.is_empty(), "{silent:?}");
    }
}

#[test]
fn allgathers_and_reduce_scatters_go_on_circulant_graphs_where_blocks_differ() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_everywhere.c");
    let machine = slow_machine(directory.path());
    let count = if is_open_mpi() { 7 } else { 3 };
    let said = |environment: &[(&str, &str)]| {
        let output = run_preloaded(count, &program, &[], environment);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(text(&output.stdout), "all right\n");
        lines(&output)
    };
    let stated =
        [("TUWTREE_ALLGATHER", "circulant-pieces:7"), ("TUWTREE_REDUCE_SCATTER", "circulant")];
    let along = said(&stated);
    let allgather =
        format!("tuwtree: MPI_Allgatherv, call 1: circulant-pieces on {count} processes");
    assert!(along.contains(&allgather), "{along:?}");
    let combined = format!("tuwtree: MPI_Reduce_scatter, call 2: circulant on {count} processes");
    assert!(along.contains(&combined), "{along:?}");
    // Call 8 of the allgathers is compared.
    let loose = "native: ranks do not have the same sizes, or elements cannot be reordered";
    assert_eq!(along.iter().filter(|line| line.ends_with(loose)).count(), 2, "{along:?}");
    let chosen = said(&[("TUWTREE_MACHINE", machine.as_str())]);
    assert!(chosen.iter().any(|line| line.contains("MPI_Allgatherv, call 1: ")), "{chosen:?}");
    let own = said(&[("TUWTREE_MACHINE", machine.as_str()), ("TUWTREE_REDUCE_SCATTER", "native")]);
    let native = format!("tuwtree: MPI_Reduce_scatter, call 2: native on {count} processes");
    assert!(own.contains(&native), "{own:?}");
    let block =
        format!("tuwtree: MPI_Reduce_scatter_block, call 3: circulant on {count} processes");
    assert!(along.contains(&block), "{along:?}");
    let bundled = said(&[("TUWTREE_ALLTOALL", "bruck:3")]);
    let alltoall = format!("tuwtree: MPI_Alltoallv, call 4: bruck on {count} processes");
    assert!(bundled.contains(&alltoall), "{bundled:?}");
    let equal = |line: &&String| {
        line.contains("MPI_Alltoall, call")
            && line.ends_with(&format!("bruck on {count} processes"))
    };
    assert_eq!(bundled.iter().filter(equal).count(), 2, "{bundled:?}");
    let set_up = said(&[("TUWTREE_ALLTOALL", "bruck:3"), ("TUWTREE_PERSISTENT", "1")]);
    let all = format!("set up on {count} processes");
    let is_set_up =
        |line: &&String| line.contains("MPI_Alltoallv_init, call") && line.ends_with(&all);
    assert_eq!(set_up.iter().filter(is_set_up).count(), 2, "{set_up:?}");
    // Calls 6 and 7 have more room than is sent, and call 8 is compared.
    let declined = |lines: &[String]| {
        let is_so = |line: &&String| line.contains("MPI_Alltoallv") && line.ends_with(loose);
        lines.iter().filter(is_so).count()
    };
    assert_eq!((declined(&bundled), declined(&chosen)), (2, 2), "{bundled:?} {chosen:?}");
    let wrong = said(&[("TUWTREE_ALLGATHER", "rings")]);
    assert!(wrong[0].starts_with("tuwtree: error: TUWTREE_ALLGATHER \"rings\": one of auto, "));
}

#[test]
fn whoever_waits_for_ranks_that_run_without_it_says_what_may_be_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware.c");
    let library = library_directory().join("libtuwtree_preload.so");
    // As launchers do that give variables to the first node only. The ranks would wait for ever.
    let script = directory.path().join("partly.sh");
    let text_of_script = format!(
        "#!/bin/sh\n[ \"${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\" != 0 ] || export LD_PRELOAD={}:$LD_PRELOAD\n\
         exec timeout -k 1 13 {}\n",
        library.display(),
        program.display()
    );
    std::fs::write(&script, text_of_script).unwrap();
    let output = run(2, Path::new("sh"), &[script.to_str().unwrap()], &[]);
    assert!(!output.status.success(), "{output:?}");
    let said = lines(&output);
    let is_hint = |line: &String| {
        line.contains("all ranks to make the same call") && line.contains("mpirun -x LD_PRELOAD")
    };
    assert_eq!(said.iter().filter(|&line| is_hint(line)).count(), 1, "{output:?}");
}

#[test]
fn a_misspelt_setting_is_an_error_that_is_said_once() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware.c");
    for loudness in ["", "0"] {
        let value = [("TUWTREE_LOG", loudness), ("TUWTREE_ALGORITHM", "adaptiv")];
        let output = run_preloaded(3, &program, &[], &value);
        assert!(output.status.success(), "{output:?}");
        let said = lines(&output);
        let expected = "tuwtree: error: TUWTREE_ALGORITHM \"adaptiv\": one of adaptive, ";
        assert!(said.len() == 1 && said[0].starts_with(expected), "{said:?}");
        assert!(said[0].ends_with("is allowed; calls stay the MPI library's"), "{said:?}");
        let name = [("TUWTREE_LOG", loudness), ("TUWTREE_ALGORITM", "adaptive")];
        let said = lines(&run_preloaded(3, &program, &[], &name));
        let expected =
            "tuwtree: error: there is no setting TUWTREE_ALGORITM; there are TUWTREE_ALGORITHM, ";
        assert!(said[0].starts_with(expected), "{said:?}");
    }
}

#[test]
fn where_one_process_may_have_buffers_in_device_memory_all_call_the_library() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware.c");
    let device = directory.path().join("libdevice.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC"]).arg(source("pretended_device.c")).arg("-o").arg(&device);
    assert!(compiler.status().unwrap().success());
    let library = library_directory().join("libtuwtree_preload.so");
    let both = format!("LD_PRELOAD={}:{}", library.display(), device.display());
    let adaptive = ("TUWTREE_ALGORITHM", "adaptive");
    let rest = [":", "-n", "1", "env", &both, program.to_str().unwrap()];
    let output = run_preloaded(2, &program, &rest, &[adaptive]);
    assert!(output.status.success(), "{output:?}");
    let reason = "MPI_Gatherv, call 1: native: rank 2: buffers may be in device memory";
    assert!(text(&output.stderr).contains(reason), "{output:?}");
    let output = run_preloaded(2, &program, &rest, &[adaptive, ("TUWTREE_DEVICE", "0")]);
    assert!(output.status.success(), "{output:?}");
    let along = "MPI_Gatherv, call 1: adaptive-gather-time on 3 processes";
    assert!(text(&output.stderr).contains(along), "{output:?}");
}

#[test]
fn as_many_communicators_as_without_it_and_where_there_are_no_more_the_librarys_calls() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_many.c");
    let alone = run(2, &program, &[], &[]);
    let said = |output: &Output| {
        assert!(output.status.success(), "{output:?}");
        text(&output.stdout).trim().to_owned()
    };
    let quiet = ("TUWTREE_LOG", "0");
    assert_eq!(said(&run_preloaded(2, &program, &[], &[quiet])), said(&alone));
    // All are made before the first call: where they are few, none is left for us.
    let environment = [quiet, ("TUWTREE_ALGORITHM", "adaptive")];
    let output = run_preloaded(2, &program, &["first"], &environment);
    assert_eq!(said(&output), said(&alone));
}

#[test]
fn threads_with_a_communicator_each_gather_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_threads.c");
    for algorithm in ["adaptive", "linear"] {
        let environment = [("TUWTREE_LOG", "0"), ("TUWTREE_ALGORITHM", algorithm)];
        let output = run_preloaded(2, &program, &[], &environment);
        assert!(output.status.success(), "{output:?}");
        let said = text(&output.stdout);
        assert!(said.contains("0 wrong") || said.contains("no threads"), "{said}");
    }
}

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
            let loose = format!(": native on {processors} processes");
            let loose = log.lines().any(|line| line.contains("MPI_I") && line.ends_with(&loose));
            assert!(loose || processors == 1, "{settings:?}: {log}");
        }
    }
}

#[test]
#[ignore = "takes PETSc for this MPI library (libpetsc-real3.18-dev); ./test --all runs it where it is"]
fn a_program_of_petsc_gathers_to_the_first_rank_and_scatters_along_trees() {
    let flags = Command::new("pkg-config").args(["--cflags", "--libs", "petsc"]).output().unwrap();
    assert!(flags.status.success() && is_open_mpi(), "Debian's PETSc is for Open MPI: {flags:?}");
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("unaware_petsc");
    let mut compiler = Command::new(env!("TUWTREE_MPICC"));
    compiler.arg(source("unaware_petsc.c")).arg("-o").arg(&program);
    compiler.args(text(&flags.stdout).split_whitespace());
    assert!(compiler.status().unwrap().success());
    let machine = slow_machine(directory.path());
    let asked = ("TUWTREE_NONBLOCKING", "1");
    for (settings, done, least) in [
        ([("TUWTREE_ALGORITHM", "adaptive"), asked], "adaptive-gather-time", 20),
        // The first gather and the first scatter are the library's own.
        ([("TUWTREE_MACHINE", machine.as_str()), asked], "auto", 18),
    ] {
        let output = run_preloaded(6, &program, &[], &settings);
        assert!(output.status.success(), "{settings:?}: {output:?}");
        assert!(text(&output.stdout).contains("10 rounds, 0 wrong"), "{output:?}");
        let end = format!(": {done} on 6 processes");
        let along = lines(&output).iter().filter(|line| line.ends_with(&end)).count();
        assert!(along >= least, "{settings:?}: {output:?}");
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

#[test]
fn counts_larger_than_what_is_sent_work_as_without_it() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_loose.c");
    let machine = slow_machine(directory.path());
    for processors in [2, 5] {
        for setting in [
            ("TUWTREE_ALGORITHM", "adaptive"),
            ("TUWTREE_ALGORITHM", "linear"),
            ("TUWTREE_MACHINE", &machine),
        ] {
            let output = run_preloaded(processors, &program, &[], &[setting]);
            assert!(output.status.success(), "{setting:?}: {output:?}");
            assert!(text(&output.stdout).contains("20 rounds, 0 wrong"), "{setting:?}: {output:?}");
            let log = text(&output.stderr);
            for (call, name) in [(1, "MPI_Gatherv"), (2, "MPI_Scatterv"), (39, "MPI_Gatherv")] {
                let reason = "native: less is sent than there is room for";
                assert!(
                    log.contains(&format!("{name}, call {call}: {reason}")),
                    "{setting:?}: {log}"
                );
            }
        }
    }
}

#[test]
fn calls_with_large_counts_go_along_trees() {
    if is_open_mpi() {
        eprintln!("skipped: Open MPI 4 has no calls with large counts");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_large.c");
    for algorithm in ["adaptive", "native"] {
        let environment = [("TUWTREE_ALGORITHM", algorithm), ("TUWTREE_PERSISTENT", "1")];
        let output = run_preloaded(3, &program, &[], &environment);
        assert!(output.status.success(), "{output:?}");
        assert!(text(&output.stdout).contains("large counts, 0 wrong"), "{output:?}");
        let log = text(&output.stderr);
        let by = if algorithm == "native" { "native: as set" } else { "adaptive-gather-time on 3" };
        for (call, name) in [(1, "MPI_Gatherv_c"), (2, "MPI_Scatterv_c")] {
            assert!(log.contains(&format!("{name}, call {call}: {by}")), "{log}");
        }
    }
}

#[test]
fn programs_with_a_session_have_the_librarys_calls() {
    if is_open_mpi() {
        eprintln!("skipped: Open MPI 4 has no sessions");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_sessions.c");
    let output = run_preloaded(3, &program, &[], &[("TUWTREE_ALGORITHM", "adaptive")]);
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains("a session, 0 wrong"), "{output:?}");
}

#[test]
fn tools_of_the_profiling_interface_work_before_it_and_behind_it() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware.c");
    let tool = directory.path().join("libtool.so");
    let mut compiler = Command::new(env!("TUWTREE_MPICC"));
    compiler.args(["-shared", "-fPIC"]).arg(source("tool.c")).arg("-o").arg(&tool);
    assert!(compiler.status().unwrap().success());
    let library = library_directory().join("libtuwtree_preload.so");
    let (tool, ours) = (tool.to_str().unwrap(), library.to_str().unwrap());
    // The first in the list has the calls; whichever it is calls the library's own names.
    for (list, seen) in [
        (format!("{tool}:{ours}"), "2 gathers and 1"),
        (format!("{ours}:{tool}"), "0 gathers and 0"),
    ] {
        let environment = [("LD_PRELOAD", list), ("TUWTREE_ALGORITHM", "adaptive".to_owned())];
        let output = run(3, &program, &[], &environment);
        assert!(output.status.success(), "{output:?}");
        assert!(text(&output.stdout).contains("gathered 3 numbers"), "{output:?}");
        assert!(
            text(&output.stdout).contains(&format!("the tool saw {seen} scatters")),
            "{output:?}"
        );
    }
}

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

/// The interfaces that MPI has in Fortran, by the macros that choose them.
const FORTRAN: [&str; 3] = ["MPIF_H", "MPI_MODULE", "MPI_F08"];

/// The program in Fortran with this interface, if there is a compiler.
fn fortran_program(directory: &Path, name: &str, interface: &str) -> Option<PathBuf> {
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
    if is_open_mpi() {
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
        for (processors, persistent) in [(1, "1"), (4, "1"), (5, "0")] {
            let environment = [
                ("TUWTREE_ALGORITHM", "adaptive"),
                ("TUWTREE_PERSISTENT", persistent),
                ("TUWTREE_NONBLOCKING", persistent),
            ];
            let output = run_preloaded(processors, &program, &[], &environment);
            assert!(output.status.success(), "{interface}: {output:?}");
            assert!(text(&output.stdout).contains("numbers, 0 wrong"), "{interface}: {output:?}");
            let log = text(&output.stderr);
            let persistent = match persistent {
                "1" => format!("set up on {processors} processes"),
                _ => "native: persistent operations are the MPI library's unless".to_owned(),
            };
            let along = format!("adaptive-gather-time on {processors} processes");
            let nonblocking = match persistent.starts_with("set up") {
                true => along.clone(),
                false => "native: nonblocking operations are the MPI library's".to_owned(),
            };
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

#[test]
fn a_c_program_that_knows_nothing_gathers_along_trees() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware.c");
    for processors in [1, 2, 5] {
        for algorithm in ["adaptive-gather-time", "adaptive-data-size", "linear"] {
            let environment = [("TUWTREE_ALGORITHM", algorithm)];
            let output = run_preloaded(processors, &program, &[], &environment);
            assert!(output.status.success(), "{output:?}");
            let gathered = format!("gathered {} numbers", numbers(processors));
            assert!(text(&output.stdout).contains(&gathered), "{output:?}");
            let log = text(&output.stderr);
            for (call, name) in [(1, "MPI_Gatherv"), (2, "MPI_Scatterv")] {
                let line = format!("tuwtree: {name}, call {call}: {algorithm} on {processors} ");
                assert!(log.contains(&line), "{log}");
            }
            let inter = "tuwtree: MPI_Gatherv, call 3: native: an inter-communicator";
            assert_eq!(log.contains(inter), processors > 1, "{log}");
        }
    }
}

#[test]
fn it_leaves_calls_to_the_mpi_library_when_told_or_when_settings_make_no_sense() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware.c");
    let missing = [("TUWTREE_ALGORITHM", "schedule"), ("TUWTREE_SCHEDULE", "/nowhere")];
    let cases: [(&[(&str, &str)], &str); 4] = [
        (&[], "native: no algorithm or machine is set"),
        (&[("TUWTREE_ALGORITHM", "native")], "native: as set"),
        (&[("TUWTREE_ALGORITHM", "fast")], "native: TUWTREE_ALGORITHM \"fast\": one of adaptive"),
        (&missing, "native: /nowhere: No such file"),
    ];
    for (environment, reason) in cases {
        let output = run_preloaded(3, &program, &[], environment);
        assert!(output.status.success(), "{output:?}");
        assert!(text(&output.stdout).contains("gathered 3 numbers"), "{output:?}");
        assert!(text(&output.stderr).contains(reason), "{output:?}");
    }
}

#[test]
fn a_tree_that_is_set_as_the_schedule_is_a_mistake_that_is_said_aloud() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware.c");
    let tree = directory.path().join("tree.json");
    let text_of_tree = r#"{"format":"tuwtree-tree","version":1,"processors":3,"root":0,"subtrees":[[0,1,2],[],[]]}"#;
    std::fs::write(&tree, text_of_tree).unwrap();
    let tree = tree.to_str().unwrap();
    let environment =
        [("TUWTREE_ALGORITHM", "schedule"), ("TUWTREE_SCHEDULE", tree), ("TUWTREE_LOG", "0")];
    let output = run_preloaded(3, &program, &[], &environment);
    assert!(text(&output.stdout).contains("gathered 3 numbers"), "{output:?}");
    let error = format!("tuwtree: error: TUWTREE_SCHEDULE {tree:?}: a tree, and no schedule; ");
    assert!(text(&output.stderr).starts_with(&error), "{output:?}");
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

#[test]
fn with_a_machine_calls_go_along_trees_where_these_are_better() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_again.c");
    for (file, alpha, second) in [("slow.toml", "1e-3", "auto"), ("fast.toml", "1e-12", "native")] {
        let machine = directory.path().join(file);
        let written = format!(
            "format = \"tuwtree-machine\"\nversion = 1\nname = \"slow\"\ndate = \"2026-11-22\"\n\
             provenance = \"stated\"\n[homogeneous]\nalpha_seconds = {alpha}\n\
             beta_seconds_per_byte = 1e-9\ngamma_seconds_per_byte = 1e-9\n"
        );
        std::fs::write(&machine, written).unwrap();
        let environment = [("TUWTREE_MACHINE", machine.to_str().unwrap())];
        let output = run_preloaded(5, &program, &[], &environment);
        assert!(output.status.success(), "{output:?}");
        assert!(text(&output.stdout).contains("5 rounds, 0 wrong"), "{output:?}");
        let log = text(&output.stderr);
        // The first call of each is the library's own.
        for (call, by) in [(1, "native"), (2, "native"), (3, second), (4, second), (10, second)] {
            assert!(log.contains(&format!(", call {call}: {by} on 5 processes")), "{file}: {log}");
        }
        // With what the choice was.
        assert_eq!(log.contains("auto on 5 processes, tree "), second == "auto", "{file}: {log}");
    }
}

#[test]
fn persistent_operations_go_along_trees_if_a_program_asks_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_persistent.c");
    for processors in [1, 2, 3, 5, 8] {
        for (algorithm, mode) in
            [("adaptive-gather-time", "strict"), ("adaptive-data-size", "eager")]
        {
            let environment = [
                ("TUWTREE_PERSISTENT", "1"),
                ("TUWTREE_ALGORITHM", algorithm),
                ("TUWTREE_MODE", mode),
            ];
            let output = run_preloaded(processors, &program, &[], &environment);
            assert!(output.status.success(), "{output:?}");
            assert!(text(&output.stdout).contains("24 steps, 0 wrong"), "{output:?}");
            let log = text(&output.stderr);
            for (call, name) in [(1, "MPI_Gatherv_init"), (2, "MPI_Scatterv_init")] {
                let line =
                    format!("tuwtree: {name}, call {call}: set up on {processors} processes");
                assert!(log.contains(&line), "{log}");
            }
        }
    }
}

#[test]
fn data_arrives_whole_where_almost_nothing_may_be_passed_on_or_be_under_way() {
    let directory = tempfile::tempdir().unwrap();
    let machine = slow_machine(directory.path());
    let tree = ("TUWTREE_ALGORITHM", "adaptive-gather-time");
    let persistent = ("TUWTREE_PERSISTENT", "1");
    let limit = ("TUWTREE_MOST_PASSED", "8");
    let window = ("TUWTREE_WINDOW", "8");
    let auto = ("TUWTREE_MACHINE", machine.as_str());
    let again = |environment: &[(&str, &str)]| {
        arrives(&directory, "unaware_again.c", environment, "5 rounds, 0 wrong");
    };
    let set_up = |environment: &[(&str, &str)]| {
        arrives(&directory, "unaware_persistent.c", environment, "24 steps, 0 wrong");
    };
    again(&[tree, limit]);
    again(&[auto, limit, window]);
    set_up(&[tree, persistent, limit]);
    set_up(&[auto, persistent, limit, window]);
}

/// Runs a program on 7 processes, which says so if all is right, along trees.
fn arrives(
    directory: &tempfile::TempDir,
    program: &str,
    environment: &[(&str, &str)],
    right: &str,
) {
    let program = compiled(directory.path(), program);
    let output = run_preloaded(7, &program, &[], environment);
    assert!(output.status.success(), "{environment:?}: {output:?}");
    assert!(text(&output.stdout).contains(right), "{environment:?}: {output:?}");
    let log = text(&output.stderr);
    let trees = [": adaptive-gather-time on 7", ": auto on 7", ": set up on 7"];
    assert!(trees.iter().any(|one| log.contains(one)), "{environment:?}: {log}");
}

#[test]
fn a_failure_after_the_communicator_was_freed_is_told_and_does_not_crash() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_freed.c");
    for processors in [1, 3] {
        let environment = [("TUWTREE_PERSISTENT", "1"), ("TUWTREE_ALGORITHM", "adaptive")];
        let output = run_preloaded(processors, &program, &[], &environment);
        assert!(output.status.success(), "{output:?}");
        assert!(text(&output.stdout).contains("outlived, 0 wrong"), "{output:?}");
    }
}

#[test]
fn persistent_operations_are_the_librarys_if_a_program_does_not_ask() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_persistent.c");
    let output = run_preloaded(3, &program, &[], &[("TUWTREE_ALGORITHM", "adaptive")]);
    let reason = "MPI_Gatherv_init, call 1: native: persistent operations are the MPI library's \
                  unless TUWTREE_PERSISTENT=1";
    assert!(text(&output.stderr).contains(reason), "{output:?}");
}

#[test]
fn a_script_with_mpi4py_gathers_along_trees() {
    // Debian's mpi4py is built for Open MPI, and for its own Python.
    let python = Path::new("/usr/bin/python3");
    let has_mpi4py = Command::new(python).args(["-c", "import mpi4py"]).status();
    if !is_open_mpi() || !has_mpi4py.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no mpi4py for this MPI library");
        return;
    }
    let script = source("unaware.py");
    let environment = [("TUWTREE_ALGORITHM", "adaptive")];
    let output = run_preloaded(4, python, &[script.to_str().unwrap()], &environment);
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains("gathered 7 numbers with mpi4py"), "{output:?}");
    let log = text(&output.stderr);
    assert!(log.contains("MPI_Gatherv, call 1: adaptive-gather-time on 4 processes"), "{log}");
    assert!(log.contains("MPI_Scatterv, call 2: adaptive-gather-time on 4 processes"), "{log}");
}

#[test]
#[ignore = "takes mpi4py's tests, whose folder TUWTREE_MPI4PY_TESTS names; ./test --all runs it"]
fn mpi4py_passes_its_own_tests_along_trees() {
    let Some(folder) = std::env::var_os("TUWTREE_MPI4PY_TESTS").map(PathBuf::from) else {
        panic!("TUWTREE_MPI4PY_TESTS is not set");
    };
    // Debian's mpi4py is built for Open MPI, and for its own Python.
    let python = std::env::var("TUWTREE_MPI4PY_PYTHON").unwrap_or("/usr/bin/python3".to_owned());
    let start = "import os, sys, unittest; os.chdir(sys.argv[1]); sys.path.insert(0, sys.argv[1]); \
                 unittest.main(module=None, argv=['tests', *sys.argv[2:]])";
    let suites = [
        "test_cco_vec",
        "test_cco_vec_inter",
        "test_cco_nb_vec",
        "test_cco_pr_vec",
        "test_request",
        "test_msgspec",
        "test_errhandler",
    ];
    // MPICH 4.0 fails in others of these by itself.
    let (processes, some): (usize, &[&str]) = match is_open_mpi() {
        true => (3, &[]),
        false => (2, &["-k", "atherv", "-k", "catterv", "-k", "Request"]),
    };
    // Persistent collectives came with mpi4py 4.
    let is_there = |suite: &&str| folder.join(format!("{suite}.py")).exists();
    for algorithm in ["native", "adaptive", "linear"] {
        let mut arguments = vec!["-c", start, folder.to_str().unwrap()];
        arguments.extend(suites.into_iter().filter(is_there));
        arguments.extend(some);
        let environment = [
            ("TUWTREE_ALGORITHM", algorithm),
            ("TUWTREE_PERSISTENT", "1"),
            ("TUWTREE_NONBLOCKING", "1"),
            ("TUWTREE_LOG", "0"),
        ];
        let output = run_preloaded(processes, Path::new(&python), &arguments, &environment);
        assert!(output.status.success(), "{algorithm}: {output:?}");
        let said = text(&output.stderr);
        assert!(said.contains("OK") && !said.contains("FAILED"), "{algorithm}: {said}");
        let ran = said.lines().find(|line| line.starts_with("Ran ")).unwrap_or("nothing was run");
        println!("{algorithm}: {ran}");
    }
}
