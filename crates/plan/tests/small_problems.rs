//! Recommendations for a few ranks where latency overlaps, against all trees by the judge.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tuwtree_laws::all_trees::{all_trees, has_root};
use tuwtree_laws::{machines, problems};
use tuwtree_model::{Costs, Network, Order, Problem, StatedCosts, judged_time, unpack_time};
use tuwtree_plan::{Effort, Optimality, Request, Settings, compare};

/// Homogeneous costs, levels and tables by size, eager limits, and nodes with a wire.
fn costs(ranks: usize) -> impl Strategy<Value = StatedCosts> {
    let homogeneous = problems::overlapping_costs().prop_map(Costs::from);
    let linear = machines::overlapping_hierarchy(ranks).prop_map(Costs::Hierarchical);
    let by_size = machines::measured_hierarchy(ranks).prop_map(Costs::Hierarchical);
    let costs = prop_oneof![homogeneous, linear, by_size];
    prop_oneof![
        4 => (machines::networks(), costs).prop_map(|(network, costs)| machines::on(Network { window: None, ..network }, costs)),
        1 => (1..4_usize).prop_map(|members| machines::nodes_with_a_wire(members).into()),
    ]
}

fn problem(most_ranks: usize) -> impl Strategy<Value = Problem> {
    let sizes = problems::sizes(most_ranks);
    let with_costs = sizes.prop_flat_map(|sizes| (costs(sizes.ranks()), Just(sizes)));
    (with_costs, any::<bool>(), proptest::option::of(0..most_ranks)).prop_map(
        |((costs, sizes), scatters, root)| {
            let root = problems::root_of(root, &sizes);
            let problem = &problems::irregular(&sizes, costs)[usize::from(scatters)];
            problems::rooted(problem, root)
        },
    )
}

/// Time of the fastest tree over the best tree's, and the same of the recommended tree with unpacking; bounds and sentences
/// hold for all trees.
fn over_the_best(problem: &Problem) -> [f64; 2] {
    let settings = Settings { order: Order::Any, ..Settings::DEFAULT };
    let request = Request::new(problem, settings, &());
    let wanted = request.suitable(Order::Any, Effort::Moderate);
    let comparison = compare(&request, &wanted, false).unwrap();
    let (mut least, mut best) = (f64::INFINITY, f64::INFINITY);
    for tree in all_trees(problem.ranks()).iter().filter(|tree| has_root(tree, problem.root())) {
        let time = judged_time(tree, problem).unwrap().units();
        least = least.min(time);
        best = best.min(time + unpack_time(tree, problem).unwrap().units());
    }
    assert!(comparison.bound.units() <= least * (1.0 + 1e-8), "{least}: {problem:?}");
    for outcome in &comparison.outcomes {
        let is_best = comparison.optimality(outcome) == Some(Optimality::AmongAll);
        let time = outcome.time().units();
        assert!(!is_best || time <= least * (1.0 + 1e-8), "{time}, {least}: {problem:?}");
    }
    let fastest = comparison.outcomes.iter().map(|one| one.time().units());
    let ratio = |time: f64, best: f64| if best > 0.0 { time / best } else { 1.0 };
    let fastest = ratio(fastest.fold(f64::INFINITY, f64::min), least);
    [fastest, ratio(comparison.recommended().unpacked.units(), best)]
}

#[test]
fn recommendations_come_near_the_best_of_all_trees() {
    let mut runner = TestRunner::deterministic();
    for (most_ranks, count) in [(4, 1000), (5, 20)] {
        let drawn = std::iter::repeat_with(|| problem(most_ranks).new_tree(&mut runner).unwrap());
        let problems = drawn.map(|one| one.current()).filter(|one| one.costs().overlaps());
        let ratios: Vec<_> = problems.take(count).map(|one| over_the_best(&one)).collect();
        // A tree that needs no unpacking may be missed.
        for (kind, most) in [(0, 1.2), (1, 1.35)] {
            let of_kind = || ratios.iter().map(|both| both[kind]);
            let mean = of_kind().sum::<f64>() / count as f64;
            let worst = of_kind().fold(0.0, f64::max);
            println!("{most_ranks} ranks: mean {mean}, worst {worst}");
            assert!(mean < 1.005 && worst < most, "{most_ranks} ranks: {mean}, {worst}");
        }
    }
}
