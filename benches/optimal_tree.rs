//! Optimal trees against the number of ranks: the O(p^2) tables and the published O(p^3)
//! recurrences in the same run, tree included.
//!
//! Blocks are spikes: every fifth or so has 5000 bytes, the others one. alpha = 100, beta = gamma =
//! 1, all times in 32-bit integers. And consecutive trees at costs by size, by both engines.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use tuwtree_dp::wider::{Class, LawBySize, optimal_by_size, optimal_on_links};
use tuwtree_dp::{Method, Optimum, optimal_adjacent, optimal_binary};
use tuwtree_model::{
    ClosedSet, Distribution, DistributionParameters, Hierarchy, Homogeneous, Level, LinkLaw, Piece,
    PiecewiseLinear, Placement, Problem, Randomness, Root,
};

/// The largest p at which the cubic engine is still worth waiting for.
const MOST_PLAIN: usize = 2000;

/// Gathering the papers' spikes.
fn spikes(ranks: usize) -> Problem {
    let parameters = DistributionParameters::new(ranks, 1000);
    let sizes = Distribution::Spikes.sizes(parameters, Randomness::default());
    let costs = Homogeneous::new(100.0, 1.0, 1.0).expect("these are costs");
    Problem::gather(&sizes.expect("parameters in range"), costs).expect("costs for any ranks")
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
    for ranks in [250, 2000, 8000] {
        let problem = spikes(ranks).with_root(root(ranks)).expect("in range");
        for &method in methods {
            if method == Method::Plain && ranks > MOST_PLAIN {
                continue;
            }
            let id = BenchmarkId::new(method.name(), ranks);
            group.bench_with_input(id, &problem, |bencher, problem| {
                bencher.iter(|| program(black_box(problem), method));
            });
        }
    }
    group.finish();
}

fn optimal_trees(criterion: &mut Criterion) {
    let (any, middle) = (|_| Root::Best, |ranks| Root::Given(ranks / 2));
    let tree = |problem: &Problem, method| optimal_adjacent(problem, method, &()).expect("it fits");
    compare(criterion, "optimal tree, best root", Method::ALL, any, tree);
    compare(criterion, "optimal tree, given root", Method::ALL, middle, tree);
    let binary: Vec<Method> = Method::all().filter(|method| method.finds_binary_trees()).collect();
    compare(criterion, "optimal binary tree, best root", &binary, any, |problem, method| {
        optimal_binary(problem, method, &()).expect("it fits")
    });
}

/// Consecutive trees at costs by size: with windows for each piece, and split by split.
fn consecutive_trees(criterion: &mut Criterion) {
    let piece = |(from_bytes, overhead, beta): (u64, f64, f64)| Piece {
        from_bytes,
        alpha: 100.0 + overhead,
        overhead,
        beta,
    };
    let pieces = [(0, 50.0, 1.5), (2048, 300.0, 1.4), (65_536, 7000.0, 1.3)].map(piece);
    let links: LinkLaw = PiecewiseLinear::new(pieces.into()).expect("these are costs").into();
    let mut group = criterion.benchmark_group("consecutive tree at costs by size, given root");
    group.sample_size(10).warm_up_time(Duration::from_millis(200));
    for ranks in [250, 1000] {
        let name = "network".to_owned();
        let level = Level { name, members: ranks, links: links.clone() };
        let machine = Hierarchy::new(vec![level], Placement::Block, 0.0).expect("one level");
        let blocks = spikes(ranks);
        let sizes = blocks.blocks().expect("spikes are blocks");
        let problem = Problem::gather(sizes, &machine).expect("costs for as many");
        let problem = problem.with_root(Root::Given(ranks / 2)).expect("in range");
        let class = Class::Consecutive;
        group.bench_with_input(BenchmarkId::new("dense", ranks), &problem, |bencher, problem| {
            bencher.iter(|| {
                optimal_on_links(black_box(problem), class, u64::MAX, &()).expect("it fits")
            });
        });
        if ranks > 250 {
            continue;
        }
        group.bench_with_input(BenchmarkId::new("plain", ranks), &problem, |bencher, problem| {
            let law = LawBySize::shared(problem, sizes);
            bencher.iter(|| {
                optimal_by_size(black_box(&law), class, problem.root(), &()).expect("it fits")
            });
        });
    }
    group.finish();
}

criterion_group!(benches, optimal_trees, consecutive_trees);
criterion_main!(benches);
