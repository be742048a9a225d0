//! Exported C under SimGrid's SMPI: 2000 processes with real data, in exactly the model's time, and
//! the library's own operations beside it.
//!
//! `TUWTREE_REFRESH=1` writes the table of times into `docs/exported-c.md`.

use super::c_files::{Exported, Recipe, build, succeed, write_all};
use crate::program::workspace_file;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use tuwtree_dp::{default_method, optimal_adjacent};
use tuwtree_laws::problems::{self, homogeneous, rooted};
use tuwtree_model::{
    BlockSizes, ClosedSet, Distribution, DistributionParameters, Homogeneous, Operation, Problem,
    Randomness, Rank, Root, Tree, Vector,
};
use tuwtree_schedule::export::smpi::{Replay, SETTINGS};
use tuwtree_schedule::{Schedule, Sends, simulate};
use tuwtree_treegen::{AdaptiveRule, adaptive, linear, oblivious};

const RANKS: usize = 2000;
const ROOT: Rank = 0;
/// Those in the table.
const SEVERAL: [Distribution; 4] = [
    Distribution::RandomDecreasing,
    Distribution::Spikes,
    Distribution::Skewed,
    Distribution::TwoBlocks,
];
const TREES: [&str; 3] = ["linear", "adaptive", "optimal"];

fn blocks(distribution: Distribution) -> BlockSizes {
    let parameters = DistributionParameters::new(RANKS, 1000);
    distribution.sizes(parameters, Randomness::default()).unwrap()
}

fn tree(name: &str, problem: &Problem) -> Tree {
    let problem = rooted(problem, Root::Given(ROOT));
    match name {
        "linear" => linear(&problem).unwrap(),
        "adaptive" => adaptive(&problem, AdaptiveRule::CompletionTime).unwrap(),
        _ => optimal_adjacent(&problem, default_method(&problem), &()).unwrap().tree,
    }
}

fn name(operation: Operation, distribution: Distribution, tree: &str) -> String {
    format!("{}_{}_{tree}", operation.name(), distribution.name().replace('-', "_"))
}

/// Gather and scatter of these distributions along all trees.
fn irregular(distributions: &[Distribution], costs: &Homogeneous) -> Vec<Exported> {
    let mut cases = Vec::new();
    for &distribution in distributions {
        let problems = problems::irregular(&blocks(distribution), costs);
        for construction in TREES {
            let tree = tree(construction, &problems[0]);
            for problem in &problems {
                let schedule = Schedule::of_tree(&tree, problem).unwrap();
                let name = name(problem.operation(), distribution, construction);
                cases.push(Exported { name, schedule });
            }
        }
    }
    cases
}

/// Broadcast and reduction along the oblivious tree.
fn regular(costs: &Homogeneous) -> Vec<Exported> {
    [Operation::Broadcast, Operation::Reduce]
        .into_iter()
        .map(|operation| {
            let vector = Vector { ranks: RANKS, bytes: 1000 };
            let problem = Problem::new(operation, vector, costs).unwrap();
            let tree = oblivious(&rooted(&problem, Root::Given(ROOT))).unwrap();
            let schedule = Schedule::of_tree(&tree, &problem).unwrap();
            Exported { name: operation.name().to_owned(), schedule }
        })
        .collect()
}

