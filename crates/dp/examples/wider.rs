//! Times of the engines for copy-first and consecutive trees, and of deadline splitting.
//!
//! ```text
//! cargo run --release -p tuwtree-dp --example wider -- 500 2000 8000 100000
//! ```
//!
//! For each number of ranks, over the papers' eleven distributions (b = 1000, rho = 5, root
//! 0), alpha = 5200, beta = 1, gamma = 0 and beta, lambda/alpha = 0, 0.5 and 0.9: mean and greatest
//! time on the rank; for consecutive trees how many of the eleven are optimal for sure, the memory
//! of the largest tables, and how far trees are above the bound; and for deadline trees how far they are
//! above that. Beyond 10,000 ranks deadline trees only.

mod clock;

use clock::Clock;
use std::error::Error;
use tuwtree_dp::wider::{
    Class, Effort, Engine, Overlapping, deadline_tree, optimal, optimal_within, outlay,
};
use tuwtree_model::{BlockSizes, Distribution, DistributionParameters, Randomness, Root};

const ROOT: Root = Root::Given(0);

/// The limit of `tuwtree optimize` for trees that are not named.
const MOST_CELLS: u64 = 6_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let counts = std::env::args().skip(1).map(|p| p.parse());
    let counts = counts.collect::<Result<Vec<usize>, _>>()?;
    println!(
        "{:>7}  {:13} {:>6} {:>6}  {:>7} {:>7}  {:>5} {:>6}  {:>7} {:>7}",
        "p", "trees", "lambda", "gamma", "seconds", "most", "exact", "MB", "above %", "most"
    );
    for p in if counts.is_empty() { vec![500, 2000] } else { counts } {
        for share in [0.0, 0.5, 0.9] {
            for gamma in [0.0, 1.0] {
                rows(p, share, gamma)?;
            }
        }
    }
    Ok(())
}

fn rows(p: usize, share: f64, gamma: f64) -> Result<(), Box<dyn Error>> {
    let alpha = 5200.0;
    let costs = Overlapping::new(alpha * share, alpha - alpha * share, 1.0, gamma)?;
    let mut bounds = Vec::new();
    for class in Class::ALL.into_iter().filter(|_| p <= 10_000) {
        let mut row = EngineTimes::default();
        bounds.clear();
        for distribution in Distribution::published() {
            let sizes = sizes(distribution, p)?;
            let clock = Clock::now();
            let solution = match class {
                Class::CopyFirst => optimal(&sizes, &costs, ROOT, class, Engine::EXACT, &())?,
                Class::Consecutive => optimal_within(&sizes, &costs, ROOT, MOST_CELLS, &())?,
            };
            row.seconds.push(clock.seconds());
            row.exact += usize::from(solution.time == solution.at_least);
            row.bytes = row.bytes.max(outlay(&sizes, &costs, ROOT, MOST_CELLS)?.bytes);
            row.above.push(100.0 * (solution.time / solution.at_least - 1.0));
            bounds.push(solution.at_least);
        }
        row.print(p, class.name(), share, gamma);
    }
    for effort in Effort::ALL {
        let mut row = EngineTimes::default();
        for (place, distribution) in Distribution::published().enumerate() {
            let sizes = sizes(distribution, p)?;
            let clock = Clock::now();
            let tree = deadline_tree(&sizes, &costs, Class::Consecutive, ROOT, effort)?;
            row.seconds.push(clock.seconds());
            let time = costs.completion_time(&tree, &sizes)?.units();
            row.above.extend(bounds.get(place).map(|bound| 100.0 * (time / bound - 1.0)));
        }
        row.print(p, &format!("{effort:?}").to_lowercase(), share, gamma);
    }
    Ok(())
}

#[derive(Default)]
struct EngineTimes {
    seconds: Vec<f64>,
    exact: usize,
    bytes: u64,
    above: Vec<f64>,
}

impl EngineTimes {
    fn print(&self, p: usize, trees: &str, share: f64, gamma: f64) {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        print!("{p:7}  {trees:13} {share:6} {gamma:6}");
        print!("  {:7.3} {:7.3}", mean(&self.seconds), most(&self.seconds));
        print!("  {:5} {:6}", self.exact, self.bytes / 1_000_000);
        match self.above.as_slice() {
            [] => println!("  {:>7} {:>7}", "-", "-"),
            above => println!("  {:7.4} {:7.4}", mean(above), most(above)),
        }
    }
}

fn sizes(distribution: Distribution, p: usize) -> Result<BlockSizes, Box<dyn Error>> {
    let parameters = DistributionParameters::new(p, 1000);
    Ok(distribution.sizes(parameters, Randomness::default())?)
}
