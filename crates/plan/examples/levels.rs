//! Trees for machines with levels: how far they are above the bounds on all trees, and how long they take to
//! build.
//!
//! ```text
//! cargo run --release -p tuwtree-plan --example levels -- 2000 10000 100000
//! cargo run --release -p tuwtree-plan --example levels -- middle far leaders relays 2000 10000
//! cargo run --release -p tuwtree-plan --example levels -- goals edge middle far leaders relays 2000 10000
//! ```
//!
//! Trees that are named are the only ones. With `goals`, only those rows for which there is one; behind them the least
//! gap, the goal, and whether it is missed.
//! For each number of ranks: blocks with a mean of 1 to 10,000 bytes, random ones with root 0 (`edge`) or `p / 2`
//! (`middle`), or few large ones and the last rank as root (`far`), on `vsc3`
//! (data/machines/vsc3.toml: nodes of 16 ranks, islands of 250 nodes) and `m3` (nodes of 16 ranks, islands of 32
//! nodes, 0.5, 1.5 and 3 us, 0.1, 0.3 and 0.6 ns a byte), 4/5 of latency overlapping. `ports`: times of the
//! planner, each rank has a port of its own; `wires`: times of the judge, the ranks of a node share a wire. Gaps
//! are in per cent of the bound, times are a rank's; `-` is where a tree was left out.

use std::error::Error;
use tuwtree_bounds::{best_lower_bound, lower_bound_below};
use tuwtree_model::document::{Date, Machine};
use tuwtree_model::{
    ClosedSet, Construction, Costs, Distribution, DistributionParameters, Hierarchy, Level,
    Network, Order, Piece, PiecewiseLinear, Placement, Problem, Randomness, Root, StatedCosts,
    Time, WireOwner, judged_time,
};
use tuwtree_plan::{Effort, Request, Settings, Wanted, compare};