/// The times in units of the costs, by name and kind ("schedule", "native").
fn times(cases: &[Exported], costs: &Homogeneous, folder_name: &str) -> BTreeMap<String, Vec<f64>> {
    let folder = write_all(cases, folder_name);
    let any_costs = (*costs).into();
    let replay = Replay::new(&cases[0].schedule, &any_costs).unwrap();
    let flops_per_byte = costs.gamma() * replay.seconds_per_unit() * 1e9;
    let hook = format!(
        "-DTUWTREE_COPY_HOOK(bytes)=smpi_execute_flops((double)(bytes) * {flops_per_byte:e})"
    );
    let flags = |_| vec!["-O2".to_owned(), hook.clone()];
    build(&Recipe { compiler: "smpicc", driver: "smpi_driver.c", flags: &flags }, cases, &folder);
    let write = |name: &str, content: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
        let mut bytes = Vec::new();
        content(&mut bytes).unwrap();
        fs::write(folder.join(name), bytes).unwrap();
    };
    write("platform.xml", &|file| replay.write_platform(file));
    write("hosts.txt", &|file| replay.write_hosts(file));
    let said = run(&folder);
    assert!(said.ends_with(&format!("{} schedules, 0 failures\n", cases.len())), "{said}");
    let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in said.lines() {
        if let [name, kind, seconds] = line.split(' ').collect::<Vec<_>>()[..]
            && ["schedule", "native"].contains(&kind)
        {
            let time = seconds.parse::<f64>().unwrap() / replay.seconds_per_unit();
            times.entry(format!("{name} {kind}")).or_default().push(time);
        }
    }
    times
}

fn run(folder: &Path) -> String {
    let mut command = Command::new("timeout");
    command.args(["500", "smpirun", "-np", &RANKS.to_string()]);
    command.args(["-hostfile", "hosts.txt", "-platform", "platform.xml"]);
    command.args(SETTINGS.iter().map(|setting| format!("--cfg={setting}")));
    // What the computer itself takes for its work does not count.
    command.arg("--cfg=smpi/cpu-threshold:-1");
    // Fewer messages than the default where only an agreement is sought.
    command.args(["--cfg=smpi/allreduce:redbcast", "./program"]).current_dir(folder);
    succeed(&mut command)
}

/// Compares the simulated times of all cases with the model's.
fn agree_with_the_model(
    cases: &[Exported],
    costs: &Homogeneous,
    times: &BTreeMap<String, Vec<f64>>,
) {
    for Exported { name, schedule } in cases {
        let timeline = simulate(schedule, costs, Sends::Synchronous).unwrap();
        let expected = timeline.completion_time().units();
        let rounds = &times[&format!("{name} schedule")];
        assert!(!rounds.is_empty(), "{name}");
        for time in rounds {
            let error = (time - expected).abs();
            assert!(error <= 1e-6 * expected, "{name}: {time} in SMPI, {expected} in the model");
        }
    }
}

/// The lines of a table of times.
fn table(times: &BTreeMap<String, Vec<f64>>) -> String {
    let mut text = String::new();
    for operation in Operation::irregular() {
        for distribution in SEVERAL {
            let time = |tree: &str, kind: &str| {
                let key = format!("{} {kind}", name(operation, distribution, tree));
                times[&key][0].round()
            };
            let native = time("linear", "native");
            let _ = write!(text, "| {} | {} | {native} |", operation.name(), distribution.name());
            for tree in TREES {
                let _ = write!(text, " {} |", time(tree, "schedule"));
            }
            text.push('\n');
        }
    }
    text
}

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn exported_schedules_take_the_time_of_the_model() {
    let costs = homogeneous(100, 1, 0);
    let cases = irregular(&SEVERAL, &costs);
    let times = times(&cases, &costs, "exported-c-smpi");
    agree_with_the_model(&cases, &costs, &times);
    let page = workspace_file("docs/exported-c.md");
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once("<!-- times -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of times -->\n").unwrap();
    let new = format!(
        "{before}<!-- times -->\n{TABLE_HEAD}{}<!-- end of times -->\n{after}",
        table(&times)
    );
    if std::env::var_os("TUWTREE_REFRESH").is_some() {
        fs::write(&page, new).unwrap();
    } else {
        assert!(text == new, "docs/exported-c.md has other times; TUWTREE_REFRESH=1 renews them");
    }
}

const TABLE_HEAD: &str = "\
| operation | sizes | library | linear | adaptive | optimal |
|---|---|---:|---:|---:|---:|
";

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn copies_take_time_through_the_hook() {
    let costs = homogeneous(1000, 1, 1);
    let mut cases = irregular(&[Distribution::Spikes], &costs);
    cases.extend(regular(&costs));
    let times = times(&cases, &costs, "exported-c-smpi-copies");
    agree_with_the_model(&cases, &costs, &times);
}
