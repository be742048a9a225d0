//! How long a rank takes to plan an allgather: `MPICC=mpicc.openmpi cargo bench -p tuwtree-executor --bench planning`.
//!
//! Every rank knows all sizes, and works out by itself, in integers, by which algorithm blocks go, and in how many pieces
//! (what calls with `auto` do), the table of pieces, and what it sends and receives in the rounds of a phase, after which
//! others are alike. What is to be met: 10 ms at 512 ranks, 100 ms at 8192; whatever takes longer ends the bench with an
//! error. Messages are bound to memory after that, which takes an MPI job, and is not timed here.

use std::hint::black_box;
use std::time::{Duration, Instant};
use tuwtree_collective::{Circulation, Flow, RankRounds, RoundMessages};
use tuwtree_executor::Operation;
use tuwtree_executor::collective::chosen_circulation;
use tuwtree_model::{BlockSizes, Distribution, DistributionParameters, Randomness};

/// Of so many attempts the shortest counts.
const ATTEMPTS: usize = 9;

fn main() {
    println!("{:>6}  {:>10}  {:>10}  {:>10}  {:>10}", "ranks", "choice", "table", "a phase", "all");
    let mut is_met = true;
    for (processors, most_milliseconds) in [(48, 10.0), (512, 10.0), (4096, 100.0), (8192, 100.0)] {
        let parameters = DistributionParameters::new(processors, 100_000);
        let sizes = Distribution::Spikes.sizes(parameters, Randomness::default());
        let sizes = sizes.expect("sizes are in range");
        let parts = [
            shortest(|| chosen_circulation(Operation::Allgather, &sizes, None)),
            shortest(|| own_rounds(&sizes, processors / 3)),
            {
                let rounds = own_rounds(&sizes, processors / 3);
                shortest(|| messages_of_a_phase(&rounds, processors))
            },
        ];
        let all: Duration = parts.iter().sum();
        is_met &= 1e3 * all.as_secs_f64() <= most_milliseconds;
        let [choice, table, own] = parts.map(|part| format!("{:.3} ms", 1e3 * part.as_secs_f64()));
        let all = format!("{:.3} ms", 1e3 * all.as_secs_f64());
        println!("{processors:>6}  {choice:>10}  {table:>10}  {own:>10}  {all:>10}");
    }
    assert!(is_met, "above 10 ms at up to 512 ranks, or 100 ms at more");
}

fn shortest<T>(work: impl Fn() -> T) -> Duration {
    let attempt = |_| {
        let started = Instant::now();
        black_box(work());
        started.elapsed()
    };
    (0..ATTEMPTS).map(attempt).min().expect("there are attempts")
}

/// The rounds of a rank, with blocks in as many pieces as are likely.
fn own_rounds(sizes: &BlockSizes, rank: usize) -> RankRounds {
    let pieces = Circulation::Pieces(50);
    RankRounds::new(sizes.clone(), 1, rank, Flow::Spread, pieces)
}

/// The pieces of all messages of a phase in the middle.
fn messages_of_a_phase(rounds: &RankRounds, processors: usize) -> usize {
    let phase = processors.next_power_of_two().ilog2() as usize;
    let mut messages = RoundMessages::default();
    let middle = rounds.count() / 2;
    let pieces = (middle..middle + phase).map(|round| {
        rounds.fill(round, &mut messages);
        messages.sent.len() + messages.received.len()
    });
    pieces.sum()
}
