//! Two clocks that know nothing of each other: the recursion on trees and the simulation of schedules.

use proptest::prelude::*;
use tuwtree_dp::{default_method, optimal};
use tuwtree_laws::problems::{
    costs, gather, homogeneous, irregular, of_each_operation, rooted, sizes,
};
use tuwtree_laws::random_trees::trees;
use tuwtree_model::{
    ClosedSet, Collective, CostMatrix, Distribution, DistributionParameters, Problem, Randomness,
    Rank, Root, Time, Tree, Vector, completion, completion_time,
};
use tuwtree_schedule::{Schedule, Sends, Timeline, simulate};
use tuwtree_treegen::{AdaptiveRule, adaptive, linear};

fn timeline(tree: &Tree, problem: &Problem, sends: Sends) -> Timeline {
    simulate(&Schedule::of_tree(tree, problem).unwrap(), problem.costs(), sends).unwrap()
}

/// Integer costs for each ordered pair of processors.
fn random_costs(processors: usize, seed: u64) -> CostMatrix {
    let cost = |one: Rank, other: Rank, most: u64| {
        let mixed =
            (seed ^ (one as u64 * 1_000_003 + other as u64)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((mixed >> 33) % most) as f64
    };
    CostMatrix::from_fn(
        processors,
        |sender, receiver| cost(sender, receiver, 100),
        |sender, receiver| cost(receiver + 1000, sender, 5),
        |rank| cost(rank, rank, 4),
    )
    .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn gather_and_scatter_take_the_trees_completion_time(
        (tree, sizes) in trees(sizes(40)), costs in costs(),
    ) {
        let expected = completion_time(&tree, &gather(&sizes, costs, Root::Best)).unwrap();
        for problem in irregular(&sizes, costs) {
            let timeline = timeline(&tree, &problem, Sends::Synchronous);
            prop_assert_eq!(timeline.completion_time(), expected);
        }
    }

    #[test]
    fn a_tree_takes_its_completion_time_under_costs_of_each_pair(
        (tree, sizes) in trees(sizes(20)), seed: u64,
    ) {
        let costs = random_costs(tree.processors(), seed);
        for problem in of_each_operation(&sizes, 1 + seed % 100, &costs) {
            let expected = completion_time(&tree, &problem).unwrap();
            let schedule = Schedule::without_costs(&tree, problem.collective()).unwrap();
            let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
            prop_assert_eq!(timeline.completion_time(), expected);
        }
    }

    #[test]
    fn each_segment_is_sent_when_the_recursion_says(
        (tree, sizes) in trees(sizes(40)), costs in costs(),
    ) {
        let problem = gather(&sizes, costs, Root::Best);
        let completion = completion(&tree, &problem).unwrap();
        let timeline = timeline(&tree, &problem, Sends::Synchronous);
        for rank in 0..tree.processors() {
            if tree.parent(rank).is_some() && completion.segment[rank] > 0 {
                let times = timeline.actions(rank).last().expect("it sends at last");
                prop_assert_eq!(times.ready, completion.ready[rank]);
                prop_assert_eq!((times.start, times.end), completion.sent[rank]);
            }
        }
    }

    #[test]
    fn a_tree_gains_nothing_by_eager_sends(
        (tree, sizes) in trees(sizes(40)), costs in costs(),
    ) {
        for problem in irregular(&sizes, costs) {
            let [synchronous, eager] = [Sends::Synchronous, Sends::Eager]
                .map(|sends| timeline(&tree, &problem, sends));
            prop_assert_eq!(synchronous.completion_time(), eager.completion_time());
        }
    }

    #[test]
    fn the_critical_path_leads_without_a_gap_from_the_start_to_the_end(
        (tree, sizes) in trees(sizes(40)), costs in costs(),
    ) {
        for problem in irregular(&sizes, costs) {
            let timeline = timeline(&tree, &problem, Sends::Synchronous);
            let mut time = Time::ZERO;
            for step in timeline.critical_path() {
                prop_assert_eq!(step.start, time);
                time = step.end;
            }
            prop_assert_eq!(time, timeline.completion_time());
        }
    }

    #[test]
    fn a_reduction_takes_as_long_as_a_broadcast_along_the_same_tree(
        (tree, _) in trees(sizes(40)), costs in costs(), bytes in 0..1000_u64,
    ) {
        let vector = Vector { processors: tree.processors(), bytes };
        let time = |collective| {
            let schedule = Schedule::without_costs(&tree, &collective).unwrap();
            simulate(&schedule, &costs, Sends::Synchronous).unwrap().completion_time()
        };
        prop_assert_eq!(time(Collective::broadcast(vector)), time(Collective::reduce(vector)));
    }
}

#[test]
fn constructed_and_optimal_trees_of_all_distributions_take_their_times() {
    let parameters = DistributionParameters::new(2000, 1000);
    for distribution in Distribution::all() {
        let sizes = distribution.sizes(parameters, Randomness::Glibc { seed: 1 }).unwrap();
        let [gather, scatter] = irregular(&sizes, homogeneous(100, 1, 1));
        let given = |root| rooted(&gather, Root::Given(root));
        let optimum = optimal(&given(1000), default_method(&gather), &()).unwrap();
        let adaptive = adaptive(&gather, AdaptiveRule::CompletionTime).unwrap();
        for tree in [linear(&given(7)).unwrap(), adaptive, optimum.tree] {
            let expected = completion_time(&tree, &gather).unwrap();
            for problem in [&gather, &scatter] {
                let timeline = timeline(&tree, problem, Sends::Synchronous);
                assert_eq!(timeline.completion_time(), expected, "{}", distribution.name());
            }
        }
    }
}
