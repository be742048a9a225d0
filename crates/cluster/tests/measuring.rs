//! `tuwtree-exec calibrate` and `bench` under the `mpirun` of the MPI library that this was built with.
//! Times mean nothing here; what is checked is that what comes out is complete, sane and accepted.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tuwtree_dp::{Method, optimal_adjacent};
use tuwtree_measure::{Algorithm, Guideline, LEVEL, Measurements, Pace};
use tuwtree_model::document::Machine;
use tuwtree_model::{BlockSizes, ClosedSet, Construction, CostModel, Costs, LinkLaw, Problem};

/// The program on so many ranks. Whoever waits for ever is stopped, and fails the test.
fn run_with(ranks: usize, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("TUWTREE_MPIRUN"));
    command
        .args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_tuwtree-exec")])
        .args(arguments)
        .envs([
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ])
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("mpirun starts");
    let start = Instant::now();
    while child.try_wait().expect("mpirun can be asked").is_none() {
        if start.elapsed() > Duration::from_secs(600) {
            child.kill().expect("mpirun can be stopped");
            panic!("{arguments:?} on {ranks} processes: still running after ten minutes");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().expect("mpirun has ended")
}

#[track_caller]
fn success(ranks: usize, arguments: &[&str]) -> String {
    let output = run_with(ranks, arguments, &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).replace('\0', "")
}

/// A new folder for a test's files.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

fn machine(file: &Path) -> Machine {
    serde_json::from_str(&std::fs::read_to_string(file).expect("it was written"))
        .expect("a machine")
}

#[test]
#[ignore = "measures costs, which takes a quiet machine; run by `./test --all`"]
fn calibrated_machines_are_positive_and_have_optimal_trees() {
    let folder = folder("calibrate");
    for ranks in [2, 3, 4] {
        for model in ["homogeneous", "per-pair"] {
            let file = folder.join(format!("{model}-{ranks}.json"));
            let path = file.display().to_string();
            let seconds = if model == "per-pair" { "30" } else { "1" };
            let arguments = [
                "calibrate",
                "--model",
                model,
                "--seconds",
                seconds,
                "--largest",
                "65536",
                "-o",
                &path,
            ];
            let said = success(ranks, &arguments);
            assert!(said.contains("repetitions of 9 sizes up to 65536 bytes: about"), "{said}");
            assert!(said.contains("fit error") && said.contains("sums of doubles"), "{said}");
            let machine = machine(&file);
            assert!(machine.provenance.contains("Median relative deviations"), "{machine:?}");
            assert!(machine.provenance.contains("sums of doubles"), "{machine:?}");
            assert!(machine.combine_per_byte > 0.0, "{machine:?}");
            // Times of ranks that share cores tell nothing, and the file says so.
            let is_shared = machine.provenance.contains("processes a core");
            assert_eq!(machine.network.uncertainty == Some(100.0), is_shared, "{machine:?}");
            machine.costs.check_ranks(ranks).unwrap();
            for sender in 0..ranks {
                for receiver in (0..ranks).filter(|&receiver| receiver != sender) {
                    let time = machine.costs.transmission_between(sender, receiver, 1000).unwrap();
                    assert!(time.units() > 0.0 && time.units() < 100.0, "{machine:?}");
                }
                assert!(
                    machine.costs.copy_at(sender, 1 << 20).unwrap().units() > 0.0,
                    "{machine:?}"
                );
            }
            if let Costs::Homogeneous(costs) = machine.costs {
                let sizes = BlockSizes::new(vec![1000; ranks]).unwrap();
                let best =
                    optimal_adjacent(&Problem::gather(&sizes, costs).unwrap(), Method::Plain, &())
                        .unwrap();
                assert!(best.value > 0.0);
            }
        }
    }
}

#[test]
#[ignore = "measures costs, which takes a quiet machine; run by `./test --all`"]
fn floods_make_machines_with_tables_and_a_network() {
    let folder = folder("floods");
    for (ranks, levels) in [(2, None), (4, Some("node=2,network=2"))] {
        let file = folder.join(format!("{ranks}.json"));
        let path = file.display().to_string();
        let mut arguments = vec!["calibrate", "--seconds", "2", "--largest", "65536", "-o", &path];
        arguments.extend(levels.iter().flat_map(|levels| ["--levels", levels]));
        let said = success(ranks, &arguments);
        for part in ["latency [us]", "occupies [us]", "off the law", "a send occupies its rank for"]
        {
            assert!(said.contains(part), "{said}");
        }
        let machine = machine(&file);
        assert_eq!(machine.version(), 4);
        assert!(said.contains("\nsums of doubles: "), "{said}");
        assert!(machine.combine_per_byte > 0.0, "{machine:?}");
        assert!(machine.network.send_overhead.is_some(), "{machine:?}");
        assert!(machine.network.measured.contains_key("port"), "{machine:?}");
        let Costs::Hierarchical(hierarchy) = &machine.costs else { panic!("{machine:?}") };
        let names: Vec<&str> = hierarchy.levels().iter().map(|level| &*level.name).collect();
        match levels {
            Some(_) => assert_eq!(names, ["node", "network"]),
            None => assert_eq!(names, ["node"]),
        }
        for level in hierarchy.levels() {
            let LinkLaw::Measured(law) = &level.links else { panic!("{level:?}") };
            assert!(law.sizes().len() >= 8 && law.sizes()[0].bytes == 1, "{law:?}");
            assert_eq!(law.sizes().last().unwrap().bytes, 65536);
        }
        let time = machine.costs.transmission_between(0, ranks - 1, 1000).unwrap();
        assert!(time.units() < 10.0, "{machine:?}");
    }
}

#[test]
fn what_cannot_be_calibrated_is_said_once() {
    let file = folder("not_calibrated").join("machine.json");
    let path = file.display().to_string();
    for (ranks, arguments, code, message) in [
        (1, ["calibrate", "-o", &path].as_slice(), 1, "there is one process"),
        (2, &["calibrate", "--model", "hierarchical", "-o", &path], 1, "need several nodes"),
        (2, &["calibrate", "--seconds", "0", "-o", &path], 2, "above 0"),
        (2, &["calibrate", "--levels", "node", "-o", &path], 2, "such as node=4"),
        (2, &["calibrate", "--levels", "node=1", "-o", &path], 2, "room for 1 ranks"),
        (
            2,
            &["calibrate", "--levels", "node=2,rack=2", "-o", &path],
            1,
            "meet on the level \"rack\"",
        ),
        (2, &["calibrate", "-o", "/no/such/folder/x.json"], 1, "No such file or directory"),
    ] {
        let output = run_with(ranks, arguments, &[]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert_eq!(stderr.matches(message).count(), 1, "{arguments:?}: {stderr}");
        assert!(!file.exists());
    }
}

#[test]
fn every_algorithm_is_timed_and_its_result_checked() {
    let folder = folder("bench");
    let machine = folder.join("machine.toml");
    std::fs::write(&machine, ONE_LINE).unwrap();
    let machine = machine.display().to_string();
    // Costs that are measured first overlap, and have no line: some trees take one.
    let lines = [Construction::Binary, Construction::Greedy, Construction::Sorted];
    let (given, measured) = (["--machine", &machine], ["--calibration-seconds", "0.5"]);
    for (operation, costs, more) in
        [("gather", given, &lines[..]), ("scatter", measured, &[Construction::Deadline])]
    {
        let (json, csv) = (folder.join("results.json"), folder.join("results.csv"));
        let (json_path, csv_path) = (json.display().to_string(), csv.display().to_string());
        let said = success(
            3,
            &[
                "bench",
                "--op",
                operation,
                "--dist",
                "same,two-blocks",
                "-b",
                "4,2000",
                "--repetitions",
                "4",
                "--warm-up",
                "1",
                costs[0],
                costs[1],
                "-o",
                &json_path,
                "--csv",
                &csv_path,
            ],
        );
        let text = std::fs::read_to_string(&json).unwrap();
        let results: Measurements = serde_json::from_str(&text).unwrap();
        if costs == measured {
            let machine = results.setting().machine.as_ref().expect("it was measured");
            assert!(machine.combine_per_byte > 0.0, "{machine:?}");
        }
        // MPICH 4 and Open MPI 4.1 have all of the library's; trees are those that suit both problems.
        let timed = results.algorithms();
        let library = Algorithm::all().filter(|one| !matches!(one, Algorithm::Planned(..)));
        let suit = [
            Construction::Linear,
            Construction::Oblivious,
            Construction::Adaptive,
            Construction::Optimal,
            Construction::TwoBlock,
            Construction::Doubling,
        ];
        let suit = || suit.iter().chain(more);
        let trees =
            suit().flat_map(|&one| Pace::all().map(move |pace| Algorithm::Planned(one, pace)));
        for algorithm in library.chain(trees) {
            assert!(timed.contains(&algorithm), "{}", algorithm.name());
        }
        assert!(!timed.contains(&Algorithm::Planned(Construction::TwoLevel, Pace::Eager)));
        assert_eq!(results.series().len(), 4 * timed.len());
        assert!(results.series().iter().all(|one| one.times.seconds.len() == 4));
        for one in results.series() {
            let plans = matches!(
                one.algorithm,
                Algorithm::NativePersistent
                    | Algorithm::DistributedPersistent
                    | Algorithm::OnlinePersistent
                    | Algorithm::Planned(..)
            );
            assert_eq!(one.planning_seconds > 0.0, plans, "{one:?}");
            let is_judged = match one.algorithm {
                Algorithm::Native | Algorithm::NativePersistent => true,
                Algorithm::Planned(_, pace) => pace == Pace::Eager || costs == given,
                _ => false,
            };
            assert_eq!(one.predicted.is_some(), is_judged, "{one:?}");
            assert!(one.times.late_starts().is_some());
        }
        assert_eq!((results.setting().ranks, results.setting().root), (3, 1));
        let rows = std::fs::read_to_string(&csv).unwrap().lines().count();
        assert_eq!(rows, 1 + results.series().len());
        assert!(said.contains("judged") && said.contains("clocks were off by"), "{said}");
        // What is judged is in the text; a warning is there exactly if cores are shared.
        assert!(said.contains("GL1, MPI_") && said.contains("GL2, MPI_"), "{said}");
        assert_eq!(said.contains("WARNING"), results.setting().oversubscribed, "{said}");
        let verdicts = Guideline::Gl2.tried(&results, LEVEL);
        // Without those that began late on a busy machine.
        assert!(verdicts.len() <= 4 * (timed.len() - 2));
        assert!(verdicts.iter().all(|one| one.ratio > 0.0));
    }
}

#[test]
fn operations_without_a_root_are_timed_and_their_results_checked() {
    let folder = folder("rootless");
    let machine = folder.join("machine.toml");
    std::fs::write(&machine, ONE_LINE).unwrap();
    let (machine, json) = (machine.display().to_string(), folder.join("results.json"));
    let path = json.display().to_string();
    for operation in ["allgather", "reduce-scatter", "alltoall"] {
        let problem = ["--dist", "same,two-blocks", "-b", "4,2000", "--machine", &machine];
        let times = ["--repetitions", "4", "--warm-up", "1", "-o", &path];
        let said = success(3, &[&["bench", "--op", operation], &problem[..], &times].concat());
        let text = std::fs::read_to_string(&json).unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&document["operation"], &document["version"]), (&operation.into(), &9.into()));
        let series = document["series"].as_array().unwrap();
        let named = |name: &str| series.iter().filter(|one| one["algorithm"] == name).count();
        assert_eq!((named("native"), named("auto")), (4, 4), "{said}");
        let planned = if operation == "alltoall" { "bruck-radix-eager" } else { "circulant-eager" };
        assert_eq!(named(planned), 4, "{said}");
        let read: Result<Measurements, _> = serde_json::from_str(&text);
        assert!(read.is_ok(), "{read:?}");
    }
}

