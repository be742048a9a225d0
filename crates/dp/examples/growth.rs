//! Growth of time and memory with the number of processes, program by program.
//!
//! ```text
//! cargo run --release -p tuwtree-dp --example growth
//! cargo run --release -p tuwtree-dp --example growth -- 10
//! cargo run --release -p tuwtree-dp --example growth -- 20 tables
//! ```
//!
//! Random blocks (b = 1000, rho = 5), root 0; alpha = 5200, beta = 1, gamma = 0, and half of alpha overlaps where that
//! is possible; on levels as on data/machines/vsc3.toml, nodes of 16 ranks; with *tables* at costs by size, nine lines with
//! a jump where larger messages are negotiated. Each program runs for twice as many processes
//! until it takes more than 2 seconds, or as many as the argument says, of CPU time; with another argument those only
//! whose names contain it. Memory is what the program says
//! beforehand that its tables take. Behind the rows the exponents of `p`: the slopes of the lines through the logarithms of the
//! last four rows.

mod clock;

use clock::Clock;
use std::error::Error;
use tuwtree_dp::levels::{self, grids};
use tuwtree_dp::wider::{self, Effort, Engine, Overlapping, deadline_tree};
use tuwtree_dp::{Method, memory_needed, optimal_adjacent};
use tuwtree_model::{
    BlockSizes, Distribution, DistributionParameters, Hierarchy, Homogeneous, Level, Piece,
    PiecewiseLinear, Placement, Problem, Randomness, Root,
};

const ROOT: Root = Root::Given(0);
const ALPHA: f64 = 5200.0;

/// Builds a tree; the bytes of its tables, if they are known.
type Program = fn(&BlockSizes) -> Result<Option<u64>, Box<dyn Error>>;

const PROGRAMS: [(&str, Program); 14] = [
    ("adjacent, plain", |sizes| adjacent(sizes, Method::Plain)),
    ("adjacent, dense", |sizes| adjacent(sizes, Method::Dense)),
    ("adjacent, runs", |sizes| adjacent(sizes, Method::Runs)),
    ("copy-first, plain", |sizes| by_class(sizes, wider::Class::CopyFirst, Engine::Plain)),
    ("copy-first, dense", |sizes| by_class(sizes, wider::Class::CopyFirst, Engine::EXACT)),
    ("consecutive, plain", |sizes| by_class(sizes, wider::Class::Consecutive, Engine::Plain)),
    ("consecutive, dense", |sizes| by_class(sizes, wider::Class::Consecutive, Engine::EXACT)),
    ("copy-first, tables, plain", |sizes| split_by_split(sizes, wider::Class::CopyFirst)),
    ("copy-first, tables", |sizes| with_windows(sizes, wider::Class::CopyFirst)),
    ("consecutive, tables, plain", |sizes| split_by_split(sizes, wider::Class::Consecutive)),
    ("consecutive, tables", |sizes| with_windows(sizes, wider::Class::Consecutive)),
    ("deadline, full", |sizes| {
        deadline_tree(sizes, &overlapping()?, wider::Class::Consecutive, ROOT, Effort::Full)?;
        Ok(None)
    }),
    ("levels, exact", |sizes| {
        let problem = on_levels(sizes)?;
        levels::optimal(&problem, levels::Class::CopyFirst, &())?;
        Ok(Some(levels::memory_needed(&problem)?))
    }),
    ("levels, grids", |sizes| {
        let reach = grids::GridReach { reach: 16.0, refinements: 1, leaders_only: false };
        grids::near_optimal(&on_levels(sizes)?, reach, &())?;
        Ok(None)
    }),
];

/// A row: processes, seconds, bytes.
type GrowthRow = (usize, f64, Option<u64>);

/// Number of rows of a slope.
const FITTED: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let limit: f64 = std::env::args().nth(1).map_or(Ok(2.0), |seconds| seconds.parse())?;
    println!("{:26} {:>9} {:>9} {:>9}", "program", "p", "seconds", "MB");
    let named = std::env::args().nth(2).unwrap_or_default();
    for (name, program) in PROGRAMS.into_iter().filter(|one| one.0.contains(&named)) {
        let mut rows: Vec<GrowthRow> = Vec::new();
        let mut p = 125;
        while p <= 1_024_000 && rows.last().is_none_or(|&(_, seconds, _)| seconds <= limit) {
            let parameters = DistributionParameters::new(p, 1000);
            let sizes = Distribution::Random.sizes(parameters, Randomness::default())?;
            let clock = Clock::now();
            let bytes = program(&sizes)?;
            let seconds = clock.seconds();
            let megabytes =
                bytes.map_or("-".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6));
            println!("{name:26} {p:9} {seconds:9.3} {megabytes:>9}");
            rows.push((p, seconds, bytes));
            p *= 2;
        }
        let fitted = &rows[rows.len().saturating_sub(FITTED)..];
        let time = slope(fitted.iter().map(|&(p, seconds, _)| (p, seconds)));
        print!("{name:26} time p^{time:.2}");
        if fitted.iter().all(|(.., bytes)| bytes.is_some()) {
            let bytes = fitted.iter().map(|&(p, _, bytes)| (p, bytes.unwrap_or(0) as f64));
            print!(", memory p^{:.2}", slope(bytes));
        }
        println!();
    }
    Ok(())
}

