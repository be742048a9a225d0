//! Programs that know nothing of tuwtree, with and without it.

#[path = "../../mpi/tests/programs/launch.rs"]
#[expect(dead_code, reason = "the tests of the library for C use the rest")]
mod launch;

#[path = "preload/aside.rs"]
mod aside;
#[path = "preload/component.rs"]
mod component;
#[path = "preload/fortran.rs"]
mod fortran;
#[path = "preload/launched.rs"]
mod launched;
#[path = "preload/learned.rs"]
mod learned;
#[path = "preload/loose.rs"]
mod loose;
#[path = "preload/mixed.rs"]
mod mixed;
#[path = "preload/nonblocking.rs"]
mod nonblocking;
#[path = "preload/python.rs"]
mod python;
#[path = "preload/recording.rs"]
mod recording;
#[path = "preload/suite.rs"]
mod suite;

use launch::{is_open_mpi, library_directory, open_mpi_version, run, soname, text};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Runs a program with the library loaded before all others.
fn run_preloaded(
    ranks: usize,
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
    // A line for each call; and the same way for equal calls.
    for (name, default) in [("TUWTREE_LOG", "2"), ("TUWTREE_TRIAL", "no")] {
        if environment.iter().all(|(other, _)| *other != name) {
            environment.push((name, default.to_owned()));
        }
    }
    run(ranks, program, arguments, &environment)
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

fn numbers(ranks: usize) -> usize {
    (0..ranks).map(|rank| rank % 4).sum()
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
    let few = said(&[("TUWTREE_LOG", "")]);
    let own = "tuwtree: no communicator had more than 20 of the intercepted calls; the first 20 are the MPI library's own.";
    assert!(few.len() == 1 && few[0].starts_with(own), "{few:?}");
    let output =
        run_preloaded(3, &compiled(directory.path(), "gathers.c"), &[], &[("TUWTREE_LOG", "")]);
    let untold = lines(&output);
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
    let auto = ("TUWTREE_ALGORITHM", "auto");
    let machine = ("TUWTREE_MACHINE", machine.as_str());
    let chosen = said(&[auto, machine]);
    assert!(chosen.iter().any(|line| line.contains("MPI_Allgatherv, call 1: ")), "{chosen:?}");
    let own = said(&[auto, machine, ("TUWTREE_REDUCE_SCATTER", "native")]);
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
fn allgathers_and_reduce_scatters_on_two_nodes_have_right_results() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_everywhere.c");
    let hosts = directory.path().join("libhosts.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC"]).arg(source("pretended_nodes.c")).arg("-o").arg(&hosts);
    assert!(compiler.status().unwrap().success());
    let library = library_directory().join("libtuwtree_preload.so");
    let others = std::env::var("LD_PRELOAD").unwrap_or_default();
    let loaded = format!("{}:{}:{others}", library.display(), hosts.display());
    let count = if is_open_mpi() { 7 } else { 3 };
    for algorithm in ["lanes", "node-all", "bruck-postal:2", "bruck-balanced:3"] {
        let (name, _) = algorithm.split_once(':').unwrap_or((algorithm, ""));
        let settings = [
            ("LD_PRELOAD", loaded.as_str()),
            ("TUWTREE_ALLGATHER", algorithm),
            ("TUWTREE_REDUCE_SCATTER", algorithm),
            ("TUWTREE_LOG", "2"),
            ("TUWTREE_TRIAL", "no"),
        ];
        let settings = settings.map(|(name, value)| (name, value.to_owned()));
        let output = run(count, &program, &[], &settings);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(text(&output.stdout), "all right\n");
        let said = lines(&output);
        for call in ["Allgatherv, call 1", "Reduce_scatter, call 2", "Reduce_scatter_block, call 3"]
        {
            let line = format!("tuwtree: MPI_{call}: {name} on {count} processes");
            assert!(said.contains(&line), "{line}: {said:?}");
        }
    }
}

/// Runs 24 gathers of two ranks as launchers do that give a variable to the first node only.
fn run_with_at_rank_0(name: &str, value: &str, environment: &[(&str, String)]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "gathers.c");
    let script = directory.path().join("partly.sh");
    let text_of_script = format!(
        "#!/bin/sh\n[ \"${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\" != 0 ] || export {name}={value}\n\
         exec timeout -k 1 20 {}\n",
        program.display()
    );
    std::fs::write(&script, text_of_script).unwrap();
    let output = run(2, Path::new("sh"), &[script.to_str().unwrap()], environment);
    assert!(!output.status.success(), "{output:?}");
    output
}

