//! Times of the exact program for machines with levels.
//!
//! ```text
//! cargo run --release -p tuwtree-dp --example exact_levels -- 500 1000 2000
//! ```
//!
//! For each number of ranks, on `vsc3` (data/machines/vsc3.toml: nodes of 16 ranks, islands of 250
//! nodes) and `small` (nodes of 4, islands of 8 nodes), random blocks, b = 1000: time on the
//! rank, the most that the tables take, and the time of the tree. `overlap` is lambda/alpha.
//! Costs are in seconds (f64) or in picoseconds (integers).

mod clock;

use clock::Clock;
use std::error::Error;
use tuwtree_dp::levels::{Class, memory_needed, optimal};
use tuwtree_model::{
    Distribution, DistributionParameters, Hierarchy, Level, Piece, PiecewiseLinear, Placement,
    Problem, Randomness, Root,
};

/// Name and members of each level, alpha in nanoseconds, beta in picoseconds per byte.
type Shape = [(&'static str, usize, f64, f64); 3];

const MACHINES: [(&str, f64, Shape); 2] = [
    (
        "vsc3",
        200.0,
        [("node", 16, 600.0, 200.0), ("island", 250, 1500.0, 250.0), ("network", 8, 1900.0, 250.0)],
    ),
    (
        "small",
        100.0,
        [("node", 4, 500.0, 100.0), ("island", 8, 1500.0, 300.0), ("network", 1000, 3000.0, 600.0)],
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let counts = std::env::args().skip(1).map(|p| p.parse());
    let counts = counts.collect::<Result<Vec<usize>, _>>()?;
    println!(
        "{:>6}  {:8} {:12} {:10} {:>7} {:>5}  {:>8} {:>6}  {:>11}",
        "p", "machine", "unit", "class", "overlap", "root", "seconds", "MB", "tree, us"
    );
    for p in if counts.is_empty() { vec![500] } else { counts } {
        for (machine, gamma, shape) in MACHINES {
            for (unit, picosecond) in [("seconds", 1e-12), ("picoseconds", 1.0)] {
                for (class, overlap) in
                    [(Class::Adjacent, 0.0), (Class::CopyFirst, 0.0), (Class::CopyFirst, 0.8)]
                {
                    let costs = costs(shape, gamma, overlap, picosecond)?;
                    for root in [Root::Best, Root::Given(0)] {
                        print!("{p:6}  {machine:8} {unit:12} ");
                        row(p, &costs, (class, overlap), root, picosecond)?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn row(
    p: usize,
    costs: &Hierarchy,
    (class, overlap): (Class, f64),
    root: Root,
    picosecond: f64,
) -> Result<(), Box<dyn Error>> {
    let parameters = DistributionParameters::new(p, 1000);
    let sizes = Distribution::Random.sizes(parameters, Randomness::default())?;
    let problem = Problem::gather(&sizes, costs)?.with_root(root)?;
    let clock = Clock::now();
    let best = optimal(&problem, class, &())?;
    let seconds = clock.seconds();
    let megabytes = memory_needed(&problem)? as f64 * 1e-6;
    let root = root.given().map_or("best".to_owned(), |root| root.to_string());
    let time = best.value / picosecond * 1e-6;
    println!(
        "{:10} {overlap:7} {root:>5}  {seconds:8.3} {megabytes:6.0}  {time:11.4}",
        class.name()
    );
    Ok(())
}

/// The costs in units of 1/`per_picosecond` picoseconds.
fn costs(
    shape: Shape,
    gamma: f64,
    overlap: f64,
    picosecond: f64,
) -> Result<Hierarchy, Box<dyn Error>> {
    let level = |(name, members, alpha, beta): (&str, usize, f64, f64)| {
        let alpha = alpha * 1000.0;
        let overhead = (alpha * (1.0 - overlap)).round();
        let piece = Piece {
            from_bytes: 0,
            alpha: alpha * picosecond,
            overhead: overhead * picosecond,
            beta: beta * picosecond,
        };
        let links = PiecewiseLinear::new(vec![piece])?.into();
        Ok(Level { name: name.to_owned(), members, links })
    };
    let levels = shape.map(level).into_iter().collect::<Result<_, Box<dyn Error>>>()?;
    Ok(Hierarchy::new(levels, Placement::Block, gamma * picosecond)?)
}
