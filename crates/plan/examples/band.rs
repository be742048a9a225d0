//! Times of trees where the latency of a tree is about as large as the time of its volume, and on either side.
//!
//! ```text
//! cargo run --release -p tuwtree-plan --example band -- 1000
//! ```
//!
//! For `alpha ceil(log2 p) / (beta V)` from 1/64 to 16: by how many per cent trees are above the best consecutive
//! tree (`optimal`), and that above the bound on all trees, mean and greatest over the papers' eleven distributions (b = 1000,
//! rho = 5, gamma = 0, root 0), without overlap and with four fifths of alpha overlapping.

use std::error::Error;
use tuwtree_model::{
    ClosedSet, Construction, Distribution, DistributionParameters, Homogeneous, Order, Problem,
    Randomness, Root,
};
use tuwtree_plan::{Effort, Request, Settings, Wanted, compare};

const TREES: [Construction; 7] = [
    Construction::Linear,
    Construction::Oblivious,
    Construction::Adaptive,
    Construction::Binary,
    Construction::Deadline,
    Construction::CopyFirst,
    Construction::Optimal,
];

fn main() -> Result<(), Box<dyn Error>> {
    let counts = std::env::args().skip(1).map(|p| p.parse());
    let counts = counts.collect::<Result<Vec<usize>, _>>()?;
    print!("{:>6} {:>8} {:>8}", "p", "lambda", "ratio");
    for tree in TREES {
        print!("  {:>16}", tree.name());
    }
    println!("  {:>16}", "optimal, bound");
    for p in if counts.is_empty() { vec![1000] } else { counts } {
        for share in [0.0, 0.8] {
            for power in [-6, -4, -2, -1, 0, 1, 2, 4] {
                row(p, share, f64::from(power).exp2())?;
            }
        }
    }
    Ok(())
}

fn row(p: usize, share: f64, ratio: f64) -> Result<(), Box<dyn Error>> {
    let rounds = f64::from(p.next_power_of_two().ilog2());
    let mut above: Vec<Vec<f64>> = vec![vec![]; TREES.len() + 1];
    for distribution in Distribution::published() {
        let sizes =
            distribution.sizes(DistributionParameters::new(p, 1000), Randomness::default())?;
        let alpha = ratio * sizes.total() as f64 / rounds;
        let costs = Homogeneous::new(alpha, 1.0, 0.0)?.with_overhead(alpha - share * alpha)?;
        let problem = Problem::gather(&sizes, costs)?.with_root(Root::Given(0))?;
        let settings = Settings { order: Order::Any, ..Settings::DEFAULT };
        let request = Request::new(&problem, settings, &());
        let wanted = |construction| Wanted { construction, search: None, effort: Effort::Any };
        let compared = compare(&request, &TREES.map(wanted), false)?;
        let time = |construction: Construction| {
            let mut outcomes = compared.outcomes.iter();
            let built = outcomes.find(|one| one.construction == construction);
            built.map(|one| one.time().units()).ok_or("a tree was left out")
        };
        let best = time(Construction::Optimal)?;
        for (place, tree) in TREES.into_iter().enumerate() {
            above[place].push(100.0 * (time(tree)? / best - 1.0));
        }
        above[TREES.len()].push(100.0 * (best / compared.bound.units() - 1.0));
    }
    print!("{p:6} {share:8} {ratio:8}");
    for above in above {
        let mean = above.iter().sum::<f64>() / above.len() as f64;
        let most = above.into_iter().fold(0.0, f64::max);
        print!("  {:>16}", format!("{mean:.1} ({most:.1})"));
    }
    println!();
    Ok(())
}
