//! The run-length method on all eleven distributions, gamma = 0 and 1, chosen and given root, trees
//! included; beside it the dense method on the same problem, where its table is small enough.
//!
//! `cargo bench --bench distributions -- 8000` (the default), `-- 100000`, `-- 1000000`, and
//! `-- tables` for the 132 problems of the published tables, all together.

use std::error::Error;
use std::time::{Duration, Instant};
use tuwtree_dp::{Method, optimal_adjacent};
use tuwtree_model::{
    BlockSizes, ClosedSet, Distribution, DistributionParameters, Homogeneous, Problem, Randomness,
    Root,
};

/// Up to this many ranks the dense method runs too.
const DENSE_MOST: usize = 8000;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds `--bench`.
    let argument = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    match argument.as_deref() {
        Some("tables") => tables(),
        Some(ranks) => distributions(ranks.parse()?),
        None => distributions(DENSE_MOST),
    }
}

fn sizes(distribution: Distribution, ranks: usize) -> Result<BlockSizes, Box<dyn Error>> {
    let parameters = DistributionParameters::new(ranks, 1000);
    Ok(distribution.sizes(parameters, Randomness::default())?)
}

/// How long a method takes, and the completion time that it finds.
fn timed(
    sizes: &BlockSizes,
    costs: &Homogeneous,
    root: Root,
    method: Method,
) -> Result<(Duration, f64), Box<dyn Error>> {
    let problem = Problem::gather(sizes, costs)?.with_root(root)?;
    let started = Instant::now();
    let optimum = optimal_adjacent(&problem, method, &())?;
    Ok((started.elapsed(), optimum.value))
}

/// One line for each distribution, gamma and kind of root, at alpha = 100.
fn distributions(ranks: usize) -> Result<(), Box<dyn Error>> {
    println!("p = {ranks}, b = 1000, rho = 5, alpha = 100, beta = 1; seconds, tree included\n");
    println!(
        "{:<20} {:>5} {:>8} {:>9} {:>9} {:>12}",
        "distribution", "gamma", "root", "runs", "dense", "dense/runs"
    );
    let mut longest = Duration::ZERO;
    for distribution in Distribution::published() {
        let sizes = sizes(distribution, ranks)?;
        for gamma in [1.0, 0.0] {
            let costs = Homogeneous::new(100.0, 1.0, gamma)?;
            for (name, root) in [("best", Root::Best), ("p/2", Root::Given(ranks / 2))] {
                let (runs, value) = timed(&sizes, &costs, root, Method::Runs)?;
                longest = longest.max(runs);
                let mut line = format!(
                    "{:<20} {gamma:>5} {name:>8} {:>9.3}",
                    distribution.name(),
                    runs.as_secs_f64()
                );
                if ranks <= DENSE_MOST {
                    let (dense, dense_value) = timed(&sizes, &costs, root, Method::Dense)?;
                    assert_eq!(value, dense_value, "the methods differ");
                    let ratio = dense.as_secs_f64() / runs.as_secs_f64();
                    line += &format!(" {:>9.3} {ratio:>12.1}", dense.as_secs_f64());
                }
                println!("{line}");
            }
        }
    }
    println!("\nlongest by runs: {:.3} s", longest.as_secs_f64());
    Ok(())
}

/// The 66 problems of the published tables, each with a chosen and a given root.
fn tables() -> Result<(), Box<dyn Error>> {
    let mut total = [Duration::ZERO; 2];
    for distribution in Distribution::published() {
        let sizes = sizes(distribution, 2000)?;
        for (alpha, gamma) in
            [100.0, 1.0, 1000.0].into_iter().flat_map(|alpha| [(alpha, 1.0), (alpha, 0.0)])
        {
            let costs = Homogeneous::new(alpha, 1.0, gamma)?;
            for root in [Root::Best, Root::Given(1000)] {
                let [runs, dense] =
                    [Method::Runs, Method::Dense].map(|method| timed(&sizes, &costs, root, method));
                let ((runs, value), (dense, dense_value)) = (runs?, dense?);
                assert_eq!(value, dense_value, "the methods differ");
                total = [total[0] + runs, total[1] + dense];
            }
        }
    }
    let [runs, dense] = total.map(|total| total.as_secs_f64());
    println!("132 problems of Tables 1 to 3, p = 2000, trees included");
    println!("runs {runs:.2} s, dense {dense:.2} s, dense/runs {:.1}", dense / runs);
    Ok(())
}
