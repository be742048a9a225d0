//! What calibration, judge, choice and `auto` are held to: fifty problems for an operation, on clusters that tell
//! different stories, and last on one that nothing was adjusted on. `docs/where-it-pays.md` has what came
//! out, and how this is run.

use super::*;
use tuwtree_measure::{median, median_interval};

/// Latency overlaps: what a star is made for, up to some tens of ranks. A network of 10 Gbit/s, 8 us and 2 us,
/// two hundred times slower, so that two cores can be 32 nodes.
const A16: Bed = Bed {
    name: "A16",
    nodes: 16,
    per_node: 1,
    megabits_per_second: 50.0,
    latency: 1600.0,
    overhead: 400.0,
};

pub(super) const A32: Bed = Bed { name: "A32", nodes: 32, ..A16 };

/// Messages cost at the ports: what trees are made for.
pub(super) const D32: Bed = Bed {
    name: "D32",
    nodes: 32,
    per_node: 1,
    megabits_per_second: 50.0,
    latency: 200.0,
    overhead: 800.0,
};

/// Four ranks share the port of a node.
const N32: Bed = Bed { name: "N32", nodes: 8, per_node: 4, ..D32 };

/// The same half as fast: all nodes pass messages on inside at once, and what that takes two cores, in no model, is
/// smaller beside what is measured.
const N32_SLOWER: Bed =
    Bed { name: "N32-slower", megabits_per_second: 25.0, latency: 400.0, overhead: 1600.0, ..N32 };

/// The hold-out: costs, number of ranks, distributions and sizes are unlike all others.
const H24: Bed = Bed {
    name: "H24",
    nodes: 24,
    per_node: 1,
    megabits_per_second: 70.0,
    latency: 1500.0,
    overhead: 600.0,
};

/// Fifty problems: blocks of these distributions, with these means.
struct Problems {
    distributions: &'static str,
    blocks: &'static str,
}

const PROBLEMS: Problems = Problems {
    distributions: "same,random,bucket,spikes,increasing,decreasing,alternating,two-blocks,skewed,power-law",
    blocks: "8,100,1000,4000,16000",
};

const OTHER_PROBLEMS: Problems = Problems {
    distributions: "same,random-decreasing,random-increasing,spikes,decreasing,alternating,two-blocks,skewed,\
        log-normal,zipf",
    blocks: "30,300,2000,7000,12000",
};

/// Trees in rank order; those that suit a machine are measured.
const TREES: &str =
    "linear-eager,adaptive-eager,leaders-eager,deadline-eager,adjacent-eager,optimal-eager";

/// What a bed said of one operation.
#[derive(Default)]
struct ProofVerdict {
    /// Judged / measured, of the library, and of what is recommended.
    library: Vec<f64>,
    chosen: Vec<f64>,
    /// In how many problems what is recommended is within 5 % of the fastest.
    good: usize,
    /// The time of `auto` as a share of the library's, from the third call on, medians of pairs, with the
    /// name of the blocks and their mean.
    auto: Vec<(String, u64, f64)>,
    /// Problems in which `auto` is slower, or does not keep half of what the judge promises.
    slower: Vec<String>,
    short: Vec<String>,
    /// In how many the judge promises a fifth or more.
    promised: usize,
}

