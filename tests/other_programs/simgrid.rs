//! A third judge beside the recursion and the simulation: SimGrid's SMPI replays exported traces.

use crate::program::{folder, tuwtree};
use std::fs;
use std::path::Path;
use std::process::Command;
use tuwtree_collective::allreduce::Folds;
use tuwtree_collective::{
    allreduce, binary_blocks, bruck, circulant, circulant_in_pieces, recursive_doubling, reduce,
    reduce_scatter, ring,
};
use tuwtree_dp::non_ordered::direct;
use tuwtree_dp::wider::optimal_within;
use tuwtree_dp::{default_method, optimal_adjacent};
use tuwtree_laws::problems::{gather, homogeneous, irregular};
use tuwtree_model::{
    BlockSizes, ClosedSet, CostMatrix, Costs, Distribution, DistributionParameters, Homogeneous,
    Operation, Operator, Problem, Randomness, Rank, Root, Tree, Vector, completion_time,
    judged_time,
};
use tuwtree_schedule::export::smpi::Replay;
use tuwtree_schedule::{Schedule, Sends, simulate};
use tuwtree_treegen::{AdaptiveRule, adaptive, greedy, linear, oblivious};

const SEVERAL: [Distribution; 4] = [
    Distribution::Spikes,
    Distribution::Skewed,
    Distribution::TwoBlocks,
    Distribution::RandomDecreasing,
];

/// The time units that SMPI needs for a schedule.
fn replayed(schedule: &Schedule, costs: &Costs, folder: &Path) -> f64 {
    let replay = Replay::new(schedule, costs).unwrap();
    let write = |name: &str, content: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
        let mut bytes = Vec::new();
        content(&mut bytes).unwrap();
        fs::write(folder.join(name), bytes).unwrap();
    };
    write("trace.txt", &|file| replay.write_trace(file));
    write("platform.xml", &|file| replay.write_platform(file));
    write("hosts.txt", &|file| replay.write_hosts(file));
    write("run.sh", &|file| replay.write_script(file));
    seconds(folder) / replay.seconds_per_unit()
}

/// The seconds that SMPI prints for the replay in a folder.
fn seconds(folder: &Path) -> f64 {
    let output = Command::new("timeout").args(["600", "sh", "run.sh"]).current_dir(folder).output();
    let output = output.expect("a shell");
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{log}");
    let (_, time) = log.rsplit_once("Simulation time ").expect("SMPI says how long it took");
    time.trim().parse().expect("a number of seconds")
}

/// The best tree in which whatever a rank has received is one range.
fn consecutive(problem: &Problem) -> Tree {
    let costs = problem.costs().homogeneous(problem.ranks()).unwrap().into();
    let (sizes, root) = (problem.blocks().unwrap(), problem.root());
    optimal_within(sizes, &costs, root, 6_000_000, &()).unwrap().tree
}