#[test]
fn an_algorithm_for_rank_0_only_ends_the_job() {
    let library = library_directory().join("libtuwtree_preload.so");
    let loaded = [("LD_PRELOAD", library.to_str().unwrap().to_owned())];
    let output = run_with_at_rank_0("TUWTREE_ALGORITHM", "adaptive", &loaded);
    let error = "an algorithm is set for some ranks and not for others";
    assert!(text(&output.stderr).contains(error), "{output:?}");
}

#[test]
fn whoever_waits_for_ranks_that_run_without_it_says_what_may_be_wrong() {
    // The ranks would wait for ever.
    let library = library_directory().join("libtuwtree_preload.so");
    let both = format!("{}:$LD_PRELOAD", library.display());
    let output = run_with_at_rank_0("LD_PRELOAD", &both, &[]);
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

/// Runs gathers in threads, each with a communicator; returns, for each setting, the number of wrong results and the ratio
/// to the library's own time; empty if the library has no threads.
fn gathers_in_threads() -> Vec<(u64, f64)> {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_threads.c");
    let machine = slow_machine(directory.path());
    let gathered = |algorithm| {
        let settings = [
            ("TUWTREE_LOG", "0"),
            ("TUWTREE_ALGORITHM", algorithm),
            ("TUWTREE_MACHINE", machine.as_str()),
        ];
        let output = run_preloaded(2, &program, &["30", "5"], &settings);
        assert!(output.status.success(), "{output:?}");
        let said = text(&output.stdout);
        println!("{algorithm}: {said}");
        let (wrong, rest) = said.trim().split_once(" wrong")?;
        let (_, ratio) = rest.rsplit_once("ratio ").expect(&said);
        Some((wrong.parse().expect(&said), ratio.parse().expect(&said)))
    };
    ["adaptive", "linear", "auto"].into_iter().filter_map(gathered).collect()
}

#[test]
fn threads_with_a_communicator_each_gather_at_once() {
    assert!(gathers_in_threads().into_iter().all(|(wrong, _)| wrong == 0));
}

#[test]
#[ignore = "compares times, which takes a quiet machine; run by `./test --all`"]
fn threads_wait_for_no_gather_of_another_thread() {
    // It was a thousand times the library's own time once; a built tree takes three messages in place of one.
    assert!(gathers_in_threads().into_iter().all(|(_, ratio)| ratio < 25.0));
}

#[test]
fn calls_with_large_counts_go_along_trees() {
    if is_open_mpi() {
        eprintln!("skipped: Open MPI 4 and 5 have no calls with large counts");
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
        let is_native = algorithm == "native";
        let by =
            if is_native { "native: one of the first 20" } else { "adaptive-gather-time on 3" };
        for (call, name) in [(1, "MPI_Gatherv_c"), (2, "MPI_Scatterv_c")] {
            assert!(log.contains(&format!("{name}, call {call}: {by}")), "{log}");
        }
    }
}

#[test]
#[ignore = "takes 6 GB of memory; ./test --all runs it where there is as much"]
fn a_block_of_2_915_147_392_bytes_goes_along_a_tree() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_huge.c");
    // Open MPI 4 and 5 have no calls with large counts.
    let all: &[&str] = if is_open_mpi() { &["elements"] } else { &["elements", "bytes"] };
    for of in all {
        let output = run_preloaded(3, &program, &[of], &[("TUWTREE_ALGORITHM", "adaptive")]);
        assert!(output.status.success(), "{of}: {output:?}");
        assert!(text(&output.stdout).contains("a huge block, 0 wrong"), "{of}: {output:?}");
        let log = text(&output.stderr);
        let suffix = if *of == "bytes" { "_c" } else { "" };
        for (call, name) in [(1, "MPI_Gatherv"), (2, "MPI_Scatterv")] {
            let line = format!("{name}{suffix}, call {call}: adaptive-gather-time on 3 processes");
            assert!(log.contains(&line), "{of}: {log}");
        }
    }
}

