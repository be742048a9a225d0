//! Another laboratory: ASTRA-sim performs exported Chakra traces in the model's time.
//!
//! ASTRA-sim (github.com/astra-sim/astra-sim) is in no distribution. It is built from its sources, with CMake and
//! libprotobuf-dev, by `build/astra_analytical/build.sh -t congestion_unaware`; these tests need
//! `AstraSim_Analytical_Congestion_Unaware` in the search path. In its analytical network a message takes a latency
//! and a time per byte; a rank sends one after the other, without waiting for who receives, and receives any number at once. So
//! where each rank receives one message at a time it has our times, and otherwise none that is later.

use super::c_files::succeed;
use crate::program::{folder, json, tuwtree};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Nanoseconds: alpha.
const LATENCY: u32 = 500;

/// The nanoseconds that ASTRA-sim needs for a plan, a byte taking one.
fn nanoseconds(plan: &str, ranks: u64, folder: &Path) -> f64 {
    let traces = folder.join("traces");
    tuwtree(&format!("export {plan} --format chakra -o {}", traces.display())).success();
    // A GB has 2^30 bytes there.
    let network = format!(
        "topology: [ FullyConnected ]\nnpus_count: [ {ranks} ]\n\
         bandwidth: [ 0.931322574615478515625 ]\nlatency: [ {LATENCY} ]\n"
    );
    let system = r#"{"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1,
        "preferred-dataset-splits": 1, "all-reduce-implementation": ["ring"], "all-gather-implementation": ["ring"],
        "reduce-scatter-implementation": ["ring"], "all-to-all-implementation": ["ring"],
        "collective-optimization": "localBWAware", "local-mem-bw": 1600, "boost-mode": 0}"#;
    for (name, content) in [
        ("network.yml", network.as_str()),
        ("system.json", system),
        ("memory.json", r#"{"memory-type": "NO_MEMORY_EXPANSION"}"#),
    ] {
        fs::write(folder.join(name), content).unwrap();
    }
    let mut simulator = Command::new("AstraSim_Analytical_Congestion_Unaware");
    simulator.current_dir(folder).args([
        "--workload-configuration=traces/schedule",
        "--system-configuration=system.json",
        "--remote-memory-configuration=memory.json",
        "--network-configuration=network.yml",
    ]);
    let said = succeed(&mut simulator);
    let ends: Vec<f64> = said
        .lines()
        .filter_map(|line| line.split_once(" finished, ")?.1.split_once(" cycles"))
        .map(|(cycles, _)| cycles.parse().unwrap())
        .collect();
    assert_eq!(ends.len() as u64, ranks, "each rank comes to its end: {said}");
    ends.into_iter().fold(0.0, f64::max)
}

/// What the model and ASTRA-sim say of an algorithm.
fn times(folder: &Path, arguments: &str, algorithm: &str, ranks: u64) -> [f64; 2] {
    let plan = folder.join("plan.json").to_str().unwrap().to_owned();
    let arguments = format!("{arguments} -p {ranks} --alpha {LATENCY} --gamma 0");
    tuwtree(&format!("optimize {arguments} --algorithm {algorithm} -o {plan}")).success();
    let simulated = json(&format!("simulate {plan} --alpha {LATENCY} --json"));
    let own = simulated["completion_time"].as_f64().unwrap();
    [own, nanoseconds(&plan, ranks, folder)]
}

#[test]
#[ignore = "needs ASTRA-sim; ./test --all runs it where it is installed"]
fn astra_sim_takes_the_time_of_schedules_in_which_all_receive_one_message_at_a_time() {
    let folder = folder("astra-sim-one");
    for (arguments, algorithms) in [
        ("--op allgather --dist same -b 1000", "ring bruck circulant recursive-doubling"),
        ("--op allgather --dist spikes -b 1000", "ring bruck circulant-pieces"),
        ("--op allreduce --vector 12000", "ring recursive-doubling rabenseifner-full circulant"),
        ("--op alltoall --dist random -b 1000", "linear pairwise bruck"),
        (
            "--op broadcast --cut --vector 12000 --root 0",
            "binomial scatter-ring scatter-doubling circulant-pieces",
        ),
    ] {
        for algorithm in algorithms.split(' ') {
            for ranks in [2, 3, 6, 8] {
                let [own, theirs] = times(&folder, arguments, algorithm, ranks);
                assert_eq!(own, theirs, "{arguments}, {algorithm}, {ranks} ranks");
            }
        }
    }
}

#[test]
#[ignore = "needs ASTRA-sim; ./test --all runs it where it is installed"]
fn astra_sim_is_no_later_where_several_messages_come_at_once() {
    let folder = folder("astra-sim-several");
    let mut are_earlier = 0;
    for (arguments, algorithms) in [
        ("--op reduce-scatter --dist random -b 1000", "pairwise halving circulant"),
        ("--op reduce --cut --vector 12000 --root 0", "binomial ring rabenseifner-half"),
        ("--op alltoall --dist random -b 1000", "open-shop"),
    ] {
        for algorithm in algorithms.split(' ') {
            for ranks in [3, 6, 8] {
                let [own, theirs] = times(&folder, arguments, algorithm, ranks);
                assert!(theirs > 0.0 && theirs <= own, "{algorithm} {ranks}: {theirs} {own}");
                are_earlier += usize::from(theirs < own);
            }
        }
    }
    assert!(are_earlier > 0);
}
