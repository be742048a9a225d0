//! Trees that processes build together: how far they are above the best tree in rank order, and in how many
//! rounds they are built.
//!
//! ```text
//! cargo run --release -p tuwtree-dp --example online
//! ```
//!
//! 512 processes, root 0 and 250, over the papers' eleven distributions (rho = 5): per cent above the best, mean
//! (greatest), for chunks of 2, 16 and 64, and for deadline splitting, which each process can do by itself once
//! all know all sizes. The best: consecutive trees at costs that all pairs share, copy-first trees on levels (nodes of 16
//! ranks, islands of 8 nodes). gamma = beta / 2; alpha = 5200 bytes; on levels 500, 1500 and 3000 for 0.1, 0.3 and
//! 0.6 a byte. Who sends straight to the root does not keep rank order, so that such trees may be below.

use std::error::Error;
use tuwtree_dp::composed::chunked_tree;
use tuwtree_dp::levels;
use tuwtree_dp::wider::{
    BySize, Class, Effort, Overlapping, deadline_tree, deadline_tree_by_size, optimal_within,
};
use tuwtree_model::{
    BlockSizes, Costs, Distribution, DistributionParameters, Hierarchy, Homogeneous, Level, Piece,
    PiecewiseLinear, Placement, Problem, Randomness, Root, Tree, completion_time,
};

const PROCESSES: usize = 512;
const CHUNKS: [usize; 3] = [2, 16, 64];

fn main() -> Result<(), Box<dyn Error>> {
    print!("{:10} {:>6} {:>6} {:>5}", "costs", "lambda", "b", "root");
    for chunk in CHUNKS {
        print!("  {:>18}", format!("chunks of {chunk}"));
    }
    println!("  {:>18}", "deadline");
    for is_level in [false, true] {
        for share in [0.0, 0.5, 0.9] {
            for mean in [10, 1000, 20_000] {
                for root in [0, 250] {
                    row(is_level, share, mean, root)?;
                }
            }
        }
    }
    Ok(())
}

fn row(is_level: bool, share: f64, mean: u64, root: usize) -> Result<(), Box<dyn Error>> {
    let mut above = vec![vec![]; CHUNKS.len() + 1];
    let mut rounds = [0; CHUNKS.len()];
    for distribution in Distribution::published() {
        let parameters = DistributionParameters::new(PROCESSES, mean);
        let sizes = distribution.sizes(parameters, Randomness::default())?;
        let costs = if is_level { machine(share)? } else { homogeneous(share)?.into() };
        let problem = Problem::gather(&sizes, costs)?.with_root(Root::Given(root))?;
        let time = |tree: &Tree| completion_time(tree, &problem).map(|time| time.units());
        let (best, split) = match is_level {
            true => (
                levels::optimal(&problem, levels::Class::CopyFirst, &())?.tree,
                outermost(&problem, &sizes)?,
            ),
            false => shared(&sizes, share, root)?,
        };
        let best = time(&best)?;
        for (place, chunk) in CHUNKS.into_iter().enumerate() {
            let found = chunked_tree(&problem, chunk)?;
            above[place].push(100.0 * (time(&found.tree)? / best - 1.0));
            rounds[place] = found.rounds;
        }
        above[CHUNKS.len()].push(100.0 * (time(&split)? / best - 1.0));
    }
    print!("{:10} {share:6} {mean:6} {root:5}", if is_level { "levels" } else { "all alike" });
    for (place, above) in above.iter().enumerate() {
        let mean = above.iter().sum::<f64>() / above.len() as f64;
        let most = above.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Sizes are gathered by all: 512 in 9 rounds.
        let rounds = rounds.get(place).copied().unwrap_or(9);
        print!("  {:>18}", format!("{mean:.1} ({most:.1}); {rounds}"));
    }
    println!();
    Ok(())
}

const ALPHA: f64 = 5200.0;

fn homogeneous(share: f64) -> Result<Homogeneous, Box<dyn Error>> {
    Ok(Homogeneous::new(ALPHA, 1.0, 0.5)?.with_overhead(ALPHA - ALPHA * share)?)
}

/// The best consecutive tree, and that by deadline splitting with little effort.
fn shared(sizes: &BlockSizes, share: f64, root: usize) -> Result<(Tree, Tree), Box<dyn Error>> {
    let costs = Overlapping::new(ALPHA * share, ALPHA - ALPHA * share, 1.0, 0.5)?;
    let root = Root::Given(root);
    let best = optimal_within(sizes, &costs, root, 6_000_000, &())?;
    let split = deadline_tree(sizes, &costs, Class::Consecutive, root, Effort::Light)?;
    Ok((best.tree, split))
}

fn machine(share: f64) -> Result<Costs, Box<dyn Error>> {
    let level = |(name, members, alpha, beta): (&str, usize, f64, f64)| {
        let piece = Piece { from_bytes: 0, alpha, overhead: (1.0 - share) * alpha, beta };
        let links = PiecewiseLinear::new(vec![piece])?.into();
        Ok(Level { name: name.to_owned(), members, links })
    };
    let levels =
        [("node", 16, 500.0, 0.1), ("island", 8, 1500.0, 0.3), ("network", 8, 3000.0, 0.6)];
    let levels = levels.map(level).into_iter().collect::<Result<_, Box<dyn Error>>>()?;
    Ok(Costs::Hierarchical(Hierarchy::new(levels, Placement::Block, 0.05)?))
}

/// Split by the costs of the outermost level in use.
fn outermost(problem: &Problem, sizes: &BlockSizes) -> Result<Tree, Box<dyn Error>> {
    let machine = problem.costs().hierarchy().ok_or("a machine with levels")?;
    let links = &machine.levels()[2].links;
    let law = BySize {
        sizes,
        port: |bytes| links.times(bytes).1,
        latency: |bytes| links.times(bytes).0,
        copy: |bytes| machine.gamma() * bytes as f64,
    };
    Ok(deadline_tree_by_size(&law, Class::CopyFirst, problem.root(), Effort::Light)?)
}
