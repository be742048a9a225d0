//! Gap between deadline trees and the bound on all trees, and its causes.
//!
//! ```text
//! cargo run --release -p tuwtree-dp --example gaps -- 3000 100000 1000000
//! ```
//!
//! For each number of processes, `alpha / beta` = 100, 1000 and 20,000 bytes, `lambda / alpha` = 0, 0.5 and 0.9, and
//! blocks with a mean of 10 bytes: the greatest CPU time of deadline splitting and of the bound over the papers' eleven
//! distributions (rho = 5, gamma = beta, open root), and these gaps in per cent, greatest and mean: deadline trees
//! above the bound; deadline trees above the lower bound of consecutive trees, and best consecutive trees above the
//! bound (up to 5000 processes); best trees of all above the bound, where blocks have few sizes and so can be searched.
//! Then the distribution with the greatest first gap.

mod clock;

use clock::Clock;
use std::error::Error;
use tuwtree_bounds::best_lower_bound;
use tuwtree_dp::non_ordered::{MOST_WORK, exact, exact_work};
use tuwtree_dp::wider::{Class, Effort, Overlapping, deadline_tree, optimal_within};
use tuwtree_model::{
    BlockSizes, ClosedSet, Distribution, DistributionParameters, Homogeneous, Problem, Randomness,
    Root, completion_time, largest_block,
};

/// Up to how many processes best consecutive trees are searched for.
const SEARCHED: usize = 5000;

/// The limit of `tuwtree optimize` for trees that are not named.
const MOST_CELLS: u64 = 6_000_000;

/// The mean size of blocks.
const MEAN: u64 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let counts = std::env::args().skip(1).map(|p| p.parse());
    let counts = counts.collect::<Result<Vec<usize>, _>>()?;
    println!(
        "{:>7} {:>6} {:>6}  {:>7} {:>7}  {:>14} {:>14} {:>14} {:>14}  worst",
        "p",
        "alpha",
        "lambda",
        "tree, s",
        "bound",
        "tree, bound",
        "tree, best",
        "best, bound",
        "all, bound"
    );
    for p in if counts.is_empty() { vec![3000] } else { counts } {
        for alpha in [100.0, 1000.0, 20_000.0] {
            for share in [0.0, 0.5, 0.9] {
                row(p, alpha, share)?;
            }
        }
    }
    Ok(())
}

fn row(p: usize, alpha: f64, share: f64) -> Result<(), Box<dyn Error>> {
    let costs = Overlapping::new(alpha * share, alpha - alpha * share, 1.0, 1.0)?;
    let stated = Homogeneous::new(alpha, 1.0, 1.0)?.with_overhead(alpha - alpha * share)?;
    let mut seconds = [0.0_f64; 2];
    let (mut above_bound, mut above_best) = (Gaps::new(), Gaps::new());
    let (mut best_above, mut all_above) = (Gaps::new(), Gaps::new());
    for distribution in Distribution::published() {
        let parameters = DistributionParameters::new(p, MEAN);
        let sizes: BlockSizes = distribution.sizes(parameters, Randomness::default())?;
        let clock = Clock::now();
        let tree = deadline_tree(&sizes, &costs, Class::Consecutive, Root::Best, Effort::Full)?;
        let time = costs.completion_time(&tree, &sizes)?.units();
        seconds[0] = seconds[0].max(clock.seconds());
        let problem = Problem::gather(&sizes, stated)?;
        let clock = Clock::now();
        let bound = best_lower_bound(&problem)?.units();
        seconds[1] = seconds[1].max(clock.seconds());
        above_bound.add(time, bound, distribution);
        if p <= SEARCHED {
            let best = optimal_within(&sizes, &costs, Root::Best, MOST_CELLS, &())?;
            above_best.add(time, best.at_least, distribution);
            best_above.add(best.time, bound, distribution);
        }
        // No other root is better.
        let rooted = problem.with_root(Root::Given(largest_block(&sizes)))?;
        if p <= SEARCHED && exact_work(&rooted)? <= MOST_WORK {
            let best = completion_time(&exact(&rooted)?, &rooted)?.units();
            all_above.add(best, bound, distribution);
        }
    }
    print!("{p:7} {alpha:6} {share:6}  {:7.2} {:7.2}", seconds[0], seconds[1]);
    println!(
        "  {above_bound:>14} {above_best:>14} {best_above:>14} {all_above:>14}  {}",
        above_bound.worst.map_or("", |distribution| distribution.name())
    );
    Ok(())
}

/// By how many per cent times are above others.
struct Gaps {
    greatest: f64,
    sum: f64,
    number: u32,
    worst: Option<Distribution>,
}

impl Gaps {
    fn new() -> Gaps {
        Gaps { greatest: 0.0, sum: 0.0, number: 0, worst: None }
    }

    fn add(&mut self, time: f64, other: f64, distribution: Distribution) {
        let above = 100.0 * (time / other - 1.0);
        (self.sum, self.number) = (self.sum + above, self.number + 1);
        if above > self.greatest {
            (self.greatest, self.worst) = (above, Some(distribution));
        }
    }
}

impl std::fmt::Display for Gaps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.number {
            0 => f.pad("-"),
            number => {
                let mean = self.sum / f64::from(number);
                f.pad(&format!("{:.3} ({mean:.3})", self.greatest))
            }
        }
    }
}