/// Name and members of each level, alpha in microseconds, beta in nanoseconds per byte.
type MachineShape = [(&'static str, usize, f64, f64); 3];

const MACHINES: [(&str, f64, MachineShape); 2] = [
    ("vsc3", 0.2, [("node", 16, 0.6, 0.2), ("island", 250, 1.5, 0.25), ("network", 64, 1.9, 0.25)]),
    ("m3", 0.1, [("node", 16, 0.5, 0.1), ("island", 32, 1.5, 0.3), ("network", 512, 3.0, 0.6)]),
];

/// Share of the latency that overlaps with other work.
const OVERLAP: f64 = 0.8;

const TREES: [Construction; 5] = [
    Construction::Leaders,
    Construction::CopyFirst,
    Construction::Grids,
    Construction::Rotated,
    Construction::Relays,
];

/// Position of the root.
#[derive(Clone, Copy)]
enum Place {
    Edge,
    Middle,
    /// Far from the data.
    Far,
}

impl Place {
    fn named(name: &str) -> Option<Place> {
        [Place::Edge, Place::Middle, Place::Far].into_iter().find(|place| place.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Place::Edge => "edge",
            Place::Middle => "middle",
            Place::Far => "far",
        }
    }

    fn distribution(self) -> Distribution {
        match self {
            Place::Edge | Place::Middle => Distribution::Random,
            Place::Far => Distribution::Skewed,
        }
    }

    fn root(self, ranks: usize) -> Root {
        Root::Given(match self {
            Place::Edge => 0,
            Place::Middle => ranks / 2,
            Place::Far => ranks - 1,
        })
    }
}

/// The most per cent that a tree should be above the bound: with wires of nodes 10, but 13 for 2000 ranks, from 100
/// bytes on; with a port for each rank 10 on `vsc3` from 1000 bytes on, and on `m3` an earlier measurement.
fn goal(machine: &str, wire: WireOwner, p: usize, mean: u64) -> Option<f64> {
    match (wire, machine, mean) {
        (WireOwner::Node, _, 1) => None,
        (WireOwner::Node, ..) => Some(if p <= 2000 { 13.0 } else { 10.0 }),
        (WireOwner::Rank, "vsc3", ..1000) => None,
        (WireOwner::Rank, "vsc3", _) => Some(10.0),
        (WireOwner::Rank, ..) => match (p, mean) {
            (..=2000, 1) => Some(37.0),
            (..=2000, 100) => Some(36.0),
            (..=2000, 1000) => Some(16.0),
            (..=2000, _) => Some(11.0),
            (..=10_000, 100) => Some(28.0),
            (..=10_000, 1000) => Some(19.0),
            (_, 1000) => Some(20.0),
            _ => None,
        },
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut counts, mut places, mut trees) = (vec![], vec![], vec![]);
    let mut with_goals = false;
    for argument in std::env::args().skip(1) {
        match (Place::named(&argument), argument.parse().ok()) {
            _ if argument == "goals" => with_goals = true,
            (Some(place), _) => places.push(place),
            (_, Some(tree)) => trees.push(tree),
            _ => counts.push(argument.parse()?),
        }
    }
    if trees.is_empty() {
        trees.extend(TREES);
    }
    if places.is_empty() {
        places.push(Place::Edge);
    }
    print!("{:>7} {:6}  {:5} {:5} {:>6}", "p", "", "", "", "b");
    print!("  {:>12} {:>8}", "bound, us", "seconds");
    for tree in &trees {
        print!("  {:>10} {:>8}", tree.name(), "seconds");
    }
    println!(
        "{}",
        if with_goals { format!("  {:>10} {:>8}", "least", "goal") } else { String::new() }
    );
    let counts = if counts.is_empty() { vec![2000] } else { counts };
    let cases = counts.iter().flat_map(|&p| places.iter().map(move |&place| (p, place)));
    for (p, place) in cases {
        for (name, gamma, shape) in MACHINES {
            for wire in [WireOwner::Rank, WireOwner::Node] {
                for mean in [1, 100, 1000, 10_000] {
                    let goal = goal(name, wire, p, mean);
                    if with_goals && goal.is_none() {
                        continue;
                    }
                    let ports = if wire == WireOwner::Rank { "ports" } else { "wires" };
                    print!("{p:7} {:6}  {name:5} {ports:5} {mean:6}", place.name());
                    let costs = costs(shape, gamma, wire)?;
                    let least = row((p, place), costs, (mean, wire), &trees)?;
                    match goal.filter(|_| with_goals) {
                        Some(goal) => {
                            let missed = if least > goal { "  missed" } else { "" };
                            println!("  {least:10.2} {goal:8}{missed}");
                        }
                        None => println!(),
                    }
                }
            }
        }
    }
    Ok(())
}

/// A machine, in seconds.
fn costs(shape: MachineShape, gamma: f64, wire: WireOwner) -> Result<StatedCosts, Box<dyn Error>> {
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
        combine_per_byte: 0.0,
    };
    Ok(machine.into())
}

/// The judged time of the star.
fn star(problem: &Problem) -> Result<Time, Box<dyn Error>> {
    let request = Request::new(problem, Settings::DEFAULT, &());
    let star = request.build(Wanted::named(Construction::Linear)).map_err(|_| "no star")?;
    Ok(judged_time(star.plan.tree()?, problem)?)
}

/// Prints each tree's time; returns the least per cent above the bound.
fn row(
    (p, place): (usize, Place),
    costs: StatedCosts,
    (mean, wire): (u64, WireOwner),
    trees: &[Construction],
) -> Result<f64, Box<dyn Error>> {
    let mut least = f64::INFINITY;
    let parameters = DistributionParameters::new(p, mean);
    let sizes = place.distribution().sizes(parameters, Randomness::default())?;
    let problem = Problem::gather(&sizes, costs)?.with_root(place.root(p))?;
    let started = cpu_seconds();
    let bound = match wire {
        WireOwner::Rank => best_lower_bound(&problem)?,
        WireOwner::Node => lower_bound_below(&problem, star(&problem)?)?,
    };
    print!("  {:12.2} {:8.2}", 1e6 * bound.units(), cpu_seconds() - started);
    let settings = Settings { order: Order::Any, ..Settings::DEFAULT };
    let request = Request::new(&problem, settings, &());
    for &construction in trees {
        let wanted = Wanted { construction, search: None, effort: Effort::Moderate };
        let started = cpu_seconds();
        match compare(&request, &[wanted], false) {
            Ok(comparison) => {
                let outcome = comparison.fastest();
                let time = match wire {
                    WireOwner::Rank => outcome.planned,
                    WireOwner::Node => outcome.time(),
                };
                let gap = 100.0 * (time.units() / bound.units() - 1.0);
                least = least.min(gap);
                print!("  {gap:10.2} {:8.2}", cpu_seconds() - started);
            }
            Err(_) => print!("  {:>10} {:>8}", "-", "-"),
        }
    }
    Ok(least)
}

/// The seconds that this thread has run for, where the system tells; 0 elsewhere.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse::<u64>().ok());
    nanoseconds.unwrap_or(0) as f64 * 1e-9
}
