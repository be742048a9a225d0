//! What takes seconds: `./test` runs it.

use super::experiment::agree;
use super::platform::{CLUSTER, FAT_TREE, NODES, Overheads, Platform};
use super::runs::{Bytes, Candidate, seconds};
use super::{floods, problems};
use crate::program::folder;
use serde_json::Value;
use tuwtree_laws::problems::homogeneous;
use tuwtree_model::{Operation, Problem, StatedCosts, Tree};
use tuwtree_treegen::{AdaptiveRule, adaptive, linear, oblivious};

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn floods_find_what_the_simulator_was_told() {
    let close = |value: &Value, expected: f64| {
        let value = value.as_f64().unwrap();
        // A byte on the wire may be in it.
        assert!((value - expected).abs() <= 5e-9, "{value}, expected {expected}");
    };
    for (platform, wire) in [(CLUSTER, "rank"), (FAT_TREE, "rank"), (NODES, "node")] {
        let Platform { name, .. } = platform;
        let folder = folder(&format!("network-floods-{name}"));
        let machine = floods::machine(&platform, Overheads::Given, &folder);
        let network = &machine["network"];
        assert_eq!(network["eager_limit_bytes"], 65535, "{name}");
        assert_eq!(network["port"], "fair", "{name}");
        assert_eq!(network["wire"], wire, "{name}");
        close(&network["send_overhead_seconds"], 4e-7);
        let levels = machine["hierarchical"]["levels"].as_array().unwrap();
        assert_eq!(levels.len(), platform.levels.len(), "{name}");
        for level in levels {
            let first = &level["sizes"][0];
            assert_eq!(first["bytes"], 1);
            close(&first["occupancy_seconds"], 4e-7);
        }
    }
}

fn trees(problem: &Problem) -> [Tree; 3] {
    [
        linear(problem).unwrap(),
        oblivious(problem).unwrap(),
        adaptive(problem, AdaptiveRule::CompletionTime).unwrap(),
    ]
}

fn with_the_library<'a>(trees: impl IntoIterator<Item = &'a Tree>) -> Vec<Candidate<'a>> {
    let along = trees.into_iter().map(Candidate::Along);
    std::iter::once(Candidate::Library).chain(along).collect()
}

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn trees_and_the_library_move_every_byte() {
    let folder = folder("network-bytes");
    let costs: StatedCosts = homogeneous(1000, 1, 0).into();
    let problems: Vec<Problem> = problems::fifty(13)
        .iter()
        .chain(&problems::hold_out(13))
        .flat_map(|sizes| {
            [Operation::Gather, Operation::Scatter].map(|one| sizes.problem(one, &costs))
        })
        .collect();
    let trees: Vec<[Tree; 3]> = problems.iter().map(trees).collect();
    let cases: Vec<_> = problems
        .iter()
        .zip(&trees)
        .map(|(problem, trees)| (problem, with_the_library(trees)))
        .collect();
    let times = seconds(&CLUSTER, Overheads::Given, &folder, &cases, Bytes::Checked);
    assert!(times.iter().flatten().all(|&time| time > 0.0 && time < 0.1));
}

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn the_judge_agrees_with_a_cluster_of_64() {
    agree(&CLUSTER, Overheads::Given, &problems::fifty(64));
}
