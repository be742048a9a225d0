//! Optimal ordered trees where each pair of ranks has costs of its own: the lower envelopes
//! against the published recurrence in the same run, tree included.
//!
//! Blocks of up to 2000 bytes. Costs of three kinds: every pair its own (`random`), three levels of
//! nearness (`hierarchical`), the same everywhere (`equal`).

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use tuwtree_dp::{PairMethod, optimal_binary_per_pair, optimal_per_pair};
use tuwtree_model::{BlockSizes, ClosedSet, CostMatrix, Problem};

/// The largest p at which the recurrence as written is still worth waiting for.
const MOST_PLAIN: usize = 100;

/// A linear congruential generator's step.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Numbers below `bound`, the same in each run.
fn draws(count: usize, bound: u64) -> Vec<u64> {
    let mut state = count as u64;
    (0..count).map(|_| next(&mut state) % bound).collect()
}

/// The kinds of costs.
fn matrices(p: usize) -> [(&'static str, CostMatrix); 3] {
    let draws = draws(p * p, 1000);
    let level = |sender: usize, receiver: usize| {
        usize::from(sender / 16 != receiver / 16) + usize::from(sender / 64 != receiver / 64)
    };
    let random = CostMatrix::from_fn(
        p,
        |sender, receiver| 100.0 + draws[sender * p + receiver] as f64,
        |sender, receiver| 1.0 + (draws[receiver * p + sender] / 250) as f64,
        |_| 1.0,
    );
    let hierarchical = CostMatrix::from_fn(
        p,
        |sender, receiver| [50.0, 200.0, 1000.0][level(sender, receiver)],
        |sender, receiver| [1.0, 2.0, 4.0][level(sender, receiver)],
        |_| 1.0,
    );
    let equal = CostMatrix::from_fn(p, |_, _| 100.0, |_, _| 1.0, |_| 1.0);
    [("random", random), ("hierarchical", hierarchical), ("equal", equal)]
        .map(|(name, costs)| (name, costs.expect("these are costs")))
}

fn per_pair(criterion: &mut Criterion) {
    for ranks in [32, 64, 100, 200] {
        let sizes = BlockSizes::new(draws(ranks, 2000)).expect("small sizes");
        for (name, costs) in matrices(ranks) {
            let problem = Problem::gather(&sizes, &costs).expect("costs for as many ranks");
            let mut group = criterion.benchmark_group(format!("per pair, {name}"));
            group
                .sample_size(10)
                .warm_up_time(Duration::from_millis(200))
                .measurement_time(Duration::from_secs(2));
            for method in PairMethod::all() {
                if method == PairMethod::Plain && ranks > MOST_PLAIN {
                    continue;
                }
                let id = BenchmarkId::new(method.name(), ranks);
                group.bench_function(id, |bencher| {
                    bencher.iter(|| {
                        optimal_per_pair(black_box(&problem), method, &()).expect("there are links")
                    });
                });
            }
            group.bench_function(BenchmarkId::new("binary", ranks), |bencher| {
                bencher.iter(|| {
                    optimal_binary_per_pair(black_box(&problem), &()).expect("there are links")
                });
            });
            group.finish();
        }
    }
}

criterion_group!(benches, per_pair);
criterion_main!(benches);
