//! Time in which a rank plans an allgather or a reduce-scatter: `MPICC=mpicc.openmpi cargo bench -p
//! tuwtree-executor --bench planning`.
//!
//! Every rank knows all sizes, and works out by itself, in integers, the algorithm and number of pieces (as calls with
//! `auto` do), the table of pieces, and its messages in the rounds of a phase, after which others are alike. The least
//! work is without a machine; the most where latency overlaps and all links are alike, since messages are then
//! simulated. Targets: 10 ms at 512 ranks, 100 ms at 8192; a longer median of nine attempts ends the bench with an
//! error. A rank's place in the tree of a gather where latency overlaps: 10 ms at 16,384 ranks. On nodes of 16 ranks that
//! share a wire, an allgather's table and messages, and an alltoall's bundles, are those of the rank: 50 ms and 1 s.
//! Binding messages to memory needs an MPI job, and is not timed here.

use std::hint::black_box;
use std::time::{Duration, Instant};
use tuwtree_collective::nodes::rank_messages;
use tuwtree_collective::{BundleRounds, Circulation, Flow, Passing, RankRounds, RoundMessages};
use tuwtree_dp::wider::{Effort, TickLaw, deadline_place};
use tuwtree_executor::Operation;
use tuwtree_laws::machines::nodes_with_a_wire;
use tuwtree_model::document::{Date, Machine};
use tuwtree_model::{
    BlockSizes, ClosedSet, Distribution, DistributionParameters, Homogeneous, Network, Piece,
    PiecewiseLinear, Randomness, Root,
};
use tuwtree_plan::local_choice::{KnownRule, Pattern, Prices, RootlessAlgorithm, pattern};

/// Number of attempts; the median counts.
const ATTEMPTS: usize = 9;

fn main() {
    let columns = ["choice", "table", "a phase", "all"].map(|one| format!("{one:>10}")).join("  ");
    println!("{:>6}  {:>8}  {:<14}  {:<12}  {columns}", "ranks", "mean", "operation", "machine");
    let overlapping = overlapping();
    let mut is_met = true;
    for (ranks, most_milliseconds) in [(48, 10.0), (512, 10.0), (4096, 100.0), (8192, 100.0)] {
        for mean in [100, 100_000] {
            let parameters = DistributionParameters::new(ranks, mean);
            let sizes = Distribution::Spikes.sizes(parameters, Randomness::default());
            let sizes = sizes.expect("sizes are in range");
            for operation in [Operation::Allgather, Operation::ReduceScatter] {
                for machine in [None, Some(&overlapping)] {
                    let name = machine.map_or("unknown", |machine| &machine.name);
                    let case =
                        format!("{ranks:>6}  {mean:>8}  {:<14}  {name:<12}", operation.name());
                    let all = planned(&case, &sizes, operation, machine);
                    is_met &= 1e3 * all.as_secs_f64() <= most_milliseconds;
                }
            }
        }
    }
    for ranks in [64, 1024, 16_384] {
        let parameters = DistributionParameters::new(ranks, 2000);
        let sizes = Distribution::Random.sizes(parameters, Randomness::default());
        is_met &= planned_gather(&sizes.expect("sizes are in range")) <= Duration::from_millis(10);
    }
    let on_nodes = nodes_with_a_wire(MEMBERS);
    for (ranks, most_milliseconds) in [(512, 50.0), (8192, 1000.0)] {
        for mean in [8, 4096, 65_536] {
            let parameters = DistributionParameters::new(ranks, mean);
            let sizes = Distribution::Spikes.sizes(parameters, Randomness::default());
            let all = planned_on_nodes(&sizes.expect("sizes are in range"), mean, &on_nodes);
            is_met &= 1e3 * all.as_secs_f64() <= most_milliseconds;
        }
        for passing in [Passing::Digits(2), Passing::NodePairs] {
            let all = planned_bundles(ranks, passing);
            is_met &= 1e3 * all.as_secs_f64() <= most_milliseconds;
        }
    }
    assert!(is_met, "above the targets");
}

/// Ranks of a node.
const MEMBERS: usize = 16;

/// Says what a rank's place in the tree of a gather takes where latency overlaps, and returns it.
fn planned_gather(sizes: &BlockSizes) -> Duration {
    let ranks = sizes.ranks();
    let piece = Piece { from_bytes: 0, alpha: 3.5e-6, overhead: 1e-7, beta: 4.3e-11 };
    let links = PiecewiseLinear::new(vec![piece]).expect("costs").into();
    let all = median(|| {
        let law = TickLaw::new(&links, 0.0, sizes.total()).expect("costs in range");
        deadline_place(sizes, &law, Root::Given(ranks / 3), ranks / 2, Effort::Light)
    });
    let microseconds = 1e6 * all.as_secs_f64();
    println!("{ranks:>6}      2000  gather          overlapping   {microseconds:>7.0} us");
    all
}

