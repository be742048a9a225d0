//! What allgathers and alltoalls gain where blocks differ: on two clusters that tell different stories, against the
//! library's own call. `docs/where-it-pays.md` has what came out, and how this is run.

use super::proof::{A32, D32};
use super::*;
use tuwtree_measure::{median, median_interval};

/// How many ranks there are on either cluster.
const RANKS: usize = 32;

/// Both clusters half as fast, all else in proportion: for calls of some ten milliseconds, before which 32 ranks on two cores
/// would else start late by more than a twentieth of what is measured.
const A32_SLOWER: Bed = slower("A32-slower", &A32);
const D32_SLOWER: Bed = slower("D32-slower", &D32);

const fn slower(name: &'static str, bed: &Bed) -> Bed {
    Bed {
        name,
        megabits_per_second: bed.megabits_per_second / 2.0,
        latency: 2.0 * bed.latency,
        overhead: 2.0 * bed.overhead,
        ..*bed
    }
}

/// The time of `auto` as a share of the library's for blocks with this mean, medians of pairs, by the name of the blocks.
fn ratios(bed: &Bed, machine: &str, mean: usize, repetitions: &str) -> Vec<Ratio> {
    let one = bed.folder().join(format!("one-large-{mean}.txt"));
    let block = |rank| if rank == RANKS / 3 { RANKS * mean } else { 1 };
    let sizes: Vec<String> = (0..RANKS).map(|rank| block(rank).to_string()).collect();
    std::fs::write(&one, sizes.join("\n")).expect("a folder for temporary files");
    let (mean, one) = (mean.to_string(), one.display().to_string());
    let times = bed.measured(
        machine,
        &[
            "--op",
            "allgather",
            "--dist",
            "spikes,skewed",
            "-b",
            &mean,
            "--sizes",
            &one,
            "--algorithm",
            "auto",
            "--warm-up",
            "1",
            "--repetitions",
            repetitions,
        ],
    );
    medians(bed, &times)
}

/// What `auto` takes for a problem, as a share of the library's time, pair by pair.
struct Ratio {
    name: String,
    /// The median.
    ratio: f64,
    /// The lower end of its 95 % interval; the median where there are too few pairs.
    certain: f64,
}

/// For each problem the times of `auto` as shares of the library's.
fn medians(bed: &Bed, times: &Measurements) -> Vec<Ratio> {
    let ratio = |problem| {
        let of = |algorithm| &times.of(problem, algorithm).expect("it was measured").times.seconds;
        let pairs = of(Algorithm::Auto).iter().zip(of(Algorithm::Native));
        let pairs: Vec<f64> = pairs.map(|(auto, native)| auto / native).collect();
        let (blocks, mean): (&tuwtree_measure::Blocks, u64) = problem;
        let blocks = Path::new(blocks.name()).file_stem().expect("a name").to_string_lossy();
        let ratio = median(&pairs).expect("there are times");
        let certain = median_interval(&pairs, 0.95).map_or(ratio, |interval| interval.low);
        Ratio { name: format!("{} {blocks} {mean}", bed.name), ratio, certain }
    };
    times.problems().into_iter().map(ratio).collect()
}

/// Says how many times as fast as the library each is: how many are 1.5 times as fast, and which are certainly slower by
/// more than 5 %.
fn said(all: &[Ratio]) -> (usize, Vec<&str>) {
    let lines: Vec<String> =
        all.iter().map(|one| format!("{}: {:.2}", one.name, 1.0 / one.ratio)).collect();
    println!("== {}: times as fast as the library\n{}", library(), lines.join("\n"));
    let faster = all.iter().filter(|one| 1.0 / one.ratio >= 1.5).count();
    let slower = all.iter().filter(|one| one.certain > 1.05);
    let slower: Vec<&str> = slower.map(|one| one.name.as_str()).collect();
    println!("== 1.5 times as fast in {faster} of {}; slower: {slower:?}", all.len());
    (faster, slower)
}

#[test]
#[ignore = "takes fifteen minutes, network namespaces and TUN devices"]
fn allgathers_of_blocks_that_differ_beat_the_library() {
    let mut all = Vec::new();
    for (bed, mean, repetitions) in [
        (&A32_SLOWER, 1000, "9"),
        (&D32_SLOWER, 1000, "9"),
        (&A32, 100_000, "3"),
        (&D32, 100_000, "3"),
    ] {
        let (_, machine) = bed.calibrated(&["--seconds", "20"]);
        all.extend(ratios(bed, &machine, mean, repetitions));
    }
    let (faster, slower) = said(&all);
    assert!(faster >= 8 && slower.is_empty() && all.len() == 12, "see above");
}

