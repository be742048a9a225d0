//! Optimal trees against the number of processors: the O(p^2) tables and the published O(p^3)
//! recurrences in the same run, tree included.
//!
//! Blocks are spikes: every fifth or so has 5000 bytes, the others one. alpha = 100, beta = gamma =
//! 1, all times in 32-bit integers.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use tuwtree_dp::{Method, Optimum, optimal, optimal_binary};
use tuwtree_model::{BlockSizes, Distribution, Homogeneous, Randomness, Root, Scale};

/// The largest p at which the cubic engine is still worth waiting for.
const MOST_PLAIN: usize = 2000;

/// The papers' spikes.
fn spikes(processors: usize) -> BlockSizes {
    let scale = Scale { processors, mean_block: 1000, rho: 5 };
    Distribution::Spikes.sizes(scale, Randomness::default()).expect("parameters in range")
}

/// One group: a program at growing p, by every method.
fn compare(
    criterion: &mut Criterion,
    name: &str,
    methods: &[Method],
    program: impl Fn(&BlockSizes, Method) -> Optimum,
) {
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(2));
    for processors in [250, 2000, 8000] {
        let sizes = spikes(processors);
        for &method in methods {
            if method == Method::Plain && processors > MOST_PLAIN {
                continue;
            }
            let id = BenchmarkId::new(method.name(), processors);
            group.bench_with_input(id, &sizes, |bencher, sizes| {
                bencher.iter(|| program(black_box(sizes), method));
            });
        }
    }
    group.finish();
}

fn optimal_trees(criterion: &mut Criterion) {
    let costs = Homogeneous::new(100.0, 1.0, 1.0).expect("these are costs");
    compare(criterion, "optimal tree, best root", &Method::ALL, |sizes, method| {
        optimal(sizes, &costs, Root::Best, method).expect("it fits")
    });
    compare(criterion, "optimal tree, given root", &Method::ALL, |sizes, method| {
        let root = Root::Given(sizes.processors() / 2);
        optimal(sizes, &costs, root, method).expect("it fits")
    });
    compare(criterion, "optimal binary tree, best root", &Method::BINARY, |sizes, method| {
        optimal_binary(sizes, &costs, Root::Best, method).expect("it fits")
    });
}

criterion_group!(benches, optimal_trees);
criterion_main!(benches);
