//! The constructions without search at p = 2000 and 1,000,000, with a given and a chosen root, and
//! the completion time that judges them.
//!
//! Blocks are the papers' random ones; alpha = 100, beta = gamma = 1. Near-linear means: a million
//! ranks take some 500 times as long as two thousand.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use tuwtree_model::{
    ClosedSet, Distribution, DistributionParameters, Homogeneous, Problem, Randomness, Root,
    completion_time,
};
use tuwtree_treegen::{AdaptiveRule, adaptive, linear, oblivious};

/// Gathering the papers' random blocks.
fn random(ranks: usize) -> Problem {
    let parameters = DistributionParameters::new(ranks, 1000);
    let sizes = Distribution::Random.sizes(parameters, Randomness::default());
    let costs = Homogeneous::new(100.0, 1.0, 1.0).expect("these are costs");
    Problem::gather(&sizes.expect("parameters in range"), costs).expect("costs for any ranks")
}

/// Benchmarks a function of the problem at both sizes, with any root.
fn at_both_sizes<T>(criterion: &mut Criterion, name: &str, build: impl Fn(&Problem) -> T) {
    with_root(criterion, name, |_| Root::Best, build);
}

/// The problem, with this root among this many ranks.
fn with_root<T>(
    criterion: &mut Criterion,
    name: &str,
    root: impl Fn(usize) -> Root,
    build: impl Fn(&Problem) -> T,
) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10);
    for ranks in [2000, 1_000_000] {
        let problem = random(ranks).with_root(root(ranks)).expect("in range");
        group.bench_with_input(BenchmarkId::from_parameter(ranks), &problem, |bencher, problem| {
            bencher.iter(|| build(black_box(problem)));
        });
    }
    group.finish();
}

fn constructions(criterion: &mut Criterion) {
    let middle = |ranks| Root::Given(ranks / 2);
    let star = |problem: &Problem| linear(problem).expect("exact times");
    let binomial = |problem: &Problem| oblivious(problem).expect("exact times");
    with_root(criterion, "linear, given root", middle, star);
    at_both_sizes(criterion, "linear, best root", star);
    with_root(criterion, "oblivious, given root", middle, binomial);
    at_both_sizes(criterion, "oblivious, best root", binomial);
    for rule in AdaptiveRule::all() {
        at_both_sizes(criterion, &format!("adaptive by {}, its root", rule.name()), |problem| {
            adaptive(problem, rule).expect("exact times")
        });
    }
    at_both_sizes(criterion, "completion time of the adaptive tree, built anew", |problem| {
        let tree = adaptive(problem, AdaptiveRule::DataSize).expect("data decides, no times");
        completion_time(&tree, problem).expect("exact times")
    });
}

criterion_group!(benches, constructions);
criterion_main!(benches);
