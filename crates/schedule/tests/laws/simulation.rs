//! Two clocks that know nothing of each other: the recursion on trees and the simulation of schedules.

use proptest::prelude::*;
use tuwtree_dp::{default_method, optimal};
use tuwtree_laws::problems::{costs, homogeneous, sizes};
use tuwtree_laws::random_trees::trees;
use tuwtree_model::{
    BlockSizes, Collective, CostMatrix, Distribution, Homogeneous, Operation, Randomness, Rank,
    Root, Scale, Time, Tree, Vector, completion, completion_time,
};
use tuwtree_schedule::{Payload, Schedule, Sends, Timeline, simulate};
use tuwtree_treegen::{AdaptiveRule, adaptive, linear};

fn timeline(
    tree: &Tree,
    operation: Operation,
    sizes: &BlockSizes,
    costs: &Homogeneous,
    sends: Sends,
) -> Timeline {
    let payload = Payload::Blocks(sizes.clone());
    let schedule = Schedule::of_tree(tree, operation, payload, Some((*costs).into())).unwrap();
    simulate(&schedule, costs, sends).unwrap()
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
        let expected = completion_time(&tree, &sizes, &costs).unwrap();
        for operation in Operation::IRREGULAR {
            let timeline = timeline(&tree, operation, &sizes, &costs, Sends::Synchronous);
            prop_assert_eq!(timeline.completion_time(), expected);
        }
    }

    #[test]
    fn a_tree_takes_its_completion_time_under_costs_of_each_pair(
        (tree, sizes) in trees(sizes(20)), seed: u64,
    ) {
        let costs = random_costs(tree.processors(), seed);
        let vector = Vector { processors: tree.processors(), bytes: 1 + seed % 100 };
        let of_vector = || Payload::Vector(vector);
        let of_blocks = || Payload::Blocks(sizes.clone());
        for (problem, payload) in [
            (Collective::Gather(&sizes), of_blocks()),
            (Collective::Scatter(&sizes), of_blocks()),
            (Collective::Broadcast(vector), of_vector()),
            (Collective::Reduce(vector), of_vector()),
        ] {
            let expected = completion_time(&tree, problem, &costs).unwrap();
            let schedule = Schedule::of_tree(&tree, problem.operation(), payload, None).unwrap();
            let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
            prop_assert_eq!(timeline.completion_time(), expected);
        }
    }

    #[test]
    fn each_segment_is_sent_when_the_recursion_says(
        (tree, sizes) in trees(sizes(40)), costs in costs(),
    ) {
        let completion = completion(&tree, &sizes, &costs).unwrap();
        let timeline = timeline(&tree, Operation::Gather, &sizes, &costs, Sends::Synchronous);
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
        for operation in Operation::IRREGULAR {
            let [synchronous, eager] =
                Sends::ALL.map(|sends| timeline(&tree, operation, &sizes, &costs, sends));
            prop_assert_eq!(synchronous.completion_time(), eager.completion_time());
        }
    }

    #[test]
    fn the_critical_path_leads_without_a_gap_from_the_start_to_the_end(
        (tree, sizes) in trees(sizes(40)), costs in costs(),
    ) {
        for operation in Operation::IRREGULAR {
            let timeline = timeline(&tree, operation, &sizes, &costs, Sends::Synchronous);
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
        let time = |operation| {
            let payload = Payload::Vector(Vector { processors: tree.processors(), bytes });
            let schedule = Schedule::of_tree(&tree, operation, payload, None).unwrap();
            simulate(&schedule, &costs, Sends::Synchronous).unwrap().completion_time()
        };
        prop_assert_eq!(time(Operation::Broadcast), time(Operation::Reduce));
    }
}

#[test]
fn constructed_and_optimal_trees_of_all_distributions_take_their_times() {
    let scale = Scale { processors: 2000, mean_block: 1000, rho: 5 };
    for distribution in Distribution::ALL {
        let sizes = distribution.sizes(scale, Randomness::Glibc { seed: 1 }).unwrap();
        let costs = homogeneous(100, 1, 1);
        let method = default_method(&sizes, &costs);
        let optimum = optimal(&sizes, &costs, Root::Given(1000), method).unwrap();
        let adaptive = adaptive(&sizes, &costs, Root::Best, AdaptiveRule::CompletionTime).unwrap();
        for tree in [linear(2000, 7).unwrap(), adaptive, optimum.tree] {
            let expected = completion_time(&tree, &sizes, &costs).unwrap();
            for operation in Operation::IRREGULAR {
                let timeline = timeline(&tree, operation, &sizes, &costs, Sends::Synchronous);
                assert_eq!(timeline.completion_time(), expected, "{}", distribution.name());
            }
        }
    }
}