#[test]
fn programs_with_a_session_have_the_librarys_calls() {
    if open_mpi_version() == Some(4) {
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
fn a_c_program_that_knows_nothing_gathers_along_trees() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware.c");
    for ranks in [1, 2, 5] {
        for algorithm in ["adaptive-gather-time", "adaptive-data-size", "linear"] {
            let environment = [("TUWTREE_ALGORITHM", algorithm)];
            let output = run_preloaded(ranks, &program, &[], &environment);
            assert!(output.status.success(), "{output:?}");
            let gathered = format!("gathered {} numbers", numbers(ranks));
            assert!(text(&output.stdout).contains(&gathered), "{output:?}");
            let log = text(&output.stderr);
            for (call, name) in [(1, "MPI_Gatherv"), (2, "MPI_Scatterv")] {
                let line = format!("tuwtree: {name}, call {call}: {algorithm} on {ranks} ");
                assert!(log.contains(&line), "{log}");
            }
            let inter = "tuwtree: MPI_Gatherv, call 3: native: an inter-communicator";
            assert_eq!(log.contains(inter), ranks > 1, "{log}");
        }
    }
}

#[test]
fn it_leaves_calls_to_the_mpi_library_when_told_or_when_settings_make_no_sense() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware.c");
    let missing = [("TUWTREE_ALGORITHM", "schedule"), ("TUWTREE_SCHEDULE", "/nowhere")];
    let gathers = compiled(directory.path(), "gathers.c");
    let stays = |program: &Path, environment: &[(&str, &str)], reason: &str| {
        let output = run_preloaded(3, program, &[], environment);
        assert!(output.status.success(), "{output:?}");
        assert!(text(&output.stderr).contains(reason), "{output:?}");
    };
    stays(&gathers, &[], "native: one of the first 20 calls on a communicator");
    stays(&gathers, &[], "native: no algorithm or machine is set");
    stays(&gathers, &[("TUWTREE_ALGORITHM", "native")], "native: as set");
    let fast = "native: TUWTREE_ALGORITHM \"fast\": one of adaptive";
    stays(&program, &[("TUWTREE_ALGORITHM", "fast")], fast);
    stays(&program, &missing, "native: /nowhere: No such file");
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
fn with_a_machine_calls_go_along_trees_where_these_are_better() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_again.c");
    let doubtful = "[network]\nuncertainty = 100.0\n";
    for (file, alpha, network, second) in [
        ("slow.toml", "1e-3", "", "auto"),
        ("fast.toml", "1e-12", "", "native"),
        ("doubtful.toml", "1e-3", doubtful, "native"),
    ] {
        let machine = directory.path().join(file);
        let written = format!(
            "format = \"tuwtree-machine\"\nversion = 4\nname = \"slow\"\ndate = \"2026-11-22\"\n\
             provenance = \"stated\"\n[homogeneous]\nalpha_seconds = {alpha}\n\
             beta_seconds_per_byte = 1e-9\ngamma_seconds_per_byte = 1e-9\n{network}"
        );
        std::fs::write(&machine, written).unwrap();
        let environment =
            [("TUWTREE_ALGORITHM", "auto"), ("TUWTREE_MACHINE", machine.to_str().unwrap())];
        let output = run_preloaded(5, &program, &[], &environment);
        assert!(output.status.success(), "{output:?}");
        assert!(text(&output.stdout).contains("5 rounds, 0 wrong"), "{output:?}");
        let log = text(&output.stderr);
        // The first two calls of each are the library's own.
        for (call, by) in [(1, "native"), (4, "native"), (5, second), (6, second), (10, second)] {
            assert!(log.contains(&format!(", call {call}: {by} on 5 processes")), "{file}: {log}");
        }
        let doubted = log.contains("Times of machine slow are known within a factor of 100.0");
        assert_eq!(doubted, !network.is_empty(), "{file}: {log}");
        // With what the choice was.
        assert_eq!(log.contains("auto on 5 processes, tree "), second == "auto", "{file}: {log}");
    }
}

#[test]
fn persistent_operations_go_along_trees_if_a_program_asks_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path(), "unaware_persistent.c");
    for ranks in [1, 2, 3, 5, 8] {
        for (algorithm, mode) in
            [("adaptive-gather-time", "strict"), ("adaptive-data-size", "eager")]
        {
            let environment = [
                ("TUWTREE_PERSISTENT", "1"),
                ("TUWTREE_ALGORITHM", algorithm),
                ("TUWTREE_MODE", mode),
            ];
            let output = run_preloaded(ranks, &program, &[], &environment);
            assert!(output.status.success(), "{output:?}");
            assert!(text(&output.stdout).contains("24 steps, 0 wrong"), "{output:?}");
            let log = text(&output.stderr);
            for (call, name) in [(1, "MPI_Gatherv_init"), (2, "MPI_Scatterv_init")] {
                let line = format!("tuwtree: {name}, call {call}: set up on {ranks} processes");
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
    let [auto, costs] = [("TUWTREE_ALGORITHM", "auto"), ("TUWTREE_MACHINE", machine.as_str())];
    let again = |environment: &[(&str, &str)]| {
        arrives(&directory, "unaware_again.c", environment, "5 rounds, 0 wrong");
    };
    let set_up = |environment: &[(&str, &str)]| {
        arrives(&directory, "unaware_persistent.c", environment, "24 steps, 0 wrong");
    };
    again(&[tree, limit]);
    again(&[auto, costs, limit, window]);
    set_up(&[tree, persistent, limit]);
    set_up(&[costs, persistent, limit, window]);
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
    for ranks in [1, 3] {
        let environment = [("TUWTREE_PERSISTENT", "1"), ("TUWTREE_ALGORITHM", "adaptive")];
        let output = run_preloaded(ranks, &program, &[], &environment);
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