/// A machine file with this bed's costs, stated: nodes have more processes than cores here, which calibration warns of.
fn stated_nodes(bed: &Bed) -> String {
    let file = bed.folder().join("nodes.toml");
    let seconds = |microseconds: f64| microseconds * 1e-6;
    let text = format!(
        r#"format = "tuwtree-machine"
version = 4
name = "{}"
date = "2026-11-28"
provenance = "stated"
hierarchical.gamma_seconds_per_byte = 0.0
hierarchical.placement = "block"
network.wire = "node"
network.send_overhead_seconds = 4e-6

[[hierarchical.levels]]
name = "node"
members = {}
alpha_seconds = 60e-6
overhead_seconds = 30e-6
beta_seconds_per_byte = 1e-9

[[hierarchical.levels]]
name = "network"
members = {}
alpha_seconds = {:e}
overhead_seconds = {:e}
beta_seconds_per_byte = {:e}
"#,
        bed.name,
        bed.per_node,
        bed.nodes,
        seconds(bed.latency + bed.overhead),
        seconds(bed.overhead),
        seconds(8.0 / bed.megabits_per_second),
    );
    std::fs::write(&file, text).expect("a folder for temporary files");
    file.display().to_string()
}

const NODES_OF_FOUR: Bed = Bed {
    name: "nodes-of-four",
    nodes: 8,
    per_node: 4,
    megabits_per_second: 100.0,
    latency: 2000.0,
    overhead: 200.0,
};

/// `auto` on nodes, as shares of the library's times.
fn on_nodes(bed: &Bed, blocks: &[&str]) -> Vec<Ratio> {
    let machine = stated_nodes(bed);
    let repeated = ["--algorithm", "auto", "--warm-up", "3", "--repetitions", "9"];
    medians(bed, &bed.measured(&machine, &[blocks, &repeated].concat()))
}

#[test]
#[ignore = "takes a minute, network namespaces and TUN devices"]
fn allgathers_on_nodes_take_two_thirds_of_the_library_s_time_at_most() {
    let blocks = ["--op", "allgather", "--dist", "same,spikes,log-normal", "-b", "8,1000,8000"];
    let all = on_nodes(&NODES_OF_FOUR, &blocks);
    let (faster, slower) = said(&all);
    assert!(faster >= 8 && slower.is_empty() && all.len() == 9, "see above");
}

#[test]
#[ignore = "takes a minute, network namespaces and TUN devices"]
fn reduce_scatters_on_seven_nodes_are_faster_than_the_library_s() {
    let blocks =
        ["--op", "reduce-scatter", "--dist", "same,spikes,log-normal", "-b", "8,1000,8000"];
    let all = on_nodes(&Bed { name: "seven-nodes-of-four", nodes: 7, ..NODES_OF_FOUR }, &blocks);
    let (faster, slower) = said(&all);
    assert!(faster >= 4 && slower.is_empty() && all.len() == 9, "see above");
}

#[test]
#[ignore = "takes two minutes, network namespaces and TUN devices"]
fn alltoalls_on_nodes_take_two_thirds_of_the_library_s_time_where_messages_are_small() {
    let blocks = ["--op", "alltoall", "--dist", "same,spikes,skewed", "-b", "8,100,1000"];
    let all = on_nodes(&NODES_OF_FOUR, &blocks);
    let (faster, slower) = said(&all);
    assert!(faster >= 6 && slower.is_empty() && all.len() == 9, "see above");
}

#[test]
#[ignore = "takes six minutes, network namespaces and TUN devices"]
fn alltoalls_of_small_messages_beat_the_library_and_others_are_its_own() {
    let mut all = Vec::new();
    for bed in [&A32, &D32] {
        let (_, machine) = bed.calibrated(&["--seconds", "20"]);
        let blocks = ["--op", "alltoall", "--dist", "same,spikes,skewed", "-b", "8,100,1000,10000"];
        let repeated = ["--algorithm", "auto", "--warm-up", "2", "--repetitions", "9"];
        all.extend(medians(bed, &bed.measured(&machine, &[&blocks[..], &repeated].concat())));
    }
    let (faster, slower) = said(&all);
    assert!(faster >= 14 && slower.is_empty() && all.len() == 24, "see above");
}
