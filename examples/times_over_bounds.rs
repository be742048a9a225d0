//! How far algorithms for allgather and reduce-scatter are from the lower bound where blocks differ: what MPI
//! libraries use, and what can be had.
//!
//! `cargo run --release --example times_over_bounds` prints the tables of `docs/collectives.md`, in a minute or two.

use std::error::Error;
use tuwtree_bounds::best_lower_bound;
use tuwtree_collective::reduce_scatter::{self, halving, pairwise_outline};
use tuwtree_collective::{
    CollectiveError, bruck, circulant, likely_pieces, recursive_doubling, ring_in_chunks_time,
    ring_outline, time_in_pieces_at_most,
};
use tuwtree_model::{
    BlockSizes, ClosedSet, Distribution, DistributionParameters, Homogeneous, Operation, Operator,
    Problem, Randomness,
};
use tuwtree_schedule::{Schedule, Sends, simulate};

/// Start-ups cost as much as so many bytes.
const ALPHA: f64 = 100.0;
/// The chunks of MPICH's ring.
const CHUNK_BYTES: u64 = 32_768;
/// By name, and one block as large as all others would be.
const SHAPES: [CaseShape; 6] = [
    CaseShape::Law(Distribution::Same),
    CaseShape::Law(Distribution::Random),
    CaseShape::Law(Distribution::Increasing),
    CaseShape::Law(Distribution::Spikes),
    CaseShape::Law(Distribution::Skewed),
    CaseShape::OneLarge,
];

#[derive(Clone, Copy)]
enum CaseShape {
    Law(Distribution),
    OneLarge,
}

impl CaseShape {
    fn name(self) -> &'static str {
        match self {
            CaseShape::Law(distribution) => distribution.name(),
            CaseShape::OneLarge => "one large",
        }
    }

    fn sizes(self, ranks: usize, mean: u64) -> Result<BlockSizes, Box<dyn Error>> {
        Ok(match self {
            CaseShape::Law(distribution) => distribution
                .sizes(DistributionParameters::new(ranks, mean), Randomness::default())?,
            CaseShape::OneLarge => {
                let block = |rank| if rank == ranks / 3 { ranks as u64 * mean } else { 1 };
                BlockSizes::new((0..ranks).map(block))?
            }
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("Allgather\n");
    println!(
        "| p | mean block | sizes | `ring` | `ring-chunks` | `recursive-doubling` | `bruck` | `circulant` | MPICH | `circulant-pieces` at most | pieces |"
    );
    println!("|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for_all(allgather)?;
    println!("\nReduce-scatter\n");
    println!(
        "| p | mean block | sizes | `pairwise` | `halving` | `circulant` | MPICH | `circulant-pieces` at most | pieces |"
    );
    println!("|---:|---:|---|---:|---:|---:|---:|---:|---:|");
    for_all(reduce_scattered)
}

fn for_all(
    row: impl Fn(usize, u64, CaseShape) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    for ranks in [48, 512, 4096] {
        for mean in [10, 1_000, 100_000] {
            for shape in SHAPES {
                row(ranks, mean, shape)?;
            }
        }
    }
    Ok(())
}

/// The time of a schedule.
fn of(
    build: fn(&Problem) -> Result<Schedule, CollectiveError>,
    problem: &Problem,
) -> Result<f64, Box<dyn Error>> {
    let timeline = simulate(&build(problem)?, problem.costs(), Sends::Synchronous)?;
    Ok(timeline.completion_time().units())
}

fn costs() -> Homogeneous {
    Homogeneous::new(ALPHA, 1.0, 0.0).expect("costs are numbers of at least 0")
}

/// One row: times over the lower bound, and the number of pieces.
fn print(ranks: usize, mean: u64, shape: CaseShape, factors: &[f64], pieces: usize) {
    let cells: Vec<String> = factors.iter().map(|factor| format!("{factor:.2}")).collect();
    println!("| {ranks} | {mean} | {} | {} | {pieces} |", shape.name(), cells.join(" | "));
}

fn allgather(ranks: usize, mean: u64, shape: CaseShape) -> Result<(), Box<dyn Error>> {
    let sizes = shape.sizes(ranks, mean)?;
    let problem = Problem::allgather(&sizes, costs())?;
    let bound = best_lower_bound(&problem)?.units();
    let ring = ring_outline(&problem)?.time.units();
    let chunks = ring_in_chunks_time(&problem, CHUNK_BYTES)?.units();
    let doubling = of(recursive_doubling, &problem)?;
    let of_bruck = of(bruck, &problem)?;
    // By all data together: what MPICH chooses.
    let library = match (ranks.is_power_of_two(), sizes.total()) {
        (true, ..524_288) => doubling,
        (false, ..81_920) => of_bruck,
        _ => chunks,
    };
    let pieces = likely_pieces(&sizes, &costs(), Operator::FREE);
    let most = time_in_pieces_at_most(&sizes, &costs(), Operator::FREE, pieces);
    let times = [ring, chunks, doubling, of_bruck, of(circulant, &problem)?, library, most];
    print(ranks, mean, shape, &times.map(|time| time / bound), pieces);
    Ok(())
}

fn reduce_scattered(ranks: usize, mean: u64, shape: CaseShape) -> Result<(), Box<dyn Error>> {
    let sizes = shape.sizes(ranks, mean)?;
    let problem = Problem::new(Operation::ReduceScatter, sizes.clone(), costs())?;
    let bound = best_lower_bound(&problem)?.units();
    let pairwise = pairwise_outline(&problem)?.time.units();
    let halved = of(halving, &problem)?;
    let library = if sizes.total() < 524_288 { halved } else { pairwise };
    let pieces = likely_pieces(&sizes, &costs(), Operator::FREE);
    let most = time_in_pieces_at_most(&sizes, &costs(), Operator::FREE, pieces);
    let times = [pairwise, halved, of(reduce_scatter::circulant, &problem)?, library, most];
    print(ranks, mean, shape, &times.map(|time| time / bound), pieces);
    Ok(())
}