fn trees(problem: &Problem) -> [(&'static str, Tree); 7] {
    [
        ("linear", linear(problem).unwrap()),
        ("oblivious", oblivious(problem).unwrap()),
        ("adaptive", adaptive(problem, AdaptiveRule::CompletionTime).unwrap()),
        ("adjacent", optimal_adjacent(problem, default_method(problem), &()).unwrap().tree),
        ("consecutive", consecutive(problem)),
        ("direct", direct(problem, 8, &()).unwrap()),
        ("greedy", greedy(problem).unwrap()),
    ]
}

/// SMPI's times are those of the recursion under `costs`, for trees made for `made_for`.
fn agree(ranks: usize, costs: &Costs, made_for: &Homogeneous, name: &str) {
    let folder = folder(name);
    for distribution in SEVERAL {
        let parameters = DistributionParameters::new(ranks, 1000);
        let sizes = distribution.sizes(parameters, Randomness::Glibc { seed: 1 }).unwrap();
        let root = Root::Given(ranks / 2);
        for (construction, tree) in trees(&gather(&sizes, made_for, root)) {
            for problem in irregular(&sizes, costs) {
                let expected = completion_time(&tree, &problem).unwrap().units();
                let schedule = Schedule::without_costs(&tree, problem.collective()).unwrap();
                let time = replayed(&schedule, costs, &folder);
                assert!(
                    (time - expected).abs() <= 1e-6 * expected,
                    "{} {construction} {}: SMPI says {time}, we say {expected}",
                    distribution.name(),
                    problem.operation().name()
                );
            }
        }
    }
}

fn agree_everywhere_alike(ranks: usize, costs: &Homogeneous, name: &str) {
    agree(ranks, &(*costs).into(), costs, name);
}

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn smpi_agrees_at_64_ranks() {
    agree_everywhere_alike(64, &homogeneous(100, 1, 1), "smpi-64");
}

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn smpi_agrees_at_500_ranks_where_the_latency_is_small_and_there_are_no_copies() {
    agree_everywhere_alike(500, &homogeneous(1, 1, 0), "smpi-500");
}

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn smpi_agrees_at_2000_ranks() {
    agree_everywhere_alike(2000, &homogeneous(1000, 1, 1), "smpi-2000");
}

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn smpi_agrees_where_each_ordered_pair_has_its_own_link() {
    let ranks = 80;
    let varied = |one: Rank, other: Rank| ((one * 37 + other * 101) % 23) as f64;
    let costs = CostMatrix::from_fn(
        ranks,
        |sender, receiver| 50.0 + 20.0 * varied(sender, receiver),
        |sender, receiver| 1.0 + varied(receiver, sender),
        |rank| varied(rank, 7),
    );
    let costs = Costs::Matrix(costs.unwrap());
    agree(ranks, &costs, &homogeneous(100, 1, 1), "smpi-pairs");
}

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn smpi_agrees_with_the_judge_where_latency_overlaps() {
    let folder = folder("smpi-overlapping");
    let ranks = 64;
    for (alpha, overhead, gamma) in [(5000.0, 400.0, 0.0), (90.0, 0.0, 1.0), (30_000.0, 9.0, 0.25)]
    {
        let one_port = Homogeneous::new(alpha, 1.0, gamma).unwrap();
        let costs = one_port.with_overhead(overhead).unwrap();
        for distribution in SEVERAL {
            let parameters = DistributionParameters::new(ranks, 1000);
            let sizes = distribution.sizes(parameters, Randomness::Glibc { seed: 1 }).unwrap();
            let root = Root::Given(ranks / 2);
            let here = ("consecutive, overlapping", consecutive(&gather(&sizes, costs, root)));
            for (construction, tree) in
                trees(&gather(&sizes, one_port, root)).into_iter().chain([here])
            {
                for problem in irregular(&sizes, costs) {
                    let expected = judged_time(&tree, &problem).unwrap().units();
                    let schedule = Schedule::without_costs(&tree, problem.collective()).unwrap();
                    let time = replayed(&schedule, &costs.into(), &folder);
                    assert!(
                        (time - expected).abs() <= 1e-6 * expected,
                        "{} {construction} {} {alpha}: SMPI says {time}, the judge {expected}",
                        distribution.name(),
                        problem.operation().name()
                    );
                }
            }
        }
    }
}

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn smpi_agrees_where_messages_are_larger_than_its_counts() {
    let folder = folder("smpi-large");
    let sizes = BlockSizes::new([1 << 31, 5, 3 << 30, 8, 0]).unwrap();
    let costs = homogeneous(1 << 20, 1, 0);
    let problem = gather(&sizes, costs, Root::Given(1));
    let tree = linear(&problem).unwrap();
    let schedule = Schedule::without_costs(&tree, problem.collective()).unwrap();
    let expected = completion_time(&tree, &problem).unwrap().units();
    let time = replayed(&schedule, &costs.into(), &folder);
    assert!((time - expected).abs() <= 1e-6 * expected, "{time}, {expected}");
}

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn smpi_agrees_on_allgathers_of_blocks_of_any_size() {
    let folder = folder("smpi-allgather");
    let costs = homogeneous(100, 1, 1);
    for distribution in SEVERAL {
        let parameters = DistributionParameters::new(19, 50);
        let sizes = distribution.sizes(parameters, Randomness::Glibc { seed: 1 }).unwrap();
        let problem = Problem::allgather(&sizes, costs).unwrap();
        let schedules = [
            ring(&problem),
            recursive_doubling(&problem),
            bruck(&problem),
            circulant(&problem),
            circulant_in_pieces(&problem, 4),
        ];
        for schedule in schedules.map(Result::unwrap) {
            let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
            let expected = timeline.completion_time().units();
            let time = replayed(&schedule, &costs.into(), &folder);
            assert!((time - expected).abs() <= 1e-6 * expected, "{time}, {expected}");
        }
    }
}

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn smpi_agrees_on_reductions_that_take_time_to_combine() {
    let folder = folder("smpi-reductions");
    let costs = homogeneous(100, 1, 1);
    let operator = Operator::new(4, 3.0).unwrap();
    for ranks in [5, 8, 13] {
        let sizes = (0..ranks as u64).map(|rank| 4 * ((rank + 1) % 3 * (rank + 2)));
        let sizes = BlockSizes::new(sizes).unwrap();
        let vector = Vector { ranks, bytes: sizes.total() };
        let scattered = Problem::new(Operation::ReduceScatter, sizes, costs).unwrap();
        let scattered = scattered.with_operator(operator).unwrap();
        let reduced = Problem::new(Operation::Allreduce, vector, costs).unwrap();
        let reduced = reduced.with_operator(operator).unwrap();
        let schedules = [
            reduce_scatter::pairwise(&scattered),
            reduce_scatter::halving(&scattered),
            reduce_scatter::recursive_doubling(&scattered),
            reduce_scatter::circulant(&scattered),
            reduce_scatter::circulant_in_pieces(&scattered, 4),
            allreduce::recursive_doubling(&reduced),
            allreduce::rabenseifner(&reduced, Folds::Half),
            allreduce::rabenseifner(&reduced, Folds::Full),
            binary_blocks::allreduce(&reduced),
            allreduce::ring(&reduced),
            allreduce::circulant(&reduced),
            allreduce::binomial(&reduced),
        ];
        for schedule in schedules.map(Result::unwrap) {
            let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
            let expected = timeline.completion_time().units();
            let time = replayed(&schedule, &costs.into(), &folder);
            assert!((time - expected).abs() <= 1e-6 * expected, "{time}, {expected}");
        }
    }
}

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn smpi_agrees_where_exchanges_have_costs_of_their_own() {
    let folder = folder("smpi-exchanges");
    let lone = homogeneous(100, 2, 1);
    let operator = Operator::new(1, 3.0).unwrap();
    // The last ones are no multiples of each other by powers of two.
    for (alpha, beta) in [(200.0, 4.0), (150.0, 2.0), (50.0, 1.0), (100.0, 3.0), (137.0, 2.7)] {
        let costs = lone.with_exchange(alpha, beta).unwrap();
        for ranks in [5, 8, 13] {
            let sizes = (0..ranks as u64).map(|rank| (rank + 1) % 3 * (rank + 2));
            let sizes = BlockSizes::new(sizes).unwrap();
            let vector = Vector { ranks, bytes: sizes.total() };
            let gathered = Problem::allgather(&sizes, costs).unwrap();
            let scattered = Problem::new(Operation::ReduceScatter, sizes, costs).unwrap();
            let scattered = scattered.with_operator(operator).unwrap();
            let reduced = Problem::new(Operation::Reduce, vector, costs).unwrap();
            let reduced =
                reduced.with_root(Root::Given(1)).unwrap().with_operator(operator).unwrap();
            let schedules = [
                ring(&gathered),
                recursive_doubling(&gathered),
                circulant_in_pieces(&gathered, 3),
                reduce_scatter::halving(&scattered),
                reduce_scatter::recursive_doubling(&scattered),
                reduce::rabenseifner(&reduced, Folds::Half),
                reduce::ring(&reduced),
                binary_blocks::reduce(&reduced),
            ];
            for schedule in schedules.map(Result::unwrap) {
                let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
                let expected = timeline.completion_time().units();
                let time = replayed(&schedule, &costs.into(), &folder);
                assert!((time - expected).abs() <= 1e-6 * expected, "{time}, {expected}");
            }
        }
    }
}

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn what_export_writes_can_be_run_as_it_is() {
    let folder = folder("smpi-exported");
    let tree = folder.join("tree.json");
    let replay = folder.join("replay");
    let (tree, replay_path) = (tree.to_str().unwrap(), replay.to_str().unwrap());
    tuwtree(&format!("optimize --dist spikes -p 100 -o {tree}")).success();
    tuwtree(&format!("export {tree} --format smpi -o {replay_path}")).success();
    let simulated = tuwtree(&format!("simulate {tree} --json")).success();
    let simulated: serde_json::Value = serde_json::from_str(&simulated).unwrap();
    let script = fs::read_to_string(replay.join("run.sh")).unwrap();
    let (_, unit) = script.split_once("in seconds; ").unwrap();
    let unit: f64 = unit.split_whitespace().next().unwrap().parse().unwrap();
    let expected = simulated["completion_time"].as_f64().unwrap();
    let time = seconds(&replay) / unit;
    assert!((time - expected).abs() <= 1e-6 * expected, "{time}, {expected}");
}
