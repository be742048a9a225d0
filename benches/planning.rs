//! How long a rank takes to plan an allgather in pieces: `cargo bench --bench planning`.
//!
//! Every rank knows all sizes, and works out by itself how many pieces are best by the closed bound, the table of
//! pieces, and which piece of each block it sends and receives in the rounds of a phase. What is to be met: 10 ms at
//! 512 ranks, 100 ms at 8192.

use std::hint::black_box;
use std::time::{Duration, Instant};
use tuwtree_collective::{PieceTable, likely_pieces};
use tuwtree_model::{
    BlockSizes, Distribution, DistributionParameters, Homogeneous, Operator, Randomness,
};

/// Of so many attempts the shortest counts.
const ATTEMPTS: usize = 9;

fn main() {
    let costs = Homogeneous::new(100.0, 1.0, 0.0).expect("costs are numbers");
    println!(
        "{:>6}  {:>10}  {:>10}  {:>10}  {:>10}",
        "ranks", "pieces", "table", "own part", "all"
    );
    for processors in [48, 512, 4096, 8192] {
        let parameters = DistributionParameters::new(processors, 1000);
        let sizes = Distribution::Spikes.sizes(parameters, Randomness::default());
        let sizes = sizes.expect("sizes are in range");
        let parts = [
            shortest(|| likely_pieces(&sizes, &costs, Operator::FREE)),
            shortest(|| PieceTable::new(processors)),
            {
                let table = PieceTable::new(processors);
                shortest(|| own_part(&table, &sizes, processors / 3))
            },
        ];
        let all: Duration = parts.iter().sum();
        let [pieces, table, own] = parts.map(|part| format!("{:.3} ms", 1e3 * part.as_secs_f64()));
        let all = format!("{:.3} ms", 1e3 * all.as_secs_f64());
        println!("{processors:>6}  {pieces:>10}  {table:>10}  {own:>10}  {all:>10}");
    }
}

fn shortest<T>(work: impl Fn() -> T) -> Duration {
    let attempt = |_| {
        let started = Instant::now();
        black_box(work());
        started.elapsed()
    };
    (0..ATTEMPTS).map(attempt).min().expect("there are attempts")
}

/// For each round of a phase and each block the pieces that a rank sends and receives.
fn own_part(table: &PieceTable, sizes: &BlockSizes, rank: usize) -> Vec<(i32, i32)> {
    let p = sizes.processors();
    let roots = (0..p).filter(|&root| sizes.block(root) > 0);
    let distances: Vec<usize> = roots.map(|root| (rank + p - root) % p).collect();
    (0..table.rounds())
        .flat_map(|round| {
            let pieces =
                |&distance: &usize| (table.sent(distance, round), table.received(distance)[round]);
            distances.iter().map(pieces).collect::<Vec<_>>()
        })
        .collect()
}
