//! Times of trees over the lower bound, for twelve problems where latency overlaps.
//!
//! ```text
//! cargo run --release -p tuwtree-plan --example over_the_bound -- 256 deadline optimal polished searched
//! ```
//!
//! alpha and overhead are 1000 and 500, 1000 and 100, 20,000 and 1000, beta 1, gamma 0; blocks are the same (8 bytes), random
//! and spikes (100), and log-normal (1000); the root is rank 0. For each construction the mean and the largest ratio, and the
//! seconds for all problems. `plain` is `optimal` at the problem's own costs, without regard to the judge.

use std::error::Error;
use std::time::Instant;
use tuwtree_bounds::lower_bound_below;
use tuwtree_model::{
    ClosedSet, Construction, Distribution, DistributionParameters, Homogeneous, Operation, Problem,
    Randomness, Root, Time, judged_time,
};
use tuwtree_plan::{Effort, Request, Search, Settings, Wanted, WiderMethod};

const COSTS: [(f64, f64); 3] = [(1000.0, 500.0), (1000.0, 100.0), (20_000.0, 1000.0)];

const BLOCKS: [(Distribution, u64); 4] = [
    (Distribution::Same, 8),
    (Distribution::Random, 100),
    (Distribution::Spikes, 100),
    (Distribution::LogNormal, 1000),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let ranks: usize = arguments.next().ok_or("how many ranks?")?.parse()?;
    let names: Vec<String> = arguments.collect();
    for operation in [Operation::Gather, Operation::Scatter] {
        let mut ratios = vec![Vec::new(); names.len()];
        let mut seconds = vec![0.0; names.len()];
        for problem in problems(operation, ranks)? {
            let request = Request::new(&problem, Settings::DEFAULT, &());
            let mut times: Vec<Time> = Vec::new();
            for (name, seconds) in names.iter().zip(&mut seconds) {
                let search = (name == "plain").then_some(Search::Wider(WiderMethod::Dense));
                let construction: Construction =
                    if name == "plain" { Construction::Optimal } else { name.parse()? };
                let started = Instant::now();
                let wanted = Wanted { construction, search, effort: Effort::Any };
                let built = request.build(wanted).map_err(|_| format!("{name} has no tree"))?;
                *seconds += started.elapsed().as_secs_f64();
                times.push(judged_time(built.plan.tree()?, &problem)?);
            }
            let least = *times.iter().min().ok_or("which constructions?")?;
            let bound = lower_bound_below(&problem, least)?.units();
            for (time, ratios) in times.iter().zip(&mut ratios) {
                ratios.push(time.units() / bound);
            }
        }
        for ((name, ratios), seconds) in names.iter().zip(ratios).zip(seconds) {
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            let largest = ratios.into_iter().fold(0.0, f64::max);
            println!(
                "{} of {ranks} ranks, {name}: {mean:.3} ({largest:.2}), {seconds:.2} s",
                operation.name()
            );
        }
    }
    Ok(())
}

fn problems(operation: Operation, ranks: usize) -> Result<Vec<Problem>, Box<dyn Error>> {
    let mut all = Vec::new();
    for (alpha, overhead) in COSTS {
        let costs = Homogeneous::new(alpha, 1.0, 0.0)?.with_overhead(overhead)?;
        for (distribution, mean) in BLOCKS {
            let scale = DistributionParameters::new(ranks, mean);
            let sizes = distribution.sizes(scale, Randomness::default())?;
            all.push(Problem::new(operation, sizes, costs)?.with_root(Root::Given(0))?);
        }
    }
    Ok(all)
}