/// The slope of the line through the logarithms, by least squares.
fn slope(points: impl Iterator<Item = (usize, f64)>) -> f64 {
    // What takes no time that is measured has some.
    let points: Vec<(f64, f64)> =
        points.map(|(p, value)| ((p as f64).ln(), value.max(1e-4).ln())).collect();
    let mean =
        |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let rise: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    rise / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>()
}

fn adjacent(sizes: &BlockSizes, method: Method) -> Result<Option<u64>, Box<dyn Error>> {
    let costs = Homogeneous::new(ALPHA, 1.0, 0.0)?;
    let problem = Problem::gather(sizes, costs)?.with_root(ROOT)?;
    optimal_adjacent(&problem, method, &())?;
    Ok(Some(memory_needed(&problem, method)?))
}

fn overlapping() -> Result<Overlapping, Box<dyn Error>> {
    Ok(Overlapping::new(0.5 * ALPHA, 0.5 * ALPHA, 1.0, 0.0)?)
}

fn by_class(
    sizes: &BlockSizes,
    class: wider::Class,
    engine: Engine,
) -> Result<Option<u64>, Box<dyn Error>> {
    let costs = overlapping()?;
    wider::optimal(sizes, &costs, ROOT, class, engine, &())?;
    Ok(Some(wider::memory_needed(sizes, &costs, ROOT, class, engine)?))
}

/// The plain recurrence at costs by size.
fn split_by_split(sizes: &BlockSizes, class: wider::Class) -> Result<Option<u64>, Box<dyn Error>> {
    let problem = on_tables(sizes)?;
    let law = wider::LawBySize::shared(&problem, sizes);
    wider::optimal_by_size(&law, class, ROOT, &())?;
    Ok(Some(wider::memory_needed_by_size(&law, class, ROOT)?))
}

/// The dense engine at costs by size.
fn with_windows(sizes: &BlockSizes, class: wider::Class) -> Result<Option<u64>, Box<dyn Error>> {
    let problem = on_tables(sizes)?;
    wider::optimal_on_links(&problem, class, u64::MAX, &())?;
    Ok(Some(wider::outlay_on_links(&problem, class, u64::MAX)?.bytes))
}

/// Messages that take longer a byte where they are small, and are negotiated from 65,536 bytes on.
fn on_tables(sizes: &BlockSizes) -> Result<Problem, Box<dyn Error>> {
    let pieces = [
        (0, 0.5, 0.5, 1.5),
        (512, 0.5, 0.52, 1.3),
        (2048, 0.5, 0.6, 1.2),
        (8192, 0.55, 0.8, 1.1),
        (16_384, 0.6, 1.1, 1.08),
        (32_768, 0.6, 1.3, 1.05),
        (65_536, 1.5, 1.7, 1.02),
        (262_144, 1.5, 2.7, 1.0),
        (1_048_576, 1.6, 2.8, 1.0),
    ];
    let piece = |(from_bytes, latency, overhead, beta): (u64, f64, f64, f64)| {
        let overhead = overhead * ALPHA;
        Piece { from_bytes, alpha: overhead + latency * ALPHA, overhead, beta }
    };
    let links = PiecewiseLinear::new(pieces.map(piece).into())?.into();
    let level = Level { name: "network".to_owned(), members: sizes.ranks(), links };
    let machine = Hierarchy::new(vec![level], Placement::Block, 0.0)?;
    Ok(Problem::gather(sizes, &machine)?.with_root(ROOT)?)
}

fn on_levels(sizes: &BlockSizes) -> Result<Problem, Box<dyn Error>> {
    let level = |(name, members, alpha, beta): (&str, usize, f64, f64)| {
        let piece = Piece { from_bytes: 0, alpha, overhead: 0.2 * alpha, beta };
        let links = PiecewiseLinear::new(vec![piece])?.into();
        Ok(Level { name: name.to_owned(), members, links })
    };
    let levels = [
        ("node", 16, 6e-7, 2e-10),
        ("island", 250, 1.5e-6, 2.5e-10),
        ("network", 500, 1.9e-6, 2.5e-10),
    ];
    let levels = levels.map(level).into_iter().collect::<Result<_, Box<dyn Error>>>()?;
    let machine = Hierarchy::new(levels, Placement::Block, 2e-10)?;
    Ok(Problem::gather(sizes, &machine)?.with_root(ROOT)?)
}