#[test]
fn schedules_of_vectors_and_between_groups_are_timed_beside_the_librarys_own_call() {
    let folder = folder("schedules");
    let machine = folder.join("machine.toml");
    std::fs::write(&machine, ONE_LINE).unwrap();
    let (machine, json) = (machine.display().to_string(), folder.join("results.json"));
    let path = json.display().to_string();
    let common = ["-b", "4,2000", "--machine", &machine, "--repetitions", "2", "--warm-up", "1"];
    for (operation, more, expected) in [
        ("broadcast", &["--root", "2"][..], &["linear-strict", "circulant-pieces-eager"][..]),
        ("reduce", &["--root", "0"], &["oblivious-eager", "rabenseifner-half-strict"]),
        ("allreduce", &[], &["ring-strict", "recursive-doubling-eager"]),
        (
            "intergroup-allgather",
            &["--dist", "two-blocks", "--remote", "1"],
            &["shares-strict", "root-mpich-eager"],
        ),
    ] {
        let own = ["bench", "--op", operation, "-o", &path];
        let said = success(3, &[&own, &common[..], more].concat());
        let text = std::fs::read_to_string(&json).unwrap();
        let results: Measurements = serde_json::from_str(&text).unwrap();
        let timed: Vec<String> =
            results.algorithms().into_iter().map(|one| one.name().into_owned()).collect();
        assert_eq!(timed[0], "native", "{said}");
        for name in expected {
            assert!(timed.iter().any(|one| one == name), "{operation}: no {name} in {timed:?}");
        }
        assert_eq!(results.series().len(), 2 * timed.len(), "{said}");
        for one in results.series() {
            let is_known = matches!(one.algorithm, Algorithm::Planned(_, Pace::Strict));
            assert!(one.predicted.is_some() || !is_known, "{one:?}");
        }
    }
}

