//! The comparison of OPT, Figures 10 and 11, in the model: problems with only two block sizes on 8000
//! processes.
//!
//! `cargo run --release --example two_block_sizes` prints, for the spikes and the skewed distribution
//! and blocks of 1 to 10000 integers on average, the completion times of what the paper measured (a
//! library's binomial or linear tree, the adaptive binomial tree, and two regular operations joined by
//! a message) beside what the paper had no program for at this size: optimal ordered trees, trees that
//! keep no order, and a lower bound for all trees. The result depends on nothing but the constants
//! here. It takes about a minute on two cores.
//!
//! # Source
//! J. L. Träff, "On Optimal Trees for Irregular Gather and Scatter Collectives" (OPT), section 5.2,
//! Lemma 2, Figures 10 and 11.

use rayon::prelude::*;
use std::error::Error;
use tuwtree_bounds::best_lower_bound;
use tuwtree_dp::non_ordered::{BlockOrder, direct, sorted};
use tuwtree_dp::{default_method, optimal_adjacent};
use tuwtree_model::{
    BlockSizes, ClosedSet, Distribution, DistributionParameters, Homogeneous, Problem, Randomness,
    Root, Tree, completion_time, largest_block,
};
use tuwtree_treegen::{AdaptiveRule, adaptive, doubling, greedy, linear, oblivious, two_block};

/// 500 nodes of 16 processes.
const RANKS: usize = 8000;
/// The mean blocks of the figures, in integers.
const MEAN_BLOCKS: [u64; 5] = [1, 10, 100, 1000, 10_000];
/// An integer, in bytes.
const INTEGER: u64 = 4;
/// Costs in microseconds, plausible for QDR InfiniBand: 1.9 for a message, 32 Gbit/s.
const COSTS: [f64; 3] = [1.9, 2.5e-4, 2.5e-4];
/// The most blocks that go straight to the root.
const DIRECT_SENDERS: usize = 8;

const COLUMNS: [&str; 9] =
    ["b", "linear", "binomial", "adaptive", "two-block", "ordered", "direct", "any order", "bound"];

fn main() -> Result<(), Box<dyn Error>> {
    let costs = Homogeneous::new(COSTS[0], COSTS[1], COSTS[2])?;
    println!(
        "Completion times in microseconds, gather or scatter, {RANKS} processes; mean block b in \
         integers;\nalpha = {}, beta = gamma = {} a byte.",
        COSTS[0], COSTS[1]
    );
    for distribution in [Distribution::Spikes, Distribution::Skewed] {
        for (root, place) in [(Root::Given(0), "root 0"), (Root::Best, "any root")] {
            println!("\n{}, {place}", distribution.name());
            println!("{}", COLUMNS.map(|column| format!("{column:>12}")).concat());
            let rows: Vec<Result<_, String>> = MEAN_BLOCKS
                .par_iter()
                .map(|&mean_block| {
                    let times = blocks(distribution, mean_block)
                        .and_then(|sizes| times(&sizes, costs, root));
                    times.map_err(|error| error.to_string())
                })
                .collect();
            for (mean_block, times) in MEAN_BLOCKS.iter().zip(rows) {
                let times = times?;
                let cells = times.map(|time| format!("{time:>12.1}")).concat();
                println!("{mean_block:>12}{cells}");
            }
        }
    }
    println!("{NOTES}");
    Ok(())
}

fn blocks(distribution: Distribution, mean_block: u64) -> Result<BlockSizes, Box<dyn Error>> {
    let parameters = DistributionParameters::new(RANKS, mean_block);
    let integers = distribution.sizes(parameters, Randomness::default())?;
    Ok(BlockSizes::new(integers.iter().map(|integers| integers * INTEGER))?)
}

/// The times of all columns but the first.
fn times(sizes: &BlockSizes, costs: Homogeneous, root: Root) -> Result<[f64; 8], Box<dyn Error>> {
    let problem = Problem::gather(sizes, costs)?.with_root(root)?;
    let time = |tree: &Tree| completion_time(tree, &problem).map(|time| time.units());
    // A library's trees start where the caller says.
    let start = root.given().unwrap_or_else(|| largest_block(sizes));
    let given = problem.with_root(Root::Given(start))?;
    let ordered = optimal_adjacent(&problem, default_method(&problem), &())?.tree;
    let direct = time(&direct(&problem, DIRECT_SENDERS, &())?)?.min(time(&ordered)?);
    let any = [sorted(&problem, BlockOrder::ALL, &())?, doubling(&problem)?, greedy(&problem)?];
    let mut least = direct;
    for tree in &any {
        least = least.min(time(tree)?);
    }
    Ok([
        time(&linear(&given)?)?,
        time(&oblivious(&given)?)?,
        time(&adaptive(&problem, AdaptiveRule::CompletionTime)?)?,
        time(&two_block(&problem)?)?,
        time(&ordered)?,
        direct,
        least,
        best_lower_bound(&problem)?.units(),
    ])
}

const NOTES: &str = "
linear: a star, the paper's MPI_Scatterv; binomial: in rank order, the paper's MPI_Gatherv; both, with any
root, at a largest block. adaptive: TUW_Gatherv. two-block: TWO_Gatherv, two binomial trees and a
message. ordered: the optimal ordered tree. direct: up to 8 large blocks sent straight to the root.
any order: the best of these and of the sorted, doubling and greedy trees. bound: no tree is faster.

The paper measured, for scatter and spikes, 25 to 50 % less for two-block than for adaptive. In the
model there is no such gain: with any root two-block saves at most 2 % (a few of the 13 latencies), and
from a root with a small block it takes twice as long, since all large blocks travel twice. What there
is to gain, 20 % for skewed blocks of one integer, ordered trees have too. So the paper's gain must come
from what the model leaves out: nodes that share links, and a library's regular operations that know
it.";