/// Ranks of each node.
fn nodes_of(ranks: usize) -> Vec<Vec<usize>> {
    (0..ranks / MEMBERS).map(|node| (MEMBERS * node..MEMBERS * (node + 1)).collect()).collect()
}

/// Says how long a rank takes to list its bundles of an alltoall of small messages, and returns it.
fn planned_bundles(ranks: usize, passing: Passing) -> Duration {
    let nodes = nodes_of(ranks);
    let all = median(|| {
        let rounds = BundleRounds::new((ranks / 3, ranks), passing, &nodes);
        let bundles = (0..rounds.count()).map(|round| (rounds.sent(round), rounds.received(round)));
        bundles.collect::<Vec<_>>()
    });
    let (milliseconds, name) = (1e3 * all.as_secs_f64(), format!("{passing:?}"));
    println!("{ranks:>6}     small  alltoall        {name:<14}  {milliseconds:>7.3} ms");
    all
}

/// Says what planning of an allgather on nodes takes, and returns it.
fn planned_on_nodes(sizes: &BlockSizes, mean: u64, machine: &Machine) -> Duration {
    let ranks = sizes.ranks();
    let nodes = nodes_of(ranks);
    let chosen = || {
        let prices = Prices::of(machine, ranks);
        let known = (&prices, KnownRule::Unknown);
        pattern(Operation::Allgather, (sizes, 1), &nodes, RootlessAlgorithm::Auto.into(), known)
    };
    let own = || match chosen() {
        Some(Pattern::OnNodes(how)) => rank_messages((sizes, 1), &nodes, how, ranks / 3).len(),
        Some(Pattern::Rounds(circulation)) => {
            RankRounds::new(sizes, 1, ranks / 3, Flow::Spread, circulation).count()
        }
        None => 0,
    };
    let (choice, all) = (median(chosen), median(own));
    let how = chosen().map(|pattern| pattern.algorithm().name());
    let [choice, whole] = [choice, all].map(|one| 1e3 * one.as_secs_f64());
    println!(
        "{ranks:>6}  {mean:>8}  allgather       on nodes      {choice:>7.3} ms  {:<24}  {whole:>7.3} ms",
        how.unwrap_or("native"),
    );
    all
}

/// Says what the parts of planning take, and returns their sum.
fn planned(
    case: &str,
    sizes: &BlockSizes,
    operation: Operation,
    machine: Option<&Machine>,
) -> Duration {
    let ranks = sizes.ranks();
    let parts = [
        median(|| {
            let prices = machine.map_or_else(Prices::usual, |one| Prices::of(one, ranks));
            let known = (&prices, KnownRule::Unknown);
            pattern(operation, (sizes, 1), &[], RootlessAlgorithm::Auto.into(), known)
        }),
        median(|| own_rounds(sizes, ranks / 3)),
        {
            let rounds = own_rounds(sizes, ranks / 3);
            median(|| messages_of_a_phase(&rounds, ranks))
        },
    ];
    let all: Duration = parts.iter().sum();
    let times = [parts[0], parts[1], parts[2], all];
    let times = times.map(|one| format!("{:>7.3} ms", 1e3 * one.as_secs_f64())).join("  ");
    println!("{case}  {times}");
    all
}

/// A machine whose latency is five times the time that a message occupies ports.
fn overlapping() -> Machine {
    let costs = Homogeneous::new(6e-6, 1e-10, 0.0).expect("costs");
    let costs = costs.with_overhead(1e-6).expect("less than the latency");
    Machine {
        name: "overlapping".to_owned(),
        date: Date::parse("2026-01-01").expect("a date"),
        provenance: "made up for this bench".to_owned(),
        costs: costs.into(),
        network: Network::default(),
        combine_per_byte: 0.0,
    }
}

fn median<T>(work: impl Fn() -> T) -> Duration {
    let attempt = |_| {
        let started = Instant::now();
        black_box(work());
        started.elapsed()
    };
    let mut all: Vec<Duration> = (0..ATTEMPTS).map(attempt).collect();
    all.sort_unstable();
    all[ATTEMPTS / 2]
}

/// The rounds of a rank, with blocks in as many pieces as are likely, in an order that has to be found.
fn own_rounds(sizes: &BlockSizes, rank: usize) -> RankRounds {
    let pieces = Circulation::BalancedPieces(50);
    RankRounds::new(sizes, 1, rank, Flow::Spread, pieces)
}

/// The pieces of all messages of a phase in the middle.
fn messages_of_a_phase(rounds: &RankRounds, ranks: usize) -> usize {
    let phase = ranks.next_power_of_two().ilog2() as usize;
    let mut messages = RoundMessages::default();
    let middle = rounds.count() / 2;
    let pieces = (middle..middle + phase).map(|round| {
        rounds.fill(round, &mut messages);
        messages.sent.len() + messages.received.len()
    });
    pieces.sum()
}