#[test]
fn block_sizes_from_files_are_measured_beside_distributions() {
    let folder = folder("listed");
    let write = |name: &str, text: &str| {
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let machine = write("machine.toml", ONE_LINE);
    let (text, csv) =
        (write("a.txt", "1000 0 7"), write("b.csv", "rank,size_bytes\n0,8\n1,8\n2,8\n"));
    let json = folder.join("results.json");
    let path = json.display().to_string();
    let common = ["bench", "--machine", &machine, "--algorithm", "optimal-eager"];
    let few = ["--repetitions", "2", "--warm-up", "0", "-o", &path];
    let files = ["--sizes", &text, "--sizes", &csv, "--sizes", &text];
    let said = success(3, &[&common[..], &few, &files].concat());
    assert!(said.contains(&format!("{text}, b = 84: 1007 bytes, largest block 1000")), "{said}");
    let read = || std::fs::read_to_string(&json).unwrap();
    let results: Measurements = serde_json::from_str(&read()).unwrap();
    let names: Vec<&str> = results.blocks().iter().map(|one| one.name()).collect();
    assert_eq!(names, [&text, &csv]);
    for one in results.series() {
        let sizes = one.block_sizes(results.setting()).expect("they are listed");
        assert_eq!((sizes.total(), one.times.seconds.len()), (one.total_bytes, 2));
        assert!(one.predicted.is_some(), "{one:?}");
    }
    success(3, &[&common[..], &few, &files, &["--dist", "same", "-b", "8"]].concat());
    let results: Measurements = serde_json::from_str(&read()).unwrap();
    let problems: Vec<_> = results.problems().iter().map(|(one, b)| (one.name(), *b)).collect();
    assert_eq!(problems, [(&*text, 84), (&*csv, 2), ("same", 2)]);
}

#[test]
fn a_rank_between_others_begins_late_in_all_algorithms_alike() {
    let folder = folder("late");
    let machine = folder.join("machine.toml");
    // Latency is all: trees are deep.
    std::fs::write(&machine, ONE_LINE.replace("e-9", "e-12")).unwrap();
    let json = folder.join("results.json");
    let (machine, path) = (machine.display().to_string(), json.display().to_string());
    let common = ["bench", "--machine", &machine, "--dist", "same", "-b", "8", "-o", &path];
    let few = ["--repetitions", "5", "--algorithm", "linear-eager,oblivious-eager,auto"];
    let measured = |more: &[&str]| -> (String, Measurements) {
        let said = success(4, &[&common[..], &few, more].concat());
        (said, serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap())
    };
    let (said, results) = measured(&["--late"]);
    assert!(said.contains(" begins late; until the last rank is done"), "{said}");
    let unit = results.series()[0].times.median();
    let rank = results.series()[0].delayed[0].rank;
    for one in results.series() {
        assert_eq!(one.delayed.len(), 3);
        for (delayed, factor) in one.delayed.iter().zip([0.0, 1.0, 10.0]) {
            assert_eq!((delayed.rank, delayed.delay_seconds), (rank, factor * unit), "{one:?}");
            assert_eq!((delayed.seconds.len(), delayed.others_seconds.len()), (5, 5));
            assert!(delayed.seconds.iter().all(|&one| one >= delayed.delay_seconds), "{one:?}");
        }
    }
    // The root is 2; in the binomial tree 0 is between it and 1, or 3 a leaf: not that.
    assert!(![2, 3].contains(&rank), "{rank}");
    let (_, results) = measured(&["--late=2.5", "--late-rank", "3"]);
    let only = |one: &tuwtree_measure::Series| (one.delayed.len(), one.delayed[0].rank);
    assert!(results.series().iter().all(|one| only(one) == (1, 3)));
    for (arguments, message) in [
        (["--late", "--late-rank", "2"], "rank 2 cannot begin late"),
        (["--late=-1", "--late-rank", "1"], "a number from 0 to 1e6 is needed"),
    ] {
        let output = run_with(4, &[&common[..], &arguments].concat(), &[]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(message));
    }
}

#[test]
fn what_cannot_be_measured_is_said_once_and_leaves_no_file() {
    let file = folder("not_measured").join("results.json");
    let path = file.display().to_string();
    let three = file.with_file_name("three.txt");
    std::fs::write(&three, "1 2 3").unwrap();
    let three = three.display().to_string();
    for (arguments, code, message) in [
        (["bench", "--root", "2", "-o", &path].as_slice(), 2, "root 2 is outside 0..2"),
        (&["bench", "-b", "4000000000", "-o", &path], 2, "the most that MPI's counts reach"),
        (&["bench", "--op", "exscan"], 2, "invalid value 'exscan'"),
        (&["bench", "--op", "allreduce", "--dist", "spikes"], 2, "allreduce moves a vector"),
        (&["bench", "--op", "reduce", "--sizes", &three], 2, "reduce moves a vector"),
        (&["bench", "--op", "allreduce", "--root", "0"], 2, "allreduce has none"),
        (&["bench", "--op", "allreduce", "--algorithm", "auto"], 2, "auto is not for allreduce"),
        (&["bench", "--remote", "1"], 2, "gather has no groups"),
        (
            &["bench", "--op", "intergroup-allgather", "--remote", "2"],
            2,
            "2 of 2 processes as second group",
        ),
        (&["bench", "--sizes", "/no/such/counts.txt"], 1, "/no/such/counts.txt"),
        (&["bench", "--sizes", &three, "-o", &path], 1, "three.txt has 3 blocks for 2 processes"),
        (&["bench", "--machine", "/no/such/machine.json", "-o", &path], 1, "/no/such/machine.json"),
    ] {
        let output = run_with(2, arguments, &[]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert_eq!(stderr.matches(message).count(), 1, "{arguments:?}: {stderr}");
        assert!(!file.exists());
    }
}

/// MPICH can pretend that odd and even ranks are on different nodes.
#[test]
#[ignore = "measures costs, which takes a quiet machine; run by `./test --all`"]
fn two_nodes_are_found_and_have_costs_of_their_own() {
    if !env!("TUWTREE_MPIRUN").contains("mpich") {
        return;
    }
    let file = folder("two_nodes").join("machine.json");
    let path = file.display().to_string();
    let arguments = ["calibrate", "--seconds", "1", "--largest", "4096", "-o", &path];
    let output = run_with(4, &arguments, &[("MPIR_CVAR_ODD_EVEN_CLIQUES", "1")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let Costs::Hierarchical(hierarchy) = machine(&file).costs else { panic!("two levels") };
    assert_eq!((hierarchy.nodes(), hierarchy.levels().len()), (2, 2));
    assert_eq!([0, 1, 2, 3].map(|rank| hierarchy.node(rank)), [0, 1, 0, 1]);
}

/// A line for all pairs.
const ONE_LINE: &str = r#"
format = "tuwtree-machine"
version = 1
name = "one line"
date = "2026-01-01"
provenance = "made up"

[homogeneous]
alpha_seconds = 1e-6
beta_seconds_per_byte = 1e-9
gamma_seconds_per_byte = 1e-10
"#;

/// Two levels, and a node for each rank.
const TWO_NODES: &str = r#"
format = "tuwtree-machine"
version = 1
name = "two nodes"
date = "2026-01-01"
provenance = "made up"

[hierarchical]
gamma_seconds_per_byte = 1e-10
placement = "listed"
node_of_rank = [0, 1, 0, 1]

[[hierarchical.levels]]
name = "node"
members = 2
alpha_seconds = 1e-6
beta_seconds_per_byte = 1e-9

[[hierarchical.levels]]
name = "network"
members = 2
alpha_seconds = 1e-5
beta_seconds_per_byte = 1e-8
"#;

#[test]
fn bench_plans_with_the_levels_of_a_machine_file() {
    let folder = folder("levels");
    let machine: Machine = toml::from_str(TWO_NODES).unwrap();
    let (json, text) = (folder.join("machine.json"), folder.join("machine.toml"));
    std::fs::write(&json, serde_json::to_string(&machine).unwrap()).unwrap();
    std::fs::write(&text, TWO_NODES).unwrap();
    for file in [json, text] {
        let path = file.display().to_string();
        let results = folder.join("results.json");
        let results_path = results.display().to_string();
        let arguments = ["bench", "--machine", &path, "--dist", "skewed", "-b", "400"];
        let rest = ["--repetitions", "4", "--warm-up", "1", "-o", &results_path];
        let said = success(4, &[&arguments[..], &rest[..]].concat());
        assert!(said.contains("hierarchical costs of two nodes"), "{said}");
        let text = std::fs::read_to_string(&results).unwrap();
        let results: Measurements = serde_json::from_str(&text).unwrap();
        let kept =
            results.setting().machine.as_ref().expect("the machine is written with the times");
        assert_eq!(*kept, machine);
        // The tree for two levels among them, which costs that are the same everywhere do not have.
        let timed = results.algorithms();
        for construction in [Construction::TwoLevel, Construction::Adaptive, Construction::Linear] {
            for algorithm in Pace::all().map(|pace| Algorithm::Planned(construction, pace)) {
                assert!(timed.contains(&algorithm), "{}", algorithm.name());
            }
        }
    }
}

/// The file of a recording of calls: function, operation, root, sizes, how often.
fn recorded(folder: &Path, calls: &[(&str, &str, usize, &[u64], u64)]) -> String {
    let entries: Vec<serde_json::Value> = calls
        .iter()
        .map(|&(function, operation, root, sizes, calls)| {
            serde_json::json!({
                "function": function, "operation": operation, "root": root, "block_sizes_bytes": sizes,
                "calls": calls, "seconds": 0.5, "least_seconds": 0.1, "greatest_seconds": 0.4,
            })
        })
        .collect();
    let document = serde_json::json!({
        "format": "tuwtree-recording", "version": 2, "mpi_library": "a library", "processes": 5, "rank": 0,
        "entries": entries, "left_out_calls": 0, "left_out_seconds": 0.0,
    });
    let file = folder.join("calls.json");
    std::fs::write(&file, document.to_string()).unwrap();
    file.display().to_string()
}

#[test]
fn each_recorded_call_is_measured_on_as_many_processes_and_no_other_number() {
    let folder = folder("bench-recording");
    let machine = folder.join("machine.toml");
    std::fs::write(&machine, ONE_LINE).unwrap();
    let machine = machine.display().to_string();
    let calls = recorded(
        &folder,
        &[
            ("MPI_Gatherv", "gather", 1, &[100, 0, 50_000], 5),
            ("MPI_Igatherv", "gather", 1, &[100, 0, 50_000], 2),
            ("MPI_Scatterv", "scatter", 2, &[4, 4, 4], 1),
            ("MPI_Allgatherv", "allgather", 0, &[8, 0, 80], 3),
            ("MPI_Alltoallv", "alltoall", 0, &[8, 8, 8], 1),
            ("MPI_Gatherv", "gather", 0, &[1, 2, 3, 4, 5], 9),
        ],
    );
    let result = folder.join("measured.json").display().to_string();
    let common = ["bench", "--recording", &calls, "--machine", &machine, "--repetitions", "4"];
    let said = success(3, &[&common[..], &["--warm-up", "1", "-o", &result]].concat());
    let title = "MPI_Gatherv and MPI_Igatherv, root 1, 50.1 kB (largest block 50 kB), 3 ranks, recorded 7 times";
    assert_eq!(said.matches(title).count(), 1, "{said}");
    assert_eq!(said.matches("\n  native ").count(), 3, "{said}");
    assert_eq!(said.matches("\n  auto ").count(), 3, "{said}");
    assert!(
        said.contains("not measured: of an alltoall, only what one rank sends is recorded"),
        "{said}"
    );
    assert!(said.contains("not measured: it is on 5 processes, and this job has 3"), "{said}");
    // Which of both depends on how busy the machine is.
    let has_verdict = said.contains(" as often as recorded: native ");
    assert!(has_verdict || said.contains("No verdict on 3 problems: "), "{said}");
    let document: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&result).unwrap()).unwrap();
    assert_eq!(document["format"], "tuwtree-measured-calls");
    let measured = &document["calls"][0]["measured"];
    assert_eq!(
        (&measured[0]["algorithm"], &measured[1]["algorithm"]),
        (&"native".into(), &"auto".into())
    );
    assert_eq!(measured[1]["seconds"].as_array().unwrap().len(), 4);
    let file: tuwtree_measure::MeasuredCalls = serde_json::from_value(document.clone()).unwrap();
    assert!(said.contains(&file.text()), "{said}");
    let output = run_with(2, &common, &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let refusal = "the calls are on 3, 5 processes, and this job has 2; block sizes belong to ranks, so measure with as \
                   many: mpirun -n 5";
    assert_eq!(stderr.matches(refusal).count(), 1, "{stderr}");
}