impl ProofVerdict {
    fn of(times: &Measurements) -> ProofVerdict {
        let mut verdict = ProofVerdict::default();
        for problem in times.problems() {
            let of = |algorithm| times.of(problem, algorithm).expect("it was measured");
            let (native, auto) = (of(Algorithm::Native), of(Algorithm::Auto));
            let trees = times.series().iter().filter(|one| one.is_of(problem));
            let trees: Vec<&Series> =
                trees.filter(|one| matches!(one.algorithm, Algorithm::Planned(..))).collect();
            let best = trees.iter().min_by(|one, other| judged(one).total_cmp(&judged(other)));
            let best = *best.expect("trees were measured");
            let choice = if judged(native) <= 1.02 * judged(best) { native } else { best };
            let fastest =
                trees.iter().map(|one| one.times.minimum()).fold(native.times.minimum(), f64::min);
            verdict.library.push(judged(native) / native.times.minimum());
            verdict.chosen.push(judged(choice) / choice.times.minimum());
            let is_good = choice.times.minimum() <= 1.05 * fastest;
            verdict.good += usize::from(is_good);
            let (blocks, mean) = problem;
            let name = format!("{} {mean}", blocks.name());
            if !is_good {
                println!(
                    "  {name}: {} {:.2} times the fastest",
                    choice.algorithm.name(),
                    choice.times.minimum() / fastest
                );
            }
            // Repetition k of both in the same round.
            let pairs = auto
                .times
                .seconds
                .iter()
                .zip(&native.times.seconds)
                .map(|(auto, native)| auto / native);
            let pairs: Vec<f64> = pairs.collect();
            let ratio = median(&pairs).expect("there are times");
            let interval = median_interval(&pairs, 0.95).expect("there are enough");
            if interval.low > 1.05 {
                verdict.slower.push(format!("{name} {ratio:.2}"));
            }
            let promise = judged(native) / judged(best);
            if promise >= 1.2 {
                verdict.promised += 1;
                if 1.0 / ratio < 1.0 + 0.5 * (promise - 1.0) {
                    verdict.short.push(format!("{name} {:.2} of {promise:.2}", 1.0 / ratio));
                }
            }
            verdict.auto.push((blocks.name().into(), mean, ratio));
        }
        verdict
    }

    fn said(&self) -> String {
        let problems = self.chosen.len();
        let auto = self.auto.iter().map(|(_, _, ratio)| *ratio).collect();
        let [library, chosen, auto] =
            [self.library.clone(), self.chosen.clone(), auto].map(quantiles);
        format!(
            "judged / measured: library {library:.2?}, recommended {chosen:.2?}; recommended within 5 % of the \
             fastest in {} of {problems}; auto / library {auto:.2?}; slower: {:?}; less than half of the promise in \
             {} of {}: {:?}",
            self.good,
            self.slower,
            self.short.len(),
            self.promised,
            self.short
        )
    }

    /// The ratios of `auto` to the library: a line for each distribution, a column for each mean block.
    fn table(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for (name, _, ratio) in &self.auto {
            let start = format!("| {name} |");
            match lines.last_mut().filter(|line| line.starts_with(&start)) {
                Some(line) => *line += &format!(" {ratio:.2} |"),
                None => lines.push(format!("{start} {ratio:.2} |")),
            }
        }
        lines.join("\n")
    }

    fn holds(&self) -> bool {
        let is_close = |shares: &[f64]| {
            let [low, median, high] = quantiles(shares.to_vec());
            low >= 0.8 && within(0.1, median, 1.0) && high <= 1.2
        };
        is_close(&self.chosen)
            && 50 * self.good >= 43 * self.chosen.len()
            && self.slower.is_empty()
            && self.short.is_empty()
    }
}

/// Calibrates, measures, prints what came out, and fails unless all of it holds.
fn holds(bed: &Bed, operation: &str, problems: &Problems) {
    let (_, machine) = bed.calibrated(&["--seconds", "30"]);
    let times = bed.measured(
        &machine,
        &[
            "--op",
            operation,
            "--dist",
            problems.distributions,
            "-b",
            problems.blocks,
            "--repetitions",
            "9",
            // From the third call on.
            "--warm-up",
            "2",
            "--algorithm",
            "native,auto",
            "--algorithm",
            TREES,
        ],
    );
    println!("== {} {operation}, {}", bed.name, library());
    let verdict = ProofVerdict::of(&times);
    println!("{}\n== {} {operation}: {}", verdict.table(), bed.name, verdict.said());
    assert!(verdict.holds(), "{} {operation}: see above", bed.name);
}

macro_rules! held {
    ($($name:ident: $bed:expr, $problems:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            #[ignore = "takes minutes, network namespaces and TUN devices"]
            fn gather() {
                holds(&$bed, "gather", &$problems);
            }

            #[test]
            #[ignore = "takes minutes, network namespaces and TUN devices"]
            fn scatter() {
                holds(&$bed, "scatter", &$problems);
            }
        }
    )*};
}

held! {
    latency_overlaps_16: A16, PROBLEMS;
    latency_overlaps_32: A32, PROBLEMS;
    messages_cost_32: D32, PROBLEMS;
    nodes_of_four_32: N32, PROBLEMS;
    nodes_of_four_32_slower: N32_SLOWER, PROBLEMS;
    last_the_hold_out_24: H24, OTHER_PROBLEMS;
}
