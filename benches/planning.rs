//! How long a rank takes to plan an allgather in pieces: `cargo bench --bench planning`.
//!
//! Every rank knows all sizes, and works out by itself how many pieces are best by the closed bound, the table of
//! pieces, and what it sends and receives in the rounds of a phase, after which others are alike. What is to be met:
//! 10 ms at 512 ranks, 100 ms at 8192. The executor searches for the number of pieces in integers, and binds messages
//! to memory: that is not timed here.

use std::hint::black_box;
use std::time::{Duration, Instant};
use tuwtree_collective::{Circulation, Flow, RankRounds, RoundMessages, likely_pieces};
use tuwtree_model::{
    BlockSizes, Distribution, DistributionParameters, Homogeneous, Operator, Randomness,
};

/// Of so many attempts the shortest counts.
const ATTEMPTS: usize = 9;

fn main() {
    let costs = Homogeneous::new(100.0, 1.0, 0.0).expect("costs are numbers");
    println!("{:>6}  {:>10}  {:>10}  {:>10}  {:>10}", "ranks", "pieces", "table", "a phase", "all");
    for processors in [48, 512, 4096, 8192] {
        let parameters = DistributionParameters::new(processors, 1000);
        let sizes = Distribution::Spikes.sizes(parameters, Randomness::default());
        let sizes = sizes.expect("sizes are in range");
        let parts = [
            shortest(|| likely_pieces(&sizes, &costs, Operator::FREE)),
            shortest(|| own_rounds(&sizes, processors / 3)),
            {
                let rounds = own_rounds(&sizes, processors / 3);
                shortest(|| messages_of_a_phase(&rounds, processors))
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
