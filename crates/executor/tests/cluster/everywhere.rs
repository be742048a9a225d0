//! What an allgather gains where blocks differ: twelve problems on two clusters that tell different stories, against the
//! library's own call. `docs/where-it-pays.md` has what came out, and how this is run.

use super::proof::{A32, D32};
use super::*;
use tuwtree_measure::median;

/// How many ranks there are on either cluster.
const RANKS: usize = 32;

/// The time of `auto` as a share of the library's for blocks with this mean, medians of pairs, by the name of the blocks.
fn ratios(bed: &Bed, machine: &str, mean: usize, repetitions: &str) -> Vec<(String, f64)> {
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
    let ratio = |problem| {
        let of = |algorithm| &times.of(problem, algorithm).expect("it was measured").seconds;
        let pairs = of(Algorithm::Auto).iter().zip(of(Algorithm::Native));
        let pairs: Vec<f64> = pairs.map(|(auto, native)| auto / native).collect();
        let (blocks, _): (&tuwtree_measure::Blocks, u64) = problem;
        let blocks = Path::new(blocks.name()).file_stem().expect("a name").to_string_lossy();
        (format!("{} {blocks} {mean}", bed.name), median(&pairs).expect("there are times"))
    };
    times.problems().into_iter().map(ratio).collect()
}

#[test]
#[ignore = "takes eight minutes, network namespaces and TUN devices"]
fn allgathers_of_blocks_that_differ_beat_the_library() {
    let mut all = Vec::new();
    for bed in [&A32, &D32] {
        let (_, machine) = bed.calibrated(&["--seconds", "20"]);
        all.extend(ratios(bed, &machine, 1000, "9"));
        all.extend(ratios(bed, &machine, 100_000, "3"));
    }
    let said: Vec<String> =
        all.iter().map(|(name, ratio)| format!("{name}: {:.2}", 1.0 / ratio)).collect();
    println!("== {}: times as fast as the library\n{}", library(), said.join("\n"));
    let faster = all.iter().filter(|(_, ratio)| 1.0 / ratio >= 1.5).count();
    let slower: Vec<_> = all.iter().filter(|(_, ratio)| *ratio > 1.05).collect();
    println!("== 1.5 times as fast in {faster} of {}; slower: {slower:?}", all.len());
    assert!(faster >= 8 && slower.is_empty() && all.len() == 12, "see above");
}
