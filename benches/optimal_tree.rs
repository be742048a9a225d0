//! Optimal trees against the number of processors: the O(p^2) tables and the published O(p^3)
//! recurrences in the same run, tree included.
//!
//! Blocks are spikes: every fifth or so has 5000 bytes, the others one. alpha = 100, beta = gamma =
//! 1, all times in 32-bit integers.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use tuwtree_dp::{Method, Optimum, optimal, optimal_binary};
use tuwtree_model::{
    ClosedSet, Distribution, DistributionParameters, Homogeneous, Problem, Randomness, Root,
};

/// The largest p at which the cubic engine is still worth waiting for.
const MOST_PLAIN: usize = 2000;

/// Gathering the papers' spikes.
fn spikes(processors: usize) -> Problem {
    let parameters = DistributionParameters::new(processors, 1000);
    let sizes = Distribution::Spikes.sizes(parameters, Randomness::default());
    let costs = Homogeneous::new(100.0, 1.0, 1.0).expect("these are costs");
    Problem::gather(&sizes.expect("parameters in range"), costs).expect("costs for any processors")
}

/// One group: a program at growing p, by every method.
fn compare(
    criterion: &mut Criterion,
    name: &str,
    methods: &[Method],
    root: impl Fn(usize) -> Root,
    program: impl Fn(&Problem, Method) -> Optimum,
) {
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(2));
    for processors in [250, 2000, 8000] {
        let problem = spikes(processors).with_root(root(processors)).expect("in range");
        for &method in methods {
            if method == Method::Plain && processors > MOST_PLAIN {
                continue;
            }
            let id = BenchmarkId::new(method.name(), processors);
            group.bench_with_input(id, &problem, |bencher, problem| {
                bencher.iter(|| program(black_box(problem), method));
            });
        }
    }
    group.finish();
}

fn optimal_trees(criterion: &mut Criterion) {
    let (any, middle) = (|_| Root::Best, |processors| Root::Given(processors / 2));
    let tree = |problem: &Problem, method| optimal(problem, method, &()).expect("it fits");
    compare(criterion, "optimal tree, best root", Method::ALL, any, tree);
    compare(criterion, "optimal tree, given root", Method::ALL, middle, tree);
    let binary: Vec<Method> = Method::all().filter(|method| method.finds_binary_trees()).collect();
    compare(criterion, "optimal binary tree, best root", &binary, any, |problem, method| {
        optimal_binary(problem, method, &()).expect("it fits")
    });
}

criterion_group!(benches, optimal_trees);
criterion_main!(benches);
