//! Trees for machines with levels: how far they are above the bounds on all trees, and how long they take to
//! build.
//!
//! ```text
//! cargo run --release -p tuwtree-plan --example levels -- 2000 10000 100000
//! ```
//!
//! For each number of ranks: random blocks with a mean of 1 to 10,000 bytes, root 0, on `vsc3`
//! (data/machines/vsc3.toml: nodes of 16 ranks, islands of 250 nodes) and `m3` (nodes of 16 ranks, islands of 32
//! nodes, 0.5, 1.5 and 3 us, 0.1, 0.3 and 0.6 ns a byte), 4/5 of latency overlapping. `ports`: times of the
//! planner, each rank has a port of its own; `wires`: times of the judge, the ranks of a node share a wire. Gaps
//! are in per cent of the bound; where `at` is `-`, a tree was left out.

use std::error::Error;
use std::time::Instant;
use tuwtree_model::document::{Date, Machine};
use tuwtree_model::{
    ClosedSet, Construction, Costs, Distribution, DistributionParameters, Hierarchy, Level,
    Network, Order, Piece, PiecewiseLinear, Placement, Problem, Randomness, Root, StatedCosts,
    WireOwner, best_lower_bound, judged_lower_bound,
};
use tuwtree_plan::{Effort, Request, Settings, Wanted, compare};

/// Name and members of each level, alpha in microseconds, beta in nanoseconds per byte.
type Shape = [(&'static str, usize, f64, f64); 3];

const MACHINES: [(&str, f64, Shape); 2] = [
    ("vsc3", 0.2, [("node", 16, 0.6, 0.2), ("island", 250, 1.5, 0.25), ("network", 64, 1.9, 0.25)]),
    ("m3", 0.1, [("node", 16, 0.5, 0.1), ("island", 32, 1.5, 0.3), ("network", 512, 3.0, 0.6)]),
];

/// Which part of latency overlaps with other work.
const OVERLAP: f64 = 0.8;

const TREES: [Construction; 4] =
    [Construction::TwoLevel, Construction::Deadline, Construction::Leaders, Construction::Relays];

fn main() -> Result<(), Box<dyn Error>> {
    let counts = std::env::args().skip(1).map(|p| p.parse());
    let counts = counts.collect::<Result<Vec<usize>, _>>()?;
    print!("{:>7}  {:5} {:5} {:>6}  {:>12} {:>8}", "p", "", "", "b", "bound, us", "seconds");
    for tree in TREES {
        print!("  {:>10} {:>8}", tree.name(), "seconds");
    }
    println!();
    for p in if counts.is_empty() { vec![2000] } else { counts } {
        for (name, gamma, shape) in MACHINES {
            for wire in [WireOwner::Rank, WireOwner::Node] {
                for mean in [1, 100, 1000, 10_000] {
                    let ports = if wire == WireOwner::Rank { "ports" } else { "wires" };
                    print!("{p:7}  {name:5} {ports:5} {mean:6}");
                    row(p, costs(shape, gamma, wire)?, mean, wire)?;
                }
            }
        }
    }
    Ok(())
}

/// A machine, in seconds.
fn costs(shape: Shape, gamma: f64, wire: WireOwner) -> Result<StatedCosts, Box<dyn Error>> {
    let level = |(name, members, alpha, beta): (&str, usize, f64, f64)| {
        let overhead = (1.0 - OVERLAP) * alpha * 1e-6;
        let piece = Piece { from_bytes: 0, alpha: alpha * 1e-6, overhead, beta: beta * 1e-9 };
        let links = PiecewiseLinear::new(vec![piece])?.into();
        Ok(Level { name: name.to_owned(), members, links })
    };
    let levels = shape.map(level).into_iter().collect::<Result<_, Box<dyn Error>>>()?;
    let machine = Machine {
        name: "of this example".to_owned(),
        date: Date::parse("2026-11-22").ok_or("no such day")?,
        provenance: "plausible".to_owned(),
        costs: Costs::Hierarchical(Hierarchy::new(levels, Placement::Block, gamma * 1e-9)?),
        network: Network { wire, ..Network::default() },
    };
    Ok(machine.into())
}

fn row(p: usize, costs: StatedCosts, mean: u64, wire: WireOwner) -> Result<(), Box<dyn Error>> {
    let parameters = DistributionParameters::new(p, mean);
    let sizes = Distribution::Random.sizes(parameters, Randomness::default())?;
    let problem = Problem::gather(&sizes, costs)?.with_root(Root::Given(0))?;
    let started = Instant::now();
    let bound = match wire {
        WireOwner::Rank => best_lower_bound(&problem)?,
        WireOwner::Node => judged_lower_bound(&problem)?.ok_or("no bound is known")?,
    };
    print!("  {:12.2} {:8.2}", 1e6 * bound.units(), started.elapsed().as_secs_f64());
    let settings = Settings { order: Order::Any, ..Settings::DEFAULT };
    let request = Request::new(&problem, settings, &());
    for construction in TREES {
        let wanted = Wanted { construction, search: None, effort: Effort::Moderate };
        match compare(&request, &[wanted], false) {
            Ok(comparison) => {
                let outcome = comparison.fastest();
                let time = match wire {
                    WireOwner::Rank => outcome.time(),
                    WireOwner::Node => outcome.judged,
                };
                let gap = 100.0 * (time.units() / bound.units() - 1.0);
                print!("  {gap:10.2} {:8.2}", outcome.build_time.as_secs_f64());
            }
            Err(_) => print!("  {:>10} {:>8}", "-", "-"),
        }
    }
    println!();
    Ok(())
}
