//! The constructions without search at p = 2000 and 1,000,000, with a given and a chosen root, and
//! the completion time that judges them.
//!
//! Blocks are the papers' random ones; alpha = 100, beta = gamma = 1. Near-linear means: a million
//! processors take some 500 times as long as two thousand.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use tuwtree_model::{
    BlockSizes, Distribution, Homogeneous, Randomness, Root, Scale, Tree, completion_time,
};
use tuwtree_treegen::{
    AdaptiveRule, adaptive, best_root, linear, linear_times, oblivious, oblivious_times,
};

fn random(processors: usize) -> BlockSizes {
    let scale = Scale { processors, mean_block: 1000, rho: 5 };
    Distribution::Random.sizes(scale, Randomness::default()).expect("parameters in range")
}

/// Benchmarks a function of the blocks at both sizes.
fn at_both_sizes<T>(criterion: &mut Criterion, name: &str, build: impl Fn(&BlockSizes) -> T) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10);
    for processors in [2000, 1_000_000] {
        let sizes = random(processors);
        group.bench_with_input(
            BenchmarkId::from_parameter(processors),
            &sizes,
            |bencher, sizes| {
                bencher.iter(|| build(black_box(sizes)));
            },
        );
    }
    group.finish();
}

fn constructions(criterion: &mut Criterion) {
    let costs = Homogeneous::new(100.0, 1.0, 1.0).expect("these are costs");
    let middle = |sizes: &BlockSizes| sizes.processors() / 2;
    let star = |sizes: &BlockSizes, root| linear(sizes.processors(), root).expect("in range");
    let binomial =
        |sizes: &BlockSizes, root| oblivious(sizes.processors(), root).expect("in range");
    at_both_sizes(criterion, "linear, given root", |sizes| star(sizes, middle(sizes)));
    at_both_sizes(criterion, "linear, best root", |sizes| {
        star(sizes, best_root(&linear_times(sizes, &costs).expect("exact times")))
    });
    at_both_sizes(criterion, "oblivious, given root", |sizes| binomial(sizes, middle(sizes)));
    at_both_sizes(criterion, "oblivious, best root", |sizes| {
        binomial(sizes, best_root(&oblivious_times(sizes, &costs).expect("exact times")))
    });
    for rule in AdaptiveRule::ALL {
        at_both_sizes(criterion, &format!("adaptive by {}, its root", rule.name()), |sizes| {
            adaptive(sizes, &costs, Root::Best, rule).expect("exact times")
        });
    }
    at_both_sizes(criterion, "completion time of the adaptive tree, built anew", |sizes| {
        let tree: Tree = adaptive(sizes, &costs, Root::Best, AdaptiveRule::DataSize)
            .expect("data decides, no times");
        completion_time(&tree, sizes, &costs).expect("exact times")
    });
}

criterion_group!(benches, constructions);
criterion_main!(benches);
