//! Trees in which each process finds its own place, from all sizes: how far they are above the best tree in rank
//! order, and what finding a place takes.
//!
//! ```text
//! cargo run --release -p tuwtree-dp --example places -- 64 256 2048
//! ```
//!
//! First, for these numbers of processes: per cent above the best consecutive tree (or above its lower bound, if
//! unknown), mean and greatest, over the papers' eleven distributions (rho = 5), b = 8, 1000 and 20,000, root 0 and
//! p/2; gamma = beta / 2; alpha = 5.2 us, beta = 0.08 ns a byte; lambda / alpha = 0, 0.5 and 0.92. Then, for 64 to 8192
//! processes, these distributions and costs, b = 1000 and root p/2: number of range queries per process, mean and most
//! over 16 processes each, and mean CPU microseconds for a process's place.

mod clock;

use clock::Clock;
use std::error::Error;
use tuwtree_dp::wider::{
    Effort, Overlapping, TickLaw, deadline_place, deadline_tree_in_ticks, optimal_within,
};
use tuwtree_model::{
    BlockSizes, Distribution, DistributionParameters, LinkLaw, Piece, PiecewiseLinear, Randomness,
    Root,
};

const ALPHA: f64 = 5.2e-6;
const BETA: f64 = 8e-11;
const GAMMA: f64 = BETA / 2.0;
const SHARES: [f64; 3] = [0.0, 0.5, 0.92];
const EFFORTS: [Effort; 2] = [Effort::Least, Effort::Light];
const MOST_CELLS: u64 = 6_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let counts = std::env::args().skip(1).map(|p| p.parse());
    let counts = counts.collect::<Result<Vec<usize>, _>>()?;
    print!("{:>6} {:>6} {:>7}", "p", "lambda", "b");
    EFFORTS.iter().for_each(|effort| print!("  {:>16}", format!("{effort:?} %").to_lowercase()));
    println!();
    for p in if counts.is_empty() { vec![64, 256] } else { counts } {
        for share in SHARES {
            for mean in [8, 1000, 20_000] {
                distances(p, share, mean)?;
            }
        }
    }
    print!("\n{:>6} {:>6}", "p", "lambda");
    for effort in EFFORTS {
        print!("  {:>16} {:>7}", format!("{effort:?} probes").to_lowercase(), "us");
    }
    println!();
    for p in (6..=13).map(|bits| 1 << bits) {
        for share in SHARES {
            work(p, share)?;
        }
    }
    Ok(())
}

fn links(share: f64) -> Result<LinkLaw, Box<dyn Error>> {
    let overhead = ALPHA - ALPHA * share;
    let piece = Piece { from_bytes: 0, alpha: ALPHA, overhead, beta: BETA };
    Ok(PiecewiseLinear::new(vec![piece])?.into())
}

fn sizes(distribution: Distribution, p: usize, mean: u64) -> Result<BlockSizes, Box<dyn Error>> {
    Ok(distribution.sizes(DistributionParameters::new(p, mean), Randomness::default())?)
}

fn distances(p: usize, share: f64, mean: u64) -> Result<(), Box<dyn Error>> {
    let costs = Overlapping::new(ALPHA * share, ALPHA - ALPHA * share, BETA, GAMMA)?;
    let mut above = [const { Vec::new() }; EFFORTS.len()];
    for distribution in Distribution::published() {
        let sizes = sizes(distribution, p, mean)?;
        let law = TickLaw::new(&links(share)?, GAMMA, sizes.total())?;
        for root in [0, p / 2] {
            let root = Root::Given(root);
            let best = optimal_within(&sizes, &costs, root, MOST_CELLS, &())?.at_least;
            for (above, effort) in above.iter_mut().zip(EFFORTS) {
                let tree = deadline_tree_in_ticks(&sizes, &law, root, effort)?;
                let time = costs.completion_time(&tree, &sizes)?.units();
                above.push(100.0 * (time / best - 1.0));
            }
        }
    }
    print!("{p:6} {share:6} {mean:7}");
    above.iter().for_each(|above| print!("  {:>16}", mean_and_most(above, 2)));
    println!();
    Ok(())
}

fn work(p: usize, share: f64) -> Result<(), Box<dyn Error>> {
    print!("{p:6} {share:6}");
    for effort in EFFORTS {
        let (mut probes, mut micros) = (Vec::new(), 0.0);
        for distribution in Distribution::published() {
            let sizes = sizes(distribution, p, 1000)?;
            let clock = Clock::now();
            for rank in (0..16).map(|part| part * p / 16) {
                let law = TickLaw::new(&links(share)?, GAMMA, sizes.total())?;
                let place = deadline_place(&sizes, &law, Root::Given(p / 2), rank, effort)?;
                probes.push(place.probes as f64);
            }
            micros += clock.seconds() * 1e6;
        }
        print!("  {:>16} {:>7.0}", mean_and_most(&probes, 0), micros / probes.len() as f64);
    }
    println!();
    Ok(())
}

fn mean_and_most(values: &[f64], digits: usize) -> String {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{mean:.digits$} ({most:.digits$})")
}
